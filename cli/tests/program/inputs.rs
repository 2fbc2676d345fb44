//! Inputs that change while a run reads them, or between an interrupt and the run that resumes it.
#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{command, files, folder, orthant, text};

fn start(folder: &Path, arguments: &str) -> Child {
    command(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(folder: &Path, tree: &str) -> usize {
    fs::read_to_string(folder.join(format!(".{tree}.part/progress"))).map_or(0, |text| text.lines().count())
}

/// Waits until a tree that is written has so many lines of progress, or the run has ended.
fn wait(child: &mut Child, folder: &Path, tree: &str, count: usize) {
    let start = Instant::now();
    while lines(folder, tree) < count && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a run and interrupts it when a shard is finished.
fn interrupt(folder: &Path, arguments: &str, tree: &str) {
    let mut child = start(folder, arguments);
    wait(&mut child, folder, tree, 2);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(files(folder).contains(&format!(".{tree}.part")));
}

fn refused(output: &Output) {
    let said = text(&output.stderr);
    let refused = output.status.code() == Some(2) && said.contains("finished shards of another tree, whose source is");
    assert!(refused && said.contains("--force"), "{:?} {said}", output.status);
}

const SCHEME: &str = "-g 2^5 -B 16";

/// One chunk of 65,536 is written anew, and has the length that it had.
#[test]
fn a_chunk_that_changed_refuses_the_resume() {
    let folder = folder("inputs-zarr");
    fs::create_dir(folder.join("a.zarr")).unwrap();
    let metadata = r#"{"zarr_format": 2, "shape": [512, 1024, 1024], "chunks": [8, 32, 32], "dtype": "|u1",
        "compressor": null, "fill_value": 0, "order": "C", "filters": null}"#;
    fs::write(folder.join("a.zarr/.zarray"), metadata).unwrap();
    let chunk = folder.join("a.zarr/63.31.31");
    fs::write(&chunk, vec![1; 1 << 13]).unwrap();
    let run = format!("run array --input a.zarr {SCHEME} -o a.tree.zarr");
    interrupt(&folder, &run, "a.tree.zarr");
    // As it is, it resumes.
    let mut resumed = start(&folder, &run);
    let before = lines(&folder, "a.tree.zarr");
    wait(&mut resumed, &folder, "a.tree.zarr", before + 1);
    assert!(Command::new("kill").args(["-INT", &resumed.id().to_string()]).status().unwrap().success());
    assert!(text(&resumed.wait_with_output().unwrap().stderr).contains("are gone on with"));
    let modified = chunk.metadata().unwrap().modified().unwrap();
    fs::write(&chunk, vec![2; 1 << 13]).unwrap();
    File::options().write(true).open(&chunk).unwrap().set_modified(modified).unwrap();
    refused(&orthant(&folder, &run));
    assert_eq!(files(&folder), [".a.tree.zarr.part", "a.zarr"]);
}

/// The time of the last write is set back; and cells of the same file that lie in another way are other cells.
#[test]
fn a_file_that_changed_or_is_read_in_another_way_refuses_the_resume() {
    let folder = folder("inputs-raw");
    let path = folder.join("a.raw");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let run = format!("run array --input a.raw --dtype u8 -n 2^10x2^10x2^10 {SCHEME} -o a.tree.zarr");
    interrupt(&folder, &run, "a.tree.zarr");
    refused(&orthant(&folder, &format!("{run} --order fortran")));
    refused(&orthant(&folder, &format!("{run} --endian big")));
    let modified = path.metadata().unwrap().modified().unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"other", 12345).unwrap();
    file.set_modified(modified).unwrap();
    refused(&orthant(&folder, &run));
}

/// A file is cut at some moment of a run, and at several: the run ends with a message, and leaves nothing.
#[test]
fn a_file_that_is_cut_while_it_is_read_is_an_error_that_names_the_byte() {
    let folder = folder("inputs-cut");
    let path = folder.join("a.raw");
    let mut cuts = 0;
    for (outputs, milliseconds) in [
        ("-o a.tree.zarr", None),
        ("-o a.tree.zarr", Some(50)),
        ("-o a.npy", Some(100)),
        ("", Some(150)),
        ("-o a.tree.zarr -o a.png", Some(200)),
    ] {
        File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let mut child =
            start(&folder, &format!("run array --input a.raw --dtype u8 -n 2^10x2^10x2^10 {SCHEME} {outputs}"));
        match milliseconds {
            Some(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
            // Some shards are finished.
            None => wait(&mut child, &folder, "a.tree.zarr", 3),
        }
        let length = 1 << 20;
        File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        if output.status.code() == Some(0) && milliseconds.is_some() {
            // A fast machine had read all of it, and compared it once more, before it was cut.
            for name in files(&folder).iter().filter(|name| *name != "a.raw") {
                let path = folder.join(name);
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
            }
            continue;
        }
        if output.status.code() == Some(2) && said.contains(": 1048576 bytes of cells") && milliseconds.is_some() {
            // On a busy machine it was cut before it was opened.
            assert_eq!(files(&folder), ["a.raw"], "{outputs} {milliseconds:?}");
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{outputs} {milliseconds:?}: {:?} {said}", output.status);
        let cut = format!(": the file ends at byte {length}, since it was cut while it was read");
        let named = said.contains("orthant: a.raw: byte ") && said.contains(&cut);
        cuts += u32::from(named);
        // A file that was read to its end is compared once more.
        assert!(named || said.contains("orthant: a.raw: the file changed while it was read"), "{said}");
        assert_eq!(files(&folder), ["a.raw"], "{outputs} {milliseconds:?}");
    }
    assert!(cuts > 0, "no run met the end of the file");
}

/// A file that is written to without a change of its length.
#[test]
fn a_file_that_changes_while_it_is_read_leaves_no_tree() {
    let folder = folder("inputs-changed");
    let path = folder.join("a.raw");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let run = format!("run array --input a.raw --dtype u8 -n 2^10x2^10x2^10 {SCHEME} -o a.tree.zarr");
    let mut child = start(&folder, &run);
    wait(&mut child, &folder, "a.tree.zarr", 2);
    let file = File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"other", (1 << 30) - 99).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("orthant: a.raw: the file changed while it was read; run again"), "{said}");
    assert_eq!(files(&folder), ["a.raw"]);
}

/// Cells of a header that lie outside of its folder.
#[test]
fn a_header_does_not_lead_outside_unless_it_is_followed() {
    let folder = folder("inputs-follow");
    fs::create_dir(folder.join("in")).unwrap();
    fs::write(folder.join("secret.raw"), [3; 64]).unwrap();
    let header = "NDims = 3\nDimSize = 4 4 4\nElementType = MET_UCHAR\nElementDataFile = ../secret.raw\n";
    fs::write(folder.join("in/a.mhd"), header).unwrap();
    let refused = orthant(&folder, "run array --input in/a.mhd");
    let secret = folder.join("secret.raw").canonicalize().unwrap();
    let says = format!(
        "orthant: in/a.mhd: line 4: ElementDataFile '../secret.raw': {} lies outside of the header's folder; \
         --follow reads it, or copy it beside the header",
        secret.display()
    );
    assert_eq!((refused.status.code(), text(&refused.stderr).trim_end()), (Some(2), &*says));
    let followed = orthant(&folder, "run array --input in/a.mhd --follow");
    assert!(followed.status.success(), "{}", text(&followed.stderr));
    assert!(orthant(&folder, "run array --input in/a.mhd --follow -o a.tree.zarr").status.success());
    let refused = orthant(&folder, "tree validate a.tree.zarr --against in/a.mhd");
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("; --follow reads it"));
    let followed = orthant(&folder, "tree validate a.tree.zarr --against in/a.mhd --follow");
    assert!(followed.status.success(), "{}", text(&followed.stderr));
    let field = orthant(&folder, "run mandelbrot -n 16 --follow");
    assert!(field.status.code() == Some(2) && text(&field.stderr).contains("--follow: mandelbrot is computed"));
}
