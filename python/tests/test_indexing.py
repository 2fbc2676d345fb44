"""Indices of trees, as NumPy's: cells, slices and lists of points."""

import numpy as np
import pytest

import pyorthant as ot
from test_tree import CELLS, tree


@pytest.mark.parametrize("key", [
    np.s_[3],
    np.s_[-1],
    np.s_[3, 4, 5],
    np.s_[-13, -11, -17],
    np.s_[...],
    np.s_[..., 3],
    np.s_[2, ..., 3],
    np.s_[2:9, 1:, :5],
    np.s_[2:9:3, ::-1, -2:0:-4],
    np.s_[::-1],
    np.s_[5:5],
    np.s_[100:, 2],
    np.s_[:, 4:2:1],
    np.s_[::12, ::10, ::16],
    np.s_[np.int64(3), np.uint8(2):5],
    np.s_[np.array([1, 2, -1]), np.array([3, 4, 5]), np.array([0, 0, -1])],
    np.s_[np.array([[1], [2]]), 3, np.array([0, 5])],
    np.s_[[1, 2], [3, 4], [5, 6]],
], ids=str)
def test_indices_are_numpys(key):
    got, expected = tree()[key], CELLS[key]
    assert got.dtype == expected.dtype and np.shape(got) == np.shape(expected)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("key", [np.s_[::6, ::5, ::8], np.s_[12::-4, 1::9, 16::-8], np.s_[3, ::10, ::16], np.s_[::13, 10:0:-7]], ids=str)
def test_cells_far_apart(key):
    cells = np.arange(13 * 11 * 17, dtype="i4").reshape(13, 11, 17)
    assert np.array_equal(ot.tree(cells, B=4)[key], cells[key])


@pytest.mark.parametrize("dtype", ["i8", "u1", "i2", ">i4", "u8"])
def test_points(dtype):
    points = np.argwhere(CELLS >= 0)[::7].astype(dtype)
    assert np.array_equal(tree()[points], CELLS[tuple(points.astype(int).T)])
    assert np.array_equal(tree()[np.asfortranarray(points)], CELLS[tuple(points.astype(int).T)])
    assert tree()[points[:0]].shape == (0,)


def test_points_from_the_end():
    points = np.argwhere(CELLS >= 0)
    assert np.array_equal(tree()[points - CELLS.shape], CELLS.ravel())


@pytest.mark.parametrize("key, text", [
    (np.s_[13], "index 13 is out of bounds for axis 0 with size 13"),
    (np.s_[0, -12], "index -12 is out of bounds for axis 1 with size 11"),
    (np.array([[0, 0, 17]]), "index 17 is out of bounds for axis 2 with size 17"),
    (np.array([[0, -12, 0]]), "index -12 is out of bounds for axis 1"),
    (np.array([[0, 0]]), "where [m, 3] is needed"),
    (np.array([0, 0, 0]), "t[tuple(point)]"),
    (np.array([[0.5, 0, 0]]), "whole numbers, not float64"),
    (np.zeros((13, 11, 17), bool), "np.argwhere(mask)"),
    (np.s_[0, 0, 0, 0], "too many indices"),
    (np.s_[..., ...], "one '...' only"),
    (np.s_[None], "is no index of a tree"),
    (np.s_["x"], "is no index of a tree"),
    (np.s_[1.5], "is no index of a tree"),
    (np.s_[np.array([1]), :, 2], "no slices beside them"),
    (np.array([[2**63, 0, 0]], "u8"), "larger than 2^63"),
])
def test_indices_that_are_none(key, text):
    with pytest.raises(IndexError) as error:
        tree()[key]
    assert text in str(error.value)
