"""Runs in pieces on a Dask cluster: ``pip install 'pyorthant[dask]'``.

``orthant shard plan`` makes a folder of pieces, which all workers must see::

    from dask.distributed import Client
    import pyorthant.dask

    with Client("scheduler:8786") as client:
        pyorthant.dask.make("m.pieces", client)
    cells = pyorthant.dask.array("m.pieces")
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import DifferenceError, OrthantError
from ._extras import needed
from ._store import scheme
from ._tree import open as open_tree

__all__ = ["array", "make", "make_piece", "missing"]

#: Times that a piece is tried: a worker that dies while it makes one is no fault of the piece.
_RETRIES = 10


def _orthant(*arguments: str, ok: Iterable[int] = (0,)) -> str:
    """What the program prints, in a process of its own: whoever kills that does not kill a worker."""
    done = subprocess.run([sys.executable, "-m", "pyorthant", "-q", *arguments], capture_output=True, text=True, check=False)
    if done.returncode in ok:
        return done.stdout
    words = done.stderr.strip().removeprefix("orthant: ") or f"it ended with {done.returncode}"
    raise {2: ValueError, 3: DifferenceError}.get(done.returncode, OrthantError)(words)


def missing(folder: str | os.PathLike[str]) -> list[int]:
    """The pieces of a folder that are not finished."""
    found = json.loads(_orthant("shard", "status", os.fspath(folder), "--quick", "--json", ok=(0, 3)))
    finished = {piece["piece"] for piece in found["done"]}
    return [piece for piece in range(found["pieces"]) if piece not in finished]


def make_piece(folder: str | os.PathLike[str], piece: int, options: Sequence[str] = ()) -> int:
    """Makes one piece, unless it is finished, and returns its number. `options` are those of ``orthant shard run``."""
    _orthant("shard", "run", os.fspath(folder), "--shard", str(piece), *options)
    return piece


def make(folder: str | os.PathLike[str], client: Any = None, *, options: Sequence[str] = (), retries: int = _RETRIES) -> int:
    """Makes all pieces of a folder that are missing, on the workers of a cluster, and returns how many these were.

    `client` is a ``distributed.Client``; by default the one that is active. `options` are those of ``orthant shard run``: each worker has
    its share of a host if it is ``["--threads", "4"]``. A piece whose worker dies is made by another.
    """
    distributed = needed("distributed", "dask", "pyorthant.dask.make()")
    client = client or distributed.get_client()
    folder = os.path.abspath(os.fspath(folder))
    open_pieces = missing(folder)
    futures = [client.submit(make_piece, folder, piece, tuple(options), retries=retries, pure=False) for piece in open_pieces]
    client.gather(futures)
    left = missing(folder)
    if left:
        raise DifferenceError(f"{folder}: {len(left)} pieces are missing; workers may not see the folder, or others make them")
    return len(open_pieces)


def array(tree: str | os.PathLike[str], *, chunks: Any = None) -> Any:
    """The cells of a tree (also behind a URL), or of a folder of finished pieces, as a lazy ``dask.array``, x last. A chunk is cut out of the tree when it is asked for."""
    dask_array = needed("dask.array", "dask", "pyorthant.dask.array()")
    zarr = needed("zarr", "dask", "pyorthant.dask.array()")
    path = os.fspath(tree)
    path = path if scheme(path) else os.path.abspath(path)
    return dask_array.from_zarr(zarr.open_array(open_tree(path).zarr(chunks=chunks), mode="r"))
