//! Tables of costs as colours.

use plotters::chart::ChartBuilder;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle};

use super::scale::Places;
use super::style::{Area, Drawn, FONT, LARGE, SMALL, ink};

/// A table of numbers of at least 1 as colours: 1 is best.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Above the panel.
    pub title: String,
    /// Name and values of the columns.
    pub x: (String, Vec<String>),
    /// Name and values of the rows, from below.
    pub y: (String, Vec<String>),
    /// Row by row; none where there is nothing.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Costs of this many times the best share the last colour.
const WORST: f64 = 8.0;

/// Pixels that a number in a cell needs, and those beside the cells.
const CELL: u32 = 42;
const BESIDE: u32 = 90;

/// Inks that stay as they are on dark, where the cells do too: not quite black, not quite white.
const DARK: RGBColor = RGBColor(1, 1, 1);
const LIGHT: RGBColor = RGBColor(254, 254, 254);

impl HeatMap {
    /// Pixels across that it needs.
    pub(super) fn width(&self) -> u32 {
        BESIDE + CELL * self.x.1.len() as u32
    }

    pub(super) fn draw(&self, area: &Area) -> Drawn {
        let (columns, rows) = (self.x.1.len(), self.y.1.len());
        let (head, plot) = area.split_vertically(32);
        let middle = Pos::new(HPos::Center, VPos::Center);
        let width = head.dim_in_pixel().0 as i32;
        head.draw(&Text::new(self.title.as_str(), (width / 2, 16), ink(LARGE).pos(middle)))?;
        let places = |names: &[String]| {
            let middles = names.iter().enumerate().map(|(i, name)| (i as f64 + 0.5, name.clone()));
            Places::new(0.0..names.len() as f64, middles.collect())
        };
        let mut chart = ChartBuilder::on(&plot)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(44)
            .y_label_area_size(66)
            .build_cartesian_2d(places(&self.x.1), places(&self.y.1))?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc(&self.x.0)
            .y_desc(&self.y.0)
            .x_labels(columns)
            .y_labels(rows)
            .label_style(ink(SMALL))
            .axis_desc_style(ink(SMALL))
            .draw()?;
        for (row, values) in self.values.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let share = value.log2() / WORST.log2();
                let tone = colorous::VIRIDIS.eval_continuous(1.0 - share.clamp(0.0, 1.0));
                let (x, y) = (column as f64, row as f64);
                let filled = RGBColor(tone.r, tone.g, tone.b).filled();
                chart.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], filled)])?;
                let colour = if share < 0.5 { DARK } else { LIGHT };
                let style = TextStyle::from((FONT, SMALL - 2).into_font()).color(&colour).pos(middle);
                let number = if *value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
                chart.draw_series([Text::new(number, (x + 0.5, y + 0.5), style)])?;
            }
        }
        Ok(())
    }
}
