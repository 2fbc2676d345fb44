"""What OME-Zarr says of an image: axes, sizes, places, and the names and colours of labels."""

from __future__ import annotations

#: The version of the specification.
VERSION = "0.5"

_SPACE = {
    "km": "kilometer",
    "m": "meter",
    "cm": "centimeter",
    "mm": "millimeter",
    "um": "micrometer",
    "\u00b5m": "micrometer",
    "\u03bcm": "micrometer",
    "micron": "micrometer",
    "nm": "nanometer",
    "pm": "picometer",
    "angstrom": "angstrom",
}
_TIME = {
    "d": "day",
    "h": "hour",
    "min": "minute",
    "s": "second",
    "sec": "second",
    "ms": "millisecond",
    "us": "microsecond",
    "\u00b5s": "microsecond",
    "\u03bcs": "microsecond",
    "ns": "nanosecond",
}


def unit(text):
    """A unit by its whole name, and ``"space"`` or ``"time"``. Twice None if it is neither's."""
    for kind, known in (("space", _SPACE), ("time", _TIME)):
        if text in known or text in known.values():
            return known.get(text, text), kind
    return None, None


def kinds(tree):
    """What each axis is: ``"time"`` or ``"channel"`` by its name or unit, else ``"space"`` if it is one of the last three, or None."""
    found = []
    for number, axis in enumerate(tree.axes):
        kind = unit(axis.unit)[1]
        if axis.name in ("t", "time"):
            kind = "time"
        elif axis.name in ("c", "channel"):
            kind = "channel"
        elif kind is None and number >= tree.ndim - 3:
            kind = "space"
        found.append(kind)
    return found


def axes(tree):
    """The axes with their units."""
    found = [{"name": axis.name, "type": kind, "unit": unit(axis.unit)[0] or axis.unit} for axis, kind in zip(tree.axes, kinds(tree))]
    return [{key: value for key, value in about.items() if value is not None} for about in found]


def place(tree, factors):
    """The step from cell to cell of an array, and the centre of its first cell, one each per axis."""
    steps = [axis.spacing * factor for axis, factor in zip(tree.axes, factors)]
    return steps, [axis.origin + step / 2 for axis, step in zip(tree.axes, steps)]


def attributes(tree, levels, by):
    """The attributes of the group whose arrays are these levels, called ``0``, ``1`` and so on."""
    if not 2 <= tree.ndim <= 5:
        raise ValueError(f"levels=True: an image of OME-Zarr has 2 to 5 axes, and the tree has {tree.ndim}; t.zarr() gives its cells as one array")
    datasets = []
    for number, level in enumerate(levels):
        steps, centre = place(tree, level.factors)
        moves = [{"type": "scale", "scale": steps}, {"type": "translation", "translation": centre}]
        datasets.append({"path": str(number), "coordinateTransformations": moves})
    image = {"name": tree.about["source"] or "tree", "axes": axes(tree), "datasets": datasets, "type": by}
    ome = {"version": VERSION, "multiscales": [image]}
    if tree._are_labels():
        ome["image-label"] = _labels(tree)
    return {"ome": ome}


def _labels(tree):
    table = tree.label_table
    if table is None:
        return {"version": VERSION}
    rows = [(int(value), str(name), colour) for value, name, colour in zip(table["value"], table["name"], table["colour"])]
    found = {"version": VERSION, "properties": [{"label-value": value, "name": name} for value, name, _ in rows]}
    if any(colour is not None for _, _, colour in rows):
        # Readers want all labels in both lists. One without a colour is named there without one.
        colours = [{"label-value": value} | ({} if colour is None else {"rgba": list(colour)}) for value, _, colour in rows]
        found["colors"] = colours
    return found
