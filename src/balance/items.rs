//! Work-items: how many units each has.

use std::io::{self, BufRead};

use crate::balance::facts::{Facts, mean_of_small};

/// Most items: kernels number them with 31 bits.
const MOST: usize = (1 << 31) - 1;

/// Work-items, each of so many units of work.
///
/// ```
/// use orthant::balance::Items;
///
/// let items = Items::new(vec![2, 0, 3])?;
/// assert_eq!(items.prefix(), [0, 2, 2, 5]);
/// assert_eq!((items.facts().units, items.facts().most, items.facts().empty), (5, 3, 1));
/// // One size per line, as the command reads them.
/// assert_eq!(Items::read("2\n0 # nothing\n\n3\n".as_bytes())?.sizes(), [2, 0, 3]);
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Items {
    sizes: Vec<u32>,
}

/// Why sizes cannot be those of work-items.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemsError {
    /// More than can be numbered.
    #[error("{0} work-items: at most 2^31 - 1 can be")]
    TooMany(usize),
    /// A line that is no size.
    #[error("line {line}: '{text}': a whole number between 0 and 2^32 - 1 is needed")]
    Line {
        /// The line, from 1.
        line: u64,
        /// Its beginning.
        text: String,
    },
    /// Text that cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
}

impl Items {
    /// Items of these sizes; 0 is one.
    ///
    /// # Errors
    /// [`ItemsError::TooMany`].
    pub fn new(sizes: Vec<u32>) -> Result<Self, ItemsError> {
        if sizes.len() > MOST { Err(ItemsError::TooMany(sizes.len())) } else { Ok(Self { sizes }) }
    }

    /// Reads one size per line. Empty lines do not count, nor does what follows a `#`.
    ///
    /// # Errors
    /// [`ItemsError`] names the line.
    pub fn read(mut lines: impl BufRead) -> Result<Self, ItemsError> {
        Self::read_lines(&mut lines)
    }

    fn read_lines(mut lines: &mut dyn BufRead) -> Result<Self, ItemsError> {
        let (mut sizes, mut bytes, mut line) = (Vec::new(), Vec::new(), 0);
        loop {
            bytes.clear();
            line += 1;
            // A size has ten digits: what is longer is none, however long it is.
            let read = io::Read::take(&mut lines, 4096).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Self::new(sizes);
            }
            let text = String::from_utf8_lossy(&bytes);
            let (number, remark) = text.split_once('#').map_or((&*text, false), |(number, _)| (number, true));
            let number = number.trim();
            let whole = read < 4096 || bytes.ends_with(b"\n");
            match number.parse() {
                Ok(_) if sizes.len() == MOST => return Err(ItemsError::TooMany(MOST + 1)),
                Ok(size) if whole || remark => sizes.push(size),
                Err(_) if number.is_empty() && (whole || remark) => {}
                _ => {
                    let text = number.chars().take(40).flat_map(char::escape_debug).collect();
                    return Err(ItemsError::Line { line, text });
                }
            }
            if !whole {
                lines.skip_until(b'\n')?;
            }
        }
    }

    /// Units per item.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The number of units before each item, and at the end the number of all units: one entry more than items.
    pub fn prefix(&self) -> Vec<u64> {
        let mut sum = 0;
        let before = self.sizes.iter().map(|&size| {
            let before = sum;
            sum += u64::from(size);
            before
        });
        let mut prefix: Vec<u64> = before.collect();
        // 2^31 sizes below 2^32 are less than 2^63.
        prefix.push(sum);
        prefix
    }

    /// What balancers choose by.
    pub fn facts(&self) -> Facts {
        Facts::of(self.sizes.iter().map(|&size| (size, 1)))
    }

    /// The mean size of items that are not empty and have at most `most` units; 0 if there are none.
    pub fn mean_of_small(&self, most: u64) -> f64 {
        mean_of_small(self.sizes.iter().map(|&size| (size, 1)), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Class;

    #[test]
    fn sizes_are_read_line_by_line() {
        let read =
            |text: &str| Items::read(text.as_bytes()).map(|items| items.sizes).map_err(|error| error.to_string());
        assert_eq!(read(" 4\n\n# none\n0 # empty\r\n4294967295"), Ok(vec![4, 0, u32::MAX]));
        assert_eq!(read(""), Ok(vec![]));
        for (text, line) in [("1\n-3\n", 2), ("4294967296", 1), ("1.5", 1), ("1\n\n2 3", 3), ("\u{1F600}", 1)] {
            assert!(read(text).unwrap_err().starts_with(&format!("line {line}: '")), "{text}");
        }
        let long = read(&"7".repeat(100_000)).unwrap_err();
        assert!(long.len() < 150, "{long}");
        assert!(read(&format!("{}7", " ".repeat(5000))).is_err());
        assert_eq!(read(&format!("5 # {}\n#{}\n6", "x".repeat(5000), "y".repeat(9000))), Ok(vec![5, 6]));
        assert!(!read("\u{1b}[31m").unwrap_err().contains('\u{1b}'));
    }

    #[test]
    fn facts_are_those_of_the_sizes() {
        let facts = Items::new(vec![4, 4, 0, 2, 0, 0]).unwrap().facts();
        assert_eq!((facts.items, facts.units, facts.most, facts.empty), (6, 10, 4, 3));
        assert!((facts.mean - 10.0 / 6.0).abs() < 1e-12 && (facts.deviation - 3.222_222_222f64.sqrt()).abs() < 1e-6);
        let class = |first, units, size, items| Class { first, units, size, items };
        assert_eq!(facts.classes, Some(vec![class(0, 0, 4, 2), class(3, 8, 2, 1)]));
        assert_eq!(Items::new((0..40).collect()).unwrap().facts().classes, None);
        let sparse = (0..80).map(|item| u32::from(item % 8 == 0)).collect();
        assert_eq!(Items::new(sparse).unwrap().facts().classes.unwrap().len(), 10);
    }
}
