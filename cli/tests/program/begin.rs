//! Where a newcomer begins: `demo`, `tree build`, and a file that is named where a field belongs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use crate::binary::{command, files, folder, json, orthant, text};

/// Every file below a folder, and its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in files(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            found.extend(contents(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
    found
}

/// The files of the demo are what they are said to be, and every command that it prints runs.
#[test]
fn the_demo_is_a_volume_its_tree_and_its_page() {
    let folder = folder("demo");
    let output = orthant(&folder, "demo");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(files(&folder.join("demo")), ["labels.html", "labels.nrrd", "labels.tree.zarr"]);
    let volume = std::fs::read(folder.join("demo/labels.nrrd")).unwrap();
    let cells = &volume[volume.len() - 128 * 128 * 96..];
    let mut counted = [0u64; 6];
    cells.iter().for_each(|&cell| counted[usize::from(cell)] += 1);
    assert!(counted.iter().all(|&cells| cells > 1000), "{counted:?}");
    let stats = text(&orthant(&folder, "tree stats demo/labels.tree.zarr").stdout);
    for (name, cells) in ["skin", "skull", "brain", "ventricles", "vessel"].into_iter().zip(&counted[1..]) {
        let line = stats.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {stats}"));
        assert!(line.split_whitespace().any(|word| word == cells.to_string()), "{cells}: {line}");
    }
    let info = text(&orthant(&folder, "tree info demo/labels.tree.zarr").stdout);
    assert!(info.contains("mm"), "{info}");

    let said = text(&output.stdout);
    let commands: Vec<_> = said.lines().filter_map(|line| line.trim().strip_prefix("orthant ")).collect();
    assert_eq!(commands.len(), 5, "{said}");
    for arguments in commands {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    }

    let again = orthant(&folder, "demo");
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--force"), "{}", text(&again.stderr));
    let before = contents(&folder.join("demo"));
    assert!(orthant(&folder, "demo --force -q").status.success());
    assert_eq!(files(&folder), ["demo"]);
    assert!(contents(&folder.join("demo")) == before);
    // A variable of an option is not about these commands, and folders may be called anything.
    let mut strange = command(&folder, "demo");
    strange.args(["--", "-my demo"]).env("ORTHANT_DTYPE", "none").env("ORTHANT_THRESHOLD", "2");
    let output = strange.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut names: Vec<_> = contents(&folder.join("-my demo")).into_keys().collect();
    names.retain(|name| !name.starts_with("labels.tree.zarr/"));
    assert_eq!(names, ["labels.html", "labels.nrrd"]);
    assert!(text(&output.stdout).contains("'./-my demo/labels.tree.zarr'"), "{}", text(&output.stdout));
    std::fs::remove_dir_all(folder.join("-my demo")).unwrap();
    let nowhere = orthant(&folder, "demo no/such/folder");
    assert!(matches!(nowhere.status.code(), Some(1 | 2)), "{nowhere:?}");
    assert!(text(&nowhere.stderr).contains("no/such/folder"), "{nowhere:?}");
}

/// A tree that is built is the tree that `run array` writes, whatever the options; what else is written beside it, too.
#[test]
fn a_tree_is_built_of_a_file() {
    let folder = folder("tree-build");
    assert!(orthant(&folder, "demo -q").status.success());
    std::fs::rename(folder.join("demo/labels.nrrd"), folder.join("labels.nrrd")).unwrap();
    for options in ["", "-g 2 -B 3 --curve hilbert --threads 1", "--threshold 2 --mem-limit 1G"] {
        for (way, name) in [("run array --input", "run.tree.zarr"), ("tree build", "build.tree.zarr")] {
            let arguments = format!("{way} labels.nrrd {options} -o {name} --report {name}.json --force -q");
            let output = orthant(&folder, &arguments);
            assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        }
        assert!(contents(&folder.join("run.tree.zarr")) == contents(&folder.join("build.tree.zarr")), "{options}");
        let report = |name: &str| {
            let mut report = json(&folder.join(format!("{name}.tree.zarr.json")));
            report["times"] = json!(null);
            report
        };
        assert_eq!(report("run")["regions_checksum"], report("build")["regions_checksum"]);
    }
    let raw = command(&folder, "tree build cells.raw --dtype u8 -n 8x4 -o raw.tree.zarr -o raw.png --overlay o.png");
    std::fs::write(folder.join("cells.raw"), [7; 32]).unwrap();
    let mut raw = raw;
    assert!(raw.output().unwrap().status.success());
    assert!(
        folder.join("raw.tree.zarr").is_dir() && folder.join("raw.png").is_file() && folder.join("o.png").is_file()
    );

    for (arguments, says) in [
        ("tree build labels.nrrd", "orthant tree build labels.nrrd -o X.tree.zarr"),
        ("tree build labels.nrrd -o a.png", "orthant run array --input labels.nrrd -o a.png"),
        ("tree build labels.nrrd -o run.tree.zarr", "--force"),
        ("tree build absent.nrrd -o a.tree.zarr", "absent.nrrd"),
        ("tree build labels.nrrd -o a.tree.zarr --dwell 7", "--dwell"),
        ("run labels.nrrd", "orthant tree build labels.nrrd -o X.tree.zarr"),
        ("run run.tree.zarr", "orthant tree info run.tree.zarr"),
        ("run brain.nii.gz", "orthant tree build brain.nii.gz -o X.tree.zarr"),
        ("run mandelbrt", "mandelbrot"),
        ("tree build labels.nrrd -o a", "-o a.tree.zarr"),
        ("tree stats labels.nrrd", "orthant tree build labels.nrrd -o X.tree.zarr"),
    ] {
        let output = orthant(&folder, arguments);
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)) && said.contains(says), "{arguments}: {said}");
        assert!(!folder.join("a.tree.zarr").exists());
    }
}

/// The hint of a smaller leaf says what it leaves, with the options that are to be typed.
#[test]
fn a_smaller_leaf_leaves_what_the_hint_says() {
    let folder = folder("hint");
    assert!(orthant(&folder, "demo -q").status.success());
    let said = text(&orthant(&folder, "tree build demo/labels.nrrd -o a.tree.zarr").stderr);
    let hint = said.lines().find(|line| line.contains("would leave about")).unwrap_or_else(|| panic!("{said}"));
    let (options, share) = hint.split_once("; ").unwrap().1.split_once(" would leave about ").unwrap();
    let share: f64 = share.split(' ').next().unwrap().parse().unwrap();
    let arguments = format!("tree build demo/labels.nrrd {options} -o b.tree.zarr --report b.json");
    let output = orthant(&folder, &arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    let cells = &json(&folder.join("b.json"))["cells"];
    let left = 100.0 * cells["leaf"].as_f64().unwrap() / cells["total"].as_f64().unwrap();
    // Some regions of many are looked at, as long as there is time.
    assert!((left - share).abs() < 5.0, "{hint}: {left}");
}

/// Of a small array whose blocks are wider than a leaf may be, smaller leaves are named with what they leave, and it is no array whose labels
/// change from cell to cell.
#[test]
fn small_arrays_are_told_which_leaves_pay() {
    let folder = folder("small-hint");
    let block = |at: usize| (at / 50 / 20 * 3 + at % 50 / 20) as u8;
    std::fs::write(folder.join("a.raw"), (0..60 * 50).map(block).collect::<Vec<_>>()).unwrap();
    const BUILD: &str = "tree build a.raw --dtype u8 -n 50x60";
    let said = text(&orthant(&folder, &format!("{BUILD} -o a.tree.zarr")).stderr);
    let hint = said.lines().find(|line| line.contains("would leave about")).unwrap_or_else(|| panic!("{said}"));
    let leaves: Vec<_> = hint.split("-B ").skip(1).collect();
    assert!(leaves.len() >= 2, "{hint}");
    for leaf in leaves {
        let (side, rest) = leaf.split_once(' ').unwrap();
        let share: f64 = rest.trim_start_matches("would leave about ").split(' ').next().unwrap().parse().unwrap();
        let grid = if hint.contains("-g 1 ") { "-g 1" } else { "" };
        let arguments = format!("{BUILD} {grid} -B {side} -o b.tree.zarr --force --report b.json");
        let output = orthant(&folder, &arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        let left = json(&folder.join("b.json"))["cells"]["leaf"].as_f64().unwrap() / 30.0;
        std::fs::remove_file(folder.join("b.json")).unwrap();
        assert!((left - share).abs() <= 0.5, "{hint}: -B {side} leaves {left}");
    }
}
