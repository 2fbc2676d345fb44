//! A checksum of terminal regions that does not depend on their order.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use xxhash_rust::xxh3::xxh3_64;

use crate::parallel;
use crate::plan::Plan;
use crate::result::cells::Cells;
use crate::result::terminal::{Content, Terminal};

/// A checksum of terminal regions. It depends neither on their order nor on the curve that names them, and the sums of
/// all parts add up to that of the whole.
///
/// It is the sum, modulo 2^64, of the XXH3-64 of every region. The bytes of a region are its level and its coordinates
/// (32 bits each), then 0 (32 bits) and its word (64 bits) if it is uniform, or 1 (32 bits) and its cells in storage
/// order if it is a leaf. All are little-endian.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = |curve| Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).curve(curve).build();
/// let disc = CellField::new(1, |[x, y]| u32::from(x * x + y * y < 1000));
/// let sum = |curve| Ok::<_, orthant::Error>(run(&plan(curve)?, &disc)?.regions_checksum());
/// // The order of the regions does not matter.
/// assert!(sum(CurveKind::Morton)?.is_some());
/// assert_eq!(sum(CurveKind::Morton)?, sum(CurveKind::Hilbert)?);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegionsChecksum(pub u64);

/// Appends the cells of a leaf, whose brick starts at the given place.
type AppendLeaf<'a> = dyn Fn(&Terminal, Option<u64>, &mut Vec<u8>) + Sync + 'a;

/// Regions per task.
const PIECE: usize = 512;

impl RegionsChecksum {
    /// The sum over `terminals`; `leaf` appends the cells of leaf number `i`, whose brick starts at the given place, as
    /// little-endian bytes.
    #[inline(never)]
    #[doc(hidden)]
    pub fn of<const K: usize>(plan: &Plan<K>, terminals: &[Terminal], leaf: &AppendLeaf<'_>) -> Self {
        let hash = |bytes: &mut Vec<u8>, terminal: &Terminal| {
            bytes.clear();
            bytes.extend(terminal.level().to_le_bytes());
            let coords = plan.encoding().decode(terminal.level(), terminal.code);
            coords.iter().for_each(|p| bytes.extend(p.to_le_bytes()));
            match terminal.content() {
                Content::Uniform(word) => {
                    bytes.extend(0u32.to_le_bytes());
                    bytes.extend(word.to_le_bytes());
                }
                Content::Leaf { brick } => {
                    bytes.extend(1u32.to_le_bytes());
                    leaf(terminal, brick, bytes);
                }
            }
            Self(xxh3_64(bytes))
        };
        let sum = |i| {
            let mut bytes = Vec::new();
            terminals[parallel::piece(terminals.len(), PIECE, i)]
                .iter()
                .map(|terminal| hash(&mut bytes, terminal))
                .sum()
        };
        parallel::map::<Self>(terminals.len().div_ceil(PIECE), &sum).into_iter().sum()
    }
}

/// Appends the little-endian bytes of the cells `range`.
pub(crate) fn append_le(cells: &Cells, range: std::ops::Range<usize>, bytes: &mut Vec<u8>) {
    let appended: Result<(), std::convert::Infallible> = cells.le_bytes(range, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    appended.expect("appending cannot fail");
}

impl Add for RegionsChecksum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for RegionsChecksum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for RegionsChecksum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), Add::add)
    }
}

/// What stands before the digits.
const PREFIX: &str = "xxh3sum:";

/// `xxh3sum:` and sixteen hexadecimal digits.
impl fmt::Display for RegionsChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:016x}", self.0)
    }
}

impl serde::Serialize for RegionsChecksum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for RegionsChecksum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        let sum = text.strip_prefix(PREFIX).and_then(|digits| u64::from_str_radix(digits, 16).ok()).map(Self);
        let exact = sum.filter(|sum| sum.to_string() == text);
        exact.ok_or_else(|| serde::de::Error::custom(format!("'{text}' is no {PREFIX} and sixteen digits")))
    }
}
