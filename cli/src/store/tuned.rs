//! The best schemes that were measured on a device.

use std::collections::BTreeMap;

use orthant::backend::CudaTuning;
use orthant::choice::ChoiceValue;
use orthant::{Request, StrategyKind};
use serde::{Deserialize, Serialize};

use super::file::{Entry, StoreFile, entries};
use super::fitted::Setting;
use crate::error::Error;

/// What a scheme is tuned for: everything that a run is asked for, but what tuning seeks. Keys and values, as texts; what is
/// left open is not among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked(BTreeMap<String, String>);

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

impl Asked {
    /// What a request asks for in K dimensions.
    ///
    /// # Errors
    /// As [`Request::domain`] and [`Request::options`].
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
        let options = request.options()?;
        put("precision", Some(options.precision.to_string()));
        put("arithmetic", Some(options.arithmetic.to_string()));
        put("value", options.value.map(|value| value.to_string()));
        put("band", options.band.map(|band| band.to_string()));
        Ok(Self(keys))
    }

    /// From version 2, which left out some of what a run can be tuned by: those choices were as they are by default.
    fn of_version_2(old: OldAsked) -> Self {
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

/// The same as version 2 wrote it.
#[derive(Debug, Deserialize)]
struct OldAsked {
    #[serde(flatten)]
    setting: Setting,
    size: Vec<u32>,
    domain: Vec<[f64; 2]>,
    dwell: Option<u32>,
    strategy: String,
    choices: Vec<String>,
}

/// The best scheme that was measured for what was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tuned {
    pub(crate) asked: Asked,
    /// Who carries it out; None in older files: the strategy that was asked for.
    #[serde(default)]
    pub(crate) strategy: Option<StrategyKind>,
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
    asked: OldAsked,
    g: u32,
    r: u32,
    #[serde(rename = "B")]
    b: u32,
    scheme: String,
    block: Option<[u32; 3]>,
    seconds: f64,
}

impl Entry for Tuned {
    const FOLDER: &'static str = "tuned";
    fn same(&self, other: &Self) -> bool {
        self.asked == other.asked
    }
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>> {
        let new = |OldTuned { asked, g, r, b, scheme, block, seconds }| Self {
            asked: Asked::of_version_2(asked),
            strategy: None,
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

/// The best scheme that was measured for what is asked on a device; None if it was not tuned.
///
/// # Errors
/// As [`entries`]; [`Error::Input`] if the scheme is none.
pub(crate) fn tuned(backend: &str, device: &str, asked: &Asked) -> Result<Option<Tuned>, Error> {
    let (entries, path) = entries::<Tuned>(backend, device)?;
    let Some(tuned) = entries.into_iter().find(|tuned| tuned.asked == *asked) else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::Computed;
    use orthant::backend::{Kept, Tuning};
    use orthant::choice::Choice;
    use orthant::field::{DataValue, FieldKind};
    use orthant::mesh::Mesh;

    /// Every choice but what is sought tells what is asked apart.
    #[test]
    fn no_choice_is_forgotten() {
        let of = |request: &Request| Asked::of::<2>(request).unwrap();
        let plain = Request::new(orthant::field::FieldKind::Mandelbrot);
        // This field has no other dimension, and is not made of data.
        for choice in Computed::CHOICES.iter().filter(|choice| !["dim", "value", "band"].contains(&choice.name)) {
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

    #[test]
    fn what_a_cell_of_data_is_worth_is_not_forgotten() {
        let mesh = Request::new(FieldKind::Mesh).data(Mesh::cuboid([0.0; 3], [1.0; 3]));
        let of = |value: Option<DataValue>| Asked::of::<3>(&mesh.clone().value(value)).unwrap();
        assert_ne!(of(Some(DataValue::Surface)), of(None));
        assert_eq!(of(Some(DataValue::Inside)), of(None));
        let of_band = |band: &str| {
            let mut request = mesh.clone().value(Some(DataValue::Distance));
            request.computed.set("band", band).unwrap();
            Asked::of::<3>(&request).unwrap()
        };
        assert_eq!(of_band("3"), of(Some(DataValue::Distance)));
        assert_ne!(of_band("5"), of_band("3"));
    }

    /// A value that is not the default, nor what an open one comes to: the first of the names is that.
    fn other(choice: &Choice) -> &'static str {
        let default = (choice.default)();
        let names = (choice.names)();
        let texts = names.into_iter().rev().chain(["3", "16x16", "64", "-2:2,-2:2", "merge-path"]);
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
        let request = request.explore(Some(orthant::rule::RuleKind::Border));
        let mut asked = request.clone();
        asked.how.tuning.threads = Some(2);
        assert_eq!((tuned[0].g, &tuned[0].asked), (8, &Asked::of::<2>(&asked).unwrap()));
        assert_ne!(tuned[0].asked, Asked::of::<2>(&request).unwrap());
    }
}
