//! PLY: a header of text, then elements one after the other, as text or binary.

use crate::input::error::InputFault;
use crate::input::mesh::faces::MeshFaces;
use crate::input::ply::{PlyElement, PlyHeader, PlyNumbers, PlyProperty};
use orthant::mesh::Mesh;

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, InputFault> {
    let header = PlyHeader::of(bytes)?;
    let vertices = header.elements.iter().find(|element| element.name == b"vertex");
    let vertices = vertices.map_or(0, |element| element.count);
    let mut numbers = PlyNumbers::new(bytes, &header);
    let mut read = MeshFaces::default();
    // Without properties elements have no bytes, however many there are.
    for element in header.elements.iter().filter(|element| !element.properties.is_empty()) {
        match &element.name[..] {
            b"vertex" => read_vertices(element, &mut numbers, &mut read)?,
            b"face" => read_faces(element, vertices, &mut numbers, &mut read)?,
            _ => numbers.skip_all(element)?,
        }
    }
    numbers.end()?;
    read.mesh()
}

fn missing(element: &PlyElement, what: &str) -> InputFault {
    let name = String::from_utf8_lossy(&element.name);
    InputFault::field(element.at, "element", name, format!("it needs {what}"))
}

fn read_vertices(element: &PlyElement, numbers: &mut PlyNumbers<'_>, read: &mut MeshFaces) -> Result<(), InputFault> {
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
) -> Result<(), InputFault> {
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
