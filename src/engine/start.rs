//! What a run of a field starts from on a backend where nobody chose a scheme: a table of what was measured (docs/results/defaults.md).
//!
//! A field's own {g, r, B} has few regions on level 0 and halves them. On a GPU a level is a launch or several, and a small problem ends
//! before all of the GPU has work: there a run starts with a finer grid. The grids of such a run are among those that the field's own scheme
//! leads to, the last one included. So a rule that can miss cells is asked about the same regions but for the largest.

use crate::backend::{Error, Mapping, Tuning};
use crate::engine::request::Request;
use crate::engine::target::BackendKind;
use crate::field::FieldKind;
use crate::geometry::{Level, Scheme};
use crate::per_axis;
use crate::plan::Plan;
use crate::result::Keep;

/// A plan and a mapping that suit a backend: see [`Request::start_on`].
#[derive(Debug, Clone)]
pub struct StartingScheme<const K: usize> {
    /// The plan.
    pub plan: Plan<K>,
    /// Who shares a region.
    pub mapping: Mapping,
}

/// A line of the table: what problems of a field up to a size start from.
#[derive(Debug)]
struct Line {
    backend: BackendKind,
    fields: &'static [FieldKind],
    /// The most cells of the domain.
    most: u128,
    /// The stop side; None: the field's own.
    b: Option<u32>,
    /// Of the grids that the stop side leads to every one is taken, or every second from the last on.
    every: usize,
    /// The most cells a side of regions of the first grid that is taken; the last grid has to do where it has longer ones.
    side: u32,
    mapping: Mapping,
}

use BackendKind::{Cpu, Cuda};
use FieldKind::{Julibrot, Mandelbrot, Mandelbulb};
use Mapping::{Sbr, Stream};

/// Lines in the order in which they are looked for. What no line is about starts from the field's own scheme.
const LINES: &[Line] = &[
    // A proof of a region costs more than a few of its cells.
    Line {
        backend: Cpu,
        fields: &[Mandelbulb, Julibrot],
        most: 1 << 20,
        b: Some(4),
        every: 1,
        side: u32::MAX,
        mapping: Sbr,
    },
    // One level, or two. Larger problems keep every level, since without some of them `closed` misses other cells. The largest gain nothing.
    Line { backend: Cuda, fields: &[Mandelbrot], most: 1 << 22, b: None, every: 2, side: 16, mapping: Sbr },
    Line { backend: Cuda, fields: &[Mandelbrot], most: 1 << 24, b: None, every: 2, side: 64, mapping: Stream },
    Line { backend: Cuda, fields: &[Mandelbrot], most: 1 << 28, b: None, every: 1, side: 512, mapping: Stream },
    Line { backend: Cuda, fields: &[Mandelbulb], most: 1 << 25, b: None, every: 1, side: 4, mapping: Stream },
    // One level of small regions, a block for each.
    Line { backend: Cuda, fields: &[Julibrot], most: 1 << 23, b: None, every: 2, side: 4, mapping: Sbr },
    Line { backend: Cuda, fields: &[Julibrot], most: 1 << 24, b: Some(4), every: 1, side: 8, mapping: Sbr },
    // Beyond what was measured the maps of leaves of two cells a side would take as much memory as the array. A large Mandelbulb would gain 7 %
    // of its kernels' time by such leaves, and the host reads back all regions of a run: of 1024^3 that took it 0.8 s more.
    Line { backend: Cuda, fields: &[Julibrot], most: 1 << 32, b: Some(1), every: 1, side: 8, mapping: Stream },
];

impl Request {
    /// What this run starts from on a backend, if nobody chose a scheme, a rule or tuning, and all cells are kept. None where something was
    /// chosen, and where the field's own scheme is as good as any that was measured: then take [`plan`](Self::plan).
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::field::FieldKind;
    ///
    /// let small = Request::new(FieldKind::Mandelbrot).size(vec![1024]);
    /// // On a GPU one level does: 4096 regions of 16 x 16 cells.
    /// let start = small.start_on::<2>(BackendKind::Cuda)?.ok_or("there is a better one")?;
    /// assert_eq!((start.plan.scheme().g, start.plan.levels().len()), ([64, 64], 1));
    /// assert_eq!(small.plan::<2>()?.scheme().g, [4, 4]);
    /// // What you choose stays.
    /// assert!(small.r(Some(vec![2])).start_on::<2>(BackendKind::Cuda)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Request::plan`].
    pub fn start_on<const K: usize>(&self, backend: BackendKind) -> Result<Option<StartingScheme<K>>, Error> {
        let plan = self.plan::<K>()?;
        let (size, own) = (plan.domain().size(), *plan.scheme());
        let line = self.line(K, plan.domain().cells(), backend);
        Ok(line.and_then(|line| {
            let scheme = line.scheme(own, size)?;
            // A finer grid can have more codes than there are bits for.
            let plan = Plan::new(*plan.domain(), scheme, plan.curve(), plan.rule()).ok()?;
            Some(StartingScheme { plan, mapping: line.mapping })
        }))
    }

    /// The line that is about this run.
    fn line(&self, k: usize, cells: u128, backend: BackendKind) -> Option<&'static Line> {
        let (computed, how) = (&self.computed, &self.how);
        let scheme_is_open = [&computed.g, &computed.r, &computed.b].iter().all(|chosen| chosen.is_none());
        let own_rule = self.rule(k) == self.workload.defaults(k).explore;
        // The number of workers is a machine's; the rest was measured as it is by default.
        let Tuning { threads, max_kernels, .. } = how.tuning.clone();
        let usual = how.tuning == Tuning { threads, max_kernels, ..Tuning::default() } && how.cuda.is_none();
        let open = scheme_is_open && own_rule && usual && how.kept.keep == Keep::Dense;
        let about =
            |line: &&Line| line.backend == backend && line.fields.contains(&self.workload) && cells <= line.most;
        LINES.iter().filter(|_| open).find(about)
    }
}

impl Line {
    /// The scheme of this line for a field whose own scheme that is; None if it cannot be had.
    fn scheme<const K: usize>(&self, own: Scheme<K>, size: [u32; K]) -> Option<Scheme<K>> {
        let fine = Scheme { b: self.b.map_or(own.b, |b| [b; K]), ..own };
        let grids = fine.levels(size);
        let mut taken: Vec<&Level<K>> = grids.iter().rev().step_by(self.every).collect();
        taken.reverse();
        let is_fine = |level: &&&Level<K>| (0..K).all(|j| size[j].div_ceil(level.grid[j]) <= self.side);
        let first = taken.iter().find(is_fine).or(taken.last())?;
        let every = self.every as u32;
        // n/M/r <= B is n/M/r^e <= B/r^(e-1), so that the levels end with the same grid.
        let b = per_axis::each(|j| fine.b[j] / fine.r[j].pow(every - 1));
        let scheme = Scheme { g: first.grid, r: per_axis::each(|j| fine.r[j].pow(every)), b };
        let same = b.iter().all(|&b| b > 0) && scheme.levels(size).last()?.grid == taken.last()?.grid;
        same.then_some(scheme)
    }
}
