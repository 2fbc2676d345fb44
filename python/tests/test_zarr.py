"""Trees as stores of zarr's: what zarr, dask and readers of OME-Zarr get is what NumPy has."""

import asyncio
import json
import pickle
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

import pyorthant as ot

zarr = pytest.importorskip("zarr", minversion="3")

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest  # noqa: E402
from zarr.core.buffer import default_buffer_prototype  # noqa: E402


def blocks(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    cells = np.zeros(shape, dtype)
    for value in range(1, 6):
        cells[tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in shape)] = value
    return cells


SHAPES = [(301,), (37, 50), (9, 20, 17), (7, 6, 5, 8), (5, 4, 3, 6, 5), (3, 4, 3, 2, 5, 4), (3, 2, 4, 3, 2, 3, 2), (3, 2) * 4]
VOLUME = blocks((70, 150, 131), "u2", 3)


def names(found):
    async def gather():
        return [name async for name in found]

    return asyncio.run(gather())


@pytest.mark.parametrize("chunks", [None, 1, 2, 1000, "some"])
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_cells_are_numpys(shape, chunks):
    if chunks == 1 and np.prod(shape) > 500:
        chunks = 5
    chunks = tuple(range(2, 2 + len(shape))) if chunks == "some" else chunks
    cells = blocks(shape, "i2", len(shape))
    array = zarr.open_array(ot.tree(cells, B=2).zarr(chunks=chunks))
    assert (array.shape, array.dtype, array.read_only) == (shape, cells.dtype, True)
    assert np.array_equal(array[...], cells)
    corner = tuple(slice(n // 3, n) for n in shape)
    assert np.array_equal(array[corner], cells[corner])


@pytest.mark.parametrize("dtype", ["?", "u1", ">u2", "u4", ">u8", "i1", "i2", ">i4", "i8", "f4", ">f8"])
def test_every_type(dtype):
    cells = blocks((40, 33), dtype, 2)
    if cells.dtype.kind == "f":
        cells[3:5] = np.nan
        cells[7, 2:9] = -0.0
        cells[9, 9] = -np.inf
    if dtype == ">u8":
        cells[0, 0] = 2**64 - 1
    array = zarr.open_array(ot.tree(cells, B=2).zarr(chunks=7))
    assert array.dtype == (np.uint8 if dtype == "?" else cells.dtype.newbyteorder("="))
    assert np.array_equal(array[...], cells, equal_nan=cells.dtype.kind == "f")


@pytest.mark.parametrize("cells, nodata, fill", [
    (VOLUME, 3, 3), (VOLUME, None, 0), (np.ones((3, 4), "f4"), -2.5, -2.5),
])
def test_what_holds_no_data_fills(cells, nodata, fill):
    options = {} if nodata is None else {"nodata": nodata}
    array = zarr.open_array(ot.tree(cells, **options).zarr())
    assert array.fill_value == fill and np.array_equal(array[...], cells)


def test_axes_have_names():
    t = ot.tree(VOLUME, dims=("z", "lat", "x"), spacing={"z": 2}, units={"z": "mm"})
    array = zarr.open_array(t.zarr())
    assert array.metadata.dimension_names == ("z", "lat", "x")
    assert array.attrs["axes"][0] == {"name": "z", "unit": "mm", "spacing": 2.0, "origin": 0.0, "size": 70}


def test_chunks():
    chunks = lambda shape, **options: zarr.open_array(ot.tree(np.zeros(shape, "u1")).zarr(**options)).chunks
    assert chunks((200, 200, 200)) == (64, 64, 64) and chunks((1000, 1000)) == (512, 512)
    assert chunks((3, 2000, 1000)) == (4, 256, 256) and chunks((10,)) == (16,)
    assert chunks((20, 30), chunks=16) == (16, 16) and chunks((20, 30), chunks=(5, 100)) == (5, 30)
    assert chunks((20, 30), chunks=np.array([5, 7])) == (5, 7)
    for wrong in (0, -1, 1.5, (2,), (2, 2, 2), (2, 0), "many", True):
        with pytest.raises(ValueError, match="chunks .*: a whole number above 0"):
            chunks((20, 30), chunks=wrong)


def test_dask():
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.array")
    import dask.array

    t = ot.tree(VOLUME, B=4)
    lazy = dask.array.from_zarr(zarr.open_array(t.zarr(chunks=(32, 64, 64))))
    assert lazy.chunksize == (32, 64, 64) and np.array_equal(lazy.compute(), VOLUME)
    assert int(lazy[10:60, ::3].sum()) == int(VOLUME[10:60, ::3].sum())
    assert dask.base.tokenize(t.zarr()) == dask.base.tokenize(ot.tree(VOLUME, B=4).zarr()) != dask.base.tokenize(t.zarr(chunks=5))


def test_a_file_goes_to_other_processes(tmp_path):
    ot.tree(VOLUME, B=4).save(tmp_path / "a.tree.zarr")
    store = ot.open(tmp_path / "a.tree.zarr").zarr(chunks=50)
    again = pickle.loads(pickle.dumps(store))
    assert zarr.open_array(again).chunks == (50, 50, 50) and np.array_equal(zarr.open_array(again)[...], VOLUME)
    with pytest.raises(TypeError, match="save it"):
        pickle.dumps(ot.tree(VOLUME).zarr())


def test_nothing_is_written():
    t = ot.tree(VOLUME)
    array, store = zarr.open_array(t.zarr()), t.zarr()
    for write in (
        lambda: array.__setitem__(0, 1),
        lambda: zarr.create_array(store, shape=(3,), dtype="u1"),
        lambda: zarr.open_array(store, mode="r+"),
        lambda: store.with_read_only(False),
        lambda: asyncio.run(store.set("c/0/0/0", None)),
        lambda: asyncio.run(store.delete("zarr.json")),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert store.with_read_only(True) == store == t.zarr() != t.zarr(levels=True)
    assert store != t.zarr(chunks=7) and store != ot.tree(VOLUME).zarr()


def test_names():
    store = ot.tree(VOLUME, B=4).zarr(chunks=64)
    every = names(store.list())
    assert len(every) == len(set(every)) == 1 + 2 * 3 * 3
    get = lambda key, part=None: asyncio.run(store.get(key, default_buffer_prototype(), part))
    assert all(get(key) is not None and asyncio.run(store.exists(key)) for key in every)
    assert all(asyncio.run(store.getsize(key)) == len(get(key)) for key in every)
    for key in ("c/2/0/0", "c/0/0/-1", "c/0/0", "c/0/0/0/0", "c/00/0/0", "c/\u0661/0/0", "c", "", ".zarray", "a/zarr.json", "0/c/0/0/0"):
        assert get(key) is None and not asyncio.run(store.exists(key)), key
        with pytest.raises(FileNotFoundError):
            asyncio.run(store.getsize(key))
    assert names(store.list_dir("")) == ["zarr.json", "c"] and names(store.list_dir("c/1/2/")) == ["0", "1", "2"]
    assert names(store.list_dir("c/5")) == names(store.list_dir("c/0/0/0")) == names(store.list_dir("q")) == []
    assert names(store.list_prefix("c/1/2/")) == ["c/1/2/0", "c/1/2/1", "c/1/2/2"]
    whole = get("c/1/1/1").to_bytes()
    parts = RangeByteRequest(10, 20), OffsetByteRequest(100), SuffixByteRequest(7)
    found = asyncio.run(store.get_partial_values(default_buffer_prototype(), [("c/1/1/1", part) for part in parts]))
    assert [part.to_bytes() for part in found] == [whole[10:20], whole[100:], whole[-7:]]


def test_levels():
    z, y, x = np.ogrid[:128, :256, :200]
    cells = (((z - 64) / 50) ** 2 + ((y - 128) / 90) ** 2 + ((x - 90) / 70) ** 2 < 1).astype("u1") * 7
    cells[:40, :50, 150:] = 3
    t = ot.tree(cells, B=2, dims=("z", "y", "x"), spacing=(2, 0.5, 0.5), origin=10, units="mm", label_names={3: "box", 7: "ball"})
    store = t.zarr(levels=True)
    group = zarr.open_group(store, mode="r")
    arrays = [group[str(number)] for number in range(len(list(group.array_keys())))]
    assert len(arrays) >= 3 and np.array_equal(arrays[0][...], cells)
    assert all(max(array.shape) >= 64 for array in arrays)
    # The smallest is a level of the tree: a cell of it is what most cells of its region are.
    number = next(i for i, grid in enumerate(t.plan["levels"]) if tuple(grid[::-1]) == arrays[-1].shape)
    coarse = np.asarray(t.lod(number))
    at = [np.arange(m) * n // m for n, m in zip(cells.shape, arrays[-1].shape)]
    assert np.array_equal(arrays[-1][...], coarse[np.ix_(*at)])
    for place in [(0, 0, 0), (20, 40, 30), (9, 33, 20), *np.argwhere(np.diff(arrays[-1][...], axis=0))[:50]]:
        box = tuple(slice(p * n // m, (p + 1) * n // m) for p, n, m in zip(place, cells.shape, arrays[-1].shape))
        values, counts = np.unique(cells[box], return_counts=True)
        assert counts[values == arrays[-1][tuple(place)]] == counts.max()
    assert (zarr.open_group(t.zarr(levels=True, by="max"), mode="r")[str(len(arrays) - 1)][...] >= arrays[-1][...]).all()
    ome = group.attrs["ome"]
    image = ome["multiscales"][0]
    assert [axis["name"] for axis in image["axes"]] == ["z", "y", "x"] and image["axes"][0]["unit"] == "millimeter"
    assert {axis["type"] for axis in image["axes"]} == {"space"}
    for array, about in zip(arrays, image["datasets"], strict=True):
        scale, move = about["coordinateTransformations"]
        steps, centre = np.array(scale["scale"]), np.array(move["translation"])
        # All sizes fill the same box.
        assert np.allclose(steps * array.shape, np.array([2, 0.5, 0.5]) * cells.shape)
        assert np.allclose(centre - steps / 2, 10)
    assert {row["label-value"]: row["name"] for row in ome["image-label"]["properties"]} == {3: "box", 7: "ball"}
    assert names(store.list_dir("")) == ["zarr.json", *map(str, range(len(arrays)))]
    assert len(names(store.list())) == 1 + sum(1 + array.nchunks for array in arrays)
    assert names(store.list_dir("9")) == [] and not asyncio.run(store.exists("9/zarr.json"))


def test_time_and_channels_keep_their_cells():
    cells = np.zeros((5, 2, 90, 100, 130), "u1")
    cells[1:4, 1, 20:60, 30:70] = 1
    for dims, units in ((("t", "c", "z", "y", "x"), None), (("when", "channel", "z", "y", "x"), {"when": "s"})):
        t = ot.tree(cells, B=2, dims=dims, units=units)
        group = zarr.open_group(t.zarr(levels=True), mode="r")
        shapes = [group[name].shape for name in sorted(group.array_keys())]
        assert len(shapes) > 1 and {shape[:2] for shape in shapes} == {(5, 2)} and shapes[-1][-1] < 130
        assert [axis["type"] for axis in group.attrs["ome"]["multiscales"][0]["axes"]] == ["time", "channel", *["space"] * 3]
        last = group[str(len(shapes) - 1)]
        assert [bool(last[time, 1].any()) for time in range(5)] == [False, True, True, True, False] and not last[:, 0].any()


def test_labels_have_colours(tmp_path):
    (tmp_path / "names.txt").write_text("1 One 10 20 30 255\n3 Three\n")
    t = ot.tree(VOLUME, B=4, label_table=tmp_path / "names.txt")
    said = zarr.open_group(t.zarr(levels=True), mode="r").attrs["ome"]["image-label"]
    assert [row["label-value"] for row in said["colors"]] == [row["label-value"] for row in said["properties"]] == [1, 3]
    assert said["colors"][0]["rgba"] == [10, 20, 30, 255] and "rgba" not in said["colors"][1]


def test_levels_of_other_programs(tmp_path):
    """The image, copied into a folder, is read back by `orthant` with its axes, units and names."""
    t = ot.tree(VOLUME, B=4, dims=("t", "y", "x"), spacing=(3, 0.5, 0.5), units={"t": "ms", "x": "um", "y": "um"}, kind="labels")
    store = t.zarr(levels=True)
    for key in names(store.list()):
        path = tmp_path / "copy.zarr" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(asyncio.run(store.get(key)).to_bytes())
    again = ot.tree(tmp_path / "copy.zarr", B=4)
    assert np.array_equal(np.asarray(again), VOLUME)
    assert [(axis.name, axis.unit, axis.spacing, axis.origin) for axis in again.axes] == [
        ("t", "millisecond", 3, 0), ("y", "micrometer", 0.5, 0), ("x", "micrometer", 0.5, 0),
    ]
    axes = json.loads((tmp_path / "copy.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]["axes"]
    assert [axis["type"] for axis in axes] == ["time", "space", "space"]


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_images_have_two_to_five_axes(shape):
    t = ot.tree(blocks(shape, "f4"), B=1)
    if 2 <= len(shape) <= 5:
        group = zarr.open_group(t.zarr(levels=True), mode="r")
        assert len(group.attrs["ome"]["multiscales"][0]["axes"]) == len(shape) and "image-label" not in group.attrs["ome"]
        assert np.array_equal(group["0"][...], t)
    else:
        with pytest.raises(ValueError, match="2 to 5 axes"):
            t.zarr(levels=True)


def test_options_that_are_none():
    t = ot.tree(VOLUME, B=4)
    with pytest.raises(ValueError, match="mode, first, min, max"):
        t.zarr(levels=True, by="mean")
    with pytest.raises(TypeError):
        t.zarr(7)


def test_a_browser_reads_it():
    store = ot.tree(VOLUME, B=4).zarr(levels=True)

    def ask(url, method="GET"):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=20) as answer:
                assert answer.headers["Access-Control-Allow-Origin"] == "*"
                return answer.status, answer.headers["Content-Length"], answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Length"], error.read()

    with store.serve() as server:
        assert server.url.startswith("http://127.0.0.1:") and server.url in repr(server)
        for key in names(store.list()):
            content = store.get_sync(key).to_bytes()
            assert ask(server.url + key) == ask(server.url + key + "?a=1") == (200, str(len(content)), content)
        assert ask(server.url + "zarr.json", "HEAD") == (200, ask(server.url + "zarr.json")[1], b"")
        assert ask(server.url + "zarr.json", "OPTIONS")[0] == 204
        place = server.url.split("/")
        for url in (server.url + "none", server.url, "/".join(place[:3]) + "/zarr.json", "/".join(place[:3]) + "/../zarr.json"):
            assert ask(url)[0] == 404, url
        assert ask("/".join(place[:3]) + "/" + "x" * len(place[3]) + "/zarr.json")[0] == 404
        port = int(place[2].split(":")[1])
        with pytest.raises(OSError):
            store.serve(port)
    with store.serve(port):
        pass
    for wrong in (-1, 65536):
        with pytest.raises(ValueError, match="port .*: a number from 0"):
            store.serve(wrong)


def test_without_zarr():
    code = (
        "import sys, numpy as np, pyorthant as ot\n"
        "t = ot.tree(np.zeros((4, 4)))\n"
        "assert 'zarr' not in sys.modules\n"
        "for name in ('zarr', 'xarray', 'matplotlib', 'napari'): sys.modules[name] = None\n"
        "for call in (t.zarr, t.to_xarray, t.plot, lambda: ot.napari(t)):\n"
        "    try: call()\n"
        "    except ModuleNotFoundError as error: print(error)\n"
    )
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("pip install")[1] for line in lines] == [
        f" --upgrade 'pyorthant[{extra}]'" for extra in ("zarr", "xarray", "plot", "napari")
    ]
