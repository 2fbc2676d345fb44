"""docs/results/arithmetic.md: late tests by age, roots without checks, orbits that come back."""

from figures.measured import SMALL, STREAMS, WINDOWS
from figures.page import UpTo
from figures.rows import RESULTS, Wrong, rows


def tried():
    """Milliseconds by (what was tried, field, n) of h200/arithmetic.txt, and that all have the same cells."""
    found, cells = {}, {}
    for line in (RESULTS / "h200" / "arithmetic.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, field, ms, checksum = line.split(" | ")
            found[name, *field.split()] = float(ms)
            if cells.setdefault((name.startswith("ask"), field), checksum) != checksum:
                raise Wrong(f"h200/arithmetic.txt: {name} of {field} has other cells than the rows before it")
    return found


def figures(page):
    ms = tried()
    table = page.table("before", "now")
    for label, field, n, before, now in [
        ("exhaustive mandelbrot 65536^2, D 512", "mandelbrot", "65536", "before", "LONGEST=16"),
        ("4096^2", "mandelbrot", "4096", "before", "LONGEST=16"),
        ("exhaustive julibrot 256^4, D 64", "julibrot", "256", "before", "JSHORTEST=8"),
        ("128^4", "julibrot", "128", "before", "JSHORTEST=8"),
        ("exhaustive mandelbulb 1024^3", "mandelbulb", "1024", "before", "default"),
        ("256^3", "mandelbulb", "256", "before", "default"),
        ("ask mandelbrot 65536^2 {64, 4, 16}", "mandelbrot", "65536", "ask-before", "ask-default"),
        ("ask julibrot 256^4 {8, 2, 4}", "julibrot", "256", "ask-before", "ask-default"),
        ("ask mandelbulb 1024^3 {32, 2, 4}", "mandelbulb", "1024", "ask-before", "ask-default"),
        ("256^3", "mandelbulb", "256", "ask-before", "ask-default"),
    ]:
        one, other = ms[before, field, n], ms[now, field, n]
        table.row(label, one, other, one / other)

    def saved(with_, without, field, n):
        return (1 - ms[with_, field, n] / ms[without, field, n]) * 100

    page.says("instead of a copied state @ % (mandelbrot)", saved("default", "PAIRS=0", "mandelbrot", "65536"))
    others = [saved("default", "pieces8", field, n) for field, n in (("mandelbrot", "65536"), ("mandelbulb", "1024"))]
    page.says(
        "per block instead of 8, @ % (julibrot 256^4), @ to @ % (the others at their larger size)",
        saved("default", "pieces8", "julibrot", "256"),
        min(others),
        UpTo(max(others)),
    )
    page.says("alone, @ to @ (bulb)", ms["before", "mandelbulb", "1024"], ms["BTESTED=1000000000", "mandelbulb", "1024"])
    advance = [saved("ask-default", "ask-noadvance", field, n) for (name, field, n) in ms if name == "ask-default"]
    page.says("instead of dividing @ to @ %", min(advance), max(advance))
    page.says(
        "(julibrot 256^4: @ against @ with 32 x 2 and @ with 64 x 1)",
        *(ms[name, "julibrot", "256"] for name in ("default", "block32x2", "block64x1")),
    )
    table = page.table("exhaustive mandelbrot, ms", "in use")
    option = rows("h200/cycles-option.jsonl")
    ways = [option.one(f"cycles={cycles} arithmetic={arithmetic}") for arithmetic in ("fused", "plain") for cycles in ("no", "yes")]
    page.says("@ ms where the default takes @, and in plain arithmetic @ where it takes @.", *(row.ms for row in ways))
    page.given("65536^2, D = 512, i32")
    before, now = rows("h200/cycles-before.jsonl"), rows("h200/cycles-after.jsonl")
    losses = []
    for label, question, since in [
        ("65536^2, D = 512", "n=65536", STREAMS),
        ("4096^2", "n=4096", SMALL),
        ("16384^2, u8, D = 255", "dwell=255", WINDOWS),
        ("16384^2, f64, D = 512", "precision=f64", WINDOWS),
        ("16384^2, [-0.76, -0.73] × [0.08, 0.11], D = 1024", "domain=-0.76:-0.73,0.08:0.11", WINDOWS),
        ("16384^2, [-1.785, -1.745] × [-0.02, 0.02], D = 1024", "domain=-1.785:-1.745,-0.02:0.02", WINDOWS),
    ]:
        one, other, last = (
            source.ms(
                f"workload=mandelbrot strategy=exhaustive {question}"
                + (" dwell=512 n=16384 arithmetic=fused" if label.endswith("f64, D = 512") and source is WINDOWS else "")
            )
            for source in (before, now, since)
        )
        losses.append((last / one - 1) * 100)
        table.row(label, one, other, one / other, last, one / last)
    page.given("@ ms was aimed at", "per block instead of 8,")
    page.says("the comparison costs up to @ %", UpTo(max(losses)))
