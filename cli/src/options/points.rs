//! The options of points: which columns of their file are read.

use clap::Args;
use clap::builder::BoolishValueParser;
use orthant::input::{InputError, PointsFile, PointsFormat, Wrong};

use super::heading;
use std::path::Path;

/// Options of points.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = heading::POINTS)]
pub(crate) struct PointsOptions {
    /// The columns that are coordinates, by name or by number from 1 on [default: x,y,z, else the first three]
    ///
    /// 2 to 6 of them, as in --columns x,y,z,time or --columns 1,2. Of PLY they are properties of vertices.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "ORTHANT_COLUMNS", hide_short_help = true)]
    pub(crate) columns: Option<Vec<String>>,
    /// The column that --value min, max and mean are made of, by name or by number
    #[arg(long, value_name = "NAME", env = "ORTHANT_ATTRIBUTE", hide_short_help = true)]
    pub(crate) attribute: Option<String>,
    /// Take an array (.npy) for coordinates of points: one in each row, or in each column where there are few rows
    #[arg(long, value_parser = BoolishValueParser::new(), env = "ORTHANT_COORDINATES", hide_short_help = true)]
    pub(crate) coordinates: bool,
}

impl PointsOptions {
    /// True if a file is to be taken for points.
    pub(crate) fn takes(&self, path: &Path) -> bool {
        (self.coordinates && PointsFormat::of(path).is_some()) || PointsFormat::is_points(path)
    }

    /// The file, with the columns that are read.
    ///
    /// # Errors
    /// [`Wrong::NoFormat`] if points are not read from files of this name.
    pub(crate) fn file(&self, path: &Path) -> Result<PointsFile, InputError> {
        let file = PointsFile::of(path)?;
        let file = match &self.columns {
            Some(columns) => file.columns(columns),
            None => file,
        };
        Ok(match &self.attribute {
            Some(name) => file.attribute(name),
            None => file,
        })
    }

    /// What was given, by name.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("columns", self.columns.is_some()),
            ("attribute", self.attribute.is_some()),
            ("coordinates", self.coordinates),
        ];
        given.into_iter().filter(|given| given.1).map(|given| given.0).collect()
    }

    /// The options that a wrong file follows from.
    pub(crate) fn about(wrong: &Wrong) -> &'static [&'static str] {
        match wrong {
            Wrong::Field { field, .. } if field.starts_with("column") => &["columns", "attribute", "input"],
            _ => &["input"],
        }
    }
}
