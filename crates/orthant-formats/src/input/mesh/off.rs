//! OFF: the word OFF, three counts, a line for each vertex and each face.

use crate::input::error::InputFault;
use crate::input::mesh::faces::MeshFaces;
use crate::input::text::{TextLines, number};
use orthant::mesh::Mesh;

/// What comes before OFF where vertices have colours, normals or places in a texture after their coordinates.
const MORE: [&str; 8] = ["", "C", "N", "CN", "ST", "STC", "STN", "STCN"];

pub(super) fn parse(text: &[u8]) -> Result<Mesh, InputFault> {
    let mut lines = TextLines::of(text)?;
    let header = lines.need(|| "the word OFF".into())?;
    let mut words = header.words();
    let kind = words.next().and_then(|word| std::str::from_utf8(word).ok()?.strip_suffix("OFF"));
    if kind.is_none_or(|kind| !MORE.contains(&kind)) {
        return Err(header.wrong("header", "an OFF file of text in 3-D begins with OFF"));
    }
    // Counts may stand on the first line.
    let mut counts: Vec<&[u8]> = words.collect();
    let mut line = header;
    if counts.is_empty() {
        line = lines.need(|| "the numbers of vertices, faces and edges".into())?;
        counts = line.words().collect();
    }
    let counts: Option<Vec<u64>> = counts.into_iter().map(number).collect();
    let Some(&[vertices, faces, ..]) = counts.as_deref() else {
        return Err(line.wrong("counts", "whole numbers are needed: vertices, faces and edges"));
    };
    let mut read = MeshFaces::default();
    for vertex in 0..vertices {
        let line = lines.need(|| format!("vertex {} of {vertices}", vertex + 1))?;
        read.vertex(line.at, line.point(line.words())?)?;
    }
    let mut corners = Vec::new();
    for face in 0..faces {
        let line = lines.need(|| format!("face {} of {faces}", face + 1))?;
        let mut words = line.words();
        let count = words.next().and_then(number::<usize>);
        let wrong = || line.wrong("face", "the number of corners and the number of a vertex for each are needed");
        let count = count.ok_or_else(wrong)?;
        corners.clear();
        // Colours may follow.
        for word in words.take(count) {
            corners.push(MeshFaces::corner(line.at, number(word).ok_or_else(wrong)?, vertices)?);
        }
        if corners.len() < count {
            return Err(wrong());
        }
        read.face(line.at, &corners)?;
    }
    match lines.next() {
        Some(line) => Err(line.wrong("after the last face", format!("the header says {faces} faces"))),
        None => read.mesh(),
    }
}
