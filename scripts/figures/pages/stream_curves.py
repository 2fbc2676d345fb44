"""docs/results/stream-curves.md: streams along each curve."""

import statistics

from figures.rows import rows

BEFORE = rows("h200/stream-curves-before.jsonl")
AFTER = rows("h200/stream-curves.jsonl")
CURVES = ["canonical", "morton", "hilbert"]


def questions():
    """The cases without their curve, in the order of the rows."""
    keys = ["workload", "n", "g", "r", "B", "explore"]
    found = dict.fromkeys(" ".join(f"{key}={row.say(key)}" for key in keys) for row in AFTER)
    return sorted(found, key=lambda question: ("closed" in question, question.split()[0], int(question.split()[1][2:])))


def ms(rows, question):
    """The median over rounds of the medians of a case."""
    return statistics.median(row.ms for row in rows.all(question))


def morton_and_hilbert():
    """How far Morton is from lists of places at most, and Hilbert from Morton, in per cent."""
    morton, hilbert = [], []
    for question in questions():
        found = {curve: ms(AFTER, f"{question} curve={curve}") for curve in CURVES}
        morton.append(abs(found["morton"] / ms(BEFORE, f"{question} curve=morton") - 1) * 100)
        hilbert.append((found["hilbert"] / found["morton"] - 1) * 100)
    return max(morton), max(hilbert)


def figures(page):
    lines = ["| field | n | scheme | rule | lists of places | canonical | Morton | Hilbert | scalars | tables, KiB | maps, KiB |", "|---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    morton, hilbert = [], {"certified": [], "closed": []}
    for question in questions():
        said = dict(part.split("=") for part in question.split())
        before = ms(BEFORE, f"{question} curve=morton")
        found = [ms(AFTER, f"{question} curve={curve}") for curve in CURVES]
        run = AFTER.all(f"{question} curve=morton").rows[0].found["run"]
        scheme = "{" + ", ".join(said[key] for key in ("g", "r", "B")) + "}"
        cells = [said["workload"], said["n"], scheme, f"`{said['explore']}`", f"{before:.4g}", *(f"{time:.4g}" for time in found)]
        cells += [str(run["table_entries"]), f"{run['table_bytes'] / 1024:.0f}", f"{run['map_bytes'] / 1024:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
        morton.append((found[1] / before - 1) * 100)
        hilbert[said["explore"]].append((found[2] / found[1] - 1) * 100)
    page.block("\n".join(lines))
    equal = all(len({row.found["run"]["checksum"] for row in (*BEFORE.all(question), *AFTER.all(question))}) == 1 for question in questions())
    page.says("The @ arrays", len(questions()) if equal else -1)
    page.says("between @ % faster and @ % slower than", -min(morton), max(morton))
    page.says("under `certified` @ to @ %, under `closed` @ to @ %", *(f(hilbert[rule]) for rule in ("certified", "closed") for f in (min, max)))
    page.given("2 %")
