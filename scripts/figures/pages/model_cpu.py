"""docs/results/model-cpu.md: the table of `--auto-scheme` has rows, and nothing else of it."""

from figures.rows import rows, table


def figures(page):
    page.block(table("auto-scheme-check", "auto-scheme-cpu.jsonl"))
    found = list(rows("auto-scheme-cpu.jsonl"))
    page.says("One of the @ runs lost", len(found))
    page.says("they took @ times as long", *(row.get("ratio") for row in found if not row.get("same")))
    page.given("a fit predicted 15 % less", "a Mandelbulb of 64³", "fewer than 16 regions")
    page.no_rows("No rows were kept of the figures on this page")
