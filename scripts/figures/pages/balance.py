"""docs/results/balance.md: balancers on lists, regions and terminal regions of runs."""

import statistics

from figures.page import GIVEN, UpTo
from figures.rows import RESULTS, Wrong, rows

PRINTED = "the ratios in sentences and what was predicted were read off what was printed"
LISTS, SUMS, TUNING, REGIONS = (rows(f"h200/balance/{name}.jsonl") for name in ("lists", "sums", "tuning", "regions"))
BLOCKS = rows("h100/balance-blocks.jsonl")
NOW, BEFORE = rows("h200/balance/settling.jsonl"), rows("h200/balance/settling-before.jsonl")
NAMES = ["great-britain_osm", "cit-Patents", "web-NotreDame", "regular8", "circuit5M", "as-Skitter", "kron_g500-logn20"]
BALANCERS = [
    "threads",
    "virtual-warps",
    "dynamic-warps",
    "cta-warp-scan",
    "direct-search",
    "warp-search",
    "block-search",
    "two-phase",
    "multi-phase",
    "merge-path",
    "tile-search",
    "level-arithmetic",
]


def us(row, *phases):
    """Microseconds: the sum of the medians of phases, or the median of everything."""
    if not phases:
        return row.ms * 1e3
    found = row.get("phases")
    return sum(statistics.median(found[phase]) for phase in phases) * 1e6


def own(found, question, default=None):
    try:
        row = found.one(question)
    except Wrong:
        return default
    return default if row.found.get("error") else row


def blocks(page):
    lines = ["| list | balancer | 32 | 64 | 128 | 256 | 512 |", "|---|---|--:|--:|--:|--:|--:|"]
    default, least = [], []
    for name in ("web-NotreDame", "circuit5M", "kron_g500-logn20"):
        for balancer in ("two-phase", "multi-phase", "tile-search", "virtual-warps", "merge-path"):
            times = {}
            for block in (32, 64, 128, 256, 512):
                row = own(BLOCKS, f"workload={name} balancer={balancer}:block={block}")
                times[block] = us(row, "partition", "expansion") if row else None
            shown = ["" if time is None else f"{time:.1f}" for time in times.values()]
            lines.append(f"| {name} | {balancer} | {' | '.join(shown)} |")
            best = min(time for time in times.values() if time is not None)
            (least if balancer == "tile-search" else default).append(times[256] / best)
    page.block("\n".join(lines))
    page.says("The default of 256 is within @ % of the best block", UpTo((max(default) - 1) * 100))
    page.says("there 256 takes up to @ times as long as 32", max(least))
    page.given("The default of 256", "there 256 takes", "as long as 32", "tiles of 1024 units")


def figures(page):
    for order in ("shuffled", "ascending", "descending"):
        table = page.table(f"| {order} | threads")
        for name in NAMES:
            cells = []
            for balancer in BALANCERS:
                row = own(LISTS, f"workload={name} order={order} balancer={balancer}")
                cells.append(us(row, "partition", "expansion") if row else None)
            table.row(name, *cells)
    page.says(
        "Sums come on top, for all but level arithmetic: " + ", ".join(f"{name} @, now @" for name in NAMES),
        *(us(source.one(f"workload={name} order=shuffled balancer=threads"), "scan") for name in NAMES for source in (LISTS, SUMS)),
    )
    tuning(page)
    blocks(page)
    regions(page)
    settling(page)
    scans(page)
    findings(page)
    page.no_rows(PRINTED)


def tuning(page):
    table = page.table("multi-phase, 256 threads")
    for label, name, units in [
        ("circuit5M, 7 units", "circuit5M", 7),
        ("11 units", "circuit5M", 11),
        ("15 units", "circuit5M", 15),
        ("kron, 7 units", "kron_g500-logn20", 7),
        ("11 units", "kron_g500-logn20", 11),
        ("15 units", "kron_g500-logn20", 15),
    ]:
        table.row(
            label,
            *(
                us(TUNING.one(f"workload={name} balancer=multi-phase:units={units}:rounds={rounds}"), "partition", "expansion")
                for rounds in (1, 2, 3, 4, 5, 7)
            ),
        )
    table = page.table("virtual warps | 2")
    for name in NAMES:
        table.row(
            name,
            *(
                us(TUNING.one(f"workload={name} balancer=virtual-warps:warp={warp}"), "partition", "expansion")
                for warp in (2, 4, 8, 16, 32)
            ),
        )


def regions(page):
    table = page.table("tile 1024", "tile 4096")
    for label, name in [("mandelbrot 16384", "mandelbrot"), ("mandelbulb 512", "mandelbulb"), ("julibrot 64", "julibrot")]:
        for order in ("given", "descending"):
            cells = [
                us(REGIONS.one(f"workload={name}.tree.zarr order={order} balancer={balancer}"))
                for balancer in (
                    "virtual-warps",
                    "dynamic-warps",
                    "cta-warp-scan",
                    "direct-search",
                    "two-phase",
                    "multi-phase",
                    "merge-path",
                    "tile-search",
                    "tile-search:tile=4096",
                )
            ]
            row = REGIONS.one(f"workload={name}.tree.zarr order={order} balancer=multi-phase")
            table.row(f"{label}, given" if order == "given" else "descending", items(row) if order == "given" else None, *cells)


def items(row):
    """How many items a list has."""
    for place in (("phases", "items"), ("items",), ("run", "items"), ("case", "items")):
        try:
            return row.get(*place)
        except Wrong:
            continue
    raise Wrong(f"{row.place}: the row does not say how many items it has")


def settling(page):
    table = page.table("mandelbrot 65536^2, level")
    for balancer in [
        "in place, sbr",
        "in place, mbr (every block explores)",
        "level-arithmetic",
        "tile-search",
        "tile-search:tile=4096",
        "merge-path",
        "multi-phase",
        "virtual-warps",
        "dynamic-warps",
        "direct-search",
        "two-phase",
        "cta-warp-scan",
        "warp-search",
        "threads",
        "block-search",
    ]:
        cells = []
        for found, of in ((BEFORE, "workload=mandelbrot n=65536 g=64 r=4 B=16"), (NOW, "workload=mandelbulb n=1024 g=32 r=2 B=4")):
            for how in ("level", "deferred"):
                if balancer.startswith("in place"):
                    row = own(found, f"{of} pass=in-place scheme={balancer[10:13]} strategy=ask") if how == "level" else None
                else:
                    row = own(found, f"{of} pass={how} balancer={balancer} strategy=ask")
                cells.append(row.ms if row else None)
        table.row(balancer, *cells)
    table = page.table("ms, now")
    for label, n in [("mandelbrot 4096^2", 4096), ("mandelbrot 16384^2", 16384), ("mandelbrot 65536^2", 65536)]:
        table.row(
            label,
            *(
                NOW.ms(f"workload=mandelbrot n={n} pass={how} balancer={balancer}")
                for how in ("level", "deferred")
                for balancer in ("level-arithmetic", "tile-search:tile=4096", "multi-phase")
            ),
        )
    page.says("In place under sbr 65536^2 takes @ now", NOW.ms("workload=mandelbrot n=65536 pass=in-place"))


def scans(page):
    """The table beside CUB, of h200/balance/scan.txt: sizes of 1 to 8."""
    found, items = {}, None
    for line in (RESULTS / "h200" / "balance" / "scan.txt").read_text().splitlines():
        if " items of " in line:
            items = int(line.split()[0]) if "small sizes" in line else None
        elif items and " wrong " in line and not line.startswith("variant"):
            found[items, line.split()[0]] = float(line.split()[1])
    table = page.table("staged, shuffles", "CUB")
    variants = ["look_back", "mma", "direct", "mma_direct", "direct_16_u32", "mma_direct_16_narrow", "mma_direct_16_byte", "cub", "widen"]
    for count in sorted({count for count, _ in found}):
        table.row(f"{count:,}", *(found[count, variant] for variant in variants))


def findings(page):
    def of(name, balancer):
        return us(LISTS.one(f"workload={name} order=shuffled balancer={balancer}"), "partition", "expansion")

    def warps(name):
        times = {
            warp: us(TUNING.one(f"workload={name} balancer=virtual-warps:warp={warp}"), "partition", "expansion")
            for warp in (2, 4, 8, 16, 32)
        }
        best = min(times, key=times.get)
        return times, best, times[best]

    britain, patents, notre, regular, circuit, skitter, kron = NAMES
    multi = {name: of(name, "multi-phase") for name in NAMES}
    table = page.table("the paper (Busato")
    table.row("1", None, None, (multi[britain], of(britain, "warp-search"), of(britain, "threads"), warps(britain)[2], warps(britain)[1]))
    table.row("2", None, None, (multi[patents], of(patents, "threads"), of(patents, "warp-search")))
    table.row("3", None, None, (multi[notre], warps(notre)[2], of(notre, "warp-search"), of(notre, "two-phase")))
    table.row(
        "4", None, None, (of(circuit, "cta-warp-scan"), of(circuit, "two-phase"), multi[circuit], of(circuit, "threads"), warps(circuit)[2])
    )
    cta = [of(name, "cta-warp-scan") for name in (skitter, kron)]
    table.row("5", None, (cta[0] / multi[skitter], cta[1] / multi[kron]), (multi[skitter], cta[0], multi[kron], cta[1]))
    eight = warps(regular)[0]
    table.row("6", GIVEN, None, (eight[2], GIVEN, eight[4], GIVEN, eight[8], GIVEN))
    table.row("7", None, None, (of(kron, "block-search"), of(kron, "direct-search"), multi[kron]))
    table.row("8", None, None, [warps(name)[1] for name in NAMES])
    table.row("9", None, None, (of(circuit, "dynamic-warps"), multi[circuit]))
    table.row("10", GIVEN, None, None)
    table.row(
        "11",
        None,
        None,
        [of(name, "cta-warp-scan") for name in (britain, patents, notre)] + [multi[name] for name in (britain, patents, notre)],
    )
    two = [of(name, "two-phase") / multi[name] for name in NAMES]
    table.row("12", None, (min(two), max(two)), (of(circuit, "two-phase"), multi[circuit], of(notre, "two-phase"), multi[notre]))
