//! Trees on the command line: an array of one's own in, a tree home, and what it is asked.

use std::path::{Path, PathBuf};

use crate::binary::{files, folder, json, lines, orthant, text};

/// 40 x 30 x 20 bytes, axis 0 first: a ground of 0, a box of 7, and a line of 9 in it.
const SIZE: [usize; 3] = [40, 30, 20];

fn value([x, y, z]: [usize; 3]) -> u8 {
    let inside = (5..33).contains(&x) && (8..24).contains(&y) && (3..17).contains(&z);
    if inside && [y, z] == [10, 10] { 9 } else { 7 * u8::from(inside) }
}

/// The cells in the order of a file.
fn cells() -> impl Iterator<Item = [usize; 3]> {
    (0..SIZE[0] * SIZE[1] * SIZE[2]).map(|i| [i % SIZE[0], i / SIZE[0] % SIZE[1], i / SIZE[0] / SIZE[1]])
}

fn write_npy(path: &Path, shape: &str, cells: impl Iterator<Item = u8>) {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(cells);
    std::fs::write(path, bytes).unwrap();
}

/// The shape that a file says, and its cells.
fn read_npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = std::str::from_utf8(&bytes[10..header]).unwrap();
    let shape = text.split_once("'shape': ").unwrap().1.trim_end().trim_end_matches(", }").to_owned();
    (shape, bytes[header..].to_vec())
}

/// A folder with the array and its tree.
fn with_tree(name: &str) -> PathBuf {
    let folder = folder(name);
    write_npy(&folder.join("a.npy"), "20, 30, 40", cells().map(value));
    told(&folder, "run array --input a.npy -g 2 -r 2 -B 2 -o a.tree.zarr");
    folder
}

/// What a command that must succeed says on stdout.
fn told(folder: &Path, arguments: &str) -> String {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// What a command that must fail says on stderr.
fn refused(folder: &Path, arguments: &str, code: i32) -> String {
    let output = orthant(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn a_tree_is_looked_into() {
    let folder = with_tree("tree-looks");
    let info = lines(&folder, "tree info a.tree.zarr --json").remove(0);
    assert_eq!((&info["k"], &info["cell"], &info["size"]), (&3.into(), &"u8".into(), &serde_json::json!(SIZE)));
    let regions = lines(&folder, "tree print a.tree.zarr --json");
    assert_eq!(info["regions"], regions.len());
    let volume = |region: &serde_json::Value| {
        region["extent"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).product::<u64>()
    };
    assert_eq!(regions.iter().map(volume).sum::<u64>(), 24_000);
    assert_eq!(told(&folder, "tree print a.tree.zarr").lines().count(), regions.len());
    let csv = told(&folder, "tree print a.tree.zarr --csv --level 1");
    assert!(csv.starts_with("level,code,corner0,corner1,corner2,extent0,extent1,extent2,value,provenance\n"));
    assert!(csv.lines().skip(1).all(|line| line.starts_with("1,") && line.split(',').count() == 10));
    assert!(told(&folder, "tree info a.tree.zarr").contains("40x30x20 u8"));

    let stats = lines(&folder, "tree stats a.tree.zarr --json");
    let counted = |wanted: u8| cells().filter(|&cell| value(cell) == wanted).count();
    for (line, wanted) in stats.iter().zip([0, 7, 9]) {
        assert_eq!((&line["value"], &line["cells"]), (&wanted.into(), &counted(wanted).into()));
    }
    assert_eq!(stats.len(), 3);
    assert!(refused(&folder, "tree stats a.tree.zarr --most 2", 2).contains("--most"));
    assert_is_where_it_is(&folder, &stats);
}

/// Labels lie where a look at every cell finds them, as JSON, CSV and a table have it.
fn assert_is_where_it_is(folder: &Path, stats: &[serde_json::Value]) {
    let csv = told(folder, "tree stats a.tree.zarr --csv");
    let mut csv = csv.lines();
    let header = "value,name,cells,share,volume,mean_x,mean_y,mean_z,corner_x,corner_y,corner_z,extent_x,extent_y,extent_z,regions,leaves";
    assert_eq!(csv.next(), Some(header));
    for line in stats {
        let own = || cells().filter(|&cell| line["value"] == value(cell));
        for axis in 0..3 {
            let (least, most) =
                (own().map(|cell| cell[axis]).min().unwrap(), own().map(|cell| cell[axis]).max().unwrap());
            assert_eq!((&line["corner"][axis], &line["extent"][axis]), (&least.into(), &(most + 1 - least).into()));
            let mean = own().map(|cell| cell[axis] as f64 + 0.5).sum::<f64>() / own().count() as f64;
            assert!((line["centroid"][axis].as_f64().unwrap() - mean).abs() < 1e-9, "{line}");
        }
        let row: Vec<_> = csv.next().unwrap().split(',').collect();
        assert_eq!((row[0], row[2]), (&*line["value"].to_string(), &*line["cells"].to_string()));
        assert_eq!((row[8], row[13]), (&*line["corner"][0].to_string(), &*line["extent"][2].to_string()));
    }
    // Forced to be numbers, labels have a mean.
    let values = lines(folder, "tree stats a.tree.zarr --kind values --intervals 3 --json").remove(0);
    let mean = cells().map(|cell| f64::from(value(cell))).sum::<f64>() / 24_000.0;
    assert!((values["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert_eq!((&values["least"], &values["greatest"]), (&0.into(), &9.into()));
    let counted = |wanted: u8| cells().filter(|&cell| value(cell) == wanted).count();
    assert_eq!(values["histogram"], serde_json::json!([counted(0), 0, counted(7) + counted(9)]));
}

/// Sampled regions that the field proves are proved in the tree of a run that asks for proofs, and nothing else differs.
#[test]
fn a_tree_says_what_was_proven() {
    let folder = folder("tree-proven");
    let regions = |prove: &str| -> Vec<_> {
        let run = "run mandelbrot -n 300 -g 4 -r 2 -B 4 --dwell 200 --keep regions --cell u16";
        told(&folder, &format!("{run} --prove {prove} -o {prove}.tree.zarr"));
        lines(&folder, &format!("tree print {prove}.tree.zarr --json"))
    };
    let (with, without) = (regions("yes"), regions("no"));
    let [mut proved, mut sampled] = [0, 0];
    for (with, without) in with.iter().zip(&without) {
        for what in ["level", "code", "value"] {
            assert_eq!(with[what], without[what]);
        }
        let how = (with["provenance"].as_str().unwrap(), without["provenance"].as_str().unwrap());
        assert!(matches!(how, ("proved", _) | ("sampled", "sampled")), "{how:?}");
        proved += u32::from(how == ("proved", "sampled"));
        sampled += u32::from(how.0 == "sampled");
    }
    assert!(with.len() == without.len() && proved > 100 && sampled > 10, "{proved} {sampled}");
}

#[test]
fn places_of_a_tree_have_values() {
    let folder = with_tree("tree-places");
    let sampled = told(&folder, "tree sample a.tree.zarr --at 6,10,10 --at 6,9,9 --point 39.9,0,0 --at 40,0,0");
    let lines: Vec<&str> = sampled.lines().collect();
    assert_eq!(lines[0], "x,y,z,value,level");
    assert!(
        lines[1].starts_with("6,10,10,9,") && lines[2].starts_with("6,9,9,7,") && lines[4].starts_with("39.9,0,0,0,")
    );
    // Cells come before points.
    assert_eq!(lines[3], "40,0,0,,");
    let list: String = cells().step_by(7).map(|[x, y, z]| format!("{x}, {y}, {z}\n")).collect();
    std::fs::write(folder.join("cells.csv"), format!("x,y,z\n{list}")).unwrap();
    let sampled = told(&folder, "tree sample a.tree.zarr --cells cells.csv");
    for (line, cell) in sampled.lines().skip(1).zip(cells().step_by(7)) {
        assert_eq!(line.split(',').nth(3).unwrap().parse::<u8>().unwrap(), value(cell), "{line}");
    }
    for (arguments, words) in [
        ("--at 1,2", "--at 1,2: 2 numbers, and the tree has 3 axes"),
        ("--at a,2,3", "'a' is not an index"),
        ("--point 1,2,x", "'x' is not a number"),
        ("--cells no.csv", "no.csv"),
        ("", "--at"),
    ] {
        let said = refused(&folder, &format!("tree sample a.tree.zarr {arguments}"), 2);
        assert!(said.contains(words), "{said}");
    }
    std::fs::write(folder.join("bad.csv"), "x,y,z\n1,2,3\n1,2\n").unwrap();
    assert!(refused(&folder, "tree sample a.tree.zarr --cells bad.csv", 2).contains("bad.csv: line 3"));
}

#[test]
fn boxes_slices_and_levels_are_arrays() {
    let folder = with_tree("tree-boxes");
    told(&folder, "tree box a.tree.zarr 4:9,:,10 -o box.npy");
    let (shape, found) = read_npy(&folder.join("box.npy"));
    assert_eq!(shape, "(1, 30, 5,)");
    let wanted: Vec<u8> = cells().filter(|&[x, _, z]| (4..9).contains(&x) && z == 10).map(value).collect();
    assert_eq!(found, wanted);
    told(&folder, "tree slice a.tree.zarr --axis 2=10 -o slice.npy");
    let (shape, found) = read_npy(&folder.join("slice.npy"));
    assert_eq!(shape, "(30, 40,)");
    assert_eq!(found, cells().filter(|cell| cell[2] == 10).map(value).collect::<Vec<u8>>());
    told(&folder, "tree slice a.tree.zarr --axis 2=10 -o slice.png");
    assert!(std::fs::read(folder.join("slice.png")).unwrap().starts_with(b"\x89PNG"));
    told(&folder, "tree lod a.tree.zarr --level 1 --by max -o lod.npy");
    let (shape, found) = read_npy(&folder.join("lod.npy"));
    assert_eq!(shape, "(4, 4, 4,)");
    let block = |at: usize, n: usize| at * n / 4..(at + 1) * n / 4;
    let most = |at: usize| {
        let [x, y, z] = [at % 4, at / 4 % 4, at / 16];
        let here = |cell: &[usize; 3]| {
            block(x, 40).contains(&cell[0]) && block(y, 30).contains(&cell[1]) && block(z, 20).contains(&cell[2])
        };
        cells().filter(here).map(value).max().unwrap()
    };
    assert_eq!(found, (0..64).map(most).collect::<Vec<u8>>());
    told(&folder, "tree lod a.tree.zarr --level 1 --by max -o lod.tree.zarr");
    told(&folder, "tree lod lod.tree.zarr --level 1 -o again.npy");
    assert_eq!(read_npy(&folder.join("again.npy")), read_npy(&folder.join("lod.npy")));
    for (arguments, code, words) in [
        ("box a.tree.zarr 0:41,:,: -o x.npy", 2, "BOX: 0:41: axis x has the indices 0 to 39; a range needs a cell"),
        ("box a.tree.zarr :,: -o x.npy", 2, "2 axes are named, and the tree has 3"),
        ("box a.tree.zarr :,:,: -o x.png", 2, ".npy"),
        ("box a.tree.zarr -o x.npy", 2, "BOX: say which cells, as in 0:64,:,8, or name axes, as in --axis z=8"),
        ("box a.tree.zarr z=3,:,: -o x.npy", 2, "as in --axis z=3"),
        ("box a.tree.zarr :,:,: --axis z=3 -o x.npy", 2, "cannot be used with"),
        (
            "box a.tree.zarr --axis z=3mm -o x.npy",
            2,
            "--axis z=3mm: '3mm' is no place on axis z, which has no unit; write an index",
        ),
        ("box a.tree.zarr :,:,: -o box.npy", 2, "exists already"),
        ("slice a.tree.zarr --axis 3=0 -o x.npy", 2, "there is no axis 3; there are x (0), y (1), z (2)"),
        ("slice a.tree.zarr --axis 2=20 -o x.npy", 2, "indices 0 to 19"),
        ("slice a.tree.zarr --axis 2=1,1=1 -o x.png", 2, "a picture shows two of the 3 axes, and you left 1"),
        ("lod a.tree.zarr --level 9 -o x.npy", 2, "levels 0 to"),
        ("info no.tree.zarr", 2, "no.tree.zarr"),
        ("info a.npy", 2, "a.npy"),
        ("print .", 2, "zarr.json"),
    ] {
        let said = refused(&folder, &format!("tree {arguments}"), code);
        assert!(said.contains(words), "{arguments}: {said}");
    }
    assert!(!files(&folder).iter().any(|name| name.starts_with('x') || name.starts_with('.')), "{:?}", files(&folder));
}

#[test]
fn trees_are_checked_compared_and_converted() {
    let folder = with_tree("tree-formats");
    let said = told(&folder, "tree validate a.tree.zarr --against a.npy");
    assert!(said.contains("tile 24000 cells") && said.contains("0 cells differ"), "{said}");
    write_npy(
        &folder.join("b.npy"),
        "20, 30, 40",
        cells().map(|cell| if cell == [12, 13, 14] { 1 } else { value(cell) }),
    );
    let output = orthant(&folder, "tree validate a.tree.zarr --against b.npy");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("12:13,13:14,14:15: 1 cells differ, the first of them 12,13,14: 7 and 1"));

    told(&folder, "run array --input b.npy -g 3 -r 3 -B 1 --curve canonical -o b.tree.zarr.zip");
    let output = orthant(&folder, "tree diff a.tree.zarr b.tree.zarr.zip");
    assert_eq!((output.status.code(), text(&output.stdout).lines().last().unwrap()), (Some(3), "1 cells differ"));
    told(&folder, "run array --input a.npy -g 3 -r 3 -B 1 -o c.tree.zarr.zip");
    assert_eq!(told(&folder, "tree diff a.tree.zarr c.tree.zarr.zip"), "0 cells differ\n");
    assert_eq!(
        told(&folder, "tree validate c.tree.zarr.zip --against a.tree.zarr").lines().last(),
        Some("0 cells differ")
    );

    told(&folder, "tree convert a.tree.zarr out.npy");
    assert_eq!(read_npy(&folder.join("out.npy")), ("(20, 30, 40,)".into(), cells().map(value).collect()));
    for output in ["out.vti", "out.htg", "out.zarr", "out.tree.zarr", "out.tree.zarr.zip"] {
        told(&folder, &format!("tree convert a.tree.zarr {output}"));
        assert!(refused(&folder, &format!("tree convert a.tree.zarr {output}"), 2).contains("exists"), "{output}");
        told(&folder, &format!("tree convert a.tree.zarr {output} --force"));
    }
    assert_eq!(told(&folder, "tree diff out.tree.zarr out.tree.zarr.zip"), "0 cells differ\n");
    assert_eq!(json(&folder.join("out.zarr/zarr.json"))["zarr_format"], 3);
    assert!(refused(&folder, "tree convert a.tree.zarr out.obj", 2).contains(".obj"));
    assert!(refused(&folder, "tree convert a.tree.zarr a.tree.zarr --force", 2).contains("is read"));
    // What is read is not written over, nor a folder that it lies in.
    let before = told(&folder, "tree print a.tree.zarr");
    std::fs::rename(folder.join("c.tree.zarr.zip"), folder.join("out.zarr/c.tree.zarr.zip")).unwrap();
    for arguments in [
        "lod a.tree.zarr --level 1 -o a.tree.zarr --force",
        "lod a.tree.zarr --level 1 -o ./a.tree.zarr --force",
        "convert out.zarr/c.tree.zarr.zip out.zarr --force",
    ] {
        assert!(refused(&folder, &format!("tree {arguments}"), 2).contains("is read"), "{arguments}");
    }
    // Nor what somebody keeps in a folder of arrays.
    assert!(refused(&folder, "tree convert a.tree.zarr out.zarr --force", 2).contains("not replaced"));
    std::fs::write(folder.join("out.tree.zarr/notes.txt"), "mine").unwrap();
    assert!(refused(&folder, "tree convert a.tree.zarr out.tree.zarr --force", 2).contains("out.tree.zarr"));
    assert_eq!(std::fs::read(folder.join("out.tree.zarr/notes.txt")).unwrap(), b"mine");
    assert_eq!(told(&folder, "tree print a.tree.zarr"), before);
    assert!(refused(&folder, "tree print a.tree.zarr --level 9", 2).contains("--level 9: the tree has levels 0 to 2"));
    // A flipped byte is found, and which file it is in.
    let path = folder.join("a.tree.zarr/cells/c/0/0");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[7] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    assert!(refused(&folder, "tree validate a.tree.zarr", 3).contains("cells/c/0/0"));
    assert!(refused(&folder, "tree validate b.npy", 2).contains("an array, not a tree; `orthant tree build b.npy"));
}

/// Axes with names and units, one of which begins with a digit, and one of the names has a comma.
#[test]
fn cells_are_named_by_axes_and_units() {
    let folder = folder("tree-named");
    let header = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 40 30 20\nencoding: raw\nspacings: 0.5 2 1\n\
                  units: \"mm\" \"1/cm\" \"\"\nlabels: \"a,b\" \"y\" \"z\"\n\n";
    std::fs::write(folder.join("a.nrrd"), [header.as_bytes(), &cells().map(value).collect::<Vec<_>>()].concat())
        .unwrap();
    told(&folder, "tree build a.nrrd -g 2 -r 2 -B 2 -o a.tree.zarr");
    let about = lines(&folder, "tree info a.tree.zarr --json").remove(0)["axes"].clone();
    assert_eq!((&about[0]["name"], &about[1]["unit"]), (&"a,b".into(), &"1/cm".into()), "{about}");
    for (axes, spans) in [
        ("--axis a,b=2mm:4.4mm --axis z=10", "4:9,:,10"),
        ("--axis z=10,0=4:9", "4:9,:,10"),
        ("--axis y=161/cm:201/cm", ":,8:10,:"),
        ("--axis a,b=3.2mm,y=:5", "6,:5,:"),
    ] {
        told(&folder, &format!("tree box a.tree.zarr {axes} -o named.npy --force"));
        told(&folder, &format!("tree box a.tree.zarr {spans} -o spans.npy --force"));
        assert!(read_npy(&folder.join("named.npy")) == read_npy(&folder.join("spans.npy")), "{axes}");
    }
    told(&folder, "tree slice a.tree.zarr --axis z=10,y=201/cm -o named.npy --force");
    told(&folder, "tree box a.tree.zarr :,10,10 -o spans.npy --force");
    assert_eq!(read_npy(&folder.join("named.npy")).1, read_npy(&folder.join("spans.npy")).1);
    let sampled =
        told(&folder, "tree sample a.tree.zarr --at z=10,a,b=3mm,y=201/cm --at 0=6,1=9,2=9 --at z=9,y=9,0=-2mm");
    let lines: Vec<&str> = sampled.lines().skip(1).collect();
    assert!(lines[0].starts_with("6,10,10,9,") && lines[1].starts_with("6,9,9,7,"), "{sampled}");
    // Outside, as with indices.
    assert_eq!(lines[2], "-4,9,9,,");
    std::fs::write(folder.join("cells.csv"), "z=10,y=10,a,b=3mm\n6,9,9\n").unwrap();
    let listed = told(&folder, "tree sample a.tree.zarr --cells cells.csv");
    assert_eq!(listed.lines().skip(1).collect::<Vec<_>>(), lines[..2]);
    for (arguments, words) in [
        ("sample a.tree.zarr --at z=10,y=3", "--at z=10,y=3: axis a,b is missing; a cell needs all 3 axes"),
        ("sample a.tree.zarr --at z=10,y=3,2=1", "2=1: axis 2 is named twice"),
        ("sample a.tree.zarr --at z=10,y=3mm,0=1", "y=3mm: '3mm' is no place on axis y, which is measured in 1/cm"),
        ("sample a.tree.zarr --at 1,z=3,y=4", "there are a,b (0), y (1), z (2)"),
        ("sample a.tree.zarr --at 1,2mm,3", "'2mm' is not an index such as 12; a place needs the axis, as in x=90mm"),
        ("box a.tree.zarr --axis a,b=18mm:21mm -o x.npy", "axis a,b has the indices 0 to 39, and covers 0 mm to 20 mm"),
        (
            "slice a.tree.zarr --axis a,b=21mm -o x.npy",
            "--axis a,b=21mm: axis a,b has the indices 0 to 39, and covers 0 mm to 20 mm",
        ),
    ] {
        let said = refused(&folder, &format!("tree {arguments}"), 2);
        assert!(said.contains(words), "{arguments}: {said}");
    }
}

/// Python's `zipfile` trusts no member whose checksum is another, and `unzip` makes a folder of one that says so.
#[test]
fn zips_that_others_refuse_are_damaged() {
    let folder = with_tree("tree-zips");
    told(&folder, "tree convert a.tree.zarr a.tree.zarr.zip");
    let path = folder.join("a.tree.zarr.zip");
    let whole = std::fs::read(&path).unwrap();
    let entry = whole.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    for (at, byte, words) in [
        (16, whole[entry + 16] ^ 1, "another checksum than in the directory"),
        (6, 99, "needs a version of zip after 6.3"),
        (34, 1, "begins on another disk"),
        (41, 0x41, "no regular file"),
    ] {
        let mut changed = whole.clone();
        changed[entry + at] = byte;
        std::fs::write(&path, changed).unwrap();
        let said = refused(&folder, "tree validate a.tree.zarr.zip", 3);
        assert!(said.contains(words) && said.contains("a.tree.zarr.zip: "), "{said}");
    }
    std::fs::write(&path, whole).unwrap();
    told(&folder, "tree validate a.tree.zarr.zip");
}
