//! The throttle of dynamic parallelism on the CPU: the budget of launches in flight is spent where there is work enough, and never exceeded.

use orthant::prelude::*;
use orthant::result::Launches;

/// The roots', and one for every region that is divided.
const LAUNCHES: u64 = 1 + 4 + 4 * 256;

/// A run in which every region is mixed: each of four roots has 256 children, and those 256 of their own, whose launches could all be in
/// flight at once.
fn launches(budget: u32) -> Launches {
    let checkers = CellField::new(1, |[x, y]: [u32; 2]| (x + y) % 2);
    let plan = Plan::builder([1024, 1024]).scheme(Scheme::uniform(2, 16, 1)).rule(RuleKind::Full).build().unwrap();
    let how = How::default().strategy(StrategyKind::Dp).keep(Keep::Counts).max_kernels(Some(budget));
    let run = Run::new(&plan, &checkers).how(how).start().unwrap();
    assert_eq!(run.levels().iter().map(|level| level.counts.leaves).sum::<u64>(), 1 << 18);
    run.counts().launches
}

/// The roots are a launch; each of their regions launches its children, or finds no credit and explores them itself.
#[test]
fn the_budget_is_spent_and_kept() {
    for budget in [1, 3, 64, 128] {
        let launches = launches(budget);
        assert_eq!((launches.kernels, launches.credits), (LAUNCHES, budget.into()), "{launches:?}");
        assert_eq!(launches.refused, launches.in_place, "{launches:?}");
        assert_eq!(launches.most_in_flight, u64::from(budget), "{launches:?}");
        let refused = if budget == 1 { LAUNCHES - 1..=LAUNCHES - 1 } else { 1..=LAUNCHES - 2 };
        assert!(refused.contains(&launches.in_place), "{launches:?}");
    }
    // More credits than there are launches: nothing is refused.
    let launches = launches(1 << 20);
    assert_eq!((launches.refused, launches.in_place, launches.kernels), (0, 0, LAUNCHES));
}
