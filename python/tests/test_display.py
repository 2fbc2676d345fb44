"""What notebooks, matplotlib, pandas and xarray make of trees. Each only where it is installed."""

import struct
import sys
import zlib

import numpy as np
import pytest

import pyorthant as ot

CELLS = np.zeros((12, 20, 30), "u1")
CELLS[3:9, 4:15, 7:22] = 2
CELLS[5, 6, 8] = 9


def tree(**options):
    return ot.tree(CELLS, B=2, dims=("z", "y", "x"), spacing={"z": 2, "y": 0.5, "x": 0.5}, units="mm", **options)


def pixels(png):
    """The pixels of a PNG of 8 bits RGB without filters."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    columns, rows = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[33:37])[0]
    assert png[37:41] == b"IDAT"
    lines = np.frombuffer(zlib.decompress(png[41 : 41 + length]), "u1").reshape(rows, 1 + 3 * columns)
    return lines[:, 1:].reshape(rows, columns, 3)


def test_a_notebook_shows_a_plane():
    t = tree(label_names={2: "liver"})
    shown = pixels(t._repr_png_())
    plane = CELLS[6][::-1]
    scale = shown.shape[0] // plane.shape[0]
    assert shown.shape[:2] == (plane.shape[0] * scale, plane.shape[1] * scale)
    colours = {tuple(colour) for colour in shown.reshape(-1, 3)}
    assert len(colours) == len(np.unique(plane))
    same = (shown[::scale, ::scale] == shown[0, 0]).all(2)
    assert np.array_equal(same, plane == plane[0, 0])
    text = t._repr_html_()
    assert "<table>" in text and "x (mm)" in text and "data:image/png" in text


def test_the_kind_of_cells_decides_on_colours():
    cells = np.arange(400, dtype="u2").reshape(20, 20)
    colours = lambda kind, cells=cells: {tuple(colour) for colour in pixels(ot.tree(cells, kind=kind)._repr_png_()).reshape(-1, 3)}
    # So many values have a gradient unless they are labels; few have a colour each unless they are none.
    assert len(colours("labels")) > len(colours(None)) == len(colours("values"))
    few = cells % 3
    assert len(colours(None, few)) == 3 and colours("values", few) != colours(None, few)
    # A level of detail of it is as it is.
    quarters = np.kron(np.arange(4, dtype="u1").reshape(2, 2), np.ones((8, 8), "u1"))
    values, either = (ot.tree(quarters, g=2, B=2, kind=kind) for kind in ("values", None))
    assert values.lod(0)._repr_png_() == values._repr_png_() != either._repr_png_()


@pytest.mark.parametrize("shape", [(700,), (2000, 1100), (1, 1), (3, 2, 4, 2)])
def test_pictures_are_small(shape):
    cells = np.arange(np.prod(shape)).reshape(shape) % 7
    shown = pixels(ot.tree(cells.astype("f4"))._repr_png_())
    assert max(shown.shape) <= 512


def test_text_of_others_is_escaped(tmp_path):
    np.save(tmp_path / "<b>.npy", CELLS)
    text = ot.tree(tmp_path / "<b>.npy")._repr_html_()
    assert "&lt;b&gt;" in text and "<b>" not in text.replace("<b>.npy", "!") or "<b>.npy" not in text


def test_the_page(tmp_path):
    page = tree().view(title="A & B")
    assert page.text.lstrip().lower().startswith("<!doctype html") and "A &amp; B" in page.text
    assert page._repr_html_().startswith("<iframe srcdoc=") and "\n" not in repr(page)
    assert tree().view(tmp_path / "page.html") is None
    assert (tmp_path / "page.html").stat().st_size > 10_000
    tree().save(tmp_path / "t.tree.zarr")
    assert ot.open(tmp_path / "t.tree.zarr").view().text
    with pytest.raises(ot.OrthantError, match="max-size"):
        tree().view(max_size=10)


def test_matplotlib(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for at, overlay in ((None, True), ({"z": 5}, False), ({0: 5}, True), ({"x": 3}, True)):
        figure, ax = plt.subplots()
        assert tree().plot(ax, at=at, overlay=overlay) is ax
        assert (ax.get_xlabel(), ax.get_ylabel()) == (("y", "z") if at == {"x": 3} else ("x", "y"))
        figure.savefig(tmp_path / "a.png")
        plt.close(figure)
    ax = ot.tree(np.arange(20) // 5).plot()
    assert ax.get_xlabel() == "x"
    ot.run("mandelbrot", n=64, backend="cpu").plot(overlay=True, cmap="inferno")
    plt.close("all")
    for at, error in (({"q": 1}, ValueError), ({"z": 12}, IndexError), ({"z": 1, "y": 1}, ValueError)):
        with pytest.raises(error, match="at"):
            tree().plot(at=at)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(tree(label_names={2: "liver"}).stats()).set_index("value")
    assert frame.loc[2, "name"] == "liver" and frame.cells.sum() == CELLS.size
    levels = pandas.DataFrame(ot.run("mandelbrot", n=64, backend="cpu").levels)
    assert levels.regions[0] == 16


def test_xarray(tmp_path):
    xarray = pytest.importorskip("xarray")
    t = tree(label_names={0: "out side", 2: "liver"}, nodata=9)
    image = t.to_xarray()
    assert image.dims == ("z", "y", "x") and image.name == "image" and np.array_equal(image, CELLS)
    assert np.allclose(image.z, np.arange(12) * 2 + 1) and image.x.attrs["units"] == "mm"
    assert image.attrs["flag_meanings"] == "out_side liver" and image.attrs["missing_value"] == 9
    again = ot.tree(image, B=2)
    assert again.axes == t.axes and np.array_equal(np.asarray(again), CELLS)
    t.save(tmp_path / "t.tree.zarr")
    for options in ({"engine": "orthant"}, {}):
        data = xarray.open_dataset(tmp_path / "t.tree.zarr", **options)
        assert list(data) == ["image"] and np.array_equal(data.image.coords["x"], image.x)
        assert np.array_equal(data.image[3:8, ::2, -1], CELLS[3:8, ::2, -1])
        assert np.array_equal(data.image[[1, 5], :, [3, 4]].values, CELLS[[1, 5]][:, :, [3, 4]])
        assert float(data.image.sel(x=4.25, y=3.25, z=11)) == 9
    lazy = t.to_xarray(lazy=True)
    assert not isinstance(lazy.variable._data, np.ndarray) and np.array_equal(lazy, CELLS)
    assert not list(xarray.open_dataset(tmp_path / "t.tree.zarr", engine="orthant", drop_variables="image"))


def test_xarray_of_uneven_steps():
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray(np.zeros((3, 4)), coords={"t": [0, 1, 5], "x": [3.0, 2.0, 1.0, 0.0]}, dims=("t", "x"))
    axes = ot.tree(data).axes
    assert [axis.name for axis in axes] == ["t", "x"] and [axis.spacing for axis in axes] == [1, 1]


def test_nothing_is_imported_before_it_is_used():
    code = "import sys, pyorthant as ot, numpy as np; ot.tree(np.zeros(3)); sys.exit(bool({'matplotlib', 'xarray', 'pandas'} & set(sys.modules)))"
    import subprocess

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
