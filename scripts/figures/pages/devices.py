"""docs/results/devices.md: several GPUs of one host."""

from figures.page import UpTo
from figures.rows import rows, table


def figures(page):
    page.block(table("device-results", "h200/devices.jsonl"))
    found = rows("h200/devices.jsonl")

    def row(run, grid, devices):
        return next(row for row in found if (row.say("run"), row.say("g"), row.say("devices")) == (run, str(grid), str(devices)))

    def both(*of):
        return row(*of).get("seconds") + row(*of).get("seconds_by_stage", "collecting")

    def gain(run, grid, devices):
        return both(run, grid, 1) / both(run, grid, devices)

    runs = sorted({(row.say("run"), int(row.say("g"))) for row in found})
    counts = [of for of in runs if "counts" in of[0] and "points" not in of[0]]
    best = {
        devices: [max(gain(run, grid, devices) for name, grid in counts if name == run) for run in {name for name, _ in counts}]
        for devices in (2, 4)
    }
    page.says("two GPUs are @ to @ times one, and four are @ to @ times one", min(best[2]), max(best[2]), min(best[4]), max(best[4]))
    page.says("Two GPUs reach @ with the Mandelbrot set, and four reach @", max(best[2]) / 2, max(best[4]) / 4)
    mandelbrot = "mandelbrot -n 2^20 --keep counts"
    older = rows("h200/devices-before.jsonl")

    def before(run, grid):
        return next(row for row in older if (row.say("run"), row.say("g"), row.say("devices")) == (run, str(grid), "2")).get("seconds")

    page.says("took @ s on two GPUs before, and takes @ s", before(mandelbrot, 256), row(mandelbrot, 256, 2).get("seconds"))
    busy = [row(run, grid, devices).get("busy_seconds") for run, grid in counts for devices in (2, 4)]
    whole = [both(run, grid, devices) for run, grid in counts for devices in (2, 4)]
    shares = [sum(of) / len(of) / seconds * 100 for of, seconds in zip(busy, whole)]
    page.says("GPUs are busy for @ to @ % of the time", min(shares), max(shares))
    page.says("the busiest has at most @ % more", UpTo(max(max(of) * len(of) / sum(of) - 1 for of in busy) * 100))
    page.says("the same run took @ s on two GPUs", before("mandelbrot -n 2^18 --keep regions", 64))
    page.says("Counting the points takes @ ms", next(row for row in found if "points" in row.say("run")).get("seconds") * 1e3)
    regions = [of for of in runs if "regions" in of[0]]
    slower = [1 / gain(run, grid, 2) for run, grid in regions]
    page.says("Two GPUs take @ to @ times as long", min(slower), max(slower))
    kept = row("mandelbrot -n 2^18 --keep regions", 64, 1)
    page.says("The kernels take @ s", kept.get("device_seconds"))
    page.says("and collecting takes @ s on one GPU", kept.get("seconds_by_stage", "collecting"))
    page.says("and the run takes @ s.", row("mandelbrot -n 2^18 --keep regions", 64, 2).get("seconds"))
    pieces = [row(run, grid, 1).get("seconds") / (32 * devices) * 1e3 for run, grid in counts for devices in (2, 4)]
    page.given("pieces of 20 ms on")
    page.says("there are 32 per device, of @ to @ ms", min(pieces), max(pieces))
