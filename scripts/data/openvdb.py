"""Times OpenVDB's copyFromArray and prune on a .npy of labels in 3-D, and writes OUT.vdb.

    python3 openvdb.py IN.npy OUT.vdb [ROUNDS]

OpenVDB's Python has grids of float, so that labels become floats, which hold them.
"""

import statistics
import sys
import time

import numpy as np
import pyopenvdb

array = np.load(sys.argv[1])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
floats = np.ascontiguousarray(array.transpose(2, 1, 0).astype(np.float32))
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    grid = pyopenvdb.FloatGrid()
    grid.copyFromArray(floats)
    grid.prune()
    seconds.append(time.perf_counter() - start)
grid.name = "value"
pyopenvdb.write(sys.argv[2], grids=[grid])
middle = statistics.median(seconds)
spread = statistics.median(abs(s - middle) for s in seconds)
print(f"OpenVDB {'.'.join(map(str, pyopenvdb.LIBRARY_VERSION))}: copyFromArray + prune {middle * 1e3:.1f} ms +- {spread * 1e3:.1f}")
