"""Points: arrays of coordinates and files of them."""

import struct

import numpy as np
import pytest

import pyorthant as ot


@pytest.fixture
def points():
    random = np.random.default_rng(3)
    return np.round(random.random((500, 3)), 3)


def counted(points, tree):
    """What NumPy counts in the cells of a tree."""
    low, high = np.array(tree.report["domain"]).T
    cells = np.minimum((points - low) / (high - low) * 16, 15).astype(int)
    array = np.zeros((16, 16, 16), int)
    np.add.at(array, tuple(cells.T[::-1]), 1)
    return array


def test_arrays_of_coordinates(points):
    domain = [(0, 1.0001)] * 3
    tree = ot.tree(points, coordinates=True, n=16, value="count", domain=domain)
    assert np.array_equal(np.asarray(tree), counted(points, tree)) and np.asarray(tree).dtype == np.uint32
    assert tree.report["workload"] == "points" and tree.report["points"]["inside"] == 500
    occupied = np.asarray(ot.tree(points, coordinates=True, n=16, domain=domain))
    assert np.array_equal(occupied, counted(points, tree) > 0)
    flat = ot.tree(points[:, :2], coordinates=True, n=(32, 16), value="max", values=points[:, 2])
    assert flat.shape == (16, 32) and np.asarray(flat).max() == points[:, 2].max()
    four = ot.tree(np.hstack([points, points[:, :1]]), coordinates=True, n=4, value="count", scheme=(1, 2, 1))
    assert np.asarray(four).sum() == 500


def test_files(points, tmp_path):
    table = tmp_path / "scan.csv"
    table.write_text("x,y,z,height\n" + "".join(f"{x},{y},{z},{z}\n" for x, y, z in points))
    np.save(tmp_path / "scan.npy", points)
    tree = ot.tree(table, n=16, value="count")
    assert np.array_equal(np.asarray(tree), np.asarray(ot.tree(tmp_path / "scan.npy", coordinates=True, n=16, value="count")))
    run = ot.run("points", input=table, n=16, value="count", backend="cpu")
    assert np.array_equal(run.to_numpy(), np.asarray(tree))
    highest = ot.tree(table, n=16, columns=["x", "y"], attribute="height", value="max")
    assert highest.shape == (16, 16) and np.asarray(highest).max() == points[:, 2].max()
    assert (tree.report["data"], tree.report["value"], tree.report["points"]["read"]) == ("scan.csv", "count", 500)


def test_las_files(points, tmp_path):
    """LAS 1.2 of point format 0, written by hand: whole numbers times a scale of a thousandth."""
    n, whole = len(points), np.round(points * 1000).astype("<i4")
    bounds = [float(bound) for axis in points.T for bound in (axis.max(), axis.min())]
    header = struct.pack(
        "<4sHH16s2B32s32sHHHIIBHI5I3d3d6d",
        *(b"LASF", 0, 0, b"", 1, 2, b"", b"", 1, 2026, 227, 227, 0, 0, 20, n),
        *(n, 0, 0, 0, 0, *[0.001] * 3, *[0.0] * 3, *bounds),
    )
    records = np.zeros(n, [("place", "<i4", 3), ("intensity", "<u2"), ("rest", "u1", 6)])
    records["place"], records["intensity"] = whole, np.arange(n)
    (tmp_path / "scan.las").write_bytes(header + records.tobytes())
    (tmp_path / "scan.xyz").write_text("".join(f"{x} {y} {z}\n" for x, y, z in whole / 1000))
    options = {"n": 16, "value": "count", "domain": [(0, 1.0001)] * 3}
    tree = ot.tree(tmp_path / "scan.las", **options)
    assert np.array_equal(np.asarray(tree), np.asarray(ot.tree(tmp_path / "scan.xyz", **options)))
    brightest = ot.tree(tmp_path / "scan.las", attribute="intensity", **{**options, "value": "max"})
    assert np.asarray(brightest).max() == n - 1


def test_what_is_wrong(points, tmp_path):
    for source, options, error, text in [
        (points[:, 0], {}, ValueError, "table of points"),
        (points, {"values": [1.0]}, ValueError, "a number for each"),
        (points, {"value": "mean"}, ValueError, "attribute"),
        (points, {"value": "inside"}, ValueError, "occupied, count"),
        (points, {"tolerance": 3}, TypeError, "tolerance"),
        (points, {"dims": ("z", "y", "x")}, TypeError, "dims"),
        (points * np.nan, {}, ValueError, "finite"),
        (points, {"domain": [(5, 6)] * 3}, ValueError, "none of 500 points"),
        (points, {"n": 2**22}, ValueError, "the most on every axis"),
        (tmp_path / "none.xyz", {}, FileNotFoundError, "none.xyz"),
    ]:
        with pytest.raises(error, match=text):
            ot.tree(source, coordinates=True, **options)
    with pytest.raises(TypeError, match="coordinates=True"):
        ot.tree(points, values=points[:, 0])
