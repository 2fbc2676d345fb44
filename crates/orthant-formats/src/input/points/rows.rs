//! Coordinates and values as they are read.

use crate::input::error::{FilePlace, InputFault};
use orthant::CellType;
use orthant::points::{PointAttribute, Points};

/// What was read of points so far.
#[derive(Debug, Default)]
pub(super) struct PointRows {
    pub(super) coordinates: Vec<f64>,
    /// Values of an attribute, if one is read.
    pub(super) values: Vec<f64>,
}

impl PointRows {
    /// A coordinate of a column.
    #[inline]
    pub(super) fn coordinate(&mut self, at: FilePlace, value: f64) -> Result<(), InputFault> {
        finite(at, "coordinate", value)?;
        self.coordinates.push(value);
        Ok(())
    }

    /// The value of an attribute.
    #[inline]
    pub(super) fn value(&mut self, at: FilePlace, value: f64) -> Result<(), InputFault> {
        finite(at, "value", value)?;
        self.values.push(value);
        Ok(())
    }

    /// The points, with an attribute of this name and type. Without a type it is the narrowest that holds all values.
    pub(super) fn points(
        self,
        axes: usize,
        attribute: Option<(String, Option<CellType>)>,
    ) -> Result<Points, InputFault> {
        let points = Points::new(axes, self.coordinates)?;
        let Some((name, kind)) = attribute else { return Ok(points) };
        let kind = kind.unwrap_or_else(|| ValueRange::of(&self.values).narrowest());
        let words = self.values.iter().map(|&value| kind.word_of(value)).collect();
        Ok(points.attribute(PointAttribute::of_words(name, kind, words))?)
    }
}

/// Refuses whole numbers that a double may not be equal to.
#[inline]
pub(super) fn exact(at: FilePlace, value: f64, whole: bool) -> Result<(), InputFault> {
    match whole && value.abs() >= MOST_WHOLE {
        true => Err(InputFault::field(
            at,
            "value",
            value,
            "whole numbers below 2^53 can be; give larger ones as floating-point numbers",
        )),
        false => Ok(()),
    }
}

/// From here on doubles are no longer all whole numbers.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

#[inline]
fn finite(at: FilePlace, what: &str, value: f64) -> Result<(), InputFault> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(InputFault::field(at, what, value, format!("a {what} must be a finite number"))),
    }
}

/// What is known of numbers to choose their type.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueRange {
    low: f64,
    high: f64,
    whole: bool,
}

impl ValueRange {
    pub(super) fn of(values: &[f64]) -> Self {
        let start = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, whole: true };
        values.iter().fold(start, |range, &value| Self {
            low: range.low.min(value),
            high: range.high.max(value),
            // -0 has a sign that no whole number keeps.
            whole: range.whole && value.trunc() == value && !(value == 0.0 && value.is_sign_negative()),
        })
    }

    /// Of these and others.
    pub(super) fn and(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), whole: self.whole && other.whole }
    }

    /// The narrowest type that holds all numbers as they are.
    pub(super) fn narrowest(self) -> CellType {
        const WHOLE: [CellType; 7] =
            [CellType::U8, CellType::I8, CellType::U16, CellType::I16, CellType::U32, CellType::I32, CellType::I64];
        let whole = self.whole && self.low.abs().max(self.high.abs()) <= MOST_WHOLE;
        let holds = |kind: &CellType| [self.low, self.high].iter().all(|&end| kind.number(kind.word_of(end)) == end);
        WHOLE.into_iter().filter(|_| whole).find(holds).unwrap_or(CellType::F64)
    }
}
