//! Slices of trees as trees, against trees of slices of the array.

use ndarray::{ArrayD, Axis};
use orthant::prelude::*;
use orthant::tree::{Provenance, Representative, Source, TreeInfo, TreeSlice};
use orthant::{Cell, Control};
use proptest::prelude::*;

use crate::trees::{Below, Case, bottom_up};

/// An array at the indices of held axes, without those axes.
fn sliced<T: Cell, const K: usize>(array: &ArrayD<T>, held: [Option<u32>; K]) -> ArrayD<T> {
    let mut slice = array.view();
    for (j, index) in (0..K).zip(held).filter_map(|(j, index)| Some((j, index? as usize))) {
        // Axis 0 of the tree is the array's last, and all axes with higher numbers are still before this one.
        slice = slice.index_axis_move(Axis(K - 1 - j), index);
    }
    slice.as_standard_layout().into_owned()
}

/// The tree of a slice is that of the sliced array, along both curves.
fn slices<T: Cell, const K: usize, const M: usize>(case: Case<K>) {
    let array = case.array::<T>();
    let mut below = Below(case.seed);
    let mut held = case.size.map(|n| Some(below.next(n)));
    while held.iter().filter(|index| index.is_none()).count() < M {
        held[below.next(K as u32) as usize] = None;
    }
    let free: Vec<usize> = (0..K).filter(|&j| held[j].is_none()).collect();
    let of = |values: [u32; K]| -> [u32; M] { std::array::from_fn(|i| values[free[i]]) };
    for curve in [CurveKind::Morton, CurveKind::Hilbert] {
        let Some(plan) = case.plan(curve) else { continue };
        let tree = bottom_up(&plan, &array);
        let slice = TreeSlice::<M>::new(&tree, held).unwrap();
        let found = slice.tree(None, &Control::default()).unwrap();
        let (own, scheme) = (found.plan(), case.scheme);
        assert_eq!((own.domain().size(), own.scheme().g), (of(case.size), of(scheme.g)));
        assert_eq!(own.domain().window(), std::array::from_fn(|i| plan.domain().window()[free[i]]));
        match of(scheme.r) {
            r if r == [1; M] => assert_eq!(own.levels().len(), 1),
            r => assert_eq!((own.scheme().r, own.scheme().b), (r, of(scheme.b))),
        }
        let served = Plan::new(*own.domain(), *own.scheme(), curve, RuleKind::Full).is_ok();
        assert_eq!(own.curve(), if served { curve } else { CurveKind::Morton }, "{case:?}");
        assert_eq!(found, bottom_up(own, &sliced(&array, held)), "{case:?} {held:?}");
        let window = below.window(own.domain().size(), false);
        assert_eq!(slice.known(&window).unwrap(), found.uniform(&window).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_slice_of_a_tree_is_a_tree_of_the_slice(
        plane in Case::<2>::any(24), space in Case::<3>::any(12), four in Case::<4>::any(7), five in Case::<5>::any(4),
    ) {
        slices::<u16, 2, 1>(plane);
        slices::<u8, 3, 2>(space);
        slices::<f32, 3, 1>(space);
        slices::<i32, 4, 3>(four);
        slices::<f64, 4, 2>(four);
        slices::<u64, 5, 4>(five);
    }
}

/// Without a short axis there are levels below the tree's last.
#[test]
fn a_short_axis_stops_no_slice() {
    let array = ArrayD::from_shape_fn(vec![4, 64, 64], |at| u8::from(at[1] + at[2] + at[0] > 40));
    let plan = Plan::builder([64, 64, 4]).scheme(Scheme::uniform(2, 2, 1)).rule(RuleKind::Full).build().unwrap();
    let tree = bottom_up(&plan, &array);
    let slice = TreeSlice::<2>::new(&tree, [None, None, Some(2)]).unwrap();
    assert_eq!((plan.levels().len(), slice.plan().levels().len()), (1, 5));
    let found = slice.tree(None, &Control::default()).unwrap();
    assert_eq!(found, bottom_up(slice.plan(), &sliced(&array, [None, None, Some(2)])));
}

/// What was only sampled, or stands for other cells, is not proved in a slice.
#[test]
fn a_slice_knows_no_more_than_its_tree() {
    let plan = Plan::builder([32; 3]).scheme(Scheme::uniform(2, 2, 2)).rule(RuleKind::Border).build().unwrap();
    let ball = CellField::new(1, |[x, y, z]| u32::from(x * x + y * y + z * z < 500));
    let sampled = Tree::of(run(&plan, &ball).unwrap()).unwrap();
    let cut = sampled.cut(1, Representative::Mode).unwrap();
    for (tree, wanted) in [(&sampled, Provenance::Sampled), (&cut, Provenance::Cut)] {
        let held = [None, Some(5), None];
        let found = TreeSlice::<2>::new(tree, held).unwrap().tree(None, &Control::default()).unwrap();
        let mut seen = 0;
        for region in found.regions().filter(|region| region.uniform().is_some()) {
            let worst = (tree.regions())
                .filter(|of| {
                    let (of, own) = (of.cells(), region.cells());
                    let flat = Region { corner: [of.corner[0], of.corner[2]], extent: [of.extent[0], of.extent[2]] };
                    (of.corner[1]..of.corner[1] + of.extent[1]).contains(&5) && own.intersection(&flat).is_some()
                })
                .map(|of| of.provenance() as u32)
                .max();
            assert_eq!(Some(region.provenance() as u32), worst);
            seen += u32::from(region.provenance() == wanted);
        }
        assert!(seen > 3, "{wanted}: {seen}");
    }
}

#[test]
fn a_slice_keeps_what_is_known() {
    let plan = Plan::builder([8, 9, 10]).rule(RuleKind::Full).build().unwrap();
    let tree = bottom_up(&plan, &ArrayD::<u8>::zeros(vec![10, 9, 8]));
    let mut info = TreeInfo::of(&plan).source("a.nrrd");
    info.axes[2].unit = Some("s".into());
    info.nodata = Some(7);
    let turned = vec![vec![0.0, 1.0, 0.0], vec![-1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]];
    info.directions = Some(turned.clone());
    let without_z = TreeSlice::<2>::new(&tree, [None, None, Some(2)]).unwrap().info(&info);
    assert_eq!((&without_z.axes[..], without_z.source.as_deref()), (&info.axes[..2], Some("a.nrrd")));
    assert_eq!(without_z.nodata, Some(7));
    assert_eq!(without_z.directions, Some(vec![vec![0.0, 1.0], vec![-1.0, 0.0]]));
    // y points along x, which alone says nothing.
    let without_x = TreeSlice::<2>::new(&tree, [Some(2), None, None]).unwrap().info(&info);
    assert_eq!((&without_x.axes[..], &without_x.directions), (&info.axes[1..], &None));
    // z is along itself.
    let z = TreeSlice::<1>::new(&tree, [Some(2), Some(1), None]).unwrap().info(&info);
    assert_eq!((z.axes[0].unit.as_deref(), &z.directions), (Some("s"), &None));
}

#[test]
fn a_slice_is_refused() {
    let array = ArrayD::from_shape_fn(vec![8, 8, 8], |at| at[2] as u8);
    let tree = Tree::<3>::from_array(array.view()).unwrap();
    let error = TreeSlice::<2>::new(&tree, [None, Some(8), None]).unwrap_err().to_string();
    assert!(error.contains('8'), "{error}");
    let slice = TreeSlice::<2>::new(&tree, [None, Some(7), None]).unwrap();
    assert!(slice.tree(Some(10), &Control::default()).unwrap_err().to_string().contains("limit"));
    let control = Control::default();
    control.cancel(2);
    // A build that was cancelled before it began.
    assert!(slice.tree(None, &control).is_err());
}
