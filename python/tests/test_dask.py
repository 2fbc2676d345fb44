"""Runs in pieces on a Dask cluster."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyorthant as ot
import pyorthant.dask
import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("zarr", minversion="3")


def orthant(folder, *arguments):
    subprocess.run([sys.executable, "-m", "pyorthant", "-q", *arguments], cwd=folder, check=True)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    orthant(folder, "run", "mandelbrot", "-n", "512", "-g", "16", "--dwell", "2000", "-o", "one.tree.zarr", "--backend", "cpu")
    return ot.open(folder / "one.tree.zarr")


@pytest.mark.parametrize("workers", [1, 2])
def test_pieces_on_a_cluster(tmp_path, one, workers):
    orthant(tmp_path, "shard", "plan", "mandelbrot", "-n", "512", "-g", "16", "--dwell", "2000", "--pieces", "12", "-o", "m.pieces")
    pieces = tmp_path / "m.pieces"
    assert pyorthant.dask.missing(pieces) == list(range(12))
    assert pyorthant.dask.make_piece(pieces, 3, ["--backend", "cpu"]) == 3
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        if workers > 1:
            victim = client.submit(os.getpid, workers=[cluster.workers[0].worker_address], pure=False).result()
            threading.Timer(0.5, lambda: os.kill(victim, signal.SIGKILL)).start()
        assert pyorthant.dask.make(pieces, client, options=["--backend", "cpu", "--threads", "1"]) == 11
        assert pyorthant.dask.make(pieces, client) == 0
        cells = pyorthant.dask.array(pieces, chunks=128)
        assert cells.chunks == ((128,) * 4,) * 2
        assert (cells.compute() == np.asarray(one)).all()
    assert ot.open(pieces).checksum == one.checksum


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(ValueError, match="no folder of pieces"):
        pyorthant.dask.missing(tmp_path)
    orthant(tmp_path, "shard", "plan", "cantor", "--dim", "1", "-n", "81", "-o", "c.pieces", "--pieces", "2")
    with pytest.raises(ValueError, match="there are 2 pieces, 0 to 1"):
        pyorthant.dask.make_piece(tmp_path / "c.pieces", 2)
    start = time.monotonic()
    with pytest.raises(ValueError, match="piece 0 is not made yet"):
        pyorthant.dask.array(tmp_path / "c.pieces")
    assert time.monotonic() - start < 30
