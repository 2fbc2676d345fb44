//! How noisy an array is, from some of its regions: before an hour is spent on a tree that does not pay.

use std::time::{Duration, Instant};

use crate::backend::Control;
use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::{Region, Rows};
use crate::per_axis;
use crate::result::Cells;
use crate::tree::bottom_up::{BLOCK, BottomUp};
use crate::tree::error::TreeError;
use crate::tree::label_look::LabelLook;
use crate::tree::predicate::Spans;
use crate::tree::two_classes::TwoClasses;

/// Regions of the last level that are looked at, at most.
const REGIONS: u128 = 256;

/// Shares of the leaves for which a tolerance is asked.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];

/// How noisy an array is, estimated from some regions of the last level.
///
/// ```
/// use std::time::Duration;
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::BottomUp;
///
/// // 100 and 101 alternate: no region is uniform, and a tolerance of 1 makes all of them uniform.
/// let image = Array2::from_shape_fn((256, 256), |(y, x)| 100 + ((x + y) % 2) as u8);
/// let source = ArrayField::new(image.view())?;
/// let plan = Plan::builder([256, 256]).rule(RuleKind::Full).build()?;
/// let noise = BottomUp::new(&plan, &source)?.noise(Duration::from_secs(5))?.ok_or("no time")?;
/// assert_eq!(noise.leaves, 1.0);
/// assert_eq!(noise.tolerances, [(1.0, 0.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Cells that were looked at.
    pub cells: u64,
    /// The share of them in mixed regions.
    pub leaves: f64,
    /// Tolerances that would make half, 80 % and 95 % of the mixed regions uniform, each with the share of cells that
    /// would still be in leaves. Empty if some cells are NaN.
    pub tolerances: Vec<(f64, f64)>,
    /// A threshold that parts all values into two classes, with the share of cells in regions that would still have both; None if there are no
    /// two values. Its classes are Otsu's.
    pub threshold: Option<(f64, f64)>,
    /// True if the cells of those regions look like labels: whole numbers of few values, and most of them equal to the next.
    pub labels: bool,
    /// Smaller stop sides B, an axis each, from the largest on, with about the share of the cells that would still be in leaves, where that
    /// is less.
    pub finer: Vec<(Vec<u32>, f64)>,
}

/// How often leaves are divided once more to find out whether that would pay.
const DEEPER: u32 = 2;

/// The same where there is time for all regions. Leaves of a small array are large: its default B is that of an array of which a leaf is a
/// small part.
const DEEPEST: u32 = 5;

/// The least stop side that is tried: below it nearly every tree has as many regions as the array has cells.
const LEAST_SIDE: u32 = 2;

impl<const K: usize> BottomUp<'_, K> {
    /// Looks at regions of the last level all over the array, until it knows enough or `time` is over. It estimates
    /// what share of the cells is in leaves, and which tolerances would leave fewer. None if there was no time for one
    /// region.
    ///
    /// # Errors
    /// As [`tree`](Self::tree).
    pub fn noise(&self, time: Duration) -> Result<Option<Noise>, TreeError> {
        here!(fn(&BottomUp<'_, K>, Duration) -> Result<Option<Noise>, TreeError> = |this, time| this.noise_here(time))(
            self, time,
        )
    }

    fn noise_here(&self, time: Duration) -> Result<Option<Noise>, TreeError> {
        let (begun, plan, deepest) = (Instant::now(), self.along.plan(), self.along.deepest());
        let (codes, size, kind) = (self.along.codes(deepest), plan.domain().size(), self.source.kind());
        let spans = self.criterion.spans(kind, self.nodata);
        let (mut buffer, unheard) = (Cells::empty(kind), Control::default());
        let mut look = NoiseLook::new(kind);
        let (mut mixed, mut are_all) = (Vec::new(), true);
        let regions = codes.min(REGIONS);
        for number in 0..regions {
            let region = plan.region(deepest, scattered(number, regions, codes));
            if begun.elapsed() >= time || region.cells_wide() > BLOCK.into() {
                are_all = false;
                break;
            }
            let around = spans.around(&region, size);
            self.read(&around, &mut buffer, &unheard)?;
            let rows = Rows::of(&region, &around);
            look.region(&buffer, &rows);
            let own = spans.span(&buffer, &around, &region);
            if spans.region(own, spans.span(&buffer, &around, &around)).is_none() {
                look.leaf(&buffer, &rows, spans.needed(own));
                for depth in 0..DEEPER {
                    look.left[depth as usize] += self.left(&spans, &region, &buffer, depth + 1);
                }
                mixed.push(region);
            }
        }
        // What is known of a few regions is worth less than what is known of all.
        'deeper: for divisions in DEEPER + 1..=DEEPEST {
            let mut cells = 0;
            for region in &mixed {
                if !are_all || begun.elapsed() >= time {
                    break 'deeper;
                }
                self.read(&spans.around(region, size), &mut buffer, &unheard)?;
                cells += self.left(&spans, region, &buffer, divisions);
            }
            look.left.push(cells);
        }
        let scheme = plan.scheme();
        Ok(look.noise(&scheme.r, &scheme.b))
    }

    /// Cells of a region that would be in leaves if it were divided so often. A buffer holds the cells that decide.
    fn left(&self, spans: &Spans, region: &Region<K>, buffer: &Cells, divisions: u32) -> u64 {
        let (scheme, size) = (self.along.plan().scheme(), self.along.plan().domain().size());
        let around = spans.around(region, size);
        let mut left = 0;
        for part in split(region, per_axis::each(|j| scheme.r[j].saturating_pow(divisions))) {
            let own = spans.span(buffer, &around, &part);
            if spans.region(own, spans.span(buffer, &around, &spans.around(&part, size))).is_none() {
                left += part.volume();
            }
        }
        left
    }
}

/// What regions were like so far.
struct NoiseLook {
    kind: CellType,
    cells: u64,
    /// Of each leaf the tolerance under which it would be uniform, and its cells.
    leaves: Vec<(f64, u64)>,
    /// Cells that would be in leaves if these were divided once, twice and so on.
    left: Vec<u64>,
    labels: LabelLook,
    classes: TwoClasses,
}

impl NoiseLook {
    fn new(kind: CellType) -> Self {
        let (labels, classes) = (LabelLook::new(kind), TwoClasses::default());
        Self { kind, cells: 0, leaves: Vec::new(), left: vec![0; DEEPER as usize], labels, classes }
    }

    /// Looks at a region, whose cells lie in a buffer.
    fn region(&mut self, buffer: &Cells, rows: &Rows) {
        let mut values = Vec::new();
        rows.each(|start| values.extend((start..start + rows.len()).map(|place| self.kind.number(buffer.word(place)))));
        self.cells += values.len() as u64;
        self.classes.region(&values);
    }

    /// Looks at the same region once more, which is mixed, and would be uniform under a tolerance.
    fn leaf(&mut self, buffer: &Cells, rows: &Rows, tolerance: f64) {
        let (mut cells, mut words) = (0, vec![0; rows.len()]);
        rows.each(|start| {
            cells += rows.len() as u64;
            buffer.words(start, 1, &mut words);
            self.labels.row(&words);
        });
        self.leaves.push((tolerance, cells));
    }

    /// The estimate, for leaves that are divided by `r` down to the stop side `b`; None if nothing was seen.
    fn noise(self, r: &[u32], b: &[u32]) -> Option<Noise> {
        let Self { kind, cells, leaves, left, labels, classes } = self;
        if cells == 0 {
            return None;
        }
        let mut noise = Noise::new(cells, leaves);
        noise.labels = labels.are_labels();
        noise.threshold = classes.threshold().map(|(t, left)| (if kind.is_float() { t } else { t.ceil() }, left));
        for (depth, left) in left.into_iter().enumerate() {
            let side = |j: usize| b[j] / if r[j] == 1 { 1 } else { r[j].saturating_pow(depth as u32 + 1) };
            let (sides, left) = ((0..b.len()).map(side).collect::<Vec<_>>(), left as f64 / cells as f64);
            if left < noise.leaves && sides.iter().zip(b).all(|(&side, &b)| side >= b.min(LEAST_SIDE)) {
                noise.finer.push((sides, left));
            }
        }
        Some(noise)
    }
}

/// The parts of a region, so many per axis, or as many as it has cells there.
fn split<const K: usize>(region: &Region<K>, parts: [u32; K]) -> impl Iterator<Item = Region<K>> {
    let region = *region;
    let parts: [u32; K] = per_axis::each(|j| parts[j].min(region.extent[j]));
    let all: u64 = parts.iter().map(|&parts| u64::from(parts)).product();
    (0..all).map(move |mut number| {
        let mut part = region;
        for j in 0..K {
            let (many, at) = (u64::from(parts[j]), number % u64::from(parts[j]));
            number /= many;
            let cut = |at: u64| (u64::from(region.extent[j]) * at / many) as u32;
            (part.corner[j], part.extent[j]) = (region.corner[j] + cut(at), cut(at + 1) - cut(at));
        }
        part
    })
}

/// The code of a region among as many as there are, so that the first few lie all over them.
fn scattered(number: u128, regions: u128, codes: u128) -> u64 {
    // Each number once: an odd factor is prime to the power of two that is drawn from, and a number beyond is drawn again.
    let power = regions.next_power_of_two();
    let mut place = number;
    loop {
        place = place * 0x9e37_79b1 % power;
        if place < regions {
            return (place * codes / regions) as u64;
        }
    }
}

impl Noise {
    fn new(all: u64, mut leaves: Vec<(f64, u64)>) -> Self {
        leaves.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let of_leaves: u64 = leaves.iter().map(|leaf| leaf.1).sum();
        let tolerance = |share: f64| {
            let mut seen = 0;
            let enough = |leaf: &&(f64, u64)| {
                seen += leaf.1;
                seen as f64 >= share * of_leaves as f64
            };
            let needed = leaves.iter().find(enough)?.0;
            let left: u64 = leaves.iter().filter(|leaf| leaf.0 > needed).map(|leaf| leaf.1).sum();
            needed.is_finite().then_some((needed, left as f64 / all as f64))
        };
        let mut tolerances: Vec<(f64, f64)> = SHARES.into_iter().filter_map(tolerance).collect();
        tolerances.dedup();
        Self {
            cells: all,
            leaves: of_leaves as f64 / all as f64,
            tolerances,
            threshold: None,
            labels: false,
            finer: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_tile_a_region() {
        let region = Region { corner: [5, 0, 7], extent: [7, 2, 1] };
        let parts: Vec<_> = split(&region, [4, 4, 4]).collect();
        assert_eq!((parts.len(), parts.iter().map(Region::volume).sum::<u64>()), (4 * 2, region.volume()));
        assert!(parts.iter().all(|part| part.volume() > 0 && (0..3).all(|j| part.corner[j] >= region.corner[j])));
        assert_eq!(parts[0], Region { corner: [5, 0, 7], extent: [1, 1, 1] });
    }

    #[test]
    fn regions_come_once_each() {
        for (regions, codes) in [(1, 1), (5, 5), (4096, 4096), (7, 7000), (4096, 1 << 64)] {
            let mut found: Vec<u64> = (0..regions).map(|number| scattered(number, regions, codes)).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len() as u128, regions);
            assert!(u128::from(*found.last().unwrap()) < codes);
        }
    }
}
