//! 3-D: the Mandelbulb as regions and leaf bricks, without a dense array; then one plane of it.

use orthant::prelude::*;

fn main() -> Result<(), Error> {
    let domain = Domain::new([96; 3], [[-1.2, 1.2]; 3], Sample::Centre)?;
    let plan = Plan::new(domain, Scheme::uniform(3, 2, 4), CurveKind::Morton, RuleKind::Border)?;
    let field = field::mandelbulb::open(&domain, &FieldOptions { dwell: 64, ..FieldOptions::default() })?;

    let how = How::default().keep(Keep::Regions);
    let subdivision = Run::new(&plan, &*field).how(how).start()?;
    let leaves = subdivision.terminals().iter().filter(|t| matches!(t.content(), Content::Leaf { .. })).count();
    println!("{} terminal regions, {leaves} of them leaves", subdivision.terminals().len());
    println!("{} bytes instead of {}", subdivision.compact_bytes(), 2 * domain.cells());

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
