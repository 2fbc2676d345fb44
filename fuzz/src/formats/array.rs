//! Arrays in files: opened, and read in two ways.

use std::io;
use std::path::Path;

use orthant::CellType;
use orthant::geometry::{Domain, Region, Sample, Scheme};
use orthant::prelude::{CurveKind, Plan, RuleKind};
use orthant::tree::Source;
use orthant::with_dimensions;
use orthant_formats::input::{ArrayFile, Endian, IndexOrder, InputError, Layout};

use super::place::{put, room};

/// The most bytes of cells that are read.
const MOST: u64 = 1 << 22;

/// Opens an array, and reads it.
pub fn read(path: &Path, part: Option<&str>) {
    let enough = |bytes| if bytes <= MOST { room() } else { Err(io::Error::other("too much")) };
    check(ArrayFile::open(path, part, enough));
}

/// The same of cells alone: the first bytes say how the others lie.
pub fn laid_out(bytes: &[u8]) {
    let Some((&[kind, order, axes, offset], mut rest)) = bytes.split_first_chunk() else { return };
    let mut size = Vec::new();
    for _ in 0..axes % 10 {
        let Some((cells, others)) = rest.split_first_chunk() else { return };
        size.push(u32::from_le_bytes(*cells));
        rest = others;
    }
    let kind = CellType::ALL[usize::from(kind) % CellType::ALL.len()];
    let endian = if order & 1 == 0 { Endian::Little } else { Endian::Big };
    let order = if order & 2 == 0 { IndexOrder::C } else { IndexOrder::Fortran };
    // The last ones are beyond all files.
    let offset = if offset < 0xf0 { offset.into() } else { u64::MAX - u64::from(!offset) };
    check(ArrayFile::raw(&put("a.raw", rest), Layout { kind, size, order, endian, offset }));
}

fn check(opened: Result<ArrayFile, InputError>) {
    match opened {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(file) => {
            let axes = file.layout().size.len();
            with_dimensions!(axes, K => check_cells::<K>(&file), else panic!("{axes} axes"))
        }
    }
}

/// Half of the array, on its own, is that half of the whole; and what else is known of it fits a tree.
fn check_cells<const K: usize>(file: &ArrayFile) {
    let source = file.source::<K>().expect("it has as many axes");
    let size = source.size();
    let about = file.about();
    about.remarks.iter().for_each(|remark| assert!(!remark.to_string().is_empty()));
    let window = about.window(size).unwrap_or(size.map(|cells| [0.0, cells.into()]));
    let scheme = Scheme::uniform(1, 2, 4);
    let plan = Domain::new(size, window, Sample::Centre)
        .ok()
        .and_then(|domain| Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).ok());
    about.series(size);
    if let Some(plan) = &plan {
        about.info(plan);
    }

    let whole = Region { corner: [0; K], extent: size };
    let width = source.kind().bytes();
    let bytes = size.iter().fold(width, |bytes, &cells| bytes.saturating_mul(cells.into()));
    if bytes > MOST {
        return;
    }
    let mut all = vec![0; bytes as usize];
    source.read(&whole, &mut all).expect("what was opened can be read");
    let half = Region { corner: size.map(|cells| cells / 2), extent: size.map(|cells| cells - cells / 2) };
    let mut some = vec![0; (half.volume() * width) as usize];
    source.read(&half, &mut some).expect("what was opened can be read");
    for (cell, found) in half.cells().zip(some.chunks(width as usize)) {
        let at = (0..K).rev().fold(0, |at, j| at * size[j] as usize + cell[j] as usize) * width as usize;
        assert_eq!(found, &all[at..at + width as usize], "{cell:?}");
    }
}
