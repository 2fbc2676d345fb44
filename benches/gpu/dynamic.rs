//! Dynamic parallelism beside Exhaustive and ASK, and by its budget.

use orthant::cuda::Device;
use orthant::how::DpLaunch;
use orthant::prelude::*;

use crate::measure::{LEAST, measure, request};

type Config = (u32, u32, u32);

fn row(device: &Device, name: &str, n: u32, (g, r, b): Config, request: &Request) {
    let budget = request.how.dp_budget.map_or("default".into(), |budget| budget.to_string());
    match measure(device, request, LEAST) {
        Ok(m) => println!(
            "| {n} | {name} | {g}, {r}, {b} | {budget} | {} | {} | {} | {} | {} | {} | {} | {m} |",
            m.launches.kernels,
            m.launches.most_in_flight,
            m.launches.most_pending,
            m.launches.refused,
            m.launches.failed,
            m.launches.overflowed,
            m.launches.in_place,
        ),
        Err(error) => println!("| {n} | {name} | {g}, {r}, {b} | {budget} | {error} |"),
    }
}

fn header(title: &str) {
    println!("## {title}\n");
    println!(
        "| n | strategy | g, r, B | budget | kernels | in flight | pending | refused | failed | overflowed | in place | median ± standard error | runs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

/// Both tables.
pub fn dynamic(device: &Device) {
    beside_ask(device);
    budgets(device);
}

/// The papers' experiment with every strategy in one run.
fn beside_ask(device: &Device) {
    header("Dynamic parallelism: Mandelbrot, dwell 512, int32");
    for n in [1 << 10, 1 << 12, 1 << 14, 1 << 16] {
        let base = How { cell: CellType::I32, insertion: Insertion::Atomic, ..How::default() };
        let exhaustive = How { strategy: StrategyKind::Exhaustive, block: [16, 16, 1], ..base };
        row(device, "exhaustive", n, (1, 2, 1), &request(WorkloadKind::Mandelbrot, n, (1, 2, 1), exhaustive));
        for config in [(16, 2, 8), (32, 4, 16), (64, 4, 16), (16, 4, 64)] {
            if config.0 * config.1 * config.2 > n {
                continue;
            }
            for &scheme in ParallelScheme::ALL {
                let ask = How { scheme, ..base };
                row(device, &format!("ask {scheme}"), n, config, &request(WorkloadKind::Mandelbrot, n, config, ask));
                for &dp_launch in DpLaunch::ALL {
                    let how = How { strategy: StrategyKind::Dp, dp_launch, ..ask };
                    let name = format!("dp {scheme} {dp_launch}");
                    row(device, &name, n, config, &request(WorkloadKind::Mandelbrot, n, config, how));
                }
            }
        }
    }
    println!();
}

/// Time against the budget, in two, three and four dimensions.
fn budgets(device: &Device) {
    header("Dynamic parallelism by budget, sbr");
    for (workload, n, config) in [
        (WorkloadKind::Mandelbrot, 1 << 14, (32, 2, 16)),
        (WorkloadKind::Mandelbulb, 512, (16, 2, 4)),
        (WorkloadKind::Julibrot, 128, (4, 2, 4)),
    ] {
        for &dp_launch in DpLaunch::ALL {
            for budget in [1, 4, 16, 64, 128, 256, 512, 1024, 2048] {
                // A tail takes no credit under sbr.
                if dp_launch == DpLaunch::Tail && budget > 1 {
                    continue;
                }
                // The default limit of pending launches allows 256 credits.
                let how = How {
                    strategy: StrategyKind::Dp,
                    dp_launch,
                    dp_budget: Some(budget),
                    pending_launches: Some((8 * budget).max(2048)),
                    ..How::default()
                };
                row(device, &format!("{workload} {dp_launch}"), n, config, &request(workload, n, config, how));
            }
        }
    }
    println!();
}
