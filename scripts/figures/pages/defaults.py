"""docs/results/defaults.md: what a bare run starts from, against the best of its rule."""

import statistics

from figures.page import UpTo
from figures.rows import rows, table


def figures(page):
    page.block(table("default-results", "defaults.jsonl"))
    cases = {}
    for row in rows("defaults.jsonl"):
        cases.setdefault((row.say("backend"), row.say("workload"), int(row.say("n"))), []).append(row)

    def seconds(case, key=None):
        return min(row.get("seconds") for row in cases[case] if row.get("strategy") == "ask" and (key is None or row.get(key)))

    def over(*case):
        return seconds(case, "taken") / seconds(case, "bare")

    page.given("within 10 % of the best", "of 2^20 cells or less", "1024² takes", "32⁴", "H100 80GB HBM3")
    page.says("at most @ % slower", UpTo((max(seconds(case, "taken") / seconds(case) for case in cases) - 1) * 100))
    page.says("of 1024² takes @ of the time of before", over("cuda", "mandelbrot", 1024))
    page.says("a Julibrot of 32⁴ @.", over("cuda", "julibrot", 32))
    gains = [1 / over("cuda", "julibrot", n) * 100 - 100 for n in (128, 256)]
    page.says("Julibrots faster by @ to @ %", min(gains), max(gains))
    bulbs = [("cuda", "mandelbulb", n) for n in (512, 1024)]
    spared = [seconds(case, "bare") / seconds(case) * 100 - 100 for case in bulbs]
    page.says("Mandelbulbs by up to @ %", UpTo(max(spared)))
    dense = [[row for row in rows("h200/last-mile-two.jsonl") if row.say("command") == "run mandelbulb -n 1024 -o b.npy" and row.say("program") == program] for program in ("orthant", "orthant-before")]
    collecting = [statistics.median(row.get("seconds_by_stage", "collecting") for row in of) for of in dense]
    page.says("that took it @ s on one H200, and @ s by the field's own scheme. The kernels take @ s", *collecting, statistics.median(row.get("device_seconds") for row in dense[0]))
    small = [("mandelbulb", 32), ("mandelbulb", 64), ("julibrot", 16), ("julibrot", 32)]
    shares = [over("cpu", field, n) for field, n in small]
    page.says("takes @ to @ of the time of before", min(shares), max(shares))
    missing = min(row.get("seconds") for row in cases["cuda", "mandelbrot", 16384] if (row.get("g"), row.get("r"), row.get("B")) == (16, 4, 8))
    page.says("{16, 4, 8} is up to @ % faster at 16384²", (seconds(("cuda", "mandelbrot", 16384), "taken") / missing - 1) * 100)
