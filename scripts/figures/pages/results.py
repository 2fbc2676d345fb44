"""docs/results/README.md: headlines of every page."""

from figures.measured import BRICKS, FACES, SMALL, STREAMS, authors, ppm, proven, stream
from figures.page import GIVEN, UpTo, quoted
from figures.pages import arrays, devices, formulas, last_mile, paper_ask, points_meshes, readme, remote, shards
from figures.pages.arithmetic import tried
from figures.pages.stacks import native_over_folded
from figures.pages.stream_curves import morton_and_hilbert
from figures.rows import fits, rows

ON = "docs/results/"


CARDS = ("h200", "h100")  # then and now


def hilbert(card):
    """By how many per cent Hilbert takes longer than the faster of the other two, in 2-D and 4-D, at worst."""
    found = rows(f"{card}/rows/encodings.jsonl")
    lost = []
    for field, sizes in (("mandelbrot", (4096, 16384, 65536)), ("julibrot", (64, 128, 256))):
        for n in sizes:
            ms = {curve: found.ms(f"workload={field} n={n} curve={curve} table=scalars") for curve in ("canonical", "morton", "hilbert")}
            lost.append(ms.pop("hilbert") / min(ms.values()))
    return max(lost) * 100 - 100


def joules(card):
    """Net joules of the best run of each strategy at 65536²."""
    found = {}
    for row in rows(f"{card}/rows/energy.jsonl").all("workload=mandelbrot n=65536"):
        if row.say("g") == "64" or row.say("strategy") == "exhaustive":
            own = row.get("energy", "net_joules_per_run")
            found[row.say("strategy")] = min(own, found.get(row.say("strategy"), own))
    return found


def figures(page):
    headlines(page)
    beside_the_authors(page)
    now(page)
    thin(page)
    model(page)
    page.no_rows(readme.PLAIN, ("| inner loop |", "of the 21.9 ms."))
    page.given("## What the check found")


def headlines(page):
    every, best = FACES.ms("workload=mandelbrot n=65536 strategy=exhaustive cell=u16"), stream(65536, "{16, 4, 8}").ms
    bulb = (
        FACES.ms("workload=mandelbulb n=1024 strategy=exhaustive")
        / FACES.best("workload=mandelbulb n=1024 explore=closed scheme=stream").ms
    )
    large = BRICKS.ms("workload=mandelbulb n=2048 strategy=exhaustive") / BRICKS.best("workload=mandelbulb n=2048 scheme=stream").ms
    gains = [
        STREAMS.ms(f"workload={field} n={n} strategy=exhaustive") / proven(field, n).ms
        for field, n in (("mandelbrot", 65536), ("julibrot", 256), ("mandelbulb", 1024))
    ]
    page.says(
        "mandelbrot 65536² in @ ms, @ times exhaustive; bulb 1024³ @, 2048³ @; with no cell wrong @ times, julibrot 256⁴ @, bulb 1024³ @",
        best,
        every / best,
        bulb,
        large,
        *gains,
    )
    old = paper_ask.every(65536)
    ask, dp = (min(paper_ask.best(65536, strategy, scheme).ms for scheme in ("sbr", "mbr")) for strategy in ("ask", "dp"))
    blocks = rows("h100/rows/paper-blocks.jsonl")
    since = [blocks.best(f"n=65536 strategy={strategy}").ms for strategy in ("exhaustive", "ask")]
    page.given("r to 16")
    page.says(
        "65536²: exhaustive @ ms, ASK @ (@x), DP @ (@x); now, with every block of the paper and r to @, on an H100: @ and @ (@x)",
        old,
        ask,
        old / ask,
        dp,
        old / dp,
        GIVEN,
        *since,
        since[0] / since[1],
    )
    blog = []
    for name in ("h200", "h100"):
        found = rows(f"{name}/rows/nvidia-blog.jsonl")
        blog.append(
            (
                max(
                    found.best(f"n={n} dwell={dwell} strategy=exhaustive").ms / found.best(f"n={n} dwell={dwell} strategy=dp").ms
                    for n in (1024, 2048, 4096, 8192, 16384)
                    for dwell in (128, 256, 512)
                ),
                found.best("n=4096 dwell=512 strategy=dp").ms,
            )
        )
    page.says("then up to @x, 4096² in @ ms; three days later on an H100 up to @x, @ ms", *blog[0], *blog[1])
    cells = 23150**2 / 1e6
    page.says(
        "then @ Gpixel/s exhaustive, @ subdivided; three days later on an H100 @ and @",
        *(
            cells / rows(f"{card}/rows/zhong.jsonl").ms(f"n=23150 strategy={strategy}")
            for card in ("h200", "h100")
            for strategy in ("exhaustive", "ask")
        ),
    )
    page.says("Hilbert costs up to @ % then and @ % now", *(hilbert(card) for card in CARDS))
    simplex = [rows(f"{card}/rows/dimensions.jsonl") for card in CARDS]
    page.says(
        "64^6: @ ms against @, now @ against @; 64^8 in @ ms with @ KB of tables",
        *(found.ms(f"workload=simplex dim=6 n=64 strategy={strategy}") for found in simplex for strategy in ("exhaustive", "ask")),
        simplex[0].ms("workload=simplex dim=8 n=64 strategy=ask"),
        simplex[0].one("workload=simplex dim=8 n=64 strategy=ask").get("run", "peak_olt_bytes") / 1e3,
    )
    page.says("native grids take @ to @ times as long", *native_over_folded())
    page.says("Morton is within @ % of places; Hilbert takes up to @ % longer", *(UpTo(one) for one in morton_and_hilbert()))
    page.given("k = 3 to 6")
    region = {field: f"workload={field} dp-launch=region" for field in ("mandelbrot", "mandelbulb", "julibrot")}
    lost = {}
    for budget in (128, 2048):
        for card in CARDS:
            found = rows(f"{card}/rows/throttle.jsonl")
            lost[budget, card] = max(found.ms(f"{of} dp-budget={budget}") / found.best(of).ms for of in region.values())
    page.says(
        "launched by region the default within @ % of the best, now @; 2048 in flight up to @ times slower, now @",
        *(UpTo((lost[128, card] - 1) * 100) for card in CARDS),
        *(lost[2048, card] for card in CARDS),
    )
    net = [joules(card) for card in CARDS]
    now = rows("h100/rows/energy.jsonl")
    whole, ask = (now.one(f"workload=mandelbrot n=65536 strategy={way}").ms for way in ("exhaustive", "ask scheme=sbr g=64"))
    page.says(
        "ASK @x less than exhaustive, as in time, now @ (@ in time)", *(one["exhaustive"] / one["ask"] for one in net), whole / ask
    )
    page.says("@x less than the better DP |", net[0]["dp"] / net[0]["ask"])
    ms = tried()
    before, after = (rows(f"h200/cycles-{name}.jsonl") for name in ("before", "after"))
    seahorses = "domain=-0.76:-0.73,0.08:0.11 strategy=exhaustive"
    page.says(
        "exhaustive @ (mandelbrot), @ (bulb), @ times faster (julibrot); cycles up to @ more, and a loss of @ % where few cells are inside",
        ms["before", "mandelbrot", "65536"] / ms["LONGEST=16", "mandelbrot", "65536"],
        ms["before", "mandelbulb", "1024"] / ms["default", "mandelbulb", "1024"],
        ms["before", "julibrot", "256"] / ms["JSHORTEST=8", "julibrot", "256"],
        max(row.ms / after.one(row.get("key")).ms for row in before),
        (rows("h200/rows/windows.jsonl").ms(f"n=16384 {seahorses}") / before.ms(seahorses) - 1) * 100,
    )
    proofs = rows("h200/proofs.jsonl")
    page.says(
        "bulb 1024³ @ times exhaustive with",
        proofs.ms("workload=mandelbulb n=1024 strategy=exhaustive") / proofs.ms("workload=mandelbulb n=1024 explore=certified"),
    )
    lists = rows("h200/balance/lists.jsonl")
    page.says(
        "circuit5M @ times faster than by threads", balanced(lists, "circuit5M", "threads") / balanced(lists, "circuit5M", "multi-phase")
    )
    page.says("@ runs equal to the bit", 7511)
    counted(page)


def balanced(found, name, balancer, order="shuffled"):
    """Microseconds of partition and expansion: the median of their sums."""
    import statistics

    phases = found.one(f"workload={name} order={order} balancer={balancer}").get("phases")
    return statistics.median(a + b for a, b in zip(phases["partition"], phases["expansion"])) * 1e6


def counted(page):
    lines = [rows("regression/h200-after.jsonl"), rows("regression/cpu-after.jsonl")]
    page.says("@ cases, none slower", sum(len({row.get("key") for row in found}) for found in lines))
    mile = rows("h100/last-mile-cuda.jsonl")

    def seconds(command, program):
        import statistics

        return statistics.median(row.get("seconds") for row in mile if row.say("command") == command and row.say("program") == program)

    png, tree = "run mandelbrot -n 65536 -o m.png", "run mandelbrot -n 65536 -o m.tree.zarr"
    page.says(
        "to its picture in @ s, before @; to its tree @, before @",
        *(seconds(command, program) for command in (png, tree) for program in ("orthant", "orthant-before")),
    )
    page.says(
        "a gyroid of 512³ in @ ms",
        min(row.ms for row in rows("h200/formulas.jsonl") if row.say("run") == "gyroid" and row.say("backend") == "cuda"),
    )
    formulas.headline(page)
    points_meshes.headline(page)
    remote.headline(page)
    shards.headline(page)
    arrays.headline(page)
    devices.headline(page)
    last_mile.headline(page)
    row = next(
        row
        for row in rows("h200/arrays.jsonl")
        if (row.say("input"), row.say("backend"), row.say("way"), row.say("curve")) == ("bulb.npy", "cuda", "ask sbr", "morton")
    )
    starts = {}
    for one in rows("defaults.jsonl"):
        starts.setdefault((one.say("backend"), one.say("workload"), one.say("n")), []).append(one)
    least = lambda case, key: min(one.get("seconds") for one in starts[case] if one.get("strategy") == "ask" and (one.get(key) if key else True))  # noqa: E731
    near = sum(least(case, "taken") <= 1.1 * least(case, None) for case in starts)
    first = ("cuda", "mandelbrot", "1024")
    page.given("within 10 % of the best of its rule")
    page.says("of its rule in @ of @ cases; 1024² in @ of", near, len(starts), least(first, "taken") / least(first, "bare"))
    page.says("@ GB divided in @ ms", row.get("cells", "total") * 2 / 1e9, row.ms)
    found = rows("h200/devices.jsonl")
    best = {devices: {} for devices in (2, 4)}
    for row in found:
        if "counts" in row.say("run") and "points" not in row.say("run") and row.say("devices") in ("2", "4"):
            one = next(
                other
                for other in found
                if other.say("run") == row.say("run") and other.say("g") == row.say("g") and other.say("devices") == "1"
            )
            gain, at = one.get("seconds") / row.get("seconds"), best[int(row.say("devices"))]
            at[row.say("run")] = max(gain, at.get(row.say("run"), 0))
    page.says("counts @ to @ and @ to @ times one", *(pick(best[devices].values()) for devices in (2, 4) for pick in (min, max)))
    wild = "the page that a figure is quoted from says why it has no rows"
    page.says(
        "look-ups in @ ns where NanoVDB takes @; 1024³ built and written in @ s, dense @",
        *quoted(ON + "data.md", "| random look-up of 2^20 cells | **@ ns** (5.0 to 5.2) | NanoVDB tree @ ns", wild),
        *quoted(ON + "data.md", "5.9 MB) | **@ s**", wild),
        *quoted(ON + "data.md", "with fsync | @ s", wild),
    )
    page.says(
        "a look-up @ ns; a tree @ to @ times the command (goal 1.05)",
        *quoted(ON + "python.md", "one core | @ ns of processor time", wild),
        *quoted(ON + "python.md", "this machine: @, and @ for the first call", wild),
    )
    page.given("(goal 1.05)", "the goals are 220 and 120 where that release takes 407 and 251", "a mesh of 100,000 triangles", "k = 1 to 8", "2048 in flight", "2026-11-21 to 24")
    page.says(
        "@ CPU seconds and @ s in a fresh clone on a fast machine, where the release before takes @ and @",
        *quoted(ON + "compile.md", "85 to 94 s) | @ | @ | 1789", wild),
        *quoted(ON + "compile.md", "15 minutes later; one run | @ | @ | 2478", wild),
    )
    page.says("`.ci/run` in @ s", *quoted(ON + "compile.md", "| `d399a69a` | 12-01 | 975 | @ | 74", wild))
    page.says(
        "a tree of 1024³ in @ s, of 4096³ in @ s",
        *quoted(ON + "points-meshes.md", "| | 1024³ | @ | 0.08", wild),
        *quoted(ON + "points-meshes.md", "| | 4096³ | @ | 0.31", wild),
    )
    page.no_rows(wild, "500 kills, 320 limits", "4-D on the CPU 11 to 36 %")


def beside_the_authors(page):
    table = page.table("theirs", "dp mbr")
    plain = rows("h200/paper.txt").where(cell="i32", arithmetic="plain")
    for n in (1024, 4096, 16384, 65536):
        theirs = authors(n)
        table.row(
            f"{n}²",
            paper_ask.every(n),
            plain.where(n=n, strategy="exhaustive").fastest().ms,
            theirs["Ex"],
            paper_ask.best(n, "ask", "sbr").ms,
            plain.where(n=n, strategy="ask sbr").fastest().ms,
            theirs["ASK-SBR"],
            paper_ask.best(n, "dp", "mbr").ms,
            theirs["DP-MBR"],
        )
    every, ask = paper_ask.every(1024), paper_ask.best(1024, "ask", "sbr").ms
    page.says("draws the whole picture in @ ms, and the best of this search takes @ ms, @ % less", every, ask, (1 - ask / every) * 100)
    page.says(
        "on another day, took @ ms", rows("h200/paper.txt").where(n=1024, cell="i32", arithmetic="fused", strategy="ask sbr").fastest().ms
    )
    solids = rows("h200/solids.txt")

    def solid(n, strategy, **more):
        return solids.where(field="mandelbulb", n=n, strategy=strategy, **more).fastest().ms

    page.says(
        "`ask` took @ ms for a Mandelbulb at 1024³ where `exhaustive` took @ ms, but @ ms against @ ms at 256³",
        solid(1024, "ask sbr", grb="32, 2, 4"),
        solid(1024, "exhaustive"),
        solid(256, "ask sbr", grb="32, 2, 4"),
        solid(256, "exhaustive"),
    )


def now(page):
    table = page.table("a block per region", "a stream")
    for label, n, source in [("mandelbrot", 4096, SMALL), ("", 16384, FACES), ("", 65536, FACES)]:
        of = f"workload=mandelbrot n={n} cell=u16"
        best = source.best(f"{of} explore=closed scheme=stream") if n < 65536 else stream(n, "{16, 4, 8}")
        table.row(
            label,
            None,
            source.ms(f"{of} strategy=exhaustive"),
            (FACES + SMALL).best(f"{of} strategy=ask scheme=sbr").ms,
            best.ms,
            ppm(best),
        )
    for label, field, n in [
        ("mandelbulb", "mandelbulb", 256),
        ("", "mandelbulb", 1024),
        (None, "mandelbulb", 1024),
        ("julibrot", "julibrot", 128),
        ("", "julibrot", 256),
    ]:
        if label is None:
            best = FACES.best("workload=mandelbulb n=1024 explore=closed scheme=stream")
            table.row("", None, None, None, best.ms, ppm(best))
            continue
        of = f"workload={field} n={n}"
        table.row(
            label,
            None,
            STREAMS.ms(f"{of} strategy=exhaustive"),
            STREAMS.ms(f"{of} explore=certified strategy=ask scheme=sbr"),
            proven(field, n).ms,
            0,
        )


def thin(page):
    table = page.table("ask with proofs")
    found = rows("h200/rows/dimensions.jsonl")
    every, ask = (found.ms(f"workload=simplex dim=6 n=64 strategy={strategy}") for strategy in ("exhaustive", "ask"))
    last = found.one("workload=simplex dim=8 n=64 strategy=ask")
    without = quoted(ON + "dimensions.md", "took @ s instead of", "The 6.03 s are of a version of that day before rows were kept.")
    table.row("64⁶", 64**6 / 1e10, every, ask, without)
    table.row("64⁸", 64**8 / 1e14, None, (last.ms, last.get("run", "peak_olt_bytes") / 1e3), None)
    page.says("by a factor of @.", without[0] * 1e3 / every)


def model(page):
    found, streams = fits("h200/fits/by-code.txt"), fits("h200/fits/streams.txt")
    two, three, four = (found[field, "regions"]["all"][4:] for field in ("mandelbrot", "mandelbulb", "julibrot"))
    page.says(
        "blocks per region @ % in the median in 2-D (worst @ %), @ % in 3-D (worst @ %) and @ % in 4-D (worst @ %); streams in 2-D @ % (worst @ %)",
        *two,
        *three,
        *four,
        *streams["mandelbrot", "stream-faces"]["all"][4:],
    )
    page.given("The goal of 15 %")
    page.says(
        "blocks per region @ % (2-D), @ % (3-D) and @ % (4-D) on an H200, streams @ % (2-D)",
        two[0],
        three[0],
        four[0],
        streams["mandelbrot", "stream-faces"]["all"][4],
    )
    page.says("a choice on the CPU loses @ % in the median", *quoted_choices())


def quoted_choices():
    """The median of what choices on the CPU lose, from the table of model-cpu."""
    import re
    import statistics

    from figures.page import Quoted
    from figures.rows import ROOT

    text = (ROOT / ON / "model-cpu.md").read_text().split("## Whether to divide")[1]
    lost = [
        float(line.split("|")[5].replace("*", "").replace("%", ""))
        for line in text.splitlines()
        if re.match(r"\| .*\d (%|% \*\*|%\*\*) \| [\d.]+", line)
    ]
    value = Quoted(statistics.median(lost))
    value.reason = "the page that a figure is quoted from says why it has no rows"
    return [value]
