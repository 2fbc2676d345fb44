//! Reports of trees that were made from the cells up: of arrays and of points.

use crate::backend::{How, StrategyKind};
use crate::cell::CellType;
use crate::engine::computation::Computation;
use crate::engine::points_read::PointsRead;
use crate::engine::read_from::ReadFrom;
use crate::engine::report::{Ran, Report};
use crate::result::{Keep, Launches, RegionsChecksum, RunCounts};
use crate::tree::Predicate;

/// What a report from the cells up is made of beside its computation.
#[derive(Debug, Clone)]
pub struct Built<'a, const K: usize> {
    /// Where the cells came from, if a report is to say it.
    pub input: Option<ReadFrom>,
    /// Of points, how many were read.
    pub points: Option<PointsRead>,
    /// What was counted, and the time.
    pub counts: &'a RunCounts<K>,
    /// The type of a cell, once it is what the predicate makes of it.
    pub cell: CellType,
    /// When cells counted as one value.
    pub predicate: Predicate,
    /// What was kept.
    pub keep: Keep,
    /// The threads that worked.
    pub threads: usize,
    /// The device in words.
    pub device: &'a str,
    /// The checksum of the terminal regions, if it was asked for: that of a run under the rule `full`.
    pub checksum: Option<RegionsChecksum>,
}

impl Report {
    /// The report of regions that were joined from the cells up, in one pass without tables. Regions have no workers of their own, so
    /// that no mapping is named.
    pub fn bottom_up<const K: usize>(computation: Computation, built: Built<'_, K>) -> Self {
        let Built { input, points, counts, cell, predicate, keep, threads, device, checksum } = built;
        let how = How::default().strategy(StrategyKind::BottomUp).keep(keep).cell(cell).threads(Some(threads));
        let ran = Ran {
            backend: "cpu",
            device,
            multiprocessors: None,
            mapping: how.tuning.mapping(),
            samples: &[counts.times.wall.as_secs_f64()],
            iterations: false,
            checksum: None,
            regions_checksum: checksum,
        };
        let mut report = Self::new(computation, &how, counts, ran);
        report.tuning.mapping = None;
        report.launches = Launches { kernels: 1, most_in_flight: 1, ..report.launches };
        Self { input, predicate: Some(predicate), points, ..report }
    }
}
