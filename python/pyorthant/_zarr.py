"""A store for the package zarr whose chunks are cut out of a tree when they are read. Nothing is stored."""

from __future__ import annotations

import asyncio
import itertools
import json
import math

import numpy as np
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from . import _ome
from ._levels import Level, pyramid
from ._serve import Server

#: Cells of a chunk, at most.
_CHUNK = 1 << 18


def usual_chunks(shape):
    """Powers of two, about as long on every axis, unless an axis is shorter."""
    chunks = [1] * len(shape)
    while True:
        # The last axis first, along which cells lie together.
        short = [axis for axis in range(len(shape)) if chunks[axis] < shape[axis]]
        if not short or 2 * math.prod(chunks) > _CHUNK:
            return tuple(chunks)
        chunks[min(reversed(short), key=lambda axis: chunks[axis])] *= 2


def chunks_of(chunks, shape):
    """The chunks that an option asks for: a number for all axes, or one for each in the array's order."""
    if chunks is None:
        return usual_chunks(shape)
    wrong = f"chunks {chunks!r}: a whole number above 0 is needed, or one for each of the tree's {len(shape)} axes, x last"
    each = tuple(chunks) if isinstance(chunks, (list, tuple, np.ndarray)) else (chunks,) * len(shape)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 0 for n in each)
    if len(each) != len(shape) or not whole:
        raise ValueError(wrong)
    return tuple(min(int(n), size) for n, size in zip(each, shape))


class _Array:
    """A level as an array of zarr's."""

    def __init__(self, level, chunks):
        self.level = level
        self.chunks = chunks_of(chunks, level.shape)
        self.grid = tuple(-(-n // m) for n, m in zip(level.shape, self.chunks))
        nodata = level.tree.about["nodata"]
        self.fill = level.dtype.type(0 if nodata is None else nodata)
        self.stored = level.dtype.newbyteorder("<")

    def about(self):
        """The array's metadata, version 3."""
        tree, fill = self.level.tree, self.fill.item()
        if isinstance(fill, float) and not math.isfinite(fill):
            fill = "NaN" if math.isnan(fill) else "Infinity" if fill > 0 else "-Infinity"
        codec = {"name": "bytes", "configuration": {"endian": "little"}} if self.stored.itemsize > 1 else {"name": "bytes"}
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.level.shape,
            "data_type": self.level.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunks}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill,
            "codecs": [codec],
            "attributes": {"axes": [axis._asdict() for axis in tree.axes]},
            "dimension_names": [axis.name for axis in tree.axes],
        }

    def chunk(self, place):
        """The bytes of a chunk. Where it reaches beyond the array it is filled."""
        box = tuple(slice(m * at, min(m * (at + 1), n)) for at, m, n in zip(place, self.chunks, self.level.shape))
        cells = self.level[box]
        if cells.shape != self.chunks:
            whole = np.full(self.chunks, self.fill, self.stored)
            whole[tuple(slice(0, n) for n in cells.shape)] = cells
            cells = whole
        return np.ascontiguousarray(cells, self.stored).reshape(-1).view("u1")

    def place(self, parts):
        """The chunk that is called so, ``["0", "2"]``; None if there is none."""
        if len(parts) != len(self.grid) or not all(part.isascii() and part.isdigit() and str(int(part)) == part for part in parts):
            return None
        place = tuple(map(int, parts))
        return place if all(at < n for at, n in zip(place, self.grid)) else None

    def keys(self):
        """All names within the array."""
        yield "zarr.json"
        for place in itertools.product(*map(range, self.grid)):
            yield "/".join(["c", *map(str, place)])

    def inside(self, parts):
        """The names in a folder of the array."""
        if not parts:
            return ["zarr.json", "c"]
        if parts[0] != "c" or len(parts) > len(self.grid):
            return []
        fits = all(part.isascii() and part.isdigit() and int(part) < n for part, n in zip(parts[1:], self.grid))
        return map(str, range(self.grid[len(parts) - 1])) if fits else []


class TreeStore(Store):
    """A tree as a read-only store: of one array, or with `levels` of a group with an array for each level of detail.

    `pyorthant.Tree.zarr` makes one.
    """

    supports_writes = False
    supports_deletes = False
    supports_partial_writes = False
    supports_listing = True

    def __init__(self, tree, *, levels=False, chunks=None, by="mode"):
        super().__init__(read_only=True)
        self._options = (tree, bool(levels), chunks, by)
        arrays = pyramid(tree, by) if levels else [Level(tree)]
        if levels:
            attributes = _ome.attributes(tree, arrays, by)
            self._group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
        self._levels = bool(levels)
        self._arrays = {str(number) if levels else "": _Array(level, chunks) for number, level in enumerate(arrays)}

    def __eq__(self, other):
        # Options may be arrays of NumPy's, so chunks are compared as they are used.
        same = lambda store: (store._options[0], store._levels, store._options[3], [array.chunks for array in store._arrays.values()])
        return isinstance(other, TreeStore) and same(self) == same(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return _again, self._options

    def __dask_tokenize__(self):
        tree, levels, _, by = self._options
        return ("pyorthant", tree.checksum, tree.shape, levels, by, [array.chunks for array in self._arrays.values()])

    def __str__(self):
        return f"orthant://{self._options[0].path or id(self._options[0])}"

    def __repr__(self):
        what = f"{len(self._arrays)} levels" if self._levels else "one array"
        return f"TreeStore of {what}: {self._options[0]!r}"

    def with_read_only(self, read_only=False):
        """The store itself: another cannot be written either."""
        if not read_only:
            self._check_writable()
        return _again(*self._options)

    def _check_writable(self):
        raise ValueError("a tree as a store is read-only: create another store with zarr, and copy the array into it")

    def serve(self, port=0):
        """Serves the store on this computer for viewers in a browser, and returns a server with ``url`` and ``close()``.

        Neuroglancer reads ``zarr3://`` and the ``url`` of a store with ``levels=True``.
        """
        return Server(self, port)

    # What is where.

    def _find(self, key):
        """The array that a name lies in, and the rest of the name in parts. No array of what is not in one."""
        parts = [part for part in key.split("/") if part]
        if not self._levels:
            return self._arrays[""], parts
        array = self._arrays.get(parts[0]) if parts else None
        return (array, parts[1:]) if array else (None, parts)

    def _content(self, key):
        array, parts = self._find(key)
        if parts == ["zarr.json"]:
            about = array.about() if array else self._group if self._levels else None
            return np.frombuffer(json.dumps(about).encode(), "u1")
        if array and parts[:1] == ["c"]:
            place = array.place(parts[1:])
            return None if place is None else array.chunk(place)
        return None

    def get_sync(self, key, *, prototype=None, byte_range=None):
        """The bytes of a name; None if there is none."""
        content = self._content(key)
        if content is None:
            return None
        buffer = (prototype or default_buffer_prototype()).buffer
        return buffer.from_array_like(content[_part(byte_range, len(content))])

    async def get(self, key, prototype=None, byte_range=None):
        """The bytes of a name; None if there is none. Chunks are cut in other threads, several at once."""
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(self, prototype, key_ranges):
        """The bytes of several names."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key):
        """Whether there is a name."""
        array, parts = self._find(key)
        if parts == ["zarr.json"]:
            return True
        return bool(array) and parts[:1] == ["c"] and array.place(parts[1:]) is not None

    async def getsize(self, key):
        """The bytes of a name, without cutting a chunk."""
        if not await self.exists(key):
            raise FileNotFoundError(key)
        array, parts = self._find(key)
        if array and parts[0] == "c":
            return math.prod(array.chunks) * array.stored.itemsize
        return len(self._content(key))

    async def list(self):
        """All names."""
        if self._levels:
            yield "zarr.json"
        for name, array in self._arrays.items():
            for key in array.keys():
                yield f"{name}/{key}" if name else key

    async def list_prefix(self, prefix):
        """All names that begin so."""
        async for key in self.list():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix):
        """The names in a folder."""
        array, parts = self._find(prefix)
        if array is None:
            names = ["zarr.json", *self._arrays] if not parts else []
        else:
            names = array.inside(parts)
        for name in names:
            yield name

    async def set(self, key, value):
        """Raises: the store is read-only."""
        self._check_writable()

    async def set_partial_values(self, key_start_values):
        """Raises: the store is read-only. Versions of zarr before 3.1 want it."""
        self._check_writable()

    async def delete(self, key):
        """Raises: the store is read-only."""
        self._check_writable()


def _again(tree, levels, chunks, by):
    return TreeStore(tree, levels=levels, chunks=chunks, by=by)


def _part(asked, length):
    """The bytes that a request means."""
    if asked is None:
        return slice(0, length)
    if isinstance(asked, RangeByteRequest):
        return slice(asked.start, asked.end)
    if isinstance(asked, OffsetByteRequest):
        return slice(asked.offset, length)
    if isinstance(asked, SuffixByteRequest):
        return slice(max(0, length - asked.suffix), length)
    raise ValueError(f"a part of a value is a range, an offset or a suffix, not {asked!r}")
