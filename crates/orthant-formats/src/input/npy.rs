//! Headers of `.npy` files.
//!
//! A header is a dictionary as Python writes it, of three keys, padded with spaces. It is read as just that: nothing is evaluated,
//! nothing is skipped, and no memory is taken on its word.

use std::io::Read;
use std::path::Path;

use crate::input::described::{After, Described};
use crate::input::error::{InputError, InputFault};
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::reader::open;
use orthant::CellType;
use orthant::MAX_DIM;
use orthant::tree::About;
use orthant::{Endian, IndexOrder};

/// The longest header that is read. Those of arrays have a hundred bytes or two.
const LONGEST: u64 = 1 << 16;

pub(super) const FORMAT: Format =
    Format { name: "NumPy", extensions: &["npy"], part: None, folder: no_folder, describe };

/// What a file says.
pub(super) fn describe(path: &Path, _: Option<&str>, _: Access) -> Result<Described, InputError> {
    let described = || {
        let (file, length) = open(path)?;
        Described::after_header(path, layout(file, length)?, After::Refused, About::default())
    };
    described().map_err(|wrong| InputError { path: path.to_owned(), wrong })
}

/// Reads the header of a file of `length` bytes.
pub(super) fn layout(file: impl Read, length: u64) -> Result<Layout, InputFault> {
    header(file, length, false)
}

/// The same of an array that may have axes without cells.
pub(super) fn layout_or_empty(file: impl Read, length: u64) -> Result<Layout, InputFault> {
    header(file, length, true)
}

fn header(mut file: impl Read, length: u64, may_be_empty: bool) -> Result<Layout, InputFault> {
    let mut begin = [0; 8];
    if length < 8 {
        return Err(InputFault::Magic);
    }
    file.read_exact(&mut begin)?;
    if &begin[..6] != b"\x93NUMPY" {
        return Err(InputFault::Magic);
    }
    let (major, minor) = (begin[6], begin[7]);
    let mut bytes = [0; 4];
    let width = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(InputFault::Version { major, minor }),
    };
    let begins = 8 + width as u64;
    if length < begins {
        return Err(InputFault::Header { offset: 8, wanted: "length" });
    }
    file.read_exact(&mut bytes[..width])?;
    let own = u64::from(u32::from_le_bytes(bytes));
    let most = LONGEST.min(length - begins);
    if own > most {
        return Err(InputFault::HeaderLength { length: own, most });
    }
    let mut text = vec![0; own as usize];
    file.read_exact(&mut text)?;
    let mut reader = Reader { text: &text, at: 0, begins, may_be_empty };
    let Dictionary { kind, endian, order, size } = reader.dictionary()?;
    Ok(Layout { kind, size, order, endian, offset: begins + own })
}

/// Looks at a header, byte by byte.
struct Reader<'h> {
    text: &'h [u8],
    at: usize,
    /// The byte of the file where the header begins.
    begins: u64,
    /// True if an axis may have no cells.
    may_be_empty: bool,
}

/// What the dictionary of a header says.
struct Dictionary {
    kind: CellType,
    endian: Endian,
    order: IndexOrder,
    size: Vec<u32>,
}

impl<'h> Reader<'h> {
    fn offset(&self) -> u64 {
        self.begins + self.at as u64
    }

    fn lacks<T>(&self, wanted: &'static str) -> Result<T, InputFault> {
        Err(InputFault::Header { offset: self.offset(), wanted })
    }

    /// The next byte that is not white; 0 at the end.
    fn peek(&mut self) -> u8 {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// True, and past it, if that is the next byte.
    fn takes(&mut self, byte: u8) -> bool {
        let here = self.peek() == byte && self.at < self.text.len();
        self.at += usize::from(here);
        here
    }

    fn needs(&mut self, byte: u8, wanted: &'static str) -> Result<(), InputFault> {
        if self.takes(byte) { Ok(()) } else { self.lacks(wanted) }
    }

    fn dictionary(&mut self) -> Result<Dictionary, InputFault> {
        let (mut cells, mut order, mut size) = (None, None, None);
        self.needs(b'{', "'{'")?;
        while !self.takes(b'}') {
            self.peek();
            let offset = self.offset();
            let key = self.string()?;
            self.needs(b':', "':'")?;
            match key {
                b"descr" if cells.is_none() => cells = Some(self.cells()?),
                b"fortran_order" if order.is_none() => order = Some(self.order()?),
                b"shape" if size.is_none() => size = Some(self.size()?),
                _ => return Err(InputFault::Key { offset, key: String::from_utf8_lossy(key).into_owned() }),
            }
            if !self.takes(b',') {
                self.needs(b'}', "',' or '}'")?;
                break;
            }
        }
        self.peek();
        if self.at < self.text.len() {
            return self.lacks("end");
        }
        match (cells, order, size) {
            (Some((kind, endian)), Some(order), Some(size)) => Ok(Dictionary { kind, endian, order, size }),
            (None, ..) => self.lacks("descr"),
            (_, None, _) => self.lacks("fortran_order"),
            (.., None) => self.lacks("shape"),
        }
    }

    /// A string without anything to be undone.
    fn string(&mut self) -> Result<&'h [u8], InputFault> {
        let quote = self.peek();
        if !matches!(quote, b'\'' | b'"') {
            return self.lacks("string");
        }
        let rest = &self.text[self.at + 1..];
        match rest.iter().position(|&byte| byte == quote || byte == b'\\') {
            Some(length) if rest[length] == quote => {
                self.at += length + 2;
                Ok(&rest[..length])
            }
            _ => self.lacks("plain string"),
        }
    }

    fn cells(&mut self) -> Result<(CellType, Endian), InputFault> {
        self.peek();
        let offset = self.offset();
        let unknown = |descr: &[u8]| InputFault::Type { offset, descr: String::from_utf8_lossy(descr).into_owned() };
        if self.peek() == b'[' {
            return Err(unknown(b"[..]"));
        }
        let descr = self.string()?;
        let Some((order, kind)) = descr.split_first() else { return Err(unknown(descr)) };
        let kind = match kind {
            b"b1" | b"u1" => CellType::U8,
            b"u2" => CellType::U16,
            b"u4" => CellType::U32,
            b"u8" => CellType::U64,
            b"i1" => CellType::I8,
            b"i2" => CellType::I16,
            b"i4" => CellType::I32,
            b"i8" => CellType::I64,
            b"f4" => CellType::F32,
            b"f8" => CellType::F64,
            _ => return Err(unknown(descr)),
        };
        match order {
            b'<' => Ok((kind, Endian::Little)),
            b'>' => Ok((kind, Endian::Big)),
            b'=' => Ok((kind, Endian::HERE)),
            b'|' if kind.bytes() == 1 => Ok((kind, Endian::HERE)),
            _ => Err(unknown(descr)),
        }
    }

    fn order(&mut self) -> Result<IndexOrder, InputFault> {
        self.peek();
        for (word, order) in [(&b"True"[..], IndexOrder::Fortran), (b"False", IndexOrder::C)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(order);
            }
        }
        self.lacks("True or False")
    }

    /// A tuple of whole numbers, the slowest axis of C order first.
    fn size(&mut self) -> Result<Vec<u32>, InputFault> {
        self.peek();
        let (offset, mut size) = (self.offset(), Vec::new());
        self.needs(b'(', "'('")?;
        while !self.takes(b')') {
            size.push(self.extent()?);
            if size.len() > MAX_DIM {
                break;
            }
            if !self.takes(b',') {
                // One number in brackets is no tuple.
                if size.len() == 1 {
                    return self.lacks("','");
                }
                self.needs(b')', "',' or ')'")?;
                break;
            }
        }
        if size.is_empty() || size.len() > MAX_DIM {
            return Err(InputFault::Axes { offset, axes: size.len() });
        }
        size.reverse();
        Ok(size)
    }

    fn extent(&mut self) -> Result<u32, InputFault> {
        self.peek();
        let offset = self.offset();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return self.lacks("whole number");
        }
        let digit = |cells: u64, byte: &u8| cells.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        let cells = self.text[self.at..self.at + digits].iter().fold(0, digit);
        self.at += digits;
        // Python 2 wrote long numbers so.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        match u32::try_from(cells) {
            Ok(extent) if extent > 0 || self.may_be_empty => Ok(extent),
            _ => Err(InputFault::Extent { offset, cells }),
        }
    }
}
