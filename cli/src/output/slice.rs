//! What a picture shows of an array: two of its axes.

use orthant::geometry::Region;
use orthant::per_axis;
use orthant::result::DenseArray;
use orthant::tree::TreeAxis;

use super::held::{HeldAxes, held_too_many};
use crate::error::Error;

/// A 2-D slice of a k-dimensional field, as a picture sees it: two axes across, the others fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice<const K: usize> {
    /// The axes that run across the picture: to the right, and upwards. In 1-D both are axis 0, and the picture is
    /// one row high.
    pub axes: [usize; 2],
    /// The cell that the slice passes through; its entries on `axes` are 0.
    pub through: [u32; K],
    /// A pixel shows every so many-th cell of both axes.
    pub scale: u32,
}

impl<const K: usize> Slice<K> {
    /// The slice with the axes in `fixed` held, by the names of all axes; of the others, two run across (the lowest two) and the rest
    /// are held at their middle.
    ///
    /// # Errors
    /// [`Error::Input`] if an axis or an index is out of range, an axis is fixed twice, or fewer than two are left.
    pub fn new(size: [u32; K], fixed: &[HeldAxes], names: &[TreeAxis]) -> Result<Self, Error> {
        let mut through: [Option<u32>; K] = [None; K];
        for held in fixed.iter().flat_map(HeldAxes::iter) {
            let wrong = |reason: String| Error::Input(format!("--slice {reason}")).about(&["slice", "dim", "size"]);
            let (axis, index) = held.cell(names, &size).map_err(wrong)?;
            if through[axis].replace(index).is_some() {
                return Err(Error::Input(format!("--slice {held}: axis {axis} is fixed twice")));
            }
        }
        let mut free = (0..K).filter(|&j| through[j].is_none());
        let axes = match (free.next(), free.next()) {
            (Some(right), Some(up)) => [right, up],
            (Some(only), None) if K == 1 => [only, only],
            _ => {
                let reason = held_too_many(K, K - through.iter().flatten().count());
                let reason = format!("--slice: {reason}");
                return Err(Error::Input(reason).about(&["slice", "dim", "size"]));
            }
        };
        let at = |j: usize| if axes.contains(&j) { 0 } else { through[j].unwrap_or(size[j] / 2) };
        Ok(Self { axes, through: per_axis::each(at), scale: 1 })
    }

    /// The axes that are held, as `--slice` takes them.
    pub fn held(&self, names: &[TreeAxis]) -> String {
        let held = (0..K).filter(|j| !self.axes.contains(j));
        held.map(|j| format!("{}={}", names[j].name, self.through[j])).collect::<Vec<_>>().join(",")
    }

    /// True if every pixel shows the same value.
    pub fn is_uniform(&self, field: &DenseArray<K>) -> bool {
        let [width, height] = self.pixels(field.size());
        let first = field.word(self.through);
        let mut differ = vec![0; width as usize];
        (0..height).all(|y| {
            self.look_up(field, y, &[], &|word| u8::from(word != first), &mut differ);
            differ.iter().all(|&differs| differs == 0)
        })
    }

    /// Width and height in cells.
    pub fn extent(&self, size: [u32; K]) -> [u32; 2] {
        [size[self.axes[0]], if K == 1 { 1 } else { size[self.axes[1]] }]
    }

    /// The same slice in a picture of one pixel for every `scale`-th cell of both axes.
    pub fn scaled(self, scale: u32) -> Self {
        Self { scale, ..self }
    }

    /// Width and height in pixels.
    pub fn pixels(&self, size: [u32; K]) -> [u32; 2] {
        self.extent(size).map(|cells| cells.div_ceil(self.scale))
    }

    /// The entries of a table for the row of pixels that lies `y` upwards, from the left; `other` says them of words beyond it.
    pub fn look_up(&self, field: &DenseArray<K>, y: u32, table: &[u8], other: &dyn Fn(u64) -> u8, pixels: &mut [u8]) {
        let mut cell = self.through;
        cell[self.axes[1]] = y * self.scale;
        cell[self.axes[0]] = 0;
        field.look_up(cell, self.axes[0], self.scale, table, other, pixels);
    }

    /// The words of the row of pixels that lies `y` upwards, from the left.
    pub fn row_of_pixels(&self, field: &DenseArray<K>, y: u32, words: &mut Vec<u64>) {
        let [cells, step] = [self.extent(field.size())[0] as usize, self.scale as usize];
        words.resize(cells, 0);
        self.row(field, y * self.scale, words);
        let pixels = cells.div_ceil(step);
        (1..pixels).for_each(|pixel| words[pixel] = words[pixel * step]);
        words.truncate(pixels);
    }

    /// The cells of it in a field of `size` cells, as a box.
    pub fn window(&self, size: [u32; K]) -> Region<K> {
        let extent = |j: usize| if self.axes.contains(&j) { size[j] } else { 1 };
        Region { corner: self.through, extent: per_axis::each(extent) }
    }

    /// The words of the first cells of the row that lies `y` upwards, from the left.
    pub fn row(&self, field: &DenseArray<K>, y: u32, words: &mut [u64]) {
        let mut cell = self.through;
        cell[self.axes[1]] = y;
        cell[self.axes[0]] = 0;
        field.words(cell, self.axes[0], words);
    }
}
