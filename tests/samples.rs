//! Small files of one array in every format: 4 x 3 x 2 cells of u16, the first of which are 0, 1, 2.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use orthant_formats::input::Endian;
use serde_json::json;

use crate::archives::{Wide, archive};

/// Cells per axis.
pub const SIZE: [u32; 3] = [4, 3, 2];

/// All cells, as they lie in a file.
pub fn cells(endian: Endian) -> Vec<u8> {
    (0..24u16).flat_map(|cell| if endian == Endian::Big { cell.to_be_bytes() } else { cell.to_le_bytes() }).collect()
}

/// Numbers as a file has them.
pub struct Bytes(pub Vec<u8>, pub Endian);

impl Bytes {
    pub fn put(&mut self, at: usize, width: usize, number: i64) {
        if self.0.len() < at + width {
            self.0.resize(at + width, 0);
        }
        let mut bytes = number.to_le_bytes()[..width].to_vec();
        if self.1 == Endian::Big {
            bytes.reverse();
        }
        self.0[at..at + width].copy_from_slice(&bytes);
    }

    pub fn float(&mut self, at: usize, width: usize, number: f64) {
        let bits = if width == 4 { (number as f32).to_bits().into() } else { number.to_bits() };
        self.put(at, width, bits.cast_signed());
    }
}

/// A header of NIfTI of either version, and cells after it where `alone`: 0.5 mm in a cell, the first of which is at (10, 20, -5).
pub fn nifti(version: u32, endian: Endian, alone: bool) -> Vec<u8> {
    let mut file = Bytes(Vec::new(), endian);
    let offset = if alone { [352, 544][version as usize - 1] } else { 0 };
    if version == 1 {
        file.put(0, 4, 348);
        file.put(345, 3, 0);
        for (at, number) in [(40, 3), (42, 4), (44, 3), (46, 2), (70, 512), (72, 16)] {
            file.put(at, 2, number);
        }
        [80, 84, 88].into_iter().for_each(|at| file.float(at, 4, 0.5));
        file.float(108, 4, offset as f64);
        file.put(123, 1, 10);
        file.put(254, 2, 1);
        for row in 0..3 {
            file.float(280 + row * 20, 4, 0.5);
            file.float(292 + row * 16, 4, [10.0, 20.0, -5.0][row]);
        }
        file.0[344..348].copy_from_slice(if alone { b"n+1\0" } else { b"ni1\0" });
    } else {
        file.put(0, 4, 540);
        file.put(539, 1, 0);
        for (at, number) in [(16, 3), (24, 4), (32, 3), (40, 2), (168, offset)] {
            file.put(at, 8, number);
        }
        file.put(12, 2, 512);
        [112, 120, 128].into_iter().for_each(|at| file.float(at, 8, 0.5));
        file.put(500, 4, 10);
        file.put(348, 4, 1);
        for row in 0..3 {
            file.float(400 + row * 40, 8, 0.5);
            file.float(424 + row * 32, 8, [10.0, 20.0, -5.0][row]);
        }
        file.0[4..12].copy_from_slice(if alone { b"n+2\0\r\n\x1a\n" } else { b"ni2\0\r\n\x1a\n" });
    }
    if alone {
        file.0.resize(offset as usize, 0);
        file.0.extend(cells(endian));
    }
    file.0
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

pub fn nrrd(encoding: &str, endian: Endian) -> Vec<u8> {
    let cells = cells(endian);
    let cells = if encoding == "gzip" { gzip(&cells) } else { cells };
    let header = format!(
        "NRRD0005\n# a comment\ntype: ushort\ndimension: 3\nsizes: 4 3 2\nencoding: {encoding}\nendian: {endian}\n\
         space directions: (0.5,0,0) (0,0.5,0) (0,0,0.5)\nspace origin: (10,20,-5)\nspace dimension: 3\n\
         space units: \"mm\" \"mm\" \"mm\"\nkey:=value\n\n"
    );
    [header.as_bytes(), &cells].concat()
}

pub fn metaimage(packed: bool, endian: Endian) -> Vec<u8> {
    let cells = cells(endian);
    let cells = if packed { zlib(&cells) } else { cells };
    let (msb, packed) = (if endian == Endian::Big { "True" } else { "False" }, if packed { "True" } else { "False" });
    let header = format!(
        "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = {msb}\nCompressedData = {packed}\n\
         TransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 10 20 -5\nElementSpacing = 0.5 0.5 0.5\nDistanceUnits = mm\n\
         DimSize = 4 3 2\nElementType = MET_USHORT\nElementDataFile = LOCAL\n"
    );
    [header.as_bytes(), &cells].concat()
}

/// How the pages of a TIFF are packed.
#[derive(Clone, Copy, PartialEq)]
pub enum Packed {
    Not,
    Deflate,
    Lzw,
    PackBits,
}

/// Two pages, in strips of two rows, or in tiles of 16 x 16.
pub fn tiff(big: bool, endian: Endian, packed: Packed, tiles: bool) -> Vec<u8> {
    let order: &[u8] = if endian == Endian::Big { b"MM" } else { b"II" };
    let mut file = Bytes(order.to_vec(), endian);
    let wide = if big { 8 } else { 4 };
    let mut link = if big { 8 } else { 4 };
    file.put(2, 2, if big { 43 } else { 42 });
    if big {
        file.put(4, 2, 8);
    }
    file.put(link, wide, 0);
    let all = cells(endian);
    for page in all.chunks(24) {
        let chunks: Vec<Vec<u8>> = if tiles {
            let mut tile = vec![0; 512];
            page.chunks(8).enumerate().for_each(|(row, cells)| tile[row * 32..row * 32 + 8].copy_from_slice(cells));
            vec![tile]
        } else {
            page.chunks(16).map(<[u8]>::to_vec).collect()
        };
        let places: Vec<(usize, usize)> = (chunks.iter())
            .map(|chunk| {
                let bytes = match packed {
                    Packed::Not => chunk.clone(),
                    Packed::Deflate => zlib(chunk),
                    Packed::Lzw => {
                        weezl::encode::Encoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8).encode(chunk).unwrap()
                    }
                    Packed::PackBits => {
                        chunk.chunks(100).flat_map(|run| [&[run.len() as u8 - 1], run].concat()).collect()
                    }
                };
                let at = file.0.len();
                file.0.extend(&bytes);
                (at, bytes.len())
            })
            .collect();
        let mut list = |of: &dyn Fn(&(usize, usize)) -> usize| {
            if let [place] = &places[..] {
                return of(place);
            }
            let at = file.0.len();
            places.iter().enumerate().for_each(|(index, place)| file.put(at + 4 * index, 4, of(place) as i64));
            // Two of four bytes stand where one of eight does.
            at
        };
        let (offsets, bytes) = (list(&|place| place.0), list(&|place| place.1));
        let (count, chunk) = (places.len(), if tiles { [(322, 16), (323, 16)] } else { [(278, 2), (284, 1)] });
        let coding = [1, 8, 5, 32773][[Packed::Not, Packed::Deflate, Packed::Lzw, Packed::PackBits]
            .iter()
            .position(|own| *own == packed)
            .unwrap()];
        let tags = if tiles { [324, 325] } else { [273, 279] };
        let mut entries = vec![(256, 4, 1), (257, 3, 1), (258, 16, 1), (259, coding, 1), (262, 1, 1), (277, 1, 1)];
        entries.extend(chunk.map(|(tag, value)| (tag, value, 1)));
        entries.extend([(tags[0], offsets, count), (tags[1], bytes, count)]);
        let at = file.0.len();
        file.put(link, wide, at as i64);
        file.put(at, if big { 8 } else { 2 }, entries.len() as i64);
        let first = at + if big { 8 } else { 2 };
        for (index, (tag, value, count)) in entries.iter().enumerate() {
            let entry = first + index * (4 + 2 * wide);
            file.put(entry, 2, *tag);
            file.put(entry + 2, 2, 4);
            file.put(entry + 4, wide, *count as i64);
            file.put(entry + 4 + wide, wide, 0);
            if big && *count == 2 {
                // Both lie in the entry.
                let numbers = file.0[*value..*value + 8].to_vec();
                file.0[entry + 12..entry + 20].copy_from_slice(&numbers);
            } else {
                file.put(entry + 4 + wide, 4, *value as i64);
            }
        }
        link = first + entries.len() * (4 + 2 * wide);
        file.put(link, wide, 0);
    }
    file.0
}

#[cfg(feature = "hdf5")]
pub fn hdf5(chunked: bool) -> Vec<u8> {
    let mut file = hdf5_pure::FileBuilder::new();
    let cells: Vec<u16> = (0..24).collect();
    let data = file.create_dataset("cells").with_u16_data(&cells).with_shape(&[2, 3, 4]);
    if chunked {
        data.with_chunks(&[1, 2, 4]).with_deflate(6);
    }
    file.finish().unwrap()
}

/// The files of an image of OME-Zarr: 0.5 mm in a cell, the first of which is at (10, 20, -5).
pub fn image() -> Vec<(String, Vec<u8>)> {
    let axes = ["z", "y", "x"].map(|name| json!({"name": name, "type": "space", "unit": "mm"}));
    let place =
        json!([{"type": "scale", "scale": [0.5, 0.5, 0.5]}, {"type": "translation", "translation": [-5, 20, 10]}]);
    let sizes = json!([{"path": "0", "coordinateTransformations": place}]);
    let group = json!({"multiscales": [{"version": "0.4", "axes": axes, "datasets": sizes}]});
    let array = json!({
        "zarr_format": 2, "shape": [2, 3, 4], "chunks": [1, 2, 4], "dtype": ">u2", "order": "C", "fill_value": 0, "filters": null,
        "compressor": {"id": "zlib", "level": 1}, "dimension_separator": "/",
    });
    let mut files = vec![
        (".zgroup".to_owned(), json!({"zarr_format": 2}).to_string().into_bytes()),
        (".zattrs".to_owned(), group.to_string().into_bytes()),
        ("0/.zarray".to_owned(), array.to_string().into_bytes()),
    ];
    for (z, page) in cells(Endian::Big).chunks(24).enumerate() {
        for (y, rows) in page.chunks(16).enumerate() {
            let mut chunk = rows.to_vec();
            chunk.resize(16, 0xff);
            files.push((format!("0/{z}/{y}/0"), zlib(&chunk)));
        }
    }
    files
}

/// A file of each kind, and what it is called.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = Vec::new();
    for endian in [Endian::Little, Endian::Big] {
        for version in [1, 2] {
            files.push(("a.nii", nifti(version, endian, true)));
            files.push(("a.nii.gz", gzip(&nifti(version, endian, true))));
        }
        files.extend(["raw", "gzip"].map(|encoding| ("a.nrrd", nrrd(encoding, endian))));
        files.extend([false, true].map(|packed| ("a.mha", metaimage(packed, endian))));
        for packed in [Packed::Not, Packed::Deflate, Packed::Lzw, Packed::PackBits] {
            for tiles in [false, true] {
                files.push(("a.tif", tiff(tiles != (packed == Packed::Lzw), endian, packed, tiles)));
            }
        }
    }
    let members = image();
    let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone(), false)).collect();
    files.push(("a.zarr.zip", archive(&members, Wide::No)));
    #[cfg(feature = "hdf5")]
    files.extend([false, true].map(|chunked| ("a.h5", hdf5(chunked))));
    files
}
