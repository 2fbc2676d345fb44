//! Ends from outside: signals, and limits of memory and threads.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{command, files, folder, text};
use crate::scope::{every, sized};

fn start(folder: &Path, arguments: &str) -> Child {
    command(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(sent.unwrap().success(), "it has ended already");
}

/// Waits until SIGINT has a handler, where the system tells.
fn listening(child: &Child) {
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? & 2 != 0)
    };
    for _ in 0..1000 {
        if caught() != Some(false) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a pipe that nobody reads is full: it holds much, and for half a second no more comes.
fn until_full(pipe: &std::io::PipeReader) {
    let (start, mut before) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(500));
        let held = rustix::io::ioctl_fionread(pipe).unwrap();
        if held > LITTLE && held == before {
            return;
        }
        before = held;
    }
    panic!("after 60 s the pipe is not full: it holds {before} bytes");
}

/// Fewer bytes than a pipe holds by default on Linux and macOS.
const LITTLE: u64 = 1 << 15;

/// True if a process ignores SIGHUP, where the system tells.
fn ignores_hangup(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 != 0
}

/// Who starts it with `nohup` wants it to go on without a terminal.
#[test]
fn a_hangup_that_was_ignored_stays_so() {
    let folder = folder("nohup");
    let orthant = command(&folder, "run mandelbrot -n 2^17 --explore full --keep counts");
    let mut shell = in_shell(&folder, "trap '' HUP", &orthant);
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    listening(&child);
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None);
    send(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// Runs `orthant` in a shell that limits it first.
pub(super) fn limited(folder: &Path, limit: &str, arguments: &str) -> Output {
    in_shell(folder, limit, &command(folder, arguments)).output().unwrap()
}

/// The fewest megabytes of address space in which the program starts; one that was built without optimisation needs more.
#[cfg(target_os = "linux")]
pub(super) fn least(folder: &Path) -> u32 {
    let starts =
        |megabytes: &u32| limited(folder, &format!("ulimit -v {}", megabytes * 1024), "--version").status.success();
    (10..200).step_by(2).find(starts).unwrap()
}

/// A shell that does something and then becomes `orthant`. It closes descriptors 3 to 9 first, which whoever started the tests may have left
/// open: they count against `ulimit -n`.
pub(super) fn in_shell(folder: &Path, first: &str, orthant: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .current_dir(folder)
        .arg("-c")
        .arg(format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; {first}; exec \"$0\" \"$@\""));
    shell.arg(orthant.get_program()).args(orthant.get_args());
    for (name, value) in orthant.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// A tree of 64 shards, each of which is read from a hole in a file.
#[test]
fn a_tree_that_was_interrupted_is_gone_on_with() {
    let folder = folder("resumed");
    std::fs::File::create(folder.join("sparse.raw")).unwrap().set_len(1 << 31).unwrap();
    let run = || {
        let array =
            "run array --input sparse.raw --dtype u8 -n 2^11x2^10x2^10 -g 2^6x2^5x2^5 -B 16 -o sparse.tree.zarr";
        let child = start(&folder, array);
        listening(&child);
        // A line for the tree, and one for each shard that is finished.
        let lines = || {
            std::fs::read_to_string(folder.join(".sparse.tree.zarr.part/progress"))
                .map_or(0, |text| text.lines().count())
        };
        let before = lines();
        let start = Instant::now();
        while lines() < before.max(1) + 1 && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        send(&child, "INT");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let first = run();
    assert!(!first.contains("gone on with"), "{first}");
    assert_eq!(files(&folder), [".sparse.tree.zarr.part", "sparse.raw"]);
    let second = run();
    assert!(second.contains("orthant: sparse.tree.zarr: ") && second.contains(" of 64 shards are there"), "{second}");
    // Of something else.
    std::fs::File::options().append(true).open(folder.join("sparse.raw")).unwrap().set_len(1 << 30).unwrap();
    let other = "run array --input sparse.raw --dtype u8 -n 2^10x2^10x2^10 -g 2^5x2^5x2^5 -B 16 -o sparse.tree.zarr";
    let refused = command(&folder, other).output().unwrap();
    let said = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(2)
            && said.contains("finished shards of another tree")
            && said.contains("--force"),
        "{said}"
    );
}

/// Each would go on for minutes. What they are at hears of a signal between portions of work, or not at all: the field's
/// own image, a sample, a pipe.
#[test]
fn a_signal_is_heard_inside_a_region() {
    let folder = folder("signals");
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    std::fs::File::create(folder.join("sparse.raw")).unwrap().set_len(1 << 40).unwrap();
    let before = files(&folder);
    for (arguments, signal, code) in [
        ("run array --input sparse.raw --dtype u16 -n 2^13x2^13x2^13 -o a.npy", "INT", 130),
        ("run mandelbrot -n 2^31 --keep counts -g 64 -B 2^22", "INT", 130),
        ("run mandelbrot -n 2^17 --explore full --keep counts", "TERM", 143),
        ("run mandelbulb -n 2^12 --explore full --keep counts", "INT", 130),
        ("run mandelbrot -n 2^13 --cell i32 --dwell 2147483647 -o m.png", "INT", 130),
        ("run mandelbrot -n 2^15 --auto-scheme --cell i32 --dwell 100000000 -o m.npy", "TERM", 143),
        ("run mxm --dim 4 -n 2^14 --dwell 65535 --keep counts", "INT", 130),
        ("model tune mandelbrot -n 2^14 --dwell 65535 --dry-run", "INT", 130),
        ("model fit pipe --dry-run", "TERM", 143),
        ("run mandelbrot -n 2^17 --explore full --keep counts", "HUP", 129),
    ] {
        // Whoever runs the tests may want them to outlive the terminal.
        if signal == "HUP" && ignores_hangup("self") {
            continue;
        }
        let child = start(&folder, arguments);
        listening(&child);
        std::thread::sleep(Duration::from_millis(100));
        let sent = Instant::now();
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        // A fifth of a second on a machine with nothing else to do.
        assert!(sent.elapsed() < Duration::from_secs(5), "{arguments}: {:?}", sent.elapsed());
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("interrupted"), "{arguments}");
        assert_eq!(files(&folder), before, "{arguments}");
    }
}

/// What does not fit is refused with its figure, or ends with the code for memory; either way nothing is left behind.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_is_an_answer() {
    let folder = folder("memory");
    let least = least(&folder);
    for megabytes in every(2, [60, 80, 110, 160, 250, 400]).filter(|&megabytes| megabytes > least) {
        for arguments in ["run mandelbulb -n 256 -q --keep regions -o m.npy", "run mandelbrot -n 2^13 -q -o m.png"] {
            let output = limited(&folder, &format!("ulimit -v {}", megabytes * 1024), arguments);
            let said = text(&output.stderr);
            match output.status.code() {
                Some(0) => files(&folder).iter().for_each(|name| std::fs::remove_file(folder.join(name)).unwrap()),
                Some(5) => assert!(said.contains("memory") || said.contains("limit of"), "{said}"),
                other => panic!("{arguments} in {megabytes} MiB: {other:?}: {said}"),
            }
            assert_eq!(files(&folder), [""; 0], "{arguments} in {megabytes} MiB");
        }
    }
}

/// What the system refuses is named with its figure, whatever the limit that was asked for.
#[cfg(target_os = "linux")]
#[test]
fn refused_memory_is_named() {
    let folder = folder("refused");
    for (arguments, words) in [
        ("run mandelbrot -n 2^14 --mem-limit 8G -o m.npy", "the dense array would take 512.0 MiB, more than there is"),
        ("run mxm --dim 4 -n 2^14x2^14x2x2 --keep counts --mem-limit 8G", "an image of a factor would take 1.0 GiB"),
    ] {
        let output = limited(&folder, "ulimit -v 400000", arguments);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(5) && said.contains(words), "{arguments}: {said}");
        assert_eq!(files(&folder), [""; 0], "{arguments}");
    }
}

/// Commands that measure or check answer a limit too; one that could not start a thread says so.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_is_an_answer_of_every_command() {
    let folder = folder("memory-of-others");
    let least = least(&folder);
    for megabytes in [40, 60, 160].into_iter().filter(|&megabytes| megabytes > least) {
        for arguments in [
            "verify --brief mandelbrot",
            "bench -q -a workload=cantor -a n=9,27 -a backend=cpu --min-samples 1 --max-samples 1 -o b.jsonl",
            "curves compare mandelbrot -n 2^11 -q",
        ] {
            let output = limited(&folder, &format!("ulimit -v {}", megabytes * 1024), arguments);
            let said = text(&output.stderr);
            match output.status.code() {
                Some(0) => files(&folder).iter().for_each(|name| std::fs::remove_file(folder.join(name)).unwrap()),
                Some(5) => assert!(said.contains("memory") || said.contains("limit of"), "{said}"),
                Some(1) => assert!(said.contains("can be started") || said.contains("cannot be started"), "{said}"),
                other => panic!("{arguments} in {megabytes} MiB: {other:?} {:?}: {said}", output.status),
            }
            assert_eq!(files(&folder), [""; 0], "{arguments} in {megabytes} MiB");
        }
    }
}

/// Threads take 2 MiB each, so that somewhere in such a range the last one leaves next to nothing: the stack of the main thread has what
/// it needs by then, and a thread that could not come up is not begun.
#[cfg(target_os = "linux")]
#[test]
fn no_limit_of_memory_ends_the_program_by_a_signal() {
    let folder = folder("memory-by-pages");
    let least = 1024 * (least(&folder) + 8);
    for kilobytes in (least..least + 2560).step_by(sized(32, 128)) {
        let output = limited(&folder, &format!("ulimit -v {kilobytes}"), "verify --brief mandelbrot");
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 5)),
            "{kilobytes} KiB: {:?} {}",
            output.status,
            text(&output.stderr)
        );
    }
}

/// A number of threads that nobody has is cut down aloud.
#[test]
fn threads_are_bounded() {
    let folder = folder("threads");
    let output = command(&folder, "run mandelbrot -n 64").env("RAYON_NUM_THREADS", "60000").output().unwrap();
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("RAYON_NUM_THREADS 60000"));
}

/// One file under two names is found before any work; links lead to their files, and pipes take what comes.
#[test]
fn files_are_known_by_what_they_are() {
    let folder = folder("identity");
    let run = |arguments: &str| {
        let output = command(&folder, &format!("run mandelbrot -n 16 -q {arguments}")).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    std::fs::write(folder.join("there.png"), "mine").unwrap();
    std::fs::hard_link(folder.join("there.png"), folder.join("hard.png")).unwrap();
    std::os::unix::fs::symlink("there.png", folder.join("soft.png")).unwrap();
    std::os::unix::fs::symlink("nowhere.png", folder.join("dangling.png")).unwrap();
    for arguments in [
        "-o q.png --overlay ./q.png",
        "-o q.png --overlay ../identity/q.png",
        "-o there.png --overlay hard.png --force",
        "-o soft.png --overlay there.png --force",
    ] {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(2), "{arguments}: {said}");
        assert!(said.contains("named for two outputs"), "{arguments}: {said}");
    }
    assert!(run("-o soft.png").1.contains("exists already"));
    assert!(run("-o dangling.png --force").1.contains("link to a file that is not there"));
    assert_eq!(std::fs::read(folder.join("there.png")).unwrap(), b"mine");
    assert_eq!(run("-o soft.png --force").0, Some(0));
    assert!(folder.join("soft.png").symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read(folder.join("there.png")).unwrap().starts_with(b"\x89PNG"));

    assert!(Command::new("mkfifo").arg(folder.join("pipe.npy")).status().unwrap().success());
    let writer = start(&folder, "run mandelbrot -n 16 -q -o pipe.npy --force");
    assert!(std::fs::read(folder.join("pipe.npy")).unwrap().starts_with(b"\x93NUMPY"));
    assert!(writer.wait_with_output().unwrap().status.success());
}

/// What a killed process left goes when the next writes beside it; what a living one holds stays.
#[test]
fn what_was_left_is_swept() {
    let folder = folder("swept");
    let file = |name: &str| {
        let file = std::fs::File::create(folder.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
        file
    };
    let (_left, held, _other) = (file(".orthant-left.tmp"), file(".orthant-held.tmp"), file(".another.tmp"));
    held.lock().unwrap();
    let output = command(&folder, "run mandelbrot -n 16 -q -o m.png").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(files(&folder), [".another.tmp", ".orthant-held.tmp", "m.png"]);
}

/// Nobody reads what it writes, and it hears of a signal all the same.
#[test]
fn a_full_pipe_does_not_keep_it() {
    let folder = folder("full");
    for (stream, arguments) in [
        (
            "1",
            "bench -q -a workload=cantor -a n=64 -a B=1:500 -a backend=cpu --min-samples 1 --max-samples 1 --warm-up 0",
        ),
        (
            "2",
            "bench -a workload=cantor -a n=64 -a B=1:2000 -a backend=cpu --min-samples 1 --max-samples 1 -o a.jsonl --force",
        ),
    ] {
        let (read, write) = std::io::pipe().unwrap();
        let mut command = command(&folder, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        match stream {
            "1" => command.stdout(write),
            _ => command.stderr(write),
        };
        let mut child = command.spawn().unwrap();
        drop(command);
        until_full(&read);
        let sent = Instant::now();
        send(&child, "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(143), "{arguments}");
        assert!(sent.elapsed() < Duration::from_secs(5), "{arguments}: {:?}", sent.elapsed());
        let mut held = Vec::new();
        std::io::Read::read_to_end(&mut { read }, &mut held).unwrap();
        assert!(held.len() as u64 > LITTLE, "{arguments}: the pipe has room: {} bytes", held.len());
    }
}

/// What is read is not written over, by whatever name.
#[test]
fn no_output_is_an_input() {
    let folder = folder("inputs");
    let rows = "bench -q -a workload=cantor -a n=9 -a backend=cpu --min-samples 1 --max-samples 1 -o rows.jsonl";
    assert!(command(&folder, rows).status().unwrap().success());
    std::os::unix::fs::symlink("rows.jsonl", folder.join("page.html")).unwrap();
    let before = std::fs::read(folder.join("rows.jsonl")).unwrap();
    let output = command(&folder, "report rows.jsonl -o page.html --force").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("page.html: is read"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(folder.join("rows.jsonl")).unwrap(), before);
}

/// Whoever reads stdout may leave; files are written all the same.
#[test]
fn files_do_not_suffer_from_a_reader_who_leaves() {
    let folder = folder("leaves");
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    let status = command(&folder, "run mandelbrot -n 600 -q -o - -o b.npy --report r.json").stdout(write).status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert_eq!(files(&folder), ["b.npy", "r.json"]);
}
