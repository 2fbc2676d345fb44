"""Trees of arrays: what goes in comes out, and questions are answered as NumPy answers them."""

import gc
import itertools
import json
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pyorthant as ot

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]


def blocks(shape, dtype, seed=0):
    """Some boxes of some values."""
    rng = np.random.default_rng(seed)
    cells = np.zeros(shape, dtype)
    for value in range(1, 6):
        box = tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in shape)
        cells[box] = value
    return cells


def bits(cells):
    return np.ascontiguousarray(cells).view(f"u{cells.dtype.itemsize}")


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8"])
def test_arrays_come_back_in_every_dimension(k, dtype):
    shape = [(301,), (37, 50), (9, 20, 17), (7, 6, 5, 8), (5, 4, 3, 6, 5), (3, 4, 3, 2, 5, 4), (3, 2, 4, 3, 2, 3, 2), (3, 2) * 4]
    cells = blocks(shape[k - 1], dtype, k)
    t = ot.tree(cells, B=2)
    assert (t.shape, t.dtype, t.ndim, t.size) == (cells.shape, cells.dtype, k, cells.size)
    assert np.array_equal(np.asarray(t), cells)
    points = np.random.default_rng(k).integers(0, cells.shape, (200, k))
    assert np.array_equal(t[points], cells[tuple(points.T)])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_comes_back_to_the_bit(dtype):
    rng = np.random.default_rng(1)
    cells = np.frombuffer(rng.bytes(24 * 24 * np.dtype(dtype).itemsize), dtype).reshape(24, 24).copy()
    cells[:12] = cells[0, 0]
    t = ot.tree(cells, B=2)
    assert t.dtype == cells.dtype
    got = np.asarray(t)
    if cells.dtype.kind == "f":
        # Of what is not a number, uniform regions have the usual bits.
        same = (bits(got) == bits(cells)) | (np.isnan(got) & np.isnan(cells))
        assert same.all()
    else:
        assert np.array_equal(got, cells)


def test_bool_counts_as_bytes():
    cells = blocks((20, 30), "u1") > 2
    t = ot.tree(cells, B=2)
    assert t.dtype == np.uint8 and np.array_equal(np.asarray(t).astype(bool), cells)


@pytest.mark.parametrize("change", [
    np.asfortranarray,
    lambda a: a[::-1, :, ::-1],
    lambda a: a[:, ::3, ::2],
    lambda a: a.transpose(1, 2, 0),
    lambda a: a.astype(a.dtype.newbyteorder(">")),
    lambda a: np.asfortranarray(a.astype(a.dtype.newbyteorder(">"))),
    lambda a: a.astype(a.dtype.newbyteorder(">"))[1:, ::-2],
    lambda a: np.broadcast_to(a[0], (5, *a.shape[1:])),
    lambda a: a[3:4],
])
@pytest.mark.parametrize("dtype", ["u1", "i4", "f8"])
def test_any_order_and_stride(change, dtype):
    cells = change(blocks((16, 27, 22), dtype))
    t = ot.tree(cells, B=2)
    assert np.array_equal(np.asarray(t), cells)
    assert t.dtype == cells.dtype.newbyteorder("=")
    plain = ot.tree(np.ascontiguousarray(cells, cells.dtype.newbyteorder("=")), B=2)
    assert t.checksum == plain.checksum


@pytest.mark.parametrize("dtype", ["u1", ">i2", "<f4", ">f8"])
@pytest.mark.parametrize("order", "CF")
def test_large_arrays_are_looked_at_in_the_order_of_memory(dtype, order):
    cells = np.asarray(blocks((150, 140, 130), dtype, 3), order=order)
    cells[20:70, 5:90, 30:100] = 77
    t = ot.tree(cells)
    assert np.array_equal(np.asarray(t), cells)
    assert t.checksum == ot.tree(cells[:, ::-1][:, ::-1].copy()).checksum


def test_nothing_is_copied():
    """An array that is twice as large as what may be used beside it."""
    code = (
        "import numpy as np, resource, pyorthant as ot\n"
        "cells = np.zeros((256, 512, 512), 'u4'); cells[100:200, 50:300, 20:400] = 3\n"
        "ot.tree(cells[:8])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "t = ot.tree(cells); f = ot.tree(cells.T); s = ot.tree(cells[:, ::-1])\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, cells.nbytes / 2**20)\n"
    )
    more, array = map(float, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert array == 256 and more < 128, f"{more} MiB more for an array of {array}"


def test_read_only_arrays_are_taken():
    cells = blocks((20, 20), "u2")
    cells.flags.writeable = False
    assert np.array_equal(np.asarray(ot.tree(cells)), cells)


CELLS = blocks((13, 11, 17), "i2", 5)
CELLS[9:12, 2:6, 4:11] = 3
TREE = None


def tree():
    global TREE
    TREE = TREE or ot.tree(CELLS, B=2)
    return TREE


def test_results_outlive_the_tree():
    t = ot.tree(CELLS, B=2)
    cells, regions = np.asarray(t), t.regions
    del t
    gc.collect()
    assert np.array_equal(cells, CELLS)
    assert regions["extent"].prod(1).sum() == CELLS.size


def test_regions_tile_and_say_their_values():
    rows = tree().regions
    covered = np.zeros(CELLS.shape, int)
    leaves = 0
    for row in rows:
        box = tuple(slice(c, c + e) for c, e in zip(row["corner"].tolist(), row["extent"].tolist()))
        covered[box] += 1
        if row["brick"] < 0:
            assert (CELLS[box] == row["value"]).all()
        else:
            assert row["brick"] == leaves
            leaves += int(row["extent"].prod())
    assert (covered == 1).all() and leaves > 0
    assert rows.dtype.names == ("level", "code", "corner", "extent", "value", "brick")


def test_stats_and_names():
    t = ot.tree(CELLS, B=2, label_names={0: "outside", 3: "liver"})
    stats = t.stats()
    values, counts = np.unique(CELLS, return_counts=True)
    assert np.array_equal(stats["value"], values) and np.array_equal(stats["cells"], counts)
    assert stats["value"].dtype == CELLS.dtype
    assert np.isclose(stats["share"].sum(), 1)
    assert stats["name"][list(values).index(3)] == "liver"
    assert list(t.label_table["name"]) == ["outside", "liver"]
    with pytest.raises(ValueError, match="one for each of the array's 3 axes"):
        ot.tree(CELLS, spacing=[1, 2])
    spaced = ot.tree(CELLS, spacing=(0.5,) * (CELLS.ndim - 1) + (2.0,)).stats()
    for number, axis in enumerate(ot.tree(CELLS).axes):
        for row, value in enumerate(values):
            at = np.nonzero(CELLS == value)[number]
            assert stats[f"corner_{axis.name}"][row] == at.min()
            assert stats[f"extent_{axis.name}"][row] == at.max() + 1 - at.min()
            step = spaced[f"mean_{axis.name}"][row] / (at.mean() + 0.5)
            assert np.isclose(stats[f"mean_{axis.name}"][row], at.mean() + 0.5) and np.isclose(step, (0.5, 2.0)[number == CELLS.ndim - 1])
    assert np.allclose(spaced["volume"], stats["cells"] * 2.0 * 0.5 ** (CELLS.ndim - 1))
    assert tree().label_table is None
    with pytest.raises(ValueError, match="more than 2 labels"):
        t.stats(most=2)
    with pytest.raises(ValueError, match="40000 is no value"):
        ot.tree(CELLS, label_names={40000: "x"})


def test_levels_of_detail():
    coarse = tree().lod(0)
    assert coarse.shape == CELLS.shape and (coarse.regions["level"] == 0).all()
    greatest = np.asarray(tree().lod(0, by="max"))
    assert (greatest >= CELLS).all()
    with pytest.raises(ValueError, match="level 99"):
        tree().lod(99)
    with pytest.raises(ValueError, match="mode, first, min, max"):
        tree().lod(0, by="mean")


def test_equal_within_a_tolerance():
    rng = np.random.default_rng(3)
    noisy = rng.normal(100, 1, (40, 40)).astype("f4")
    t = ot.tree(noisy, B=2, tolerance=8)
    assert len(t.regions) < len(ot.tree(noisy, B=2).regions)
    assert np.abs(np.asarray(t) - noisy).max() <= 8
    classes = ot.tree(noisy, B=2, threshold=100)
    assert classes.dtype == np.uint8 and np.array_equal(np.asarray(classes), noisy >= 100)
    steps = ot.tree(noisy, B=2, step=(2, 90))
    assert np.array_equal(np.asarray(steps), np.floor((noisy - 90) / 2).astype("i4"))
    # The former name.
    assert np.array_equal(np.asarray(ot.tree(noisy, B=2, labels=(2, 90))), np.asarray(steps))
    with pytest.raises(TypeError, match="'step' twice"):
        ot.tree(noisy, B=2, labels=2, step=2)
    nodata = ot.tree(CELLS, nodata=3)
    assert nodata.about["nodata"] == 3


def test_labels_from_a_table(tmp_path):
    table = tmp_path / "names.txt"
    table.write_text("0 Ground 10 20 30 255\n3 Liver 250 5 6 255\n70000 Beyond 1 1 1 255\n")
    np.save(tmp_path / "cells.npy", CELLS)
    for source in CELLS, tmp_path / "cells.npy":
        t = ot.tree(source, B=2, label_table=table, kind="labels")
        found = t.label_table
        assert list(found["name"]) == ["Ground", "Liver"] and list(found["value"]) == [0, 3]
        assert found["colour"] == [(10, 20, 30, 255), (250, 5, 6, 255)]
        assert "Liver" in t.stats()["name"]
        t.save(tmp_path / "named.tree.zarr", overwrite=True)
        assert list(ot.open(tmp_path / "named.tree.zarr").label_table["name"]) == ["Ground", "Liver"]
    for options, error, text in [
        ({"label_table": table, "kind": "values"}, ValueError, "label_table: names labels, and kind='values'"),
        ({"label_table": str(table), "threshold": 2}, ValueError, "threshold: cells become others"),
        ({"label_table": table, "label_names": {3: "liver"}}, TypeError, "both name labels"),
        ({"kind": "colours"}, ValueError, "kind colours: expected one of labels, values"),
        ({"label_table": tmp_path / "none.txt"}, FileNotFoundError, "none.txt"),
    ]:
        with pytest.raises(error, match=text):
            ot.tree(CELLS, **options)
    table.write_text("0 Ground\nLiver\n")
    with pytest.raises(ValueError, match="names.txt: line 2"):
        ot.tree(CELLS, label_table=table)


def test_what_is_not_a_number():
    cells = np.ones((8, 8), "f8")
    cells[2:4] = np.nan
    assert np.isnan(np.asarray(ot.tree(cells))[2:4]).all()
    assert (np.asarray(ot.tree(cells, nan="fill=-1"))[2:4] == -1).all()
    with pytest.raises(ValueError, match="not a number"):
        ot.tree(cells, nan="error")


def test_files(tmp_path):
    folder, zipped = tmp_path / "a.tree.zarr", tmp_path / "b.tree.zarr.zip"
    for path in (folder, zipped):
        tree().save(path)
        again = ot.open(path)
        assert np.array_equal(np.asarray(again), CELLS) and again.checksum == tree().checksum
        assert again.path == str(path) and again.report is None
        assert np.array_equal(again[np.argwhere(CELLS == 3)], CELLS[CELLS == 3])
        assert np.array_equal(again.regions, tree().regions)
        assert np.array_equal(pickle.loads(pickle.dumps(again))[...], CELLS)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            tree().save(path)
        tree().save(path, overwrite=True)
    tree().save(tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), CELLS)
    with pytest.raises(FileExistsError):
        tree().save(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="must end in .tree.zarr"):
        tree().save(tmp_path / "a.tif")
    with pytest.raises(TypeError, match="save it"):
        pickle.dumps(tree())
    with pytest.raises(FileNotFoundError):
        ot.open(tmp_path / "none.tree.zarr")
    (tmp_path / "c.tree.zarr").mkdir()
    with pytest.raises((ValueError, OSError)):
        ot.open(tmp_path / "c.tree.zarr")


def test_many_shards(tmp_path):
    """A tree of several parts: 2^26 cells."""
    cells = np.zeros((256, 512, 512), "u1")
    cells[40:200, 100:400, 7:300] = 9
    t = ot.tree(cells)
    t.save(tmp_path / "large.tree.zarr")
    again = ot.open(tmp_path / "large.tree.zarr")
    points = np.random.default_rng(0).integers(0, cells.shape, (100_000, 3))
    assert np.array_equal(again[points], cells[tuple(points.T)])
    assert np.array_equal(again[100, 50:200], cells[100, 50:200])
    assert np.array_equal(again.regions, t.regions)
    with pytest.raises(IndexError, match="axis 0 with size 256"):
        again[np.array([[256, 0, 0]])]


def test_files_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", CELLS)
    assert np.array_equal(np.asarray(ot.tree(tmp_path / "a.npy", B=2)), CELLS)
    CELLS.tofile(tmp_path / "cells.raw")
    t = ot.tree(str(tmp_path / "cells.raw"), dtype="i16", n=CELLS.shape[::-1], B=2)
    assert np.array_equal(np.asarray(t), CELLS) and t.about["source"] == "cells.raw"
    with pytest.raises(ValueError, match=r"dtype=.. and n=\(x, y, ..\)"):
        ot.tree(tmp_path / "cells.raw")
    with pytest.raises(FileNotFoundError):
        ot.tree(tmp_path / "none.nii")
    with pytest.raises(TypeError, match="says so itself"):
        ot.tree(tmp_path / "a.npy", dtype="u8")
    with pytest.raises(TypeError, match="says so itself"):
        ot.tree(tmp_path / "a.npy", spacing=2)
    (tmp_path / "bad.npy").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="bad.npy"):
        ot.tree(tmp_path / "bad.npy")
    tree().save(tmp_path / "t.tree.zarr")
    with pytest.raises(ValueError, match=r"pyorthant.open\(\)"):
        ot.tree(tmp_path / "t.tree.zarr")


def test_the_command_line_builds_the_same(tmp_path):
    np.save(tmp_path / "a.npy", CELLS)
    report = tmp_path / "r.json"
    command = [sys.executable, "-m", "pyorthant", "tree", "build", tmp_path / "a.npy", "-B", "2", "-o", tmp_path / "a.tree.zarr"]
    subprocess.run([*map(str, command), "--report", str(report)], check=True, capture_output=True)
    theirs, ours = json.loads(report.read_text()), tree().report
    assert theirs["regions_checksum"] == tree().checksum == ot.open(tmp_path / "a.tree.zarr").checksum
    for key in ("g", "r", "B", "curve", "k", "size", "cells", "levels", "cell", "predicate"):
        assert theirs[key] == ours[key], key


def test_axes():
    t = ot.tree(CELLS, dims=("z", "lat", "x"), spacing={"x": 0.5, "z": 2}, origin={"x": -1}, units={"z": "mm"})
    assert [axis.name for axis in t.axes] == ["z", "lat", "x"]
    assert t.axes[0] == ot.Axis("z", "mm", 2.0, 0.0, 13) and t.axes[2] == ot.Axis("x", None, 0.5, -1.0, 17)
    assert [axis.name for axis in tree().axes] == ["z", "y", "x"]
    for wrong in ({"dims": "zyx"}, {"dims": ("a", "b")}, {"spacing": 0}, {"spacing": {"q": 1}}, {"origin": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ot.tree(CELLS, **wrong)


@pytest.mark.parametrize("array, error, text", [
    (np.zeros((0,)), ValueError, "empty"),
    (np.zeros((3, 0, 2)), ValueError, "empty"),
    (np.float64(3), ValueError, "0 axes"),
    (np.zeros((1,) * 9), ValueError, "9 axes"),
    (np.zeros(4, "f2"), TypeError, "f32 holds every number that is an f16"),
    (np.zeros(4, "c8"), TypeError, "two fields of f32"),
    (np.zeros(4, object), TypeError, "cells are numbers"),
    (np.array(["a", "b"]), TypeError, "cells are numbers"),
    (np.zeros(4, "M8[s]"), TypeError, "cells are numbers"),
    (np.zeros(4, [("a", "u1")]), TypeError, "cells are numbers"),
    (None, TypeError, "cells are numbers"),
])
def test_arrays_that_are_none(array, error, text):
    with pytest.raises(error) as found:
        ot.tree(array)
    assert text in str(found.value)


@pytest.mark.parametrize("options, error, text", [
    ({"size_of_leaf": 3}, TypeError, "has no option 'size_of_leaf'"),
    ({"dwell": 3}, TypeError, "has no option 'dwell'"),
    ({"curve": "peano"}, ValueError, "canonical, morton, hilbert"),
    ({"B": "four"}, ValueError, "B four"),
    ({"B": 1.5}, ValueError, "B 1.5"),
    ({"B": (1, 2)}, ValueError, "B"),
    ({"B": object()}, TypeError, "a number, a text"),
    ({"g": 0}, ValueError, "g"),
    ({"scheme": (1, 2)}, ValueError, "three numbers"),
    ({"scheme": (4, 2, 4), "B": 2}, TypeError, "leave one out"),
    ({"tolerance": 1, "iso": 2}, ValueError, "tolerance and iso"),
    ({"tolerance": -1}, ValueError, "tolerance -1"),
    ({"nodata": 70000}, ValueError, "nodata 70000"),
    ({"threads": 0}, ValueError, "threads 0"),
    ({"mem_limit": "much"}, ValueError, "mem_limit much"),
    ({"domain": (0, 1)}, ValueError, "pair (low, high)"),
    ({"domain": [(0, 1)]}, ValueError, "domain"),
    ({"dtype": "u8"}, TypeError, "dtype"),
    ({"progress": 3}, TypeError, "progress"),
    ({"n": 5}, ValueError, "size"),
], ids=str)
def test_options_that_are_none(options, error, text):
    with pytest.raises(error) as found:
        ot.tree(CELLS, **options)
    assert text in str(found.value)


def test_options_are_the_command_lines():
    t = ot.tree(CELLS, scheme=(2, 2, 3), curve="hilbert", domain=[(0, 17), (0, 22), (0, 39)], threads=1, mem_limit="1G")
    plan = t.plan
    assert (plan["g"], plan["r"], plan["B"], plan["curve"]) == ([2] * 3, [2] * 3, [3] * 3, "hilbert")
    assert [axis.spacing for axis in t.axes] == [3, 2, 1] and t.report["threads"] == 1
    assert ot.tree(CELLS, g=(2, 1, 1), B="2^1").plan["g"] == [2, 1, 1]


def test_too_little_memory():
    with pytest.raises(ot.MemoryLimitError) as error:
        ot.tree(np.random.default_rng(0).integers(0, 255, (64, 64, 64), "u1"), mem_limit=1000)
    assert isinstance(error.value, MemoryError) and isinstance(error.value, ot.OrthantError)


def test_a_line():
    text = repr(tree())
    assert "\n" not in text and "13x11x17 int16" in text
    with pytest.raises(TypeError, match="builds a tree"):
        ot.Tree(3)
    with pytest.raises(TypeError, match="is one already"):
        ot.tree(tree())


def test_threads_ask_at_once():
    wrong = []

    def ask(seed):
        points = np.random.default_rng(seed).integers(0, CELLS.shape, (20_000, 3))
        for _ in range(5):
            if not np.array_equal(tree()[points], CELLS[tuple(points.T)]):
                wrong.append(seed)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_progress_of_a_build():
    calls = []
    ot.tree(np.zeros((64, 64), "u1"), progress=lambda done, cells: calls.append((done, cells)))
    assert calls[-1] == (4096, 4096) and all(done <= cells for done, cells in calls)
    with pytest.raises(ZeroDivisionError):
        ot.tree(CELLS, progress=lambda done, cells: 1 / 0)


def test_a_copy_is_never_shared():
    with pytest.raises(ValueError, match="copied"):
        tree().__array__(copy=False)
    assert np.asarray(tree(), dtype="f8").dtype == np.float64
    first = np.asarray(tree())
    first[:] = 0
    assert np.array_equal(np.asarray(tree()), CELLS)


def test_what_was_meant_is_said(tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((8, 8, 8), "u1"))
    with pytest.raises(ValueError, match=r"; ot\.tree\('.*a\.npy'\) makes a tree of another file"):
        ot.open(path)
    with pytest.raises(TypeError, match="label_names= for arrays, and '.*a.npy' is a file; label_table= names a file of labels"):
        ot.tree(path, label_names={1: "one"})
    with pytest.raises(TypeError, match="spacing= for arrays, and '.*a.npy' is a file; a file says so itself"):
        ot.tree(path, spacing=3)
    with pytest.raises(TypeError, match=r"at 25: cells are said by axis, as in at=\{'z': 12\}"):
        ot.tree(path).plot(at=25)
