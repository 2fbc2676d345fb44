//! Cells of a small array, by a table and by search.

use ndarray::Array2;

use crate::curve::CurveKind;
use crate::field::ArrayField;
use crate::geometry::Scheme;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::BottomUp;

#[test]
fn a_search_finds_the_row_of_a_look_up() {
    let array = Array2::from_shape_fn((5, 7), |(y, x)| u16::from(y > 1) * (x / 3) as u16);
    let scheme = Scheme::uniform(1, 2, 2);
    let plan = Plan::builder([7, 5]).scheme(scheme).curve(CurveKind::Hilbert).rule(RuleKind::Full).build().unwrap();
    let tree = BottomUp::new(&plan, &ArrayField::new(array.view()).unwrap()).unwrap().tree().unwrap();
    for cell in plan.domain().region().cells() {
        assert_eq!(tree.searched(cell), tree.row_at(cell), "{cell:?}");
    }
}
