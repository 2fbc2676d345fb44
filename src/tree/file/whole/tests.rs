//! What reading a shard takes.

use super::*;
use crate::backend::Control;
use crate::cell::CellType;
use crate::geometry::Scheme;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::list::CellList;

/// What a header says is counted before anything is read: rows as they lie in the file beside the regions that they become, and
/// the index of each array.
#[test]
fn the_memory_of_a_shard_follows_from_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.tree.zarr");
    let plan = Plan::builder([14; 3]).scheme(Scheme::uniform(1, 2, 1)).rule(RuleKind::Full).build().unwrap();
    let mut list = CellList::new(&plan, CellType::I16).unwrap().most(2);
    (0..100).for_each(|i| list.push([i % 14, i / 14, i % 5], 7).unwrap());
    let tree = list.sorted(&Control::default()).unwrap().tree().unwrap();
    tree.save(&path, &TreeInfo::of(&plan)).unwrap();
    let mut file = TreeFile::<3>::open(&path).unwrap();
    let mut largest = |rows: u64, most: u64| {
        file.stored.header.shards.rows[0] = rows;
        file.stored.shards.rows = most;
        file.largest_shard()
    };
    let (few, many) = (largest(1000, 1 << 18), largest(1 << 18, 1 << 18));
    // A level, a provenance and 3 coordinates; the value and the brick, as they are read and as words; 17 bytes of a region, and
    // where the entries of a leaf begin and end.
    assert_eq!(many - few, ((1 << 18) - 1000) * (1 + 1 + 12 + 2 * (8 + 8) + 17 + 2 * 8));
    // 2^20 chunks of 7 arrays, of 16 bytes in the file each.
    assert!(largest(1000, 1 << 32) - few > 7 * (1 << 20) * 16);
}
