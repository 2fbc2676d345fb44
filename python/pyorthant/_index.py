"""Indices as NumPy has them: which cells an index means."""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np


class Along(NamedTuple):
    """The cells of an axis that an index means."""

    start: int
    cells: int
    step: int
    #: True of a single index, whose axis goes.
    single: bool

    @property
    def low(self):
        return self.start + min(0, (self.cells - 1) * self.step)

    @property
    def span(self):
        return (self.cells - 1) * abs(self.step) + 1


def is_points(key):
    """True of an array of points: integers of shape [m, k]."""
    return isinstance(key, (np.ndarray, list)) and np.asarray(key).dtype != object and np.asarray(key).ndim != 0


def points_of(key, k):
    """Points as an array of int64 [m, k] without gaps."""
    points = np.asarray(key)
    if points.dtype.kind == "b":
        raise IndexError("a mask is no index of a tree: np.argwhere(mask) are the points where it is true")
    if points.size and points.dtype.kind not in "iu":
        raise IndexError(f"points are whole numbers, not {points.dtype}; cells along each axis, x last")
    if points.ndim != 2 or points.shape[1] != k:
        hint = "; a single cell is t[tuple(point)]" if points.ndim == 1 else ""
        raise IndexError(f"points of shape {points.shape}, where [m, {k}] is needed{hint}")
    if points.dtype.kind == "u" and points.dtype.itemsize == 8 and points.size and int(points.max()) >= 2**63:
        raise IndexError("a coordinate of a point is larger than 2^63 - 1")
    return np.ascontiguousarray(points, dtype=np.int64)


def paired(key, k):
    """Points of a tuple of arrays, one per axis, and the shape of what they mean. None if none is an array."""
    if not isinstance(key, tuple) or not any(isinstance(part, (np.ndarray, list)) for part in key):
        return None
    if len(key) != k or any(part is None or part is Ellipsis or isinstance(part, slice) for part in key):
        raise IndexError(f"arrays as indices: {k} of them are needed, one per axis, and no slices beside them")
    arrays = np.broadcast_arrays(*key)
    if any(array.dtype.kind not in "iu" and array.size for array in arrays):
        raise IndexError("arrays as indices are of whole numbers; np.nonzero(mask) are those where a mask is true")
    points = np.stack([np.asarray(array, dtype=np.int64).ravel() for array in arrays], axis=1)
    return np.ascontiguousarray(points), arrays[0].shape


def along(key, shape):
    """What an index means on each axis."""
    key = key if isinstance(key, tuple) else (key,)
    gaps = sum(part is Ellipsis for part in key)
    if gaps > 1:
        raise IndexError("an index can have one '...' only")
    named = len(key) - gaps
    if named > len(shape):
        raise IndexError(f"too many indices: the tree has {len(shape)} axes, and {named} are indexed")
    at = next((i for i, part in enumerate(key) if part is Ellipsis), len(key))
    rest = (slice(None),) * (len(shape) - named)
    key = key[:at] + rest + key[at + 1 :]
    return [_one(part, axis, n) for axis, (part, n) in enumerate(zip(key, shape))]


def _one(part, axis, n):
    if isinstance(part, slice):
        start, stop, step = part.indices(n)
        return Along(start, len(range(start, stop, step)), step, False)
    if isinstance(part, (bool, np.bool_)) or part is None:
        raise IndexError(f"{part!r} is no index of a tree: whole numbers, slices, '...' and arrays of points are")
    try:
        index = operator.index(part)
    except TypeError:
        raise IndexError(f"{part!r} is no index of a tree: whole numbers, slices, '...' and arrays of points are") from None
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    return Along(index % n, 1, 1, True)
