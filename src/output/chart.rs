//! .svg: curves and heat maps of numbers, in a grid of panels.
//!
//! Both axes of a panel of curves are logarithmic to base 2, because sizes, splits and gains are; ranges come from the
//! data, since the drawing library would move what lies outside onto the axes.

use std::error::Error;
use std::ops::Range;

use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE};

/// A named curve through points of positive numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// x and y, from left to right.
    pub points: Vec<[f64; 2]>,
}

/// Curves over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// Above the panel.
    pub title: String,
    /// Below the x axis.
    pub x: String,
    /// Beside the y axis.
    pub y: String,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// A table of numbers of at least 1 as colours: 1 is best.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Above the panel.
    pub title: String,
    /// Name and values of the columns.
    pub x: (String, Vec<u64>),
    /// Name and values of the rows, from below.
    pub y: (String, Vec<u64>),
    /// Row by row; none where there is nothing.
    pub values: Vec<Vec<Option<f64>>>,
}

/// One place of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Curves.
    Curves(Curves),
    /// A heat map.
    HeatMap(HeatMap),
}

/// Width and height of a panel in pixels.
const PANEL: (u32, u32) = (460, 360);
const TITLE: u32 = 40;
const FONT: &str = "sans-serif";

/// Tones that can be told apart without seeing colour well (Okabe and Ito).
const TONES: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A picture of `rows` of panels under a title, as SVG.
///
/// # Errors
/// What the drawing library says, as an I/O error.
pub fn svg(title: &str, rows: &[Vec<Panel>]) -> std::io::Result<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as u32;
    let size = (columns * PANEL.0, rows.len() as u32 * PANEL.1 + TITLE);
    let mut text = String::new();
    draw(SVGBackend::with_string(&mut text, size).into_drawing_area(), title, rows, columns)
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(text)
}

fn draw(area: Area, title: &str, rows: &[Vec<Panel>], columns: u32) -> Drawn {
    area.fill(&WHITE)?;
    let area = area.titled(title, (FONT, 20))?;
    let places = area.split_evenly((rows.len().max(1), columns as usize));
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            let place = &places[row * columns as usize + column];
            match panel {
                Panel::Curves(panel) => curves(place, panel)?,
                Panel::HeatMap(panel) => heat_map(place, panel)?,
            }
        }
    }
    area.present()?;
    Ok(())
}

/// From the least to the greatest of some numbers, with a margin; something to draw on if there are none.
fn range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    let margin = if high - low < 1.0 { 1.0 } else { 0.04 * (high - low) };
    low - margin..high + margin
}

/// 2^exponent as people write it; nothing between whole exponents.
fn power(exponent: f64) -> String {
    match exponent {
        _ if exponent.fract() != 0.0 => String::new(),
        10.0.. => format!("2^{exponent}"),
        _ => format!("{}", exponent.exp2()),
    }
}

fn curves(area: &Area, panel: &Curves) -> Drawn {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 15))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(range(points().map(|p| p[0].log2())), range(points().map(|p| p[1].log2())))?;
    chart
        .configure_mesh()
        .x_desc(&panel.x)
        .y_desc(&panel.y)
        .x_labels(8)
        .y_labels(8)
        .x_label_formatter(&|x| power(*x))
        .y_label_formatter(&|y| power(*y))
        .light_line_style(WHITE)
        .draw()?;
    for (curve, tone) in panel.curves.iter().zip(TONES.iter().cycle()) {
        let style = ShapeStyle::from(tone).stroke_width(2);
        let points: Vec<_> = curve.points.iter().map(|p| (p[0].log2(), p[1].log2())).collect();
        chart
            .draw_series([PathElement::new(points, style)])?
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font((FONT, 12))
        .draw()?;
    Ok(())
}

/// Costs of this many times the best share the last colour.
const WORST: f64 = 8.0;

fn heat_map(area: &Area, panel: &HeatMap) -> Drawn {
    let (columns, rows) = (panel.x.1.len(), panel.y.1.len());
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 15))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..columns as f64, 0.0..rows as f64)?;
    let name = |values: &[u64], at: f64| {
        let whole = (at - 0.5).fract() == 0.0;
        values.get(at as usize).filter(|_| whole).map(u64::to_string).unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(&panel.x.0)
        .y_desc(&panel.y.0)
        .x_labels(2 * columns + 1)
        .y_labels(2 * rows + 1)
        .x_label_formatter(&|x| name(&panel.x.1, *x))
        .y_label_formatter(&|y| name(&panel.y.1, *y))
        .draw()?;
    for (row, values) in panel.values.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let share = value.log2() / WORST.log2();
            let tone = colorous::VIRIDIS.eval_continuous(1.0 - share.clamp(0.0, 1.0));
            let (x, y) = (column as f64, row as f64);
            let filled = RGBColor(tone.r, tone.g, tone.b).filled();
            chart.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], filled)])?;
            let ink = if share < 0.5 { BLACK } else { WHITE };
            let style = TextStyle::from((FONT, 11).into_font()).color(&ink).pos(Pos::new(HPos::Center, VPos::Center));
            let number = if *value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
            chart.draw_series([Text::new(number, (x + 0.5, y + 0.5), style)])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_hold_what_was_given() {
        let curve = Curve { name: "n & m".into(), points: vec![[1.0, 1.0], [1024.0, 16.0]] };
        let panel = Curves { title: "gain".into(), x: "n".into(), y: "S".into(), curves: vec![curve] };
        let empty = Curves { curves: Vec::new(), ..panel.clone() };
        let map = HeatMap {
            title: "cost".into(),
            x: ("r".into(), vec![2, 4]),
            y: ("g".into(), vec![3]),
            values: vec![vec![Some(1.0), None]],
        };
        let picture =
            svg("title", &[vec![Panel::Curves(panel), Panel::Curves(empty)], vec![Panel::HeatMap(map)]]).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        for text in ["title", "gain", "cost", "n &amp; m", "1.00", "2^10"] {
            assert!(picture.contains(text), "{text} in {picture}");
        }
    }

    #[test]
    fn ranges_hold_their_data() {
        assert_eq!(range([].into_iter()), 0.0..1.0);
        let one = range([3.0].into_iter());
        assert!(one.start < 3.0 && one.end > 3.0);
    }
}
