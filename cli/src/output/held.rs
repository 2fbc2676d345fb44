//! What is said of axes by their names or numbers, as people write it: `z=48`, `2=48,x=90mm`.

use std::fmt;
use std::str::FromStr;

use orthant::tree::TreeAxis;

use super::place::{AxisPlace, covered};

/// What is wrong with holding all axes of `k` but `left`.
pub fn held_too_many(k: usize, left: usize) -> String {
    match k {
        2 => "a picture shows both of the two axes; hold none of them".into(),
        _ => format!("a picture shows two of the {k} axes, and you left {left}; hold {}", k - 2),
    }
}

/// What can be said of an axis.
pub trait SaidOfAxis: FromStr<Err = String> {
    /// How it is written, with the axis before it.
    const FORM: &'static str;
}

impl SaidOfAxis for AxisPlace {
    const FORM: &'static str =
        "an axis and an index, as in z=128 or 2=128, or a place on an axis that has coordinates, as in z=90mm or z=0.5";
}

/// An axis by its number or its name, and what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedAxis<T> {
    axis: String,
    said: T,
    /// As it was written.
    text: String,
}

/// An axis that is held at a place.
pub type HeldAxis = NamedAxis<AxisPlace>;

impl<T: SaidOfAxis> FromStr for NamedAxis<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("'{text}' is not {}", T::FORM);
        let (axis, said) = text.split_once('=').ok_or_else(refused)?;
        let axis = axis.trim().to_owned();
        if axis.is_empty() || said.trim().is_empty() {
            return Err(refused());
        }
        Ok(Self { axis, said: said.parse().map_err(|reason| format!("{text}: {reason}"))?, text: text.into() })
    }
}

impl<T> fmt::Display for NamedAxis<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T> NamedAxis<T> {
    /// The axis's number, and what is said of it.
    ///
    /// # Errors
    /// Says which axes there are.
    pub fn of(&self, axes: &[TreeAxis]) -> Result<(usize, &T), String> {
        let named = |same: fn(&str, &str) -> bool| axes.iter().position(|axis| same(&axis.name, &self.axis));
        let number = || self.axis.parse().ok().filter(|&axis: &usize| axis < axes.len());
        let axis = named(str::eq).or_else(number).or_else(|| named(str::eq_ignore_ascii_case));
        let numbered = |(number, axis): (usize, &TreeAxis)| format!("{} ({number})", axis.name);
        let names = || axes.iter().enumerate().map(numbered).collect::<Vec<_>>().join(", ");
        let none = || self.wrong(format!("there is no axis {}; there are {}", self.axis, names()));
        Ok((axis.ok_or_else(none)?, &self.said))
    }

    /// What is wrong with it.
    pub fn wrong(&self, reason: impl fmt::Display) -> String {
        format!("{self}: {reason}")
    }
}

impl HeldAxis {
    /// The axis's number and an index, which can be outside the array.
    ///
    /// # Errors
    /// Says which axes and units there are.
    pub fn index(&self, axes: &[TreeAxis]) -> Result<(usize, i64), String> {
        let (axis, place) = self.of(axes)?;
        let cells = place.cells(&axes[axis]).map_err(|reason| self.wrong(reason))?;
        Ok((axis, cells.floor() as i64))
    }

    /// The cell that a place is, in words; None of an index, and of what [`cell`](Self::cell) refuses.
    pub fn place_as_index(&self, axes: &[TreeAxis], size: &[u32]) -> Option<String> {
        let (axis, index) = self.cell(axes, size).ok()?;
        matches!(self.said, AxisPlace::Measured(_))
            .then(|| format!("{self} is index {index} of axis {}", axes[axis].name))
    }

    /// The axis's number and the index of the cell, of an array whose axes are these, with so many cells.
    ///
    /// # Errors
    /// Says which axes, indices and units there are.
    pub fn cell(&self, axes: &[TreeAxis], size: &[u32]) -> Result<(usize, u32), String> {
        let (axis, index) = self.index(axes)?;
        let index = u32::try_from(index).ok().filter(|&index| index < size[axis]);
        index.map(|index| (axis, index)).ok_or_else(|| self.wrong(covered(&axes[axis], size[axis])))
    }
}

/// What is said of several axes, with commas between.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedAxes<T>(Vec<NamedAxis<T>>);

/// Axes that are held.
pub type HeldAxes = NamedAxes<AxisPlace>;

impl<T: SaidOfAxis> FromStr for NamedAxes<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut axes, mut name) = (Vec::new(), String::new());
        for piece in text.split(',') {
            // Names may have commas, and only an axis with all its name has an =.
            name += piece;
            if piece.contains('=') {
                axes.push(std::mem::take(&mut name).parse()?);
            } else {
                name.push(',');
            }
        }
        match name.strip_suffix(',') {
            Some(rest) => Err(format!("'{rest}' is not {}", T::FORM)),
            None => Ok(Self(axes)),
        }
    }
}

impl<T> NamedAxes<T> {
    /// The axes, one by one.
    pub fn iter(&self) -> std::slice::Iter<'_, NamedAxis<T>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, unit: Option<&str>, spacing: f64, origin: f64) -> TreeAxis {
        TreeAxis { name: name.into(), unit: unit.map(str::to_owned), spacing, origin }
    }

    #[test]
    fn axes_are_held_by_number_name_and_place() {
        let axes = [axis("x", Some("mm"), 2.0, -10.0), axis("y", Some("mm"), -1.0, 5.0), axis("t", None, 1.0, 0.0)];
        let cell = |text: &str| text.parse::<HeldAxis>()?.cell(&axes, &[10, 20, 2 ^ 7]);
        for (text, expected) in [
            ("0=3", (0, 3)),
            ("x=3", (0, 3)),
            ("X=3", (0, 3)),
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
            ("3=0", "there is no axis 3; there are x (0), y (1), t (2)"),
            ("w=0", "there are x (0), y (1), t (2)"),
            ("x=10", "indices 0 to 9"),
            ("x=10mm", "-10 mm to 10 mm, without the end"),
            ("x=-11mm", "-10 mm to 10 mm, without the end"),
            ("x=3cm", "measured in mm"),
            ("t=1s", "no unit"),
            ("x", "z=90mm"),
            ("=1", "z=90mm"),
            ("x=", "z=90mm"),
            ("x=mm", "90mm"),
            ("x=-1", "measured in mm"),
            ("t=-1.0", "indices 0 to"),
        ] {
            let error = cell(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn lists_keep_commas_in_names() {
        let axes = [axis("a,b", None, 1.0, 0.0), axis("z", Some("mm"), 1.0, 0.0)];
        let cells = |text: &str| {
            let list = text.parse::<HeldAxes>()?;
            list.iter().map(|held| held.cell(&axes, &[9, 9])).collect::<Result<Vec<_>, _>>()
        };
        assert_eq!(cells("a,b=3"), Ok(vec![(0, 3)]));
        assert_eq!(cells("z=2mm,a,b=3"), Ok(vec![(1, 2), (0, 3)]));
        assert_eq!(cells("0=1,1=2"), Ok(vec![(0, 1), (1, 2)]));
        for (text, piece) in
            [("z=2,3", "'3' is not"), ("z=2,", "'' is not"), ("", "'' is not"), ("z=2,a,b", "'a,b' is not")]
        {
            let error = cells(text).unwrap_err();
            assert!(error.starts_with(piece), "{text}: {error}");
        }
    }
}
