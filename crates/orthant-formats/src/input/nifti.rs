//! NIfTI-1 and NIfTI-2: `.nii`, pairs of `.hdr` and `.img`, and either packed by gzip.
//!
//! Axis 0 is i, the fastest. Cells are kept as they are stored; what they are to be scaled by is told.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart, unpack};
use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::reader::open;
use orthant::CellType;
use orthant::MAX_DIM;
use orthant::per_axis;
use orthant::tree::{About, AboutAxis};
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format =
    Format { name: "NIfTI", extensions: &["nii", "nii.gz", "hdr", "hdr.gz"], part: None, folder: no_folder, describe };

/// Types by their numbers: those that can be read, and the names of the others.
const TYPES: [(i16, Result<CellType, &str>); 17] = [
    (1, Err("single bits")),
    (2, Ok(CellType::U8)),
    (4, Ok(CellType::I16)),
    (8, Ok(CellType::I32)),
    (16, Ok(CellType::F32)),
    (32, Err("complex64")),
    (64, Ok(CellType::F64)),
    (128, Err("RGB24")),
    (256, Ok(CellType::I8)),
    (512, Ok(CellType::U16)),
    (768, Ok(CellType::U32)),
    (1024, Ok(CellType::I64)),
    (1280, Ok(CellType::U64)),
    (1536, Err("float128")),
    (1792, Err("complex128")),
    (2048, Err("complex256")),
    (2304, Err("RGBA32")),
];

/// Where either version has what is read, and how wide it is.
struct Offsets {
    length: usize,
    magic: usize,
    /// The magic of a single file, and of a header with cells beside it.
    magics: [&'static [u8]; 2],
    dim: usize,
    datatype: usize,
    /// What cells are meant to be.
    intent: usize,
    pixdim: usize,
    vox_offset: usize,
    slope: usize,
    toffset: usize,
    /// Of quaternions and of rows.
    codes: [usize; 2],
    quaternion: usize,
    rows: usize,
    units: usize,
    /// Bytes of a code and of a float.
    widths: [usize; 2],
}

const FIRST: Offsets = Offsets {
    length: 348,
    magic: 344,
    magics: [b"n+1\0", b"ni1\0"],
    dim: 40,
    intent: 68,
    datatype: 70,
    pixdim: 76,
    vox_offset: 108,
    slope: 112,
    toffset: 136,
    codes: [252, 254],
    quaternion: 256,
    rows: 280,
    units: 123,
    widths: [2, 4],
};

const SECOND: Offsets = Offsets {
    length: 540,
    magic: 4,
    magics: [b"n+2\0\r\n\x1a\n", b"ni2\0\r\n\x1a\n"],
    dim: 16,
    intent: 504,
    datatype: 12,
    pixdim: 104,
    vox_offset: 168,
    slope: 176,
    toffset: 216,
    codes: [344, 348],
    quaternion: 352,
    rows: 400,
    units: 500,
    widths: [4, 8],
};

/// The code of cells that are labels (NIFTI_INTENT_LABEL).
const INTENT_LABEL: i64 = 1002;

fn describe(path: &Path, _: Option<&str>, _: Access) -> Result<Described, InputError> {
    described(path).map_err(|wrong| InputError { path: path.to_owned(), wrong })
}

fn described(path: &Path) -> Result<Described, InputFault> {
    let (file, length) = open(path)?;
    let packing = packing(path);
    let mut bytes = vec![];
    let read = unpack(BufReader::new(file), packing).take(SECOND.length as u64).read_to_end(&mut bytes);
    if let (Err(error), Packing::Nothing) = (read, packing) {
        return Err(error.into());
    }
    let header = NiftiHeader::of(&bytes, length)?;
    let size = header.size()?;
    let mut layout =
        Layout { kind: header.kind()?, size, order: IndexOrder::C, endian: header.endian, offset: header.start()? };
    let (data, files) = if header.alone { (path.to_owned(), vec![]) } else { beside(path)? };
    let packing = if header.alone { packing } else { self::packing(&data) };
    let mut start = PieceStart::At(layout.offset);
    let mut skip = 0;
    if packing == Packing::Gzip {
        (start, skip) = (PieceStart::At(0), layout.offset);
        layout.offset = 0;
    }
    let about = header.about(layout.size.len());
    let piece = FilePiece { path: data, start, packing, skip, bytes: layout.bytes()?, after: After::Reported };
    Ok(Described { layout, cells: Located::Pieces(vec![piece]), about, files: files.into() })
}

fn packing(path: &Path) -> Packing {
    let gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    if gzip { Packing::Gzip } else { Packing::Nothing }
}

/// The file of cells beside a header.
fn beside(header: &Path) -> Result<(PathBuf, Vec<PathBuf>), InputFault> {
    let stem = if packing(header) == Packing::Gzip { header.with_extension("") } else { header.to_owned() };
    let names = ["img", "img.gz", "IMG", "IMG.gz"].map(|ending| stem.with_extension(ending));
    match names.iter().find(|name| name.is_file()) {
        Some(found) => Ok((found.clone(), vec![found.clone()])),
        None => Err(InputFault::Damaged {
            at: FilePlace::Byte(0),
            what: format!("a header of cells in another file, and there is no {}", names[0].display()),
        }),
    }
}

/// A header, whose numbers are read where they stand.
struct NiftiHeader<'b> {
    bytes: &'b [u8],
    endian: Endian,
    offsets: &'static Offsets,
    /// True if cells are in the same file.
    alone: bool,
}

impl<'b> NiftiHeader<'b> {
    fn of(bytes: &'b [u8], length: u64) -> Result<Self, InputFault> {
        let damaged = |byte, what: &str| InputFault::Damaged { at: FilePlace::Byte(byte), what: what.into() };
        let first: [u8; 4] =
            *bytes.first_chunk().ok_or(damaged(0, "no header of NIfTI, which begins with its length"))?;
        let known = [FIRST.length, SECOND.length].map(|length| length as u32);
        let (endian, says) = match (u32::from_le_bytes(first), u32::from_be_bytes(first)) {
            (little, _) if known.contains(&little) => (Endian::Little, little),
            (_, big) if known.contains(&big) => (Endian::Big, big),
            _ => return Err(damaged(0, "no header of NIfTI, which begins with its length, 348 or 540")),
        };
        let offsets = if says == known[0] { &FIRST } else { &SECOND };
        if bytes.len() < offsets.length {
            let what = format!("a header of {} bytes, in a file of {length}", offsets.length);
            return Err(InputFault::Damaged { at: FilePlace::Byte(0), what });
        }
        let magic = |magic: &[u8]| bytes[offsets.magic..].starts_with(magic);
        let alone = magic(offsets.magics[0]);
        if !alone && !magic(offsets.magics[1]) {
            let what = "no magic of NIfTI; headers of ANALYZE, which have none, do not say what is needed";
            return Err(damaged(offsets.magic as u64, what));
        }
        Ok(Self { bytes, endian, offsets, alone })
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes: [u8; N] = self.bytes[at..at + N].try_into().expect("headers are as long as their offsets");
        if self.endian == Endian::Big {
            bytes.reverse();
        }
        bytes
    }

    /// A whole number of some width.
    fn integer(&self, at: usize, width: usize) -> i64 {
        match width {
            1 => i64::from(self.bytes[at]),
            2 => i16::from_le_bytes(self.array(at)).into(),
            4 => i32::from_le_bytes(self.array(at)).into(),
            _ => i64::from_le_bytes(self.array(at)),
        }
    }

    /// A number, the float that is written like it.
    fn float(&self, at: usize, index: usize) -> f64 {
        match self.offsets.widths[1] {
            4 => {
                let number = f32::from_le_bytes(self.array(at + 4 * index));
                // 0.9 of 32 bits is meant to be 0.9, not 0.8999999761581421.
                number.to_string().parse().unwrap_or(f64::NAN)
            }
            _ => f64::from_le_bytes(self.array(at + 8 * index)),
        }
    }

    fn floats<const N: usize>(&self, at: usize) -> [f64; N] {
        per_axis::each(|index| self.float(at, index))
    }

    /// Cells of each axis.
    fn size(&self) -> Result<Vec<u32>, InputFault> {
        // As wide as what it counts.
        let width = if self.offsets.length == FIRST.length { 2 } else { 8 };
        let at = |index: usize| self.offsets.dim + index * width;
        let dim = |index: usize| self.integer(at(index), width);
        let axes = match usize::try_from(dim(0)) {
            Ok(axes @ 1..=7) => axes,
            _ => {
                return Err(InputFault::field(
                    FilePlace::Byte(at(0) as u64),
                    "dim[0]",
                    dim(0),
                    "between 1 and 7 axes can be",
                ));
            }
        };
        const { assert!(MAX_DIM >= 7) };
        let extent = |index: usize| match u32::try_from(dim(index)) {
            Ok(cells @ 1..) => Ok(cells),
            _ => {
                let allowed = format!("between 1 and {} cells can be on an axis", u32::MAX);
                Err(InputFault::field(FilePlace::Byte(at(index) as u64), &format!("dim[{index}]"), dim(index), allowed))
            }
        };
        (1..=axes).map(extent).collect()
    }

    fn kind(&self) -> Result<CellType, InputFault> {
        let at = self.offsets.datatype;
        let number = self.integer(at, 2) as i16;
        let known = TYPES.iter().find(|(known, _)| *known == number).map(|(_, kind)| *kind);
        known.unwrap_or(Err("unknown")).map_err(|name| {
            let allowed = format!("{name}; cells of one integer or float of 8 to 64 bits can be read");
            InputFault::field(FilePlace::Byte(at as u64), "datatype", number, allowed)
        })
    }

    /// Where cells begin in their file.
    fn start(&self) -> Result<u64, InputFault> {
        let (at, least) = (self.offsets.vox_offset, if self.alone { self.offsets.length as u64 + 4 } else { 0 });
        let says = match self.offsets.widths[1] {
            4 => f64::from(f32::from_le_bytes(self.array(at))),
            _ => self.integer(at, 8) as f64,
        };
        if says.fract() == 0.0 && (least as f64..1e18).contains(&says) {
            return Ok(says as u64);
        }
        let allowed = format!("cells begin at a whole byte, from {least} on");
        Err(InputFault::field(FilePlace::Byte(at as u64), "vox_offset", says, allowed))
    }

    fn about(&self, k: usize) -> About {
        let mut about = About::new(k);
        let Offsets { pixdim, toffset, slope, units, rows, quaternion, widths, .. } = *self.offsets;
        for (axis, name) in about.axes.iter_mut().zip(["x", "y", "z", "t"]) {
            axis.name = Some(name.into());
        }
        let lengths: [f64; 8] = self.floats(pixdim);
        // What is not known is 0.
        (0..k).for_each(|axis| about.step(axis, lengths[axis + 1].abs(), lengths[axis + 1].abs() / 2.0));
        if k > 3 {
            about.step(3, lengths[4].abs(), self.float(toffset, 0));
        }
        let [qform, sform] = self.offsets.codes.map(|at| self.integer(at, widths[0]) > 0);
        let spatial: Vec<usize> = (0..k.min(3)).collect();
        let placed = match (qform, sform) {
            (_, true) => Some(per_axis::each(|row| self.floats::<4>(rows + row * 4 * widths[1]))),
            (true, _) => {
                let [b, c, d, x, y, z]: [f64; 6] = self.floats(quaternion);
                let turned = turn([b, c, d]);
                let flip = if lengths[0] < 0.0 { -1.0 } else { 1.0 };
                let steps = [lengths[1].abs(), lengths[2].abs(), lengths[3].abs() * flip];
                let at = [x, y, z];
                Some(per_axis::each(|row| per_axis::each(|j| if j < 3 { turned[row][j] * steps[j] } else { at[row] })))
            }
            _ => None,
        };
        if let Some(affine) = placed {
            let affine: [[f64; 4]; 3] = affine;
            let columns: Vec<Vec<f64>> = spatial.iter().map(|&j| affine.iter().map(|row| row[j]).collect()).collect();
            about.place(&spatial, &columns, Some(&affine.map(|row| row[3])));
            // The matrix says roughly what is said of each axis.
            for j in spatial {
                let (own, AboutAxis { spacing, origin, .. }) = (lengths[j + 1].abs(), about.axes[j].clone());
                if let (Some(spacing), Some(origin)) = (spacing, origin)
                    && (own - spacing).abs() < 1e-5 * spacing
                {
                    about.step(j, own, origin + spacing / 2.0);
                }
            }
        }
        let units = self.integer(units, if self.offsets.length == FIRST.length { 1 } else { 4 });
        let space = match units & 7 {
            1 => Some("m"),
            2 => Some("mm"),
            3 => Some("um"),
            _ => None,
        };
        let time = match units & 0x38 {
            8 => Some("s"),
            16 => Some("ms"),
            24 => Some("us"),
            32 => Some("Hz"),
            40 => Some("ppm"),
            48 => Some("rad/s"),
            _ => None,
        };
        for (axis, about) in about.axes.iter_mut().enumerate().filter(|(_, about)| about.spacing.is_some()) {
            let unit = match axis {
                0..=2 => space,
                3 => time,
                _ => None,
            };
            about.unit = unit.map(str::to_owned);
        }
        // A slope of 0 is that of cells that stand for themselves.
        about.scaled(self.float(slope, 0), self.float(slope, 1));
        // A code of 16 bits, then of 32.
        about.labelled = self.integer(self.offsets.intent, widths[0]) == INTENT_LABEL;
        about
    }
}

/// The matrix of a turn by a quaternion, of which the first part follows from the others.
fn turn([b, c, d]: [f64; 3]) -> [[f64; 3]; 3] {
    let rest = 1.0 - (b * b + c * c + d * d);
    // A turn by half a circle, of which rounding may leave less than nothing.
    let (a, [b, c, d]) = if rest < 1e-7 {
        let length = (b * b + c * c + d * d).sqrt();
        (0.0, [b / length, c / length, d / length])
    } else {
        (rest.sqrt(), [b, c, d])
    };
    [
        [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - b * b - c * c],
    ]
}
