//! The inputs of one case of a reference file, read by key; every complaint names the key.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::{Map, Value};

use orthant_lab::model::{Costs, Counts, Density, Geometry, ModelError, Options, Processors, Ratio};

/// Why a case has no outputs.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The inputs are not what the function takes.
    Input(String),
    /// The model has no value for them.
    Model(ModelError),
}

impl From<ModelError> for Trouble {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

type Read<T> = Result<T, Trouble>;

/// Levels that a case may ask for: far more than 64-bit sizes can have.
const LEVELS: RangeInclusive<u64> = 1..=1024;

/// The object `inputs` of a case.
pub(super) struct Inputs<'a> {
    keys: &'a Map<String, Value>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(keys: &'a Map<String, Value>) -> Self {
        Self { keys }
    }

    /// The value of a key, unless it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.keys.get(key).filter(|value| !value.is_null())
    }

    fn need<T>(&self, key: &str, wanted: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Read<T> {
        match self.get(key) {
            None => Err(Trouble::Input(format!("key '{key}' is missing: {wanted} is needed"))),
            Some(value) => read(value).ok_or_else(|| wrong(key, value, wanted)),
        }
    }

    /// A whole number of at least 0.
    pub(super) fn integer(&self, key: &str) -> Read<u64> {
        self.need(key, "a whole number", Value::as_u64)
    }

    pub(super) fn integer_or(&self, key: &str, default: u64) -> Read<u64> {
        self.get(key).map_or(Ok(default), |_| self.integer(key))
    }

    pub(super) fn integer_in(&self, key: &str, range: RangeInclusive<u64>) -> Read<u64> {
        let wanted = format!("a whole number between {} and {}", range.start(), range.end());
        self.need(key, &wanted, |value| value.as_u64().filter(|number| range.contains(number)))
    }

    /// A number of levels.
    pub(super) fn tau(&self) -> Read<u64> {
        self.integer_in("tau", LEVELS)
    }

    pub(super) fn integers(&self, key: &str) -> Read<Vec<u64>> {
        self.need(key, "a list of whole numbers", |value| value.as_array()?.iter().map(Value::as_u64).collect())
    }

    pub(super) fn decimal(&self, key: &str) -> Read<f64> {
        self.need(key, "a number", Value::as_f64)
    }

    pub(super) fn boolean_or(&self, key: &str, default: bool) -> Read<bool> {
        self.get(key).map_or(Ok(default), |_| self.need(key, "true or false", Value::as_bool))
    }

    /// A name out of a registry.
    pub(super) fn name<T: FromStr<Err: std::fmt::Display>>(&self, key: &str) -> Read<T> {
        let name = self.need(key, "a name", Value::as_str)?;
        name.parse().map_err(|error| Trouble::Input(format!("key '{key}': {error}")))
    }

    fn name_or_default<T: FromStr<Err: std::fmt::Display> + Default>(&self, key: &str) -> Read<T> {
        self.get(key).map_or(Ok(T::default()), |_| self.name(key))
    }

    /// A number for every level, or one for all `levels`.
    pub(super) fn per_level(&self, key: &str, levels: usize) -> Read<Vec<f64>> {
        let wanted = format!("a number or a list of {levels} numbers");
        self.need(key, &wanted, |value| match value {
            Value::Array(list) if list.len() == levels => list.iter().map(Value::as_f64).collect(),
            _ => Some(vec![value.as_f64()?; levels]),
        })
    }

    /// Rationals: numbers, or texts such as "125/6".
    pub(super) fn rationals(&self, key: &str) -> Read<Vec<Ratio>> {
        let rational = |value: &Value| match value {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.to_string().parse().ok(),
            _ => None,
        };
        self.need(key, "a list of numbers or fractions such as \"125/6\"", |value| {
            value.as_array()?.iter().map(rational).collect()
        })
    }

    /// k: as given, else the axes of n, else 2.
    pub(super) fn k(&self) -> Read<usize> {
        let axes = self.keys.get("n").and_then(Value::as_array).map_or(2, Vec::len);
        match self.get("k") {
            None => Ok(axes),
            Some(_) => Ok(self.integer_in("k", 1..=orthant::MAX_DIM as u64)? as usize),
        }
    }

    /// One whole number per axis, or one for all.
    pub(super) fn axes(&self, key: &str) -> Read<Vec<u64>> {
        let k = self.k()?;
        let wanted = format!("a whole number or a list of {k}");
        self.need(key, &wanted, |value| match value {
            Value::Array(list) if list.len() == k => list.iter().map(Value::as_u64).collect(),
            _ => Some(vec![value.as_u64()?; k]),
        })
    }

    /// n, g, r, and B if `stop` says so.
    pub(super) fn geometry(&self, stop: bool) -> Read<Geometry> {
        let b = if stop { self.axes("B")? } else { vec![1; self.k()?] };
        Ok(Geometry::new(self.axes("n")?, self.axes("g")?, self.axes("r")?, b)?)
    }

    /// `dim`, or P as a number or a list.
    pub(super) fn density(&self) -> Read<Density> {
        let p = self.get("P");
        if self.get("dim").is_some() {
            return Ok(Density::Dimension(self.decimal("dim")?));
        }
        match p {
            Some(Value::Array(list)) => Ok(Density::Profile(self.per_level("P", list.len())?)),
            _ => Ok(Density::Constant(self.decimal("P")?)),
        }
    }

    /// `active`, a_0 .. a_{tau−2}, if it is there.
    pub(super) fn measured(&self, initial: Ratio, children: Ratio) -> Read<Option<Counts>> {
        match self.get("active") {
            None => Ok(None),
            Some(_) => Ok(Some(Counts::measured(initial, children, &self.integers("active")?)?)),
        }
    }

    /// The counts of G, R, tau and either `active` or P.
    pub(super) fn counts(&self) -> Read<Counts> {
        let [initial, children] = [self.integer("G")?, self.integer("R")?].map(Ratio::whole);
        let explored = self.tau()? as usize - 1;
        let counts = match self.measured(initial, children)? {
            Some(counts) => counts,
            None => {
                let p = self.per_level("P", explored)?;
                Density::Profile(p.clone()).check(2)?;
                Counts::expected(initial, children, &p)
            }
        };
        match counts.levels() - 1 {
            levels if levels == explored => Ok(counts),
            found => {
                Err(ModelError::Profile { symbol: "active", found, needed: explored, tau: explored as i32 + 1 }.into())
            }
        }
    }

    pub(super) fn costs(&self) -> Read<Costs> {
        Ok(Costs::new(self.decimal("A")?, self.decimal("lam")?)?)
    }

    pub(super) fn processors(&self) -> Read<Processors> {
        Ok(Processors::new(self.integer("q")?, self.integer("c")?)?)
    }

    pub(super) fn options(&self) -> Read<Options> {
        Ok(Options {
            surface: self.name_or_default("surface_kind")?,
            query_ceil: self.name_or_default("query_ceil")?,
            wave: self.name_or_default("wave")?,
            tau_policy: self.name_or_default("tau_policy")?,
        })
    }
}

fn wrong(key: &str, value: &Value, wanted: &str) -> Trouble {
    Trouble::Input(format!("key '{key}' is {value}: {wanted} is needed"))
}
