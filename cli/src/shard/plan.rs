//! `orthant shard plan`: a run cut into pieces.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use orthant::backend::{Partition, PieceCost};
use orthant::field::{FieldKind, Job, Open};
use orthant::per_axis::{shortest, text};
use orthant::tree::{PieceFolder, PieceRequest, TreeInfo};
use orthant::{Control, Plan, RuleKind};
use orthant_lab::model::pilot;

use super::planned::{PlannedRun, ReadRun, TypedInput, made_of};
use super::status::FoundPieces;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::Machine;
use crate::options::{CellOptions, ComputedOptions, FormulaOptions, HowOptions, InputOptions, field_or_array, times};
use crate::output::expect_folder;
use crate::voice::{Voice, align_right, print, table};

/// Regions of the initial grid, at least, where nobody chose it.
const ROOTS: u128 = 4096;

/// Such regions of a piece, so that cuts can follow costs.
const ROOTS_OF_A_PIECE: u128 = 16;

/// Pieces, where nobody says how many.
const PIECES: usize = 64;

/// Pieces of a worker, the fewest first.
const PIECES_OF_A_WORKER: [usize; 3] = [16, 32, 64];

/// A balance that is as good as perfect.
const GOOD: f64 = 1.05;

/// Options of `shard plan`.
#[derive(Debug, Args)]
pub(crate) struct CutOptions {
    /// What to divide
    ///
    /// A field, which says what a cell is worth, or an array, points or a mesh, which --input names.
    #[arg(value_name = "FIELD", value_parser = field_or_array())]
    workload: FieldKind,
    #[command(flatten)]
    computed: ComputedOptions,
    #[command(flatten)]
    formula: FormulaOptions,
    /// The CUDA source of a `kernel` field, or the text of a `formula`, or a .vm model
    #[arg(long, value_name = "FILE", env = "ORTHANT_SOURCE", hide_short_help = true)]
    source: Option<PathBuf>,
    #[command(flatten)]
    cell: CellOptions,
    // Before the options themselves, which are taken out of what was typed.
    #[command(flatten)]
    typed: TypedInput,
    #[command(flatten)]
    input: InputOptions,
    /// The folder of the pieces; it is made, and all processes must see it
    #[arg(short, long, value_name = "X.pieces")]
    output: PathBuf,
    /// How many pieces, at most: 16 to 64 for each GPU or process [default: 64]
    #[arg(long, value_parser = times, value_name = "N", conflicts_with = "workers")]
    pieces: Option<NonZeroUsize>,
    /// Plan for so many GPUs or processes: as few pieces as are predicted to keep them busy within 5 % of their mean
    #[arg(long, value_parser = times, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Finished pieces of the same run with the same -g, cut into another number, which say what each piece takes beside its cost
    ///
    /// The plan then predicts seconds, and with --workers takes the number of pieces that needs the fewest.
    #[arg(long, value_name = "X.pieces")]
    measured: Option<PathBuf>,
    /// Overwrite a folder of other pieces, with all that is finished of them
    #[arg(long)]
    force: bool,
}

/// Plans a run.
pub(super) fn plan(args: CutOptions, voice: Voice) -> Result<(), Error> {
    let CutOptions {
        workload, computed, formula, source, cell, typed, output, pieces, workers, measured, force, ..
    } = args;
    expect_folder(&output)?;
    let given = |name: &'static str| Some((name.to_owned(), computed.0.get(name)?.to_owned()));
    let planned = PlannedRun {
        workload: workload.to_string(),
        computed: computed.0.names().into_iter().filter_map(given).collect(),
        cell: cell.0.get("cell").map(str::to_owned),
        source: formula.source(workload, source.as_deref())?.as_deref().map(str::to_owned),
        input: typed.0,
    };
    let control = Arc::new(Control::default());
    cancels(&control);
    let run = planned.read(&HowOptions::default(), Machine::look().default_limit(), voice)?;
    let k = run.request.k();
    let workers = workers.map(NonZeroUsize::get);
    let pieces =
        pieces.map_or_else(|| workers.map_or(PIECES, |workers| workers * PIECES_OF_A_WORKER[0]), NonZeroUsize::get);
    workload.dispatch(
        k,
        CuttingPieces { planned, run, output, pieces, workers, measured, cost: None, force, control, voice },
    )?
}

/// The plan once its dimension is a type.
struct CuttingPieces {
    planned: PlannedRun,
    run: ReadRun,
    output: PathBuf,
    pieces: usize,
    workers: Option<usize>,
    measured: Option<PathBuf>,
    /// What those pieces took.
    cost: Option<PieceCost>,
    force: bool,
    control: Arc<Control>,
    voice: Voice,
}

impl CuttingPieces {
    /// The plan, with an initial grid that is fine enough where nobody chose one.
    fn fine<const K: usize>(&self, plan: Plan<K>) -> Result<Plan<K>, Error> {
        let proves = plan.rule() == RuleKind::Full || plan.rule().certifies();
        // What other rules miss depends on where regions begin: the number of pieces must not change a cell.
        let least = if proves { ROOTS.max(self.pieces as u128 * ROOTS_OF_A_PIECE) } else { ROOTS };
        let scheme = match self.run.request.computed.g {
            Some(_) => *plan.scheme(),
            None => plan.scheme().with_roots(plan.domain().size(), least.max(plan.levels()[0].regions())),
        };
        let plan = match scheme == *plan.scheme() {
            true => plan,
            false => {
                let g = text(&shortest(&scheme.g));
                self.voice.say(format_args!("orthant: -g {g}, so that pieces can be cut by cost"));
                Plan::new(*plan.domain(), scheme, plan.curve(), plan.rule()).map_err(orthant::Error::from)?
            }
        };
        let (wanted, has) = (self.pieces, plan.levels()[0].regions());
        if has < wanted as u128 {
            self.voice.say(format_args!(
                "orthant: {has} pieces, not {wanted}: a piece has a region of level 0 at least; a larger -g has more of them"
            ));
        }
        Ok(plan)
    }
}

/// What the finished pieces of a folder took, which are of the same run: weights of another one have another unit.
fn learnt(folder: &Path, made_of: &str) -> Result<PieceCost, Error> {
    let pieces = PieceFolder::open(folder)?;
    let refused = |reason| Error::Input(format!("--measured {}: {reason}", folder.display()));
    if pieces.made_of() != made_of {
        return Err(refused(
            "it has pieces of another run; all but --pieces and --workers must be the same, -g included",
        ));
    }
    let found = FoundPieces::of(&pieces, 0..pieces.len(), false)?;
    found.cost(&pieces).ok_or_else(|| {
        refused("two finished pieces of different cost are needed; `orthant shard status` says what is finished")
    })
}

impl Job for CuttingPieces {
    type Output = Result<(), Error>;

    fn run<const K: usize>(mut self, open: Open<K>) -> Self::Output {
        let plan = self.fine(self.run.request.plan::<K>()?)?;
        let g = plan.scheme().g.to_vec();
        if self.run.request.computed.g.as_ref() != Some(&g) {
            // Whoever makes pieces must not choose again.
            self.planned.computed.retain(|(name, _)| name != "g");
            self.planned.computed.push(("g".into(), text(&shortest(&g))));
            self.run.request.computed.g = Some(g);
        }
        if !plan.curve().is_hierarchical() {
            let reason =
                format!("--curve {}: a piece is a run of morton's or hilbert's codes; use one of them", plan.curve());
            return Err(Error::Input(reason).about(&["curve"]));
        }
        let field = open(plan.domain(), &self.run.request.options()?)?;
        let kind = self.run.request.how.clone().for_labels(field.labels())?.kept.cell;
        let info = match &self.run.array {
            Some(array) => array.info(&plan),
            None => TreeInfo::of(&plan).source(self.run.request.title()),
        };
        let made_of = made_of(&self.run.request, &plan)?;
        self.cost = self.measured.as_deref().map(|folder| learnt(folder, &made_of)).transpose()?;
        let weights = pilot::weights(&self.run.request, &plan, open, &self.control)?;
        if let (Some(workers), false) = (self.workers, weights.is_empty()) {
            let counts = PIECES_OF_A_WORKER.map(|each| each * workers);
            let cuts = counts.map(|pieces| (pieces, Partition::by_weight(&weights, pieces)));
            let chosen = match &self.cost {
                None => cuts.iter().find(|(_, cut)| cut.balance(workers) <= GOOD),
                Some(cost) => {
                    cuts.iter().min_by(|(_, one), (_, two)| cost.of(one, workers).total_cmp(&cost.of(two, workers)))
                }
            };
            self.pieces = chosen.unwrap_or(&cuts[cuts.len() - 1]).0;
        }
        // The tree's header has names and colours already.
        self.planned.input.retain(|option| !option.starts_with("--label-table="));
        let request = serde_json::to_value(&self.planned).map_err(|error| Error::System(error.to_string()))?;
        let asked = PieceRequest {
            plan: &plan,
            kind,
            info: &info,
            made_of: &made_of,
            request,
            weights: &weights,
            pieces: self.pieces,
        };
        let made = PieceFolder::create(&self.output, asked, self.force)?;
        self.say(&made, !weights.is_empty())
    }
}

impl CuttingPieces {
    /// Says what was planned, and how many workers it keeps busy. `predicted` is true if costs are.
    ///
    /// # Errors
    /// Those of stdout.
    fn say(&self, made: &PieceFolder, predicted: bool) -> Result<(), Error> {
        let (path, cut) = (made.path().display(), made.partition());
        self.voice.say(format_args!("orthant: wrote {path}, a plan of {} pieces", made.len()));
        if self.voice.quiet {
            return Ok(());
        }
        let mut names = vec!["workers", "busiest / mean", "times one worker"];
        names.extend(self.cost.map(|_| "seconds"));
        let mut rows = table(&names);
        let doubled = (0..).map(|bits| 1usize << bits).take_while(|&workers| workers <= made.len());
        // The number that was asked for is in its place.
        let mut counts: Vec<usize> = doubled.chain(self.workers).collect();
        counts.sort_unstable();
        counts.dedup();
        let mut best = 1;
        for workers in counts {
            let balance = cut.balance(workers);
            best = if balance <= GOOD { workers } else { best };
            let mut row =
                vec![workers.to_string(), format!("{balance:.3}"), format!("{:.1}", workers as f64 / balance)];
            row.extend(self.cost.map(|cost| format!("{:.3}", cost.of(cut, workers))));
            rows.add_row(row);
        }
        align_right(&mut rows);
        print(format!("{rows}\n"))?;
        let by = if predicted { "by a small run of the same field" } else { "from the number of cells" };
        self.voice.say(format_args!("orthant: costs are predicted {by}"));
        let wanted = self.workers.unwrap_or(made.len());
        if best < wanted {
            let finer =
                if made.len() < self.pieces { "a larger -g lets" } else { "more --pieces, or a larger -g, let" };
            self.voice
                .say(format_args!("orthant: beyond {best} workers some wait for others; {finer} more of them help"));
        }
        self.voice.say(format_args!(
            "orthant: `orthant shard run {path}` makes the pieces, in as many processes as you start"
        ));
        Ok(())
    }
}
