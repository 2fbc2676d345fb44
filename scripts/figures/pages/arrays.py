"""docs/results/arrays.md: arrays of files by every strategy and curve."""

from figures.page import UpTo
from figures.rows import Wrong, rows, table

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


OWN = [("H200", rows("h200/own-files.jsonl")), ("two cores", rows("own-files-cpu.jsonl"))]
WAYS = [("exhaustive", ""), ("ask", "sbr"), ("ask", "mbr"), ("dp", "sbr"), ("bottom-up", "")]


def regions(row):
    """What a way found on every level."""
    return [[level[key] for key in ("regions", "subdivided", "filled", "leaves")] for level in row.get("run", "levels")]


def own(page):
    """Files that there are, and a list."""
    files = ["aal.nii.gz", "frog.npy", "series.npy", "shell.npy"]
    lines = ["| file | way | on | canonical | morton | hilbert | regions |", "|---|---|---|--:|--:|--:|--:|"]
    by_curve, shares = {"H200": [], "two cores": []}, []
    for file in files:
        expected = regions(OWN[0][1].one(f"input={file} strategy=bottom-up curve=morton"))
        count = sum(level[2] + level[3] for level in expected)
        for where, found in OWN:
            fastest = {}
            for strategy, scheme in WAYS:
                question = f"input={file} strategy={strategy}" + (f" scheme={scheme}" if scheme else "")
                if strategy == "exhaustive":
                    ms = found.ms(question)
                    lines.append(f"| {file} | exhaustive | {where} | {ms:.3f} | | | |")
                    continue
                # A tree does not lie along the canonical curve.
                curves = CURVES[1:] if strategy == "bottom-up" else CURVES
                own = [found.one(f"{question} curve={curve}") for curve in curves]
                if any(regions(row) != expected for row in own):
                    raise Wrong(f"{own[0].place}: other regions than bottom-up's, and the page says that they are as many")
                times = [row.ms for row in own]
                fastest[strategy] = min([*times, fastest.get(strategy, times[0])])
                if strategy != "bottom-up":
                    by_curve[where].append(times)
                way, on = f"{strategy} {scheme}".strip(), "its host" if (strategy, where) == ("bottom-up", "H200") else where
                shown = [""] * (3 - len(times)) + [f"{ms:.3f}" for ms in times]
                lines.append(f"| {file} | {way} | {on} | {' | '.join(shown)} | {count:,} |")
            if where == "two cores":
                shares.append(fastest["bottom-up"] / min(fastest["ask"], fastest["dp"]))
    page.block("\n".join(lines))
    gpu, cpu = by_curve["H200"], by_curve["two cores"]
    page.says("tables take the same within @ %", UpTo(max(max(canonical, morton) / min(canonical, morton) for canonical, morton, _ in gpu) * 100 - 100))
    page.says("take up to @ % more. On two cores", UpTo(max(hilbert / min(ms) for *ms, hilbert in gpu) * 100 - 100))
    over = [hilbert / morton for _, morton, hilbert in cpu]
    page.says("take between @ and @ times what Morton's take", min(over), max(over))
    page.says("It takes @ to @ of the time of the fastest strategy", min(shares), max(shares))
    found = OWN[0][1]
    question = "input=shell.npy strategy=ask scheme=sbr curve=morton"
    page.says("is divided in @ ms, of which no array was made. Every cell by itself takes @ ms", found.ms(question), found.ms("input=shell.npy strategy=exhaustive"))
    page.given("a host with 32 cores, CUDA 13.0, kernels compiled before, and two", "at 32 times", "a list of 10,151,616 cells", "have the scheme {8, 2, 4}", "is its 32 cores")


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
