"""Runs: fields that are computed, cell by cell only where regions are not uniform."""

from __future__ import annotations

import atexit
import json
import os
import warnings

import numpy as np

from . import _core, _cuda, _options, _page, _picture
from ._tree import Tree, _rows

# The driver of a GPU is unloaded when the process ends. Memory that is being freed then is waited for.
atexit.register(_core.leave)


def run(field, *, n=None, scheme=None, max_label=65535, cells=False, progress=None, **options):
    """Subdivides a field: fills its uniform regions, and evaluates the others cell by cell.

    `field` is one of

    - the name of a built-in field, ``"mandelbrot"``; `fields` lists them. ``run("formula", text="x^2 + y^2 < 1")`` takes a line
      of text, and ``run("mesh", input="part.stl")`` and ``run("points", input="scan.xyz", value="count")`` a file;
    - an array of NumPy's, of any cell type. It is not copied. `tree` is the faster way to its regions;
    - a function ``f(points) -> labels`` of an array ``float64 [m, k]`` of points of the domain, x first. With ``cells=True`` it
      gets cells, ``uint32 [m, k]``. It returns m whole numbers from 0 to `max_label`. It is called in this thread.

    Options have the names, the values and the defaults of ``orthant run``: ``n`` (cells per axis, x first), ``g``, ``r``,
    ``B`` (or ``scheme=(g, r, B)``), ``explore``, ``curve``, ``domain=[(low, high), ..]``, ``dwell``, ``precision``, ``cell``,
    ``keep``, ``strategy``, ``backend``, ``threads``, ``mem_limit`` and so on. Without a scheme it is the field's own, where the
    command line may take one that was measured for the size. The lock of the interpreter is released
    while it runs. With ``on_device=True`` the cells of a built-in field stay on the GPU: `Subdivision` says how CuPy and PyTorch
    take them. ``progress=True`` shows how far it is; a function is called with cells done and cells in all.

    >>> import pyorthant as ot
    >>> s = ot.run("mandelbrot", n=256, backend="cpu")
    >>> s.to_numpy()[128, 192]
    np.uint16(512)
    >>> int(ot.run("formula", text="x^2 + y^2 < 0.5", n=64, backend="cpu").to_numpy().sum())
    1605
    >>> disc = ot.run(lambda p: (p**2).sum(1) < 0.5, n=(64, 64), domain=[(-1, 1), (-1, 1)], max_label=1)
    >>> int(disc.to_numpy().sum())
    1605
    """
    if not isinstance(n, str) and np.ndim(n) == 1 and (isinstance(field, str) or not hasattr(field, "__array__")):
        # A number for each axis says how many there are, even if it is one.
        options = {"dim": len(n), **options}
    given = _options.given({"n": n, **options}, scheme)
    watch = _options.progress(progress)
    if isinstance(field, str):
        if given.get("backend") != "cpu":
            _cuda.find_nvrtc()
        core = _core.run_field(field, given, watch)
    elif callable(field) and not hasattr(field, "__array__"):
        core = _core.run_callable(field, _limit(max_label), bool(cells), given, watch)
    else:
        core = _core.run_array(np.asarray(field), given, watch)
    if core.note:
        warnings.warn(f"{core.note}; backend=\"cpu\" says so", RuntimeWarning, stacklevel=2)
    return Subdivision(core)


def _limit(max_label):
    limit = int(_options.text(max_label))
    if not 0 <= limit < 2**32:
        raise ValueError(f"max_label {max_label}: a whole number from 0 to 2^32 - 1 is needed")
    return limit


def fields():
    """The built-in fields: by name what they are, and the numbers of dimensions that they exist in."""
    return {name: (about, tuple(dims)) for name, about, dims in _core.fields()}


def doctor():
    """Prints what is here, and how to mend what is missing, as ``orthant doctor`` does."""
    _cuda.find_nvrtc()
    print(_page.command("doctor"), end="")


class Subdivision:
    """What a run found: its cells, its regions and its report. `pyorthant.run` makes one.

    With ``on_device=True`` the cells are on a GPU. ``cupy.asarray(s)``, ``cupy.from_dlpack(s)``, ``torch.as_tensor(s, device="cuda")``
    and ``torch.from_dlpack(s)`` take them without a copy. The memory is freed when the run is gone, and all arrays that were made of
    it. ``np.asarray(s)``, ``s.regions`` and ``s.tree()`` copy the run to the host when the first of them is used.
    """

    __slots__ = ("_core", "_report", "__weakref__")

    def __init__(self, core):
        if not isinstance(core, _core.CoreRun):
            raise TypeError("pyorthant.run(field) makes a Subdivision")
        self._core = core
        self._report = None

    @property
    def report(self):
        """The report, a dictionary as ``orthant run --json`` prints it."""
        if self._report is None:
            self._report = self._core.report()
        return json.loads(self._report)

    @property
    def shape(self):
        """Cells per axis, x last."""
        return tuple(self._core.size[::-1])

    @property
    def dtype(self):
        """The type of a cell."""
        return np.dtype(self._core.typestr)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self._core.size)

    @property
    def checksum(self):
        """The checksum of all cells, as the command line prints it; None if ``keep`` is not ``"dense"``."""
        return self._core.checksum() if self._core.device else self.report["checksum"]

    @property
    def backend(self):
        """Where it ran: ``"cpu"`` or ``"cuda"``."""
        return self.report["backend"]

    @property
    def seconds(self):
        """The time of the run in seconds, without planning."""
        return self.report["seconds"]

    def to_numpy(self):
        """All cells as an array. It is read-only.

        Of a run that kept them, nothing is copied: NumPy looks at the library's memory, and keeps it alive. With
        ``keep="regions"`` the array is made of the regions. With ``on_device=True`` it is copied from the GPU once, and that copy
        is kept.
        """
        return np.asarray(self._core.cells())

    def __array__(self, dtype=None, copy=None):
        cells = self.to_numpy()
        if dtype is not None and cells.dtype != dtype:
            if copy is False:
                raise ValueError(f"cells are {cells.dtype}: another type is a copy")
            return cells.astype(dtype)
        return cells.copy() if copy else cells

    @property
    def __cuda_array_interface__(self):
        """Where the cells lie on a GPU, for packages that take arrays there. A run on the host has no such attribute.

        The run is complete, so that nobody has to wait for a stream. PyTorch takes arrays only that may be written. Cells that
        are written change in what is copied to the host later.
        """
        if self._core.device is None:
            raise AttributeError("__cuda_array_interface__: the cells are on the host; on_device=True leaves them on a GPU")
        data, shape, typestr = (self._core.device[0], False), self.shape, self._core.typestr
        return {"version": 3, "shape": shape, "typestr": typestr, "data": data, "strides": None, "stream": None}

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """All cells for packages of arrays: ``np.from_dlpack(s)``, ``torch.from_dlpack(s)``. Nothing is copied.

        On the host the cells are read-only, which older versions of other packages cannot say: they raise ``BufferError``, and
        take ``s.to_numpy().copy()``. On a GPU they may be written, and are complete for any stream.
        """
        here = self.__dlpack_device__()
        there = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if there != here and (there != (1, 0) or copy is False):
            raise BufferError(f"dl_device {there}: the cells are on the device {here}, and only the host, (1, 0), can have a copy")
        if there == (1, 0):
            asked = {"max_version": max_version} | ({"stream": stream, "copy": copy} if here == there else {})
            return self.to_numpy().__dlpack__(**{name: value for name, value in asked.items() if value is not None})
        if copy:
            raise BufferError("copy True: cells on a GPU are not copied there; copy the array that is made of them")
        return self._core.dlpack(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self):
        """The memory of the host, ``(1, 0)``, or that of a GPU, ``(2, its number)``."""
        return (1, 0) if self._core.device is None else (2, self._core.device[1])

    @property
    def regions(self):
        """The terminal regions by level and code, a structured array as that of `Tree.regions`.

        ``brick`` is 0 or more of leaves, whose cells are in the array unless ``keep="regions"``.
        """
        return _rows(self._core)

    def regions_table(self):
        """The regions as a table for pyarrow, polars, pandas and DuckDB, a `RegionsTable` as that of `Tree.regions_table`."""
        from ._arrow import RegionsTable

        return RegionsTable(self._core, self._names())

    @property
    def levels(self):
        """What happened on each level, a structured array. ``pandas.DataFrame`` takes it as it is."""
        rows = self.report["levels"]
        names = [name for name, value in rows[0].items() if isinstance(value, (int, float)) and not isinstance(value, bool)]
        dtype = [(name, "f8" if isinstance(rows[0][name], float) else "u8") for name in names]
        return np.array([tuple(row[name] for name in names) for row in rows], dtype)

    def tree(self):
        """The tree of the run: regions and the cells of leaves, which are copied."""
        return Tree(self._core.tree())

    def _steps(self):
        """True if labels are numbers of iterations."""
        return self.report["dwell"] is not None

    def _extents(self):
        return [tuple(ends) for ends in self.report["domain"][::-1]]

    def _names(self):
        k = self.ndim
        return [f"x{axis}" for axis in range(k)][::-1] if k > 4 else list("xyzw")[:k][::-1]

    def plot(self, ax=None, *, at=None, overlay=False, **options):
        """Draws a plane of the last two axes by matplotlib, and returns the axes of the drawing. Options are those of `Tree.plot`."""
        cells = self.to_numpy()
        return _picture.draw(cells, ax, at, self._names(), overlay, lambda: self.regions, self._extents(), None, options, self._steps())

    def save(self, path, *, at=None, overwrite=False):
        """Writes all cells into ``X.npy``, a picture of a plane into ``X.png``, or the tree into ``X.tree.zarr[.zip]``."""
        path = os.fspath(path)
        ending = path.lower()
        if not ending.endswith((".npy", ".png")):
            self.tree().save(path, overwrite=overwrite)
            return
        if not overwrite and os.path.exists(path):
            raise FileExistsError(f"{path} exists already; overwrite=True replaces it")
        if ending.endswith(".npy"):
            np.save(path, self.to_numpy())
            return
        cells = self.to_numpy()
        index, _ = _picture.plane_of(cells.shape, at, self._names())
        with open(path, "wb") as file:
            file.write(_picture.png(_picture.coloured(np.atleast_2d(cells[index]), None, self._steps())[::-1]))

    def __repr__(self):
        report = self.report
        by = "x".join(map(str, self.shape))
        filled = 100 * report["cells"]["filled"] / max(1, report["cells"]["total"])
        there = f", cells on GPU {self._core.device[1]}" if self._core.device else ""
        return f"Subdivision {report['workload']} {by} {self.dtype}, {filled:.0f} % filled, {self.seconds:.3g} s on {self.backend}{there}"

    def _repr_png_(self):
        # Nothing is copied from a GPU only to be shown.
        if self.report["keep"] == "counts" or self._core.device:
            return None
        return _picture.preview(self.to_numpy(), None, self._names(), None, self._steps())

    def _repr_html_(self):
        report = self.report
        facts = {"cells": f"{self.shape} {self.dtype}", "seconds": f"{self.seconds:.3g} on {self.backend}"}
        for number, level in enumerate(self.levels):
            some = ("regions", "filled", "subdivided", "leaves")
            facts[f"level {number}"] = ", ".join(f"{level[name]} {name}" for name in some if name in level.dtype.names)
        return _page.table(f"Subdivision of {report['workload']}", facts, self._repr_png_())
