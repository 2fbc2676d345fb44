//! What was learnt about a device, kept between runs: fits and tuned schemes, one JSON file per device.
//!
//! The folder is `$ORTHANT_DATA_DIR`, else `$XDG_DATA_HOME/orthant`, else `~/.local/share/orthant`. A file is written beside
//! its place and renamed, so that it is always whole; a version that this program does not know is an error, not a guess.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use orthant::backend::CudaTuning;
use orthant::choice::ChoiceValue;
use orthant::model::observed::Terms;
use orthant::{Computation, Control, Keep, Request};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::output::Staged;

/// The version of these files; those of version 2 are read too.
const VERSION: u32 = 3;

/// What constants depend on beside the device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Setting {
    workload: String,
    /// The hash of the CUDA source of a `kernel` field.
    source: Option<String>,
    k: usize,
    precision: String,
    arithmetic: String,
    keep: String,
}

impl Setting {
    /// Of what is computed and what is kept.
    pub(crate) fn of(computation: &Computation, keep: Keep) -> Self {
        Self {
            workload: computation.workload.clone(),
            source: computation.source.clone(),
            k: computation.k,
            precision: computation.precision.to_string(),
            arithmetic: computation.arithmetic.to_string(),
            keep: keep.to_string(),
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { workload, source, k, precision, arithmetic, keep } = self;
        let source = source.as_ref().map_or(String::new(), |hash| format!(" {hash}"));
        write!(f, "{workload}{source}, k {k}, {precision} {arithmetic}, keep {keep}")
    }
}

/// Errors on the runs of one size that a fit was made without.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldOut {
    /// Cells on axis 0.
    pub(crate) n: u64,
    /// Its runs.
    pub(crate) runs: usize,
    /// |predicted − measured|/measured, the median.
    pub(crate) median: f64,
    /// The largest.
    pub(crate) worst: f64,
}

/// The constants of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fitted {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// In seconds.
    pub(crate) constants: Terms,
    /// Runs that they rest on.
    pub(crate) runs: usize,
    /// Root mean square of ln t − ln f.
    pub(crate) rms: f64,
    pub(crate) held_out: Option<HeldOut>,
}

/// What a scheme is tuned for: everything that a run is asked for, but what tuning seeks. Keys and values, as texts; what is
/// left open is not among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Problem(BTreeMap<String, String>);

/// What tuning seeks.
const SOUGHT: [&str; 5] = ["g", "r", "B", "scheme", "block"];

/// The names that version 2 had for choices.
const OLD_NAMES: [(&str, &str); 6] = [
    ("order", "explore-order"),
    ("loop", "ask-loop"),
    ("launch", "dp-launch"),
    ("kernels", "max-kernels"),
    ("budget", "dp-budget"),
    ("scheme", "scheme"),
];

impl Problem {
    /// What a request asks for in K dimensions.
    ///
    /// # Errors
    /// As [`Request::domain`].
    pub(crate) fn of<const K: usize>(request: &Request) -> Result<Self, Error> {
        let domain = request.domain::<K>()?;
        let how = &request.how;
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        let mut put = |name: &str, value: Option<String>| {
            if let (Some(value), false) = (value, SOUGHT.contains(&name)) {
                keys.insert(name.to_owned(), value);
            }
        };
        for (name, value) in request.computed.entries() {
            put(name, value);
        }
        for (name, value) in how.kept.entries().into_iter().chain(how.tuning.entries()).chain(how.on_cuda().entries()) {
            put(name, value);
        }
        // What was left open is what it comes to.
        put("workload", Some(request.workload.to_string()));
        put("source", request.source_hash());
        put("dim", Some(K.to_string()));
        put("size", domain.size().to_vec().write());
        put("domain", domain.window().to_vec().write());
        put("sample", Some(domain.sample().to_string()));
        put("explore", Some(request.rule(K).to_string()));
        put("dwell", request.dwell_cap().map(|dwell| dwell.to_string()));
        Ok(Self(keys))
    }

    /// From version 2, which left out some of what a run can be tuned by: those choices were as they are by default.
    fn of_version_2(old: OldProblem) -> Self {
        let defaults = CudaTuning::default().entries().into_iter().filter_map(|(name, value)| Some((name, value?)));
        let mut keys: BTreeMap<String, String> =
            defaults.filter(|(name, _)| !SOUGHT.contains(name)).map(|(name, value)| (name.to_owned(), value)).collect();
        let Setting { workload, source, k, precision, arithmetic, keep } = old.setting;
        let mut put = |name: &str, value: String| {
            keys.insert(name.to_owned(), value);
        };
        for choice in &old.choices {
            let (name, value) = choice.split_once(' ').unwrap_or((choice, ""));
            let name = OLD_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
            put(name, value.to_owned());
        }
        let texts = [
            ("workload", Some(workload)),
            ("source", source),
            ("dim", Some(k.to_string())),
            ("precision", Some(precision)),
            ("arithmetic", Some(arithmetic)),
            ("keep", Some(keep)),
            ("size", old.size.write()),
            ("domain", old.domain.write()),
            ("dwell", old.dwell.map(|dwell| dwell.to_string())),
            ("strategy", Some(old.strategy)),
        ];
        texts.into_iter().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| put(name, value));
        Self(keys)
    }
}

/// A problem as version 2 wrote it.
#[derive(Debug, Deserialize)]
struct OldProblem {
    #[serde(flatten)]
    setting: Setting,
    size: Vec<u32>,
    domain: Vec<[f64; 2]>,
    dwell: Option<u32>,
    strategy: String,
    choices: Vec<String>,
}

/// The best scheme that was measured for a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tuned {
    pub(crate) problem: Problem,
    pub(crate) g: u32,
    pub(crate) r: u32,
    #[serde(rename = "B")]
    pub(crate) b: u32,
    pub(crate) scheme: String,
    pub(crate) block: Option<[u32; 3]>,
    /// The median of its runs.
    pub(crate) seconds: f64,
}

/// As version 2 wrote it.
#[derive(Debug, Deserialize)]
struct OldTuned {
    #[serde(flatten)]
    problem: OldProblem,
    g: u32,
    r: u32,
    #[serde(rename = "B")]
    b: u32,
    scheme: String,
    block: Option<[u32; 3]>,
    seconds: f64,
}

/// What a file holds: entries, of which a new one takes the place of an old one for the same thing.
pub(crate) trait Entry: Serialize + DeserializeOwned {
    /// The folder of such files.
    const FOLDER: &'static str;
    /// True if both are about the same thing.
    fn same(&self, other: &Self) -> bool;
    /// The entries of a page of version 2.
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>>;
}

impl Entry for Fitted {
    const FOLDER: &'static str = "fits";
    fn same(&self, other: &Self) -> bool {
        self.setting == other.setting
    }
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>> {
        serde_json::from_str::<StoreFile<Self>>(text).map(|page| page.entries)
    }
}

impl Entry for Tuned {
    const FOLDER: &'static str = "tuned";
    fn same(&self, other: &Self) -> bool {
        self.problem == other.problem
    }
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>> {
        let new = |OldTuned { problem, g, r, b, scheme, block, seconds }| Self {
            problem: Problem::of_version_2(problem),
            g,
            r,
            b,
            scheme,
            block,
            seconds,
        };
        serde_json::from_str::<StoreFile<OldTuned>>(text).map(|page| page.entries.into_iter().map(new).collect())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StoreFile<T> {
    version: u32,
    orthant: String,
    backend: String,
    device: String,
    entries: Vec<T>,
}

/// The constants for a setting on a device; None if nothing was fitted.
///
/// # Errors
/// [`Error::Input`] if a file is there and cannot be understood.
pub(crate) fn fitted(backend: &str, device: &str, setting: &Setting) -> Result<Option<Terms>, Error> {
    let Some(folder) = folder() else { return Ok(None) };
    let entries = read::<Fitted>(&path::<Fitted>(&folder, backend, device))?;
    Ok(entries.into_iter().find(|fitted| fitted.setting == *setting).map(|fitted| fitted.constants))
}

/// The best scheme that was measured for a problem on a device; None if it was not tuned.
///
/// # Errors
/// As [`fitted`]; [`Error::Input`] if the scheme is none.
pub(crate) fn tuned(backend: &str, device: &str, problem: &Problem) -> Result<Option<Tuned>, Error> {
    let Some(folder) = folder() else { return Ok(None) };
    let path = path::<Tuned>(&folder, backend, device);
    let Some(tuned) = read::<Tuned>(&path)?.into_iter().find(|tuned| tuned.problem == *problem) else {
        return Ok(None);
    };
    let Tuned { g, r, b, seconds, .. } = tuned;
    if g == 0 || r < 2 || b == 0 || !(seconds.is_finite() && seconds > 0.0) {
        return Err(Error::Input(format!(
            "{}: g {g}, r {r}, B {b} in {seconds} s is no measured scheme; remove the file, and tune again",
            path.display()
        )));
    }
    Ok(Some(tuned))
}

/// Adds entries to the file of a device; says where it is.
///
/// # Errors
/// [`Error::Input`] if there is no folder for it or a file there cannot be understood, [`Error::File`].
pub(crate) fn keep<T: Entry>(backend: &str, device: &str, new: Vec<T>) -> Result<PathBuf, Error> {
    let folder = folder()
        .ok_or_else(|| Error::Input("no folder for what was learnt: set ORTHANT_DATA_DIR, or use --dry-run".into()))?;
    let path = path::<T>(&folder, backend, device);
    let mut entries = read::<T>(&path)?;
    entries.retain(|old| !new.iter().any(|new| new.same(old)));
    entries.extend(new);
    let parent = folder.join(T::FOLDER);
    std::fs::create_dir_all(&parent).map_err(|source| Error::File { path: parent, source })?;
    let page = StoreFile {
        version: VERSION,
        orthant: env!("CARGO_PKG_VERSION").to_owned(),
        backend: backend.to_owned(),
        device: device.to_owned(),
        entries,
    };
    Staged::new(&path, true)?.finish(&Control::default(), |out| {
        serde_json::to_writer_pretty(&mut *out, &page)?;
        out.write_all(b"\n")
    })?;
    Ok(path)
}

fn read<T: Entry>(path: &Path) -> Result<Vec<T>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::File { path: path.to_owned(), source }),
    };
    let wrong = |why: String| Error::Input(format!("{}: {why}; remove it, and fit or tune again", path.display()));
    let version: Version = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let entries = match version.version {
        VERSION => serde_json::from_str::<StoreFile<T>>(&text).map(|page| page.entries),
        2 => T::of_version_2(&text),
        other => return Err(wrong(format!("key 'version' is {other}: this version reads 2 and {VERSION}"))),
    };
    entries.map_err(|error| wrong(error.to_string()))
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn path<T: Entry>(folder: &Path, backend: &str, device: &str) -> PathBuf {
    folder.join(T::FOLDER).join(format!("{}.json", key(backend, device)))
}

/// Backend and device as a file's name: letters, digits and dashes.
fn key(backend: &str, device: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let key: String = format!("{backend} {device}").chars().map(plain).collect();
    key.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("ORTHANT_DATA_DIR").or_else(|| {
        let base = variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")));
        base.map(|base| base.join("orthant"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::Computed;
    use orthant::backend::{Kept, Tuning};
    use orthant::choice::Choice;

    /// Every choice but what is sought tells problems apart.
    #[test]
    fn no_choice_is_forgotten() {
        let of = |request: &Request| Problem::of::<2>(request).unwrap();
        let plain = Request::new(orthant::field::FieldKind::Mandelbrot);
        // This field has no other dimension.
        for choice in Computed::CHOICES.iter().filter(|choice| choice.name != "dim") {
            let mut request = plain.clone();
            request.computed.set(choice.name, other(choice)).unwrap();
            assert_eq!(of(&request) != of(&plain), !SOUGHT.contains(&choice.name), "{}", choice.name);
        }
        for choice in Kept::CHOICES.iter().chain(Tuning::CHOICES).chain(CudaTuning::CHOICES) {
            let mut request = plain.clone();
            let (how, value) = (&mut request.how, other(choice));
            let known = how.kept.set(choice.name, value).is_ok() || how.tuning.set(choice.name, value).is_ok();
            if !known {
                how.cuda.get_or_insert_default().set(choice.name, value).unwrap();
            }
            assert_eq!(of(&request) != of(&plain), !SOUGHT.contains(&choice.name), "{}", choice.name);
        }
    }

    /// A value that is not the default, nor what an open one comes to: the first of the names is that.
    fn other(choice: &Choice) -> &'static str {
        let default = (choice.default)();
        let names = (choice.names)();
        let texts = names.into_iter().rev().chain(["3", "16x16", "64", "-2:2,-2:2"]);
        let mut fit = texts.filter(|text| (choice.check)(text).is_ok() && Some((*text).to_owned()) != default);
        fit.next().expect("some value fits")
    }

    /// A tuned scheme as 0.1 kept it is found again.
    #[test]
    fn version_2_is_read() {
        let old = r#"{"version": 2, "orthant": "0.1.0", "backend": "cpu", "device": "toy", "entries": [{
            "workload": "mandelbrot", "source": null, "k": 2, "precision": "f32", "arithmetic": "fused", "keep": "dense",
            "size": [64, 64], "domain": [[-1.5, 0.5], [-1.0, 1.0]], "dwell": 512, "strategy": "ask",
            "choices": ["sample corner", "explore border", "order scattered", "curve morton", "insertion stable", "cell u16",
                "table scalars", "loop lean", "launch region", "threads 2"],
            "g": 8, "r": 2, "B": 4, "scheme": "mbr", "block": null, "seconds": 0.001}]}"#;
        let tuned = Tuned::of_version_2(old).unwrap();
        let request = Request::new(orthant::field::FieldKind::Mandelbrot).size(Some(vec![64]));
        let mut asked = request.clone();
        asked.how.tuning.threads = Some(2);
        assert_eq!((tuned[0].g, &tuned[0].problem), (8, &Problem::of::<2>(&asked).unwrap()));
        assert_ne!(tuned[0].problem, Problem::of::<2>(&request).unwrap());
    }

    #[test]
    fn keys_are_plain_names() {
        assert_eq!(key("cuda", "NVIDIA H200"), "cuda-nvidia-h200");
        assert_eq!(key("cpu", "AMD EPYC (Zen 5) @ 2.0 GHz/"), "cpu-amd-epyc-zen-5-2-0-ghz");
    }
}
