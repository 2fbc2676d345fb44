"""Writes the 3-D Shepp-Logan phantom as a .npy of u16, slice by slice.

    python3 phantom.py SIDE OUT.npy [NOISE]      NOISE: greatest value that is added to a cell at random (0)
    python3 phantom.py SIDE OUT.npy normal SIGMA  normal noise of that width instead, about values that are 1000 higher

Ellipsoids as in Kak and Slaney, Principles of Computerized Tomographic Imaging (1988), table 3.1 with heights of a head:
value, semi-axes, centre, turn about z in degrees.
"""

import sys

import numpy as np

ELLIPSOIDS = [
    (2000, (0.69, 0.92, 0.90), (0.0, 0.0, 0.0), 0),
    (-980, (0.6624, 0.874, 0.88), (0.0, -0.0184, 0.0), 0),
    (-200, (0.11, 0.31, 0.22), (0.22, 0.0, -0.25), -18),
    (-200, (0.16, 0.41, 0.28), (-0.22, 0.0, -0.25), 18),
    (100, (0.21, 0.25, 0.41), (0.0, 0.35, -0.25), 0),
    (100, (0.046, 0.046, 0.046), (0.0, 0.1, -0.25), 0),
    (100, (0.046, 0.046, 0.046), (0.0, -0.1, -0.25), 0),
    (100, (0.046, 0.023, 0.02), (-0.08, -0.605, -0.25), 0),
    (100, (0.023, 0.023, 0.10), (0.0, -0.605, -0.25), 0),
    (100, (0.023, 0.046, 0.10), (0.06, -0.605, -0.25), 0),
]


def slice_at(z, side):
    """One slice: each row of an ellipsoid is a run of cells, so that a slice is the running sum of its ends."""
    ends = np.zeros((side, side + 1), np.int32)
    y = (np.arange(side) + 0.5) * 2 / side - 1
    rows = np.arange(side)
    for value, (a, b, c), (x0, y0, z0), turn in ELLIPSOIDS:
        height = 1 - ((z - z0) / c) ** 2
        if height <= 0:
            continue
        # x'A + 2x'B + C <= 0 along a row, with the ellipse turned.
        s, t = np.sin(np.radians(turn)), np.cos(np.radians(turn))
        v = y - y0
        A = (t / a) ** 2 + (s / b) ** 2
        B = s * t * v * (1 / a**2 - 1 / b**2)
        C = v**2 * ((s / a) ** 2 + (t / b) ** 2) - height
        inside = B**2 - A * C
        hit = inside > 0
        root = np.sqrt(inside[hit])
        first = np.ceil((((-B[hit] - root) / A + x0 + 1) * side / 2) - 0.5).astype(int).clip(0, side)
        last = np.ceil((((-B[hit] + root) / A + x0 + 1) * side / 2) - 0.5).astype(int).clip(0, side)
        np.add.at(ends, (rows[hit], first), value)
        np.add.at(ends, (rows[hit], last), -value)
    return np.cumsum(ends[:, :-1], axis=1).astype(np.uint16)


def main():
    side, path = int(sys.argv[1]), sys.argv[2]
    normal = sys.argv[3:4] == ["normal"]
    noise = float(sys.argv[4]) if normal else int(sys.argv[3]) if len(sys.argv) > 3 else 0
    random = np.random.default_rng(1)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint16, shape=(side, side, side))
    for k in range(side):
        out[k] = slice_at((k + 0.5) * 2 / side - 1, side)
        if normal:
            out[k] += np.rint(1000 + random.normal(0, noise, (side, side))).astype(np.uint16)
        elif noise:
            out[k] += random.integers(0, noise + 1, (side, side), np.uint16)
    out.flush()


main()
