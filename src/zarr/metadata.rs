//! What an array is, and the one text that says so.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::cell::CellType;
use crate::zarr::chunk::{CRC, ENTRY, LEVEL, most_encoded};
use crate::zarr::json;

/// What an array is: the file `zarr.json` in its folder. The last axis is the fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayMetadata {
    /// Elements per axis.
    pub(crate) shape: Vec<u64>,
    /// The type of an element.
    pub(crate) kind: CellType,
    /// Elements per axis of what is one file. Those at the upper ends of the array are whole, too, with `fill` beyond.
    pub(crate) file: Vec<u64>,
    /// Elements per axis of what is compressed as one; the same as `file`, or parts of it, and then a file is a shard.
    pub(crate) chunk: Vec<u64>,
    /// True if a file is a shard, of one chunk perhaps.
    pub(crate) sharded: bool,
    /// The word of elements that are in no file.
    pub fill: u64,
    /// What axes are called.
    pub(crate) names: Vec<String>,
    /// What else is known.
    pub(crate) attributes: BTreeMap<String, String>,
}

impl ArrayMetadata {
    /// An array whose files are shards.
    pub fn sharded(kind: CellType, shape: &[u64], shard: &[u64], chunk: &[u64], names: &[&str]) -> Self {
        Self {
            shape: shape.to_vec(),
            kind,
            file: shard.to_vec(),
            chunk: chunk.to_vec(),
            sharded: true,
            fill: 0,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            attributes: BTreeMap::new(),
        }
    }

    /// An array whose files are chunks.
    pub fn plain(kind: CellType, shape: &[u64], chunk: &[u64], names: &[&str]) -> Self {
        Self { sharded: false, ..Self::sharded(kind, shape, chunk, chunk, names) }
    }

    /// Chunks of a file.
    pub(crate) fn chunks(&self) -> u64 {
        self.file.iter().zip(&self.chunk).map(|(file, chunk)| file / chunk).product()
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> usize {
        (self.chunk.iter().product::<u64>() * self.kind.bytes()) as usize
    }

    /// The most bytes that a file has as a shard.
    pub(crate) fn most_bytes(&self) -> u64 {
        let each = (most_encoded(self.chunk_bytes()) as u64).saturating_add(ENTRY as u64);
        self.chunks().saturating_mul(each).saturating_add(CRC as u64)
    }

    /// The element of all files that are not there, as bytes.
    pub fn fill_bytes(&self) -> Vec<u8> {
        self.fill.to_le_bytes()[..self.kind.bytes() as usize].to_vec()
    }

    /// What the file at these coordinates of the grid is called in the array's folder.
    pub fn key(at: &[u64]) -> String {
        at.iter().fold("c".to_owned(), |key, number| format!("{key}/{number}"))
    }

    /// The text of `zarr.json`.
    ///
    /// # Panics
    /// If its lists are of several lengths, or a chunk is no whole part of a file.
    pub fn text(&self) -> String {
        let axes = self.shape.len();
        let lengths = [self.file.len(), self.chunk.len(), self.names.len()];
        assert!(axes > 0 && lengths == [axes; 3], "{self:?} has lists of one length");
        let whole = |(file, chunk): (&u64, &u64)| *chunk > 0 && file.is_multiple_of(*chunk) && file >= chunk;
        assert!(self.file.iter().zip(&self.chunk).all(whole), "{self:?} has whole chunks");
        json::text(self, 1)
    }

    /// What the text says, part by part.
    fn document(&self) -> Document<'_> {
        let little = || Codec::Bytes { endian: "little" };
        let chain = vec![little(), Codec::Zstd { level: LEVEL, checksum: false }, Codec::Crc32c];
        let sharding = |codecs| Codec::ShardingIndexed {
            chunk_shape: &self.chunk,
            codecs,
            index_codecs: vec![little(), Codec::Crc32c],
            index_location: "end",
        };
        Document {
            zarr_format: 3,
            node_type: "array",
            shape: &self.shape,
            data_type: data_type(self.kind),
            chunk_grid: Named { name: "regular", configuration: ChunkShape { chunk_shape: &self.file } },
            chunk_key_encoding: Named { name: "default", configuration: Separator { separator: "/" } },
            fill_value: number(self.kind, self.fill),
            codecs: if self.sharded { vec![sharding(chain)] } else { chain },
            attributes: &self.attributes,
            dimension_names: &self.names,
        }
    }
}

/// What Zarr calls a type.
fn data_type(kind: CellType) -> &'static str {
    match kind {
        CellType::U8 => "uint8",
        CellType::U16 => "uint16",
        CellType::U32 => "uint32",
        CellType::U64 => "uint64",
        CellType::I8 => "int8",
        CellType::I16 => "int16",
        CellType::I32 => "int32",
        CellType::I64 => "int64",
        CellType::F32 => "float32",
        CellType::F64 => "float64",
    }
}

/// A word as Zarr writes fill values: numbers as they are, and others by name or by their bits.
pub(crate) fn number(kind: CellType, word: u64) -> serde_json::Value {
    if !kind.is_float() {
        let bits = 64 - 8 * kind.bytes();
        let signed = ((word << bits) as i64) >> bits;
        return match kind {
            CellType::I8 | CellType::I16 | CellType::I32 | CellType::I64 => signed.into(),
            _ => word.into(),
        };
    }
    match kind.number(word) {
        // A number of four bytes is one of eight, too, and is read back from its digits by way of that.
        number if number.is_finite() => number.into(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        _ if kind.nan() == Some(word) => "NaN".into(),
        _ => format!("{word:#0width$x}", width = 2 + 2 * kind.bytes() as usize).into(),
    }
}

impl Serialize for ArrayMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document().serialize(serializer)
    }
}

#[derive(Serialize)]
struct Document<'a> {
    zarr_format: u32,
    node_type: &'static str,
    shape: &'a [u64],
    data_type: &'static str,
    chunk_grid: Named<ChunkShape<'a>>,
    chunk_key_encoding: Named<Separator>,
    fill_value: serde_json::Value,
    codecs: Vec<Codec<'a>>,
    attributes: &'a BTreeMap<String, String>,
    dimension_names: &'a [String],
}

#[derive(Serialize)]
struct Named<C> {
    name: &'static str,
    configuration: C,
}

#[derive(Serialize)]
struct ChunkShape<'a> {
    chunk_shape: &'a [u64],
}

#[derive(Serialize)]
struct Separator {
    separator: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "name", content = "configuration", rename_all = "snake_case")]
enum Codec<'a> {
    Bytes {
        endian: &'static str,
    },
    Zstd {
        level: i32,
        checksum: bool,
    },
    Crc32c,
    ShardingIndexed {
        chunk_shape: &'a [u64],
        codecs: Vec<Codec<'a>>,
        index_codecs: Vec<Codec<'a>>,
        index_location: &'static str,
    },
}
