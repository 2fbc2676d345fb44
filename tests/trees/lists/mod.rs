//! Trees of lists against dense arrays of the same cells.

mod files;

use std::collections::BTreeMap;

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, CellList, LabelStatistics, ListError, Parts, Representative, TreeError, TreeSource};
use orthant::{Cell, CellType, Control};

use crate::trees::lists::files::round_trip;
use crate::trees::{Random, folder};

/// A list of a small domain, and the array that has the same cells.
struct Case<const K: usize> {
    plan: Plan<K>,
    cells: BTreeMap<[u32; K], i16>,
    background: i16,
    most: u64,
    array: ArrayD<i16>,
}

impl<const K: usize> Case<K> {
    fn random(seed: u64) -> Self {
        let mut numbers = Random(seed * 977 + K as u64);
        let most_side = [0, 0, 40, 14, 8, 6][K];
        let size: [u32; K] = std::array::from_fn(|_| 1 + numbers.below(most_side) as u32);
        let r = if numbers.below(3) == 0 { 3 } else { 2 };
        let g = std::array::from_fn(|j| 1 + numbers.below(2.min(size[j].into())) as u32);
        let curve = if r == 2 && numbers.below(2) == 0 { CurveKind::Hilbert } else { CurveKind::Morton };
        let g = if curve == CurveKind::Hilbert { [1; K] } else { g };
        let scheme = Scheme { g, r: [r; K], b: [1 + numbers.below(3) as u32; K] };
        let domain = Domain::new(size, size.map(|n| [0.0, n.into()]), Sample::Centre).unwrap();
        let plan = Plan::new(domain, scheme, curve, RuleKind::Full).unwrap();
        let background = numbers.below(3) as i16 - 1;
        let volume = domain.region().volume();
        let mut cells = BTreeMap::new();
        // Some lists are a dense block, of one value or of few.
        let values = 1 + numbers.below(4);
        let dense = numbers.below(3) == 0;
        let block = Region { corner: [0; K], extent: size.map(|n| n.div_ceil(2)) };
        for _ in 0..numbers.below(volume) {
            let all = domain.region();
            let cell = all.cell(all.offset(numbers.below(volume)));
            cells.insert(cell, numbers.below(values) as i16);
        }
        if dense {
            cells.extend(block.cells().map(|cell| (cell, 7)));
        }
        let shape: Vec<usize> = size.iter().rev().map(|&n| n as usize).collect();
        let mut array = ArrayD::from_elem(shape, background);
        for (cell, &value) in &cells {
            let at: Vec<usize> = cell.iter().rev().map(|&c| c as usize).collect();
            array[&at[..]] = value;
        }
        Self { plan, cells, background, most: 1 + numbers.below(12), array }
    }

    fn list(&self) -> CellList<K> {
        let list = CellList::new(&self.plan, CellType::I16).unwrap();
        let mut list = list.background(self.background.word()).most(self.most);
        // In no order.
        let (even, odd): (Vec<_>, Vec<_>) = self.cells.iter().enumerate().partition(|(i, _)| i % 2 == 0);
        odd.iter().chain(&even).for_each(|(_, (cell, value))| list.push(**cell, value.word()).unwrap());
        list
    }

    fn tree(&self) -> Tree<K> {
        self.list().sorted(&Control::default()).unwrap().tree().unwrap()
    }

    /// The tree of the array.
    fn dense(&self) -> Tree<K> {
        BottomUp::new(&self.plan, &ArrayField::new(self.array.view()).unwrap()).unwrap().tree().unwrap()
    }
}

/// Asks a tree of a list and the dense one of the same cells the same.
fn agree<const K: usize>(case: &Case<K>, tree: &dyn Parts<K>) {
    let (dense, control) = (case.dense(), Control::default());
    let (domain, mut numbers) = (*case.plan.domain(), Random(case.most));
    let whole = domain.region();
    let expected = dense.array(&whole, None).unwrap();
    assert_eq!(tree.array(&whole, None).unwrap().cells(), expected.cells());
    let cells: Vec<[u32; K]> = whole.cells().collect();
    for (cell, found) in cells.iter().zip(tree.look_up(&cells).unwrap()) {
        assert_eq!(found.map(|found| found.word), dense.word(*cell), "{cell:?}");
    }
    for _ in 0..20 {
        let corner: [u32; K] = std::array::from_fn(|j| numbers.below(domain.size()[j].into()) as u32);
        let extent = std::array::from_fn(|j| 1 + numbers.below((domain.size()[j] - corner[j]).into()) as u32);
        let window = Region { corner, extent };
        assert_eq!(tree.array(&window, None).unwrap().cells(), dense.array(&window, None).unwrap().cells());
        assert_eq!(tree.uniform(&window).unwrap(), dense.uniform(&window).unwrap(), "{window:?}");
    }
    let (labels, own) = (dense.labels(100).unwrap(), tree.labels(100).unwrap());
    assert_eq!(own.len(), labels.len());
    for (own, label) in own.iter().zip(&labels) {
        let facts = |label: &LabelStatistics<K>| (label.word, label.cells, label.bounds, label.centroid);
        assert_eq!(facts(own), facts(label));
    }
    let (values, own) = ((&dense as &dyn Parts<K>).values(5, None).unwrap(), tree.values(5, None).unwrap());
    assert_eq!(
        (own.cells, own.least, own.greatest, &own.histogram),
        (values.cells, values.least, values.greatest, &values.histogram)
    );
    assert!((own.mean - values.mean).abs() < 1e-9 && (own.deviation - values.deviation).abs() < 1e-9);
    // Both ways round.
    assert_eq!(tree.compare(&dense, 9, &control).unwrap().cells, 0);
    assert_eq!((&dense as &dyn Parts<K>).compare(&TreeSource(tree), 9, &control).unwrap().cells, 0);
}

fn check<const K: usize>() {
    let folder = folder();
    let mut leaves = 0;
    for seed in 0..24 {
        let case = Case::<K>::random(seed);
        let tree = case.tree();
        assert!(tree.is_listed() && tree.bricks().is_empty());
        agree(&case, &tree);
        if seed < 4 {
            round_trip(&case, &tree, folder.path());
        }
        leaves += tree.regions().filter(|region| region.entries().is_some()).count();
        for region in tree.regions() {
            let entries = region.entries().map_or(0, Iterator::count);
            assert!(entries as u64 <= case.most || region.level() + 1 == case.plan.levels().len() as u32);
            assert!(region.uniform().is_some() || entries > 0);
        }
        let words = |tree: &Tree<K>| {
            let cells: Vec<[u32; K]> = case.plan.domain().region().cells().collect();
            let mut words = vec![99; cells.len()];
            assert_eq!(tree.words(&cells, &mut words), cells.len());
            words
        };
        assert_eq!(words(&tree), words(&case.dense()));
    }
    assert!(leaves > 20, "{leaves}");
}

#[test]
fn trees_of_lists_have_the_cells_of_arrays() {
    check::<2>();
    check::<3>();
    check::<4>();
    check::<5>();
}

/// One cell that is another changes the checksum, and is found.
#[test]
fn a_cell_that_differs_is_found() {
    let case = Case::<3>::random(2);
    let tree = case.tree();
    let (&cell, &value) = case.cells.iter().find(|(_, value)| **value != case.background).unwrap();
    let mut other = Case { array: case.array.clone(), cells: case.cells.clone(), plan: case.plan.clone(), ..case };
    other.cells.insert(cell, value + 100);
    let changed = other.tree();
    assert_ne!(tree.checksum(), changed.checksum());
    assert!(tree != changed);
    for (tree, found) in [(&tree, &changed), (&changed, &tree)] {
        let found = (tree as &dyn Parts<3>).compare(found, 9, &Control::default()).unwrap();
        assert_eq!((found.cells, found.regions[0].first.0, found.regions[0].bounds.extent), (1, cell, [1; 3]));
    }
}

/// 2^80 cells: no array, and no count that wraps.
#[test]
fn large_domains() {
    let size = [1u32 << 20; 4];
    let plan =
        Plan::builder(size).scheme(Scheme::for_list(size, None, None, None)).rule(RuleKind::Full).build().unwrap();
    let mut list = CellList::new(&plan, CellType::U8).unwrap().most(4);
    let mut numbers = Random(5);
    let mut cells: Vec<[u32; 4]> = (0..500).map(|_| std::array::from_fn(|_| numbers.below(1 << 20) as u32)).collect();
    // Some beside each other, and both ends.
    cells.extend((0..40).map(|i| [1000 + i % 4, 1000 + i / 4, 77, 77]));
    cells.extend([[0; 4], [(1 << 20) - 1; 4]]);
    cells.iter().for_each(|&cell| list.push(cell, 3).unwrap());
    let sorted = list.sorted(&Control::default()).unwrap();
    let tree = sorted.tree().unwrap();
    assert_eq!((sorted.entries(), sorted.dropped()), (cells.len() as u64, 0));
    assert!(cells.iter().all(|&cell| tree.word(cell) == Some(3)));
    assert_eq!(tree.word([1, 0, 0, 0]), Some(0));
    let labels = tree.labels(9).unwrap();
    assert_eq!((labels[0].cells, labels[1].cells), ((1 << 80) - cells.len() as u128, cells.len() as u128));
    assert_eq!(labels[0].bounds, plan.domain().region());
    let values = (&tree as &dyn Parts<4>).values(2, None).unwrap();
    assert_eq!(values.histogram, [(1 << 80) - cells.len() as u128, cells.len() as u128]);
    let box_of = tree.array(&Region { corner: [1000, 1000, 77, 77], extent: [4, 10, 1, 1] }, None).unwrap();
    assert!(box_of.cells().as_slice::<u8>().unwrap().iter().all(|&cell| cell == 3));
    // Against another one of other regions, and with one cell more.
    let mut list = CellList::new(&plan, CellType::U8).unwrap().most(100);
    cells.iter().for_each(|&cell| list.push(cell, 3).unwrap());
    list.push([5, 5, 5, 5], 1).unwrap();
    let other = list.sorted(&Control::default()).unwrap().tree().unwrap();
    let found = (&tree as &dyn Parts<4>).compare(&other, 9, &Control::default()).unwrap();
    assert_eq!((found.cells, found.regions[0].first), (1, ([5; 4], [0, 1])));
}

/// The least limit is what the entries take and what the regions do, with the places of the leaves while they are put in order.
#[test]
fn the_limit_of_memory_counts_regions() {
    let case = Case::<3>::random(2);
    let sorted = case.list().sorted(&Control::default()).unwrap();
    let ([rows, leaves], entries) = (sorted.regions(), case.cells.len() as u64);
    let need = 24 * (entries - sorted.dropped()) + 17 * rows + (8 + 16) * leaves;
    assert!(leaves > 1 && need > 24 * entries);
    assert!(case.list().mem_limit(need - 1).sorted(&Control::default()).is_err());
    assert!(case.list().mem_limit(need).sorted(&Control::default()).is_ok());
}

#[test]
fn what_is_wrong_is_named() {
    let size = [10, 5];
    let plan = Plan::builder(size).scheme(Scheme::uniform(1, 2, 1)).rule(RuleKind::Full).build().unwrap();
    let mut list = CellList::new(&plan, CellType::I16).unwrap();
    let error = list.push([3, 5], 1).unwrap_err().to_string();
    assert_eq!(error, "coordinate 5 on axis 1, which has 5 cells: it can be 0 to 4");
    list.push([3, 4], 1).unwrap();
    list.push([3, 4], (-1i16).word()).unwrap();
    let error = list.sorted(&Control::default()).unwrap_err().to_string();
    assert!(error.contains("cell (3, 4) is listed twice") && error.contains("-1"), "{error}");
    // No entry at all.
    let tree = CellList::new(&plan, CellType::I16).unwrap().sorted(&Control::default()).unwrap().tree().unwrap();
    assert_eq!((tree.len(), tree.word([9, 4])), (1, Some(0)));
    assert!(matches!(tree.cut(0, Representative::Mode), Err(TreeError::List(ListError::Unanswered { .. }))));
    let huge = [u32::MAX; 5];
    let plan =
        Plan::builder(huge).scheme(Scheme::for_list(huge, None, None, None)).rule(RuleKind::Full).build().unwrap();
    assert!(matches!(CellList::new(&plan, CellType::U8), Err(TreeError::List(ListError::TooLarge { .. }))));
}
