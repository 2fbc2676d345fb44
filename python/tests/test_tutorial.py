"""The tutorial notebook: each cell runs, and no outputs are kept in the file."""

import ast
import json
import pathlib
import re

import pytest

NOTEBOOK = pathlib.Path(__file__).parent.parent / "examples" / "tutorial.ipynb"


def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def run(source, names):
    """Runs a cell as a notebook does: its last expression, unless it ends in ``;``, is shown."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    if not source.rstrip().endswith(";") and value is not None:
        for form in ("_repr_html_", "_repr_png_"):
            show = getattr(value, form, None)
            if show is not None:
                show()
        assert repr(value)


def test_every_cell_runs():
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("xarray")
    pytest.importorskip("zarr", minversion="3")
    matplotlib.use("Agg")
    names = {"__name__": "__main__"}
    ran = 0
    for number, cell in enumerate(cells()):
        if cell["cell_type"] == "code":
            try:
                run("".join(cell["source"]), names)
            except Exception as error:
                error.args = (f"cell {number}: {error}", *error.args[1:])
                raise
            ran += 1
    assert ran > 12
    matplotlib.pyplot.close("all")


def test_outputs_are_stripped():
    text = NOTEBOOK.read_text(encoding="utf-8")
    for cell in cells():
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)
        assert not cell["metadata"]
    assert not re.search(r"/home|/tmp|/root|/work", text)
