"""docs/results/h200.md: values, the paper's experiment, solids, stacks, dynamic parallelism of the first days."""

from figures.measured import NO_AUTHORS, authors
from figures.page import GIVEN, UpTo
from figures.rows import rows

SUITES = "Suites print verdicts, not rows, and some paragraphs were read off what was printed"
PAPER, SEARCH, SOLIDS, STACKS, LOOPS, DP = (rows(f"h200/{name}.txt") for name in ("paper", "search", "solids", "stacks", "loops", "dp"))


AUTHORS = rows("h100/authors.jsonl")
BESIDE = rows("h100/rows/beside-authors.jsonl")


def theirs_again(page):
    """Their code with rows, on an H100, beside ours in the same hour."""
    least = lambda n, way: min(AUTHORS.all(f"n={n} approach={way}"), key=lambda row: row.get("mean_ms"))
    lines = ["| n | theirs: exhaustive | DP-SBR | DP-MBR | ASK-SBR | ASK-MBR | ours, `plain`: exhaustive | ask sbr {64, 4, 16}, `border` | streams, `closed` |"]
    lines.append("|--:|--:|---|---|---|---|--:|--:|--:|")
    for n in (1024, 4096, 16384, 65536):
        cells = [f"{least(n, 'exhaustive').get('mean_ms'):.4g}"]
        for way in ("DP-SBR", "DP-MBR", "ASK-SBR", "ASK-MBR"):
            row = least(n, way)
            cells.append(f"{row.get('mean_ms'):.4g} {{{row.get('g')}, {row.get('r')}, {row.get('B')}}} {row.get('block')}")
        for ours in ("strategy=exhaustive", "strategy=ask explore=border", "strategy=ask explore=closed"):
            cells.append(f"{BESIDE.ms(f'n={n} arithmetic=plain {ours}'):.4g}")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    page.block("\n".join(lines))
    page.says("The error of their mean is @ to @ % at 1024² and at most @ % from 4096² on", *spread())
    exact, ask = (BESIDE.ms(f"n=65536 arithmetic=plain strategy={way}") for way in ("exhaustive", "ask explore=border"))
    stream = BESIDE.ms("n=65536 arithmetic=plain strategy=ask explore=closed")
    page.says(
        "At 65536² ours take @, @ and @ times less: exhaustive, blocks per region, streams beside ASK-SBR",
        least(65536, "exhaustive").get("mean_ms") / exact,
        least(65536, "ASK-SBR").get("mean_ms") / ask,
        least(65536, "ASK-SBR").get("mean_ms") / stream,
    )


def spread():
    small = [row.get("sterr_percent") for row in AUTHORS.all("n=1024")]
    large = [row.get("sterr_percent") for row in AUTHORS if row.get("n") > 1024]
    return min(small), max(small), UpTo(max(large))


def figures(page):
    paper(page)
    page.no_rows(NO_AUTHORS, "### The authors' code")
    theirs_again(page)
    solids(page)
    stacks(page)
    dynamic(page)
    page.given("139.8 GiB", "0.3 s a case")
    page.no_rows(SUITES)


def paper(page):
    table = page.table("reference", "best of a search")
    for n in (1024, 4096, 16384, 65536):
        theirs = authors(n)

        def ms(strategy, grb=None, cell="i32", arithmetic="fused", n=n):
            found = PAPER.where(n=n, cell=cell, arithmetic=arithmetic, strategy=strategy, **({"grb": grb} if grb else {}))
            return found.fastest().ms

        for label, strategy, name in [(str(n), "exhaustive", "Ex"), ("", "ask sbr", "ASK-SBR"), ("", "ask mbr", "ASK-MBR")]:
            if strategy == "exhaustive":
                table.row(label, None, theirs[name], ms(strategy), None, None, None)
                continue
            best = SEARCH.where(n=n, scheme=strategy[4:]).fastest()
            table.row(
                label,
                None,
                theirs[name],
                *(ms(strategy, grb) for grb in ("64, 4, 16", "64, 2, 32", "32, 4, 32")),
                (best.ms, "{" + best.get("g, r, B") + "}"),
            )

    def plain(strategy, n, grb=None, cell="i32", arithmetic="plain"):
        return PAPER.where(n=n, cell=cell, arithmetic=arithmetic, strategy=strategy, **({"grb": grb} if grb else {})).fastest().ms

    page.says(
        "exhaustive @ and @ ms, ASK-SBR {64, 4, 16} @ and @, ASK-MBR @ and @",
        *(plain("exhaustive", n) for n in (16384, 65536)),
        *(plain(strategy, n, "64, 4, 16") for strategy in ("ask sbr", "ask mbr") for n in (16384, 65536)),
    )
    page.says(
        "With u16 cells at 65536: @, @, @ ms",
        *(plain(strategy, 65536, cell="u16", arithmetic="fused") for strategy in ("exhaustive", "ask sbr", "ask mbr")),
    )
    loop = {(row.say("n"), row.say("loop"), row.say("insertion")): row.ms for row in LOOPS}
    page.says("costs @ ms where ours costs @ at n = 1024", loop["1024", "paper", "atomic"], loop["1024", "lean", "atomic"])
    page.says(
        "they differ by less than @ %",
        UpTo(
            max(abs(loop[n, "paper", kind] / loop[n, "lean", kind] - 1) for n in ("16384", "65536") for kind in ("atomic", "stable")) * 100
        ),
    )
    page.says(
        "Stable insertion costs @ ms at n = 1024 and gains @ % at 65536",
        loop["1024", "lean", "stable"] - loop["1024", "lean", "atomic"],
        (1 - loop["65536", "lean", "stable"] / loop["65536", "lean", "atomic"]) * 100,
    )


def solids(page):
    table = page.table("OLT bytes, scalars")
    for label, field, sizes, grb, k in [
        ("Mandelbulb, {32, 2, 4}", "mandelbulb", (256, 512, 1024), "32, 2, 4", 3),
        ("Julibrot, {8, 2, 4}", "julibrot", (64, 128, 256), "8, 2, 4", 4),
    ]:
        for n in sizes:
            every = SOLIDS.where(field=field, n=n, strategy="exhaustive").fastest().ms
            found = SOLIDS.where(field=field, n=n, strategy="ask sbr", grb=grb)
            own = [row for row in found if "coord" not in row.say("OLT")]
            bytes_ = int(own[0].found["OLT bytes"])
            decoding = min(row.found["decoding ms"] for row in own)
            table.row(
                label if n == sizes[0] else "",
                n,
                every,
                min(row.ms for row in own),
                bytes_ if bytes_ else (0, "one level"),
                bytes_ * k,
                float(decoding),
            )
    page.no_rows(SUITES, ("as the counts on the CPU said", "a leaf."), "¶Curves, sbr, Morton as the measure")


def stacks(page):
    table = page.table("folded", "split, one at a time")
    for label, field, n in [("Julibrot", "julibrot morton", 128), ("simplex", "simplex morton", 32), ("MxM", "mxm morton", 16)]:
        found = {(row.say("stack"), row.found["kernels allowed"]): row for row in STACKS.where(field=field, n=n)}
        folded, one, sixteen, most = (found[how] for how in (("folded", "default"), ("split", "1"), ("split", "16"), ("split", "default")))
        table.row(
            label,
            GIVEN,
            (folded.ms, 1),
            (one.ms, int(one.say("launches"))),
            *((row.ms, int(row.found["most in flight"])) for row in (sixteen, most)),
        )
    page.says("a launch costs @ µs from the host", most.ms * 1e3 / int(most.say("launches")))


def dynamic(page):
    table = page.table("DP-SBR", "block", "tail")
    schemes = ("16, 2, 8", "32, 4, 16", "64, 4, 16", "16, 4, 64")

    def best(n, strategy):
        return min(
            row.ms
            for row in DP
            if row.say("n") == str(n)
            and row.say("strategy") == strategy
            and (strategy == "exhaustive" or row.found.get("g, r, B") in schemes)
            and row.say("budget") == "default"
        )

    for n in (1024, 4096, 16384, 65536):
        theirs = authors(n)
        table.row(
            str(n),
            best(n, "exhaustive"),
            best(n, "ask sbr"),
            best(n, "ask mbr"),
            best(n, "dp sbr region"),
            theirs["DP-SBR"],
            best(n, "dp mbr region"),
            theirs["DP-MBR"],
            min(best(n, f"dp {kind} block") for kind in ("sbr", "mbr")),
            min(best(n, f"dp {kind} tail") for kind in ("sbr", "mbr")),
        )
    budgets = (1, 4, 16, 64, 128, 256, 512, 1024, 2048)
    table = page.table("| credits")
    for label, field in [
        ("Mandelbrot 16384, {32, 2, 16}", "mandelbrot"),
        ("Mandelbulb 512, {16, 2, 4}", "mandelbulb"),
        ("Julibrot 128, {4, 2, 4}", "julibrot"),
    ]:
        table.row(label, *(DP.where(strategy=f"{field} region", budget=budget).fastest().ms for budget in budgets))
    table = page.table("| | region | block | tail |")
    for label, field in [
        ("Mandelbrot 16384, {32, 2, 16}", "mandelbrot"),
        ("Mandelbulb 512, {16, 2, 4}", "mandelbulb"),
        ("Julibrot 128, {4, 2, 4}", "julibrot"),
    ]:
        kernels = {
            (kind, budget): int(DP.where(strategy=f"{field} {kind}", budget=budget).rows[0].say("kernels"))
            for kind in ("region", "block")
            for budget in (1, 2048)
        }
        table.row(
            label,
            *((kernels[kind, 2048], kernels[kind, 1]) for kind in ("region", "block")),
            int(DP.where(strategy=f"{field} tail", budget=1).rows[0].say("kernels")),
        )
    least, most = (DP.where(strategy="mandelbrot region", budget=budget).fastest().ms for budget in (1, 2048))
    page.says("launch a third of the families and take @ ms, @ times the @ of one credit", most, most / least, least)
    gains = [
        DP.where(strategy=f"{field} region", budget=128).fastest().ms
        / min(DP.where(strategy=f"{field} region", budget=budget).fastest().ms for budget in budgets)
        for field in ("mandelbulb", "julibrot")
    ]
    page.says("for @ and @ % over the default", *((1 - 1 / gain) * 100 for gain in gains))
    page.says("ASK over DP: @ (16384) and @ (65536) for sbr", *(best(n, "dp sbr region") / best(n, "ask sbr") for n in (16384, 65536)))
