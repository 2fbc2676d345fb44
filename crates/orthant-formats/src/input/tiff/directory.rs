//! The directories of a TIFF file: what each page is, and where its chunks lie.

use std::collections::HashSet;
use std::io::Read;

use crate::input::error::{FilePlace, InputFault};
use crate::input::reader::FilePart;
use orthant::CellType;
use orthant::Endian;
use orthant::disk::File;

/// The most bytes that are read of a text or of a table of colours.
const LONGEST: u64 = 1 << 20;

/// A page: an array of two axes, in chunks.
#[derive(Debug)]
pub(in crate::input) struct Page {
    /// Where its directory begins.
    pub(in crate::input) at: u64,
    pub(in crate::input) size: [u32; 2],
    pub(in crate::input) kind: CellType,
    pub(super) compression: Compression,
    pub(super) predictor: Predictor,
    /// Cells of a chunk per axis; of the page's width unless these are tiles.
    pub(super) chunk: [u32; 2],
    /// Where chunks begin, and their bytes, row by row of chunks.
    pub(super) chunks: Vec<(u64, u64)>,
}

/// How chunks are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Nothing,
    Lzw,
    Deflate,
    PackBits,
    Zstandard,
}

/// What was done to rows before they were packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predictor {
    Nothing,
    Differences,
    Floats,
}

/// What the first page says beside.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) description: String,
    /// Cells per unit, of either axis.
    pub(super) resolution: [Option<f64>; 2],
    /// Red, green and blue of each number.
    pub(super) palette: Vec<[u8; 3]>,
}

/// Bytes that are read at once: as many as some directories have.
const WINDOW: u64 = 1 << 12;

/// Reads numbers in a file's order.
struct TiffReader<'f> {
    file: &'f File,
    length: u64,
    endian: Endian,
    /// True of BigTIFF, whose numbers have 64 bits.
    wide: bool,
    /// What was read last, and before: a directory, say, and what its tags have elsewhere. Each has the byte where it begins.
    windows: [(u64, Vec<u8>); 2],
}

/// A number, or several, of a directory.
#[derive(Clone, Copy)]
struct TagValues {
    tag: u16,
    kind: u16,
    count: u64,
    /// Where the values are.
    at: u64,
}

impl TagValues {
    /// Bytes of one of them.
    fn width(&self) -> Option<u64> {
        Some(match self.kind {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16 | 17 | 18 => 8,
            _ => return None,
        })
    }
}

/// All pages of a file, how its numbers are written, what the first page says beside, and how many pages are smaller copies.
pub(super) fn read(file: &File, length: u64) -> Result<(Endian, Vec<Page>, Beside, usize), InputFault> {
    let none = |what: &str| InputFault::Damaged { at: FilePlace::Byte(0), what: what.into() };
    let windows = [(0, Vec::new()), (0, Vec::new())];
    let mut reader = TiffReader { file, length, endian: Endian::Little, wide: false, windows };
    let begin: [u8; 4] = reader.bytes(0)?;
    reader.endian = match &begin[..2] {
        b"II" => Endian::Little,
        b"MM" => Endian::Big,
        _ => return Err(none("not TIFF, which begins with II or MM")),
    };
    let mut next = match reader.number(2, 2)? {
        42 => reader.number(4, 4)?,
        43 => {
            reader.wide = true;
            if (reader.number(4, 2)?, reader.number(6, 2)?) != (8, 0) {
                return Err(none("BigTIFF with offsets that have not 8 bytes"));
            }
            reader.number(8, 8)?
        }
        _ => return Err(none("not TIFF, whose version is 42, or 43 of BigTIFF")),
    };
    let (mut pages, mut beside, mut smaller, mut seen) = (Vec::new(), Beside::default(), 0, HashSet::new());
    // Every chunk has a byte, so that no memory is taken for more.
    let mut left = length;
    while next != 0 {
        if !seen.insert(next) {
            return Err(InputFault::Damaged { at: FilePlace::Byte(next), what: "a directory that comes twice".into() });
        }
        let (entries, after) = reader.entries(next)?;
        let directory = PageDirectory { reader: &mut reader, at: next, entries };
        if let Some(page) = directory.page(&mut left, if pages.is_empty() { Some(&mut beside) } else { None })? {
            pages.push(page);
        } else {
            smaller += 1;
        }
        next = after;
    }
    if pages.is_empty() {
        return Err(none("a TIFF without a page"));
    }
    Ok((reader.endian, pages, beside, smaller))
}

/// Bytes of a window, if it has them.
#[inline]
fn within<const N: usize>((start, window): &(u64, Vec<u8>), at: u64) -> Option<[u8; N]> {
    let from = usize::try_from(at.checked_sub(*start)?).ok()?;
    window.get(from..)?.first_chunk().copied()
}

impl TiffReader<'_> {
    fn bytes<const N: usize>(&mut self, at: u64) -> Result<[u8; N], InputFault> {
        if at.checked_add(N as u64).is_none_or(|end| end > self.length) {
            let what = "the file ends before what should be here".into();
            return Err(InputFault::Damaged { at: FilePlace::Byte(at), what });
        }
        if let Some(bytes) = self.windows.iter().find_map(|window| within(window, at)) {
            return Ok(bytes);
        }
        // In the room of the one that was read before.
        self.windows.swap(0, 1);
        let (start, window) = &mut self.windows[0];
        window.clear();
        FilePart::new(self.file, at, WINDOW).read_to_end(window)?;
        *start = at;
        let what = "the file ends before what should be here, since it was cut while it was read";
        within(&self.windows[0], at).ok_or_else(|| InputFault::Damaged { at: FilePlace::Byte(at), what: what.into() })
    }

    /// A number of so many bytes.
    fn number(&mut self, at: u64, width: u64) -> Result<u64, InputFault> {
        fn of<const N: usize>(reader: &mut TiffReader<'_>, at: u64) -> Result<u64, InputFault> {
            let bytes = reader.bytes::<N>(at)?;
            let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
            Ok(match reader.endian {
                Endian::Little => bytes.iter().rev().fold(0, digit),
                Endian::Big => bytes.iter().fold(0, digit),
            })
        }
        match width {
            1 => of::<1>(self, at),
            2 => of::<2>(self, at),
            4 => of::<4>(self, at),
            _ => of::<8>(self, at),
        }
    }

    /// What a directory has, and where the next is.
    fn entries(&mut self, at: u64) -> Result<(Vec<TagValues>, u64), InputFault> {
        let (head, each, inside) = if self.wide { (8, 20, 8) } else { (2, 12, 4) };
        let count = self.number(at, head)?;
        // No directory has more, and no memory is taken for more.
        if count > 4096 {
            return Err(InputFault::field(FilePlace::Byte(at), "entries", count, "a directory has at most 4096"));
        }
        let mut entries = Vec::new();
        for index in 0..count {
            let start = at + head + index * each;
            let (tag, kind) = (self.number(start, 2)? as u16, self.number(start + 2, 2)? as u16);
            let mut entry = TagValues { tag, kind, count: self.number(start + 4, inside)?, at: start + 4 + inside };
            if entry.width().is_some_and(|width| entry.count.saturating_mul(width) > inside) {
                entry.at = self.number(start + 4 + inside, inside)?;
            }
            entries.push(entry);
        }
        let next = self.number(at + head + count * each, inside)?;
        Ok((entries, next))
    }
}

/// A directory, of which a page is read.
struct PageDirectory<'r, 'f> {
    reader: &'r mut TiffReader<'f>,
    at: u64,
    entries: Vec<TagValues>,
}

impl PageDirectory<'_, '_> {
    fn entry(&self, tag: u16) -> Option<TagValues> {
        self.entries.iter().find(|entry| entry.tag == tag).copied()
    }

    /// Whole numbers that a tag has, at most so many.
    fn numbers(&mut self, tag: u16, name: &str, most: u64) -> Result<Option<Vec<u64>>, InputFault> {
        let Some(entry) = self.entry(tag) else { return Ok(None) };
        let width = entry.width().filter(|_| matches!(entry.kind, 1 | 3 | 4 | 13 | 16));
        let wrong = |allowed: &str| InputFault::field(FilePlace::Byte(entry.at), name, entry.count, allowed);
        let width = width.ok_or_else(|| wrong("whole numbers are needed"))?;
        if entry.count == 0 || entry.count > most {
            return Err(wrong(&format!("between 1 and {most} numbers can be")));
        }
        (0..entry.count)
            .map(|index| self.reader.number(entry.at.saturating_add(index * width), width))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn number(&mut self, tag: u16, name: &str, usual: Option<u64>) -> Result<u64, InputFault> {
        let found = self.numbers(tag, name, 1)?.map(|numbers| numbers[0]).or(usual);
        let what = || format!("a page whose directory has no {name}");
        found.ok_or_else(|| InputFault::Damaged { at: FilePlace::Byte(self.at), what: what() })
    }

    fn refused<T>(&self, tag: u16, name: &str, value: u64, allowed: impl Into<String>) -> Result<T, InputFault> {
        Err(InputFault::field(FilePlace::Byte(self.entry(tag).map_or(self.at, |entry| entry.at)), name, value, allowed))
    }

    /// The page; none of a smaller copy of another.
    fn page(mut self, left: &mut u64, beside: Option<&mut Beside>) -> Result<Option<Page>, InputFault> {
        // Bit 0: of another page, reduced.
        if self.number(254, "NewSubfileType", Some(0))? & 1 == 1 {
            return Ok(None);
        }
        let size = [self.side(256, "ImageWidth")?, self.side(257, "ImageLength")?];
        let samples = self.number(277, "SamplesPerPixel", Some(1))?;
        if samples != 1 {
            let allowed = "cells of one value can be read; write each channel to a page of its own";
            return self.refused(277, "SamplesPerPixel", samples, allowed);
        }
        let bits = self.number(258, "BitsPerSample", Some(1))?;
        let kind = self.kind(bits)?;
        let compression = self.compression()?;
        let order = self.number(266, "FillOrder", Some(1))?;
        if order != 1 {
            return self.refused(266, "FillOrder", order, "1, the highest bit of a byte first, can be read");
        }
        let predictor = self.predictor(kind, compression)?;
        let tiled = self.entry(322).is_some();
        let chunk = if tiled { self.tile()? } else { self.strip(size)? };
        let chunks = self.chunks(size, chunk, tiled, left)?;
        if let Some(beside) = beside {
            *beside = self.beside(bits)?;
        }
        Ok(Some(Page { at: self.at, size, kind, compression, predictor, chunk, chunks }))
    }

    /// The cells of an axis.
    fn side(&mut self, tag: u16, name: &str) -> Result<u32, InputFault> {
        match self.number(tag, name, None)? {
            cells @ 1..=0xffff_ffff => Ok(cells as u32),
            cells => self.refused(tag, name, cells, format!("between 1 and {} cells can be on an axis", u32::MAX)),
        }
    }

    /// The type of cells that have so many bits.
    fn kind(&mut self, bits: u64) -> Result<CellType, InputFault> {
        let format = self.number(339, "SampleFormat", Some(1))?;
        Ok(match (format, bits) {
            (1 | 4, 8) => CellType::U8,
            (1 | 4, 16) => CellType::U16,
            (1 | 4, 32) => CellType::U32,
            (1 | 4, 64) => CellType::U64,
            (2, 8) => CellType::I8,
            (2, 16) => CellType::I16,
            (2, 32) => CellType::I32,
            (2, 64) => CellType::I64,
            (3, 32) => CellType::F32,
            (3, 64) => CellType::F64,
            (1..=4, _) => {
                let allowed = "integers of 8, 16, 32 or 64 bits and floats of 32 or 64 can be read";
                return self.refused(258, "BitsPerSample", bits, allowed);
            }
            _ => return self.refused(339, "SampleFormat", format, "integers and floats can be read"),
        })
    }

    fn compression(&mut self) -> Result<Compression, InputFault> {
        Ok(match self.number(259, "Compression", Some(1))? {
            1 => Compression::Nothing,
            5 => Compression::Lzw,
            8 | 32946 => Compression::Deflate,
            32773 => Compression::PackBits,
            50000 | 34926 => Compression::Zstandard,
            other => {
                let name = match other {
                    2..=4 => "fax; ",
                    6 | 7 => "JPEG; ",
                    33003 | 33005 | 34712 => "JPEG 2000; ",
                    34887 => "LERC; ",
                    _ => "",
                };
                let allowed = format!("{name}none, LZW, Deflate, PackBits and Zstandard can be read");
                return self.refused(259, "Compression", other, allowed);
            }
        })
    }

    fn predictor(&mut self, kind: CellType, compression: Compression) -> Result<Predictor, InputFault> {
        Ok(match self.number(317, "Predictor", Some(1))? {
            // Libraries have one for the other packings alone, whatever is said here.
            _ if matches!(compression, Compression::Nothing | Compression::PackBits) => Predictor::Nothing,
            1 => Predictor::Nothing,
            2 => Predictor::Differences,
            3 if kind.is_float() => Predictor::Floats,
            other => return self.refused(317, "Predictor", other, "1, 2, and 3 of floats can be read"),
        })
    }

    /// The cells of a tile per axis.
    fn tile(&mut self) -> Result<[u32; 2], InputFault> {
        let side = |cells: u64| u32::try_from(cells).ok().filter(|&cells| cells > 0);
        let (width, rows) = (self.number(322, "TileWidth", None)?, self.number(323, "TileLength", None)?);
        match (side(width), side(rows)) {
            (Some(width), Some(rows)) => Ok([width, rows]),
            _ => self.refused(322, "TileWidth", width, "tiles have cells"),
        }
    }

    /// The cells of a strip per axis.
    fn strip(&mut self, size: [u32; 2]) -> Result<[u32; 2], InputFault> {
        let rows = self.number(278, "RowsPerStrip", Some(u64::from(u32::MAX)))?.clamp(1, size[1].into());
        Ok([size[0], rows as u32])
    }

    /// Where chunks begin, and their bytes. There can be as many as there are bytes `left`.
    fn chunks(
        &mut self,
        size: [u32; 2],
        chunk: [u32; 2],
        tiled: bool,
        left: &mut u64,
    ) -> Result<Vec<(u64, u64)>, InputFault> {
        let count = u64::from(size[0].div_ceil(chunk[0])) * u64::from(size[1].div_ceil(chunk[1]));
        if count > *left {
            let what = format!("a page in {count} chunks, more than the file has bytes");
            return Err(InputFault::Damaged { at: FilePlace::Byte(self.at), what });
        }
        *left -= count;
        let tags = match tiled {
            true => [(324, "TileOffsets"), (325, "TileByteCounts")],
            false => [(273, "StripOffsets"), (279, "StripByteCounts")],
        };
        let [offsets, bytes] = tags.map(|(tag, name)| -> Result<Vec<u64>, InputFault> {
            let numbers = self.numbers(tag, name, count)?;
            let found = numbers.as_ref().map_or(0, |numbers| numbers.len() as u64);
            match numbers {
                Some(numbers) if found == count => Ok(numbers),
                _ => self.refused(tag, name, found, format!("{count} numbers are needed")),
            }
        });
        Ok(offsets?.into_iter().zip(bytes?).collect())
    }

    fn beside(&mut self, bits: u64) -> Result<Beside, InputFault> {
        let mut beside = Beside::default();
        if let Some(entry) = self.entry(270).filter(|entry| entry.kind == 2 && entry.count <= LONGEST) {
            let mut text = Vec::new();
            for index in 0..entry.count {
                text.extend(self.reader.bytes::<1>(entry.at.saturating_add(index))?);
            }
            beside.description = String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned();
        }
        for (place, tag) in beside.resolution.iter_mut().zip([282, 283]) {
            if let Some(entry) = self.entry(tag).filter(|entry| (entry.kind, entry.count) == (5, 1)) {
                let [over, under] =
                    [self.reader.number(entry.at, 4)?, self.reader.number(entry.at.saturating_add(4), 4)?];
                *place = Some(over as f64 / under as f64).filter(|value| value.is_finite() && *value > 0.0);
            }
        }
        // Photometric interpretation 3: cells are numbers of colours.
        if bits == 8
            && self.number(262, "PhotometricInterpretation", Some(1))? == 3
            && let Some(parts) = self.numbers(320, "ColorMap", 3 << 8)?
            && parts.len() == 3 << 8
        {
            beside.palette = (0..256).map(|i| [i, 256 + i, 512 + i].map(|at| (parts[at] >> 8) as u8)).collect();
        }
        Ok(beside)
    }
}
