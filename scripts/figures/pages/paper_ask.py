"""docs/results/paper-ask.md: the ASK paper's experiment."""

from figures.measured import FACES
from figures.page import GIVEN, UpTo
from figures.rows import rows

ROWS, SINCE = rows("h200/rows/paper-ask.jsonl"), rows("h100/rows/paper-ask.jsonl")
BLOCKS = rows("h100/rows/paper-blocks.jsonl")
WAYS = [("ask", "sbr"), ("ask", "mbr"), ("dp", "sbr"), ("dp", "mbr")]


def every(n):
    return ROWS.best(f"n={n} strategy=exhaustive").ms


def best(n, strategy, scheme, more=""):
    return ROWS.best(f"n={n} strategy={strategy} scheme={scheme} {more}")


def figures(page):
    table = page.table("exhaustive", "ask sbr", "dp mbr")
    errors = []
    for n in (1024, 4096, 16384, 65536):
        found = [best(n, *way) for way in WAYS]
        errors += [row.error for row in found]
        table.row(str(n), every(n), *((row.ms, row.scheme, every(n) / row.ms) for row in found))
    page.says("the standard errors of those below are at most @ %", UpTo(max(errors)))
    page.says("@ cases, none failed.", len([row for row in ROWS if not row.found.get("error")]))
    table = page.table("paper (A100)", "here")
    n = 65536
    ask, dp = (min(best(n, strategy, scheme).ms for scheme in ("sbr", "mbr")) for strategy in ("ask", "dp"))
    table.row("ASK over exhaustive", GIVEN, (every(n) / ask, GIVEN, 350.8 / ask))
    table.row("DP over exhaustive", GIVEN, (every(n) / dp, 350.8 / dp))
    over = [
        min(best(n, "dp", scheme).ms for scheme in ("sbr", "mbr")) / min(best(n, "ask", scheme).ms for scheme in ("sbr", "mbr"))
        for n in (65536, 16384, 4096, 1024)
    ]
    table.row("ASK over DP", GIVEN, [value for pair in zip(over, [GIVEN] * 4) for value in pair])
    sbr, mbr = best(n, "ask", "sbr"), best(n, "ask", "mbr")

    def more(scheme, base, g, r, b):
        return (best(n, "ask", scheme, f"g={g} r={r} B={b}").ms / base.ms - 1) * 100

    table.row("optimum, SBR", None, (more("sbr", sbr, 64, 4, 16), more("sbr", sbr, 32, 4, 16)))
    table.row("optimum, MBR", None, [more("mbr", mbr, *at) for at in ((32, 4, 8), (128, 4, 8), (64, 2, 32), (32, 2, 32))])
    schemes = [row.ms / sbr.ms for row in ROWS.all("n=65536 strategy=ask scheme=sbr")]
    page.says(
        "of the @ schemes of ask sbr at 65536, blocks included, @ are within 5 % of the best and @ within 10 %",
        len(schemes),
        sum(one <= 1.05 for one in schemes),
        sum(one <= 1.1 for one in schemes),
    )
    page.given("within 5 % of the best", "within 10 %")
    page.says(
        "it is @ times slower ([throttle]",
        *(lambda t: [t.ms("workload=mandelbrot dp-launch=region dp-budget=2048") / t.best("workload=mandelbrot dp-launch=region").ms])(
            rows("h200/rows/throttle.jsonl")
        ),
    )
    since(page)


def since(page):
    row = rows("h200/rows/dimensions.jsonl").one("workload=diagonal dim=2 n=16 strategy=ask")
    page.says("level costs about @ µs here", row.ms * 1e3 / len(row.get("run", "levels")))
    table = page.table("exhaustive", "ask sbr", "dp mbr", skip=1)
    on = rows("h100/rows/faces.jsonl")
    for n in (4096, 16384, 65536):
        exact = on.ms(f"workload=mandelbrot n={n} strategy=exhaustive cell=i32")
        cells = []
        for strategy, scheme in WAYS:
            found = [
                row
                for row in SINCE
                if row.say("n") == str(n) and row.say("strategy") == strategy and row.say("scheme") == scheme and not row.found.get("error")
            ]
            if found:
                fastest = min(found, key=lambda row: row.ms)
                gain = (exact / fastest.ms,) if (strategy, scheme) == ("ask", "sbr") and n > 4096 else ()
                cells.append((fastest.ms, fastest.scheme, *gain))
            else:
                cells.append(None)
        table.row(str(n), exact, *cells)
    exact = on.ms("workload=mandelbrot n=65536 strategy=exhaustive cell=i32")
    page.says("Exhaustive gains @ times", every(65536) / exact)
    page.says("[streams](streams.md): @ ms", on.best("workload=mandelbrot n=65536 scheme=stream cell=i32 explore=closed g=16 r=4 B=8").ms)
    blocks(page)


def split(n, question, what):
    """Of each value of a setting the fastest run, in the order of the sweep."""
    values = list(dict.fromkeys(row.say(what) for row in BLOCKS.all(f"n={n} {question}")))
    return [(value, BLOCKS.best(f"n={n} {question} {what}={value}")) for value in values]


def blocks(page):
    """What the paper searches besides g, r = 2, 4 and B: blocks, and r up to 16."""
    every = {n: BLOCKS.best(f"n={n} strategy=exhaustive") for n in (16384, 65536)}
    lines = ["| block | exhaustive, 16384 | ask sbr | ask mbr | exhaustive, 65536 | ask sbr | ask mbr |", "|---|--:|---|---|--:|---|---|"]
    for block in ("8x8", "16x16", "64x4", "64x8", "32x32"):
        cells = [block]
        for n, digits in ((16384, 3), (65536, 2)):
            cells.append(f"{BLOCKS.ms(f'n={n} strategy=exhaustive block={block}'):.{digits}f}")
            for scheme in ("sbr", "mbr"):
                found = BLOCKS.best(f"n={n} scheme={scheme} strategy=ask block={block}")
                cells.append(f"{found.ms:.{digits}f} {found.scheme}")
        lines.append("| " + " | ".join(cells) + " |")
    page.block("\n".join(lines))
    lines = ["| r | ask sbr, 16384 | S | ask mbr | S | ask sbr, 65536 | S | ask mbr | S |", "|--:|---|--:|---|--:|---|--:|---|--:|"]
    for r in (2, 4, 8, 16):
        cells = [str(r)]
        for n, digits in ((16384, 3), (65536, 2)):
            for scheme in ("sbr", "mbr"):
                found = BLOCKS.best(f"n={n} scheme={scheme} strategy=ask r={r}")
                cells += [f"{found.ms:.{digits}f} {found.scheme} {found.say('block')}", f"{every[n].ms / found.ms:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    page.block("\n".join(lines))
    page.says("@ cases of that sweep, none failed", len([row for row in BLOCKS if not row.found.get("error")]))
    errors = sorted(row.error for row in BLOCKS if row.ms > 1)
    page.says("from 1 ms on ± is @ % in the median and at most @ %.", errors[len(errors) // 2], UpTo(errors[-1]))
    page.given("from 1 ms on ±")
    worst, best_r = [], []
    for n in (16384, 65536):
        for scheme in ("sbr", "mbr"):
            of = dict(split(n, f"scheme={scheme} strategy=ask", "block"))
            worst.append(of["32x32"].ms / of["8x8"].ms)
            of = [row.ms for _, row in split(n, f"scheme={scheme} strategy=ask", "r")]
            best_r.append((max(of) / min(of) - 1) * 100)
    page.says("32x32 takes @ to @ times as long", min(worst), max(worst))
    page.says("best and worst r are @ to @ % apart", min(best_r), max(best_r))
    page.given("2 to 1024 of g and B")
