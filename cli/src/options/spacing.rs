//! How far cells lie apart: `0.5mm`, or `0.5,0.5,2mm`, an axis each.

use std::fmt;
use std::str::FromStr;

use orthant::per_axis::names;
use orthant::with_dimensions;
use orthant_formats::input::{About, AboutAxis};

/// The lengths of a cell, axis 0 first, or one for all axes; and their units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spacing {
    lengths: Vec<Length>,
    /// As it was written.
    text: String,
}

/// A length, and what it is measured in.
#[derive(Debug, Clone, PartialEq)]
struct Length {
    number: f64,
    unit: Option<String>,
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // The longest number that the text begins with: a unit can begin with what an exponent begins with.
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).rev();
        let read = ends.filter_map(|end| Some((text[..end].parse::<f64>().ok()?, &text[end..]))).next();
        let Some((number, unit)) = read.filter(|(number, _)| number.is_finite() && *number > 0.0) else {
            return Err(format!("'{text}' is no length above 0, such as 0.5 or 0.5mm"));
        };
        Ok(Self { number, unit: Some(unit.trim().to_owned()).filter(|unit| !unit.is_empty()) })
    }
}

impl FromStr for Spacing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut lengths = text.split(',').map(str::parse).collect::<Result<Vec<Length>, _>>()?;
        // A unit behind the last number is that of all numbers without one.
        let last = lengths.last().and_then(|length| length.unit.clone());
        lengths.iter_mut().for_each(|length| length.unit = length.unit.take().or(last.clone()));
        Ok(Self { lengths, text: text.into() })
    }
}

impl fmt::Display for Spacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Spacing {
    /// The axes of an array of `size` cells of which a file says `about`, with these lengths. One length is that of all axes but those of a
    /// series, such as time, which stay as they are. Axes begin at 0.
    ///
    /// # Errors
    /// Says how many lengths are needed.
    pub(crate) fn axes(&self, about: &About, size: &[u32]) -> Result<Vec<AboutAxis>, String> {
        let k = size.len();
        let mut axes = about.axes.clone();
        axes.resize(k, AboutAxis::default());
        let one = self.lengths.len() == 1;
        if !one && self.lengths.len() != k {
            let (given, names) = (self.lengths.len(), names(k).join(", "));
            return Err(format!(
                "{given} lengths are given, and the array has {k} axes: give 1, or one for each of {names}"
            ));
        }
        let series: Vec<bool> = with_dimensions!(k, K => {
            about.series::<K>(size.try_into().expect("K is their number")).to_vec()
        }, else vec![false; k]);
        let lengths = self.lengths.iter().cycle();
        for ((axis, length), is_series) in axes.iter_mut().zip(lengths).zip(series) {
            if !(one && is_series) {
                let Length { number, unit } = length.clone();
                (axis.spacing, axis.unit, axis.origin) = (Some(number), unit, None);
            }
        }
        Ok(axes)
    }
}

/// What a file says of the spacing of its axes, in words; None if it says nothing.
pub(crate) fn spacing_of(about: &About) -> Option<String> {
    let known = about.axes.iter().any(|axis| axis.spacing.is_some_and(|spacing| spacing != 1.0) || axis.unit.is_some());
    let text = |axis: &AboutAxis| {
        format!(
            "{}{}",
            axis.spacing.unwrap_or(1.0),
            axis.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"))
        )
    };
    known.then(|| about.axes.iter().map(text).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let units = |text: &str| {
            let spacing: Spacing = text.parse()?;
            Ok::<_, String>(
                spacing
                    .lengths
                    .into_iter()
                    .map(|length| (length.number, length.unit.unwrap_or_default()))
                    .collect::<Vec<_>>(),
            )
        };
        let length = |number: f64, unit: &str| (number, unit.to_owned());
        assert_eq!(units("0.5mm"), Ok(vec![length(0.5, "mm")]));
        assert_eq!(units("2eV"), Ok(vec![length(2.0, "eV")]));
        assert_eq!(units("1e-3 m, 2,3 µm"), Ok(vec![length(1e-3, "m"), length(2.0, "µm"), length(3.0, "µm")]));
        assert_eq!(units("2"), Ok(vec![length(2.0, "")]));
        for wrong in ["", "mm", "0mm", "-1", "nan", "inf", "1,,2"] {
            assert!(units(wrong).is_err(), "{wrong}");
        }
    }
}
