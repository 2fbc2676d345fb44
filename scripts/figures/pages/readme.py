"""README.md: the table of figures, and how much of a picture and of a volume is uniform."""

from figures.measured import DEFAULTS, FACES, SMALL, STREAMS, ppm, proven, stream
from figures.rows import rows

PLAIN = "no rows were kept of the times on the CPU"


def figures(page):
    table = page.table("every cell", "subdivided")
    best = stream(65536, "{16, 4, 8}")
    every = FACES.ms("workload=mandelbrot n=65536 strategy=exhaustive cell=u16")
    table.row("mandelbrot 65536²", None, every, best.ms, ppm(best))
    table.row("mandelbrot 65536²", None, every, proven("mandelbrot", 65536).ms, 0)
    best = SMALL.one("workload=mandelbrot n=1024 explore=closed scheme=sbr g=64 r=4 B=4")
    table.row("mandelbrot 1024²", None, SMALL.ms("workload=mandelbrot n=1024 strategy=exhaustive"), best.ms, ppm(best))
    table.row("mandelbulb 1024³", None, STREAMS.ms("workload=mandelbulb n=1024 strategy=exhaustive"), proven("mandelbulb", 1024).ms, 0)
    table.row("julibrot 256⁴", None, STREAMS.ms("workload=julibrot n=256 strategy=exhaustive"), proven("julibrot", 256).ms, 0)
    cells = DEFAULTS.one("workload=mandelbrot n=1024 strategy=ask explore=closed scheme=stream").get("run", "cells")
    page.says("; @ % lie in\n[regions]", cells["filled"] / cells["total"] * 100)
    page.no_rows(PLAIN, "4096² | 2 CPU cores", on="docs/results/README.md")
    frog = rows("advice.jsonl").one("input=frog.npy")
    page.says("cells: @ % lie in uniform", (1 - frog.get("leaves")) * 100)
    page.says("and\n@ MB become", frog.get("cells") / 1e6)
    page.says("MB become @ MB", frog.get("bytes") / 1e6)
