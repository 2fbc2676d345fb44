"""docs/results/model-h200.md: predicted times and chosen schemes."""

from figures.page import GIVEN, UpTo
from figures.rows import fits, number, rows
from figures.rows import table as printed

TERMINAL = "were read off a terminal: no rows were kept of them"
PLACES = [("mandelbrot", "mandelbrot 16384"), ("mandelbulb", "mandelbulb 512"), ("julibrot", "julibrot 128")]


def figures(page):
    then, now, streams = fits("h200/model-fit.txt"), fits("h200/fits/by-code.txt"), fits("h200/fits/streams.txt")
    table = page.table("rms of ln t - ln f", "sbr or mbr")
    for field, label in PLACES:
        fit = then[field, ""]
        worst = fit["all"][5]
        dp = "(dp)" if fit["dp sbr"][5] == worst and field == "mandelbulb" else ""
        table.row(label, fit["runs"], fit["rms"], fit["all"][4], (worst, dp), None, fit["order"][2:])
    page.given("goal 15 %, 40 %", "differ by over 5 %", "differ by more than 5 %")
    two = then["mandelbrot", ""]
    page.says(
        "ask sbr @ % (worst @), ask mbr @ % (@), dp @ % (@), exhaustive @ %.",
        *two["ask sbr"][4:],
        *two["ask mbr"][4:],
        *two["dp sbr"][4:],
        two["exhaustive"][4],
    )
    page.says("dp in 3-D (worst @ %)", then["mandelbulb", ""]["dp sbr"][5])
    orders = [then[field, ""]["order"] for field, _ in PLACES]
    page.says("is right in @ of @ pairs", sum(order[2] for order in orders), sum(order[3] for order in orders))
    page.says("@ runs: exhaustive, ask sbr", len(rows("h200/rows/model-fit.jsonl")))
    table = page.table("| field | code | runs |")
    for label, field, code, name in [
        ("mandelbrot", "mandelbrot", "exhaustive", ""),
        ("", "mandelbrot", "regions", ""),
        ("", "mandelbrot", "stream-faces", ""),
        ("mandelbulb", "mandelbulb", "exhaustive", ""),
        ("", "mandelbulb", "stream-faces", ""),
        ("", "mandelbulb", "stream-proofs", ""),
    ]:
        fit = streams[field, code]
        held = fit["all"][4:] if fit["all"][4] is not None else None
        size = {"mandelbrot": ["65536"], "mandelbulb": ["1024"]}[field] if label and held else []
        table.row(label, None, fit["runs"], fit["rms"], fit["all"][1:3], ([GIVEN] * len(size) + held) if held else None)
    page.says(
        "mandelbrot @ % (@), julibrot @ % (@), mandelbulb @ % (@) where it was @ % (@)",
        *(value for field in ("mandelbrot", "julibrot", "mandelbulb") for value in now[field, "regions"]["all"][4:]),
        *then["mandelbulb", ""]["all"][4:],
    )
    choices(page)
    page.no_rows(
        TERMINAL,
        ("The model that was here some hours before", "worst 46 %)."),
        ("The same 216 configurations measured", "in 51 of 56."),
        "On 75 rows of one H100",
        ("5.3 % (23.5, julibrot)", "4.6 to 5.6 %."),
        ("an iteration of it takes 40 ns", "leaf takes 115."),
        "¶Ranked by the H100's constants",
        ("Some hours before, with the kernels", "below regions that"),
        ("and finding, which took 3.1 ms", "of 0.3 ms."),
        ("The goal is 10 % in the median", "over eight cases"),
        ("{2, 512, 16} is 1442 times", "than the best."),
        "is predicted up to a fifth too slow",
        "mandelbrot 4096, whole, D = 512 | 0.304 ms",
    )
    page.block(printed("auto-scheme-check", "h100/auto-scheme-cuda.jsonl"))
    found = [row for row in rows("h100/auto-scheme-cuda.jsonl")]
    page.says("slower than the default by more than @ %", (max(row.get("ratio") for row in found) - 1) * 100)
    page.given("where 3 % are allowed")
    faster = [row.get("ratio") for row in found if row.get("ratio") < 0.9]
    page.says("it takes @ to @ of the time", min(faster), max(faster))


def choices(page):
    table = page.table("best found", "the model's choice", "to find it")
    lines = [line.split(" | ") for line in open_rows("h100/model-choices.txt") if " | " in line and not line.startswith("case")]
    losses = []
    for label, (_, exhaustive, best, choice) in zip(
        (
            "mandelbrot 4096, whole",
            "seahorse valley",
            "small copy",
            "mandelbulb 256",
            "julibrot 128",
            "julibrot 64",
            "mandelbrot 512",
            "mandelbulb 128",
            "julibrot 32",
        ),
        lines,
    ):
        found, lost, to_find = (
            choice.split(", ")[1].split(" ")[0],
            number(choice.split(", ")[2]),
            number(choice.split(", ")[2].split(";")[1]),
        )
        every = number(exhaustive)
        losses.append(lost)
        if best.startswith("exhaustive"):
            table.row(label, every, None, None, lost, to_find)
            continue
        g, r, b = best.split(" g r B ")[1].split(",")[0].split()
        cells = (number(best.split(", ")[1]), f"{{{g}, {r}, {b}}}")
        g, r, b = choice.split(" g r B ")[1].split(",")[0].split()
        same = best.split(",")[0] == choice.split(",")[0]
        table.row(label, every, cells, None if same else (float(found), f"{{{g}, {r}, {b}}}"), lost, to_find)
    page.given("Goals were 3 % of exhaustive", "and 10 % of the best elsewhere")
    fit = {}
    for line in open_rows("h100/model-fit.txt"):
        if line.startswith("cuda, "):
            parts = line.split(", ")
            at = parts[3], parts[-1]
        elif "rms of ln" in line:
            fit[at] = float(line.split()[-1])
        elif line.startswith(" all"):
            fit[at, "all"] = [number(part) for part in line.replace("%", " ").split()[-2:]]
    page.says(
        "rms of ln t - ln f): exhaustive @ (2-D), @, @; regions @; proven regions @ and @; streams by faces @, by proofs @ (3-D) and @.",
        fit["k 2", "exhaustive"],
        fit["k 3", "exhaustive"],
        fit["k 4", "exhaustive"],
        fit["k 2", "regions"],
        fit["k 3", "proven-regions"],
        fit["k 4", "proven-regions"],
        fit["k 2", "stream-faces"],
        fit["k 3", "stream-proofs"],
        fit["k 4", "stream-proofs"],
    )
    page.says("mandelbulb 512 from 128 and 256 @ % (@ at worst)", *fit[("k 3", "stream-proofs"), "all"])
    table = page.table("best of all", "the model's choice")
    measured = [line.split() for line in open_rows("h200/tune-mandelbrot-16384.txt")[1:] if " sbr " in line]
    times = [float(parts[5]) for parts in measured]
    best, choice = measured[times.index(min(times))], measured[0]  # in the order of the model
    table.row("mandelbrot 16384, whole, D = 512", (min(times), scheme(best)), (times[0], scheme(choice)), GIVEN, GIVEN)
    page.says(
        "of @ schemes between @ ms and @ s the model's first ten are all within @ % of the best, the first within @ %, predicted to @ %",
        len(times),
        min(times),
        max(times) / 1e3,
        UpTo((max(times[:10]) / min(times) - 1) * 100),
        UpTo((times[0] / min(times) - 1) * 100),
        UpTo(abs(float(choice[6]) / times[0] - 1) * 100),
    )
    page.given("and a row 8 bytes", "a search of 4 seconds")


def scheme(parts):
    return "{" + ", ".join(parts[:3]) + "}"


def open_rows(name):
    from figures.rows import RESULTS

    return (RESULTS / name).read_text().splitlines()
