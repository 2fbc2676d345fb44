//! The numbers of all elements of a PLY file, in their order.

use crate::input::error::{FilePlace, InputFault};
use crate::input::ply::header::{PlyCoding, PlyElement, PlyHeader, PlyProperty, PlyType};
use crate::input::text::{TextLine, TextLines, number};

/// A number of an element.
#[derive(Clone, Copy)]
pub(in crate::input) enum PlyNumber {
    Whole(i64),
    Float(f64),
}

impl PlyNumber {
    pub(in crate::input) fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Of a type of whole numbers.
    pub(in crate::input) fn whole(self) -> i64 {
        match self {
            Self::Whole(number) => number,
            Self::Float(_) => -1,
        }
    }
}

/// The numbers of all elements, in their order.
pub(in crate::input) enum PlyNumbers<'t> {
    Text { lines: TextLines<'t>, line: Option<TextLine<'t>>, words: Vec<&'t [u8]>, before: u64 },
    Binary { bytes: &'t [u8], at: usize, big: bool },
}

impl<'t> PlyNumbers<'t> {
    /// Those that follow the header of a file.
    pub(in crate::input) fn new(bytes: &'t [u8], header: &PlyHeader) -> Self {
        match header.coding {
            PlyCoding::Text => {
                let lines = TextLines::new(&bytes[header.length..]);
                Self::Text { lines, line: None, words: Vec::new(), before: header.lines }
            }
            coding => Self::Binary { bytes, at: header.length, big: coding == PlyCoding::Big },
        }
    }

    /// Passes all elements of a kind.
    pub(in crate::input) fn skip_all(&mut self, element: &PlyElement) -> Result<(), InputFault> {
        (0..element.count).try_for_each(|_| element.properties.iter().try_for_each(|property| self.skip(property)))
    }

    /// That more follows than the header counts, if it does.
    pub(in crate::input) fn end(&mut self) -> Result<(), InputFault> {
        let what = "more follows than the elements that the header counts";
        self.rest().map_or(Ok(()), |at| Err(InputFault::Damaged { at, what: what.into() }))
    }

    /// Reads lines until there are words; false at the end of the file.
    fn fill(&mut self) -> bool {
        let Self::Text { lines, line, words, before } = self else { return true };
        if words.is_empty() {
            let Some(next) = lines.next() else { return false };
            next.words().for_each(|word| words.push(word));
            words.reverse();
            let FilePlace::Line(number) = next.at else { return false };
            *line = Some(TextLine { at: FilePlace::Line(*before + number), ..next });
        }
        true
    }

    /// Where the next number is.
    #[inline]
    pub(in crate::input) fn place(&mut self) -> FilePlace {
        self.fill();
        match self {
            Self::Text { line, before, .. } => line.map_or(FilePlace::Line(*before), |line| line.at),
            Self::Binary { at, .. } => FilePlace::Byte(*at as u64),
        }
    }

    pub(in crate::input) fn next(&mut self, kind: PlyType) -> Result<PlyNumber, InputFault> {
        let at = self.place();
        let ends = || InputFault::Damaged {
            at,
            what: "the file ends here, and elements that the header counts should follow".into(),
        };
        match self {
            Self::Text { words, .. } => {
                let word = words.pop().ok_or_else(ends)?;
                let read = if kind.is_whole() {
                    number(word).map(PlyNumber::Whole)
                } else {
                    number(word).map(PlyNumber::Float)
                };
                read.ok_or_else(|| {
                    let allowed = if kind.is_whole() { "a whole number is needed" } else { "a number is needed" };
                    InputFault::field(at, "value", String::from_utf8_lossy(word), allowed)
                })
            }
            Self::Binary { bytes, at: next, big } => {
                let (PlyType::Integer { bytes: width, .. } | PlyType::Float { bytes: width }) = kind;
                let width = usize::from(width);
                let own = bytes.get(*next..*next + width).ok_or_else(ends)?;
                *next += width;
                let mut wide = [0; 8];
                // Little: the lowest byte first.
                wide[..width].copy_from_slice(own);
                if *big {
                    wide[..width].reverse();
                }
                let word = u64::from_le_bytes(wide);
                Ok(match kind {
                    PlyType::Float { bytes: 4 } => PlyNumber::Float(f32::from_bits(word as u32).into()),
                    PlyType::Float { .. } => PlyNumber::Float(f64::from_bits(word)),
                    PlyType::Integer { signed: false, .. } => PlyNumber::Whole(word as i64),
                    PlyType::Integer { .. } => {
                        let shift = 64 - 8 * width as u32;
                        PlyNumber::Whole((word << shift) as i64 >> shift)
                    }
                })
            }
        }
    }

    /// The length of a list.
    pub(in crate::input) fn length(&mut self, kind: PlyType) -> Result<u64, InputFault> {
        let at = self.place();
        let length = self.next(kind)?.whole();
        u64::try_from(length).map_err(|_| InputFault::field(at, "length of a list", length, "it cannot be negative"))
    }

    /// Passes what nobody needs.
    pub(in crate::input) fn skip(&mut self, property: &PlyProperty) -> Result<(), InputFault> {
        let count = property.list.map_or(Ok(1), |kind| self.length(kind))?;
        (0..count).try_for_each(|_| self.next(property.kind).map(drop))
    }

    /// Where something is left, if anything is.
    fn rest(&mut self) -> Option<FilePlace> {
        let more = match self {
            Self::Text { .. } => self.fill(),
            Self::Binary { bytes, at, .. } => *at < bytes.len(),
        };
        more.then(|| self.place())
    }
}
