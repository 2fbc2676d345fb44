//! Axes: where values lie and which of them are named.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By logarithm, powers of two named: sizes, splits, gains.
    Binary,
    /// By logarithm, 1, 2, 5, 10 .. named: times, counts.
    Decimal,
}

/// An axis of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What is written beside it.
    pub name: String,
    /// How values are spread over it.
    pub scale: Scale,
}

/// The most values that are named.
const MOST: usize = 8;

/// A stretch of an axis as the drawing library sees it: places, some of which have names.
pub(super) struct Places {
    range: RangedCoordf64,
    names: Vec<(f64, String)>,
}

impl Places {
    pub(super) fn new(range: Range<f64>, names: Vec<(f64, String)>) -> Self {
        Self { range: range.into(), names }
    }

    /// How many have names.
    pub(super) fn named(&self) -> usize {
        self.names.len()
    }
}

impl Ranged for Places {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(place, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.names.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

impl ValueFormatter<f64> for Places {
    fn format_ext(&self, place: &f64) -> String {
        self.names.iter().find(|(known, _)| known == place).map(|(_, name)| name.clone()).unwrap_or_default()
    }
}

impl Scale {
    /// Where a value lies.
    pub(super) fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Binary => value.log2(),
            Self::Decimal => value.log10(),
        }
    }

    /// The places from the least value to the greatest, with a margin; something to draw on if there are none.
    fn range(self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.map(|value| self.place(value)).filter(|place| place.is_finite());
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return 0.0..1.0;
        }
        let least = match self {
            Self::Linear => 1e-3 * high.abs().max(1e-9),
            Self::Binary => 1.0,
            Self::Decimal => 0.3,
        };
        let margin = if high - low < least { least / 2.0 } else { 0.05 * (high - low) };
        low - margin..high + margin
    }

    /// The axis from the least of `values` to the greatest, `beside` counted; all of `values` are named where they are
    /// few, else round ones.
    pub(super) fn places(self, values: &[f64], beside: &[f64]) -> Places {
        let range = self.range(values.iter().chain(beside).copied());
        let mut known = values.to_vec();
        known.sort_by(f64::total_cmp);
        known.dedup();
        let apart = (range.end - range.start) / (1.5 * MOST as f64);
        let spread = known.windows(2).all(|pair| self.place(pair[1]) - self.place(pair[0]) >= apart);
        let named = if (1..=MOST).contains(&known.len()) && spread { known } else { self.round(&range) };
        let names = named.into_iter().map(|value| (self.place(value), short(value))).collect();
        Places::new(range, names)
    }

    /// Round values.
    fn round(self, range: &Range<f64>) -> Vec<f64> {
        match self {
            Self::Linear => linear(range),
            Self::Binary => binary(range),
            Self::Decimal => decimal(range),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(range: &Range<f64>) -> Vec<f64> {
    let rough = (range.end - range.start) / (MOST - 1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Powers of two, or of four, eight, ..
fn binary(range: &Range<f64>) -> Vec<f64> {
    let (first, last) = (range.start.ceil() as i32, range.end.floor() as i32);
    if last - first < 2 {
        return linear(&(range.start.exp2()..range.end.exp2()));
    }
    let step = (last - first + 1).max(1).unsigned_abs().div_ceil(MOST as u32);
    (first..=last).step_by(step as usize).map(|exponent| f64::from(exponent).exp2()).collect()
}

/// 1, 2, 5 of every decade, or every decade, or every few.
fn decimal(range: &Range<f64>) -> Vec<f64> {
    let decades = range.start.floor() as i32..=range.end.ceil() as i32;
    let inside = |value: &f64| range.contains(&value.log10());
    let fine: Vec<f64> =
        (decades.clone()).flat_map(|decade| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(decade))).filter(inside).collect();
    if fine.len() < 4 {
        return linear(&(10f64.powf(range.start)..10f64.powf(range.end)));
    }
    if fine.len() <= MOST {
        return fine;
    }
    let whole: Vec<f64> = decades.map(|decade| 10f64.powi(decade)).filter(inside).collect();
    let step = whole.len().div_ceil(MOST).max(1);
    whole.into_iter().step_by(step).collect()
}

/// A number in few letters.
fn short(value: f64) -> String {
    let exact = value.abs() < 1e15 && value.fract() == 0.0;
    let (binary, decimal) = (value.log2(), value.abs().log10().floor());
    match value.abs() {
        0.0 => "0".into(),
        // Powers of two that nobody knows by heart.
        1e5.. if exact && binary.fract() == 0.0 => format!("2{}", raised(binary as i32)),
        1e5.. | ..1e-3 => {
            let power = format!("10{}", raised(decimal as i32));
            match format!("{:.1}", value / 10f64.powf(decimal)).trim_end_matches(".0") {
                "1" => power,
                factor => format!("{factor}·{power}"),
            }
        }
        _ if exact => format!("{value}"),
        _ => {
            // Steps such as 0.30000000000000004.
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// An exponent.
fn raised(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |digit: char| digit.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(scale: Scale, values: &[f64]) -> String {
        let places = scale.places(&[], values);
        places.names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn round_values_are_named() {
        assert_eq!(named(Scale::Linear, &[0.0, 1.0]), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(named(Scale::Binary, &[1024.0, 65536.0]), "1024 2048 4096 8192 16384 32768 65536");
        assert_eq!(named(Scale::Decimal, &[0.5, 30.0]), "0.5 1 2 5 10 20");
        assert_eq!(named(Scale::Decimal, &[1e-6, 1e9]), "10⁻⁶ 10⁻⁴ 0.01 1 100 10000 10⁶ 10⁸");
    }

    #[test]
    fn powers_are_raised() {
        let names = [1.0, 2500.0, 1e5, 131_072.0, 2.5e6, 1e12, 2e-4, -3e7].map(short);
        assert_eq!(names, ["1", "2500", "10⁵", "2¹⁷", "2.5·10⁶", "10¹²", "2·10⁻⁴", "-3·10⁷"]);
    }

    #[test]
    fn few_values_are_named_themselves() {
        let values = [2048.0, 3000.0, 23_150.0];
        let places = Scale::Binary.places(&values, &[]);
        assert_eq!(
            places.key_points(3).iter().map(|place| places.format_ext(place)).collect::<Vec<_>>(),
            ["2048", "3000", "23150"]
        );
    }

    #[test]
    fn ranges_hold_their_data() {
        assert_eq!(Scale::Linear.range([].into_iter()), 0.0..1.0);
        for scale in [Scale::Linear, Scale::Binary, Scale::Decimal] {
            let one = scale.range([3.0].into_iter());
            assert!(one.start < scale.place(3.0) && one.end > scale.place(3.0));
        }
        assert!(Scale::Decimal.range([0.0, 10.0].into_iter()).start.is_finite());
    }
}
