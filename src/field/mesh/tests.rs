//! Cells against other ways to find them: solid angles, crossings along another axis of a point that is really moved, triangles
//! that are clipped to boxes.

use crate::cell::WordsMut;
use crate::field::data::FieldData;
use crate::field::data_value::DataValue;
use crate::field::definition::Field;
use crate::field::error::FieldError;
use crate::field::mesh::lattice::MeshLattice;
use crate::field::mesh::nearest::{Edges, near_triangle, squared};
use crate::field::mesh::open;
use crate::field::options::FieldOptions;
use crate::geometry::{Domain, Region, Sample};
use crate::mesh::{Mesh, MeshError};
use crate::rule::Verdict;

/// Numbers from 0 to 2^32 - 1, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % end
    }
}

fn field(mesh: &Mesh, domain: &Domain<3>, value: DataValue) -> Box<dyn Field<3>> {
    open(domain, &FieldOptions::default().data(FieldData::from(mesh.clone())).value(value)).unwrap()
}

fn labels(field: &dyn Field<3>, cells: &[[u32; 3]]) -> Vec<u32> {
    let mut words = vec![7; cells.len()];
    field.host().unwrap().evaluate(cells, WordsMut::Narrow(&mut words));
    words
}

fn cube(side: u32, sample: Sample) -> Domain<3> {
    Domain::new([side; 3], [[0.0, side.into()]; 3], sample).unwrap()
}

fn whole(side: u32) -> Vec<[u32; 3]> {
    Region { corner: [0; 3], extent: [side; 3] }.cells().collect()
}

/// A mesh whose vertices are whole eighths of a cell.
fn in_eighths(vertices: &[[i64; 3]], faces: &[[u32; 3]]) -> Option<Mesh> {
    Mesh::new(vertices.iter().map(|vertex| vertex.map(|at| at as f64 / 8.0)).collect(), faces.to_vec()).ok()
}

fn triangles(mesh: &Mesh) -> Vec<[[i64; 3]; 3]> {
    let corner = |index: u32| mesh.vertices()[index as usize].map(|at| (at * 8.0) as i64);
    mesh.triangles().iter().map(|triangle| triangle.map(corner)).collect()
}

/// Tetrahedra at random, most of which cross, touch or are flat, and tori on whole eighths.
fn meshes() -> Vec<Mesh> {
    let mut numbers = Numbers(1);
    let mut meshes = Vec::new();
    for round in 0..400 {
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        for _ in 0..1 + round % 4 {
            let first = vertices.len() as u32;
            // Coarse ones have many samples on faces, edges and vertices.
            let step = [1, 2, 4, 8][round / 4 % 4];
            vertices.extend((0..4).map(|_| [0; 3].map(|_: i64| numbers.below(72 / step) * step - 4)));
            faces.extend([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|face| face.map(|i| i + first)));
        }
        meshes.extend(in_eighths(&vertices, &faces));
    }
    let torus = Mesh::torus(2.5, 1.0, [9, 7]);
    for turn in 0..3 {
        let place = |vertex: &[f64; 3]| [0, 1, 2].map(|j| (8.0 * (vertex[(j + turn) % 3] + 4.0)).round() as i64);
        let vertices: Vec<_> = torus.vertices().iter().map(place).collect();
        meshes.extend(in_eighths(&vertices, torus.triangles()));
    }
    meshes
}

/// Inside by crossings along axis 2, of a point that is moved by 2^-20, 2^-40 and 2^-60 on the axes 1, 2 and 0.
fn moved_is_inside(triangles: &[[[i64; 3]; 3]], sample: [i64; 3]) -> bool {
    let point = [0, 1, 2].map(|j| (i128::from(sample[j]) << 60) + [1, 1 << 40, 1 << 20][j]);
    let crossed = triangles.iter().filter(|corners| {
        let corners = corners.map(|corner| corner.map(i128::from));
        let side = |p: [i128; 3], q: [i128; 3]| {
            (q[0] - p[0]) * (point[1] - (p[1] << 60)) - (q[1] - p[1]) * (point[0] - (p[0] << 60))
        };
        let [a, b, c] = corners;
        let sides = [side(a, b), side(b, c), side(c, a)].map(i128::signum);
        let edge = |q: [i128; 3], j: usize| q[j] - a[j];
        let normal = [0, 1, 2].map(|j| {
            let (u, v) = ((j + 1) % 3, (j + 2) % 3);
            edge(b, u) * edge(c, v) - edge(b, v) * edge(c, u)
        });
        let height: i128 = (0..3).map(|j| normal[j] * (point[j] - (a[j] << 60))).sum();
        sides[0] != 0 && sides == [sides[0]; 3] && height.signum() == normal[2].signum()
    });
    crossed.count() % 2 == 1
}

#[test]
fn every_tie_is_broken_as_if_the_sample_were_moved() {
    let cells = whole(8);
    let (mut inside, mut ties) = (0, 0);
    for (number, mesh) in meshes().iter().enumerate() {
        let all = triangles(mesh);
        for (sample, offset) in [(Sample::Centre, 4), (Sample::Corner, 0)] {
            let found = labels(&*field(mesh, &cube(8, sample), DataValue::Inside), &cells);
            for (cell, label) in cells.iter().zip(found) {
                let at = cell.map(|c| 8 * i64::from(c) + offset);
                assert_eq!(label == 1, moved_is_inside(&all, at), "mesh {number}, {sample} of {cell:?}: {all:?}");
                inside += label;
                ties += u32::from(all.iter().any(|corners| clipped(corners, [at, at])));
            }
        }
    }
    // What is compared is neither empty nor without ties.
    assert!(inside > 10_000 && ties > 2_000, "{inside} {ties}");
}

/// True if a triangle meets a box `[low, high]`, with the boundaries of both: it is clipped by the six sides, in fractions with one
/// denominator for each corner.
fn clipped(corners: &[[i64; 3]; 3], [low, high]: [[i64; 3]; 2]) -> bool {
    let mut polygon: Vec<[i128; 4]> = corners.map(|[x, y, z]| [x, y, z, 1].map(i128::from)).to_vec();
    for (axis, end, sign) in (0..3).flat_map(|axis| [(axis, low[axis], 1), (axis, high[axis], -1)]) {
        let above = |p: &[i128; 4]| sign * (p[axis] - i128::from(end) * p[3]);
        let mut kept = Vec::new();
        for (i, p) in polygon.iter().enumerate() {
            let q = &polygon[(i + 1) % polygon.len()];
            let (at, next) = (above(p), above(q));
            if at >= 0 {
                kept.push(*p);
            }
            if (at > 0 && next < 0) || (at < 0 && next > 0) {
                let between = [0, 1, 2, 3].map(|j| (p[j] * next - q[j] * at) * (next - at).signum());
                let common = between.iter().fold(0, |a, &b| gcd(a, b.abs()));
                kept.push(between.map(|part| part / common));
            }
        }
        polygon = kept;
    }
    !polygon.is_empty()
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn a_surface_meets_the_cells_that_its_triangles_can_be_clipped_to() {
    let cells = whole(8);
    let mut met = 0;
    for (number, mesh) in meshes().iter().enumerate().step_by(3) {
        let all = triangles(mesh);
        let found = labels(&*field(mesh, &cube(8, Sample::Centre), DataValue::Surface), &cells);
        for (cell, label) in cells.iter().zip(found) {
            let low = cell.map(|c| 8 * i64::from(c));
            let meets = all.iter().any(|corners| clipped(corners, [low, low.map(|at| at + 8)]));
            assert_eq!(label == 1, meets, "mesh {number}, {cell:?}: {all:?}");
            met += label;
        }
    }
    assert!(met > 10_000, "{met}");
}

/// How often a mesh winds round a point: the sum of the solid angles of its triangles, in whole spheres.
fn winding(mesh: &Mesh, point: [f64; 3]) -> f64 {
    let angle = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| {
            let vertex = mesh.vertices()[i as usize];
            [0, 1, 2].map(|j| vertex[j] - point[j])
        });
        let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        let cross = [0, 1, 2].map(|j| b[(j + 1) % 3] * c[(j + 2) % 3] - b[(j + 2) % 3] * c[(j + 1) % 3]);
        let [la, lb, lc] = [a, b, c].map(|p| dot(p, p).sqrt());
        2.0 * dot(a, cross).atan2(la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    };
    mesh.triangles().iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

#[test]
fn a_mesh_winds_once_round_what_is_inside() {
    let (mesh, size) = (Mesh::torus(2.0, 0.7, [61, 37]), [140, 150, 90]);
    let window = FieldData::from(mesh.clone()).window(size).unwrap();
    let domain = Domain::new(size, window, Sample::Centre).unwrap();
    let field = field(&mesh, &domain, DataValue::Inside);
    let mut numbers = Numbers(7);
    let cells: Vec<[u32; 3]> = (0..1000).map(|_| size.map(|n| numbers.below(n.into()) as u32)).collect();
    let mut inside = 0;
    for (cell, label) in cells.iter().zip(labels(&*field, &cells)) {
        let point = [0, 1, 2].map(|j| window[j][0] + (f64::from(cell[j]) + 0.5) * domain.pitch()[j]);
        let turns = winding(&mesh, point);
        assert!((turns - f64::from(label)).abs() < 1e-6, "{cell:?}: {turns} turns, {label}");
        inside += label;
    }
    assert!((100..400).contains(&inside), "{inside}");
}

#[test]
fn boxes_have_as_many_cells_as_they_are_large() {
    // Faces go through samples, whatever the sample is, in all places and on all sides of the window.
    for (sample, shift) in [(Sample::Corner, 0.0), (Sample::Centre, 0.5)] {
        for low in [[0, 0, 0], [2, 5, 1], [-3, 4, 0], [1, -2, -1]] {
            for size in [[3, 4, 5], [5, 1, 2], [9, 9, 9]] {
                let high = [0, 1, 2].map(|j| low[j] + size[j]);
                let place = |at: [i32; 3]| at.map(|at| f64::from(at) + shift);
                let mesh = Mesh::cuboid(place(low), place(high));
                let field = field(&mesh, &cube(9, sample), DataValue::Inside);
                let cells = whole(9);
                for (cell, label) in cells.iter().zip(labels(&*field, &cells)) {
                    let within = (0..3).all(|j| (low[j]..high[j]).contains(&(cell[j] as i32)));
                    assert_eq!(label == 1, within, "{sample} {low:?} {size:?} {cell:?}");
                }
            }
        }
    }
}

#[test]
fn volumes_converge_to_that_of_the_mesh() {
    let corners = vec![[0.1, 0.2, 0.3], [1.2, 0.1, 0.4], [0.3, 1.4, 0.2], [0.2, 0.3, 1.7]];
    let tetrahedron = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap();
    for mesh in [tetrahedron, Mesh::torus(2.0, 0.7, [40, 20])] {
        for (n, most) in [(16, 0.1), (64, 0.02), (128, 0.004)] {
            let window = FieldData::from(mesh.clone()).window([n; 3]).unwrap();
            let domain = Domain::new([n; 3], window, Sample::Centre).unwrap();
            let found = labels(&*field(&mesh, &domain, DataValue::Inside), &whole(n));
            let volume = found.iter().sum::<u32>() as f64 * domain.pitch().iter().product::<f64>();
            assert!((volume / mesh.volume() - 1.0).abs() < most, "{n}: {volume} of {}", mesh.volume());
        }
    }
}

#[test]
fn proofs_are_complete() {
    let mut numbers = Numbers(3);
    let mesh = Mesh::torus(2.0, 0.7, [30, 20]);
    let domain = Domain::new([40, 44, 36], [[-2.9, 2.8], [-2.2, 2.9], [-0.9, 0.8]], Sample::Centre).unwrap();
    for value in [DataValue::Inside, DataValue::Surface] {
        let field = field(&mesh, &domain, value);
        let mut seen = [0; 3];
        for _ in 0..3000 {
            let corner = domain.size().map(|n| numbers.below(n.into()) as u32);
            let extent = [0, 1, 2].map(|j| 1 + numbers.below(i64::from(domain.size()[j] - corner[j]).min(9)) as u32);
            let region = Region { corner, extent };
            let found = labels(&*field, &region.cells().collect::<Vec<_>>());
            let (verdict, which) = match found[0] {
                label if found.iter().all(|&other| other == label) => (Verdict::Uniform(label.into()), label as usize),
                _ => (Verdict::Mixed, 2),
            };
            assert_eq!(field.prover().unwrap().prove(&region, Default::default()), verdict, "{region:?}");
            seen[which] += 1;
        }
        assert!(seen.iter().all(|&seen| seen > 9), "{seen:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let domain = cube(8, Sample::Centre);
    assert_eq!(
        open(&domain, &FieldOptions::default()).unwrap_err().to_string(),
        "input: the field 'mesh' needs one, a file of triangles: STL, OBJ, PLY or OFF"
    );
    let whole = Mesh::cuboid([1.0; 3], [5.0; 3]);
    let open_mesh = Mesh::new(whole.vertices().to_vec(), whole.triangles()[1..].to_vec()).unwrap().named("part.stl");
    let options = FieldOptions::default().data(open_mesh);
    let error = open(&domain, &options).unwrap_err();
    assert!(matches!(&error, FieldError::Mesh { error: MeshError::Open { edges: 3, .. }, .. }), "{error}");
    assert!(error.to_string().starts_with("part.stl: open: 3 edges have an odd number of faces"), "{error}");
    assert!(open(&domain, &options.value(DataValue::Surface)).is_ok());
    let far = Mesh::cuboid([0.0; 3], [1e12; 3]);
    let error = open(&domain, &FieldOptions::default().data(far)).unwrap_err();
    assert!(error.to_string().starts_with("domain: the mesh and the window span 1e12 cells"), "{error}");
    // Far larger than the window, and still exact: all of it is inside.
    let large = Mesh::cuboid([-1e9; 3], [1e9; 3]);
    let field = field(&large, &domain, DataValue::Inside);
    assert_eq!(labels(&*field, &[[0; 3], [7; 3]]), [1, 1]);
}

/// The square of the distance of a point from a triangle, by the part of the plane that the point lies over (Ericson, Real-Time Collision
/// Detection, 5.1.5), which is another way than the field's.
fn by_parts(p: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> f64 {
    let minus = |u: [f64; 3], v: [f64; 3]| [0, 1, 2].map(|j| u[j] - v[j]);
    let dot = |u: [f64; 3], v: [f64; 3]| (0..3).map(|j| u[j] * v[j]).sum::<f64>();
    let at = |v: f64, w: f64| {
        let nearest = [0, 1, 2].map(|j| a[j] + v * (b[j] - a[j]) + w * (c[j] - a[j]));
        dot(minus(p, nearest), minus(p, nearest))
    };
    let (ab, ac) = (minus(b, a), minus(c, a));
    let [ap, bp, cp] = [a, b, c].map(|corner| minus(p, corner));
    let [d1, d2, d3, d4, d5, d6] = [dot(ab, ap), dot(ac, ap), dot(ab, bp), dot(ac, bp), dot(ab, cp), dot(ac, cp)];
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    match () {
        () if d1 <= 0.0 && d2 <= 0.0 => at(0.0, 0.0),
        () if d3 >= 0.0 && d4 <= d3 => at(1.0, 0.0),
        () if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 => at(d1 / (d1 - d3), 0.0),
        () if d6 >= 0.0 && d5 <= d6 => at(0.0, 1.0),
        () if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 => at(0.0, d2 / (d2 - d6)),
        () if va <= 0.0 && d4 >= d3 && d5 >= d6 => {
            let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
            at(1.0 - w, w)
        }
        () => at(vb / (va + vb + vc), vc / (va + vb + vc)),
    }
}

/// Triangles whose corners are not in a line, so that the other way is well defined.
fn has_area(corners: &[[i64; 3]; 3]) -> bool {
    let edge = |end: usize| [0, 1, 2].map(|j| corners[end][j] - corners[0][j]);
    let (b, c) = (edge(1), edge(2));
    (0..3).any(|j| b[(j + 1) % 3] * c[(j + 2) % 3] != b[(j + 2) % 3] * c[(j + 1) % 3])
}

/// Distances by all triangles, cell by cell, in windows whose cells are cubes and others: those of the other way, with the sign of
/// `inside`, and to the bit those of the field's own formula without any lists.
#[test]
fn distances_are_those_from_all_triangles() {
    let mut met = [0; 4];
    let mut all_meshes = meshes();
    // Room for cells that lie beyond the band inside.
    all_meshes.extend([0, 1].map(|_| Mesh::cuboid([0.5; 3], [8.0, 7.5, 8.0])));
    let last = all_meshes.len() - 5;
    for (number, mesh) in all_meshes.iter().enumerate().filter(|(number, _)| number % 7 == 0 || *number >= last) {
        let size = [9, 8, 10];
        let stretch = [[1.0; 3], [0.5, 1.0, 2.0]][number % 2];
        let window = [0, 1, 2].map(|j| [0.0, f64::from(size[j]) * stretch[j]]);
        let sample = [Sample::Centre, Sample::Corner][number / 2 % 2];
        let domain = Domain::new(size, window, sample).unwrap();
        let longest: f64 = stretch.into_iter().fold(0.0, f64::max);
        let cells: Vec<_> = Region { corner: [0; 3], extent: size }.cells().collect();
        let inside = labels(&*field(mesh, &domain, DataValue::Inside), &cells);
        let lattice = MeshLattice::new(mesh, &domain).unwrap();
        let edges = Edges::of(&lattice, &domain);
        let near: Vec<_> = (0..lattice.triangles()).map(|i| near_triangle(&lattice.corners(i), edges.unit)).collect();
        let all: Vec<_> =
            triangles(mesh).into_iter().filter(has_area).map(|t| t.map(|c| c.map(|at| at as f64 / 8.0))).collect();
        for band in [1, 2, 5] {
            let options = FieldOptions::default().data(FieldData::from(mesh.clone())).value(DataValue::Distance);
            let distances = open(&domain, &options.band(band)).unwrap();
            let found = labels(&*distances, &cells);
            let (beyond, band) = (f64::from(band) * longest, f64::from(band));
            for ((cell, label), inside) in cells.iter().zip(&found).zip(&inside) {
                let units = cell.map(|at| ((i64::from(at) << lattice.bits) + lattice.offset) as f64);
                let least = near.iter().map(|near| squared(near, units, edges.unit)).fold(band * band, f64::min);
                let own = if least < band * band { (least.sqrt() * edges.longest) as f32 } else { beyond as f32 };
                let own = if *inside == 1 && own > 0.0 { -own } else { own };
                assert_eq!(
                    *label,
                    own.to_bits(),
                    "mesh {number}, band {band}, {cell:?}: {} {own}",
                    f32::from_bits(*label)
                );
                let place = [0, 1, 2].map(|j| (f64::from(cell[j]) + domain.sample().offset()) * stretch[j]);
                let other = all.iter().map(|corners| by_parts(place, *corners)).fold(f64::INFINITY, f64::min).sqrt();
                // Edges of triangles without an area are edges of others, as the mesh is closed.
                let distance = f64::from(f32::from_bits(*label).abs());
                assert!(
                    (distance - other.min(beyond)).abs() < 1e-6 * (1.0 + beyond),
                    "mesh {number}, {cell:?}: {distance} {other}"
                );
                met[if other == 0.0 {
                    0
                } else if other < beyond {
                    1
                } else {
                    2 + *inside as usize
                }] += 1;
            }
            let uniform = |region: &Region<3>| labels(&*distances, &region.cells().collect::<Vec<_>>());
            for side in [1, 4, 8] {
                for corner in whole(8 / side).into_iter().map(|at| at.map(|at| at * side)) {
                    let region = Region { corner, extent: [0, 1, 2].map(|j| side.min(size[j] - corner[j])) };
                    let here = uniform(&region);
                    let beyond = here.iter().all(|label| f32::from_bits(*label).abs() == beyond as f32);
                    match distances.prover().unwrap().prove(&region, Default::default()) {
                        Verdict::Uniform(label) => assert!(here.iter().all(|&here| u64::from(here) == label)),
                        Verdict::Unknown => assert!(side < 4 || !beyond, "mesh {number}: nothing is near {region:?}"),
                        Verdict::Mixed => panic!("nothing is proven mixed"),
                    }
                }
            }
        }
    }
    // On the surface, in the band, beyond it outside and inside.
    assert!(met.iter().all(|&met| met > 20), "{met:?}");
}

#[test]
fn distances_have_limits_in_words() {
    let of = |mesh: Mesh, side: u32, far: f64, limit| {
        let options = FieldOptions { mem_limit: limit, ..FieldOptions::default() };
        let domain = Domain::new([side; 3], [[0.0, far]; 3], Sample::Centre).unwrap();
        open(&domain, &options.data(FieldData::from(mesh)).value(DataValue::Distance)).map(|_| ())
    };
    let open_mesh = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let refused = of(open_mesh, 8, 8.0, None).unwrap_err().to_string();
    assert!(refused.contains("'distance' need a closed surface"), "{refused}");
    let small = || Mesh::cuboid([0.0; 3], [4e-42; 3]);
    assert!(matches!(of(small(), 8, 8e-42, None), Err(FieldError::Distances { band: 3, .. })));
    let cuboid = || Mesh::cuboid([1.0; 3], [7.0; 3]);
    assert!(of(cuboid(), 32, 8.0, None).is_ok());
    let rows = of(cuboid(), 32, 8.0, Some(100)).unwrap_err().to_string();
    assert!(rows.contains("the rows of a mesh would take"), "{rows}");
    let near = of(cuboid(), 32, 8.0, Some(20_000)).unwrap_err().to_string();
    assert!(near.contains("the triangles near cells of a mesh would take"), "{near}");
}
