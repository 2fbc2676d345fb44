//! Counts of a 4096^4 subdivision from a 2-D image: the M x M field needs no 4-D array to be known.

use orthant::Error;
use orthant::field::FieldOptions;
use orthant::field::mxm::MxM;
use orthant::prelude::*;

fn main() -> Result<(), Error> {
    let window = [[-1.5, 0.5], [-1.0, 1.0], [-1.5, 0.5], [-1.0, 1.0]];
    let plan = Plan::builder([4096; 4])
        .window(window)
        .sample(Sample::Corner)
        .scheme(Scheme::uniform(4, 2, 1))
        .rule(RuleKind::Full)
        .build()?;
    let field = MxM::new(plan.domain(), &FieldOptions::default().dwell(64))?;
    let mut regions = plan.levels()[0].regions();
    for level in plan.levels() {
        let mixed = field.mixed_regions(level);
        println!(
            "side {:4}: {mixed:15} of {regions:16} regions are mixed, P = {:.3}",
            4096 / level.grid[0],
            mixed as f64 / regions as f64
        );
        regions = mixed * u128::from(plan.scheme().children());
    }
    Ok(())
}
