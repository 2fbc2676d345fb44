//! 3-D: the Mandelbulb as regions and leaf bricks, without a dense array; then one plane of it.

use orthant::field::FieldOptions;
use orthant::ndarray::Axis;
use orthant::prelude::*;
use orthant::result::Content;
use orthant::{Error, field};

fn main() -> Result<(), Error> {
    let plan = Plan::builder([96; 3]).window([[-1.2, 1.2]; 3]).scheme(Scheme::uniform(3, 2, 4)).build()?;
    let field = field::mandelbulb::open(plan.domain(), &FieldOptions::default().dwell(64))?;

    let how = How::default().keep(Keep::Regions);
    let subdivision = Run::new(&plan, &*field).how(how).start()?;
    let leaves = subdivision.terminals().iter().filter(|t| matches!(t.content(), Content::Leaf { .. })).count();
    println!("{} terminal regions, {leaves} of them leaves", subdivision.terminals().len());
    println!("{} bytes instead of {}", subdivision.compact_bytes(), 2 * plan.domain().cells());

    let dense = subdivision.materialise(None)?;
    let array = dense.view::<u16>().expect("u16 is the default");
    for row in array.index_axis(Axis(0), 48).outer_iter().step_by(6) {
        let row: String = row
            .iter()
            .step_by(3)
            .map(|&dwell| {
                if dwell == 64 {
                    '#'
                } else if dwell > 4 {
                    '+'
                } else {
                    '.'
                }
            })
            .collect();
        println!("{row}");
    }
    Ok(())
}
