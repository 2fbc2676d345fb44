"""docs/results/remote.md: bytes and requests per question to a tree behind a URL."""

from figures.page import LEFT
from figures.rows import rows


def figures(page):
    found = list(rows("remote.jsonl"))
    table = page.table("question", "bytes, zip")
    for zipped in [row for row in found if row.say("tree") == "zip"]:
        folder = [row for row in found if row.say("tree") == "folder" and row.say("question") == zipped.say("question")][0]
        share = zipped.get("bytes") / zipped.get("tree_bytes") * 100
        table.row(
            f"`{zipped.say('question')}`", zipped.get("bytes"), share, zipped.get("requests"), folder.get("bytes"), folder.get("requests")
        )
    page.says("The tree has @ bytes", found[0].get("tree_bytes"))
