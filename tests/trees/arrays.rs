//! Trees of arrays in memory, and cells and boxes of a small one.

use ndarray::{Array, Array2, Array6, IxDyn};
use orthant::prelude::*;
use orthant::tree::BottomUp;

/// Static dimensions to 6, dynamic ones to 8, and views whose strides are of any sign.
#[test]
fn arrays_of_every_kind() {
    let six = Array6::from_shape_fn((2, 3, 4, 5, 2, 3), |(f, e, d, c, b, a)| (a + b + c + d + e + f) as i64 - 6);
    let tree = Tree::<6>::from_array(six.view()).unwrap();
    assert_eq!(tree.get::<i64>([2, 1, 4, 3, 2, 1]), Some(7));
    let eight = Array::from_shape_fn(IxDyn(&[2; 8]), |at| at[7] as f32 - at[0] as f32);
    let tree = Tree::<8>::from_array(eight.view()).unwrap();
    assert_eq!(tree.get::<f32>([1, 0, 0, 0, 0, 0, 0, 0]), Some(1.0));
    assert_eq!(tree.get::<f32>([0, 0, 0, 0, 0, 0, 0, 1]), Some(-1.0));
    let flat = Array2::from_shape_fn((70, 90), |(y, x)| (y * 90 + x) as u16);
    let turned = flat.t().slice_move(ndarray::s![..;-1, ..]);
    let tree = Tree::<2>::from_array(turned).unwrap();
    assert_eq!(tree.get::<u16>([3, 0]), Some(flat[[3, 89]]));
}

#[test]
fn arrays_that_cannot_be() {
    let error = |array: Array2<u8>| Tree::<3>::from_array(array.view()).unwrap_err().to_string();
    assert_eq!(error(Array2::zeros((3, 4))), "the array has 2 axes, the field 3");
    let error = Tree::<2>::from_array(Array2::<u8>::zeros((0, 4)).view()).unwrap_err();
    assert_eq!(error.to_string(), "the array is empty");
}

/// Cells, boxes, slices and parts say of a small array what it holds, by a table and by search.
#[test]
fn look_ups_agree_with_the_array() {
    let array = Array2::from_shape_fn((5, 7), |(y, x)| u16::from(y > 1) * (x / 3) as u16);
    let shown = array.view().into_dyn();
    let field = ArrayField::new(shown).unwrap();
    let domain = Domain::new([7, 5], [[0.0, 7.0], [0.0, 5.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 2), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    for cell @ [x, y] in domain.region().cells() {
        let expected = array[[y as usize, x as usize]];
        assert_eq!(tree.word(cell), Some(expected.into()), "{cell:?}");
        assert_eq!((tree.get(cell), tree.get::<i16>(cell)), (Some(expected), None), "{cell:?}");
        assert_eq!(tree.word_at([f64::from(x) + 0.5, f64::from(y) + 0.5]), Some(expected.into()));
    }
    assert_eq!((tree.word([7, 0]), tree.word([0, 5])), (None, None));
    // More than are looked up together, with some outside.
    let cells: Vec<_> = Region { corner: [0, 0], extent: [9, 8] }.cells().collect();
    let mut words = vec![u64::MAX; cells.len()];
    assert_eq!(tree.words(&cells, &mut words), 35);
    assert!(cells.iter().zip(words).all(|(&cell, word)| tree.word(cell).unwrap_or(u64::MAX) == word));
    let window = Region { corner: [2, 1], extent: [4, 3] };
    let mut cells = [0u16; 12];
    tree.read(&window, &mut cells).unwrap();
    for (cell, found) in window.cells().zip(cells) {
        assert_eq!(found, array[[cell[1] as usize, cell[0] as usize]], "{cell:?}");
    }
    let mut slice = [0u16; 7];
    tree.read_slice(1, 4, &mut slice).unwrap();
    assert_eq!(&slice[..], array.row(4).as_slice().unwrap());
    assert_eq!(tree.uniform(&Region { corner: [0, 0], extent: [7, 2] }).unwrap(), Some(0));
    assert_eq!(tree.uniform(&window).unwrap(), None);
}
