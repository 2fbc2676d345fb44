"""napari: a reader of trees, and viewers of them with levels of detail."""

from __future__ import annotations

import os

import numpy as np

from . import _ome
from ._extras import needed
from ._levels import pyramid
from ._tree import Tree
from ._tree import open as open_tree

#: Colours of two kinds of labels. Nothing is seen of the background, 0, whatever a table says: else it hides the others in 3-D.
#: Labels without a colour are grey.
_FIXED = {0: (0.0, 0.0, 0.0, 0.0), None: (0.5, 0.5, 0.5, 1.0)}


def get_reader(path):
    """napari's question who reads these files: the function that reads trees, or None of other files."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    endings = (".tree.zarr", ".tree.zarr.zip")
    if not paths or not all(str(path).rstrip("/\\").lower().endswith(endings) for path in paths):
        return None
    return read


def read(path):
    """A layer for each tree: data, options and the kind of the layer, as napari takes them."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    return [layer(open_tree(path)) for path in paths]


def layer(tree, by="mode"):
    """A tree as a layer: data, options and the kind, ``"labels"`` or ``"image"``."""
    levels = pyramid(tree, by)
    scale, centre = _ome.place(tree, levels[0].factors)
    options = {
        "name": _name(tree),
        "scale": scale,
        "translate": centre,
        "axis_labels": [axis.name for axis in tree.axes],
        "units": [_ome.unit(axis.unit)[0] or "pixel" for axis in tree.axes],
        "multiscale": len(levels) > 1,
        "metadata": {"orthant": {"path": tree.path, "checksum": tree.checksum, **tree.about}},
    }
    data = levels if len(levels) > 1 else levels[0]
    if tree._are_labels():
        return data, {**options, **_of_labels(tree)}, "labels"
    # Else napari takes a last axis of 3 or 4 cells for colours.
    return data, {**options, "contrast_limits": _limits(levels[-1]), "rgb": False}, "image"


def napari(tree, *, viewer=None, by="mode", **options):
    """Shows a tree in napari, as a layer with levels of detail, and returns the viewer.

    `viewer` is one that is open already; else one is opened. `by` is that of `Tree.lod`. Other options are those of
    ``Viewer.add_image`` and ``Viewer.add_labels``. In a script, ``napari.run()`` keeps the window open.
    """
    package = needed("napari", "napari", "napari()")
    if not isinstance(tree, Tree):
        raise TypeError(f"napari() shows a tree, not {tree!r}: pyorthant.tree(array) builds one, pyorthant.open(path) opens one")
    data, usual, kind = layer(tree, by)
    viewer = package.Viewer() if viewer is None else viewer
    add = viewer.add_labels if kind == "labels" else viewer.add_image
    add(data, **{**usual, **options})
    return viewer


def _name(tree):
    name = os.path.basename(tree.path.rstrip("/\\")) if tree.path else tree.about["source"] or "tree"
    return name.removesuffix(".zip").removesuffix(".tree.zarr")


def _of_labels(tree):
    """Names and colours of labels."""
    table = tree.label_table
    if table is None:
        return {}
    found = {"features": {"index": table["value"].astype(np.int64), "name": table["name"]}}
    colours = tree._colours()
    if colours:
        found["colormap"] = {**{value: tuple(part / 255 for part in colour) for value, colour in colours.items()}, **_FIXED}
    return found


def _limits(level):
    """The least and the greatest number of a level. Where there are many cells, of some of them."""
    every = [slice(None, None, max(1, n // 64)) for n in level.shape]
    cells = level[tuple(every)].astype(float)
    fits = cells[np.isfinite(cells)]
    low, high = (float(fits.min()), float(fits.max())) if fits.size else (0.0, 1.0)
    return (low, high) if low < high else (low, low + 1)
