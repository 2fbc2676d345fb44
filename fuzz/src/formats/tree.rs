//! Trees in files: opened, checked, and queried in several ways.

use orthant::geometry::Region;
use orthant::tree::{Parts, Representative, TreeFile, TreeJob, TreeStore};

use super::place::put;

/// The most bytes of a tree, and of the array that is made of it.
const MOST: u64 = 1 << 22;

/// A tree in a zip.
pub fn tree(bytes: &[u8]) {
    let done = TreeStore::open(put("a.tree.zarr.zip", bytes)).and_then(|store| store.dispatch(Queries));
    match done {
        Err(error) | Ok(Err(error)) => assert!(!error.to_string().is_empty()),
        Ok(Ok(())) => {}
    }
}

struct Queries;

impl TreeJob for Queries {
    type Output = Result<(), orthant::tree::TreeError>;

    fn run<const K: usize>(self, file: TreeFile<K>) -> Self::Output {
        let valid = file.validate();
        let tree = file.tree(Some(MOST))?;
        let domain = tree.plan().domain().region();
        let parts: &dyn Parts<K> = &file;
        let corner = domain.extent.map(|cells| cells - 1);
        for cell in [[0; K], domain.extent.map(|cells| cells / 2), corner] {
            assert_eq!(file.word(cell)?, tree.word(cell), "{cell:?}");
            let region = tree.region_at(cell).expect("the cell is in the domain");
            assert!(region.cells().contains_cell(cell));
            let found = parts.look_up(&[cell, domain.extent])?;
            assert_eq!(found[0].as_ref().map(|found| found.word), Some(region.word(cell)));
            assert!(found[1].is_none());
            assert!(tree.uniform(&Region { corner: cell, extent: [1; K] })?.is_some());
        }
        tree.word_at([0.5; K]);
        tree.uniform(&domain)?;
        let _ = tree.labels(100);
        let _ = tree.cut(0, Representative::Mode);
        let Ok(array) = tree.array(&domain, Some(MOST)) else { return valid };
        assert_eq!(parts.array(&domain, Some(MOST))?.cells(), array.cells());
        for cell in domain.cells().step_by(domain.volume() as usize / 64 + 1) {
            assert_eq!(tree.word(cell), Some(array.word(cell)), "{cell:?}");
        }
        valid
    }
}
