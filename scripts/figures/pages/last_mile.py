"""docs/results/last-mile.md: whole commands, to the file, the picture and the answer."""

import statistics

from figures.page import GIVEN
from figures.rows import Wrong, rows, table

PAGES = "No rows were kept."


def figures(page):
    page.block(table("last-mile", "h100/last-mile-cuda.jsonl"))
    found = list(rows("h100/last-mile-cuda.jsonl"))

    def stage(command, name):
        own = [row for row in found if row.say("command") == command and row.say("program") == "orthant"]
        median = statistics.median(row.get("seconds") for row in own)
        return min(own, key=lambda row: abs(row.get("seconds") - median)).get("seconds_by_stage", name)

    bulb = "run mandelbulb -n 2048 --cell u8 --keep regions"
    page.says("of the regions of bulb 2048³ takes @ s", stage(bulb, "collecting"))
    page.says("of their tree takes @ s", stage(f"{bulb} -o c.tree.zarr", "writing"))
    page.says("is the driver's: @ s of every run", stage(bulb, "opening"))
    page.given("NVIDIA H100 80GB HBM3", "stages below 5 ms", ("The goals of the work were", "for the last."))
    page.no_rows(PAGES, "## Short runs", "## Pages")
    page.block(table("last-mile", "last-mile-cpu.jsonl"))
    page.block(table("last-mile", "last-mile-cpu-now.jsonl"))
    page.given("of an AMD EPYC virtual machine (Zen 5), files in memory but", "values of 8 or 16 bits", "a bulb of 2048³ on a disk")
    page.block(table("last-mile", "h200/last-mile-gather.jsonl"))
    gathered = list(rows("h200/last-mile-gather.jsonl"))

    def median(command, program, *keys):
        return statistics.median(row.get(*keys) for row in gathered if row.say("command") == command and row.say("program") == program)

    def ratio(command, *keys):
        return median(command, "orthant", *keys) / median(command, "orthant-before", *keys)

    stages = ("seconds_by_stage", "collecting")
    page.says("of bulb 2048³ takes @ times as long as before, that of julibrot @ times", ratio(bulb, *stages), ratio("run julibrot -n 256 -o j.tree.zarr", *stages))
    page.given("one host with two NVIDIA H200 and 32 cores, CUDA 13.0", "per brick of 64 bytes")
    two(page)
    timeline(page)


GOALS = {
    "bulb 2048³, --keep regions": "run mandelbulb -n 2048 --cell u8 --keep regions",
    "the same with -o c.tree.zarr": "run mandelbulb -n 2048 --cell u8 --keep regions -o c.tree.zarr",
    "tree stats": "tree stats c.tree.zarr",
    "tree validate": "tree validate c.tree.zarr",
    "tree slice": "tree slice c.tree.zarr --axis 2=1024 -o slice.png",
    "bulb 1024³, -o b.tree.zarr": "run mandelbulb -n 1024 -o b.tree.zarr",
    "bulb 1024³, -o b.npy": "run mandelbulb -n 1024 -o b.npy",
    "tree view": "tree view b.tree.zarr -o b.html",
    "julibrot 256⁴, -o j.tree.zarr": "run julibrot -n 256 -o j.tree.zarr",
    "mandelbrot 65536², -o m.tree.zarr": "run mandelbrot -n 65536 -o m.tree.zarr",
}
SECONDS = dict(zip(GOALS, (1.0, 2.0, 1.0, 1.5, 0.3, 0.9, 2.0, 3, 2.0, 1.2)))


def of_two(command, program="orthant"):
    """The rows of a command on the host with 32 cores, by round."""
    found = [row for row in rows("h200/last-mile-two.jsonl") if (row.say("command"), row.say("program")) == (command, program)]
    if not found:
        raise Wrong(f"last-mile-two.jsonl: no row of {command} by {program}")
    return found


def median_of_two(command, program="orthant"):
    return statistics.median(row.get("seconds") for row in of_two(command, program))


def two(page):
    """Both rounds of before and after on 32 cores."""
    page.block(table("last-mile", "h200/last-mile-two.jsonl"))
    goals = page.table("goal, s", "found, s")
    for label, command in GOALS.items():
        seconds = median_of_two(command)
        goals.row(label, GIVEN, seconds, "met" if seconds <= SECONDS[label] else "missed")
    compiled = [row.get("seconds_by_stage", "preparing") for row in rows("h200/last-mile-two.jsonl") if "seconds_by_stage" in row.found]
    compiled = [seconds for seconds in compiled if seconds > 1]
    if len(compiled) != 5:
        raise Wrong(f"last-mile-two.jsonl: {len(compiled)} rows compiled kernels, and the page speaks of five commands")
    page.says("*preparing* takes @ to @ s in its rows", min(compiled), max(compiled))
    stats, validate = GOALS["tree stats"], GOALS["tree validate"]
    page.says(
        "**`tree stats` takes @ s, where it took @, and `tree validate` @ s, where it took @.**",
        *(median_of_two(command, program) for command in (stats, validate) for program in ("orthant", "orthant-before")),
    )
    tree, dense = GOALS["the same with -o c.tree.zarr"], GOALS["bulb 1024³, -o b.npy"]
    page.says(
        "The bulb of 2048³ and its tree take @ s and @ MiB, where before took @ to @ s in the rounds that compiled nothing",
        median_of_two(tree),
        max(row.get("largest_kib") for row in of_two(tree)) / 1024,
        *(pick(row.get("seconds") for row in of_two(tree, "orthant-before") if row.get("seconds_by_stage", "preparing") < 1) for pick in (min, max)),
    )
    before = of_two(dense, "orthant-before")
    page.says("**`-o b.npy` got slower**: @ s against @ s in the median", median_of_two(dense), median_of_two(dense, "orthant-before"))
    page.says("and its second took @ s", next(row.get("seconds") for row in before if row.get("round") == 1))
    collecting = [row.get("seconds_by_stage", "collecting") for row in of_two(dense)]
    page.says(
        "reads them back in @ to @ s, where it took @ s. The kernels take @ s",
        min(collecting), max(collecting), before[0].get("seconds_by_stage", "collecting"), of_two(dense)[0].get("seconds_by_stage", "running"),
    )
    mended = {name: [row for row in rows("h200/last-mile-npy.jsonl") if row.say("program") == name] for name in ("orthant", "orthant-before")}
    page.says(
        "the command takes @ s with it and @ s with commit 0754096",
        *(statistics.median(row.get("seconds") for row in mended[name]) for name in ("orthant", "orthant-before")),
    )
    page.says("*Collecting* takes @ s.", statistics.median(row.get("seconds_by_stage", "collecting") for row in mended["orthant"]))
    page.given("one host with two NVIDIA H200 and 32 cores, CUDA 13.0, files in memory. \"orthant-before\" is commit 0754096", "room for in 256 MiB", "the room is 16 MiB")


def cores(row, stage):
    """How many cores are busy in a stage, in the mean."""
    stages = row.get("seconds_by_stage")
    names = ["opening", "preparing", "running", "collecting", "reporting", "ordering", "writing"]
    begins = sum(stages[name] for name in names[: names.index(stage)])

    def used(until):
        return max((seconds for at, seconds in row.get("processor") if at <= until), default=0)

    return (used(begins + stages[stage]) - used(begins)) / stages[stage]


def timeline(page):
    before, after = rows("h200/timeline-two.jsonl")
    last = ("collecting", "reporting", "ordering", "writing")
    page.says("*ordering* and *writing* took @ s", sum(before.get("seconds_by_stage", stage) for stage in last))
    page.says(
        "In *ordering* @ cores were busy in the mean, in *collecting* @, in *writing* @.",
        *(cores(before, stage) for stage in ("ordering", "collecting", "writing")),
    )
    page.says("*writing* take @ s. In *writing* @ cores", sum(after.get("seconds_by_stage", stage) for stage in last), cores(after, "writing"))
    page.says("Opening takes @ s before and @ s after", *(row.get("seconds_by_stage", "opening") for row in (before, after)))
    ending = lambda row: row.get("seconds") - row.get("seconds_by_stage", "whole")
    page.says("takes @ s of @ before and @ s of @ after", ending(before), before.get("seconds"), ending(after), after.get("seconds"))
    page.given("one host with two NVIDIA H200 and 32 cores, files in memory, kernels compiled before, one run each")


def headline(page):
    """Questions to a large tree, before and after."""
    stats = GOALS["tree stats"]
    page.says("`tree stats` of bulb 2048³ in @ s, before @", median_of_two(stats), median_of_two(stats, "orthant-before"))
