"""docs/results/nvidia-blog.md: dynamic parallelism over exhaustive by dwell and size."""

from figures.page import UpTo
from figures.rows import rows

THEN, SINCE = rows("h200/rows/nvidia-blog.jsonl"), rows("h100/rows/nvidia-blog.jsonl")


def figures(page):
    four_times(page)
    for skip, found in enumerate((THEN, SINCE)):
        table = page.table("| n | D = 128", skip=skip)
        for n in (1024, 2048, 4096, 8192, 16384):
            cells = []
            for dwell in (128, 256, 512):
                own = found.best(f"n={n} dwell={dwell} strategy=dp").ms
                cells.append((own, found.best(f"n={n} dwell={dwell} strategy=exhaustive").ms / own))
            table.row(str(n), *cells)
    page.says(
        "± is up to @ % below 0.1 ms, up to @ % elsewhere",
        UpTo(max(row.error for row in THEN if row.ms < 0.1)),
        UpTo(max(row.error for row in THEN if row.ms >= 0.1)),
    )
    page.given("below 0.1 ms", "The blog has 1.3x to almost 6x", "about 40 ms for 4096²")
    big, of = THEN.best("n=16384 dwell=512 strategy=exhaustive").ms, THEN.best("n=4096 dwell=512 strategy=dp").ms
    page.says(
        "4096² at D = 512 takes @ ms, and the gain ends at @x because exhaustive is at its limit: @ Gcells/s",
        of,
        big / THEN.best("n=16384 dwell=512 strategy=dp").ms,
        16384**2 / big / 1e6,
    )
    search = rows("h200/rows/paper-ask.jsonl")
    page.says(
        "DP gains @x at 4096 and @x at 16384",
        *(search.best(f"n={n} strategy=exhaustive").ms / search.best(f"n={n} strategy=dp").ms for n in (4096, 16384)),
    )
    page.says("4096² at D = 512 takes @ ms instead of @.", SINCE.best("n=4096 dwell=512 strategy=dp").ms, of)
    page.says("exhaustive takes @ ms instead of @ at 16384²", SINCE.best("n=16384 dwell=512 strategy=exhaustive").ms, big)


def four_times(page):
    """The time with 512 iterations over that with 128."""
    lines = ["| n | H200, then: exhaustive | dp | H100: exhaustive | dp |", "|--:|--:|--:|--:|--:|"]
    for n in (1024, 2048, 4096, 8192, 16384):
        cells = []
        for card in ("h200", "h100"):
            found = rows(f"{card}/rows/nvidia-blog.jsonl")
            for way in ("exhaustive", "dp"):
                ms = [found.best(f"n={n} dwell={dwell} strategy={way}").ms for dwell in (512, 128)]
                cells.append(f"{ms[0] / ms[1]:.2f}")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    page.block("\n".join(lines))
    page.given("512 instead of 128 iterations", "about 6 times as long", "from 8192² on", "less than four times", "more than four times")
