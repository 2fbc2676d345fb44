"""Pictures without any other package: colours, and PNG files."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from ._extras import needed

#: Pixels on an axis of a picture in a notebook.
MOST = 512

#: Colours of a gradient from dark to bright, which people who are colour-blind tell apart.
_STOPS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], float)


def distinct(count):
    """So many colours that are told apart. The first, which most labels call background, is dark."""
    colours = np.zeros((count, 3), np.uint8)
    for number in range(count):
        # Hues a golden angle apart.
        hue = (number * 0.381966) % 1.0
        light = (0.95, 0.75, 0.85)[number % 3]
        parts = np.abs((hue * 6 + np.array([0, 4, 2])) % 6 - 3) - 1
        colours[number] = 255 * light * (1 - 0.65 * (1 - np.clip(parts, 0, 1)))
    if count:
        colours[0] = (24, 24, 32)
    return colours


def gradient(shares):
    """The colours of numbers from 0 to 1."""
    places = np.clip(np.nan_to_num(shares), 0, 1) * (len(_STOPS) - 1)
    below = np.minimum(places.astype(int), len(_STOPS) - 2)
    part = (places - below)[..., None]
    return (_STOPS[below] * (1 - part) + _STOPS[below + 1] * part).astype(np.uint8)


def are_labels(plane, kind=None):
    """Whether each value has a colour of its own: as `kind` says, ``"labels"`` or ``"values"``, else as the cells look."""
    if kind is not None:
        return kind == "labels"
    return plane.dtype.kind in "iu" and len(np.unique(plane)) <= 256


def coloured(plane, known=None, steps=False, kind=None):
    """A plane of cells as red, green and blue. `known` are colours by value, as of labels that have them.

    Of counted `steps` the few are told apart, by their logarithms.
    """
    values, places = np.unique(plane, return_inverse=True)
    places = places.reshape(plane.shape)
    if are_labels(plane, kind) and not steps:
        colours = distinct(len(values))
        for place, value in enumerate(values):
            if known and value in known:
                colours[place] = known[value][:3]
        return colours[places]
    numbers = np.log1p(plane.astype(float)) if steps else plane.astype(float)
    fits = numbers[np.isfinite(numbers)]
    low, high = (fits.min(), fits.max()) if fits.size else (0.0, 1.0)
    return gradient((numbers - low) / ((high - low) or 1.0))


def png(pixels):
    """The bytes of a PNG file of an array [rows, columns, 3] of bytes."""
    rows, columns, _ = pixels.shape
    lines = np.zeros((rows, 1 + 3 * columns), np.uint8)
    lines[:, 1:] = pixels.reshape(rows, 3 * columns)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    packed = zlib.compress(lines.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def plane_of(shape, at=None, names=()):
    """An index of a plane of the last two axes: other axes have the cells that `at` says by name or number, else the middle."""
    index = [n // 2 for n in shape]
    shown = list(range(max(0, len(shape) - 2), len(shape)))
    fixed = {}
    if at is not None and not hasattr(at, "items"):
        raise TypeError(f"at {at!r}: cells are said by axis, as in at={{{(names[0] if names else 'z')!r}: 12}}")
    for key, cell in (at or {}).items():
        axis = names.index(key) if key in names else key
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            raise ValueError(f"at {key!r}: the axes are {', '.join(names)}, or their numbers")
        n = shape[axis]
        if not -n <= cell < n:
            raise IndexError(f"at {key!r}: index {cell} is out of bounds for axis {axis} with size {n}")
        fixed[axis % len(shape)] = cell % n
    if fixed:
        free = [axis for axis in range(len(shape)) if axis not in fixed]
        if len(free) < min(2, len(shape)):
            raise ValueError("at: two axes are to be left for a picture")
        shown = free[-2:]
    for axis, cell in fixed.items():
        index[axis] = cell
    return tuple(slice(None) if axis in shown else index[axis] for axis in range(len(shape))), shown


def preview(cells, at=None, names=(), known=None, steps=False, kind=None):
    """A PNG of a plane of what is indexed as an array, of at most 512 pixels on an axis. y points up."""
    index, shown = plane_of(cells.shape, at, names)
    strides = {axis: slice(None, None, -(-cells.shape[axis] // MOST)) for axis in shown}
    plane = np.atleast_2d(cells[tuple(strides.get(axis, cell) for axis, cell in enumerate(index))])
    scale = max(1, 192 // max(plane.shape))
    pixels = coloured(plane, known, steps, kind)[::-1]
    return png(np.repeat(np.repeat(pixels, scale, 0), scale, 1))


def draw(cells, ax, at, names, overlay, regions, extents, known, options, steps=False, kind=None):
    """Draws a plane with matplotlib."""
    plt = needed("matplotlib.pyplot", "plot", "plot()")
    ax = plt.gca() if ax is None else ax
    index, shown = plane_of(cells.shape, at, names)
    plane = np.asarray(cells[index])
    if len(shown) == 1:
        low, high = extents[0]
        step = (high - low) / len(plane)
        ax.step(low + step * (np.arange(len(plane)) + 0.5), plane, where="mid", **options)
        ax.set_xlabel(names[0])
        return ax
    rows, columns = shown
    place = (*extents[columns], *extents[rows])
    own = (steps or are_labels(plane, kind)) and "cmap" not in options
    picture = coloured(plane, known, steps, kind) if own else plane
    ax.imshow(picture, origin="lower", extent=place, interpolation="nearest", **options)
    ax.set_xlabel(names[columns])
    ax.set_ylabel(names[rows])
    if overlay:
        _boxes(ax, index, shown, regions(), cells.shape, extents)
    return ax


def _boxes(ax, index, shown, regions, shape, extents):
    """Draws the borders of the regions that a plane meets."""
    from matplotlib.collections import LineCollection

    meets = np.ones(len(regions), bool)
    for axis, cell in enumerate(index):
        if not isinstance(cell, slice):
            low = regions["corner"][:, axis].astype(np.int64)
            meets &= (low <= cell) & (cell < low + regions["extent"][:, axis])
    found = regions[meets]
    rows, columns = shown

    def ends(axis):
        (low, high), n = extents[axis], shape[axis]
        first = found["corner"][:, axis].astype(float)
        return low + first * (high - low) / n, low + (first + found["extent"][:, axis]) * (high - low) / n

    (left, right), (bottom, top) = ends(columns), ends(rows)
    corners = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]
    lines = np.stack([np.stack(corner, -1) for corner in corners], 1)
    ax.add_collection(LineCollection(lines, colors="white", linewidths=0.4))
