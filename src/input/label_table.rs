//! Names and colours of labels, in the tables that neuroimaging programs write.
//!
//! | written by | a line |
//! |---|---|
//! | FreeSurfer (`*LUT.txt`) | `17 Left-Hippocampus 220 216 20 0`: value, name, red, green, blue, 255 less the opacity |
//! | ITK-SNAP (`*.label`, `*.txt`) | `17 220 216 20 1 1 1 "Left hippocampus"`: value, red, green, blue, opacity, two switches, name |
//! | FSL, MRIcron, AAL (`*.txt`) | `17 Hippocampus_L`: value, name, and maybe more that is not read |
//! | BIDS (`*.tsv`), spreadsheets (`*.csv`) | a header that names the columns, then a line per label |
//!
//! TableColumns of a header are known by their names: `index`, `value`, `label`, `id` for the value, `name`, `label_name`, `structure`, `region`
//! for the name, `color` or `colour` for `#rrggbb`, and `r`, `g`, `b` (or `red`, `green`, `blue`). Lines that begin with `#` are
//! comments.

use std::path::Path;

use crate::cell::CellType;
use crate::input::error::{FilePlace, InputError, Wrong};
use crate::number::Number;
use crate::tree::TreeLabel;

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
        let failed = |wrong: Wrong| InputError { path: path.to_owned(), wrong };
        let length = path.metadata().map_err(|error| failed(Wrong::Io(error)))?.len();
        if length > LONGEST {
            return Err(failed(Wrong::LongHeader { most: LONGEST }));
        }
        let bytes = std::fs::read(path).map_err(|error| failed(Wrong::Io(error)))?;
        Self::of(&String::from_utf8_lossy(&bytes), kind).map_err(failed)
    }

    /// Reads a table.
    ///
    /// ```
    /// use orthant::CellType;
    /// use orthant::input::LabelTable;
    ///
    /// let table = LabelTable::of("# FreeSurfer\n0 Unknown 0 0 0 0\n17 Left-Hippocampus 220 216 20 0\n", CellType::U8)?;
    /// assert_eq!((&*table.labels[1].name, table.labels[1].colour), ("Left-Hippocampus", Some([220, 216, 20, 255])));
    /// # Ok::<(), orthant::input::Wrong>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of(text: &str, kind: CellType) -> Result<Self, Wrong> {
        let mut table = Self { labels: Vec::new(), others: 0 };
        let mut columns: Option<TableColumns> = None;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in text.lines().enumerate() {
            let at = FilePlace::Line(number as u64 + 1);
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let fields = fields(line);
            let columns = match &columns {
                Some(columns) => columns,
                None => {
                    let (found, is_header) = TableColumns::of(&fields).ok_or_else(|| no_label(at, line))?;
                    let found = columns.insert(found);
                    if is_header {
                        continue;
                    }
                    found
                }
            };
            let (value, label) = columns.label(&fields).ok_or_else(|| no_label(at, line))?;
            let Some(word) = value.word(kind) else {
                table.others += 1;
                continue;
            };
            if table.labels.iter().any(|known| known.word == word) {
                return Err(Wrong::field(at, "label", value, "the table has this value twice"));
            }
            table.labels.push(TreeLabel { word, ..label });
        }
        table.labels.sort_by_key(|label| kind.rank(label.word));
        Ok(table)
    }
}

fn no_label(at: FilePlace, line: &str) -> Wrong {
    let allowed = "a line is a value and a name, as FSL, FreeSurfer and ITK-SNAP write them, or follows a header that names columns";
    Wrong::field(at, "label", line.trim(), allowed)
}

/// The fields of a line: between tabs or commas if there are any, else between blanks; quotes are taken off.
fn fields(line: &str) -> Vec<String> {
    let blanks = !line.contains(['\t', ',']);
    let splits = |c: char| {
        if line.contains('\t') {
            c == '\t'
        } else if blanks {
            c.is_whitespace()
        } else {
            c == ','
        }
    };
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut was_quoted = false;
    for c in line.trim_end_matches(['\r', '\n']).chars() {
        match c {
            '"' => (quoted, was_quoted) = (!quoted, true),
            c if splits(c) && !quoted => {
                if !blanks || !field.trim().is_empty() || was_quoted {
                    fields.push(std::mem::take(&mut field).trim().to_owned());
                }
                was_quoted = false;
            }
            c => field.push(c),
        }
    }
    if !blanks || !field.trim().is_empty() || was_quoted {
        fields.push(field.trim().to_owned());
    }
    fields
}

/// Which fields of a line are what.
struct TableColumns {
    value: usize,
    name: usize,
    colour: Option<Colour>,
}

/// Where a colour stands.
enum Colour {
    /// `#rrggbb`.
    Hexadecimal(usize),
    /// Three numbers to 255.
    Parts([usize; 3]),
    /// The same, and a fourth: the opacity to 1.
    WithOpacity([usize; 3], usize),
    /// The same, and a fourth: 255 less the opacity.
    WithTransparency([usize; 3], usize),
}

impl TableColumns {
    /// Of the first line: a header, for which there is true beside them, or a label.
    fn of(fields: &[String]) -> Option<(Self, bool)> {
        let number = |at: usize| fields.get(at).is_some_and(|field| field.parse::<f64>().is_ok());
        if number(0) {
            let name = fields.iter().position(|field| field.parse::<f64>().is_err())?;
            let colour = match (name, fields.len()) {
                (7, 8) => Some(Colour::WithOpacity([1, 2, 3], 4)),
                (1, 6) if (2..6).all(number) => Some(Colour::WithTransparency([2, 3, 4], 5)),
                (1, 5) if (2..5).all(number) => Some(Colour::Parts([2, 3, 4])),
                _ => None,
            };
            return Some((Self { value: 0, name, colour }, false));
        }
        let names: Vec<String> =
            fields.iter().map(|field| field.to_ascii_lowercase().replace([' ', '-'], "_")).collect();
        let find = |known: &[&str]| known.iter().find_map(|known| names.iter().position(|name| name == known));
        let value = find(&["index", "value", "id", "label_id", "labelid", "label", "no", "no."])?;
        let name = find(&["name", "label_name", "labelname", "structure", "region", "description", "label"])?;
        let parts = [["r", "red"], ["g", "green"], ["b", "blue"]].map(|known| find(&known));
        let colour = match (find(&["color", "colour", "hex"]), parts) {
            (Some(at), _) => Some(Colour::Hexadecimal(at)),
            (None, [Some(red), Some(green), Some(blue)]) => Some(Colour::Parts([red, green, blue])),
            _ => None,
        };
        (value != name).then_some((Self { value, name, colour }, true))
    }

    /// The value of a line and its label, without a word.
    fn label(&self, fields: &[String]) -> Option<(Number, TreeLabel)> {
        let value = fields.get(self.value)?.parse().ok()?;
        let name = fields.get(self.name)?.clone();
        let byte = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
        let parts = |at: [usize; 3]| -> Option<[u8; 3]> { Some([byte(at[0])?, byte(at[1])?, byte(at[2])?]) };
        let colour = match &self.colour {
            None => None,
            Some(Colour::Hexadecimal(at)) => fields.get(*at).and_then(|field| hexadecimal(field)).map(|rgb| (rgb, 255)),
            Some(Colour::Parts(at)) => parts(*at).map(|rgb| (rgb, 255)),
            Some(Colour::WithOpacity(at, opacity)) => {
                let opacity = fields.get(*opacity).and_then(|field| field.parse::<f64>().ok()).unwrap_or(1.0);
                parts(*at).map(|rgb| (rgb, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8))
            }
            Some(Colour::WithTransparency(at, rest)) => parts(*at).map(|rgb| (rgb, 255 - byte(*rest).unwrap_or(0))),
        };
        let colour = colour.map(|([red, green, blue], opacity)| [red, green, blue, opacity]);
        (!name.is_empty()).then_some((value, TreeLabel { word: 0, name, colour }))
    }
}

fn hexadecimal(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = (digits.len() == 6).then(|| u32::from_str_radix(digits, 16).ok())??;
    Some([16, 8, 0].map(|shift| (number >> shift) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str, kind: CellType) -> Vec<(u64, String, Option<[u8; 4]>)> {
        let table = LabelTable::of(text, kind).unwrap();
        table.labels.into_iter().map(|label| (label.word, label.name, label.colour)).collect()
    }

    /// Each program's form says the same.
    #[test]
    fn tables_of_every_program() {
        let coloured = vec![
            (0, "Clear Label".to_owned(), Some([0, 0, 0, 0])),
            (17, "Left hippocampus".to_owned(), Some([220, 216, 20, 255])),
        ];
        let snap = "################\n# ITK-SnAP Label Description File\n    0     0    0    0        0  0  0    \"Clear Label\"\n   17   220  216   20        1  1  1    \"Left hippocampus\"\n";
        assert_eq!(known(snap, CellType::U16), coloured);
        let free =
            "#No. Label Name:   R   G   B   A\n\n0   Clear_Label 0 0 0 255\r\n17  Left_hippocampus   220 216 20  0\r\n";
        let blanks = |(word, name, colour): (u64, String, Option<[u8; 4]>)| (word, name.replace(' ', "_"), colour);
        assert_eq!(known(free, CellType::I32), coloured.iter().cloned().map(blanks).collect::<Vec<_>>());
        let plain = vec![(1, "Precentral_L".to_owned(), None), (2, "Precentral_R".to_owned(), None)];
        assert_eq!(known("1 Precentral_L 2001\n2 Precentral_R 2002\n", CellType::U8), plain);
        assert_eq!(known("2\tPrecentral_R\n1\tPrecentral_L\n", CellType::U8), plain);
        let bids =
            "\u{feff}index\tname\tabbreviation\tcolor\n17\tLeft hippocampus\tlh\t#DCD814\n3\tGrey, matter\tgm\t\n";
        let expected =
            vec![(3, "Grey, matter".to_owned(), None), (17, "Left hippocampus".to_owned(), Some([220, 216, 20, 255]))];
        assert_eq!(known(bids, CellType::U8), expected);
        let csv = "Name,Label,R,G,B\n\"Grey, matter\",3,,,\nLeft hippocampus,17,220,216,20\n";
        assert_eq!(
            known(csv, CellType::F32).iter().map(|label| label.1.clone()).collect::<Vec<_>>(),
            ["Grey, matter", "Left hippocampus"]
        );
        assert_eq!(known(csv, CellType::F32)[1].0, u64::from(17f32.to_bits()));
    }

    #[test]
    fn what_is_no_label() {
        let table = LabelTable::of("1 a\n300 b\n-1 c\n", CellType::U8).unwrap();
        assert_eq!((table.labels.len(), table.others), (1, 2));
        assert_eq!(LabelTable::of("# nothing\n", CellType::U8).unwrap().labels, []);
        for (text, why) in [
            ("1 a\n1 b\n", "line 2: label '1': the table has this value twice"),
            ("1 a\nb\n", "line 2: label 'b'"),
            ("some text\n", "line 1: label 'some text'"),
            ("1\n", "line 1: label '1'"),
            ("label,color\n1,#ffffff\n", "line 1"),
        ] {
            let error = LabelTable::of(text, CellType::U8).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest::proptest! {
        /// Any text is a table or an error; labels of a table are of different values and have names.
        #[test]
        fn any_text_is_a_table_or_an_error(text in "([0-9]{0,3}[ \\t,]?(\"?[a-c# ,\t\"]{0,9})[ \\t,]?[0-9#.-]{0,4}\n){0,9}") {
            if let Ok(table) = LabelTable::of(&text, CellType::I16) {
                proptest::prop_assert!(table.labels.windows(2).all(|pair| pair[0].word != pair[1].word));
                proptest::prop_assert!(table.labels.iter().all(|label| !label.name.is_empty()));
            }
        }
    }
}
