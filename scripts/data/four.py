"""Sparse domains of four axes, whose sizes can be chosen.

    python3 four.py series SIDE STEPS OUT.npy    labels 1 to 3: three balls that move, SIDE^3 cells at STEPS times, u8
    python3 four.py shell SIDE RADIUS OUT.npy    a list of the cells that a sphere of three dimensions meets, [x, y, z, w, label], i16
"""

import sys

import numpy as np
from numpy.lib.format import open_memmap


def series(side, steps, path):
    """Balls in a box of SIDE; time is the slowest axis."""
    out = open_memmap(path, mode="w+", dtype=np.uint8, shape=(steps, side, side, side))
    z, y, x = np.ogrid[:side, :side, :side]
    for step in range(steps):
        out[step] = 0
        for label, radius in enumerate([side / 4, side / 6, side / 9], 1):
            angle = step / steps * np.pi + 2 * label
            middle = side / 2 + side / 4 * np.array([np.cos(angle), np.sin(angle), np.cos(2 * angle)])
            inside = (x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2 < radius**2
            out[step][inside] = label
    out.flush()


def shell(side, radius, path):
    """Cells whose middle is half an edge from the sphere at most; labels are the sixteen orthants."""
    middle = (side - 1) / 2
    z, y, x = np.meshgrid(*[np.arange(side, dtype=np.float32) - middle] * 3, indexing="ij", sparse=True)
    found = []
    for w in range(side):
        distance = np.sqrt(x**2 + y**2 + z**2 + np.float32(w - middle) ** 2)
        cells = np.argwhere(np.abs(distance - radius) <= 0.5)[:, ::-1]
        cells = np.concatenate([cells, np.full((len(cells), 1), w)], axis=1)
        label = 1 + ((cells > middle) * [1, 2, 4, 8]).sum(axis=1)
        found.append(np.concatenate([cells, label[:, None]], axis=1).astype(np.int16))
    rows = np.concatenate(found)
    np.save(path, rows)
    print(f"{len(rows)} entries")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ["series", "shell"]:
        sys.exit(__doc__)
    {"series": series, "shell": shell}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
