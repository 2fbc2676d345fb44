//! Cells of a small array, by a table and by search.

use ndarray::Array2;

use crate::curve::CurveKind;
use crate::field::ArrayField;
use crate::geometry::{Domain, Sample, Scheme};
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::BottomUp;

#[test]
fn a_search_finds_the_row_of_a_look_up() {
    let array = Array2::from_shape_fn((5, 7), |(y, x)| u16::from(y > 1) * (x / 3) as u16);
    let shown = array.view().into_dyn();
    let field = ArrayField::new(shown).unwrap();
    let domain = Domain::new([7, 5], [[0.0, 7.0], [0.0, 5.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 2), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    for cell in domain.region().cells() {
        assert_eq!(tree.searched(cell), tree.row_at(cell), "{cell:?}");
    }
}
