//! PLY: a header of text, then elements one after the other, as text or binary.

use crate::input::error::{FilePlace, Wrong};
use crate::input::mesh::faces::MeshFaces;
use crate::input::mesh::ply_header::{PlyCoding, PlyElement, PlyHeader, PlyProperty, PlyType};
use crate::input::mesh::text::{MeshLine, MeshLines, number};
use crate::mesh::Mesh;

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Wrong> {
    let header = PlyHeader::of(bytes)?;
    let vertices = header.elements.iter().find(|element| element.name == b"vertex");
    let vertices = vertices.map_or(0, |element| element.count);
    let mut numbers = match header.coding {
        PlyCoding::Text => {
            let rest = &bytes[header.length..];
            PlyNumbers::Text { lines: MeshLines::new(rest), line: None, words: Vec::new(), before: header.lines }
        }
        coding => PlyNumbers::Binary { bytes, at: header.length, big: coding == PlyCoding::Big },
    };
    let mut read = MeshFaces::default();
    // Without properties elements have no bytes, however many there are.
    for element in header.elements.iter().filter(|element| !element.properties.is_empty()) {
        match &element.name[..] {
            b"vertex" => read_vertices(element, &mut numbers, &mut read)?,
            b"face" => read_faces(element, vertices, &mut numbers, &mut read)?,
            _ => (0..element.count)
                .try_for_each(|_| element.properties.iter().try_for_each(|property| numbers.skip(property)))?,
        }
    }
    match numbers.rest() {
        Some(at) => Err(Wrong::Damaged { at, what: "more follows than the elements that the header counts".into() }),
        None => read.mesh(),
    }
}

fn missing(element: &PlyElement, what: &str) -> Wrong {
    let name = String::from_utf8_lossy(&element.name);
    Wrong::field(element.at, "element", name, format!("it needs {what}"))
}

fn read_vertices(element: &PlyElement, numbers: &mut PlyNumbers<'_>, read: &mut MeshFaces) -> Result<(), Wrong> {
    let axis = |property: &PlyProperty| {
        let axis = [b"x", b"y", b"z"].iter().position(|&name| property.name == name);
        axis.filter(|_| property.list.is_none())
    };
    let axes: Vec<_> = element.properties.iter().map(axis).collect();
    if (0..3).any(|wanted| axes.iter().flatten().filter(|&&axis| axis == wanted).count() != 1) {
        return Err(missing(element, "the properties x, y and z, each once and no list"));
    }
    for _ in 0..element.count {
        let (mut place, at) = ([0.0; 3], numbers.place());
        for (property, axis) in element.properties.iter().zip(&axes) {
            match axis {
                Some(axis) => place[*axis] = numbers.next(property.kind)?.float(),
                None => numbers.skip(property)?,
            }
        }
        read.vertex(at, place)?;
    }
    Ok(())
}

fn read_faces(
    element: &PlyElement,
    vertices: u64,
    numbers: &mut PlyNumbers<'_>,
    read: &mut MeshFaces,
) -> Result<(), Wrong> {
    let named = |property: &PlyProperty| property.name == b"vertex_indices" || property.name == b"vertex_index";
    let corners_at = element
        .properties
        .iter()
        .position(|property| named(property) && property.list.is_some() && property.kind.is_whole());
    let corners_at =
        corners_at.ok_or_else(|| missing(element, "a list of whole numbers called vertex_indices or vertex_index"))?;
    let mut corners = Vec::new();
    for _ in 0..element.count {
        let at = numbers.place();
        for (number, property) in element.properties.iter().enumerate() {
            let Some(length) = property.list.filter(|_| number == corners_at) else {
                numbers.skip(property)?;
                continue;
            };
            corners.clear();
            for _ in 0..numbers.length(length)? {
                let index = numbers.next(property.kind)?.whole();
                corners.push(MeshFaces::corner(at, index, vertices)?);
            }
        }
        read.face(at, &corners)?;
    }
    Ok(())
}

/// A number of an element.
#[derive(Clone, Copy)]
enum PlyNumber {
    Whole(i64),
    Float(f64),
}

impl PlyNumber {
    fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Of a type of whole numbers.
    fn whole(self) -> i64 {
        match self {
            Self::Whole(number) => number,
            Self::Float(_) => -1,
        }
    }
}

/// The numbers of all elements, in their order.
enum PlyNumbers<'t> {
    Text { lines: MeshLines<'t>, line: Option<MeshLine<'t>>, words: Vec<&'t [u8]>, before: u64 },
    Binary { bytes: &'t [u8], at: usize, big: bool },
}

impl<'t> PlyNumbers<'t> {
    /// Reads lines until there are words; false at the end of the file.
    fn fill(&mut self) -> bool {
        let Self::Text { lines, line, words, before } = self else { return true };
        if words.is_empty() {
            let Some(next) = lines.next() else { return false };
            words.extend(next.words());
            words.reverse();
            let FilePlace::Line(number) = next.at else { return false };
            *line = Some(MeshLine { at: FilePlace::Line(*before + number), ..next });
        }
        true
    }

    /// Where the next number is.
    fn place(&mut self) -> FilePlace {
        self.fill();
        match self {
            Self::Text { line, before, .. } => line.map_or(FilePlace::Line(*before), |line| line.at),
            Self::Binary { at, .. } => FilePlace::Byte(*at as u64),
        }
    }

    fn next(&mut self, kind: PlyType) -> Result<PlyNumber, Wrong> {
        let at = self.place();
        let ends = || Wrong::Damaged {
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
                    Wrong::field(at, "value", String::from_utf8_lossy(word), allowed)
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
    fn length(&mut self, kind: PlyType) -> Result<u64, Wrong> {
        let at = self.place();
        let length = self.next(kind)?.whole();
        u64::try_from(length).map_err(|_| Wrong::field(at, "length of a list", length, "it cannot be negative"))
    }

    /// Passes what nobody needs.
    fn skip(&mut self, property: &PlyProperty) -> Result<(), Wrong> {
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
