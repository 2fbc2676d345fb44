"""docs/results/python.md: nothing of it has rows."""


def figures(page):
    page.no_rows("No rows were kept of the figures on this page")
