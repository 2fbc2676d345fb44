//! A place on an axis, as people write it: `48`, `90mm`.

use std::str::FromStr;

use orthant::choice::number;
use orthant::tree::TreeAxis;

/// A place on an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisPlace {
    /// The index of a cell.
    Index(u32),
    /// A coordinate, with the unit of the axis behind it if that has one. Only the axis tells where the unit begins, which may have digits.
    Measured(String),
}

impl FromStr for AxisPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let error = match number(text, 0..=u32::MAX.into()) {
            Ok(index) => return Ok(Self::Index(index as u32)),
            Err(error) => error,
        };
        if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')) {
            return Err(format!(
                "'{text}' is neither an index, such as 128, nor a place, such as 90mm, or 0.5 on an axis without a unit"
            ));
        }
        let has_unit = text.contains(|c: char| !(c.is_ascii_digit() || " .-+^eE".contains(c)));
        // What no index has, which axes without a unit take as a coordinate.
        let measured = text.contains(['.', '-', '+', 'e', 'E']) && text.parse::<f64>().is_ok();
        if has_unit || measured {
            Ok(Self::Measured(text.into()))
        } else {
            Err(format!("{error}; a place has its unit, as in 90mm, or a decimal point where there is none, as in 0.5"))
        }
    }
}

impl AxisPlace {
    /// The place in cells from the first cell's begin on. Only a coordinate can be outside the array or within a cell.
    ///
    /// # Errors
    /// Says what the axis is measured in.
    pub fn cells(&self, axis: &TreeAxis) -> Result<f64, String> {
        let text = match self {
            Self::Index(index) => return Ok(f64::from(*index)),
            Self::Measured(text) => text,
        };
        let TreeAxis { name, unit, spacing, origin } = axis;
        let digits = unit.as_ref().map_or(Some(&**text), |unit| text.strip_suffix(&**unit));
        let place: Option<f64> = digits.and_then(|digits| digits.trim().parse().ok());
        let Some(place) = place.filter(|place| place.is_finite()) else {
            let has = match unit {
                None => "has no unit; write an index, such as 12, or a coordinate, such as 0.5".to_owned(),
                Some(unit) => format!(
                    "is measured in {unit}; an index is a whole number, and a place has its unit, as in 1.5{unit}"
                ),
            };
            return Err(format!("'{text}' is no place on axis {name}, which {has}"));
        };
        if unit.is_none() && (*spacing, *origin) == (1.0, 0.0) && place.fract() != 0.0 {
            return Err(format!("axis {name} has no coordinates, and '{text}' is no index; write a whole number"));
        }
        let at = (place - origin) / spacing;
        // 0.3 / 0.1 is a little less than 3.
        let near = (at - at.round()).abs() < 1e-9 * at.abs().max(1.0);
        Ok(if near { at.round() } else { at })
    }
}

/// What an axis of so many cells covers.
pub fn covered(axis: &TreeAxis, n: u32) -> String {
    let TreeAxis { name, unit, spacing, origin } = axis;
    let indices = format!("axis {name} has the indices 0 to {}", n - 1);
    // Nothing is known of its coordinates.
    if unit.is_none() && (*spacing, *origin) == (1.0, 0.0) {
        return indices;
    }
    let ends = [*origin, origin + spacing * f64::from(n)];
    let [from, to] = if *spacing < 0.0 { [ends[1], ends[0]] } else { ends };
    let unit = unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
    format!("{indices}, and covers {from}{unit} to {to}{unit}, without the end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_axis() {
        let axis = |unit: Option<&str>| TreeAxis {
            name: "x".into(),
            unit: unit.map(str::to_owned),
            spacing: 0.5,
            origin: -1.0,
        };
        let cells = |text: &str, unit| text.parse::<AxisPlace>()?.cells(&axis(unit));
        for (text, unit, expected) in [
            ("3", Some("mm"), 3.0),
            ("2^2", None, 4.0),
            ("3mm", Some("mm"), 8.0),
            ("1e0 mm", Some("mm"), 4.0),
            ("-0.9mm", Some("mm"), 0.2),
            // Units that begin with a digit, or with what an exponent begins with.
            ("21/cm", Some("1/cm"), 6.0),
            ("3 10^3 km", Some("10^3 km"), 8.0),
            ("2eV", Some("eV"), 6.0),
            // Without a unit what is no index is a coordinate.
            ("1.5", None, 5.0),
            ("-0.5", None, 1.0),
            ("1e0", None, 4.0),
        ] {
            let found = cells(text, unit).unwrap();
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        }
        for (text, unit, why) in [
            ("3cm", Some("mm"), "measured in mm"),
            ("3cm", Some("m"), "measured in m;"),
            ("3cm", None, "no unit"),
            ("1..2mm", Some("mm"), "'1..2mm' is no place"),
            ("-infmm", Some("mm"), "'-infmm' is no place"),
            ("-1", Some("mm"), "measured in mm; an index is a whole number, and a place has its unit, as in 1.5mm"),
            ("1.5", Some("mm"), "measured in mm"),
            ("2^40", Some("mm"), "between 0 and 2^32 - 1; a place has its unit, as in 90mm, or a decimal point"),
            ("4294967296", None, "between 0 and"),
            ("1.5.2", None, "between 0 and"),
            ("mm", Some("mm"), "such as 90mm"),
            ("nan", None, "or 0.5 on an axis without a unit"),
            ("", None, "such as 90mm"),
        ] {
            let error = cells(text, unit).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
