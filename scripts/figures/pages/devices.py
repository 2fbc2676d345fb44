"""docs/results/devices.md: several GPUs of one host."""

from figures.rows import rows, table


def figures(page):
    page.block(table("device-results", "h200/devices.jsonl"))
    found = rows("h200/devices.jsonl")

    def seconds(run, grid, devices):
        return next(
            row.get("seconds") for row in found if (row.say("run"), row.say("g"), row.say("devices")) == (run, str(grid), str(devices))
        )

    counts = sorted({(row.say("run"), int(row.say("g"))) for row in found if "counts" in row.say("run")})
    best = {
        devices: [
            max(seconds(run, 1 * grid, 1) / seconds(run, grid, devices) for name, grid in counts if name == run)
            for run in {name for name, _ in counts}
        ]
        for devices in (2, 4)
    }
    page.says("two GPUs are @ to @ times one, and four are @ to @ times one", min(best[2]), max(best[2]), min(best[4]), max(best[4]))
    mandelbrot = "mandelbrot -n 2^20 --keep counts"
    page.says(
        "two GPUs are @ times one. With 1024 regions a piece (256) they are @ times one",
        *(seconds(mandelbrot, grid, 1) / seconds(mandelbrot, grid, 2) for grid in (64, 256))
    )
    kept = next(row for row in found if "regions" in row.say("run") and row.say("devices") == "1")
    page.says(
        "@ s of kernels are followed by @ s of it on one device",
        kept.get("device_seconds"),
        kept.get("seconds_by_stage", "running") + kept.get("seconds_by_stage", "collecting") - kept.get("device_seconds"),
    )
    pieces = [seconds(run, grid, 1) / (32 * devices) * 1e3 for run, grid in counts for devices in (2, 4)]
    page.given("pieces of 20 ms on")
    page.says("there are 32 per device, of @ to @ ms", min(pieces), max(pieces))
