//! `.png`: a 2-D field, or a slice, as 256 colours; streamed row by row, so that 65536² needs no second image.
//!
//! Axis 1 points up, as on paper: the first row of the picture is the highest index.

use std::io::{Result, Write};

use png::{BitDepth, ColorType, Compression, Encoder};

use super::Slice;
use orthant::result::DenseArray;

/// The colours of labels.
pub struct Palette {
    max_label: u32,
    dwell: bool,
}

impl Palette {
    /// Colours for labels up to `max_label`; for dwell fields the largest label, "never escaped", is black and the
    /// others rise in brightness with the logarithm of the dwell.
    pub fn new(max_label: u32, dwell: bool) -> Self {
        Self { max_label, dwell }
    }

    /// The index of a label's colour.
    pub fn index(&self, label: u32) -> u8 {
        if self.dwell && label == self.max_label {
            return 0;
        }
        let most = f64::from(self.max_label).ln_1p();
        let share = if most > 0.0 { f64::from(label).ln_1p() / most } else { 0.0 };
        1 + (share * 254.0).round().min(254.0) as u8
    }

    /// The colour of an index.
    pub fn colour(&self, index: u8) -> [u8; 3] {
        if index == 0 {
            return [0, 0, 0];
        }
        let t = f64::from(index - 1) / 254.0;
        let colour = match self.dwell {
            true => colorous::INFERNO.eval_continuous(0.06 + 0.94 * t),
            false => colorous::GREYS.eval_continuous(0.04 + 0.86 * t),
        };
        [colour.r, colour.g, colour.b]
    }

    /// The index of every label, for the inner loop.
    fn table(&self) -> Vec<u8> {
        (0..=self.max_label.min(1 << 16)).map(|label| self.index(label)).collect()
    }
}

/// Writes the slice of `field`.
///
/// # Errors
/// If the writer fails.
pub fn write<const K: usize>(
    field: &DenseArray<K>,
    slice: &Slice<K>,
    palette: &Palette,
    out: &mut dyn Write,
) -> Result<()> {
    let [width, height] = slice.extent(field.size());
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette((0..=255).flat_map(|index| palette.colour(index)).collect::<Vec<u8>>());
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    let table = palette.table();
    let mut row = vec![0; width as usize];
    for y in (0..height).rev() {
        for (x, pixel) in row.iter_mut().enumerate() {
            let label = slice.label(field, x as u32, y);
            *pixel = table.get(label as usize).copied().unwrap_or_else(|| palette.index(label));
        }
        stream.write_all(&row)?;
    }
    stream.finish()?;
    Ok(writer.finish()?)
}
