"""docs/results/encodings.md: curves as encodings of the table."""

from figures.measured import exhaustive_then
from figures.page import UpTo
from figures.rows import rows

ROWS = rows("h200/rows/encodings.jsonl")
CURVES = ["curve=canonical table=scalars", "curve=morton table=scalars", "curve=hilbert table=scalars", "table=coordinates"]
SIZES = {"mandelbrot": (4096, 16384, 65536), "mandelbulb": (256, 512, 1024), "julibrot": (64, 128, 256)}
AXES = {"mandelbrot": 2, "mandelbulb": 3, "julibrot": 4}
STEPS = "the mean steps are of `curves compare`, which writes no rows"


def figures(page):
    table = page.table("canonical", "Morton", "coordinates")
    table2 = page.table("exhaustive of that day")
    costs = {field: [] for field in SIZES}
    hilbert, apart = {field: [] for field in SIZES}, []
    page.says("± is below @ %", UpTo(max(row.error for row in ROWS)))
    for field, label in [
        ("mandelbrot", "mandelbrot {64, 2, 8}"),
        ("mandelbulb", "mandelbulb {16, 2, 4}"),
        ("julibrot", "julibrot {8, 2, 2}"),
    ]:
        for n in SIZES[field]:
            found = [ROWS.one(f"workload={field} n={n} {curve}") for curve in CURVES]
            bytes_ = found[1].get("run", "peak_olt_bytes")
            ms = [row.ms for row in found]
            table.row(label if n == SIZES[field][0] else "", n, *ms, bytes_, found[3].get("run", "peak_olt_bytes") / bytes_)
            costs[field].append((ms[3] / min(ms[0], ms[1]) - 1) * 100)
            hilbert[field].append((ms[2] / min(ms[0], ms[1]) - 1) * 100)
            apart.append(abs(ms[0] / ms[1] - 1) * 100)
            every = exhaustive_then(field, n)
            table2.row(label if n == SIZES[field][0] else "", n, every, min(ms[:3]), every / min(ms[:3]))
    both = costs["mandelbrot"] + costs["mandelbulb"]
    page.says(
        "coordinates take @ to @ % longer in 2-D and 3-D and @ to @ % less in 4-D",
        min(both),
        max(both),
        -max(costs["julibrot"]),
        -min(costs["julibrot"]),
    )
    page.says(
        "the tables are @ MB beside @ GB of cells",
        ROWS.one("workload=mandelbrot n=65536 curve=morton table=scalars").get("run", "peak_olt_bytes") / 1e6,
        65536**2 * 2 / 1e9,
    )
    page.says(
        "(within @ %). **Hilbert costs** (beside the faster of the two) @ to @ % in 2-D and @ to @ % in 4-D",
        UpTo(max(apart)),
        min(hilbert["mandelbrot"]),
        max(hilbert["mandelbrot"]),
        min(hilbert["julibrot"]),
        max(hilbert["julibrot"]),
    )
    page.no_rows(STEPS, ("a mean of 1.2", "against 2.2"))
