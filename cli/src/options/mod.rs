//! The choices of a run as options. Names are fixed by the project's contract; every option has an `ORTHANT_*` variable.

mod choices;
mod devices;
mod formula;
mod heading;
mod input;
mod output;
mod points;
mod predicate;
mod spacing;
mod values;
mod workload;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use orthant::field::{DataValue, FieldKind};
use orthant::{BackendKind, CellType, How, Keep, Mapping, Request, StrategyKind, Target};

use crate::error::Error;
use crate::output::tree::is_tree;

pub(crate) use choices::{
    CellOptions, ComputedOptions, CudaOptions, DividedOptions, Given, KeptOptions, OF_FIELDS, SoughtOptions,
    ThreadsOptions, TuningOptions,
};
pub(crate) use devices::Devices;
pub(crate) use formula::FormulaOptions;
pub(crate) use input::{CellKind, InputOptions, ReadingOptions, formats};
pub(crate) use output::OutputOptions;
pub(crate) use points::{PointsOptions, WRONG_FOR_LISTS};
pub(crate) use spacing::spacing_of;
pub use values::bytes;
pub(crate) use values::{block, named, one_of, seconds, times, workload};
pub(crate) use workload::{field_or_array, what_reads};

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
    /// What to divide
    ///
    /// A field, which says what a cell is worth, or an array, which --input names.
    #[arg(value_parser = field_or_array())]
    pub(crate) workload: FieldKind,
    #[command(flatten)]
    pub(crate) computed: ComputedOptions,
    #[command(flatten)]
    pub(crate) formula: FormulaOptions,
    /// Let the cost model choose strategy, scheme, g, r, B
    ///
    /// They come from a coarse sample of the field, or from what `model tune` found. A strategy or a scheme that is given stays; without
    /// both, where what `model fit` found says that dividing does not pay, the run is exhaustive.
    #[arg(
        long, value_parser = BoolishValueParser::new(), conflicts_with_all = ["g", "r", "B"], env = "ORTHANT_AUTO_SCHEME",
        help_heading = heading::WHAT
    )]
    pub(crate) auto_scheme: bool,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) how: HowOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
}

/// Options of whatever runs: how and where.
#[derive(Debug, Default, Args)]
pub(crate) struct HowOptions {
    /// The CUDA source of a `kernel` field, or the text of a `formula`, or a .vm model
    #[arg(long, value_name = "FILE", env = "ORTHANT_SOURCE", help_heading = heading::WHAT, hide_short_help = true)]
    pub(crate) source: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: KeptOptions,
    /// Where to run: auto, cpu, cuda
    ///
    /// What auto takes is CUDA if it is there, else the CPU; -v says why. A run that the CPU ends before a GPU is open stays there.
    #[arg(
        long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND", help_heading = heading::HOW,
        hide_possible_values = true
    )]
    pub(crate) backend: OrAuto,
    #[command(flatten)]
    pub(crate) tuning: TuningOptions,
    /// Run so many times after a first time that does not count, and report the median [default: 1, which counts]
    #[arg(
        long, value_parser = times, value_name = "N", env = "ORTHANT_REPEAT", help_heading = heading::HOW,
        hide_short_help = true
    )]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// The most memory for results and tables: bytes, or 512MiB, 8G [default: 80 % of what is available]
    #[arg(
        long, value_parser = bytes, value_name = "BYTES", env = "ORTHANT_MEM_LIMIT", help_heading = heading::HOW,
        hide_short_help = true
    )]
    pub(crate) mem_limit: Option<u64>,
    /// Which GPUs: a number, several as in 0,1 or 0-3, or all [default: 0]
    ///
    /// Several share the work: each takes pieces of the initial grid until none is left. Without -g the grid is made fine enough for it.
    #[arg(
        long, alias = "devices", value_name = "NUMBERS", env = "ORTHANT_DEVICE", help_heading = heading::CUDA,
        hide_short_help = true
    )]
    pub(crate) device: Option<Devices>,
    #[command(flatten)]
    pub(crate) cuda: CudaOptions,
}

impl RunOptions {
    /// The request that the options make, with `limit` bytes of memory unless they say otherwise. What it is made of is read
    /// [elsewhere](crate::data::read_for).
    ///
    /// # Errors
    /// [`Error::File`] if a source cannot be read.
    pub(crate) fn request(&self, limit: Option<u64>) -> Result<Request, Error> {
        let workload = self.workload;
        let mut request = self.how.request(workload, &self.computed.0, limit)?;
        request.source = self.formula.source(workload, self.how.source.as_deref())?;
        request = in_a_byte(request, self.how.kept.0.get("cell"));
        let trees = self.output.output.iter().filter(|path| is_tree(path)).count();
        let only_trees = trees > 0 && trees == self.output.output.len() && self.output.overlay.is_none();
        if only_trees && self.how.leaves_keep_open() {
            request.how = request.how.keep(Keep::Regions);
        }
        Ok(request)
    }

    /// The option that makes an array, or points, be divided like a field, by regions from the top down: one that only strategies know. None if
    /// nothing of the kind was given.
    pub(crate) fn divides_from_the_top(&self) -> Option<&'static str> {
        let said = |given: &Given, but: &[&str]| given.names().into_iter().find(|name| !but.contains(name));
        let dense = self.how.kept.0.get("keep") == Some(Keep::Dense.name());
        // What a cell of points is worth is no matter of strategies.
        let own = if self.workload == FieldKind::Points { "value" } else { "" };
        let of_fields = || OF_FIELDS.into_iter().find(|&name| name != own && self.computed.0.get(name).is_some());
        let strategy = if self.how.is_bottom_up() { "strategy" } else { "" };
        said(&self.how.tuning.0, &["threads", strategy])
            .or_else(|| said(&self.how.kept.0, &["keep"]))
            .or_else(|| said(&self.how.cuda.0, &[]))
            .or(dense.then_some("keep"))
            .or((self.how.backend == Some(BackendKind::Cuda)).then_some("backend"))
            .or(self.how.device.as_ref().map(|_| "device"))
            .or(self.how.repeat.map(|_| "repeat"))
            .or_else(of_fields)
    }

    /// Refuses what `bottom-up` has not, if it is the strategy.
    ///
    /// # Errors
    /// [`Error::Input`] names the option.
    pub(crate) fn joins(&self) -> Result<(), Error> {
        let Some(option) = self.divides_from_the_top().filter(|_| self.how.is_bottom_up()) else { return Ok(()) };
        let reason = match option {
            "backend" | "device" => {
                format!("--{option}: bottom-up runs on the CPU; leave it out, or divide: --strategy ask")
            }
            "keep" => "--keep dense: bottom-up makes regions; use --keep regions, or divide: --strategy ask".into(),
            _ => format!(
                "--{option}: --strategy bottom-up has no such choice; leave one of them out, or divide: --strategy ask"
            ),
        };
        Err(Error::Input(reason).about(&[option, "strategy"]))
    }

    /// True if an exhaustive run leaves all that is asked for, and nobody asked for a subdivision.
    pub(crate) fn may_be_exhaustive(&self, keep: Keep) -> bool {
        self.output.overlay.is_none() && self.how.may_be_exhaustive(keep)
    }
}

impl HowOptions {
    /// True if regions are to be joined from the cells up.
    pub(crate) fn is_bottom_up(&self) -> bool {
        self.tuning.0.get("strategy") == Some(StrategyKind::BottomUp.name())
    }

    /// Refuses `bottom-up` where regions are divided.
    ///
    /// # Errors
    /// [`Error::Input`] says who has it.
    pub(crate) fn divides(&self) -> Result<(), Error> {
        if !self.is_bottom_up() {
            return Ok(());
        }
        let reason = "--strategy bottom-up joins the cells of an array, a list or points, in `run` and `bench`; here regions are \
                      divided: --strategy ask, dp or exhaustive";
        Err(Error::Input(reason.into()).about(&["strategy"]))
    }

    /// The request that these options make with what is computed.
    ///
    /// # Errors
    /// As [`RunOptions::request`].
    pub(crate) fn request(&self, workload: FieldKind, computed: &Given, limit: Option<u64>) -> Result<Request, Error> {
        let mut request = request(workload, computed)?;
        let mut how = How::default();
        self.kept.0.apply(|name, text| how.kept.set(name, text))?;
        self.tuning.0.apply(|name, text| how.tuning.set(name, text))?;
        self.cuda.0.apply(|name, text| how.cuda.get_or_insert_default().set(name, text))?;
        how.mem_limit = self.mem_limit.or(limit);
        request.how = how;
        Ok(request)
    }

    /// The mapping, if it was given.
    ///
    /// # Errors
    /// Never: only names of mappings are let through.
    pub(crate) fn mapping(&self) -> Result<Option<Mapping>, Error> {
        Ok(self.tuning.0.get("scheme").map(str::parse).transpose()?)
    }

    /// True if nobody chose what is kept, or something that goes with a dense array alone.
    fn leaves_keep_open(&self) -> bool {
        let given = [self.kept.0.get("keep"), self.tuning.0.get("pass"), self.cuda.0.get("balancer")];
        given.iter().all(Option::is_none) && self.tuning.0.get("strategy") != Some("exhaustive")
    }

    /// True if no strategy was given and no workers of regions, and all cells are kept, which is what an exhaustive run leaves.
    pub(crate) fn may_be_exhaustive(&self, keep: Keep) -> bool {
        let given = |name| self.tuning.0.get(name).is_some();
        keep == Keep::Dense && !given("strategy") && !given("scheme")
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
            ))
            .about(&[names, &["backend"]].concat())),
        }
    }
}

/// The same with cells of a byte where nobody chose their type and they are 0 or 1: those of a mesh, and of points unless they are values.
pub(crate) fn in_a_byte(mut request: Request, chosen: Option<&str>) -> Request {
    let zero_or_one = match request.workload {
        FieldKind::Mesh => request.computed.value != Some(DataValue::Distance),
        FieldKind::Points => request.computed.value.is_none_or(|value| value == DataValue::Occupied),
        _ => false,
    };
    if zero_or_one && chosen.is_none() {
        request.how = request.how.cell(CellType::U8);
    }
    request
}

/// A request of what is computed alone.
pub(crate) fn request(workload: FieldKind, computed: &Given) -> Result<Request, Error> {
    let mut request = Request::new(workload);
    computed.apply(|name, text| request.computed.set(name, text))?;
    Ok(request)
}
