//! The order in which exploration visits the cells of a region.
//!
//! Neighbouring face cells tend to agree, so scanning a face in storage order learns little per cell. The scattered
//! order visits cell number (e·q) mod F for e = 0, 1, .. with q near the golden section of F: the cells seen so far are
//! spread evenly over the surface at every moment, and a mixed region usually shows its second label within the first
//! chunk. The set of cells is the same as in a full scan, so the decision is too.
//!
//! Numbering face cells costs divisions. Regions of one level have few distinct extents (⌊n/M⌋ or one more per axis,
//! one more again for `closed`), so short orders are computed once per level and extent and then only added to corners.

use std::sync::OnceLock;

use crate::backend::ExploreOrder;
use crate::geometry::{Level, Region};
use crate::plan::Plan;
use crate::rule::{Deciding, RuleKind};

/// Longest order that is tabled; longer ones are computed cell by cell.
const TABLED: u64 = 8192;

/// Most entries of a level's table of orders: 3^K extents are possible, and beyond this they are not worth keeping.
const EXTENTS: usize = 3usize.pow(5);

/// The cells of one region in visiting order, by number 0..len.
pub(crate) struct Visit<'a, const K: usize> {
    deciding: Deciding<K>,
    len: u64,
    cells: Order<'a, K>,
}

/// Where the order comes from.
enum Order<'a, const K: usize> {
    Table(&'a [[u32; K]]),
    Stride(u64),
}

impl<const K: usize> Visit<'_, K> {
    /// The number of cells to visit.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends the cells number `range` to `cells`.
    #[inline]
    pub(crate) fn extend(&self, range: std::ops::Range<u64>, cells: &mut Vec<[u32; K]>) {
        match self.cells {
            Order::Table(table) => {
                let offsets = &table[range.start as usize..range.end as usize];
                cells.reserve(offsets.len());
                for &offset in offsets {
                    cells.push(self.deciding.region.cell(offset));
                }
            }
            Order::Stride(stride) => {
                cells.reserve((range.end - range.start) as usize);
                for e in range {
                    cells.push(self.deciding.region.cell(offset(&self.deciding, stride, self.len, e)));
                }
            }
        }
    }
}

/// The offset from the corner of the cell that is visited as number `e` of `len`.
#[inline]
fn offset<const K: usize>(deciding: &Deciding<K>, stride: u64, len: u64, e: u64) -> [u32; K] {
    // F can exceed 2^32 in high dimensions, so the product needs 128 bits.
    deciding.offset((u128::from(e) * u128::from(stride) % u128::from(len)) as u64)
}

/// The visiting orders of a plan's levels.
pub(crate) struct VisitOrders<const K: usize> {
    rule: RuleKind,
    scattered: bool,
    size: [u32; K],
    levels: Vec<LevelOrders<K>>,
}

struct LevelOrders<const K: usize> {
    least: [u32; K],
    tables: Vec<OnceLock<Box<[[u32; K]]>>>,
}

impl<const K: usize> VisitOrders<K> {
    pub(crate) fn new(plan: &Plan<K>, order: ExploreOrder) -> Self {
        let count = 3usize.pow(K as u32).min(EXTENTS);
        let level = |level: &Level<K>| LevelOrders {
            least: level.least_extent(),
            tables: std::iter::repeat_with(OnceLock::new).take(count).collect(),
        };
        Self {
            rule: plan.rule(),
            scattered: order == ExploreOrder::Scattered,
            size: plan.domain().size(),
            levels: plan.levels().iter().map(level).collect(),
        }
    }

    /// The visit that decides whether `region` of `level` is uniform.
    #[inline]
    pub(crate) fn visit(&self, level: u32, region: &Region<K>) -> Visit<'_, K> {
        let deciding = self.rule.deciding(region, self.size);
        let len = deciding.count();
        let stride = || if self.scattered { golden_stride(len) } else { 1 };
        let orders = &self.levels[level as usize];
        let extent = deciding.region.extent;
        let slot = (0..K).rev().fold(0, |slot, j| 3 * slot + (extent[j] - orders.least[j]) as usize);
        let cells = match orders.tables.get(slot) {
            Some(table) if len <= TABLED => Order::Table(table.get_or_init(|| {
                let stride = stride();
                (0..len).map(|e| offset(&deciding, stride, len, e)).collect()
            })),
            _ => Order::Stride(stride()),
        };
        Visit { deciding, len, cells }
    }
}

/// An odd number near 0.618·len without a common factor with it, so that its multiples reach every cell once.
fn golden_stride(len: u64) -> u64 {
    let mut stride = ((len as f64 * 0.618_033_988_749_895) as u64) | 1;
    while gcd(stride, len) != 1 {
        stride += 2;
    }
    stride
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use std::collections::HashSet;

    fn cells(rule: RuleKind, order: ExploreOrder, n: [u32; 2], g: [u32; 2], p: [u32; 2]) -> Vec<[u32; 2]> {
        let domain = Domain::new(n, [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let plan = Plan::new(domain, Scheme { g, r: [2; 2], b: [1000; 2] }, CurveKind::Canonical, rule).unwrap();
        let orders = VisitOrders::new(&plan, order);
        let visit = orders.visit(0, &plan.levels()[0].region(p));
        let mut cells = Vec::new();
        visit.extend(0..visit.len(), &mut cells);
        cells
    }

    #[test]
    fn both_orders_visit_the_same_cells() {
        for n in [[1, 1], [2, 9], [7, 7], [37, 23], [300, 2], [20_000, 3]] {
            for g in [[1, 1], [1, 2]] {
                if g[1] > n[1] {
                    continue;
                }
                for &rule in RuleKind::ALL {
                    let scattered = cells(rule, ExploreOrder::Scattered, n, g, [0, 0]);
                    let paper = cells(rule, ExploreOrder::Paper, n, g, [0, 0]);
                    assert_eq!(scattered.len(), paper.len());
                    let set: HashSet<_> = scattered.into_iter().collect();
                    assert_eq!(set.len(), paper.len());
                    assert_eq!(set, paper.into_iter().collect());
                }
            }
        }
    }

    #[test]
    fn closed_adds_one_layer_inside_the_domain() {
        let upper = |p| {
            let cells = cells(RuleKind::Closed, ExploreOrder::Paper, [16, 16], [2, 2], p);
            (cells.iter().map(|c| c[0]).max().unwrap(), cells.iter().map(|c| c[1]).max().unwrap())
        };
        assert_eq!(upper([0, 0]), (8, 8));
        assert_eq!(upper([1, 0]), (15, 8));
        assert_eq!(upper([1, 1]), (15, 15));
    }
}
