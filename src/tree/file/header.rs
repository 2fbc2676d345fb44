//! The attribute of a tree's group: all that is known of it but its regions.
//!
//! A header says what the plan is, how many rows and cells of bricks each shard has, and what their checksums are. A digest of all that
//! is its last key, so that what is read is what was written. Keys that this version does not know are let by: they are under
//! the digest as well.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::cell::{Cell, CellType};
use crate::curve::CurveKind;
use crate::geometry::{Domain, Sample, Scheme};
use crate::per_axis;
use crate::plan::Plan;
use crate::result::RegionsChecksum;
use crate::rule::{RuleKind, exact};
use crate::tree::file::info::{Scale, TreeAxis, TreeInfo, TreeLabel, Unfit};
use crate::tree::list::ListLayout;
use crate::tree::predicate::Predicate;
use crate::zarr::{self, CHECKSUMS};

/// The version of trees whose leaves have bricks.
pub(super) const VERSION: u64 = 1;

/// The version of trees of lists.
pub(super) const LIST_VERSION: u64 = 2;

/// The attributes of the group.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attributes<H> {
    pub(super) orthant_tree: H,
}

/// What one shard holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) rows: u64,
    /// Cells of its bricks.
    pub(super) cells: u64,
    pub(super) checksum: RegionsChecksum,
}

/// The attribute, in the order in which it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    version: u64,
    /// What wrote it.
    orthant: String,
    pub(super) size: Vec<u32>,
    window: Vec<[f64; 2]>,
    sample: Sample,
    axes: Vec<TreeAxis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directions: Option<Vec<Vec<f64>>>,
    pub(super) cell: CellType,
    predicate: Predicate,
    g: Vec<u32>,
    r: Vec<u32>,
    stop: Vec<u32>,
    levels: u32,
    curve: CurveKind,
    rule: RuleKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodata: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<Label>,
    /// How many cells a shard should have, about.
    pub(super) shard_cells: u64,
    /// Of the tree of a list how it is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list: Option<ListKeys>,
    /// On each level how many regions are uniform and how many are leaves.
    pub(super) terminals: Vec<[u64; 2]>,
    /// What each shard holds.
    pub(super) shards: Shape,
    /// Of all regions.
    pub(super) checksum: RegionsChecksum,
    digest: String,
}

/// What each shard holds, a list per fact.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) rows: Vec<u64>,
    pub(super) leaf_cells: Vec<u64>,
    pub(super) checksums: Vec<RegionsChecksum>,
}

/// Adds on each level how many regions are uniform and how many are leaves.
pub(super) fn add_terminals(sums: &mut [[u64; 2]], more: &[[u64; 2]]) {
    for (sum, here) in sums.iter_mut().zip(more) {
        *sum = [sum[0] + here[0], sum[1] + here[1]];
    }
}

/// How the tree of a list is divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ListKeys {
    /// The value of cells that are not listed.
    background: Value,
    /// The entries at which division stops.
    most: u64,
    /// The first code of each shard on the deepest level.
    first: Vec<u64>,
    /// The most rows of a shard, and the most entries.
    rows: u64,
    entries: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Label {
    value: Value,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colour: Option<[u8; 4]>,
}

impl Header {
    /// Of a tree along the curve of `plan`, which is not canonical, before any shard is there.
    pub(super) fn new<const K: usize>(plan: &Plan<K>, cell: CellType, info: &TreeInfo) -> Self {
        let (domain, scheme, levels) = (plan.domain(), plan.scheme(), plan.levels().len());
        let mut header = Self::of(cell, info);
        header.size.extend_from_slice(&domain.size());
        header.window.extend_from_slice(&domain.window());
        header.sample = domain.sample();
        header.g.extend_from_slice(&scheme.g);
        header.r.extend_from_slice(&scheme.r);
        header.stop.extend_from_slice(&scheme.b);
        header.levels = levels as u32;
        (header.curve, header.rule) = (plan.curve(), plan.rule());
        header.terminals.resize(levels, [0; 2]);
        header
    }

    /// Of no plan yet: what is known beside it.
    fn of(cell: CellType, info: &TreeInfo) -> Self {
        let value = |word| zarr::number(cell, word);
        let label =
            |label: &TreeLabel| Label { value: value(label.word), name: label.name.clone(), colour: label.colour };
        Self {
            version: VERSION,
            orthant: env!("CARGO_PKG_VERSION").into(),
            size: Vec::new(),
            window: Vec::new(),
            sample: Sample::Corner,
            axes: info.axes.clone(),
            directions: info.directions.clone(),
            cell,
            predicate: info.predicate,
            g: Vec::new(),
            r: Vec::new(),
            stop: Vec::new(),
            levels: 0,
            curve: CurveKind::Morton,
            rule: RuleKind::Full,
            source: info.source.clone(),
            nodata: info.nodata.map(value),
            scale: info.scale,
            labels: info.labels.iter().map(label).collect(),
            shard_cells: 0,
            list: None,
            terminals: Vec::new(),
            shards: Shape::default(),
            checksum: RegionsChecksum::default(),
            digest: String::new(),
        }
    }

    /// The same with shards of about so many cells.
    pub(super) fn sharded(self, shard_cells: u64) -> Self {
        Self { shard_cells, ..self }
    }

    /// The same of the tree of a list, whose shards do not follow from the cells of a shard.
    pub(super) fn listed(self, layout: &ListLayout) -> Self {
        let ListLayout { background, most, first, rows, entries } = layout.clone();
        let background = zarr::number(self.cell, background);
        let list = Some(ListKeys { background, most, first, rows, entries });
        Self { version: LIST_VERSION, shard_cells: 0, list, ..self }
    }

    /// True of the tree of a list.
    pub(super) fn is_listed(&self) -> bool {
        self.list.is_some()
    }

    /// How the tree of a list is cut into shards.
    ///
    /// # Errors
    /// If it cannot be cut so.
    pub(super) fn layout(&self) -> Result<Option<ListLayout>, Unfit> {
        let Some(list) = &self.list else { return Ok(None) };
        let wrong = |reason: String| Err(Unfit { key: "list", reason });
        let ListKeys { background, most, first, rows, entries } = list.clone();
        let Some(background) = word(self.cell, &background) else {
            return wrong(format!("the background {background} is no {}", self.cell));
        };
        if exact::key(self.cell, background) != background || most == 0 {
            return wrong(format!("a background of {background:#x} and leaves of {most} entries cannot be"));
        }
        if first.first() != Some(&0) || !first.is_sorted_by(|a, b| a < b) || rows == 0 {
            return wrong(format!("{} first codes of shards of {rows} rows; they ascend from 0 on", first.len()));
        }
        Ok(Some(ListLayout { background, most, first, rows, entries }))
    }

    /// The same with what the shards hold, and the digest.
    pub(super) fn with(mut self, held: &[Held], terminals: Vec<[u64; 2]>) -> Self {
        self.shards = Shape {
            rows: held.iter().map(|shard| shard.rows).collect(),
            leaf_cells: held.iter().map(|shard| shard.cells).collect(),
            checksums: held.iter().map(|shard| shard.checksum).collect(),
        };
        self.checksum = held.iter().map(|shard| shard.checksum).sum();
        self.terminals = terminals;
        let Ok(Value::Object(keys)) = serde_json::to_value(&self) else { unreachable!("a header has keys") };
        self.digest = digest(&keys);
        self
    }

    /// Reads what the attribute says.
    pub(super) fn read(mut keys: Map<String, Value>) -> Result<Self, HeaderFault> {
        let version = match keys.get("version") {
            Some(Value::Number(number)) if [Some(VERSION), Some(LIST_VERSION)].contains(&number.as_u64()) => {
                number.as_u64()
            }
            found => return Err(HeaderFault::Version(found.map_or("none".into(), Value::to_string))),
        };
        let expected = digest(&keys);
        if CHECKSUMS && keys.get("digest").and_then(Value::as_str) != Some(&expected) {
            let found = keys.get("digest").map_or("none".into(), Value::to_string);
            return Err(HeaderFault::Digest { found, expected });
        }
        if version == Some(VERSION) {
            // Of version 1 a key that says nothing.
            keys.remove("list");
        } else if !keys.contains_key("list") {
            return Err(HeaderFault::Keys("version 2 has the key list".into()));
        }
        serde_json::from_value(Value::Object(keys)).map_err(|error| HeaderFault::Keys(error.to_string()))
    }

    /// The plan.
    ///
    /// # Errors
    /// If there is no such plan, or it has not as many levels.
    ///
    /// # Panics
    /// If the tree has not K dimensions.
    pub(super) fn plan<const K: usize>(&self) -> Result<Plan<K>, Unfit> {
        fn axes<T: Copy + Default, const K: usize>(list: &[T]) -> [T; K] {
            per_axis::each(|j| list[j])
        }
        self.has_axes(K)?;
        let domain = Domain::new(axes(&self.size), axes(&self.window), self.sample);
        let scheme = Scheme { g: axes(&self.g), r: axes(&self.r), b: axes(&self.stop) };
        if !self.curve.is_hierarchical() {
            let reason = format!("{}; trees lie along morton or hilbert", self.curve);
            return Err(Unfit { key: "curve", reason });
        }
        let domain = domain.map_err(|error| because("size", &error))?;
        let plan = Plan::new(domain, scheme, self.curve, self.rule).map_err(|error| because("g", &error))?;
        if plan.levels().len() != self.levels as usize || self.terminals.len() != plan.levels().len() {
            let reason = format!("{} of them, where the scheme has {}", self.levels, plan.levels().len());
            return Err(Unfit { key: "levels", reason });
        }
        Ok(plan)
    }

    /// Checks that lists have a value for each of so many axes.
    fn has_axes(&self, k: usize) -> Result<(), Unfit> {
        let lists =
            [("size", self.size.len()), ("window", self.window.len()), ("g", self.g.len()), ("r", self.r.len())];
        match lists.into_iter().chain([("stop", self.stop.len())]).find(|&(_, len)| len != k) {
            Some((key, len)) => Err(Unfit { key, reason: format!("{len} numbers for {k} axes") }),
            None => Ok(()),
        }
    }

    /// What is known of the tree beside its regions.
    pub(super) fn info(&self) -> Result<TreeInfo, Unfit> {
        let word = |key, value: &Value| {
            let unfit = || Unfit { key, reason: format!("{value} is no {}", self.cell) };
            word(self.cell, value).ok_or_else(unfit)
        };
        let label = |label: &Label| {
            let Label { value, name, colour } = label;
            Ok(TreeLabel { word: word("labels", value)?, name: name.clone(), colour: *colour })
        };
        let info = TreeInfo {
            axes: self.axes.clone(),
            directions: self.directions.clone(),
            predicate: self.predicate,
            source: self.source.clone(),
            nodata: self.nodata.as_ref().map(|value| word("nodata", value)).transpose()?,
            scale: self.scale,
            labels: self.labels.iter().map(label).collect::<Result<_, _>>()?,
        };
        info.check(self.size.len(), self.cell)?;
        Ok(info)
    }

    /// What a shard holds.
    pub(super) fn held(&self, shard: usize) -> Held {
        let Shape { rows, leaf_cells, checksums } = &self.shards;
        Held { rows: rows[shard], cells: leaf_cells[shard], checksum: checksums[shard] }
    }
}

/// What a key cannot say, as a plan says it.
fn because(key: &'static str, error: &dyn std::fmt::Display) -> Unfit {
    Unfit { key, reason: error.to_string() }
}

/// Why keys are no header.
pub(super) enum HeaderFault {
    Version(String),
    Digest { found: String, expected: String },
    Keys(String),
}

/// The digest of all keys but itself: of their text without spaces, objects by their keys in order.
fn digest(keys: &Map<String, Value>) -> String {
    fn write(value: &Value, text: &mut String) {
        match value {
            Value::Array(values) => {
                text.push('[');
                for value in values {
                    write(value, text);
                    text.push(',');
                }
                text.push(']');
            }
            Value::Object(keys) => write_keys(keys, "", text),
            plain => text.push_str(&plain.to_string()),
        }
    }
    fn write_keys(keys: &Map<String, Value>, without: &str, text: &mut String) {
        let mut sorted: Vec<_> = keys.iter().filter(|(key, _)| *key != without).collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        text.push('{');
        for (key, value) in sorted {
            text.push_str(&Value::from(key.as_str()).to_string());
            text.push(':');
            write(value, text);
            text.push(',');
        }
        text.push('}');
    }
    let mut text = String::new();
    write_keys(keys, "digest", &mut text);
    format!("xxh3:{:016x}", xxh3_64(text.as_bytes()))
}

/// The word that a value of a header stands for, as [`zarr::number`] writes them; None if it is none of the type.
fn word(kind: CellType, value: &Value) -> Option<u64> {
    let float = |number: f64| match kind {
        CellType::F32 => (number as f32).word(),
        _ => number.word(),
    };
    let parsed = match value {
        Value::Number(number) if kind.is_float() => float(number.as_f64()?),
        Value::Number(number) => {
            let word = number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned))?;
            word & (u64::MAX >> (64 - 8 * kind.bytes()))
        }
        Value::String(name) => match name.as_str() {
            "NaN" => kind.nan()?,
            "Infinity" => float(f64::INFINITY),
            "-Infinity" => float(f64::NEG_INFINITY),
            bits => u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?,
        },
        _ => return None,
    };
    // There is one way to write each, and what is out of range comes back as another.
    (zarr::number(kind, parsed) == *value).then_some(parsed)
}
