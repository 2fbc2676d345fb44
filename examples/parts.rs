//! A plan in eight parts, each of which could run elsewhere: their sums are those of the whole.

use orthant::backend::{Part, Roots};
use orthant::field::FieldOptions;
use orthant::prelude::*;
use orthant::result::RegionsChecksum;
use orthant::{Control, Error, field};

fn main() -> Result<(), Error> {
    let plan = Plan::builder([1024; 2])
        .window([[-1.5, 0.5], [-1.0, 1.0]])
        .scheme(Scheme::uniform(8, 2, 4))
        .curve(CurveKind::Hilbert)
        .build()?;
    let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
    let how = How::default().keep(Keep::Regions);
    let whole = Run::new(&plan, &*field).how(how.clone()).start()?;

    let cpu = Target::cpu();
    let mut prepared = cpu.of().prepare(&plan, &*field, &how)?;
    let (mut regions, mut checksum) = (0, RegionsChecksum::default());
    for part in 0..8 {
        // An eighth of the initial grid's 64 regions, along the curve.
        let roots = Roots::Codes { level: 0, range: 8 * part..8 * (part + 1) };
        prepared.run(&Part::of(roots), &Control::default())?;
        let found = prepared.subdivision()?;
        let sum = found.regions_checksum().expect("regions are kept");
        println!("part {part}: {:5} terminal regions, {sum}", found.terminals().len());
        regions += found.terminals().len();
        checksum += sum;
    }
    println!("together: {regions:4} terminal regions, {checksum}");
    assert_eq!((regions, Some(checksum)), (whole.terminals().len(), whole.regions_checksum()));
    Ok(())
}
