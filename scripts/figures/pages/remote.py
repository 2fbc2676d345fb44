"""docs/results/remote.md: bytes and requests per question to a tree behind a URL."""

from figures.rows import rows, table


def figures(page):
    page.block(table("data/remote.py", "remote.jsonl"))
    page.says("The zip has @ bytes", next(iter(rows("remote.jsonl"))).get("tree_bytes"))
    page.given("The end of a zip, 65 536 bytes")


def headline(page):
    """Megabytes of a zip: of all of it, of a cell, a box and a slice."""
    found = [row for row in rows("remote.jsonl") if row.say("tree") == "zip"]

    def megabytes(words):
        return next(row.get("bytes") for row in found if words in row.say("question")) / 1e6

    total = found[0].get("tree_bytes") / 1e6
    cell, box, cut = (megabytes(words) for words in ("512,512,512", "box", "z=512"))
    page.says("of a zip of @ MB a cell takes @ MB, a box of 64³ @, a slice @", total, cell, box, cut)
