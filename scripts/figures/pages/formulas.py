"""docs/results/formulas.md: lines of text beside their exhaustive runs, the built-in field and fidget."""

import statistics

from figures.page import UpTo
from figures.rows import Wrong, rows, table

EVERY_FLOAT = "The test writes no rows."
BESIDE = rows("formulas-fidget.jsonl")
PROGRAM = rows("formulas-cpu.jsonl")


def figures(page):
    on_both(page)
    long_ones(page)
    beside_fidget(page)
    the_program(page)


LONG = rows("h200/formula-models.jsonl")


def best(model, n):
    """The least milliseconds of a model of n cells a side on a GPU."""
    return min(row.ms for row in LONG if (row.say("model"), row.say("n")) == (model, str(n)))


def long_ones(page):
    """Those that a GPU takes by a forest of tapes."""
    page.block(table("formula-models-gpu", "h200/formula-models.jsonl"))
    if not all(row.get("equal") for row in LONG):
        raise Wrong("formula-models.jsonl: a row has other cells than the CPU")
    goals = page.table("| goal | found |")
    for label, ms, goal in (
        ("prospero 1024² in 1.0 ms", best("prospero", 1024), 1.0),
        ("prospero 4096² in 1.5 ms", best("prospero", 4096), 1.5),
        ("bear 512³ in MPR's 5.9 ms", best("bear", 512), 5.9),
        ("bear 1024³ in MPR's 22.1 ms", best("bear", 1024), 22.1),
    ):
        goals.row(label, (ms, met(ms <= goal)))
    short = [row for row in LONG if row.get("first") <= 1]
    others = [row for row in LONG if row.get("first") > 1]
    goals.row("first answer in 1 s", (len(short), len(LONG), met(not others)))
    page.given("prospero 1024² in 1.0 ms", "prospero 4096² in 1.5 ms", "first answer in 1 s")
    page.says("**Prospero** takes @ ms for 1024² and @ ms for 4096² at best", best("prospero", 1024), best("prospero", 4096))
    page.says("At 256² prospero takes @ ms already", best("prospero", 256))
    named = [("prospero", "1024", "stream", "8"), ("prospero", "1024", "stream", "4"), ("prospero", "2048", "stream", "16"), ("prospero", "4096", "sbr", "8"), ("prospero", "4096", "mbr", "8")]
    if [tuple(row.say(key) for key in ("model", "n", "way", "g")) for row in short] != named:
        raise Wrong("formula-models.jsonl: other rows than the page names have their first answer within a second")
    span = lambda values: (min(values), max(values))
    page.says("takes @ to @ s in five rows", *span([row.get("first") for row in short]))
    page.says("It takes @ to @ s in all others", *span([row.get("first") for row in others]))
    page.says("it is @ to @ % of the time", *span([row.get("first_stages", "preparing") / row.get("first") * 100 for row in others]))
    page.says("Again, a process takes @ to @ s", *span([row.get("again") for row in LONG]))
    page.says("opening the GPU takes about @ s", statistics.median(row.get("seconds_by_stage", "opening") for row in LONG))
    page.says("Samples of one row are up to @ % apart", UpTo(max((max(row.get("samples")) / min(row.get("samples")) - 1) * 100 for row in LONG)))
    page.given("two NVIDIA H200 and 32 cores, CUDA 13.0, commit ef8bee4", "(3012 clauses)", "have fewer than 1000 clauses")
    blocks(page)
    page.no_rows("No rows of MPR are kept here", "MPR takes 3.04 and 2.81 ms on an H100", "in MPR's 5.9 ms", "in MPR's 22.1 ms")


BLOCKS = list(rows("h200/formula-blocks.jsonl"))


def blocks(page):
    """Prospero by threads of the block that proves."""
    lines = ["| cells | options | ms | of each level, ms |", "|---|---|--:|---|"]
    for row in BLOCKS:
        levels = ", ".join(f"{level:.3f}" for level in row.get("levels_ms") or [])
        lines.append(f"| {row.say('n')}² | `{row.say('options')}` | {row.get('ms'):.3f} | {levels} |")
    page.block("\n".join(lines))
    if len({(row.say("n"), row.say("checksum")) for row in BLOCKS}) != len({row.say("n") for row in BLOCKS}):
        raise Wrong("formula-blocks.jsonl: a row has other cells than the others of its size")
    least = [min(row.get("ms") for row in BLOCKS if row.say("n") == n and "stream" in row.say("options")) for n in ("1024", "4096")]
    page.says("**Prospero takes @ ms for 1024² and @ ms for 4096²**", *least)
    page.says("are missed by @ and @ %", (least[0] / 1.0 - 1) * 100, (least[1] / 1.5 - 1) * 100)

    def first(block):
        found = [row.get("levels_ms")[0] for row in BLOCKS if row.say("options").endswith(f"--block {block}")]
        return min(found), max(found)

    page.says(
        "takes @ to @ ms by `sbr`, with 256 it takes @ to @ ms, and with 1024 it takes @ to @ ms", *first("8x8"), *first("16x16"), *first("32x32")
    )
    page.given("has up to 512 threads on the first levels, where it had 64", "With 64 threads the first level", "with 256 it takes", "with 1024 it takes",
               "The goals of 1.0 and 1.5 ms", "a block of 64 threads is best")


def on_both(page):
    page.block(table("formula-results", "h200/formulas.jsonl"))
    found = rows("h200/formulas.jsonl")

    def ms(run, backend, way):
        return next(row.ms for row in found if (row.say("run"), row.say("backend"), row.say("way")) == (run, backend, way))

    def gain(run, backend):
        return ms(run, backend, "exhaustive") / ms(run, backend, "certified")

    names = list(dict.fromkeys(row.say("run") for row in found))
    page.says(
        "a ball is @ times faster with them, level sets @ times, a torus in 4-D @ times. On the GPU these are @, @ and @ times",
        *(gain(run, backend) for backend in ("cpu", "cuda") for run in ("ball", "levels", "torus, 4-D"))
    )
    bell = [1 / gain("bell", backend) for backend in ("cpu", "cuda")]
    page.says("with proofs it takes @ to @ times as long", min(bell), max(bell))
    built_in = "mandelbrot"
    host = [ms(run, "cpu", "exhaustive") / ms(run, "cuda", "exhaustive") for run in names if run != built_in]
    page.says("is @ to @ times its host's 16 cores", min(host), max(host))
    page.says(
        "of its formula**: @ times on the CPU and @ times on the GPU",
        *(ms("mandelbrot as a formula", backend, "exhaustive") / ms(built_in, backend, "exhaustive") for backend in ("cpu", "cuda"))
    )
    page.no_rows(EVERY_FLOAT, "`ORTHANT_EVERY_FLOAT=1 device-tests functions`, 36 s")


def took(model, n, who, key="ms"):
    """Milliseconds of processor time of one of those that ran by turns; `least` and `most` are keys, too."""
    return next(row.get(key) for row in BESIDE if (row.say("model"), row.say("n"), row.say("who")) == (model, str(n), who) and "ms" in row.found)


def net(n, key="ms"):
    """How many times ours fidget's JIT takes for prospero, net of its picture."""
    return (took("prospero", n, "fidget JIT", key) - took("prospero", n, "fidget's image", key)) / took("prospero", n, "ours", key)


def met(*goals):
    return ", ".join("met" if goal else "missed" for goal in goals)


def beside_fidget(page):
    page.block(table("formula-models", "formulas-fidget.jsonl", "--beside"))
    page.given(("The targets were", "to parse and compile."))
    small, large, bear = (took(model, n, "ours") for model, n in (("prospero", 1024), ("prospero", 4096), ("bear", 512)))
    targets = page.table("target", "found")
    times = "safely met" if net(1024, "least") >= 3 else "not safely met" if net(1024) >= 3 else "missed"
    words = f"{met(small <= 10)}, {times}"
    targets.row("prospero 1024² in 10 ms, 3 times the JIT net", (small, net(1024), net(1024, "least"), words))
    least = took("prospero", 4096, "ours", "least")
    targets.row("prospero 4096² in 35 ms, 3 times the JIT net", (large, least, net(4096), met(large <= 35 and net(4096) >= 3)))
    ratio = took("bear", 512, "fidget JIT") / bear
    least = took("bear", 512, "ours", "least") / 1e3
    targets.row("bear 512³ in 1.0 s, 3.5 times the JIT", (bear / 1e3, least, ratio, met(bear <= 1e3, ratio >= 3.5)))
    parsed = [took("prospero", n, "parse and compile") for n in (1024, 2048, 4096)]
    targets.row("prospero parsed and compiled in 5 ms", (min(parsed), max(parsed), met(max(parsed) <= 5)))
    wrong = [row.get("wrong_cells") for row in BESIDE if "wrong_cells" in row.found]
    targets.row("wrong cells", max(wrong))
    page.given("in 10 ms, 3 times", "in 35 ms, 3 times", "in 1.0 s, 3.5 times", "compiled in 5 ms")
    page.says(
        "colonnade at 512³ took @ to @ ms for the same work, an array of @ MiB",
        *(took("colonnade", 512, "ours", key) for key in ("least", "most")),
        512**3 / 2**20,
    )
    page.says("as large, took @ to @ ms", *(took("bear", 512, "ours", key) for key in ("least", "most")))
    if took("three discs, 6-D", 16, "ours") <= took("three discs, 6-D", 16, "ours, every cell"):
        raise Wrong("formulas-fidget.jsonl: the page says that 16⁶ cells take longer divided, and the rows do not")
    found = next(row for row in BESIDE if "formulas" in row.found)
    page.says("## @ random formulas", found.get("formulas"))
    page.says("@ each in 1, 2, 3 and 4 dimensions in f32, and @ more in f64", found.get("formulas") / 4, found.get("f64"))
    page.says(
        "**@ wrong cells**, @ regions filled, @ s of processor time", found.get("wrong_cells"), found.get("regions_filled"), found.get("cpu_s")
    )


def evaluated(run, side):
    """The per cent of cells that were evaluated."""
    row = next(row for row in PROGRAM if (row.say("run"), row.say("size")) == (run, str(side)))
    return row.get("cells", "evaluated") / row.get("cells", "total") * 100


def the_program(page):
    page.block(table("formula-models", "formulas-cpu.jsonl"))
    page.says(
        "Cells evaluated are @ % of 1024², @ % of 2048² and @ % of 4096²", *(evaluated("prospero", side) for side in (1024, 2048, 4096))
    )
    both = ["mandelbrot as a formula", "mandelbrot"]
    formula, field = (next(row.get("cpu") for row in PROGRAM if row.say("run") == run) for run in both)
    page.says("the formula takes @ times the processor time of the field", formula / field)
    page.says("weaker (@ % of cells are evaluated, and @ %)", *(evaluated(run, 2048) for run in both))
    page.no_rows("(no row has it)", "about 10 ms")


def headline(page):
    """What the page of results says of models beside fidget."""
    page.says("prospero 1024² in @ ms of a core, @ times fidget's JIT net of its picture", took("prospero", 1024, "ours"), net(1024))
    page.says("on a GPU in @ ms", best("prospero", 1024))
