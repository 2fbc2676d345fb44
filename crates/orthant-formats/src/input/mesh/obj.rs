//! OBJ: a line for each vertex (`v`) and each face (`f`); lines of other kinds say nothing of the shape.

use crate::input::error::InputFault;
use crate::input::mesh::faces::MeshFaces;
use crate::input::text::{TextLine, TextLines, number};
use orthant::mesh::Mesh;

pub(super) fn parse(text: &[u8]) -> Result<Mesh, InputFault> {
    let mut read = MeshFaces::default();
    let mut corners = Vec::new();
    for line in TextLines::of(text)? {
        let mut words = line.words();
        match words.next() {
            Some(b"v") => read.vertex(line.at, line.point(words)?)?,
            Some(b"f") => {
                corners.clear();
                for word in words {
                    corners.push(corner(line, word, read.vertices.len() as i64)?);
                }
                read.face(line.at, &corners)?;
            }
            _ => {}
        }
    }
    read.mesh()
}

/// A corner: the number of a vertex, from 1 on or from the last one backwards, and numbers of other things after slashes.
fn corner(line: TextLine<'_>, word: &[u8], vertices: i64) -> Result<u32, InputFault> {
    let first = word.split(|&byte| byte == b'/').next().unwrap_or_default();
    let index = match number::<i64>(first) {
        Some(number) if (1..=vertices).contains(&number) => number - 1,
        Some(number) if (-vertices..0).contains(&number) => vertices + number,
        _ => {
            let allowed =
                format!("a corner is a number from 1 to {vertices}, the vertices so far, or from -1 backwards");
            return Err(InputFault::field(line.at, "face with corner", String::from_utf8_lossy(word), allowed));
        }
    };
    MeshFaces::corner(line.at, index, vertices as u64)
}
