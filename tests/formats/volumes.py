"""Volumes to look at, as .npy: labels of a frog on every second cell of each axis, a brain at two times from wheels, and a synthetic atlas.

    volumes.py FOLDER WHEEL...
"""

import gzip
import sys
import zipfile
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLImageDataReader


def frog(archive, name, folder):
    """Its labels, of every second cell on each axis: VTK and a browser take minutes for all of them."""
    archive.extract(name, folder)
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(folder / name))
    reader.Update()
    image = reader.GetOutput()
    return vtk_to_numpy(image.GetPointData().GetArray(0)).reshape(image.GetDimensions()[::-1])[::2, ::2, ::2]


def series(archive, name, _):
    raw = gzip.decompress(archive.read(name))
    shape = np.frombuffer(raw, "<i2", 4, 42).astype(int)
    offset = int(np.frombuffer(raw, "<f4", 1, 108)[0])
    return np.frombuffer(raw, "<i2", int(np.prod(shape)), offset).reshape(shape[::-1])


def atlas():
    """An ellipsoid of 48 labels with wavy borders."""
    z, y, x = np.mgrid[:90, :108, :90].astype("f4")
    seeds = np.random.default_rng(3).random((48, 3)) * [90, 108, 90]
    waves = [(x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2 + 30 * np.sin(x / 5 + i) for i, (a, b, c) in enumerate(seeds)]
    labels = 2001 + 7 * np.argmin(waves, axis=0).astype("i4")
    return np.where(((x - 45) / 40) ** 2 + ((y - 54) / 50) ** 2 + ((z - 45) / 38) ** 2 < 1, labels, 0).astype("i4")


def main():
    folder, wheels = Path(sys.argv[1]), sys.argv[2:]
    found = {"frog_tissues.vti": ("frog", frog), "example4d.nii.gz": ("series", series)}
    np.save(folder / "atlas.npy", atlas())
    # A map with the value that maps have for no data, and numbers at the ends of their types.
    ramp = np.linspace(0, 100, 4096, dtype="f4").reshape(64, 64)
    np.save(folder / "map.npy", np.where(np.arange(64)[:, None] < 20, np.finfo("f4").min, ramp))
    np.save(folder / "far.npy", (np.linspace(-1, 1, 4096) * 1.7e308).reshape(64, 64))
    np.save(folder / "high.npy", np.arange(4096, dtype="u8").reshape(64, 64) + np.uint64(2**64 - 4096))
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for path in archive.namelist():
                if Path(path).name in found:
                    name, read = found[Path(path).name]
                    np.save(folder / f"{name}.npy", read(archive, path, folder))


if __name__ == "__main__":
    main()
