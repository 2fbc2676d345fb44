//! Arrays of data: the plan of one as a person states it, and the report of how it was subdivided.
//!
//! An array is no field: nothing is evaluated, and it is subdivided from the cells up. Its report has the keys of a run's as far as
//! they mean something, and where the cells came from.

use serde::{Deserialize, Serialize};

use crate::backend::Error;
use crate::cell::CellType;
use crate::choice::ChoiceError;
use crate::dimension::here;
use crate::engine::computation::Computation;
use crate::engine::read_from::ReadFrom;
use crate::engine::report::{CellsReport, LevelReport, SCHEMA};
use crate::engine::request::{Computed, per_axis};
use crate::field::FieldOptions;
use crate::geometry::{Domain, Sample, Scheme};
use crate::per_axis;
use crate::per_axis::{shortest, text};
use crate::plan::Plan;
use crate::result::{Keep, Launches, RegionsChecksum, RunCounts, Terminal};
use crate::rule::RuleKind;
use crate::tree::{About, Predicate};

impl Computed {
    /// The plan of an array of `size` cells: rule `full`, since a tree that is made of cells looks at all of them, and where
    /// nothing else was chosen [`Scheme::for_array`], the window that the array's file says or else the cells themselves, and their
    /// centres as samples.
    ///
    /// ```
    /// use orthant::Computed;
    /// use orthant::tree::About;
    /// use orthant::prelude::*;
    ///
    /// let plan = Computed::default().array_plan([600, 400], &About::default())?;
    /// assert_eq!((plan.rule(), plan.domain().window()), (RuleKind::Full, [[0.0, 600.0], [0.0, 400.0]]));
    /// // A size that is not the array's.
    /// let mut chosen = Computed::default();
    /// chosen.set("size", "600x300")?;
    /// assert!(chosen.array_plan([600, 400], &About::default()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed; a size or dimension that is not the array's is one.
    pub fn array_plan<const K: usize>(&self, size: [u32; K], about: &About) -> Result<Plan<K>, Error> {
        self.divided(size, about.window(size), about.series(size), RuleKind::Full)
    }

    /// The plan of an array of `size` cells in `window`, of which `series` are not divided.
    pub(super) fn divided<const K: usize>(
        &self,
        size: [u32; K],
        window: Option<[[f64; 2]; K]>,
        series: [bool; K],
        rule: RuleKind,
    ) -> Result<Plan<K>, Error> {
        here!(fn(&Computed, [u32; K], Option<[[f64; 2]; K]>, [bool; K], RuleKind) -> Result<Plan<K>, Error> = Computed::divided_here)(
            self, size, window, series, rule,
        )
    }

    fn divided_here<const K: usize>(
        &self,
        size: [u32; K],
        window: Option<[[f64; 2]; K]>,
        series: [bool; K],
        rule: RuleKind,
    ) -> Result<Plan<K>, Error> {
        let domain = self.array_domain(size, window)?;
        let axes = |name, values: &Option<Vec<u32>>| {
            values.as_deref().map(|values| per_axis::<K>(name, Some(values), 0)).transpose()
        };
        let scheme = Scheme::for_array(size, axes("g", &self.g)?, axes("r", &self.r)?, axes("B", &self.b)?, series);
        Ok(Plan::new(domain, scheme, self.curve, rule)?)
    }

    /// The domain of an array: the window that was chosen, else `window`, else the cells themselves.
    pub(super) fn array_domain<const K: usize>(
        &self,
        size: [u32; K],
        window: Option<[[f64; 2]; K]>,
    ) -> Result<Domain<K>, Error> {
        if let Some(dim) = self.dim.filter(|&dim| dim != K) {
            return Err(ChoiceError::new("dim", dim, format!("the array has {K} axes")).into());
        }
        if let Some(asked) = &self.size
            && per_axis("size", Some(asked), 0)? != size
        {
            return Err(ChoiceError::new("size", text(asked), format!("the array has {} cells", text(&size))).into());
        }
        let window = match &self.window {
            None => window.unwrap_or(per_axis::each(|j| [0.0, f64::from(size[j])])),
            Some(window) => window.as_slice().try_into().map_err(|_| {
                let reason = format!("{} intervals are given; {K} are needed, one per axis", window.len());
                ChoiceError::new("domain", "", reason)
            })?,
        };
        Ok(Domain::new(size, window, self.sample.unwrap_or(Sample::Centre))?)
    }
}

/// An array that was subdivided, or points. Schema 1, as a [`Report`](crate::Report).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrayReport {
    /// The schema of this report.
    pub schema: u32,
    /// The version of the crate.
    pub orthant: String,
    /// What was subdivided, and how finely; the workload is `array` or `points`.
    #[serde(flatten)]
    pub computation: Computation,
    /// Where the cells came from.
    pub input: ReadFrom,
    /// How many points were read, of points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<PointsRead>,
    /// The type of a cell, once it is what the predicate makes of it.
    pub cell: CellType,
    /// When cells counted as one value.
    pub predicate: Predicate,
    /// What was kept.
    pub keep: Keep,
    /// `bottom-up`: from the cells up.
    pub strategy: String,
    /// Null: regions have no workers of their own.
    pub scheme: Option<String>,
    /// The threads that worked.
    pub threads: usize,
    /// `cpu`.
    pub backend: String,
    /// The device in words.
    pub device: String,
    /// Wall time from the first cell to the last region, with the writing of what is written meanwhile.
    pub seconds: f64,
    /// The time of every run: that one.
    pub samples: Vec<f64>,
    /// One pass, and no tables.
    #[serde(flatten)]
    pub launches: Launches,
    /// Null: no dense array is kept.
    pub checksum: Option<String>,
    /// The sum of the XXH3-64 of the terminal regions ([`RegionsChecksum`]), as a run's under the rule `full`; null if it was not asked for.
    pub regions_checksum: Option<String>,
    /// Level 0 first.
    pub levels: Vec<LevelReport>,
    /// Cells by what happened to them.
    pub cells: CellsReport,
    /// Bytes of the terminal regions and leaf bricks that were kept.
    pub compact_bytes: u64,
}

/// What a report is made of beside the plan.
#[derive(Debug, Clone, Copy)]
pub struct Built<'a, const K: usize> {
    /// What was counted, and the time.
    pub counts: &'a RunCounts<K>,
    /// The type of a cell.
    pub cell: CellType,
    /// When cells counted as one value.
    pub predicate: Predicate,
    /// What was kept.
    pub keep: Keep,
    /// The threads that worked.
    pub threads: usize,
    /// The device in words.
    pub device: &'a str,
    /// The checksum of the terminal regions, if it was asked for.
    pub checksum: Option<RegionsChecksum>,
}

/// Points that were read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointsRead {
    /// All of them.
    pub read: u64,
    /// Those in the window; the others are in no cell.
    pub inside: u64,
    /// Wall time of reading their file.
    pub reading_seconds: f64,
    /// Wall time of sorting those in the window, which is part of the time of the run.
    pub sorting_seconds: f64,
}

impl ArrayReport {
    /// The report of points that were subdivided by `plan`.
    pub fn of_points<const K: usize>(
        plan: &Plan<K>,
        computation: Computation,
        (input, points): (ReadFrom, PointsRead),
        built: Built<'_, K>,
    ) -> Self {
        Self { computation, points: Some(points), ..Self::new(plan, input, built) }
    }

    /// The report of an array that was subdivided by `plan`.
    pub fn new<const K: usize>(plan: &Plan<K>, input: ReadFrom, built: Built<'_, K>) -> Self {
        let Built { counts, cell, predicate, keep, threads, device, checksum } = built;
        let (domain, scheme, totals) = (plan.domain(), plan.scheme(), counts.totals());
        // Nothing is iterated.
        let FieldOptions { precision, arithmetic, .. } = FieldOptions::default();
        let computation = Computation {
            workload: "array".into(),
            source: None,
            formula: None,
            data: None,
            value: None,
            band: None,
            k: K,
            size: domain.size().to_vec(),
            domain: domain.window().to_vec(),
            sample: domain.sample(),
            dwell: None,
            precision,
            arithmetic,
            curve: plan.curve(),
            explore: plan.rule(),
            g: scheme.g.to_vec(),
            r: scheme.r.to_vec(),
            b: shortest(&scheme.b),
        };
        let seconds = counts.times.wall.as_secs_f64();
        let regions = (totals.filled + totals.leaves) * Terminal::BYTES + totals.leaf_cells * cell.bytes();
        Self {
            schema: SCHEMA,
            orthant: env!("CARGO_PKG_VERSION").into(),
            computation,
            input,
            points: None,
            cell,
            predicate,
            keep,
            strategy: "bottom-up".into(),
            scheme: None,
            threads,
            backend: "cpu".into(),
            device: device.into(),
            seconds,
            samples: vec![seconds],
            launches: Launches { kernels: 1, most_in_flight: 1, ..counts.launches },
            checksum: None,
            regions_checksum: checksum.map(|sum| sum.to_string()),
            levels: counts.levels.iter().map(|stats| LevelReport::of(stats, false)).collect(),
            cells: CellsReport { total: domain.cells(), all: totals.into() },
            compact_bytes: if keep == Keep::Regions { regions } else { 0 },
        }
    }
}
