"""docs/results/last-mile.md: whole commands, to the file, the picture and the answer."""

import statistics

from figures.rows import rows, table

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
    page.given("of an AMD EPYC virtual machine (Zen 5), files in memory but", "values of 8 or 16 bits", "set for 16 cores", "a bulb of 2048³ on a disk")
    page.block(table("last-mile", "h200/last-mile-gather.jsonl"))
    gathered = list(rows("h200/last-mile-gather.jsonl"))

    def median(command, program, *keys):
        return statistics.median(row.get(*keys) for row in gathered if row.say("command") == command and row.say("program") == program)

    def ratio(command, *keys):
        return median(command, "orthant", *keys) / median(command, "orthant-before", *keys)

    stages = ("seconds_by_stage", "collecting")
    page.says("of bulb 2048³ takes @ times as long as before, that of julibrot @ times", ratio(bulb, *stages), ratio("run julibrot -n 256 -o j.tree.zarr", *stages))
    page.given("one host with two NVIDIA H200 and 32 cores, CUDA 13.0", "per brick of 64 bytes")
    bulb, _ = rows("h100/timeline.jsonl")
    page.says("@ s of @ pass after the last file", bulb.get("seconds") - bulb.get("seconds_by_stage", "whole"), bulb.get("seconds"))
    page.given("one H100 with 16 cores, commit")
