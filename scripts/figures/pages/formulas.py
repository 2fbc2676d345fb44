"""docs/results/formulas.md: lines of text beside their exhaustive runs, the built-in field and fidget."""

from figures.rows import Wrong, rows, table

EVERY_FLOAT = "The test writes no rows."
BESIDE = rows("formulas-fidget.jsonl")
PROGRAM = rows("formulas-cpu.jsonl")


def figures(page):
    on_both(page)
    long_ones(page)
    beside_fidget(page)
    the_program(page)


def long_ones(page):
    """Those that a GPU takes by a forest of tapes."""
    found = list(rows("h200/formula-models.jsonl"))

    def best(model, n):
        return min(row.get("ms") for row in found if (row.say("model"), row.say("n")) == (model, str(n)))

    lines = ["| formula | cells | options | way | ms | cells |", "|---|---|---|---|--:|---|"]
    for row in found:
        cells = "x".join([row.say("n")] * row.get("dimensions"))
        equal = "equal" if row.get("equal") else "DIFFERENT"
        lines.append(f"| {row.say('model')} | {cells} | `{row.say('options')}` | {row.say('way')} | {row.get('ms'):.3f} | {equal} |")
    page.block("\n".join(lines))
    page.says("Prospero of 1024² takes @ ms and of 4096² @ ms", best("prospero", 1024), best("prospero", 4096))
    page.says("Bear of 512³ takes @ ms and of 1024³ @ ms", best("bear", 512), best("bear", 1024))
    page.says("At 256² prospero takes @ ms", best("prospero", 256))
    page.given("The goals were 1.0 and 1.5 ms", "(3012 clauses)", "fewer\n  than 1000 clauses", "with 64 cores while")
    page.no_rows("No rows of MPR are kept here", "MPR takes 3.04\n  and 2.81 ms on an H100", "MPR's height maps take 5.9 and 22.1 ms on an H100")


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
