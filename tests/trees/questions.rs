//! What trees answer, against the array that they are made of.

use ndarray::{ArrayD, Axis, IxDyn};
use orthant::geometry::WindowError;
use orthant::prelude::*;
use orthant::tree::{Provenance, Representative, TreeError};
use orthant::{Cell, CellType};
use proptest::prelude::*;

use crate::trees::{Below, Case, bottom_up, key, place};

fn words<T: Cell>(cells: impl IntoIterator<Item = T>) -> Vec<u64> {
    cells.into_iter().map(|cell| cell.word()).collect()
}

/// Every answer against the array with the values that the tree stores.
fn asked<T: Cell, const K: usize>(case: Case<K>) {
    let source = case.array::<T>();
    let plan = case.plan([CurveKind::Morton, CurveKind::Canonical][case.seed as usize % 2]).unwrap();
    let (tree, domain) = (bottom_up(&plan, &source), *plan.domain());
    let bytes = tree.bytes();
    // Uniform regions hold the one word of what is not a number, and leaves what they were given.
    let mut array = source.clone();
    for region in tree.regions().filter(|region| region.uniform().is_some()) {
        region.cells().cells().for_each(|cell| array[&place(cell)[..]] = T::from_word(key(source[&place(cell)[..]])));
    }
    let word = |cell: [u32; K]| array[&place(cell)[..]].word();
    // Back to dense, and cells, and points.
    assert_eq!(
        words(tree.array(&domain.region(), None).unwrap().view::<T>().unwrap().iter().copied()),
        words(array.iter().copied())
    );
    for cell in domain.region().cells() {
        assert_eq!(tree.word(cell), Some(word(cell)));
        let region = tree.region_at(cell).unwrap();
        assert!(region.cells().contains_cell(cell));
        assert_eq!((region.word(cell), tree.region(region.index()).code()), (word(cell), region.code()));
        let pitch = domain.pitch();
        let point = std::array::from_fn(|j| (f64::from(cell[j]) + 0.3).mul_add(pitch[j], domain.window()[j][0]));
        assert_eq!(tree.word_at(point), Some(word(cell)));
    }
    assert_eq!((tree.word(case.size), tree.word_at([f64::NAN; K])), (None, None));
    // Along the curve, without a gap.
    let mut at = 0;
    for (index, region) in tree.regions().enumerate() {
        assert_eq!(region.index(), index);
        match (region.uniform(), region.brick()) {
            (Some(word), None) => assert!(region.cells().cells().all(|cell| key(source[&place(cell)[..]]) == word)),
            (None, Some(brick)) => {
                assert_eq!((brick.start, brick.len() as u64), (at, region.cells().volume()));
                at = brick.end;
            }
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(at, tree.bricks().len());
    // Seventeen bytes a region, and at most eight more for finding it.
    let regions = bytes - at as u64 * T::TYPE.bytes();
    assert!(
        (17 * tree.len() as u64 + 8..=25 * tree.len() as u64 + 12).contains(&regions),
        "{regions} of {}",
        tree.len()
    );
    // The table that the first look-up made.
    assert!((bytes + 1..=bytes + (1 << 20)).contains(&tree.bytes()));
    // Boxes and slices.
    let mut below = Below(case.seed ^ 0x5a5a);
    for number in 0..12 {
        let window = below.window(case.size, number == 11);
        let mut cells = vec![T::from_word(0x55); window.volume() as usize];
        tree.read(&window, &mut cells).unwrap();
        assert_eq!(words(cells), window.cells().map(word).collect::<Vec<_>>(), "{window:?}");
        let mut keys: Vec<u64> = window.cells().map(|cell| key(source[&place(cell)[..]])).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(tree.uniform(&window).unwrap(), (keys.len() == 1).then_some(keys[0]), "{window:?}");
    }
    for axis in 0..K {
        let index = below.next(case.size[axis]);
        let slice = array.index_axis(Axis(K - 1 - axis), index as usize);
        let mut cells = vec![T::from_word(0x55); slice.len()];
        tree.read_slice(axis, index, &mut cells).unwrap();
        assert_eq!(words(cells), words(slice.iter().copied()));
    }
    labels(&tree, &source);
    for level in 0..plan.levels().len() as u32 {
        Representative::ALL.iter().for_each(|&shown| cut(&tree, &source, level, shown));
    }
}

/// Statistics by counting.
fn labels<T: Cell, const K: usize>(tree: &Tree<K>, source: &ArrayD<T>) {
    let mut keys: Vec<T> = source.iter().map(|&value| T::from_word(key(value))).collect();
    // Numbers in their order, 0 after -0, and what is no number last.
    keys.sort_by(|a, b| {
        let number = |value: &T| (T::TYPE.number(value.word()), value.word());
        let ((a, p), (b, q)) = (number(a), number(b));
        let exact = (!T::TYPE.is_float())
            .then(|| T::TYPE.text(p).parse::<i128>().unwrap().cmp(&T::TYPE.text(q).parse().unwrap()));
        exact.unwrap_or_else(|| a.total_cmp(&b))
    });
    let labels = tree.labels(100).unwrap();
    let mut rest = &keys[..];
    for label in &labels {
        let (mine, others) = rest.split_at(label.cells as usize);
        rest = others;
        assert!(mine.iter().all(|value| value.word() == label.word), "{label:?}");
        assert_eq!(label.share, label.cells as f64 / keys.len() as f64);
        let uniform = tree.regions().filter(|region| region.uniform() == Some(label.word)).count();
        let occurs = |cell: [u32; K]| key(source[&place(cell)[..]]) == label.word;
        let leaves = tree.regions().filter(|region| region.brick().is_some() && region.cells().cells().any(occurs));
        assert_eq!((label.regions, label.leaves), (uniform as u64, leaves.count() as u64));
    }
    assert!(rest.is_empty());
    assert!(labels.len() == 1 || matches!(tree.labels(labels.len() - 1), Err(TreeError::Labels { .. })));
}

/// A cut tree tiles the domain in regions of one value that occurs there, and keeps what is above.
fn cut<T: Cell, const K: usize>(tree: &Tree<K>, source: &ArrayD<T>, level: u32, shown: Representative) {
    let cut = tree.cut(level, shown).unwrap();
    assert!(cut.bricks().is_empty() && cut.len() <= tree.len());
    assert_eq!(
        cut.regions().map(|region| u128::from(region.cells().volume())).sum::<u128>(),
        tree.plan().domain().cells()
    );
    for region in cut.regions() {
        let word = region.uniform().unwrap();
        let mut keys: Vec<u64> = region.cells().cells().map(|cell| key(source[&place(cell)[..]])).collect();
        let first = tree.region_at(region.cells().corner).unwrap();
        if region.provenance() != Provenance::Cut {
            assert_eq!((first.cells(), first.uniform()), (region.cells(), Some(word)));
            continue;
        }
        assert!(region.level() == level && keys.iter().any(|other| other != &keys[0]));
        let number = |word: u64| T::TYPE.number(word);
        let numbers = keys.iter().map(|&key| number(key)).filter(|number| !number.is_nan());
        let counted = |word| keys.iter().filter(|&&key| key == word).count();
        match shown {
            Representative::Mode => assert!(keys.iter().all(|&other| counted(other) <= counted(word))),
            Representative::First => assert!(keys.contains(&word)),
            Representative::Min => assert!(numbers.clone().all(|other| number(word) <= other) && keys.contains(&word)),
            _ => assert!(numbers.clone().all(|other| number(word) >= other) && keys.contains(&word)),
        }
        keys.sort_unstable();
    }
    assert_eq!(cut.cut(level, Representative::First).unwrap(), cut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn answers_are_the_arrays(
        line in Case::<1>::any(60), plane in Case::<2>::any(18), space in Case::<3>::any(9), four in Case::<4>::any(5),
    ) {
        asked::<u64, 1>(line);
        asked::<u8, 2>(plane);
        asked::<f32, 2>(plane);
        asked::<i32, 3>(space);
        asked::<u16, 4>(four);
    }
}

/// A box of more cells than one thread writes at a time, and one that is thin along the last axis.
#[test]
fn large_boxes_are_shared() {
    let case = Case { size: [150, 90, 40], scheme: Scheme::uniform(2, 2, 3), seed: 5 };
    let (plan, array) = (case.plan(CurveKind::Hilbert).unwrap(), case.array::<u16>());
    let tree = bottom_up(&plan, &array);
    for (corner, extent) in [([0; 3], case.size), ([3, 1, 39], [140, 88, 1]), ([149, 0, 0], [1, 90, 40])] {
        let window = Region { corner, extent };
        let mut cells = vec![0; window.volume() as usize];
        tree.read(&window, &mut cells).unwrap();
        assert!(window.cells().zip(&cells).all(|(cell, &value)| array[&place(cell)[..]] == value), "{window:?}");
    }
}

/// By hand: a tie goes to what comes first along the curve.
#[test]
fn a_mode_is_what_most_cells_have() {
    let domain = Domain::new([4, 4], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    #[rustfmt::skip]
    let cells: [i8; 16] = [
        5, 5, -1, -1,
        5, 5,  9, -1,
        9, 9,  9,  9,
        9, -1, 5,  5,
    ];
    let array = ArrayD::from_shape_vec(vec![4, 4], cells.to_vec()).unwrap();
    let tree = bottom_up(&plan, &array);
    let shown = |level, by| {
        let cut = tree.cut(level, by).unwrap();
        cut.regions().map(|region| CellType::I8.text(region.uniform().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(shown(0, Representative::Mode), ["5"]); // six of 5, six of 9, four of -1
    assert_eq!(shown(1, Representative::Mode), ["5", "-1", "9", "9"]);
    assert_eq!(shown(1, Representative::First), ["5", "-1", "9", "9"]);
    assert_eq!(
        (shown(1, Representative::Min), shown(1, Representative::Max)),
        (
            vec!["5".into(), "-1".to_string(), "-1".into(), "5".into()],
            vec!["5".into(), "9".to_string(), "9".into(), "9".into()]
        )
    );
    assert_eq!(tree.cut(2, Representative::Mode).unwrap_err().to_string(), "level 2: the tree has levels 0 to 1");
}

#[test]
fn what_cannot_be_asked_says_why() {
    let case = Case { size: [20, 10], scheme: Scheme::uniform(2, 2, 2), seed: 3 };
    let (plan, array) = (case.plan(CurveKind::Morton).unwrap(), case.array::<f32>());
    let tree = bottom_up(&plan, &array);
    let mut cells = [0.0f32; 6];
    let read = |corner, extent, cells: &mut [f32]| {
        tree.read(&Region { corner, extent }, cells).map_err(|error| error.to_string())
    };
    assert_eq!(read([0, 0], [2, 3], &mut cells), Ok(()));
    assert_eq!(read([0, 0], [2, 2], &mut cells).unwrap_err(), "a buffer of 6 cells for a box of 4");
    assert!(read([0, 8], [2, 3], &mut cells).unwrap_err().starts_with("window: 3 cells from 8 on of axis 1; "));
    assert!(read([0, 8], [0, 2], &mut cells).is_err() && read([1, 0], [u32::MAX, 1], &mut cells).is_err());
    let other = tree.read(&Region { corner: [0, 0], extent: [2, 3] }, &mut [0u32; 6]).unwrap_err();
    assert_eq!(other.to_string(), "cells of type u32, where those of the tree are f32");
    assert_eq!(tree.read_slice(2, 0, &mut cells).unwrap_err().to_string(), "axis 2: the tree has axes 0 to 1");
    assert!(matches!(tree.read_slice(0, 20, &mut cells), Err(TreeError::Window(WindowError { axis: 0, .. }))));
    let limited = tree.array(&plan.domain().region(), Some(799)).unwrap_err().to_string();
    assert!(limited.ends_with("more than the limit of 799 B"), "{limited}");
    assert!(tree.uniform(&Region { corner: [0, 10], extent: [1, 1] }).is_err());
}

/// A region answers for its own cells, whether it is uniform or a leaf.
#[test]
fn a_region_answers_for_no_other_cells() {
    let array = ArrayD::from_shape_fn(IxDyn(&[4, 4]), |at| u8::from(at == IxDyn(&[0, 0])));
    let domain = Domain::new([4, 4], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = bottom_up(&plan, &array);
    for (index, own, foreign) in [(0, [1, 1], [2, 0]), (3, [2, 2], [2, 1])] {
        let region = tree.region(index);
        assert_eq!((region.uniform().is_none(), region.word(own)), (index == 0, 0));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| region.word(foreign))).is_err());
    }
}
