//! The choices that must not change a cell, as the conformance suite makes them.

use super::Scope;
use crate::curve::CurveKind;
use crate::field::CellType;
use crate::how::{AskLoop, DpLaunch, ExploreOrder, How, Insertion, Keep, ParallelScheme, Stack, Table};
use crate::strategy::StrategyKind;

/// Every choice that must not change a cell, on the CPU.
pub(super) fn cpu() -> Vec<How> {
    let mut choices = vec![How { strategy: StrategyKind::Exhaustive, ..How::default() }];
    for &scheme in ParallelScheme::ALL {
        for &order in ExploreOrder::ALL {
            for &insertion in Insertion::ALL {
                choices.push(How { scheme, order, insertion, ..How::default() });
            }
            for max_kernels in [Some(1), None] {
                choices.push(How { strategy: StrategyKind::Dp, scheme, order, max_kernels, ..How::default() });
            }
        }
    }
    choices.push(How { threads: Some(1), ..How::default() });
    choices.push(How { keep: Keep::Regions, ..How::default() });
    choices.push(How { strategy: StrategyKind::Dp, keep: Keep::Regions, threads: Some(3), ..How::default() });
    choices
}

/// Every choice that must not change a cell, on CUDA. What costs a compilation (block shapes, the papers' order) is
/// varied along one curve; the others take one shape each.
pub(super) fn cuda(curve: CurveKind, scope: Scope) -> Vec<How> {
    let shapes = [[8, 8, 1], [16, 16, 1], [32, 32, 1], [64, 4, 1], [64, 8, 1], [32, 1, 1], [4, 4, 4]];
    let shapes = match curve {
        CurveKind::Morton if scope == Scope::Full => &shapes[..],
        CurveKind::Morton => &shapes[3..4],
        CurveKind::Hilbert => &shapes[..1],
        CurveKind::Canonical => &shapes[5..6],
    };
    let mut choices = Vec::new();
    for (i, &block) in shapes.iter().enumerate() {
        // Both cell types, in turns.
        let cell = CellType::ALL[i % 2];
        let base = How { block, cell, ..How::default() };
        for &stack in Stack::ALL {
            choices.push(How { strategy: StrategyKind::Exhaustive, stack, ..base });
        }
        for &scheme in ParallelScheme::ALL {
            for &insertion in Insertion::ALL {
                choices.push(How { scheme, insertion, ..base });
            }
            choices.push(How { scheme, keep: Keep::Regions, insertion: Insertion::Atomic, ..base });
        }
        choices.push(How { ask_loop: AskLoop::Paper, insertion: Insertion::Atomic, ..base });
        if scope != Scope::Static {
            choices.extend(dynamic(base, scope));
        }
    }
    if curve == CurveKind::Hilbert {
        for &scheme in ParallelScheme::ALL {
            choices.push(How { table: Table::Coordinates, scheme, ..How::default() });
        }
        choices.push(How { table: Table::Coordinates, keep: Keep::Regions, ..How::default() });
    }
    if curve == CurveKind::Morton {
        for &scheme in ParallelScheme::ALL {
            choices.push(How { order: ExploreOrder::Paper, scheme, ..How::default() });
        }
        choices.push(How {
            strategy: StrategyKind::Exhaustive,
            stack: Stack::Split,
            max_kernels: Some(1),
            ..How::default()
        });
    }
    choices
}

/// Dynamic parallelism: every launch and scheme, with room and without; briefly, the three limits in turns.
fn dynamic(base: How, scope: Scope) -> Vec<How> {
    let mut choices = Vec::new();
    for (i, &scheme) in ParallelScheme::ALL.iter().enumerate() {
        for (j, &dp_launch) in DpLaunch::ALL.iter().enumerate() {
            let dp = How { strategy: StrategyKind::Dp, scheme, dp_launch, ..base };
            let limits = [
                dp,
                How { dp_budget: Some(3), dp_overflow: 2, ..dp },
                How { dp_overflow: 0, dp_budget: Some(1), keep: Keep::Regions, ..dp },
            ];
            match scope {
                Scope::Full => choices.extend(limits),
                Scope::Brief | Scope::Static => choices.push(limits[(i + j) % 3]),
            }
        }
    }
    choices
}
