"""docs/results/compile.md: nothing of it has rows."""


def figures(page):
    page.no_rows("Times and sizes of builds were read off `time`, and no rows were kept")
