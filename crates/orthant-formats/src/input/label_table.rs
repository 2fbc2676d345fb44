//! Names and colours of labels, in the tables that neuroimaging programs write.
//!
//! | written by | a line |
//! |---|---|
//! | FreeSurfer (`*LUT.txt`) | `17 Left-Hippocampus 220 216 20 0`: value, name, red, green, blue, 255 less the opacity |
//! | ITK-SNAP (`*.label`, `*.txt`) | `17 220 216 20 1 1 1 "Left hippocampus"`: value, red, green, blue, opacity, two switches, name |
//! | FSL, MRIcron, AAL (`*.txt`) | `17 Hippocampus_L`: value, name, and maybe more that is not read |
//! | BIDS (`*.tsv`), spreadsheets (`*.csv`) | a header that names the columns, then a line per label |
//!
//! Columns of a header are known by their names: `index`, `value`, `label`, `id` for the value, `name`, `label_name`, `structure`, `region`
//! for the name, `color` or `colour` for `#rrggbb`, and `r`, `g`, `b` (or `red`, `green`, `blue`). Lines that begin with `#` are
//! comments.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::input::error::{FilePlace, InputError, InputFault};
use orthant::CellType;
use orthant::number::Number;
use orthant::tree::TreeLabel;

/// The longest table that is read.
const LONGEST: u64 = 1 << 24;

/// The labels of a table, and how many lines name values that cells of the type cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelTable {
    /// Names and colours, by value in ascending order.
    pub labels: Vec<TreeLabel>,
    /// Labels of other values, which are left out.
    pub others: usize,
}

impl LabelTable {
    /// Reads the table of a file, for cells of a type.
    ///
    /// # Errors
    /// [`InputError`] names the line that is none of a table, or that has a value again.
    pub fn open(path: &Path, kind: CellType) -> Result<Self, InputError> {
        let failed = |wrong: InputFault| InputError { path: path.to_owned(), wrong };
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
        read.map_err(|error| failed(InputFault::Io(error)))?;
        if bytes.len() as u64 > LONGEST {
            return Err(failed(InputFault::LongHeader { most: LONGEST }));
        }
        Self::of(&String::from_utf8_lossy(&bytes), kind).map_err(failed)
    }

    /// Reads a table.
    ///
    /// ```
    /// use orthant::CellType;
    /// use orthant_formats::input::LabelTable;
    ///
    /// let table = LabelTable::of("# FreeSurfer\n0 Unknown 0 0 0 0\n17 Left-Hippocampus 220 216 20 0\n", CellType::U8)?;
    /// assert_eq!((&*table.labels[1].name, table.labels[1].colour), ("Left-Hippocampus", Some([220, 216, 20, 255])));
    /// # Ok::<(), orthant_formats::input::InputFault>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of(text: &str, kind: CellType) -> Result<Self, InputFault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = if text.contains('\n') { text.lines().collect() } else { text.split('\r').collect() };
        let lines = lines.into_iter().enumerate().map(|(number, line)| (FilePlace::Line(number as u64 + 1), line));
        let mut lines =
            lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#')).peekable();
        let Some(&(at, first)) = lines.peek() else {
            return Err(InputFault::field(FilePlace::Line(1), "label", text.trim(), "the table has no label"));
        };
        let separator = FieldSeparator::of(first);
        let header = TableColumns::of(&separator.fields(first));
        if header.is_some() {
            lines.next();
        }
        let (mut found, mut others, mut seen) = (Vec::new(), 0, HashSet::new());
        for (at, line) in lines {
            let fields = separator.fields(line);
            let label = match &header {
                Some(columns) => columns.label(&fields),
                None => Some(plain(&fields).ok_or_else(|| no_label(at, line))?),
            };
            // A row of a spreadsheet may be about something that has no value, or no name.
            let Some((value, name, colour)) = label else {
                others += 1;
                continue;
            };
            let Some(word) = value.word(kind) else {
                others += 1;
                continue;
            };
            if !seen.insert(word) {
                return Err(InputFault::field(at, "label", value, "the table has this value twice"));
            }
            found.push((word, name, colour));
        }
        if found.is_empty() && others == 0 {
            return Err(no_label(at, first));
        }
        // FreeSurfer writes 0 for what is opaque, 3D Slicer 255.
        let fourth = || found.iter().filter_map(|(_, _, colour)| colour.as_ref().and_then(|colour| colour.1));
        let opaque = fourth().filter(|&part| part == 255).count() * 2 > fourth().count();
        let label = |(word, name, colour): (u64, String, Option<Colour>)| {
            let colour = colour.map(|([red, green, blue], fourth)| {
                [red, green, blue, fourth.map_or(255, |part| if opaque { part } else { 255 - part })]
            });
            TreeLabel { word, name, colour }
        };
        let mut labels: Vec<_> = found.into_iter().map(label).collect();
        labels.sort_by_key(|label| kind.rank(label.word));
        Ok(Self { labels, others })
    }
}

/// Red, green and blue, and the fourth number of a line, if it has one.
type Colour = ([u8; 3], Option<u8>);

fn no_label(at: FilePlace, line: &str) -> InputFault {
    let allowed = "a line is a value and a name, as FSL, FreeSurfer and ITK-SNAP write them, or follows a header that names columns";
    InputFault::field(at, "label", line.trim(), allowed)
}

/// What stands between the fields of a table.
#[derive(Clone, Copy)]
enum FieldSeparator {
    Tab,
    Comma,
    Blank,
}

impl FieldSeparator {
    /// As the first line of a table has it, outside of quotes. A line that begins with a number and a blank is one of FSL, FreeSurfer or
    /// ITK-SNAP, whose names may have commas.
    fn of(line: &str) -> Self {
        let bare: String = line.split('"').step_by(2).collect();
        let number = bare.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        let after = &bare.trim_start()[number.len()..];
        match () {
            () if bare.contains('\t') => Self::Tab,
            () if !number.is_empty() && after.starts_with(' ') => Self::Blank,
            () if bare.contains(',') => Self::Comma,
            () => Self::Blank,
        }
    }

    /// The fields of a line. What stands in quotes is one field, and `""` in it a quote.
    fn fields(self, line: &str) -> Vec<String> {
        let (mut fields, mut field, mut quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
        let mut letters = line.chars().peekable();
        while let Some(c) = letters.next() {
            let splits = match self {
                Self::Tab => c == '\t',
                Self::Comma => c == ',',
                Self::Blank => c.is_whitespace(),
            };
            match c {
                '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
                '"' if quoted || field.trim().is_empty() => (quoted, was_quoted) = (!quoted, true),
                _ if splits && !quoted => {
                    if !matches!(self, Self::Blank) || !field.is_empty() || was_quoted {
                        fields.push(std::mem::take(&mut field).trim().to_owned());
                    }
                    was_quoted = false;
                }
                c => field.push(c),
            }
        }
        if !matches!(self, Self::Blank) || !field.is_empty() || was_quoted {
            fields.push(field.trim().to_owned());
        }
        fields
    }
}

/// The label of a line without a header: a value, a name of one or several words, and numbers before or after the name.
fn plain(fields: &[String]) -> Option<(Number, String, Option<Colour>)> {
    let value = fields.first()?.parse().ok()?;
    let is_number = |field: &String| field.parse::<f64>().is_ok_and(f64::is_finite);
    let byte = |field: &String| field.parse::<u8>().ok();
    let rgb = |fields: &[String]| Some([byte(fields.first()?)?, byte(fields.get(1)?)?, byte(fields.get(2)?)?]);
    // ITK-SNAP: a colour, the opacity to 1, and two switches before the name.
    if fields.len() >= 8 && fields[1..7].iter().all(is_number) {
        let opacity = (fields[4].parse::<f64>().ok()?.clamp(0.0, 1.0) * 255.0).round() as u8;
        let colour = rgb(&fields[1..4]).map(|rgb| (rgb, Some(255 - opacity)));
        return Some((value, fields[7..].join(" "), colour)).filter(|label| !label.1.is_empty());
    }
    let end = fields.iter().rposition(|field| !is_number(field)).filter(|&end| end > 0)? + 1;
    let numbers = &fields[end..];
    let colour = match numbers.len() {
        3 => rgb(numbers).map(|rgb| (rgb, None)),
        4.. => rgb(numbers).map(|rgb| (rgb, byte(&numbers[3]))),
        _ => None,
    };
    Some((value, fields[1..end].join(" "), colour)).filter(|label| !label.1.is_empty())
}

/// Which fields of a line are what, as a header says.
struct TableColumns {
    value: usize,
    name: usize,
    hexadecimal: Option<usize>,
    parts: Option<[usize; 3]>,
}

impl TableColumns {
    /// Of a line, if it is a header.
    fn of(fields: &[String]) -> Option<Self> {
        let names: Vec<String> =
            fields.iter().map(|field| field.to_ascii_lowercase().replace([' ', '-'], "_")).collect();
        let find = |known: &[&str]| known.iter().find_map(|known| names.iter().position(|name| name == known));
        let value = find(&["index", "value", "id", "label_id", "labelid", "label", "no", "no."])?;
        let name = find(&["name", "label_name", "labelname", "structure", "region", "description", "label"])?;
        let parts = match [["r", "red"], ["g", "green"], ["b", "blue"]].map(|known| find(&known)) {
            [Some(red), Some(green), Some(blue)] => Some([red, green, blue]),
            _ => None,
        };
        let hexadecimal = find(&["color", "colour", "hex"]);
        (value != name).then_some(Self { value, name, hexadecimal, parts })
    }

    /// The label of a line; None of one without a value or a name.
    fn label(&self, fields: &[String]) -> Option<(Number, String, Option<Colour>)> {
        let value = fields.get(self.value)?.parse().ok()?;
        let name = fields.get(self.name).filter(|name| !name.is_empty())?.clone();
        let byte = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
        let parts = || self.parts.and_then(|at| Some([byte(at[0])?, byte(at[1])?, byte(at[2])?]));
        let written = self.hexadecimal.and_then(|at| fields.get(at)).and_then(|field| hexadecimal(field));
        Some((value, name, written.or_else(parts).map(|rgb| (rgb, None))))
    }
}

fn hexadecimal(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = (digits.len() == 6).then(|| u32::from_str_radix(digits, 16).ok())??;
    Some([16, 8, 0].map(|shift| (number >> shift) as u8))
}
