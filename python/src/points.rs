//! Trees of points.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use orthant::field::{FieldData, FieldKind};
use orthant::points::{PointAttribute, Points, PointsValue};
use orthant::tree::{Census, FromPoints, NotANumber, Predicate, TreeInfo};
use orthant::with_dimensions;
use orthant::{Built, Control, Keep, PointsRead, ReadFrom, Report, Request};
use orthant_formats::input::{Endian, IndexOrder, PointsFile};
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::build::pool;
use crate::error::{Failure, guarded};
use crate::options::{Given, PointsOptions};
use crate::tree::{CoreTree, Held, Stock};
use crate::watch::{Watcher, watched};

/// A tree of points in a file, or of coordinates: the bytes of doubles, and how many of them a point has. `values` are the bytes of a
/// double for each point.
#[pyfunction]
#[pyo3(signature = (path, coordinates, values, options, progress))]
pub(crate) fn build_points(
    py: Python<'_>,
    path: Option<PathBuf>,
    coordinates: Option<(Vec<u8>, usize)>,
    values: Option<Vec<u8>>,
    options: Given,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreTree> {
    let options = PointsOptions::of(options)?;
    let start = Instant::now();
    let points = py.detach(|| guarded(|| read(path.as_ref(), coordinates, values, &options)))?;
    let reading_seconds = start.elapsed().as_secs_f64();
    let points = Arc::new(points);
    let mut request = Request::new(FieldKind::Points).data(FieldData::Points(Arc::clone(&points)));
    request.computed = options.computed.clone();
    let bytes = path.as_ref().and_then(|path| path.metadata().ok()).map_or(points.bytes(), |metadata| metadata.len());
    let (order, endian, nan) = (IndexOrder::C, Endian::HERE, NotANumber::Error);
    let from = ReadFrom { path: path.unwrap_or_default(), member: None, order, endian, bytes, nan };
    let control = Arc::new(Control::default());
    let made = Made { options: &options, points: &points, request, from, reading_seconds, control: &control };
    let tree = with_dimensions!(
        points.axes(), K => {
            let cells = made.request.computed.points_plan::<K>(points.extent()).map_err(Failure::from)?.domain().cells();
            watched(py, &Watcher { progress, cells, leave: None }, &control, |_| made.tree::<K>())?
        },
        else return Err(Failure::Value("the number of coordinates was checked".into()).into())
    );
    Ok(tree)
}

/// The numbers that bytes are.
fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect()
}

fn read(
    path: Option<&PathBuf>,
    coordinates: Option<(Vec<u8>, usize)>,
    values: Option<Vec<u8>>,
    options: &PointsOptions,
) -> Result<Points, Failure> {
    if let Some((bytes, axes)) = coordinates {
        let wrong = |error: orthant::points::PointsError| Failure::Value(error.to_string());
        let points = Points::new(axes, doubles(&bytes)).map_err(wrong)?;
        return match values {
            None => Ok(points),
            Some(values) => points.attribute(PointAttribute::new("values", &doubles(&values))).map_err(wrong),
        };
    }
    let Some(path) = path else { return Err(Failure::Type("points are in a file or in an array".into())) };
    let file = PointsFile::of(path)?;
    let file = options.columns.as_ref().map_or(file.clone(), |columns| file.columns(columns));
    let file = options.attribute.as_ref().map_or(file.clone(), |name| file.attribute(name));
    Ok(file.read()?)
}

/// What a tree is made of.
struct Made<'m> {
    options: &'m PointsOptions,
    points: &'m Points,
    request: Request,
    from: ReadFrom,
    reading_seconds: f64,
    control: &'m Control,
}

impl Made<'_> {
    fn tree<const K: usize>(&self) -> Result<CoreTree, Failure> {
        let plan = self.request.computed.points_plan::<K>(self.points.extent())?;
        let value = match self.request.computed.value {
            None => PointsValue::Occupied,
            Some(value) => value.of_points().ok_or_else(|| {
                Failure::Value(format!("value {value}: points have occupied, count, min, max and mean"))
            })?,
        };
        let limit = self.options.mem_limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.points.bytes()));
        let made = FromPoints::new(&plan, self.points, value)?.mem_limit(limit).control(self.control);
        let pool = self.options.threads.map(pool).transpose()?;
        let start = Instant::now();
        let work = || {
            let inside = made.inside()?;
            let sorting_seconds = start.elapsed().as_secs_f64();
            let tree = made.tree()?;
            let wall = start.elapsed();
            let mut census = Census::new(&plan, 0, true);
            census.add(&tree);
            let (mut counts, checksum) = census.counts();
            counts.times.wall = wall;
            let read = self.points.len() as u64;
            let read = PointsRead { read, inside, reading_seconds: self.reading_seconds, sorting_seconds };
            Ok::<_, Failure>((tree, read, counts, checksum))
        };
        let (tree, read, counts, checksum) = match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        }?;
        let threads = pool.as_ref().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
        let device = orthant_cli::Machine::look().cpu;
        let (input, points, keep, predicate) = (Some(self.from.clone()), Some(read), Keep::Regions, Predicate::EXACT);
        let (counts, cell, device) = (&counts, tree.kind(), &*device);
        let built = Built { input, points, counts, cell, predicate, keep, threads, device, checksum };
        let report = Report::bottom_up(self.request.computation(&plan), built);
        let info = TreeInfo::of(&plan).source(self.request.title());
        let report = serde_json::to_value(report).ok();
        Ok(CoreTree(Arc::new(Held { parts: Stock::Memory(Box::new(tree)), info, report, path: None, objects: None })))
    }
}
