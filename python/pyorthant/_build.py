"""Builds trees of arrays and of files."""

from __future__ import annotations

import os

import numpy as np

from . import _core, _options
from ._tree import Tree


# What the names of meshes end with.
MESHES = (".stl", ".obj", ".ply", ".off")

# What the names of points end with; PLY is a mesh unless ``coordinates=True`` says otherwise.
POINTS = (".xyz", ".csv", ".tsv", ".txt", ".asc", ".pts", ".las", ".laz")


def tree(source, *, coordinates=False, values=None, scheme=None, dims=None, spacing=None, origin=None, units=None, label_names=None, progress=None, **options):
    """Builds a tree of an array: its uniform regions, and the cells in between.

    `source` is an array of NumPy's (or what ``np.asarray`` makes one of), a ``DataArray`` of xarray's, or the name of a file
    of any format that ``orthant tree build`` reads. Of the file of a mesh (``.stl``, ``.obj``, ``.ply``, ``.off``) it is the
    tree of the cells inside of it, ``n`` of them per axis. An array is not copied, whatever its order and strides.

    Of the file of points (``.xyz``, ``.csv``, ``.tsv``, ``.txt``, ``.asc``, ``.pts``, ``.las``, ``.laz``) it is the tree of the
    cells that hold some. With ``coordinates=True`` an array ``[m, k]`` is m points, and a ``.npy`` or ``.ply`` is a file of them.
    ``value`` is ``"occupied"``, ``"count"``, ``"min"``, ``"max"`` or ``"mean"``, the last three of ``values`` (m numbers) or of the
    column ``attribute`` of a file; ``columns`` are those of coordinates.

    Options have the names, the values and the defaults of ``orthant tree build``:

    - ``g``, ``r``, ``B``: how regions are divided, a number or one per axis, x first; ``scheme=(g, r, B)`` are all three.
      ``B=4`` suits small arrays.
    - ``curve``: ``"morton"``, ``"hilbert"`` or ``"canonical"``.
    - ``tolerance``, ``threshold``, ``iso``, ``step``, ``nan``: when cells count as equal. ``nodata``: which hold no data.
    - ``label_table``: a file with names and colours of labels, kept in the tree. ``kind``: ``"labels"`` or ``"values"``, by
      which pictures of this tree have a colour for each value or a gradient; by default they do as the cells look.
    - ``threads``, ``mem_limit``, ``domain``, ``sample``; and ``dtype``, ``n``, ``offset``, ``order``, ``endian``, ``follow``
      for files.

    An array says nothing of its axes. ``dims`` names them in the array's order; ``spacing``, ``origin`` and ``units`` are a
    value for all, one for each axis in the array's order, or a dictionary by name. ``label_names`` is a dictionary of names
    by value. ``progress=True`` shows how far the build is; a function is called with cells done and cells in all.

    >>> import numpy as np
    >>> import pyorthant as ot
    >>> t = ot.tree(np.arange(12).reshape(3, 4) // 6, B=1, dims=("y", "x"), spacing=0.5, units="mm")
    >>> t.shape, t.axes[1]
    ((3, 4), Axis(name='x', unit='mm', spacing=0.5, origin=0.0, size=4))
    """
    is_file = isinstance(source, (str, os.PathLike))
    ending = os.path.splitext(source)[1].lower() if is_file else ""
    if coordinates or ending in POINTS:
        about = {"dims": dims, "spacing": spacing, "origin": origin, "units": units, "label_names": label_names}
        said = [name for name, value in about.items() if value is not None]
        if said:
            raise TypeError(f"tree() has {said[0]}= for arrays; points have their coordinates")
        given, watch = _options.given(options, scheme), _options.progress(progress)
        if is_file:
            if values is not None:
                raise TypeError("tree() has values= for arrays of points; of a file, attribute= names the column")
            return Tree(_core.build_points(os.fspath(source), None, None, given, watch), None)
        return Tree(_core.build_points(None, *_points(source, values), given, watch), None)
    if values is not None:
        raise TypeError("tree() has values= for points; coordinates=True says that an array is one")
    if is_file and ending in MESHES:
        from ._run import run

        return run("mesh", input=source, keep="regions", backend="cpu", scheme=scheme, progress=progress, **options).tree()
    given = _options.given(options, scheme)
    watch = _options.progress(progress)
    if isinstance(source, (str, os.PathLike)):
        about = {"dims": dims, "spacing": spacing, "origin": origin, "units": units, "label_names": label_names}
        said = [name for name, value in about.items() if value is not None]
        if said:
            file = repr(os.fspath(source))
            instead = "label_table= names a file of labels" if said[0] == "label_names" else "a file says so itself"
            raise TypeError(f"tree() has {said[0]}= for arrays, and {file} is a file; {instead}")
        return Tree(_core.build_file(os.fspath(source), given, watch), given.get("kind"))
    if isinstance(source, Tree):
        raise TypeError("a tree is one already: t.lod(level) cuts it, t.save(path) writes it")
    if hasattr(source, "dims") and hasattr(source, "coords") and hasattr(source, "data"):
        source, dims, spacing, origin, units = _of_xarray(source, dims, spacing, origin, units)
    array = np.asarray(source)
    axes = _axes(array, dims, spacing, origin, units)
    names = [(_options.text(value), str(name)) for value, name in (label_names or {}).items()]
    return Tree(_core.build_array(array, given, axes, names, watch), given.get("kind"))


def _points(source, values):
    """The bytes of coordinates with their number per point, and those of values."""
    points = np.ascontiguousarray(source, dtype=np.float64)
    if points.ndim != 2 or not 2 <= points.shape[1] <= 6:
        raise ValueError(f"an array of shape {points.shape} is no table of points; it is [m, k], with k from 2 to 6")
    if values is None:
        return (points.tobytes(), points.shape[1]), None
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != points.shape[:1]:
        raise ValueError(f"values of shape {values.shape} for {len(points)} points; a number for each is needed")
    return (points.tobytes(), points.shape[1]), values.tobytes()


def _of_xarray(source, dims, spacing, origin, units):
    """What a DataArray says of its axes, unless it is said."""
    dims = tuple(map(str, source.dims)) if dims is None else dims
    steps, starts, measures = {}, {}, {}
    for name in map(str, source.dims):
        if name not in source.coords:
            continue
        coordinate = source.coords[name]
        measure = coordinate.attrs.get("units")
        if measure:
            measures[name] = str(measure)
        values = np.asarray(coordinate)
        if values.dtype.kind not in "iuf" or len(values) < 2:
            continue
        step = (float(values[-1]) - float(values[0])) / (len(values) - 1)
        if step > 0 and np.allclose(np.diff(values.astype(float)), step, rtol=1e-5):
            steps[name], starts[name] = step, float(values[0]) - step / 2
    spacing = steps if spacing is None else spacing
    origin = starts if origin is None else origin
    return source.data, dims, spacing, origin, measures if units is None else units


def _axes(array, dims, spacing, origin, units):
    """Name, unit, spacing and origin of each axis, x first, as the library takes them. Nothing if nothing is known."""
    if dims is None and spacing is None and origin is None and units is None:
        return []
    if dims is not None and (isinstance(dims, str) or len(dims) != array.ndim):
        raise ValueError(f"dims {dims!r}: a name for each of the array's {array.ndim} axes is needed, in its order")
    usual = [f"x{axis}" for axis in range(array.ndim)] if array.ndim > 4 else list("xyzw")[: array.ndim]
    names = [str(name) for name in dims] if dims is not None else usual[::-1]

    def of(what, values, read):
        if isinstance(values, (list, tuple, np.ndarray)):
            if len(values) != array.ndim:
                raise ValueError(f"{what} {values!r}: one for all, or one for each of the array's {array.ndim} axes, in its order")
            values = dict(zip(names, values))
        if not isinstance(values, dict):
            return [None if values is None else read(values)] * array.ndim
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"{what} {unknown[0]!r}: no axis has that name; they are {', '.join(names)}")
        return [read(values[name]) if name in values else None for name in names]

    def step(value):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"spacing {value!r}: a number above 0 is needed")
        return float(value)

    def start(value):
        if not np.isfinite(value):
            raise ValueError(f"origin {value!r}: a finite number is needed")
        return float(value)

    rows = list(zip(names, of("units", units, str), of("spacing", spacing, step), of("origin", origin, start)))
    # Where a place is said, cells are 1 apart unless that is said too.
    rows = [(name, unit, 1.0 if here is None and at is not None else here, at) for name, unit, here, at in rows]
    return rows[::-1]
