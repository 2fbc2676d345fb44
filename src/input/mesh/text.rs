//! Lines and words of a mesh in text.

use crate::input::error::{FilePlace, Wrong};

/// The lines of a text that say something, with their numbers. What follows a `#` says nothing.
pub(super) struct MeshLines<'t> {
    rest: &'t [u8],
    number: u64,
}

impl<'t> MeshLines<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { rest: text, number: 0 }
    }

    /// The next line; what is missing if there is none.
    pub(super) fn need(&mut self, what: impl FnOnce() -> String) -> Result<MeshLine<'t>, Wrong> {
        self.next().ok_or_else(|| Wrong::Damaged {
            at: FilePlace::Line(self.number.max(1)),
            what: format!("the file ends here, and {} should follow", what()),
        })
    }
}

impl<'t> Iterator for MeshLines<'t> {
    type Item = MeshLine<'t>;

    fn next(&mut self) -> Option<MeshLine<'t>> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            self.number += 1;
            let said = line.iter().position(|&byte| byte == b'#').map_or(line, |end| &line[..end]);
            if !said.trim_ascii().is_empty() {
                return Some(MeshLine { at: FilePlace::Line(self.number), text: said });
            }
        }
        None
    }
}

/// A line and its place.
#[derive(Clone, Copy)]
pub(super) struct MeshLine<'t> {
    pub(super) at: FilePlace,
    pub(super) text: &'t [u8],
}

impl<'t> MeshLine<'t> {
    /// Its words, one of which there is at least.
    pub(super) fn words(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
    }

    /// That it should say something else.
    pub(super) fn wrong(self, what: &str, allowed: impl Into<String>) -> Wrong {
        Wrong::field(self.at, what, String::from_utf8_lossy(self.text.trim_ascii()), allowed)
    }

    /// Three coordinates, the first of these words.
    pub(super) fn point(self, mut words: impl Iterator<Item = &'t [u8]>) -> Result<[f64; 3], Wrong> {
        let mut place = [0.0; 3];
        for coordinate in &mut place {
            let word = words.next().and_then(number);
            *coordinate = word.ok_or_else(|| self.wrong("vertex", "three numbers are needed"))?;
        }
        Ok(place)
    }
}

/// The number that a word is.
pub(super) fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
