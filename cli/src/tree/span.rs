//! Boxes as people write them: an index or a range per axis.

use orthant::choice::number;
use orthant::geometry::Region;

use crate::error::Error;

/// The cells of one axis: `8`, `3:7`, `:7`, `3:` or `:`, as NumPy has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AxisSpan {
    start: Option<u32>,
    /// The index after the last.
    end: Option<u32>,
}

/// A span per axis, axis 0 first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spans(Vec<AxisSpan>);

impl std::str::FromStr for Spans {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(span).collect::<Result<_, _>>().map(Self)
    }
}

fn span(text: &str) -> Result<AxisSpan, String> {
    let index = |text: &str| match text.trim() {
        "" => Ok(None),
        text => number(text, 0..=u32::MAX.into()).map(|index| Some(index as u32)),
    };
    let Some((start, end)) = text.split_once(':') else {
        let Some(start) = index(text)? else {
            return Err("an axis needs an index, or a range such as 3:7 or :".into());
        };
        let end = start.checked_add(1).ok_or_else(|| format!("'{text}' is above the last index there can be"))?;
        return Ok(AxisSpan { start: Some(start), end: Some(end) });
    };
    Ok(AxisSpan { start: index(start)?, end: index(end)? })
}

impl Spans {
    /// The box that they are of a domain.
    ///
    /// # Errors
    /// [`Error::Input`] names the axis and what it has.
    pub(super) fn region<const K: usize>(&self, size: [u32; K]) -> Result<Region<K>, Error> {
        let Ok(spans) = <&[AxisSpan; K]>::try_from(&self.0[..]) else {
            return Err(Error::Input(format!("BOX: {} axes are named, and the tree has {K}", self.0.len())));
        };
        let mut region = Region { corner: [0; K], extent: size };
        for (axis, span) in spans.iter().enumerate() {
            let (start, end) = (span.start.unwrap_or(0), span.end.unwrap_or(size[axis]));
            if start >= end || end > size[axis] {
                let n = size[axis];
                return Err(Error::Input(format!(
                    "BOX: {start}:{end} on axis {axis}, which has the cells 0:{n}; a range needs a cell, all of them there"
                )));
            }
            (region.corner[axis], region.extent[axis]) = (start, end - start);
        }
        Ok(region)
    }
}

/// A box as it would be typed.
pub(super) fn text<const K: usize>(region: &Region<K>) -> String {
    let axis = |j: usize| format!("{}:{}", region.corner[j], u64::from(region.corner[j]) + u64::from(region.extent[j]));
    (0..K).map(axis).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_read_as_numpy_has_them() {
        let region = |text: &str| text.parse::<Spans>().unwrap().region([10, 20]).map_err(|error| error.to_string());
        assert_eq!(region("3:7,:"), Ok(Region { corner: [3, 0], extent: [4, 20] }));
        assert_eq!(region("9,19:"), Ok(Region { corner: [9, 19], extent: [1, 1] }));
        assert_eq!(super::text(&region(":2, 5").unwrap()), "0:2,5:6");
        for wrong in ["10,0", "3:3,0", "4:3,0", "0", "0,0,0", "0,:21"] {
            assert!(region(wrong).unwrap_err().starts_with("BOX: "), "{wrong}");
        }
        for wrong in ["", "a", "1:2:3,0", "-1,0", "4294967295,0"] {
            assert!(wrong.parse::<Spans>().is_err(), "{wrong}");
        }
    }
}
