"""docs/results/data.md: what is advised has rows, and nothing else."""

from figures.rows import table


def figures(page):
    page.block(table("advice-results", "advice.jsonl"))
    page.no_rows("No rows were kept of the other figures on this page")
