//! Runs: requests, targets, reports.

mod array;
mod built;
mod chosen_splits;
mod computation;
mod domain_axes;
mod list;
mod of_data;
mod points;
mod points_read;
mod read_from;
mod report;
mod request;
mod run;
mod stages;
mod start;
mod target;

pub use built::Built;
pub use computation::Computation;
pub use points_read::PointsRead;
pub use read_from::ReadFrom;
pub use report::{AutoScheme, CellsReport, LevelCells, LevelReport, Ran, Report, SCHEMA};
pub use request::{Computed, Request};
pub use run::{Run, run};
pub use stages::{SecondsByStage, StageClock};
pub use start::StartingScheme;
pub use target::{BackendKind, Target};
