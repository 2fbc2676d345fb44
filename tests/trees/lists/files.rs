//! Trees of lists in files, in one shard and in many.

use std::path::Path;

use orthant::prelude::*;
use orthant::tree::{CellList, Parts, TreeFile, TreeInfo, TreeTarget};
use orthant::{CellType, Control};
use serde_json::{Value, json};

use crate::trees::files::headers::digest;
use crate::trees::folder;
use crate::trees::lists::{Case, agree};

/// Rows and entries of a shard, at most.
const OWN: [u64; 2] = [1 << 18, 1 << 20];

/// The same of shards that small trees have several of.
const SMALL: [u64; 2] = [64, 256];

/// The code of the first region of each shard, on the deepest level; the most rows that one has, and the most entries.
fn shards<const K: usize>(tree: &Tree<K>, [rows, most_entries]: [u64; 2]) -> (Vec<u64>, [u64; 2]) {
    let (plan, mut first, mut held, mut most) = (tree.plan(), Vec::new(), [0; 2], [0; 2]);
    for region in tree.regions() {
        let entries = region.entries().map_or(0, Iterator::count) as u64;
        if first.is_empty() || held[0] == rows || (held[1] > 0 && held[1] + entries > most_entries) {
            let below = plan.levels().len() as u32 - 1 - region.level();
            let regions: u64 = plan.scheme().r.iter().map(|&r| u64::from(r).pow(below)).product();
            first.push(region.code() * regions);
            held = [0; 2];
        }
        held = [held[0] + 1, held[1] + entries];
        most = [most[0].max(held[0]), most[1].max(held[1])];
    }
    (first, most)
}

/// Says how a tree is cut into small shards, for [`TreeTarget::like`]. A shard of a list has 2^18 rows unless the header of a file says
/// otherwise: so there is a file with such a header, of which nothing else is read.
fn in_small_shards<const K: usize>(tree: &Tree<K>) -> TreeFile<K> {
    let (folder, (first, [rows, entries])) = (folder(), shards(tree, SMALL));
    let (path, count) = (folder.path().join("small.tree.zarr"), first.len());
    tree.save(&path, &TreeInfo::of(tree.plan())).unwrap();
    let mut group: Value = serde_json::from_slice(&std::fs::read(path.join("zarr.json")).unwrap()).unwrap();
    let header = &mut group["attributes"]["orthant_tree"];
    for (key, value) in [("first", json!(first)), ("rows", json!(rows)), ("entries", json!(entries))] {
        header["list"][key] = value;
    }
    let (mut held, mut checksums) = (vec![0; count], vec![json!("xxh3sum:0000000000000000"); count]);
    (held[0], checksums[0]) = (1, header["checksum"].clone());
    header["shards"] = json!({"rows": held, "leaf_cells": vec![0; count], "checksums": checksums});
    header["digest"] = json!(digest(header));
    std::fs::write(path.join("zarr.json"), group.to_string()).unwrap();
    for entry in std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let array = std::fs::read_to_string(entry.join("zarr.json")).unwrap();
        let shape = |count: usize| format!("\"shape\": [{count},");
        assert!(array.contains(&shape(1)), "{array}");
        std::fs::write(entry.join("zarr.json"), array.replacen(&shape(1), &shape(count), 1)).unwrap();
    }
    TreeFile::open(&path).unwrap()
}

/// The tree comes back from a file, which answers as well: as it is cut by itself, and in small shards.
pub(super) fn round_trip<const K: usize>(case: &Case<K>, tree: &Tree<K>, folder: &Path) {
    let small = in_small_shards(tree);
    for (parts, shards) in [(tree as &dyn Parts<K>, 1), (&small, shards(tree, SMALL).0.len())] {
        let control = Control::default();
        let (saved, streamed, copied) =
            (folder.join("saved.tree.zarr.zip"), folder.join("streamed.tree.zarr.zip"), folder.join("copy.tree.zarr"));
        let info = TreeInfo::of(&case.plan);
        let over = |path: &Path| TreeTarget::new(path).overwrite(true);
        let mut writer = over(&saved).like(parts).open(tree.plan(), tree.kind(), &info).unwrap();
        writer.write(tree).unwrap();
        writer.finish().unwrap();
        let sorted = case.list().sorted(&control).unwrap();
        let mut writer = match shards {
            1 => sorted.open(over(&streamed), &info).unwrap(),
            _ => over(&streamed).like(parts).open(tree.plan(), tree.kind(), &info).unwrap(),
        };
        sorted.write(&mut writer).unwrap();
        writer.finish().unwrap();
        assert!(std::fs::read(&saved).unwrap() == std::fs::read(&streamed).unwrap());
        let file = TreeFile::<K>::open(&saved).unwrap();
        assert_eq!(file.parts(), shards);
        assert!(file.is_listed() && file.tree(None).unwrap() == *tree);
        file.validate().unwrap();
        assert_eq!(file.checksum(), tree.checksum());
        agree(case, &file);
        // The other kind of file.
        let mut writer = over(&copied).like(&file).open(tree.plan(), tree.kind(), &info).unwrap();
        (0..file.parts()).for_each(|part| writer.write(&file.part(part).unwrap()).unwrap());
        writer.finish().unwrap();
        let header = std::fs::read_to_string(copied.join("zarr.json")).unwrap();
        assert!(header.contains("\"version\":2") || header.contains("\"version\": 2"), "{header}");
        assert!(TreeFile::<K>::open(&copied).unwrap().tree(None).unwrap() == *tree);
    }
}

/// More rows than a shard has, and more entries.
#[test]
fn large_lists_are_cut_into_shards() {
    let folder = folder();
    let (saved, streamed) = (folder.path().join("saved.tree.zarr.zip"), folder.path().join("streamed.tree.zarr.zip"));
    let plan = Plan::builder([4096; 2]).scheme(Scheme::uniform(1, 2, 1)).rule(RuleKind::Full).build().unwrap();
    for (most, side) in [(1, 520), (64, 1030)] {
        let mut list = CellList::new(&plan, CellType::U32).unwrap().most(most);
        (0..side * side).for_each(|i| list.push([i % side * 2, i / side * 2], u64::from(i) + 1).unwrap());
        let sorted = list.sorted(&Control::default()).unwrap();
        let (tree, info) = (sorted.tree().unwrap(), TreeInfo::of(&plan));
        assert_eq!((sorted.regions()[0] > 1 << 18, sorted.entries() > 1 << 20), (most == 1, most == 64));
        let mut writer = sorted.open(TreeTarget::new(&streamed).overwrite(true), &info).unwrap();
        sorted.write(&mut writer).unwrap();
        writer.finish().unwrap();
        let mut writer = TreeTarget::new(&saved).overwrite(true).like(&tree).open(&plan, tree.kind(), &info).unwrap();
        writer.write(&tree).unwrap();
        writer.finish().unwrap();
        assert!(std::fs::read(&saved).unwrap() == std::fs::read(&streamed).unwrap());
        let file = TreeFile::<2>::open(&saved).unwrap();
        assert!(file.parts() > 1);
        assert_eq!(file.parts(), shards(&tree, OWN).0.len());
        assert!(file.tree(None).unwrap() == tree);
        file.validate().unwrap();
    }
}

/// What an interrupted writer finished of a list, the next one resumes, with the same files. A file that changed is written again.
#[test]
fn lists_are_resumed() {
    let (folder, control) = (folder(), Control::default());
    let path = folder.path().join("list.tree.zarr.zip");
    let case = (0..).map(Case::<3>::random).find(|case| shards(&case.tree(), SMALL).0.len() > 2).unwrap();
    let (sorted, info) = (case.list().sorted(&control).unwrap(), TreeInfo::of(&case.plan));
    let tree = sorted.tree().unwrap();
    let small = in_small_shards(&tree);
    let target = || TreeTarget::new(&path).overwrite(true).like(&small);
    let mut writer = target().open(tree.plan(), tree.kind(), &info).unwrap();
    writer.write(&tree).unwrap();
    writer.finish().unwrap();
    let expected = std::fs::read(&path).unwrap();
    let file = TreeFile::<3>::open(&path).unwrap();
    let part = file.part(0).unwrap();
    for changed in [false, true] {
        let open = || target().made_of("the same list").open(tree.plan(), tree.kind(), &info).unwrap();
        let mut writer = open();
        writer.write(&part).unwrap();
        let staged = writer.staged();
        drop(writer);
        if changed {
            std::fs::write(staged.join("tree/place/c/0/0"), "else").unwrap();
        }
        let mut writer = open();
        assert_eq!(writer.done(), u64::from(!changed));
        sorted.write(&mut writer).unwrap();
        writer.finish().unwrap();
        assert!(std::fs::read(&path).unwrap() == expected);
    }
}

/// Trees with bricks stay of version 1, and a list does not go where one is to be.
#[test]
fn versions() {
    let case = Case::<2>::random(3);
    let folder = folder();
    let path = folder.path().join("dense.tree.zarr");
    case.dense().save(&path, &TreeInfo::of(&case.plan)).unwrap();
    let header = std::fs::read_to_string(path.join("zarr.json")).unwrap();
    assert!(header.contains("\"version\":1") || header.contains("\"version\": 1"), "{header}");
    assert!(!header.contains("\"list\"") && !path.join("place").exists());
    let target = TreeTarget::new(folder.path().join("other.tree.zarr"));
    let mut writer = target.open(&case.plan, CellType::I16, &TreeInfo::of(&case.plan)).unwrap();
    let error = writer.write(&case.tree()).unwrap_err().to_string();
    assert!(error.contains("a part of the tree of a list in a tree with bricks"), "{error}");
}

/// No byte of a file changes unseen.
#[test]
fn damage_is_found() {
    let case = Case::<3>::random(2);
    let folder = folder();
    let path = folder.path().join("list.tree.zarr.zip");
    let tree = case.tree();
    let target = TreeTarget::new(&path).like(&in_small_shards(&tree));
    let mut writer = target.open(tree.plan(), tree.kind(), &TreeInfo::of(&case.plan)).unwrap();
    writer.write(&tree).unwrap();
    writer.finish().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut found = 0;
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&path, bytes).unwrap();
        let read = TreeFile::<3>::open(&path).and_then(|file| file.validate().and_then(|()| file.tree(None)));
        match read {
            Err(_) => found += 1,
            // The dates of a zip are under no checksum.
            Ok(read) => assert!(read == tree, "byte {at}"),
        }
    }
    assert!(found > 20, "{found}");
}
