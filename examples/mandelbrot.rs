//! 2-D: the Mandelbrot set by subdivision, and what that saved.

use orthant::field::FieldOptions;
use orthant::prelude::*;
use orthant::{Error, field};

fn main() -> Result<(), Error> {
    let plan = Plan::builder([512, 512])
        .window([[-1.5, 0.5], [-1.0, 1.0]])
        .scheme(Scheme::uniform(4, 2, 4))
        .curve(CurveKind::Hilbert)
        .build()?;
    let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;

    let subdivision = run(&plan, &*field)?;
    for stats in subdivision.levels() {
        let counts = &stats.counts;
        println!(
            "level {}: {} regions, {} uniform, P = {:.3}",
            stats.level.index,
            counts.regions,
            counts.filled,
            stats.density()
        );
    }
    let exhaustive = Run::new(&plan, &*field).how(How::default().strategy(StrategyKind::Exhaustive)).start()?;
    println!(
        "{} iterations instead of {}; {} of {} cells differ",
        subdivision.totals().label_sum,
        exhaustive.totals().label_sum,
        subdivision.array().unwrap().differing(exhaustive.array().unwrap()),
        plan.domain().cells(),
    );
    Ok(())
}
