//! STL: three corners for each triangle, binary or as text. Both can begin with `solid`; a binary file has exactly as many bytes as its
//! count needs.

use crate::input::error::{FilePlace, InputFault};
use crate::input::text::TextLines;
use orthant::mesh::Mesh;

/// Bytes before the first triangle: a text, and how many triangles there are.
const HEADER: usize = 84;

/// Bytes of a triangle: a normal, three corners, two bytes that mean nothing.
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, InputFault> {
    let binary = |count: [u8; 4]| {
        let count = u64::from(u32::from_le_bytes(count));
        (count, HEADER as u64 + count * TRIANGLE as u64)
    };
    let counted = bytes.get(80..HEADER).map(|count| binary(count.try_into().expect("four bytes")));
    let is_text = bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
        && !bytes[..bytes.len().min(512)].contains(&0);
    match counted {
        Some((_, length)) if length == bytes.len() as u64 => triangles(&bytes[HEADER..]),
        _ if is_text => text(bytes),
        Some((count, length)) => {
            let allowed = format!("a binary STL has {length} bytes then, and this file has {}", bytes.len());
            Err(InputFault::field(FilePlace::Byte(80), "number of triangles", count, allowed))
        }
        None => {
            let what =
                format!("{} bytes; an STL begins with the word solid, or is binary from 84 bytes on", bytes.len());
            Err(InputFault::Damaged { at: FilePlace::Byte(0), what })
        }
    }
}

fn triangles(bytes: &[u8]) -> Result<Mesh, InputFault> {
    let mut corners = Vec::with_capacity(bytes.len() / TRIANGLE * 3);
    for (number, triangle) in bytes.chunks_exact(TRIANGLE).enumerate() {
        for (corner, place) in triangle[12..48].chunks_exact(12).enumerate() {
            let coordinate = |j: usize| f32::from_le_bytes(place[4 * j..][..4].try_into().expect("four bytes"));
            let place = [0, 1, 2].map(coordinate);
            if let Some(wrong) = place.iter().find(|coordinate| !coordinate.is_finite()) {
                let at = FilePlace::Byte((HEADER + number * TRIANGLE + 12 + 12 * corner) as u64);
                let allowed = format!("coordinates must be finite numbers (face {number}, counted from 0)");
                return Err(InputFault::field(at, "vertex", wrong, allowed));
            }
            corners.push(place.map(f64::from));
        }
    }
    Ok(Mesh::of_corners(corners)?)
}

/// What a line may say next.
#[derive(Clone, Copy, PartialEq)]
enum StlLine {
    Solid,
    Facet,
    Outer,
    Vertex(u8),
    EndLoop,
    EndFacet,
}

impl StlLine {
    fn words(self) -> &'static str {
        match self {
            Self::Solid => "solid NAME",
            Self::Facet => "facet normal X Y Z, or endsolid",
            Self::Outer => "outer loop",
            Self::Vertex(_) => "vertex X Y Z",
            Self::EndLoop => "endloop",
            Self::EndFacet => "endfacet",
        }
    }
}

fn text(bytes: &[u8]) -> Result<Mesh, InputFault> {
    use StlLine::{EndFacet, EndLoop, Facet, Outer, Solid, Vertex};
    let (mut corners, mut expected, mut last) = (Vec::new(), Solid, 1);
    for line in TextLines::of(bytes)? {
        if let FilePlace::Line(number) = line.at {
            last = number;
        }
        let mut words = line.words();
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        expected = match (expected, &word[..]) {
            (Solid, b"solid") => Facet,
            (Facet, b"facet") => Outer,
            (Facet, b"endsolid") => Solid,
            (Outer, b"outer") => Vertex(0),
            (Vertex(number), b"vertex") => {
                let place = line.point(words)?;
                if let Some(wrong) = place.iter().find(|coordinate| !coordinate.is_finite()) {
                    return Err(InputFault::field(line.at, "vertex", wrong, "coordinates must be finite numbers"));
                }
                corners.push(place);
                if number == 2 { EndLoop } else { Vertex(number + 1) }
            }
            (EndLoop, b"endloop") => EndFacet,
            (EndFacet, b"endfacet") => Facet,
            _ => return Err(line.wrong("line", format!("'{}' is needed here", expected.words()))),
        };
    }
    if expected != Solid {
        let what = format!("the file ends here, and '{}' should follow", expected.words());
        return Err(InputFault::Damaged { at: FilePlace::Line(last), what });
    }
    Ok(Mesh::of_corners(corners)?)
}
