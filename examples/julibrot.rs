//! 4-D: every Julia set of the quadratic family at once, and one of them as a slice.

use orthant::field::FieldOptions;
use orthant::prelude::*;
use orthant::{Error, field};

fn main() -> Result<(), Error> {
    let window = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]];
    let plan =
        Plan::builder([32; 4]).window(window).scheme(Scheme::uniform(4, 2, 2)).curve(CurveKind::Hilbert).build()?;
    let field = field::julibrot::open(plan.domain(), &FieldOptions::default().dwell(64))?;

    let subdivision = Run::new(&plan, &*field).how(How::default().strategy(StrategyKind::Dp)).start()?;
    let launches = subdivision.counts().launches;
    println!("{} tasks, at most {} in flight", launches.kernels, launches.most_in_flight);

    // Axes 0 and 1 are z, axes 2 and 3 are c: fixing c shows its Julia set.
    let julia = subdivision.array().expect("kept by default");
    for y in (0..32).rev().step_by(2) {
        let row: String = (0..32).map(|x| if julia.label([x, y, 8, 16]) == 64 { '#' } else { '.' }).collect();
        println!("{row}");
    }
    Ok(())
}
