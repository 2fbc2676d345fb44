//! Cells and boxes of a small array.

use ndarray::Array2;

use crate::curve::CurveKind;
use crate::field::ArrayField;
use crate::geometry::{Domain, Region, Sample, Scheme};
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::BottomUp;

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
        assert_eq!(tree.searched(cell), tree.row_at(cell), "{cell:?}");
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
