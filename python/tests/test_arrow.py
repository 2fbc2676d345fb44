"""Regions as tables of Arrow's: pyarrow, polars, pandas and DuckDB get what NumPy has, and memory is freed."""

import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest

import pyorthant as ot

SHAPES = [(301,), (37, 50), (9, 20, 17), (7, 6, 5, 8), (5, 4, 3, 6, 5), (3, 4, 3, 2, 5, 4), (3, 2, 4, 3, 2, 3, 2), (3, 2) * 4]


def blocks(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    cells = np.zeros(shape, dtype)
    for value in range(1, 6):
        cells[tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in shape)] = value
    return cells


def columns(rows, axes):
    """The columns of a structured array, with None where there is no value."""
    found = {"level": rows["level"].tolist(), "code": rows["code"].tolist()}
    for what in ("corner", "extent"):
        found |= {f"{what}_{axis}": rows[what][:, number].tolist() for number, axis in enumerate(axes)}
    leaf = rows["brick"] >= 0
    found["value"] = [None if no else value for no, value in zip(leaf, rows["value"].tolist())]
    found["brick"] = [brick if yes else None for yes, brick in zip(leaf, rows["brick"].tolist())]
    return found


def check(made):
    pyarrow = pytest.importorskip("pyarrow")
    axes = [axis.name for axis in made.axes] if isinstance(made, ot.Tree) else made._names()
    table = pyarrow.table(made.regions_table())
    table.validate(full=True)
    expected = columns(made.regions, axes)
    assert table.column_names == list(expected) == list(made.regions_table().column_names)
    for name, values in expected.items():
        got = table[name].to_pylist()
        assert len(got) == len(values)
        assert all(a == b or (a != a and b != b) for a, b in zip(got, values)), name
    value = table.schema.field("value")
    assert value.type.to_pandas_dtype() == made.dtype and value.nullable and not table.schema.field("level").nullable
    assert pyarrow.schema(made.regions_table()) == table.schema and len(made.regions_table()) == table.num_rows
    return table


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_every_dimension(shape):
    check(ot.tree(blocks(shape, "i4", len(shape)), B=2))


@pytest.mark.parametrize("dtype", ["?", "u1", ">u2", "u4", ">u8", "i1", "i2", ">i4", "i8", "f4", ">f8"])
def test_every_type(dtype):
    cells = blocks((40, 33), dtype, 2)
    if cells.dtype.kind == "f":
        cells[8:16, :16] = np.nan
    if dtype == ">u8":
        cells[8:16, :16] = 2**64 - 1
    check(ot.tree(cells, B=2))


@pytest.mark.parametrize("cells", [np.zeros((4, 4)), np.arange(9), np.ones(1, "u1")], ids=["uniform", "leaves", "one cell"])
def test_few_regions(cells):
    table = check(ot.tree(cells))
    assert table["value"].null_count == len(table) - table["brick"].null_count


def test_many_batches():
    rng = np.random.default_rng(1)
    t = ot.tree(rng.integers(0, 2, (700, 700), "u1"), B=1)
    table = check(t)
    assert len(table) > 2 * 65536 and table["code"].num_chunks == -(-len(table) // 65536)


def test_names_are_of_axes(tmp_path):
    t = ot.tree(blocks((20, 30), "u1"), B=2, dims=("lät", "x y"))
    t.save(tmp_path / "a.tree.zarr")
    assert check(ot.open(tmp_path / "a.tree.zarr")).column_names[2:4] == ["corner_lät", "corner_x y"]
    assert "RegionsTable of" in repr(t.regions_table()) and "corner_lät" in repr(t.regions_table())


@pytest.mark.parametrize("keep", ["dense", "regions", "counts"])
def test_runs(keep):
    s = ot.run("mandelbrot", n=128, backend="cpu", keep=keep)
    if keep == "counts":
        pyarrow = pytest.importorskip("pyarrow")
        assert pyarrow.table(s.regions_table()).num_rows == len(s.regions)
    else:
        check(s)


def test_readers():
    t = ot.tree(blocks((60, 50, 40), "i2", 5), B=2)
    rows = t.regions
    cells = rows["extent"].prod(1, dtype="u8")
    expected = sorted((int(value), int(cells[(rows["value"] == value) & (rows["brick"] < 0)].sum())) for value in np.unique(rows["value"][rows["brick"] < 0]))
    readers = 0
    if "polars" in INSTALLED:
        import polars

        frame = polars.DataFrame(t.regions_table())
        assert frame.shape == (len(rows), 10) and frame["code"].to_list() == rows["code"].tolist()
        assert polars.from_arrow(t.regions_table()).struct.unnest().equals(frame)
        readers += 1
    if "duckdb" in INSTALLED:
        import duckdb

        regions = t.regions_table()  # noqa: F841: the query names it
        query = "select value, sum(extent_x::ubigint * extent_y * extent_z) from regions where value is not null group by value"
        assert sorted((value, int(count)) for value, count in duckdb.sql(query).fetchall()) == expected
        readers += 1
    if "pandas" in INSTALLED:
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow") and "pyarrow" in INSTALLED:
            frame = pandas.DataFrame.from_arrow(t.regions_table())
            assert frame["corner_x"].tolist() == rows["corner"][:, 2].tolist()
            readers += 1
    if not readers:
        pytest.skip("none of polars, DuckDB and pandas 3 is installed")


INSTALLED = set()
for _name in ("polars", "duckdb", "pandas", "pyarrow"):
    try:
        __import__(_name)
        INSTALLED.add(_name)
    except ImportError:
        pass


# The interface as C has it, so that memory is seen without any reader.


class Array(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def stream_of(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return Stream.from_address(pointer(capsule, b"arrow_array_stream"))


def next_of(stream):
    batch = Array()
    assert stream.get_next(ctypes.addressof(stream), ctypes.addressof(batch)) == 0
    return batch


def release(structure):
    RELEASE(structure.release)(ctypes.addressof(structure))
    assert not structure.release


def test_a_column_outlives_its_batch_and_its_stream():
    t = ot.tree(blocks((60, 50), "u2", 5), B=2)
    capsule = t.regions_table().__arrow_c_stream__()
    stream = stream_of(capsule)
    batch = next_of(stream)
    rows = t.regions
    assert (batch.length, batch.n_children, batch.n_buffers) == (len(rows), 8, 1)
    # Moved out, as the interface says: a copy, and the original is marked.
    original = batch.children[1].contents
    moved = Array.from_buffer_copy(original)
    original.release = None
    release(batch)
    end = next_of(stream)
    assert not end.release
    release(stream)
    del capsule, t
    gc.collect()
    assert moved.buffers[1] % 8 == 0 and not moved.buffers[0]
    codes = (ctypes.c_uint64 * moved.length).from_address(moved.buffers[1])
    assert list(codes) == rows["code"].tolist()
    del codes
    release(moved)


USES = {
    "a stream is dropped unused": "x.__arrow_c_stream__()",
    "a schema is dropped unused": "[x.__arrow_c_schema__() for _ in range(2000)]",
    "a table is read": "pyarrow.table(x)",
    "a reader is dropped between batches": "pyarrow.RecordBatchReader.from_stream(x).read_next_batch()",
    "a column is kept alone": "pyarrow.table(x)['code'].slice(5, 10).to_pylist()",
    "a reader refuses the schema": "\n    try: pyarrow.table(x, schema=pyarrow.schema([('a', 'int8')])); assert False\n    except (ValueError, KeyError, TypeError): pass",
}


def memory(use):
    """MiB that 40 uses of a table leave in memory, and MiB of its rows."""
    if "pyarrow" in use and "pyarrow" not in INSTALLED:
        pytest.skip("pyarrow is not installed")
    code = f"""
import numpy as np, pyorthant as ot
{"import pyarrow" if "pyarrow" in use else ""}
t = ot.tree(np.random.default_rng(0).integers(0, 2, (350, 350), "u1"), B=1)
x, kept = t.regions_table(), []
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
def use():
    {use}
for number in range(60):
    use()
    if number == 19: before = resident()
print(resident() - before, len(x) * 48 / 2**20)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return map(float, done.stdout.split())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_memory_is_freed(use):
    """Each use takes some megabytes; many of them take no more."""
    more, each = memory(use)
    assert each > 2.5 and more < 25, f"{more} MiB more after 40 uses of {each} MiB"


def test_memory_that_is_kept_is_seen():
    """The test of the tests above: streams that are kept take what they hold."""
    more, each = memory("kept.append(x.__arrow_c_stream__())")
    assert more > 30 * each


def test_tables_at_the_end_of_a_process():
    """What is alive when the interpreter ends is freed without it."""
    code = "import numpy as np, pyorthant as ot\n"
    code += "x = ot.tree(np.arange(20)).regions_table(); kept = x.__arrow_c_stream__(), x.__arrow_c_schema__()\n"
    if "pyarrow" in INSTALLED:
        code += "import pyarrow; table = pyarrow.table(x); import sys; sys.kept = table, pyarrow.RecordBatchReader.from_stream(x)\n"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
