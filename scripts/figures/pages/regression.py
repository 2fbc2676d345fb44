"""docs/results/regression.md: before and after, by turns."""

import math
import statistics

from figures.rows import Rows, Wrong, rows

HAND = "Of the other comparisons no rows were kept"


def ratios(name):
    """The median ratio after / before of each case over its rounds."""
    both = []
    for when in ("before", "after"):
        times = {}
        for row in rows(f"regression/{name}-{when}.jsonl"):
            if not row.found.get("error"):
                times.setdefault(" ".join(sorted(row.get("key").split())), []).append(row.ms)
        both.append(times)
    return {key: statistics.median(b / a for a, b in zip(times, both[1][key])) for key, times in both[0].items()}


def geometric(found):
    return math.exp(statistics.mean(math.log(ratio) for ratio in found))


def verdicts(name):
    found = [row.say("B is").strip("*") for row in rows(f"regression/{name}.md")]
    return [sum(one.startswith(word) for one in found) for word in ("slower", "faster", "the same")]


def figures(page):
    table = page.table("geometric mean after / before")
    for label, name, measured in [
        ("H200, CUDA 13.0, 16 host cores", "h200", "h200"),
        ("the same, after with profile dist", "h200-dist", None),
        ("2 cores of an AMD EPYC", "cpu", "cpu"),
    ]:
        slower, faster, same = verdicts(name)
        mean = (
            geometric(ratios(measured).values())
            if measured
            else geometric(float(row.say("B / A")) for row in rows(f"regression/{name}.md"))
        )
        table.row(label, None, 7, slower + faster + same, slower, faster, same, mean, None)
    slower, faster, same = verdicts("h100")
    found = ratios("h100")
    page.says("Of @ cases none is slower, @ are faster, and @ are the same", len(found), faster, same)
    page.says("The geometric mean of after / before is @.", geometric(found.values()))
    page.says("The greatest ratio is @: `dp` by `mbr` at 1024²", max(found.values()))
    slower, faster, same = verdicts("h200-since")
    found = ratios("h200-since")
    if faster:
        raise Wrong(f"regression/h200-since.md: {faster} are faster, and the page says none")
    page.says("of @ cases @ are slower, none is faster, and @ are the same", len(found), slower, same)
    page.says("Their geometric mean of after / before is @", geometric(found.values()))
    said = {row.say("case"): row for row in rows("regression/h200-since.md")}
    for words, fields in (("`menger` in two axes", "menger dim=2"), ("`simplex` in three", "simplex dim=3")):
        row = next(row for case, row in said.items() if case.startswith(f"workload={fields} ") and "strategy=ask" in case)
        page.says(f"{words} takes @ times (@ ms instead of @", *(float(row.say(column)) for column in ("B / A", "B ms", "A ms")))
    found = ratios("h200-streams")
    if verdicts("h200-streams")[2] != len(found):
        raise Wrong("regression/h200-streams.md: not all are the same, and the page says so")
    page.says("of @ cases none is slower or faster", len(found))
    page.says("The geometric mean of streams is @", geometric(found.values()))
    slower, faster, same = verdicts("cpu-since")
    if slower:
        raise Wrong(f"regression/cpu-since.md: {slower} are slower, and the page says none")
    found = ratios("cpu-since")
    page.says("of @ cases none is slower on the CPU, @ are faster, and @ are the same", len(found), faster, same)
    page.says("The geometric mean on the CPU is @", geometric(found.values()))
    slower, faster, same = verdicts("h200-axes")
    [worst] = [row for row in rows("regression/h200-axes.md") if "slower" in row.say("B is")]
    page.says(
        "of @ cases @ is slower, by @ (@ ms instead of @ ms), @ are faster, and @ are the same",
        *(len(ratios("h200-axes")), slower, float(worst.say("B / A")), float(worst.say("B ms")), float(worst.say("A ms")), faster, same),
    )
    page.says("The geometric mean is @. [streams]", geometric(ratios("h200-axes").values()))
    found = ratios("h200-axes-streams")
    if verdicts("h200-axes-streams")[2] != len(found):
        raise Wrong("regression/h200-axes-streams.md: not all are the same, and the page says so")
    page.says("of @ cases none is slower and none is faster", len(found))
    page.says("The geometric mean is @. Rows: regression [before](regression/h200-axes", geometric(found.values()))
    page.given("limited to 40 and 0.4 s a case")
    page.no_rows(HAND)
