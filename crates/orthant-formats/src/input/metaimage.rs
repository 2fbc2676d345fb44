//! MetaImage: `.mha`, which holds its cells, and `.mhd`, which says in which files they are.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart};
use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::files::data_files;
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::lines::{HeaderField, HeaderLines};
use crate::input::reader::open;
use orthant::CellType;
use orthant::tree::About;
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format =
    Format { name: "MetaImage", extensions: &["mha", "mhd"], part: None, folder: no_folder, describe };

fn describe(path: &Path, _: Option<&str>, access: Access) -> Result<Described, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    MetaHeader::read(path).and_then(|header| header.described(path, access)).map_err(wrong)
}

/// Types by their names.
const TYPES: [(&str, CellType); 12] = [
    ("MET_CHAR", CellType::I8),
    ("MET_UCHAR", CellType::U8),
    ("MET_SHORT", CellType::I16),
    ("MET_USHORT", CellType::U16),
    ("MET_INT", CellType::I32),
    ("MET_UINT", CellType::U32),
    // Of 32 bits wherever the format says how wide they are.
    ("MET_LONG", CellType::I32),
    ("MET_ULONG", CellType::U32),
    ("MET_LONG_LONG", CellType::I64),
    ("MET_ULONG_LONG", CellType::U64),
    ("MET_FLOAT", CellType::F32),
    ("MET_DOUBLE", CellType::F64),
];

/// Names of fields that mean the same.
const OTHERS: [(&str, &str); 6] = [
    ("Origin", "Offset"),
    ("Position", "Offset"),
    ("Orientation", "TransformMatrix"),
    ("Rotation", "TransformMatrix"),
    ("ElementByteOrderMSB", "BinaryDataByteOrderMSB"),
    ("ElementDataFileName", "ElementDataFile"),
];

/// What a header says, to the field that is always its last.
#[derive(Default)]
struct MetaHeader {
    fields: BTreeMap<String, MetaField>,
    list: Vec<String>,
    end: u64,
}

/// Where a field stands, what it is called there, and what it says.
struct MetaField {
    at: FilePlace,
    written: String,
    value: String,
}

impl MetaField {
    /// True if another says the same numbers, or the same words.
    fn same(&self, value: &str) -> bool {
        let numbers = |text: &str| text.split_whitespace().map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
        self.value == value || numbers(&self.value) == numbers(value) && numbers(value).iter().all(Option::is_some)
    }
}

impl MetaHeader {
    fn read(path: &Path) -> Result<Self, InputFault> {
        let (file, _) = open(path)?;
        let mut lines = HeaderLines::new(BufReader::new(file));
        let mut header = Self::default();
        loop {
            let line = lines.next()?.ok_or(InputFault::Missing { field: "ElementDataFile" })?;
            if line.trim().is_empty() {
                continue;
            }
            let none = || InputFault::Damaged {
                at: lines.place(),
                what: "not MetaImage, whose header is lines of 'Name = value'".into(),
            };
            let (name, value) = line.split_once('=').ok_or_else(none)?;
            let written = name.trim().to_owned();
            let name =
                OTHERS.iter().find(|(other, _)| *other == written).map_or(&*written, |(_, name)| name).to_owned();
            let value = value.trim().to_owned();
            let last = name == "ElementDataFile";
            if last && value.split_whitespace().next() == Some("LIST") {
                header.end = lines.at();
                header.fields.insert(name, MetaField { at: lines.place(), written, value });
                while let Some(line) = lines.next()? {
                    if !line.trim().is_empty() {
                        header.list.push(line.trim().to_owned());
                    }
                }
                return Ok(header);
            }
            match header.fields.get(&name) {
                Some(other) if other.written == written => {
                    return Err(InputFault::field(lines.place(), &written, value, "it comes twice"));
                }
                Some(other) if !other.same(&value) => {
                    let allowed = format!("{} means the same and says '{}'", other.written, other.value);
                    return Err(InputFault::field(lines.place(), &written, value, allowed));
                }
                Some(_) => {}
                None => {
                    header.fields.insert(name, MetaField { at: lines.place(), written, value });
                }
            }
            if last {
                header.end = lines.at();
                return Ok(header);
            }
        }
    }

    fn field(&self, name: &'static str) -> Option<HeaderField<'_>> {
        self.fields.get(name).map(|field| HeaderField { at: field.at, name: &field.written, value: &field.value })
    }

    fn needs(&self, name: &'static str) -> Result<HeaderField<'_>, InputFault> {
        self.field(name).ok_or(InputFault::Missing { field: name })
    }

    fn is(&self, name: &'static str, usual: bool) -> Result<bool, InputFault> {
        let Some(field) = self.field(name) else { return Ok(usual) };
        match &*field.value.to_ascii_lowercase() {
            "true" | "1" | "t" => Ok(true),
            "false" | "0" | "f" => Ok(false),
            _ => Err(field.wrong("True or False is needed")),
        }
    }

    fn described(&self, path: &Path, access: Access) -> Result<Described, InputFault> {
        if let Some(field) = self.field("ObjectType").filter(|field| field.value != "Image") {
            return Err(field.wrong("an Image can be read"));
        }
        let axes = self.needs("NDims")?.axes()?;
        let size = self.needs("DimSize")?.extents(axes)?;
        let field = self.needs("ElementType")?;
        let known = TYPES.iter().find(|(name, _)| *name == field.value);
        let kind =
            known.ok_or_else(|| field.wrong(format!("{} can be read", TYPES.map(|(name, _)| name).join(", "))))?.1;
        if let Some(field) = self.field("ElementNumberOfChannels")
            && field.number::<u64>("a whole number")? != 1
        {
            return Err(field.wrong("cells of one value can be read; write each channel to a file of its own"));
        }
        if !self.is("BinaryData", true)? {
            return Err(self.needs("BinaryData")?.wrong("cells as text cannot be read"));
        }
        let endian = if self.is("BinaryDataByteOrderMSB", false)? { Endian::Big } else { Endian::Little };
        let mut layout = Layout { kind, size, order: IndexOrder::C, endian, offset: 0 };
        let data = self.needs("ElementDataFile")?;
        let local = data.value.eq_ignore_ascii_case("local");
        let paths = if local { vec![path.to_owned()] } else { data_files(path, &data, &self.list, access)? };
        let (whole, count) = (layout.bytes()?, paths.len() as u128);
        if whole % count != 0 {
            return Err(data.wrong(format!("{count} files cannot have as many of {whole} bytes each")));
        }
        let packed = self.is("CompressedData", false)?;
        let skip = match self.field("HeaderSize") {
            None => Some(0),
            Some(field) => match field.value.parse::<i64>() {
                Ok(1..) if local => return Err(field.wrong("cells follow the header itself: 0 or -1 is needed")),
                Ok(-1) if !packed => None,
                Ok(bytes @ 0..) => Some(bytes as u64),
                _ => return Err(field.wrong("bytes of a header, or -1 of cells that are not compressed, are needed")),
            },
        };
        let piece = |file: std::path::PathBuf| {
            let begins = if local { self.end } else { skip.unwrap_or(0) };
            let start = if skip.is_none() { PieceStart::End } else { PieceStart::At(begins) };
            let packing = if packed { packing(&file, begins)? } else { Packing::Nothing };
            Ok(FilePiece { path: file, start, packing, skip: 0, bytes: whole / count, after: After::Reported })
        };
        let files = if local { Vec::new() } else { paths.clone() };
        let pieces = paths.into_iter().map(piece).collect::<Result<Vec<_>, InputFault>>()?;
        if let [FilePiece { start: PieceStart::At(start), packing: Packing::Nothing, .. }] = pieces[..] {
            layout.offset = start;
        }
        let about = self.about(axes)?;
        Ok(Described { layout, cells: Located::Pieces(pieces), about, files: files.into() })
    }

    fn about(&self, k: usize) -> Result<About, InputFault> {
        let mut about = About::new(k);
        let numbers = |name, count| match self.field(name) {
            None => Ok(None),
            Some(field) => field.numbers::<f64>(Some(count), "numbers").map(Some),
        };
        let spacing = match numbers("ElementSpacing", k)? {
            // Cells without gaps between them.
            None => numbers("ElementSize", k)?,
            spacing => spacing,
        };
        let (matrix, origin) = (numbers("TransformMatrix", k * k)?, numbers("Offset", k)?);
        if spacing.is_some() || matrix.is_some() || origin.is_some() {
            let spacing = spacing.unwrap_or(vec![1.0; k]);
            // A row is where an axis points.
            let part = |axis: usize, of: usize| {
                matrix.as_ref().map_or(f64::from(u8::from(axis == of)), |matrix| matrix[axis * k + of])
            };
            let steps: Vec<Vec<f64>> =
                (0..k).map(|axis| (0..k).map(|of| part(axis, of) * spacing[axis]).collect()).collect();
            about.place(&(0..k).collect::<Vec<_>>(), &steps, origin.as_deref());
        }
        if let Some(unit) = self.field("DistanceUnits").filter(|field| field.value != "?") {
            about.axes.iter_mut().for_each(|axis| axis.unit = Some(unit.value.to_owned()));
        }
        Ok(about)
    }
}

/// How cells are packed, which the bytes say themselves.
fn packing(path: &Path, from: u64) -> Result<Packing, InputFault> {
    let (mut file, _) = open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut begin = Vec::new();
    file.take(2).read_to_end(&mut begin)?;
    Ok(if begin == [0x1f, 0x8b] { Packing::Gzip } else { Packing::Zlib })
}
