//! A plan and its field without the number of dimensions in their types: host programs are compiled once.
//!
//! Numbers per axis are those of the most dimensions there are. Along axes beyond the plan's own there is one cell, one region and
//! one child, so that products over all axes, and places in lattices, are the plan's. What adds to the numbers of an axis looks at
//! the plan's [own](Outline::own) axes only, and so does what kernels are told.

use crate::backend::{Error, Expected, Start, Table};
use crate::curve::{CurveKind, DeviceCurve};
use crate::dimension::{MAX_DIM, widened};
use crate::field::{DeviceTwin, Field, Labels, Payload};
use crate::geometry::{Domain, Level, Region, Scheme};
use crate::per_axis;
use crate::plan::Plan;
use crate::rule::{RuleKind, Verdict};

/// What host programs know of a plan and its field.
pub(super) struct Outline<'a> {
    /// K.
    pub(super) dimensions: usize,
    pub(super) levels: Vec<Level<MAX_DIM>>,
    /// r_j, and R.
    pub(super) split: [u32; MAX_DIM],
    pub(super) children: u64,
    pub(super) rule: RuleKind,
    pub(super) curve: CurveKind,
    /// Bits of the codes of the deepest level.
    pub(super) bits: u32,
    /// Where a run of the whole plan starts.
    pub(super) whole: Start<'static, MAX_DIM>,
    /// Regions that are expected on each level.
    pub(super) expected: Vec<f64>,
    pub(super) labels: Labels,
    /// What the field can do here: to evaluate cells, to prove regions; and whether its regions carry anything.
    pub(super) evaluates: bool,
    pub(super) proves: bool,
    pub(super) carries: bool,
    /// True if a block of threads proves a region, and leaves a shorter tape for it.
    pub(super) by_blocks: bool,
    /// True if the roots of the next run are no range of codes along a hierarchical curve.
    pub(super) scattered: bool,
    /// What only the plan and the field themselves can answer.
    pub(super) typed: Box<dyn OfDimension + 'a>,
}

/// What a plan and a field are asked for with numbers per axis of their own.
pub(super) trait OfDimension: Send + Sync {
    /// The field's twin.
    fn twin(&self) -> Option<DeviceTwin>;

    /// Has the host get ready to evaluate cells.
    fn ready(&self);

    /// The curve as kernels decode it on a level.
    fn curve(&self, level: u32) -> DeviceCurve<'_>;

    /// The coordinates that a code of a level names.
    fn decode(&self, level: u32, code: u64) -> [u32; MAX_DIM];

    /// The code of the region at a place of a level's lattice, in storage order.
    fn code_at(&self, level: u32, place: u64) -> u64;

    /// The codes of the children of a region of `level`, which a code names, or coordinates.
    fn children(&self, level: u32, code: u64, codes: &mut [u64]);
    fn children_at(&self, level: u32, coords: &[u64], codes: &mut [u64]);

    /// Proves the children of the region at a place of the lattice of `level`; `found` is told their codes.
    fn prove_children(&self, level: u32, place: u64, found: &mut dyn FnMut(u64, Verdict));
}

struct Subject<'a, const K: usize> {
    plan: Plan<K>,
    field: &'a dyn Field<K>,
}

impl<const K: usize> Subject<'_, K> {
    fn coords(&self, level: u32, place: u64) -> [u32; K] {
        Region { corner: [0; K], extent: self.plan.levels()[level as usize].grid }.offset(place)
    }

    /// The children of a region on the lattice of the next level.
    fn family(&self, mut coords: [u32; K]) -> Region<K> {
        let split = self.plan.scheme().r;
        for j in 0..K {
            coords[j] *= split[j];
        }
        Region { corner: coords, extent: split }
    }
}

impl<const K: usize> OfDimension for Subject<'_, K> {
    fn twin(&self) -> Option<DeviceTwin> {
        self.field.twin()
    }

    fn ready(&self) {
        if let Some(host) = self.field.host() {
            host.ready();
        }
    }

    fn curve(&self, level: u32) -> DeviceCurve<'_> {
        self.plan.encoding().device(level)
    }

    fn decode(&self, level: u32, code: u64) -> [u32; MAX_DIM] {
        widened(self.plan.encoding().decode(level, code), 0)
    }

    fn code_at(&self, level: u32, place: u64) -> u64 {
        self.plan.encoding().encode(level, self.coords(level, place))
    }

    fn children(&self, level: u32, code: u64, codes: &mut [u64]) {
        self.plan.encoding().children(level, code, codes);
    }

    fn children_at(&self, level: u32, coords: &[u64], codes: &mut [u64]) {
        let mut parent = [0; K];
        for j in 0..K {
            parent[j] = coords[j] as u32;
        }
        let (family, encoding) = (self.family(parent), self.plan.encoding());
        for (child, code) in codes.iter_mut().enumerate() {
            *code = encoding.encode(level + 1, family.cell(family.offset(child as u64)));
        }
    }

    fn prove_children(&self, level: u32, place: u64, found: &mut dyn FnMut(u64, Verdict)) {
        let prover = self.field.prover().expect("tiles divide where the host proves, too");
        let (family, level) = (self.family(self.coords(level, place)), level + 1);
        for child in 0..family.volume() {
            let coords = family.cell(family.offset(child));
            let region = self.plan.levels()[level as usize].region(coords);
            found(self.plan.encoding().encode(level, coords), prover.prove(&region, Payload::default()));
        }
    }
}

impl<'a> Outline<'a> {
    pub(super) fn new<const K: usize>(plan: &Plan<K>, field: &'a dyn Field<K>) -> Self {
        let whole = Start::whole(plan);
        let mut levels = Vec::with_capacity(plan.levels().len());
        for level in plan.levels() {
            levels.push(level.widened());
        }
        Self {
            dimensions: K,
            split: widened(plan.scheme().r, 1),
            children: plan.scheme().children(),
            rule: plan.rule(),
            curve: plan.curve(),
            bits: plan.encoding().bits(levels.len() as u32 - 1),
            levels,
            expected: Expected::of(plan, field, &whole).regions,
            whole: whole.widened(),
            labels: field.labels(),
            evaluates: field.host().is_some(),
            proves: field.prover().is_some(),
            carries: field.carrier().is_some(),
            by_blocks: false,
            scattered: false,
            typed: Box::new(Subject { plan: plan.clone(), field }),
        }
    }

    /// Notes what of a plan depends on its field's twin.
    pub(super) fn meet(&mut self, twin: &DeviceTwin) {
        self.by_blocks = self.rule.certifies() && twin.forest.is_some();
    }

    /// That of a sample, for which there is no region and no curve: of a plan its kernel knows the dimension only.
    ///
    /// # Errors
    /// [`Error::Plan`], never.
    pub(super) fn of_sample<const K: usize>(domain: &Domain<K>, field: &'a dyn Field<K>) -> Result<Self, Error> {
        let plan = Plan::new(*domain, Scheme::uniform(1, 2, u32::MAX), CurveKind::Canonical, RuleKind::Border)?;
        Ok(Self::new(&plan, field))
    }

    /// n_j.
    pub(super) fn size(&self) -> [u32; MAX_DIM] {
        self.whole.window.extent
    }

    /// The level whose mixed regions are leaves.
    pub(super) fn last(&self) -> &Level<MAX_DIM> {
        self.levels.last().expect("a plan has a level")
    }

    /// True if mixed regions of `level` are leaves.
    pub(super) fn is_last(&self, level: u32) -> bool {
        level as usize + 1 == self.levels.len()
    }

    /// The regions of the roots' level in which all roots lie.
    pub(super) fn hull(&self, start: &Start<'_, MAX_DIM>) -> Region<MAX_DIM> {
        let none = Region { corner: [0; MAX_DIM], extent: [0; MAX_DIM] };
        if start.whole {
            return Region { extent: self.levels[start.level as usize].grid, ..none };
        }
        let of = |index| Region { corner: self.typed.decode(start.level, start.code(index)), extent: [1; MAX_DIM] };
        (0..start.len()).map(of).reduce(|one, two| one.hull(&two)).unwrap_or(none)
    }

    /// The cells of which a run from some roots may ask.
    pub(super) fn asked(&self, start: &Start<'_, MAX_DIM>) -> Region<MAX_DIM> {
        let (regions, level) = (self.hull(start), &self.levels[start.level as usize]);
        if regions.extent.contains(&0) {
            return regions;
        }
        let last = per_axis::each(|j| regions.corner[j] + regions.extent[j] - 1);
        let mut cells = level.region(regions.corner).hull(&level.region(last));
        // Closed regions have a layer of their neighbours' cells.
        if self.rule == RuleKind::Closed {
            for (j, &n) in self.size().iter().enumerate() {
                cells.extent[j] += u32::from(cells.corner[j] + cells.extent[j] < n);
            }
        }
        cells
    }

    /// Bytes of a code of the deepest level.
    pub(super) fn code_bytes(&self) -> u64 {
        if self.bits <= 32 { 4 } else { 8 }
    }

    /// Bytes of a family in a table of the deepest level.
    pub(super) fn entry_bytes(&self, table: Table) -> u64 {
        match table {
            Table::Coordinates => 4 * self.dimensions as u64,
            Table::Scalars => self.code_bytes(),
        }
    }

    /// Of numbers per axis those of the plan's own.
    pub(super) fn own<'n, T>(&self, numbers: &'n [T; MAX_DIM]) -> &'n [T] {
        &numbers[..self.dimensions]
    }

    /// Numbers per axis as kernels take them: 0 beyond the plan's own.
    pub(super) fn padded(&self, numbers: [u32; MAX_DIM]) -> [u32; MAX_DIM] {
        per_axis::each(|j| if j < self.dimensions { numbers[j] } else { 0 })
    }

    /// The curve as kernels decode it on the deepest level.
    pub(super) fn deepest(&self) -> DeviceCurve<'_> {
        self.typed.curve(self.levels.len() as u32 - 1)
    }
}

#[cfg(test)]
impl Outline<'static> {
    /// That of a plan, whatever the field.
    pub(super) fn of_plan<const K: usize>(plan: &Plan<K>) -> Self {
        struct Nothing;
        impl<const K: usize> Field<K> for Nothing {
            fn labels(&self) -> Labels {
                Labels::counts(1)
            }
            fn host(&self) -> Option<&dyn crate::field::Evaluate<K>> {
                None
            }
        }
        Self::new(plan, &Nothing)
    }
}
