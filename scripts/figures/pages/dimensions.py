"""docs/results/dimensions.md: one to eight dimensions."""

import math

from figures.page import UpTo
from figures.rows import Wrong, rows

ROWS = rows("h200/rows/dimensions.jsonl")
NOW = rows("h100/rows/dimensions.jsonl")
EVALUATED = rows("h200/rows/dimensions-evaluated.jsonl")
ON_CPU = rows("dimensions-cpu.jsonl")
BEFORE = "The 6.03 s are of a version of that day before rows were kept."


def evaluated(field, measured=EVALUATED):
    """For each k the rows of ask and of exhaustive by n; the field is known by how its text begins."""
    found = {}
    for row in measured:
        if row.say("text").startswith(field):
            found.setdefault(int(row.say("dim")), {}).setdefault(int(row.say("n")), {})[row.say("strategy")] = row
    return {k: dict(sorted(found[k].items())) for k in sorted(found)}


def exponent(of):
    """That of n, fitted to a value per size by least squares of logarithms."""
    points = [(math.log(n), math.log(value)) for n, value in of.items()]
    x, y = (sum(part) / len(points) for part in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def by_evaluation(page):
    lines = ["| field | k | n | ask, ms | exhaustive, ms | ask over exhaustive | of cells looked at | exponent of regions | predicted | of the time of ask |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    ratios, off = [], []
    for label, field in (("escape map", "iterate"), ("ball", "x^2")):
        for k, sizes in evaluated(field).items():
            large = max(sizes)
            ask, every = (sizes[large][strategy] for strategy in ("ask", "exhaustive"))
            levels = {n: sizes[n]["ask"].get("run", "levels") for n in sizes}
            regions = {n: sum(level["regions"] for level in levels[n]) for n in levels}
            last = levels[large][-1]
            looked = (ask.get("run", "cells", "explored") + ask.get("run", "cells", "leaf")) / ask.get("run", "cells", "total")
            own = exponent(regions)
            predicted = k + math.log2(levels[large][-2]["p"]) if len(levels[large]) > 1 and levels[large][-2]["p"] else None
            time = exponent({n: sizes[n]["ask"].ms for n in sizes})
            shown = [label, str(k), str(large), f"{ask.ms:.3f}", f"{every.ms:.3f}", f"{ask.ms / every.ms:.1f}", f"{looked:.2f}"]
            lines.append(f"| {' | '.join([*shown, f'{own:.2f}', f'{predicted:.2f}' if predicted else '', f'{time:.2f}'])} |")
            ratios.append(ask.ms / every.ms)
            if k <= 4 and predicted:
                off.append(abs(own - predicted))
    page.block("\n".join(lines))
    page.says("takes @ to @ times as long as evaluating every cell", min(ratios), max(ratios))
    page.says("within @ of it up to k = 4", UpTo(max(off)))
    page.given("at most 2^24 cells", "64 steps at most", "k = 4")


def on_cpu(page):
    """The same fields on two CPU cores."""
    lines = ["| k | n | escape map: ask, ms | exhaustive | speedup | exponents | ball: ask, ms | exhaustive | speedup | exponents |"]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    gains = {"iterate": [], "x^2": []}
    counts = lambda row: [(level["regions"], level["subdivided"]) for level in row.get("run", "levels")]
    for row in ON_CPU:
        same = [other for other in EVALUATED if all(other.say(key) == row.say(key) for key in ("text", "dim", "n", "strategy"))]
        if [counts(row)] != [counts(other) for other in same]:
            raise Wrong(f"{row.place}: other regions than on the GPU")
    found = {field: evaluated(field, ON_CPU) for field in gains}
    for k in found["x^2"]:
        cells = []
        for field in gains:
            large = max(found[field][k])
            ask, every = (found[field][k][large][strategy].ms for strategy in ("ask", "exhaustive"))
            slopes = [exponent({n: row[strategy].ms for n, row in found[field][k].items()}) for strategy in ("ask", "exhaustive")]
            gains[field].append(every / ask)
            cells += [f"{ask:.4g}", f"{every:.4g}", f"{every / ask:.2f}", f"{slopes[0]:.2f}, {slopes[1]:.2f}"]
        lines.append(f"| {k} | {large} | " + " | ".join(cells) + " |")
    page.block("\n".join(lines))
    page.says("dividing is @ to @ times as fast as evaluating every cell there for the escape map, and @ to @ times for the ball", *(pick(gains[field]) for field in gains for pick in (min, max)))


def now(page):
    """Digit sets by the code in use, on an H100."""
    lines = ["| k, now | ask, simplex 64^k | exhaustive | speedup | ask, diagonal 64^k | speedup |", "|--:|--:|--:|--:|--:|--:|"]
    for k in range(2, 9):
        cells = [str(k)]
        for field in ("simplex", "diagonal"):
            ask = NOW.ms(f"workload={field} dim={k} n=64 strategy=ask")
            every = NOW.ms(f"workload={field} dim={k} n=64 strategy=exhaustive") if k < 7 else None
            cells.append(f"{ask:.3f} ms")
            if field == "simplex":
                cells.append(f"{every:.4g} ms" if every else "")
            cells.append(f"{every / ask:.3g}" if every else "")
        lines.append(f"| {' | '.join(cells)} |")
    page.block("\n".join(lines))
    question = "workload=simplex dim={} n=64 strategy=exhaustive"
    page.says(
        "takes @ times the time of then at k = 2, and @ times at k = 6",
        *(NOW.ms(question.format(k)) / ROWS.ms(question.format(k)) for k in (2, 6)),
    )


def figures(page):
    by_evaluation(page)
    on_cpu(page)
    now(page)
    def one(field, k, strategy, n):
        return ROWS.one(f"workload={field} dim={k} n={n} strategy={strategy}")

    def ms(field, k, strategy, n):
        return one(field, k, strategy, n).ms

    errors = [row for row in ROWS if not row.found.get("error")]
    page.says(
        "@ cases, none failed; ± is at most @ % from 1 ms on, @ % from 0.1 ms on, and up to @ % below",
        len(errors),
        UpTo(max(row.error for row in errors if row.ms >= 1)),
        UpTo(max(row.error for row in errors if 1 > row.ms >= 0.1)),
        UpTo(max(row.error for row in errors if row.ms < 0.1)),
    )
    page.given("from 1 ms on", "from 0.1 ms on")
    table = page.table("regions examined")
    for k in range(2, 9):
        row = one("simplex", k, "ask", 64)
        exact = ms("simplex", k, "exhaustive", 64) if k < 7 else None
        regions = sum(level["regions"] for level in row.get("run", "levels"))
        table.row(str(k), 64.0**k, regions, row.get("run", "peak_olt_bytes"), row.ms, exact, exact / row.ms if exact else None)
    page.says("not as n^k: @ KB for a domain of @ cells", one("simplex", 8, "ask", 64).get("run", "peak_olt_bytes") / 1e3, 64.0**8)
    page.says(
        "takes @ ms in 2-D and @ in 8-D; its speedup at k = 6 is @.",
        ms("diagonal", 2, "ask", 64),
        ms("diagonal", 8, "ask", 64),
        ms("diagonal", 6, "exhaustive", 64) / ms("diagonal", 6, "ask", 64),
    )
    page.says(
        "Menger @ ms against @ at k = 4 and @ against @ at k = 5 (@x), carpet @ against @ at k = 4 (**slower**) and @ against @ at k = 5 (@x)",
        *(ms("menger", k, strategy, 81) for k in (4, 5) for strategy in ("exhaustive", "ask")),
        ms("menger", 5, "exhaustive", 81) / ms("menger", 5, "ask", 81),
        *(ms("carpet", k, strategy, 81) for k in (4, 5) for strategy in ("exhaustive", "ask")),
        ms("carpet", 5, "exhaustive", 81) / ms("carpet", 5, "ask", 81),
    )
    page.says("took 6.03 s instead of @", ms("simplex", 6, "ask", 64) / 1e3)
    least = []
    for field, n in (("carpet", 81), ("menger", 81), ("simplex", 64)):
        active = [
            (row.ms * 1e6, sum(level["subdivided"] + level["leaves"] for level in row.get("run", "levels")))
            for row in ROWS.all(f"workload={field} n={n} strategy=ask")
        ]
        least.append(min(ns / count for ns, count in active if count))
    page.says("falls to between @ and @ ns", min(least), max(least))
    row = one("diagonal", 2, "ask", 16)
    page.says("the cost of a level, @ µs", row.ms * 1e3 / len(row.get("run", "levels")))
    page.no_rows(BEFORE, "took 6.03 s")
