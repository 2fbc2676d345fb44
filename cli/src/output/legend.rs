//! Pictures whose colours are explained beside them: by a bar of numbers, or by the names of labels.
//!
//! The letters are bitmaps of eight pixels, made larger for large pictures; no font is looked for on the machine.

use std::collections::{BTreeMap, HashMap};
use std::io::{Result, Write};

use font8x8::{BASIC_FONTS, GREEK_FONTS, LATIN_FONTS, UnicodeFonts};
use png::{BitDepth, ColorType, Encoder};

use orthant::CellType;
use orthant::result::{Cells, DenseArray, paint_row};
use orthant::tree::{LabelLook, TreeLabel};

use super::png::{Caption, Gradient, Palette, distinct};
use super::{PixelRows, Slice};

/// The most labels that a legend names.
pub const MOST_LABELS: usize = 100;

const PAPER: [u8; 3] = [255; 3];
const INK: [u8; 3] = [20; 3];
/// Pixels of a letter, of a line, of what is around and between.
const GLYPH: u32 = 8;
const LINE: u32 = 12;
const MARGIN: u32 = 8;
/// Pixels of a bar's width and of its least height.
const BAR: [u32; 2] = [12, 64];

/// What colour a cell has, and what the colours mean.
pub enum Colours {
    /// From the least number to the greatest.
    Numbers(Palette),
    /// One for each label of a slice.
    Labels(BTreeMap<u64, Label>),
}

/// What is known of values that are drawn.
pub(crate) struct DrawnValues<'a> {
    /// The gradient that was asked for.
    pub(crate) gradient: Option<Gradient>,
    /// If somebody said it, whether cells are labels.
    pub(crate) are_labels: Option<bool>,
    /// Labels with names or colours of their own.
    pub(crate) labels: &'a [TreeLabel],
    /// The word of cells without data.
    pub(crate) nodata: Option<u64>,
}

/// A label as a picture shows it.
pub struct Label {
    colour: [u8; 3],
    text: String,
}

impl Colours {
    /// A colour for each value of some cells: that of its label, else one that follows from the value, so that slices agree.
    pub fn of_labels(cells: &Cells, labels: &[TreeLabel]) -> Self {
        let kind = cells.kind();
        let names: HashMap<u64, &TreeLabel> = labels.iter().map(|label| (label.word, label)).collect();
        let label = |word: u64| {
            let known = names.get(&word);
            let own = known.and_then(|label| label.colour).map(|[red, green, blue, _]| [red, green, blue]);
            // What lies around the others has no colour of its own.
            let own = own.or((known.is_none() && word == 0).then_some(INK));
            let name = known.map_or(String::new(), |label| format!(" {}", label.name));
            (word, Label { colour: own.unwrap_or_else(|| own_colour(kind, word)), text: cut(kind.text(word) + &name) })
        };
        Self::Labels(cells.distinct().into_iter().map(label).collect())
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        match self {
            Self::Numbers(_) => 0,
            Self::Labels(labels) => labels.len(),
        }
    }

    /// The colours of many cells.
    fn colours(&self) -> Box<dyn Fn(u64) -> [u8; 3] + '_> {
        match self {
            Self::Numbers(palette) => Box::new(palette.colours()),
            Self::Labels(labels) => Box::new(|word| labels.get(&word).map_or(INK, |label| label.colour)),
        }
    }
}

/// True if a slice looks like one of labels, which nobody says: see [`LabelLook`].
pub fn looks_like_labels<const K: usize>(field: &DenseArray<K>, slice: &Slice<K>) -> bool {
    let [width, height] = slice.extent(field.size());
    let (mut look, mut words) = (LabelLook::new(field.cells().kind()), vec![0; width as usize]);
    for y in 0..height {
        slice.row(field, y, &mut words);
        look.row(&words);
    }
    look.are_labels()
}

/// A colour of a label that has none: by its number, or by its bits where that is large, below 0 or broken.
fn own_colour(kind: CellType, word: u64) -> [u8; 3] {
    let number = kind.number(word);
    let is_small = (0.0..1e6).contains(&number) && number.fract() == 0.0;
    let scattered = (kind.rank(word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    distinct(if is_small { number as usize } else { scattered })
}

/// The letters of a legend's line, at most so many.
fn cut(text: String) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Writes a slice, with what its colours mean to the right of it if `legend`.
///
/// # Errors
/// If the writer fails.
pub fn write(
    rows: &dyn PixelRows,
    colours: &Colours,
    legend: bool,
    caption: &Caption,
    out: &mut dyn Write,
) -> Result<()> {
    let [width, height] = rows.pixels();
    let beside = legend.then(|| Drawing::of(colours, height));
    let size = beside.as_ref().map_or([0, height], |drawing| drawing.size);
    let mut encoder = Encoder::new(out, width + size[0], size[1]);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    caption.put(&mut encoder)?;
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    let (colour, mut words, mut row) = (colours.colours(), Vec::new(), Vec::new());
    for line in 0..size[1] {
        row.clear();
        match height.checked_sub(line + 1) {
            Some(y) => {
                rows.row_of_pixels(y, &mut words);
                paint_row(&words, 1, &colour, &mut row);
            }
            None => row.extend(PAPER.repeat(width as usize)),
        }
        if let Some(drawing) = &beside {
            row.extend(drawing.row(line));
        }
        stream.write_all(&row)?;
    }
    stream.finish()?;
    Ok(writer.finish()?)
}

/// A legend in pixels.
struct Drawing {
    size: [u32; 2],
    /// Pixels of the drawing for one of its own.
    scale: u32,
    pixels: Vec<[u8; 3]>,
    width: u32,
}

impl Drawing {
    /// Of a picture that is so high.
    fn of(colours: &Colours, height: u32) -> Self {
        let scale = (height / 512).max(1);
        let texts: Vec<String> = match colours {
            Colours::Numbers(palette) => palette.ends().into(),
            Colours::Labels(labels) => labels.values().map(|label| label.text.clone()).collect(),
        };
        let widest = texts.iter().map(|text| text.chars().count() as u32).max().unwrap_or(0) * GLYPH;
        let width = MARGIN + BAR[0] + MARGIN + widest + MARGIN;
        let needed = match colours {
            Colours::Numbers(_) => BAR[1],
            Colours::Labels(labels) => labels.len() as u32 * LINE,
        };
        let height = height.max((needed + 2 * MARGIN) * scale);
        let own = height.div_ceil(scale);
        let pixels = vec![PAPER; width as usize * own as usize];
        let mut drawing = Self { size: [width * scale, height], scale, pixels, width };
        let beside = 2 * MARGIN + BAR[0];
        match colours {
            Colours::Numbers(palette) => {
                let long = own - 2 * MARGIN;
                for y in 0..long {
                    let index = 255 - u64::from(y) * 254 / u64::from(long.max(2) - 1);
                    drawing.fill([MARGIN, MARGIN + y], [BAR[0], 1], palette.colour(index as u8));
                }
                for (text, at) in texts.iter().zip([own - MARGIN - GLYPH, own / 2 - GLYPH / 2, MARGIN]) {
                    drawing.text(text, [beside, at]);
                }
            }
            Colours::Labels(labels) => {
                for (line, label) in labels.values().enumerate() {
                    let y = MARGIN + line as u32 * LINE;
                    drawing.fill([MARGIN, y], [BAR[0], LINE - 2], label.colour);
                    drawing.text(&label.text, [beside, y + 1]);
                }
            }
        }
        drawing
    }

    fn fill(&mut self, [x, y]: [u32; 2], [width, height]: [u32; 2], colour: [u8; 3]) {
        for y in y..y + height {
            let start = (y * self.width + x) as usize;
            self.pixels[start..start + width as usize].fill(colour);
        }
    }

    /// Writes a text; a letter that there is no bitmap of is a box.
    fn text(&mut self, text: &str, [x, y]: [u32; 2]) {
        for (place, letter) in text.chars().enumerate() {
            let fonts = [BASIC_FONTS.get(letter), LATIN_FONTS.get(letter), GREEK_FONTS.get(letter)];
            let glyph = fonts.into_iter().flatten().next().unwrap_or([0, 0x7e, 0x42, 0x42, 0x42, 0x42, 0x7e, 0]);
            for (row, bits) in glyph.into_iter().enumerate() {
                for column in (0..GLYPH).filter(|column| bits >> column & 1 == 1) {
                    self.fill([x + place as u32 * GLYPH + column, y + row as u32], [1, 1], INK);
                }
            }
        }
    }

    /// The bytes of a line.
    fn row(&self, line: u32) -> impl Iterator<Item = u8> {
        let start = (line / self.scale * self.width) as usize;
        let scale = self.scale as usize;
        self.pixels[start..start + self.width as usize]
            .iter()
            .flat_map(move |&pixel| std::iter::repeat_n(pixel, scale))
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_labels_differ_and_are_seen_on_white_and_on_black() {
        let light = |[red, green, blue]: [u8; 3]| {
            let linear = |c: u8| ((f64::from(c) / 255.0 + 0.055) / 1.055).powf(2.4);
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        let colours: Vec<[u8; 3]> = (0..MOST_LABELS).map(distinct).collect();
        for (number, &colour) in colours.iter().enumerate() {
            assert!(!colours[..number].contains(&colour), "{number}");
            assert!((0.1..0.8).contains(&light(colour)), "{number}: {}", light(colour));
        }
    }
}
