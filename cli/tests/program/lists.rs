//! Lists of cells as their users meet them.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{folder, orthant, text};

/// An array of whole numbers of 32 bits, as NumPy writes it.
fn npy(path: &Path, rows: &[Vec<i32>]) {
    npy_of(path, &format!("({}, {})", rows.len(), rows[0].len()), rows);
}

/// The same of a shape, which may have no rows.
fn npy_of(path: &Path, shape: &str, rows: &[Vec<i32>]) {
    let mut header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat(127 - (10 + header.len()) % 128);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    rows.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

/// Cells of a spiral in four dimensions, each once, with a value.
fn spiral() -> Vec<Vec<i32>> {
    (0..3000).map(|i| vec![i * 37 % 1_048_576, i * 7919 % 1_048_576, i, i / 10 * 3, 1 + i % 9]).collect()
}

#[test]
fn lists_become_trees() {
    let folder = folder("lists");
    npy(&folder.join("four.npy"), &spiral());
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let table = ran("tree build four.npy --coordinates=cells --dim 4 -n 2^20 --most 50 -o four.tree.zarr.zip");
    assert!(table.starts_with("list four.npy 1048576x1048576x1048576x1048576 i32, bottom-up morton on cpu"), "{table}");
    assert!(table.contains("entries  3000, all other cells are 0\n"), "{table}");
    let cell = ran("tree sample four.tree.zarr.zip --at 74,15838,2,0 --at 5,5,5,5");
    assert!(cell.contains("74,15838,2,0,3,") && cell.contains("5,5,5,5,0,"), "{cell}");
    let facts = ran("tree info four.tree.zarr.zip");
    assert!(facts.contains("all other cells are 0; leaves have at most 50 entries"), "{facts}");
    assert!(ran("tree validate four.tree.zarr.zip").contains("checksums right"));
    ran("tree convert four.tree.zarr.zip copy.tree.zarr");
    assert!(ran("tree diff four.tree.zarr.zip copy.tree.zarr").contains("0 cells differ"));
    assert!(ran("tree validate copy.tree.zarr --against four.tree.zarr.zip").contains("0 cells differ"));
    // Other regions of the same cells; and one cell that is another.
    ran("tree build four.npy --coordinates=cells -n 2^20 --dim 4 --most 3 --curve hilbert -o finer.tree.zarr");
    assert!(ran("tree diff finer.tree.zarr copy.tree.zarr").contains("0 cells differ"));
    let mut rows = spiral();
    rows[1700][4] += 100;
    npy(&folder.join("other.npy"), &rows);
    ran("tree build other.npy --coordinates=cells -n 2^20 --dim 4 -o other.tree.zarr");
    let output = orthant(&folder, "tree diff four.tree.zarr.zip other.tree.zarr");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1 cells differ"), "{}", text(&output.stdout));
    ran("tree box copy.tree.zarr 0:100,15838,2,0 -o box.npy");
    assert_eq!(std::fs::read(folder.join("box.npy")).unwrap()[128 + 4 * 74], 3);
    ran("tree slice copy.tree.zarr --axis 3=3 -o slice.tree.zarr");
    assert!(ran("tree info slice.tree.zarr").contains("with 10 entries"));
    assert!(ran("tree stats copy.tree.zarr").contains("1208925819614629174706176"));
    assert!(ran("tree print copy.tree.zarr").contains("leaf"));
    // An array of many rows of whole numbers may be meant as a list.
    let output = orthant(&folder, "tree build four.npy -o array.tree.zarr");
    let remark = text(&output.stderr);
    assert!(remark.contains("looks like a list of 3000 cells of 5 coordinates; --coordinates=cells reads"), "{remark}");
    // Without values, and without a tree.
    npy(&folder.join("two.npy"), &(0..50).map(|i| vec![i, 49 - i]).collect::<Vec<_>>());
    let counted = ran("run array --input two.npy --coordinates=cells -n 50 --json");
    assert!(counted.contains("\"entries\":50") && counted.contains("\"cell\":\"u8\""), "{counted}");
    assert_eq!(serde_json::from_str::<Value>(&counted).unwrap()["background"], json!(0));
    let counted = ran("run array --input two.npy --coordinates=cells -n 50 --background 7 --json");
    assert_eq!(serde_json::from_str::<Value>(&counted).unwrap()["background"], json!(7));
}

/// A list without entries is a domain of its background: a region of each of the initial grid.
#[test]
fn a_list_may_have_no_entries() {
    let folder = folder("lists-empty");
    for (name, shape) in [("e2", "(0, 2)"), ("e3", "(0, 3)"), ("e0", "(0,)"), ("e00", "(0, 0)")] {
        npy_of(&folder.join(format!("{name}.npy")), shape, &[]);
    }
    std::fs::write(folder.join("e.mtx"), "%%MatrixMarket matrix coordinate real general\n40 50 0\n").unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/lists");
    for name in ["empty-coo.npz", "empty-csr.npz"] {
        std::fs::copy(data.join(name), folder.join(name)).unwrap();
    }
    for (arguments, at, background) in [
        ("e2.npy --coordinates=cells -n 64 --background 9", "63,63", "9"),
        ("e3.npy --coordinates=cells -n 2^20 -g 2", "1,2,3", "0"),
        ("e3.npy --coordinates=cells --dim 2 -n 64 --background -4", "1,2", "-4"),
        ("e0.npy --coordinates=cells --dim 4 -n 64", "1,2,3,4", "0"),
        ("e00.npy --coordinates=cells -n 64x50x9", "63,49,8", "0"),
        ("e.mtx --background 0.5", "49,39", "0.5"),
        ("empty-coo.npz", "3,2", "0"),
        ("empty-csr.npz --background 1", "3,2", "1"),
    ] {
        let output = orthant(&folder, &format!("tree build {arguments} --json --force -o x.tree.zarr"));
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let roots: u64 = report["g"].as_array().unwrap().iter().map(|g| g.as_u64().unwrap()).product();
        assert_eq!(
            (&report["entries"], &report["leaves"], &report["regions"], report["background"].to_string()),
            (&json!(0), &json!(0), &json!(roots), background.to_owned())
        );
        let cell = text(&orthant(&folder, &format!("tree sample x.tree.zarr --at {at}")).stdout);
        assert!(cell.contains(&format!("{at},{background},")), "{arguments}: {cell}");
        assert!(orthant(&folder, "tree validate x.tree.zarr").status.success(), "{arguments}");
    }
    // Nothing says how many axes there are.
    let output = orthant(&folder, "tree build e0.npy --coordinates=cells -n 64 -o y.tree.zarr");
    let message = text(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("the number of axes is needed; --dim K"), "{message}");
}

/// A list becomes a tree. Where an array is asked for, the two commands that make it are named, and run.
#[test]
fn the_way_from_a_list_to_an_array_runs() {
    let folder = folder("lists-way");
    std::fs::write(folder.join("X.mtx"), "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 0.5\n3 2 1\n")
        .unwrap();
    npy(&folder.join("four.npy"), &[vec![1, 2, 3, 8], vec![4, 5, 6, 9]]);
    for (arguments, made) in [
        ("run array --input X.mtx -o a.npy", "a.npy"),
        ("tree build X.mtx -o b.npy", "b.npy"),
        ("tree build X.mtx -o b.png", "b.png"),
        ("tree build four.npy --coordinates=cells --dim 3 -n 16x17x18 --background -2 --most 1 -o c.npy", "c.npy"),
        ("run array --input four.npy --coordinates=cells --dim 3 -n 16 -o d.vti", "d.vti"),
        ("tree build four.npy --coordinates=cells --dim 3 -n 16", "four.tree.zarr"),
    ] {
        let output = orthant(&folder, arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        let advised: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        assert_eq!(advised.len(), if arguments.contains(" -o ") { 2 } else { 1 }, "{message}");
        for command in advised {
            let output = orthant(&folder, command.strip_prefix("orthant ").unwrap());
            assert!(output.status.success(), "{arguments}: {command}: {}", text(&output.stderr));
        }
        assert!(folder.join(made).exists(), "{arguments}");
        let _ = std::fs::remove_dir_all(folder.join("X.tree.zarr"));
        let _ = std::fs::remove_dir_all(folder.join("four.tree.zarr"));
    }
    let cells = std::fs::read(folder.join("c.npy")).unwrap();
    assert_eq!(cells.len(), 128 + 4 * 16 * 17 * 18);
    // The way from `run` to there runs as well.
    let message = text(&orthant(&folder, "run X.mtx -o e.npy").stderr);
    for command in message.split('`').skip(1).step_by(2) {
        let output = orthant(&folder, command.strip_prefix("orthant ").unwrap());
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn matrices_of_others_have_their_cells() {
    let folder = folder("lists-matrices");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/lists");
    for name in ["coo.npz", "csr.npz", "csc.npz", "dense.npy"] {
        std::fs::copy(data.join(name), folder.join(name)).unwrap();
    }
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    for name in ["coo", "csr", "csc"] {
        let table = ran(&format!("tree build {name}.npz --most 5 -o {name}.tree.zarr"));
        assert!(
            table.starts_with(&format!("list {name}.npz 70x40 f32,")) && table.contains("3 more of that value"),
            "{table}"
        );
        assert!(ran(&format!("tree validate {name}.tree.zarr --against dense.npy")).contains("0 cells differ"));
    }
    ran("tree convert csr.tree.zarr all.npy");
    // Headers have other spaces.
    let cells = |name: &str| std::fs::read(folder.join(name)).unwrap()[128..].to_vec();
    assert_eq!(cells("all.npy"), cells("dense.npy"));
    // Three axes: NumPy's [1, 2, 3] is x = 3, y = 2, z = 1. Blocks are refused by name.
    for name in ["three.npz", "bsr.npz"] {
        std::fs::copy(data.join(name), folder.join(name)).unwrap();
    }
    assert!(ran("tree build three.npz -o three.tree.zarr").starts_with("list three.npz 6x5x4 f64,"));
    let cells = ran("tree sample three.tree.zarr --at 3,2,1 --at 5,4,3 --at 1,2,3");
    let values: Vec<&str> = cells.lines().skip(1).map(|line| line.split(',').nth(3).unwrap()).collect();
    assert_eq!(values, ["7", "2", "0"], "{cells}");
    let output = orthant(&folder, "tree build bsr.npz -o bsr.tree.zarr");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("2 axes in the format 'bsr'"), "{}", text(&output.stderr));
    let header = "%%MatrixMarket matrix coordinate integer skew-symmetric\n";
    std::fs::write(folder.join("skew.mtx"), format!("{header}3 3 2\n2 1 5\n3 2 -7\n")).unwrap();
    ran("tree build skew.mtx -o skew.tree.zarr");
    let cells = ran("tree sample skew.tree.zarr --at 0,1 --at 1,0 --at 1,2 --at 2,1 --at 0,0");
    let values: Vec<&str> = cells.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(values, ["5", "-5", "-7", "7", "0"], "{cells}");
}

#[test]
fn what_is_wrong_with_lists_is_said() {
    let folder = folder("lists-wrong");
    npy(&folder.join("two.npy"), &[vec![1, 2], vec![3, 4], vec![7, 50]]);
    npy(&folder.join("twice.npy"), &[vec![1, 2, 3], vec![4, 5, 6], vec![1, 2, 9]]);
    npy(&folder.join("one.npy"), &[vec![1], vec![2]]);
    npy(&folder.join("below.npy"), &[vec![1, 2], vec![3, -4]]);
    npy(&folder.join("wide.npy"), &[vec![1; 9], vec![2; 9]]);
    npy(&folder.join("large.npy"), &[vec![1; 6], vec![2; 6]]);
    std::fs::write(folder.join("c.mtx"), "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 0 1\n").unwrap();
    std::fs::write(folder.join("short.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n").unwrap();
    std::fs::write(folder.join("many.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1000000\n").unwrap();
    for (arguments, says) in [
        ("two.npy --coordinates=cells -n 50", "row 2: coordinate 50 on axis 1, which has 50 cells: it can be 0 to 49"),
        ("two.npy --coordinates=cells", "--size: cells per axis are needed: the list does not say them; -n 2^20"),
        ("two.npy --coordinates=cells -n 64 --dim 7", "axes '7': a list of cells has 2 to 6 axes; --dim K"),
        ("one.npy --coordinates=cells -n 64", "with values last the number of axes is needed; --dim K"),
        ("two.npy --coordinates=cells -n 64 --dim 5", "5 columns of coordinates, or 6 with the value last"),
        ("two.npy --coordinates=cells -n 64 --background 300", "--background 300: values are u8"),
        ("two.npy --coordinates=cells -n 64 --most=-1", "--most"),
        ("two.npy --coordinates=places -n 64", "positions or cells is needed"),
        ("two.npy --coordinates=cells -n 64 --tolerance 3", "--tolerance: of arrays and points"),
        ("two.npy --coordinates=cells -n 64 --value count", "leave out for an array or a list of cells"),
        ("twice.npy --coordinates=cells -n 64 --dim 2", "cell (1, 2) is listed twice, with the values"),
        ("twice.npy --coordinates=cells -n 64 --dim 2", "; numpy.unique(a, axis=0) leaves one of equal rows"),
        ("below.npy --coordinates=cells -n 64", "row 1, column 1: coordinate -4"),
        ("wide.npy --coordinates=cells -n 64", "2x9"),
        ("large.npy --coordinates=cells -n 2^31", "--size: a domain of"),
        ("c.mtx", "a matrix of complex numbers"),
        ("short.mtx", "2 entries in all"),
        ("many.mtx", "1000000 entries in a file of"),
        ("two.npy --most 5", "--most: of points"),
    ] {
        let output = orthant(&folder, &format!("tree build {arguments} -o x.tree.zarr"));
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(says) && !message.contains("panicked"), "{arguments}: {message}");
        assert!(!folder.join("x.tree.zarr").exists(), "{arguments}");
    }
    assert!(orthant(&folder, "tree build two.npy --coordinates=cells -n 2^20 -o x.tree.zarr").status.success());
    for (arguments, says) in [
        ("lod x.tree.zarr --level 1 -o y.npy", "has no levels of detail"),
        ("view x.tree.zarr -o y.html", "has no bricks"),
        ("convert x.tree.zarr y.vtu", "has no bricks"),
    ] {
        let output = orthant(&folder, &format!("tree {arguments}"));
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(says), "{arguments}: {message}");
    }
    let output = orthant(&folder, "tree build two.npy --coordinates=cells -n 64 -o y.npy");
    assert!(text(&output.stderr).contains("a list of cells becomes a tree"), "{}", text(&output.stderr));
    let output = orthant(&folder, "tree build two.npy --coordinates=cells -n 64 -o z.tree.zarr --mem-limit 10");
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("fewer points or entries, or a larger --mem-limit"));
}
