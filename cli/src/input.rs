//! The array that is read: a file that is opened as its name and the options say.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use orthant::per_axis::text;
use orthant::tree::NotANumber;
use orthant::{Bytes, Computed, ReadFrom};
use orthant_formats::input::{
    Access, ArrayFile, Endian, Format, IndexOrder, InputError, InputFault, LabelTable, Layout, MeshFormat, PointsFormat,
};

use crate::error::Error;
use crate::options::{CellKind, InputOptions, ReadingOptions, spacing_of};
use crate::output::has_extension;
use crate::output::legend::DrawnValues;
use crate::output::png::Gradient;
use crate::system::bare;
use crate::voice::Voice;

/// What files of formats are called that only a feature brings.
const ABSENT: &[(&str, &str)] = if cfg!(feature = "hdf5") {
    &[]
} else {
    &[("h5", "hdf5"), ("hdf5", "hdf5"), ("he5", "hdf5"), ("nc", "hdf5"), ("nc4", "hdf5")]
};

/// What makes an array, or a format that is read, of files that are not.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["dcm", "dicom", "ima"], "dcm2niix makes NIfTI of DICOM"),
    (&["mgz", "mgh"], "mri_convert makes NIfTI of it"),
    (&["png", "jpg", "jpeg", "bmp", "gif", "webp"], "ImageMagick's `magick FILE X.tif` makes TIFF of a picture"),
    (&["vti", "vtk", "vtu"], "ParaView and meshio save its arrays for NumPy"),
    (&["pcd"], "`pdal translate FILE X.ply` makes points of it that are read"),
    (&["mat", "mtx"], "load it in Python and save an array by numpy.save"),
];

/// An array that was opened.
pub(crate) struct Input {
    pub(crate) file: ArrayFile,
    /// Of an archive.
    pub(crate) member: Option<String>,
}

impl Input {
    /// Opens an array by its name alone: one in a file that says itself how cells lie. Its header may name files elsewhere if `follow`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn named(path: &Path, follow: bool, voice: Voice) -> Result<Self, Error> {
        let options = InputOptions::of(path, ReadingOptions { follow, ..ReadingOptions::default() });
        if let Err(source) = options.parts()?.0.metadata() {
            return Err(Error::File { path: path.to_owned(), source });
        }
        if Format::of(&options.parts()?.0).is_none() {
            let reason = format!("--against {}: neither a tree nor of {}", path.display(), Format::endings());
            return Err(Error::Input(reason));
        }
        Self::open(&options, &Computed::default(), voice)
    }

    /// Opens the array.
    ///
    /// # Errors
    /// [`Error`] names the file, the byte, and what is wrong there, or the option that is missing or too much.
    pub(crate) fn open(options: &InputOptions, computed: &Computed, voice: Voice) -> Result<Self, Error> {
        let (path, member) = options.parts()?;
        options.reading.no_points()?;
        let raw = options.raw();
        // What a folder holds says how its cells lie; a file that no format has a name for may be cells alone.
        if let Some(format) = Format::of(&path) {
            if !raw.is_empty() {
                let reason = format!("--{}: {} says so itself; leave out", raw.join(", --"), path.display());
                return Err(Error::Input(reason).about(&raw));
            }
            let access = Access::follow(options.reading.follow);
            let file = ArrayFile::open_with(&path, member.as_deref(), access, |bytes| room(&path, bytes, voice));
            let file = file.map_err(|error| match (format.part(), error) {
                (
                    Some(mark),
                    error @ InputError { wrong: InputFault::Member { wanted: None, members: 1.., .. }, .. },
                ) => {
                    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    Error::Input(format!("{error}, as in {file}{mark}NAME")).about(&["input"])
                }
                (_, error) => misnamed(&path).unwrap_or_else(|| wrong(error)),
            })?;
            let file = spaced(named(file, options)?, options, computed, voice)?;
            if let Some(points) = like_points(file.layout()) {
                let name = path.display();
                voice.say(format_args!(
                    "orthant: {name}: an array of {} cells, which looks like {points}",
                    text(&file.layout().size)
                ));
            }
            for remark in &file.about().remarks {
                voice.say(format_args!("orthant: {}: {remark}", path.display()));
            }
            return Ok(Self { file, member });
        }
        let (Some(kind), Some(size)) = (options.reading.dtype, &computed.size) else {
            let missing = if options.reading.dtype.is_none() { "dtype" } else { "size" };
            let unknown = match ABSENT.iter().find(|(ending, _)| has_extension(&path, ending)) {
                Some((_, feature)) => format!("of a format that this program was built without (feature {feature})"),
                None if PointsFormat::is_points(&path) => {
                    let name = path.display();
                    format!(
                        "points; `orthant tree build {name} -o X.tree.zarr` or `orthant run points --input {name}` reads them"
                    )
                }
                None if MeshFormat::of(&path).is_some() => {
                    let name = path.display();
                    format!(
                        "a mesh; `orthant tree build {name} -o X.tree.zarr` or `orthant run mesh --input {name}` reads it"
                    )
                }
                None => match ELSEWHERE
                    .iter()
                    .find(|(endings, _)| endings.iter().any(|ending| has_extension(&path, ending)))
                {
                    Some((_, way)) => format!("of a format that is not read; {way}"),
                    None => "of no format that is known (orthant tree build --help lists them)".into(),
                },
            };
            let path = path.display();
            // What was not typed is not to blame.
            let blamed = if raw.is_empty() { String::new() } else { format!("--{missing}: ") };
            let reason = format!("{blamed}{path} is {unknown}; cells alone need --dtype and --size");
            return Err(Error::Input(reason).about(&["input", missing]));
        };
        let size = match (&size[..], computed.dim) {
            ([side], Some(k)) if (1..=orthant::MAX_DIM).contains(&k) => vec![*side; k],
            (size, _) => size.to_vec(),
        };
        let layout = Layout {
            kind,
            order: options.reading.order.unwrap_or(IndexOrder::C),
            endian: options.reading.endian.unwrap_or(Endian::Little),
            offset: options.reading.offset.unwrap_or(0),
            size,
        };
        let words = format!("--size {} of --dtype {kind}", text(&layout.size));
        let file = ArrayFile::raw(&path, layout).map_err(|error| match &error.wrong {
            InputFault::Length { .. } | InputFault::Extent { .. } | InputFault::Axes { .. } => {
                let reason = format!("{words}: {error}");
                Error::Input(reason).about(&["input", "size", "dim", "dtype", "offset"])
            }
            _ => wrong(error),
        })?;
        Ok(Self { file: spaced(named(file, options)?, options, computed, voice)?, member: None })
    }

    /// True if the file says that cells are labels, or whoever gives it; None if nobody says.
    pub(crate) fn are_labels(&self, options: &ReadingOptions) -> Option<bool> {
        let said = self.file.about().labelled || !self.file.about().labels.is_empty();
        options.kind.map(|kind| kind == CellKind::Labels).or(said.then_some(true))
    }
}

impl Input {
    /// What is known of the cells that are drawn, which are the file's own if `kept`.
    pub(crate) fn drawn_values(
        &self,
        gradient: Option<Gradient>,
        options: &ReadingOptions,
        kept: bool,
        nodata: Option<u64>,
    ) -> DrawnValues<'_> {
        // Cells that became others are no labels of the file's.
        let labels = if kept { &self.file.about().labels[..] } else { &[] };
        DrawnValues { gradient, are_labels: self.are_labels(options).filter(|_| kept), labels, nodata }
    }

    /// Where the cells lay, `bytes` of them.
    pub(crate) fn from(&self, path: PathBuf, bytes: u64, nan: NotANumber) -> ReadFrom {
        let Layout { order, endian, .. } = *self.file.layout();
        ReadFrom { path, member: self.member.clone(), order, endian, bytes, nan }
    }
}

/// The error of a file that has another format's first bytes than its name says.
fn misnamed(path: &Path) -> Option<Error> {
    const FIRST: [(&[u8], &str, &str); 6] = [
        (b"\x93NUMPY", "a NumPy file", "npy"),
        (b"NRRD000", "an NRRD file", "nrrd"),
        (b"II*\0", "a TIFF file", "tif"),
        (b"MM\0*", "a TIFF file", "tif"),
        (b"\x89HDF", "an HDF5 file", "h5"),
        (b"PK\x03\x04", "a zip archive, as NumPy's are", "npz"),
    ];
    // A pipe would be waited for.
    path.metadata().ok().filter(|found| found.is_file())?;
    let mut first = Vec::new();
    File::open(path).ok()?.take(8).read_to_end(&mut first).ok()?;
    let (_, what, ending) = FIRST.into_iter().find(|(bytes, ..)| first.starts_with(bytes))?;
    let other = Format::of(path).map(Format::name) != Format::of(Path::new(&format!("x.{ending}"))).map(Format::name);
    other.then(|| {
        let reason = format!("{}: this is {what}: give it a name that ends in .{ending}", path.display());
        Error::Input(reason).about(&["input"])
    })
}

/// What a table of points looks like, and the option that reads it: many rows or columns of a few numbers with fractions; or many rows of
/// a few whole numbers, which are cells.
fn like_points(layout: &Layout) -> Option<String> {
    let &[fast, slow] = &layout.size[..] else { return None };
    let (few, many) = (fast.min(slow), fast.max(slow));
    let wide = layout.kind.bytes() >= 4 && fast == few;
    ((2..=6).contains(&few) && many >= 8 * few && (layout.kind.is_float() || wide)).then(|| {
        match layout.kind.is_float() {
            true => format!("{many} points of {few} coordinates; --coordinates reads points"),
            false => format!("a list of {many} cells of {few} coordinates; --coordinates=cells reads such a list"),
        }
    })
}

/// The same array, with names of its labels from a table if there is one.
fn named(mut file: ArrayFile, options: &InputOptions) -> Result<ArrayFile, Error> {
    if let Some(path) = &options.reading.label_table {
        if options.reading.kind == Some(CellKind::Values) {
            let reason = "--label-table: names labels, and --kind values says that cells are none; leave one out";
            return Err(Error::Input(reason.into()).about(&["label-table", "kind"]));
        }
        let table = LabelTable::open(path, file.layout().kind);
        file.name_labels(
            table.map_err(|error| Error::Input(format!("--label-table {error}")).about(&["label-table"]))?,
        );
    }
    Ok(file)
}

/// The same array, with the spacing that was given if there is one: it wins over that of the file, which is said.
fn spaced(mut file: ArrayFile, options: &InputOptions, computed: &Computed, voice: Voice) -> Result<ArrayFile, Error> {
    let Some(spacing) = &options.reading.spacing else { return Ok(file) };
    let wrong = |reason: String| Error::Input(format!("--spacing {spacing}: {reason}")).about(&["spacing"]);
    if computed.window.is_some() {
        let reason = "--domain says where cells lie, too; leave one of them out".to_owned();
        return Err(wrong(reason).about(&["spacing", "domain"]));
    }
    let axes = spacing.axes(file.about(), &file.layout().size).map_err(wrong)?;
    if let Some(own) = spacing_of(file.about()) {
        voice.say(format_args!("orthant: --spacing {spacing} is taken; the file says {own}"));
    }
    file.set_axes(axes);
    Ok(file)
}

/// A file and the array in it, as they are given.
pub(crate) fn name(file: &Path, member: Option<&str>) -> String {
    let separator = Format::of(file).and_then(Format::part).unwrap_or(":");
    member.map_or_else(|| file.display().to_string(), |member| format!("{}{separator}{member}", file.display()))
}

/// What is wrong with a file is about the option that names it.
pub(crate) fn wrong(error: InputError) -> Error {
    let error = match error {
        InputError { path, wrong: wrong @ InputFault::Outside { .. } } => {
            let name = path.display();
            let reason = format!("{name}: {wrong}; --follow reads it, or copy it beside the header");
            return Error::Input(reason).about(&["input", "follow"]);
        }
        InputError { path, wrong: wrong @ InputFault::Tree } => {
            let name = path.display();
            Error::Input(format!("{name}: {wrong}; orthant tree convert {name} X.npy makes one of it"))
        }
        error => error.into(),
    };
    error.about(&["input"])
}

/// A file without a name for what is unpacked, which goes with the process.
fn room(archive: &Path, bytes: u64, voice: Voice) -> io::Result<File> {
    let folder = std::env::temp_dir();
    let text = Bytes(bytes.into());
    let from = archive.display();
    voice.say(format_args!("orthant: {from}: {text} are unpacked in {} (TMPDIR)", folder.display()));
    tempfile::tempfile_in(&folder).map_err(|error| {
        let path = folder.clone();
        io::Error::new(error.kind(), Error::File { path, source: bare(error) })
    })
}
