"""docs/results/proofs.md: `certified` and `--prove` by blocks."""

from figures.rows import rows

ROWS = rows("h200/proofs.jsonl")
CPU = "no rows were kept of the runs on the CPU"


def figures(page):
    table = page.table("ask border", "certified over exhaustive")
    for label, field, n, scheme, exact in [
        ("mandelbulb 1024^3 {32, 2, 4}", "mandelbulb", 1024, "g=32", True),
        ("512^3", "mandelbulb", 512, "g=32", True),
        ("256^3", "mandelbulb", 256, "g=32", True),
        ("mandelbrot 4096^2 {64, 4, 16}", "mandelbrot", 4096, "g=64", True),
        ("julibrot 256^4 {8, 2, 4}", "julibrot", 256, "B=4", True),
        ("{8, 2, 2}", "julibrot", 256, "B=2", True),
        ("128^4 {8, 2, 4}", "julibrot", 128, "B=4", True),
    ]:
        of = f"workload={field} n={n}"
        every, certified = ROWS.one(f"{of} strategy=exhaustive"), ROWS.one(f"{of} {scheme} explore=certified")
        asked = [row for row in ROWS.all(f"{of} strategy=ask") if row.say("explore") == "border"]
        border = next((row.ms for row in asked if "prove" not in row.get("case")), None)
        prove = next((row.ms for row in asked if "prove" in row.get("case")), None)
        equal = "equal" if every.get("run", "checksum") == certified.get("run", "checksum") else "DIFFERENT"
        table.row(label, every.ms, border, prove, certified.ms, every.ms / certified.ms, equal)
    page.given("miss the 10 % that are the goal", "standard errors below 1 %")
    page.no_rows(CPU, "¶**Orbits that settle**", "¶**Choosing a scheme.**")
