//! One number for all axes, or one per axis: how such numbers are written where one number was written before there were axes;
//! and what axes are called.
//!
//! A module for `#[serde(with = "orthant::per_axis")]`. It writes a number where all axes are equal, else a list, axis 0
//! first, and reads both.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value per axis: what `value` says of axis 0, then of axis 1, and so on.
///
/// ```
/// use orthant::per_axis;
///
/// let size = [40, 30, 8];
/// assert_eq!(per_axis::each(|j| size[j] / 2), [20, 15, 4]);
/// ```
///
/// [`std::array::from_fn`] does the same for any type. The compiler makes 208 lines of LLVM IR for a closure of it, and 86 for one
/// of this function. The library has more than a hundred such closures, and compiles most of them for eight numbers of axes.
#[inline(always)]
pub fn each<T: Copy + Default, const K: usize>(mut value: impl FnMut(usize) -> T) -> [T; K] {
    let mut all = [T::default(); K];
    let mut axis = 0;
    while axis < K {
        all[axis] = value(axis);
        axis += 1;
    }
    all
}

/// One number if all axes are equal, else the axes as they are.
///
/// ```
/// use orthant::per_axis;
///
/// assert_eq!(per_axis::shortest(&[4, 4, 4]), [4]);
/// assert_eq!(per_axis::shortest(&[4, 4, 1]), [4, 4, 1]);
/// assert_eq!((per_axis::text(&[4, 4, 1]), per_axis::names(3)), ("4x4x1".to_owned(), vec!["x".into(), "y".into(), "z".into()]));
/// ```
pub fn shortest<T: PartialEq + Copy>(axes: &[T]) -> Vec<T> {
    match axes {
        [first, rest @ ..] if rest.iter().all(|axis| axis == first) => vec![*first],
        _ => axes.to_vec(),
    }
}

/// The axes as options take them, `4x1`.
pub fn text<T: ToString>(axes: &[T]) -> String {
    axes.iter().map(T::to_string).collect::<Vec<_>>().join("x")
}

/// A window as options take it, `0:1,-2.5:2.5`.
pub(crate) fn window_text(window: &[[f64; 2]]) -> String {
    window.iter().map(|[low, high]| format!("{low}:{high}")).collect::<Vec<_>>().join(",")
}

/// The names of axes that have none of their own: x, y, z and w, or x0, x1 and so on if there are more than four.
pub fn names(k: usize) -> Vec<String> {
    match k {
        0..=4 => ["x", "y", "z", "w"][..k].iter().map(|&name| name.to_owned()).collect(),
        _ => (0..k).map(|axis| format!("x{axis}")).collect(),
    }
}

/// Writes a number, or a list.
///
/// # Errors
/// Those of the serialiser.
pub fn serialize<T: Serialize + PartialEq + Copy, S: Serializer>(axes: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    match &shortest(axes)[..] {
        [one] => one.serialize(serializer),
        axes => axes.serialize(serializer),
    }
}

/// Reads a number, or a list, as [`shortest`] leaves it.
///
/// # Errors
/// Says that a number or a list of numbers is needed.
pub fn deserialize<'de, T: Deserialize<'de> + PartialEq + Copy, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a whole number or a list of whole numbers, one per axis, is needed")]
    enum Written<T> {
        One(T),
        Axes(Vec<T>),
    }
    Written::deserialize(deserializer).map(|written| match written {
        Written::One(one) => vec![one],
        Written::Axes(axes) => shortest(&axes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sides {
        #[serde(with = "super")]
        b: Vec<u32>,
    }

    #[test]
    fn axes_are_written_as_they_are_read() {
        use crate::choice::ChoiceValue;
        for axes in [vec![7], vec![4, 1], vec![16, 16, 4]] {
            assert_eq!(Vec::<u32>::read(&text(&axes), 0..=u64::MAX), Ok(axes));
        }
    }

    #[test]
    fn one_number_where_all_axes_are_equal() {
        let written = |b: &[u32]| serde_json::to_string(&Sides { b: b.to_vec() }).unwrap();
        let read = |text| serde_json::from_str::<Sides>(text).map(|sides| sides.b);
        assert_eq!((written(&[16]), written(&[16, 16])), (r#"{"b":16}"#.into(), r#"{"b":16}"#.into()));
        assert_eq!(written(&[16, 1]), r#"{"b":[16,1]}"#);
        assert_eq!(read(r#"{"b":16}"#).unwrap(), [16]);
        assert_eq!(read(r#"{"b":[16,1]}"#).unwrap(), [16, 1]);
        assert_eq!(read(r#"{"b":[16,16]}"#).unwrap(), [16]);
        for wrong in [r#"{"b":-1}"#, r#"{"b":"16"}"#, r#"{"b":[1.5]}"#] {
            assert!(read(wrong).unwrap_err().to_string().contains("a list of whole numbers"), "{wrong}");
        }
    }
}
