"""docs/results/model-paper.md: written and held by the test `the_papers_statements` (tests/paper_model.rs)."""


def figures(page):
    page.made()
