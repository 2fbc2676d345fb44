//! The options of points: which columns of their file are read.

use clap::Args;
use orthant::choice::number;
use orthant::tree::Number;
use orthant_formats::input::{InputError, InputFault, ListFile, PointsFile, PointsFormat};

use super::heading;
use crate::error::Error;
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
    /// Take an array (.npy) for coordinates: of points (positions), or of cells (cells, whole numbers from 0 on) [default: positions]
    ///
    /// Of points there is one in each row, or in each column where there are few rows. With --coordinates=cells each row is a cell, and
    /// with --dim K a last column more is its value; all other cells are --background. A sparse matrix (.npz of scipy.sparse, .mtx) is a
    /// list of cells without it.
    #[arg(
        long, value_name = "KIND", value_parser = coordinates, num_args = 0..=1, require_equals = true,
        default_missing_value = "positions", env = "ORTHANT_COORDINATES", hide_short_help = true
    )]
    pub(crate) coordinates: Option<Coordinates>,
    /// Stop dividing a list of cells where a region has at most so many entries; 0 divides to the last level [default: 1024]
    #[arg(long, value_name = "N", value_parser = most, env = "ORTHANT_MOST", hide_short_help = true)]
    pub(crate) most: Option<u64>,
    /// The value of cells that a list does not name [default: 0]
    #[arg(
        long, value_name = "V", value_parser = background, allow_negative_numbers = true, env = "ORTHANT_BACKGROUND",
        hide_short_help = true
    )]
    pub(crate) background: Option<Number>,
}

/// What the numbers of an array of coordinates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coordinates {
    /// An array is an array.
    None,
    /// Places in the space of points.
    Positions,
    /// Numbers of cells.
    Cells,
}

fn coordinates(text: &str) -> Result<Coordinates, String> {
    match text.to_ascii_lowercase().as_str() {
        "positions" | "true" | "yes" | "on" | "1" | "y" | "t" => Ok(Coordinates::Positions),
        "cells" => Ok(Coordinates::Cells),
        "false" | "no" | "off" | "0" | "n" | "f" => Ok(Coordinates::None),
        _ => Err("positions or cells is needed".into()),
    }
}

fn most(text: &str) -> Result<u64, String> {
    number(text, 0..=u64::MAX)
}

fn background(text: &str) -> Result<Number, String> {
    text.parse().map_err(|error: orthant::tree::NoNumber| error.to_string())
}

impl PointsOptions {
    /// True if a file is to be taken for points.
    pub(crate) fn takes(&self, path: &Path) -> bool {
        let positions = self.coordinates == Some(Coordinates::Positions);
        (positions && PointsFormat::of(path).is_some()) || (!self.lists(path) && PointsFormat::is_points(path))
    }

    /// True if a file is to be taken for a list of cells.
    pub(crate) fn lists(&self, path: &Path) -> bool {
        self.coordinates == Some(Coordinates::Cells) || (self.coordinates.is_none() && ListFile::is_list(path))
    }

    /// The file, with the columns that are read.
    ///
    /// # Errors
    /// [`InputFault::NoFormat`] if points are not read from files of this name.
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
            ("coordinates", self.coordinates.is_some_and(|coordinates| coordinates != Coordinates::None)),
            ("most", self.most.is_some()),
            ("background", self.background.is_some()),
        ];
        given.into_iter().filter(|given| given.1).map(|given| given.0).collect()
    }

    /// Refuses what only lists of cells have.
    ///
    /// # Errors
    /// [`Error::Input`] names the options.
    pub(crate) fn no_list(&self) -> Result<(), Error> {
        let given = [
            ("coordinates=cells", self.coordinates == Some(Coordinates::Cells)),
            ("most", self.most.is_some()),
            ("background", self.background.is_some()),
        ];
        let names: Vec<&str> = given.into_iter().filter(|given| given.1).map(|given| given.0).collect();
        match &names[..] {
            [] => Ok(()),
            names => {
                let reason = format!(
                    "--{}: of lists of cells, and these are points; leave out, or give a list to tree build or run array",
                    names.join(", --")
                );
                let about: Vec<&str> = names.iter().map(|name| name.split('=').next().unwrap_or(name)).collect();
                Err(Error::Input(reason).about(&about))
            }
        }
    }

    /// The options that a wrong file follows from.
    pub(crate) fn about(wrong: &InputFault) -> &'static [&'static str] {
        match wrong {
            InputFault::Field { field, .. } if field.starts_with("column") => &["columns", "attribute", "input"],
            _ => &["input"],
        }
    }
}

/// Why an option is refused for a list of cells.
pub(crate) const WRONG_FOR_LISTS: &str = "of arrays and points; leave out for a list of cells";
