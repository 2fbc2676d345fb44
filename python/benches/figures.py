"""Prints the rows of docs/results/python.md: the installed package against the command line that is in it.

    python python/benches/figures.py

Runs of both are interleaved, each in a process of its own; a row has medians.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import pyorthant as ot

ROUNDS = 11


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def milliseconds(times):
    return f"{1000 * statistics.median(times):.4g} ms ({1000 * min(times):.4g} to {1000 * max(times):.4g})"


def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "pyorthant", *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def python(code):
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def mandelbrot():
    ours, theirs, calls = [], [], []
    code = "import time, pyorthant as ot\not.run\nb = time.perf_counter()\ns = ot.run('mandelbrot', n=4096, backend='cpu')\ne = time.perf_counter() - b\nprint({})"
    for _ in range(ROUNDS):
        theirs.append(command("run", "mandelbrot", "-n", "4096", "--backend", "cpu", "--json")["seconds"])
        ours.append(python(code.format("s.seconds")))
        calls.append(python(code.format("e")))
    row("`run mandelbrot -n 4096`, seconds in the report", milliseconds(theirs))
    row("`ot.run(\"mandelbrot\", n=4096)`, the same", milliseconds(ours))
    row("that call from outside, with its checksum", milliseconds(calls))


def volume(shape, seed=0):
    """Ellipsoids of some labels, as organs are."""
    rng = np.random.default_rng(seed)
    cells = np.zeros(shape, "u1")
    axes = np.ogrid[tuple(slice(n) for n in shape)]
    for label in range(1, 12):
        centre, radius = [rng.uniform(0.2, 0.8) * n for n in shape], [rng.uniform(0.05, 0.2) * n for n in shape]
        cells[sum(((x - c) / r) ** 2 for x, c, r in zip(axes, centre, radius)) < 1] = label
    return cells


def points():
    cells = volume((256, 256, 256))
    t = ot.tree(cells, B=4)
    rng = np.random.default_rng(1)
    for name, at in (
        ("random", rng.integers(0, cells.shape, (10**6, 3))),
        ("in rows", np.argwhere(np.ones((4, 500, 500), bool))[: 10**6] % 256),
    ):
        t[at[:10]]
        times = []
        for _ in range(ROUNDS):
            begun = time.thread_time()
            found = t[at]
            times.append(time.thread_time() - begun)
        assert np.array_equal(found, cells[tuple(at.T)])
        nanoseconds = [f"{1e9 * t / len(at):.3g}" for t in (statistics.median(times), min(times), max(times))]
        row(f"`t[points]`, 10^6 {name}, 256^3 u8 with B=4", "{} ns of the processor each ({} to {})".format(*nanoseconds))
        begun = time.thread_time()
        cells[tuple(at.T)]
        row(f"`array[points]` of NumPy's, the same {name}", f"{1e9 * (time.thread_time() - begun) / len(at):.3g} ns each")


def build():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")
        np.save(path, volume((256, 512, 512)))
        first, ours, theirs, array = [], [], [], np.load(path)
        code = (
            f"import time, numpy as np, pyorthant as ot\na = np.load({path!r})\not.tree\n"
            "b = time.perf_counter()\nt = ot.tree(a, B=4)\nprint(time.perf_counter() - b)"
        )
        ot.tree(array, B=4)
        for _ in range(ROUNDS):
            theirs.append(command("run", "array", "--input", path, "-B", "4", "--keep", "regions", "--json")["seconds"])
            first.append(python(code))
            begun = time.perf_counter()
            ot.tree(array, B=4)
            ours.append(time.perf_counter() - begun)
        row("`run array -B 4 --keep regions`, 512 x 512 x 256 u8, seconds in the report", milliseconds(theirs))
        row("`ot.tree(array, B=4)`, the first call of a process, from outside", milliseconds(first))
        row("`ot.tree(array, B=4)`, later calls, from outside", milliseconds(ours))


def imports():
    code = "import time, numpy\nb = time.perf_counter()\nimport pyorthant as ot\not.tree\nprint(time.perf_counter() - b)"
    bare = "import time\nb = time.perf_counter()\nimport pyorthant\nprint(time.perf_counter() - b)"
    row("`import pyorthant`", milliseconds([python(bare) for _ in range(ROUNDS)]))
    row("`import pyorthant as ot; ot.tree`, NumPy imported already", milliseconds([python(code) for _ in range(ROUNDS)]))


def function():
    def ball(p):
        return (p * p).sum(1) < 0.5

    n = 256
    axis = -1 + 2 * (np.arange(n) + 0.5) / n
    begun = time.perf_counter()
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij")[::-1], -1).reshape(-1, 3)
    dense = ball(grid).reshape(n, n, n)
    row(f"a ball in {n}^3, every point by NumPy", f"{1000 * (time.perf_counter() - begun):.4g} ms")
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        s = ot.run(ball, n=(n,) * 3, domain=[(-1, 1)] * 3, max_label=1, precision="f64")
        times.append(time.perf_counter() - begun)
    row("`ot.run(ball, ..)`", milliseconds(times))
    row("cells that differ", int((s.to_numpy() != dense).sum()))


if __name__ == "__main__":
    row("what", "figure")
    row("---", "---")
    mandelbrot()
    points()
    build()
    function()
    imports()
