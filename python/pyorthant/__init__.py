"""Trees of uniform regions of N-dimensional arrays and fields.

>>> import numpy as np
>>> import pyorthant as ot
>>> volume = np.zeros((32, 64, 64), "u1")
>>> volume[8:24, 16:48, 16:48] = 7
>>> t = ot.tree(volume, B=4)
>>> t
Tree 32x64x64 uint8, 88 regions, 0 % of cells in leaves
>>> t[10, 20, 14:20]
array([0, 0, 7, 7, 7, 7], dtype=uint8)
>>> bool((np.asarray(t) == volume).all())
True

Arrays have NumPy's order of axes: x is the last. Options have one value per axis with x first, as on the command line.
"""

from __future__ import annotations

import importlib

from . import _core

__version__ = _core.VERSION

#: Where each name is. Modules are imported when a name is used, so that the command line starts without NumPy.
_PLACES = {
    "tree": "_build",
    "open": "_tree",
    "Tree": "_tree",
    "Axis": "_tree",
    "Page": "_page",
    "RegionsTable": "_arrow",
    "napari": "_napari",
    "run": "_run",
    "fields": "_run",
    "Subdivision": "_run",
    "doctor": "_run",
    "OrthantError": "_errors",
    "DifferenceError": "_errors",
    "BackendUnavailable": "_errors",
    "CudaError": "_errors",
    "MemoryLimitError": "_errors",
}

__all__ = sorted(_PLACES)


def __getattr__(name):
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'pyorthant' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{place}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_PLACES])
