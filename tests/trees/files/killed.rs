//! Processes that are killed while they write: there is a complete tree or none, and who goes on comes to the same files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use orthant::CellType;
use orthant::ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, Parts, TreeError, TreeFile, TreeFileError, TreeInfo, TreeTarget, TreeWriter};

use crate::trees::files::{assert_same, files};
use crate::trees::folder;
use crate::trees::{Below, Case, bottom_up};

/// Where a process that is to be killed writes to, in its environment.
const TARGET: &str = "ORTHANT_TEST_TREE_TARGET";

fn case() -> (Plan<3>, ArrayD<u16>) {
    let case = Case { size: [60, 50, 40], scheme: Scheme::uniform(2, 2, 3), seed: 77 };
    (case.plan(CurveKind::Hilbert).unwrap(), case.array())
}

fn open(path: &Path, plan: &Plan<3>, made_of: &str) -> Result<TreeWriter<3>, TreeError> {
    let info = TreeInfo::of(plan).source("boxes");
    TreeTarget::new(path).shard_cells(2000).made_of(made_of).open(plan, CellType::U16, &info)
}

/// Not a test of its own: what the processes do that others kill.
#[test]
fn writes_where_it_is_told() {
    let Some(path) = std::env::var_os(TARGET) else { return };
    let (plan, array) = case();
    let field = ArrayField::new(array.view()).unwrap();
    let mut writer = open(Path::new(&path), &plan, "boxes of 77").unwrap();
    BottomUp::new(&plan, &field).unwrap().write(&mut writer).unwrap();
    writer.finish().unwrap();
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["trees::files::killed::writes_where_it_is_told", "--exact", "--test-threads=1"]).env(TARGET, path);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// `ORTHANT_KILLS` says how many are killed.
#[test]
fn a_killed_process_leaves_a_whole_tree_or_none() {
    let folder = folder();
    let (plan, array) = case();
    let whole = bottom_up(&plan, &array);
    let path = |zip: bool| folder.path().join(if zip { "boxes.tree.zarr.zip" } else { "boxes.tree.zarr" });
    // Undisturbed, and how long that takes.
    let mut took = Duration::ZERO;
    let expected = [false, true].map(|zip| {
        let began = Instant::now();
        assert!(start(&path(zip)).wait().unwrap().success());
        took = began.elapsed();
        files(&path(zip))
    });
    let clear = |path: PathBuf| if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    [false, true].into_iter().for_each(|zip| clear(path(zip)).unwrap());
    let kills = std::env::var("ORTHANT_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let (mut below, mut complete, mut early) = (Below(std::process::id().into()), 0, 0);
    for kill in 0..kills {
        let zip = kill % 2 == 1;
        let mut child = start(&path(zip));
        // A part of the whole time, so that several kills are on the way to one tree.
        std::thread::sleep(took.mul_f64(f64::from(below.next(1000)) / 1400.0));
        child.kill().unwrap();
        child.wait().unwrap();
        if path(zip).exists() {
            assert_eq!(Tree::<3>::open(path(zip)).unwrap(), whole);
            assert_same(&files(&path(zip)), &expected[usize::from(zip)]);
            clear(path(zip)).unwrap();
            complete += 1;
        } else {
            early += 1;
        }
    }
    println!("{complete} complete, {early} killed before that, in {took:?}");
    assert!(early > 0);
    // What is left is gone on with, and leaves nothing.
    for zip in [false, true] {
        assert!(start(&path(zip)).wait().unwrap().success());
        assert_same(&files(&path(zip)), &expected[usize::from(zip)]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_is_left_is_gone_on_with() {
    let folder = folder();
    let path = folder.path().join("boxes.tree.zarr");
    let (plan, array) = case();
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let whole = building.tree().unwrap();
    // Parts that know what is uniform beyond them.
    let other = folder.path().join("parts.tree.zarr");
    let mut writer = open(&other, &plan, "parts").unwrap();
    writer.write(&whole).unwrap();
    writer.finish().unwrap();
    let parts = TreeFile::<3>::open(&other).unwrap();
    let some = || {
        let mut writer = open(&path, &plan, "yesterday").unwrap();
        let done = writer.done();
        (0..parts.parts()).step_by(3).for_each(|part| writer.write(&parts.part(part).unwrap()).unwrap());
        (done, writer.done())
    };
    assert_eq!(open(&path, &plan, "yesterday").unwrap().codes(0), (1, 0..1));
    let left = || folder.path().join(".boxes.tree.zarr.part");
    assert!(!left().exists());
    let (none, done) = some();
    assert!(none == 0 && done > 2 && left().exists() && !path.exists());
    // A line that was not written to its end.
    let progress = left().join("progress");
    let lines = std::fs::read(&progress).unwrap();
    std::fs::OpenOptions::new().append(true).open(&progress).unwrap().write_all(b"{\"shard\":0,").unwrap();
    assert_eq!(open(&path, &plan, "yesterday").unwrap().done(), done);
    assert_eq!(std::fs::read(&progress).unwrap(), lines);
    // A file that went with the system.
    std::fs::remove_file(left().join("tree/level/c/0/0")).unwrap();
    let (fewer, again) = some();
    assert!(fewer < done && again == done);
    // Other data, another plan.
    let refused = |plan: &Plan<3>, made_of| match open(&path, plan, made_of).unwrap_err() {
        TreeError::File(TreeFileError::Left { key, found, given, .. }) => (key, found, given),
        other => panic!("{other}"),
    };
    let said = refused(&plan, "today");
    assert_eq!(said, ("source".into(), "\"yesterday\"".into(), "\"today\"".into()));
    let other = Plan::new(*plan.domain(), Scheme::uniform(2, 2, 5), plan.curve(), RuleKind::Full).unwrap();
    assert_eq!(refused(&other, "yesterday").0, "levels");
    // To the end, by way of the file that a writer without a past makes.
    let mut writer = open(&path, &plan, "yesterday").unwrap();
    assert_eq!(writer.done(), done);
    building.write(&mut writer).unwrap();
    writer.finish().unwrap();
    assert!(!left().exists());
    let first = files(&path);
    let mut writer = TreeTarget::new(&path).shard_cells(2000).overwrite(true);
    writer = writer.made_of("never mind");
    let mut writer = writer.open(&plan, CellType::U16, &TreeInfo::of(&plan).source("boxes")).unwrap();
    writer.write(&whole).unwrap();
    // What is there stays until the end.
    assert_same(&files(&path), &first);
    writer.finish().unwrap();
    assert_same(&files(&path), &first);
    assert_eq!(Tree::open(&path).unwrap(), whole);
    // Overwriting drops what others began.
    std::fs::remove_dir_all(&path).unwrap();
    some();
    let info = TreeInfo::of(&plan);
    let writer = TreeTarget::new(&path).overwrite(true).open(&plan, CellType::U16, &info).unwrap();
    assert_eq!(writer.done(), 0);
    drop(writer);
    assert!(!left().exists());
}

/// A shard that is there need not be whole: a system that went down can have lost what it said it had written.
#[test]
fn a_finished_shard_that_was_damaged_is_written_again() {
    let folder = folder();
    let path = folder.path().join("boxes.tree.zarr");
    let (plan, array) = case();
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut writer = open(&path, &plan, "cells").unwrap();
    building.write(&mut writer).unwrap();
    writer.finish().unwrap();
    let whole = files(&path);
    std::fs::remove_dir_all(&path).unwrap();
    let tree = folder.path().join(".boxes.tree.zarr.part/tree");
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.clear(),
        |bytes| bytes.fill(0),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
    ];
    let shards: Vec<String> =
        whole.keys().filter(|name| name.contains("/c/0/")).map(|name| name[1..].to_owned()).collect();
    assert!(shards.len() >= 6, "{shards:?}");
    for name in &shards {
        for (number, damage) in damages.iter().enumerate() {
            let mut writer = open(&path, &plan, "cells").unwrap();
            building.write(&mut writer).unwrap();
            let done = writer.done();
            drop(writer);
            let mut bytes = std::fs::read(tree.join(name)).unwrap();
            damage(&mut bytes);
            std::fs::write(tree.join(name), bytes).unwrap();
            let mut writer = open(&path, &plan, "cells").unwrap();
            assert!(writer.done() < done, "{name}: damage {number} is taken for a shard");
            building.write(&mut writer).unwrap();
            writer.finish().unwrap();
            assert_same(&files(&path), &whole);
            std::fs::remove_dir_all(&path).unwrap();
        }
    }
}

/// A line of the progress that was changed is none, and neither are those behind it.
#[test]
fn a_line_that_was_changed_is_none() {
    let folder = folder();
    let path = folder.path().join("boxes.tree.zarr");
    let (plan, array) = case();
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let progress = folder.path().join(".boxes.tree.zarr.part/progress");
    let mut writer = open(&path, &plan, "cells").unwrap();
    building.write(&mut writer).unwrap();
    let done = writer.done();
    drop(writer);
    let text = std::fs::read_to_string(&progress).unwrap();
    for (from, to) in
        [("\"rows\":", "\"rows\":1"), ("\"terminals\":[[", "\"terminals\":[[9"), ("\"shard\":", "\"shard\":9")]
    {
        // In the last line.
        let place = text.rfind(from).unwrap();
        std::fs::write(&progress, format!("{}{to}{}", &text[..place], &text[place + from.len()..])).unwrap();
        let mut writer = open(&path, &plan, "cells").unwrap();
        assert!(writer.done() < done && writer.done() > 0, "{to}");
        building.write(&mut writer).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_to_string(&progress).unwrap(), text, "{to}");
    }
}

/// Killed between the two renames of a folder that takes another's place.
#[test]
fn what_was_there_before_comes_back() {
    let folder = folder();
    let path = folder.path().join("boxes.tree.zarr");
    let (plan, array) = case();
    let whole = bottom_up(&plan, &array);
    whole.save(&path, &TreeInfo::of(&plan)).unwrap();
    let left = folder.path().join(".boxes.tree.zarr.part");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("progress"), "{\"header\":{},\"made_of\":null}\n").unwrap();
    std::fs::rename(&path, left.join("old")).unwrap();
    let writer = TreeTarget::new(&path).overwrite(true).open(&plan, CellType::U16, &TreeInfo::of(&plan)).unwrap();
    drop(writer);
    assert_eq!((Tree::open(&path).unwrap(), left.exists()), (whole, false));
}
