"""docs/results/reliability.md: nothing of it has rows."""


def figures(page):
    page.no_rows("Figures on this page are what tests and commands said, and no rows were kept")
