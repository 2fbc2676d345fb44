//! What a picture sees of an array: rows of pixels.

use orthant::result::DenseArray;

use super::slice::Slice;

/// Rows of a picture, from below. It has no number of axes, so that pictures are compiled once.
pub trait PixelRows: Sync {
    /// Width and height in cells.
    fn extent(&self) -> [u32; 2];

    /// Width and height in pixels.
    fn pixels(&self) -> [u32; 2];

    /// As [`Slice::look_up`].
    fn look_up(&self, y: u32, table: &[u8], other: &dyn Fn(u64) -> u8, pixels: &mut [u8]);

    /// As [`Slice::row_of_pixels`].
    fn row_of_pixels(&self, y: u32, words: &mut Vec<u64>);

    /// As [`Slice::row`].
    fn row(&self, y: u32, words: &mut [u64]);
}

/// A slice of an array.
pub struct SliceOfArray<'a, const K: usize> {
    slice: &'a Slice<K>,
    array: &'a DenseArray<K>,
}

impl<const K: usize> Slice<K> {
    /// What a picture of it sees of an array.
    pub fn of<'a>(&'a self, array: &'a DenseArray<K>) -> SliceOfArray<'a, K> {
        SliceOfArray { slice: self, array }
    }
}

impl<const K: usize> PixelRows for SliceOfArray<'_, K> {
    fn extent(&self) -> [u32; 2] {
        self.slice.extent(self.array.size())
    }

    fn pixels(&self) -> [u32; 2] {
        self.slice.pixels(self.array.size())
    }

    fn look_up(&self, y: u32, table: &[u8], other: &dyn Fn(u64) -> u8, pixels: &mut [u8]) {
        self.slice.look_up(self.array, y, table, other, pixels);
    }

    fn row_of_pixels(&self, y: u32, words: &mut Vec<u64>) {
        self.slice.row_of_pixels(self.array, y, words);
    }

    fn row(&self, y: u32, words: &mut [u64]) {
        self.slice.row(self.array, y, words);
    }
}
