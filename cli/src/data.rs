//! Data that a request is made of, read from the files that options name.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orthant::field::{FieldData, FieldError, FieldKind, StoredArray};
use orthant::list::StoredList;
use orthant::points::{PointBatches, Points};
use orthant::result::{MemoryError, Stored, dense_fits};
use orthant::tree::{NotANumber, Predicate, Source, TreeError, TreeInfo};
use orthant::{Computed, Plan, ReadFrom, Request, with_dimensions};
use orthant_formats::input::{InputError, InputFault, MeshFormat, Numbers, PointsFile, PointsFormat, PointsStream};

use crate::error::Error;
use crate::input::{Input, name, wrong};
use crate::list_input::ListInput;
use crate::options::{InputOptions, PointsOptions, ReadingOptions};
use crate::output::has_extension;
use crate::output::legend::DrawnValues;
use crate::output::png::Gradient;
use crate::voice::Voice;

/// Reads what a request is made of: the array, the mesh or the points that it runs. The array is returned, too.
///
/// # Errors
/// As [`Input::open`]; [`Error::Input`] names what is given for another field, or what is missing.
pub(crate) fn read_for(
    options: &InputOptions,
    request: &mut Request,
    voice: Voice,
) -> Result<Option<WholeArray>, Error> {
    if request.workload == FieldKind::Array && options.is_list() {
        request.data = Some(FieldData::from(list(options, request, voice)?));
        return Ok(None);
    }
    if request.workload == FieldKind::Array {
        let array = WholeArray::read(options, &request.computed, request.how.mem_limit, voice)?;
        request.data = Some(FieldData::Array(Arc::clone(&array.cells)));
        return Ok(Some(array));
    }
    options.refused_by(request.workload)?;
    if request.workload == FieldKind::Points {
        request.data = Some(FieldData::from(points(options, request.how.mem_limit, voice)?));
    }
    if request.workload == FieldKind::Mesh {
        request.data = Some(mesh(options.input.as_deref())?);
    }
    Ok(None)
}

/// Reads a list of cells.
fn list(options: &InputOptions, request: &Request, voice: Voice) -> Result<StoredList, Error> {
    if options.reading.points.most.is_some() {
        let reason = "--most: a strategy divides until cells are equal. Leave it out, or leave out what only strategies have: --strategy, \
                      --backend cuda, --explore";
        return Err(Error::Input(reason.into()).about(&["most", "strategy"]));
    }
    ListInput::open(options, &request.computed)?.stored(&request.computed, request.how.mem_limit, voice)
}

/// Points, as far as memory holds them.
pub(crate) enum PointsInput {
    Memory(Arc<Points>),
    /// Read piece by piece, as often as they are asked for.
    Stream(Box<PointsStream>),
}

impl PointsInput {
    /// Reads points into memory, or goes through them once if `limit` bytes do not hold them.
    ///
    /// # Errors
    /// As [`points`].
    pub(crate) fn open(options: &InputOptions, limit: Option<u64>, voice: Voice) -> Result<Self, Error> {
        let (path, file) = points_file(options)?;
        // The file, its numbers and what is sorted of them: in text a number may have two bytes, and takes eight.
        let times = match PointsFormat::of(path) {
            Some(PointsFormat::Table) => 8,
            Some(PointsFormat::Npy) => 3,
            _ => 0,
        };
        let need = std::fs::metadata(path).map_or(0, |metadata| metadata.len()).saturating_mul(times);
        match limit.is_some_and(|limit| need > limit) {
            true => Ok(Self::Stream(Box::new(file.stream().map_err(refused_points)?))),
            false => Ok(Self::Memory(Arc::new(points(options, limit, voice)?))),
        }
    }

    /// The points, a few at a time.
    pub(crate) fn batches(&self) -> &dyn PointBatches {
        match self {
            Self::Memory(points) => &**points,
            Self::Stream(stream) => &**stream,
        }
    }

    /// A hash of their content.
    pub(crate) fn hash(&self) -> String {
        match self {
            Self::Memory(points) => points.hash(),
            Self::Stream(stream) => stream.hash().to_owned(),
        }
    }

    /// Bytes that they take in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Memory(points) => points.bytes(),
            Self::Stream(_) => 0,
        }
    }
}

/// The file of points, and where it is.
fn points_file(options: &InputOptions) -> Result<(&Path, PointsFile), Error> {
    let endings = PointsFormat::endings();
    let Some(path) = options.input.as_deref() else {
        let example = "`orthant run points --input scan.xyz -n 512 -o scan.tree.zarr`";
        return Err(Error::Input(format!("--input: name the file of the points ({endings}), as in {example}")));
    };
    Ok((path, options.reading.points.file(path).map_err(refused_points)?))
}

/// What is wrong with a file of points.
fn refused_points(error: InputError) -> Error {
    let about = PointsOptions::about(&error.wrong);
    let error = match &error.wrong {
        InputFault::NoFormat { known } => {
            let path = error.path.display();
            Error::Input(format!(
                "--input {path}: the name of points ends with {known}; `orthant run array` reads arrays"
            ))
        }
        // A word in a table of comma-separated values is a name.
        InputFault::Field { value, allowed, .. }
            if &**allowed == "a number is needed"
                && ["csv", "tsv", "txt"].iter().any(|ending| has_extension(&error.path, ending))
                && value.starts_with(|c: char| c.is_alphabetic() || c == '\'') =>
        {
            let path = error.path.display();
            Error::Input(format!(
                "{error}; names of labels are given beside their array: `orthant tree build X.npy --label-table {path}`"
            ))
        }
        _ => Error::from(error),
    };
    error.about(about)
}

/// Reads points: all of them, which `limit` bytes have to hold.
///
/// # Errors
/// [`Error`] names the file, the line or the byte, and what is wrong there.
fn points(options: &InputOptions, limit: Option<u64>, voice: Voice) -> Result<Points, Error> {
    let (path, file) = points_file(options)?;
    // Text takes about as many bytes as its numbers.
    let need = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if let Some(limit) = limit.filter(|&limit| need > limit) {
        let error = MemoryError { what: Stored::Points, need: need.into(), limit: Some(limit) };
        return Err(Error::from(orthant::Error::from(error)).about(&["input", "mem-limit"]));
    }
    let points = file.read().map_err(refused_points)?;
    if points.left_out() > 0 {
        let (name, left_out) = (path.display(), points.left_out());
        voice.say(format_args!("orthant: {name}: {left_out} points that the file marks as not measured are left out"));
    }
    Ok(points)
}

fn mesh(path: Option<&Path>) -> Result<FieldData, Error> {
    let endings = MeshFormat::endings();
    let Some(path) = path else {
        let example = "`orthant run mesh --input part.stl -n 512 -o part.tree.zarr`";
        return Err(Error::Input(format!("--input: name the file of the mesh ({endings}), as in {example}")));
    };
    let Some(format) = MeshFormat::of(path) else {
        let path = path.display();
        let reason =
            format!("--input {path}: the name of a mesh ends with {endings}; `orthant run array` reads arrays");
        return Err(Error::Input(reason));
    };
    let mesh = format.read(path).map_err(|error| Error::from(error).about(&["input"]))?;
    Ok(FieldData::from(mesh))
}

/// An array whose cells are all in memory, as strategies divide it.
pub(crate) struct WholeArray {
    pub(crate) cells: Arc<StoredArray>,
    pub(crate) input: Input,
    /// What was made of the file's cells.
    pub(crate) predicate: Predicate,
    /// The word of cells without data.
    pub(crate) nodata: Option<u64>,
    /// Where they lay.
    pub(crate) from: ReadFrom,
}

impl WholeArray {
    /// Reads it.
    ///
    /// # Errors
    /// As [`Input::open`]; [`Error::Input`] of cells that count as one though they differ, which strategies do not know; if the cells
    /// take more than `limit` bytes.
    fn read(options: &InputOptions, computed: &Computed, limit: Option<u64>, voice: Voice) -> Result<Self, Error> {
        let ReadingOptions { predicate: asked, .. } = &options.reading;
        let within = [("tolerance", asked.tolerance.is_some()), ("iso", asked.iso.is_some())];
        if let Some((name, _)) = within.iter().find(|(_, given)| *given) {
            let reason = "it belongs to the pass from the cells up, and a strategy divides until cells are equal. Leave it out, or leave out \
                          what only strategies have: --strategy, --backend cuda, --explore";
            return Err(Error::Input(format!("--{name}: {reason}")).about(&[name, "strategy"]));
        }
        let input = Input::open(options, computed, voice)?;
        let k = input.file.layout().size.len();
        with_dimensions!(k, K => input.whole::<K>(options, limit), else unreachable!("a file of another number of axes is refused"))
    }

    /// What is known of the cells that are drawn.
    pub(crate) fn drawn_values(&self, gradient: Option<Gradient>, options: &ReadingOptions) -> DrawnValues<'_> {
        self.input.drawn_values(gradient, options, self.predicate.keeps_cells(), self.nodata)
    }

    /// The files that were read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        [std::slice::from_ref(&self.from.path), self.input.file.others()].concat()
    }

    /// What a tree of it says that it is made of.
    pub(crate) fn info<const K: usize>(&self, plan: &Plan<K>) -> TreeInfo {
        self.input.file.about().info(plan).source(self.cells.name()).predicate(self.predicate, self.nodata)
    }
}

impl Input {
    /// All cells, as the options have them.
    fn whole<const K: usize>(self, options: &InputOptions, limit: Option<u64>) -> Result<WholeArray, Error> {
        let file = self.file.source::<K>().map_err(wrong)?;
        let (size, kind) = (file.size(), file.kind());
        let (predicate, nodata, nan) = options.reading.predicate_of(kind, self.file.about())?;
        let numbers = Numbers(&file);
        let cells: &dyn Source<K> = if nan == NotANumber::Error { &numbers } else { &file };
        let (source, nodata) = (predicate.over(cells)?, predicate.nodata_word(kind, nodata)?);
        let all = size.iter().fold(1u128, |cells, &side| cells.saturating_mul(side.into()));
        let need = all.saturating_mul(source.kind().bytes().into());
        let too_much = || {
            Error::from(orthant::Error::from(FieldError::Memory { what: "the array", need }))
                .about(&["input", "mem-limit"])
        };
        dense_fits(Stored::Dense, all, source.kind(), limit)
            .map_err(|error| Error::from(orthant::Error::from(error)).about(&["input", "mem-limit"]))?;
        let whole = &source as &dyn Source<K>;
        let bytes = whole.whole().map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => too_much(),
            _ => Error::from(TreeError::Source(error)),
        })?;
        self.file.unchanged().map_err(wrong)?;
        let path = options.parts()?.0;
        let name = name(path.file_name().unwrap_or_default().as_ref(), self.member.as_deref());
        let stored = StoredArray::new(name, source.kind(), size.to_vec(), bytes).map_err(orthant::Error::from)?;
        let about = self.file.about();
        let stored =
            stored.window(about.window(size).map(|window| window.to_vec())).series(about.series(size).to_vec());
        let from = self.from(path, (all as u64).saturating_mul(kind.bytes()), nan);
        Ok(WholeArray { cells: Arc::new(stored), input: self, predicate, nodata, from })
    }
}
