//! What metadata says of an array, of version 2 or 3, as far as it is needed to find and read its chunks.

use serde_json::{Map, Value};

use crate::input::error::InputError;
use crate::input::zarr::codec::ChunkCodec;
use crate::input::zarr::node::ZarrNode;
use crate::input::zarr::word::word;
use orthant::CellType;
use orthant::Endian;
use orthant::MAX_DIM;

/// The most bytes of a chunk, which is unpacked as a whole.
const MOST_CHUNK: u128 = 1 << 30;

const TYPES: &str = "integers of 8 to 64 bits, floats of 32 or 64, and bool can be read";

/// An array in chunks. Lists have the slowest axis first, as Zarr has them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArrayHeader {
    pub(super) shape: Vec<u64>,
    pub(super) kind: CellType,
    /// Which byte of a cell comes first in a chunk.
    pub(super) endian: Endian,
    /// The word of cells of chunks that are not there.
    pub(super) fill: u64,
    /// Cells of a file, and of what is packed as one: the same, or parts of it.
    pub(super) file: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    /// Where chunks lie in files that are shards.
    pub(super) shard: Option<ShardIndex>,
    /// Which axis is the slowest in a chunk, which is next, and so on.
    pub(super) order: Vec<usize>,
    /// What was done to the bytes of a chunk, first to last.
    pub(super) codecs: Vec<ChunkCodec>,
    /// How files are called.
    pub(super) keys: Keys,
    /// What axes are called.
    pub(super) names: Vec<Option<String>>,
}

/// The index of a shard: where each chunk begins and how long it is, in numbers of eight bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShardIndex {
    /// The axes as the index counts chunks, the slowest first.
    pub(super) order: Vec<usize>,
    pub(super) endian: Endian,
    /// Followed by a CRC-32C.
    pub(super) checked: bool,
    /// Before the chunks; else after them.
    pub(super) first: bool,
}

/// How files are called by their coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keys {
    /// With a `c` in front.
    pub(super) marked: bool,
    pub(super) separator: char,
}

impl Keys {
    /// The name of the file at these coordinates of the grid, in the array's folder.
    pub(super) fn name(self, at: &[u64]) -> String {
        let Self { marked, separator } = self;
        let numbers: Vec<String> = at.iter().map(u64::to_string).collect();
        let numbers = numbers.join(separator.encode_utf8(&mut [0; 4]));
        if marked { format!("c{separator}{numbers}") } else { numbers }
    }
}

impl ArrayHeader {
    /// What the metadata of an array says.
    pub(super) fn of(document: &ZarrNode) -> Result<Self, InputError> {
        let said = Object { document, content: &document.content };
        let header = if document.version == 2 { said.second()? } else { said.third()? };
        let cells = header.chunk.iter().fold(1u128, |all, &n| all.saturating_mul(n.into()));
        let bytes = cells.saturating_mul(header.kind.bytes().into());
        if bytes > MOST_CHUNK {
            let key = if document.version == 2 { "chunks" } else { "chunk_shape" };
            let said = Value::from(header.chunk);
            let allowed = format!("a chunk of {bytes} bytes; at most {MOST_CHUNK} can be unpacked together");
            return Err(document.wrong(key, Some(&said), allowed));
        }
        Ok(header)
    }
}

/// An object of the metadata.
#[derive(Clone, Copy)]
struct Object<'d> {
    document: &'d ZarrNode,
    content: &'d Map<String, Value>,
}

/// The array-to-bytes part of a list of codecs, with what comes before and after it.
struct CodecChain<'d> {
    order: Vec<usize>,
    to_bytes: (&'d str, Object<'d>),
    codecs: Vec<ChunkCodec>,
}

impl<'d> Object<'d> {
    fn get(self, key: &str) -> Option<&'d Value> {
        self.content.get(key).filter(|value| !value.is_null())
    }

    fn wrong(self, key: &str, allowed: impl Into<String>) -> InputError {
        self.document.wrong(key, self.content.get(key), allowed)
    }

    /// What is called `key`, with its name and its configuration: a string alone may be the name.
    fn named(self, key: &str, value: &'d Value) -> Result<(&'d str, Self), InputError> {
        static NOTHING: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        let (name, content) = match value {
            Value::String(name) => (Some(name.as_str()), None),
            Value::Object(object) => {
                let name = object.get("name").or_else(|| object.get("id")).and_then(Value::as_str);
                let own = if self.document.version == 2 { Some(object) } else { None };
                (name, own.or_else(|| object.get("configuration").and_then(Value::as_object)))
            }
            _ => (None, None),
        };
        let content = content.unwrap_or(&NOTHING);
        let name = name.ok_or_else(|| self.document.wrong(key, Some(value), "an object with a name is needed"))?;
        Ok((name, Self { document: self.document, content }))
    }

    /// A list of whole numbers, one per axis.
    fn numbers(self, key: &str, axes: Option<usize>) -> Result<Vec<u64>, InputError> {
        let list = self.get(key).and_then(Value::as_array);
        let numbers: Option<Vec<u64>> = list.and_then(|list| list.iter().map(Value::as_u64).collect());
        numbers.filter(|list| axes.is_none_or(|axes| list.len() == axes)).ok_or_else(|| match axes {
            Some(axes) => self.wrong(key, format!("{axes} whole numbers are needed")),
            None => self.wrong(key, "a list of whole numbers is needed"),
        })
    }

    fn shape(self) -> Result<Vec<u64>, InputError> {
        let shape = self.numbers("shape", None)?;
        if !(1..=MAX_DIM).contains(&shape.len()) {
            return Err(self.wrong("shape", format!("between 1 and {MAX_DIM} axes can be")));
        }
        if shape.iter().any(|&n| n == 0 || n > u32::MAX.into()) {
            return Err(self.wrong("shape", format!("between 1 and {} cells on each axis can be", u32::MAX)));
        }
        Ok(shape)
    }

    /// Cells of a chunk.
    fn chunk(self, key: &str, axes: usize) -> Result<Vec<u64>, InputError> {
        let chunk = self.numbers(key, Some(axes))?;
        if chunk.contains(&0) { Err(self.wrong(key, "a chunk has a cell or more on each axis")) } else { Ok(chunk) }
    }

    fn fill(self, kind: CellType) -> Result<u64, InputError> {
        let Some(value) = self.get("fill_value") else { return Ok(0) };
        word(kind, value).ok_or_else(|| self.wrong("fill_value", format!("a cell of {kind} is needed")))
    }

    fn second(self) -> Result<ArrayHeader, InputError> {
        let shape = self.shape()?;
        let axes = shape.len();
        let known = self.get("dtype").and_then(Value::as_str).and_then(|descr| {
            let (order, name) = descr.split_at_checked(1)?;
            let kind = match name {
                "b1" | "u1" => CellType::U8,
                "u2" => CellType::U16,
                "u4" => CellType::U32,
                "u8" => CellType::U64,
                "i1" => CellType::I8,
                "i2" => CellType::I16,
                "i4" => CellType::I32,
                "i8" => CellType::I64,
                "f4" => CellType::F32,
                "f8" => CellType::F64,
                _ => return None,
            };
            match order {
                "<" => Some((kind, Endian::Little)),
                ">" => Some((kind, Endian::Big)),
                "|" if kind.bytes() == 1 => Some((kind, Endian::HERE)),
                _ => None,
            }
        });
        let (kind, endian) = known.ok_or_else(|| self.wrong("dtype", TYPES))?;
        if self.get("filters").is_some_and(|filters| filters.as_array().is_none_or(|list| !list.is_empty())) {
            return Err(self.wrong("filters", "cells that no filter changed can be read"));
        }
        let codecs = match self.get("compressor") {
            Some(value) => {
                let (name, _) = self.named("compressor", value)?;
                vec![self.codec("compressor", name)?]
            }
            None => Vec::new(),
        };
        let order = match self.get("order").and_then(Value::as_str) {
            Some("C") => (0..axes).collect(),
            Some("F") => (0..axes).rev().collect(),
            _ => return Err(self.wrong("order", "C or F is needed")),
        };
        let separator = match self.get("dimension_separator").map(Value::as_str) {
            None | Some(Some(".")) => '.',
            Some(Some("/")) => '/',
            Some(_) => return Err(self.wrong("dimension_separator", ". or / is needed")),
        };
        let chunk = self.chunk("chunks", axes)?;
        Ok(ArrayHeader {
            fill: self.fill(kind)?,
            file: chunk.clone(),
            shard: None,
            keys: Keys { marked: false, separator },
            names: vec![None; axes],
            shape,
            kind,
            endian,
            chunk,
            order,
            codecs,
        })
    }

    fn third(self) -> Result<ArrayHeader, InputError> {
        const KNOWN: [&str; 12] = [
            "zarr_format",
            "node_type",
            "shape",
            "data_type",
            "chunk_grid",
            "chunk_key_encoding",
            "fill_value",
            "codecs",
            "dimension_names",
            "storage_transformers",
            "attributes",
            "consolidated_metadata",
        ];
        let may_be = |value: &Value| value.get("must_understand") == Some(&Value::Bool(false));
        if let Some((key, _)) =
            self.content.iter().find(|(key, value)| !KNOWN.contains(&key.as_str()) && !may_be(value))
        {
            return Err(self.wrong(key, "an extension that must be understood, and is not known"));
        }
        let shape = self.shape()?;
        let axes = shape.len();
        let data_type = self.get("data_type").unwrap_or(&Value::Null);
        let name = data_type.as_str().or_else(|| data_type.get("name").and_then(Value::as_str));
        let kind = match name {
            Some("bool" | "uint8") => CellType::U8,
            Some("uint16") => CellType::U16,
            Some("uint32") => CellType::U32,
            Some("uint64") => CellType::U64,
            Some("int8") => CellType::I8,
            Some("int16") => CellType::I16,
            Some("int32") => CellType::I32,
            Some("int64") => CellType::I64,
            Some("float32") => CellType::F32,
            Some("float64") => CellType::F64,
            _ => {
                return Err(self.document.wrong(
                    "data_type",
                    Some(&name.map_or_else(|| data_type.clone(), Value::from)),
                    TYPES,
                ));
            }
        };
        let (grid, grid_said) = self.named("chunk_grid", self.get("chunk_grid").unwrap_or(&Value::Null))?;
        if grid != "regular" {
            return Err(self.wrong("chunk_grid", "a regular grid can be read"));
        }
        if self.get("storage_transformers").is_some_and(|list| list.as_array().is_none_or(|list| !list.is_empty())) {
            return Err(self.wrong("storage_transformers", "none can be read"));
        }
        let file = grid_said.chunk("chunk_shape", axes)?;
        let list = self.get("codecs").unwrap_or(&Value::Null);
        let CodecChain { order, to_bytes: (name, said), codecs } = self.chain("codecs", list, axes)?;
        let names = match self.get("dimension_names").map(Value::as_array) {
            None => vec![None; axes],
            Some(Some(names)) if names.len() == axes => {
                names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
            }
            Some(_) => return Err(self.wrong("dimension_names", format!("{axes} names are needed"))),
        };
        let header = ArrayHeader {
            fill: self.fill(kind)?,
            keys: self.keys()?,
            chunk: file.clone(),
            endian: Endian::HERE,
            shard: None,
            shape,
            kind,
            file,
            order,
            codecs,
            names,
        };
        if name != "sharding_indexed" {
            return Ok(ArrayHeader { endian: said.endian(kind)?, ..header });
        }
        if !header.codecs.is_empty() {
            return Err(self.wrong("codecs", "shards that are not packed once more can be read"));
        }
        self.sharded(header, said)
    }

    /// The same array, whose files are shards.
    fn sharded(self, header: ArrayHeader, said: Self) -> Result<ArrayHeader, InputError> {
        let (axes, outer) = (header.shape.len(), &header.order);
        let own = said.chunk("chunk_shape", axes)?;
        let list = said.get("codecs").unwrap_or(&Value::Null);
        let inner = said.chain("codecs", list, axes)?;
        let (name, cells) = inner.to_bytes;
        if name != "bytes" {
            return Err(said.wrong("codecs", "shards within shards cannot be read"));
        }
        let mut chunk = vec![0; axes];
        outer.iter().zip(&own).for_each(|(&axis, &cells)| chunk[axis] = cells);
        if header.file.iter().zip(&chunk).any(|(file, chunk)| !file.is_multiple_of(*chunk)) {
            return Err(said.wrong("chunk_shape", "chunks of a shard are whole parts of it"));
        }
        let index = said.get("index_codecs").unwrap_or(&Value::Null);
        let index = said.chain("index_codecs", index, axes + 1)?;
        let in_order = index.order.iter().enumerate().all(|(at, &axis)| at == axis);
        let checked = match &index.codecs[..] {
            [] => false,
            [ChunkCodec::Crc32c] => true,
            _ => return Err(said.wrong("index_codecs", "bytes, and crc32c, can be read")),
        };
        if index.to_bytes.0 != "bytes" || !in_order {
            return Err(said.wrong("index_codecs", "bytes, and crc32c, can be read"));
        }
        let first = match said.get("index_location").map(Value::as_str) {
            None | Some(Some("end")) => false,
            Some(Some("start")) => true,
            Some(_) => return Err(said.wrong("index_location", "start or end is needed")),
        };
        let endian = index.to_bytes.1.endian(CellType::U64)?;
        let order = inner.order.iter().map(|&axis| outer[axis]).collect();
        let shard = Some(ShardIndex { order: outer.clone(), endian, checked, first });
        Ok(ArrayHeader { chunk, shard, order, endian: cells.endian(header.kind)?, codecs: inner.codecs, ..header })
    }

    /// How codecs make bytes of an array of so many axes.
    fn chain(self, key: &str, list: &'d Value, axes: usize) -> Result<CodecChain<'d>, InputError> {
        let (mut order, mut to_bytes, mut codecs) = ((0..axes).collect::<Vec<_>>(), None, Vec::new());
        for value in list.as_array().map_or(&[][..], Vec::as_slice) {
            let (name, said) = self.named(key, value)?;
            match name {
                "transpose" if to_bytes.is_none() => {
                    let turned = said.numbers("order", Some(axes))?;
                    if !(0..axes).all(|axis| turned.contains(&(axis as u64))) {
                        return Err(said.wrong("order", "every axis comes once"));
                    }
                    order = turned.iter().map(|&axis| order[axis as usize]).collect();
                }
                "bytes" | "sharding_indexed" if to_bytes.is_none() => to_bytes = Some((name, said)),
                _ if to_bytes.is_some() => codecs.push(self.codec(key, name)?),
                _ => {
                    let allowed = "transpose, bytes and sharding_indexed can make bytes of cells";
                    return Err(self.document.wrong(key, Some(&name.into()), allowed));
                }
            }
        }
        let to_bytes =
            to_bytes.ok_or_else(|| self.document.wrong(key, Some(list), "bytes or sharding_indexed is needed"))?;
        Ok(CodecChain { order, to_bytes, codecs })
    }

    fn codec(self, key: &str, name: &str) -> Result<ChunkCodec, InputError> {
        let known = "none, gzip, zlib, zstd, blosc, lz4 and crc32c can be read";
        ChunkCodec::named(name).ok_or_else(|| self.document.wrong(key, Some(&name.into()), known))
    }

    fn endian(self, kind: CellType) -> Result<Endian, InputError> {
        match self.get("endian").map(Value::as_str) {
            Some(Some("little")) => Ok(Endian::Little),
            Some(Some("big")) => Ok(Endian::Big),
            None if kind.bytes() == 1 => Ok(Endian::HERE),
            _ => Err(self.wrong("endian", "little or big is needed")),
        }
    }

    fn keys(self) -> Result<Keys, InputError> {
        let value = self.get("chunk_key_encoding").unwrap_or(&Value::Null);
        let (name, said) = self.named("chunk_key_encoding", value)?;
        let (marked, usual) = match name {
            "default" => (true, '/'),
            "v2" => (false, '.'),
            _ => return Err(self.wrong("chunk_key_encoding", "default or v2 is needed")),
        };
        let separator = match said.get("separator").map(Value::as_str) {
            None => usual,
            Some(Some(".")) => '.',
            Some(Some("/")) => '/',
            Some(_) => return Err(said.wrong("separator", ". or / is needed")),
        };
        Ok(Keys { marked, separator })
    }
}
