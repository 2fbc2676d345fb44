"""Cells of 2^20 on each of four axes, with a value from 1 to 999.

    python3 cells.py ENTRIES OUT.npy          in random places
    python3 cells.py ENTRIES OUT.npy track    ten in a row along x at each step of axis 3, at a place that drifts (10^7 at most)
"""

import sys

import numpy as np
from numpy.lib.format import open_memmap

SIDE, AXES, TOGETHER = 1 << 20, 4, 1_000_000

entries, path = int(float(sys.argv[1])), sys.argv[2]
random = np.random.default_rng(11)
rows = open_memmap(path, mode="w+", dtype=np.int32, shape=(entries, AXES + 1))
track = sys.argv[3:] == ["track"]
if track:
    place = SIDE // 2 + np.cumsum(random.integers(-3, 4, size=(entries // 10 + 1, 3)), axis=0)
for start in range(0, entries, TOGETHER):
    end = min(entries, start + TOGETHER)
    if track:
        number = np.arange(start, end)
        rows[start:end, :3] = place[number // 10] % (SIDE - 10)
        rows[start:end, 0] += (number % 10).astype(np.int32)
        rows[start:end, 3] = number // 10
    else:
        rows[start:end, :AXES] = random.integers(0, SIDE, size=(end - start, AXES))
    rows[start:end, AXES] = random.integers(1, 1000, size=end - start)
rows.flush()
