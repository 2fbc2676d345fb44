//! Commands that read a tree, over a layer that fails one call to its files after the other: the right answer or an error, and never
//! another answer.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::commands::{sharded, status};
use super::layer::{FAULTS, Fault};
use super::snapshot::{Files, restore, take};
use super::{place, stride};

/// Commands on the tree `@s`; what they write is `@o` with an extension, if it is not on stdout.
const COMMANDS: &[&str] = &[
    "tree info @s",
    "tree print @s --csv",
    "tree sample @s --at 1,2,3 --at 31,30,29 --at 16,0,16",
    "tree stats @s",
    "tree box @s 3:29,4:30,5:31 -o -",
    "tree slice @s --axis 2=17 -o @o.png",
    "tree lod @s --level 1 -o @o.npy",
    "tree validate @s",
    "tree validate @s --against @x.npy",
    "tree diff @s @other.tree.zarr",
    "tree convert @s @o.npy",
    "tree convert @s @o.vti",
    "tree convert @s @o.zarr",
    "tree convert @s @o.tree.zarr",
    "tree convert @s @o.tree.zarr.zip",
    "tree view @s -o @o.html",
];

/// Calls from one fault to the next, unless all are failed.
const SOME: u64 = 23;

/// Faults of reading.
const FAULTS_OF_READING: [Fault; 4] = [Fault::Io, Fault::IoEver, Fault::Short, Fault::Interrupted];

/// What a command says and makes.
#[derive(PartialEq, Eq)]
struct Answer {
    exit: u8,
    stdout: Vec<u8>,
    files: Files,
}

/// Runs a command with stdout and stderr in files, which are gone then; the answer, and what it says on stderr.
fn answer(folder: &Path, line: &str) -> (Answer, String) {
    let beside = place();
    let [out, err] = ["out", "err"].map(|name| beside.path().join(name));
    let before = [rustix::io::dup(io::stdout()), rustix::io::dup(io::stderr())].map(Result::unwrap);
    io::stdout().flush().unwrap();
    rustix::stdio::dup2_stdout(File::create(&out).unwrap()).unwrap();
    rustix::stdio::dup2_stderr(File::create(&err).unwrap()).unwrap();
    let exit = status(folder, line, false);
    io::stdout().flush().unwrap();
    rustix::stdio::dup2_stdout(&before[0]).unwrap();
    rustix::stdio::dup2_stderr(&before[1]).unwrap();
    let told = String::from_utf8(fs::read(err).unwrap()).unwrap();
    (Answer { exit, stdout: fs::read(out).unwrap(), files: take(folder) }, told)
}

pub fn no_failing_read_gives_a_wrong_answer() {
    println!("| command | tree | calls | faults | right | refused | wrong |\n|---|---|--:|--:|--:|--:|--:|");
    for name in ["s.tree.zarr", "s.tree.zarr.zip"] {
        let folder = place();
        let folder = folder.path();
        assert!(sharded(folder, name, false) && sharded(folder, "other.tree.zarr", false));
        assert_eq!(status(folder, &format!("tree convert @{name} @x.npy"), false), 0);
        let files = take(folder);
        FAULTS.within(&folder.join(name), true);
        for line in COMMANDS {
            let line = line.replace("@s", &format!("@{name}"));
            restore(folder, &files);
            let (right, told) = answer(folder, &line);
            assert_eq!(right.exit, 0, "{line}: fails without a fault: {told}");
            let (mut calls, mut injected, mut refused) = (0, 0, 0);
            for (number, fault) in FAULTS_OF_READING.into_iter().enumerate() {
                let mut nth = 5 * number as u64 % stride(SOME);
                loop {
                    restore(folder, &files);
                    FAULTS.fail(nth, fault);
                    let (found, told) = answer(folder, &line);
                    if !FAULTS.off() {
                        break;
                    }
                    let what = format!("{line}: {fault:?} at call {nth}: exit {}: {told}", found.exit);
                    if found != right {
                        assert_eq!(found.exit, 1, "{what}");
                        assert!(told.contains(name) && !fault.is_harmless(), "{what}");
                        assert!(found.files == files, "{what}: makes {:?}", found.files.keys());
                        refused += 1;
                    }
                    (nth, injected) = (nth + stride(SOME), injected + 1);
                }
                calls = calls.max(nth);
            }
            assert!(calls > 3, "{line}: {calls} calls to the tree pass the layer");
            println!("| {line} | {name} | {calls} | {injected} | {} | {refused} | 0 |", injected - refused);
        }
    }
}
