//! What was learnt about a device, kept between runs: fits and tuned schemes, one JSON file per device.
//!
//! The folder is `$ORTHANT_DATA_DIR`, else `$XDG_DATA_HOME/orthant`, else `~/.local/share/orthant`. A file is written beside
//! its place and renamed, so that it is always whole; a version that this program does not know is an error, not a guess.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cpu::Control;
use crate::error::Error;
use crate::model::observed::Terms;
use crate::output::Staged;
use crate::request::Request;

/// The version of these files.
const VERSION: u32 = 2;

/// What constants depend on beside the device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::cli) struct Setting {
    pub(super) workload: String,
    /// The hash of the CUDA source of a `kernel` field.
    pub(super) source: Option<String>,
    pub(super) k: u64,
    pub(super) precision: String,
    pub(super) arithmetic: String,
    pub(super) keep: String,
}

impl Setting {
    pub(in crate::cli) fn of(request: &Request, k: usize) -> Self {
        Self {
            workload: request.workload.to_string(),
            source: request.source_hash(),
            k: k as u64,
            precision: request.precision.to_string(),
            arithmetic: request.arithmetic.to_string(),
            keep: request.how.keep.to_string(),
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
pub(super) struct HeldOut {
    /// Cells on axis 0.
    pub(super) n: u64,
    /// Its runs.
    pub(super) runs: usize,
    /// |predicted − measured|/measured, the median.
    pub(super) median: f64,
    /// The largest.
    pub(super) worst: f64,
}

/// The constants of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Fitted {
    #[serde(flatten)]
    pub(super) setting: Setting,
    /// In seconds.
    pub(in crate::cli) constants: Terms,
    /// Runs that they rest on.
    pub(super) runs: usize,
    /// Root mean square of ln t − ln f.
    pub(super) rms: f64,
    pub(super) held_out: Option<HeldOut>,
}

/// What a scheme is tuned for: one field over one domain, and who divides it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Problem {
    #[serde(flatten)]
    setting: Setting,
    size: Vec<u32>,
    domain: Vec<[f64; 2]>,
    dwell: Option<u32>,
    strategy: String,
    /// Whatever else can change what a run takes, by name.
    choices: Vec<String>,
}

impl Problem {
    /// What a request asks for in K dimensions.
    ///
    /// # Errors
    /// As [`Request::domain`].
    pub(in crate::cli) fn of<const K: usize>(request: &Request) -> Result<Self, Error> {
        let domain = request.domain::<K>()?;
        let how = &request.how;
        let mut choices = vec![
            format!("sample {}", domain.sample()),
            format!("explore {}", request.rule(K)),
            format!("order {}", how.order),
            format!("curve {}", request.curve),
            format!("insertion {}", how.insertion),
            format!("cell {}", how.cell),
            format!("table {}", how.table),
            format!("loop {}", how.ask_loop),
            format!("launch {}", how.dp_launch),
        ];
        choices.extend(how.threads.map(|threads| format!("threads {threads}")));
        choices.extend(how.max_kernels.map(|kernels| format!("kernels {kernels}")));
        choices.extend(how.dp_budget.map(|budget| format!("budget {budget}")));
        Ok(Self {
            setting: Setting::of(request, K),
            size: domain.size().to_vec(),
            domain: domain.window().to_vec(),
            dwell: request.dwell(),
            strategy: how.strategy.to_string(),
            choices,
        })
    }
}

/// The best scheme that was measured for a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Tuned {
    #[serde(flatten)]
    pub(super) problem: Problem,
    pub(in crate::cli) g: u32,
    pub(in crate::cli) r: u32,
    #[serde(rename = "B")]
    pub(in crate::cli) b: u32,
    pub(in crate::cli) scheme: String,
    pub(in crate::cli) block: Option<[u32; 3]>,
    /// The median of its runs.
    pub(in crate::cli) seconds: f64,
}

/// What a file holds: entries, of which a new one takes the place of an old one for the same thing.
pub(super) trait Entry: Serialize + DeserializeOwned {
    /// The folder of such files.
    const FOLDER: &'static str;
    /// True if both are about the same thing.
    fn same(&self, other: &Self) -> bool;
}

impl Entry for Fitted {
    const FOLDER: &'static str = "fits";
    fn same(&self, other: &Self) -> bool {
        self.setting == other.setting
    }
}

impl Entry for Tuned {
    const FOLDER: &'static str = "tuned";
    fn same(&self, other: &Self) -> bool {
        self.problem == other.problem
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Page<T> {
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
pub(in crate::cli) fn fitted(backend: &str, device: &str, setting: &Setting) -> Result<Option<Terms>, Error> {
    let Some(folder) = folder() else { return Ok(None) };
    let entries = read::<Fitted>(&path::<Fitted>(&folder, backend, device))?;
    Ok(entries.into_iter().find(|fitted| fitted.setting == *setting).map(|fitted| fitted.constants))
}

/// The best scheme that was measured for a problem on a device; None if it was not tuned.
///
/// # Errors
/// As [`fitted`]; [`Error::Input`] if the scheme is none.
pub(in crate::cli) fn tuned(backend: &str, device: &str, problem: &Problem) -> Result<Option<Tuned>, Error> {
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
pub(super) fn keep<T: Entry>(backend: &str, device: &str, new: Vec<T>) -> Result<PathBuf, Error> {
    let folder = folder()
        .ok_or_else(|| Error::Input("no folder for what was learnt: set ORTHANT_DATA_DIR, or use --dry-run".into()))?;
    let path = path::<T>(&folder, backend, device);
    let mut entries = read::<T>(&path)?;
    entries.retain(|old| !new.iter().any(|new| new.same(old)));
    entries.extend(new);
    let parent = folder.join(T::FOLDER);
    std::fs::create_dir_all(&parent).map_err(|source| Error::File { path: parent, source })?;
    let page = Page {
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

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::File { path: path.to_owned(), source }),
    };
    let wrong = |why: String| Error::Input(format!("{}: {why}; remove it, and fit or tune again", path.display()));
    let version: Version = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if version.version != VERSION {
        return Err(wrong(format!("key 'version' is {}: this version reads {VERSION}", version.version)));
    }
    serde_json::from_str::<Page<T>>(&text).map(|page| page.entries).map_err(|error| wrong(error.to_string()))
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

    #[test]
    fn keys_are_plain_names() {
        assert_eq!(key("cuda", "NVIDIA H200"), "cuda-nvidia-h200");
        assert_eq!(key("cpu", "AMD EPYC (Zen 5) @ 2.0 GHz/"), "cpu-amd-epyc-zen-5-2-0-ghz");
    }
}
