//! Slices of trees that are trees: a step of a series, and what a slice cannot be.

use std::path::Path;

use crate::binary::{folder, lines, orthant, text};

/// 20 x 16 x 12 bytes at 5 times: a box of 7 grows, with a line of 9 in it.
const SIZE: [usize; 4] = [20, 16, 12, 5];

fn value([x, y, z, t]: [usize; 4]) -> u8 {
    let inside = (3..8 + t).contains(&x) && (4..9 + t).contains(&y) && (2..6 + t).contains(&z);
    if inside && [y, z] == [5, 3] { 9 } else { 7 * u8::from(inside) }
}

/// The cells that are at an index of each axis that is held, in the order of a file.
fn cells(held: [Option<usize>; 4]) -> Vec<u8> {
    let all = (0..SIZE.iter().product()).map(|i: usize| {
        let below = |j: usize| SIZE[..j].iter().product::<usize>();
        std::array::from_fn(|j| i / below(j) % SIZE[j])
    });
    all.filter(|cell: &[usize; 4]| (0..4).all(|j| held[j].is_none_or(|at| at == cell[j]))).map(value).collect()
}

/// A file of the axes that are not held, with their names and units.
fn write_nrrd(path: &Path, held: [Option<usize>; 4]) {
    let free = (0..4).filter(|&j| held[j].is_none());
    let of = |texts: [&str; 4]| free.clone().map(|j| texts[j]).collect::<Vec<_>>().join(" ");
    let header = format!(
        "NRRD0004\ntype: uint8\ndimension: {}\nsizes: {}\nencoding: raw\nspacings: {}\nunits: {}\nlabels: {}\n\n",
        free.clone().count(),
        of(["20", "16", "12", "5"]),
        of(["0.5", "0.5", "2", "1.5"]),
        of([r#""mm""#, r#""mm""#, r#""mm""#, r#""s""#]),
        of([r#""x""#, r#""y""#, r#""z""#, r#""t""#]),
    );
    std::fs::write(path, [header.as_bytes(), &cells(held)].concat()).unwrap();
}

/// What a command that must succeed says on stdout.
fn told(folder: &Path, arguments: &str) -> String {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The names and the bytes of all files below a folder.
fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    files.push((path.strip_prefix(folder).unwrap().display().to_string(), std::fs::read(path).unwrap()))
                }
            }
        }
    }
    files.sort();
    files
}

/// A slice is byte for byte what is built of the slice of the array with the same scheme, and keeps names of labels and axes.
#[test]
fn a_slice_is_the_tree_of_the_slice() {
    let folder = folder("slices-trees");
    std::fs::write(folder.join("names.csv"), "value,name\n7,box\n9,line\n").unwrap();
    write_nrrd(&folder.join("a.nrrd"), [None; 4]);
    let names = "--label-table names.csv";
    // The held axes, and the schemes of tree and slice.
    let cases = [
        ("t=2", [None, None, None, Some(2)], "-g 2x2x2x5 -r 2x2x2x1 -B 2", "-g 2 -r 2 -B 2"),
        ("t=4.6s", [None, None, None, Some(3)], "-g 2x2x2x1 -r 2 -B 1", "-g 2 -r 2 -B 1"),
        (
            "t=0,z=9mm",
            [None, None, Some(4), Some(0)],
            "-g 2x1x3x1 -r 2 -B 1 --curve hilbert",
            "-g 2x1 -r 2 -B 1 --curve hilbert",
        ),
        ("t=0,z=4,y=5", [None, Some(5), Some(4), Some(0)], "-g 3 -r 2x3x1x1 -B 1", "-g 3 -r 2 -B 1"),
    ];
    for (number, (axes, held, scheme, own)) in cases.into_iter().enumerate() {
        let at = folder.join(format!("s{number}"));
        std::fs::create_dir(&at).unwrap();
        write_nrrd(&at.join("a.nrrd"), held);
        told(&folder, &format!("tree build a.nrrd {scheme} {names} -o a{number}.tree.zarr"));
        told(&folder, &format!("tree build s{number}/a.nrrd {own} {names} -o wanted{number}.tree.zarr"));
        told(&folder, &format!("tree slice a{number}.tree.zarr --axis {axes} -o found{number}.tree.zarr"));
        let [found, wanted] =
            ["found", "wanted"].map(|name| files_below(&folder.join(format!("{name}{number}.tree.zarr"))));
        assert!(found == wanted && found.len() > 5, "{axes}");
        let against = format!("--against wanted{number}.tree.zarr");
        let said = told(&folder, &format!("tree validate found{number}.tree.zarr {against}"));
        assert!(said.ends_with("0 cells differ\n"), "{said}");
    }
    let about = lines(&folder, "tree info found0.tree.zarr --json").remove(0);
    assert_eq!((&about["axes"][2]["name"], &about["axes"][2]["spacing"]), (&"z".into(), &2.0.into()));
    assert_eq!((&about["labels"][1]["name"], &about["source"]), (&"line".into(), &"a.nrrd".into()));
    // What a tolerance lets a tree's cells differ by, it lets a slice's.
    told(&folder, "tree build a.nrrd -g 2x2x2x5 -r 2x2x2x1 -B 2 --tolerance 2 -o near.tree.zarr");
    told(&folder, "tree slice near.tree.zarr --axis t=2 -o near2.tree.zarr");
    let said = told(&folder, "tree validate near2.tree.zarr --against s0/a.nrrd");
    assert!(said.contains("cells have another value, as the predicate allows"), "{said}");
    // A single file, of a tree in a single file.
    told(&folder, "tree convert a0.tree.zarr a.tree.zarr.zip");
    told(&folder, "tree slice a.tree.zarr.zip --axis t=2 -o found.tree.zarr.zip");
    assert_eq!(told(&folder, "tree diff found.tree.zarr.zip wanted0.tree.zarr"), "0 cells differ\n");
}

#[test]
fn what_has_no_slice_is_refused() {
    let folder = folder("slices-refused");
    write_nrrd(&folder.join("a.nrrd"), [None, None, Some(3), Some(2)]);
    told(&folder, "tree build a.nrrd -g 2 -r 2 -B 2 -o a.tree.zarr");
    told(&folder, "tree slice a.tree.zarr --axis y=3 -o line.tree.zarr");
    for (arguments, words) in [
        ("line.tree.zarr --axis x=3 -o x.tree.zarr", "--output x.tree.zarr: a slice of a tree of one axis is a cell"),
        ("line.tree.zarr -o x.tree.zarr", "of one axis is a cell, and no tree; see tree sample"),
        ("a.tree.zarr -o x.tree.zarr", "--axis: hold an axis of the 2 at an index, as in --axis y=8"),
        ("a.tree.zarr --axis x=1,y=2 -o x.tree.zarr", "--axis: every axis is held"),
        ("a.tree.zarr --axis x=20 -o x.tree.zarr", "axis x has the indices 0 to 19"),
        ("a.tree.zarr --axis x=1 --legend -o x.tree.zarr", "--legend: no picture is written"),
        ("a.tree.zarr --axis x=1 -o line.tree.zarr", "line.tree.zarr exists already"),
        ("a.tree.zarr --axis x=1 -o a.tree.zarr --force", "a.tree.zarr: is read"),
        ("a.tree.zarr --axis x=1 -o x.zarr", "x.zarr: the extension must be .npy, .png, .tree.zarr or .tree.zarr.zip"),
    ] {
        let output = orthant(&folder, &format!("tree slice {arguments}"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(words), "{arguments}: {said}");
    }
    assert!(!folder.join("x.tree.zarr").exists());
    let output = orthant(&folder, "tree slice a.tree.zarr --axis x=1 -o x.tree.zarr --mem-limit 10");
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
}

#[test]
fn a_picture_says_which_slice_it_is_and_takes_coordinates() {
    let folder = folder("slices-said");
    let torus = "(sqrt(x^2 + y^2) - 0.6)^2 + (sqrt(z^2 + w^2) - 0.6)^2 < 0.02";
    let draw = |slice: &[&str]| {
        let mut command = crate::binary::command(&folder, "run formula");
        command.arg(torus).args(["-n", "20", "--force", "-o", "t.png"]).args(slice);
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    // The middle is the hole of the torus.
    let (code, said) = draw(&[]);
    let one = "orthant: every cell of the picture has one value; --slice names another slice\n";
    assert!(
        code == Some(0)
            && said.contains("orthant: pictures show the slice z=10,w=10; a tree has all cells")
            && said.contains(one),
        "{said}"
    );
    let (code, said) = draw(&["--slice", "z=0.6"]);
    assert!(
        code == Some(0)
            && said.contains("orthant: pictures show the slice z=16,w=10; a tree has all cells")
            && !said.contains(one),
        "{said}"
    );
    let (code, said) = draw(&["--slice", "z=1.6"]);
    assert!(
        code == Some(2) && said.contains("z=1.6: axis z has the indices 0 to 19, and covers -1 to 1, without the end"),
        "{said}"
    );
    let (code, said) = draw(&["--slice", "z=0.1mm"]);
    assert!(
        code == Some(2) && said.contains("which has no unit; write an index, such as 12, or a coordinate, such as 0.5"),
        "{said}"
    );
}

#[test]
fn a_formula_in_a_file_is_named_where_it_is_wrong_and_may_have_any_letters() {
    let folder = folder("slices-source");
    std::fs::write(folder.join("wrong.txt"), "# a ball\nx^2 + y^2 <").unwrap();
    let refused = orthant(&folder, "run formula --source wrong.txt -o no.png");
    let said = "orthant: --source wrong.txt: formula: line 2, column 12: ";
    let stderr = text(&refused.stderr);
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(
        refused.status.code() == Some(2) && lines[0].starts_with(said) && lines[1] == "    x^2 + y^2 <",
        "{lines:?}"
    );
    std::fs::write(folder.join("kreis.txt"), "# Kreis → Fläche ≤ π\nx^2 + y^2 < 0.5").unwrap();
    let drawn = orthant(&folder, "run formula --source kreis.txt -n 16 -o kreis.png");
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    let picture = std::fs::read(folder.join("kreis.png")).unwrap();
    let has = |part: &[u8]| picture.windows(part.len()).any(|window| window == part);
    assert!(has(b"iTXt") && has("Fläche ≤ π".as_bytes()));
}
