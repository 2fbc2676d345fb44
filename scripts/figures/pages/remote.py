"""docs/results/remote.md: bytes and requests per question to a tree behind a URL."""

from figures.rows import rows, table


def figures(page):
    page.block(table("data/remote.py", "remote.jsonl"))
    page.says("The zip has @ bytes", next(iter(rows("remote.jsonl"))).get("tree_bytes"))
    page.given("The end of a zip, 65 536 bytes")
    large = list(rows("remote-large.jsonl"))
    page.block(table("data/remote.py", "remote-large.jsonl"))
    page.says("both have @ GB", large[0].get("tree_bytes") / 1e9)
    page.says("waits @ ms before each answer", large[0].get("delay_s") * 1e3)
    ball = next(row for row in large if row.say("tree") == "zip" and row.say("question") == "64^3 in the ball")
    page.says("costs @ times the bytes of the array's own chunks", ball.get("orthant_bytes") / ball.get("zarr_bytes"))
    page.given("A tree of 10 GB", "A scan of 3072³ cells of u8, a ball of noise of radius 1340", "Of 25 answers", "zarr-python 3.1.6", "up to 20 times", "two busy cores")


def headline(page):
    """Megabytes of a zip: of all of it, of a cell, a box and a slice."""
    found = [row for row in rows("remote.jsonl") if row.say("tree") == "zip"]

    def megabytes(words):
        return next(row.get("bytes") for row in found if words in row.say("question")) / 1e6

    total = found[0].get("tree_bytes") / 1e6
    cell, box, cut = (megabytes(words) for words in ("512,512,512", "box", "z=512"))
    large = next(row for row in rows("remote-large.jsonl") if row.say("tree") == "zip" and row.say("question") == "64^3 in the ball")
    words = "of a zip of @ MB a cell takes @ MB, a box of 64³ @, a slice @; of 10 GB a box of 64³ @"
    page.says(words, total, cell, box, cut, large.get("orthant_bytes") / 1e6)
    page.given("a tree of 10 GB from a server", "of 10 GB a box")
