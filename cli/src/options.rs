//! The choices of a run as options. Names are fixed by the project's contract; every option has an `ORTHANT_*` variable.
//!
//! An option of a choice is no list of its own: it is made from the library's [`Choice`], so that a choice which is added
//! there is an option here, an axis of sweeps and part of what a tuned scheme is kept for.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use orthant::backend::{CudaTuning, Kept, Tuning};
use orthant::choice::{Choice, number};
use orthant::field::FieldKind;
use orthant::{BackendKind, Computed, How, Request, Target};

use crate::error::Error;

/// A value parser over the names of a registry.
macro_rules! one_of {
    ($Kind:ty) => {
        clap::builder::TypedValueParser::map(
            clap::builder::PossibleValuesParser::new(<$Kind>::ALL.iter().map(|kind| kind.name())),
            |name| name.parse::<$Kind>().expect("clap lets only listed names through"),
        )
    };
}
pub(crate) use one_of;

/// The option of a choice.
fn option(choice: &'static Choice) -> Arg {
    let names = (choice.names)();
    let mut about = choice.about.trim().to_owned();
    if let (Some(default), false) = ((choice.default)(), about.contains("[default")) {
        about += &format!(" [default: {default}]");
    }
    let parser: ValueParser = match names[..] {
        [] => ValueParser::from(move |text: &str| (choice.check)(text).map(|()| text.to_owned())),
        _ => PossibleValuesParser::new(names).into(),
    };
    let variable = format!("ORTHANT_{}", choice.name.to_uppercase().replace('-', "_"));
    let mut option = Arg::new(choice.name).help(about).value_parser(parser).env(variable).allow_hyphen_values(true);
    option = if choice.name.len() == 1 {
        option.value_name(choice.name.to_uppercase())
    } else {
        option.long(choice.name).value_name(choice.form.to_uppercase().replace(' ', "_"))
    };
    match choice.short {
        Some(letter) => option.short(letter),
        None => option,
    }
}

/// Options of choices that were given, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(Vec<(&'static str, String)>);

impl Given {
    fn read(matches: &ArgMatches, choices: &'static [Choice]) -> Self {
        let given = |choice: &Choice| Some((choice.name, matches.get_one::<String>(choice.name)?.clone()));
        Self(choices.iter().filter_map(given).collect())
    }

    /// The text that an option was given.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    /// The names of what was given.
    fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    fn apply(&self, mut set: impl FnMut(&str, &str) -> Result<(), String>) -> Result<(), Error> {
        self.0.iter().try_for_each(|(name, text)| {
            set(name, text).map_err(|reason| Error::Input(format!("--{name} {text}: {reason}")))
        })
    }
}

/// Declares a group of options from a group of choices.
macro_rules! group {
    ($(#[$doc:meta])* $Group:ident of $choices:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub(crate) struct $Group(pub(crate) Given);

        impl Args for $Group {
            fn augment_args(command: Command) -> Command {
                command.args($choices.iter().map(option))
            }
            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $Group {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(Given::read(matches, $choices)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                Self::from_arg_matches(matches).map(|group| *self = group)
            }
        }
    };
}

group!(
    /// What is computed.
    ComputedOptions of Computed::CHOICES
);
group!(
    /// What is kept.
    KeptOptions of Kept::CHOICES
);
group!(
    /// Tuning on every backend.
    TuningOptions of Tuning::CHOICES
);
group!(
    /// Tuning of a GPU.
    CudaOptions of CudaTuning::CHOICES
);

/// A backend, or None for the first that can be used.
pub(crate) type OrAuto = Option<BackendKind>;

/// The parser of `--backend`.
pub(crate) fn or_auto() -> impl TypedValueParser<Value = OrAuto> {
    let names = BackendKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(std::iter::once("auto").chain(names)).map(|name| name.parse().ok())
}

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// What a cell is worth
    #[arg(value_parser = one_of!(FieldKind))]
    pub(crate) workload: FieldKind,
    #[command(flatten)]
    pub(crate) computed: ComputedOptions,
    /// Let the cost model choose g, r, B, and the scheme if it is not given, from a coarse sample of the field
    #[arg(long, conflicts_with_all = ["g", "r", "B"], env = "ORTHANT_AUTO_SCHEME")]
    pub(crate) auto_scheme: bool,
    /// Run so many times after a first time that does not count, and report the median [default: 1, which counts]
    #[arg(long, value_parser = times, value_name = "N", env = "ORTHANT_REPEAT")]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// The CUDA source of a `kernel` field
    #[arg(long, value_name = "FILE.cuh", env = "ORTHANT_SOURCE")]
    pub(crate) source: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: KeptOptions,
    #[command(flatten)]
    pub(crate) tuning: TuningOptions,
    /// Where to run; auto takes CUDA if it is there, else the CPU, and says why
    #[arg(long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND")]
    pub(crate) backend: OrAuto,
    /// Which GPU
    #[arg(long, default_value_t = 0, value_name = "NUMBER", env = "ORTHANT_DEVICE")]
    pub(crate) device: usize,
    #[command(flatten)]
    pub(crate) cuda: CudaOptions,
    /// The most memory for results and tables: bytes, or 512MiB, 8G [default: 80 % of what is available]
    #[arg(long, value_parser = bytes, value_name = "BYTES", env = "ORTHANT_MEM_LIMIT")]
    pub(crate) mem_limit: Option<u64>,
    /// Write the field: .png (2-D or a slice) or .npy; may be repeated
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Vec<PathBuf>,
    /// Write the subdivision drawn over the field
    #[arg(long, value_name = "PATH.png", env = "ORTHANT_OVERLAY")]
    pub(crate) overlay: Option<PathBuf>,
    /// Fix an axis for pictures of k >= 3; may be repeated [default: the middle]
    #[arg(long, value_parser = slice, value_name = "AXIS=INDEX")]
    pub(crate) slice: Vec<(usize, u32)>,
    /// Write the run report
    #[arg(long, value_name = "PATH.json", env = "ORTHANT_REPORT")]
    pub(crate) report: Option<PathBuf>,
    /// Overwrite existing outputs
    #[arg(long)]
    pub(crate) force: bool,
}

impl RunOptions {
    /// The request that the options make, with `limit` bytes of memory unless they say otherwise.
    ///
    /// # Errors
    /// [`Error::File`] if a source cannot be read.
    pub(crate) fn request(&self, limit: Option<u64>) -> Result<Request, Error> {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path);
            text.map(Arc::from).map_err(|source| Error::File { path: path.clone(), source })
        };
        let mut request = request(self.workload, &self.computed)?;
        request.source = self.source.as_ref().map(read).transpose()?;
        let mut how = How::default();
        self.kept.0.apply(|name, text| how.kept.set(name, text))?;
        self.tuning.0.apply(|name, text| how.tuning.set(name, text))?;
        self.cuda.0.apply(|name, text| how.cuda.get_or_insert_default().set(name, text))?;
        how.mem_limit = self.mem_limit.or(limit);
        request.how = how;
        Ok(request)
    }

    /// Checks that the backend understands what was given.
    ///
    /// # Errors
    /// [`Error::Unavailable`] names every option that a GPU alone understands.
    pub(crate) fn understood_by(&self, target: &Target) -> Result<(), Error> {
        match (target.kind(), &self.cuda.0.names()[..]) {
            (BackendKind::Cuda, _) | (_, []) => Ok(()),
            (kind, names) => Err(Error::Unavailable(format!(
                "--{}: understood by a GPU alone, and this runs on the backend {kind}; leave out, or use --backend cuda",
                names.join(", --")
            ))),
        }
    }
}

/// A request of what is computed alone.
pub(crate) fn request(workload: FieldKind, computed: &ComputedOptions) -> Result<Request, Error> {
    let mut request = Request::new(workload);
    computed.0.apply(|name, text| request.computed.set(name, text))?;
    Ok(request)
}

/// A number of at least 1.
fn times(text: &str) -> Result<NonZeroUsize, String> {
    number(text, 1..=u32::MAX.into()).map(|times| NonZeroUsize::new(times as usize).expect("at least 1"))
}

/// A list of block shapes.
pub(crate) fn block(text: &str) -> Result<[u32; 3], String> {
    orthant::choice::ChoiceValue::read(text, 0..=u64::MAX)
}

/// `axis=index`.
fn slice(text: &str) -> Result<(usize, u32), String> {
    let (axis, index) = text.split_once('=').ok_or_else(|| format!("'{text}' is not axis=index, as in 2=128"))?;
    let axis = axis.trim().parse().map_err(|_| format!("'{axis}' is not an axis number"))?;
    Ok((axis, number(index, 0..=u32::MAX.into())? as u32))
}

/// A number of bytes, with an optional unit: K, M, G, T (binary), iB or B after it.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a number of bytes such as 1073741824, 512MiB or 8G");
    let lower = text.trim().to_ascii_lowercase();
    let bare = lower.trim_end_matches('b').trim_end_matches('i');
    let (digits, shift) = match bare.char_indices().last() {
        Some((at, 'k')) => (&bare[..at], 10),
        Some((at, 'm')) => (&bare[..at], 20),
        Some((at, 'g')) => (&bare[..at], 30),
        Some((at, 't')) => (&bare[..at], 40),
        _ => (bare, 0),
    };
    let value: u64 = digits.trim().parse().map_err(|_| wrong())?;
    value.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_slices() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!((bytes("8G"), bytes("7")), (Ok(8 << 30), Ok(7)));
        assert!(bytes("99999999999T").is_err() && bytes("G").is_err() && bytes("").is_err() && bytes("8x").is_err());
        assert_eq!(slice("2=2^3"), Ok((2, 8)));
        assert!(slice("2").is_err() && slice("x=1").is_err());
    }
}
