//! The options of the array that `run array` reads: its file, and how cells lie in it. A mesh is named by the same option.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use orthant::CellType;
use orthant::choice::number;
use orthant::field::FieldKind;
use orthant::tree::{NotANumber, Predicate};
use orthant_formats::input::{About, Endian, Format, IndexOrder, MeshFormat, PointsFormat};

use super::heading;
use super::points::PointsOptions;
use super::predicate::PredicateOptions;
use super::spacing::Spacing;
use super::values::one_of;
use crate::error::Error;

/// Options of the array.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::ARRAY)]
pub(crate) struct InputOptions {
    /// The array: a file or a folder whose format is known, or cells alone; or the file of a mesh or of points
    #[arg(long, value_name = "FILE", env = "ORTHANT_INPUT", long_help = formats(), hide_short_help = true)]
    pub(crate) input: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

/// How the file of an array is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = heading::ARRAY)]
pub(crate) struct ReadingOptions {
    /// Read the files that a header names outside of its own folder
    ///
    /// Headers of NRRD (.nhdr) and MetaImage (.mhd) name the files of their cells. By default these lie in the header's folder or below:
    /// a header that names another file, by an absolute path, by .. or through a link, is refused, and the message says which file it
    /// would be. With --follow that file is read.
    #[arg(long, value_parser = BoolishValueParser::new(), env = "ORTHANT_FOLLOW", hide_short_help = true)]
    pub(crate) follow: bool,
    /// The type of the cells in a file of cells alone
    #[arg(long, value_parser = one_of!(CellType), value_name = "TYPE", env = "ORTHANT_DTYPE", hide_short_help = true)]
    pub(crate) dtype: Option<CellType>,
    /// The byte where they begin [default: 0]
    #[arg(long, value_parser = offset, value_name = "BYTE", env = "ORTHANT_OFFSET", hide_short_help = true)]
    pub(crate) offset: Option<u64>,
    /// Which index is the fastest: c, the last, which is axis 0, or fortran, the first [default: c]
    #[arg(long, value_parser = one_of!(IndexOrder), env = "ORTHANT_ORDER", hide_short_help = true)]
    pub(crate) order: Option<IndexOrder>,
    /// Which byte of a cell comes first [default: little]
    #[arg(long, value_parser = one_of!(Endian), env = "ORTHANT_ENDIAN", hide_short_help = true)]
    pub(crate) endian: Option<Endian>,
    /// What cells are: names of things, or measured numbers [default: as the file says, else as the cells look]
    ///
    /// Labels are drawn in a colour each, and no tolerance is proposed for them: it would make labels equal that are not.
    #[arg(long, value_name = "KIND", env = "ORTHANT_KIND", hide_short_help = true)]
    pub(crate) kind: Option<CellKind>,
    /// Names and colours of labels, kept in the tree
    ///
    /// A table as FreeSurfer (LUT.txt), ITK-SNAP, FSL, MRIcron or AAL (.txt) write it, of BIDS (.tsv), or with a header (.csv).
    #[arg(long, value_name = "FILE", env = "ORTHANT_LABEL_TABLE", hide_short_help = true)]
    pub(crate) label_table: Option<PathBuf>,
    /// How far cells lie apart, with a unit: 0.5mm, or 0.5,0.5,2mm with x first [default: as the file says, else 1 without a unit]
    ///
    /// One length is that of all axes but those of a series, such as time. Axes begin at 0 then. It takes the place of what the file says,
    /// and cannot go with --domain, which says where cells lie, too.
    #[arg(long, alias = "voxel", value_name = "LENGTHS", env = "ORTHANT_SPACING", hide_short_help = true)]
    pub(crate) spacing: Option<Spacing>,
    #[command(flatten)]
    pub(crate) predicate: PredicateOptions,
    #[command(flatten)]
    pub(crate) points: PointsOptions,
}

impl ReadingOptions {
    /// What is made of cells of a type: the predicate, the word of those without data, and what is done about NaNs.
    ///
    /// # Errors
    /// [`Error`] names the option, its value and what is allowed.
    pub(crate) fn predicate_of(
        &self,
        kind: CellType,
        about: &About,
    ) -> Result<(Predicate, Option<u64>, NotANumber), Error> {
        let (predicate, nodata) = self.predicate.of(kind, about.nodata)?;
        if self.label_table.is_some() && !predicate.keeps_cells() {
            let reason =
                "--label-table: cells become others by --threshold or --step, and keep no names; leave one out";
            return Err(Error::Input(reason.into()).about(&["label-table", "threshold", "step"]));
        }
        Ok((predicate, nodata, self.predicate.not_a_number()))
    }
}

impl ReadingOptions {
    /// Checks that nothing was given that is of points.
    pub(crate) fn no_points(&self) -> Result<(), Error> {
        match &self.points.given()[..] {
            [] => Ok(()),
            names => {
                let reason = format!(
                    "--{}: of points and lists of cells; leave out, or use run points or --coordinates=cells",
                    names.join(", --")
                );
                Err(Error::Input(reason).about(names))
            }
        }
    }
}

/// What cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CellKind {
    /// Names of things
    Labels,
    /// Measured numbers
    Values,
}

/// The formats that can be read, each with what its files end with.
pub(crate) fn formats() -> String {
    let format = |format: &Format| {
        let endings: Vec<_> = format.extensions().iter().map(|ending| format!(".{ending}")).collect();
        let part = format.part().map_or(String::new(), |mark| format!("; FILE{mark}NAME for an array of several"));
        let endings = if endings.is_empty() { String::new() } else { format!(" ({}{part})", endings.join(", ")) };
        format!("{}{endings}", format.name())
    };
    let known: Vec<_> = Format::all().iter().map(format).collect();
    let hdf5 = if cfg!(feature = "hdf5") { "" } else { " HDF5 and netCDF-4 need the feature hdf5." };
    format!(
        "The array: a file or a folder whose format is known, or cells alone\n\nFormats: {}.{hdf5} Size and type come from the file, and so \
         does what it says of axes, units and labels. A packed file, or one in several parts, is first unpacked into a temporary file \
         without a name (TMPDIR). Any other file is taken for cells alone: --dtype and --size say what they are.\n\n\
         Of the workload mesh: a file of triangles, {}. Of the workload points: {}.",
        known.join("; "),
        MeshFormat::endings(),
        PointsFormat::endings()
    )
}

fn offset(text: &str) -> Result<u64, String> {
    number(text, 0..=u64::MAX)
}

impl InputOptions {
    /// A file that is read as `reading` says.
    pub(crate) fn of(path: &Path, reading: ReadingOptions) -> Self {
        Self { input: Some(path.to_owned()), reading }
    }

    /// Checks that a field, which reads no array, is given none.
    pub(crate) fn refused_by(&self, workload: FieldKind) -> Result<(), Error> {
        let (mesh, points) = (workload == FieldKind::Mesh, workload == FieldKind::Points);
        if !points {
            self.reading.no_points()?;
        }
        let given = [
            ("input", self.input.is_some() && !mesh && !points),
            ("follow", self.reading.follow),
            ("kind", self.reading.kind.is_some()),
            ("label-table", self.reading.label_table.is_some()),
            ("spacing", self.reading.spacing.is_some()),
        ];
        let input: Vec<&'static str> = given.into_iter().filter(|given| given.1).map(|given| given.0).collect();
        match &[input, self.reading.predicate.given(), self.raw()].concat()[..] {
            [] => Ok(()),
            names => {
                let why = match mesh {
                    true => "of arrays; leave out for a mesh".to_owned(),
                    false if points => "of arrays; leave out for points".to_owned(),
                    false => format!("{workload} is computed; leave out, or use run array"),
                };
                let reason = format!("--{}: {why}", names.join(", --"));
                Err(Error::Input(reason).about(names))
            }
        }
    }

    /// True if the file is a list of cells.
    pub(crate) fn is_list(&self) -> bool {
        self.input.as_deref().is_some_and(|path| self.reading.points.lists(path))
    }

    /// What was given about cells alone.
    pub(crate) fn raw(&self) -> Vec<&'static str> {
        let ReadingOptions { dtype, offset, order, endian, .. } = &self.reading;
        let given = [
            ("dtype", dtype.is_some()),
            ("offset", offset.is_some()),
            ("order", order.is_some()),
            ("endian", endian.is_some()),
        ];
        given.into_iter().filter(|given| given.1).map(|given| given.0).collect()
    }

    /// The file, and the array in it that is named after a colon, unless a file has just that name.
    ///
    /// # Errors
    /// [`Error::Input`] if no file is named.
    pub(crate) fn parts(&self) -> Result<(PathBuf, Option<String>), Error> {
        let Some(path) = &self.input else {
            return Err(Error::Input("--input: name the file of the array, or the folder of its slices".into()));
        };
        Ok(Format::parts(path))
    }
}
