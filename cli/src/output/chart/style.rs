//! What all panels share: sizes, colours, text.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, SVGBackend};
use plotters::style::{BLACK, FontTransform, IntoFont, RGBColor, TextStyle};

/// Width and height of a panel in pixels.
pub(super) const WIDTH: u32 = 480;
pub(super) const HEIGHT: u32 = 380;
pub(super) const TITLE: u32 = 40;
pub(super) const FONT: &str = "sans-serif";
/// The drawing library's sizes; they come out at four fifths.
pub(super) const SMALL: u32 = 17;
pub(super) const LARGE: u32 = 19;

/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// Tones that can be told apart without seeing colour well and stand out from white by 3 : 1 (after Okabe and Ito).
pub(super) const TONES: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x8a, 0x64),
    RGBColor(0xb8, 0x57, 0x92),
    RGBColor(0x94, 0x72, 0x00),
    RGBColor(0x22, 0x22, 0x88),
    RGBColor(0x8b, 0x1a, 0x1a),
    RGBColor(0x5a, 0x5a, 0x5a),
];

/// The width of curves, by which the style sheet knows them from all else that has their tone.
pub(super) const LINES: u32 = 2;

pub(super) type Drawn = Result<(), Box<dyn Error>>;
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Text in the colour of text.
pub(super) fn ink(size: u32) -> TextStyle<'static> {
    TextStyle::from((FONT, size).into_font().transform(FontTransform::None)).color(&BLACK)
}
