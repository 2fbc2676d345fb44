//! A run over an array that is there already: from the cells up, streamed where nothing has to be kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use orthant::field::FieldKind;
use orthant::tree::{BottomUp, NotANumber, Predicate, Source};
use orthant::with_dimensions;
use orthant::{Computed, Control, How, Keep, Plan, Request};
use orthant_formats::input::{Layout, Numbers};

use super::kept_tree::KeptTree;
use super::noise::Divided;
use super::outputs::Outputs;
use super::summary;
use super::tree_build::{BuiltFrom, BuiltTree, TreeBuild, TreeMaker};
use crate::error::Error;
use crate::input::{self, Input, wrong};
use crate::interrupt::cancels;
use crate::machine::Machine;
use crate::options::{Given, InputOptions, OutputOptions, RunOptions};
use crate::output::legend::DrawnValues;
use crate::output::tree::{MadeOf, TreeOutput};
use crate::output::{Slice, tree};
use crate::voice::Voice;

/// A run over an array: its file, how it is divided, and what is written.
pub(crate) struct ArrayOptions {
    pub(crate) input: InputOptions,
    /// Choices of what is computed that an array has.
    pub(crate) divided: Given,
    pub(crate) keep: Keep,
    /// All that rayon has, unless it is given.
    pub(crate) threads: Option<usize>,
    pub(crate) mem_limit: Option<u64>,
    pub(crate) output: OutputOptions,
}

/// Carries out `run array`.
pub(super) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    only_what_arrays_have(&args)?;
    if args.auto_scheme {
        voice.say(
            "orthant: --auto-scheme changes nothing of the pass from the cells up; with --strategy ask it chooses",
        );
    }
    let keep = keep(&args)?;
    let RunOptions { input, computed, output, how, .. } = args;
    let threads = threads(&how.tuning.0);
    subdivide(ArrayOptions { input, divided: computed.0, keep, threads, mem_limit: how.mem_limit, output }, voice)
}

/// The number of threads that was given.
pub(crate) fn threads(tuning: &Given) -> Option<usize> {
    tuning.get("threads").map(|threads| threads.parse().expect("the option is a number"))
}

/// Subdivides an array as asked.
pub(crate) fn subdivide(args: ArrayOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let mut computed = Computed::default();
    args.divided.apply(|name, text| computed.set(name, text))?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let input = Input::open(&args.input, &computed, voice)?;
    let k = input.file.layout().size.len();
    let limit = args.mem_limit.or(machine.default_limit());
    let run = ArrayRun { args, computed, limit, input, machine, control, voice };
    with_dimensions!(k, K => run.run::<K>(), else unreachable!("a file of another number of axes is refused"))
}

/// Refuses what is of fields that are computed.
fn only_what_arrays_have(args: &RunOptions) -> Result<(), Error> {
    args.formula.source(args.workload, None)?;
    match args.how.source {
        None => Ok(()),
        Some(_) => {
            let reason = "--source: an array is no source of a field; its file is named by --input";
            Err(Error::Input(reason.into()).about(&["source", "input"]))
        }
    }
}

/// What is kept: as was said, else regions where an output shows cells.
pub(super) fn keep(args: &RunOptions) -> Result<Keep, Error> {
    let writes_cells = !args.output.output.is_empty() || args.output.overlay.is_some();
    match args.how.kept.0.get("keep").map(str::parse).transpose()? {
        Some(Keep::Counts) if writes_cells => {
            let reason = "--keep counts keeps no cells to write; use --keep regions";
            Err(Error::Input(reason.into()).about(&["keep", "output", "overlay"]))
        }
        Some(keep) => Ok(keep),
        None => Ok(if writes_cells { Keep::Regions } else { Keep::Counts }),
    }
}

/// The run once its array is open.
struct ArrayRun {
    args: ArrayOptions,
    computed: Computed,
    /// Bytes of regions and bricks, at most.
    limit: Option<u64>,
    input: Input,
    machine: Machine,
    control: Arc<Control>,
    voice: Voice,
}

impl ArrayRun {
    fn run<const K: usize>(&self) -> Result<(), Error> {
        let file = self.input.file.source::<K>().map_err(wrong)?;
        let (about, size, kind) = (self.input.file.about(), file.size(), file.kind());
        let plan = self.computed.array_plan::<K>(size, about)?;
        let path = self.args.input.parts()?.0;
        let (outputs, slice) = self.outputs(&plan, &path)?;
        let (predicate, nodata, nan) = self.args.input.reading.predicate_of(kind, about)?;
        let numbers = Numbers(&file);
        let cells: &dyn Source<K> = if nan == NotANumber::Error { &numbers } else { &file };
        let (source, nodata) = (predicate.over(cells)?, predicate.nodata_word(kind, nodata)?);
        let cell = source.kind();
        let kept = How::default().keep(self.args.keep).cell(cell).kept;
        outputs.fit(&slice, size, &kept, self.limit)?;
        let (name, force) = (self.name(&path), self.args.output.force);
        let made_of = || MadeOf {
            exactly: self.exactly(&path, &name),
            info: about.info(&plan).source(&*name).predicate(predicate, nodata),
        };
        let mut trees = tree::open_all(&outputs.trees, force, &plan, cell, &made_of, &self.control, self.voice)?;
        let builder = BottomUp::new(&plan, &source)?.predicate(&predicate, nodata)?;
        let builder = builder.mem_limit(self.limit.unwrap_or(u64::MAX)).control(&self.control);
        let divided = self.divided(&builder, &plan, &predicate);
        let warned = divided.warn_before()?;
        let building = TreeBuild::new(&outputs, &plan, self.args.keep, self.args.threads, &self.control, self.voice)?;
        let built = self.make(&building, &builder, &mut trees)?;
        let input = self.input.from(path, plan.domain().cells() as u64 * kind.bytes(), nan);
        let computation = Request::new(FieldKind::Array).computation(&plan);
        let from = BuiltFrom { input, points: None, cell, predicate };
        let report = building.report(computation, &built, from, &self.machine.cpu);
        summary::print_of_array(&report, &outputs, self.voice)?;
        if !warned {
            divided.warn_after(built.counts.totals().leaf_cells)?;
        }
        KeptTree {
            tree: built.tree,
            slice: &slice,
            drawn: self.drawn_values(predicate.keeps_cells(), nodata),
            report: &report,
            limit: self.limit,
            control: &self.control,
            voice: self.voice,
        }
        .write(trees, outputs)
    }

    /// The files to write, and the slice that pictures show.
    fn outputs<const K: usize>(&self, plan: &Plan<K>, path: &PathBuf) -> Result<(Outputs, Slice<K>), Error> {
        let file = &self.input.file;
        let axes = file.about().info(plan).axes;
        let read = [std::slice::from_ref(path), file.others()].concat();
        Outputs::with_slice(&self.args.output, self.args.keep, &read, plan.domain().size(), &axes, self.voice)
    }

    /// What warns if dividing the array saves little.
    fn divided<'a, 'b, const K: usize>(
        &'a self,
        builder: &'a BottomUp<'b, K>,
        plan: &'a Plan<K>,
        predicate: &'a Predicate,
    ) -> Divided<'a, 'b, K> {
        Divided {
            builder,
            predicate,
            labels: self.input.are_labels(&self.args.input.reading),
            plan,
            computed: &self.computed,
            about: self.input.file.about(),
            voice: self.voice,
        }
    }

    /// Makes the tree and writes `trees`. If the file cannot be read, or is no more what it was, nothing is left of them.
    fn make<const K: usize>(
        &self,
        building: &TreeBuild<'_, K>,
        builder: &BottomUp<'_, K>,
        trees: &mut Vec<(TreeOutput<K>, PathBuf)>,
    ) -> Result<BuiltTree<K>, Error> {
        let made = building.make(&TreeMaker::Cells(builder), trees);
        // What was read is compared once more before anything takes its name.
        let made = made.and_then(|made| self.input.file.unchanged().map(|()| made).map_err(wrong));
        made.inspect_err(|error| {
            if error.is_of_reading() {
                // Nobody can go on with shards of what is no more.
                trees.drain(..).for_each(|(writer, _)| writer.discard());
            }
        })
    }

    /// What a tree of it says that it is made of.
    fn name(&self, path: &Path) -> String {
        input::name(path.file_name().unwrap_or_default().as_ref(), self.input.member.as_deref())
    }

    /// What tells the array from all others, and from itself after a file of it was written to, in words: a tree that was begun of the
    /// same array can be gone on with. It says how cells lie, too, since options say that of cells alone.
    fn exactly(&self, path: &Path, name: &str) -> Option<String> {
        let place = path.canonicalize().ok()?;
        let Layout { order, endian, offset, .. } = self.input.file.layout();
        let identity = self.input.file.identity();
        Some(format!("{}, {name}, order {order}, endian {endian}, offset {offset}, {identity}", place.display()))
    }

    /// What is known of the cells that are drawn, which are the file's own if `kept`.
    fn drawn_values(&self, kept: bool, nodata: Option<u64>) -> DrawnValues<'_> {
        self.input.drawn_values(self.args.output.palette, &self.args.input.reading, kept, nodata)
    }
}
