"""docs/results/streams.md: streams, regions and bricks, bare runs, other windows, profiles."""

import re
import statistics

from figures.measured import BRICKS, DEFAULTS, FACES, SMALL, STREAMS, WINDOWS, ppm, profile, sides, wrong
from figures.page import GIVEN
from figures.rows import RESULTS, Wrong, rows

OLDER = "Figures of earlier versions of the kernels have no rows in the tree"
NOTED = "have no rows either: they were read off a terminal or a profiler"


def figures(page):
    page.given("driver 580.159.04", "4.8 TB/s", "3.35 TB/s", "3.35 TB/s, i32", "(3.35 TB/s)")
    every = [row for file in (STREAMS, FACES, WINDOWS, SMALL, DEFAULTS, BRICKS) for row in file]
    page.says("standard errors at most @ %", max(row.error for row in every if row.ms > 1))
    page.says("The @ arrays that the first five have on an", equal_arrays())
    without_proofs(page)
    faces(page)
    writing(page)
    bricks(page)
    bare(page)
    windows(page)
    profiles(page)
    page.no_rows(
        OLDER,
        ("it was measured before faces were read", "(3.35 TB/s)."),
        ("Counted instruction by instruction", "above its own."),
        ("On an H100, whose memory", "10.64 ms)"),
        "**Small pictures.**",
        ("An older profile", "is what remains."),
        "### What made the difference",
        "## Lists instead of maps",
        "## Streams of the rule `border`",
    )
    page.no_rows(
        NOTED,
        ("| | exhaustive | `border`, sbr | `closed`, sbr | stream |", "0.06 ppm"),
        ("both take much longer", "1.2 each)."),
        ("The tiles of `certified` are near", "first four tested steps."),
        "## Equality and sanitizers",
        ("Mandelbulb 2048^3 keeps 12 %", "a side."),
    )


def equal_arrays():
    """How many rows of the two cards are of one case; all must have the same cells."""
    count = 0
    for name in ("streams", "faces", "windows", "small", "defaults"):
        other = {row.get("key"): row for row in rows(f"h100/rows/{name}.jsonl") if not row.found.get("error")}
        for row in rows(f"h200/rows/{name}.jsonl"):
            if row.get("key") in other and not row.found.get("error"):
                count += 1
                if row.get("run", "checksum") != other[row.get("key")].get("run", "checksum"):
                    raise Wrong(f"{row.place}: other cells than {other[row.get('key')].place}")
    return count


def without_proofs(page):
    table = page.table("exhaustive over the best", "leaves of 2 a side")
    for name, field, n, goal in [
        ("julibrot 128^4", "julibrot", 128, GIVEN),
        ("julibrot 256^4", "julibrot", 256, GIVEN),
        ("mandelbulb 256^3", "mandelbulb", 256, GIVEN),
        ("mandelbulb 512^3", "mandelbulb", 512, GIVEN),
        ("mandelbulb 1024^3", "mandelbulb", 1024, GIVEN),
        ("mandelbulb 2048^3, u8", "mandelbulb", 2048, None),
    ]:
        source = BRICKS if n == 2048 else STREAMS
        exact = source.ms(f"workload={field} n={n} strategy=exhaustive")
        two, four = (source.ms(f"workload={field} n={n} explore=certified scheme=stream keep=dense B={b}") for b in (1, 2))
        sbr = None if n == 2048 else source.ms(f"workload={field} n={n} explore=certified strategy=ask scheme=sbr g={n // 16} r=2 B=4")
        table.row(name, exact, sbr, two, four, exact / min(two, four), goal)
    table = page.table("sbr, B = 8", "leaves of 8 a side")
    for name, n in [("mandelbrot 4096^2, D = 512", 4096), ("mandelbrot 65536^2", 65536)]:
        ask = f"workload=mandelbrot n={n} explore=certified strategy=ask"
        exact = STREAMS.ms(f"workload=mandelbrot n={n} strategy=exhaustive")
        eight, sixteen = (STREAMS.ms(f"{ask} scheme=stream B={b}") for b in (4, 8))
        table.row(name, exact, STREAMS.ms(f"{ask} scheme=sbr B=8"), eight, sixteen, exact / min(eight, sixteen))
    every = STREAMS.ms("workload=mandelbrot n=65536 strategy=exhaustive")
    page.says(
        "was to take @ ms (met), exhaustively 110 (met: @, where it took @)",
        GIVEN,
        every,
        rows("h200/streams.jsonl").ms("workload=mandelbrot n=65536 strategy=exhaustive"),
    )
    jul = STREAMS.best("workload=julibrot n=256 scheme=stream").ms
    page.says(
        "misses its goal by @ %, exhaustive (@ ms) by @ %",
        (jul / 9 - 1) * 100,
        GIVEN,
        (STREAMS.ms("workload=julibrot n=256 strategy=exhaustive") / 21 - 1) * 100,
    )


def faces(page):
    table = page.table("`closed`, sbr", "wrong cells", "aimed at, ms")

    def mandelbrot(label, n, source, cell, border, closed, best, goal, exact=True, bare=False):
        field = f"workload=mandelbrot n={n} cell={cell}"
        every = source.ms(f"{field} strategy=exhaustive")
        streamed = source.one(f"{field} explore=closed scheme=stream {sides(best)}")
        others = [
            source.ms(f"{field} explore={rule} strategy=ask scheme=sbr {sides(scheme)}") if scheme else None
            for rule, scheme in (("border", border), ("closed", closed))
        ]
        fastest = min([streamed.ms] + ([one for one in others if one] if n < 16384 and exact and n != 4096 else []))
        cells = wrong(streamed) if bare else (wrong(streamed), ppm(streamed))
        table.row(label, every if exact else None, *others, streamed.ms, best, cells, every / fastest, goal)

    mandelbrot("mandelbrot 65536^2, i32, D = 512", 65536, FACES, "i32", "{32, 2, 16}", "{32, 2, 16}", "{16, 4, 8}", GIVEN)
    mandelbrot("u16", 65536, FACES, "u16", "{32, 2, 16}", "{32, 2, 16}", "{16, 4, 8}", GIVEN, bare=True)
    mandelbrot("16384^2, u16", 16384, FACES, "u16", "{32, 2, 16}", "{32, 2, 16}", "{32, 4, 4}", GIVEN)
    mandelbrot("", 16384, FACES, "u16", None, None, "{16, 4, 8}", None, exact=False)
    small = "{64, 4, 4}"
    every = SMALL.ms("workload=mandelbrot n=4096 strategy=exhaustive")
    sbr, closed = (SMALL.ms(f"workload=mandelbrot n=4096 explore={rule} scheme=sbr {sides(small)}") for rule in ("border", "closed"))
    streamed = SMALL.one(f"workload=mandelbrot n=4096 explore=closed scheme=stream {sides(small)}")
    table.row(
        "4096^2, u16",
        every,
        sbr,
        closed,
        streamed.ms,
        small,
        (wrong(streamed), ppm(streamed)),
        every / min(sbr, closed, streamed.ms),
        GIVEN,
    )
    closed = SMALL.ms("workload=mandelbrot n=4096 explore=closed scheme=sbr g=16 r=4 B=8")
    streamed = SMALL.one("workload=mandelbrot n=4096 explore=closed scheme=stream g=16 r=4 B=8")
    table.row("", None, None, closed, streamed.ms, "{16, 4, 8}", wrong(streamed), every / streamed.ms, None)
    for label, n, scheme, border, goal in [("2048^2, u16", 2048, "{128, 4, 4}", None, None), ("1024^2, u16", 1024, small, small, GIVEN)]:
        every = SMALL.ms(f"workload=mandelbrot n={n} strategy=exhaustive")
        streamed = SMALL.one(f"workload=mandelbrot n={n} explore=closed scheme=stream {sides(scheme)}")
        closed = SMALL.ms(f"workload=mandelbrot n={n} explore=closed scheme=sbr {sides(scheme)}")
        sbr = SMALL.ms(f"workload=mandelbrot n={n} explore=border scheme=sbr {sides(border)}") if border else None
        cells = (wrong(streamed), ppm(streamed)) if wrong(streamed) else 0
        table.row(
            label, every, sbr, closed, streamed.ms, scheme, cells, every / min(one for one in (sbr, closed, streamed.ms) if one), goal
        )

    def bulb(label, n, border, best, goal, exact=True, bare=False):
        every = FACES.ms(f"workload=mandelbulb n={n} strategy=exhaustive")
        streamed = FACES.one(f"workload=mandelbulb n={n} explore=closed prove=no scheme=stream {sides(best)}")
        sbr = FACES.ms(f"workload=mandelbulb n={n} explore=border scheme=sbr {sides(border)}") if border else None
        table.row(
            label,
            every if exact else None,
            sbr,
            None,
            streamed.ms,
            best,
            wrong(streamed) if bare else (wrong(streamed), ppm(streamed)),
            every / streamed.ms,
            goal,
        )

    bulb("mandelbulb 1024^3", 1024, "{32, 2, 4}", "{16, 2, 4}", GIVEN)
    bulb("", 1024, None, "{32, 2, 4}", None, exact=False, bare=True)
    bulb("512^3", 512, "{16, 2, 4}", "{16, 2, 4}", None)
    bulb("256^3", 256, "{8, 2, 4}", "{8, 2, 4}", None)

    def over(n, goal, cell="u16", source=FACES, scheme="stream"):
        return (source.best(f"workload=mandelbrot n={n} cell={cell} explore=closed|border scheme={scheme}").ms / goal - 1) * 100

    i32, u16 = (FACES.ms(f"workload=mandelbrot n=65536 explore=closed scheme=stream cell={cell} g=16 r=4 B=8") for cell in ("i32", "u16"))
    page.says(
        "The goals are missed by @ and @ % at 65536^2, by @ % at 16384^2", (i32 / 9.5 - 1) * 100, (u16 / 9.2 - 1) * 100, over(16384, 1.1)
    )
    bulb12 = STREAMS.ms("workload=mandelbulb n=1024 explore=certified scheme=stream B=1")
    page.says("by `certified` (@ ms, no cell wrong) missed by @ %", bulb12, (bulb12 / 12.5 - 1) * 100)
    costs = {}
    for row in FACES.all("workload=mandelbulb explore=closed prove=yes scheme=stream"):
        key = " ".join(f"{name}={row.say(name)}" for name in ("n", "g", "r", "B"))
        costs[key] = (row.ms / FACES.ms(f"workload=mandelbulb explore=closed prove=no scheme=stream {key}") - 1) * 100
    shown = [costs[key] for key in ("n=1024 g=16 r=2 B=4", "n=1024 g=32 r=2 B=4", "n=512 g=16 r=2 B=4", "n=256 g=8 r=2 B=4")]
    page.says("cost the Mandelbulb @ to @ % on these schemes, up to @ % with larger roots", min(shown), max(shown), max(costs.values()))
    plain = "workload=mandelbrot n=65536 arithmetic=plain"
    page.says(
        "exhaustive @ ms, `border` by sbr @, `closed` by streams @",
        *(WINDOWS.ms(f"{plain} {how}") for how in ("strategy=exhaustive", "explore=border scheme=sbr", "explore=closed scheme=stream")),
    )


def writing(page):
    with_, without = ([rows(f"h200/rows/{name}-{at}.jsonl") for at in (1, 2, 3)] for name in ("fills", "nofills"))

    def pair(question):
        both = [statistics.median([one.ms(question) for one in three]) for three in (with_, without)]
        return [*both, both[0] / both[1]]

    page.says(
        "mandelbrot 65536^2 i32 @ and @ ms (@), u16 @ and @ (@), julibrot 256^4 @ and @ (@), "
        "mandelbulb 1024^3 `certified` @ and @ (@), `closed` @ and @ (@), 512^3 @ and @ (@)",
        *(
            value
            for question in (
                "cell=i32",
                "workload=mandelbrot cell=u16",
                "workload=julibrot",
                "n=1024 explore=certified",
                "n=1024 explore=closed",
                "n=512",
            )
            for value in pair(question)
        ),
    )


def bricks(page):
    table = page.table("dense, best stream")
    for label, field, n, cell, border, proofs, bare, closed in [
        ("mandelbulb 2048^3, u8", "mandelbulb", 2048, "u8", "{64, 2, 8}", "{128, 2, 4}", True, "{16, 2, 4}"),
        ("1024^3", "mandelbulb", 1024, "u16", "{32, 2, 8}", "{64, 2, 4}", True, "{16, 2, 4}"),
        ("512^3", "mandelbulb", 512, "u16", "{16, 2, 8}", "{32, 2, 4}", True, "{16, 2, 4}"),
        ("julibrot 256^4", "julibrot", 256, "u16", "{8, 2, 4}", "{16, 2, 4}", "{16, 2, 2}", "{16, 2, 4}"),
        ("mandelbrot 65536^2, u16", "mandelbrot", 65536, "u16", "{32, 2, 16}", "{1024, 2, 8}", "{1024, 2, 8}", "{16, 4, 8}"),
    ]:
        of = f"workload={field} n={n}"
        every = BRICKS.ms(f"{of} strategy=exhaustive")
        kept = f"{of} keep=regions strategy=ask"
        by_default = [row for row in BRICKS.all(f"{kept} scheme=stream") if "explore" not in row.get("case")]
        stream = by_default[0].ms if bare is True else BRICKS.ms(f"{kept} explore=certified scheme=stream {sides(bare)}")
        faces_ = BRICKS.ms(f"{kept} explore=closed scheme=stream {sides(closed)}")
        dense = BRICKS.best(f"{of} keep=dense scheme=stream").ms
        best = min(stream, faces_) if field != "mandelbulb" or n != 2048 else faces_
        table.row(
            label,
            every,
            (BRICKS.ms(f"{kept} explore=border scheme=sbr {sides(border)}"), border),
            (BRICKS.ms(f"{kept} explore=certified scheme=sbr {sides(proofs)}"), proofs),
            stream if bare is True else (stream, bare),
            (faces_, closed),
            dense,
            every / best,
        )
    every = BRICKS.ms("workload=mandelbulb n=2048 strategy=exhaustive")
    page.says(
        "by streams it is @ times, @ as a dense array (@ by sbr)",
        every / BRICKS.best("workload=mandelbulb n=2048 keep=regions scheme=stream").ms,
        every / BRICKS.best("workload=mandelbulb n=2048 keep=dense scheme=stream").ms,
        every / BRICKS.best("workload=mandelbulb n=2048 keep=regions scheme=sbr").ms,
    )
    page.given("was to be 3 times as fast", "a row stops at 0.4 s")
    slow = BRICKS.one("workload=mandelbulb n=2048 strategy=exhaustive").get("samples", "device")
    page.says("Exhaustive at 2048^3 has @ samples, which are @ % apart", len(slow), (max(slow) / min(slow) - 1) * 100)
    row = BRICKS.one("workload=mandelbulb n=2048 explore=closed keep=dense g=16 r=2 B=4")
    page.says("and @ of the 2048^3 (@ ppm", wrong(row), ppm(row))
    page.says(
        "2048^3 in @ ms where sbr takes @.",
        *(
            next(
                row.ms for row in BRICKS.all(f"workload=mandelbulb n=2048 keep=regions scheme={scheme}") if "explore" not in row.get("case")
            )
            for scheme in ("stream", "sbr")
        ),
    )


def bare(page):
    table = page.table("a bare run", "before")
    for label, field, sizes in [
        ("mandelbrot 1024^2", "mandelbrot", (1024, 4096, 16384, 65536)),
        ("mandelbulb 192^3", "mandelbulb", (192, 256, 512, 1024)),
        ("julibrot 64^4", "julibrot", (64, 128, 256)),
        ("mxm 128^4 (by sbr: its proof takes a warp)", "mxm", (128,)),
    ]:
        for n in sizes:
            of = f"workload={field} n={n}"
            asked = [row for row in DEFAULTS.all(f"{of} strategy=ask") if "explore" not in row.get("case")]
            now = next(row.ms for row in asked if "scheme" not in row.get("case"))
            sbr = next((row.ms for row in asked if "scheme" in row.get("case")), None)
            power = {"mandelbrot": 2, "mandelbulb": 3, "julibrot": 4, "mxm": 4}[field]
            table.row(
                label if n == sizes[0] else f"{n}^{power}",
                DEFAULTS.ms(f"{of} strategy=exhaustive"),
                now,
                sbr,
                DEFAULTS.ms(f"{of} strategy=ask explore=border"),
            )


def windows(page):
    table = page.table("`border`, sbr", "dp", "`certified`, stream")
    seahorses, copy, deep = "domain=-0.76:-0.73,0.08:0.11", "domain=-1.785:-1.745,-0.02:0.02", "domain=-0.7446:-0.7426,0.1308:0.1328"
    for label, question in [
        ("mandelbrot 16384^2, [-0.76, -0.73] × [0.08, 0.11], D = 1024", seahorses),
        ("[-1.785, -1.745] × [-0.02, 0.02], D = 1024", copy),
        ("[-0.7446, -0.7426] × [0.1308, 0.1328], D = 4096, f64", deep),
        ("u8, D = 255", "dwell=255"),
        ("f64", "precision=f64 dwell=512"),
    ]:
        of = f"workload=mandelbrot n=16384 {question}"
        every = WINDOWS.ms(f"{of} strategy=exhaustive")
        sbr, dp = WINDOWS.one(f"{of} explore=border strategy=ask"), WINDOWS.one(f"{of} explore=border strategy=dp")
        closed, certified = WINDOWS.one(f"{of} explore=closed strategy=ask"), WINDOWS.one(f"{of} explore=certified strategy=ask B=4")
        table.row(label, every, (sbr.ms, wrong(sbr)), dp.ms, (closed.ms, wrong(closed)), certified.ms, every / closed.ms)
    every = FACES.ms("workload=mandelbrot n=65536 cell=u16 strategy=exhaustive")
    closed = FACES.ms("workload=mandelbrot n=65536 cell=u16 explore=closed scheme=stream g=16 r=4 B=8")
    table.row(
        "mandelbrot 65536^2, u16",
        every,
        FACES.ms("workload=mandelbrot n=65536 cell=u16 explore=border scheme=sbr"),
        WINDOWS.ms("workload=mandelbrot n=65536 strategy=dp cell=u16"),
        closed,
        STREAMS.best("workload=mandelbrot n=65536 scheme=stream").ms,
        every / closed,
    )
    for label, question in [
        ("mandelbulb 512^3, u8, D = 255", "workload=mandelbulb dwell=255"),
        ("f64", "workload=mandelbulb precision=f64"),
        ("[0.3, 0.9]³", "domain=0.3:0.9,0.3:0.9,0.3:0.9"),
        ("[0.5, 1] × [0.4, 0.9] × [-0.25, 0.25]", "domain=0.5:1,0.4:0.9,-0.25:0.25"),
        ("julibrot 128^4, u8, D = 255", "workload=julibrot dwell=255"),
        ("f64", "workload=julibrot precision=f64"),
        ("[-0.6, 0.6]² × [-0.9, -0.3] × [-0.2, 0.4]", "domain=-0.6:0.6,-0.6:0.6,-0.9:-0.3,-0.2:0.4"),
        ("[-1, 1]² × [0.2, 0.4] × [-0.1, 0.1]", "domain=-1:1,-1:1,0.2:0.4,-0.1:0.1"),
    ]:
        every, best = WINDOWS.ms(f"{question} strategy=exhaustive"), WINDOWS.best(f"{question} scheme=stream").ms
        table.row(label, every, None, None, None, best, every / best)
    found = {}
    for line in (RESULTS / "h200" / "own-field.txt").read_text().splitlines():
        if match := re.match(r"(\w+ \w+) +n=(\d+)\^3 g=(\d+):.*median ([\d.]+)", line):
            found[match[1], int(match[2]), int(match[3])] = float(match[4])
    page.says(
        "512^3 @ ms, 1024^3 @; the field that comes with the crate, kept from telling its orbit, @ and @; with all stages @ and @",
        *(found[kind, n, n // 32] for kind in ("own source", "one stage", "all stages") for n in (512, 1024)),
    )


def profiles(page):
    of = profile("mandelbrot-closed")
    faces_, judging, tiles = ([one for one in of if one[0] == f"stream_{name}"] for name in ("faces", "judge", "tiles"))

    def column(kernels, at):
        return [one[at] for one in kernels]

    def span(kernels, at):
        return min(column(kernels, at)), max(column(kernels, at))

    table = page.table("ms", "warp instructions", "issue", "lanes")
    for label, kernels in [("cells on faces, sides 4096, 1024, 256, 64, 16", faces_), ("judging", judging)]:
        table.row(label, column(kernels, 1), sum(column(kernels, 2)), span(kernels, 3), span(kernels, 4))
    table.row("tiles", *tiles[0][1:5])
    table.row("all", sum(column(of, 1)), sum(column(of, 2)), None, None)
    u16 = profile("mandelbrot-closed-u16")[-1]
    page.says("With u16 the tiles take @ ms and @ · 10⁹ instructions at @ % issue", u16[1], u16[2], u16[3])
    page.says("Writing @ GB alone takes @ ms", 65536**2 * 4 / 1e9, 65536**2 * 4 / 4.8e9)
    table = page.table("ms", "warp instructions", "GB/s")
    jul, exact = profile("julibrot-certified"), profile("julibrot-exhaustive")[0]
    table.row("julibrot 256^4, leaves of 2", GIVEN, *([jul[0][at], jul[1][at]] for at in range(1, 6)))
    table.row("", GIVEN, *jul[2][1:])
    table.row("exhaustive", None, *exact[1:])
    bulb, closed, exact = profile("bulb-certified"), profile("bulb-closed"), profile("bulb-exhaustive")[0]
    table.row("mandelbulb 1024^3, leaves of 2", GIVEN, *([bulb[0][at], bulb[1][at]] for at in range(1, 6)))
    table.row("", GIVEN, *bulb[2][1:])
    for label, name in [("closed, {16, 2, 4}", "faces"), ("", "judge")]:
        kernels = [one for one in closed if one[0] == f"stream_{name}"]
        table.row(
            label, None if name == "judge" else GIVEN, column(kernels, 1), sum(column(kernels, 2)), *(span(kernels, at) for at in (3, 4, 5))
        )
    table.row("", None, *closed[-1][1:])
    table.row("exhaustive", None, *exact[1:])
    table.row("mandelbrot 65536^2, exhaustive", None, *profile("mandelbrot-exhaustive")[0][1:])
