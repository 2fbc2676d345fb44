//! HDF5 and netCDF-4: a data set of numbers, `x.h5::/group/data`, or the only one.
//!
//! One file touches the crate that knows the format. A data set that lies in one piece is read where it lies; others are unpacked some
//! rows at a time.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use hdf5_pure::{AttrValue, Dataset, Datatype, DatatypeByteOrder, File, FloatingPointLayout};

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart};
use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::members::Members;
use crate::input::reader::open;
use orthant::MAX_DIM;
use orthant::tree::TreeLabel;
use orthant::tree::{About, Remark};
use orthant::{Cell, CellType};
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format = Format {
    name: "HDF5",
    extensions: &["h5", "hdf5", "he5", "nc", "nc4"],
    part: Some("::"),
    folder: no_folder,
    describe,
};

/// About how many bytes are unpacked at once.
const BATCH: u64 = 1 << 24;

/// The most bytes that are held so that chunks are unpacked once. Where whole chunks have more, each is unpacked several times.
const MOST_AT_ONCE: u64 = 1 << 26;

/// The most bytes that a chunk has, and that the cells of one index of the slowest axis have, since they are unpacked together.
const ROW: u64 = 1 << 30;

/// The most groups and data sets that are looked through for the only one, and how deep groups lie.
const MOST: usize = 10_000;
const DEEPEST: usize = 32;

/// The most cells of an axis whose coordinates are looked at.
const LONGEST: u64 = 1 << 24;

fn describe(path: &Path, part: Option<&str>, _: Access) -> Result<Described, InputError> {
    described(path, part).map_err(|wrong| InputError { path: path.to_owned(), wrong })
}

fn fault(error: hdf5_pure::Error) -> InputFault {
    match error {
        hdf5_pure::Error::Io(error) => InputFault::Io(error),
        error => InputFault::Other(format!("as HDF5: {error}")),
    }
}

fn described(path: &Path, part: Option<&str>) -> Result<Described, InputFault> {
    let (_, length) = open(path)?;
    let file = File::open_streaming(path).map_err(fault)?;
    let name = match part {
        Some(name) => format!("/{}", name.trim_start_matches('/')),
        None => only(&file)?,
    };
    let data = file.dataset(&name).map_err(|error| InputFault::Other(format!("data set {name}: {error}")))?;
    let inside = |wrong| InputFault::InMember { name: name.clone(), wrong: Box::new(wrong) };
    let (kind, endian, labels) = kind(&data.datatype().map_err(fault)?).map_err(inside)?;
    let shape = data.shape().map_err(fault)?;
    let size = size(&shape).map_err(inside)?;
    let mut layout = Layout { kind, size, order: IndexOrder::C, endian, offset: 0 };
    let bytes = layout.bytes()?;
    // What is deflated has a thousandth; more was never written, and no disk is filled with it.
    if bytes > u128::from(length) * 4096 {
        return Err(inside(InputFault::Other(format!(
            "{bytes} bytes of cells in a file of {length}: most of them were never written"
        ))));
    }
    let mut about = about(&file, &name, &data, &layout);
    about.labels = labels;
    let cells = match data.layout().map_err(fault)? {
        hdf5_pure::Layout::Contiguous { address: Some(start), .. } if data.filters().is_empty() => {
            layout.offset = start;
            let (path, start, packing) = (path.to_owned(), PieceStart::At(start), Packing::Nothing);
            Located::Pieces(vec![FilePiece { path, start, packing, skip: 0, bytes, after: After::Others }])
        }
        hdf5_pure::Layout::Virtual => {
            return Err(inside(InputFault::Other(
                "cells of other files, by which it is virtual; name one of those".into(),
            )));
        }
        stored => unpacked(path, data, &stored, kind.bytes(), shape[0], bytes, length).map_err(inside)?,
    };
    Ok(Described { layout, cells, about, files: Members::default() })
}

/// Cells per axis, the fastest first.
fn size(shape: &[u64]) -> Result<Vec<u32>, InputFault> {
    if !(1..=MAX_DIM).contains(&shape.len()) {
        return Err(InputFault::Axes { offset: 0, axes: shape.len() });
    }
    let extent = |&cells: &u64| match u32::try_from(cells) {
        Ok(extent @ 1..) => Ok(extent),
        _ => Err(InputFault::Extent { offset: 0, cells }),
    };
    shape.iter().rev().map(extent).collect()
}

/// Cells of `width` bytes each that the library unpacks, some of the `count` indices of the slowest axis at a time; `bytes` in all, in a file of
/// `length` bytes.
fn unpacked(
    path: &Path,
    data: Dataset,
    stored: &hdf5_pure::Layout,
    width: u64,
    count: u64,
    bytes: u128,
    length: u64,
) -> Result<Located, InputFault> {
    let row = bytes / u128::from(count);
    if row > ROW.into() {
        let what = format!("{row} bytes for each index of its slowest axis; at most {ROW} can be unpacked together");
        return Err(InputFault::Other(what));
    }
    let chunk = match stored {
        hdf5_pure::Layout::Chunked { chunk_shape, .. } => &chunk_shape[..],
        _ => &[1],
    };
    // The library unpacks a whole one, whatever is read of it.
    let whole = chunk.iter().fold(width, |bytes, &cells| bytes.saturating_mul(cells));
    if whole > ROW {
        let what = format!("chunks of {whole} bytes; at most {ROW} can be unpacked together");
        return Err(InputFault::Other(what));
    }
    within(&data, length)?;
    let rows = rows_at_once(row as u64, chunk.first().map_or(1, |&rows| rows.max(1))).min(count);
    let own = path.to_owned();
    let write = move |out: &mut dyn Write| {
        let wrong = |wrong| InputError { path: own.clone(), wrong };
        let mut first = 0;
        while first < count {
            let cells = data.read_raw_rows(first, rows).map_err(|error| wrong(fault(error)))?;
            let expected = row * u128::from(rows.min(count - first));
            if cells.len() as u128 != expected {
                return Err(wrong(InputFault::Length { offset: 0, have: cells.len() as u64, need: expected }));
            }
            out.write_all(&cells).map_err(|error| wrong(error.into()))?;
            first += rows;
        }
        Ok(())
    };
    Ok(Located::Unpacked { bytes, write: Box::new(write) })
}

/// Fails if a chunk is said to reach beyond the file: the library takes memory for as much as an index says, before it reads.
fn within(data: &Dataset, length: u64) -> Result<(), InputFault> {
    // An index that cannot be listed cannot be read either, and reading says why.
    for chunk in data.chunks().unwrap_or_default() {
        if chunk.address.checked_add(chunk.storage_size).is_none_or(|end| end > length) {
            let (offset, need) = (chunk.address, chunk.storage_size.into());
            return Err(InputFault::Length { offset, have: length.saturating_sub(offset), need });
        }
    }
    Ok(())
}

/// How many indices of the slowest axis are read at once: those of whole chunks, so that each is unpacked once, unless they are many
/// bytes. It is public for tests: nobody sees it in the cells, and files with rows of a gigabyte would be needed.
#[doc(hidden)]
pub fn rows_at_once(row: u64, chunk: u64) -> u64 {
    let band = row.saturating_mul(chunk).max(1);
    if band > MOST_AT_ONCE { (MOST_AT_ONCE / row.max(1)).max(1) } else { (BATCH / band).max(1).saturating_mul(chunk) }
}

/// The only data set of numbers that is no axis of another.
fn only(file: &File) -> Result<String, InputFault> {
    let DataSets { numbers: mut found, other } = all(file)?;
    if found.len() > 1 {
        // Groups lie in several others, and in themselves.
        let mut seen = HashSet::new();
        found.retain(|(_, data)| place(data).is_none_or(|place| seen.insert(place)));
    }
    match &found[..] {
        [(name, _)] => Ok(name.clone()),
        [] => match other {
            Some((name, wrong)) => Err(InputFault::InMember { name, wrong: Box::new(wrong) }),
            None => Err(InputFault::Other("no data set of numbers in it".into())),
        },
        _ => {
            let names = found.iter().take(20).map(|(name, _)| name.clone()).collect();
            Err(InputFault::Member { wanted: None, members: found.len(), names })
        }
    }
}

/// The data sets of a file that are no axes of others, the least deep first, each as often as names lead to it.
struct DataSets {
    numbers: Vec<(String, Dataset)>,
    /// The first that is of another type, and what is wrong with that.
    other: Option<(String, InputFault)>,
}

fn all(file: &File) -> Result<DataSets, InputFault> {
    let (mut found, mut other, mut groups) = (Vec::new(), None, vec![(String::new(), file.root())]);
    let mut looked = 0;
    for _ in 0..=DEEPEST {
        let mut inner = Vec::new();
        for (path, group) in groups {
            for (name, data) in group.iter_datasets().map_err(fault)? {
                let Ok(datatype) = data.datatype() else { continue };
                if data.shape().map_or(0, |shape| shape.len()) == 0 || is_scale(&data) {
                    continue;
                }
                match kind(&datatype) {
                    Ok(_) => found.push((format!("{path}/{name}"), data)),
                    Err(wrong) => other = other.or(Some((format!("{path}/{name}"), wrong))),
                }
            }
            for (name, group) in group.iter_groups().map_err(fault)? {
                inner.push((format!("{path}/{name}"), group));
                looked += 1;
                if looked > MOST || found.len() > MOST {
                    return Err(InputFault::Other(format!(
                        "more than {MOST} groups or data sets, or groups that lie in themselves; name a data set, \
                         as FILE.h5::/group/data"
                    )));
                }
            }
        }
        groups = inner;
    }
    Ok(DataSets { numbers: found, other })
}

/// Where the cells of a data set begin in the file, which no two have in common.
fn place(data: &Dataset) -> Option<u64> {
    match data.layout().ok()? {
        hdf5_pure::Layout::Contiguous { address, .. } => address,
        hdf5_pure::Layout::Chunked { .. } => data.chunks().ok()?.iter().map(|chunk| chunk.address).min(),
        _ => None,
    }
}

/// True of an axis of others.
fn is_scale(data: &Dataset) -> bool {
    let class =
        data.attrs().ok().and_then(|attributes| attributes.get("CLASS").and_then(AttrValue::as_str).map(str::to_owned));
    class.as_deref() == Some("DIMENSION_SCALE")
}

/// The type of cells, the order of their bytes, and the names of an enumeration's values.
fn kind(datatype: &Datatype) -> Result<(CellType, Endian, Vec<TreeLabel>), InputFault> {
    let endian = |order: &DatatypeByteOrder| match order {
        DatatypeByteOrder::LittleEndian => Some(Endian::Little),
        DatatypeByteOrder::BigEndian => Some(Endian::Big),
        DatatypeByteOrder::Vax => None,
    };
    let known = match datatype {
        Datatype::FixedPoint { size, byte_order, layout }
            if (layout.bit_offset, u64::from(layout.bit_precision)) == (0, 8 * u64::from(*size)) =>
        {
            let kind = match (size, layout.signed) {
                (1, false) => Some(CellType::U8),
                (2, false) => Some(CellType::U16),
                (4, false) => Some(CellType::U32),
                (8, false) => Some(CellType::U64),
                (1, true) => Some(CellType::I8),
                (2, true) => Some(CellType::I16),
                (4, true) => Some(CellType::I32),
                (8, true) => Some(CellType::I64),
                _ => None,
            };
            kind.zip(endian(byte_order))
        }
        Datatype::FloatingPoint { size: 4, byte_order, layout: FloatingPointLayout::IEEE754_BINARY32 } => {
            endian(byte_order).map(|endian| (CellType::F32, endian))
        }
        Datatype::FloatingPoint { size: 8, byte_order, layout: FloatingPointLayout::IEEE754_BINARY64 } => {
            endian(byte_order).map(|endian| (CellType::F64, endian))
        }
        Datatype::Enumeration { base_type, members, .. } => {
            let (kind, endian, _) = kind(base_type)?;
            let mut labels: Vec<TreeLabel> = Vec::new();
            for member in members {
                let digit = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
                let word = match endian {
                    Endian::Little => member.value.iter().rev().fold(0, digit),
                    Endian::Big => member.value.iter().fold(0, digit),
                };
                if member.value.len() as u64 == kind.bytes() && labels.iter().all(|label| label.word != word) {
                    labels.push(TreeLabel { word, name: member.name.clone(), colour: None });
                }
            }
            return Ok((kind, endian, labels));
        }
        _ => None,
    };
    known.map(|(kind, endian)| (kind, endian, Vec::new())).ok_or_else(|| {
        let allowed = "integers of 8 to 64 bits and floats of 32 or 64, as IEEE 754 has them, can be read";
        InputFault::field(FilePlace::Byte(0), "its type", called(datatype), allowed)
    })
}

/// What a type is that is not read.
fn called(datatype: &Datatype) -> String {
    match datatype {
        Datatype::FixedPoint { size, layout, .. } => {
            format!("an integer of {} bits in {size} bytes", layout.bit_precision)
        }
        Datatype::FloatingPoint { size, byte_order: DatatypeByteOrder::Vax, .. } => {
            format!("a float of VAX in {size} bytes")
        }
        Datatype::FloatingPoint { size, layout, .. } => format!(
            "a float: {size} bytes, exponent {} bits, bias {}, mantissa {}",
            layout.exponent_size, layout.exponent_bias, layout.mantissa_size
        ),
        Datatype::Time { .. } => "time".into(),
        Datatype::String { .. } => "a string".into(),
        Datatype::BitField { .. } => "a bit field".into(),
        Datatype::Opaque { .. } => "opaque bytes".into(),
        Datatype::Compound { members, .. } => format!("a compound of {} members", members.len()),
        Datatype::Reference { .. } => "a reference".into(),
        Datatype::Enumeration { .. } => "an enumeration".into(),
        Datatype::VariableLength { is_string: true, .. } => "a string".into(),
        Datatype::VariableLength { .. } => "a list of any length".into(),
        Datatype::Array { .. } => "an array".into(),
        _ => "unknown".into(),
    }
}

/// A number that an attribute is, or the only one that it has.
fn number(value: &AttrValue) -> Option<f64> {
    match *value {
        AttrValue::F32(value) => Some(value.into()),
        AttrValue::F64(value) => Some(value),
        AttrValue::I8(value) => Some(value.into()),
        AttrValue::I16(value) => Some(value.into()),
        AttrValue::I32(value) => Some(value.into()),
        AttrValue::I64(value) => Some(value as f64),
        AttrValue::U8(value) => Some(value.into()),
        AttrValue::U16(value) => Some(value.into()),
        AttrValue::U32(value) => Some(value.into()),
        AttrValue::U64(value) => Some(value as f64),
        ref list => single(list).as_ref().and_then(number),
    }
}

/// netCDF writes attributes as lists of one.
fn single(value: &AttrValue) -> Option<AttrValue> {
    match value {
        AttrValue::F32Array(list) if list.len() == 1 => Some(AttrValue::F32(list[0])),
        AttrValue::F64Array(list) if list.len() == 1 => Some(AttrValue::F64(list[0])),
        AttrValue::I8Array(list) if list.len() == 1 => Some(AttrValue::I8(list[0])),
        AttrValue::I16Array(list) if list.len() == 1 => Some(AttrValue::I16(list[0])),
        AttrValue::I32Array(list) if list.len() == 1 => Some(AttrValue::I32(list[0])),
        AttrValue::I64Array(list) if list.len() == 1 => Some(AttrValue::I64(list[0])),
        AttrValue::U8Array(list) if list.len() == 1 => Some(AttrValue::U8(list[0])),
        AttrValue::U16Array(list) if list.len() == 1 => Some(AttrValue::U16(list[0])),
        AttrValue::U32Array(list) if list.len() == 1 => Some(AttrValue::U32(list[0])),
        AttrValue::U64Array(list) if list.len() == 1 => Some(AttrValue::U64(list[0])),
        _ => None,
    }
}

/// The word of a cell that an attribute says, if it is of the cells' type.
fn word(kind: CellType, value: &AttrValue) -> Option<u64> {
    let value = single(value).unwrap_or_else(|| value.clone());
    Some(match (kind, value) {
        (CellType::F32, AttrValue::F32(value)) if value.is_nan() => kind.nan()?,
        (CellType::F64, AttrValue::F64(value)) if value.is_nan() => kind.nan()?,
        (CellType::F32, AttrValue::F32(value)) => value.word(),
        (CellType::F64, AttrValue::F64(value)) => value.word(),
        (CellType::I8, AttrValue::I8(value)) => value.word(),
        (CellType::I16, AttrValue::I16(value)) => value.word(),
        (CellType::I32, AttrValue::I32(value)) => value.word(),
        (CellType::I64, AttrValue::I64(value)) => value.word(),
        (CellType::U8, AttrValue::U8(value)) => value.word(),
        (CellType::U16, AttrValue::U16(value)) => value.word(),
        (CellType::U32, AttrValue::U32(value)) => value.word(),
        (CellType::U64, AttrValue::U64(value)) => value.word(),
        _ => return None,
    })
}

/// What is known of the axes: by their scales, which are data sets of one axis beside this one, where it is plain which is whose.
fn about(file: &File, name: &str, data: &Dataset, layout: &Layout) -> About {
    let k = layout.size.len();
    let mut about = About::new(k);
    let attributes = data.attrs().unwrap_or_default();
    about.nodata = ["_FillValue", "missing_value"].iter().find_map(|name| word(layout.kind, attributes.get(*name)?));
    let of = |name: &str| attributes.get(name).and_then(number);
    if let (slope, intercept) = (of("scale_factor"), of("add_offset"))
        && (slope.is_some() || intercept.is_some())
    {
        about.scaled(slope.unwrap_or(1.0), intercept.unwrap_or(0.0));
    }
    // h5py's names, the slowest axis first.
    if let Some(names) =
        attributes.get("DIMENSION_LABELS").and_then(AttrValue::as_strings).filter(|names| names.len() == k)
    {
        for (axis, name) in about.axes.iter_mut().zip(names.iter().rev()).filter(|(_, name)| !name.is_empty()) {
            axis.name = Some(name.clone());
        }
    }
    let folder = name.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    let group = if folder == "/" { Ok(file.root()) } else { file.group(folder) };
    let Some((group, names)) = group.ok().and_then(|group| group.datasets().ok().map(|names| (group, names))) else {
        return about;
    };
    let scale = |name: &String| {
        let data = group.dataset(name).ok()?;
        let [cells] = data.shape().ok()?[..] else { return None };
        (is_scale(&data) && kind(&data.datatype().ok()?).is_ok()).then(|| {
            let attached = has(&data, "REFERENCE_LIST");
            (name.clone(), cells, data, attached)
        })
    };
    let scales: Vec<_> = names.iter().take(MOST).filter_map(scale).collect();
    // A length says whose a scale is only of scales that are not others': of all if none is attached to anything.
    let attached = has(data, "DIMENSION_LIST");
    let by_length = |own: bool| own == attached && (attached || scales.iter().all(|(_, _, _, own)| !own));
    for axis in 0..k {
        let cells = u64::from(layout.size[axis]);
        let fits: Vec<_> = match &about.axes[axis].name {
            Some(own) => scales.iter().filter(|(name, length, ..)| name == own && *length == cells).collect(),
            None if layout.size.iter().filter(|&&other| u64::from(other) == cells).count() > 1 => continue,
            None => scales.iter().filter(|(_, length, _, own)| *length == cells && by_length(*own)).collect(),
        };
        if let [(name, _, scale, _)] = fits[..] {
            of_scale(&mut about, axis, name, cells, scale);
        }
    }
    about
}

/// True if it has an attribute, of whatever type.
fn has(data: &Dataset, name: &str) -> bool {
    data.attr_datatypes().is_ok_and(|attributes| attributes.contains_key(name))
}

/// What a scale says of its axis. netCDF has scales of axes that have no coordinates, and says so in their name.
fn of_scale(about: &mut About, axis: usize, name: &str, cells: u64, scale: &Dataset) {
    let attributes = scale.attrs().unwrap_or_default();
    let text = |name: &str| attributes.get(name).and_then(AttrValue::as_str);
    about.axes[axis].name = Some(name.to_owned());
    if text("NAME").is_some_and(|name| name.starts_with("This is a netCDF dimension but not a netCDF variable")) {
        return;
    }
    about.axes[axis].unit = text("units").map(str::to_owned);
    let places = Some(cells).filter(|&cells| cells > 1 && cells <= LONGEST).and_then(|_| scale.read_f64().ok());
    // Of a type that is damaged come fewer.
    let Some(places) = places.filter(|places| places.len() as u64 == cells) else {
        return;
    };
    let (first, last) = (places[0], places[places.len() - 1]);
    let spacing = (last - first) / (places.len() - 1) as f64;
    let even = |(index, place): (usize, &f64)| (place - first - spacing * index as f64).abs() <= 1e-4 * spacing.abs();
    if places.iter().enumerate().all(even) {
        about.step(axis, spacing, first);
    } else {
        about.remarks.push(Remark::Uneven(name.to_owned()));
    }
}
