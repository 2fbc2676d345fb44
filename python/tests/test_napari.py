"""What napari gets of trees: layers as plain tuples. napari itself is used where it is installed."""

import importlib.metadata
import pathlib

import numpy as np
import pytest

import pyorthant as ot
from pyorthant import _napari

TABLE = "0 Ground 10 20 30 255\n2 Liver 250 5 6 255\n9 Vessel 0 0 255 128\n"


def cells():
    found = np.zeros((80, 120, 200), "u1")
    found[20:60, 30:90, 40:160] = 2
    found[35, 50:60, 60:70] = 9
    return found


def labels(tmp_path, name="organs.tree.zarr"):
    (tmp_path / "names.txt").write_text(TABLE)
    t = ot.tree(cells(), B=4, dims=("z", "y", "x"), spacing=(2, 0.5, 0.5), origin=(10, 0, 0), units="mm", label_table=tmp_path / "names.txt")
    t.save(tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize("name", ["organs.tree.zarr", "organs.tree.zarr.zip"])
def test_labels(tmp_path, name):
    path = labels(tmp_path, name)
    read = _napari.get_reader(str(path))
    ((levels, options, kind),) = read(str(path))
    assert kind == "labels" and options["multiscale"] is True and options["name"] == "organs"
    assert options["scale"] == [2, 0.5, 0.5] and options["translate"] == [11, 0.25, 0.25]
    assert options["units"] == ["millimeter"] * 3 and options["axis_labels"] == ["z", "y", "x"]
    assert options["metadata"]["orthant"]["path"] == str(path)
    assert options["features"]["name"].tolist() == ["Ground", "Liver", "Vessel"] and options["features"]["index"].tolist() == [0, 2, 9]
    assert options["colormap"][2] == (250 / 255, 5 / 255, 6 / 255, 1) and options["colormap"][9][3] == 128 / 255
    # The background is not seen, whatever the table says.
    assert options["colormap"][0][3] == 0 and None in options["colormap"]
    assert np.array_equal(levels[0], cells()) and levels[0].dtype == np.uint8
    sizes = [level.size for level in levels]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes) > 1
    assert np.array_equal(levels[-1][3:9, 1, ::2], np.asarray(levels[-1])[3:9, 1, ::2])
    assert set(np.unique(levels[-1])) <= {0, 2, 9}


@pytest.mark.parametrize("key", [np.s_[3], np.s_[-1, 2], np.s_[...], np.s_[1:20:3, ::-1, 5], np.s_[::-4, 3, -3:0:-1], np.s_[5:5], np.s_[..., 3]], ids=str)
def test_levels_are_indexed_like_arrays(key):
    for level in _napari.layer(ot.tree(cells(), B=4, kind="labels"))[0]:
        assert np.array_equal(level[key], np.asarray(level)[key])
        with pytest.raises(IndexError):
            level[level.shape[0]]


def test_values():
    rng = np.random.default_rng(0)
    noisy = rng.normal(5, 1, (64, 96)).astype(">f4")
    noisy[3] = np.nan
    data, options, kind = _napari.layer(ot.tree(noisy, B=2, units={"x": "furlong"}))
    assert kind == "image" and options["units"] == ["pixel", "pixel"] and "colormap" not in options
    low, high = options["contrast_limits"]
    assert np.nanmin(noisy) <= low < 5 < high <= np.nanmax(noisy)
    whole = data[0] if options["multiscale"] else data
    assert np.array_equal(whole, noisy.astype("f4"), equal_nan=True)


@pytest.mark.parametrize("k", range(1, 9))
def test_every_dimension(k):
    small = (np.indices((3,) * k).sum(0) % 3).astype("i2")
    data, options, kind = _napari.layer(ot.tree(small, B=1))
    assert kind == "labels" and options["multiscale"] is False and np.array_equal(data, small)
    assert all(len(options[name]) == k for name in ("scale", "translate", "units", "axis_labels"))


@pytest.mark.parametrize("array, kind, limits", [
    (np.zeros((4, 4), ">f8"), "image", (0, 1)), (np.full((4, 4), np.nan), "image", (0, 1)), (np.ones((4, 4), bool), "labels", None),
    (np.full((4, 4), -(2**63)), "labels", None),
], ids=str)
def test_odd_cells(array, kind, limits):
    _, options, found = _napari.layer(ot.tree(array))
    assert found == kind and options.get("contrast_limits") == limits


def test_the_kind_decides():
    t = lambda **options: _napari.layer(ot.tree(np.arange(400, dtype="u2").reshape(20, 20), **options))[2]
    assert (t(), t(kind="labels"), t(kind="values"), t(label_names={3: "x"})) == ("image", "labels", "image", "labels")


def test_other_files_are_left_to_others(tmp_path):
    for path in ("a.zarr", "a.tree.zarr.txt", ["a.tree.zarr", "b.tif"], [], "a.tree"):
        assert _napari.get_reader(path) is None
    assert _napari.get_reader(["A.TREE.ZARR/", tmp_path / "b.tree.zarr.zip"]) is not None
    with pytest.raises(FileNotFoundError):
        _napari.get_reader("none.tree.zarr")("none.tree.zarr")


def test_the_manifest():
    (entry,) = [entry for entry in importlib.metadata.entry_points(group="napari.manifest") if entry.name == "pyorthant"]
    module, _, file = entry.value.partition(":")
    text = (pathlib.Path(ot.__file__).parent / file).read_text()
    assert module == "pyorthant" and "pyorthant._napari:get_reader" in text
    npe2 = pytest.importorskip("npe2")
    manifest = npe2.PluginManifest.from_distribution("pyorthant")
    (reader,) = manifest.contributions.readers
    assert reader.command == "pyorthant.get_reader" and reader.accepts_directories
    assert manifest.contributions.commands[0].python_name == "pyorthant._napari:get_reader"


def test_layers_of_napari(tmp_path):
    """napari takes the layers, and shows the cells of the tree."""
    layers = pytest.importorskip("napari.layers")
    ((levels, options, _),) = _napari.read(str(labels(tmp_path)))
    layer = layers.Labels(levels, **options)
    assert layer.multiscale and np.allclose(layer.extent.world, [[11, 0.25, 0.25], [169, 59.75, 99.75]])
    assert np.allclose(layer.get_color(2), [250 / 255, 5 / 255, 6 / 255, 1])
    # A plane of the full resolution, as napari asks for it.
    assert np.array_equal(np.asarray(layer.data[0][35]), cells()[35])
    plain = layers.Labels(*_napari.layer(ot.tree(cells(), B=4, label_names={2: "liver"}))[:1], name="plain")
    assert plain.get_color(2) is not None
    photograph = np.random.default_rng(0).integers(0, 255, (90, 80, 3), "u1")
    data, options, kind = _napari.layer(ot.tree(photograph, kind="values"))
    assert kind == "image" and layers.Image(data, **options).ndim == 3
    noisy = np.random.default_rng(0).normal(5, 1, (300, 200)).astype("f4")
    data, options, _ = _napari.layer(ot.tree(noisy))
    assert np.array_equal(layers.Image(data, **options).data[0], noisy)
