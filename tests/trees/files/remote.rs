//! Bytes that are asked of a server.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::Array2;
use orthant::disk::Remote;
use orthant::prelude::*;
use orthant::tree::{Parts, TreeInfo, TreeStore};

use crate::trees::folder;

/// An object in memory that counts what is read of it.
#[derive(Debug)]
struct Counted(Vec<u8>, AtomicU64);

impl Remote for Counted {
    fn path(&self) -> &Path {
        Path::new("memory://noise.tree.zarr.zip")
    }

    fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
        assert_eq!(name, "");
        let rest = &self.0[offset as usize..];
        let some = rest.len().min(bytes.len());
        bytes[..some].copy_from_slice(&rest[..some]);
        self.1.fetch_add(some as u64, Ordering::Relaxed);
        Ok(Some(self.0.len() as u64))
    }
}

fn noise() -> Array2<u16> {
    let mut state = 1u32;
    Array2::from_shape_simple_fn((1000, 1500), || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 16) as u16
    })
}

fn saved(array: &Array2<u16>) -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("noise.tree.zarr.zip");
    let tree = Tree::<2>::from_array(array.view()).unwrap();
    tree.save(&path, &TreeInfo::of(tree.plan())).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn boxes_read_what_they_meet() {
    let array = noise();
    let object = Arc::new(Counted(saved(&array), AtomicU64::new(0)));
    let whole = object.0.len() as u64;
    let file = TreeStore::open_remote(object.clone()).unwrap().tree::<2>().unwrap();
    let right = |[x, y]: [u32; 2]| u64::from(array[[y as usize, x as usize]]);
    let read = |window: &Region<2>| {
        let parts: &dyn Parts<2> = &file;
        let found = parts.array(window, None).unwrap();
        assert!(window.cells().all(|cell| found.word(cell) == right(cell)), "{window:?}");
        object.1.swap(0, Ordering::Relaxed)
    };
    read(&Region { corner: [700, 500], extent: [1, 1] });
    // A chunk has 65536 cells, and cells of the box before are there.
    assert_eq!(read(&Region { corner: [700, 500], extent: [1, 1] }), 0);
    let bytes = read(&Region { corner: [3, 4], extent: [60, 90] });
    assert!((1000..whole / 4).contains(&bytes), "{bytes} of {whole} bytes");
    assert_eq!(file.word([1499, 999]).unwrap(), Some(right([1499, 999])));
    read(&Region { corner: [300, 0], extent: [1, 1000] });
    // All of it at last: box after box would read rows again and again.
    read(&Region { corner: [0, 998], extent: [1500, 1] });
    read(&Region { corner: [0, 0], extent: [1500, 1000] });
    assert_eq!(read(&Region { corner: [1200, 30], extent: [100, 100] }), 0);
    let cells = [[0, 0], [1499, 999], [1500, 0], [7, 900]];
    let parts: &dyn Parts<2> = &file;
    let found = parts.look_up(&cells).unwrap();
    let words: Vec<_> = found.iter().map(|found| found.as_ref().map(|found| found.word)).collect();
    assert_eq!(words, [Some(right(cells[0])), Some(right(cells[1])), None, Some(right(cells[3]))]);
    assert_eq!(file.tree(None).unwrap(), Tree::<2>::from_array(array.view()).unwrap());
}

#[test]
fn a_changed_byte_is_no_cell() {
    let array = noise();
    let whole = saved(&array);
    let window = Region { corner: [700, 500], extent: [64, 64] };
    for at in (0..whole.len()).step_by(9973) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let object = Arc::new(Counted(bytes, AtomicU64::new(0)));
        let Ok(file) = TreeStore::open_remote(object).and_then(TreeStore::tree::<2>) else { continue };
        let parts: &dyn Parts<2> = &file;
        if let Ok(found) = parts.array(&window, None) {
            let right = |[x, y]: [u32; 2]| u64::from(array[[y as usize, x as usize]]);
            assert!(window.cells().all(|cell| found.word(cell) == right(cell)), "byte {at}");
        }
    }
}
