//! The laws of curves, the crates that must agree, and checksums of orders that must never change.

use std::collections::HashSet;

use proptest::prelude::*;

use super::device::DeviceCurve;
use super::forest::{Forest, Trees};
use super::hilbert::Hilbert;
use super::lattice::Lattice;
use super::*;

/// Coordinates of a level in code order.
fn walk<const K: usize>(encoding: &dyn Encoding<K>, level: u32) -> Vec<[u32; K]> {
    (0..encoding.lattice().codes(level) as u64).map(|code| encoding.decode(level, code)).collect()
}

/// Bijection, inverse, children; and unit steps if `continuous`.
fn laws<const K: usize>(kind: CurveKind, g: [u32; K], r: [u32; K], deepest: u32) {
    let encoding = kind.encoding(g, r, deepest).unwrap();
    let children: u64 = r.iter().map(|&r| u64::from(r)).product();
    for level in 0..=deepest {
        let cells = walk(&*encoding, level);
        let what = format!("{kind} g {g:?} r {r:?} level {level}");
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len(), "{what}: a cell came twice");
        let grid = encoding.lattice().grid(level);
        for (code, cell) in cells.iter().enumerate() {
            assert!((0..K).all(|j| cell[j] < grid[j]), "{what}: {cell:?}");
            assert_eq!(encoding.encode(level, *cell), code as u64, "{what}");
        }
        if kind == CurveKind::Hilbert {
            let step = |pair: &[[u32; K]]| (0..K).map(|j| pair[0][j].abs_diff(pair[1][j])).sum::<u32>();
            assert!(cells.windows(2).all(|pair| step(pair) == 1), "{what}: a jump");
        }
        if level < deepest {
            let mut codes = vec![0; children as usize];
            let below: Vec<[u32; K]> = walk(&*encoding, level + 1);
            for (code, cell) in cells.iter().enumerate() {
                encoding.children(level, code as u64, &mut codes);
                let parents: HashSet<_> = codes
                    .iter()
                    .map(|&child| {
                        let c = below[child as usize];
                        assert_eq!(std::array::from_fn::<_, K, _>(|j| c[j] / r[j]), *cell, "{what}: a foster child");
                        child
                    })
                    .collect();
                assert_eq!(parents.len() as u64, children, "{what}: a child came twice");
                if kind.is_hierarchical() {
                    assert_eq!(codes, (code as u64 * children..).take(codes.len()).collect::<Vec<_>>(), "{what}");
                }
            }
        }
    }
}

/// The children of each region follow each other.
fn follows<const K: usize>(encoding: &dyn Encoding<K>) -> bool {
    let children = encoding.lattice().children();
    let mut codes = vec![0; children as usize];
    (0..encoding.lattice().deepest()).all(|level| {
        (0..encoding.lattice().codes(level) as u64).all(|code| {
            encoding.children(level, code, &mut codes);
            codes.iter().copied().eq(code * children..(code + 1) * children)
        })
    })
}

/// Trees ask a curve whether it is hierarchical: a flat one that said so would put their regions out of order in silence.
#[test]
fn hierarchical_curves_are_those_whose_children_follow_each_other() {
    for &kind in CurveKind::ALL {
        let encoding = kind.encoding([3, 2, 1], [2; 3], 2).unwrap();
        assert_eq!(follows(&*encoding), kind.is_hierarchical(), "{kind}");
    }
}

/// A curve that is thrown away: another one, walked from its end.
struct Backwards<const K: usize>(Box<dyn Encoding<K>>);

impl<const K: usize> Backwards<K> {
    fn mirrored(&self, level: u32, code: u64) -> u64 {
        self.0.lattice().codes(level) as u64 - 1 - code
    }
}

impl<const K: usize> encoding::sealed::SealedCurve for Backwards<K> {}

impl<const K: usize> Encoding<K> for Backwards<K> {
    fn lattice(&self) -> &Lattice<K> {
        self.0.lattice()
    }

    fn encode(&self, level: u32, coords: [u32; K]) -> u64 {
        self.mirrored(level, self.0.encode(level, coords))
    }

    fn decode(&self, level: u32, code: u64) -> [u32; K] {
        self.0.decode(level, self.mirrored(level, code))
    }

    fn children_from(&self, level: u32, code: u64, first: u64, codes: &mut [u64]) {
        let mut all = vec![0; self.lattice().children() as usize];
        self.0.children(level, self.mirrored(level, code), &mut all);
        let mirrored = all.iter().rev().skip(first as usize).map(|&child| self.mirrored(level + 1, child));
        codes.iter_mut().zip(mirrored).for_each(|(code, child)| *code = child);
    }

    fn device(&self, _: u32) -> DeviceCurve<'_> {
        unreachable!("nothing decodes it on a GPU")
    }
}

/// Whether children follow each other is asked of any curve, and not of curves by their names.
#[test]
fn a_curve_that_is_thrown_away_is_flat_where_the_other_is() {
    for &kind in CurveKind::ALL {
        let backwards = Backwards(kind.encoding([3, 2], [2; 2], 3).unwrap());
        assert_eq!(backwards.decode(1, 0), walk(&*backwards.0, 1)[23]);
        assert_eq!(follows(&backwards), kind.is_hierarchical(), "{kind}");
    }
}

fn all_kinds<const K: usize>(g: [u32; K], r: [u32; K], deepest: u32) {
    for &kind in CurveKind::ALL {
        if kind != CurveKind::Hilbert || r.iter().all(|other| *other == r[0] && *other > 1 && other.is_power_of_two()) {
            laws(kind, g, r, deepest);
        }
    }
}

#[test]
fn laws_hold_for_every_g() {
    for g in [1, 2, 3, 5, 24] {
        all_kinds([g], [2], 8);
        all_kinds([g; 2], [2; 2], if g == 24 { 4 } else { 6 });
        all_kinds([g; 3], [2; 3], if g == 24 { 1 } else { 3 });
        if g < 24 {
            all_kinds([g; 4], [2; 4], 2);
        }
        if g < 5 {
            all_kinds([g; 5], [2; 5], 2);
            all_kinds([g; 6], [2; 6], 1);
        }
    }
    all_kinds([24; 4], [2; 4], 0);
    all_kinds([5; 5], [2; 5], 1);
    all_kinds([5; 6], [2; 6], 0);
    all_kinds([2; 7], [2; 7], 1);
    all_kinds([2; 8], [2; 8], 1);
}

#[test]
fn laws_hold_for_unequal_g_and_other_r() {
    all_kinds([3, 5], [4; 2], 3);
    all_kinds([64, 1], [2; 2], 4);
    all_kinds([12, 4], [8; 2], 2);
    all_kinds([5, 3, 2], [2; 3], 3);
    all_kinds([4, 8, 12], [2; 3], 2);
    all_kinds([1, 2, 1], [8; 3], 1);
    all_kinds([3, 2, 1, 2], [4; 4], 1);
    all_kinds([3, 2, 1, 2, 3], [2; 5], 2);
    all_kinds([1, 2, 1, 3, 1, 1], [2; 6], 2);
    all_kinds([2, 1, 1, 1, 1, 1, 3], [2; 7], 1);
    all_kinds([1, 1, 2, 1, 1, 1, 1, 3], [2; 8], 1);
    // Hilbert cannot serve these.
    all_kinds([3, 2], [2, 8], 3);
    all_kinds([4, 2, 6], [4, 2, 2], 3);
    all_kinds([2, 3], [3, 3], 4);
    all_kinds([1, 3, 2], [3, 2, 5], 3);
    all_kinds([2; 4], [3; 4], 2);
    // Axes that are not split.
    all_kinds([5, 3], [1, 2], 3);
    all_kinds([4, 12], [4, 1], 2);
    all_kinds([4, 4, 4], [2, 2, 1], 2);
    all_kinds([2, 2, 20], [2, 2, 1], 2);
    all_kinds([3, 2, 5], [1, 3, 1], 3);
    all_kinds([2, 1, 3, 2], [3, 1, 2, 2], 2);
}

#[test]
fn what_cannot_be_is_refused() {
    let hilbert = |g, r, deepest| CurveKind::Hilbert.encoding(g, r, deepest).map(|_| ());
    assert_eq!(hilbert([1; 2], [3; 2], 1), Err(CurveError::RadixNotPowerOfTwo { axis: 0, r: 3 }));
    assert_eq!(hilbert([1; 2], [2, 1], 1), Err(CurveError::UnsplitAxis { axis: 1 }));
    assert_eq!(hilbert([1; 2], [2, 4], 1), Err(CurveError::UnequalRadix { first: 2, axis: 1, r: 4 }));
    for &kind in CurveKind::ALL {
        // The last that fits, and one more.
        let deepest = |k8: u32| kind.encoding([1; 8], [2; 8], k8).map(|_| ());
        assert_eq!(deepest(8), Ok(()));
        assert_eq!(deepest(9), Err(CurveError::CodeOverflow { level: 9, bits: 72 }));
        assert_eq!(
            kind.encoding([3; 2], [2; 2], 31).map(|_| ()),
            Err(CurveError::CoordOverflow { axis: 0, level: 31 })
        );
        let encoding = kind.encoding([3, 5], [2, 2], 2).unwrap();
        assert!(matches!(
            encoding.try_encode(1, [6, 0]),
            Err(CurveError::CoordOutOfRange { axis: 0, value: 6, extent: 6 })
        ));
        assert!(matches!(encoding.try_decode(0, 15), Err(CurveError::CodeOutOfRange { code: 15, codes: 15 })));
        assert!(matches!(encoding.try_decode(3, 0), Err(CurveError::LevelOutOfRange { level: 3, deepest: 2 })));
        assert!(matches!(encoding.try_encode(3, [0; 2]), Err(CurveError::LevelOutOfRange { .. })));
        assert_eq!(encoding.try_decode(2, encoding.try_encode(2, [11, 19]).unwrap()), Ok([11, 19]));
        assert_eq!((encoding.bits(0), encoding.bits(1), encoding.bits(2)), (4, 6, 8));
    }
}

#[test]
fn codes_of_full_width() {
    for &kind in CurveKind::ALL {
        let wide = kind.encoding([1 << 16; 4], [2; 4], 0).unwrap();
        assert_eq!(wide.bits(0), 64);
        for coords in [[0; 4], [65535; 4], [1, 2, 3, 65535], [40000, 50000, 60000, 7]] {
            assert_eq!(wide.decode(0, wide.encode(0, coords)), coords, "{kind}");
        }
        let long = match kind.encoding([1 << 31, 3], [2; 2], 0) {
            Err(error) => {
                assert_eq!((kind, error), (CurveKind::Hilbert, CurveError::TooManyTrees { trees: 3 << 31 }));
                continue;
            }
            Ok(long) => long,
        };
        for coords in [[0; 2], [(1 << 31) - 1, 2], [12345678, 1]] {
            assert_eq!(long.decode(0, long.encode(0, coords)), coords, "{kind}");
        }
        // One tree of two axes and 31 binary levels.
        let deep = kind.encoding([1; 2], [2; 2], 31).unwrap();
        for coords in [[0; 2], [(1 << 31) - 1; 2], [0x5EAD_BEEF, 0x07AC_AFE5]] {
            assert_eq!(deep.decode(31, deep.encode(31, coords)), coords, "{kind}");
        }
        assert_eq!(kind.encoding([1], [2], 31).unwrap().encode(31, [u32::MAX >> 1]), u64::from(u32::MAX >> 1));
    }
}

/// FNV-1a-64 over coordinates in code order, each a little-endian u32, axis 0 first.
fn fnv<const K: usize>(cells: &[[u32; K]]) -> u64 {
    cells
        .iter()
        .flatten()
        .flat_map(|c| c.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn cube<const K: usize>(bits: u32) -> u64 {
    fnv(&walk(&*CurveKind::Hilbert.encoding([1; K], [2; K], bits).unwrap(), bits))
}

#[test]
fn hilbert_checksums_of_cubes() {
    assert_eq!(cube::<2>(1), 0xa30a_adc6_e889_a685);
    assert_eq!(cube::<2>(3), 0x55d1_ecbb_2dd3_b5a5);
    assert_eq!(cube::<2>(8), 0x27a2_5e81_d87a_9325);
    assert_eq!(cube::<3>(1), 0x0546_fc45_018c_79e5);
    assert_eq!(cube::<3>(2), 0x2765_d670_6fe7_d3a5);
    assert_eq!(cube::<3>(5), 0x23e5_f7f8_7265_e325);
    assert_eq!(cube::<4>(1), 0x7b3c_8890_b0e3_3525);
    assert_eq!(cube::<4>(2), 0x3eaf_a648_5977_3b25);
    assert_eq!(cube::<4>(4), 0xb436_cfca_41e3_3f25);
    assert_eq!(cube::<5>(2), 0xe6ee_952d_d5ad_e325);
    assert_eq!(cube::<5>(3), 0xa685_3e71_112e_2325);
    assert_eq!(cube::<6>(1), 0x4cbb_740f_932c_8f25);
    assert_eq!(cube::<6>(2), 0x21c8_5702_d94e_a325);
    assert_eq!(cube::<7>(1), 0x3a85_defa_f373_1f25);
    assert_eq!(cube::<7>(2), 0x223b_4222_bf4a_2325);
    assert_eq!(cube::<8>(1), 0x0d75_5091_8644_6325);
}

/// A glued forest whose trees are `trees`, even where they have a common power of two.
fn glued<const K: usize>(trees: [u32; K], bits: u32) -> u64 {
    let lattice = Lattice::new(trees, [2; K], bits).unwrap();
    fnv(&walk(&Forest::binary(lattice, 0, Hilbert::new(&Trees::new(trees, 0))), bits))
}

#[test]
fn hilbert_checksums_of_forests() {
    assert_eq!(glued([5], 4), 0x0af3_0ed6_6032_b725);
    assert_eq!(glued([3, 3], 2), 0x3ca3_5808_f762_0065);
    assert_eq!(glued([3, 5], 3), 0xe5e5_2f90_1788_fb25);
    assert_eq!(glued([1, 1], 3), 0x55d1_ecbb_2dd3_b5a5);
    assert_eq!(glued([64, 1], 4), 0xe915_a57c_22b8_6525);
    assert_eq!(glued([24, 24], 2), 0xa09c_172a_de9b_f425);
    assert_eq!(glued([3, 2, 1], 2), 0x82dd_df1f_3ee6_4425);
    assert_eq!(glued([5, 3, 2], 3), 0x84d9_daf0_4d15_5025);
    assert_eq!(glued([3, 3, 3, 3], 2), 0x3928_a89c_ce98_af25);
    assert_eq!(glued([3, 2, 1, 2, 3], 2), 0xc4ba_8fc8_5844_5125);
    assert_eq!(glued([1, 2, 1, 3, 1, 1], 1), 0x6b10_9b92_4e69_a325);
}

#[test]
fn hilbert_orders_in_full() {
    let digits = |k: usize, text: &str| -> Vec<Vec<u32>> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
        digits.chunks(k).map(<[u32]>::to_vec).collect()
    };
    let order = |cells: Vec<Vec<u32>>, text: &str| {
        let wanted = digits(cells[0].len(), text);
        assert_eq!(cells[..wanted.len()], wanted);
    };
    fn cells<const K: usize>(bits: u32) -> Vec<Vec<u32>> {
        walk(&*CurveKind::Hilbert.encoding([1; K], [2; K], bits).unwrap(), bits).iter().map(|c| c.to_vec()).collect()
    }
    order(cells::<2>(2), "00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30");
    order(cells::<3>(1), "000 010 011 001 101 111 110 100");
    order(cells::<4>(1), "0000 0100 0110 0010 0011 0111 0101 0001 1001 1101 1111 1011 1010 1110 1100 1000");
    order(cells::<3>(2), "000 001 101 100 110 111 011 010 020 120 130 030 031 131 121 021");
    let eight = CurveKind::Hilbert.encoding([1; 3], [2; 3], 8).unwrap();
    assert_eq!(eight.encode(8, [4, 5, 6]), 379);
}

#[test]
fn morton_vectors() {
    assert_eq!(CurveKind::Morton.encoding([1; 2], [2; 2], 8).unwrap().encode(8, [1, 0]), 1);
    assert_eq!(CurveKind::Morton.encoding([1; 4], [2; 4], 8).unwrap().encode(8, [129, 12, 4, 5]), 268_447_241);
}

fn against_hilbert_index<const K: usize>(bits: u32) {
    use hilbert_index::FromHilbertIndex;
    let ours = CurveKind::Hilbert.encoding([1; K], [2; K], bits).unwrap();
    for code in 0..1usize << (bits as usize * K) {
        let theirs: [usize; K] = code.from_hilbert_index(bits as usize);
        assert_eq!(ours.decode(bits, code as u64), theirs.map(|c| c as u32), "k = {K}, code {code}");
    }
}

#[test]
fn hilbert_agrees_with_the_crates() {
    against_hilbert_index::<2>(7);
    against_hilbert_index::<3>(4);
    against_hilbert_index::<4>(3);
    against_hilbert_index::<5>(3);
    against_hilbert_index::<6>(2);
    for bits in [7, 8] {
        let ours = CurveKind::Hilbert.encoding([1; 2], [2; 2], bits).unwrap();
        for y in 0..1u32 << bits {
            for x in 0..1u32 << bits {
                let code = ours.encode(bits, [x, y]);
                assert_eq!(code, fast_hilbert::xy2h(x, y, bits as u8));
                let theirs =
                    hilbert_2d::xy2h_discrete(x as usize, y as usize, bits as usize, hilbert_2d::Variant::Hilbert);
                assert_eq!(code, theirs as u64);
            }
        }
    }
}

#[test]
fn morton_agrees_with_the_crate() {
    fn check<const K: usize>(bits: u32, theirs: impl Fn([u32; K]) -> u64) {
        let ours = CurveKind::Morton.encoding([1; K], [2; K], bits).unwrap();
        let mut word = 1u64;
        for _ in 0..2000 {
            let coords = std::array::from_fn(|_| {
                word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9);
                (word >> 33) as u32 & ((1 << bits) - 1)
            });
            assert_eq!(ours.encode(bits, coords), theirs(coords));
            assert_eq!(ours.decode(bits, theirs(coords)), coords);
        }
    }
    use zorder::index_of;
    check::<2>(16, |c| u64::from(index_of(c.map(|x| x as u16))));
    check::<2>(31, index_of);
    check::<3>(16, |c| index_of(c.map(|x| x as u16)));
    check::<3>(21, |c| index_of(c) as u64);
    check::<4>(16, |c| index_of(c.map(|x| x as u16)));
    check::<5>(12, |c| index_of(c.map(|x| x as u16)) as u64);
    check::<8>(8, |c| index_of(c.map(|x| x as u8)));
}

proptest! {
    #[test]
    fn round_trips_at_any_size(
        g in prop::array::uniform3(1u32..5000), m in 1u32..3, level in 0u32..5, seed in prop::array::uniform3(any::<u32>()),
    ) {
        for &kind in CurveKind::ALL {
            if let Ok(encoding) = kind.encoding(g, [1 << m; 3], level) {
                let grid = encoding.lattice().grid(level);
                let coords = std::array::from_fn(|j| seed[j] % grid[j]);
                let code = encoding.encode(level, coords);
                prop_assert!(u128::from(code) < encoding.lattice().codes(level));
                prop_assert_eq!(encoding.decode(level, code), coords);
                let mut codes = [0];
                encoding.encode_slice(level, &[coords], &mut codes);
                let mut back = [[0; 3]];
                encoding.decode_slice(level, &codes, &mut back);
                prop_assert_eq!((codes[0], back[0]), (code, coords));
            }
        }
    }

    #[test]
    fn any_radix_round_trips(
        g in prop::array::uniform4(1u32..9), r in prop::array::uniform4(1u32..7), level in 0u32..4,
        seed in prop::array::uniform4(any::<u32>()),
    ) {
        for kind in [CurveKind::Canonical, CurveKind::Morton] {
            if let Ok(encoding) = kind.encoding(g, r, level) {
                let grid = encoding.lattice().grid(level);
                let coords = std::array::from_fn(|j| seed[j] % grid[j]);
                prop_assert_eq!(encoding.decode(level, encoding.encode(level, coords)), coords);
            }
        }
    }

    #[test]
    fn laws_hold_where_some_axes_are_not_split(
        g in prop::array::uniform3(1u32..7), r in prop::array::uniform3(prop::sample::select(vec![1u32, 1, 2, 3, 4])),
        deepest in 0u32..3,
    ) {
        // Every region of every level is walked.
        let regions = |deepest| (0..3).map(|j| g[j] * r[j].pow(deepest)).product::<u32>();
        let deepest = if regions(deepest) > 20_000 { 1 } else { deepest };
        all_kinds(g, r, deepest);
    }
}
