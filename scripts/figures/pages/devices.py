"""docs/results/devices.md: several GPUs of one host."""

from figures.page import UpTo
from figures.rows import Wrong, rows, table


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
    two_by_this_code(page)


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


def two_gpus(name="devices-two"):
    """Of some rows: the gains of two devices by run, of all grids."""
    found, by_run = list(rows(f"h200/{name}.jsonl")), {}
    whole = lambda row: row.get("seconds") + row.get("seconds_by_stage", "collecting")
    one = {(row.say("run"), row.say("g")): whole(row) for row in found if row.say("devices") == "1"}
    for row in found:
        if row.say("devices") == "2":
            by_run.setdefault(row.say("run"), []).append(one[row.say("run"), row.say("g")] / whole(row))
    return by_run


def two_by_this_code(page):
    page.block(table("device-results", "h200/devices-two.jsonl"))
    found, gain = list(rows("h200/devices-two.jsonl")), two_gpus()
    if not all(row.get("equal") for row in found):
        raise Wrong("devices-two.jsonl: the page says that all results are equal, and they are not")
    mandelbrot, julibrot = max(gain["mandelbrot -n 2^20 --keep counts"]), max(gain["julibrot -n 512 --keep counts"])
    page.says("At the best grid two GPUs are @ times one, which is @ of two", mandelbrot, mandelbrot / 2)
    page.says("on two GPUs is @ times one, which is @ of two. Both", julibrot, julibrot / 2)
    points = [row for row in found if "points" in row.say("run")]
    page.says("The run takes @ ms on one GPU and @ ms on two", *(row.get("seconds") * 1e3 for row in points))
    page.says("two GPUs are @ times one. Collecting", *gain[points[0].say("run")])
    collecting = [row.get("seconds_by_stage", "collecting") * 1e3 for row in points]
    page.says("Collecting takes @ to @ ms for either", min(collecting), max(collecting))
    of = [gain[run] for run in ("mandelbrot -n 2^18 --keep regions", "mandelbulb -n 2048 --cell u8 --keep regions")]
    (large,), (bulb,) = gain["mandelbrot -n 2^20 --keep regions"], gain["mandelbulb -n 4096 --cell u8 --keep regions"]
    page.says(
        "two GPUs are @ to @ times one for the Mandelbrot set at 2^18, @ to @ times for the bulb of 2048³, "
        "@ times for the Mandelbrot set at 2^20 and @ times for the bulb of 4096³",
        *(pick(one) for one in of for pick in (min, max)), large, bulb,
    )
    kept = [row for row in found if "regions" in row.say("run") and row.say("devices") == "2"]
    shares = [sum(row.get("busy_seconds")) / 2 / (row.get("seconds") + row.get("seconds_by_stage", "collecting")) * 100 for row in kept]
    page.says("busy for @ to @ % of these runs on two GPUs", min(shares), max(shares))
    page.given("two NVIDIA H200 and 32 cores, commit 82396ab", "below the goal of 0.97", "than 20 ms, from where")
    page.says("the bulb of 8192 reaches @ of four GPUs", gains("devices-gathered", 4)["mandelbulb -n 8192 --keep counts"] / 4)
    some, many = (next(row for row in rows("h200/pieces-2026-11-28.jsonl") if (row.say("devices"), row.say("pieces")) == ("2", cut)) for cut in ("256", "1024"))
    stage = lambda row, name: row.get("stages", name) / row.get("pieces") * 1e3
    page.says(
        "a piece takes @ ms of *collecting*, @ ms of *writing* and @ ms of *running*", *(stage(some, name) for name in ("collecting", "writing", "running"))
    )
    page.says("the longest stage with @ ms, and *collecting* takes @ ms", stage(many, "writing"), stage(many, "collecting"))
    busy = [sum(row.get("running_of_devices")) / row.get("seconds") / 2 * 100 for row in (some, many)]
    page.says("busy for @ to @ % of these runs. So eight", min(busy), max(busy))


def headline(page):
    """How many times one GPU two are by the newest code."""
    gain = two_gpus()
    counts = [max(of) for run, of in gain.items() if "counts" in run and "points" not in run]
    regions = [one for run, of in gain.items() if "regions" in run for one in of]
    page.says("by newer code two @ to @; regions on two @ to @ times one", min(counts), max(counts), min(regions), max(regions))
