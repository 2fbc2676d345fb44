//! What is read of the run report in a row: by whoever reads rows, so that all of them take and refuse the same files.

use serde::Deserialize;
use serde_json::Value;

/// What is read of a run report.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RanRow {
    pub(crate) workload: String,
    pub(crate) k: usize,
    pub(crate) size: Vec<u32>,
    pub(crate) dwell: Option<u32>,
    pub(crate) precision: String,
    pub(crate) arithmetic: String,
    pub(crate) cell: String,
    pub(crate) strategy: String,
    /// Null from the cells up, where regions have no workers of their own.
    pub(crate) scheme: Option<String>,
    /// Null where the default of strategy and scheme was taken; older reports lack it.
    pub(crate) pass: Option<String>,
    /// Null where the one that fits was taken, or nothing is settled from lists; older reports lack it.
    pub(crate) balancer: Option<String>,
    pub(crate) curve: String,
    pub(crate) explore: String,
    /// One number, or one per axis where they differ; so are r and B.
    #[serde(with = "orthant::per_axis")]
    pub(crate) g: Vec<u32>,
    #[serde(with = "orthant::per_axis")]
    pub(crate) r: Vec<u32>,
    #[serde(rename = "B", with = "orthant::per_axis")]
    pub(crate) b: Vec<u32>,
    pub(crate) backend: String,
    pub(crate) device: String,
    pub(crate) threads: usize,
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) dp_launch: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) levels: Vec<RanLevel>,
    pub(crate) peak_olt_bytes: u64,
    /// Of the cells; null where none are kept.
    pub(crate) checksum: Option<String>,
}

/// What is read of a level.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RanLevel {
    pub(crate) regions: u64,
    pub(crate) subdivided: u64,
    pub(crate) leaves: u64,
    /// Null where there were no regions.
    pub(crate) p: Option<f64>,
}

/// Finds what no run can have had. Before the rest is read, where a wrong type has no name.
pub(crate) fn check(run: &Value) -> Result<(), String> {
    let key = |key: &str| run.get(key).ok_or_else(|| format!("key '{key}' is missing"));
    let positive = |value: &Value| value.as_u64().is_some_and(|number| (1..1 << 32).contains(&number));
    let axes = |value: &Value, k: u64| {
        value.as_array().is_some_and(|axes| axes.len() as u64 == k && axes.iter().all(positive))
    };
    let most = orthant::MAX_DIM as u64;
    let dimensions = key("k")?;
    let Some(k) = dimensions.as_u64().filter(|k| (1..=most).contains(k)) else {
        return Err(format!("key 'k' is {dimensions}: between 1 and {most} dimensions are supported"));
    };
    for name in ["size", "g", "r"] {
        let value = key(name)?;
        if !axes(value, k) {
            return Err(format!("key '{name}' is {value}: {k} positive numbers are needed"));
        }
    }
    let r = key("r")?;
    if r.as_array().is_some_and(|r| r.iter().all(|split| split == 1)) {
        return Err(format!("key 'r' is {r}: at least one axis has to be split"));
    }
    let b = key("B")?;
    if !positive(b) && !axes(b, 1) && !axes(b, k) {
        return Err(format!("key 'B' is {b}: one positive number or {k} of them are needed"));
    }
    // What is no number here is named with its level by whoever reads it.
    let sum = |level: &Value| {
        let [regions, parts @ ..] = ["regions", "subdivided", "filled", "leaves"].map(|key| level.get(key)?.as_u64());
        let sum = parts.into_iter().try_fold(0, |sum: u128, part| Some(sum + u128::from(part?)))?;
        Some(sum == u128::from(regions?))
    };
    let mut levels = run.get("levels").and_then(Value::as_array).into_iter().flatten();
    match levels.position(|level| sum(level) == Some(false)) {
        None => Ok(()),
        Some(i) => Err(format!("level {i}: key 'regions' is not the sum of 'subdivided', 'filled' and 'leaves'")),
    }
}
