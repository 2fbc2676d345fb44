//! The header of PLY: which elements there are, how many, and what each of them has.

use crate::input::error::{FilePlace, InputFault};
use crate::input::text::{TextLine, number};

/// How numbers are written.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::input) enum PlyCoding {
    Text,
    Little,
    Big,
}

/// A type of numbers.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::input) enum PlyType {
    Integer { bytes: u8, signed: bool },
    Float { bytes: u8 },
}

impl PlyType {
    fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::Integer { bytes: 1, signed: true },
            b"uchar" | b"uint8" => Self::Integer { bytes: 1, signed: false },
            b"short" | b"int16" => Self::Integer { bytes: 2, signed: true },
            b"ushort" | b"uint16" => Self::Integer { bytes: 2, signed: false },
            b"int" | b"int32" => Self::Integer { bytes: 4, signed: true },
            b"uint" | b"uint32" => Self::Integer { bytes: 4, signed: false },
            b"float" | b"float32" => Self::Float { bytes: 4 },
            b"double" | b"float64" => Self::Float { bytes: 8 },
            _ => return None,
        })
    }

    pub(in crate::input) fn is_whole(self) -> bool {
        matches!(self, Self::Integer { .. })
    }
}

/// What each element has: a number, or a list with its length before it.
pub(in crate::input) struct PlyProperty {
    pub(in crate::input) name: Vec<u8>,
    /// The type of the length, of a list.
    pub(in crate::input) list: Option<PlyType>,
    pub(in crate::input) kind: PlyType,
}

/// Elements of one kind.
pub(in crate::input) struct PlyElement {
    pub(in crate::input) name: Vec<u8>,
    pub(in crate::input) count: u64,
    pub(in crate::input) properties: Vec<PlyProperty>,
    /// Where the header says so.
    pub(in crate::input) at: FilePlace,
}

/// The header.
pub(in crate::input) struct PlyHeader {
    pub(in crate::input) coding: PlyCoding,
    pub(in crate::input) elements: Vec<PlyElement>,
    /// Bytes and lines of it.
    pub(in crate::input) length: usize,
    pub(in crate::input) lines: u64,
}

impl PlyHeader {
    /// Of a whole file.
    pub(in crate::input) fn of(bytes: &[u8]) -> Result<Self, InputFault> {
        let (mut coding, mut elements) = (None, Vec::<PlyElement>::new());
        let (mut length, mut lines) = (0, 0);
        loop {
            let rest = &bytes[length..];
            let end = rest.iter().position(|&byte| byte == b'\n');
            let Some(end) = end else {
                let what = "the header ends here; the line 'end_header' closes it".into();
                return Err(InputFault::Damaged { at: FilePlace::Line(lines + 1), what });
            };
            (length, lines) = (length + end + 1, lines + 1);
            let line = TextLine { at: FilePlace::Line(lines), text: &rest[..end] };
            let words: Vec<&[u8]> = line.words().collect();
            match &words[..] {
                [b"ply"] if lines == 1 => {}
                _ if lines == 1 => return Err(line.wrong("header", "a PLY file begins with the line 'ply'")),
                [b"format", kind, _] if coding.is_none() => {
                    coding = Some(match *kind {
                        b"ascii" => PlyCoding::Text,
                        b"binary_little_endian" => PlyCoding::Little,
                        b"binary_big_endian" => PlyCoding::Big,
                        _ => {
                            let allowed = "ascii, binary_little_endian and binary_big_endian can be read";
                            return Err(line.wrong("header", allowed));
                        }
                    });
                }
                [] | [b"comment" | b"obj_info", ..] => {}
                [b"element", name, _] if elements.iter().any(|element| element.name == *name) => {
                    return Err(line.wrong("header", "elements of this name were counted before; each name comes once"));
                }
                [b"element", name, count] => {
                    let count =
                        number(count).ok_or_else(|| line.wrong("header", "a whole number of elements is needed"));
                    elements.push(PlyElement {
                        name: name.to_vec(),
                        count: count?,
                        properties: Vec::new(),
                        at: line.at,
                    });
                }
                [b"property", of @ ..] => {
                    let property = property(of).zip(elements.last_mut());
                    let (property, element) = property.ok_or_else(|| {
                        line.wrong(
                            "header",
                            "property TYPE NAME or property list TYPE TYPE NAME of an element is needed",
                        )
                    })?;
                    element.properties.push(property);
                }
                [b"end_header"] => break,
                _ => return Err(line.wrong("header", "format, element, property, comment or end_header is needed")),
            }
        }
        let coding = coding.ok_or(InputFault::Missing { field: "format" })?;
        Ok(Self { coding, elements, length, lines })
    }
}

fn property(words: &[&[u8]]) -> Option<PlyProperty> {
    let (list, kind, name) = match words {
        [b"list", length, kind, name] => (Some(PlyType::of(length).filter(|kind| kind.is_whole())?), kind, name),
        [kind, name] => (None, kind, name),
        _ => return None,
    };
    Some(PlyProperty { name: name.to_vec(), list, kind: PlyType::of(kind)? })
}
