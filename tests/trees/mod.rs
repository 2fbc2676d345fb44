//! Trees: from the cells up against from the top down, and every question against the array itself.

mod across;
mod arrays;
mod census;
mod files;
mod lists;
mod making;
mod parts;
mod points;
mod points_in_files;
mod predicates;
mod questions;
mod slices;
mod statistics;
mod survey;

use std::path::Path;

use ndarray::{ArrayD, IxDyn};
use orthant::Cell;
use orthant::prelude::*;
use orthant::tree::BottomUp;
use proptest::prelude::*;

use crate::patterns::awkward;

/// A size, a scheme and a seed in K dimensions.
#[derive(Debug, Clone, Copy)]
struct Case<const K: usize> {
    size: [u32; K],
    scheme: Scheme<K>,
    seed: u64,
}

impl<const K: usize> Case<K> {
    /// Sizes of up to `most` cells per axis, schemes that split some axes and others not.
    fn any(most: u32) -> impl Strategy<Value = Self> {
        let axis = (1..=most, 1u32..4, 1u32..4, 1u32..4);
        (prop::collection::vec(axis, K), any::<u64>()).prop_map(|(axes, seed)| {
            let of = |pick: fn((u32, u32, u32, u32)) -> u32| std::array::from_fn(|j| pick(axes[j]));
            let mut r = of(|axis| axis.2);
            if r == [1; K] {
                r[seed as usize % K] = 2;
            }
            let scheme = Scheme { g: of(|axis| axis.1.min(axis.0)), r, b: of(|axis| axis.3) };
            Self { size: of(|axis| axis.0), scheme, seed }
        })
    }

    fn plan(&self, curve: CurveKind) -> Option<Plan<K>> {
        let window = std::array::from_fn(|j| [-1.0 - j as f64, 0.5 * j as f64]);
        let domain = Domain::new(self.size, window, Sample::Centre).unwrap();
        Plan::new(domain, self.scheme, curve, RuleKind::Full).ok()
    }

    /// Boxes of values on a ground of one, the last of them a single cell: of those that `awkward` lists.
    fn array<T: Cell>(&self) -> ArrayD<T> {
        let values = awkward::<T>();
        let mut below = Below(self.seed);
        let mut array = ArrayD::from_elem(shape(self.size), values[below.next(values.len() as u32) as usize]);
        for number in 0..6 {
            let value = values[below.next(values.len() as u32) as usize];
            let painted = below.window(self.size, number == 5);
            painted.cells().for_each(|cell| array[&place(cell)[..]] = value);
        }
        array
    }
}

/// A folder of its own, in memory where there is such a place: whether files have reached a disk is asked for each of them.
pub fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// Numbers from a seed.
struct Below(u64);

impl Below {
    fn next(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9);
        (self.0 >> 33) as u32 % most
    }

    /// A box of a domain, or one of its cells.
    fn window<const K: usize>(&mut self, size: [u32; K], cell: bool) -> Region<K> {
        let ends: [[u32; 2]; K] = std::array::from_fn(|j| [self.next(size[j]), self.next(size[j])]);
        let extent = |[a, b]: [u32; 2]| if cell { 1 } else { a.abs_diff(b) + 1 };
        Region { corner: ends.map(|[a, b]| a.min(b)), extent: ends.map(extent) }
    }
}

/// Numbers that look random, of the upper bits.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Calls a check of points with seeds, in each number of dimensions that points have.
macro_rules! in_each_dimension {
    ($check:ident) => {
        for seed in 0..crate::scope::sized(18, 10) {
            $check::<2>(seed);
            $check::<3>(seed + 1000);
            $check::<4>(seed + 2000);
            $check::<5>(seed + 3000);
            $check::<6>(seed + 4000);
        }
    };
}
use in_each_dimension;

fn shape<const K: usize>(size: [u32; K]) -> IxDyn {
    IxDyn(&place(size))
}

/// The place of a cell in an array in C order.
fn place<const K: usize>(cell: [u32; K]) -> Vec<usize> {
    cell.iter().rev().map(|&c| c as usize).collect()
}

/// What counts as the same value as a cell.
fn key<T: Cell>(value: T) -> u64 {
    orthant::rule::exact::key(T::TYPE, value.word())
}

/// The tree of an array from the cells up.
fn bottom_up<T: Cell, const K: usize>(plan: &Plan<K>, array: &ArrayD<T>) -> Tree<K> {
    let field = ArrayField::new(array.view()).unwrap();
    BottomUp::new(plan, &field).unwrap().tree().unwrap()
}

/// The tree of a run over the same array from the top down.
fn top_down<T: Cell, const K: usize>(plan: &Plan<K>, array: &ArrayD<T>, how: How) -> Tree<K> {
    let field = ArrayField::new(array.view()).unwrap();
    Tree::of(Run::new(plan, &field).how(how).start().unwrap()).unwrap()
}
