//! Questions to a tree in parts, against those to the whole.

use std::ops::Deref;

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, Parts, Representative, Source, TreeError, TreeSource};
use orthant::{Cell, CellType, Control};
use proptest::prelude::*;

use crate::trees::{Below, Case, bottom_up};

/// A tree that comes one region of a level at a time.
struct Split<'a, const K: usize> {
    building: BottomUp<'a, K>,
    plan: &'a Plan<K>,
    kind: CellType,
    level: u32,
}

impl<const K: usize> Parts<K> for Split<'_, K> {
    fn plan(&self) -> &Plan<K> {
        self.plan
    }

    fn kind(&self) -> CellType {
        self.kind
    }

    fn parts(&self) -> usize {
        self.plan.levels()[self.level as usize].regions() as usize
    }

    fn part(&self, index: usize) -> Result<Box<dyn Deref<Target = Tree<K>> + '_>, TreeError> {
        self.building
            .part(self.level, index as u128..index as u128 + 1)
            .map(|part| Box::new(Box::new(part)) as Box<dyn Deref<Target = Tree<K>>>)
    }
}

fn across<T: Cell, const K: usize>(case: Case<K>) {
    let array = case.array::<T>();
    let plan = case.plan(CurveKind::Morton).unwrap();
    let whole = bottom_up(&plan, &array);
    let field = ArrayField::new(array.view()).unwrap();
    let mut below = Below(case.seed);
    let level = below.next(plan.levels().len() as u32);
    let building = BottomUp::new(&plan, &field).unwrap();
    let split = Split { building, plan: whole.plan(), kind: T::TYPE, level };
    let parts: &dyn Parts<K> = &split;
    let same = |one: &Tree<K>, other: &Tree<K>, at: u32| {
        assert_eq!(one.lattice(at, None).unwrap(), other.lattice(at, None).unwrap());
    };
    for number in 0..5 {
        let window = below.window(case.size, number == 4);
        assert_eq!(parts.array(&window, None).unwrap(), whole.array(&window, None).unwrap());
        assert_eq!(parts.uniform(&window).unwrap(), whole.uniform(&window).unwrap());
        assert_eq!(TreeSource(parts).known(&window).unwrap(), whole.uniform(&window).unwrap());
    }
    let mut cells: Vec<[u32; K]> = plan.domain().region().cells().collect();
    cells.push(case.size);
    for (cell, found) in cells.iter().zip(parts.look_up(&cells).unwrap()) {
        assert_eq!(found.map(|found| found.word), whole.word(*cell));
        assert!(found.is_none_or(|found| found.region.contains_cell(*cell)));
    }
    let counted = |tree: &dyn Parts<K>| -> Vec<(u64, u128, u64)> {
        tree.labels(100).unwrap().iter().map(|label| (label.word, label.cells, label.leaves)).collect()
    };
    assert_eq!(counted(parts), counted(&whole));
    for shown in [Representative::Mode, Representative::First, Representative::Min, Representative::Max] {
        for to in 0..plan.levels().len() as u32 {
            same(&parts.cut(to, shown).unwrap(), &whole.cut(to, shown).unwrap(), to);
        }
    }
    let control = Control::default();
    let equal = parts.compare(&TreeSource(&whole), 5, &control).unwrap();
    assert_eq!((equal.cells, equal.count), (0, 0));
    compared(case, parts, &array, &mut below);
}

/// Against an array of which some cells were changed, and against the tree of that.
fn compared<T: Cell, const K: usize>(case: Case<K>, parts: &dyn Parts<K>, array: &ArrayD<T>, below: &mut Below) {
    let mut other = array.clone();
    let window = below.window(case.size, false);
    let strange = T::from_word(0x5b);
    window.cells().for_each(|cell| other[&super::place(cell)[..]] = strange);
    let key = |cell: T| orthant::rule::exact::key(T::TYPE, cell.word());
    let differ = |cell: [u32; K]| {
        let place = super::place(cell);
        key(array[&place[..]]) != key(other[&place[..]])
    };
    let expected = window.cells().filter(|&cell| differ(cell)).count() as u128;
    let (field, plan) = (ArrayField::new(other.view()).unwrap(), parts.plan());
    let tree = bottom_up(plan, &other);
    let sources: [&dyn Source<K>; 2] = [&field, &TreeSource(&tree)];
    for source in sources {
        let found = parts.compare(source, usize::MAX, &Control::default()).unwrap();
        assert_eq!((found.cells, found.regions.len() as u64), (expected, found.count));
        assert_eq!(found.regions.iter().map(|region| region.cells).sum::<u128>(), expected);
        for region in &found.regions {
            let (cell, [own, here]) = region.first;
            assert!(window.contains(&region.bounds) && region.bounds.contains_cell(cell) && differ(cell));
            assert_eq!(here, key(strange));
            let own = key(T::from_word(own));
            assert_eq!(own, key(array[&super::place(cell)[..]]));
        }
    }
    assert_eq!(parts.compare(&field, 0, &Control::default()).unwrap().regions, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_answer_as_the_whole(line in Case::<1>::any(60), plane in Case::<2>::any(18), space in Case::<3>::any(8), four in Case::<4>::any(4)) {
        across::<u8, 1>(line);
        across::<i16, 2>(plane);
        across::<f32, 3>(space);
        across::<u64, 4>(four);
        across::<f64, 2>(plane);
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let plane = |size: [u32; 2]| Case { size, scheme: Scheme::uniform(2, 2, 1), seed: 1 };
    let tree = |case: Case<2>| bottom_up(&case.plan(CurveKind::Morton).unwrap(), &case.array::<u8>());
    let (one, other) = (tree(plane([8, 8])), tree(plane([8, 9])));
    let parts: &dyn Parts<2> = &one;
    let control = Control::default();
    let refused = parts.compare(&TreeSource(&other), 1, &control).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "[8, 9] cells, where the tree has [8, 8]; only what has the same cells can be compared"
    );
    let words = plane([8, 8]).array::<u16>();
    let field = ArrayField::<2, u16>::new(words.view()).unwrap();
    assert!(matches!(parts.compare(&field, 1, &control), Err(TreeError::CellType { .. })));
    assert!(matches!(one.lattice(0, None), Err(TreeError::Below { level: 0 })));
    assert!(matches!(one.lattice(9, None), Err(TreeError::Level { .. })));
}
