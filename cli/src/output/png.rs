//! `.png`: a 2-D field, or a slice, as 256 colours; streamed row by row, so that 65536² needs no second image.
//!
//! Axis 1 points up, as on paper: the first row of the picture is the highest index.

use std::io::{Result, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use png::{BitDepth, ColorType, Compression, Encoder};
use serde_json::json;

use super::Slice;
use orthant::Computation;
use orthant::field::Labels;
use orthant::result::DenseArray;

pub use colorous::Gradient;

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

/// The parser of `--palette`.
pub fn gradient() -> impl TypedValueParser<Value = Gradient> {
    PossibleValuesParser::new(GRADIENTS.iter().map(|(name, _)| *name)).map(|name| {
        let found = GRADIENTS.iter().find(|(known, _)| *known == name);
        found.expect("clap lets only listed names through").1
    })
}

/// The colours of labels.
pub struct Palette {
    most: u64,
    dwell: bool,
    gradient: Gradient,
}

impl Palette {
    /// Colours for the counts of a field; for dwell fields the largest, "never escaped", is black and the others rise along
    /// the gradient with the logarithm of the dwell.
    pub fn new(labels: Labels, gradient: Option<Gradient>) -> Self {
        let usual = if labels.work() { colorous::INFERNO } else { colorous::GREYS };
        let most = labels.most().unwrap_or(labels.kind().most());
        Self { most, dwell: labels.work(), gradient: gradient.unwrap_or(usual) }
    }

    /// The index of a label's colour.
    pub fn index(&self, label: u64) -> u8 {
        if self.dwell && label == self.most {
            return 0;
        }
        let most = (self.most as f64).ln_1p();
        let share = if most > 0.0 { (label as f64).ln_1p() / most } else { 0.0 };
        1 + (share * 254.0).round().min(254.0) as u8
    }

    /// The colour of an index.
    pub fn colour(&self, index: u8) -> [u8; 3] {
        if index == 0 {
            return [0, 0, 0];
        }
        let t = f64::from(index - 1) / 254.0;
        let colour = match self.dwell {
            true => self.gradient.eval_continuous(0.06 + 0.94 * t),
            false => self.gradient.eval_continuous(0.04 + 0.86 * t),
        };
        [colour.r, colour.g, colour.b]
    }

    /// The index of every label, for the inner loop.
    fn table(&self) -> Vec<u8> {
        (0..=self.most.min(1 << 16)).map(|label| self.index(label)).collect()
    }
}

/// What a picture says of itself, so that it can be made again: what was computed, by the names of a report, and which
/// plane of it is shown.
pub struct Caption(Vec<(&'static str, String)>);

impl Caption {
    /// The caption of a slice.
    pub fn new<const K: usize>(computation: &Computation, slice: &Slice<K>) -> Self {
        let version = format!("orthant {}", env!("CARGO_PKG_VERSION"));
        let mut keys = json!(computation);
        keys["axes"] = json!(slice.axes[..K.min(2)]);
        keys["through"] = json!(slice.through.as_slice());
        let [right, up] = slice.axes;
        let axes = match K {
            1 => format!("axis {right} to the right"),
            _ => format!("axis {right} to the right, axis {up} upwards"),
        };
        Self(vec![
            ("Software", version),
            ("Description", format!("{}, {axes}", computation.workload)),
            ("orthant", keys.to_string()),
        ])
    }

    /// Puts it into a picture.
    ///
    /// # Errors
    /// Never: its texts are ASCII.
    pub fn put<W: Write>(&self, encoder: &mut Encoder<'_, W>) -> Result<()> {
        let mut texts = self.0.iter();
        Ok(texts.try_for_each(|(key, text)| encoder.add_text_chunk((*key).to_owned(), text.clone()))?)
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
    caption: &Caption,
    out: &mut dyn Write,
) -> Result<()> {
    let [width, height] = slice.extent(field.size());
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette((0..=255).flat_map(|index| palette.colour(index)).collect::<Vec<u8>>());
    encoder.set_compression(Compression::Fast);
    caption.put(&mut encoder)?;
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
