"""docs/results/zhong.md: throughput by resolution and cap."""

from figures.rows import rows

CAPS = rows("h100/rows/zhong-caps.jsonl")
THEN, SINCE, SEARCH = rows("h200/rows/zhong.jsonl"), rows("h100/rows/zhong.jsonl"), rows("h200/rows/paper-ask.jsonl")
CASES = [(n, 256) for n in (2048, 4000, 7813, 9766, 15259, 23150)] + [(6250, dwell) for dwell in (512, 1024, 4096)]


def by_cap(page):
    lines = ["| cap | exhaustive | Mpixel/s | ask {16, 4, 32} | dp {16, 4, 32} | ask {64, 4, 8} |", "|--:|--:|--:|--:|--:|--:|"]
    report, fits = [], {}
    for cap in sorted({int(row.say("dwell")) for row in CAPS}):
        every = CAPS.ms(f"dwell={cap} strategy=exhaustive g=16")
        ask, dp = (CAPS.ms(f"dwell={cap} strategy={strategy} g=16") for strategy in ("ask", "dp"))
        own = CAPS.ms(f"dwell={cap} strategy=ask g=64")
        lines.append(f"| {cap} | {every:.3f} | {2048**2 / every / 1e3:.0f} | {ask:.3f} | {dp:.3f} | {own:.3f} |")
        report += [ask / every, dp / every]
        fits[cap] = own / every
    page.block("\n".join(lines))
    page.says("subdivision takes @ to @ times as long as evaluating", min(report), max(report))
    page.says("faster up to a cap of @, and takes @ times as long at the largest", max(cap for cap in fits if fits[cap] < 1), fits[max(fits)])


def figures(page):
    by_cap(page)
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
