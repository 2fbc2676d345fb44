//! 2-D: the Mandelbrot set by subdivision, and what that saved.

use orthant::prelude::*;

fn main() -> Result<(), Error> {
    let domain = Domain::new([512, 512], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner)?;
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Hilbert, RuleKind::Border)?;
    let field = field::mandelbrot::open(&domain, &FieldOptions::default())?;

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
        orthant::conformance::differing(subdivision.array().unwrap(), exhaustive.array().unwrap()),
        domain.cells(),
    );
    Ok(())
}
