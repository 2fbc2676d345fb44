"""Runs of fields: against the command line, against dense evaluation, and what goes wrong."""

import gc
import json
import subprocess
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

import pyorthant as ot

pytestmark = pytest.mark.filterwarnings("ignore:on the CPU")


def command_line(tmp_path, *arguments):
    report = tmp_path / "report.json"
    run = [sys.executable, "-m", "pyorthant", "run", *arguments, "--backend", "cpu", "--report", str(report)]
    subprocess.run(run, check=True, capture_output=True)
    return json.loads(report.read_text())


@pytest.mark.parametrize("name, arguments, options", [
    ("mandelbrot", [], {}),
    ("mandelbrot", ["-n", "300x200", "-B", "8", "--explore", "full", "--cell", "u32"],
     {"n": (300, 200), "B": 8, "explore": "full", "cell": "u32"}),
    # A scheme of their own: without one the command line takes a measured scheme for some sizes.
    ("mandelbulb", ["-n", "48", "--dwell", "16", "-B", "2"], {"n": 48, "dwell": 16, "B": 2}),
    ("julibrot", ["-n", "16", "-B", "2"], {"n": "2^4", "B": 2}),
    ("carpet", ["--dim", "3", "-n", "27", "-r", "3", "-g", "3", "-B", "1"], {"dim": 3, "n": 27, "scheme": (3, 3, 1)}),
    ("diagonal", ["--dim", "8", "-n", "4"], {"dim": 8, "n": 4}),
    ("mandelbrot", ["--domain=-1:0,0:1", "--precision", "f64", "--strategy", "dp", "--threads", "2"],
     {"domain": [(-1, 0), (0, 1)], "precision": "f64", "strategy": "dp", "threads": 2}),
], ids=str)
def test_the_command_line_finds_the_same(tmp_path, name, arguments, options):
    theirs = command_line(tmp_path, name, *arguments)
    s = ot.run(name, backend="cpu", **options)
    assert s.checksum == theirs["checksum"]
    for key in ("levels", "cells", "size", "domain", "explore", "curve", "g", "r", "B", "cell", "keep"):
        mine = s.report[key]
        if key == "levels":
            timed = lambda rows: [{k: v for k, v in row.items() if "seconds" not in k and "time" not in k} for row in rows]
            assert [row["regions"] for row in mine] == [row["regions"] for row in theirs[key]]
            continue
        assert mine == theirs[key], key


def test_cells_are_not_copied():
    s = ot.run("mandelbrot", n=256, backend="cpu")
    first, second = s.to_numpy(), s.to_numpy()
    assert first.ctypes.data == second.ctypes.data == np.asarray(s).ctypes.data
    assert not first.flags.writeable and first.flags.c_contiguous and not first.flags.owndata
    checksum = int(first.astype(int).sum())
    del s, second
    gc.collect()
    [np.empty(256 * 256, "u2") for _ in range(50)]
    assert int(first.astype(int).sum()) == checksum
    copy = np.array(ot.run("mandelbrot", n=16, backend="cpu"))
    assert copy.flags.writeable


def test_what_is_kept():
    dense = ot.run("mandelbrot", n=128, backend="cpu")
    regions = ot.run("mandelbrot", n=128, backend="cpu", keep="regions")
    assert regions.checksum is None and np.array_equal(regions.to_numpy(), dense.to_numpy())
    counts = ot.run("mandelbrot", n=128, backend="cpu", keep="counts")
    with pytest.raises(ValueError, match="keep"):
        counts.to_numpy()
    with pytest.raises(ValueError, match="keep"):
        counts.tree()
    for s in (dense, regions):
        assert np.array_equal(np.asarray(s.tree()), dense.to_numpy())
        assert s.regions["extent"].prod(1).sum() == 128 * 128
        cells, leaf_cells = s.to_numpy(), 0
        for row in s.regions:
            box = tuple(slice(c, c + e) for c, e in zip(row["corner"].tolist(), row["extent"].tolist()))
            assert row["brick"] >= 0 or (cells[box] == row["value"]).all()
            leaf_cells += cells[box].size if row["brick"] >= 0 else 0
        assert leaf_cells == s.report["cells"]["leaf"] > 0
    assert dense.levels["regions"][0] == 16 and dense.levels.dtype.names[0] in dense.report["levels"][0]


@pytest.mark.parametrize("k", range(1, 9))
def test_functions_against_dense_evaluation(k):
    n = [64, 32, 16, 8, 6, 4, 4, 4][k - 1]
    sizes = tuple(n + j for j in range(k))

    def ball(points):
        assert points.dtype == np.float64 and points.shape[1] == k
        return (np.square(points - 0.4).sum(1) < 0.2).astype("i4") * 3

    s = ot.run(ball, n=sizes, max_label=3, explore="full", precision="f64", sample="centre", B=1)
    axes = [(np.arange(size) + 0.5) / size for size in sizes]
    grid = np.meshgrid(*axes[::-1], indexing="ij")
    expected = (sum(np.square(x - 0.4) for x in grid) < 0.2) * 3
    assert s.shape == expected.shape and np.array_equal(s.to_numpy(), expected)


@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("sample", ["corner", "centre"])
def test_points_are_the_contracts(precision, sample):
    """x = (c + offset) h + lo, rounded once, in the precision of the run."""
    seen, real = set(), np.dtype(precision.replace("f", "float"))

    def note(points):
        seen.update(map(tuple, points.tolist()))
        return np.zeros(len(points), int)

    ot.run(note, n=(7, 5), domain=[(0.1, 0.8), (-1, 2)], precision=precision, sample=sample, explore="full", B=1, g=1)
    offset = 0.5 if sample == "centre" else 0.0
    for axis, (n, low, high) in enumerate([(7, 0.1, 0.8), (5, -1.0, 2.0)]):
        # In more digits, then rounded.
        step, start = real.type((high - low) / n), real.type(low)
        wide = [np.longdouble(c + offset) * np.longdouble(step) + np.longdouble(start) for c in range(n)]
        assert sorted({point[axis] for point in seen}) == [float(real.type(x)) for x in wide]


def test_functions_of_cells():
    def stripes(cells):
        assert cells.dtype == np.uint32
        return cells[:, 0] // 8 % 2 + 2 * (cells[:, 1] > 9)

    s = ot.run(stripes, n=(40, 20), cells=True, explore="full", max_label=3)
    y, x = np.indices((20, 40))
    assert np.array_equal(s.to_numpy(), x // 8 % 2 + 2 * (y > 9))


def test_functions_run_in_the_callers_thread():
    threads = set()

    def note(points):
        threads.add(threading.get_ident())
        return np.zeros(len(points), int)

    ot.run(note, n=(64, 64), threads=2)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("answer, error, text", [
    (lambda p: p[:, 0], TypeError, "labels.astype(int)"),
    (lambda p: np.zeros(len(p) + 1, int), ValueError, "one label per point"),
    (lambda p: np.zeros((len(p), 1), int), ValueError, "one label per point"),
    (lambda p: 0, ValueError, "one label per point"),
    (lambda p: np.full(len(p), 8), ValueError, "the label 8; labels are from 0 to max_label, which is 7"),
    (lambda p: np.full(len(p), -1), ValueError, "the label -1"),
    (lambda p: np.full(len(p), 2**63, "u8"), ValueError, "the label 9223372036854775808"),
    (lambda p: None, TypeError, "dtype"),
], ids=range(8))
def test_labels_are_checked(answer, error, text):
    with pytest.raises(error) as found:
        ot.run(answer, n=(32, 32), max_label=7)
    assert text in str(found.value)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", ">i2", "u4", "i8", ">u8"])
def test_labels_of_any_whole_type(dtype):
    s = ot.run(lambda p: (p[:, 0] > 0.5).astype(dtype), n=(16, 16))
    assert s.to_numpy()[:, 9:].all() and not s.to_numpy()[:, :7].any()


class Own(Exception):
    pass


@pytest.mark.parametrize("raised", [Own("mine"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_exceptions_reach_the_caller_at_once(raised):
    calls = []

    def fails(points):
        calls.append(len(points))
        if len(calls) == 3:
            raise raised
        return (points[:, 0] * 977).astype(int) % 2

    begun = time.perf_counter()
    with pytest.raises(type(raised)) as found:
        ot.run(fails, n=(2048, 2048))
    assert found.value is raised and len(calls) == 3 and time.perf_counter() - begun < 2


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f4", "f8", ">i4"])
def test_arrays(dtype):
    cells = np.zeros((30, 20, 25), dtype)
    cells[3:20, 4:, 5:19] = 7
    for given in (cells, np.asfortranarray(cells), cells[:, ::-1]):
        s = ot.run(given)
        assert np.array_equal(s.to_numpy(), given) and s.dtype == cells.dtype.newbyteorder("=")


def test_arrays_that_are_none():
    cells = np.zeros((4, 5), "u1")
    for options, text in (({"n": 7}, "leave n out"), ({"dim": 3}, "2 axes"), ({"precision": "f64"}, "precision")):
        with pytest.raises(ValueError, match=text):
            ot.run(cells, **options)
    with pytest.raises(ValueError, match="empty"):
        ot.run(cells[:0])
    with pytest.raises(TypeError, match="f16"):
        ot.run(cells.astype("f2"))


@pytest.mark.parametrize("field, options, error, text", [
    ("mandelbrod", {}, ValueError, "expected one of mandelbrot"),
    ("array", {}, ValueError, "give the array itself"),
    ("mesh", {}, ValueError, "mesh"),
    ("mandelbrot", {"strategie": 1}, TypeError, "has no option 'strategie'"),
    ("mandelbrot", {"strategy": "best"}, ValueError, "exhaustive, ask, dp"),
    ("mandelbrot", {"keep": "all"}, ValueError, "dense, regions, counts"),
    ("mandelbrot", {"backend": "tpu"}, ValueError, "auto, cpu, cuda"),
    ("mandelbrot", {"dim": 3}, ValueError, "mandelbrot exists in 2 dimensions"),
    ("mandelbrot", {"n": 0}, ValueError, "size 0"),
    ("mandelbrot", {"dwell": 0}, ValueError, "dwell 0"),
    ("mandelbrot", {"dwell": 70000}, ValueError, "65535"),
    ("mandelbrot", {"cell": "u3"}, ValueError, "u8, u16"),
    ("mandelbrot", {"domain": [(1, 0), (0, 1)]}, ValueError, "domain"),
    ("mandelbrot", {"r": 3, "curve": "hilbert"}, ValueError, "r"),
    ("kernel", {}, (ValueError, ot.BackendUnavailable), ""),
    ("kernel", {"source": "/nowhere.cuh"}, FileNotFoundError, "nowhere"),
    (lambda p: p, {}, TypeError, "needs n"),
    (lambda p: p, {"n": (4, 4), "max_label": -1}, ValueError, "max_label -1"),
    (lambda p: p, {"n": (4, 4), "max_label": 2**32}, ValueError, "max_label"),
    (lambda p: p[:, 0].astype(int), {"n": (4, 4), "max_label": 300, "cell": "u8"}, ValueError, "cell"),
    ("mandelbrot", {"block": (8, 8), "backend": "cpu"}, ot.BackendUnavailable, "a GPU alone"),
    ("mandelbrot", {"device": 0, "backend": "cpu"}, ot.BackendUnavailable, "a GPU alone"),
    ("mandelbrot", {"n": 2**31, "backend": "cpu", "mem_limit": "1G"}, ot.MemoryLimitError, ""),
], ids=str)
def test_what_cannot_be_run(field, options, error, text):
    with pytest.raises(error) as found:
        ot.run(field, **options)
    assert text in str(found.value)


def test_cuda_that_is_not_there():
    try:
        s = ot.run("mandelbrot", n=64, backend="cuda")
    except ot.BackendUnavailable as error:
        assert "cuda" in str(error) and isinstance(error, ot.OrthantError)
        with pytest.warns(RuntimeWarning, match="on the CPU, since"):
            assert ot.run("mandelbrot", n=64).backend == "cpu"
    else:
        assert s.backend == "cuda" and s.checksum == ot.run("mandelbrot", n=64, backend="cpu").checksum


def test_nothing_is_said_where_nothing_was_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ot.run("mandelbrot", n=64, backend="cpu")
        ot.run(np.zeros((4, 4)))


def test_other_threads_go_on():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    ot.run("mandelbrot", n=2048, dwell=4000, backend="cpu", strategy="exhaustive")
    ended = time.perf_counter()
    stop.set()
    thread.join()
    during = [t for t in ticks if begun < t < ended]
    assert ended - begun > 0.1 and len(during) > (ended - begun) / 0.02


def test_progress():
    calls = []
    s = ot.run("mandelbrot", n=2048, dwell=4000, backend="cpu", strategy="exhaustive",
               progress=lambda done, cells: calls.append((done, cells)))
    assert len(calls) >= 2 and calls[-1] == (2048**2, 2048**2)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert s.shape == (2048, 2048)
    begun = time.perf_counter()
    with pytest.raises(Own):
        ot.run("mandelbrot", n=2**11, backend="cpu", dwell=60000, strategy="exhaustive", progress=raises)
    assert time.perf_counter() - begun < 2


def raises(done, cells):
    raise Own("from progress")


def test_progress_as_a_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ot.run("mandelbrot", n=64, backend="cpu", progress=True)
    assert "100.0 % of 4096 cells" in capsys.readouterr().err


def test_progress_as_a_bar(monkeypatch):
    class Bar:
        n, closed = 0, False

        def __init__(self, total, **options):
            self.total = total
            bars.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            self.closed = True

    bars, module = [], types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    ot.run("mandelbrot", n=64, backend="cpu", progress=True)
    assert [(bar.n, bar.total, bar.closed) for bar in bars] == [(4096, 4096, True)]


def test_pictures_and_files(tmp_path):
    s = ot.run("mandelbulb", n=32, dwell=8, backend="cpu")
    s.save(tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), s.to_numpy())
    s.save(tmp_path / "a.png", at={"z": 3})
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    s.save(tmp_path / "a.tree.zarr")
    assert np.array_equal(np.asarray(ot.open(tmp_path / "a.tree.zarr")), s.to_numpy())
    with pytest.raises(FileExistsError):
        s.save(tmp_path / "a.png")
    with pytest.raises(ValueError, match="at 'q'"):
        s.save(tmp_path / "b.png", at={"q": 3})
    assert "\n" not in repr(s) and "mandelbulb 32x32x32" in repr(s)
    assert s._repr_png_()[:4] == b"\x89PNG" and "<table>" in s._repr_html_()
    assert ot.run("mandelbulb", n=32, backend="cpu", keep="counts")._repr_html_()


def test_yes_and_no_are_true_and_false():
    assert ot.run("mandelbulb", n=16, backend="cpu", prove=True).report["prove"] == "yes"
    assert ot.run("mandelbulb", n=16, backend="cpu", prove=False, explore="full").report["prove"] == "no"


def test_fields_are_the_librarys():
    assert ot.fields()["mandelbrot"][1] == (2,) and "kernel" in ot.fields()


def test_a_line_of_text_is_a_field():
    ball = ot.run("formula", text="x^2 + y^2 + z^2 < 0.81", n=32, backend="cpu")
    assert (ball.to_numpy() == ot.run("formula", dim=3, n=32, backend="cpu").to_numpy()).all()
    assert ball.report["formula"] == "x^2 + y^2 + z^2 < 0.81"
    with pytest.raises(ValueError, match="text.*formula"):
        ot.run("mandelbrot", text="x < 1", backend="cpu")
    with pytest.raises(ValueError, match=r"x \+ q < 1|'q'"):
        ot.run("formula", text="x + q < 1", backend="cpu")


def test_a_mesh_is_a_field_and_a_tree(tmp_path):
    path = tmp_path / "tetrahedron.off"
    path.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
    inside = ot.run("mesh", input=path, n=64, backend="cpu").to_numpy()
    tree = ot.tree(path, n=64)
    assert tree.shape == (64, 64, 64) and (np.asarray(tree) == inside).all()
    cell = tree.axes[0].spacing
    assert abs(inside.sum() * cell**3 - 1 / 6) < 0.01
    surface = ot.run("mesh", input=path, n=64, value="surface", backend="cpu").to_numpy()
    assert 0 < surface.sum() < inside.size / 8
    with pytest.raises(ValueError, match="input.*stl"):
        ot.run("mesh", input="part.npy", backend="cpu")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy's DLPack knows no read-only arrays")
@pytest.mark.parametrize("keep", ["dense", "regions"])
@pytest.mark.parametrize("k", [1, 2, 8])
def test_dlpack_shares_the_cells(keep, k):
    cells = (np.indices((3,) * k).sum(0) % 5).astype(">f4")
    s = ot.run(cells, keep=keep, backend="cpu")
    shared = np.from_dlpack(s)
    assert np.array_equal(shared, cells) and shared.dtype == np.float32 and not shared.flags.writeable
    if keep == "dense":
        assert shared.ctypes.data == s.to_numpy().ctypes.data
    assert s.__dlpack_device__() == (1, 0)
    # A reader that knows nothing of read-only arrays gets none.
    with pytest.raises(BufferError, match="readonly"):
        s.__dlpack__()
    del s
    assert np.array_equal(shared, cells)
    with pytest.raises(BufferError):
        ot.run(cells, backend="cpu").__dlpack__(dl_device=(2, 0), max_version=(1, 0))
