"""Packages that only some functions need."""

from __future__ import annotations

import importlib


def needed(module, extra, what):
    """A module of another package. Where it is missing, the message says what wanted it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        missing = (error.name or "").split(".")[0]
        if missing and missing != package:
            # The package is there, and something of its own is missing.
            raise
        raise ModuleNotFoundError(
            f"{what} needs {package}, which is not installed or too old: pip install --upgrade 'pyorthant[{extra}]'", name=package
        ) from error
