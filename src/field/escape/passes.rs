//! Iterating many cells whose dwells differ, with every lane busy.
//!
//! A group of cells lives in arrays, one per number that an orbit carries. A *pass* runs u more iterations on all active
//! cells, a bundle of vectors at a time so that their latencies overlap; then finished cells are taken out and the
//! others move together (compression). All active cells have the same iteration count n, so no lane counts.
//!
//! ```text
//!   active   [ a b c d e f g h ]   pass: u iterations, n += u
//!   finished [     c     f   h ]   -> labels
//!   active   [ a b d e g ]         the next pass has fewer vectors
//! ```
//!
//! A *counted* pass tests |z|² < 4 before every iteration and finds the exact dwell of the cells that finish in it. For
//! z² + c the test costs as much as the step, so later passes test *late*: once, after u iterations. The cells found
//! outside wait, with the state they entered the pass with, in a queue that is then run counted.
//!
//! A late test is exact because escape is permanent: if |z| ≥ 2 and |c|² ≤ 3.99, then |z² + c| ≥ |z|² − |c| ≥
//! 2|z| − 1.9975 > |z|, by a margin of 0.0025 that is far above the rounding of either precision (|z| ≥ 2 holds up to a
//! few units in the last place, and so does each computed step); the growth goes on to infinity, and NaN fails the test
//! too. Cells with |c|² > 3.99 that survive the first pass, which is counted, go through the plain loop.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::field::escape::orbit::{Orbit, Rounding};
use crate::field::escape::sampled::EscapeField;
use crate::simd::{Lanes, Real};

/// Cells in a group: enough to keep bundles full while dwells differ, few enough for the first-level caches.
const GROUP: usize = 2048;

/// Lanes of the widest bundle.
const BUNDLE: usize = 96;

/// Room for a group, and for the whole vectors that are read and written behind its end.
const ROOM: usize = GROUP + BUNDLE;

/// Iterations of the first pass. Most cells outside the set are gone after it.
const FIRST: u32 = 16;

/// Vectors of a bundle whose steps are all tested: masks and counts take registers, too.
const TESTED: usize = 3;

/// Steps between two looks at whether a bundle has any cell left.
const UNROLL: u32 = 4;

/// The numbers of a group's cells, array by array, and the cells' places in the batch.
struct Group<T, const V: usize> {
    z: [[MaybeUninit<T>; ROOM]; V],
    index: [MaybeUninit<T>; ROOM],
}

impl<T: Real, const V: usize> Group<T, V> {
    fn new() -> Self {
        Self { z: [[MaybeUninit::uninit(); ROOM]; V], index: [MaybeUninit::uninit(); ROOM] }
    }

    /// Makes numbers of what a last bundle reads behind the `len` cells: points outside, gone at once.
    #[inline(always)]
    fn pad(&mut self, len: usize) {
        for v in 0..V {
            for z in &mut self.z[v][len..len + BUNDLE] {
                z.write(T::from_f64(2.0));
            }
        }
        for index in &mut self.index[len..len + BUNDLE] {
            index.write(T::from_index(0));
        }
    }

    /// # Safety
    /// `at + L::N` is at most `ROOM`, and the numbers were written.
    #[inline(always)]
    unsafe fn load<L: Lanes<Real = T>>(&self, at: usize) -> [L; V] {
        let mut z = [L::splat(T::from_f64(0.0)); V];
        for v in 0..V {
            // SAFETY: the caller's promise.
            z[v] = unsafe { L::load(self.z[v].as_ptr().add(at).cast()) };
        }
        z
    }

    /// Loads B vectors. This is a loop, since the compiler builds a closure as a function of its own, without the vector unit's
    /// instructions.
    ///
    /// # Safety
    /// As [`load`](Self::load), for `at + B * L::N`.
    #[inline(always)]
    unsafe fn load_bundle<L: Lanes<Real = T>, const B: usize>(&self, at: usize) -> [[L; V]; B] {
        let mut z = [[L::splat(T::from_f64(0.0)); V]; B];
        for b in 0..B {
            // SAFETY: the caller's promise.
            z[b] = unsafe { self.load(at + b * L::N) };
        }
        z
    }

    /// # Safety
    /// As [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_index<L: Lanes<Real = T>>(&self, at: usize) -> L {
        // SAFETY: the caller's promise.
        unsafe { L::load(self.index.as_ptr().add(at).cast()) }
    }

    /// Writes the lanes in `keep`, moved together, at `at`, and whatever behind them.
    ///
    /// # Safety
    /// `at + L::N` is at most `ROOM`.
    #[inline(always)]
    unsafe fn compress<L: Lanes<Real = T>>(&mut self, at: usize, z: &[L; V], index: L, keep: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            for v in 0..V {
                z[v].compress(keep).store(self.z[v].as_mut_ptr().add(at).cast());
            }
            index.compress(keep).store(self.index.as_mut_ptr().add(at).cast());
        }
    }
}

/// The labels of `cells`; late passes go by bundles of B vectors, counted ones of [`TESTED`].
///
/// # Safety
/// Called from a function compiled for L's vector unit; the slices have equal length, and B·N is at most `BUNDLE`.
#[inline(always)]
pub(super) unsafe fn evaluate<L, const B: usize, const K: usize, const V: usize, O, A>(
    field: &EscapeField<K, V, O, L::Real, A>,
    cells: &[[u32; K]],
    labels: &mut [u32],
) where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let (mut active, mut queue) = (Group::<L::Real, V>::new(), Group::<L::Real, V>::new());
    for start in (0..cells.len()).step_by(GROUP) {
        let group = start..cells.len().min(start + GROUP);
        let (cells, labels) = (&cells[group.clone()], &mut labels[group]);
        for (i, &cell) in cells.iter().enumerate() {
            let z = field.start(cell);
            for v in 0..V {
                active.z[v][i].write(z[v]);
            }
        }
        for (i, index) in active.index[..cells.len()].iter_mut().enumerate() {
            index.write(L::Real::from_index(i as u32));
        }
        active.pad(cells.len());
        let mut n = field.dwell.min(FIRST);
        // SAFETY: this function's contract; the group holds `len` cells and is padded.
        unsafe {
            let mut len = first::<L, TESTED, K, V, O, A>(field, &mut active, cells, n, labels);
            while len > 0 && n < field.dwell {
                let u = pass_length(n).min(field.dwell - n);
                if O::LATE {
                    let (left, finished) = late::<L, B, K, V, O, A>(&mut active, &mut queue, len, u);
                    len = left;
                    counted::<L, TESTED, K, V, O, A>(&mut queue, finished, n, u, labels);
                } else {
                    len = counted::<L, TESTED, K, V, O, A>(&mut active, len, n, u, labels);
                }
                n += u;
            }
            for index in &active.index[..len] {
                labels[index.assume_init().to_index() as usize] = field.dwell;
            }
        }
    }
}

/// Iterations of the pass that starts at `n`: short while many finish, longer when those that are left tend to stay.
#[inline(always)]
fn pass_length(n: u32) -> u32 {
    match n {
        0..64 => 16,
        64..256 => 32,
        _ => 64,
    }
}

/// The bits of the lanes of vector `b` of the bundle at `at` that hold cells.
#[inline(always)]
fn occupied<L: Lanes>(at: usize, b: usize, len: usize) -> u32 {
    let lanes = len.saturating_sub(at + b * L::N).min(L::N);
    ((1u64 << lanes) - 1) as u32
}

/// The first pass, of u iterations: labels every cell with its count so far, which is final for those that left; returns
/// how many are kept because they did not.
///
/// # Safety
/// As [`evaluate`]; `active` holds `cells`, padded.
#[inline(always)]
unsafe fn first<L, const B: usize, const K: usize, const V: usize, O, A>(
    field: &EscapeField<K, V, O, L::Real, A>,
    active: &mut Group<L::Real, V>,
    cells: &[[u32; K]],
    u: u32,
    labels: &mut [u32],
) -> usize
where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let permanent = L::splat(L::Real::from_f64(3.99));
    let mut kept = 0;
    for at in (0..cells.len()).step_by(L::N * B) {
        // SAFETY: `at` is below `len`, and the group has room for whole bundles. Writes go to `kept` <= the place of the
        // vector they come from, which has been loaded, so no unread cell is overwritten.
        unsafe {
            let mut z: [[L; V]; B] = active.load_bundle(at);
            let (inside, count) = count::<L, B, K, V, O, A>(&mut z, u);
            let mut counts = [L::Real::from_f64(0.0); BUNDLE];
            for b in 0..B {
                count[b].store(counts.as_mut_ptr().add(b * L::N));
            }
            let end = cells.len().min(at + L::N * B);
            let own = &mut labels[at..end];
            let counts = &counts[..own.len()];
            for i in 0..own.len() {
                own[i] = counts[i].to_u32();
            }
            for b in 0..B {
                let place = at + b * L::N;
                let mut keep = L::bits(inside[b]) & occupied::<L>(at, b, cells.len());
                if O::LATE {
                    let (re, im) = (z[b][V - 2], z[b][V - 1]);
                    let unfit = occupied::<L>(at, b, cells.len()) & !L::bits((re * re + im * im).lt(permanent));
                    keep &= !unfit;
                    if unfit != 0 {
                        by_definition(field, &cells[place..], unfit, &mut labels[place..]);
                    }
                }
                let index = active.load_index::<L>(place);
                active.compress(kept, &z[b], index, keep);
                kept += keep.count_ones() as usize;
            }
        }
    }
    active.pad(kept);
    kept
}

/// The labels of the cells in `which`, one by one. Rare: they lie in a thin shell or are outside from the start.
#[cold]
#[inline(never)]
fn by_definition<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding>(
    field: &EscapeField<K, V, O, T, A>,
    cells: &[[u32; K]],
    which: u32,
    labels: &mut [u32],
) {
    for (i, (&cell, label)) in cells.iter().zip(labels).enumerate().take(32) {
        if which >> i & 1 == 1 {
            *label = field.dwell_of(cell);
        }
    }
}

/// u tested iterations: the tests passed, and which lanes passed all.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn count<L, const B: usize, const K: usize, const V: usize, O, A>(
    z: &mut [[L; V]; B],
    u: u32,
) -> ([L::Mask; B], [L; B])
where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let (mut inside, mut count) = ([L::all(); B], [L::splat(L::Real::from_f64(0.0)); B]);
    for _ in 0..u / UNROLL {
        for _ in 0..UNROLL {
            test_and_step::<L, B, K, V, O, A>(z, &mut inside, &mut count);
        }
        let mut any = 0;
        for b in 0..B {
            any |= L::bits(inside[b]);
        }
        if any == 0 {
            return (inside, count);
        }
    }
    for _ in 0..u % UNROLL {
        test_and_step::<L, B, K, V, O, A>(z, &mut inside, &mut count);
    }
    (inside, count)
}

/// One tested iteration of a bundle.
#[inline(always)]
fn test_and_step<L, const B: usize, const K: usize, const V: usize, O, A>(
    z: &mut [[L; V]; B],
    inside: &mut [L::Mask; B],
    count: &mut [L; B],
) where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let (four, one) = (L::splat(L::Real::from_f64(4.0)), L::splat(L::Real::from_f64(1.0)));
    for b in 0..B {
        let passed = O::norm2::<L, A>(&z[b]).lt(four);
        // Where escape is permanent the test repeats itself.
        inside[b] = if O::LATE { passed } else { L::and(inside[b], passed) };
        count[b] = L::select(inside[b], count[b] + one, count[b]);
        z[b] = O::step::<L, A>(z[b]);
    }
}

/// A late pass: keeps the cells that are inside after u iterations, queues the others with their state before; returns
/// how many of each.
///
/// # Safety
/// As [`evaluate`]; `active` holds `len` cells, padded.
#[inline(always)]
unsafe fn late<L, const B: usize, const K: usize, const V: usize, O, A>(
    active: &mut Group<L::Real, V>,
    queue: &mut Group<L::Real, V>,
    len: usize,
    u: u32,
) -> (usize, usize)
where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let four = L::splat(L::Real::from_f64(4.0));
    let (mut kept, mut queued) = (0, 0);
    for at in (0..len).step_by(L::N * B) {
        // SAFETY: as in `first`; the queue is filled at most as fast as cells are read.
        unsafe {
            let mut z: [[L; V]; B] = active.load_bundle(at);
            for _ in 0..u / UNROLL {
                for _ in 0..UNROLL {
                    for z in &mut z {
                        *z = O::step::<L, A>(*z);
                    }
                }
            }
            for _ in 0..u % UNROLL {
                for z in &mut z {
                    *z = O::step::<L, A>(*z);
                }
            }
            for b in 0..B {
                let (place, occupied) = (at + b * L::N, occupied::<L>(at, b, len));
                let inside = L::bits(O::norm2::<L, A>(&z[b]).lt(four)) & occupied;
                let outside = occupied & !inside;
                if outside == 0 && kept == place {
                    for v in 0..O::STATE {
                        z[b][v].store(active.z[v].as_mut_ptr().add(place).cast());
                    }
                } else {
                    let index = active.load_index::<L>(place);
                    if outside != 0 {
                        let before = active.load::<L>(place);
                        queue.compress(queued, &before, index, outside);
                        queued += outside.count_ones() as usize;
                    }
                    active.compress(kept, &z[b], index, inside);
                }
                kept += inside.count_ones() as usize;
            }
        }
    }
    active.pad(kept);
    queue.pad(queued);
    (kept, queued)
}

/// A counted pass: labels the cells that leave within u iterations after `n`, keeps the others, returns how many those
/// are. Cells of a late orbit come here only to leave.
///
/// # Safety
/// As [`late`].
#[inline(always)]
unsafe fn counted<L, const B: usize, const K: usize, const V: usize, O, A>(
    active: &mut Group<L::Real, V>,
    len: usize,
    n: u32,
    u: u32,
    labels: &mut [u32],
) -> usize
where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let mut kept = 0;
    for at in (0..len).step_by(L::N * B) {
        // SAFETY: as in `first`.
        unsafe {
            let mut z: [[L; V]; B] = active.load_bundle(at);
            let (inside, count) = count::<L, B, K, V, O, A>(&mut z, u);
            let mut counts = [L::Real::from_f64(0.0); BUNDLE];
            for b in 0..B {
                count[b].store(counts.as_mut_ptr().add(b * L::N));
            }
            // Those that are kept are labelled, too, and later again.
            let end = len.min(at + L::N * B);
            let indices = &active.index[at..end];
            let counts = &counts[..indices.len()];
            for i in 0..indices.len() {
                labels[indices[i].assume_init().to_index() as usize] = n + counts[i].to_u32();
            }
            if !O::LATE {
                for b in 0..B {
                    let keep = L::bits(inside[b]) & occupied::<L>(at, b, len);
                    let index = active.load_index::<L>(at + b * L::N);
                    active.compress(kept, &z[b], index, keep);
                    kept += keep.count_ones() as usize;
                }
            }
        }
    }
    active.pad(kept);
    kept
}
