//! What stands for the reader of LAS and LAZ where the feature `las` is off.

use crate::input::error::InputFault;
use crate::input::points::columns::PointColumns;
use orthant::points::Points;

pub(super) fn parse(_: &[u8], _: &PointColumns) -> Result<Points, InputFault> {
    let reason = "LAS and LAZ need a program that is built with the feature las: `cargo build --release --features las`; or \
                  `pdal translate scan.las scan.ply` makes points that this one reads";
    Err(InputFault::Other(reason.into()))
}
