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

use super::{EscapeField, Orbit, Rounding};
use crate::simd::{Lanes, Real};

/// Cells in a group: enough to keep bundles full while dwells differ, few enough for the first-level caches.
const GROUP: usize = 2048;

/// Vectors in flight: four chains of dependent operations hide a latency of four cycles.
const BUNDLE: usize = 4;

/// Room for a group, and for the whole vectors that are read and written behind its end.
const ROOM: usize = GROUP + 16 * BUNDLE;

/// Iterations of the first pass. Most cells outside the set are gone after it.
const FIRST: u32 = 8;

/// The numbers of a group's cells, array by array, and the cells' places in the batch.
struct Group<T, const V: usize> {
    z: [[MaybeUninit<T>; ROOM]; V],
    index: [MaybeUninit<T>; ROOM],
}

impl<T: Real, const V: usize> Group<T, V> {
    fn new() -> Self {
        Self { z: [[MaybeUninit::uninit(); ROOM]; V], index: [MaybeUninit::uninit(); ROOM] }
    }

    /// # Safety
    /// `at + L::N` is at most `ROOM`, and the numbers were written.
    #[inline(always)]
    unsafe fn load<L: Lanes<Real = T>>(&self, at: usize) -> [L; V] {
        // SAFETY: the caller's promise.
        std::array::from_fn(|v| unsafe { L::load(self.z[v].as_ptr().add(at).cast()) })
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

/// The labels of `cells`.
///
/// # Safety
/// Called from a function compiled for L's vector unit; the slices have equal length.
#[inline(always)]
pub(super) unsafe fn evaluate<L, const K: usize, const V: usize, O, A>(
    field: &EscapeField<K, V, O, L::Real, A>,
    cells: &[[u32; K]],
    labels: &mut [u32],
) where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let (mut active, mut queue) = (Group::<L::Real, V>::new(), Group::<L::Real, V>::new());
    for (cells, labels) in cells.chunks(GROUP).zip(labels.chunks_mut(GROUP)) {
        for (i, &cell) in cells.iter().enumerate() {
            let z = field.start(cell);
            for v in 0..V {
                active.z[v][i].write(z[v]);
            }
            active.index[i].write(L::Real::from_index(i as u32));
        }
        // Whole bundles are read: what is behind the last cell must be numbers, and repeats it.
        let last = field.start(cells[cells.len() - 1]);
        for i in cells.len()..cells.len().next_multiple_of(L::N * BUNDLE) {
            for v in 0..V {
                active.z[v][i].write(last[v]);
            }
            active.index[i].write(L::Real::from_index(0));
        }
        // SAFETY: this function's contract; the group is initialised as `group` demands.
        unsafe { group::<L, K, V, O, A>(&mut active, &mut queue, cells.len(), field.dwell, labels) };
    }
}

/// Iterates a group of `len` cells to the end.
///
/// # Safety
/// As [`evaluate`]; `active` holds `len` cells, rounded up to a whole bundle.
#[inline(always)]
unsafe fn group<L, const K: usize, const V: usize, O, A>(
    active: &mut Group<L::Real, V>,
    queue: &mut Group<L::Real, V>,
    mut len: usize,
    dwell: u32,
    labels: &mut [u32],
) where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let mut n = 0;
    while len > 0 && n < dwell {
        let u = pass_length(n).min(dwell - n);
        // SAFETY: this function's contract, and the passes leave at most as many cells as they found.
        unsafe {
            if O::LATE && n > 0 {
                let (left, finished) = late::<L, K, V, O, A>(active, queue, len, u);
                len = left;
                if finished > 0 {
                    counted::<L, K, V, O, A, true>(queue, finished, n, u, labels);
                }
            } else {
                len = counted::<L, K, V, O, A, false>(active, len, n, u, labels);
                if O::LATE {
                    len = plain_loop::<L, K, V, O, A>(active, len, n + u, dwell, labels);
                }
            }
        }
        n += u;
    }
    for slot in &active.index[..len] {
        // SAFETY: the first `len` slots hold cells.
        labels[unsafe { slot.assume_init() }.to_index() as usize] = dwell;
    }
}

/// Iterations of the pass that starts at `n`: short while many finish, longer when those that are left tend to stay.
#[inline(always)]
fn pass_length(n: u32) -> u32 {
    match n {
        0 => FIRST,
        1..64 => 16,
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

/// A late pass: keeps the cells that are inside after u iterations, queues the others with their state before; returns
/// how many of each.
///
/// # Safety
/// As [`group`].
#[inline(always)]
unsafe fn late<L, const K: usize, const V: usize, O, A>(
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
    for at in (0..len).step_by(L::N * BUNDLE) {
        // SAFETY: `at` is below `len`, and the group has room for whole bundles. Writes go to `kept` <= the place of the
        // vector they come from, which has been loaded, so no unread cell is overwritten; the queue is filled at most
        // as fast as cells are read.
        unsafe {
            let mut z: [[L; V]; BUNDLE] = std::array::from_fn(|b| active.load(at + b * L::N));
            for _ in 0..u {
                for z in &mut z {
                    *z = O::step::<L, A>(*z);
                }
            }
            let inside: [u32; BUNDLE] = std::array::from_fn(|b| {
                L::bits(O::norm2::<L, A>(&z[b]).lt(four)) & occupied::<L>(at, b, len)
            });
            for b in 0..BUNDLE {
                let (place, occupied) = (at + b * L::N, occupied::<L>(at, b, len));
                let outside = occupied & !inside[b];
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
                    active.compress(kept, &z[b], index, inside[b]);
                }
                kept += inside[b].count_ones() as usize;
            }
        }
    }
    // What a counted pass reads behind the last queued cell must be numbers.
    for i in queued..queued.next_multiple_of(L::N * BUNDLE) {
        for v in 0..V {
            queue.z[v][i].write(L::Real::from_f64(2.0));
        }
        queue.index[i].write(L::Real::from_index(0));
    }
    (kept, queued)
}

/// A counted pass: labels the cells that leave within u iterations, keeps the others, returns how many those are. With
/// `ALL` every cell is known to be outside after u iterations and is labelled; a count of u then is its exact dwell.
///
/// # Safety
/// As [`group`].
#[inline(always)]
unsafe fn counted<L, const K: usize, const V: usize, O, A, const ALL: bool>(
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
    let four = L::splat(L::Real::from_f64(4.0));
    let (zero, one) = (L::splat(L::Real::from_f64(0.0)), L::splat(L::Real::from_f64(1.0)));
    let mut kept = 0;
    for at in (0..len).step_by(L::N * BUNDLE) {
        // SAFETY: as in `late`.
        unsafe {
            let mut z: [[L; V]; BUNDLE] = std::array::from_fn(|b| active.load(at + b * L::N));
            let mut inside = [L::all(); BUNDLE];
            let mut count = [zero; BUNDLE];
            for _ in 0..u {
                for b in 0..BUNDLE {
                    inside[b] = L::and(inside[b], O::norm2::<L, A>(&z[b]).lt(four));
                    count[b] = L::select(inside[b], count[b] + one, count[b]);
                    z[b] = O::step::<L, A>(z[b]);
                }
            }
            for b in 0..BUNDLE {
                let (place, occupied) = (at + b * L::N, occupied::<L>(at, b, len));
                let inside = if ALL { 0 } else { L::bits(inside[b]) & occupied };
                let outside = occupied & !inside;
                let index = active.load_index::<L>(place);
                if outside != 0 {
                    let (mut counts, mut places) = ([L::Real::from_f64(0.0); 16], [L::Real::from_f64(0.0); 16]);
                    count[b].compress(outside).store(counts.as_mut_ptr());
                    index.compress(outside).store(places.as_mut_ptr());
                    for i in 0..outside.count_ones() as usize {
                        labels[places[i].to_index() as usize] = n + counts[i].to_u32();
                    }
                }
                active.compress(kept, &z[b], index, inside);
                kept += inside.count_ones() as usize;
            }
        }
    }
    kept
}

/// Takes out the cells for which a late test would not be exact and iterates them one by one.
///
/// # Safety
/// As [`group`].
#[inline(always)]
unsafe fn plain_loop<L, const K: usize, const V: usize, O, A>(
    active: &mut Group<L::Real, V>,
    len: usize,
    n: u32,
    dwell: u32,
    labels: &mut [u32],
) -> usize
where
    L: Lanes,
    O: Orbit<K, V>,
    A: Rounding,
{
    let (permanent, four) = (L::Real::from_f64(3.99), L::Real::from_f64(4.0));
    let mut kept = 0;
    for i in 0..len {
        // SAFETY: the first `len` slots hold cells, and `kept` <= `i`.
        unsafe {
            let mut z: [L::Real; V] = std::array::from_fn(|v| active.z[v][i].assume_init());
            let (re, im) = (z[V - 2], z[V - 1]);
            if re * re + im * im < permanent {
                for v in 0..V {
                    active.z[v][kept] = active.z[v][i];
                }
                active.index[kept] = active.index[i];
                kept += 1;
                continue;
            }
            let mut count = n;
            while count < dwell && O::norm2::<L::Real, A>(&z) < four {
                z = O::step::<L::Real, A>(z);
                count += 1;
            }
            labels[active.index[i].assume_init().to_index() as usize] = count;
        }
    }
    kept
}
