"""Measurements that several pages speak of, by what they are: the rows of streams on an H200, all of one day and card, and wrong cells."""

from figures.page import Quoted
from figures.rows import RESULTS, Wrong, number, rows

NO_AUTHORS = "No rows were kept of the authors' code"
STREAMS = rows("h200/rows/streams.jsonl")
FACES = rows("h200/rows/faces.jsonl")
BRICKS = rows("h200/rows/bricks.jsonl")
SMALL = rows("h200/rows/small.jsonl")
DEFAULTS = rows("h200/rows/defaults.jsonl")
WINDOWS = rows("h200/rows/windows.jsonl")
CELLS = rows("wrong-cells.jsonl")


def sides(scheme):
    """`{16, 4, 8}` as a question."""
    g, r, b = scheme.strip("{}").split(", ")
    return f"g={g} r={r} B={b}"


def proven(field, n):
    """The fastest stream under `certified`, dense; no cell of it is wrong, or this fails."""
    found = STREAMS + BRICKS
    best = (STREAMS if any(row.say("workload") == field and row.say("n") == str(n) for row in STREAMS) else BRICKS).best(
        f"workload={field} n={n} explore=certified scheme=stream keep=dense"
    )
    exact = found.all(f"workload={field} n={n} strategy=exhaustive cell={best.say('cell')}").rows[0]
    if best.get("run", "checksum") != exact.get("run", "checksum"):
        raise Wrong(f"{best.place}: not the cells of an exhaustive run")
    return best


def stream(n, scheme, cell="u16"):
    """A stream of the Mandelbrot set under `closed`."""
    return FACES.one(f"workload=mandelbrot n={n} explore=closed strategy=ask scheme=stream cell={cell} {sides(scheme)}")


def wrong(row):
    """How many cells of a measured run are wrong: counted for the array with its checksum."""
    checksum, size = row.get("run", "checksum"), row.say("size")
    cells = [found for found in CELLS if found.get("checksum") == checksum and found.say("size") == size]
    exact = [found for found in CELLS if found.get("exhaustive") == checksum and found.say("size") == size]
    if not cells and not exact:
        # i32 and u16 have the same labels under other checksums
        found = CELLS.all(
            f"workload={row.say('workload')} size={size} dwell={row.say('dwell')} precision={row.say('precision')} "
            f"explore={row.say('explore')} g={row.say('g')} r={row.say('r')} B={row.say('B')} domain={row.say('domain')}"
        )
        return found.rows[0].get("wrong")
    return cells[0].get("wrong") if cells else 0


def ppm(row):
    """Wrong cells in a million."""
    return wrong(row) / row.get("run", "cells", "total") * 1e6


def profile(run):
    """The kernels of a profiled run, in order: name, ms, 10^9 warp instructions, % of cycles with an issue, lanes, GB/s."""
    kernels, here = [], False
    for line in (RESULTS / "h200" / "profile.txt").read_text().splitlines():
        if not line.startswith((" ", "#")):
            here = line == run
        elif here and " G  issue" in line:
            name, ms, _, instructions, _, _, issue, _, lanes, *_ = line.split()
            kernels.append(
                (
                    name,
                    float(ms),
                    float(instructions),
                    float(issue),
                    float(lanes),
                    float(line.split("|")[1].split()[0].replace(",", "")) / 1e9,
                )
            )
    if not kernels:
        raise Wrong(f"h200/profile.txt: nothing of {run}")
    return kernels


def exhaustive_then(field, n):
    """Milliseconds of exhaustive on the H200 on 2026-11-21, the day of most sweeps: i32 cells in 2-D, u16 else."""
    if field == "mandelbrot":
        return rows("h200/rows/paper-ask.jsonl").best(f"n={n} strategy=exhaustive").ms
    return rows("h200/solids.txt").where(field=field, n=n, strategy="exhaustive").fastest().ms


def authors(n):
    """The best times of the authors' code, as docs/results/h200.md has them: no rows were kept."""
    text = (RESULTS / "h200.md").read_text().split("### The authors' code")[1]
    line = next(line for line in text.splitlines() if line.startswith(f"| {n} |"))
    found = {}
    for name, cell in zip(("Ex", "DP-SBR", "DP-MBR", "ASK-SBR", "ASK-MBR"), line.split("|")[2:]):
        found[name] = Quoted(number(cell))
        found[name].reason = NO_AUTHORS
    return found
