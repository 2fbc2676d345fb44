"""docs/results/arrays.md: arrays of files by every strategy and curve."""

from figures.page import UpTo
from figures.rows import rows, table

ONCE = "The command as a whole, and the run with the other grid, were timed by hand: no rows were kept"


def figures(page):
    page.block(table("array-results", "h200/arrays.jsonl"))
    found = rows("h200/arrays.jsonl")
    bulb, jul = "input=bulb.npy", "input=julibrot.npy"
    ways = ["ask sbr", "ask mbr", "dp sbr"]

    def ms(array, backend, way, curve=""):
        return next(
            row.ms
            for row in found
            if (row.say("input"), row.say("backend"), row.say("way"), row.say("curve")) == (array[6:], backend, way, curve)
        )

    def over(backend, curve, base, ways=ways):
        return [ms(array, backend, way, curve) / ms(array, backend, way, base) for array in (bulb, jul) for way in ways]

    page.says(
        "the fastest or within @ % of it, and Hilbert's costs up to @ % more",
        UpTo(
            max(
                ms(array, "cuda", way, "morton") / min(ms(array, "cuda", way, curve) for curve in ("canonical", "morton", "hilbert")) - 1
                for array in (bulb, jul)
                for way in ways
            )
            * 100
        ),
        UpTo(max(over("cuda", "hilbert", "morton")) * 100 - 100),
    )
    hilbert = over("cpu", "hilbert", "canonical")
    page.says("Hilbert's cost @ to @ % more", min(hilbert) * 100 - 100, max(hilbert) * 100 - 100)
    up = [
        [
            ms(array, "cpu", way, curve) / ms(array, "cpu", "bottom-up", "morton")
            for way in ways
            for curve in ("canonical", "morton", "hilbert")
        ]
        for array in (bulb, jul)
    ]
    page.says("in 3-D, @ to @ times, since", min(up[0]), max(up[0]))
    page.says("In 4-D dividing takes @ to @ of its time", min(up[1]), max(up[1]))
    best, row = ms(bulb, "cuda", "ask sbr", "morton"), next(row for row in found if row.say("input") == "bulb.npy")
    size = row.get("cells", "total") * 2 / 1e9
    page.says("The largest of these arrays takes @ GB", size)
    page.says(
        "dividing a Mandelbulb of @ GB takes @ ms: @ GB of cells a second, @ of what copying",
        size,
        best,
        size / best * 1e3,
        ms(bulb, "cuda", "exhaustive") / best,
    )
    page.no_rows(ONCE, "the same run took 92 ms", ("A whole command over the file", "alone took 0.27 s."))
    own(page)
    on_the_gpu(page)


CURVES = ["canonical", "morton", "hilbert"]


def own(page):
    """Files that there are, and a list."""
    page.block(table("array-results", "h200/arrays-own.jsonl"))
    page.block(table("array-results", "arrays-own-cpu.jsonl"))
    found = {(row.say("input"), row.say("way"), row.say("curve")): row for row in rows("h200/arrays-own.jsonl") if row.say("backend") == "cuda"}
    by_curve = [[found[file, way, curve].ms for curve in CURVES] for file, way, curve in found if curve == "morton"]
    near = max(max(canonical, morton) / min(canonical, morton) for canonical, morton, _ in by_curve)
    page.says("tables take the same within @ %", UpTo(near * 100 - 100))
    page.says("take up to @ % more. On two cores", UpTo(max(hilbert / min(ms) for *ms, hilbert in by_curve) * 100 - 100))
    bulb = {(row.say("way"), row.say("curve")): row.ms for row in rows("arrays-cpu.jsonl") if row.say("input") == "bulb.npy"}
    shares = []
    for name in ("arrays-cpu.jsonl", "arrays-own-cpu.jsonl"):
        of_cpu = [row for row in rows(name) if row.say("input") != "shell.npy"]
        up = {row.say("input"): row.ms for row in of_cpu if row.say("way") == "bottom-up"}
        shares += [row.ms / up[row.say("input")] for row in of_cpu if row.say("way") in ("ask sbr", "ask mbr", "dp sbr")]
    page.says("takes @ to @ of the time of the pass", min(shares), max(shares))
    page.given("(Mandelbulb 512³, Julibrot 64⁴;")
    page.says(
        "takes @ ms by `ask sbr` along Morton's curve, where the cells of each region take @ ms and the pass from the cells up takes @ ms",
        *(bulb[way, "morton"] for way in ("ask sbr", "ask sbr, cells", "bottom-up")),
    )
    on_cpu = {(row.say("way"), row.say("curve")): row.get("seconds") for row in rows("arrays-own-cpu.jsonl") if row.say("input") == "shell.npy"}
    fastest = min(seconds for (way, _), seconds in on_cpu.items() if way in ("ask sbr", "ask mbr", "dp sbr"))
    page.says("That takes @ of the time of the fastest strategy", on_cpu["bottom-up", "morton"] / fastest)
    lists = {key[1:]: row.ms for key, row in found.items() if key[0] == "shell.npy"}
    page.says("is divided in @ ms, of which no array was made. Every cell by itself takes @ ms", lists["ask sbr", "morton"], lists["exhaustive", ""])
    page.given("a host with 16 cores, CUDA 13.0, commit 010f4cf7, kernels compiled before", "at 32 times", "a list of 10,151,616 cells")


RESIDENT = rows("h200/arrays-on-gpu.jsonl")


def shares(way):
    """What share of a plain read a way reaches, of both sizes of leaves."""
    read = next(row for row in RESIDENT if row.say("way") == "plain read").get("gb_per_second")
    found = [row.get("gb_per_second") / read for row in RESIDENT if row.say("way") == way]
    return min(found), max(found)


def on_the_gpu(page):
    """An array that lies on the card."""
    page.block(table("array-results", "h200/arrays-on-gpu.jsonl"))
    page.says("met from the cells up: @ to @ with regions and bricks, @ to @ for counts", *shares("from the cells up"), *shares("from the cells up, counts"))
    page.says("from the top down**: @ to @ with a pyramid, and @ without", *shares("ask sbr, pyramid"), max(shares("ask sbr, cells")))
    page.given("one NVIDIA H200 of a host with 32 cores, CUDA 13.0, commit 82396ab")


def headline(page):
    """An array on the card, from the cells up."""
    row = min((row for row in RESIDENT if row.say("way") == "from the cells up"), key=lambda row: row.get("seconds"))
    page.says("@ GB that lie on the card in @ ms, @ of a plain read", row.get("bytes") / 1e9, row.get("seconds") * 1e3, max(shares("from the cells up")))
