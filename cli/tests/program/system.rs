//! What the system refuses: large files, many open files, a closed stdout, memory.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::binary::{command, files, folder, orthant, text};
use crate::ends::{in_shell, least, limited};

/// A folder with a small tree, rows of `bench` and a deflated array.
fn with_files(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    for arguments in [
        "run mandelbrot -n 256 -q -o a.tree.zarr -o a.npy",
        "tree convert a.tree.zarr a.tree.zarr.zip",
        "bench -q -a workload=cantor -a n=9,27 -a backend=cpu --min-samples 1 --max-samples 1 -o rows.jsonl",
    ] {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    }
    folder
}

/// Files of at most one block of the shell's.
#[test]
fn a_file_that_grows_too_large_is_a_failed_run() {
    let folder = with_files("large-files");
    let before = files(&folder);
    for arguments in [
        "run mandelbrot -n 256 -q -o m.npy",
        "run mandelbrot -n 256 -q -o m.png",
        "run mandelbrot -n 256 -q -o m.tree.zarr.zip",
        "run mandelbrot -n 256 -q --report m.json",
        "bench -q -a workload=cantor -a n=9,27 -a backend=cpu --min-samples 1 --max-samples 1 -o m.jsonl",
        "report rows.jsonl -o m.html",
        "model plot fig3 -o m.svg",
        "tree convert a.tree.zarr m.vti",
        "tree convert a.tree.zarr m.zarr",
        "tree slice a.tree.zarr -o m.png",
        "tree box a.tree.zarr :,: -o m.npy",
        "tree view a.tree.zarr -o m.html",
        "tree lod a.tree.zarr --level 2 -o m.tree.zarr.zip",
        "run array --input a.npy -q -o m.tree.zarr.zip",
    ] {
        let output = limited(&folder, "ulimit -f 1", arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {said}");
        assert!(said.contains("raise `ulimit -f`, now "), "{arguments}: {said}");
        // What was appended or finished before the error stays, to be resumed.
        for name in leave(&folder, &before) {
            assert!(["m.jsonl", ".m.tree.zarr.zip.part"].contains(&&*name), "{arguments}: {name}");
        }
    }
}

/// A pipe that does not let writers wait, and that nobody empties, is no lack of processes.
#[test]
fn a_pipe_that_takes_no_more_is_told_as_that() {
    let folder = folder("takes-no-more");
    let (_unread, out) = std::os::unix::net::UnixStream::pair().unwrap();
    out.set_nonblocking(true).unwrap();
    let mut run = command(&folder, "run mandelbrot -q -n 2048 --dwell 8 -o -");
    let output = run.stdout(std::os::fd::OwnedFd::from(out)).stderr(Stdio::piped()).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("orthant: stdout: ") && said.contains("`| cat`") && !said.contains("ulimit"), "{said}");
}

/// A full device is a failed run, whichever file meets it.
#[test]
fn a_full_device_is_a_failed_run() {
    let folder = with_files("full-device");
    for (arguments, to) in [
        ("run mandelbrot -n 256 -q -o", "m.png"),
        ("run mandelbrot -n 256 -q -o", "m.npy"),
        ("tree slice a.tree.zarr -o", "s.png"),
        ("tree view a.tree.zarr -o", "v.html"),
        ("report rows.jsonl -o", "r.html"),
    ] {
        std::os::unix::fs::symlink("/dev/full", folder.join(to)).unwrap();
        let output = orthant(&folder, &format!("{arguments} {to} --force"));
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains("No space left"), "{arguments}: {said}");
        std::fs::remove_file(folder.join(to)).unwrap();
    }
}

#[test]
fn too_many_open_files_are_named() {
    let folder = with_files("open-files");
    let before = files(&folder);
    let mut refused = 0;
    for most in 4..14 {
        for arguments in [
            "run mandelbrot -n 256 -q -o m.npy",
            "run mandelbrot -n 256 -q -o m.tree.zarr",
            "run array --input a.npy -q -o m.npy",
            "tree validate a.tree.zarr",
            "tree validate a.tree.zarr.zip",
            "tree diff a.tree.zarr a.tree.zarr.zip",
            "tree convert a.tree.zarr m.zarr",
            "report rows.jsonl -o m.html",
            "bench -q -a workload=cantor -a n=9 -a backend=cpu --min-samples 1 --max-samples 1 -o m.jsonl",
        ] {
            let output = limited(&folder, &format!("ulimit -n {most}"), arguments);
            let said = text(&output.stderr);
            match output.status.code() {
                Some(0) => {}
                Some(1) if said.contains(&format!("raise `ulimit -n`, now {most}")) => refused += 1,
                other => panic!("{arguments} with {most} files: {other:?}: {said}"),
            }
            leave(&folder, &before);
        }
    }
    assert!(refused > 9, "{refused}");
}

/// The null device takes everything, also where it may be read; a closed stdout takes nothing.
#[test]
fn a_closed_stdout_is_an_error() {
    let folder = with_files("closed-stdout");
    let run = |redirected: &str, arguments: &str| {
        let status = in_shell(&folder, &format!("exec {redirected}"), &command(&folder, arguments)).output().unwrap();
        (status.status.code(), text(&status.stderr))
    };
    for arguments in [
        "run mandelbrot -n 64",
        "run mandelbrot -n 64 -o -",
        "run array --input a.npy",
        "info",
        "--help",
        "--version",
        "tree info a.tree.zarr",
        "tree print a.tree.zarr",
        "tree sample a.tree.zarr --at 1,1",
        "tree validate a.tree.zarr",
        "curves walk --level 1",
        "verify --brief cantor",
        "model plan -P 0.7",
        "balance list",
        "completions bash",
    ] {
        let (code, said) = run(">&-", arguments);
        assert_eq!(code, Some(2), "{arguments}: {said}");
        assert!(said.contains("stdout: is closed"), "{arguments}: {said}");
        for open in [">/dev/null", "1<>/dev/null"] {
            let (code, said) = run(open, arguments);
            assert_eq!(code, Some(0), "{arguments} {open}: {said}");
        }
    }
    assert_eq!(run(">&-", "run mandelbrot -n 64 -q -o quiet.png").0, Some(0));
    assert!(folder.join("quiet.png").is_file());
}

/// A tree of a million cells does not fit a few megabytes, whatever is asked of it.
#[test]
fn memory_that_runs_out_has_one_exit_code() {
    let folder = folder("memory-of-trees");
    for arguments in [
        "run mandelbrot -n 2^11 --dwell 5000 -q -o a.tree.zarr",
        "run mandelbrot -n 2^11 --dwell 5001 -q -o b.tree.zarr.zip",
    ] {
        assert!(orthant(&folder, arguments).status.success());
    }
    let before = files(&folder);
    let least = least(&folder);
    let mut refused = 0;
    for megabytes in [2, 4, 6, 8, 12, 16].map(|more| least + more) {
        for arguments in [
            "tree validate a.tree.zarr",
            "tree validate b.tree.zarr.zip",
            "tree diff a.tree.zarr b.tree.zarr.zip",
            "tree view a.tree.zarr -o m.html",
            "tree slice a.tree.zarr -o m.png",
            "tree box a.tree.zarr :,: -o m.npy",
            "tree stats a.tree.zarr",
            "tree convert a.tree.zarr m.htg",
            "tree convert a.tree.zarr m.tree.zarr",
        ] {
            let output = limited(&folder, &format!("ulimit -v {}", megabytes * 1024), arguments);
            let said = text(&output.stderr);
            let known = match output.status.code() {
                Some(0 | 3) => true,
                Some(5) => {
                    refused += 1;
                    said.contains("memory") || said.contains("limit of")
                }
                _ => false,
            };
            assert!(known, "{arguments} in {megabytes} MiB: {:?}: {said}", output.status);
            leave(&folder, &before);
        }
    }
    assert!(refused > 5, "{refused}");
}

/// Bytes of memory of its own that a command takes at most, with sixteen threads: that many move results at once.
fn peak(folder: &Path, arguments: &str) -> u64 {
    let mut command = command(folder, arguments);
    let mut child = command.env("RAYON_NUM_THREADS", "16").stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let now =
            status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.split_whitespace().next()?.parse().ok());
        peak = peak.max(now.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success(), "{arguments}");
    peak
}

/// What the program takes beside what it counts: itself, its threads, and pieces that are on their way.
const BESIDE: u64 = 12 << 20;

/// The results were there twice while they were put in order: the allocator kept what had been copied.
#[test]
fn a_run_keeps_its_limit_of_memory() {
    let folder = folder("kept-limit");
    let peak = peak(&folder, "run mandelbrot -n 2^13 --dwell 16 -B 32 -q --keep regions --mem-limit 48M");
    assert!(peak < (48 << 20) + BESIDE, "{} MiB", peak >> 20);
}

/// Every command that holds cells refuses a shard that does not fit, with its figure and before any work.
#[test]
fn trees_keep_their_limit_of_memory() {
    let folder = with_files("tree-limits");
    let before = files(&folder);
    for arguments in [
        "validate a.tree.zarr",
        "diff a.tree.zarr a.tree.zarr.zip",
        "view a.tree.zarr -o m.html",
        "slice a.tree.zarr -o m.png",
        "box a.tree.zarr :,: -o m.npy",
        "lod a.tree.zarr --level 1 -o m.npy",
        "stats a.tree.zarr",
        "sample a.tree.zarr --at 1,1",
        "convert a.tree.zarr m.htg",
    ] {
        let output = orthant(&folder, &format!("tree {arguments} --mem-limit 10K"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{arguments}: {said}");
        let named = ["--mem-limit", "a.tree.zarr", "the largest shard takes", "the limit of 10.0 KiB"];
        assert!(named.iter().all(|name| said.contains(name)) && output.stdout.is_empty(), "{arguments}: {said}");
        assert_eq!(files(&folder), before, "{arguments}");
        let output = orthant(&folder, &format!("tree {arguments} --mem-limit 64M"));
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        leave(&folder, &before);
    }
}

/// A terminal acts on no name, wherever it comes from; programs read it as it is.
#[test]
fn names_do_not_reach_a_terminal_as_they_are() {
    let folder = folder("hostile-names");
    assert!(orthant(&folder, "run mandelbrot -n 64 -q -o a.npy").status.success());
    let hostile = "\u{1b}[31m\u{9b}\u{202e}.npy";
    std::fs::rename(folder.join("a.npy"), folder.join(hostile)).unwrap();
    for arguments in [format!("run array -q --input missing{hostile}"), format!("tree info {hostile}")] {
        let said = text(&orthant(&folder, &arguments).stderr);
        assert!(said.contains("\\u{1b}[31m\\u{9b}\\u{202e}"), "{said:?}");
        assert!(!said.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{said:?}");
    }
    let built = orthant(&folder, &format!("run array --input {hostile} -o t.tree.zarr"));
    assert!(built.status.success(), "{}", text(&built.stderr));
    let said = text(&built.stdout) + &text(&built.stderr) + &text(&orthant(&folder, "tree info t.tree.zarr").stdout);
    assert!(!said.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{said:?}");
    let json = text(&orthant(&folder, "tree info t.tree.zarr --json").stdout);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["source"].as_str().unwrap().contains(hostile), "{json}");
}

/// A name with a line feed says nothing on a line of its own.
#[test]
fn a_line_feed_in_a_name_begins_no_line() {
    let folder = folder("line-feeds");
    let name = "a\northant: wrote b.npy";
    let run = |arguments: &str| {
        let words = arguments.split_whitespace().map(|word| word.replace('@', name));
        let output = command(&folder, "").args(words).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    let shown = "a\\u{a}orthant: wrote b.npy";
    for (arguments, says) in [
        ("run array --input missing-@", true),
        ("run mandelbrot -n 64 -q -o @", false),
        ("run mandelbrot -n 64 -o @", true),
        ("run mandelbrot -n 64 -o @ --force", true),
        ("run array --input @ -g 2 -B 1 -o a.tree.zarr", false),
        ("tree info a.tree.zarr", true),
        ("tree validate a.tree.zarr --against @", false),
        ("tree info @", true),
        ("tree convert a.tree.zarr @.vti", true),
        ("balance run --sizes @", true),
        ("report @ -o r.html", true),
        ("bench @.toml -o r.jsonl", true),
    ] {
        let said = run(arguments);
        assert!(!said.contains("\northant: wrote b.npy"), "{arguments}: {said}");
        assert!(!says || said.contains(shown), "{arguments}: {said}");
    }
}

/// Removes what a command made, and names it.
fn leave(folder: &Path, before: &[String]) -> Vec<String> {
    let made: Vec<_> = files(folder).into_iter().filter(|name| !before.contains(name)).collect();
    for name in &made {
        let path = folder.join(name);
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).unwrap();
    }
    made
}
