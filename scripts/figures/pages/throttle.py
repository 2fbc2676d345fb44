"""docs/results/throttle.md: dynamic parallelism by its budget."""

from figures.page import UpTo
from figures.rows import rows

ROWS, NOW = rows("h200/rows/throttle.jsonl"), rows("h100/rows/throttle.jsonl")
FIELDS = ["mandelbrot", "mandelbulb", "julibrot"]


def ms(field, launch, budget):
    return ROWS.ms(f"workload={field} dp-launch={launch} dp-budget={budget}")


def figures(page):
    table = page.table("| budget")
    for budget in (1, 16, 64, 128, 256, 512, 1024, 2048):
        table.row(
            f"{budget} (default)" if budget == 128 else str(budget),
            *(ms(field, launch, budget) for field in FIELDS for launch in ("region", "block")),
        )
    page.says("@ cases, none failed", len([row for row in ROWS if not row.found.get("error")]))
    page.says("± is at most @ %", UpTo(max(row.error for row in ROWS)))
    best = {field: ROWS.best(f"workload={field} dp-launch=region") for field in FIELDS}
    run = [ROWS.one(f"workload=mandelbrot dp-launch=region dp-budget={budget}") for budget in (2048, 1)]
    page.says("2048 is @ times slower: it launches @ grids", run[0].ms / best["mandelbrot"].ms, run[0].get("run", "kernels"))
    page.says(
        "a larger budget helps by @ and @ %", *((1 - best[field].ms / ms(field, "region", 1)) * 100 for field in ("mandelbulb", "julibrot"))
    )
    page.says("is within @ % of the best everywhere", UpTo(max(ms(field, "region", 128) / best[field].ms - 1 for field in FIELDS) * 100))
    page.given("the reference takes 8.50 ms")
    page.says("where a budget of 2048 takes @ and the default @ (other", ms("mandelbrot", "region", 2048), ms("mandelbrot", "region", 128))
    now(page)


def now(page):
    """The same sweep by the code in use, on an H100."""
    head = "| budget, now | " + " | ".join(f"{field}, {launch}" for field in FIELDS for launch in ("region", "block")) + " |"
    lines = [head, "|---|" + "--:|" * 6]
    times = lambda budget: [NOW.ms(f"workload={field} dp-launch={launch} dp-budget={budget}") for field in FIELDS for launch in ("region", "block")]
    for budget in (1, 16, 128, 512, 1024, 2048):
        lines.append(f"| {budget} | " + " | ".join(f"{ms:.3f}" for ms in times(budget)) + " |")
    page.block("\n".join(lines))
    lost = [NOW.ms(f"workload={field} dp-launch=region dp-budget=128") / NOW.best(f"workload={field} dp-launch=region").ms for field in FIELDS]
    page.says("The default is within @ % of the best of `region` here, too", UpTo((max(lost) - 1) * 100))
    page.says("2048 in flight take @ times the best in 2-D", NOW.ms("workload=mandelbrot dp-launch=region dp-budget=2048") / NOW.best("workload=mandelbrot dp-launch=region").ms)
