//! A run over a list of cells: sorted along the curve, and divided by its entries.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use orthant::curve::CurveKind;
use orthant::per_axis;
use orthant::per_axis::{shortest, text as by};
use orthant::result::{MemoryError, Stored};
use orthant::tree::{CellList, ListError, SortedList, TreeError, TreeInfo};
use orthant::with_dimensions;
use orthant::{CellType, Computed, Control, Plan};
use orthant_formats::input::{InputError, InputFault, ListFile};
use serde_json::json;

use super::array::{ArrayOptions, keep, threads};
use crate::error::Error;
use crate::escape;
use crate::input::wrong;
use crate::interrupt::{cancels, undisturbed};
use crate::machine::Machine;
use crate::options::{RunOptions, WRONG_FOR_LISTS};
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
        let reason = "--auto-scheme: a list of cells is divided by its entries alone; --most says how far";
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
    refuse(&args, &computed)?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let path = args.input.input.clone().unwrap_or_default();
    // Sizes that differ say how many axes there are.
    let sizes = computed.size.as_deref().map(<[u32]>::len).filter(|&sizes| sizes > 1);
    let list = ListFile::open(&path, computed.dim.or(sizes)).map_err(about)?;
    let limit = args.mem_limit.or(machine.default_limit());
    let k = list.axes();
    let run = ListRun { args, computed, path, list, limit, control, voice };
    with_dimensions!(k, K => run.run::<K>(), else unreachable!("a list of another number of axes is refused"))
}

/// What is wrong with the file of a list.
fn about(error: InputError) -> Error {
    match &error.wrong {
        InputFault::NoFormat { known } => {
            let path = error.path.display();
            let reason = format!("--coordinates=cells: {path}: the name of a list of cells ends with {known}");
            Error::Input(reason).about(&["coordinates", "input"])
        }
        // How many columns are coordinates is the number of axes.
        InputFault::Field { field, .. } if ["shape", "axes"].contains(&&**field) => {
            let reason =
                format!("{error}; --dim K says how many axes there are, and so does a size of each, -n 64x64x9");
            Error::Input(reason).about(&["dim", "size", "input"])
        }
        _ => wrong(error).about(&["input", "size", "dim"]),
    }
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

/// What a list becomes, where no tree is named.
fn no_tree(args: &ArrayOptions, computed: &Computed, output: &Path) -> Error {
    let build = building(args, computed);
    let tree = build.rsplit(' ').next().unwrap_or_default();
    let way = if has_extension(output, "png") { "slice" } else { "convert" };
    let (to, output) = (if way == "slice" { "-o " } else { "" }, output.display());
    let reason = format!(
        "--output {output}: a list of cells becomes a tree: type `{build}`, then `orthant tree {way} {tree} {to}{output}`"
    );
    Error::Input(reason).about(&["output"])
}

/// Refuses what a list has not.
fn refuse(args: &ArrayOptions, computed: &Computed) -> Result<(), Error> {
    let (input, output) = (&args.input, &args.output);
    let given = [
        ("columns", input.reading.points.columns.is_some()),
        ("attribute", input.reading.points.attribute.is_some()),
        ("follow", input.reading.follow),
        ("kind", input.reading.kind.is_some()),
        ("label-table", input.reading.label_table.is_some()),
        ("spacing", input.reading.spacing.is_some()),
        ("overlay", output.overlay.is_some()),
        ("report", output.report.is_some()),
    ];
    let given = given.into_iter().filter(|given| given.1).map(|given| given.0);
    let names: Vec<_> = given.chain(input.reading.predicate.given()).chain(input.raw()).collect();
    if let [first, ..] = names[..] {
        let reason = format!("--{}: {WRONG_FOR_LISTS}", names.join(", --"));
        return Err(Error::Input(reason).about(&[first]));
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
    path: PathBuf,
    list: ListFile,
    /// Bytes of the list and its regions, at most.
    limit: Option<u64>,
    control: Arc<Control>,
    voice: Voice,
}

impl ListRun {
    fn run<const K: usize>(&self) -> Result<(), Error> {
        let plan = self.computed.list_plan::<K>(self.list.size()).map_err(|error| match &error {
            orthant::Error::Choice(missing) if missing.name == "size" && missing.value.is_empty() => {
                Error::Input(format!("--{error}; -n 2^20 is as many on each, -n 64x64x9 one for each")).about(&["size"])
            }
            _ => error.into(),
        })?;
        let pool = self.args.threads.map(pool).transpose()?;
        let made = || self.make(&plan);
        match &pool {
            Some(pool) => pool.install(made),
            None => made(),
        }
    }

    fn make<const K: usize>(&self, plan: &Plan<K>) -> Result<(), Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let info = TreeInfo::of(plan).source(format!("list {name}"));
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
        if self.voice.quiet {
            return Ok(());
        }
        print(escape::lines(&self.summary(&MadeList::of(plan, &sorted), [sorting, seconds], checksum)))
    }

    /// Reads, sorts and divides the list.
    fn sorted<const K: usize>(&self, plan: &Plan<K>) -> Result<SortedList<K>, Error> {
        let kind = self.list.kind();
        let mut list = CellList::new(plan, kind).map_err(refused)?.background(self.background(kind)?);
        if let Some(most) = self.args.input.reading.points.most {
            list = list.most(most);
        }
        if let Some(limit) = self.limit {
            list = list.mem_limit(limit);
        }
        list.reserve(usize::try_from(self.list.count()).unwrap_or(usize::MAX))?;
        let (mut number, mut ended, mut full) = (0u64, false, None);
        let read = self.list.each(&mut |cell, word| {
            number += 1;
            if number.is_multiple_of(EVERY) && self.control.check().is_err() {
                ended = true;
                return Err(ListError::Interrupted);
            }
            // A reader has as many coordinates as its header says.
            list.push(per_axis::each(|j| cell[j]), word).inspect_err(|error| {
                if let ListError::Memory { need } = error {
                    full = Some(*need);
                }
            })
        });
        if let Some(need) = full {
            return Err(MemoryError { what: Stored::Points, need, limit: self.limit }.into());
        }
        if ended {
            self.control.check().map_err(TreeError::from)?;
        }
        read.map_err(about)?;
        list.sorted(&self.control).map_err(|error| match &error {
            TreeError::List(ListError::Twice { .. }) => {
                let way = if has_extension(&self.path, "npy") {
                    "numpy.unique(a, axis=0) leaves one of equal rows"
                } else {
                    "of a sparse matrix sum_duplicates() makes one entry of several"
                };
                Error::Input(format!("{error}; {way}")).about(&["input"])
            }
            _ => refused(error),
        })
    }

    /// The word of cells that are not listed.
    fn background(&self, kind: CellType) -> Result<u64, Error> {
        let Some(value) = self.args.input.reading.points.background else { return Ok(0) };
        value.word(kind).ok_or_else(|| {
            let reason = format!("--background {value}: values are {kind}, which does not hold it");
            Error::Input(reason).about(&["background"])
        })
    }

    /// What was made.
    fn summary(&self, made: &MadeList, [sorting, seconds]: [f64; 2], checksum: Option<String>) -> String {
        let &MadeList { kind, most, entries, dropped, regions: [regions, leaves], .. } = made;
        let background = kind.text(made.background);
        let name = self.path.display();
        if self.args.output.json {
            let object = json!({
                "workload": "list", "input": self.path, "k": made.size.len(), "size": made.size, "cell": kind.name(),
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

/// What keeps a list from being one, in words about options.
fn refused(error: TreeError) -> Error {
    match &error {
        TreeError::List(ListError::TooLarge { .. }) => {
            Error::Input(format!("--size: {error}; fewer cells per axis (-n), or a smaller -B, have them"))
                .about(&["size"])
        }
        _ => error.into(),
    }
}
