"""What the example `export` and the program write is opened by the programs that it is for, and holds the source's values.

    check.py EXPORT ORTHANT FOLDER [WHEEL...]

EXPORT is the built example, ORTHANT the program, FOLDER one to work in, which has the built reader `nvdb` and nothing else, and
wheels are looked through for public volumes. Every reader is the format's own: VTK's for .vti, .htg, .vtu and .vtkhdf, NanoVDB's,
zarr-python (folder and zip), TensorStore and xarray for Zarr, NumPy for .npy. Trees are put together as docs/tree.md says.
"""

import gzip
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import tensorstore
import xarray
import zarr
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridToUnstructuredGrid
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader, vtkXMLImageDataReader, vtkXMLUnstructuredGridReader

from volumes import frog

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]


def synthetic():
    """Blocks of few values in every type and number of dimensions, and what is special."""
    random = np.random.default_rng(7)

    def blocks(shape, dtype, side=4):
        small = [-(-n // side) for n in shape]
        info = np.iinfo(dtype) if np.dtype(dtype).kind in "ui" else np.finfo(dtype)
        values = np.array([0, 0, 0, 1, 2, info.max, info.min, 7], dtype)
        array = values[random.integers(0, len(values), small)]
        for axis, n in enumerate(shape):
            array = np.repeat(array, side, axis).take(np.arange(n), axis)
        return array

    for dtype in TYPES:
        yield f"2d-{dtype}", blocks((70, 131), dtype)
        yield f"3d-{dtype}", blocks((21, 70, 13), dtype)
    for k in range(1, 9):
        yield f"{k}d", blocks(tuple(3 + axis % 3 for axis in range(k)), "u2", 2)
    special = blocks((40, 30, 20), "f4")
    special[3:20, 4:9] = np.nan
    special[20:30, 4:9] = -0.0
    special[30:, 4:9] = -np.inf
    yield "special", special
    yield "zeros", np.zeros((30, 20, 10), "u1")
    yield "sevens", np.full((64, 128), 7, "i4")
    yield "one-cell", np.full((1, 1, 1), 3, "u1")
    # What is tiles and nothing else, of a height each.
    yield "tile", np.full((8, 16, 8), 3, "u1")
    yield "large-tile", np.full((128, 128, 128), -3, "i1")
    yield "one-line", blocks((1, 500), "u1")
    yield "many-chunks", blocks((1500, 2100), "u2", 50)
    # More chunks than a file has.
    files = np.zeros((11600, 11600), "u1")
    files[8000:8500, 3000:9000] = 5
    files[-1, ::3] = 9
    yield "files", files
    yield "noise", random.integers(0, 255, (33, 65, 129), "u1", endpoint=True)


def nifti(packed):
    """The array of a .nii.gz of one file, little-endian, of integers or floats."""
    raw = gzip.decompress(packed)
    dim = np.frombuffer(raw, "<i2", 8, 40)
    dtype = {2: "u1", 4: "<i2", 8: "<i4", 16: "<f4", 64: "<f8", 512: "<u2"}[int(np.frombuffer(raw, "<i2", 1, 70)[0])]
    offset = int(np.frombuffer(raw, "<f4", 1, 108)[0])
    shape = dim[1 : 1 + dim[0]].astype(int)
    return np.frombuffer(raw, dtype, int(np.prod(shape)), offset).reshape(shape[::-1])


def public(wheels, folder):
    """Volumes that others made: labels of a frog, a brain at several times, and a part of one at 1 mm."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                stem = Path(name).name
                if stem == "frog_tissues.vti":
                    yield "frog", frog(archive, name, folder)
                elif stem == "example4d.nii.gz" or (stem.startswith("mni_icbm152_t1") and stem.endswith(".nii.gz")):
                    volume = nifti(archive.read(name))
                    if volume.ndim == 3:
                        # Skull, brain and air: VTK takes a minute for all of it.
                        volume = volume[60:160, 20:120, 40:140]
                        assert volume.size == 10**6
                    yield stem.split(".")[0], volume


def same(found, array, what):
    assert found.dtype == array.dtype and found.shape == array.shape, f"{what}: {found.dtype} {found.shape}"
    if array.dtype.kind == "f":
        nan = np.isnan(array)
        assert (np.isnan(found) == nan).all(), f"{what}: NaN elsewhere"
        found, array = np.where(nan, 0, found), np.where(nan, 0, array)
    # Bits, so that -0 is not 0.
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(array).tobytes(), f"{what}: other values"


def of_example(array):
    """Where the example has the first cells, and how long they are; x first."""
    axes = np.arange(array.ndim) + 1.0
    return 10.0 * axes, 0.5 * axes


def of_program(array):
    """The same of the program, which takes cells for units unless one says otherwise."""
    return np.zeros(array.ndim), np.ones(array.ndim)


def check_npy(path, array):
    same(np.load(path), array, path)


def check_group(group, array, path, geometry):
    assert group["value"].dtype == array.dtype
    same(group["value"][...], array, path)
    origin, spacing = geometry
    for axis, name in enumerate(reversed(group["value"].metadata.dimension_names)):
        cells = np.arange(array.shape[::-1][axis])
        np.testing.assert_allclose(group[name][...], origin[axis] + spacing[axis] * (cells + 0.5), rtol=1e-15)


def check_zarr(path, array, geometry):
    check_group(zarr.open_group(str(path), mode="r"), array, path, geometry)
    stores = [{"driver": "file", "path": f"{path}/value/"}]
    packed = Path(f"{path}.zip")
    if packed.exists():
        with zarr.storage.ZipStore(packed, mode="r") as store:
            check_group(zarr.open_group(store, mode="r"), array, packed, geometry)
        stores.append({"driver": "zip", "base": {"driver": "file", "path": str(packed)}, "path": "value/"})
    for store in stores:
        opened = tensorstore.open({"driver": "zarr3", "kvstore": store}, open=True, read=True).result()
        same(np.asarray(opened.read().result()), array, f"{path} in TensorStore, {store['driver']}")
    with xarray.open_zarr(str(path)) as dataset:
        value = dataset["value"]
        same(value.values, array, f"{path} in xarray")
        assert all(name in value.coords for name in value.dims), value
        near = {name: float(dataset[name][-1]) for name in value.dims}
        same(value.sel(near).values, array[(-1,) * array.ndim], f"{path}: the last cell by its coordinates")


def check_vti(path, array, geometry):
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    origin, spacing = geometry
    beyond = [0.0] * (3 - array.ndim)
    np.testing.assert_array_equal(image.GetOrigin(), [*origin, *beyond])
    np.testing.assert_array_equal(image.GetSpacing()[: array.ndim], spacing)
    assert image.GetNumberOfCells() == array.size
    assert [n - 1 for n in image.GetDimensions()] == [*array.shape[::-1], *[0] * len(beyond)]
    same(vtk_to_numpy(image.GetCellData().GetScalars()).reshape(array.shape), array, path)


def check_boxes(grid, array, path, geometry):
    """An unstructured grid whose cells are boxes of the array's cells, which tile it."""
    k = array.ndim
    origin, spacing = geometry
    points = vtk_to_numpy(grid.GetPoints().GetData())[:, :k]
    corners = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 2**k)
    index = np.rint((points - origin) / spacing).astype(np.int64)[corners]
    first, extent = index.min(1), index.max(1) - index.min(1)
    values = vtk_to_numpy(grid.GetCellData().GetArray("value"))
    found, covered = np.zeros(array.shape, values.dtype), np.zeros(array.shape, bool)
    for shape in np.unique(extent, axis=0):
        mine = (extent == shape).all(1)
        offsets = np.indices(shape).reshape(k, -1)
        at = tuple(first[mine][:, j, None] + offsets[j] for j in reversed(range(k)))
        found[at] = values[mine][:, None]
        covered[at] = True
    # All are covered, and by boxes that have no more cells than there are.
    assert covered.all() and extent.prod(1).sum() == array.size, f"{path}: boxes do not tile the domain"
    same(found, array, path)


def boxes_of(reader, step=None):
    """What is read of a HyperTreeGrid: boxes that are not divided and not masked, as cells with corners."""
    boxes = vtkHyperTreeGridToUnstructuredGrid()
    boxes.SetInputConnection(reader.GetOutputPort())
    boxes.Update() if step is None else boxes.UpdateTimeStep(step)
    return boxes.GetOutput()


def check_htg(path, array, geometry):
    reader = vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(path))
    check_boxes(boxes_of(reader), array, path, geometry)


def check_vtu(path, array, geometry):
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    check_boxes(grid, array, path, geometry)
    leaf, level = (vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in ["leaf", "level"])
    # Leaves are on the last level alone.
    assert set(np.unique(leaf)) <= {0, 1} and (level[leaf == 1] == level.max()).all(), path


def check_vtkhdf(path, array, geometry):
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    if array.ndim < 4:
        return check_boxes(boxes_of(reader), array, path, geometry)
    origin, spacing = geometry
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    np.testing.assert_allclose(times, origin[3] + spacing[3] * np.arange(array.shape[0]), rtol=1e-15)
    for time, volume in zip(times, array):
        check_boxes(boxes_of(reader, time), volume, f"{path} at {time}", (origin[:3], spacing[:3]))


def check_nvdb(path, array, geometry):
    size = [str(n) for n in array.shape[::-1]]
    read = subprocess.run([path.parent / "nvdb", path, *size], capture_output=True)
    assert read.returncode == 0, f"{path}: {read.stderr.decode()}"
    dtype = {"u1": "i2", "i1": "i2", "u2": "i4"}.get(array.dtype.str[1:], array.dtype)
    same(np.frombuffer(read.stdout, dtype).reshape(array.shape), array.astype(dtype), path)
    origin, spacing = geometry
    middle, following = np.array(read.stderr.decode().split(), float).reshape(-1, 2).T
    np.testing.assert_allclose(middle, origin + spacing / 2, rtol=1e-15)
    np.testing.assert_allclose(following, origin + spacing * 1.5, rtol=1e-15)


def check_tree(path, array):
    """Puts the array together from the tree's regions and bricks, by the snippet of the guide, and looks at the other columns."""
    guide = (Path(__file__).parents[2] / "docs" / "tree.md").read_text()
    snippet = next(code for code in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "orthant_tree" in code and '"place"' not in code)
    for name in [str(path), f"{path}.zip"]:
        found = {"path": zarr.storage.ZipStore(name, mode="r") if name.endswith(".zip") else name}
        exec(snippet, found)
        same(found["out"], array, name)
    z, shards = found["z"], found["h"]["shards"]
    assert sum(shards["rows"]) == sum(map(sum, found["h"]["terminals"])), path
    for s, (rows, used) in enumerate(zip(shards["rows"], shards["leaf_cells"])):
        brick, cells = z["brick"][s, :rows], z["cells"][s, :used]
        least, greatest = z["value"][s, :rows], z["largest"][s, :rows]
        leaf = brick >= 0
        starts = brick[leaf]
        assert not len(starts) or starts[0] == 0, path
        if len(starts):
            # What is not a number is the greatest; NumPy takes either zero for the other.
            same(np.fmin.reduceat(cells, starts) + 0, least[leaf] + 0, f"{path}: least values")
            same(np.maximum.reduceat(cells, starts) + 0, greatest[leaf] + 0, f"{path}: greatest values")
        same(least[~leaf], greatest[~leaf], f"{path}: values of uniform regions")
    for column in ["level", "position", "provenance", "value", "largest", "brick", "cells"]:
        at = {"driver": "file", "path": f"{path}/{column}/"}
        opened = tensorstore.open({"driver": "zarr3", "kvstore": at}, open=True, read=True).result()
        same(np.asarray(opened.read().result()), z[column][...], f"{path}: {column} in TensorStore")


def check_example(example, folder, name, array):
    """What the example writes, in all formats that hold the array."""
    source = folder / f"{name}.source.npy"
    outputs = {ending: folder / f"{name}.{ending}" for ending in ["npy", "zarr", "zarr.zip", "tree.zarr", "tree.zarr.zip"]}
    # `files` tests the dense Zarr only, which has more chunks than a file holds.
    for_vtk = array.ndim in (2, 3) and name != "files"
    if for_vtk:
        outputs |= {ending: folder / f"{name}.{ending}" for ending in ["vti", "htg"]}
    elif array.ndim not in (2, 3):
        refused = subprocess.run([example, source, folder / "no.htg"], capture_output=True, text=True)
        assert refused.returncode == 1 and "Dimensions" in refused.stderr, refused.stderr
    subprocess.run([example, source, *outputs.values()], check=True, stdout=subprocess.DEVNULL)
    geometry = of_example(array)
    check_npy(outputs["npy"], array)
    check_zarr(outputs["zarr"], array, geometry)
    check_tree(outputs["tree.zarr"], array)
    if for_vtk:
        check_vti(outputs["vti"], array, geometry)
        check_htg(outputs["htg"], array, geometry)
    return [f"{path.stat().st_size} bytes of .{ending}" for ending, path in outputs.items() if path.is_file()]


def check_program(program, folder, name, array):
    """The tree that the program makes of the array, and what it converts that to."""

    def orthant(*arguments):
        subprocess.run([program, "--quiet", *arguments], check=True, stdout=subprocess.DEVNULL)

    source, tree = folder / f"{name}.source.npy", folder / f"{name}.run.tree.zarr"
    orthant("run", "array", "--input", source, "-o", tree, "-o", f"{tree}.zip")
    orthant("tree", "validate", tree, "--against", source)
    check_tree(tree, array)
    checks = {"npy": lambda path, array, _: check_npy(path, array), "zarr": check_zarr}
    if name == "files":
        checks = {"zarr": check_zarr}
    elif array.ndim in (2, 3):
        checks |= {"vti": check_vti, "htg": check_htg, "vtu": check_vtu}
    if array.ndim in (2, 3, 4) and name != "files":
        checks["vtkhdf"] = check_vtkhdf
    if array.ndim == 3 and array.dtype != np.uint64:
        checks["nvdb"] = check_nvdb
    for ending, check in checks.items():
        output = folder / f"{name}.converted.{ending}"
        orthant("tree", "convert", tree, output)
        check(output, array, of_program(array))


def main():
    example, program, folder, wheels = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    for name, array in [*synthetic(), *public(wheels, folder)]:
        array = np.ascontiguousarray(array)
        start = time.monotonic()
        np.save(folder / f"{name}.source.npy", array)
        sizes = check_example(example, folder, name, array)
        check_program(program, folder, name, array)
        print(f"{name}: {array.shape} {array.dtype}, {', '.join(sizes)}; {time.monotonic() - start:.1f} s", flush=True)
        for output in folder.glob(f"{name}.*"):
            shutil.rmtree(output) if output.is_dir() else output.unlink()


main()
