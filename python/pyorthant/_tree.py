"""Trees: what an array is made of, as something to be asked."""

from __future__ import annotations

import json
import os
import tempfile
from typing import NamedTuple

import numpy as np

from . import _core, _index, _page, _picture, _store
from ._extras import needed

#: Cells of a box that are read for one that is wanted, at most; beyond that cells are looked up one by one.
_DENSE = 8

#: Points that are looked up at a time.
_POINTS = 1 << 20


class Axis(NamedTuple):
    """An axis: its name and unit, how far cells are apart, where the first cell begins, and how many there are."""

    name: str
    unit: str | None
    spacing: float
    origin: float
    size: int


def open(path, *, store=None, storage_options=None):
    """Opens a tree that was saved: a folder ``X.tree.zarr``, or a file ``X.tree.zarr.zip``.

    Its regions are read when they are asked for. It may lie elsewhere:

    - ``open("https://host/x.tree.zarr.zip")`` reads ranges of it. The program's client does so, which takes ``http://``,
      ``https://`` and ``s3://``. Keys for S3 come from ``AWS_ACCESS_KEY_ID`` and so on.
    - ``open("gs://bucket/x.tree.zarr", storage_options={..})`` and any other URL is opened by fsspec, as is any URL with
      ``storage_options``.
    - ``open("x.tree.zarr", store=store)`` is a path in a store of obstore's, or in a file system of fsspec's.
    """
    name = os.fspath(path)
    if store is not None or storage_options is not None or (_store.scheme(name) and not _store.reads_itself(name)):
        objects, shown = _store.objects(name, store, storage_options)
        return Tree(_core.open_store(shown, objects), source=(name, store, storage_options))
    if _store.scheme(name):
        return Tree(_core.open_url(name), source=(name, None, None))
    try:
        return Tree(_core.open_tree(name))
    except ValueError as error:
        if os.path.isdir(name) or str(name).lower().endswith(".zip"):
            raise
        raise ValueError(f"{error}; ot.tree({name!r}) makes a tree of another file") from None


def _reopened(name, store, storage_options):
    """A tree of a server's that was pickled."""
    return open(name, store=store, storage_options=storage_options)


class Tree:
    """The uniform regions of an array, and the cells in between. It is indexed like the array.

    `pyorthant.tree` builds one, `pyorthant.open` opens one that was saved.

    >>> import numpy as np
    >>> import pyorthant as ot
    >>> t = ot.tree(np.repeat(np.arange(4, dtype="u1"), 16).reshape(8, 8), B=2)
    >>> t[2:4, ::2]
    array([[1, 1, 1, 1],
           [1, 1, 1, 1]], dtype=uint8)
    >>> t[np.array([[0, 0], [7, 7]])]
    array([0, 3], dtype=uint8)
    """

    __slots__ = ("_core", "_facts", "_kind", "_source", "__weakref__")

    def __init__(self, core, kind=None, *, source=None):
        if not isinstance(core, _core.CoreTree):
            raise TypeError("pyorthant.tree(array) builds a tree, pyorthant.open(path) opens one")
        self._core = core
        self._facts = None
        self._kind = kind
        # URL or path, store, and options, if a server has it.
        self._source = source

    # What it is.

    @property
    def shape(self):
        """Cells per axis, x last."""
        return self._core.shape

    @property
    def dtype(self):
        """The type of a cell."""
        return np.dtype(self._core.typestr)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self._core.size)

    @property
    def size(self):
        """Cells in all."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def path(self):
        """The file that it is in, or its URL without a key; None of a tree in memory."""
        return None if self._core.path is None else os.fspath(self._core.path)

    @property
    def axes(self):
        """The axes in the order of `shape`, each an `Axis`."""
        rows = zip(self._core.axes(), self._core.size)
        return tuple(Axis(*about, size) for about, size in rows)[::-1]

    @property
    def plan(self):
        """How it is divided, a dictionary: ``g``, ``r``, ``B``, ``curve``, and the regions per axis of each level. x is first."""
        if self._facts is None:
            self._facts = json.loads(self._core.facts())
        return dict(self._facts)

    @property
    def about(self):
        """What else is known, a dictionary: ``source``, ``predicate``, ``nodata``, ``scale``, ``directions``."""
        about = self._core.about()
        if about["nodata"] is not None:
            about["nodata"] = self._value(about["nodata"])
        return about

    @property
    def report(self):
        """The report of the build, a dictionary as ``orthant run array --json`` prints it; None of a tree that was opened."""
        report = self._core.report()
        return None if report is None else json.loads(report)

    @property
    def checksum(self):
        """The checksum of the regions, which any other way to the same regions has too."""
        return self._core.checksum()

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        by = "x".join(map(str, self.shape))
        rows = self._core.rows()
        regions = "1 region" if rows == 1 else f"{rows} regions"
        where = f", in {self.path!r}" if self.path else ""
        report = self.report
        leaves = ""
        if report is not None:
            leaves = f", {100 * report['cells']['leaf'] / self.size:.0f} % of cells in leaves"
        return f"Tree {by} {self.dtype}, {regions}{leaves}{where}"

    def __reduce__(self):
        if self._source is not None:
            return _reopened, self._source
        if self.path is None:
            raise TypeError("a tree in memory is not pickled: save it, and pickle what pyorthant.open() returns")
        return open, (os.path.abspath(self.path),)

    # Cells.

    def __getitem__(self, key):
        """Cells: a box by whole numbers, slices and ``...``; of an integer array [m, k] those of m points, x last."""
        if _index.is_points(key):
            return self._look_up(_index.points_of(key, self.ndim))
        pairs = _index.paired(key, self.ndim)
        if pairs is not None:
            points, shape = pairs
            found = self._look_up(points).reshape(shape)
            return found[()] if not shape else found
        along = _index.along(key, self.shape)
        shape = tuple(axis.cells for axis in along)
        kept = tuple(0 if axis.single else slice(None) for axis in along)
        if 0 in shape:
            return np.empty(shape, self.dtype)[kept]
        boxed = np.prod([axis.span for axis in along], dtype=object)
        if boxed > _DENSE * np.prod(shape, dtype=object):
            return self._grid([axis.start + axis.step * np.arange(axis.cells, dtype=np.int64) for axis in along])[kept]
        box = np.empty(tuple(axis.span for axis in along), self.dtype)
        corner, extent = [axis.low for axis in along][::-1], list(box.shape)[::-1]
        self._core.read(corner, extent, box)
        if any(axis.step != 1 for axis in along):
            box = np.ascontiguousarray(box[tuple(slice(None, None, axis.step) for axis in along)])
        return box[kept]

    def _look_up(self, points):
        found = np.empty(len(points), self.dtype)
        self._core.look_up(points, found)
        return found

    def _grid(self, along):
        """The cells where so many places on each axis cross, looked up one by one."""
        shape = tuple(map(len, along))
        found = np.empty(shape, self.dtype)
        flat = found.reshape(-1)
        for first in range(0, flat.size, _POINTS):
            places = np.unravel_index(np.arange(first, min(first + _POINTS, flat.size)), shape)
            points = np.stack([cells[place] for cells, place in zip(along, places)], 1)
            flat[first : first + len(points)] = self._look_up(np.ascontiguousarray(points, np.int64))
        return found

    def to_numpy(self):
        """All cells as an array."""
        return self[...]

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a tree has no array to share: all cells are copied out of it")
        cells = self.to_numpy()
        return cells if dtype is None else cells.astype(dtype, copy=False)

    # Regions.

    @property
    def regions(self):
        """The terminal regions along the curve, a structured array.

        ``level``; ``code``, the place along the curve of its level; ``corner`` and ``extent`` in cells, x last; ``value``, of
        leaves 0; ``brick``, where the cells of a leaf begin among those of all leaves, of uniform regions -1.
        """
        return _rows(self._core)

    def regions_table(self):
        """The regions as a table for pyarrow, polars, pandas and DuckDB, a `RegionsTable`.

        It has the columns of `regions`, one per axis of ``corner`` and ``extent``.
        """
        from ._arrow import RegionsTable

        return RegionsTable(self._core, [axis.name for axis in self.axes])

    def stats(self, most=65536):
        """What each label has, a dictionary of columns that ``pandas.DataFrame`` takes as it is.

        ``value``, ``name``, ``cells``, ``share``, ``volume`` in the units of the axes, ``regions`` (filled with it) and
        ``leaves`` (that it occurs in). For each axis, here ``z``: ``mean_z``, the mean place in the unit of the axis, and
        ``corner_z`` and ``extent_z``, the box that holds the label in cells. A tree with more than `most` values is
        refused, as one of measured values is.
        """
        rows = self._core.stats(most)
        texts, cells, share, regions, leaves, places = zip(*rows)
        names = {value: name for value, name, _ in self._core.label_table()}
        where, volume = {}, np.array(cells, float)
        for number, axis in enumerate(self.axes):
            means, corners, extents = zip(*(place[number] for place in places))
            volume = volume * abs(axis.spacing)
            where[f"mean_{axis.name}"] = axis.origin + np.array(means) * axis.spacing
            where[f"corner_{axis.name}"] = np.array(corners, np.uint32)
            where[f"extent_{axis.name}"] = np.array(extents, np.uint32)
        return {
            "value": self._values(texts),
            "name": np.array([names.get(text, "") for text in texts], dtype=str),
            "cells": np.array([min(count, 2**64 - 1) for count in cells], np.uint64),
            "share": np.array(share),
            "regions": np.array(regions, np.uint64),
            "leaves": np.array(leaves, np.uint64),
            "volume": volume,
            **where,
        }

    @property
    def label_table(self):
        """Labels that have names, a dictionary of columns ``value``, ``name`` and ``colour``; None if none has.

        A colour is red, green, blue and opacity from 0 to 255, or None.
        """
        rows = self._core.label_table()
        if not rows:
            return None
        texts, names, colours = zip(*rows)
        colours = [None if colour is None else tuple(colour) for colour in colours]
        return {"value": self._values(texts), "name": np.array(names, dtype=str), "colour": colours}

    def lod(self, level, by="mode"):
        """The tree down to `level`: a region that goes deeper shows one of its values.

        `by` says which: ``"mode"``, the one that most of its cells have, ``"first"``, ``"min"`` or ``"max"``.
        """
        return Tree(self._core.lod(level, by), self._kind)

    def _value(self, text):
        return int(text) if self.dtype.kind in "iu" else float(text)

    def _values(self, texts):
        return np.array([self._value(text) for text in texts], self.dtype)

    # Pictures, tables, files.

    def save(self, path, *, overwrite=False):
        """Writes the tree into a folder ``X.tree.zarr`` or a file ``X.tree.zarr.zip``, or all its cells into ``X.npy``."""
        path = os.fspath(path)
        if path.lower().endswith(".npy"):
            if not overwrite and os.path.exists(path):
                raise FileExistsError(f"{path} exists already; overwrite=True replaces it")
            np.save(path, self.to_numpy())
            return
        self._core.save(path, overwrite)

    def to_xarray(self, *, lazy=False):
        """The cells as a ``DataArray`` of xarray's: axes with names, units and coordinates, which are the centres of cells.

        With ``lazy=True`` cells are read when they are used.
        """
        needed("xarray", "xarray", "t.to_xarray()")
        from ._xarray import to_xarray

        return to_xarray(self, lazy)

    def zarr(self, *, levels=False, chunks=None, by="mode"):
        """The tree as a read-only store of zarr's, whose chunks are cut out of the tree when they are read.

        ``zarr.open_array(t.zarr())`` is an array with the cells of the tree. With ``levels=True`` the store holds an image of
        OME-Zarr: ``zarr.open_group(store, mode="r")`` is a group with an array for each level of detail, ``"0"`` the largest.
        `by` is that of `lod`. `chunks` is a number of cells for all axes, or one for each in the order of `shape`; by default
        a chunk has at most 2^18 cells.
        """
        needed("zarr.abc.store", "zarr", "t.zarr()")
        from ._zarr import TreeStore

        return TreeStore(self, levels=levels, chunks=chunks, by=by)

    def plot(self, ax=None, *, at=None, overlay=False, **options):
        """Draws a plane of the last two axes by matplotlib, and returns the axes of the drawing.

        `at` fixes other axes, by name or number: ``at={"z": 48}``; by default they have their middle. With ``overlay=True``
        borders of regions are drawn. Other options are those of ``imshow``.
        """
        extents = [(axis.origin, axis.origin + axis.spacing * axis.size) for axis in self.axes]
        names = [axis.name for axis in self.axes]
        return _picture.draw(self, ax, at, names, overlay, lambda: self.regions, extents, self._colours(), options, kind=self._kind)

    def view(self, path=None, *, height=600, max_size=5_000_000, by="mode", title=None):
        """The page of ``orthant tree view``: slices, and labels in 3-D. It needs nothing else.

        Without `path` it returns a `Page`, which a notebook shows; else it writes the file.
        """
        title = title or self.about["source"] or "tree"
        with tempfile.TemporaryDirectory() as folder:
            kept = self.path
            if self._source is not None:
                # The command has neither the store nor its options.
                kept = self._source[0] if self._source[1:] == (None, None) and _store.reads_itself(self._source[0]) else None
            if kept is None:
                kept = os.path.join(folder, "tree.tree.zarr")
                self.save(kept)
            text = _page.command("tree", "view", kept, "-o", "-", "--max-size", max_size, "--by", by, "--title", title)
        page = _page.Page(text, height)
        if path is None:
            return page
        page.save(path)
        return None

    def _are_labels(self):
        """Whether each value has a colour of its own: as ``kind`` says, or if labels have names, else as a plane looks."""
        if self.dtype.kind == "f":
            return False
        if self._kind is None and not self._core.label_table():
            index, shown = _picture.plane_of(self.shape)
            few = {axis: slice(None, None, -(-self.shape[axis] // _picture.MOST)) for axis in shown}
            return _picture.are_labels(self[tuple(few.get(axis, cell) for axis, cell in enumerate(index))])
        return self._kind != "values"

    def _colours(self):
        rows = self._core.label_table() if self.dtype.kind in "iu" else []
        return {int(value): tuple(colour) for value, _, colour in rows if colour is not None}

    def _repr_png_(self):
        return _picture.preview(self, None, [axis.name for axis in self.axes], self._colours(), kind=self._kind)

    def _repr_html_(self):
        by = "x".join
        axes = ", ".join(f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in self.axes)
        plan = self.plan
        facts = {
            "shape": f"{self.shape} {self.dtype}",
            "axes": axes,
            "regions": self._core.rows(),
            "divided": f"g {by(map(str, plan['g']))}, r {by(map(str, plan['r']))}, B {by(map(str, plan['B']))}, {plan['curve']}",
            "equal": self.about["predicate"],
            "made of": self.about["source"] or "an array",
        }
        return _page.table("Tree", facts, self._repr_png_())


def _rows(core):
    """Regions as a structured array."""
    fields, width = core.row()
    names, formats, offsets = zip(*fields)
    dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": width})
    raw = np.empty((core.rows(), width), np.uint8)
    core.regions(raw)
    return raw.reshape(-1).view(dtype)
