//! A run over points: sorted along the curve, and streamed where nothing has to be kept.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use orthant::field::{DataValue, FieldData, FieldKind};
use orthant::points::{PointsValue, has_axes};
use orthant::tree::{FromPoints, NotANumber, Predicate, TreeAxis, TreeInfo};
use orthant::with_dimensions;
use orthant::{Built, Bytes, Computation, Control, How, Plan, PointsRead, ReadFrom, Report, Request};
use orthant_formats::input::{Endian, IndexOrder};

use super::array::{ArrayOptions, keep, threads};
use super::kept_tree::KeptTree;
use super::outputs::Outputs;
use super::summary;
use super::tree_build::{BuiltTree, TreeBuild, TreeMaker};
use crate::data::PointsInput;
use crate::error::Error;
use crate::escape;
use crate::interrupt::cancels;
use crate::machine::Machine;
use crate::options::RunOptions;
use crate::output::legend::Shown;
use crate::output::tree::MadeOf;
use crate::output::{Slice, tree};
use crate::threads::pool;
use crate::voice::{Voice, print};

/// Carries out `run points`.
pub(super) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    args.formula.source(args.workload, None)?;
    if args.how.source.is_some() {
        let reason = "--source: points are no source of a field; their file is named by --input";
        return Err(Error::Input(reason.into()).about(&["source", "input"]));
    }
    if args.auto_scheme {
        voice.say("orthant: --auto-scheme changes nothing of points that are sorted; with --strategy ask it chooses");
    }
    let keep = keep(&args)?;
    let RunOptions { input, computed, output, how, .. } = args;
    let threads = threads(&how.tuning.0);
    subdivide(ArrayOptions { input, divided: computed.0, keep, threads, mem_limit: how.mem_limit, output }, voice)
}

/// A tree of points, with the options that a tree of an array has.
pub(crate) fn points_tree(args: ArrayOptions, value: Option<DataValue>, voice: Voice) -> Result<(), Error> {
    let divided = value.map_or(args.divided.clone(), |value| args.divided.clone().with("value", value.name()));
    subdivide(ArrayOptions { divided, ..args }, voice)
}

fn subdivide(args: ArrayOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let mut request = Request::new(FieldKind::Points);
    args.divided.apply(|name, text| request.computed.set(name, text))?;
    args.input.refused_by(FieldKind::Points)?;
    args.input.reading.points.no_list()?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let limit = args.mem_limit.or(machine.default_limit());
    let start = Instant::now();
    let points = PointsInput::open(&args.input, limit, voice)?;
    let reading_seconds = start.elapsed().as_secs_f64();
    let value = match request.computed.value {
        None => PointsValue::Occupied,
        Some(value) => value.of_points().ok_or_else(|| {
            let known = PointsValue::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ");
            Error::Input(format!("--value {value}: points have {known}")).about(&["value"])
        })?,
    };
    value.kind(points.batches()).map_err(|error| {
        let error = Error::Input(format!("--value {value}: {error}"));
        error.about(&["value", "attribute"])
    })?;
    if let PointsInput::Memory(points) = &points {
        request = request.data(FieldData::Points(Arc::clone(points)));
    }
    let k = points.batches().extent().axes();
    let run = PointsRun { args, request, points, reading_seconds, value, limit, machine, control, voice };
    with_dimensions!(k, K => run.run::<K>(), else unreachable!("points of another number of axes are refused"))
}

/// The run once its points are read.
struct PointsRun {
    args: ArrayOptions,
    request: Request,
    points: PointsInput,
    /// The seconds that their file took.
    reading_seconds: f64,
    value: PointsValue,
    /// Bytes of points, regions and bricks, at most.
    limit: Option<u64>,
    machine: Machine,
    control: Arc<Control>,
    voice: Voice,
}

impl PointsRun {
    fn run<const K: usize>(&self) -> Result<(), Error> {
        // What is never run is not compiled.
        if const { !has_axes(K) } {
            unreachable!("no points have {K} axes");
        }
        let plan = self.request.computed.points_plan::<K>(self.points.batches().extent()).inspect_err(|_| {
            if self.args.input.reading.points.coordinates.is_some() {
                let way = "--coordinates=cells takes them for cells, of a domain of any size";
                self.voice.say(format_args!("orthant: the numbers are taken for positions of points; {way}"));
            }
        })?;
        let size = plan.domain().size();
        let axes = TreeAxis::of(plan.domain());
        let slice = Slice::new(size, &self.args.output.slice, &axes)?;
        let slice = slice.scaled(self.args.output.scale.map_or(1, NonZeroU32::get));
        let path = self.args.input.input.clone().unwrap_or_default();
        let outputs = Outputs::open(&self.args.output, self.args.keep, std::slice::from_ref(&path))?;
        outputs.say_shown(&slice, size, &axes, self.voice)?;
        let kind = self.value.kind(self.points.batches()).map_err(orthant::tree::TreeError::from)?;
        let kept = How::default().keep(self.args.keep).cell(kind).kept;
        outputs.fit(&slice, size, &kept, self.limit)?;
        let computation = self.computation(&plan, &path);
        let name = computation.title();
        let open = |target: &PathBuf| {
            let info = TreeInfo::of(&plan).source(name.as_str());
            let made_of = MadeOf { exactly: Some(self.exactly()), info };
            let force = self.args.output.force;
            let writer = tree::open(target, force, (&plan, kind), made_of, (&self.control, self.voice));
            Ok::<_, Error>((writer?, target.clone()))
        };
        let mut trees = outputs.trees.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let limit = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.points.bytes()));
        let place = self.place();
        let room = |bytes: u64| {
            let (text, folder) = (Bytes(bytes.into()), place.display());
            self.voice.say(format_args!(
                "orthant: memory does not hold the points: {text} are sorted in a file without a name in {folder}"
            ));
            tempfile::tempfile_in(&place)
        };
        let builder = match &self.points {
            PointsInput::Memory(points) => FromPoints::new(&plan, points, self.value),
            PointsInput::Stream(points) => FromPoints::batches(&plan, &**points, self.value, &room),
        };
        let builder = builder?.mem_limit(limit).control(&self.control);
        let building = TreeBuild {
            plan: &plan,
            keep: self.args.keep,
            shows_cells: outputs.show_cells(),
            hashes: outputs.report.is_some(),
            pool: self.args.threads.map(pool).transpose()?,
            control: &self.control,
            voice: self.voice,
        };
        let BuiltTree { tree, counts, checksum, sorting_seconds } =
            building.make(&TreeMaker::Points(&builder), &mut trees)?;
        let read = PointsRead {
            read: self.points.batches().count(),
            inside: builder.inside()?,
            reading_seconds: self.reading_seconds,
            sorting_seconds,
        };
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        let (order, endian, nan) = (IndexOrder::C, Endian::Little, NotANumber::Error);
        let built = Built {
            input: Some(ReadFrom { path, member: None, order, endian, bytes, nan }),
            points: Some(read),
            counts: &counts,
            cell: kind,
            predicate: Predicate::EXACT,
            keep: self.args.keep,
            threads: building.threads(),
            device: &self.machine.cpu,
            checksum,
        };
        let report = Report::bottom_up(computation, built);
        if !self.voice.quiet && !outputs.stdout {
            print(escape::lines(&summary::of_array(&report)))?;
        }
        trees.into_iter().try_for_each(|(writer, target)| tree::finish(writer, &target, self.voice))?;
        let shown = Shown { gradient: self.args.output.palette, are_labels: Some(false), labels: &[], nodata: None };
        KeptTree {
            tree,
            slice: &slice,
            shown,
            report: &report,
            limit: self.limit,
            control: &self.control,
            voice: self.voice,
        }
        .write(outputs)
    }

    /// What is computed, with the name and the hash of the points.
    fn computation<const K: usize>(&self, plan: &Plan<K>, path: &Path) -> Computation {
        let data = Some(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        Computation { data, source: Some(self.points.hash()), ..self.request.computation(plan) }
    }

    /// Where points are sorted that memory does not hold: beside the tree.
    fn place(&self) -> PathBuf {
        let tree = self.args.output.output.iter().find(|path| tree::is_tree(path));
        let beside = tree.and_then(|tree| tree.parent()).map(Path::to_owned);
        beside.map_or_else(std::env::temp_dir, |folder| if folder.as_os_str().is_empty() { ".".into() } else { folder })
    }

    /// What tells the points from all others, in words: a tree that was begun of the same ones can be gone on with.
    fn exactly(&self) -> String {
        format!("points {}, {}", self.points.hash(), self.value)
    }
}
