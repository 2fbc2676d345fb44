//! A run over a list of cells: sorted along the curve, and divided by its entries.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use orthant::curve::CurveKind;
use orthant::list::ListError;
use orthant::per_axis;
use orthant::per_axis::{shortest, text as by};
use orthant::tree::{CellList, SortedList, TreeError, TreeInfo};
use orthant::with_dimensions;
use orthant::{CellType, Computed, Control, Plan};
use serde_json::json;

use super::array::{ArrayOptions, keep, threads};
use crate::error::Error;
use crate::escape;
use crate::interrupt::{cancels, undisturbed};
use crate::list_input::{ListInput, no_size};
use crate::machine::Machine;
use crate::options::{OutputOptions, RunOptions};
use crate::output::has_extension;
use crate::output::tree::{TreeOutput, finish, is_tree};
use crate::threads::pool;
use crate::tree::numbers;
use crate::voice::{Voice, print};

/// Entries between two looks whether to go on.
const EVERY: u64 = 1 << 16;

/// Carries out `run array` of a list of cells.
pub(super) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    if args.auto_scheme {
        let reason = "--auto-scheme: a list of cells is divided by its entries; --most says how far. Add --strategy ask, and --auto-scheme chooses the scheme";
        return Err(Error::Input(reason.into()).about(&["auto-scheme"]));
    }
    let keep = keep(&args)?;
    let RunOptions { input, computed, output, how, .. } = args;
    let threads = threads(&how.tuning.0);
    list_tree(ArrayOptions { input, divided: computed.0, keep, threads, mem_limit: how.mem_limit, output }, voice)
}

/// Makes a tree of a list of cells, or counts its regions.
pub(crate) fn list_tree(args: ArrayOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let mut computed = Computed::default();
    args.divided.apply(|name, text| computed.set(name, text))?;
    refuse(&args.output, &args, &computed)?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let list = ListInput::open(&args.input, &computed)?;
    let limit = args.mem_limit.or(machine.default_limit());
    let k = list.file.axes();
    let run = ListRun { args, computed, list, limit, control, voice };
    with_dimensions!(k, K => run.run::<K>(), else unreachable!("a list of another number of axes is refused"))
}

/// The command that makes a tree of a list, with the options that say what the list is.
pub(crate) fn building(args: &ArrayOptions, computed: &Computed) -> String {
    let (path, points) = (args.input.input.clone().unwrap_or_default(), &args.input.reading.points);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let given = [
        points.coordinates.map(|_| "--coordinates=cells".to_owned()),
        computed.dim.map(|dim| format!("--dim {dim}")),
        computed.size.as_deref().map(|size| format!("-n {}", by(size))),
        points.most.map(|most| format!("--most {most}")),
        points.background.map(|background| format!("--background {background}")),
    ];
    let given: String = given.into_iter().flatten().map(|option| format!(" {option}")).collect();
    format!("orthant tree build {}{given} -o {stem}.tree.zarr", path.display())
}

/// What makes an array or a picture of a list, where no tree is named.
fn no_tree(args: &ArrayOptions, computed: &Computed, output: &Path) -> Error {
    let build = building(args, computed);
    let tree = build.rsplit(' ').next().unwrap_or_default();
    let way = if has_extension(output, "png") { "slice" } else { "convert" };
    let (to, output) = (if way == "slice" { "-o " } else { "" }, output.display());
    let reason = format!(
        "--output {output}: by bottom-up a list of cells becomes a tree: use --strategy ask, or type `{build}`, then `orthant tree {way} {tree} {to}{output}`"
    );
    Error::Input(reason).about(&["output"])
}

/// Refuses what is not made of a list.
fn refuse(output: &OutputOptions, args: &ArrayOptions, computed: &Computed) -> Result<(), Error> {
    let given = [("overlay", output.overlay.is_some()), ("report", output.report.is_some())];
    if let Some((name, _)) = given.into_iter().find(|given| given.1) {
        let reason = format!("--{name}: a list of cells has it where it is divided: --strategy ask; or leave it out");
        return Err(Error::Input(reason).about(&[name, "strategy"]));
    }
    match output.output.iter().find(|path| !is_tree(path)) {
        Some(path) => Err(no_tree(args, computed, path)),
        None => Ok(()),
    }
}

/// The run once its file is open.
struct ListRun {
    args: ArrayOptions,
    computed: Computed,
    list: ListInput,
    /// Bytes of the list and its regions, at most.
    limit: Option<u64>,
    control: Arc<Control>,
    voice: Voice,
}

impl ListRun {
    fn run<const K: usize>(&self) -> Result<(), Error> {
        let plan = self.computed.list_plan::<K>(self.list.file.size()).map_err(no_size)?;
        let pool = self.args.threads.map(pool).transpose()?;
        let made = || self.make(&plan);
        match &pool {
            Some(pool) => pool.install(made),
            None => made(),
        }
    }

    fn make<const K: usize>(&self, plan: &Plan<K>) -> Result<(), Error> {
        let info = TreeInfo::of(plan).source(format!("list {}", self.list.name()));
        let start = Instant::now();
        let sorted = self.sorted(plan)?;
        let sorting = start.elapsed().as_secs_f64();
        let mut checksum = None;
        for path in &self.args.output.output {
            let mut writer =
                TreeOutput::new(path, self.args.output.force, &self.control, |target| sorted.open(target, &info))?;
            undisturbed().temporary(writer.staged());
            sorted.write(&mut writer)?;
            checksum = Some(writer.checksum().to_string());
            finish(writer, path, self.voice)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        if self.voice.quiet && !self.args.output.json {
            return Ok(());
        }
        print(escape::lines(&self.summary(&MadeList::of(plan, &sorted), [sorting, seconds], checksum)))
    }

    /// Reads, sorts and divides the list.
    fn sorted<const K: usize>(&self, plan: &Plan<K>) -> Result<SortedList<K>, Error> {
        let list = CellList::new(plan, self.list.file.kind()).map_err(|error| self.refused(error))?;
        let mut list = list.background(self.list.background);
        if let Some(most) = self.args.input.reading.points.most {
            list = list.most(most);
        }
        if let Some(limit) = self.limit {
            list = list.mem_limit(limit);
        }
        list.reserve(usize::try_from(self.list.file.count()).unwrap_or(usize::MAX))?;
        let (mut number, mut ended) = (0u64, false);
        let read = self.list.each(self.limit, &mut |cell, word| {
            number += 1;
            if number.is_multiple_of(EVERY) && self.control.check().is_err() {
                ended = true;
                return Err(ListError::Interrupted);
            }
            // A reader has as many coordinates as its header says.
            list.push(per_axis::each(|j| cell[j]), word)
        });
        if ended {
            self.control.check().map_err(TreeError::from)?;
        }
        read?;
        list.sorted(&self.control).map_err(|error| self.refused(error))
    }

    /// What keeps a list from being a tree, in words about options.
    fn refused(&self, error: TreeError) -> Error {
        match &error {
            TreeError::List(error) => self.list.refused(error),
            _ => error.into(),
        }
    }

    /// What was made.
    fn summary(&self, made: &MadeList, [sorting, seconds]: [f64; 2], checksum: Option<String>) -> String {
        let &MadeList { kind, most, entries, dropped, regions: [regions, leaves], .. } = made;
        let background = kind.text(made.background);
        let name = self.list.path.display();
        if self.args.output.json {
            let object = json!({
                "workload": "list", "input": self.list.path, "k": made.size.len(), "size": made.size, "cell": kind.name(),
                "background": numbers::value(kind, made.background), "most": most, "curve": made.curve.name(),
                "g": made.g, "r": made.r, "B": made.b,
                "entries": entries, "dropped": dropped, "regions": regions, "leaves": leaves,
                "sorting_seconds": sorting, "seconds": seconds, "regions_checksum": checksum,
            });
            return format!("{object}\n");
        }
        let mut text = format!(
            "list {name} {} {kind}, bottom-up {} on cpu ({} threads), g {} r {} B {}, leaves of at most {most} entries\n\n",
            by(&made.size),
            made.curve,
            rayon::current_num_threads(),
            by(&shortest(&made.g)),
            by(&shortest(&made.r)),
            by(&shortest(&made.b)),
        );
        text += &format!("entries  {entries}, all other cells are {background}");
        if dropped > 0 {
            text += &format!("; {dropped} more of that value are dropped");
        }
        text += &format!("\nregions  {regions} = {} uniform + {leaves} leaves\n", regions - leaves);
        text += &format!("time     {seconds:.3} s, of which {sorting:.3} s to read and sort\n");
        if let Some(checksum) = checksum {
            text += &format!("checksum {checksum}\n");
        }
        text
    }
}

/// A list that was made a tree, in numbers.
struct MadeList {
    size: Vec<u32>,
    g: Vec<u32>,
    r: Vec<u32>,
    b: Vec<u32>,
    curve: CurveKind,
    kind: CellType,
    background: u64,
    most: u64,
    entries: u64,
    dropped: u64,
    regions: [u64; 2],
}

impl MadeList {
    fn of<const K: usize>(plan: &Plan<K>, sorted: &SortedList<K>) -> Self {
        let scheme = plan.scheme();
        Self {
            size: plan.domain().size().to_vec(),
            g: scheme.g.to_vec(),
            r: scheme.r.to_vec(),
            b: scheme.b.to_vec(),
            curve: plan.curve(),
            kind: sorted.kind(),
            background: sorted.background(),
            most: sorted.layout().most(),
            entries: sorted.entries(),
            dropped: sorted.dropped(),
            regions: sorted.regions(),
        }
    }
}
