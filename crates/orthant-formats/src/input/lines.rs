//! Headers of text, line by line.

use std::io::{BufRead, Read};

use crate::input::error::{FilePlace, InputFault};
use orthant::MAX_DIM;

/// The longest header that is read.
const LONGEST: u64 = 1 << 20;

/// The lines of a header, from the first on.
pub(super) struct HeaderLines<R> {
    reader: R,
    /// The number of the last line that was read.
    number: u64,
    /// The byte where the next begins.
    at: u64,
}

impl<R: BufRead> HeaderLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, at: 0 }
    }

    /// The byte where the next line begins.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The last line that was read.
    pub(super) fn place(&self) -> FilePlace {
        FilePlace::Line(self.number)
    }

    /// The next line without its end; None at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<String>, InputFault> {
        let (mut bytes, left) = (Vec::new(), LONGEST.saturating_sub(self.at));
        let read = (&mut self.reader).take(left).read_until(b'\n', &mut bytes)? as u64;
        if read == 0 && left > 0 {
            return Ok(None);
        }
        (self.at, self.number) = (self.at + read, self.number + 1);
        if self.at >= LONGEST {
            return Err(InputFault::LongHeader { most: LONGEST });
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(String::from_utf8_lossy(line).into_owned()))
    }
}

/// A field of a header: where it stands, what it is called and what it says.
pub(super) struct HeaderField<'t> {
    pub(super) at: FilePlace,
    pub(super) name: &'t str,
    pub(super) value: &'t str,
}

impl HeaderField<'_> {
    /// That it should say something else.
    pub(super) fn wrong(&self, allowed: impl Into<String>) -> InputFault {
        InputFault::field(self.at, self.name, self.value, allowed)
    }

    /// The numbers that it lists; `count` of them, if that is known.
    pub(super) fn numbers<T: std::str::FromStr>(&self, count: Option<usize>, what: &str) -> Result<Vec<T>, InputFault> {
        let wrong = || match count {
            Some(count) => self.wrong(format!("{count} {what} are needed")),
            None => self.wrong(format!("{what} are needed")),
        };
        let list: Option<Vec<T>> = self.value.split_whitespace().map(|word| word.parse().ok()).collect();
        let list = list.ok_or_else(wrong)?;
        if count.is_some_and(|count| list.len() != count) || list.is_empty() { Err(wrong()) } else { Ok(list) }
    }

    /// The number that it is.
    pub(super) fn number<T: std::str::FromStr>(&self, what: &str) -> Result<T, InputFault> {
        self.value.trim().parse().map_err(|_| self.wrong(format!("{what} is needed")))
    }

    /// Axes' lengths.
    pub(super) fn extents(&self, axes: usize) -> Result<Vec<u32>, InputFault> {
        let extents = self.numbers::<u32>(Some(axes), "whole numbers, cells of an axis each,")?;
        if extents.contains(&0) {
            return Err(self.wrong(format!("between 1 and {} cells can be on an axis", u32::MAX)));
        }
        Ok(extents)
    }

    /// A number of axes.
    pub(super) fn axes(&self) -> Result<usize, InputFault> {
        match self.value.trim().parse() {
            Ok(axes) if (1..=MAX_DIM).contains(&axes) => Ok(axes),
            _ => Err(self.wrong(format!("between 1 and {MAX_DIM} axes can be"))),
        }
    }
}
