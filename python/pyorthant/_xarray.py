"""xarray: cells with the names, units and coordinates of axes, and ``xarray.open_dataset(path, engine="orthant")``."""

from __future__ import annotations

import os

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._store import is_tree
from ._tree import open as open_tree


class _Cells(BackendArray):
    """Cells of a tree, read when they are used."""

    def __init__(self, tree):
        self.tree = tree
        self.shape = tree.shape
        self.dtype = tree.dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self.tree.__getitem__)


def _attributes(tree):
    """What is known of the cells, as CF has it where it can say it."""
    about = tree.about
    found = {"predicate": about["predicate"]}
    if about["source"]:
        found["source"] = about["source"]
    if about["nodata"] is not None:
        found["missing_value"] = about["nodata"]
    if about["scale"] is not None:
        found["slope"], found["intercept"] = about["scale"]
    table = tree.label_table
    if table is not None:
        found["flag_values"] = table["value"]
        found["flag_meanings"] = " ".join(name.replace(" ", "_") for name in table["name"])
    return found


def to_xarray(tree, lazy):
    """The cells of a tree as a DataArray."""
    coordinates = {}
    for axis in tree.axes:
        centres = axis.origin + axis.spacing * (np.arange(axis.size) + 0.5)
        coordinates[axis.name] = (axis.name, centres, {"units": axis.unit} if axis.unit else {})
    cells = indexing.LazilyIndexedArray(_Cells(tree)) if lazy else tree.to_numpy()
    dims = [axis.name for axis in tree.axes]
    variable = xr.Variable(dims, cells, _attributes(tree))
    return xr.DataArray(variable, coords=coordinates, name="image")


class OrthantBackend(BackendEntrypoint):
    """Opens a tree as a data set of one variable, ``image``, whose cells are read when they are used."""

    description = "Trees of orthant (.tree.zarr, .tree.zarr.zip)"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "storage_options")

    def open_dataset(self, filename_or_obj, *, drop_variables=None, storage_options=None):
        """The tree as a data set. A URL may have ``storage_options``, as `pyorthant.open` takes them."""
        image = to_xarray(open_tree(filename_or_obj, storage_options=storage_options), lazy=True)
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return image.to_dataset().drop_vars(dropped)

    def guess_can_open(self, filename_or_obj):
        """True of what is called as trees are."""
        try:
            name = os.fspath(filename_or_obj)
        except TypeError:
            return False
        return is_tree(str(name))
