"""Regions as a table that pyarrow, polars, pandas and DuckDB read without a dependency of ours."""

from __future__ import annotations


class RegionsTable:
    """The regions of a tree or a run as a table, by Arrow's PyCapsule interface.

    ``pyarrow.table(x)``, ``polars.DataFrame(x)``, ``pandas.DataFrame.from_arrow(x)`` and DuckDB's queries take it as it is.
    Its columns are ``level``, ``code``, ``corner_z`` and ``extent_z`` for each axis, here ``z``, ``value`` and ``brick``. A
    leaf has no ``value``, and a uniform region no ``brick``: they are null there.
    """

    __slots__ = ("_axes", "_core")

    def __init__(self, core, axes):
        self._core = core
        self._axes = list(axes)

    @property
    def column_names(self):
        """The names of its columns."""
        each = [f"{what}_{axis}" for what in ("corner", "extent") for axis in self._axes]
        return ("level", "code", *each, "value", "brick")

    def __len__(self):
        return self._core.rows()

    def __arrow_c_schema__(self):
        """The types of its columns, for packages that read tables of Arrow's."""
        return self._core.arrow_schema(self._axes)

    def __arrow_c_stream__(self, requested_schema=None):
        """Its rows, for packages that read tables of Arrow's. They cast types themselves: `requested_schema` changes nothing."""
        return self._core.arrow_stream(self._axes)

    def __repr__(self):
        return f"RegionsTable of {len(self)} rows: {', '.join(self.column_names)}"
