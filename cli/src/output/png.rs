//! `.png`: a 2-D field, or a slice, as 256 colours; some rows at a time, so that 65536² needs no second image.
//!
//! Axis 1 points up, as on paper: the first row of the picture is the highest index.

use std::io::{Result, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use png::{BitDepth, ColorType, Encoder, chunk};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::packed::{HEADER, Packed};
use super::{PixelRows, Slice};
use orthant::field::Labels;
use orthant::geometry::Domain;
use orthant::result::Cells;
use orthant::{CellType, Computation};

pub use colorous::Gradient;

/// The filter of rows that are as they are (PNG, 9.2).
const NO_FILTER: u8 = 0;

/// The level of deflate.
const LEVEL: u32 = 1;

/// The gradients to choose from.
const GRADIENTS: [(&str, Gradient); 12] = [
    ("inferno", colorous::INFERNO),
    ("magma", colorous::MAGMA),
    ("plasma", colorous::PLASMA),
    ("viridis", colorous::VIRIDIS),
    ("cividis", colorous::CIVIDIS),
    ("turbo", colorous::TURBO),
    ("cubehelix", colorous::CUBEHELIX),
    ("warm", colorous::WARM),
    ("cool", colorous::COOL),
    ("spectral", colorous::SPECTRAL),
    ("rainbow", colorous::SINEBOW),
    ("greys", colorous::GREYS),
];

/// The gradients by their names.
pub fn gradients() -> impl Iterator<Item = (&'static str, Gradient)> {
    GRADIENTS.into_iter()
}

/// One of many colours that are told apart: hues by the golden angle, in OKLCH, of three lightnesses that are all seen on white and
/// on black.
pub fn distinct(number: usize) -> [u8; 3] {
    let [light, chroma] = [[0.72, 0.15], [0.6, 0.17], [0.8, 0.12]][number % 3];
    let (b, a) = (number as f64 * 137.508 + 25.0).to_radians().sin_cos();
    let (a, b) = (chroma * a, chroma * b);
    let cones =
        [[0.396_337_777_4, 0.215_803_757_3], [-0.105_561_345_8, -0.063_854_172_8], [-0.089_484_177_5, -1.291_485_548]];
    let cones = cones.map(|[of_a, of_b]: [f64; 2]| (light + of_a * a + of_b * b).powi(3));
    let linear = [
        [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
        [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
        [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701],
    ];
    linear.map(|row: [f64; 3]| {
        let light: f64 = row.iter().zip(cones).map(|(of, cone)| of * cone).sum();
        let coded = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        (255.0 * coded).round().clamp(0.0, 255.0) as u8
    })
}

/// The parser of `--palette`.
pub fn gradient() -> impl TypedValueParser<Value = Gradient> {
    PossibleValuesParser::new(GRADIENTS.iter().map(|(name, _)| *name)).map(|name| {
        let found = GRADIENTS.iter().find(|(known, _)| *known == name);
        found.expect("clap lets only listed names through").1
    })
}

/// The colours of cells.
pub struct Palette {
    kind: CellType,
    shading: Shading,
    gradient: Gradient,
}

/// Where a value lies between the first colour and the last.
#[derive(Clone, Copy)]
enum Shading {
    /// Counts, by their logarithm; of dwells the largest, "never escaped", is black.
    Counts { most: u64, dwell: bool },
    /// Values, by themselves; what is not a number, or no data, is black.
    Values { ends: Option<[u64; 2]>, nodata: Option<u64> },
}

impl Palette {
    /// Colours for the counts of a field, which are stored as `kind`; for dwell fields the largest, "never escaped", is black
    /// and the others rise along the gradient with the logarithm of the dwell.
    pub fn of_labels(labels: Labels, kind: CellType, gradient: Option<Gradient>) -> Self {
        let usual = if labels.work() { colorous::INFERNO } else { colorous::GREYS };
        let shading = Shading::Counts { most: labels.most().unwrap_or(labels.kind().most()), dwell: labels.work() };
        Self { kind, shading, gradient: gradient.unwrap_or(usual) }
    }

    /// Colours for values, from the least number among some cells to the greatest; cells of the word `nodata` are none.
    pub fn of_values(cells: &Cells, nodata: Option<u64>, gradient: Option<Gradient>) -> Self {
        let shading = Shading::Values { ends: cells.ends(nodata), nodata };
        Self { kind: cells.kind(), shading, gradient: gradient.unwrap_or(colorous::GREYS) }
    }

    /// The index of a cell's colour.
    pub fn index(&self, word: u64) -> u8 {
        let share = match self.shading {
            Shading::Counts { most, dwell } => {
                let label = self.kind.count(word);
                if dwell && label == most {
                    return 0;
                }
                let most = (most as f64).ln_1p();
                if most > 0.0 { (label as f64).ln_1p() / most } else { 0.0 }
            }
            Shading::Values { nodata, .. } if nodata == Some(word) => return 0,
            Shading::Values { .. } if self.kind.number(word).is_nan() => return 0,
            Shading::Values { ends: None, .. } => 0.0,
            Shading::Values { ends: Some(ends), .. } if self.kind.is_float() => {
                let [least, greatest] = ends.map(|end| self.kind.number(end));
                // Halves, since the whole may be more than there are numbers.
                let range = greatest / 2.0 - least / 2.0;
                let above = self.kind.number(word).clamp(least, greatest) / 2.0 - least / 2.0;
                if range > 0.0 { above / range } else { 0.0 }
            }
            Shading::Values { ends: Some(ends), .. } => {
                let [least, greatest] = ends.map(|end| self.kind.rank(end));
                let above = self.kind.rank(word).clamp(least, greatest) - least;
                if greatest > least { above as f64 / (greatest - least) as f64 } else { 0.0 }
            }
        };
        1 + (share * 254.0).round().min(254.0) as u8
    }

    /// The colour of an index.
    pub fn colour(&self, index: u8) -> [u8; 3] {
        if index == 0 {
            return [0, 0, 0];
        }
        let t = f64::from(index - 1) / 254.0;
        let colour = match self.shading {
            Shading::Counts { dwell: true, .. } => self.gradient.eval_continuous(0.06 + 0.94 * t),
            _ => self.gradient.eval_continuous(0.04 + 0.86 * t),
        };
        [colour.r, colour.g, colour.b]
    }

    /// The least number, the one in the middle of the colours, and the greatest, as a legend has them.
    pub fn ends(&self) -> [String; 3] {
        let kind = self.kind;
        match self.shading {
            Shading::Counts { most, .. } => {
                [0, ((most as f64).ln_1p() / 2.0).exp_m1().round() as u64, most].map(|count| count.to_string())
            }
            Shading::Values { ends: Some(ends), .. } if kind.is_float() => {
                let [least, greatest] = ends.map(|end| kind.number(end));
                [least, least / 2.0 + greatest / 2.0, greatest].map(short)
            }
            Shading::Values { ends: Some([least, greatest]), .. } => {
                let middle = kind.rank(least) + (kind.rank(greatest) - kind.rank(least)) / 2;
                [least, kind.rank(middle), greatest].map(|word| kind.text(word))
            }
            Shading::Values { .. } => ["NaN"; 3].map(Into::into),
        }
    }

    /// The indices of the colours of small words, in their order.
    pub fn table(&self) -> Vec<u8> {
        (0..1 << (8 * self.kind.bytes()).min(16)).map(|word| self.index(word)).collect()
    }

    /// The indices of the colours of many cells. Small words are looked up.
    pub fn indices(&self) -> impl Fn(u64) -> u8 {
        let table = self.table();
        move |word| table.get(word as usize).copied().unwrap_or_else(|| self.index(word))
    }

    /// The colours of many cells.
    pub fn colours(&self) -> impl Fn(u64) -> [u8; 3] {
        let (indices, colours) = (self.indices(), (0..=255).map(|index| self.colour(index)).collect::<Vec<_>>());
        move |word| colours[usize::from(indices(word))]
    }
}

/// A number in few digits.
fn short(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        1e-4..1e7 => {
            let digits = format!("{number:.3e}");
            digits.parse::<f64>().map_or(digits, |rounded| rounded.to_string())
        }
        _ => format!("{number:.3e}"),
    }
}

/// What a picture says of itself, so that it can be made again: what was computed, by the names of a report, and which
/// plane of it is shown.
pub struct Caption(Vec<(&'static str, String)>);

impl Caption {
    /// The caption of a slice of what was computed.
    pub fn new<const K: usize>(computation: &Computation, slice: &Slice<K>) -> Self {
        Self::of(&computation.title(), json!(computation), slice)
    }

    /// The caption of a slice of a tree.
    pub fn of_tree<const K: usize>(domain: &Domain<K>, slice: &Slice<K>) -> Self {
        Self::of("tree", json!({"size": domain.size()[..], "domain": domain.window()[..]}), slice)
    }

    fn of<const K: usize>(what: &str, mut keys: Value, slice: &Slice<K>) -> Self {
        let version = format!("orthant {}", env!("CARGO_PKG_VERSION"));
        keys["axes"] = json!(slice.axes[..K.min(2)]);
        keys["through"] = json!(slice.through.as_slice());
        let [right, up] = slice.axes;
        let axes = match K {
            1 => format!("axis {right} to the right"),
            _ => format!("axis {right} to the right, axis {up} upwards"),
        };
        Self(vec![("Software", version), ("Description", format!("{what}, {axes}")), ("orthant", keys.to_string())])
    }

    /// Puts it into a picture: as text that every reader knows, or where that has no such letters as text in UTF-8.
    ///
    /// # Errors
    /// As adding a text.
    pub fn put<W: Write>(&self, encoder: &mut Encoder<'_, W>) -> Result<()> {
        let mut texts = self.0.iter();
        let put = |(key, text): &(&'static str, String)| match text.is_ascii() {
            true => encoder.add_text_chunk((*key).to_owned(), text.clone()),
            false => encoder.add_itxt_chunk((*key).to_owned(), text.clone()),
        };
        Ok(texts.try_for_each(put)?)
    }
}

/// Bytes of rows that all threads make at a time.
const WAVE: usize = 64 << 20;

/// Writes the slice of `field`. All threads make the rows, and pack them.
///
/// # Errors
/// If the writer fails.
pub fn write(rows: &dyn PixelRows, palette: &Palette, caption: &Caption, out: &mut dyn Write) -> Result<()> {
    let [width, height] = rows.pixels();
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette((0..=255).flat_map(|index| palette.colour(index)).collect::<Vec<u8>>());
    caption.put(&mut encoder)?;
    let mut writer = encoder.write_header()?;
    let table = palette.table();
    // Before each row stands its filter, which is none. What loops over pixels is the library's: this is compiled fast, not made fast.
    let bytes = 1 + width as usize;
    let wave = (WAVE / bytes / rayon::current_num_threads()).max(1) * rayon::current_num_threads();
    let mut filtered = vec![NO_FILTER; wave.min(height as usize) * bytes];
    let mut packed = Packed::at(LEVEL);
    packed.packed.extend(HEADER);
    for first in (0..height as usize).step_by(wave) {
        let filtered = &mut filtered[..wave.min(height as usize - first) * bytes];
        filtered.par_chunks_mut(bytes).enumerate().for_each(|(row, pixels)| {
            // The first row is the highest.
            let y = height - 1 - (first + row) as u32;
            rows.look_up(y, &table, &|word| palette.index(word), &mut pixels[1..]);
        });
        packed.push(filtered);
        writer.write_chunk(chunk::IDAT, &packed.packed)?;
        packed.packed.clear();
    }
    writer.write_chunk(chunk::IDAT, &packed.end())?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_colours_of_the_page() {
        // The page of a tree makes them by itself (assets/view/colours.js): change both.
        assert_eq!([1, 17, 1035].map(distinct), [[0, 158, 97], [68, 212, 223], [95, 189, 104]]);
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 1.0, -0.123_456, 1e-9, 12_345_678.0, 299.8].map(short);
        assert_eq!(texts, ["0", "1", "-0.1235", "1.000e-9", "1.235e7", "299.8"]);
    }
}
