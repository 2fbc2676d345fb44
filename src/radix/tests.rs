//! Sorting against the library's.

use super::*;

/// Whatever lies where: spread evenly, in few places, in one, and of the same key.
#[test]
fn records_are_sorted_and_stay_in_their_order() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 16
    };
    for (len, bits, mask) in [
        (0, KeyBits { low: 0, high: 48 }, u64::MAX),
        (1, KeyBits { low: 3, high: 48 }, u64::MAX),
        (50_000, KeyBits { low: 9, high: 40 }, u64::MAX),
        (200_000, KeyBits { low: 0, high: 47 }, 0x7000_0000_00ff),
        (70_000, KeyBits { low: 4, high: 4 }, u64::MAX),
        (1_200_000, KeyBits { low: 6, high: 33 }, 0x0007_ffff),
        (1_100_000, KeyBits { low: 2, high: 60 }, 0),
    ] {
        let range = (1u64 << bits.high) - 1;
        let mut records: Vec<(u64, u64)> = (0..len).map(|i| (random() & mask & range | 1 << 62, i)).collect();
        let mut expected: Vec<_> = records.iter().map(|&(key, number)| (key >> bits.low, number)).collect();
        expected.sort();
        let ends = Ends { check: &|| Ok(()), refused: &|refused| refused };
        sort(&mut records, bits, &|&(key, _): &(u64, u64)| key, &ends).unwrap();
        let found: Vec<_> = records.iter().map(|&(key, number)| (key >> bits.low, number)).collect();
        assert!(found == expected, "{len} {bits:?}");
    }
}
