//! Files that are not as they were written: an error, or the same tree, and never another.

use std::path::Path;

use orthant::CellType;
use orthant::prelude::*;
use orthant::tree::{TreeFile, TreeInfo, TreeTarget};

use crate::trees::files::files;
use crate::trees::folder;
use crate::trees::{Case, bottom_up};

/// A tree of some shards with mixed regions, whose files are small.
fn small(path: &Path) -> Tree<2> {
    let case = Case { size: [13, 9], scheme: Scheme { g: [2, 2], r: [2, 2], b: [1, 2] }, seed: 0x1234_5678 };
    let plan = case.plan(CurveKind::Hilbert).unwrap();
    let tree = bottom_up(&plan, &case.array::<f32>());
    assert!(!tree.bricks().is_empty());
    let mut writer = TreeTarget::new(path).shard_cells(60).open(&plan, CellType::F32, &TreeInfo::of(&plan)).unwrap();
    writer.write(&tree).unwrap();
    writer.finish().unwrap();
    tree
}

/// What can be read of it, if anything can.
fn read(path: &Path) -> Result<Tree<2>, String> {
    let file = TreeFile::<2>::open(path).map_err(|error| error.to_string())?;
    let tree = file.tree(None).map_err(|error| error.to_string())?;
    file.validate().map_err(|error| error.to_string())?;
    Ok(tree)
}

/// Every byte turned in some way, every file cut short and taken away.
fn damage(path: &Path, whole: &Tree<2>, share: usize) {
    let mut noticed = 0;
    let mut check = |what: &str| match read(path) {
        Ok(found) => assert_eq!(&found, whole, "{what}"),
        Err(said) => {
            assert!(said.contains(path.to_str().unwrap()), "{what}: {said}");
            noticed += 1;
        }
    };
    let mut damaged = 0;
    for (name, bytes) in files(path) {
        let file = if name.is_empty() { path.to_owned() } else { path.join(&name[1..]) };
        let metadata = name.ends_with("zarr.json");
        for at in 0..bytes.len() {
            // A bit of each byte, and in text the one that makes another digit.
            let mut changed = bytes.clone();
            changed[at] ^= if metadata { 1 } else { 1 << (at % 8) };
            std::fs::write(&file, &changed).unwrap();
            damaged += 1;
            check(&format!("{name} byte {at}"));
        }
        for len in (0..bytes.len()).step_by(bytes.len() / 16 + 1) {
            std::fs::write(&file, &bytes[..len]).unwrap();
            damaged += 1;
            check(&format!("{name} of {len} bytes"));
        }
        if !name.is_empty() {
            std::fs::remove_file(&file).unwrap();
            damaged += 1;
            check(&format!("{name} missing"));
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(noticed * 100 >= damaged * share, "{noticed} of {damaged}");
    assert_eq!(&read(path).unwrap(), whole);
}

#[test]
fn every_damage_is_noticed() {
    let folder = folder();
    let path = folder.path().join("small.tree.zarr");
    let whole = small(&path);
    // Others are spaces between words.
    damage(&path, &whole, 95);
}

#[test]
fn every_damage_of_a_zip_is_noticed() {
    let folder = folder();
    let path = folder.path().join("small.tree.zarr.zip");
    let whole = small(&path);
    // A zip has dates, and numbers of versions, twice for every file.
    damage(&path, &whole, 85);
}
