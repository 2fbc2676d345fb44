"""Sparse domains of three and four axes, whose sizes can be chosen.

    python3 sparse.py series SIDE STEPS OUT.npy    labels 1 to 3: three balls that move, SIDE^3 cells at STEPS times, u8
    python3 sparse.py shell SIDE RADIUS OUT.npy    a list of the cells that a sphere in 4-D meets, [x, y, z, w, label], i16
    python3 sparse.py mask SIDE RADIUS OUT.npy     the same cells as an array of SIDE^4 u8: 1, and 0 beside them
    python3 sparse.py tubes SIDE COUNT OUT.npy     labels 1 to COUNT: tubes that wind through SIDE^3 cells, u8
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


def mask(side, radius, path):
    """What shell lists, as an array."""
    place = np.arange(side, dtype=np.float32) - (side - 1) / 2
    out = open_memmap(path, mode="w+", dtype=np.uint8, shape=(side,) * 4)
    z, y, x = np.meshgrid(place, place, place, indexing="ij", sparse=True)
    for w in range(side):
        out[w] = np.abs(np.sqrt(x**2 + y**2 + z**2 + place[w] ** 2) - radius) <= 0.5
    out.flush()


def tubes(side, count, path):
    """Tubes along z, whose middle goes around in a circle."""
    out = np.zeros((side,) * 3, np.uint8)
    z = np.arange(side)
    y, x = np.mgrid[:side, :side]
    random = np.random.default_rng(5)
    for label in range(1, count + 1):
        middle, turn = random.uniform(0.2, 0.8, 2) * side, random.uniform(0, 2 * np.pi)
        bend, radius = random.uniform(0.02, 0.1) * side, random.uniform(0.008, 0.03) * side
        for plane in z:
            angle = turn + 4 * np.pi * plane / side
            at = middle + bend * np.array([np.cos(angle), np.sin(angle)])
            out[plane][(x - at[0]) ** 2 + (y - at[1]) ** 2 <= radius**2] = label
    np.save(path, out)


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
    made = {"series": series, "shell": shell, "mask": mask, "tubes": tubes}
    if len(sys.argv) != 5 or sys.argv[1] not in made:
        sys.exit(__doc__)
    made[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
