//! Points: read as every format, sorted into a tree of a few cells, and compared with a search for each cell.

use std::path::Path;

use orthant::WordsMut;
use orthant::field::{DataValue, FieldData, FieldOptions, cloud};
use orthant::points::Points;
use orthant::prelude::*;
use orthant::tree::FromPoints;
use orthant_formats::input::PointsFile;

/// The most points that are laid over cells.
const MOST: usize = 1 << 10;

/// Reads points.
pub fn read(bytes: &[u8]) {
    let pages = mended(bytes);
    for (name, bytes) in [("a.xyz", bytes), ("a.ply", bytes), ("a.npy", bytes), ("a.e57", &pages)] {
        let file = PointsFile::of(Path::new(name)).expect("points are read of it");
        for file in
            [file.clone(), file.clone().columns(&["1", "2"]).attribute("2"), file.columns(&["x", "3", "2", "y"])]
        {
            match file.parse(bytes) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(points) if points.len() <= MOST => match points.axes() {
                    2 => lay::<2>(&points),
                    3 => lay::<3>(&points),
                    4 => lay::<4>(&points),
                    _ => {}
                },
                Ok(_) => {}
            }
        }
    }
}

/// The same with the checksums that pages of E57 end with, so that what is in them is read.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut pages = bytes.to_vec();
    for page in pages.chunks_exact_mut(1024) {
        let checksum = crc32c::crc32c(&page[..1020]).to_be_bytes();
        page[1020..].copy_from_slice(&checksum);
    }
    pages
}

/// Cells of a tree are those of the field.
fn lay<const K: usize>(points: &Points) {
    let size = [6; K];
    let Ok(window) = points.window(&size) else { return };
    let window: [[f64; 2]; K] = window.try_into().expect("there are as many axes as coordinates");
    // Points that are too far apart for numbers, or so near that cells have no size.
    let Ok(domain) = Domain::new(size, window, Sample::Centre) else { return };
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full).expect("it is small");
    for &value in DataValue::ALL {
        let Some(kind) = value.of_points() else { continue };
        let tree = FromPoints::new(&plan, points, kind).and_then(|made| made.tree());
        let options = FieldOptions::default().data(FieldData::from(points.clone())).value(value);
        let field = cloud::open(&domain, &options);
        let (tree, field) = match (tree, field) {
            (Ok(tree), Ok(field)) => (tree, field),
            (Err(error), Err(_)) => return assert!(!error.to_string().is_empty()),
            (tree, field) => panic!("{value}: {:?} {:?}", tree.err(), field.err()),
        };
        let cells: Vec<[u32; K]> = domain.region().cells().collect();
        let (host, mut words) = (field.host().expect("it runs here"), vec![0; cells.len()]);
        match tree.kind().bytes() {
            8 => host.evaluate(&cells, WordsMut::Wide(&mut words)),
            _ => {
                let mut narrow = vec![0; cells.len()];
                host.evaluate(&cells, WordsMut::Narrow(&mut narrow));
                words = narrow.into_iter().map(u64::from).collect();
            }
        }
        for (cell, word) in cells.iter().zip(words) {
            assert_eq!(tree.word(*cell), Some(word), "{value} {cell:?}");
        }
    }
}
