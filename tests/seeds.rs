//! The files that fuzzing starts from: small ones of every format, as they are written right.

use std::fs;
use std::path::Path;

use ndarray::ArrayD;
use orthant::CellType;
use orthant::prelude::*;
use orthant::tree::{BottomUp, TreeInfo, TreeTarget};
use orthant_formats::input::Endian;
use serde_json::json;

use crate::archives::{Wide, archive};
use crate::fuzzed::pack;
use crate::samples::{self, Packed, gzip, image, metaimage, nifti, nrrd, tiff};

/// The largest file.
const MOST: usize = 12 << 10;

fn npy(header: &str, cells: &[u8]) -> Vec<u8> {
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), cells].concat()
}

/// Stores as inputs: what other tests damage, one for every way in which Blosc packs, and an image.
fn stores(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut stores = Vec::new();
    for store in crate::zarrs::samples(&folder.join("stores")) {
        let mut paths = Vec::new();
        crate::fuzzed::files(&store, &mut paths);
        paths.sort();
        let file = |path: &std::path::PathBuf| {
            let name = path.strip_prefix(&store).unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        };
        let files: Vec<_> = paths.iter().map(file).filter(|(_, bytes)| bytes.len() < MOST / 2).collect();
        stores.push((store.file_stem().unwrap().to_str().unwrap().to_owned(), pack(&files)));
    }
    let array = json!({
        "zarr_format": 2, "shape": [4096], "chunks": [4096], "dtype": "<u2", "order": "C", "fill_value": 0, "filters": null,
        "compressor": {"id": "blosc"},
    });
    for (name, chunk) in [
        ("blosclz", &include_bytes!("zarr/blosclz-1.blosc")[..]),
        ("lz4", include_bytes!("zarr/lz4-1.blosc")),
        ("zlib", include_bytes!("zarr/zlib-0.blosc")),
        ("zstd", include_bytes!("zarr/zstd-1.blosc")),
    ] {
        let files = [(".zarray".to_owned(), array.to_string().into_bytes()), ("0".to_owned(), chunk.to_vec())];
        stores.push((name.to_owned(), pack(&files)));
    }
    stores
}

/// A tree of a few cells, in a zip.
fn tree(folder: &Path) -> Vec<u8> {
    let array = ArrayD::from_shape_fn(vec![9, 11], |at| u16::from(at[0] > 5) * (at[1] / 5) as u16);
    let field = ArrayField::new(array.view()).unwrap();
    let domain = Domain::new([11, 9], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let path = folder.join("a.tree.zarr.zip");
    let mut writer = TreeTarget::new(&path).shard_cells(32).open(&plan, CellType::U16, &TreeInfo::of(&plan)).unwrap();
    BottomUp::new(&plan, &field).unwrap().write(&mut writer).unwrap();
    writer.finish().unwrap();
    fs::read(path).unwrap()
}

/// Writes them all.
pub fn write(seeds: &Path, folder: &Path) {
    let put = |target: &str, name: &str, bytes: &[u8]| {
        assert!(bytes.len() < MOST, "{target}/{name}: {} bytes", bytes.len());
        fs::create_dir_all(seeds.join(target)).unwrap();
        fs::write(seeds.join(target).join(name), bytes).unwrap();
    };
    let (little, big) = (Endian::Little, Endian::Big);
    let formulas = [
        (
            "statements",
            "param r = 0.5; axes u, v; def sq(a) = a*a; let q = sq(u) - v^3; |q| < r and not min(u, v) > -1e-40",
        ),
        ("classes", "classes(sin(9*x) + exp(y)/floor(3*z - 1) - ln(|x|), -1, 0.25, 1e30)"),
        ("iterate", "iterate z = conj(z)^2 + c from z = 0.1*i while |z| <= 2 or re(z) < im(z) cap 9"),
        ("value", "pow(x, y) + sqrt(max(x, 0, y*pi)) - cos(2^3)"),
        ("model", "# a\nx var-x\ny var-y\nr const 0.5\nxx square x\ns add xx y\nd sub s r\no max d x\n"),
    ];
    formulas.iter().for_each(|(name, text)| put("formula", name, text.as_bytes()));
    let c = npy("{'descr': '<u2', 'fortran_order': False, 'shape': (4, 3, 2), }", &samples::cells(little));
    put("npy", "c", &c);
    put("npy", "fortran", &npy("{'descr': '>f8', 'fortran_order': True, 'shape': (6,), }", &samples::cells(big)));
    put("npy", "bool", &npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 6, 8), }", &[1; 48]));
    put("npz", "stored", &archive(&[("a.npy", c.clone(), false), ("b.npy", c.clone(), false)], Wide::No));
    put("npz", "deflated", &archive(&[("a.npy", c, true)], Wide::All));
    put("nifti", "1", &nifti(1, little, true));
    put("nifti", "2", &nifti(2, big, true));
    put("nifti", "packed", &gzip(&nifti(1, big, true)));
    put("nifti", "header", &nifti(1, little, false));
    let beside = |file: &[u8], cells: &str, name: &str| {
        let text = String::from_utf8_lossy(file).into_owned();
        text.replacen(cells, name, 1).into_bytes()
    };
    put("nrrd", "raw", &nrrd("raw", little));
    put("nrrd", "packed", &nrrd("gzip", big));
    put("nrrd", "beside", &beside(&nrrd("raw", little), "key:=value\n", "data file: a.raw\n"));
    put("nrrd", "pattern", &beside(&nrrd("raw", little), "key:=value\n", "data file: a%d.raw 0 3 1 2\nline skip: 1\n"));
    put("metaimage", "raw", &metaimage(false, little));
    put("metaimage", "packed", &metaimage(true, big));
    put("metaimage", "beside", &beside(&metaimage(false, little), "LOCAL", "a.raw"));
    let packings =
        [("not", Packed::Not), ("deflate", Packed::Deflate), ("lzw", Packed::Lzw), ("packbits", Packed::PackBits)];
    for (name, packed) in packings {
        for (tiles, more, endian) in [(false, "", little), (true, "-tiles", big)] {
            put("tiff", &format!("{name}{more}"), &tiff(tiles != (packed == Packed::Lzw), endian, packed, tiles));
        }
    }
    #[cfg(feature = "hdf5")]
    for (name, chunked) in [("whole", false), ("chunks", true)] {
        put("hdf5", name, &samples::hdf5(chunked));
    }
    stores(folder).iter().for_each(|(name, bytes)| put("zarr", name, bytes));
    let members = image();
    let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone(), false)).collect();
    put("zarr_zip", "image", &archive(&members, Wide::No));
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    put("raw", "c", &[&[1, 0, 3, 0], &numbers(&[4, 3, 2])[..], &samples::cells(little)].concat());
    put("raw", "fortran", &[&[2, 3, 2, 4], &numbers(&[5, 1])[..], &[0; 24]].concat());
    put("tree", "shards", &tree(folder));
    crate::meshes::seeds().iter().for_each(|(name, bytes)| put("mesh", name, bytes));
    crate::points::seeds().iter().for_each(|(name, bytes)| put("points", name, bytes));
}
