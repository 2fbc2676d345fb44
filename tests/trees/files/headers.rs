//! What the group of a tree says, right and wrong, and a tree that an earlier version wrote.

use std::path::{Path, PathBuf};

use orthant::ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{CellList, Parts, SortedList, TreeFile, TreeInfo, TreeLabel, TreeTarget};
use orthant::{CellType, Control};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::trees::bottom_up;
use crate::trees::folder;

/// Five labels in 21 x 14 x 9 cells.
fn labels() -> (Plan<3>, ArrayD<i16>) {
    let array = ArrayD::from_shape_fn(vec![9, 14, 21], |at| match [at[2] / 5, at[1] / 4, at[0] / 3] {
        [0, _, _] => -7,
        [1, 1, z] => z as i16,
        [3, y, 2] if y > 1 => i16::MAX,
        _ => 300,
    });
    let domain = Domain::new([21, 14, 9], [[0.0, 21.0], [-7.0, 7.0], [0.25, 2.5]], Sample::Centre).unwrap();
    let scheme = Scheme { g: [2, 1, 1], r: [2, 2, 1], b: [2, 3, 1] };
    (Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap(), array)
}

fn info(plan: &Plan<3>) -> TreeInfo {
    let mut info = TreeInfo::of(plan).source("five labels");
    info.axes[2].unit = Some("mm".into());
    info.nodata = Some(-7i16 as u16 as u64);
    info.labels = vec![TreeLabel { word: 300, name: "ground".into(), colour: Some([1, 2, 3, 255]) }];
    info
}

fn save(path: &Path) -> Tree<3> {
    let (plan, array) = labels();
    let tree = bottom_up(&plan, &array);
    let mut writer =
        TreeTarget::new(path).shard_cells(1400).overwrite(true).open(&plan, CellType::I16, &info(&plan)).unwrap();
    writer.write(&tree).unwrap();
    writer.finish().unwrap();
    tree
}

/// The tree that version 1 wrote first. `BLESS=1` writes it again, which is right for a new version alone.
#[test]
fn what_the_first_version_wrote_is_read() {
    let golden = Path::new(crate::ROOT).join("tests/trees/files/version-1.tree.zarr.zip");
    if std::env::var_os("BLESS").is_some() {
        save(&golden);
    }
    let (plan, array) = labels();
    let file = TreeFile::<3>::open(&golden).unwrap();
    assert_eq!((file.shards(), file.kind(), file.info()), (2, CellType::I16, &info(&plan)));
    assert_eq!((file.plan().domain(), file.plan().scheme()), (plan.domain(), plan.scheme()));
    file.validate().unwrap();
    assert_eq!(file.tree(None).unwrap(), bottom_up(&plan, &array));
}

/// And bricks are still written so, to the byte, by the version of the crate that wrote them.
#[test]
fn bricks_are_written_as_the_first_version_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let (golden, path) = (golden("version-1.tree.zarr.zip"), folder.path().join("now.tree.zarr.zip"));
    save(&path);
    let [golden, now] = [golden, path].map(|path| std::fs::read(path).unwrap());
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    if golden.windows(version.len()).any(|bytes| bytes == version.as_bytes()) {
        assert!(golden == now, "{} bytes, and {} now", golden.len(), now.len());
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(crate::ROOT).join("tests/trees/files").join(name)
}

/// A list in 2^80 cells: some entries beside each other, and some far away.
fn list() -> SortedList<4> {
    let size = [1 << 20; 4];
    let scheme = Scheme::for_list(size, None, None, None);
    let plan = Plan::builder(size).scheme(scheme).rule(RuleKind::Full).build().unwrap();
    let mut list = CellList::new(&plan, CellType::I16).unwrap().background(-7i16 as u16 as u64).most(5);
    for i in 0..60u32 {
        list.push([i % 4, 900_000 + i / 4, 5, 6], u64::from(i)).unwrap();
        list.push([i * 17_001, i * 9_999, i * 3, 1 << 19], 300).unwrap();
    }
    list.sorted(&Control::default()).unwrap()
}

/// The list that version 2 wrote first, with `BLESS=1` as above.
#[test]
fn what_the_second_version_wrote_is_read() {
    let (golden, sorted) = (golden("version-2.tree.zarr.zip"), list());
    let tree = sorted.tree().unwrap();
    if std::env::var_os("BLESS").is_some() {
        let target = TreeTarget::new(&golden).overwrite(true);
        let mut writer = sorted.open(target, &TreeInfo::of(tree.plan())).unwrap();
        sorted.write(&mut writer).unwrap();
        writer.finish().unwrap();
    }
    let file = TreeFile::<4>::open(&golden).unwrap();
    assert!(file.is_listed() && file.kind() == CellType::I16);
    file.validate().unwrap();
    assert_eq!(file.tree(None).unwrap(), tree);
    assert_eq!(file.word([3, 900_014, 5, 6]).unwrap(), Some(59));
    assert_eq!(file.word([3, 900_014, 5, 7]).unwrap(), Some(-7i16 as u16 as u64));
}

/// The digest as the guide has it: JSON without spaces, keys in order, a comma after every member.
pub(in crate::trees) fn digest(header: &Value) -> String {
    fn text(value: &Value) -> String {
        match value {
            Value::Array(values) => format!("[{}]", values.iter().map(|value| text(value) + ",").collect::<String>()),
            Value::Object(keys) => {
                let keys: std::collections::BTreeMap<_, _> = keys.iter().collect();
                let members = keys.iter().map(|(key, value)| format!("{}:{},", json!(key), text(value)));
                format!("{{{}}}", members.collect::<String>())
            }
            plain => plain.to_string(),
        }
    }
    let mut header = header.clone();
    header.as_object_mut().unwrap().remove("digest");
    format!("xxh3:{:016x}", xxh3_64(text(&header).as_bytes()))
}

/// A tree whose header is changed.
struct Changed {
    path: PathBuf,
    group: Value,
}

impl Changed {
    /// What is said of a tree whose header was changed, with a digest that is right or left as it was.
    fn says(&self, digested: bool, change: impl FnOnce(&mut Value)) -> Result<(), String> {
        let mut group = self.group.clone();
        let header = &mut group["attributes"]["orthant_tree"];
        change(header);
        if digested {
            header["digest"] = json!(digest(header));
        }
        std::fs::write(self.path.join("zarr.json"), serde_json::to_string_pretty(&group).unwrap()).unwrap();
        let opened = TreeFile::<3>::open(&self.path).and_then(|file| file.tree(None));
        let prefix = format!("{}: ", self.path.display());
        opened.map(drop).map_err(|error| error.to_string().replace(&prefix, ""))
    }
}

#[test]
fn headers_are_believed_if_they_can_be() {
    let folder = folder();
    let path = folder.path().join("labels.tree.zarr");
    save(&path);
    let group: Value = serde_json::from_slice(&std::fs::read(path.join("zarr.json")).unwrap()).unwrap();
    assert_eq!(group["attributes"]["orthant_tree"]["digest"], digest(&group["attributes"]["orthant_tree"]));
    let tree = Changed { path, group };
    // The same in other words, and with what a later version may add.
    assert_eq!(tree.says(false, |_| {}), Ok(()));
    assert_eq!(tree.says(true, |header| header["nobody"] = json!({"knows": [1, null, "that"]})), Ok(()));
    let undigested = tree.says(false, |header| header["nobody"] = json!(1)).unwrap_err();
    assert!(undigested.starts_with("the header's digest is \"xxh3:"), "{undigested}");
    assert_eq!(
        tree.says(true, |header| header["version"] = json!(3)),
        Err("version 3 of trees; versions 1 and 2 can be read".into())
    );
    // A key of version 2 says nothing in version 1, and is missing in version 2.
    assert_eq!(tree.says(true, |header| header["list"] = json!({"most": 1})), Ok(()));
    assert_eq!(
        tree.says(true, |header| header["version"] = json!(2)),
        Err("orthant_tree: version 2 has the key list".into())
    );
    let listed = |key: &str, value: Value| {
        tree.says(true, |header| {
            header["version"] = json!(2);
            header["list"] = json!({"background": 0, "most": 9, "first": [0], "rows": 4096, "entries": 10});
            header["list"][key] = value.clone();
        })
    };
    for (key, value, expected) in [
        ("background", json!(40_000), "list: the background 40000 is no i16"),
        ("background", json!("x"), "list: the background"),
        ("most", json!(0), "list: a background of 0x0 and leaves of 0 entries"),
        ("first", json!([]), "list: 0 first codes"),
        ("first", json!([1]), "list: 1 first codes"),
        ("first", json!([0, 5, 5]), "list: 3 first codes"),
        ("first", json!([0, u64::MAX]), "list: a shard from code"),
        ("first", json!([0, -1]), "orthant_tree: "),
        ("rows", json!(0), "list: 1 first codes"),
        ("rows", json!(u64::MAX), "list: 1 shards of 18446744073709551615 rows"),
        ("rows", json!(u32::MAX), "list: 1 shards of 4294967295 rows and 10 entries; 2^20 shards can be, of 2^18 rows"),
        ("rows", json!((1 << 18) + 1), "list: 1 shards of 262145 rows"),
        ("entries", json!(u64::MAX), "list: 1 shards of 4096 rows and"),
        ("entries", json!(5), "shards: "),
    ] {
        let found = listed(key, value.clone()).unwrap_err();
        assert!(found.starts_with(expected), "{key} {value}: {found}");
    }
    assert!(
        tree.says(true, |header| header["version"] = json!("1")).unwrap_err().starts_with("version \"1\" of trees")
    );
    // One fact after the other, each under a digest that is right.
    let (mut wrong, big) = (Vec::new(), u64::MAX / 2);
    for (key, value, expected) in [
        ("size", json!([21, 14]), "axes: 3 of them for 2 dimensions"),
        ("size", json!([0, 14, 9]), "size: size 0 on axis 0: "),
        ("size", json!([u32::MAX, u32::MAX, u32::MAX]), "levels: "),
        ("window", json!([[0, 1], [0, 1], [1, 1]]), "size: domain: axis 2 runs from "),
        ("window", json!([[0, 1], [0, 1]]), "window: 2 numbers for 3 axes"),
        ("g", json!([0, 1, 1]), "g: g 0 on axis 0: "),
        ("r", json!([1, 1, 1]), "g: r 1 on every axis: "),
        ("r", json!([2, 2]), "r: 2 numbers for 3 axes"),
        ("stop", json!([9, 9, 9]), "levels: 3 of them, where the scheme has 1"),
        ("levels", json!(u32::MAX), "levels: 4294967295 of them, "),
        ("curve", json!("canonical"), "curve: canonical; trees lie along morton or hilbert"),
        ("curve", json!("peano"), "orthant_tree: unknown curve 'peano'"),
        ("cell", json!("f16"), "orthant_tree: unknown cell type 'f16'"),
        ("cell", json!("i32"), "nodata: "),
        ("predicate", json!({"kind": "median", "nan": "equal"}), "orthant_tree: unknown variant `median`"),
        ("predicate", json!({"kind": "tolerance", "e": 1, "nan": "equal"}), "orthant_tree: missing field `bound`"),
        ("predicate", json!({"kind": "exact", "nan": "sometimes"}), "orthant_tree: 'sometimes' is none of equal, "),
        (
            "predicate",
            json!({"kind": "tolerance", "e": 2.5, "bound": 3, "nan": "equal"}),
            "predicate: within 3, of 2.5 is not of cells of i16",
        ),
        ("predicate", json!({"kind": "iso", "t": 40000, "nan": "equal"}), "predicate: one side of 40000"),
        (
            "predicate",
            json!({"kind": "threshold", "t": 1, "nan": "equal"}),
            "predicate: 0 below 1, 1 from 1 on is not of",
        ),
        ("nodata", json!(40000), "nodata: 40000 is no i16"),
        ("nodata", json!(1.5), "nodata: 1.5 is no i16"),
        ("nodata", json!("NaN"), "nodata: \"NaN\" is no i16"),
        ("labels", json!([{"value": 1, "name": "a"}, {"value": 1, "name": "b"}]), "labels: 1 has two names"),
        ("axes", json!([]), "axes: 0 of them for 3 dimensions"),
        ("shard_cells", json!(0), "shards: "),
        ("shard_cells", json!(u64::MAX), "shards: "),
        ("terminals", json!([]), "levels: "),
        ("shards", json!({"rows": [], "leaf_cells": [], "checksums": []}), "shards: lists that are not of 2 shards"),
        ("checksum", json!("xxh3sum:0123456789abcdef"), "checksum: not the sum of those of the shards"),
        ("checksum", json!("xxh3sum:+123456789abcdef"), "orthant_tree: 'xxh3sum:+"),
    ] {
        let said = tree.says(true, |header| header[key] = value.clone());
        let said = said.err().unwrap_or_default();
        // Facts that are right by themselves do not fit the arrays.
        let fits = said.starts_with(expected) || (key == "cell" && said.contains("where '"));
        if !fits {
            wrong.push(format!("{key} {value}: {said}"));
        }
    }
    for (list, at, value, expected) in [
        ("rows", 0, json!(big), " rows and "),
        ("rows", 0, json!(0), "0 rows and "),
        ("leaf_cells", 1, json!(big), " rows and "),
        // As many as there can be, and they are not there.
        ("rows", 1, json!(2), "shard 1"),
        ("leaf_cells", 1, json!(1), "shard 1"),
        ("checksums", 1, json!("xxh3sum:0000000000000001"), "checksum: not the sum "),
    ] {
        let said = tree.says(true, |header| header["shards"][list][at] = value.clone()).unwrap_err();
        if !said.contains(expected) {
            wrong.push(format!("{list} {value}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let missing = tree.says(true, |header| drop(header.as_object_mut().unwrap().remove("rule"))).unwrap_err();
    assert!(missing.starts_with("orthant_tree: missing field `rule`"), "{missing}");
    // Attributes beside the header are under no digest.
    let mut group = tree.group.clone();
    group["attributes"]["mine"] = json!(1);
    std::fs::write(tree.path.join("zarr.json"), group.to_string()).unwrap();
    let said = TreeFile::<3>::open(&tree.path).unwrap_err().to_string();
    assert!(said.contains("unknown field `mine`"), "{said}");
}

/// The memory that reading a shard takes, by its rows and cells.
#[test]
fn the_largest_shard_is_that_of_the_header() {
    let folder = folder();
    let plan = Plan::builder([14; 3]).scheme(Scheme::uniform(1, 2, 1)).rule(RuleKind::Full).build().unwrap();
    let mut list = CellList::new(&plan, CellType::I16).unwrap().most(2);
    (0..100).for_each(|i| list.push([i % 14, i / 14, i % 5], 7).unwrap());
    let list = list.sorted(&Control::default()).unwrap().tree().unwrap();
    let array = ArrayD::from_shape_fn(vec![14; 3], |at| (at[0] * at[1] > 20) as i16);
    for (name, tree, is_listed) in [("list", list, true), ("array", bottom_up(&plan, &array), false)] {
        let path = folder.path().join(format!("{name}.tree.zarr"));
        tree.save(&path, &TreeInfo::of(&plan)).unwrap();
        let file = TreeFile::<3>::open(&path).unwrap();
        assert_eq!((file.parts(), file.is_listed()), (1, is_listed));
        // A chunk of each array has 40 bytes in the index. A row has 17 bytes as a region, 46 as it lies in the file, and of a list 16 of its
        // entries; a cell is there twice, of a list with its place.
        let (arrays, row, cell) = if is_listed { (9, 17 + 46 + 16, 2 * (2 + 8)) } else { (8, 17 + 46, 2 * 2) };
        let expected = arrays * 40 + file.len() as u64 * row + file.leaf_cells() as u64 * cell;
        assert_eq!(file.largest_shard(), expected, "{name}");
    }
}
