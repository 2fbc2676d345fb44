"""Files of cells that other libraries write are read as those libraries read them.

    inputs.py ORTHANT FOLDER [WHEEL...]

ORTHANT is the built program, FOLDER an empty one to work in, and wheels are looked through for public files. Every file is written
by the format's own library: nibabel, pynrrd, SimpleITK, tifffile, h5py, zarr-python and xarray. The program makes a tree of it, and the tree as .npy must be
what that library reads, bit for bit; spacing, origin, names and units in the tree's header must be those that it knows.
"""

import gzip
import json
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import h5py
import nibabel
import nrrd
import numpy as np
import SimpleITK
import tifffile
import xarray
import zarr
from numcodecs import LZ4, Blosc, GZip, Zlib, Zstd

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
random = np.random.default_rng(17)


def cells(shape, dtype):
    """Blocks of few values and some noise; the last index is the fastest."""
    kind = np.dtype(dtype)
    info = np.iinfo(kind) if kind.kind in "ui" else np.finfo(kind)
    values = np.array([0, 1, info.max, info.min, 7, 3], kind)
    array = values[random.integers(0, len(values), [-(-n // 4) for n in shape])]
    for axis, n in enumerate(shape):
        array = np.repeat(array, 4, axis).take(np.arange(n), axis)
    array[..., : shape[-1] // 3] = values[random.integers(0, len(values), array[..., : shape[-1] // 3].shape)]
    return array


class Program:
    def __init__(self, path, folder):
        self.path, self.folder, self.files = path, folder, 0

    def run(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done

    def reads(self, source, array, about=None):
        """The file as a tree is the array, whose last index is x, and its axes are as `about` says."""
        tree, dense = self.folder / "a.tree.zarr", self.folder / "a.npy"
        said = self.run("run", "array", "--input", source, "-o", tree, "--force").stderr
        self.run("tree", "convert", tree, dense, "--force", "--quiet")
        found = np.load(dense)
        assert found.dtype == array.dtype.newbyteorder("="), f"{source}: {found.dtype}, not {array.dtype}"
        assert found.shape == array.shape, f"{source}: {found.shape}, not {array.shape}"
        own = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
        assert found.tobytes() == own.tobytes(), f"{source}: other cells"
        self.files += 1
        if about is not None:
            header = json.loads((tree / "zarr.json").read_text())["attributes"]["orthant_tree"]
            about(header)
        return said


def in_space(header, affine):
    """Centres of cells, turned by the directions, lie where the affine matrix puts them."""
    axes = header["axes"][: len(affine) - 1]
    k = len(axes)
    turn = np.array(header.get("directions", np.eye(len(header["axes"]))))[:k, :k]
    for cell in [np.zeros(k), np.arange(k) + 3.0]:
        own = np.array([axis["origin"] + axis["spacing"] * (c + 0.5) for axis, c in zip(axes, cell)])
        np.testing.assert_allclose(own @ turn, (affine @ [*cell, 1])[:k], rtol=1e-5, atol=1e-4)
    window = np.array(header["window"])
    np.testing.assert_allclose(window[:k, 0], [axis["origin"] for axis in axes], rtol=1e-12, atol=1e-9)


def turned(k=3):
    """An affine matrix of a turned and flipped space."""
    a, b = 0.3, -0.2
    about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    affine = np.eye(4)
    affine[:3, :3] = about_z @ about_x @ np.diag([-0.9, 1.1, 2.5])
    affine[:3, 3] = [90, -126, -72.5]
    return affine


def of_nibabel(program, folder):
    kinds = {1: nibabel.Nifti1Image, 2: nibabel.Nifti2Image}
    for version, Image in kinds.items():
        for number, dtype in enumerate(TYPES):
            for order in "<>":
                shape = [(9, 8, 7), (5, 4, 3, 6), (13, 11), (6, 5, 4, 3, 2)][(number + version) % 4]
                array = cells(shape, dtype)
                header = Image.header_class(endianness=order)
                header.set_data_dtype(np.dtype(order + dtype))
                affine = [turned(), np.diag([0.7, 0.8, 3.0, 1.0])][number % 2]
                image = Image(array.T, affine, header)
                image.header.set_xyzt_units("mm", "sec")
                if len(shape) == 4:
                    image.header["pixdim"][4] = 2.5
                if number % 3 == 0 and len(shape) > 2:
                    image.set_sform(None, 0)
                    image.set_qform(affine, 1)
                ending = [".nii", ".nii.gz"][number % 2 if order == "<" else (number + 1) % 2]
                path = folder / f"n{version}{ending}"
                nibabel.save(image, path)
                read = nibabel.load(path)
                own = np.asanyarray(read.dataobj).T

                def about(header):
                    if len(shape) > 2:
                        in_space(header, read.affine)
                        assert [axis["unit"] for axis in header["axes"][:3]] == ["mm"] * 3
                    if len(shape) == 4:
                        assert header["axes"][3] == {"name": "t", "unit": "s", "spacing": 2.5, "origin": -1.25}

                assert own.dtype.newbyteorder("=") == np.dtype(dtype)
                program.reads(path, own, about)
    # A header and cells beside it.
    array = cells((9, 8, 7), "i2")
    for Image in [nibabel.Nifti1Pair, nibabel.Nifti2Pair]:
        nibabel.save(Image(array.T, turned()), folder / "pair.img")
        program.reads(folder / "pair.hdr", array, lambda header: in_space(header, turned()))
    # Scaled cells stay as they are stored, and that is said.
    image = nibabel.Nifti1Image(array.T, np.eye(4))
    image.header.set_slope_inter(2.0, -1024.0)
    nibabel.save(image, folder / "scaled.nii")
    raw = np.asanyarray(nibabel.load(folder / "scaled.nii").dataobj.get_unscaled()).T
    scale = {"slope": 2.0, "intercept": -1024.0}
    said = program.reads(folder / "scaled.nii", raw, lambda header: check(header["scale"] == scale))
    assert "stand for 2 times that plus -1024" in said, said
    # Extensions lie between the header and the cells, and bytes after them are let by.
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"an extension of some bytes"))
    nibabel.save(image, folder / "extended.nii")
    with open(folder / "extended.nii", "ab") as file:
        file.write(b"end")
    said = program.reads(folder / "extended.nii", raw)
    assert "3 bytes after the cells" in said, said


def of_h5py(program, folder):
    """Only where the program was built with the feature `hdf5`."""
    path = folder / "a.h5"
    for number, dtype in enumerate(TYPES):
        for order in "<>":
            array = cells([(9, 8, 7), (5, 4, 3, 6), (13, 11)][number % 3], dtype)
            for options in [{}, {"chunks": True}, {"chunks": (2,) * array.ndim, "compression": "gzip", "shuffle": True}]:
                with h5py.File(path, "w") as file:
                    file.create_dataset("group/cells", data=array.astype(order + dtype), **options)
                program.reads(path, array)
    # As netCDF-4 has axes, with another variable beside.
    array = cells((4, 9, 7), "f4")
    with h5py.File(folder / "a.nc", "w") as file:
        places = {"time": 6.0 * np.arange(4), "lat": 80 - 2.5 * np.arange(9), "lon": 5 + 0.5 * np.arange(7)}
        for name in ["wind", "heat"]:
            file[name] = array if name == "heat" else array + 1
        for axis, (name, values) in enumerate(places.items()):
            file[name] = values
            file[name].make_scale(name)
            file[name].attrs["units"] = {"time": "hours since 1900-01-01", "lat": "degrees_north", "lon": "degrees_east"}[name]
            file["heat"].dims[axis].attach_scale(file[name])
        file["heat"].attrs["_FillValue"] = np.float32(-999)
        file["heat"].attrs["scale_factor"] = 0.5

    def about(header):
        axes = [(axis["name"], axis.get("unit"), axis["spacing"], axis["origin"]) for axis in header["axes"]]
        assert axes == [
            ("lon", "degrees_east", 0.5, 4.75),
            ("lat", "degrees_north", -2.5, 81.25),
            ("time", "hours since 1900-01-01", 6.0, -3.0),
        ], axes
        assert header["nodata"] == -999 and header["scale"] == {"slope": 0.5, "intercept": 0}
        assert header["r"][2] == 1 and header["window"][0] == [4.75, 8.25]

    program.reads(f"{folder / 'a.nc'}::/heat", array, about)
    refused = subprocess.run([program.path, "run", "array", "--input", folder / "a.nc"], capture_output=True, text=True)
    assert refused.returncode == 2 and "2 members; name one of them: /heat, /wind" in refused.stderr, refused.stderr
    # An enumeration's values are labels.
    kind = h5py.enum_dtype({"air": 0, "bone": 1}, "u1")
    array = (cells((9, 8, 7), "u1") % 2).astype("u1")
    with h5py.File(path, "w") as file:
        file.create_dataset("labels", data=array, dtype=kind)
    labels = [{"value": 0, "name": "air"}, {"value": 1, "name": "bone"}]
    program.reads(path, array, lambda header: check(header["labels"] == labels))


def of_zarr(program, folder):
    warnings.filterwarnings("ignore", category=zarr.errors.ZarrUserWarning)
    path, number = folder / "a.zarr", 0
    shapes = [(9, 8, 7), (5, 4, 3, 6), (13, 41), (3, 2, 3, 2, 5), (300,)]
    # Version 2: as numcodecs packs, with every codec of Blosc.
    blosc = [Blosc(name, 5, how, size) for name in ("lz4", "blosclz", "zstd", "zlib", "lz4hc") for how in (1, 2, 0) for size in (0, 512)]
    packers = [None, GZip(1), Zlib(1), Zstd(3), LZ4(), *blosc]
    for dtype in [*TYPES, "b1"]:
        for order in "<>":
            for packer in packers[number % 11 :: 11]:
                number += 1
                shape = shapes[number % len(shapes)]
                array = cells(shape, dtype) if dtype != "b1" else cells(shape, "u1") > 3
                chunks = tuple(max(1, n * (2 + number % 2) // 5) for n in shape)
                keys = {"name": "v2", "separator": "./"[number % 2]}
                kind = np.dtype(order + dtype)
                store = zarr.create_array(
                    path, shape=shape, chunks=chunks, dtype=kind, order="CF"[number // 2 % 2], compressors=packer,
                    filters=None, zarr_format=2, chunk_key_encoding=keys, overwrite=True,
                )
                store[:] = array
                program.reads(path, array.astype("u1") if dtype == "b1" else array)
    # Larger chunks, whose blocks are split, runs far apart, and cells whose number no eight divides.
    for name in ["blosclz", "lz4", "zstd"]:
        for how in [0, 1, 2]:
            flat = np.concatenate([cells((37, 41, 13), ["u2", "f8", "u1"][how])] * 5)
            zarr.create_array(path, data=flat, chunks=(101, 41, 13), compressors=Blosc(name, 9, how), zarr_format=2, overwrite=True)
            program.reads(path, flat)
    # Version 3: as codecs of its own, turned, in shards.
    codecs = zarr.codecs
    packers = [None, codecs.GzipCodec(), codecs.ZstdCodec(level=3, checksum=True), codecs.BloscCodec(), codecs.BloscCodec(cname="lz4", shuffle="bitshuffle"), [codecs.ZstdCodec(), codecs.Crc32cCodec()]]
    for dtype in [*TYPES, "b1"]:
        for endian in ["little", "big"]:
            for turned in [False, True]:
                number += 1
                shape = shapes[number % len(shapes)]
                array = cells(shape, dtype) if dtype != "b1" else cells(shape, "u1") > 3
                chunks = tuple(max(1, n * (2 + number % 2) // 5) for n in shape)
                filters = [codecs.TransposeCodec(order=tuple(np.roll(range(len(shape)), 1).tolist()))] if turned else None
                serializer = codecs.BytesCodec(endian=endian)
                shards = tuple(n * 2 for n in chunks) if number // 4 % 2 else None
                store = zarr.create_array(
                    path, shape=shape, chunks=chunks, shards=shards, dtype=dtype, filters=filters, serializer=serializer,
                    compressors=packers[number % len(packers)], fill_value=1, overwrite=True,
                )
                store[tuple(slice(0, n - n // 3) for n in shape)] = array[tuple(slice(0, n - n // 3) for n in shape)]
                own = store[:]
                program.reads(path, own.astype("u1") if dtype == "b1" else own)
    # An index in front, shards that are turned, and a part of a group in a zip.
    array = cells((20, 30, 25), "i4")
    sharding = codecs.ShardingCodec(
        chunk_shape=(3, 5, 4), codecs=[codecs.TransposeCodec(order=(2, 0, 1)), codecs.BytesCodec(), codecs.ZstdCodec()], index_location="start"
    )
    store = zarr.create_array(
        path, shape=array.shape, chunks=(12, 15, 20), dtype="i4", serializer=sharding, compressors=None,
        filters=[codecs.TransposeCodec(order=(1, 2, 0))], overwrite=True,
    )
    store[:] = array
    program.reads(path, store[:])
    with zarr.storage.ZipStore(folder / "a.zarr.zip", mode="w") as zipped:
        group = zarr.create_group(zipped)
        group.create_array("volumes/raw", data=array, chunks=(7, 7, 7), compressors=codecs.BloscCodec())
    program.reads(folder / "a.zarr.zip", array)
    program.reads(f"{folder / 'a.zarr.zip'}::/volumes/raw", array)
    # As xarray has axes, in both versions.
    array = cells((4, 9, 7), "f4")
    places = {"time": 6 * np.arange(4), "lat": 80 - 2.5 * np.arange(9), "lon": 5 + 0.5 * np.arange(7)}
    data = xarray.DataArray(array, places, list(places), attrs={"scale_factor": 0.5})
    for name, unit in {"time": "hours since 1900-01-01", "lat": "degrees_north", "lon": "degrees_east"}.items():
        data[name].attrs["units"] = unit
    for version, consolidated in [(2, True), (2, False), (3, False), (3, True)]:
        store = folder / f"x{version}{consolidated}.zarr"
        numbers = xarray.Dataset({"heat": data, "number": 7})
        numbers.to_zarr(store, zarr_format=version, consolidated=consolidated, encoding={"heat": {"_FillValue": np.float32(-999)}})

        def about(header):
            axes = [(axis["name"], axis.get("unit"), axis["spacing"], axis["origin"]) for axis in header["axes"]]
            assert axes == [
                ("lon", "degrees_east", 0.5, 4.75),
                ("lat", "degrees_north", -2.5, 81.25),
                ("time", "hours since 1900-01-01", 6.0, -3.0),
            ], axes
            assert header["scale"] == {"slope": 0.5, "intercept": 0} and header["r"][2] == 1
            # In version 2 xarray has it in the metadata, where others have what is in no chunk.
            assert header.get("nodata") == (-999 if version == 3 else None), header

        program.reads(store, array, about)
        program.reads(store / "heat", array, lambda header: check(header["axes"][0]["name"] == "lon"))
    # As OME has images: sizes, axes and where they lie.
    array = cells((2, 3, 9, 8, 7), "u2")
    for version in ["0.4", "0.5"]:
        store = folder / f"image{version}.ome.zarr"
        group = zarr.create_group(store, zarr_format={"0.4": 2, "0.5": 3}[version])
        for size, name in enumerate(["s0", "s1"]):
            group.create_array(name, data=array[..., :: 2**size, :: 2**size], chunks=(1, 1, 4, 4, 4))
        kinds = [("t", "time", "second"), ("c", "channel", None), ("z", "space", "micrometer"), ("y", "space", "micrometer"), ("x", "space", "micrometer")]
        axes = [{"name": name, "type": kind} | ({"unit": unit} if unit else {}) for name, kind, unit in kinds]
        datasets = [
            {"path": f"s{size}", "coordinateTransformations": [
                {"type": "scale", "scale": [1, 1, 2.5, 0.5 * 2**size, 0.25 * 2**size]},
                {"type": "translation", "translation": [0, 0, 10, 20, 30]},
            ]} for size in range(2)
        ]
        image = {"axes": axes, "datasets": datasets, "name": "image", "coordinateTransformations": [{"type": "scale", "scale": [4, 1, 1, 2, 2]}]}
        group.attrs.update({"multiscales": [image | {"version": "0.4"}]} if version == "0.4" else {"ome": {"version": "0.5", "multiscales": [image]}})

        def about(header):
            axes = [(axis["name"], axis.get("unit"), axis["spacing"], axis["origin"]) for axis in header["axes"]]
            assert axes == [
                ("x", "micrometer", 0.5, 59.75),
                ("y", "micrometer", 1.0, 39.5),
                ("z", "micrometer", 2.5, 8.75),
                ("c", None, 1, 0),
                ("t", "second", 4, -2),
            ], axes

        said = program.reads(store, array, about)
        assert "of the image's 2 sizes the largest is read, /s0" in said, said
        program.reads(f"{store}::/s1", array[..., ::2, ::2])
    # What the program itself exports, and what cannot be read.
    program.run("tree", "convert", folder / "a.tree.zarr", folder / "own.zarr", "--force", "--quiet")
    program.reads(folder / "own.zarr", array[..., ::2, ::2])
    for dtype in ["<f2", "<c8", "<U4", [("a", "<u2")], "<M8[ns]"]:
        zarr.create_array(path, shape=(4, 4), chunks=(2, 2), dtype=np.dtype(dtype), zarr_format=2, overwrite=True)
        refused = subprocess.run([program.path, "run", "array", "--input", path], capture_output=True, text=True)
        assert refused.returncode == 2 and "dtype '" in refused.stderr and ".zarray" in refused.stderr, refused.stderr


def check(condition):
    assert condition


def of_pynrrd(program, folder):
    for number, dtype in enumerate(TYPES):
        for endian, order in [("little", "<"), ("big", ">")]:
            shape = [(9, 8, 7), (5, 4, 3, 6), (13, 11)][number % 3]
            array = cells(shape, dtype)
            k = len(shape)
            affine = np.diag([*(0.5 * np.arange(1, k + 1)), 1])
            affine[:k, k] = 10
            if k == 3:
                affine = turned()
            header = {
                "endian": endian,
                "encoding": ["raw", "gzip"][(number + (order == ">")) % 2],
                "space dimension": k,
                "space directions": affine[:k, :k].T,
                "space origin": affine[:k, k],
                "space units": ["mm"] * k,
                "labels": [f"axis {axis}" for axis in range(k)],
            }
            for name in ["a.nrrd", "a.nhdr"]:
                nrrd.write(str(folder / name), array.T.astype(order + dtype), header, index_order="F")
                own, _ = nrrd.read(str(folder / name), index_order="F")

                def about(header):
                    in_space(header, affine)
                    assert [axis["name"] for axis in header["axes"]] == [f"axis {axis}" for axis in range(k)]
                    assert {axis["unit"] for axis in header["axes"]} == {"mm"}

                program.reads(folder / name, own.T, about)
    # Labels as 3D Slicer writes them, spacings, and axes outside of space.
    array = cells((4, 9, 8, 7), "u1") % 3
    segments = {"Segment0_Name": "liver", "Segment0_LabelValue": "1", "Segment0_Color": "1 0.5 0"}
    header = {"space": "left-posterior-superior", "kinds": ["domain"] * 3 + ["time"], **segments}
    header["space directions"] = np.vstack([np.diag([1, 1, 2.0]), [np.nan] * 3])
    nrrd.write(str(folder / "s.nrrd"), array.T, header, index_order="F")

    def about(header):
        assert header["labels"] == [{"value": 1, "name": "liver", "colour": [255, 128, 0, 255]}]
        assert [axis["name"] for axis in header["axes"]] == ["x", "y", "z", "t"]
        assert [axis["spacing"] for axis in header["axes"]] == [1, 1, 2, 1] and header["r"][3] == 1

    program.reads(folder / "s.nrrd", array, about)
    nrrd.write(str(folder / "p.nrrd"), array.T, {"spacings": [0.5, 2, 3, 4.0]}, index_order="F")
    program.reads(folder / "p.nrrd", array, lambda header: check([axis["spacing"] for axis in header["axes"]] == [0.5, 2, 3, 4]))
    # A header by hand, of slices in files of their own.
    for z in range(4):
        array[z].tofile(folder / f"slice{z:03}.raw")
    text = "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 7 8 9 4\nencoding: raw\ndata file: "
    names = "\n".join(f"slice{z:03}.raw" for z in range(4))
    for how in ["slice%03d.raw 0 3 1\n", f"LIST\n{names}\n"]:
        (folder / "h.nhdr").write_text(text + how)
        program.reads(folder / "h.nhdr", array)


def of_simpleitk(program, folder):
    for number, dtype in enumerate(TYPES):
        for k in [2, 3, 4]:
            if k == 4 and number % 3:
                continue
            array = cells({2: (13, 11), 3: (9, 8, 7), 4: (3, 5, 6, 4)}[k], dtype)
            image = SimpleITK.GetImageFromArray(array, isVector=False)
            affine = np.diag([*(0.5 * np.arange(1, k + 1)), 1])
            affine[:k, k] = [90, -126.5, 7, 1][:k]
            if k == 3:
                image.SetDirection((turned()[:3, :3] / [0.9, 1.1, 2.5]).ravel())
                affine[:3, :3] = turned()[:3, :3] / [0.9, 1.1, 2.5] @ np.diag([0.5, 1, 1.5])
            image.SetSpacing([0.5 * (axis + 1) for axis in range(k)])
            image.SetOrigin(affine[:k, k])
            names = [("a.mha", False), ("b.mhd", True), ("i.nrrd", True)] if number % 2 else [("b.mha", True), ("a.mhd", False), ("i.nii.gz", True)]
            for name, packed in names:
                if name == "i.nii.gz" and (k != 3 or dtype in ("u8", "i8")):
                    continue
                SimpleITK.WriteImage(image, str(folder / name), packed)
                own = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(folder / name)))
                # NIfTI's space looks left and back the other way.
                flip = np.diag([-1.0, -1, 1, 1]) if name == "i.nii.gz" else np.eye(k + 1)
                program.reads(folder / name, own, lambda header: in_space(header, flip @ affine))
    # The other order of bytes, and what ITK's own writer has no switch for.
    for dtype in [">i2", ">f8"]:
        array = cells((9, 8, 7), dtype)
        kind = {">i2": "MET_SHORT", ">f8": "MET_DOUBLE"}[dtype]
        text = f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = True\nDimSize = 7 8 9\nElementType = {kind}\n"
        array.tofile(folder / "big.raw")
        for z in range(9):
            array[z].tofile(folder / f"big{z + 1}.raw")
        names = "\n".join(f"big{z}.raw" for z in range(1, 10))
        for how in ["big.raw", "big%d.raw 1 9 1", f"LIST\n{names}"]:
            (folder / "big.mhd").write_text(f"{text}ElementDataFile = {how}\n")
            if "%" not in how:
                own = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(folder / "big.mhd")))
                assert (own == array).all()
            program.reads(folder / "big.mhd", array)


def of_tifffile(program, folder):
    packings = [None, "zlib", "lzw", "packbits", "zstd"]
    for number, dtype in enumerate(TYPES):
        for order in "<>":
            shape = [(5, 37, 41), (64, 47), (3, 33, 18)][number % 3]
            array = cells(shape, dtype)
            for which, packing in enumerate(packings):
                options = {"compression": packing, "photometric": "minisblack"}
                if packing in ("zlib", "lzw", "zstd") and (number + which) % 2 and dtype not in ("u8", "i8"):
                    options["predictor"] = 3 if dtype[0] == "f" else True
                if (number + which) % 3 == 0:
                    options["tile"] = (16, 32)
                elif (number + which) % 3 == 1:
                    options["rowsperstrip"] = 5
                path = folder / "a.tif"
                tifffile.imwrite(path, array, byteorder=order, bigtiff=which % 2 == 0, **options)
                own = tifffile.imread(path)
                assert (own == array).all()
                program.reads(path, own)
    # As ImageJ writes them: what pages are, and how far apart.
    array = cells((4, 3, 2, 20, 30), "u2")
    data = {"axes": "TZCYX", "spacing": 2.5, "unit": "um", "finterval": 0.5}
    tifffile.imwrite(folder / "ij.tif", array, imagej=True, resolution=(4, 2), metadata=data)

    def about(header):
        axes = [(axis["name"], axis.get("unit"), axis["spacing"]) for axis in header["axes"]]
        assert axes == [("x", "um", 0.25), ("y", "um", 0.5), ("c", None, 1), ("z", "um", 2.5), ("t", "s", 0.5)], axes

    program.reads(folder / "ij.tif", tifffile.imread(folder / "ij.tif"), about)
    sizes = {"axes": "TZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.25, "PhysicalSizeZ": 3.0}
    tifffile.imwrite(folder / "o.ome.tif", array[:, :, 0], metadata=sizes)

    def ome(header):
        axes = [(axis["name"], axis.get("unit"), axis["spacing"]) for axis in header["axes"]]
        assert axes == [("x", "um", 0.5), ("y", "um", 0.25), ("z", "um", 3.0), ("t", None, 1)], axes

    program.reads(folder / "o.ome.tif", tifffile.imread(folder / "o.ome.tif"), ome)
    # ImageJ's stacks of more than 4 GB are one page and cells that go on; here of fewer.
    flat = cells((6, 20, 30), "u2")
    tifffile.imwrite(folder / "one.tif", flat[0], description="ImageJ=1.54\nimages=6\nslices=6\n", metadata=None, byteorder="<")
    with open(folder / "one.tif", "rb+") as file:
        at = tifffile.TiffFile(folder / "one.tif").pages[0].dataoffsets[0]
        file.seek(at)
        flat.astype("<u2").tofile(file)
    program.reads(folder / "one.tif", flat)
    # A folder of slices, 2 before 10, and of colours.
    slices = folder / "slices"
    slices.mkdir()
    flat = cells((12, 20, 30), "i2")
    for z in range(12):
        compression = [None, "zlib"][z % 2]
        tifffile.imwrite(slices / f"s{z}.tif", flat[z], byteorder="<>"[z % 3 == 1], compression=compression)
    (slices / "notes.txt").write_text("no slice")
    said = program.reads(slices, flat)
    assert "another file in the folder" in said, said
    colours = np.zeros((3, 256), "u2")
    colours[:, 5] = [0xFFFF, 0x8080, 0]
    tifffile.imwrite(folder / "p.tif", (flat[0] % 7).astype("u1"), photometric="palette", colormap=colours)
    label = [{"value": 5, "name": "5", "colour": [255, 128, 0, 255]}]
    program.reads(folder / "p.tif", (flat[0] % 7).astype("u1"), lambda header: check(header["labels"] == label))


def of_the_public(program, folder, wheels):
    """A series of a brain, and maps of it, as their makers' libraries read them."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                stem = Path(name).name
                if stem in ("example4d.nii.gz", "functional.nii", "anatomical.nii") or (stem.startswith("mni_icbm152_t1") and stem.endswith(".nii.gz")):
                    path = folder / stem
                    path.write_bytes(archive.read(name))
                    image = nibabel.load(path)
                    own = np.asanyarray(image.dataobj.get_unscaled()).T
                    program.reads(path, own, lambda header: in_space(header, image.affine))
                    print(f"{stem}: {own.shape} {own.dtype}", flush=True)


def main():
    program, folder = Program(sys.argv[1], Path(sys.argv[2])), Path(sys.argv[2])
    for each in [of_nibabel, of_pynrrd, of_simpleitk, of_tifffile, of_h5py, of_zarr]:
        start, files = time.monotonic(), program.files
        each(program, folder)
        print(f"{each.__name__}: {program.files - files} files; {time.monotonic() - start:.1f} s", flush=True)
    of_the_public(program, folder, sys.argv[3:])


main()
