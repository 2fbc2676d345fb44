//! Lists of cells as fields: a run of a list is a run of the array that has the same cells.

use std::collections::BTreeMap;

use orthant::backend::Estimate;
use orthant::field::{FieldData, FieldKind, Job, Open, StoredArray};
use orthant::list::{ListError, StoredList};
use orthant::points::PointsValue;
use orthant::prelude::*;
use orthant::result::{LevelStats, RunCounts};
use orthant::tree::Census;
use orthant::{CellType, Control, Request};
use proptest::prelude::*;

/// Cells of a small domain, some of which are listed.
#[derive(Debug, Clone)]
struct Listed {
    size: Vec<u32>,
    kind: CellType,
    background: f64,
    cells: BTreeMap<Vec<u32>, f64>,
}

impl Listed {
    fn list(&self) -> StoredList {
        let mut list = StoredList::builder(self.kind, self.size.clone()).unwrap();
        list = list.background(self.kind.word_of(self.background));
        // From the last to the first: they come in any order.
        for (cell, &value) in self.cells.iter().rev() {
            list.push(cell, self.kind.word_of(value)).unwrap();
        }
        list.build("cells").unwrap()
    }

    fn array(&self) -> StoredArray {
        let cells: u32 = self.size.iter().product();
        let word = |mut index: u32| {
            let cell = self.size.iter().map(|side| {
                let coordinate = index % side;
                index /= side;
                coordinate
            });
            let value = self.cells.get(&cell.collect::<Vec<_>>()).unwrap_or(&self.background);
            self.kind.word_of(*value)
        };
        let bytes = (0..cells).flat_map(|index| word(index).to_le_bytes().into_iter().take(self.kind.bytes() as usize));
        StoredArray::new("cells", self.kind, self.size.clone(), bytes.collect()).unwrap()
    }
}

prop_compose! {
    /// Up to five axes. A value in three lists a block of cells of one value, so that whole regions are uniform.
    fn listed()(
        size in prop::collection::vec(1u32..9, 1..6),
        kind in prop::sample::select(vec![CellType::U8, CellType::I16, CellType::F32, CellType::I64, CellType::F64]),
        background in prop::sample::select(vec![0.0, 1.0, 7.0]),
        blocks in prop::collection::vec((any::<u64>(), any::<u64>(), 0u8..4), 0..4),
        scattered in prop::collection::vec((any::<u64>(), 0u8..9), 0..40),
    ) -> Listed {
        let cell = |mut number: u64| -> Vec<u32> {
            let coordinate = |&side: &u32| {
                let coordinate = number % u64::from(side);
                number /= u64::from(side);
                coordinate as u32
            };
            size.iter().map(coordinate).collect()
        };
        let all = size.iter().map(|&side| u64::from(side)).product::<u64>();
        let mut cells = BTreeMap::new();
        for (a, b, value) in blocks {
            let (a, b) = (cell(a % all), cell(b % all));
            let inside = |cell: &Vec<u32>| (0..cell.len()).all(|j| a[j].min(b[j]) <= cell[j] && cell[j] <= a[j].max(b[j]));
            cells.extend((0..all).map(cell).filter(inside).map(|cell| (cell, f64::from(value))));
        }
        cells.extend(scattered.into_iter().map(|(number, value)| (cell(number % all), f64::from(value))));
        Listed { size, kind, background, cells }
    }
}

/// Runs a request, and says what was counted and what the cells are. A list is made a tree, too: its regions are returned.
struct Ran<'a>(&'a Request);

impl Job for Ran<'_> {
    type Output = (Vec<[u64; 4]>, String, Vec<[u64; 4]>);

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self(request) = self;
        let plan = request.plan::<K>().unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        let how = request.how.clone().for_labels(field.labels()).unwrap();
        let found = Run::new(&plan, &*field).how(how).start().unwrap();
        let levels = |counts: &RunCounts<K>| -> Vec<[u64; 4]> {
            let level = |level: &LevelStats<K>| {
                let counts = level.counts;
                [counts.regions, counts.subdivided, counts.filled, counts.leaves]
            };
            counts.levels.iter().map(level).collect()
        };
        // The same from the cells up.
        let full = Plan::new(*plan.domain(), *plan.scheme(), plan.curve(), RuleKind::Full).unwrap();
        let data = request.data.as_ref().unwrap();
        let tree = Tree::from_data(&full, data, PointsValue::Occupied, None, &Control::default()).unwrap();
        let mut census = Census::new(&full, 0, false);
        census.add(&tree);
        (levels(found.counts()), found.array().unwrap().checksum(), levels(&census.counts().0))
    }
}

fn ran(request: &Request) -> (Vec<[u64; 4]>, String, Vec<[u64; 4]>) {
    request.workload.dispatch(request.k(), Ran(request)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lists_are_divided_like_their_arrays(listed in listed(), g in 1u32..3, b in 1u32..3, certified: bool) {
        let rule = if certified { RuleKind::Certified } else { RuleKind::Full };
        let request = |data: FieldData, rule| {
            let g = listed.size.iter().map(|&side| g.min(side)).collect();
            Request::new(FieldKind::Array).data(data).scheme(1, 2, b).g(Some(g)).explore(Some(rule))
        };
        let of_list = request(listed.list().into(), rule);
        let of_array = request(listed.array().into(), rule);
        let (levels, cells, tree) = ran(&of_list);
        let (levels_of_array, cells_of_array, tree_of_array) = ran(&of_array);
        prop_assert_eq!(&levels, &levels_of_array);
        prop_assert_eq!(&cells, &cells_of_array);
        prop_assert_eq!(&tree, &levels);
        prop_assert_eq!(&tree_of_array, &levels);
        // Dp and exhaustive leave the same cells.
        for strategy in [StrategyKind::Dp, StrategyKind::Exhaustive] {
            let mut other = of_list.clone();
            other.how = other.how.strategy(strategy);
            prop_assert_eq!(&cells, &ran(&other).1);
        }
    }
}

/// Entries far apart: what their run is said to take is enough, and is no surface's.
struct Estimated(Request, u64);

impl Job for Estimated {
    type Output = ();

    fn run<const K: usize>(self, open: Open<K>) {
        let plan = self.0.plan::<K>().unwrap();
        let field = open(plan.domain(), &self.0.options().unwrap()).unwrap();
        let how = self.0.how.clone().for_labels(field.labels()).unwrap();
        let entries = self.1;
        assert_eq!(field.most_mixed(), Some(entries));
        let of_strategy = |strategy| Estimate::new(&plan, &*field, &how.clone().strategy(strategy));
        assert!(of_strategy(StrategyKind::Ask).total() < 64 << 20, "{:?}", of_strategy(StrategyKind::Ask));
        // A cell decides those regions, too, whose upper sides it lies at.
        let deciding = if plan.rule() == RuleKind::Closed { 1 << K } else { 1 };
        let found = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
        for level in &found.counts().levels {
            let mixed = level.counts.subdivided + level.counts.leaves;
            assert!(mixed <= entries * deciding, "{mixed} of {entries} under {}", plan.rule());
        }
        let (estimated, took) = (of_strategy(StrategyKind::Ask).compact, found.compact_bytes());
        assert!(
            estimated >= u128::from(took),
            "{estimated} bytes were expected, and {took} taken, under {}",
            plan.rule()
        );
    }
}

#[test]
fn a_list_in_a_large_domain_is_no_surface() {
    // A rule that looks at faces would look at all of them in the large domain.
    for (bits, entries, rule) in [(20, 300, RuleKind::Certified), (7, 9, RuleKind::Closed)] {
        let mut list = StoredList::builder(CellType::U8, vec![1 << bits; 3]).unwrap();
        for entry in 0..entries {
            let coordinate = |j: u64| ((entry * 3 + j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as u32;
            list.push(&[0, 1, 2].map(coordinate), 1).unwrap();
        }
        let request = Request::new(FieldKind::Array).data(list.build("cells").unwrap()).scheme(1, 2, 4);
        let mut request = request.g(Some(vec![1; 3])).explore(Some(rule));
        request.how = request.how.keep(Keep::Regions);
        request.workload.dispatch(request.k(), Estimated(request.clone(), entries)).unwrap();
    }
}

#[test]
fn wrong_lists_are_refused() {
    let builder = || StoredList::builder(CellType::U8, vec![4, 5]).unwrap();
    assert_eq!(builder().push(&[4, 0], 1), Err(ListError::Outside { axis: 0, coordinate: 4, size: 4 }));
    assert_eq!(builder().push(&[1], 1), Err(ListError::Axes { found: 1, axes: 2 }));
    let mut twice = builder();
    for value in [7, 9] {
        twice.push(&[3, 2], value).unwrap();
    }
    let error = twice.build("twice").unwrap_err().to_string();
    assert!(error.contains("(3, 2)") && error.contains("7 and 9"), "{error}");
    for size in [vec![], vec![3, 0], vec![1 << 22; 3]] {
        assert!(matches!(StoredList::builder(CellType::U8, size), Err(ListError::Cells { .. })));
    }
    let mut little = builder().mem_limit(63);
    assert_eq!(little.push(&[0, 0], 1), Ok(()));
    assert!(matches!(little.reserve(2), Err(ListError::Memory { need: 96 })));
}

#[test]
fn what_is_the_background_is_no_entry() {
    let mut list = StoredList::builder(CellType::F32, vec![2, 2]).unwrap().background(u64::from((-f32::NAN).to_bits()));
    list.push(&[0, 0], f32::NAN.to_bits().into()).unwrap();
    list.push(&[1, 1], 2.5f32.to_bits().into()).unwrap();
    let list = list.build("cells").unwrap();
    assert_eq!((list.len(), list.dropped(), list.bytes()), (1, 1, 16));
    assert_eq!(list.entries().collect::<Vec<_>>(), [(vec![1, 1], 2.5f32.to_bits().into())]);
    // Name and size are no part of the hash; background and values are.
    let other = |name: &str, background, value| {
        let mut list = StoredList::builder(CellType::U8, vec![9]).unwrap().background(background);
        list.push(&[1], value).unwrap();
        list.build(name).unwrap().hash()
    };
    assert_eq!(other("a", 0, 5), other("b", 0, 5));
    assert_ne!(other("a", 0, 5), other("a", 1, 5));
    assert_ne!(other("a", 0, 5), other("a", 0, 6));
}
