//! Lines and words of a mesh, or of points, in text.

use crate::input::error::{FilePlace, InputFault};

/// A text whose lines end in one way.
pub(super) struct Text<'t> {
    bytes: &'t [u8],
    end: u8,
}

impl<'t> Text<'t> {
    /// Of a whole file. A mark of UTF-8 before it is no part of it. Lines end with a line feed, or with a carriage return if there is
    /// no line feed at all.
    pub(super) fn of(bytes: &'t [u8]) -> Result<Self, InputFault> {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            let what = "text in UTF-16; save it as UTF-8 or ASCII".into();
            return Err(InputFault::Damaged { at: FilePlace::Byte(0), what });
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let old = bytes.contains(&b'\r') && !bytes.contains(&b'\n');
        Ok(Self { bytes, end: if old { b'\r' } else { b'\n' } })
    }

    /// What lines end with.
    pub(super) fn end(&self) -> u8 {
        self.end
    }

    /// All of it.
    pub(super) fn bytes(&self) -> &'t [u8] {
        self.bytes
    }

    /// All lines, without their ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'t [u8]> + use<'t> {
        let end = self.end;
        self.bytes.split(move |&byte| byte == end)
    }
}

/// The lines of a text that say something, with their numbers. What follows a `#` says nothing.
pub(super) struct TextLines<'t> {
    rest: &'t [u8],
    number: u64,
    end: u8,
}

impl<'t> TextLines<'t> {
    /// Of a whole file.
    pub(super) fn of(file: &'t [u8]) -> Result<Self, InputFault> {
        let Text { bytes, end } = Text::of(file)?;
        Ok(Self { rest: bytes, number: 0, end })
    }

    /// Of what follows a header.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { rest: text, number: 0, end: b'\n' }
    }

    /// The next line; what is missing if there is none.
    pub(super) fn need(&mut self, what: impl FnOnce() -> String) -> Result<TextLine<'t>, InputFault> {
        self.next().ok_or_else(|| InputFault::Damaged {
            at: FilePlace::Line(self.number.max(1)),
            what: format!("the file ends here, and {} should follow", what()),
        })
    }
}

impl<'t> Iterator for TextLines<'t> {
    type Item = TextLine<'t>;

    #[inline]
    fn next(&mut self) -> Option<TextLine<'t>> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == self.end).unwrap_or(self.rest.len());
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            self.number += 1;
            let said = line.iter().position(|&byte| byte == b'#').map_or(line, |end| &line[..end]);
            if !said.trim_ascii().is_empty() {
                return Some(TextLine { at: FilePlace::Line(self.number), text: said });
            }
        }
        None
    }
}

/// A line and its place.
#[derive(Clone, Copy)]
pub(super) struct TextLine<'t> {
    pub(super) at: FilePlace,
    pub(super) text: &'t [u8],
}

impl<'t> TextLine<'t> {
    /// Its words, one of which there is at least.
    #[inline]
    pub(super) fn words(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
    }

    /// That it should say something else.
    pub(super) fn wrong(self, what: &str, allowed: impl Into<String>) -> InputFault {
        InputFault::field(self.at, what, String::from_utf8_lossy(self.text.trim_ascii()), allowed)
    }

    /// Three coordinates, the first of these words.
    pub(super) fn point(self, mut words: impl Iterator<Item = &'t [u8]>) -> Result<[f64; 3], InputFault> {
        let mut place = [0.0; 3];
        for coordinate in &mut place {
            let word = words.next().and_then(number);
            *coordinate = word.ok_or_else(|| self.wrong("vertex", "three numbers are needed"))?;
        }
        Ok(place)
    }
}

/// The number that a word is.
#[inline]
pub(super) fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
