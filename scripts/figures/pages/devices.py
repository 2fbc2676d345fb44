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
    long(page)
    gathered(page)


def gains(name, devices, of=lambda row: True):
    """How many times one device so many are, of some rows."""
    found = list(rows(f"h200/{name}.jsonl"))
    whole = lambda row: row.get("seconds") + row.get("seconds_by_stage", "collecting")
    one = {(row.say("run"), row.say("g")): whole(row) for row in found if row.say("devices") == "1"}
    return {row.say("run"): one[row.say("run"), row.say("g")] / whole(row) for row in found if row.say("devices") == str(devices) and of(row)}


def long(page):
    page.block(table("device-results", "h200/devices-long.jsonl"))
    counts = gains("devices-long", 2, lambda row: "counts" in row.say("run"))
    page.says("and two GPUs reach @. What is lost", min(counts.values()) / 2)
    found = [row for row in rows("h200/devices-long.jsonl") if row.say("run") == "mandelbrot -n 2^20 --keep regions"]
    whole = [row.get("seconds") + row.get("seconds_by_stage", "collecting") for row in found]
    page.says("The regions of 2^20 take @ s on one GPU, of which kernels take @ s. Two take @ s.", whole[0], found[0].get("seconds"), whole[1])
    page.given("two NVIDIA H200 of a host with 32 cores, commit 0754096", "take more than 100 ms", "GPU has 3 % more")


def gathered(page):
    page.block(table("device-results", "h200/devices-gathered.jsonl"))
    bulb = "mandelbulb -n 8192 --keep counts"
    two, four = (gains("devices-gathered", devices) for devices in (2, 4))
    page.says("**The bulb of 8192 reaches @ on two GPUs", two[bulb] / 2)
    mandelbrot = "mandelbrot -n 2^20 --keep counts"
    page.says("reaches @ on two and @ on four.", two[mandelbrot] / 2, four[mandelbrot] / 4)
    slower = [1 / gain for run, gain in two.items() if "regions" in run]
    page.says("Here two take @ to @ times as long as one. Of", min(slower), max(slower))
    at = lambda name: next(
        row.get("seconds")
        for row in rows(f"h200/{name}.jsonl")
        if (row.say("run"), row.say("g"), row.say("devices")) == ("mandelbrot -n 2^18 --keep regions", "256", "2")
    )
    page.says("at 2^18 two take @ s, where they\n  took @ s in", at("devices-gathered"), at("devices"))
    page.given("four NVIDIA H200 and 64 cores, commit d6087b0", "take more than 60 ms each", "the goal of 0.97", "take 6 to 12 ms")
