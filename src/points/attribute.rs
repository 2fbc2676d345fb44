//! A number that each point has beside its coordinates.

use crate::cell::CellType;
use crate::points::error::PointsError;

/// What points are measured by: an intensity, a class, a time. Values keep their type.
///
/// ```
/// use orthant::CellType;
/// use orthant::points::PointAttribute;
///
/// let intensity = PointAttribute::new::<u16>("intensity", &[7, 65535]);
/// assert_eq!((intensity.name(), intensity.kind(), intensity.len()), ("intensity", CellType::U16, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointAttribute {
    name: String,
    kind: CellType,
    words: Vec<u64>,
}

impl PointAttribute {
    /// The values of all points, in their order.
    pub fn new<T: crate::Cell>(name: impl Into<String>, values: &[T]) -> Self {
        Self { name: name.into(), kind: T::TYPE, words: values.iter().map(|value| value.word()).collect() }
    }

    /// Of words of a type.
    #[doc(hidden)]
    pub fn of_words(name: String, kind: CellType, words: Vec<u64>) -> Self {
        Self { name, kind, words }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of a value.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The bits of the values, with zeros above.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Checks that there is a finite value for each of so many points.
    pub(super) fn check(&self, points: usize) -> Result<(), PointsError> {
        if self.words.len() != points {
            return Err(PointsError::Values { name: self.name.clone(), values: self.words.len(), points });
        }
        if !self.kind.is_float() {
            return Ok(());
        }
        let number = |&word: &u64| self.kind.number(word);
        match self.words.iter().position(|word| !number(word).is_finite()) {
            Some(point) => {
                let value = number(&self.words[point]);
                Err(PointsError::Value { name: self.name.clone(), point, value })
            }
            None => Ok(()),
        }
    }
}
