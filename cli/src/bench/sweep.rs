//! A sweep: what is fixed, what varies, and the cases that this makes.
//!
//! A file has a base of settings, axes whose product is taken, and further groups under `[[cases]]`, each a product of its
//! own over the same base. `-a` on the command line replaces a setting wherever it stands. docs/bench.md shows the format.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};
use xxhash_rust::xxh3::xxh3_128;

use crate::bench::axis;
use crate::bench::constraint::Constraint;
use crate::bench::settings::{Case, Settings};
use crate::error::Error;

/// The most combinations, excluded ones included.
const MOST: u128 = 1_000_000;

/// A sweep, checked setting by setting.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(super) name: String,
    pub(super) measure: Measure,
    groups: Vec<Product>,
    constraints: Vec<Constraint>,
}

/// A product: every setting with its values.
#[derive(Debug, Clone, Default)]
struct Product(Vec<(String, Vec<String>)>);

/// How long cases are measured, as far as a file says.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Measure {
    pub(super) warm_up: Option<usize>,
    pub(super) min_samples: Option<usize>,
    pub(super) max_samples: Option<usize>,
    pub(super) error: Option<f64>,
    pub(super) timeout: Option<f64>,
    pub(super) energy: Option<f64>,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    /// For readers of the file.
    #[serde(rename = "about")]
    _about: Option<String>,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    measure: Measure,
    #[serde(default)]
    base: Table,
    #[serde(default)]
    axes: Table,
    #[serde(default)]
    cases: Vec<Table>,
}

impl Sweep {
    /// Reads a sweep, with `axes` of the command line over it.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Input`] names the file, the key, the value and what is allowed.
    pub(crate) fn read(path: Option<&Path>, axes: &[String], settings: &Settings) -> Result<Self, Error> {
        let mut sweep = match path {
            Some(path) => {
                let text =
                    std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
                let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                Self::parse(&text, name, settings)
                    .map_err(|wrong| Error::Input(format!("{}: {wrong}", path.display())))?
            }
            None => Self {
                name: "command line".into(),
                measure: Measure::default(),
                groups: vec![Product::default()],
                constraints: Vec::new(),
            },
        };
        let wrong = |text: &String, wrong| Error::Input(format!("--axis {text}: {wrong}"));
        let axis = |text: &String| {
            let (name, values) = axis::axis(text)?;
            Ok((settings.name(&name)?, values))
        };
        let axes = axes.iter().map(|text| Ok((text, axis(text).map_err(|error| wrong(text, error))?)));
        let axes = axes.collect::<Result<Vec<_>, Error>>()?;
        for (_, (name, values)) in &axes {
            sweep.replace(name, values);
        }
        few(&sweep.groups).map_err(|many| Error::Input(format!("{}: {many}", sweep.name)))?;
        for (text, (name, values)) in &axes {
            check(settings, name, values).map_err(|error| wrong(text, error))?;
        }
        if !sweep.groups.iter().all(|group| group.has("workload")) {
            return Err(Error::Input(format!(
                "{}: there is no workload; set one, as in workload = \"mandelbrot\" or -a workload=mandelbrot",
                sweep.name
            )));
        }
        Ok(sweep)
    }

    fn parse(text: &str, name: String, settings: &Settings) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            format!("line {line}: {}", error.message().trim())
        })?;
        let mut base = Product::default();
        for (key, value) in &file.base {
            let at = |wrong| format!("base.{key}: {wrong}");
            let (name, values) = (settings.name(key).map_err(at)?, vec![single(value).map_err(at)?]);
            check(settings, &name, &values).map_err(at)?;
            base.set(&name, values);
        }
        // The axes alone, unless the file has nothing but lists of cases.
        let alone = (!file.axes.is_empty() || file.cases.is_empty()).then(|| ("axes".to_owned(), &file.axes));
        let cases = file.cases.iter().enumerate().map(|(i, cases)| (format!("cases[{i}]"), cases));
        let mut groups = Vec::new();
        for (place, table) in alone.into_iter().chain(cases) {
            let mut group = base.clone();
            let mut axes = Vec::new();
            for (key, value) in table {
                let at = format!("{place}.{key}");
                let (name, values) = named(settings, key, value).map_err(|wrong| format!("{at}: {wrong}"))?;
                group.set(&name, values.clone());
                axes.push((at, name, values));
            }
            groups.push(group);
            few(&groups)?;
            for (at, name, values) in axes {
                check(settings, &name, &values).map_err(|wrong| format!("{at}: {wrong}"))?;
            }
        }
        let known = |name: &str| settings.name(name);
        let constraints = file.constraints.iter().map(|text| Constraint::parse(text, known));
        Ok(Self {
            name: file.name.unwrap_or(name),
            measure: file.measure,
            groups,
            constraints: constraints.collect::<Result<_, _>>().map_err(|wrong| format!("constraints: {wrong}"))?,
        })
    }

    /// Sets an axis in every group that has it, or in all if none has.
    fn replace(&mut self, name: &str, values: &[String]) {
        let nowhere = !self.groups.iter().any(|group| group.has(name));
        for group in self.groups.iter_mut().filter(|group| nowhere || group.has(name)) {
            group.set(name, values.to_vec());
        }
    }

    /// Every case once, in order: the first axis varies slowest. None is a combination that a constraint rules out.
    pub(crate) fn cases(&self, settings: &Settings) -> impl Iterator<Item = Option<Case>> {
        let mut keys = HashSet::new();
        self.groups.iter().flat_map(Product::combinations).filter_map(move |mut case| {
            if !self.constraints.iter().all(|constraint| constraint.allows(&case)) {
                return Some(None);
            }
            settings.sort(&mut case);
            keys.insert(xxh3_128(case.key().as_bytes())).then_some(Some(case))
        })
    }
}

impl Product {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    fn set(&mut self, name: &str, values: Vec<String>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = values,
            None => self.0.push((name.to_owned(), values)),
        }
    }

    /// The number of combinations.
    fn len(&self) -> u128 {
        self.0.iter().fold(1, |len, (_, values)| len.saturating_mul(values.len() as u128))
    }

    /// Every combination.
    fn combinations(&self) -> impl Iterator<Item = Case> {
        (0..self.len()).map(|number| {
            let mut rest = number;
            let settings = self.0.iter().rev().map(|(name, values)| {
                let many = values.len() as u128;
                let value = &values[(rest % many) as usize];
                rest /= many;
                (name.clone(), value.clone())
            });
            settings.collect()
        })
    }
}

/// Counts combinations, before anything is done with each of them.
fn few(groups: &[Product]) -> Result<(), String> {
    match groups.iter().map(Product::len).fold(0, u128::saturating_add) {
        ..=MOST => Ok(()),
        many => Err(format!("{many} cases are more than the {MOST} of a sweep")),
    }
}

/// Checks every value by itself. That takes a while for a long list, so what is too many is counted before.
fn check(settings: &Settings, name: &str, values: &[String]) -> Result<(), String> {
    values.iter().try_for_each(|value| settings.check(name, value))
}

/// A value of a file as `run` would be given it.
fn single(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(axis::value(text)),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(choice) => Ok(choice.to_string()),
        _ => Err(format!("{} instead of a single value", value.type_str())),
    }
}

/// The values of an axis: a list, or a text as `-a` takes it.
fn list(key: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) if !axis::whole(key) => axis::values(text),
        Value::Array(items) if items.is_empty() => Err("an axis needs at least one value".into()),
        Value::Array(items) => items.iter().map(single).collect(),
        value => Ok(vec![single(value)?]),
    }
}

/// The axis that a key of a file names, and its values.
fn named(settings: &Settings, key: &str, value: &Value) -> Result<(String, Vec<String>), String> {
    match key.strip_suffix("[pow2]") {
        Some(name) => Ok((settings.name(name)?, powers(name, value)?)),
        None => Ok((settings.name(key)?, list(key, value)?)),
    }
}

/// The values of an axis of exponents.
fn powers(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let exponents = list(name, value)?.join(",");
    axis::axis(&format!("{name}[pow2]={exponents}")).map(|(_, values)| values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, axes: &[&str]) -> Result<(Vec<String>, usize), String> {
        let settings = Settings::new();
        let mut sweep = Sweep::parse(text, "test".into(), &settings)?;
        for text in axes {
            let (name, values) = axis::axis(text)?;
            sweep.replace(&name, &values);
        }
        let cases: Vec<_> = sweep.cases(&settings).collect();
        let excluded = cases.iter().filter(|case| case.is_none()).count();
        Ok((cases.iter().flatten().map(Case::key).collect(), excluded))
    }

    const SWEEP: &str = r#"
        constraints = ["g*2 <= n"]
        [base]
        workload = "mandelbrot"
        B = 8
        [axes]
        n = "64:128:x2"
        g = [32, 64]
        [[cases]]
        strategy = "exhaustive"
        n = [64, "2^7"]
    "#;

    #[test]
    fn products_groups_and_constraints() {
        let (cases, excluded) = keys(SWEEP, &[]).unwrap();
        assert_eq!(
            cases,
            [
                "workload=mandelbrot n=64 g=32 B=8",
                "workload=mandelbrot n=128 g=32 B=8",
                "workload=mandelbrot n=128 g=64 B=8",
                "workload=mandelbrot n=64 B=8 strategy=exhaustive",
                "workload=mandelbrot n=128 B=8 strategy=exhaustive",
            ]
        );
        assert_eq!(excluded, 1);
    }

    #[test]
    fn the_command_line_replaces() {
        let (cases, _) = keys(SWEEP, &["n=256", "g=4", "dwell=100,200"]).unwrap();
        assert_eq!(cases.len(), 4);
        assert_eq!(cases[1], "workload=mandelbrot n=256 g=4 B=8 dwell=200");
        assert_eq!(cases[2], "workload=mandelbrot n=256 B=8 dwell=100 strategy=exhaustive");
    }

    #[test]
    fn exponents_in_a_file() {
        let (cases, _) = keys("[base]\nworkload = 'cantor'\n[axes]\n'n[pow2]' = '4:6'\n", &[]).unwrap();
        assert_eq!(cases, ["workload=cantor n=16", "workload=cantor n=32", "workload=cantor n=64"]);
    }

    #[test]
    fn mistakes_name_the_key() {
        for (text, named) in [
            ("[axes]\nsize_of = 3", "axes.size_of: unknown axis 'size_of'"),
            ("[axes]\nn = '1:x'", "axes.n: '1:x'"),
            ("[axes]\nn = []", "axes.n: an axis needs"),
            ("[base]\ncurve = 'peano'", "base.curve: invalid value 'peano'"),
            ("[base]\nn = [1, 2]", "base.n: array instead of"),
            ("[[cases]]\nr = 'two'", "cases[0].r: invalid value 'two'"),
            ("constraints = ['n << 3']", "constraints: 'n << 3'"),
            ("[measure]\nsamples = 3", "line 2: unknown field `samples`"),
            ("name = ", "line 1: "),
        ] {
            let wrong = keys(text, &[]).unwrap_err();
            assert!(wrong.contains(named), "{text}: {wrong}");
        }
    }
}
