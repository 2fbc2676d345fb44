//! Trees as pages: what a page holds is the tree, whatever its dimensions, its cells and the names in it.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;
use serde_json::Value;

use orthant::curve::CurveKind;
use orthant::field::ArrayField;
use orthant::geometry::{Domain, Sample, Scheme};
use orthant::rule::RuleKind;
use orthant::tree::{BottomUp, TreeInfo, TreeLabel};
use orthant::{Plan, ndarray};

use crate::binary::{files, folder, lines, orthant, text};

/// The types of cells, as `.npy` has them, with words that are special.
const TYPES: [(&str, &[u64]); 10] = [
    ("|u1", &[1, 0xff]),
    ("<u2", &[1, 0xffff]),
    ("<u4", &[1, u32::MAX as u64]),
    ("<u8", &[1, u64::MAX]),
    ("|i1", &[1, 0x80]),
    ("<i2", &[1, 0x8000]),
    ("<i4", &[1, 1 << 31]),
    ("<i8", &[1, 1 << 63]),
    ("<f4", &[0x3dcc_cccd, 0x7fc0_0000, 0x8000_0000, 0x7f80_0000]),
    ("<f8", &[0x3fb9_9999_9999_999a, 0x7ff8 << 48, 1 << 63, 0xfff0 << 48]),
];

/// A number that follows from a cell and looks like nothing.
fn hash(cell: &[usize]) -> u64 {
    cell.iter().fold(7, |sum: u64, &index| (sum ^ index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

/// The cells of a box in the order of a file.
fn cells(extent: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<'_> {
    let each = |i: usize| {
        let digit = |rest: &mut usize, &n: &usize| {
            let index = *rest % n;
            *rest /= n;
            Some(index)
        };
        extent.iter().scan(i, digit).collect()
    };
    (0..extent.iter().product()).map(each)
}

/// Writes an array, mostly of zeros and in blocks, axis 0 first.
fn write_npy(path: &Path, size: &[usize], (descr, special): (&str, &[u64])) {
    let bytes: usize = descr[2..].parse().unwrap();
    let shape: String = size.iter().rev().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let mut file = b"\x93NUMPY\x01\x00\xb6\x00".to_vec();
    file.extend(format!("{header:<181}\n").bytes());
    for cell in cells(size) {
        let block: Vec<usize> = cell.iter().map(|index| index / 2).collect();
        let word = match hash(&block) % 5 {
            0 if cell[0] > 2 => special[(hash(&block) >> 20) as usize % special.len()],
            1 if cell[0] > 4 => special[hash(&cell) as usize % special.len()],
            _ => 0,
        };
        file.extend(&word.to_le_bytes()[..bytes]);
    }
    std::fs::write(path, file).unwrap();
}

/// What a page says of its tree, and its arrays.
fn unpacked(page: &str) -> (Value, HashMap<String, Vec<u8>>) {
    let (mut about, mut arrays) = (Value::Null, HashMap::new());
    for script in page.split("<script type=\"").skip(1) {
        let (head, rest) = script.split_once('>').unwrap();
        let body = rest.split_once("</script>").unwrap().0;
        let (kind, id) = head.split_once("\" id=\"").unwrap();
        match kind {
            "application/json" => about = serde_json::from_str(body).unwrap(),
            _ => {
                let mut bytes = Vec::new();
                ZlibDecoder::new(&base64(body)[..]).read_to_end(&mut bytes).unwrap();
                arrays.insert(id.trim_end_matches('"').to_owned(), bytes);
            }
        }
    }
    (about, arrays)
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    };
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 6 | u32::from(digit(byte)));
        let kept = 3 - group.iter().filter(|&&byte| byte == b'=').count();
        bytes.extend(&bits.to_be_bytes()[1..][..kept]);
    }
    bytes
}

/// What a command that must succeed says on stderr.
fn told(folder: &Path, arguments: &str) -> String {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// Checks that a page holds the regions of a tree, in their order, and their cells.
fn holds(folder: &Path, page: &str, tree: &str) {
    let page = std::fs::read_to_string(folder.join(page)).unwrap();
    let (about, arrays) = unpacked(&page);
    let (info, regions) = (
        lines(folder, &format!("tree info {tree} --json")).remove(0),
        lines(folder, &format!("tree print {tree} --json")),
    );
    let k = info["k"].as_u64().unwrap() as usize;
    let size: Vec<usize> = info["size"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    assert_eq!((&about["size"], &about["cell"], &about["rows"]), (&info["size"], &info["cell"], &regions.len().into()));
    told(folder, &format!("tree box {tree} {} -o all.npy --force", vec![":"; k].join(",")));
    let dense = std::fs::read(folder.join("all.npy")).unwrap();
    let bytes = arrays["value"].len() / regions.len();
    let dense = &dense[dense.len() - size.iter().product::<usize>() * bytes..];
    let cell = |at: &[usize]| {
        let place = at.iter().zip(&size).rev().fold(0, |place, (index, n)| place * n + index);
        &dense[place * bytes..][..bytes]
    };
    let width = about["position"].as_u64().unwrap() as usize;
    let mut bricks = &arrays["cells"][..];
    for (row, region) in regions.iter().enumerate() {
        let level = region["level"].as_u64().unwrap();
        assert_eq!(u64::from(arrays["level"][row]), level);
        let list = |key: &str| -> Vec<usize> {
            region[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        };
        let (corner, extent) = (list("corner"), list("extent"));
        for j in 0..k {
            let mut position = [0; 8];
            position[..width].copy_from_slice(&arrays[&format!("position{j}")][row * width..][..width]);
            let (p, n) = (usize::from_le_bytes(position), size[j]);
            let m = about["levels"][level as usize]["grid"][j].as_u64().unwrap() as usize;
            assert_eq!((p * n / m, (p + 1) * n / m), (corner[j], corner[j] + extent[j]), "row {row}, axis {j}");
        }
        let how = arrays["how"][row];
        assert_eq!(["proved", "sampled", "cut"][usize::from(how & 127)], region["provenance"]);
        assert_eq!(how >= 128, region["value"].is_null());
        if how < 128 {
            assert_eq!(&arrays["value"][row * bytes..][..bytes], cell(&corner), "row {row}");
            continue;
        }
        for offset in cells(&extent) {
            let at: Vec<usize> = corner.iter().zip(offset).map(|(corner, offset)| corner + offset).collect();
            let (first, rest) = bricks.split_at(bytes);
            assert_eq!(first, cell(&at), "{at:?}");
            bricks = rest;
        }
    }
    assert!(bricks.is_empty());
}

#[test]
fn pages_hold_trees_of_every_dimension_and_type() {
    let folder = folder("view-kinds");
    for (number, kind) in TYPES.into_iter().enumerate() {
        let k = 1 + number % 8;
        let size = &[9, 7, 5, 4, 3, 3, 2, 2][..k];
        write_npy(&folder.join("a.npy"), size, kind);
        told(&folder, "run array --input a.npy -g 2 -r 2 -B 1 -o a.tree.zarr --force");
        let said = told(&folder, "tree view a.tree.zarr -o a.html --force");
        assert_eq!(said, "orthant: wrote a.html\n");
        holds(&folder, "a.html", "a.tree.zarr");
    }
}

#[test]
fn names_do_not_break_pages() {
    const NAME: &str = "</script><script>alert(\"'<!--\")</script> & \u{2028}é";
    let folder = folder("view-names");
    let cells = ndarray::ArrayD::from_shape_fn(vec![8, 8], |at| u8::from(at[0] + at[1] > 7));
    let domain = Domain::new([8, 8], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let source = ArrayField::new(cells.view()).unwrap();
    let tree = BottomUp::new(&plan, &source).unwrap().tree().unwrap();
    let mut info = TreeInfo::of(&plan).source(NAME);
    info.labels = vec![TreeLabel { word: 1, name: NAME.into(), colour: Some([1, 2, 3, 255]) }];
    info.axes[0].name = NAME.into();
    info.axes[1].unit = Some("µm".into());
    tree.save(folder.join("a.tree.zarr"), &info).unwrap();
    told(&folder, "tree view a.tree.zarr -o a.html");
    holds(&folder, "a.html", "a.tree.zarr");
    let page = std::fs::read_to_string(folder.join("a.html")).unwrap();
    let (about, arrays) = unpacked(&page);
    assert_eq!((&about["labels"][0]["name"], &about["axes"][0]["name"]), (&NAME.into(), &NAME.into()));
    assert_eq!((&about["labels"][0]["value"], &about["labels"][0]["colour"][2]), (&"1".into(), &3.into()));
    // The page's own scripts, and nobody else's.
    assert_eq!(page.matches("<script").count(), 1 + arrays.len() + 2);
    assert_eq!(page.matches("</script").count(), 1 + arrays.len() + 2);
    assert!(page.contains("<title>&lt;&#x2f;script&gt;") || page.contains("<title>&lt;/script&gt;"));
    for elsewhere in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    assert!(page.contains("default-src 'none'"));
}

/// Width and height of a picture, and its colours.
fn picture(path: &Path) -> ([u32; 2], Vec<[u8; 3]>) {
    let mut decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    ([info.width, info.height], bytes[..info.buffer_size()].as_chunks().0.to_vec())
}

#[test]
fn pictures_say_what_their_colours_mean() {
    let folder = folder("view-legends");
    let cells = ndarray::ArrayD::from_shape_fn(vec![6, 20, 30], |at| (at[1] + at[2]) as u8 / 10 * 40);
    let domain = Domain::new([30, 20, 6], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let source = ArrayField::new(cells.view()).unwrap();
    let tree = BottomUp::new(&plan, &source).unwrap().tree().unwrap();
    let mut info = TreeInfo::of(&plan);
    let label = |word, name: &str, colour| TreeLabel { word, name: name.into(), colour };
    info.labels = vec![label(40, "liver, µ Ω 肝", Some([9, 200, 100, 255])), label(80, "heart", None)];
    tree.save(folder.join("a.tree.zarr"), &info).unwrap();
    let slice = |arguments: &str| {
        told(&folder, &format!("tree slice a.tree.zarr --axis 2=3 {arguments} -o s.png --force"));
        picture(&folder.join("s.png"))
    };
    for palette in ["", "--palette viridis"] {
        let ([width, height], bare) = slice(palette);
        assert_eq!([width, height], [30, 20]);
        let ([wide, high], with) = slice(&format!("{palette} --legend"));
        assert!(wide > 60 && high >= 60, "{wide} {high}");
        for (y, row) in bare.chunks(30).enumerate() {
            assert_eq!(row, &with[y * wide as usize..][..30]);
        }
        let beside = || with.chunks(wide as usize).flat_map(|row| &row[30..]);
        // Every label of the picture is explained, and something is written.
        let explained = |colour| beside().any(|other| other == colour);
        assert!(!palette.is_empty() || bare.iter().all(explained));
        assert!(beside().filter(|&&colour| colour == [20; 3]).count() > 50);
        let rows = with.chunks(wide as usize).map(|row| row[30 + 8]);
        let (first, last) =
            (rows.clone().find(|&colour| colour != [255; 3]), rows.rev().find(|&colour| colour != [255; 3]));
        // A bar has its greatest at the top; labels come in ascending order.
        let ends = [bare[29], bare[19 * 30]];
        let [top, bottom] = if palette.is_empty() { [ends[1], ends[0]] } else { ends };
        assert_eq!([first, last], [Some(top), Some(bottom)], "{palette}");
        // The cell 10, 0, 3 has the label that has a colour.
        assert_eq!(bare[19 * 30 + 10] == [9, 200, 100], palette.is_empty());
    }
    let output = orthant(&folder, "tree slice a.tree.zarr --axis 2=3 --legend -o s.npy");
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--legend: no picture is written"));
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let folder = folder("view-size");
    // Noise in half of 48^3 cells.
    let size = [48; 3];
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (48, 48, 48), }";
    file.extend(format!("{header:<117}\n").bytes());
    cells(&size).for_each(|cell| file.extend(if cell[2] < 24 { hash(&cell) as u32 } else { 5 }.to_le_bytes()));
    std::fs::write(folder.join("a.npy"), file).unwrap();
    told(&folder, "run array --input a.npy -g 2 -r 2 -B 3 -o a.tree.zarr");
    told(&folder, "tree view a.tree.zarr -o whole.html");
    holds(&folder, "whole.html", "a.tree.zarr");
    let bytes = |page: &str| folder.join(page).metadata().unwrap().len();
    let deepest = lines(&folder, "tree info a.tree.zarr --json")[0]["terminals"].as_array().unwrap().len() as u64 - 1;
    assert!(deepest >= 2);
    let (mut last, mut levels) = (bytes("whole.html"), Vec::new());
    for by in ["mode", "max", "min", "first"] {
        let most = last - 1;
        let said = told(&folder, &format!("tree view a.tree.zarr -o part.html --max-size {most} --by {by} --force"));
        assert!(bytes("part.html") <= most, "{} of {most}", bytes("part.html"));
        let page = std::fs::read_to_string(folder.join("part.html")).unwrap();
        let level = unpacked(&page).0["cut"]["level"].as_u64().unwrap();
        let sentence = format!("evels 0 to {level} of 0 to {deepest} are shown: instead of ");
        assert!(said.contains(&sentence) && page.contains(&sentence), "{said}");
        told(&folder, &format!("tree lod a.tree.zarr --level {level} --by {by} -o cut.tree.zarr --force"));
        let (_, arrays) = unpacked(&page);
        let cut = lines(&folder, "tree print cut.tree.zarr --json");
        let shown: Vec<u32> = arrays["value"].as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        assert_eq!(shown, cut.iter().map(|line| line["value"].as_u64().unwrap() as u32).collect::<Vec<_>>());
        let how = |line: &Value| 2 * u8::from(line["provenance"] == "cut");
        assert_eq!(arrays["how"], cut.iter().map(how).collect::<Vec<_>>());
        assert!(arrays["cells"].is_empty());
        levels.push(level);
        last = bytes("part.html");
        if level == 0 {
            break;
        }
    }
    assert!(levels.is_sorted_by(|a, b| a >= b) && levels.last() < levels.first(), "{levels:?}");
    for (arguments, words) in [
        ("-o x.html --max-size 1000", "--max-size 1000: a page without any region has "),
        ("-o x.txt", "--output x.txt: the extension must be .html"),
        ("-o whole.html", "exists already"),
        ("-o x.html --max-size many", "--max-size"),
    ] {
        let output = orthant(&folder, &format!("tree view a.tree.zarr {arguments}"));
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments}: {said}");
    }
    assert!(!files(&folder).iter().any(|name| name.starts_with('x') || name.starts_with('.')));
    let piped = orthant(&folder, "tree view a.tree.zarr -o -");
    assert_eq!(piped.stdout, std::fs::read(folder.join("whole.html")).unwrap());
    assert!(orthant(&folder, "tree view a.tree.zarr -o a.tree.zarr/zarr.json --force").status.code() == Some(2));
}
