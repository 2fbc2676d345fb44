//! An axis held at a place, as people write it: `2=48`, `z=48`, `z=90mm`.

use std::fmt;
use std::str::FromStr;

use orthant::choice::number;
use orthant::tree::TreeAxis;

/// An axis by its number or its name, and where it is held.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldAxis {
    axis: String,
    place: HeldAt,
    /// As it was written.
    text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum HeldAt {
    /// The index of a cell.
    Index(u32),
    /// A coordinate in the unit of the axis.
    Coordinate(f64, String),
}

impl FromStr for HeldAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "an axis and an index, as in 2=128 or z=128, or a place in the axis's unit, as in z=90mm";
        let (axis, place) = text.split_once('=').ok_or_else(|| format!("'{text}' is not {form}"))?;
        let (axis, place) = (axis.trim().to_owned(), place.trim());
        // The number ends where letters begin, but for the exponent of 1e3.
        let split = place.char_indices().find(|&(at, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && place[at + 1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'));
            !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '^' | ' ') || exponent)
        });
        let (digits, unit) = place.split_at(split.map_or(place.len(), |(at, _)| at));
        let place = if unit.is_empty() {
            HeldAt::Index(number(digits, 0..=u32::MAX.into())? as u32)
        } else {
            let coordinate = digits.trim().parse().ok().filter(|place: &f64| place.is_finite());
            HeldAt::Coordinate(coordinate.ok_or_else(|| format!("'{text}' is not {form}"))?, unit.into())
        };
        if axis.is_empty() {
            Err(format!("'{text}' is not {form}"))
        } else {
            Ok(Self { axis, place, text: text.into() })
        }
    }
}

impl fmt::Display for HeldAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl HeldAxis {
    /// The axis's number and the index of the cell, of an array whose axes are these, with so many cells.
    ///
    /// # Errors
    /// Says which axes, indices and units there are.
    pub fn cell(&self, axes: &[TreeAxis], size: &[u32]) -> Result<(usize, u32), String> {
        let wrong = |reason: String| Err(format!("{self}: {reason}"));
        let named = axes.iter().position(|axis| axis.name == self.axis);
        let Some(axis) = named.or_else(|| self.axis.parse().ok().filter(|&axis: &usize| axis < axes.len())) else {
            let names: Vec<_> = axes.iter().map(|axis| &*axis.name).collect();
            return wrong(format!("axes run from 0 to {}, and are called {}", axes.len() - 1, names.join(", ")));
        };
        let TreeAxis { unit, spacing, origin, .. } = &axes[axis];
        let index = match &self.place {
            HeldAt::Index(index) => *index,
            HeldAt::Coordinate(place, written) if Some(written) == unit.as_ref() => {
                let at = (place - origin) / spacing;
                // 0.3 / 0.1 is a little less than 3.
                let near = (at - at.round()).abs() < 1e-9 * at.abs().max(1.0);
                let cell = if near { at.round() } else { at.floor() };
                if !(0.0..f64::from(size[axis])).contains(&cell) {
                    let ends = [*origin, origin + spacing * f64::from(size[axis])];
                    let [from, to] = if *spacing < 0.0 { [ends[1], ends[0]] } else { ends };
                    return wrong(format!("axis {axis} covers {from} {written} to {to} {written}, without the end"));
                }
                cell as u32
            }
            HeldAt::Coordinate(..) => {
                let has = unit.as_ref().map_or("has no unit".into(), |unit| format!("is measured in {unit}"));
                return wrong(format!("axis {axis} {has}; an index needs none"));
            }
        };
        if index >= size[axis] {
            return wrong(format!("axis {axis} has the indices 0 to {}", size[axis] - 1));
        }
        Ok((axis, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_held_by_number_name_and_place() {
        let axis = |name: &str, unit: Option<&str>, spacing, origin| TreeAxis {
            name: name.into(),
            unit: unit.map(str::to_owned),
            spacing,
            origin,
        };
        let axes = [axis("x", Some("mm"), 2.0, -10.0), axis("y", Some("mm"), -1.0, 5.0), axis("t", None, 1.0, 0.0)];
        let cell = |text: &str| text.parse::<HeldAxis>()?.cell(&axes, &[10, 20, 2 ^ 7]);
        for (text, expected) in [
            ("0=3", (0, 3)),
            ("x=3", (0, 3)),
            ("2=2^2", (2, 4)),
            ("x=-10mm", (0, 0)),
            ("x=-6.5 mm", (0, 1)),
            ("x=1e0mm", (0, 5)),
            ("x=1E+0mm", (0, 5)),
            // Towards lower coordinates.
            ("y=4.5mm", (1, 0)),
            (" y = -14.9mm ", (1, 19)),
        ] {
            assert_eq!(cell(text), Ok(expected), "{text}");
        }
        for (text, why) in [
            ("3=0", "called x, y, t"),
            ("w=0", "called x, y, t"),
            ("x=10", "indices 0 to 9"),
            ("x=10mm", "-10 mm to 10 mm, without the end"),
            ("x=3cm", "measured in mm"),
            ("t=1s", "no unit"),
            ("x", "z=90mm"),
            ("=1", "z=90mm"),
            ("x=mm", "z=90mm"),
            ("x=-1", "between 0 and"),
        ] {
            let error = cell(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
