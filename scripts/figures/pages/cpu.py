"""docs/results/cpu.md: the CPU backend."""

import re

from figures.page import GIVEN
from figures.rows import RESULTS, Wrong

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
    runs, peaks = printed()
    table = page.table("| arithmetic | regions")
    for arithmetic, published in (("fused", None), ("plain", GIVEN)):
        levels = runs[f"run mandelbrot -n 1024 -g 2 -r 2 -B 1 --dwell 512 --strategy ask --arithmetic {arithmetic}"]
        table.row(arithmetic, levels[:8], published)
    table = page.table("| peak | time |")
    for kept in ("dense", "regions", "counts"):
        kib, seconds = peaks[f"run mandelbrot -n 16384 -g 32 -B 8 --keep {kept}"]
        more = {"dense": (16384**2 * 2 / 2**20,), "regions": (35658240 * 2 / 2**20, 139290)}.get(kept, ())
        table.row(kept, (kib / 1024, *more), seconds)
    page.says("compares @ runs and finds no disagreement", runs["verify"])
    page.no_rows(BENCH)


def printed():
    """What commands printed: the mixed regions of each level of runs, how many runs `verify` made; peak memory in KiB and seconds."""
    runs, peaks, command = {}, {}, ""
    for line in (RESULTS / "cpu-runs.txt").read_text().splitlines():
        if line.startswith("$ "):
            command = line.split("orthant ")[-1] if "orthant" in line else ""
        elif match := re.match(r" \d +\d+x\d+ +(\d+) +(\d+) ", line):
            runs.setdefault(command, []).append(int(match[2]))
        elif match := re.match(r"peak resident memory (\d+) KiB, ([\d.]+) s", line):
            peaks[command] = int(match[1]), float(match[2])
        elif match := re.match(r"(\d+) runs; 'differ'", line):
            runs["verify"] = int(match[1])
    return runs, peaks


def counted_in_tests():
    """Wrong cells of the Mandelbrot set at n = 4096 for B = 16, 8, 4, 2."""
    found = explored()
    return [2] + [found["mandelbrot", 4096, side][5] for side in (16, 8, 4)]
