"""docs/results/encodings.md: curves as encodings of the table."""

from figures.measured import exhaustive_then
from figures.page import UpTo
from figures.rows import rows

ROWS, NOW = rows("h200/rows/encodings.jsonl"), rows("h100/rows/encodings.jsonl")
LOCALITY = rows("curves.jsonl")
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
    now(page)
    page.no_rows(STEPS, ("a mean of 1.2", "against 2.2"))


def now(page):
    """The same sweep by the code in use, on an H100."""
    lines = ["| field | n | canonical | Morton | Hilbert | coordinates | Hilbert over the faster |", "|---|--:|--:|--:|--:|--:|--:|"]
    lost = {field: [] for field in SIZES}
    for field in SIZES:
        for n in SIZES[field]:
            ms = [NOW.ms(f"workload={field} n={n} {curve}") for curve in CURVES]
            lost[field].append((ms[2] / min(ms[:2]) - 1) * 100)
            lines.append(f"| {field} | {n} | " + " | ".join(f"{one:.4g}" for one in ms) + f" | {ms[2] / min(ms[:2]):.3f} |")
    page.block("\n".join(lines))
    page.says(
        "Hilbert costs @ to @ % in 2-D, @ to @ % in 3-D and @ to @ % in 4-D on this card",
        *(pick(lost[field]) for field in SIZES for pick in (min, max)),
    )
    lines = ["| k | curve | time over the fastest | mean step | cut faces | cache lines |", "|--:|---|--:|--:|--:|--:|"]
    for field, n in (("mandelbrot", 65536), ("mandelbulb", 1024), ("julibrot", 256)):
        ms = {curve: NOW.ms(f"workload={field} n={n} curve={curve} table=scalars") for curve in ("canonical", "morton", "hilbert")}
        for curve, one in ms.items():
            row = LOCALITY.one(f"workload={field} curve={curve}")
            steps = " | ".join(f"{row.get(key):.2f}" for key in ("mean_step", "cut_faces", "lines"))
            lines.append(f"| {AXES[field]} | {curve} | {one / min(ms.values()):.3f} | {steps} |")
    page.block("\n".join(lines))
    lines = ["| package | k | codes | ours, there and back | the package |", "|---|--:|---|---|---|"]
    for row in LOCALITY:
        if "reference" in row.found:
            beside = row.get("reference")
            same = "the same" if beside["agrees"] else "OTHERS"
            ours, theirs = (f"{of['encode_ns']:.2f} / {of['decode_ns']:.2f}" for of in (row.found, beside))
            lines.append(f"| {beside['name']} | {row.get('k')} | {same} | {ours} | {theirs} |")
    page.block("\n".join(lines))
