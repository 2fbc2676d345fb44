"""docs/results/remote.md: bytes and requests per question to a tree behind a URL."""

from figures.rows import rows, table


def figures(page):
    page.block(table("data/remote.py", "remote.jsonl"))
    page.says("The zip has @ bytes", next(iter(rows("remote.jsonl"))).get("tree_bytes"))
    page.given("# Trees behind URLs", "Two cores of an AMD EPYC")
