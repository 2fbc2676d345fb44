//! A run over points: sorted along the curve, and streamed where nothing has to be kept.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use orthant::field::{DataValue, FieldData, FieldKind};
use orthant::points::{PointsValue, has_axes};
use orthant::tree::{FromPoints, NotANumber, Predicate, TreeAxis, TreeInfo};
use orthant::with_dimensions;
use orthant::{Bytes, CellType, Computation, Control, How, Plan, PointsRead, ReadFrom, Request};
use orthant_formats::input::{Endian, IndexOrder};

use super::array::{ArrayOptions, keep, threads};
use super::kept_tree::KeptTree;
use super::outputs::Outputs;
use super::summary;
use super::tree_build::{BuiltFrom, TreeBuild, TreeMaker};
use crate::data::PointsInput;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::Machine;
use crate::options::RunOptions;
use crate::output::legend::DrawnValues;
use crate::output::tree;
use crate::output::tree::MadeOf;
use crate::voice::Voice;

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
        let plan = self.plan::<K>()?;
        let (size, axes) = (plan.domain().size(), TreeAxis::of(plan.domain()));
        let (args, path) = (&self.args, self.args.input.input.clone().unwrap_or_default());
        let read = std::slice::from_ref(&path);
        let (outputs, slice) = Outputs::with_slice(&args.output, args.keep, read, size, &axes, self.voice)?;
        let kind = self.value.kind(self.points.batches()).map_err(orthant::tree::TreeError::from)?;
        let kept = How::default().keep(args.keep).cell(kind).kept;
        outputs.fit(&slice, size, &kept, self.limit)?;
        let computation = self.computation(&plan, &path);
        let (name, force) = (computation.title(), args.output.force);
        let made_of = || MadeOf { exactly: Some(self.exactly()), info: TreeInfo::of(&plan).source(name.as_str()) };
        let mut trees = tree::open_all(&outputs.trees, force, &plan, kind, &made_of, &self.control, self.voice)?;
        let place = self.place();
        let room = |bytes: u64| self.room(bytes, &place);
        let builder = match &self.points {
            PointsInput::Memory(points) => FromPoints::new(&plan, points, self.value),
            PointsInput::Stream(points) => FromPoints::batches(&plan, &**points, self.value, &room),
        };
        let limit = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.points.bytes()));
        let builder = builder?.mem_limit(limit).control(&self.control);
        let building = TreeBuild::new(&outputs, &plan, args.keep, args.threads, &self.control, self.voice)?;
        let built = building.make(&TreeMaker::Points(&builder), &mut trees)?;
        let from = self.built_from(path, builder.inside()?, built.sorting_seconds, kind);
        let report = building.report(computation, &built, from, &self.machine.cpu);
        summary::print_of_array(&report, &outputs, self.voice)?;
        KeptTree {
            tree: built.tree,
            slice: &slice,
            drawn: DrawnValues { gradient: args.output.palette, are_labels: Some(false), labels: &[], nodata: None },
            report: &report,
            limit: self.limit,
            control: &self.control,
            voice: self.voice,
        }
        .write(trees, outputs)
    }

    /// The plan, of which the points' bounds decide what was not chosen.
    fn plan<const K: usize>(&self) -> Result<Plan<K>, Error> {
        let plan = self.request.computed.points_plan::<K>(self.points.batches().extent()).inspect_err(|_| {
            if self.args.input.reading.points.coordinates.is_some() {
                let way = "--coordinates=cells takes them for cells, of a domain of any size";
                self.voice.say(format_args!("orthant: the numbers are taken for positions of points; {way}"));
            }
        })?;
        Ok(plan)
    }

    /// A file to sort points in that memory does not hold; says so.
    fn room(&self, bytes: u64, place: &Path) -> io::Result<File> {
        let (text, folder) = (Bytes(bytes.into()), place.display());
        self.voice.say(format_args!(
            "orthant: memory does not hold the points: {text} are sorted in a file without a name in {folder}"
        ));
        tempfile::tempfile_in(place)
    }

    /// What a report says of the points.
    fn built_from(&self, path: PathBuf, inside: u64, sorting_seconds: f64, cell: CellType) -> BuiltFrom {
        let (read, reading_seconds) = (self.points.batches().count(), self.reading_seconds);
        let points = Some(PointsRead { read, inside, reading_seconds, sorting_seconds });
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        let (order, endian, nan) = (IndexOrder::C, Endian::Little, NotANumber::Error);
        let input = ReadFrom { path, member: None, order, endian, bytes, nan };
        BuiltFrom { input, points, cell, predicate: Predicate::EXACT }
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
