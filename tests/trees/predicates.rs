//! Trees by a predicate: from the cells up against a descent that asks all cells of every region, and what is guaranteed of cells.

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, Noise, NotANumber, Number, Parts, Predicate, TreeInfo, TreeTarget};
use orthant::{Cell, CellType, Control};
use proptest::prelude::*;
use std::time::Duration;

use crate::trees::survey::Lying;
use crate::trees::{Below, Case, key, place};

/// Quarters, of which all numbers here are so many.
const INFINITE: i128 = 1 << 120;

/// What a cell is to the descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Quarters(i128),
    /// Not a number, or no data.
    Apart(u64),
}

#[derive(Debug, Clone, Copy)]
enum Asked {
    Tolerance(f64),
    Iso(f64),
}

/// A cell of so many quarters, or whole numbers in types without a point.
fn value<T: Cell>(number: i64) -> T {
    match T::TYPE {
        CellType::F32 => T::from_word((number as f32 / 4.0).word()),
        CellType::F64 => T::from_word((number as f64 / 4.0).word()),
        CellType::U8 | CellType::U16 | CellType::U32 | CellType::U64 => T::from_word(number.unsigned_abs()),
        _ => T::from_word(number as u64),
    }
}

fn what<T: Cell>(cell: T, nodata: Option<T>) -> What {
    let (kind, word) = (T::TYPE, key(cell));
    if nodata.map(key) == Some(word) || kind.number(word).is_nan() {
        return What::Apart(word);
    }
    let real = kind.number(word);
    let bits = 8 * size_of::<T>() as u32;
    What::Quarters(match kind {
        _ if real.is_infinite() => {
            if real > 0.0 {
                INFINITE
            } else {
                -INFINITE
            }
        }
        CellType::F32 | CellType::F64 => (real * 4.0) as i128,
        CellType::U8 | CellType::U16 | CellType::U32 | CellType::U64 => 4 * i128::from(word),
        _ => 4 * i128::from((word << (64 - bits)) as i64 >> (64 - bits)),
    })
}

impl Asked {
    fn predicate<T: Cell>(self) -> Predicate {
        match self {
            Self::Tolerance(e) => Predicate::tolerance(T::TYPE, Number::from(e)).unwrap(),
            Self::Iso(t) => Predicate::iso(T::TYPE, Number::from(t)).unwrap(),
        }
    }

    /// So many quarters, whole numbers in types without a point.
    fn bound<T: Cell>(e: f64) -> i128 {
        if T::TYPE.is_float() { (e * 4.0) as i128 } else { 4 * e.floor() as i128 }
    }

    /// True if cells, and those around them, are one.
    fn holds<T: Cell>(self, own: &[What], around: &[What], nodata: Option<T>) -> bool {
        match self {
            Self::Tolerance(e) => {
                let quarters = |what: &What| if let What::Quarters(quarters) = what { Some(*quarters) } else { None };
                let Some(numbers) = own.iter().map(quarters).collect::<Option<Vec<i128>>>() else {
                    return own.iter().all(|what| *what == own[0]);
                };
                let (least, greatest) = (*numbers.iter().min().unwrap(), *numbers.iter().max().unwrap());
                // What can stand for them, which is not what no data is.
                let (first, last) = (greatest - Self::bound::<T>(e), least + Self::bound::<T>(e));
                let mut apart = nodata.map(|cell| what(cell, None));
                apart = apart.filter(|&apart| apart != What::Quarters(least) || least < greatest);
                let several = first + if T::TYPE.is_float() { 1 } else { 4 } <= last;
                first <= last && (several || apart != Some(What::Quarters(first)))
            }
            Self::Iso(t) => {
                let side = |what: &What| match what {
                    What::Quarters(quarters) => Err(*quarters < (t * 4.0).ceil() as i128),
                    What::Apart(word) => Ok(*word),
                };
                around.iter().all(|what| side(what) == side(&around[0]))
            }
        }
    }

    /// True if a value may stand for a cell.
    fn stands<T: Cell>(self, value: What, cell: What) -> bool {
        match (self, value, cell) {
            (Self::Tolerance(e), What::Quarters(value), What::Quarters(cell)) => {
                (value - cell).abs() <= Self::bound::<T>(e)
            }
            (Self::Iso(t), What::Quarters(value), What::Quarters(cell)) => {
                let at = (t * 4.0).ceil() as i128;
                (value < at) == (cell < at)
            }
            (_, value, cell) => value == cell,
        }
    }
}

/// Values near each other, others all over the type, and boxes of no data.
fn noisy<T: Cell, const K: usize>(case: &Case<K>, nodata: Option<T>) -> ArrayD<T> {
    let mut below = Below(case.seed ^ 77);
    // The least numbers that are not 0 are no quarters.
    let whole = |cell: T| if T::TYPE.is_float() && T::TYPE.number(cell.word()).abs() < 0.25 { value(0) } else { cell };
    let mut array = case.array::<T>().mapv(whole);
    for number in 0..5 {
        let (base, width) = (below.next(90) as i64 - 30, 1 + below.next(12));
        let window = below.window(case.size, false);
        for cell in window.cells() {
            array[&place(cell)[..]] = match nodata {
                Some(nodata) if number == 4 => nodata,
                _ => value(base + below.next(width) as i64),
            };
        }
    }
    array
}

/// The regions that a descent finds, with their levels, along the grid's axes, and whether they are uniform.
fn descend<T: Cell, const K: usize>(
    plan: &Plan<K>,
    array: &ArrayD<T>,
    nodata: Option<T>,
    asked: Asked,
    (level, coords): (usize, [u32; K]),
    found: &mut Vec<(Region<K>, u32, bool)>,
) {
    let (size, r) = (plan.domain().size(), plan.scheme().r);
    let grid = plan.levels()[level].grid;
    let end = |j: usize, p: u32| (u64::from(p) * u64::from(size[j]) / u64::from(grid[j])) as u32;
    let corner: [u32; K] = std::array::from_fn(|j| end(j, coords[j]));
    let region = Region { corner, extent: std::array::from_fn(|j| end(j, coords[j] + 1) - corner[j]) };
    let first: [u32; K] = corner.map(|c| c.saturating_sub(1));
    let last: [u32; K] = std::array::from_fn(|j| (corner[j] + region.extent[j] + 1).min(size[j]));
    let around = Region { corner: first, extent: std::array::from_fn(|j| last[j] - first[j]) };
    let cells =
        |region: Region<K>| region.cells().map(|cell| what(array[&place(cell)[..]], nodata)).collect::<Vec<_>>();
    let uniform = asked.holds::<T>(&cells(region), &cells(around), nodata);
    if uniform || level + 1 == plan.levels().len() {
        found.push((region, level as u32, uniform));
        return;
    }
    for child in (Region { corner: coords.map(|_| 0), extent: r }).cells() {
        let child = std::array::from_fn(|j| coords[j] * r[j] + child[j]);
        descend(plan, array, nodata, asked, (level + 1, child), found);
    }
}

fn is_what_a_descent_finds<T: Cell, const K: usize>(case: Case<K>) {
    let nodata = (case.seed.is_multiple_of(3)).then(|| value::<T>(7));
    let array = noisy::<T, K>(&case, nodata);
    let half = if T::TYPE.is_float() { 0.5 } else { 0.0 };
    let asked = [
        Asked::Tolerance((case.seed % 9) as f64 + half),
        Asked::Tolerance(0.0),
        Asked::Iso((case.seed % 30) as f64 + 1.0 + half / 2.0),
    ];
    let curve = [CurveKind::Morton, CurveKind::Hilbert][case.seed as usize % 2];
    let plan = case.plan(curve).or_else(|| case.plan(CurveKind::Morton)).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    // Once by rows as they lie in memory, once by boxes.
    let boxes = Lying::new(&field, &array, None);
    for asked in asked {
        let predicate = asked.predicate::<T>();
        let build = || BottomUp::new(&plan, &boxes).unwrap().predicate(&predicate, nodata.map(Cell::word)).unwrap();
        let tree = build().tree().unwrap();
        let mut expected = Vec::new();
        let roots = Region { corner: [0; K], extent: plan.levels()[0].grid };
        roots.cells().for_each(|root| descend(&plan, &array, nodata, asked, (0, root), &mut expected));
        let mut found: Vec<_> =
            tree.regions().map(|region| (region.cells(), region.level(), region.uniform().is_some())).collect();
        let order = |region: &(Region<K>, u32, bool)| (region.0.corner, region.1);
        expected.sort_unstable_by_key(order);
        found.sort_unstable_by_key(order);
        assert_eq!(found, expected, "{case:?} {asked:?}");
        for region in tree.regions() {
            let words = region.cells().cells().map(|cell| (region.word(cell), array[&place(cell)[..]]));
            match region.uniform() {
                Some(word) => {
                    let value = what(T::from_word(word), nodata);
                    let stand = |(_, cell)| asked.stands::<T>(value, what(cell, nodata));
                    assert!(words.into_iter().all(stand), "{case:?} {asked:?} {word:#x}");
                }
                None => assert!(words.into_iter().all(|(word, cell)| word == cell.word()), "{case:?} {asked:?}"),
            }
        }
        let in_memory = BottomUp::new(&plan, &field).unwrap();
        let in_memory = in_memory.predicate(&predicate, nodata.map(Cell::word)).unwrap().tree().unwrap();
        assert_eq!(in_memory, tree, "{case:?} {asked:?}");
        let parts: &dyn Parts<K> = &tree;
        let nodata_word = nodata.map(Cell::word);
        let differences = parts.compare_within(&predicate, nodata_word, &field, 3, &Control::default()).unwrap();
        assert_eq!(differences.cells, 0, "{case:?} {asked:?} {differences:?}");
        let key = |word: u64| orthant::rule::exact::key(T::TYPE, word);
        let pairs =
            plan.domain().region().cells().map(|cell| [tree.word(cell).unwrap(), array[&place(cell)[..]].word()]);
        let others: Vec<_> = pairs.filter(|[own, other]| key(*own) != key(*other)).collect();
        // Whole numbers of 64 bits do not fit doubles: their distance is counted in quarters.
        let far = others.iter().map(|pair| match pair.map(|word| what(T::from_word(word), nodata)) {
            [What::Quarters(own), What::Quarters(other)] if !T::TYPE.is_float() => (own - other).abs() as f64 / 4.0,
            _ => (T::TYPE.number(pair[0]) - T::TYPE.number(pair[1])).abs(),
        });
        assert_eq!(differences.within, others.len() as u128, "{case:?} {asked:?}");
        assert_eq!(differences.greatest, far.fold(0.0, f64::max), "{case:?} {asked:?}");
        let (counts, checksum) = build().counts(true).unwrap();
        assert_eq!(checksum, Some(tree.checksum()), "{case:?} {asked:?}");
        assert_eq!(counts.totals().leaves as usize, expected.iter().filter(|region| !region.2).count());
    }
}

/// Cells next to 2^63, which a double does not tell apart: a random case had found them.
#[test]
fn distances_beyond_doubles_are_exact() {
    let scheme = Scheme { g: [3, 3, 2], r: [2, 3, 2], b: [2, 3, 1] };
    is_what_a_descent_finds::<u64, 3>(Case { size: [6, 9, 7], scheme, seed: 3_730_428_178_172_234_841 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn trees_by_a_predicate_are_what_a_descent_finds(
        line in Case::<1>::any(90), plane in Case::<2>::any(24), space in Case::<3>::any(9), four in Case::<4>::any(4),
    ) {
        is_what_a_descent_finds::<u8, 1>(line);
        is_what_a_descent_finds::<i64, 1>(line);
        is_what_a_descent_finds::<u16, 2>(plane);
        is_what_a_descent_finds::<f32, 2>(plane);
        is_what_a_descent_finds::<i8, 3>(space);
        is_what_a_descent_finds::<f64, 3>(space);
        is_what_a_descent_finds::<u64, 3>(space);
        is_what_a_descent_finds::<u32, 4>(four);
        is_what_a_descent_finds::<i16, 4>(four);
        is_what_a_descent_finds::<i32, 4>(four);
    }
}

/// A smooth ground with noise, of which regions become one on all levels.
fn ground() -> ArrayD<u16> {
    let mut below = Below(5);
    ArrayD::from_shape_fn(vec![70, 90, 80], |at| {
        let step = 400 * u16::from(at[0] > 40) + 300 * u16::from(at[1] > 60);
        100 + step + (at[2] / 40) as u16 * 3 + below.next(20) as u16
    })
}

/// Whatever shares the work, and wherever the tree goes.
#[test]
fn trees_do_not_depend_on_who_makes_them() {
    let (array, folder) = (ground(), tempfile::tempdir().unwrap());
    let field = ArrayField::<3, u16>::new(array.view()).unwrap();
    let domain = Domain::new([80, 90, 70], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    for scheme in [Scheme::uniform(1, 2, 4), Scheme { g: [2, 3, 1], r: [2, 1, 3], b: [3; 3] }] {
        let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
        for predicate in [
            Predicate::tolerance(CellType::U16, Number::Natural(11)).unwrap(),
            Predicate::tolerance(CellType::U16, Number::Natural(200)).unwrap(),
            Predicate::iso(CellType::U16, Number::Natural(300)).unwrap(),
        ] {
            let build = || BottomUp::new(&plan, &field).unwrap().predicate(&predicate, None).unwrap();
            let tree = build().tree().unwrap();
            assert!(
                tree.regions()
                    .any(|region| region.uniform().is_some() && region.level() + 1 < plan.levels().len() as u32)
            );
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| build().tree().unwrap()), tree, "{threads} threads");
            }
            let info = TreeInfo::of(&plan).predicate(predicate, None);
            let folder = tempfile::tempdir_in(&folder).unwrap();
            let file = |name: &str| folder.path().join(format!("{name}.tree.zarr.zip"));
            tree.save(file("whole"), &info).unwrap();
            for cells in [1 << 12, 1 << 16] {
                let target = TreeTarget::new(file("shards")).overwrite(true).shard_cells(cells);
                let mut writer = target.open(&plan, CellType::U16, &info).unwrap();
                build().write(&mut writer).unwrap();
                assert!(writer.shards() > 2);
                writer.finish().unwrap();
                assert_eq!(Tree::<3>::open(file("shards")).unwrap(), tree, "shards of {cells} cells");
            }
            assert_eq!(Tree::<3>::open(file("whole")).unwrap(), tree);
            let read = orthant::tree::TreeFile::<3>::open(file("whole")).unwrap();
            assert_eq!(read.info().predicate, predicate);
            let need = tree.bytes();
            let refused = build().mem_limit(need / 4).tree().unwrap_err();
            assert!(refused.to_string().contains("limit"), "{refused}");
        }
    }
}

/// Regions that are larger than what is read at a time.
#[test]
fn large_regions_are_seen_slab_by_slab() {
    let mut array = ArrayD::from_elem(vec![1200, 700], 3.0f32);
    array[[600, 350]] = 3.5;
    array[[3, 3]] = f32::NAN;
    let field = ArrayField::<2, f32>::new(array.view()).unwrap();
    let domain = Domain::new([700, 1200], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let scheme = Scheme { g: [1, 2], r: [2, 2], b: [700, 1200] };
    let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = |predicate: Predicate| {
        BottomUp::new(&plan, &field).unwrap().predicate(&predicate, None).unwrap().tree().unwrap()
    };
    let within = tree(Predicate::tolerance(CellType::F32, 0.25.into()).unwrap());
    assert_eq!(within.regions().map(|region| region.uniform().is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(within.word([0, 700]), Some(3.25f32.word()));
    assert_eq!((within.word([3, 3]), within.word([1, 1])), (Some(f32::NAN.word()), Some(3.0f32.word())));
    // The odd cell is the first of its region: those of the other are around it.
    let one = tree(Predicate::iso(CellType::F32, 3.25.into()).unwrap());
    assert!(one.regions().all(|region| region.uniform().is_none()));
    let above = tree(Predicate::iso(CellType::F32, 1.0.into()).unwrap());
    assert_eq!(above.regions().map(|region| region.uniform()).collect::<Vec<_>>(), [None, Some(3.0f32.word())]);
}

/// Cell by cell, by way of the source and of the tree.
fn mapped<T: Cell, U: Cell>(values: &[T], predicate: Predicate, expected: &[U]) {
    let array = ArrayD::from_shape_vec(vec![values.len()], values.to_vec()).unwrap();
    let field = ArrayField::<1, T>::new(array.view()).unwrap();
    let source = predicate.over(&field).unwrap();
    let domain = Domain::new([values.len() as u32], [[0.0, 1.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &source).unwrap().predicate(&predicate, None).unwrap().tree().unwrap();
    assert_eq!(tree.kind(), U::TYPE, "{predicate}");
    let found: Vec<u64> = (0..values.len() as u32).map(|cell| tree.word([cell]).unwrap()).collect();
    assert_eq!(found, expected.iter().map(|cell| cell.word()).collect::<Vec<_>>(), "{predicate}");
}

#[test]
fn cells_become_classes_and_labels() {
    let number = |text: &str| text.parse::<Number>().unwrap();
    let above = |kind, t: &str| Predicate::threshold(kind, number(t)).unwrap();
    mapped(&[0u8, 2, 3, 255], above(CellType::U8, "2.5"), &[0u8, 0, 1, 1]);
    mapped(&[i64::MIN, -1, 0, i64::MAX], above(CellType::I64, "9223372036854775807"), &[0u8, 0, 0, 1]);
    let reals = [f32::NEG_INFINITY, -0.0, 0.0, f32::NAN, 1.0, -9999.0];
    mapped(&reals, above(CellType::F32, "0"), &[0u8, 1, 1, 2, 1, 0]);
    let apart = above(CellType::F32, "0").nodata(CellType::F32, (-9999f32).word()).unwrap();
    mapped(&reals, apart, &[0u8, 1, 1, 2, 1, 255]);
    mapped(&reals, apart.nan(CellType::F32, NotANumber::Fill(number("-9999"))).unwrap(), &[0u8, 1, 1, 255, 1, 255]);

    let labels = |kind, step: &str, lo: &str| Predicate::labels(kind, number(step), number(lo)).unwrap();
    mapped(&[0u8, 9, 10, 255], labels(CellType::U8, "10", "0"), &[0i8, 0, 1, 25]);
    mapped(&[i16::MIN, -1001, -1000, -999, i16::MAX], labels(CellType::I16, "100", "-1000"), &[-318i16, -1, 0, 0, 337]);
    mapped(&[0u16, 65535], labels(CellType::U16, "1", "0"), &[0i32, 65535]);
    mapped(&[0u64, u64::MAX], labels(CellType::U64, "2", "0"), &[0i64, i64::MAX]);
    mapped(&[0u8, 3, 4], labels(CellType::U8, "0.5", "0.25"), &[-1i16, 5, 7]);
    mapped(&[-0.1f64, 0.0, f64::NAN, 2.5], labels(CellType::F64, "0.5", "0"), &[-1i32, 0, i32::MIN, 5]);
    let apart = labels(CellType::F64, "0.5", "0").nodata(CellType::F64, 2.5f64.word()).unwrap();
    mapped(&[0.7f64, 2.5], apart, &[1i32, i32::MIN + 1]);
    let filled = Predicate::EXACT.nan(CellType::F64, NotANumber::Fill(number("7"))).unwrap();
    mapped(&[f64::NAN, 1.0, f64::INFINITY], filled, &[7.0f64, 1.0, f64::INFINITY]);
}

#[test]
fn what_cannot_be_is_said() {
    let number = |text: &str| text.parse::<Number>().unwrap();
    let said = |refused: Result<Predicate, orthant::choice::ChoiceError>| refused.unwrap_err().to_string();
    assert_eq!(said(Predicate::tolerance(CellType::U8, number("-1"))), "tolerance -1: a tolerance is 0 or more");
    assert_eq!(
        said(Predicate::threshold(CellType::U8, number("300"))),
        "threshold 300: cells are u8, all on one side of it; give one above 0 and up to 255"
    );
    assert!(said(Predicate::iso(CellType::F32, number("1e300"))).starts_with("iso 1e300: cells are f32"));
    assert_eq!(said(Predicate::labels(CellType::U8, number("0"), number("0"))), "step 0,0: the step is greater than 0");
    assert!(said(Predicate::labels(CellType::U64, number("1"), number("0"))).contains("larger step"));
    assert!(said(Predicate::labels(CellType::I64, number("0.5"), number("0"))).contains("whole step"));
    let fill = Predicate::EXACT.nan(CellType::U8, NotANumber::Fill(number("0.5")));
    assert_eq!(said(fill), "nan fill=0.5: cells are u8, which does not hold it");
    // Beyond what a label can be.
    let array = ArrayD::from_shape_vec(vec![2], vec![0.0f32, f32::INFINITY]).unwrap();
    let field = ArrayField::<1, f32>::new(array.view()).unwrap();
    let labels = Predicate::labels(CellType::F32, number("1"), number("0")).unwrap();
    let domain = Domain::new([2], [[0.0, 1.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let refused = BottomUp::new(&plan, &labels.over(&field).unwrap()).unwrap().tree().unwrap_err().to_string();
    assert!(refused.contains("cell [1] is inf, whose label i32 does not hold"), "{refused}");
}

/// Half the regions have a range of 20, and half are of one value.
#[test]
fn noise_is_told_from_some_regions() {
    let mut below = Below(9);
    let array = ArrayD::from_shape_fn(vec![64, 64], |at| match at[1] < 32 {
        true => 7u16,
        false if at[0] % 8 == 0 && at[1] % 8 == 0 => 100,
        false if at[0] % 8 == 1 && at[1] % 8 == 0 => 120,
        false => 100 + below.next(20) as u16,
    });
    let field = ArrayField::<2, u16>::new(array.view()).unwrap();
    let domain = Domain::new([64, 64], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, RuleKind::Full).unwrap();
    assert_eq!(plan.levels().last().unwrap().grid, [8, 8]);
    let noise = |predicate: Predicate| {
        let build = BottomUp::new(&plan, &field).unwrap().predicate(&predicate, None).unwrap();
        build.noise(Duration::from_secs(60)).unwrap().unwrap()
    };
    // 7 and what is about 100 part in the middle, and no region has both.
    let (tolerances, threshold) = (vec![(10.0, 0.0)], Some((54.0, 0.0)));
    let expected = Noise { cells: 4096, leaves: 0.5, tolerances, threshold, labels: false, finer: Vec::new() };
    let tolerance = |predicate| Noise { finer: Vec::new(), ..noise(predicate) };
    assert_eq!(tolerance(Predicate::EXACT), expected);
    assert_eq!(tolerance(Predicate::tolerance(CellType::U16, Number::Natural(9)).unwrap()), expected);
    assert_eq!(noise(Predicate::tolerance(CellType::U16, Number::Natural(10)).unwrap()).leaves, 0.0);
    assert_eq!(BottomUp::new(&plan, &field).unwrap().noise(Duration::ZERO).unwrap(), None);
}

/// The share that a smaller stop side is said to leave is that of the tree with it.
#[test]
fn a_smaller_stop_side_leaves_what_is_said() {
    let array = ArrayD::from_shape_fn(vec![64, 64], |at| u8::from(2 * at[0] + at[1] < 77) + u8::from(at[1] > 50));
    let field = ArrayField::<2, u8>::new(array.view()).unwrap();
    let domain = Domain::new([64, 64], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan =
        |b| Plan::new(domain, Scheme { b, ..Scheme::uniform(2, 2, 4) }, CurveKind::Morton, RuleKind::Full).unwrap();
    let leaves = |b| {
        let (counts, _) = BottomUp::new(&plan(b), &field).unwrap().counts(false).unwrap();
        counts.totals().leaf_cells as f64 / 4096.0
    };
    let noise = BottomUp::new(&plan([8; 2]), &field).unwrap().noise(Duration::from_secs(60)).unwrap().unwrap();
    assert_eq!(noise.leaves, leaves([8; 2]));
    assert_eq!(noise.finer, [[4, 4], [2, 2]].map(|b| (b.to_vec(), leaves(b))));
    assert!(noise.finer[1].1 < noise.finer[0].1 && noise.finer[0].1 < noise.leaves);
}
