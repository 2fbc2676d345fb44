"""Levels of detail as arrays, each smaller than the one before: a pyramid, as viewers of large images want it.

The first is the tree itself. A cell of the smallest ones is a region of a level of the tree. Regions have many cells, so that
arrays of every second, fourth, eighth cell lie between them and the tree.
"""

from __future__ import annotations

import threading

import numpy as np

from . import _core, _index, _ome

#: A pyramid ends with the last array that has so many cells on its longest axis: viewers show the smallest array in 3-D.
_LEAST = 64


class Level:
    """A tree down to the level `number`, indexed like an array of `shape`. It is cut when the first cell is asked for.

    With `number` None it is the tree itself, or with a smaller `shape` some of its cells.
    """

    __slots__ = ("shape", "tree", "_by", "_cut", "_lock", "_number")

    def __init__(self, tree, number=None, by="mode", shape=None):
        self.tree = tree
        self.shape = shape or tree.shape
        self._number, self._by = number, by
        self._cut = tree if number is None else None
        self._lock = threading.Lock()

    @property
    def dtype(self):
        """The type of a cell."""
        return self.tree.dtype

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """Cells in all."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def factors(self):
        """How many cells of the tree a cell has on each axis. Regions that do not divide an axis have that many on average."""
        return tuple(n / m for n, m in zip(self.tree.shape, self.shape))

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        """Cells by whole numbers, slices and ``...``."""
        if self.shape == self.tree.shape:
            return self._cells()[key]
        along = _index.along(key, self.shape)
        # Region p of m begins at cell p * n // m of an axis of n cells.
        sizes = zip(along, self.tree.shape, self.shape)
        cells = [(axis.start + axis.step * np.arange(axis.cells, dtype=np.int64)) * n // m for axis, n, m in sizes]
        found = self._cells()._grid(cells)
        return found[tuple(0 if axis.single else slice(None) for axis in along)]

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a level of a tree has no array to share: all cells are copied out of it")
        cells = self[...]
        return cells if dtype is None else cells.astype(dtype, copy=False)

    def __reduce__(self):
        return Level, (self.tree, self._number, self._by, self.shape)

    def __repr__(self):
        return f"Level {'x'.join(map(str, self.shape))} {self.dtype} of {self.tree!r}"

    def _cells(self):
        with self._lock:
            if self._cut is None:
                self._cut = self.tree.lod(self._number, self._by)
            return self._cut


def pyramid(tree, by="mode"):
    """The tree and its levels of detail as arrays, the largest first. Axes of time and channels keep their cells."""
    # The library knows what `by` may be. It is asked at once, of a tree of one cell, and not when the first cell is read.
    _core.build_array(np.zeros(1, "u1"), {}, [], [], None).lod(0, by)
    space = [kind == "space" for kind in _ome.kinds(tree)]
    kept = lambda shape: tuple(m if of else n for n, m, of in zip(tree.shape, shape, space))
    grids = [tuple(grid[::-1]) for grid in tree.plan["levels"]]
    regions = [Level(tree, number, by, kept(grids[number])) for number in reversed(range(len(grids)))]
    arrays = [Level(tree), *_between(tree, regions[0].shape), *regions]
    longest = lambda level: max((n for n, of in zip(level.shape, space) if of), default=0)
    smaller = [after for before, after in zip(arrays, arrays[1:]) if after.shape != before.shape and longest(after) >= _LEAST]
    return [arrays[0], *smaller]


def _between(tree, least):
    """Arrays of every second, fourth, eighth cell, while they are larger than `least`."""
    shape = tree.shape
    while True:
        shape = tuple(max(-(-n // 2), m) for n, m in zip(shape, least))
        if all(2 * n < 3 * m for n, m in zip(shape, least)):
            return
        yield Level(tree, None, "mode", shape)
