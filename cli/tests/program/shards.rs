//! Runs in pieces, as several processes make them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::binary::{command, files, folder_in_memory, orthant, text};
use crate::scope::{every, sized};

/// What it prints, if it succeeds.
fn done(folder: &Path, arguments: &str) -> String {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// What it says, if it ends with this code.
fn refused(folder: &Path, arguments: &str, code: i32) -> String {
    let output = orthant(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "orthant {arguments}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// Starts processes that make pieces.
fn start(folder: &Path, pieces: &str, processes: usize) -> Vec<Child> {
    let start = |_| {
        let mut command = command(folder, &format!("shard run {pieces} --threads 1"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    (0..processes).map(start).collect()
}

/// Every file of a tree, with its bytes.
fn bytes(tree: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(tree).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(bytes(&path)) } else { all.push((path.clone(), fs::read(&path).unwrap())) }
    }
    all.sort();
    all
}

/// An array of labels, points and a mesh.
fn data(folder: &Path) {
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (30, 40, 50)}".to_vec();
    npy.resize(127, b' ');
    npy.push(b'\n');
    npy.extend((0..60_000u32).map(|cell| u8::from(cell % 50 > 20) + u8::from(cell > 30_000) * 3));
    fs::write(folder.join("labels.npy"), npy).unwrap();
    let point = |i: u32| {
        let turn = f64::from(i) / 50.0;
        format!("{:.4},{:.4},{:.4}\n", turn.cos() * turn, turn.sin() * turn, turn / 2.0)
    };
    fs::write(folder.join("scan.csv"), "x,y,z\n".to_owned() + &(0..1500).map(point).collect::<String>()).unwrap();
    let tetrahedron = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    fs::write(folder.join("part.off"), tetrahedron).unwrap();
}

/// Every kind of field, curve and rule in pieces is what it is in one run.
#[test]
fn pieces_are_one_run() {
    let place = folder_in_memory();
    let folder = place.path();
    data(folder);
    let runs = [
        ("mandelbrot -n 512 -g 16", 7),
        ("mandelbrot -n 500x300 -g 5x3 -r 3 -B 4 --curve morton --explore border", 4),
        ("mandelbrot -n 256 -g 8 --curve hilbert --explore full --cell u32", 2),
        ("mandelbulb -n 48 -g 4", 3),
        ("julibrot -n 16 -g 2 --curve hilbert", 64),
        ("simplex --dim 4 -n 32 -g 4", 1),
        ("formula x^2+y^2+z^2<0.8 -n 64 -g 8", 5),
        ("cantor --dim 1 -n 3^6 -g 9 -r 3 -B 1", 4),
        ("array --input labels.npy -g 4", 6),
        ("points --input scan.csv -n 64 --value count -g 8", 3),
        ("mesh --input part.off -n 64 -g 8", 4),
    ];
    for (number, (run, pieces)) in every(2, runs).enumerate() {
        let (set, tree, one) =
            (format!("{number}.pieces"), format!("{number}.tree.zarr"), format!("{number}.one.tree.zarr"));
        done(folder, &format!("-q shard plan {run} -o {set} --pieces {pieces}"));
        start(folder, &set, 2).into_iter().for_each(|mut child| assert!(child.wait().unwrap().success(), "{run}"));
        done(folder, &format!("-q shard status {set}"));
        // From the top down, as pieces are.
        let strategy = if run.starts_with("array") || run.starts_with("points") { "--strategy ask" } else { "" };
        done(folder, &format!("-q run {run} {strategy} -o {one}"));
        // Before and after they are put together.
        done(folder, &format!("-q tree diff {set} {one}"));
        done(folder, &format!("-q shard merge {set} -o {tree}"));
        done(folder, &format!("-q tree validate {tree}"));
        // A copy has every shard.
        for from in [&set, &tree] {
            done(folder, &format!("-q tree convert {from} copy.tree.zarr.zip --force"));
            done(folder, "-q tree validate copy.tree.zarr.zip");
            done(folder, &format!("-q tree diff copy.tree.zarr.zip {one}"));
        }
        let about = |tree: &str| {
            let info: Value = serde_json::from_str(&done(folder, &format!("tree info {tree} --json"))).unwrap();
            ["regions_checksum", "size", "curve", "explore", "cell", "source", "regions"].map(|key| {
                assert!(!info[key].is_null(), "{key}: {info}");
                info[key].clone()
            })
        };
        assert_eq!(about(&tree), about(&one), "{run}");
        assert_eq!(about(&set), about(&one), "{run}");
        assert_eq!(done(folder, &format!("tree print {set}")), done(folder, &format!("tree print {one}")), "{run}");
    }
    // Whoever makes them, the bytes are the same; so are those of one run, whose shards are as large.
    done(folder, "-q shard plan mandelbrot -n 512 -g 16 -o again.pieces --pieces 7");
    done(folder, "-q shard run again.pieces");
    done(folder, "-q shard merge again.pieces -o again.tree.zarr");
    let of = |name: &str| -> Vec<Vec<u8>> { bytes(&folder.join(name)).into_iter().map(|(_, bytes)| bytes).collect() };
    assert_eq!(of("again.tree.zarr"), of("0.tree.zarr"));
}

/// What is torn, flipped, copied or gone is found, and made again by the command that is named.
#[test]
fn what_is_damaged_is_found_and_mended() {
    let place = folder_in_memory();
    let folder = place.path();
    done(folder, "-q shard plan mandelbrot -n 256 -g 8 -o m.pieces --pieces 8");
    let message = refused(folder, "shard status m.pieces", 3);
    assert!(message.contains("0 of 8 pieces are finished; `orthant shard run m.pieces`"), "{message}");
    let message = refused(folder, "shard merge m.pieces -o m.tree.zarr", 3);
    assert!(message.contains("0 of 8 pieces are finished"), "{message}");
    let message = refused(folder, "tree info m.pieces", 2);
    assert!(message.contains("piece 0 is not made yet; `orthant shard run m.pieces`"), "{message}");
    done(folder, "-q shard run m.pieces");
    done(folder, "-q shard merge m.pieces -o whole.tree.zarr");
    let piece = |number: usize| folder.join(format!("m.pieces/pieces/{number:06}.zarr"));
    let cells = |number: usize| {
        let found: Vec<_> =
            bytes(&piece(number)).into_iter().filter(|(path, _)| path.iter().any(|part| part == "cells")).collect();
        found.into_iter().max_by_key(|(_, bytes)| bytes.len()).expect("it has leaves").0
    };
    let damages: [(&str, &dyn Fn(), bool); 8] = [
        (
            "a byte that flipped",
            &|| {
                let path = cells(3);
                let mut bytes = fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(path, bytes).unwrap();
            },
            false,
        ),
        (
            "a file that was cut",
            &|| {
                let path = cells(2);
                let bytes = fs::read(&path).unwrap();
                fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            },
            true,
        ),
        ("a file that is gone", &|| fs::remove_file(cells(4)).unwrap(), true),
        (
            "a record that flipped",
            &|| {
                let path = piece(1).join("piece.json");
                let mut bytes = fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(path, bytes).unwrap();
            },
            true,
        ),
        (
            "a piece under another number",
            &|| {
                fs::remove_dir_all(piece(5)).unwrap();
                fs::rename(piece(6), piece(5)).unwrap();
            },
            true,
        ),
        (
            "a file in the place of a piece",
            &|| {
                fs::remove_dir_all(piece(0)).unwrap();
                fs::write(piece(0), "mine").unwrap();
            },
            true,
        ),
        ("no pieces at all", &|| fs::remove_dir_all(folder.join("m.pieces/pieces")).unwrap(), true),
        ("a piece that is gone", &|| fs::remove_dir_all(piece(7)).unwrap(), true),
    ];
    for (what, damage, quick) in damages {
        damage();
        let message = refused(folder, "shard status m.pieces", 3);
        assert!(message.contains("`orthant shard run m.pieces`"), "{what}: {message}");
        done(folder, "-q shard run m.pieces");
        done(folder, "-q shard status m.pieces");
        // A process that makes pieces sees the most of it by itself.
        damage();
        if quick {
            let output = orthant(folder, "shard run m.pieces");
            assert!(output.status.success(), "{what}: {}", text(&output.stderr));
        } else {
            let message = refused(folder, "shard merge m.pieces -o m.tree.zarr", 2);
            assert!(message.contains("is not what was written"), "{what}: {message}");
            assert!(!files(folder).contains(&"m.tree.zarr".to_owned()));
            refused(folder, "-q shard status m.pieces", 3);
            done(folder, "-q shard run m.pieces");
        }
        done(folder, "-q shard merge m.pieces -o m.tree.zarr --force");
        done(folder, "-q tree diff m.tree.zarr whole.tree.zarr");
    }
}

/// Processes that are killed at any time leave whole pieces, and nothing else after the next one.
#[test]
fn killed_processes_lose_nothing() {
    let place = folder_in_memory();
    let folder = place.path();
    done(folder, "-q shard plan mandelbrot -n 1024 -g 32 -o m.pieces --pieces 24 --dwell 2000");
    done(folder, "-q run mandelbrot -n 1024 -g 32 --dwell 2000 -o one.tree.zarr");
    let mut killed = 0;
    let rounds = sized(50, 20);
    for round in 0..rounds {
        let mut children = start(folder, "m.pieces", 2);
        // All of the time that a process takes is met in some round.
        std::thread::sleep(Duration::from_millis(3 + round * 7 % 60));
        for child in &mut children {
            killed += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let state = orthant(folder, "shard status m.pieces --json");
        let state: Value = serde_json::from_slice(&state.stdout).unwrap();
        assert_eq!((&state["damaged"], &state["busy"]), (&Value::Array(vec![]), &Value::Array(vec![])), "{round}");
        if round % 10 == 9 {
            // So that there is something to make in every round.
            fs::remove_dir_all(folder.join("m.pieces/pieces")).unwrap();
            fs::create_dir(folder.join("m.pieces/pieces")).unwrap();
        }
    }
    assert!(killed as u64 > rounds / 5, "{killed}");
    done(folder, "-q shard run m.pieces");
    let left = std::fs::read_dir(folder.join("m.pieces/pieces")).unwrap().count();
    assert_eq!(left, 24);
    done(folder, "-q shard merge m.pieces -o m.tree.zarr");
    done(folder, "-q tree diff m.tree.zarr one.tree.zarr");
}

/// Another request is not mixed with what is there, and the same is gone on with.
#[test]
fn a_folder_is_of_one_request() {
    let place = folder_in_memory();
    let folder = place.path();
    data(folder);
    done(folder, "-q shard plan array --input labels.npy -g 4 -o a.pieces --pieces 4");
    done(folder, "-q shard run a.pieces --shard 1");
    done(folder, "-q shard plan array --input labels.npy -g 4 -o a.pieces --pieces 4");
    assert_eq!(files(&folder.join("a.pieces/pieces")).len(), 1);
    for other in [
        "array --input labels.npy -g 5 --pieces 4",
        "mandelbrot --pieces 4",
        "array --input labels.npy -g 4 --pieces 5",
    ] {
        let message = refused(folder, &format!("shard plan {other} -o a.pieces"), 2);
        assert!(message.contains("a.pieces exists already; --force overwrites it"), "{message}");
    }
    // Data that changed are no longer what was planned.
    let mut labels = fs::read(folder.join("labels.npy")).unwrap();
    labels[1000] ^= 1;
    fs::write(folder.join("labels.npy"), &labels).unwrap();
    let message = refused(folder, "shard run a.pieces", 2);
    assert!(message.contains("has changed since it was planned"), "{message}");
    done(folder, "-q shard plan array --input labels.npy -g 4 -o a.pieces --pieces 4 --force");
    assert_eq!(files(&folder.join("a.pieces/pieces")).len(), 0);
    // What is no folder of pieces is none, and is not overwritten.
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/notes"), "mine").unwrap();
    for (arguments, words) in [
        ("shard plan mandelbrot -o mine --force", "something else than pieces"),
        ("shard run mine", "no folder of pieces: it has no plan.json"),
        ("shard run nowhere", "no folder of pieces"),
        ("shard status labels.npy", "no folder of pieces"),
        ("shard plan mandelbrot --curve canonical -o c.pieces", "--curve canonical"),
        ("shard run a.pieces --strategy exhaustive", "--strategy exhaustive"),
        ("shard run a.pieces --shard 4", "there are 4 pieces, 0 to 3"),
        ("shard run a.pieces --shard 2/2", "the last of 2 is 1/2"),
        ("shard run a.pieces --shard auto", "SLURM_ARRAY_TASK_ID"),
        ("shard plan mandelbrot -o c.pieces --pieces 0", "--pieces"),
    ] {
        let message = refused(folder, arguments, 2);
        assert!(message.contains(words), "{arguments}: {message}");
    }
    // A plan that cannot be read is planned again.
    fs::write(folder.join("a.pieces/plan.json"), "[]").unwrap();
    assert!(refused(folder, "shard run a.pieces", 2).contains("plan it again, with --force"));
    assert!(refused(folder, "shard plan mandelbrot -o a.pieces", 2).contains("--force overwrites it"));
    done(folder, "-q shard plan mandelbrot -n 256 -g 8 -o a.pieces --pieces 4 --force");
    done(folder, "-q shard run a.pieces --shard 0");
    assert_eq!(fs::read_to_string(folder.join("mine/notes")).unwrap(), "mine");
    // Many that plan the same at once agree.
    let plan = |_| command(folder, "-q shard plan mandelbrot -n 128 -g 8 -o b.pieces").spawn().unwrap();
    let plans: Vec<_> = (0..4).map(plan).collect();
    plans.into_iter().for_each(|mut plan| assert!(plan.wait().unwrap().success()));
    // Nothing is planned under the hands of those who make pieces.
    for round in 0..4 {
        let dwell = 300 + round;
        let children = start(folder, "b.pieces", 2);
        std::thread::sleep(Duration::from_millis(40 * round));
        let again = format!("-q shard plan mandelbrot -n 256 -g 8 --dwell {dwell} -o b.pieces --force");
        let output = orthant(folder, &again);
        if !output.status.success() {
            assert!(text(&output.stderr).contains("other processes make pieces"), "{}", text(&output.stderr));
        }
        for mut child in children {
            let _ = child.wait().unwrap();
        }
        done(folder, &again);
        done(folder, "-q shard run b.pieces");
        done(folder, "-q shard status b.pieces");
        done(folder, "-q shard merge b.pieces -o b.tree.zarr --force");
        done(folder, &format!("-q run mandelbrot -n 256 -g 8 --dwell {dwell} -o one.tree.zarr --force"));
        done(folder, "-q tree diff b.tree.zarr one.tree.zarr");
    }
}

/// The tasks of a job array make all pieces, whatever their numbers are.
#[test]
fn a_job_array_makes_all_pieces() {
    let place = folder_in_memory();
    let folder = place.path();
    done(folder, "-q shard plan mandelbrot -n 256 -g 8 -o m.pieces --pieces 11");
    let tasks = [1, 5, 9].map(|task: u32| {
        let mut array = command(folder, "-q shard run m.pieces --shard auto --threads 1");
        array.env("SLURM_ARRAY_TASK_ID", task.to_string()).spawn().unwrap()
    });
    tasks.into_iter().for_each(|mut task| assert!(task.wait().unwrap().success()));
    done(folder, "-q shard status m.pieces");
    let table = done(folder, "shard status m.pieces --quick");
    assert!(table.contains("busiest / mean predicted"), "{table}");
    // As few as are predicted to keep so many workers busy.
    let table = done(folder, "shard plan mandelbrot -n 1024 --workers 3 -o w.pieces");
    assert!(table.lines().any(|line| line.trim_start().starts_with("3 ")), "{table}");
    done(folder, "-q shard run w.pieces --workers 1000000");
}
