"""docs/results/formulas.md: lines of text beside their exhaustive runs and the built-in field."""

from figures.rows import rows, table

EVERY_FLOAT = "The test writes no rows."


def figures(page):
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
