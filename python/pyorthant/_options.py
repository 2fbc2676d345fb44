"""Options as texts: the library reads them, and knows their names, values and defaults."""

from __future__ import annotations

import operator
import os
import sys


def text(value):
    """A value as the command line writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"a number, a text or several of them are needed, not {value!r}")


def texts(name, value):
    """An option as the command line writes it: several numbers are one per axis."""
    if isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and getattr(value, "ndim", 0)):
        values = value.tolist() if hasattr(value, "tolist") else list(value)
        if name == "domain":
            if any(not isinstance(ends, (list, tuple)) or len(ends) != 2 for ends in values):
                raise ValueError(f"domain {value!r}: a pair (low, high) per axis is needed, x first")
            return ",".join(f"{text(low)}:{text(high)}" for low, high in values)
        return ("," if name in ("step", "labels", "columns") else "x").join(text(part) for part in values)
    return text(value)


def given(options, scheme=None):
    """Options by name as texts. What is None is not given. A scheme (g, r, B) is three of them."""
    if scheme is not None and not isinstance(scheme, str):
        parts = tuple(scheme)
        if len(parts) != 3:
            raise ValueError(f"scheme {scheme!r}: three numbers (g, r, B) are needed, or a name")
        both = [name for name in ("g", "r", "B") if options.get(name) is not None]
        if both:
            raise TypeError(f"scheme=(g, r, B) and {both[0]}= say the same; leave one out")
        options = {**options, **dict(zip(("g", "r", "B"), parts))}
    elif scheme is not None:
        options = {**options, "scheme": scheme}
    return {name: texts(name, value) for name, value in options.items() if value is not None}


def progress(wanted):
    """What is called with cells done and cells in all. None if nobody wants to know."""
    if wanted is None or wanted is False:
        return None
    if wanted is not True:
        if not callable(wanted):
            raise TypeError(f"progress {wanted!r}: True, or a function of (cells done, cells), is needed")
        return wanted
    try:
        from tqdm.auto import tqdm  # type: ignore
    except ImportError:
        return _line
    bars = []

    def advance(done, cells):
        if not bars:
            bars.append(tqdm(total=cells, unit="cell", unit_scale=True))
        bars[0].update(done - bars[0].n)
        if done == cells:
            bars[0].close()

    return advance


def _line(done, cells):
    """A line on stderr that is written again and again."""
    end = "\n" if done == cells else ""
    print(f"\r{100 * done / cells:5.1f} % of {cells} cells", end=end, file=sys.stderr, flush=True)
