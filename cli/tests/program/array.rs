//! Arrays from files: what a run says of one, and what it writes.

use std::path::{Path, PathBuf};

use orthant::tree::TreeFile;
use serde_json::{Value, json};

use crate::binary::{command, files, folder, json, orthant, report, text};

/// Runs and answers what is on stderr.
fn run(folder: &Path, arguments: &str) -> String {
    let output = orthant(folder, &format!("run {arguments} --force"));
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// The cells of a `.npy` file, as they lie in it.
fn cells(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..].to_vec()
}

/// Of every level and of the cells, what does not depend on which cells are looked at.
fn counts(report: &Value) -> Value {
    let of = |value: &Value, keys: &[&str]| keys.iter().map(|&key| value[key].clone()).collect::<Vec<_>>();
    let level = |level: &Value| of(level, &["level", "grid", "regions", "subdivided", "filled", "leaves", "p"]);
    let levels: Vec<_> = report["levels"].as_array().unwrap().iter().map(level).collect();
    json!([levels, of(&report["cells"], &["total", "filled", "leaf"]), of(report, &["size", "g", "r", "B", "curve"])])
}

/// From the cells up as from the top down, in every way that the same cells can lie in a file.
#[test]
fn an_array_is_subdivided_as_the_field_that_made_it() {
    let folder = folder("array-counts");
    for (field, scheme) in [
        ("mandelbrot -n 300x200", "-g 3x2 -r 2 -B 3 --curve hilbert"),
        ("cantor --dim 1 -n 3^6", "-g 1 -r 3 -B 1"),
        ("julibrot -n 20x18x9x7", "-g 2 -r 2x2x2x1 -B 1 --curve canonical"),
    ] {
        let expected = report(&folder, &format!("{field} {scheme} --explore full --keep regions -o a.npy"));
        let size = expected["size"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("x");
        std::fs::write(folder.join("a.raw"), [&b"head"[..], &cells(&folder.join("a.npy"))].concat()).unwrap();
        let raw = format!("array --input a.raw --dtype u16 --offset 4 --size {size}");
        for array in ["array --input a.npy".into(), format!("array --input a.npy --keep regions -n {size}"), raw] {
            let found = report(&folder, &format!("{array} {scheme}"));
            assert_eq!(counts(&found), counts(&expected), "{array} {field}");
            assert_eq!(found["regions_checksum"], expected["regions_checksum"], "{array} {field}");
            assert_eq!(
                [&found["workload"], &found["strategy"], &found["explore"], &found["cell"], &found["checksum"]],
                [&json!("array"), &json!("bottom-up"), &json!("full"), &json!("u16"), &Value::Null]
            );
            let bytes = if array.contains("regions") { &expected["compact_bytes"] } else { &json!(0) };
            assert_eq!(&found["compact_bytes"], bytes, "{array}");
        }
        run(&folder, &format!("array --input a.npy {scheme} -o b.npy -q"));
        assert!(
            std::fs::read(folder.join("a.npy")).unwrap() == std::fs::read(folder.join("b.npy")).unwrap(),
            "{field}"
        );
    }
}

#[test]
fn an_array_is_shown() {
    let folder = folder("array-shown");
    let value = |i: usize| {
        if i % 16 < 8 {
            -1.5f32
        } else if i / 16 % 16 < 4 {
            f32::NAN
        } else {
            i as f32
        }
    };
    let bytes: Vec<u8> = (0..16 * 16 * 4).flat_map(|i| value(i).to_le_bytes()).collect();
    std::fs::write(folder.join("a.raw"), bytes).unwrap();
    let array = "array --input a.raw --dtype f32 -n 16x16x4";
    let output = orthant(&folder, &format!("run {array} -g 2 -B 1 -o a.png --overlay o.png -o a.npy --report r.json"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(files(&folder), ["a.npy", "a.png", "a.raw", "o.png", "r.json"]);
    let said = text(&output.stdout);
    assert!(said.starts_with("array a.raw 16x16x4 f32, bottom-up morton on cpu"), "{said}");
    assert!(said.contains("g 2 r 2 B 1, explore full") && said.contains("checksum xxh3sum:"), "{said}");
    let file = std::io::BufReader::new(std::fs::File::open(folder.join("a.png")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    // The least is the first colour, the greatest of the slice the last, what is not a number black; y points up.
    assert_eq!((pixels.len(), pixels[0], pixels[15], pixels[16 * 15 + 15]), (256, 1, 255, 0));
    let report = json(&folder.join("r.json"));
    let input =
        json!({"path": "a.raw", "member": null, "order": "c", "endian": "little", "bytes": 4096, "nan": "equal"});
    assert_eq!(report["input"], input);
    // NaNs count as one value, unless they are not wanted.
    assert!(report["cells"]["filled"].as_u64().unwrap() >= 512);
    let refused = orthant(&folder, &format!("run {array} --nan error"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cell [8, 0, 0] is not a number"), "{}", text(&refused.stderr));
    // The pipe gets the array, and the table has no place.
    let piped = orthant(&folder, &format!("run {array} -o -"));
    assert_eq!(piped.stdout, std::fs::read(folder.join("a.npy")).unwrap());
}

#[test]
fn a_scheme_is_found_for_an_array() {
    let folder = folder("array-scheme");
    std::fs::write(folder.join("a.raw"), vec![0; 500 * 470 * 3]).unwrap();
    let scheme = |options: &str| {
        let found = report(&folder, &format!("array --input a.raw --dtype u8 {options}"));
        [found["g"].clone(), found["r"].clone(), found["B"].clone()]
    };
    assert_eq!(scheme("-n 500x470x3"), [json!([2, 2, 1]), json!([2, 2, 1]), json!(12)]);
    assert_eq!(scheme("-n 500x1410"), [json!([2, 6]), json!([2, 2]), json!(48)]);
    assert_eq!(scheme("-n 500x470x3 -r 2 -B 2"), [json!([125, 118, 1]), json!([2, 2, 2]), json!(2)]);
    assert_eq!(scheme("-n 705000"), [json!([1]), json!([2]), json!(3072)]);
}

#[test]
fn noise_is_said_to_be_noise() {
    let folder = folder("array-noise");
    let noise: Vec<u8> = (0..1u32 << 18).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    std::fs::write(folder.join("noise.raw"), noise).unwrap();
    let array = "array --input noise.raw --dtype u8 --dim 3 -n 64";
    assert!(run(&folder, array).contains("100 % of the cells are in leaves"));
    assert!(!run(&folder, &format!("{array} -q")).contains("leaves"));
    let refused = orthant(&folder, &format!("run {array} --mem-limit 100K -o a.npy"));
    assert_eq!((refused.status.code(), files(&folder)), (Some(5), vec!["noise.raw".into()]));
    // Where nothing is kept only what is being looked at takes memory.
    assert!(orthant(&folder, &format!("run {array} -g 8 --mem-limit 1M")).status.success());
    let same = orthant(&folder, &format!("run {array} -o noise.raw"));
    assert_eq!(same.status.code(), Some(2));
}

/// One byte per read is enough to see that a terabyte is not in memory.
#[cfg(unix)]
#[test]
fn what_is_no_array_is_told() {
    let folder = folder("array-hostile");
    std::fs::create_dir(folder.join("folder.npy")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.npy")).status().unwrap().success());
    std::fs::write(folder.join("magic.npy"), "no magic here").unwrap();
    std::fs::write(folder.join("zip.npz"), "no zip here").unwrap();
    let file = std::fs::File::create(folder.join("sparse.npy")).unwrap();
    file.set_len(1 << 40).unwrap();
    for (input, says) in [
        ("folder.npy", "folder.npy: not a regular file"),
        ("pipe.npy", "pipe.npy: not a regular file"),
        ("none.npy", "none.npy: No such file"),
        ("magic.npy", "magic.npy: byte 0: not a .npy file"),
        ("sparse.npy", "sparse.npy: byte 0: not a .npy file"),
        ("zip.npz:a", "zip.npz: not a .npz file"),
        ("folder.npy --dtype u8", "--dtype: folder.npy says so itself"),
    ] {
        let output = command(&folder, &format!("run array --input {input}")).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{input}: {said}");
    }
}

/// What a folder holds, by the paths in it.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(content(&entry.path())),
            false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
    found.iter_mut().for_each(|(path, _)| *path = path.strip_prefix(folder).unwrap_or(path).to_owned());
    found.sort();
    found
}

/// The cells of a tree in a file, as `.npy` has them.
fn dense<const K: usize>(path: &Path) -> Vec<u8> {
    let tree = TreeFile::<K>::open(path).unwrap().tree(None).unwrap();
    let array = tree.array(&tree.plan().domain().region(), None).unwrap();
    let mut bytes = Vec::new();
    let put = |piece: &[u8]| -> Result<(), std::convert::Infallible> {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    array.cells().le_bytes(0..array.cells().len(), put).unwrap();
    bytes
}

#[test]
fn every_run_leaves_a_tree() {
    let folder = folder("array-trees");
    run(
        &folder,
        "mandelbrot -n 300x200 -g 3x2 -B 3 --explore full -o a.npy -o dense.tree.zarr -o zip.tree.zarr.zip -q",
    );
    run(&folder, "mandelbrot -n 300x200 -g 3x2 -B 3 --explore full --keep regions -o regions.tree.zarr -q");
    run(
        &folder,
        "mandelbrot -n 300x200 -g 3x2 -B 3 --strategy exhaustive --curve canonical -o exhaustive.tree.zarr -q",
    );
    let array = "array --input a.npy -g 3x2 -B 3";
    let streamed = report(&folder, &format!("{array} -o streamed.tree.zarr"));
    let kept = report(&folder, &format!("{array} -o kept.tree.zarr -o kept.npy"));
    let cells = cells(&folder.join("a.npy"));
    for tree in ["dense", "regions", "exhaustive", "streamed", "kept"] {
        assert!(dense::<2>(&folder.join(tree).with_extension("tree.zarr")) == cells, "{tree}");
    }
    assert!(dense::<2>(&folder.join("zip.tree.zarr.zip")) == cells);
    assert!(content(&folder.join("dense.tree.zarr")) == content(&folder.join("regions.tree.zarr")));
    assert!(content(&folder.join("streamed.tree.zarr")) == content(&folder.join("kept.tree.zarr")));
    // As counted on the way, and in memory.
    assert_eq!((counts(&streamed), &streamed["keep"]), (counts(&kept), &json!("regions")));
    assert_eq!(streamed["regions_checksum"], kept["regions_checksum"]);
    assert_eq!(streamed["levels"], kept["levels"]);
    let file = TreeFile::<2>::open(folder.join("streamed.tree.zarr")).unwrap();
    assert_eq!(file.info().source.as_deref(), Some("a.npy"));

    // What is there stays, and so does what is read.
    let again = orthant(&folder, &format!("run {array} -o kept.tree.zarr"));
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("kept.tree.zarr exists already; --force"), "{}", text(&again.stderr));
    std::fs::create_dir(folder.join("mine.tree.zarr")).unwrap();
    let foreign = orthant(&folder, &format!("run {array} -o mine.tree.zarr --force"));
    assert!(foreign.status.code() == Some(2) && text(&foreign.stderr).contains("no tree"), "{}", text(&foreign.stderr));
    std::fs::hard_link(folder.join("a.npy"), folder.join("b.tree.zarr.zip")).unwrap();
    let same = orthant(&folder, &format!("run {array} -o b.tree.zarr.zip --force"));
    assert!(same.status.code() == Some(2) && text(&same.stderr).contains("is read, and cannot be written too"));
    assert!(
        files(&folder).iter().all(|name| !name.starts_with(".a") && !name.ends_with(".part")),
        "{:?}",
        files(&folder)
    );
}
