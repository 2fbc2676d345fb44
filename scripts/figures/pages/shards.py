"""docs/results/shards.md: runs in pieces."""

from figures.rows import rows, table


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


def figures(page):
    page.block(table("shard-check", "h100/shards.jsonl"))
    page.block(table("shard-check", "shards.jsonl"))
    page.says("shards are @ to @ times as fast on two GPUs", min(gains()), max(gains()))
    page.given("the 0.97 of two", "64 pieces of the first field", "28 files", "Open MPI 4.1.4 and MPICH 4.0.2", "make 64 pieces")
    page.no_rows("No rows were kept of the two runs of this section", "## Memory")
    two = found("sbr", "memory", 64, 2)
    page.says("computes for @ ms and takes @ ms", two.get("running") / 64 * 1e3, two.get("making") / 64 * 1e3)
    stream, lists = found("stream", "memory", 1024, 1), found("sbr", "memory", 1024, 1)
    page.says("so each piece took @ s more: @ s for 1024 pieces where lists take @", (stream.get("making") - lists.get("making")) / 1024, stream.get("seconds"), lists.get("seconds"))
    page.says("64 pieces took @ s, where they took @ in memory", found("stream", "disk", 64, 1).get("seconds"), found("stream", "memory", 64, 1).get("seconds"))


def headline(page):
    """How many times one GPU two are."""
    page.says("regions on two GPUs @ to @ times one, where they write their own files", min(gains()), max(gains()))
