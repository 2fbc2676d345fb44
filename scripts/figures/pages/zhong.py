"""docs/results/zhong.md: throughput by resolution and cap."""

from figures.rows import rows

THEN, SINCE, SEARCH = rows("h200/rows/zhong.jsonl"), rows("h100/rows/zhong.jsonl"), rows("h200/rows/paper-ask.jsonl")
CASES = [(n, 256) for n in (2048, 4000, 7813, 9766, 15259, 23150)] + [(6250, dwell) for dwell in (512, 1024, 4096)]


def figures(page):
    for skip, found in enumerate((THEN, SINCE)):
        table = page.table("| n | cap", skip=skip)
        for n, dwell in CASES:
            three = [found.one(f"n={n} dwell={dwell} strategy={strategy}") for strategy in ("exhaustive", "ask", "dp")]
            spread = [(row.ms, min(row.get("samples", "device")) * 1e3, max(row.get("samples", "device")) * 1e3) for row in three]
            ratios = [three[0].ms / row.ms for row in three[1:]]
            table.row(str(n), dwell, *(spread if skip == 0 else [row.ms for row in three]), *(ratios if skip == 0 else ratios[:1]))
    every, ask = (THEN.ms(f"n=23150 strategy={strategy}") for strategy in ("exhaustive", "ask"))
    page.says("Here it is @x at 23150, and @ against @ Gpixel/s", every / ask, 23150**2 / every / 1e6, 23150**2 / ask / 1e6)
    page.says(
        "[the paper's search](paper-ask.md): @x at 4096, @x at 16384",
        *(SEARCH.best(f"n={n} strategy=exhaustive").ms / SEARCH.best(f"n={n} strategy=ask").ms for n in (4096, 16384)),
    )
