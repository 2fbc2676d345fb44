//! A run as a person states it: names and numbers, before the dimension is a type.
//!
//! Everything that is left out takes the field's default. [`Request::plan`] is the last place where input can be
//! wrong; below it there are only checked types.

use std::sync::Arc;

use crate::backend::{Error, How, StrategyKind};
use crate::choice::{ChoiceError, choices};
use crate::curve::{CurveError, CurveKind};
use crate::dimension::{MAX_DIM, here};
use crate::engine::computation::{Computation, titled};
use crate::engine::domain_axes::{AxisValues, DomainAxes, first_axes, per_axis, window_of, window_of_cells};
use crate::field::{Arithmetic, DataValue, Defaults, FieldData, FieldKind, FieldOptions, Formula, Precision, mesh};
use crate::geometry::{Domain, Sample, Scheme};
use crate::per_axis;
use crate::per_axis::shortest;
use crate::plan::{Plan, PlanError};
use crate::rule::RuleKind;

/// The widest band of distances, in edges of cells.
const MOST_BAND: u64 = 1000;

choices! {
    /// What is computed, as far as it was said.
    pub struct Computed on Request: |request| request.computed;
    /// Dimensions k, for workloads that exist in several
    dim: Option<usize> = None, "dim";
    /// Cells per axis: N, N1xN2x.., 2^12
    size: Option<Vec<u32>> = None, "size" ('n');
    /// Initial split per axis: one number or one per axis
    g: Option<Vec<u32>> = None, "g" ('g');
    /// Recurrent split per axis: one number or one per axis
    r: Option<Vec<u32>> = None, "r" ('r');
    /// Side where division stops: one number or one per axis
    #[serde(rename = "B")]
    b: Option<Vec<u32>> = None, "B" ('B');
    /// How a region is found uniform [default: closed for mandelbrot, certified for mandelbulb, julibrot, mxm, formula and mesh, full for digit sets and points, else border]
    explore: Option<RuleKind> = None, "explore";
    /// Where samples lie in their cells [default: corner for k <= 2, else centre]
    sample: Option<Sample> = None, "sample";
    /// The order of the OLT
    curve: CurveKind = CurveKind::Morton, "curve";
    /// The type of the iterated numbers [default: f32]
    precision: Option<Precision> = None, "precision";
    /// Fused multiply-add, or every product and sum rounded [default: fused]
    arithmetic: Option<Arithmetic> = None, "arithmetic";
    /// Dwell cap D [default: per workload]
    dwell: Option<u32> = None, "dwell";
    /// What a cell is worth: of a mesh 1 inside of it, 1 at its surface, or the distance from it, negative inside; of points 1 if it holds some, their number, or the min, max or mean of --attribute [default: inside, occupied]
    value: Option<DataValue> = None, "value";
    /// How far from a mesh --value distance is measured, in edges of cells; farther cells have that distance [default: 3]
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<u32> = None, "band" within 1..=MOST_BAND;
    /// Window per axis: lo:hi,lo:hi,..
    #[serde(rename = "domain")]
    window: Option<Vec<[f64; 2]>> = None, "domain";
}

/// A run of a field as names and numbers, before the number of dimensions is a type. What you leave open takes the
/// field's default.
///
/// ```
/// use orthant::prelude::*;
///
/// // As a person states it: names and numbers. The number of dimensions is not a type yet.
/// let request = Request::new("mandelbrot".parse()?).size(vec![64, 32]).dwell(100).scheme(4, 2, 2);
/// assert_eq!((request.k(), request.options()?.dwell), (2, 100));
/// let plan = request.plan::<2>()?;
/// assert_eq!(plan.domain().size(), [64, 32]);
/// // What cannot be is named.
/// assert!(request.size(vec![64, 32, 16]).plan::<2>().is_err());
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// What a cell is worth.
    pub workload: FieldKind,
    /// What is computed.
    pub computed: Computed,
    /// The CUDA source of a `kernel` field, or the text of a `formula`.
    pub source: Option<Arc<str>>,
    /// What a `mesh`, `points` or an `array` is made of.
    pub data: Option<FieldData>,
    /// What is kept, and tuning.
    pub how: How,
}

impl Request {
    /// A request of which only the field is chosen.
    pub fn new(workload: FieldKind) -> Self {
        Self { workload, computed: Computed::default(), source: None, data: None, how: How::default() }
    }

    /// With what a `mesh`, `points` or an `array` is made of.
    #[must_use]
    pub fn data(self, data: impl Into<FieldData>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    /// With initial split, recurrent split and stop side, the same on every axis.
    #[must_use]
    pub fn scheme(self, g: u32, r: u32, b: u32) -> Self {
        self.g(Some(vec![g])).r(Some(vec![r])).b(Some(vec![b]))
    }

    /// The number of dimensions: `dim`, else the number of sizes, else that of the data, else what a formula needs, else 2 if the field exists in
    /// 2-D, else the first in which it exists.
    pub fn k(&self) -> usize {
        let dims = self.workload.dims();
        let usual = || match (self.formula(), self.data_axes()) {
            (Some(formula), _) => formula.dims(),
            (_, Some(axes)) => axes,
            _ if dims.contains(&2) => 2,
            _ => dims[0],
        };
        let extents = self.computed.size.as_ref().map(Vec::len).filter(|&axes| axes > 1);
        self.computed.dim.or(extents).unwrap_or_else(usual)
    }

    /// The formula that is run: None of other fields, of a formula without a text, and of a text that is none, which
    /// opening the field says.
    fn formula(&self) -> Option<Formula> {
        let source = self.source.as_ref().filter(|_| self.workload == FieldKind::Formula)?;
        Formula::parse(source.clone()).ok()
    }

    /// What is run, in a few words: the field's name, an unusual value of its data, and the beginning of a formula or the
    /// name of the data.
    pub fn title(&self) -> String {
        let data = self.data.as_ref().and_then(FieldData::name);
        titled(self.workload.name(), self.data_value(), self.formula().as_ref().map(Formula::text).or(data))
    }

    /// The checked plan.
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed.
    pub fn plan<const K: usize>(&self) -> Result<Plan<K>, Error> {
        here!(fn(&Request) -> Result<Plan<K>, Error> = Request::plan_here)(self)
    }

    fn plan_here<const K: usize>(&self) -> Result<Plan<K>, Error> {
        if let Some(plan) = self.data_plan()? {
            return Ok(plan);
        }
        let axes = self.domain_axes(K)?;
        let (domain, Scheme { g, r, b }) = (axes.domain()?, self.splits(&axes.size, K)?);
        let scheme = Scheme { g: first_axes(&g), r: first_axes(&r), b: first_axes(&b) };
        Plan::new(domain, scheme, self.computed.curve, self.rule(K)).map_err(|error| self.no_plan(error))
    }

    /// How `size` cells on `k` axes are divided: as asked for, else as the field has it.
    fn splits(&self, size: &AxisValues<u32>, k: usize) -> Result<Scheme<MAX_DIM>, Error> {
        let (computed, defaults) = (&self.computed, self.workload.defaults(k));
        let mut r = per_axis("r", computed.r.as_deref(), defaults.r, k)?;
        // A slice is divided along the axes that it has.
        if computed.r.is_none() && size[..k].iter().any(|&cells| cells > 1) {
            r = per_axis::each(|j| if size[j] == 1 { 1 } else { r[j] });
        }
        let g = match computed.g.as_deref() {
            None => per_axis::each(|j| if j < k { whole(size[j], defaults.g, r[j]) } else { 1 }),
            given => per_axis("g", given, defaults.g, k)?,
        };
        Ok(Scheme { g, r, b: per_axis("B", computed.b.as_deref(), defaults.b, k)? })
    }

    /// Why there is no plan.
    fn no_plan(&self, error: PlanError) -> Error {
        match error {
            // Nobody asked for this r.
            PlanError::Curve(CurveError::RadixNotPowerOfTwo { r, .. }) if self.computed.r.is_none() => {
                let reason = format!(
                    "r {r}, the default of {}, is not a power of two; choose r or another curve",
                    self.workload
                );
                ChoiceError::new("curve", self.computed.curve, reason).into()
            }
            error => error.into(),
        }
    }

    /// The cells and the window.
    ///
    /// # Errors
    /// As [`Request::plan`].
    pub fn domain<const K: usize>(&self) -> Result<Domain<K>, Error> {
        here!(fn(&Request) -> Result<Domain<K>, Error> = |this| this.domain_axes(K)?.domain())(self)
    }

    fn domain_axes(&self, k: usize) -> Result<DomainAxes, Error> {
        if let Some(domain) = self.data_domain(k)? {
            return Ok(domain);
        }
        let defaults = self.workload.defaults(k);
        let size = self.computed.cells(self.computed.size.as_deref(), defaults.size, k)?;
        let sample = self.computed.sample.unwrap_or(Sample::default_for(k));
        Ok(DomainAxes { size, window: self.window_over(&defaults, &size, k)?, sample })
    }

    /// How a region is found uniform: as asked for, else by all cells from the cells up, and otherwise as the field has it.
    pub fn rule(&self, k: usize) -> RuleKind {
        self.computed.explore.unwrap_or(match self.how.tuning.strategy {
            StrategyKind::BottomUp => RuleKind::Full,
            _ => self.workload.defaults(k).explore,
        })
    }

    /// The XXH3-64 of the source or of the data, as `xxh3:` and sixteen hexadecimal digits; None if there is neither.
    pub fn source_hash(&self) -> Option<String> {
        let source = |source: &Arc<str>| format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(source.as_bytes()));
        self.source.as_ref().map(source).or(self.data.as_ref().map(FieldData::hash))
    }

    /// What a cell of data is worth, if the field is made of data.
    fn data_value(&self) -> Option<DataValue> {
        let usual = match self.workload {
            FieldKind::Mesh => DataValue::Inside,
            FieldKind::Points => DataValue::Occupied,
            _ => return None,
        };
        Some(self.computed.value.unwrap_or(usual))
    }

    /// The width of the band of distances, if cells have them.
    fn band_of_distances(&self) -> Option<u32> {
        let distances = self.workload == FieldKind::Mesh && self.computed.value == Some(DataValue::Distance);
        distances.then(|| self.computed.band.unwrap_or(mesh::BAND))
    }

    /// What the field is computed with.
    ///
    /// # Errors
    /// [`Error::Choice`] if the dwell is 0 or does not fit the cell type, or the field has no dwell, no iterated numbers,
    /// no source or no data.
    pub fn options(&self) -> Result<FieldOptions, Error> {
        let Computed { precision, arithmetic, .. } = self.computed;
        let Defaults { dwell: default, by_index, .. } = self.workload.defaults(self.k());
        let iterated =
            [("precision", precision.map(Precision::name)), ("arithmetic", arithmetic.map(Arithmetic::name))];
        let whole = by_index || [FieldKind::Mesh, FieldKind::Points].contains(&self.workload);
        for (name, asked) in iterated {
            if let (Some(asked), true) = (asked, whole) {
                let reason = match by_index {
                    true if self.workload == FieldKind::Array => {
                        "cells of an array are read; nothing is iterated".into()
                    }
                    true => format!("{} is a set of cell indices; nothing is iterated", self.workload),
                    false if self.workload == FieldKind::Points => {
                        "points are put into cells; nothing is iterated".into()
                    }
                    false => format!("{} is compared in whole numbers; nothing is iterated", self.workload),
                };
                return Err(ChoiceError::new(name, asked, reason).into());
            }
        }
        let cell = self.how.kept.cell;
        let most = cell.most();
        let dwell = match (self.computed.dwell, default) {
            (Some(dwell), None) => {
                let hint = match self.workload {
                    FieldKind::Formula => "; write `cap` and a number after what follows `while`",
                    _ => "",
                };
                return Err(ChoiceError::new("dwell", dwell, format!("{} has no dwell{hint}", self.workload)).into());
            }
            (Some(dwell), _) if dwell == 0 || u64::from(dwell) > most => {
                let reason = format!("must be between 1 and {most} with cells of type {cell}");
                return Err(ChoiceError::new("dwell", dwell, reason).with(&["cell"]).into());
            }
            (asked, default) => asked.or(default).unwrap_or(1),
        };
        if self.source.is_some() && ![FieldKind::Kernel, FieldKind::Formula].contains(&self.workload) {
            let reason = format!("{} has no source; use the workload 'kernel' or 'formula'", self.workload);
            return Err(ChoiceError::new("source", "", reason).into());
        }
        if let (Some(value), None) = (self.computed.value, self.data_value()) {
            let reason = format!(
                "{} has no such choice, which the workloads 'mesh' and 'points' have; leave out",
                self.workload
            );
            return Err(ChoiceError::new("value", value, reason).into());
        }
        if let (Some(band), None) = (self.computed.band, self.band_of_distances()) {
            let reason = "cells of a mesh have it that are distances: choose --value distance, or leave out";
            return Err(ChoiceError::new("band", band, reason).with(&["value"]).into());
        }
        if self.data.is_some() && ![FieldKind::Mesh, FieldKind::Points, FieldKind::Array].contains(&self.workload) {
            let reason = format!("{} is not made of data; use the workload 'mesh', 'points' or 'array'", self.workload);
            return Err(ChoiceError::new("input", "", reason).into());
        }
        let (precision, arithmetic) = self.rounding();
        let (source, data, value) = (self.source.clone(), self.data.clone(), self.data_value());
        let (band, mem_limit) = (self.band_of_distances(), self.how.mem_limit);
        Ok(FieldOptions { dwell, precision, arithmetic, source, data, value, band, mem_limit })
    }

    /// How numbers are iterated: as asked for, else fused in 32 bits.
    fn rounding(&self) -> (Precision, Arithmetic) {
        let usual = FieldOptions::default();
        (self.computed.precision.unwrap_or(usual.precision), self.computed.arithmetic.unwrap_or(usual.arithmetic))
    }

    /// The dwell cap, if the field has one.
    pub fn dwell_cap(&self) -> Option<u32> {
        self.workload.defaults(self.k()).dwell.map(|default| self.computed.dwell.unwrap_or(default))
    }

    /// All that is computed, with every default filled in.
    pub fn computation<const K: usize>(&self, plan: &Plan<K>) -> Computation {
        let (domain, scheme) = (plan.domain(), plan.scheme());
        let (precision, arithmetic) = self.rounding();
        Computation {
            workload: self.workload.to_string(),
            source: self.source_hash(),
            formula: self.formula().map(|formula| formula.text().to_owned()),
            data: self.data.as_ref().and_then(FieldData::name).map(str::to_owned),
            value: self.data_value(),
            band: self.band_of_distances(),
            k: K,
            size: domain.size().to_vec(),
            domain: domain.window().to_vec(),
            sample: domain.sample(),
            dwell: self.dwell_cap(),
            precision,
            arithmetic,
            curve: plan.curve(),
            explore: plan.rule(),
            g: scheme.g.to_vec(),
            r: scheme.r.to_vec(),
            b: shortest(&scheme.b),
        }
    }

    fn window_over(
        &self,
        defaults: &Defaults,
        size: &AxisValues<u32>,
        k: usize,
    ) -> Result<AxisValues<[f64; 2]>, Error> {
        let wrong = |reason: String| ChoiceError::new("domain", "", reason);
        match &self.computed.window {
            // Fields over cell indices: their window is the lattice itself.
            None if defaults.by_index => Ok(window_of_cells(size)),
            None => {
                let of_data = self.data.as_ref().and_then(|data| data.window_of_axes(&size[..k]));
                Ok(window_of(of_data.as_deref().unwrap_or(&defaults.window)))
            }
            Some(_) if defaults.by_index => Err(wrong(format!(
                "{} is a set of cell indices; its window is always the cells themselves",
                self.workload
            ))
            .into()),
            Some(window) if window.len() != k => {
                let given = window.len();
                let reason = format!("{given} intervals are given; {k} are needed, one per axis, as in -1.5:0.5,-1:1");
                Err(wrong(reason).with(&["dim", "size"]).into())
            }
            Some(window) => Ok(window_of(window)),
        }
    }
}

/// The initial split of an axis of n cells where none was asked for: the least from the usual one on, up to √n, with which n = g·r^t, so that
/// leaves are alike on all of the axis; the usual one if there is none.
fn whole(n: u32, usual: u32, r: u32) -> u32 {
    let left = |mut side: u32| {
        while r > 1 && side.is_multiple_of(r) {
            side /= r;
        }
        side
    };
    let fits = |&g: &u32| n.is_multiple_of(g) && left(n / g) == 1;
    (usual..=n.isqrt()).find(fits).unwrap_or(usual).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_of_a_usual_split_are_alike() {
        for (n, usual, r, g) in [
            (1024, 4, 2, 4),
            (192, 3, 2, 3),
            (256, 3, 2, 4),
            (48, 3, 2, 3),
            (96, 4, 2, 6),
            (81, 3, 3, 3),
            (1000, 4, 2, 4), // 125 is more than its root
            (1009, 4, 2, 4),
            (20, 4, 1, 4),
            (7, 4, 2, 4),
            (3, 4, 2, 3),
            (1, 4, 2, 1),
            (u32::MAX, 4, 2, 4),
        ] {
            assert_eq!(whole(n, usual, r), g, "{n} {usual} {r}");
        }
    }

    /// A Julia set is a slice of the Julibrot: axes of one cell are not split, so that the others are.
    #[test]
    fn slices_are_divided() {
        let slice = Request::new(FieldKind::Julibrot).size(vec![512, 512, 1, 1]);
        let plan = slice.plan::<4>().unwrap();
        assert_eq!((plan.scheme().r, plan.levels().len()), ([2, 2, 1, 1], 6));
        // What is asked for is done, and there is a plan for a single cell.
        assert_eq!(slice.clone().r(Some(vec![2])).plan::<4>().unwrap().levels().len(), 1);
        assert_eq!(Request::new(FieldKind::Julibrot).size(vec![1; 4]).plan::<4>().unwrap().scheme().r, [2; 4]);
    }

    #[test]
    fn fields_have_the_rule_that_suits_them() {
        for (field, dim, rule) in [
            (FieldKind::Mandelbrot, 2, RuleKind::Closed),
            (FieldKind::Mandelbulb, 3, RuleKind::Certified),
            (FieldKind::Julibrot, 4, RuleKind::Certified),
            (FieldKind::Mxm, 4, RuleKind::Certified),
            (FieldKind::Menger, 3, RuleKind::Full),
            (FieldKind::Formula, 3, RuleKind::Certified),
            (FieldKind::Mesh, 3, RuleKind::Certified),
            (FieldKind::Kernel, 3, RuleKind::Border),
        ] {
            assert_eq!(Request::new(field).rule(dim), rule, "{field}");
            assert_eq!(Request::new(field).explore(Some(RuleKind::Full)).rule(dim), RuleKind::Full);
        }
    }
}
