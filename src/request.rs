//! A run as a person states it: names and numbers, before the dimension is a type.
//!
//! Everything that is left out takes the workload's default. [`Request::plan`] is the last place where input can be
//! wrong; below it there are only checked types.

use std::sync::Arc;

use crate::curve::CurveKind;
use crate::domain::{Domain, Sample};
use crate::error::Error;
use crate::escape::{Arithmetic, Precision};
use crate::how::How;
use crate::plan::{ExploreRule, Plan, Scheme};
use crate::workload::{Defaults, FieldOptions, WorkloadKind};

/// A built-in workload with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What a cell is worth.
    pub workload: WorkloadKind,
    /// k; None: from the number of extents, else the workload's usual one.
    pub dim: Option<usize>,
    /// Extents in cells: one for all axes, or one per axis, axis 0 first.
    pub size: Option<Vec<u32>>,
    /// Initial split: one for all axes, or one per axis.
    pub g: Option<Vec<u32>>,
    /// Recurrent split: one for all axes, or one per axis.
    pub r: Option<Vec<u32>>,
    /// Stop side.
    pub b: Option<u32>,
    /// `[lo, hi]` per axis.
    pub window: Option<Vec<[f64; 2]>>,
    /// Where in a cell its sample lies.
    pub sample: Option<Sample>,
    /// How a region is found uniform.
    pub explore: Option<ExploreRule>,
    /// The order of the OLT.
    pub curve: CurveKind,
    /// D.
    pub dwell: Option<u32>,
    /// The type of the iterated numbers.
    pub precision: Precision,
    /// Fused or plain.
    pub arithmetic: Arithmetic,
    /// The CUDA source of a `kernel` field.
    pub source: Option<Arc<str>>,
    /// Tuning and what is kept.
    pub how: How,
}

impl Request {
    /// A bare run of `workload`.
    pub fn new(workload: WorkloadKind) -> Self {
        Self {
            workload,
            dim: None,
            size: None,
            g: None,
            r: None,
            b: None,
            window: None,
            sample: None,
            explore: None,
            curve: CurveKind::Morton,
            dwell: None,
            precision: Precision::F32,
            arithmetic: Arithmetic::Fused,
            source: None,
            how: How::default(),
        }
    }

    /// k: as asked for, else as many as there are extents, else 2 where the workload exists in 2-D, else its first.
    pub fn dim(&self) -> usize {
        let dims = self.workload.dims();
        let usual = if dims.contains(&2) { 2 } else { dims[0] };
        let extents = self.size.as_ref().map(Vec::len).filter(|&axes| axes > 1);
        self.dim.or(extents).unwrap_or(usual)
    }

    /// The checked plan.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::Plan`], naming the flag, its value and what is allowed.
    pub fn plan<const K: usize>(&self) -> Result<Plan<K>, Error> {
        let defaults = self.workload.defaults(K);
        let domain = self.domain::<K>()?;
        let size = domain.size();
        let mut g = per_axis("-g", self.g.as_deref(), defaults.g)?;
        if self.g.is_none() {
            g = std::array::from_fn(|j| g[j].min(size[j]));
        }
        let r = per_axis("-r", self.r.as_deref(), defaults.r)?;
        let scheme = Scheme { g, r, b: self.b.unwrap_or(defaults.b) };
        Ok(Plan::new(domain, scheme, self.curve, self.rule(K))?)
    }

    /// The cells and the window.
    ///
    /// # Errors
    /// As [`Request::plan`].
    pub fn domain<const K: usize>(&self) -> Result<Domain<K>, Error> {
        let defaults = self.workload.defaults(K);
        let size = per_axis("--size", self.size.as_deref(), defaults.size)?;
        if size.contains(&0) {
            return Err(Error::Input("--size 0: at least 1 cell per axis is needed".into()));
        }
        Ok(Domain::new(size, self.window(&defaults, size)?, self.sample.unwrap_or(Sample::default_for(K)))?)
    }

    /// How a region is found uniform: as asked for, else the workload's rule in `k` dimensions.
    pub fn rule(&self, k: usize) -> ExploreRule {
        self.explore.unwrap_or(self.workload.defaults(k).explore)
    }

    /// The XXH3-64 of the CUDA source, as `xxh3:` and sixteen hexadecimal digits; None if the field is not of that kind.
    pub fn source_hash(&self) -> Option<String> {
        self.source.as_ref().map(|source| format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(source.as_bytes())))
    }

    /// What the field is computed with.
    ///
    /// # Errors
    /// [`Error::Input`] if the dwell is 0 or does not fit the cell type, or the workload has no dwell.
    pub fn options(&self) -> Result<FieldOptions, Error> {
        let default = self.workload.defaults(self.dim()).dwell;
        let most = self.how.cell.max_label();
        let dwell = match (self.dwell, default) {
            (Some(dwell), None) => {
                return Err(Error::Input(format!("--dwell {dwell}: {} has no dwell", self.workload)));
            }
            (Some(dwell), _) if dwell == 0 || dwell > most => {
                return Err(Error::Input(format!(
                    "--dwell {dwell}: must be between 1 and {most} with --cell {}",
                    self.how.cell
                )));
            }
            (asked, default) => asked.or(default).unwrap_or(1),
        };
        if self.source.is_some() && self.workload != WorkloadKind::Kernel {
            return Err(Error::Input(format!("--source: {} has no source; use the workload 'kernel'", self.workload)));
        }
        Ok(FieldOptions { dwell, precision: self.precision, arithmetic: self.arithmetic, source: self.source.clone() })
    }

    /// The dwell cap, if the workload has one.
    pub fn dwell(&self) -> Option<u32> {
        self.workload.defaults(self.dim()).dwell.map(|default| self.dwell.unwrap_or(default))
    }

    fn window<const K: usize>(&self, defaults: &Defaults, size: [u32; K]) -> Result<[[f64; 2]; K], Error> {
        match &self.window {
            // Fields over cell indices: their window is the lattice itself.
            None if defaults.dwell.is_none() => Ok(size.map(|n| [0.0, f64::from(n)])),
            None => Ok(std::array::from_fn(|j| defaults.window[j])),
            Some(_) if defaults.dwell.is_none() => Err(Error::Input(format!(
                "--domain: {} is a set of cell indices; its window is always the cells themselves",
                self.workload
            ))),
            Some(window) => window.as_slice().try_into().map_err(|_| {
                Error::Input(format!(
                    "--domain has {} intervals; {K} are needed, one per axis, as in -1.5:0.5,-1:1",
                    window.len()
                ))
            }),
        }
    }
}

/// One value for every axis, or one per axis.
fn per_axis<const K: usize>(flag: &str, values: Option<&[u32]>, default: u32) -> Result<[u32; K], Error> {
    match values {
        None => Ok([default; K]),
        Some([value]) => Ok([*value; K]),
        Some(values) => values.try_into().map_err(|_| {
            Error::Input(format!("{flag} has {} axes; with --dim {K} it takes 1 or {K} numbers", values.len()))
        }),
    }
}
