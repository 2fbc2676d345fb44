//! Commands that read a tree, over a layer that fails one call to its files after the other: the right answer or an error, and never
//! another answer.

use std::path::Path;

use super::commands::{sharded, status};
use super::layer::{FAULTS, Fault};
use super::snapshot::{Files, restore, take};
use super::stream::Stream;
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
const SOME: u64 = 47;

/// Faults of reading.
const FAULTS_OF_READING: [Fault; 4] = [Fault::Io, Fault::IoEver, Fault::Short, Fault::Interrupted];

/// What a command says and makes.
#[derive(PartialEq, Eq)]
struct Answer {
    exit: u8,
    stdout: Vec<u8>,
    files: Files,
}

/// Runs a command; what it answers, and what it says on stderr if it fails.
fn answer(folder: &Path, line: &str) -> (Answer, String) {
    let (ended, stdout) = Stream::Stdout.caught(|| status(folder, line, false));
    let (exit, said) = ended.err().unwrap_or_default();
    (Answer { exit, stdout, files: take(folder) }, said)
}

pub fn no_failing_read_gives_a_wrong_answer() {
    println!("| command | tree | calls | faults | right | refused | wrong |\n|---|---|--:|--:|--:|--:|--:|");
    for name in ["s.tree.zarr", "s.tree.zarr.zip"] {
        let folder = place();
        let folder = folder.path();
        sharded(folder, name, false).and_then(|()| sharded(folder, "other.tree.zarr", false)).unwrap();
        status(folder, &format!("tree convert @{name} @x.npy"), false).unwrap();
        let files = take(folder);
        FAULTS.within(&folder.join(name), true);
        for line in COMMANDS {
            let line = line.replace("@s", &format!("@{name}"));
            restore(folder, &files);
            let (right, said) = answer(folder, &line);
            assert_eq!(right.exit, 0, "{line}: fails without a fault: {said}");
            let (mut calls, mut injected, mut refused) = (0, 0, 0u64);
            for (number, fault) in FAULTS_OF_READING.into_iter().enumerate() {
                let mut nth = number as u64 % stride(SOME);
                loop {
                    restore(folder, &files);
                    FAULTS.fail(nth, fault);
                    let (found, said) = answer(folder, &line);
                    if !FAULTS.off() {
                        break;
                    }
                    let what = format!("{line}: {fault:?} at call {nth}: exit {}: {said}", found.exit);
                    if found != right {
                        assert_eq!(found.exit, 1, "{what}");
                        assert!(said.contains(name) && !fault.is_harmless(), "{what}");
                        assert!(found.files == files, "{what}: makes {:?}", found.files.keys());
                        refused += 1;
                    }
                    (nth, injected) = (nth + stride(SOME), injected + 1);
                }
                calls = calls.max(nth);
            }
            assert!(injected > 3, "{line}: {injected} faults, since too few calls to the tree pass the layer");
            println!("| {line} | {name} | {calls} | {injected} | {} | {refused} | 0 |", injected - refused);
        }
    }
}
