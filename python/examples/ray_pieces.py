"""A run in pieces on Ray: ``pip install ray``. Run it as it is: it starts Ray on this machine, with two workers.

On a cluster, ``ray.init(address="auto")``, and a folder that all machines see. A task makes one piece in a process of its own, and
returns its number; cells stay in the folder. If a worker dies, Ray has another one make its piece.
"""

import os
import subprocess
import sys
import tempfile

import ray

import pyorthant as ot
import pyorthant.dask

with tempfile.TemporaryDirectory() as folder:
    pieces = os.path.join(folder, "m.pieces")
    plan = ["shard", "plan", "mandelbrot", "-n", "1024", "-g", "16", "--pieces", "8", "-o", pieces]
    subprocess.run([sys.executable, "-m", "pyorthant", "-q", *plan], check=True)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    # With GPUs: ray.remote(num_gpus=1, max_retries=10), and ["--backend", "cuda"] below.
    make_piece = ray.remote(num_cpus=1, max_retries=10)(pyorthant.dask.make_piece)
    options = ["--backend", "cpu", "--threads", "1"]
    # Pieces that are finished are left out, so that the script may be started again.
    tasks = [make_piece.remote(pieces, piece, options) for piece in pyorthant.dask.missing(pieces)]
    while tasks:
        done, tasks = ray.wait(tasks)
        print(f"piece {ray.get(done[0])} is made, {len(tasks)} are not yet")
    ray.shutdown()

    assert not pyorthant.dask.missing(pieces)
    # Finished pieces are a tree as they are.
    tree = ot.open(pieces)
    print(tree)
    assert tree.checksum == ot.run("mandelbrot", n=1024, g=16, keep="regions", backend="cpu").tree().checksum
