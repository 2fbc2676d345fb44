//! From arrays by way of trees into files, and back.

use std::path::{Path, PathBuf};

use orthant::field::FieldOptions;
use orthant::ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{
    BottomUp, Parts, Provenance, Representative, TreeAxis, TreeError, TreeFile, TreeFileError, TreeInfo, TreeJob,
    TreeLabel, TreeStore, TreeTarget,
};
use orthant::{Cell, CellType, Error, field};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::trees::files::{assert_same, files};
use crate::trees::folder;
use crate::trees::{Below, Case, bottom_up, place};

fn info<const K: usize>(plan: &Plan<K>) -> TreeInfo {
    TreeInfo::of(plan).source("painted boxes")
}

/// A target in a folder: a folder or a file.
fn target(folder: &TempDir, name: &str, zip: bool) -> PathBuf {
    folder.path().join(format!("{name}.tree.zarr{}", if zip { ".zip" } else { "" }))
}

/// Every way into a file, and back.
fn written<T: Cell, const K: usize>(case: Case<K>) {
    let array = case.array::<T>();
    let mut below = Below(case.seed ^ 0x77);
    let curve = CurveKind::ALL[below.next(CurveKind::ALL.len() as u32) as usize];
    let Some(plan) = case.plan(curve) else { return };
    let domain = plan.domain().region();
    let (zip, folder) = (below.next(3) == 0, folder());
    // Files reach the disk one by one, so there are some shards and not many.
    let cells = domain.volume() / u64::from(1 + below.next(8)) + 1;
    let whole = bottom_up(&plan, &array);
    let path = |name| target(&folder, name, zip);
    let open = |name| TreeTarget::new(path(name)).shard_cells(cells).open(&plan, T::TYPE, &info(&plan)).unwrap();
    // From the cells up, shard by shard.
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut writer = open("streamed");
    building.write(&mut writer).unwrap();
    assert_eq!(writer.done(), writer.shards());
    writer.finish().unwrap();
    // From memory, at once.
    let mut writer = open("whole");
    writer.write(&whole).unwrap();
    writer.finish().unwrap();
    let bytes = files(&path("streamed"));
    assert_same(&bytes, &files(&path("whole")));
    let file = TreeFile::<K>::open(path("whole")).unwrap();
    // Part by part, from the last to the first.
    let mut writer = open("parts");
    (0..file.parts()).rev().for_each(|part| writer.write(&file.part(part).unwrap()).unwrap());
    writer.finish().unwrap();
    assert_same(&bytes, &files(&path("parts")));
    // All of it, and what the file says without it.
    assert_eq!(file.tree(None).unwrap(), whole, "{case:?} {curve} {cells}");
    file.validate().unwrap();
    assert_eq!((file.checksum(), file.len()), (whole.checksum(), whole.len() as u64));
    assert_eq!((file.leaf_cells(), file.kind(), file.info()), (whole.bricks().len() as u64, T::TYPE, &info(&plan)));
    assert_eq!((file.plan().domain(), file.plan().rule()), (plan.domain(), plan.rule()));
    // Part by part: cells, and boxes.
    let mut next = 0;
    for part in 0..file.parts() {
        let part = file.part(part).unwrap();
        assert_eq!(part.codes().start, next);
        next = part.codes().end;
    }
    assert_eq!(next, whole.codes().end);
    let mut painted = vec![T::from_word(0x55); domain.volume() as usize];
    for part in file.meeting(&domain).unwrap() {
        file.part(part).unwrap().read(&domain, &mut painted).unwrap();
    }
    for (cell, value) in domain.cells().zip(&painted) {
        let region = whole.region_at(cell).unwrap();
        assert_eq!(value.word(), region.word(cell));
        if region.uniform().is_none() {
            assert_eq!(value.word(), array[&place(cell)[..]].word());
        }
    }
    for _ in 0..8 {
        let cell = std::array::from_fn(|j| below.next(case.size[j]));
        assert_eq!(file.word(cell).unwrap(), whole.word(cell));
        let window = below.window(case.size, false);
        let meeting = file.meeting(&window).unwrap();
        let holds = |part: usize| window.cells().any(|cell| file.part(part).unwrap().word(cell).is_some());
        assert!((0..file.parts()).all(|part| meeting.contains(&part) || !holds(part)));
    }
    assert_eq!(file.word(case.size).unwrap(), None);
    // What others have is replaced where that is asked for alone, and nothing is left beside.
    let again = TreeTarget::new(path("whole"));
    assert!(matches!(again.open(&plan, T::TYPE, &info(&plan)), Err(TreeError::File(TreeFileError::Exists { .. }))));
    let mut writer = again.overwrite(true).open(&plan, T::TYPE, &info(&plan)).unwrap();
    writer.write(&whole).unwrap();
    writer.finish().unwrap();
    assert_eq!(Tree::open(path("whole")).unwrap(), whole);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn files_hold_the_tree(
        line in Case::<1>::any(90), plane in Case::<2>::any(24), space in Case::<3>::any(12), four in Case::<4>::any(6),
        five in Case::<5>::any(4), six in Case::<6>::any(3),
    ) {
        written::<u16, 1>(line);
        written::<i64, 1>(line);
        written::<f32, 2>(plane);
        written::<u8, 2>(plane);
        written::<i32, 3>(space);
        written::<u64, 3>(space);
        written::<f64, 4>(four);
        written::<u32, 5>(five);
        written::<i8, 6>(six);
        written::<i16, 6>(six);
    }
}

/// A region of one value that is larger than shards is a row of the first of them.
#[test]
fn large_regions_are_rows_of_the_shard_where_they_begin() {
    let folder = folder();
    let array = ArrayD::from_shape_fn(vec![32, 32], |at| u16::from(at[0] == 31 && at[1] == 31));
    let domain = Domain::new([32, 32], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 2), CurveKind::Morton, RuleKind::Full).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let path = target(&folder, "corner", false);
    let mut writer = TreeTarget::new(&path).shard_cells(16).open(&plan, CellType::U16, &info(&plan)).unwrap();
    assert_eq!((writer.shards(), writer.codes(3)), (64, (3, 3..4)));
    BottomUp::new(&plan, &field).unwrap().write(&mut writer).unwrap();
    writer.finish().unwrap();
    let file = TreeFile::<2>::open(&path).unwrap();
    // Three quarters, three quarters of the last one, and the four of its last one.
    assert_eq!((file.shards(), file.parts()), (64, 10));
    let lengths: Vec<usize> = (0..10).map(|part| file.part(part).unwrap().len()).collect();
    assert_eq!(lengths, [1; 10]);
    assert_eq!(file.part(1).unwrap().codes(), 16..32);
    assert_eq!(file.terminals(), [[0, 0], [3, 0], [3, 0], [3, 1]]);
    assert_eq!(file.tree(None).unwrap(), bottom_up(&plan, &array));
    assert_eq!(file.word([16, 3]).unwrap(), Some(0));
    assert_eq!(file.meeting(&Region { corner: [15, 15], extent: [17, 1] }).unwrap(), [0, 1]);
}

/// Where no two cells are equal, a tree as large as the array is written with a limit that a few shards keep to.
#[test]
fn memory_is_that_of_some_shards() {
    let folder = folder();
    let array = ArrayD::from_shape_fn(vec![32, 64, 64], |at| (at[0] * 64 * 64 + at[1] * 64 + at[2]) as u32);
    let domain = Domain::new([64, 64, 32], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap().mem_limit(1 << 17);
    assert!(matches!(building.tree(), Err(TreeError::Run(Error::Memory(_)))));
    let path = target(&folder, "noise", true);
    let mut writer = TreeTarget::new(&path).shard_cells(1 << 13).open(&plan, CellType::U32, &info(&plan)).unwrap();
    building.write(&mut writer).unwrap();
    assert_eq!(writer.shards(), 16);
    writer.finish().unwrap();
    let file = TreeFile::<3>::open(&path).unwrap();
    assert_eq!(file.tree(None).unwrap(), bottom_up(&plan, &array));
    assert!(matches!(file.tree(Some(1 << 19)), Err(TreeError::Run(Error::Memory(_)))));
}

/// What regions are known by is what the file says, not what the rule would say again.
#[test]
fn provenance_is_kept() {
    let folder = folder();
    let domain = Domain::new([90, 70], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let field = field::mandelbrot::open(&domain, &FieldOptions::default().dwell(60)).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 2), CurveKind::Canonical, RuleKind::Border).unwrap();
    let tree = Tree::of(Run::new(&plan, &*field).how(How::default().keep(Keep::Regions)).start().unwrap()).unwrap();
    for (name, tree) in [("run", &tree), ("cut", &tree.cut(1, Representative::Max).unwrap())] {
        let path = target(&folder, name, true);
        tree.save(&path, &info(&plan)).unwrap();
        let read = Tree::<2>::open(&path).unwrap();
        assert_eq!(&read, tree);
        let known = |tree: &Tree<2>| tree.regions().map(|region| region.provenance()).collect::<Vec<_>>();
        assert_eq!(known(&read), known(tree));
        let other = if name == "cut" { Provenance::Cut } else { Provenance::Proved };
        assert!(known(&read).contains(&other) && known(&read).contains(&Provenance::Sampled));
    }
}

/// All that can be known beside the regions, of values that text might lose.
#[test]
fn what_else_is_known_comes_back() {
    struct Dimensions;
    impl TreeJob for Dimensions {
        type Output = (usize, u64);
        fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
            (K, tree.len())
        }
    }
    fn kept<T: Cell>(values: &[T]) {
        let folder = folder();
        let array = ArrayD::from_elem(vec![4, 5, 6], values[0]);
        let domain = Domain::new([6, 5, 4], [[0.1, 0.3], [-1e300, 1e-300], [0.0, 1.0]], Sample::Corner).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Hilbert, RuleKind::Full).unwrap();
        let axis = |name: &str, spacing| TreeAxis { name: name.into(), unit: Some("mm".into()), spacing, origin: 0.1 };
        let label = |(number, &value): (usize, &T)| TreeLabel {
            word: value.word(),
            name: format!("\"{number}\" \u{e9}\n"),
            colour: (number % 2 == 0).then_some([number as u8, 255, 0, 128]),
        };
        let mut info = TreeInfo::of(&plan);
        info.axes = vec![axis("a", 0.1), axis("b", -5e-324), TreeAxis { unit: None, ..axis("c", 1e300) }];
        info.nodata = values.last().map(|value| value.word());
        info.labels = values.iter().enumerate().map(label).collect();
        let path = target(&folder, "known", false);
        bottom_up(&plan, &array).save(&path, &info).unwrap();
        let store = TreeStore::open(&path).unwrap();
        assert_eq!((store.dimensions(), store.size(), store.kind(), store.info()), (3, &[6, 5, 4][..], T::TYPE, &info));
        assert_eq!(store.dispatch(Dimensions).unwrap(), (3, 1));
        let file = TreeFile::<3>::open(&path).unwrap();
        assert_eq!((file.plan().domain(), file.tree(None).unwrap().len()), (&domain, 1));
        let other = TreeFile::<2>::open(&path).unwrap_err().to_string();
        assert!(other.ends_with("a tree in 3 dimensions, where 2 are asked for"), "{other}");
    }
    kept(&[7u8, 0, 255]);
    kept(&[0u64, u64::MAX, 1 << 63]);
    kept(&[-1i8, i8::MIN, 127]);
    kept(&[i64::MIN, -1, i64::MAX]);
    kept(&[
        0.1f32,
        -0.0,
        0.0,
        f32::NAN,
        f32::from_bits(f32::NAN.to_bits() | 1),
        f32::INFINITY,
        f32::MIN_POSITIVE,
        f32::MAX,
    ]);
    kept(&[-0.1f64, -0.0, 0.0, f64::NAN, f64::from_bits(1 << 63 | f64::NAN.to_bits()), f64::NEG_INFINITY, 5e-324]);
}

#[test]
fn what_cannot_be_written_says_why() {
    let folder = folder();
    let case = Case { size: [20, 10], scheme: Scheme::uniform(2, 2, 2), seed: 3 };
    let (plan, array) = (case.plan(CurveKind::Morton).unwrap(), case.array::<u8>());
    let tree = bottom_up(&plan, &array);
    let says = |path: &Path, info: &TreeInfo| {
        let error = TreeTarget::new(path).open(&plan, CellType::U8, info).unwrap_err().to_string();
        error.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    let good = info(&plan);
    for name in ["x.zarr", ".tree.zarr", "x.zip", "x.tree.zarr.npy", ".tree.zarr.zip"] {
        let said = says(&folder.path().join(name), &good);
        assert_eq!(said, "the name must end in .tree.zarr, for a folder, or in .tree.zarr.zip");
    }
    let path = target(&folder, "x", false);
    let with = |change: fn(&mut TreeInfo)| {
        let mut info = good.clone();
        change(&mut info);
        says(&path, &info)
    };
    assert_eq!(with(|info| info.axes.truncate(1)), "axes: 1 of them for 2 dimensions");
    assert!(with(|info| info.axes[1].spacing = f64::NAN).starts_with("axes: axis 1 has spacing NaN and origin "));
    assert_eq!(with(|info| info.axes[1].name = "x".into()), "axes: axis 1 is called 'x'; each has a name of its own");
    assert_eq!(with(|info| info.nodata = Some(256)), "nodata: 0x100 is no word of u8");
    let twice = with(|info| {
        let label = TreeLabel { word: 7, name: "seven".into(), colour: None };
        info.labels = vec![label.clone(), label];
    });
    assert_eq!(twice, "labels: 7 has two names");
    // A folder that is no tree is nobody's to replace.
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let error = TreeTarget::new(&path).overwrite(true).open(&plan, CellType::U8, &good).unwrap_err();
    assert!(matches!(error, TreeError::File(TreeFileError::Foreign { .. })), "{error}");
    std::fs::remove_dir_all(&path).unwrap();
    // Parts of other trees, or of no whole shards; and shards that are missing.
    let target = TreeTarget::new(&path).shard_cells(60);
    let mut writer = target.open(&plan, CellType::U8, &good).unwrap();
    assert_eq!(writer.shards(), 4);
    // Only what can be resumed has a place of its own. Others meet at the end, when the name is taken.
    let target = target.made_of("boxes");
    let resumable = target.open(&plan, CellType::U8, &good).unwrap();
    let busy = target.open(&plan, CellType::U8, &good).unwrap_err();
    assert!(matches!(busy, TreeError::File(TreeFileError::Busy { .. })), "{busy}");
    drop(resumable);
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut refuses = |part: &Tree<2>| writer.write(part).unwrap_err().to_string();
    assert!(
        refuses(&building.part(1, 1..16).unwrap())
            .contains("a part with the codes 1..16 of the deepest level, which are ")
    );
    assert!(
        refuses(&bottom_up(&plan, &case.array::<i8>())).ends_with("a part with cells of i8, where the tree has u8")
    );
    let other = Case { size: [20, 11], ..case };
    assert!(
        refuses(&bottom_up(&other.plan(CurveKind::Morton).unwrap(), &other.array::<u8>()))
            .ends_with("a part of another plan")
    );
    writer.write(&building.part(0, 1..3).unwrap()).unwrap();
    let missing = writer.finish().unwrap_err().to_string();
    assert!(missing.ends_with("shard 0: not written yet, as 2 of 4 are"), "{missing}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    tree.save(&path, &good).unwrap();
    let limited = TreeFile::<2>::open(&path).unwrap().tree(Some(100)).unwrap_err();
    assert!(matches!(limited, TreeError::Run(Error::Memory(_))));
}
