//! The Hilbert curve of Butz and Hamilton in k dimensions.
//!
//! A cube's state is (e, d): the corner e (k bits) where the curve enters and the axis d along which it travels; at every
//! depth it leaves at e ^ (1 << d). One level maps a child's cell (bit j for axis j) to its rank and gives the child's
//! own state, in closed form ([`State`], after Hamilton and Rau-Chaplin 2008). Every e has even parity, so there are
//! k·2^(k−1) states, and (d << (k−1)) + (e >> 1) numbers them.
//!
//! For 2 ≤ k ≤ 6 the closed form fills tables of several levels per step: index `state << kL | chunk`, entry
//! `next << kL | out`, sixteen bits. In one dimension the curve is the identity; in seven and eight the tables would not
//! pay, and the closed form is evaluated level by level.
//!
//! Over a forest the trees' start states are chosen so that the curve runs on without a jump (glueing): if the step to
//! the next tree goes along axis a, up or down, the curve must leave the tree on that side, which it does with d = a
//! where the entry corner is on the other side, and with the lowest other axis where it is not.

use std::sync::OnceLock;

use crate::curve::forest::{Depth, Trees, Within};
use crate::curve::morton::{deinterleave, interleave};

/// Entry corner and travel axis of a cube in K dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct State<const K: usize> {
    e: u32,
    d: u32,
}

fn gray(w: u32) -> u32 {
    w ^ w >> 1
}

/// The inverse of [`gray`] for up to eight bits.
fn ungray(mut w: u32) -> u32 {
    w ^= w >> 1;
    w ^= w >> 2;
    w ^ w >> 4
}

impl<const K: usize> State<K> {
    const MASK: u32 = (1 << K) - 1;

    fn rotl(x: u32, by: u32) -> u32 {
        let by = by % K as u32;
        (x << by | x >> (K as u32 - by)) & Self::MASK
    }

    fn rotr(x: u32, by: u32) -> u32 {
        Self::rotl(x, K as u32 - by % K as u32)
    }

    /// The rank of `cell`.
    fn rank(self, cell: u32) -> u32 {
        ungray(Self::rotr(cell ^ self.e, self.d + 1))
    }

    /// The cell of `rank`.
    fn cell(self, rank: u32) -> u32 {
        Self::rotl(gray(rank), self.d + 1) ^ self.e
    }

    /// The state of the child of `rank`.
    fn child(self, rank: u32) -> Self {
        let entry = if rank == 0 { 0 } else { gray((rank - 1) & !1) };
        let travel = match rank {
            0 => 0,
            even if even % 2 == 0 => (even - 1).trailing_ones(),
            odd => odd.trailing_ones(),
        };
        Self { e: self.e ^ Self::rotl(entry, self.d + 1), d: (self.d + travel + 1) % K as u32 }
    }

    fn index(self) -> u16 {
        (self.d << (K - 1) | self.e >> 1) as u16
    }

    fn from_index(index: u16) -> Self {
        let half = u32::from(index) & (Self::MASK >> 1);
        Self { e: half << 1 | (half.count_ones() & 1), d: u32::from(index) >> (K - 1) }
    }
}

/// Levels per table step.
const fn step_levels(k: usize) -> u32 {
    match k {
        2 => 4,
        3 => 3,
        4 => 2,
        _ => 1,
    }
}

/// Both directions of one step, for one and for several levels at once.
struct Tables {
    one: [Box<[u16]>; 2],
    step: [Box<[u16]>; 2],
}

/// From interleaved cells to ranks, or back: the indices of a [`Tables`] entry.
const ENCODE: usize = 0;
const DECODE: usize = 1;

impl Tables {
    fn new<const K: usize>() -> Self {
        let (mut one, mut step) = (Self::fill::<K>(1), Self::fill::<K>(step_levels(K)));
        Self { one: one.each_mut().map(std::mem::take), step: step.each_mut().map(std::mem::take) }
    }

    fn fill<const K: usize>(levels: u32) -> [Box<[u16]>; 2] {
        let bits = K as u32 * levels;
        let states = K << (K - 1);
        let mut tables = [vec![0; states << bits], vec![0; states << bits]];
        for start in 0..states as u16 {
            for ranks in 0..1u32 << bits {
                let mut state = State::<K>::from_index(start);
                let mut cells = 0;
                for level in (0..levels).rev() {
                    let rank = ranks >> (level * K as u32) & State::<K>::MASK;
                    cells = cells << K | state.cell(rank);
                    state = state.child(rank);
                }
                let next = u32::from(state.index()) << bits;
                let row = usize::from(start) << bits;
                tables[ENCODE][row | cells as usize] = (next | ranks) as u16;
                tables[DECODE][row | ranks as usize] = (next | cells) as u16;
            }
        }
        tables.map(Vec::into_boxed_slice)
    }

    fn get<const K: usize>() -> &'static Self {
        static TABLES: [OnceLock<Tables>; 7] = [const { OnceLock::new() }; 7];
        TABLES[K].get_or_init(Self::new::<K>)
    }
}

/// The Hilbert order within the trees of a forest.
pub(super) struct Hilbert<const K: usize> {
    /// The state in which each tree is entered.
    starts: Vec<u16>,
    /// None where the closed form is used.
    tables: Option<&'static Tables>,
}

impl<const K: usize> Hilbert<K> {
    pub(super) fn new(trees: &Trees<K>) -> Self {
        let count = trees.count();
        let mut starts = Vec::with_capacity(count);
        let mut e = 0;
        for tree in 0..count {
            if tree + 1 == count {
                starts.push(State::<K> { e, d: 0 }.index());
                break;
            }
            let (here, next) = (trees.coords(tree), trees.coords(tree + 1));
            let a = (0..K).find(|&j| here[j] != next[j]).expect("neighbouring trees differ on one axis");
            let up = u32::from(next[a] > here[a]);
            let d = if e >> a & 1 != up { a } else { usize::from(a == 0) };
            starts.push(State::<K> { e, d: d as u32 }.index());
            e ^= 1 << d ^ 1 << a;
        }
        Self { starts, tables: (2..=6).contains(&K).then(Tables::get::<K>) }
    }

    /// Maps a word of `levels` digits of K bits, the most significant first, through the automaton.
    #[inline]
    fn walk<const DIRECTION: usize>(&self, tree: usize, levels: u32, word: u64) -> u64 {
        let Some(tables) = self.tables else { return self.walk_closed::<DIRECTION>(tree, levels, word) };
        let k = K as u32;
        let chunk = k * const { step_levels(K) };
        let mut state = usize::from(self.starts[tree]);
        let mut out = 0;
        let mut left = levels * k;
        // Leading levels that do not fill a step go one by one.
        while !left.is_multiple_of(chunk) {
            left -= k;
            let entry = tables.one[DIRECTION][state << k | (word >> left) as usize & ((1 << k) - 1)];
            out = out << k | u64::from(entry) & ((1 << k) - 1);
            state = usize::from(entry >> k);
        }
        let table = &tables.step[DIRECTION][..];
        while left > 0 {
            left -= chunk;
            let entry = table[state << chunk | (word >> left) as usize & ((1 << chunk) - 1)];
            out = out << chunk | u64::from(entry) & ((1 << chunk) - 1);
            state = usize::from(entry >> chunk);
        }
        out
    }

    /// The same by the closed form: the readable reference, and the way in 1, 7 and 8 dimensions.
    fn walk_closed<const DIRECTION: usize>(&self, tree: usize, levels: u32, word: u64) -> u64 {
        let mut state = State::<K>::from_index(self.starts[tree]);
        let mut out = 0;
        for level in (0..levels).rev() {
            let digit = (word >> (level * K as u32)) as u32 & State::<K>::MASK;
            let (rank, result) = match DIRECTION {
                ENCODE => {
                    let rank = state.rank(digit);
                    (rank, rank)
                }
                _ => (digit, state.cell(digit)),
            };
            out = out << K | u64::from(result);
            state = state.child(rank);
        }
        out
    }
}

impl<const K: usize> Within<K> for Hilbert<K> {
    const TWIN: &'static str = "curves/hilbert.cuh";

    fn starts(&self) -> &[u16] {
        &self.starts
    }

    #[inline]
    fn position(&self, tree: usize, depth: Depth, local: [u32; K]) -> u64 {
        self.walk::<ENCODE>(tree, depth.bits, interleave(local))
    }

    #[inline]
    fn local(&self, tree: usize, depth: Depth, position: u64) -> [u32; K] {
        deinterleave(self.walk::<DECODE>(tree, depth.bits, position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed_form<const K: usize>() {
        let states = (K << (K - 1)) as u16;
        for index in 0..states {
            let state = State::<K>::from_index(index);
            assert_eq!(state.index(), index);
            assert_eq!(state.e.count_ones() % 2, 0);
            let cells: Vec<_> = (0..1 << K).map(|rank| state.cell(rank)).collect();
            for (rank, &cell) in cells.iter().enumerate() {
                assert_eq!(state.rank(cell), rank as u32);
                assert!(state.child(rank as u32).index() < states);
            }
            assert!(cells.windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
            assert_eq!((cells[0], cells[(1 << K) - 1]), (state.e, state.e ^ 1 << state.d));
        }
    }

    #[test]
    fn one_level_is_a_path_from_corner_to_corner() {
        closed_form::<1>();
        closed_form::<2>();
        closed_form::<3>();
        closed_form::<4>();
        closed_form::<5>();
        closed_form::<6>();
        closed_form::<7>();
        closed_form::<8>();
    }

    fn tables_follow_the_closed_form<const K: usize>(levels: u32) {
        let hilbert = Hilbert::<K> { starts: (0..(K << (K - 1)) as u16).collect(), tables: Some(Tables::get::<K>()) };
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        for tree in 0..hilbert.starts.len() {
            word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let cells = word & (u64::MAX >> (64 - levels * K as u32));
            let ranks = hilbert.walk_closed::<ENCODE>(tree, levels, cells);
            assert_eq!(hilbert.walk::<ENCODE>(tree, levels, cells), ranks);
            assert_eq!(hilbert.walk::<DECODE>(tree, levels, ranks), cells);
            assert_eq!(hilbert.walk_closed::<DECODE>(tree, levels, ranks), cells);
        }
    }

    #[test]
    fn all_bits_of_a_code_count() {
        let hilbert = Hilbert::<2> { starts: vec![0], tables: Some(Tables::get::<2>()) };
        let cell = [0xDEAD_BEEF, 0x0FAC_ADE5];
        let code = hilbert.walk::<ENCODE>(0, 32, interleave(cell));
        assert_eq!(code, 17_414_049_806_762_354_884);
        assert_eq!(deinterleave::<2>(hilbert.walk::<DECODE>(0, 32, code)), cell);
    }

    #[test]
    fn tables_and_closed_form_agree() {
        (1..=32).for_each(tables_follow_the_closed_form::<2>);
        (1..=21).for_each(tables_follow_the_closed_form::<3>);
        (1..=16).for_each(tables_follow_the_closed_form::<4>);
        (1..=12).for_each(tables_follow_the_closed_form::<5>);
        (1..=10).for_each(tables_follow_the_closed_form::<6>);
    }
}
