//! Curves over one pair of axes, with the spread of their points.
//!
//! Curves may lie on each other. Their dashes grow shorter and their gaps longer from one to the next, and full marks take
//! turns with hollow ones that are larger, so that what is drawn later hides nothing of what was drawn before.

use std::error::Error;

use plotters::chart::ChartBuilder;
use plotters::element::{Circle, EmptyElement, PathElement, Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, ShapeStyle, TRANSPARENT};

use super::scale::Axis;
use super::style::{Area, Drawn, GRID, LARGE, LINES, SMALL, TONES, WIDTH, ink};

/// A named curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// x and y, from left to right.
    pub points: Vec<[f64; 2]>,
    /// x, and the y from which and to which a bar says how sure a point is.
    pub bars: Vec<[f64; 3]>,
    /// x and y of samples that are far from their point.
    pub outliers: Vec<[f64; 2]>,
    /// The number of its tone, dashes and mark, for what should look the same in several figures; None: its place in the legend.
    pub look: Option<usize>,
}

impl Curve {
    /// A curve without spread.
    pub fn new(name: String, points: Vec<[f64; 2]>) -> Self {
        Self { name, points, bars: Vec::new(), outliers: Vec::new(), look: None }
    }
}

/// Curves over one pair of axes; on logarithmic ones, values are positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// Above the panel.
    pub title: String,
    /// Below.
    pub x: Axis,
    /// At the left.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// Curves with more points show no marks.
const MARKED: usize = 32;

/// Pixels of a line of the legend, and of a letter in it.
const LINE: i32 = 18;
const LETTER: i32 = 8;

impl Curves {
    /// Where the names of the legend stand, as pixels and lines, and how many lines there are.
    fn legend(&self) -> (Vec<(i32, i32)>, i32) {
        let (mut x, mut line) = (0, 0);
        let mut places = Vec::new();
        for curve in &self.curves {
            let width = 38 + LETTER * curve.name.chars().count() as i32;
            if x > 0 && x + width > WIDTH as i32 - 30 {
                (x, line) = (0, line + 1);
            }
            places.push((x, line));
            x += width;
        }
        (places, line + 1)
    }

    /// Draws title and legend; returns the area that is left.
    fn head<'a>(&self, area: &Area<'a>) -> Result<Area<'a>, Box<dyn Error>> {
        let (places, lines) = self.legend();
        let (head, plot) = area.split_vertically(34 + lines * LINE);
        let width = head.dim_in_pixel().0 as i32;
        let middle = Pos::new(HPos::Center, VPos::Center);
        head.draw(&Text::new(self.title.as_str(), (width / 2, 16), ink(LARGE).pos(middle)))?;
        for ((i, curve), (x, line)) in self.curves.iter().enumerate().zip(places) {
            let look = curve.look.unwrap_or(i);
            let tone = TONES[look % TONES.len()];
            let (x, y) = (x + 14, 38 + line * LINE);
            head.draw(&PathElement::new([(x, y), (x + 22, y)], ShapeStyle::from(&tone).stroke_width(LINES)))?;
            let (edge, inside) = mark(look);
            let at = EmptyElement::at((x + 11, y));
            head.draw(&(at + Polygon::new(edge.clone(), inside) + PathElement::new(closed(edge), tone)))?;
            let left = Pos::new(HPos::Left, VPos::Center);
            head.draw(&Text::new(curve.name.as_str(), (x + 28, y), ink(SMALL).pos(left)))?;
        }
        Ok(plot)
    }

    pub(super) fn draw(&self, area: &Area) -> Drawn {
        let plot = self.head(area)?;
        let points = |axis: usize| -> Vec<f64> {
            self.curves.iter().flat_map(|curve| &curve.points).map(|point| point[axis]).collect()
        };
        let bars = self.curves.iter().flat_map(|curve| &curve.bars).flat_map(|bar| [bar[1], bar[2]]);
        let outliers = self.curves.iter().flat_map(|curve| &curve.outliers).map(|outlier| outlier[1]);
        let spread: Vec<f64> = bars.chain(outliers).collect();
        let (x, y) = (self.x.scale, self.y.scale);
        let x_places = x.places(&points(0), &[]);
        let y_places = y.places(&[], &[points(1), spread].concat());
        let named = (x_places.named(), y_places.named());
        let mut chart = ChartBuilder::on(&plot)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(x_places, y_places)?;
        chart
            .configure_mesh()
            .x_desc(&self.x.name)
            .y_desc(&self.y.name)
            .x_labels(named.0)
            .y_labels(named.1)
            .label_style(ink(SMALL))
            .axis_desc_style(ink(SMALL))
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (i, curve) in self.curves.iter().enumerate() {
            let look = curve.look.unwrap_or(i);
            let tone = TONES[look % TONES.len()];
            let at = |[px, py]: [f64; 2]| (x.place(px), y.place(py));
            for &[px, low, high] in &curve.bars {
                let ends = [at([px, low]), at([px, high])];
                chart.draw_series([PathElement::new(ends, tone)])?;
                chart.draw_series(ends.map(|end| EmptyElement::at(end) + PathElement::new([(-3, 0), (3, 0)], tone)))?;
            }
            let rings =
                curve.outliers.iter().map(|&outlier| EmptyElement::at(at(outlier)) + Circle::new((0, 0), 2, tone));
            chart.draw_series(rings)?;
            let line: Vec<_> = curve.points.iter().map(|&point| at(point)).collect();
            if line.len() <= MARKED {
                let (edge, inside) = mark(look);
                let marks = line.iter().map(|&place| {
                    let (inside, edge) =
                        (Polygon::new(edge.clone(), inside), PathElement::new(closed(edge.clone()), tone));
                    EmptyElement::at(place) + inside + edge
                });
                chart.draw_series(marks)?;
            }
            chart.draw_series([PathElement::new(line, ShapeStyle::from(&tone).stroke_width(LINES))])?;
        }
        Ok(())
    }
}

/// The mark that tells a curve from its neighbours without colour, around its middle, and what fills it.
fn mark(look: usize) -> (Vec<(i32, i32)>, ShapeStyle) {
    let tone = TONES[look % TONES.len()];
    let edge = match look % TONES.len() {
        0 => vec![(-4, -2), (-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2)],
        1 => vec![(-6, 5), (6, 5), (0, -6)],
        2 => vec![(-3, -3), (3, -3), (3, 3), (-3, 3)],
        3 => vec![(-8, 0), (0, -8), (8, 0), (0, 8)],
        4 => vec![(-4, -3), (4, -3), (0, 5)],
        5 => vec![(-7, -7), (7, -7), (7, 7), (-7, 7)],
        6 => vec![(-5, 0), (0, -5), (5, 0), (0, 5)],
        _ => vec![(-7, -6), (7, -6), (0, 7)],
    };
    (edge, if look.is_multiple_of(2) { tone.filled() } else { TRANSPARENT.filled() })
}

/// An outline that returns to where it began.
fn closed(mut edge: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    edge.extend(edge.first().copied());
    edge
}
