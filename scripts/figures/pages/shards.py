"""docs/results/shards.md: runs in pieces."""

from figures.rows import Wrong, rows, table


def found(mapping, place, pieces, devices, run="mandelbrot"):
    """The first row of a kind."""
    return next(
        row
        for row in rows("h100/shards.jsonl")
        if row.say("run").startswith(run)
        and (row.say("mapping"), row.say("place"), row.say("pieces"), row.say("devices")) == (mapping, place, str(pieces), str(devices))
    )


def gains():
    """How many times one GPU two are, with lists and files in memory."""
    lists = [row for row in rows("h100/shards.jsonl") if row.say("mapping") == "sbr"]
    keys = ("run", "pieces", "call")
    for row in lists:
        if row.say("devices") == "2":
            one = next(other for other in lists if other.say("devices") == "1" and all(other.say(key) == row.say(key) for key in keys))
            yield one.get("seconds") / row.get("seconds")


def staged(name):
    """Of rows with stages: how many GPUs, and how many times one they are."""
    all_rows = rows(f"h200/pieces-{name}.jsonl")
    for row in all_rows:
        one = next(other for other in all_rows if other.say("devices") == "1" and all(other.say(key) == row.say(key) for key in ("run", "pieces")))
        yield int(row.say("devices")), one.get("seconds") / row.get("seconds")


def figures(page):
    page.block(table("shard-check", "h100/shards.jsonl"))
    page.block(table("shard-check", "h200/pieces-four.jsonl"))
    page.block(table("shard-check", "h200/pieces-two.jsonl"))
    page.block(table("shard-check", "h200/pieces-gather.jsonl"))
    page.block(table("shard-check", "shards.jsonl"))
    whole = [row for row in rows("shards.jsonl") if row.get("killed") == 0]
    times = [row.get("seconds") / row.get("one_process") for row in whole]
    page.says("Four processes on two cores take @ to @ times as long", min(times), max(times))
    page.given("two idle cores of an AMD EPYC virtual machine, commit d6087b0", "MPICH 4.0.2 and MPICH 5.0.2, and started")
    page.says("A piece of 64 takes @ ms of collecting", next(iter(rows("h200/pieces-gather.jsonl"))).get("stages", "collecting") / 64 * 1e3)
    page.given("ef8d7dc, where a kernel", "on two NVIDIA H200 with 32 cores, with files", "from 64 pieces on", "of 1024\n  pieces")
    page.block(table("shard-check", "h200/pieces-lists.jsonl"))
    alone = [row for row in rows("h200/pieces-lists.jsonl") if row.say("devices") == "1" and "mandelbrot" in row.say("run")][:2]
    page.says("one takes @ ms of collecting by streams and @ ms by", *(row.get("stages", "collecting") / 64 * 1e3 for row in alone))
    whole = [row.get("seconds") for row in alone]
    page.says("on one GPU: @ to @ s", min(whole), max(whole))
    kernels = [row.get("stages", "running") / row.get("seconds") * 100 for row in alone]
    page.says("the kernels are @ to @ % of", min(kernels), max(kernels))
    page.given("on four NVIDIA H200 with 64 cores, with files", "are 4 million on a wavy sphere", "**64 pieces take as long", "Of 64 pieces, one takes")
    page.block(table("shard-check", "h200/pieces-many.jsonl"))
    many = list(rows("h200/pieces-many.jsonl"))
    seconds = [row.get("seconds") for row in many]
    page.says("1024 pieces of 2^18 take @ s on one GPU, and 4096 take @ s", seconds[0], seconds[2])
    page.says("Two GPUs are @ and\n  @ times one.", seconds[0] / seconds[1], seconds[2] / seconds[3])
    page.says("writes its tree takes @ to @ s", many[0].get("one_run"), many[2].get("one_run"))
    page.given("two NVIDIA H200 with 32 cores, files in memory: many", "a piece costs 3 to 5 ms")
    newest(page)
    four, two = (list(staged(name)) for name in ("four", "two"))
    page.says("Four GPUs are @ to @ times one", min(gain for devices, gain in four if devices == 4), max(gain for devices, gain in four if devices == 4))
    page.says("Two GPUs are @ to @ times one", min(gain for devices, gain in two if devices == 2), max(gain for devices, gain in two if devices == 2))
    busy = [sum(row.get("running_of_devices")) / row.get("seconds") / int(row.say("devices")) * 100 for row in rows("h200/pieces-four.jsonl")]
    page.says("busy for @ to @ %", min(busy), max(busy))
    first = {
        row.say("devices"): row.get("stages", "collecting") / 64 * 1e3
        for row in rows("h200/pieces-four.jsonl")
        if row.say("run").startswith("mandelbrot") and row.say("pieces") == "64"
    }
    page.says("takes @ ms in it on one GPU and @ ms on four", first["1"], first["4"])
    page.given("one host with four NVIDIA H200 and 64 CPU cores", "on two NVIDIA H200 with 32 CPU cores")
    page.no_rows("What the program said was not kept as rows", ("the program said that it had made", "took longer than 16"))
    page.no_rows("No rows were kept of these two", "A run of the second field")
    page.says("shards are @ to @ times as fast on two GPUs", min(gains()), max(gains()))
    page.given("the 0.97 of two", "64 pieces of the first field", "28 files", "Open MPI 4.1.4, MPICH 4.0.2", "make 64 pieces")
    page.no_rows("No rows were kept of the two runs of this section", "## Memory")
    two = found("sbr", "memory", 64, 2)
    page.says("computes for @ ms and takes @ ms", two.get("running") / 64 * 1e3, two.get("making") / 64 * 1e3)
    stream, lists = found("stream", "memory", 1024, 1), found("sbr", "memory", 1024, 1)
    page.says("so each piece took @ s more: @ s for 1024 pieces where lists take @", (stream.get("making") - lists.get("making")) / 1024, stream.get("seconds"), lists.get("seconds"))
    page.says("64 pieces took @ s, where they took @ in memory", found("stream", "disk", 64, 1).get("seconds"), found("stream", "memory", 64, 1).get("seconds"))


def of_newest(what="mandelbulb"):
    """The newest rows of a field, by pieces and GPUs."""
    return {(row.get("pieces"), row.get("devices")): row for row in rows("h200/pieces-2026-11-28.jsonl") if row.say("run").startswith(what)}


def newest(page):
    page.block(table("shard-check", "h200/pieces-2026-11-28.jsonl"))
    bulb, points = of_newest(), of_newest("points")
    seconds = lambda row: row.get("seconds")
    page.says("One run that writes its tree takes @ s. On one GPU 256 pieces", bulb[256, 1].get("one_run"))
    page.says("256 pieces take @ s and 1024 take @ s. On two GPUs they take @ s and @ s", *(seconds(bulb[cut, devices]) for devices in (1, 2) for cut in (256, 1024)))
    page.says("**Two GPUs are faster than one, @ and @ times.** The goal", *(seconds(bulb[cut, 1]) / seconds(bulb[cut, 2]) for cut in (256, 1024)))
    busy = [sum(row.get("running_of_devices")) / seconds(row) / row.get("devices") * 100 for row in bulb.values()]
    page.says("The goal is 0.97 of two. GPUs compute for @ to @ % of the time", min(busy), max(busy))
    page.says("takes @ ms of collecting, and @ ms on one", *(bulb[256, devices].get("stages", "collecting") / 256 * 1e3 for devices in (2, 1)))
    if max(bulb[1024, 2].get("stages"), key=bulb[1024, 2].get("stages").get) != "writing":
        raise Wrong("pieces-2026-11-28.jsonl: the page says that writing is the longest stage of 1024 pieces, and it is not")
    uneven = lambda row: max(row.get("running_of_devices")) * 2 / sum(row.get("running_of_devices"))
    page.says("**The predicted balance** is @:", max(row.get("predicted") for row in [*bulb.values(), *points.values()]))
    page.says(
        "the busier GPU computes @ times the mean with 256 pieces, @ times with 1024, and @ times with the points, whose kernels take @ to @ ms in all",
        uneven(bulb[256, 2]), uneven(bulb[1024, 2]), uneven(points[64, 2]), *(points[64, devices].get("stages", "running") * 1e3 for devices in (1, 2))
    )
    page.says(
        "64 pieces take @ s on one GPU and @ s on two. One run takes @ s.", seconds(points[64, 1]), seconds(points[64, 2]), points[64, 1].get("one_run")
    )
    page.given("two NVIDIA H200 and 32 cores, CUDA 13.0, files in memory, kernels")


def headline(page):
    """How many times one GPU two are."""
    bulb = of_newest()
    page.says("of a bulb of 4096³ @ and @ on two H200", *(bulb[cut, 1].get("seconds") / bulb[cut, 2].get("seconds") for cut in (256, 1024)))
    page.says("regions on two GPUs @ to @ times one, where they write their own files", min(gains()), max(gains()))
