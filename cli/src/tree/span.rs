//! Boxes as people write them: an index or a range per axis.

use std::fmt::Write;
use std::str::FromStr;

use orthant::geometry::Region;
use orthant::tree::TreeAxis;

use crate::error::Error;
use crate::output::{AxisPlace, NamedAxes, SaidOfAxis, covered};

/// The cells of one axis: `8`, `3:7`, `:7`, `3:` or `:`, as NumPy has them, or places, such as `10mm:30mm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AxisSpan {
    /// One cell.
    At(AxisPlace),
    /// From a place on to the place after the last.
    Range(Option<AxisPlace>, Option<AxisPlace>),
}

impl FromStr for AxisSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let place = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some),
        };
        let (start, end) = match text.split_once(':') {
            Some((start, end)) => (place(start)?, place(end)?),
            None => {
                let at = place(text)?.ok_or("an axis needs an index, or a range such as 3:7 or :")?;
                return Ok(Self::At(at));
            }
        };
        match (&start, &end) {
            (Some(AxisPlace::Index(_)), Some(AxisPlace::Measured(_)))
            | (Some(AxisPlace::Measured(_)), Some(AxisPlace::Index(_))) => Err(format!(
                "'{text}' mixes an index and a place; both ends need the unit, as in 10mm:30mm, or none; on an axis without a unit both are places if both have a decimal point, as in 0.5:4.0"
            )),
            _ => Ok(Self::Range(start, end)),
        }
    }
}

impl SaidOfAxis for AxisSpan {
    const FORM: &'static str = "an axis and its cells, as in z=40:60 or z=48, or in the axis's unit, as in z=10mm:30mm";
}

impl AxisSpan {
    /// The first cell, and how many there are, of an axis with `n` cells. Of places these are all cells that the range meets.
    ///
    /// # Errors
    /// Says what the axis has.
    fn cells(&self, axis: &TreeAxis, n: u32) -> Result<(u32, u32), String> {
        let ends = match self {
            Self::At(place) => {
                let start = place.cells(axis)?.floor();
                [start, start + 1.0]
            }
            Self::Range(start, end) => {
                let measured = [start, end].into_iter().flatten().any(|place| matches!(place, AxisPlace::Measured(_)));
                // Places run upwards, also where cells run downwards.
                let turned = measured && axis.spacing < 0.0;
                let [start, end] = if turned { [end, start] } else { [start, end] };
                let place = |place: &Option<AxisPlace>, without: f64| {
                    place.as_ref().map_or(Ok(without), |place| place.cells(axis))
                };
                [place(start, 0.0)?.floor(), place(end, f64::from(n))?.ceil()]
            }
        };
        let [start, end] = ends;
        if start >= end || start < 0.0 || end > f64::from(n) {
            return Err(format!("{}; a range needs a cell, all of them there", covered(axis, n)));
        }
        Ok((start as u32, (end - start) as u32))
    }
}

/// A span per axis, axis 0 first, each with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spans(Vec<(AxisSpan, String)>);

impl FromStr for Spans {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return Err(format!("an axis is named by an option, as in --axis {text}"));
        }
        text.split(',').map(|span| Ok((span.parse()?, span.trim().to_owned()))).collect::<Result<_, _>>().map(Self)
    }
}

impl Spans {
    /// The box that they are of a domain with these axes.
    ///
    /// # Errors
    /// [`Error::Input`] names the axis and what it has.
    pub(super) fn region<const K: usize>(&self, size: [u32; K], axes: &[TreeAxis]) -> Result<Region<K>, Error> {
        let Ok(spans) = <&[_; K]>::try_from(&self.0[..]) else {
            return Err(Error::Input(format!("BOX: {} axes are named, and the tree has {K}", self.0.len())));
        };
        let mut region = Region { corner: [0; K], extent: size };
        for (axis, (span, text)) in spans.iter().enumerate() {
            let wrong = |reason| Error::Input(format!("BOX: {text}: {reason}"));
            (region.corner[axis], region.extent[axis]) = span.cells(&axes[axis], size[axis]).map_err(wrong)?;
        }
        Ok(region)
    }
}

/// The box of a domain with the named axes' spans, and all cells of the others.
///
/// # Errors
/// [`Error::Input`] names the axis and what it has.
pub(super) fn region_of<const K: usize>(
    named: &[NamedAxes<AxisSpan>],
    size: [u32; K],
    axes: &[TreeAxis],
) -> Result<Region<K>, Error> {
    let (mut region, mut seen) = (Region { corner: [0; K], extent: size }, [false; K]);
    let wrong = |reason: String| Error::Input(format!("--axis {reason}"));
    for named in named.iter().flat_map(NamedAxes::iter) {
        let (axis, span) = named.of(axes).map_err(wrong)?;
        if std::mem::replace(&mut seen[axis], true) {
            return Err(wrong(named.wrong(format!("axis {axis} is named twice"))));
        }
        let cells = span.cells(&axes[axis], size[axis]).map_err(|reason| wrong(named.wrong(reason)));
        (region.corner[axis], region.extent[axis]) = cells?;
    }
    Ok(region)
}

/// A box as it would be typed.
pub(super) fn text<const K: usize>(region: &Region<K>) -> String {
    let mut text = String::new();
    for (corner, extent) in region.corner.iter().zip(&region.extent) {
        let (comma, end) = (if text.is_empty() { "" } else { "," }, u64::from(*corner) + u64::from(*extent));
        write!(text, "{comma}{corner}:{end}").expect("a text takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An axis in cells, one that is twice as fine as its unit, and one that runs downwards from 5.
    fn axes() -> [TreeAxis; 3] {
        let axis = |name: &str, unit: Option<&str>, spacing, origin| TreeAxis {
            name: name.into(),
            unit: unit.map(str::to_owned),
            spacing,
            origin,
        };
        [axis("x", None, 1.0, 0.0), axis("y", Some("mm"), 0.5, -1.0), axis("z", Some("mm"), -1.0, 5.0)]
    }

    #[test]
    fn boxes_are_read_as_numpy_has_them() {
        let region = |text: &str| {
            text.parse::<Spans>().unwrap().region([10, 20], &axes()[..2]).map_err(|error| error.to_string())
        };
        assert_eq!(region("3:7,:"), Ok(Region { corner: [3, 0], extent: [4, 20] }));
        assert_eq!(region("9,19:"), Ok(Region { corner: [9, 19], extent: [1, 1] }));
        assert_eq!(region("9,0mm:8mm"), Ok(Region { corner: [9, 2], extent: [1, 16] }));
        assert_eq!(super::text(&region(":2, 5").unwrap()), "0:2,5:6");
        for wrong in ["10,0", "3:3,0", "4:3,0", "0", "0,0,0", "0,:21", "4294967295,0", "0,9.1mm", "-1,0", "0.5,0"] {
            assert!(region(wrong).unwrap_err().starts_with("BOX: "), "{wrong}");
        }
        for wrong in ["", "a", "1:2:3,0", "4294967296,0", "1:2mm,0", "x=1,0"] {
            assert!(wrong.parse::<Spans>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn axes_have_spans_by_name() {
        let region = |list: &[&str]| {
            let named = list.iter().map(|text| text.parse()).collect::<Result<Vec<NamedAxes<AxisSpan>>, _>>()?;
            let Region { corner, extent } =
                region_of(&named, [10, 20, 6], &axes()).map_err(|error| error.to_string())?;
            Ok::<_, String>(std::array::from_fn(|j| corner[j]..corner[j] + extent[j]))
        };
        assert_eq!(region(&["x=3:7"]), Ok([3..7, 0..20, 0..6]));
        assert_eq!(region(&["2=4", "0=:2,y=-1mm:9mm"]), Ok([0..2, 0..20, 4..5]));
        // Every cell that a range of places meets.
        assert_eq!(region(&["y=0.1mm:1.1mm"]), Ok([0..10, 2..5, 0..6]));
        assert_eq!(region(&["y=1mm:"]), Ok([0..10, 4..20, 0..6]));
        // Cell 0 covers 4 mm to 5 mm, and cell 5 -1 mm to 0 mm.
        assert_eq!(region(&["z=1mm:5mm"]), Ok([0..10, 0..20, 0..4]));
        assert_eq!(region(&["z=:1mm"]), Ok([0..10, 0..20, 4..6]));
        assert_eq!(region(&["z=4.5mm"]), Ok([0..10, 0..20, 0..1]));
        for (list, why) in [
            (&["w=1"][..], "there are x (0), y (1), z (2)"),
            (&["x=1", "0=2"], "axis 0 is named twice"),
            (&["x=3:3"], "indices 0 to 9"),
            (&["y=8mm:10mm"], "covers -1 mm to 9 mm"),
            (&["z=3mm:2mm"], "needs a cell"),
            (&["y=1mm:5"], "both ends need the unit"),
            (&["y=1cm:"], "measured in mm"),
            (&["x=1mm"], "no unit"),
            (&["x="], "z=40:60"),
            (&["x=-1:"], "indices 0 to 9"),
            (&["x=0.5"], "axis x has no coordinates"),
            (&["x=0.5:4"], "if both have a decimal point"),
        ] {
            let error = region(list).unwrap_err();
            assert!(error.contains(why), "{list:?}: {error}");
        }
    }
}
