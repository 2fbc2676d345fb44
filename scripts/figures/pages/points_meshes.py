"""docs/results/points-meshes.md: trees of points and of a mesh. Counts of the mesh have rows, times have none; points have both."""

from figures.page import LEFT
from figures.rows import Wrong, rows, table

TIMES = "No rows were kept of the times"
COUNTS = rows("mesh-counts.jsonl")
BENCH = rows("points-bench.jsonl")
POINTS = rows("points.jsonl")
COMPARED = rows("mesh-compare.jsonl")
BESIDE = rows("points-compare.jsonl")
ON_CARD = rows("h200/points-on-card.jsonl")
GOAL = 30  # millions of points per second on two cores
GOAL_ON_CARD = 500


def figures(page):
    meshes(page)
    meshes_beside(page)
    in_memory(page)
    from_files(page)
    on_a_gpu(page)
    on_the_card(page)
    page.no_rows(TIMES, "## Meshes")


def meshes(page):
    table = page.table("cells in leaves", "bytes of the tree")
    for value in ("inside", "surface"):
        for side in (128, 256, 512, 1024, 2048, 4096):
            row = COUNTS.one(f"value={value} size={side}")
            if side <= 1024 and not row.get("checksum") == row.get("full") == row.get("exhaustive"):
                raise Wrong(f"{row.place}: cells of the tree are not those of an exhaustive run, and the page says that none is wrong")
            table.row(value if side == 128 else "", None, *[LEFT] * 4, row.get("regions"), row.get("leaf_cells"), row.get("bytes"))
    volumes = [COUNTS.one(f"value=inside size={side}").get("volume") for side in (128, 512, 2048)]
    page.says("@ at 128³, @ at 512³, @ at 2048³", *volumes)


def meshes_beside(page):
    for block in table("mesh-compare", "mesh-compare.jsonl").split("\n\n"):
        page.block(block)
    row = lambda mesh, n, program: COMPARED.one(f"mesh={mesh}.off n={n} program={program}")
    triangles = [row(mesh, 512, "regions").get("triangles") for mesh in ("armadillo", "bunny00")]
    page.says("`armadillo.off` (@ triangles) and `bunny00.off` (@ triangles)", *triangles)
    cpu = {program: row("armadillo", 1024, program).get("cpu") for program in ("regions", "exhaustive", "numpy")}
    if max(cpu["exhaustive"], cpu["numpy"]) / cpu["regions"] >= 20:
        raise Wrong("mesh-compare.jsonl: the page says that the goal is not met, and the rows do not")
    page.says("takes @ times as long, and NumPy @ times", cpu["exhaustive"] / cpu["regions"], cpu["numpy"] / cpu["regions"])
    for mesh, n in [("armadillo", 256), ("armadillo", 512), ("bunny00", 256), ("bunny00", 512)]:
        if row(mesh, n, "numpy").get("inside") != row(mesh, n, "volume").get("inside"):
            raise Wrong(f"mesh-compare.jsonl: NumPy finds other cells of {mesh} at {n}, and the page says that they are the same")
    theirs = row("armadillo", 1024, "numpy").get("inside")
    if theirs != row("armadillo", 1024, "volume").get("inside") + 1:
        raise Wrong("mesh-compare.jsonl: NumPy does not find one cell more at 1024, as the page says")
    page.says("it finds one more, @.", theirs)
    fewer = row("bunny00", 1024, "numpy").get("inside")
    if fewer != row("bunny00", 1024, "volume").get("inside") - 1:
        raise Wrong("mesh-compare.jsonl: NumPy does not find one cell fewer of the bunny at 1024, as the page says")
    page.says("it finds one fewer, @.", fewer)
    far = [row(mesh, 1024, "oracles").get("openvdb distance, largest difference in cells") for mesh in ("armadillo", "bunny00")]
    page.says("differs by up to @ cells from libigl's", max(far))
    refused = COMPARED.one("mesh=stanford-bunny.obj").say("refused")
    page.says("has @ open edges", int(refused.split("open: ")[1].split()[0]))
    page.given("three cells", "Debian's package `libcgal-demo` 5.5.1", "*trimesh* 5.2.0 is", "too long beyond 256³", "*openvdb* 10.0.1 is", "Debian 12 has none")


def on_a_gpu(page):
    page.block(table("points-meshes-gpu", "h100/points-meshes.jsonl"))
    found = rows("h100/points-meshes.jsonl")

    def seconds(run, backend):
        own = (row for row in found if row.say("run") == run and row.say("backend") == backend)
        row = next(own)
        return row.get("seconds") if backend == "cpu" else row.get("device_seconds")

    divided = {row.say("run") for row in found if row.say("run").startswith("mesh") and " ask " in row.say("run")}
    gains = [seconds(run, "cpu") / seconds(run, "cuda") for run in divided]
    page.says("take @ to @ times as long on two threads", min(gains), max(gains))
    counts = seconds("points count 2048 ask counts", "cuda")
    page.says("10 million points at 2048³ are divided in @ ms by their number, which is @ billion a second", counts * 1e3, 0.01 / counts)
    page.given("The goal was 5 times", "The goal was 0.5 billion", "after 150 s of the script", "are 10 million on a wavy sphere", "of 100,000 triangles, and the")


def on_the_card(page):
    lines = ["| points | n | `--value` | way | ms | M points/s |", "|--:|--:|---|---|--:|--:|"]
    for row in ON_CARD:
        value, way = row.say("way").split(" ", 1)
        cells = [f"{row.get('points') / 1e6:.0f} M", f"{row.get('side')}", f"`{value}`", way, f"{row.get('seconds') * 1e3:.2f}"]
        cells.append(f"{row.get('million_points_per_second'):,.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    page.block("\n".join(lines))
    of = lambda points, side, *ways: [
        row for row in ON_CARD if row.get("points") == points and row.get("side") == side and any(row.say("way").endswith(way) for way in ways)
    ]
    rates = lambda found: [row.get("million_points_per_second") for row in found]
    streams, others = rates(of(10**7, 2048, "stream")), rates(of(10**7, 2048, "sbr", "dp"))
    if max(streams) >= GOAL_ON_CARD or min(others) < GOAL_ON_CARD:
        raise Wrong("h200/points-on-card.jsonl: the page says which ways reach the goal, and the rows say others")
    page.says("The goal was @ million points per second. One block", GOAL_ON_CARD)
    page.says("reach it for 10 million points, with @ to @ million", min(others), max(others))
    page.says("Streams do not: they reach @ and @ million", min(streams), max(streams))
    many = rates(of(10**8, 2048, ""))
    page.says("as many points all ways reach @ to @ million per second", min(many), max(many))
    few = [row.get("seconds") * 1e3 for row in of(10**7, 48, "")]
    page.says("points take @ to @ ms", min(few), max(few))
    page.given("a hundredth of them lie in one cell, and a hundredth beyond", "doubles, 24 bytes for each point. The points", "for ten\ntimes as many points")


def bench(shape, value):
    """The row of 10 million points at 2048³."""
    return BENCH.one(f"shape={shape} value={value} points=10000000 n=2048")


def in_memory(page):
    lines = [
        "| points | `--value` | sorting | run | CPU | M points/s | M points per CPU second | regions | cells in leaves |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    rate = lambda shape, value: bench(shape, value).get("points") / 1e6 / bench(shape, value).get("run")
    for row in [bench(shape, value) for shape in ("surface", "scan") for value in ("occupied", "count", "max", "mean")]:
        millions, cpu = row.get("points") / 1e6, row.get("cpu")
        cells = [row.say("shape"), f"`{row.say('value')}`", f"{row.get('sorting'):.2f}", f"{row.get('run'):.2f}", f"{cpu:.2f}"]
        cells += [f"{millions / row.get('run'):.1f}", f"{millions / cpu:.1f}"]
        cells += [f"{row.get(key):,}" for key in ("regions", "leaf_cells")]
        lines.append(f"| {' | '.join(cells)} |")
    page.block("\n".join(lines))
    page.says("The goal was @ million points per second on two cores", GOAL)
    rates = [rate(shape, value) for shape in ("surface", "scan") for value in ("occupied", "count")]
    if min(rates) < GOAL:
        raise Wrong("points-bench.jsonl: the page says that the goal is met, and the rows do not")
    page.says("`occupied` and `count` reach @ to @ million points per second", min(rates), max(rates))
    page.says("The mean of an attribute reaches @ and @", rate("surface", "mean"), rate("scan", "mean"))
    page.says("4 bytes for each of @ million cells", bench("surface", "count").get("leaf_cells") / 1e6)
    page.given("4 bytes for each", "24 bytes for each point")
    every = [bench("volume", value) for value in ("occupied", "count", "max", "mean")]
    page.says("they have @ million leaves", every[0].get("leaf_cells") / 8**3 / 1e6)
    gigabytes = [row.get("leaf_cells") * (1 if row.say("value") == "occupied" else 4) / 1e9 for row in every]
    cpu = [row.get("cpu") for row in every]
    page.says("bricks of @ to @ GB take @ to @ CPU seconds", min(gigabytes), max(gigabytes), min(cpu), max(cpu))
    page.no_rows("no rows were kept of the spread")


def from_files(page):
    page.block(table("points-check", "points.jsonl"))
    load = [row.get("load") for row in POINTS]
    page.says("the load was @ to @ throughout", min(load), max(load))
    trees = [row for row in POINTS if row.say("value")]
    if not all(row.get("same") for row in trees):
        raise Wrong("points.jsonl: a tree has other regions than the run in memory, and the page says that they are the same")
    looked = [row for row in trees if row.get("points") <= 10e6]
    if any(row.get("differing") for row in looked):
        raise Wrong("points.jsonl: cells differ from NumPy's, and the page says that none is wrong")
    page.says("compares @ cells of every tree of 1 and 10 million points", min(row.get("compared") for row in looked))
    page.says("of a file of @ MB: sorted in a file", POINTS.one("mem_limit=200M").get("points") * 24 / 1e6)
    theirs, ours = ([POINTS.one(f"shape={shape} points=1000000 {of}") for shape in ("surface", "scan")] for of in ("depth=9", "value=occupied"))
    page.says(
        "Open3D 0.20.0 takes @ s (surface) and @ s (scan) for an octree of 1 million points of depth 9, one thread, "
        "where orthant's 512³ takes @ and @ s on two",
        *(row.get("run") for row in theirs + ours),
    )
    points_beside(page)
    page.given("address space of 256 MiB")
    page.no_rows("No rows were kept of these two commands.", ("A file of 960 MB", "and resumed"))
    page.no_rows("of which there is no row", "took 40 s")
    page.no_rows("(no row was kept)", "took 11.6 CPU seconds")


def points_beside(page):
    page.block(table("points-check", "points-compare.jsonl"))
    of = lambda shape, program, points=10e6: next(
        row for row in BESIDE if row.say("shape") == shape and row.get("points") == points and program in row.say("program")
    ).get("run")
    shapes = ("surface", "scan")
    if any(of(shape, "orthant") > of(shape, "6 sort") for shape in shapes):
        raise Wrong("points-compare.jsonl: the page says that orthant takes less time than a sort, and the rows do not")
    slower = lambda program: (of(shape, program) / of(shape, "orthant") for shape in shapes)
    page.says("octree of depth 10 takes @ times as long as orthant (surface) and @ times (scan)", *slower("octree"))
    page.says("of voxels takes @ and @ times as long", *slower("voxels"))
    seconds = of("surface", "orthant", 100e6)
    page.says("For 100 million points orthant takes @ s, @ million points per second", seconds, 100 / seconds)
    page.says("a file of @ GB from the disk", 100e6 * 24 / 1e9)
    page.given("orthant has two threads", "Debian 12 has none")


def headline(page):
    """What the page of results says of points."""
    sizes = [row.get("points") / 1e6 for row in POINTS]
    page.says("| @ to @ million points |", min(sizes), max(sizes))
    row = bench("surface", "occupied")
    page.says("@ million points into regions of 2048³ in @ s on two cores", row.get("points") / 1e6, row.get("run"))
    best = min((row for row in ON_CARD if row.get("points") == 10**8 and row.get("side") == 2048), key=lambda row: row.get("seconds"))
    page.says("@ million that lie on the card in @ ms", best.get("points") / 1e6, best.get("seconds") * 1e3)
