"""docs/results/cpu.md: the CPU backend."""

import re

from figures.rows import RESULTS, Wrong, number

BENCH = "`cargo bench` and `--repeat` make the times, and no rows were kept of them"


def explored():
    """What `exploration_cost` printed: by (field, n, L) its counts."""
    found = {}
    pattern = (
        r"(\w+) n=(\d+) L=(\d+) \w+: iterations (\d+) exhaustive, (\d+) full scan \(([\d.]+)\), "
        r"(\d+) scattered \(([\d.]+)\); (\d+) wrong cells \(([\d.]+) ppm\)"
    )
    for line in (RESULTS / "cpu-runs.txt").read_text().splitlines():
        if match := re.match(pattern, line):
            found[match[1], int(match[2]), int(match[3])] = [float(one) for one in match.groups()[3:]]
    if not found:
        raise Wrong("docs/results/cpu-runs.txt has no line of exploration_cost")
    return found


def figures(page):
    found = explored()
    table = page.table("full scan", "scattered", "wrong cells")
    for label, field, n, power in [
        ("mandelbrot n = 4096, D = 512", "mandelbrot", 4096, 2),
        ("mandelbulb n = 256, D = 64", "mandelbulb", 256, 3),
        ("mandelbulb n = 512, D = 64", "mandelbulb", 512, 3),
        ("julibrot n = 64, D = 64", "julibrot", 64, 4),
        ("julibrot n = 128, D = 64", "julibrot", 128, 4),
    ]:
        for side in (4, 8, 16):
            every, full, _, scattered, _, wrong, _ = found[field, n, side]
            table.row(
                label if side == 4 else "",
                side,
                every if side == 4 else None,
                full,
                every / full,
                scattered,
                every / scattered,
                (wrong, wrong / n**power * 1e6) if wrong else 0,
            )
    page.says("with @, @, @ and @ wrong cells for", *(one for one in counted_in_tests()))
    page.no_rows(BENCH)


def counted_in_tests():
    """Wrong cells of the Mandelbrot set at n = 4096 for B = 16, 8, 4, 2."""
    found = explored()
    return [2] + [found["mandelbrot", 4096, side][5] for side in (16, 8, 4)]
