//! Meshes in files, and as fields.

use std::fmt::Write;

use orthant::field::{DataValue, FieldData};
use orthant::geometry::Region;
use orthant::mesh::{Mesh, MeshError};
use orthant::prelude::*;
use orthant_formats::input::{FilePlace, InputFault, MeshFormat};

/// A small mesh whose coordinates any format can hold.
fn sample() -> Mesh {
    let whole = Mesh::torus(2.0, 0.75, [5, 4]);
    let vertices = whole.vertices().iter().map(|vertex| vertex.map(|at| f64::from(at as f32))).collect();
    Mesh::new(vertices, whole.triangles().to_vec()).unwrap()
}

fn corners(mesh: &Mesh) -> impl Iterator<Item = [[f64; 3]; 3]> {
    mesh.triangles().iter().map(|triangle| triangle.map(|index| mesh.vertices()[index as usize]))
}

fn text([x, y, z]: [f64; 3]) -> String {
    format!("{x} {y} {z}")
}

fn stl_text(mesh: &Mesh) -> Vec<u8> {
    let mut file = "solid part\n".to_owned();
    for triangle in corners(mesh) {
        let [a, b, c] = triangle.map(text);
        write!(
            file,
            " facet normal 0 0 0\n  outer loop\n   vertex {a}\n   vertex {b}\n   vertex {c}\n  endloop\n endfacet\n"
        )
        .unwrap();
    }
    (file + "endsolid part\n").into()
}

fn stl_binary(mesh: &Mesh) -> Vec<u8> {
    // Some programs begin a binary file as if it were text.
    let mut file = b"solid but binary".to_vec();
    file.resize(80, 0);
    file.extend((mesh.triangles().len() as u32).to_le_bytes());
    for triangle in corners(mesh) {
        file.extend([0; 12]);
        file.extend(triangle.iter().flatten().flat_map(|&at| (at as f32).to_le_bytes()));
        file.extend([0; 2]);
    }
    file
}

fn obj(mesh: &Mesh) -> Vec<u8> {
    let mut file = "# a part\nmtllib none.mtl\no part\n".to_owned();
    mesh.vertices().iter().for_each(|&vertex| writeln!(file, "v {} 1.0", text(vertex)).unwrap());
    file += "vn 0 0 1\n";
    for (number, [a, b, c]) in mesh.triangles().iter().enumerate() {
        let back = |index: &u32| i64::from(*index) - mesh.vertices().len() as i64;
        match number % 3 {
            0 => writeln!(file, "f {} {} {}", a + 1, b + 1, c + 1),
            1 => writeln!(file, "f {}/7/1 {}//1 {}/7", a + 1, b + 1, c + 1),
            _ => writeln!(file, "f {} {} {}", back(a), back(b), back(c)),
        }
        .unwrap();
    }
    file.into()
}

fn off(mesh: &Mesh) -> Vec<u8> {
    let mut file = format!("OFF # a part\n\n{} {} 0\n", mesh.vertices().len(), mesh.triangles().len());
    mesh.vertices().iter().for_each(|&vertex| writeln!(file, "{}", text(vertex)).unwrap());
    mesh.triangles().iter().for_each(|[a, b, c]| writeln!(file, "3 {a} {b} {c} 255 0 0").unwrap());
    file.into()
}

/// With properties and elements that nobody needs.
fn ply(mesh: &Mesh, coding: &str) -> Vec<u8> {
    let (vertices, faces) = (mesh.vertices().len(), mesh.triangles().len());
    let mut file = format!(
        "ply\nformat {coding} 1.0\ncomment a part\nelement empty 1000000000000\nelement vertex {vertices}\nproperty float x\nproperty uchar red\n\
         property double y\nproperty float z\nelement other 1\nproperty list char short numbers\nelement face {faces}\n\
         property list uchar int vertex_indices\nproperty float quality\nend_header\n"
    )
    .into_bytes();
    let big = coding == "binary_big_endian";
    let mut put = |little: &[u8]| {
        if big { file.extend(little.iter().rev()) } else { file.extend(little) }
    };
    if coding == "ascii" {
        let mut body = String::new();
        mesh.vertices().iter().for_each(|[x, y, z]| writeln!(body, "{x} 255 {y} {z}").unwrap());
        body += "2 7 -8\n";
        mesh.triangles().iter().for_each(|[a, b, c]| writeln!(body, "3 {a} {b}\n{c} 0.5").unwrap());
        file.extend(body.bytes());
        return file;
    }
    for &[x, y, z] in mesh.vertices() {
        put(&(x as f32).to_le_bytes());
        put(&[255]);
        put(&y.to_le_bytes());
        put(&(z as f32).to_le_bytes());
    }
    put(&[2]);
    [7i16, -8].iter().for_each(|number| put(&number.to_le_bytes()));
    for triangle in mesh.triangles() {
        put(&[3]);
        triangle.iter().for_each(|index| put(&index.to_le_bytes()));
        put(&0.5f32.to_le_bytes());
    }
    file
}

fn files(mesh: &Mesh) -> Vec<(MeshFormat, &'static str, Vec<u8>)> {
    vec![
        (MeshFormat::Stl, "text", stl_text(mesh)),
        (MeshFormat::Stl, "binary", stl_binary(mesh)),
        (MeshFormat::Obj, "text", obj(mesh)),
        (MeshFormat::Off, "text", off(mesh)),
        (MeshFormat::Ply, "text", ply(mesh, "ascii")),
        (MeshFormat::Ply, "little", ply(mesh, "binary_little_endian")),
        (MeshFormat::Ply, "big", ply(mesh, "binary_big_endian")),
    ]
}

/// What fuzzing starts from: a small mesh in each format.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let mesh = Mesh::torus(2.0, 0.75, [3, 3]);
    files(&mesh).into_iter().map(|(format, coding, bytes)| (format!("{format}-{coding}"), bytes)).collect()
}

#[test]
fn every_format_holds_the_same_mesh() {
    let mesh = sample();
    for (format, coding, bytes) in files(&mesh) {
        let read = format.parse(&bytes).unwrap_or_else(|error| panic!("{format} {coding}: {error}"));
        // Vertices have the order in which triangles need them.
        assert_eq!(read, mesh, "{format} {coding}");
        assert_eq!((read.hash(), read.dropped()), (mesh.hash(), 0), "{format} {coding}");
        // Lines may end as on Windows.
        if let Ok(text) = String::from_utf8(bytes) {
            let windows = text.replace('\n', "\r\n");
            assert_eq!(format.parse(windows.as_bytes()).unwrap(), mesh, "{format} {coding}");
        }
    }
}

#[test]
fn a_file_that_ends_too_soon_is_no_mesh() {
    let mesh = sample();
    for (format, coding, bytes) in files(&mesh) {
        for end in 0..bytes.len() {
            match format.parse(&bytes[..end]) {
                Err(error) => assert!(!error.to_string().is_empty()),
                // A text that ends in its last line may be whole, and an OBJ that ends anywhere.
                Ok(_) => {
                    let line = bytes[..bytes.len() - 1].rsplit(|&byte| byte == b'\n').next().unwrap().len();
                    let last = coding == "text" && bytes.len() - end <= line;
                    assert!(format == MeshFormat::Obj || last, "{format} {coding} {end}");
                }
            }
        }
        // More than there should be.
        let more = [&bytes[..], b"1 2 3\n"].concat();
        assert!(format == MeshFormat::Obj || format.parse(&more).is_err(), "{format} {coding}");
    }
}

#[test]
fn no_changed_byte_is_a_panic() {
    let mesh = Mesh::cuboid([0.0; 3], [1.0, 2.0, 3.0]);
    for (format, _, bytes) in files(&mesh) {
        for place in 0..bytes.len() {
            for change in [1, 0x10, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                if let Err(error) = format.parse(&changed) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let wrong = |format: MeshFormat, bytes: &[u8]| format.parse(bytes).unwrap_err().to_string();
    let off = |lines: &str| wrong(MeshFormat::Off, format!("OFF\n{lines}").as_bytes());
    assert_eq!(off("3 0 0\n0 0 0\n1 0 0\n0 1 0\n"), "no faces; at least one is needed");
    assert_eq!(
        off("3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n"),
        "line 4: vertex 'NaN': coordinates must be finite numbers"
    );
    assert_eq!(
        off("3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
        "line 6: face with vertex '3': there are 3 vertices, counted from 0"
    );
    assert_eq!(off("3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n"), "line 6: face with corners '2': at least 3 are needed");
    assert_eq!(off("3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n"), "line 4: vertex '1 0': three numbers are needed");
    assert_eq!(
        off("99999999999 1 0\n0 0 0\n"),
        "line 3: the file ends here, and vertex 2 of 99999999999 should follow"
    );
    assert_eq!(
        wrong(MeshFormat::Obj, b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n"),
        "line 4: face with corner '0': a corner is a number from 1 to 3, the vertices so far, or from -1 backwards"
    );
    let mut lying = stl_binary(&sample());
    lying[83] = 1;
    let error = wrong(MeshFormat::Stl, &lying);
    assert!(error.starts_with("byte 80: number of triangles '16777256': a binary STL has 838862884 bytes"), "{error}");
    let mut bad = stl_binary(&sample());
    bad[84 + 50 + 12..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(
        wrong(MeshFormat::Stl, &bad),
        "byte 146: vertex 'inf': coordinates must be finite numbers (face 1, counted from 0)"
    );
    let text = String::from_utf8(stl_text(&sample())).unwrap();
    assert_eq!(
        wrong(MeshFormat::Stl, text.replacen("outer", "inner", 1).as_bytes()),
        "line 3: line 'inner loop': 'outer loop' is needed here"
    );
    let ply = String::from_utf8(ply(&sample(), "ascii")).unwrap();
    assert_eq!(
        wrong(MeshFormat::Ply, ply.replace("vertex_indices", "corners").as_bytes()),
        "line 12: element 'face': it needs a list of whole numbers called vertex_indices or vertex_index"
    );
    assert_eq!(
        wrong(MeshFormat::Ply, ply.replace("double y", "real y").as_bytes()),
        "line 8: header 'property real y': property TYPE NAME or property list TYPE TYPE NAME of an element is needed"
    );
    let flat = MeshFormat::Off.parse(b"OFF 2 1 0\n0 0 0\n1 0 0\n3 0 1 1\n");
    assert!(matches!(flat, Err(InputFault::Mesh(MeshError::NoArea { faces: 1 }))));
    assert_eq!(FilePlace::Line(3).to_string(), "line 3");
}

#[test]
fn every_rule_that_proves_finds_the_cells_of_an_exhaustive_run() {
    for &value in DataValue::OF_MESHES {
        for (size, scheme) in [(vec![40, 33, 29], (3, 2, 2)), (vec![32], (2, 4, 2)), (vec![31, 64, 30], (1, 3, 1))] {
            let data = FieldData::from(Mesh::torus(2.0, 0.8, [23, 15]).named("torus"));
            let (g, r, b) = scheme;
            let request = Request::new(FieldKind::Mesh).size(Some(size)).scheme(g, r, b).value(Some(value)).data(data);
            let found = |request: Request| {
                let plan = request.plan::<3>().unwrap();
                let field = orthant::field::mesh::open(plan.domain(), &request.options().unwrap()).unwrap();
                let run = Run::new(&plan, &*field).how(request.how).start().unwrap();
                run.array().unwrap().checksum()
            };
            let mut dense = request.clone();
            dense.how = dense.how.strategy(StrategyKind::Exhaustive);
            let exhaustive = found(dense);
            for rule in [RuleKind::Certified, RuleKind::Full] {
                assert_eq!(found(request.clone().explore(Some(rule))), exhaustive, "{value} {rule}");
            }
        }
    }
}

#[test]
fn a_request_says_what_it_is_made_of() {
    let request = Request::new(FieldKind::Mesh).size(vec![64, 64, 32]);
    assert!(request.plan::<3>().is_ok());
    let request = request.data(sample().named("part.stl"));
    assert_eq!(request.title(), "mesh: part.stl");
    let plan = request.plan::<3>().unwrap();
    // Cells are cubes.
    let [x, y, z] = plan.domain().pitch();
    assert!((x - y).abs() < 1e-12 && (y - z).abs() < 1e-12);
    let computation = request.computation(&plan);
    assert_eq!(computation.data.as_deref(), Some("part.stl"));
    assert_eq!((computation.source, computation.value), (Some(sample().hash()), Some(DataValue::Inside)));
    let other = Request::new(FieldKind::Mandelbrot);
    assert!(other.clone().value(Some(DataValue::Surface)).options().unwrap_err().to_string().contains("mandelbrot"));
    assert!(other.data(sample()).options().is_err());
    let region = Region { corner: [0; 3], extent: plan.domain().size() };
    assert_eq!(region.volume(), 64 * 64 * 32);
}
