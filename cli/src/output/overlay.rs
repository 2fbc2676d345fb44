//! `--overlay`: the subdivision drawn over the field, in image space; the data are never touched.
//!
//! Every terminal region that meets the slice gets its left and lower edge in the colour of its level. Small domains
//! are magnified until their regions can be seen, large ones are sampled down.

use std::io::{Result, Write};

use png::{BitDepth, ColorType, Encoder};

use super::png::{Caption, Palette};
use super::{PixelRows, Slice};
use orthant::geometry::Region;
use orthant::result::paint_row;

/// The picture is at least this wide, by whole-number magnification of up to 16.
const LEAST: u32 = 1024;

/// The picture is at most this wide and high, by sampling.
const MOST: u32 = 4096;

/// How much of a line's colour covers the field.
const COVER: f64 = 0.55;

/// From cells to pixels: a magnification or a reduction, whole numbers both.
struct Magnification {
    up: u32,
    down: u32,
}

impl Magnification {
    fn new([width, height]: [u32; 2]) -> Self {
        let side = width.max(height);
        Self { up: (LEAST / side).clamp(1, 16), down: side.div_ceil(MOST) }
    }

    fn pixels(&self, cells: u32) -> u32 {
        (u64::from(cells) * u64::from(self.up)).div_ceil(u64::from(self.down)) as u32
    }

    fn cell(&self, pixel: u32) -> u32 {
        pixel / self.up * self.down
    }
}

/// Writes the slice of `field` with the terminal regions, each with its level, of so many `levels`.
///
/// # Errors
/// If the writer fails.
pub fn write<const K: usize>(
    rows: &dyn PixelRows,
    levels: usize,
    regions: &mut dyn Iterator<Item = (u32, Region<K>)>,
    slice: &Slice<K>,
    palette: &Palette,
    caption: &Caption,
    out: &mut dyn Write,
) -> Result<()> {
    let scale = Magnification::new(rows.extent());
    let mut picture = Overlay::of(rows, &scale, palette);
    for (level, region) in regions {
        let meets = (0..K)
            .all(|j| slice.axes.contains(&j) || (slice.through[j].wrapping_sub(region.corner[j]) < region.extent[j]));
        if meets {
            let low = slice.axes.map(|j| scale.pixels(region.corner[j]));
            let high = slice.axes.map(|j| scale.pixels(region.corner[j] + region.extent[j]));
            let (low, high) = if K == 1 { ([low[0], 0], [high[0], picture.size[1]]) } else { (low, high) };
            picture.draw(low, high, line_colour(level, levels));
        }
    }
    picture.write(caption, out)
}

/// The picture in memory.
struct Overlay {
    size: [u32; 2],
    pixels: Vec<u8>,
}

impl Overlay {
    /// The cells, without regions.
    fn of(rows: &dyn PixelRows, scale: &Magnification, palette: &Palette) -> Self {
        let extent = rows.extent();
        let [width, height] = extent.map(|cells| scale.pixels(cells));
        let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
        let (colour, mut words) = (palette.colours(), vec![0; extent[0] as usize]);
        let mut row = Vec::with_capacity(width as usize * 3);
        for y in (0..height).rev() {
            rows.row(scale.cell(y), &mut words);
            match scale.up {
                1 => paint_row(&words, scale.down as usize, &colour, &mut pixels),
                // Only small fields are magnified.
                up => {
                    row.clear();
                    paint_row(&words, 1, &colour, &mut row);
                    row.chunks_exact(3).for_each(|pixel| pixels.extend(pixel.repeat(up as usize)));
                }
            }
        }
        Self { size: [width, height], pixels }
    }

    /// Draws the left and the lower edge of a box.
    fn draw(&mut self, low: [u32; 2], high: [u32; 2], colour: [u8; 3]) {
        let [width, height] = self.size;
        let mut dot = |x: u32, y: u32| {
            let start = 3 * ((height - 1 - y) as usize * width as usize + x as usize);
            for (channel, line) in self.pixels[start..start + 3].iter_mut().zip(colour) {
                *channel = (f64::from(*channel) * (1.0 - COVER) + f64::from(line) * COVER) as u8;
            }
        };
        (low[0]..high[0].min(width)).for_each(|x| dot(x, low[1]));
        (low[1] + 1..high[1].min(height)).for_each(|y| dot(low[0], y));
    }

    fn write(&self, caption: &Caption, out: &mut dyn Write) -> Result<()> {
        let mut encoder = Encoder::new(out, self.size[0], self.size[1]);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        caption.put(&mut encoder)?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }
}

/// Pale for coarse levels, deep for fine ones, so that the many small regions do not drown the few large.
fn line_colour(level: u32, levels: usize) -> [u8; 3] {
    let t = if levels > 1 { f64::from(level) / (levels - 1) as f64 } else { 0.0 };
    let colour = colorous::YELLOW_GREEN_BLUE.eval_continuous(0.1 + 0.6 * t);
    [colour.r, colour.g, colour.b]
}
