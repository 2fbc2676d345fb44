//! Options by name, as the command line has them: their names, values and defaults are those of the library's registries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use orthant::backend::{CudaTuning, Kept, Tuning};
use orthant::choice::Choice;
use orthant::field::FieldKind;
use orthant::result::Keep;
use orthant::tree::{NotANumber, Number, Predicate};
use orthant::{BackendKind, CellType, Computed, Request};
use orthant_formats::input::{Endian, IndexOrder, MeshFormat, PointsFile, PointsFormat};
use pyo3::prelude::*;

use crate::error::Failure;
use crate::values::{are_labels, columns, parsed, take, whole, wrong, yes_or_no};

/// Options as they were given: texts by name.
pub(crate) type Given = BTreeMap<String, String>;

/// Choices of what is computed that an array does not have.
const OF_FIELDS: [&str; 6] = ["explore", "precision", "arithmetic", "dwell", "value", "band"];

/// Options of an array that no group of choices has.
const OF_ARRAYS: [&str; 14] = [
    "tolerance",
    "threshold",
    "iso",
    "step",
    "nan",
    "nodata",
    "mem-limit",
    "dtype",
    "offset",
    "order",
    "endian",
    "follow",
    "label-table",
    "kind",
];

/// Options of points that no group of choices has.
const OF_POINTS: [&str; 3] = ["mem-limit", "columns", "attribute"];

/// Former names of options, which are taken until the next release.
const FORMER: [(&str, &str); 1] = [("labels", "step")];

/// Options of a run that no group of choices has.
const OF_RUNS: [&str; 9] =
    ["backend", "device", "on-device", "mem-limit", "source", "text", "input", "columns", "attribute"];

/// The options of `tree` or of `run`.
fn known(of: &str) -> Result<Vec<Choice>, Failure> {
    let computed = Computed::CHOICES.iter().copied();
    Ok(match of {
        "tree" => {
            let threads = Tuning::CHOICES.iter().copied().filter(|choice| choice.name == "threads");
            computed.filter(|choice| !OF_FIELDS.contains(&choice.name)).chain(threads).collect()
        }
        "tree of points" => {
            let threads = Tuning::CHOICES.iter().copied().filter(|choice| choice.name == "threads");
            computed
                .filter(|choice| choice.name == "value" || !OF_FIELDS.contains(&choice.name))
                .chain(threads)
                .collect()
        }
        "run" => [Computed::CHOICES, Kept::CHOICES, Tuning::CHOICES, CudaTuning::CHOICES].concat(),
        other => return Err(Failure::Value(format!("'{other}' has no options"))),
    })
}

/// The others of `tree` or of `run`.
fn others(of: &str) -> &'static [&'static str] {
    match of {
        "tree" => &OF_ARRAYS,
        "tree of points" => &OF_POINTS,
        _ => &OF_RUNS,
    }
}

/// Names as Python has them: low lines, and one more behind a word that Python keeps for itself.
pub(crate) fn spelt(name: &str) -> String {
    let spelt = name.replace('-', "_");
    if spelt == "pass" { spelt + "_" } else { spelt }
}

/// The options of `tree` or of `run`: the name in Python, what it is about, the names that it may have, and the default.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a table")]
pub(crate) fn choices(of: &str) -> PyResult<Vec<(String, String, Vec<&'static str>, Option<String>)>> {
    let row =
        |choice: &Choice| (spelt(choice.name), choice.about.trim().to_owned(), (choice.names)(), (choice.default)());
    let own = others(of).iter().map(|name| (spelt(name), String::new(), Vec::new(), None));
    Ok(known(of)?.iter().map(row).chain(own).collect())
}

/// The built-in fields: name, what they are, and the numbers of dimensions that they exist in.
#[pyfunction]
pub(crate) fn fields() -> Vec<(&'static str, &'static str, Vec<usize>)> {
    FieldKind::ALL.iter().map(|kind| (kind.name(), kind.about(), kind.dims().to_vec())).collect()
}

/// Options by their own names: Python's have low lines, and some have a second name of one letter.
fn named(of: &str, given: Given) -> Result<Given, Failure> {
    let choices = known(of)?;
    let name = |(name, value): (String, String)| {
        let dashed = name.trim_end_matches('_').replace('_', "-");
        let short =
            |choice: &&Choice| choice.name == dashed || choice.short.is_some_and(|short| name == short.to_string());
        let own = choices.iter().find(short).map(|choice| choice.name);
        let other = FORMER.iter().find(|(former, _)| *former == dashed).map_or(&*dashed, |(_, name)| name);
        let own = own.or_else(|| others(of).iter().copied().find(|name| *name == other)).ok_or_else(|| {
            let all: Vec<String> =
                choices.iter().map(|choice| choice.name).chain(others(of).iter().copied()).map(spelt).collect();
            Failure::Type(format!("{of}() has no option '{name}'; it has {}", all.join(", ")))
        })?;
        Ok::<_, Failure>((own.to_owned(), value))
    };
    let mut named = Given::new();
    for given in given {
        let (name, value) = name(given)?;
        if named.insert(name.clone(), value).is_some() {
            return Err(Failure::Type(format!("{of}() has '{}' twice", spelt(&name))));
        }
    }
    Ok(named)
}

/// Options of `tree`.
pub(crate) struct ArrayOptions {
    pub(crate) computed: Computed,
    pub(crate) threads: Option<usize>,
    /// Bytes of regions and bricks, at most.
    pub(crate) mem_limit: Option<u64>,
    pub(crate) nan: NotANumber,
    /// The file with names and colours of labels.
    pub(crate) label_table: Option<PathBuf>,
    when: When,
    nodata: Option<Number>,
    pub(crate) reading: Reading,
}

/// What was asked for of when cells count as one value.
enum When {
    Exact,
    Tolerance(Number),
    Threshold(Number),
    Iso(Number),
    Labels(Number, Number),
}

/// How cells lie in a file of cells alone.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) follow: bool,
    pub(crate) dtype: Option<CellType>,
    pub(crate) offset: Option<u64>,
    pub(crate) order: Option<IndexOrder>,
    pub(crate) endian: Option<Endian>,
}

impl Reading {
    /// The names of those that were given about cells alone.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("dtype", self.dtype.is_some()),
            ("offset", self.offset.is_some()),
            ("order", self.order.is_some()),
            ("endian", self.endian.is_some()),
        ];
        given.into_iter().filter(|given| given.1).map(|given| given.0).collect()
    }
}

impl ArrayOptions {
    pub(crate) fn of(given: Given) -> Result<Self, Failure> {
        let mut given = named("tree", given)?;
        let asked: Vec<&str> =
            ["tolerance", "threshold", "iso", "step"].into_iter().filter(|name| given.contains_key(*name)).collect();
        if asked.len() > 1 {
            let names = asked.join(" and ");
            return Err(Failure::Value(format!(
                "{names}: one of them says when cells count as equal; leave the others out"
            )));
        }
        let steps = |text: &str| {
            let (step, lo) = text.split_once(',').unwrap_or((text, "0"));
            Ok(When::Labels(parsed(step)?, parsed(lo)?))
        };
        let when = [
            take(&mut given, "tolerance", |text| parsed(text).map(When::Tolerance))?,
            take(&mut given, "threshold", |text| parsed(text).map(When::Threshold))?,
            take(&mut given, "iso", |text| parsed(text).map(When::Iso))?,
            take(&mut given, "step", steps)?,
        ];
        let label_table = take(&mut given, "label-table", |path| Ok(PathBuf::from(path)))?;
        let are_labels = take(&mut given, "kind", are_labels)?;
        if label_table.is_some() {
            let changed = asked.iter().find(|name| ["threshold", "step"].contains(*name));
            let other = changed.map(|name| format!("{name}: cells become others, which have no names"));
            let other = other.or((are_labels == Some(false)).then(|| "kind='values': cells are no labels".into()));
            if let Some(other) = other {
                return Err(Failure::Value(format!("label_table: names labels, and {other}; leave one out")));
            }
        }
        let reading = Reading {
            follow: take(&mut given, "follow", yes_or_no)?.unwrap_or(false),
            dtype: take(&mut given, "dtype", parsed)?,
            offset: take(&mut given, "offset", whole)?,
            order: take(&mut given, "order", parsed)?,
            endian: take(&mut given, "endian", parsed)?,
        };
        let mut options = Self {
            computed: Computed::default(),
            threads: None,
            mem_limit: take(&mut given, "mem-limit", orthant_cli::bytes)?.or_else(default_limit),
            nan: take(&mut given, "nan", parsed)?.unwrap_or_default(),
            label_table,
            when: when.into_iter().flatten().next().unwrap_or(When::Exact),
            nodata: take(&mut given, "nodata", parsed)?,
            reading,
        };
        options.threads = divided(&given, &mut options.computed)?;
        Ok(options)
    }

    /// When cells of a type count as one value, and the word of those that hold no data: the one that was given, or the array's own.
    pub(crate) fn predicate(&self, kind: CellType, known: Option<u64>) -> Result<(Predicate, Option<u64>), Failure> {
        let predicate = match self.when {
            When::Exact => Predicate::EXACT,
            When::Tolerance(e) => Predicate::tolerance(kind, e)?,
            When::Threshold(t) => Predicate::threshold(kind, t)?,
            When::Iso(t) => Predicate::iso(kind, t)?,
            When::Labels(step, lo) => Predicate::labels(kind, step, lo)?,
        };
        let predicate = predicate.nan(kind, self.nan)?;
        let held = |number: Number| {
            let reason = format!("cells are {kind}, which does not hold it");
            number.word(kind).ok_or_else(|| wrong("nodata", &number.to_string(), reason))
        };
        let word = self.nodata.map(held).transpose()?.or(known);
        let predicate = word.map_or(Ok(predicate), |word| predicate.nodata(kind, word))?;
        Ok((predicate, word))
    }
}

/// Options of a tree of points.
pub(crate) struct PointsOptions {
    pub(crate) computed: Computed,
    pub(crate) threads: Option<usize>,
    /// Bytes of points, regions and bricks, at most.
    pub(crate) mem_limit: Option<u64>,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) attribute: Option<String>,
}

impl PointsOptions {
    pub(crate) fn of(given: Given) -> Result<Self, Failure> {
        let mut given = named("tree of points", given)?;
        let mut options = Self {
            computed: Computed::default(),
            threads: None,
            mem_limit: take(&mut given, "mem-limit", orthant_cli::bytes)?.or_else(default_limit),
            columns: given.remove("columns").map(|names| columns(&names)),
            attribute: given.remove("attribute"),
        };
        options.threads = divided(&given, &mut options.computed)?;
        Ok(options)
    }
}

/// Sets how a domain is divided, which is all that is left; the number of threads is told beside that.
fn divided(given: &Given, computed: &mut Computed) -> Result<Option<usize>, Failure> {
    let mut tuning = Tuning::default();
    for (name, text) in given {
        let set = if name == "threads" { tuning.set(name, text) } else { computed.set(name, text) };
        set.map_err(|reason| wrong(name, text, reason))?;
    }
    Ok(tuning.threads)
}

/// 80 % of the memory that is available, as on the command line.
fn default_limit() -> Option<u64> {
    orthant_cli::Machine::look().default_limit()
}

/// Options of `run`.
pub(crate) struct RunOptions {
    pub(crate) request: Request,
    /// None: CUDA if it is there.
    pub(crate) backend: Option<BackendKind>,
    pub(crate) device: Option<usize>,
    /// The cells stay on the GPU.
    pub(crate) on_device: bool,
    /// Names of options that a GPU alone understands.
    pub(crate) of_cuda: Vec<&'static str>,
}

impl RunOptions {
    pub(crate) fn of(workload: FieldKind, given: Given) -> Result<Self, Failure> {
        let mut given = named("run", given)?;
        let backend = given.remove("backend").filter(|name| name != "auto");
        let backend = backend.map(|name| {
            let names = || BackendKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            name.parse().map_err(|_| wrong("backend", &name, format!("expected one of auto, {}", names())))
        });
        let (backend, device) = (backend.transpose()?, take(&mut given, "device", whole)?);
        let mut request = Request::new(workload);
        let on_device = take(&mut given, "on-device", yes_or_no)?.unwrap_or(false);
        // What stays on a GPU takes no memory here.
        let usual = || if on_device { None } else { default_limit() };
        request.how.mem_limit = take(&mut given, "mem-limit", orthant_cli::bytes)?.or_else(usual);
        if let Some(path) = given.remove("source") {
            let read = std::fs::read_to_string(&path);
            let text = read.map_err(|source| orthant_cli::Error::File { path: path.into(), source })?;
            request.source = Some(text.into());
        }
        if let Some(text) = given.remove("text") {
            if workload != FieldKind::Formula || request.source.is_some() {
                return Err(wrong(
                    "text",
                    &text,
                    "the text of a formula, as in run(\"formula\", text=\"x^2 + y^2 < 1\")",
                ));
            }
            request.source = Some(text.into());
        }
        if let Some(path) = given.remove("input") {
            let mesh = MeshFormat::of(path.as_ref()).filter(|_| workload == FieldKind::Mesh);
            let points = PointsFormat::of(path.as_ref()).filter(|_| workload == FieldKind::Points);
            request.data = Some(match (mesh, points) {
                (Some(format), _) => format.read(path.as_ref()).map_err(orthant_cli::Error::from)?.into(),
                (_, Some(_)) => {
                    let file = PointsFile::of(path.as_ref()).map_err(orthant_cli::Error::from)?;
                    let file = match given.remove("columns") {
                        Some(names) => file.columns(&columns(&names)),
                        None => file,
                    };
                    let file = given.remove("attribute").map_or(file.clone(), |name| file.attribute(name));
                    file.read().map_err(orthant_cli::Error::from)?.into()
                }
                _ => {
                    let (mesh, points) = (MeshFormat::endings(), PointsFormat::endings());
                    let reason = format!(
                        "the file of a mesh ({mesh}) or of points ({points}), as in run(\"mesh\", input=\"part.stl\") and \
                         run(\"points\", input=\"scan.xyz\")"
                    );
                    return Err(wrong("input", &path, reason));
                }
            });
        }
        if let Some(name) = ["columns", "attribute"].into_iter().find(|name| given.contains_key(*name)) {
            let text = given.remove(name).unwrap_or_default();
            return Err(wrong(name, &text, "of a file of points, as in run(\"points\", input=\"scan.xyz\")"));
        }
        let mut of_cuda = Vec::from_iter(on_device.then_some("on-device"));
        for (name, text) in &given {
            let has = |choices: &[Choice]| choices.iter().any(|choice| choice.name == name);
            let set = if has(Computed::CHOICES) {
                request.computed.set(name, text)
            } else if has(Kept::CHOICES) {
                request.how.kept.set(name, text)
            } else if has(Tuning::CHOICES) {
                request.how.tuning.set(name, text)
            } else {
                of_cuda.extend(CudaTuning::CHOICES.iter().map(|choice| choice.name).find(|own| own == name));
                request.how.cuda.get_or_insert_default().set(name, text)
            };
            set.map_err(|reason| wrong(name, text, reason))?;
        }
        if on_device && request.how.kept.keep != Keep::Dense {
            let reason = format!("keep {} keeps no array of all cells; leave one of both out", request.how.kept.keep);
            return Err(wrong("on-device", "True", reason));
        }
        Ok(Self { request, backend, device: device.map(|device| device as usize), on_device, of_cuda })
    }
}
