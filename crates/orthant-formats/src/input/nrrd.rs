//! NRRD: `.nrrd`, which holds its cells, and `.nhdr`, which says in which files they are.
//!
//! Cells may be raw or packed by gzip. Segmentations of 3D Slicer say what labels are called; that is kept.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart};
use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::files::{data_files, past_lines};
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::lines::{HeaderField, HeaderLines};
use crate::input::reader::open;
use orthant::CellType;
use orthant::tree::TreeLabel;
use orthant::tree::{About, Remark};
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format =
    Format { name: "NRRD", extensions: &["nrrd", "nhdr"], part: None, folder: no_folder, describe };

fn describe(path: &Path, _: Option<&str>, access: Access) -> Result<Described, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let header = NrrdHeader::read(path).map_err(wrong)?;
    header.described(path, access).map_err(wrong)
}

/// What the fields of a header say, by their names in small letters.
#[derive(Default)]
struct NrrdHeader {
    fields: BTreeMap<String, (FilePlace, String)>,
    /// What is said by `key:=value`.
    values: BTreeMap<String, String>,
    /// Names of files after `data file: LIST`.
    list: Vec<String>,
    /// The byte after the empty line.
    end: u64,
}

/// Names of fields that are written in two ways.
const OTHERS: [(&str, &str); 8] = [
    ("blocksize", "block size"),
    ("datafile", "data file"),
    ("lineskip", "line skip"),
    ("byteskip", "byte skip"),
    ("axismins", "axis mins"),
    ("axismaxs", "axis maxs"),
    ("centerings", "centers"),
    ("sampleunits", "sample units"),
];

impl NrrdHeader {
    fn read(path: &Path) -> Result<Self, InputFault> {
        let (file, _) = open(path)?;
        let mut lines = HeaderLines::new(BufReader::new(file));
        let none = || InputFault::Damaged {
            at: FilePlace::Byte(0),
            what: "not NRRD, which begins with NRRD0001 to NRRD0005".into(),
        };
        let magic = lines.next()?.ok_or_else(none)?;
        let version = magic.strip_prefix("NRRD000").ok_or_else(none)?;
        if !matches!(version.trim_end(), "1" | "2" | "3" | "4" | "5") {
            return Err(InputFault::field(lines.place(), "version", magic, "NRRD0001 to NRRD0005 can be read"));
        }
        let mut header = Self::default();
        while let Some(line) = lines.next()? {
            if line.is_empty() {
                break;
            }
            if line.starts_with('#') {
                continue;
            }
            if let Some((key, value)) = line.split_once(":=") {
                header.values.insert(key.to_owned(), value.to_owned());
            } else if let Some((name, says)) = line.split_once(':') {
                let name = name.trim().to_ascii_lowercase();
                let name = OTHERS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| (*name).to_owned());
                let list = name == "data file" && says.split_whitespace().next() == Some("LIST");
                let field = HeaderField { at: lines.place(), name: &name, value: says };
                if header.fields.contains_key(&name) {
                    return Err(field.wrong("it comes twice"));
                }
                header.fields.insert(name, (lines.place(), says.trim().to_owned()));
                if list {
                    while let Some(line) = lines.next()? {
                        if !line.trim().is_empty() {
                            header.list.push(line.trim().to_owned());
                        }
                    }
                    break;
                }
            } else {
                let what = "neither 'field: what it says' nor 'key:=value'".into();
                return Err(InputFault::Damaged { at: lines.place(), what });
            }
        }
        header.end = lines.at();
        Ok(header)
    }

    fn field(&self, name: &'static str) -> Option<HeaderField<'_>> {
        self.fields.get(name).map(|(at, value)| HeaderField { at: *at, name, value })
    }

    fn needs(&self, name: &'static str) -> Result<HeaderField<'_>, InputFault> {
        self.field(name).ok_or(InputFault::Missing { field: name })
    }

    fn described(&self, path: &Path, access: Access) -> Result<Described, InputFault> {
        let axes = self.needs("dimension")?.axes()?;
        let size = self.needs("sizes")?.extents(axes)?;
        let kind = kind(&self.needs("type")?)?;
        let encoding = self.needs("encoding")?;
        let packing = match &*encoding.value.to_ascii_lowercase() {
            "raw" => Packing::Nothing,
            "gzip" | "gz" => Packing::Gzip,
            _ => return Err(encoding.wrong("cells that are raw or packed by gzip can be read")),
        };
        let endian = match self.field("endian") {
            None if kind.bytes() > 1 => return Err(InputFault::Missing { field: "endian" }),
            None => Endian::HERE,
            Some(field) => match &*field.value.to_ascii_lowercase() {
                "little" => Endian::Little,
                "big" => Endian::Big,
                _ => return Err(field.wrong("little or big")),
            },
        };
        let mut layout = Layout { kind, size, order: IndexOrder::C, endian, offset: 0 };
        let paths = match self.field("data file") {
            None => vec![path.to_owned()],
            Some(field) => data_files(path, &field, &self.list, access)?,
        };
        let whole = layout.bytes()?;
        let bytes = whole / paths.len() as u128;
        if bytes * paths.len() as u128 != whole {
            let field = self.needs("data file")?;
            return Err(field.wrong(format!("{} files cannot have as many of {whole} bytes each", paths.len())));
        }
        let lines = self.skip("line skip", 0)?.unwrap_or(0);
        let skip = self.skip("byte skip", -1)?;
        if skip.is_none() && packing != Packing::Nothing {
            return Err(self.needs("byte skip")?.wrong("what is packed has no end to count from"));
        }
        let attached = self.field("data file").is_none();
        let from = if attached { self.end } else { 0 };
        let piece = |file: std::path::PathBuf| {
            let begins = past_lines(&file, from, lines)?;
            let start = if skip.is_none() { PieceStart::End } else { PieceStart::At(begins) };
            Ok(FilePiece { path: file, start, packing, skip: skip.unwrap_or(0), bytes, after: After::Reported })
        };
        let files = if attached { Vec::new() } else { paths.clone() };
        let pieces = paths.into_iter().map(piece).collect::<Result<Vec<_>, InputFault>>()?;
        if let [FilePiece { start: PieceStart::At(start), skip, packing: Packing::Nothing, .. }] = pieces[..] {
            layout.offset = start.saturating_add(skip);
        }
        let about = self.about(&layout)?;
        Ok(Described { layout, cells: Located::Pieces(pieces), about, files: files.into() })
    }

    /// How many lines or bytes are skipped; None of -1, which counts from the end.
    fn skip(&self, name: &'static str, least: i64) -> Result<Option<u64>, InputFault> {
        let Some(field) = self.field(name) else { return Ok(Some(0)) };
        match field.value.parse::<i64>() {
            Ok(number) if number >= least => Ok(u64::try_from(number).ok()),
            _ => Err(field.wrong(format!("a whole number from {least} on is needed"))),
        }
    }

    fn about(&self, layout: &Layout) -> Result<About, InputFault> {
        let k = layout.size.len();
        let mut about = About::new(k);
        let numbers = |name| self.field(name).map(|field| field.numbers::<f64>(Some(k), "numbers")).transpose();
        let (spacings, mins, maxs) = (numbers("spacings")?, numbers("axis mins")?, numbers("axis maxs")?);
        let centres = self.field("centers").map(|field| field.numbers::<String>(Some(k), "words")).transpose()?;
        for axis in 0..k {
            let of = |list: &Option<Vec<f64>>| list.as_ref().map_or(f64::NAN, |list| list[axis]);
            // Samples lie on nodes, from the first to the last, or in cells that begin and end there.
            let node = centres.as_ref().is_some_and(|centres| centres[axis] == "node");
            let steps = f64::from(layout.size[axis]) - f64::from(u8::from(node));
            let (min, max) = (of(&mins), of(&maxs));
            let spacing = if spacings.is_some() { of(&spacings) } else { (max - min) / steps };
            let min = if min.is_nan() { 0.0 } else { min };
            about.step(axis, spacing, if node { min } else { min + spacing / 2.0 });
        }
        let mut spatial: Vec<usize> = (0..k).collect();
        if let Some(field) = self.field("space directions") {
            let vectors = vectors(&field)?;
            if vectors.len() != k {
                return Err(field.wrong(format!("{k} vectors or 'none' are needed")));
            }
            spatial.retain(|&axis| vectors[axis].is_some());
            let steps: Vec<Vec<f64>> = vectors.into_iter().flatten().collect();
            let dimensions = steps.first().map_or(0, Vec::len);
            let origin = self.field("space origin");
            let at = origin.as_ref().map(vectors_of_one).transpose()?;
            if steps.iter().chain(&at).any(|vector| vector.len() != dimensions || dimensions < spatial.len()) {
                return Err(field.wrong("as many numbers in every vector as the space has dimensions are needed"));
            }
            about.place(&spatial, &steps, at.as_deref());
        }
        let named = |name| self.field(name).map(|field| texts(&field)).transpose();
        let put = |place: &mut Option<String>, text: String| {
            if !text.is_empty() && text != "none" && text != "???" {
                *place = Some(text);
            }
        };
        for (axis, unit) in named("space units")?.into_iter().flatten().enumerate().take(spatial.len()) {
            put(&mut about.axes[spatial[axis]].unit, unit);
        }
        for (axis, unit) in named("units")?.into_iter().flatten().enumerate().take(k) {
            put(&mut about.axes[axis].unit, unit);
        }
        for (axis, name) in named("labels")?.into_iter().flatten().enumerate().take(k) {
            put(&mut about.axes[axis].name, name);
        }
        if let Some(kinds) = self.field("kinds") {
            for (axis, kind) in kinds.value.split_whitespace().enumerate().take(k) {
                if kind == "time" && about.axes[axis].name.is_none() {
                    about.axes[axis].name = Some("t".into());
                }
            }
        }
        let (labels, others) = self.segments(layout.kind);
        about.labels = labels;
        if others > 0 {
            about.remarks.push(Remark::OtherLabels(others));
        }
        Ok(about)
    }

    /// The labels of a segmentation: `Segment0_Name` and its fellows, and how many are of no value that cells of the type have.
    fn segments(&self, kind: CellType) -> (Vec<TreeLabel>, usize) {
        let (mut labels, mut others): (Vec<TreeLabel>, _) = (Vec::new(), 0);
        let signed = matches!(kind, CellType::I8 | CellType::I16 | CellType::I32 | CellType::I64);
        let most = i128::from(kind.most());
        let values = if signed { -most - 1..=most } else { 0..=most };
        for (key, value) in &self.values {
            let Some(segment) = key.strip_suffix("_LabelValue").filter(|segment| segment.starts_with("Segment")) else {
                continue;
            };
            let of = |what: &str| self.values.get(&format!("{segment}_{what}"));
            let value = value.trim().parse::<i128>().ok().filter(|value| !kind.is_float() && values.contains(value));
            let Some(value) = value else {
                others += 1;
                continue;
            };
            let word = value as u64 & u64::MAX >> (64 - 8 * kind.bytes());
            let parts: Vec<f64> = of("Color")
                .into_iter()
                .flat_map(|text| text.split_whitespace())
                .filter_map(|part| part.parse().ok())
                .collect();
            let colour = match parts[..] {
                [red, green, blue] => {
                    let [red, green, blue] =
                        [red, green, blue].map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
                    Some([red, green, blue, 255])
                }
                _ => None,
            };
            // A segmentation in layers has a label in each.
            if labels.iter().all(|label| label.word != word) {
                labels.push(TreeLabel {
                    word,
                    name: of("Name").cloned().unwrap_or_else(|| segment.to_owned()),
                    colour,
                });
            }
        }
        labels.sort_by_key(|label| kind.rank(label.word));
        (labels, others)
    }
}

fn kind(field: &HeaderField<'_>) -> Result<CellType, InputFault> {
    Ok(match &*field.value.to_ascii_lowercase() {
        "signed char" | "int8" | "int8_t" => CellType::I8,
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => CellType::U8,
        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => CellType::I16,
        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => CellType::U16,
        "int" | "signed int" | "int32" | "int32_t" => CellType::I32,
        "uint" | "unsigned int" | "uint32" | "uint32_t" => CellType::U32,
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int"
        | "int64"
        | "int64_t" => CellType::I64,
        "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => CellType::U64,
        "float" => CellType::F32,
        "double" => CellType::F64,
        _ => return Err(field.wrong("integers of 8 to 64 bits, float and double can be read")),
    })
}

/// Vectors in brackets, or none.
fn vectors(field: &HeaderField<'_>) -> Result<Vec<Option<Vec<f64>>>, InputFault> {
    let wrong = || field.wrong("vectors such as (1,0,0), or none, are needed");
    let (mut rest, mut list) = (field.value.trim(), Vec::new());
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("none") {
            list.push(None);
            rest = after.trim_start();
            continue;
        }
        let (inside, after) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(wrong)?;
        let numbers: Option<Vec<f64>> = inside.split(',').map(|part| part.trim().parse().ok()).collect();
        // A vector of nothing is how some write none.
        list.push(Some(numbers.ok_or_else(wrong)?).filter(|numbers| !numbers.iter().all(|part| part.is_nan())));
        rest = after.trim_start();
    }
    Ok(list)
}

fn vectors_of_one(field: &HeaderField<'_>) -> Result<Vec<f64>, InputFault> {
    match &mut vectors(field)?[..] {
        [Some(vector)] => Ok(std::mem::take(vector)),
        _ => Err(field.wrong("one vector such as (1,0,0) is needed")),
    }
}

/// Texts in quotes, in which a backslash stands before what is meant as it is; without quotes they are words.
fn texts(field: &HeaderField<'_>) -> Result<Vec<String>, InputFault> {
    let mut list = Vec::new();
    let mut rest = field.value.trim().chars();
    while let Some(first) = rest.next() {
        let mut text = String::new();
        if first == '"' {
            loop {
                match rest.next() {
                    Some('"') => break,
                    Some('\\') => text.extend(rest.next()),
                    Some(letter) => text.push(letter),
                    None => return Err(field.wrong("a quote is not closed")),
                }
            }
        } else if !first.is_whitespace() {
            text.push(first);
            text.extend(rest.by_ref().take_while(|letter| !letter.is_whitespace()));
        } else {
            continue;
        }
        list.push(text);
    }
    Ok(list)
}
