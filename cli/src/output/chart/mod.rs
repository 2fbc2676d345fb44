//! .svg: curves and heat maps of numbers, in a grid of panels.
//!
//! Pictures follow the reader's preference for light or dark and say in words what they show. Colours are written as they
//! are on white; [`STYLE`] replaces them on dark, and dashes curves, by their values, because the drawing library knows no
//! classes.

mod curves;
mod heat_map;
mod scale;
mod style;

use std::error::Error;

use plotters::element::Text;
use plotters::prelude::{IntoDrawingArea, SVGBackend};
use plotters::style::WHITE;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use curves::{Curve, Curves};
pub use heat_map::HeatMap;
pub use scale::{Axis, Scale};
use style::{HEIGHT, LARGE, TITLE, WIDTH, ink};

/// One place of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Curves.
    Curves(Curves),
    /// A heat map.
    HeatMap(HeatMap),
}

impl Panel {
    /// Its numbers, a line for each, under a line of names.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &[&dyn std::fmt::Display]| {
            let cells: Vec<String> = cells.iter().map(|cell| quoted(&cell.to_string())).collect();
            text += &format!("{}\n", cells.join(","));
        };
        match self {
            Self::Curves(panel) => {
                line(&[&"curve", &panel.x.name, &panel.y.name, &"from", &"to"]);
                for curve in &panel.curves {
                    for [x, y] in &curve.points {
                        let bar = curve.bars.iter().find(|bar| bar[0] == *x);
                        let [from, to] = bar
                            .map_or([String::new(), String::new()], |[_, low, high]| [low, high].map(f64::to_string));
                        line(&[&curve.name, x, y, &from, &to]);
                    }
                }
            }
            Self::HeatMap(map) => {
                line(&[&map.x.0, &map.y.0, &"value"]);
                for (y, row) in map.y.1.iter().zip(&map.values) {
                    for (x, value) in map.x.1.iter().zip(row) {
                        line(&[x, y, &value.map_or(String::new(), |value| value.to_string())]);
                    }
                }
            }
        }
        text
    }

    /// Pixels across that it needs.
    fn width(&self) -> u32 {
        match self {
            Self::Curves(_) => WIDTH,
            Self::HeatMap(map) => map.width().max(WIDTH),
        }
    }
}

/// A cell of a CSV file (RFC 4180).
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// How curves are dashed and what pictures look like on dark, for the page or the picture that holds them.
pub const STYLE: &str = "svg polyline[stroke='#D55E00'][stroke-width='2'] { stroke-dasharray: 12 4 }
svg polyline[stroke='#008A64'][stroke-width='2'] { stroke-dasharray: 8 8 }
svg polyline[stroke='#B85792'][stroke-width='2'] { stroke-dasharray: 5 7 }
svg polyline[stroke='#947200'][stroke-width='2'] { stroke-dasharray: 3 9 }
svg polyline[stroke='#222288'][stroke-width='2'] { stroke-dasharray: 2 4 }
svg polyline[stroke='#8B1A1A'][stroke-width='2'] { stroke-dasharray: 16 3 }
svg polyline[stroke='#5A5A5A'][stroke-width='2'] { stroke-dasharray: 1 3 }
@media (prefers-color-scheme: dark) {
svg [fill='#FFFFFF'] { fill: #14171a } svg [stroke='#FFFFFF'] { stroke: #14171a }
svg [fill='#000000'] { fill: #e6e6e6 } svg [stroke='#000000'] { stroke: #e6e6e6 }
svg [stroke='#DDDDDD'] { stroke: #3a3f44 }
svg [fill='#0072B2'] { fill: #56b4e9 } svg [stroke='#0072B2'] { stroke: #56b4e9 }
svg [fill='#D55E00'] { fill: #f08c3a } svg [stroke='#D55E00'] { stroke: #f08c3a }
svg [fill='#008A64'] { fill: #2cc59b } svg [stroke='#008A64'] { stroke: #2cc59b }
svg [fill='#B85792'] { fill: #dd94bd } svg [stroke='#B85792'] { stroke: #dd94bd }
svg [fill='#947200'] { fill: #e6c229 } svg [stroke='#947200'] { stroke: #e6c229 }
svg [fill='#222288'] { fill: #aab0f0 } svg [stroke='#222288'] { stroke: #aab0f0 }
svg [fill='#8B1A1A'] { fill: #f07a7a } svg [stroke='#8B1A1A'] { stroke: #f07a7a }
svg [fill='#5A5A5A'] { fill: #b4b4b4 } svg [stroke='#5A5A5A'] { stroke: #b4b4b4 }
}";

/// A picture to stand alone: `rows` of panels under a title of any number of lines, described in words.
///
/// # Errors
/// What the drawing library says, as an I/O error.
pub fn svg(title: &str, description: &str, rows: &[Vec<Panel>]) -> std::io::Result<String> {
    let picture = drawn(title, rows)?;
    Ok(described(&picture, title, description, &format!("<style>{STYLE}</style>")))
}

/// A picture to stand alone that is one panel, whose title is in it.
///
/// # Errors
/// What the drawing library says, as an I/O error.
pub fn single(panel: &Panel, title: &str, description: &str) -> std::io::Result<String> {
    let picture = drawn("", &[vec![panel.clone()]])?;
    Ok(described(&picture, title, description, &format!("<style>{STYLE}</style>")))
}

/// A panel to stand in a page that has [`STYLE`].
///
/// # Errors
/// What the drawing library says, as an I/O error.
pub fn inline(panel: &Panel, title: &str, description: &str) -> std::io::Result<String> {
    let picture = drawn("", &[vec![panel.clone()]])?;
    Ok(described(&picture, title, description, ""))
}

/// Text as it may stand between tags.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A picture with its words put in, after its first tag.
fn described(picture: &str, title: &str, description: &str, style: &str) -> String {
    let (tag, rest) = picture.split_once('>').unwrap_or((picture, ""));
    let (title, description) = (escaped(title), escaped(description));
    format!("{tag} role=\"img\"><title>{title}</title><desc>{description}</desc>{style}{rest}")
}

fn drawn(title: &str, rows: &[Vec<Panel>]) -> std::io::Result<String> {
    draw(title, rows).map_err(|error| std::io::Error::other(error.to_string()))
}

fn draw(title: &str, rows: &[Vec<Panel>]) -> Result<String, Box<dyn Error>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as u32;
    let width = rows.iter().flatten().map(Panel::width).max().unwrap_or(WIDTH);
    let head = TITLE * title.lines().count() as u32;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (columns * width, rows.len() as u32 * HEIGHT + head));
    let area = area.into_drawing_area();
    area.fill(&WHITE)?;
    let (top, below) = area.split_vertically(head);
    for (i, line) in title.lines().enumerate() {
        let middle = ((columns * width / 2) as i32, (TITLE * i as u32 + TITLE / 2) as i32);
        top.draw(&Text::new(line, middle, ink(LARGE + 2).pos(Pos::new(HPos::Center, VPos::Center))))?;
    }
    let places = below.split_evenly((rows.len().max(1), columns as usize));
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            let place = &places[row * columns as usize + column];
            match panel {
                Panel::Curves(panel) => panel.draw(place)?,
                Panel::HeatMap(panel) => panel.draw(place)?,
            }
        }
    }
    area.present()?;
    drop((area, top, below, places));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use plotters::style::RGBColor;

    use super::style::{GRID, LINES, TONES};
    use super::*;

    fn axis(name: &str) -> Axis {
        Axis { name: name.into(), scale: Scale::Binary }
    }

    #[test]
    fn pictures_hold_what_was_given() {
        let curve = Curve::new("n & m".into(), vec![[1.0, 1.0], [1024.0, 16.0]]);
        let panel = Curves { title: "gain".into(), x: axis("n"), y: axis("S"), curves: vec![curve] };
        let empty = Curves { curves: Vec::new(), ..panel.clone() };
        let map = HeatMap {
            title: "cost".into(),
            x: ("r".into(), vec!["2".into(), "4".into()]),
            y: ("g".into(), vec!["3".into()]),
            values: vec![vec![Some(1.0), None]],
        };
        let rows = [vec![Panel::Curves(panel), Panel::Curves(empty)], vec![Panel::HeatMap(map)]];
        let picture = svg("title", "a < b", &rows).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        for text in ["<title>title</title><desc>a &lt; b</desc>", "gain", "cost", "n &amp; m", "1.00", "1024"] {
            assert!(picture.contains(text), "{text} in {picture}");
        }
    }

    #[test]
    fn every_curve_but_the_first_is_dashed_in_its_own_way() {
        let dashes = |RGBColor(r, g, b): &RGBColor| {
            let rule = format!("[stroke='#{r:02X}{g:02X}{b:02X}'][stroke-width='{LINES}'] {{ stroke-dasharray: ");
            STYLE.split_once(&rule).map(|(_, rest)| rest.split_once(' ').unwrap())
        };
        assert_eq!(dashes(&TONES[0]), None);
        let known: std::collections::BTreeSet<_> = TONES[1..].iter().map(|tone| dashes(tone).unwrap()).collect();
        assert_eq!(known.len(), TONES.len() - 1);
    }

    #[test]
    fn every_colour_has_one_on_dark() {
        for RGBColor(r, g, b) in TONES.iter().chain([&GRID]) {
            assert!(STYLE.contains(&format!("stroke='#{r:02X}{g:02X}{b:02X}'")), "{r} {g} {b}");
        }
    }
}
