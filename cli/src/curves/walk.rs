//! `orthant curves walk`: the regions of a level in code order.

use std::io::{BufWriter, Write};

use clap::Args;

use crate::error::Error;
use crate::options::one_of;
use crate::stdout;
use orthant::curve::CurveKind;

/// Options of `curves walk`.
#[derive(Debug, Args)]
pub(crate) struct WalkOptions {
    /// The curve
    #[arg(long, value_parser = one_of!(CurveKind), default_value = "hilbert")]
    pub(crate) curve: CurveKind,
    /// Dimensions
    #[arg(long, default_value_t = 2)]
    pub(crate) dim: usize,
    /// Initial split: one number or one per axis
    #[arg(short, long, value_parser = numbers, default_value = "1")]
    pub(crate) g: std::vec::Vec<u32>,
    /// Recurrent split: one number or one per axis
    #[arg(short, long, value_parser = numbers, default_value = "2")]
    pub(crate) r: std::vec::Vec<u32>,
    /// The level
    #[arg(long, default_value_t = 2)]
    pub(crate) level: u32,
}

/// `N`, `N1xN2x..`.
fn numbers(text: &str) -> Result<Vec<u32>, String> {
    orthant::choice::ChoiceValue::read(text, 0..=u64::MAX)
}

/// Prints a walk.
pub(super) fn walk(args: WalkOptions) -> Result<(), Error> {
    let WalkOptions { curve, dim, g, r, level } = args;
    let wrong = || Error::Input(format!("--dim {dim}: between 1 and {} dimensions are supported", orthant::MAX_DIM));
    orthant::with_dimensions!(dim, K => regions::<K>(curve, &g, &r, level), else Err(wrong()))
}

/// Prints the coordinates of every region of `level` in code order.
fn regions<const K: usize>(curve: CurveKind, g: &[u32], r: &[u32], level: u32) -> Result<(), Error> {
    let axes = |flag: &str, numbers: &[u32]| -> Result<[u32; K], Error> {
        match numbers[..] {
            [number] => Ok([number; K]),
            _ => numbers[..]
                .try_into()
                .map_err(|_| Error::Input(format!("{flag} has {} axes; --dim is {K}", numbers.len()))),
        }
    };
    let (g, r) = (axes("--g", g)?, axes("--r", r)?);
    if let Some(axis) = (0..K).find(|&j| g[j] == 0) {
        return Err(Error::Input(format!("--g 0 on axis {axis}: at least 1 is needed")));
    }
    if let Some(axis) = (0..K).find(|&j| r[j] == 0) {
        return Err(Error::Input(format!("--r 0 on axis {axis}: at least 1 is needed")));
    }
    let encoding = curve.encoding(g, r, level)?;
    let mut out = BufWriter::new(stdout::lock()?);
    let regions = (0..K).fold(1u128, |regions, j| regions * u128::from(g[j]) * u128::from(r[j]).pow(level));
    let mut code = 0;
    while u128::from(code) < regions {
        let coords = encoding.decode(level, code).map(|c| c.to_string());
        writeln!(out, "{}", coords.join(" ")).map_err(stdout::failed)?;
        code += 1;
    }
    out.flush().map_err(stdout::failed)
}
