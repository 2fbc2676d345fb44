//! How fast are points sorted and put into regions, from coordinates in memory to regions and bricks there? docs/results/points-meshes.md
//! has its rows.
//!
//! `cargo bench -p orthant-benches --bench points -- [POINTS [N ..]]` prints a row of JSON for each shape, size and value. Other work on
//! the machine makes wall time longer; `cpu` is the time of all threads, of Linux.

use std::time::Instant;

use orthant::Computed;
use orthant::points::{PointAttribute, Points, PointsValue};
use orthant::tree::FromPoints;

/// Runs of each, after one that does not count.
const RUNS: usize = 5;

/// Seconds of all threads of this process so far.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or("").split(' ').filter_map(|field| field.parse().ok()).collect();
    // User and system time, in hundredths; the letter before them is no number.
    if fields.len() > 11 { (fields[10] + fields[11]) / 100.0 } else { f64::NAN }
}

fn points(shape: &str, count: usize) -> Points {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut coordinates = Vec::with_capacity(3 * count);
    for i in 0..count {
        coordinates.extend(match shape {
            "surface" => {
                let (z, turn) = (2.0 * random() - 1.0, std::f64::consts::TAU * random());
                let flat = (1.0 - z * z).sqrt();
                [flat * turn.cos(), flat * turn.sin(), z]
            }
            // Lines of a scanner over a terrain, dense near it.
            "scan" => {
                let (far, turn) = (1.0 / (0.02 + random()), i as f64 * 2e-4);
                let (x, y) = (far * turn.cos(), far * turn.sin());
                [x, y, x.sin() * y.cos() + 0.02 * random()]
            }
            _ => [random(), random(), random()],
        });
    }
    let values: Vec<u16> = (0..count).map(|i| i as u16).collect();
    let points = Points::new(3, coordinates).expect("there are some");
    points.attribute(PointAttribute::new("intensity", &values)).expect("one for each")
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let (count, sizes) = numbers.split_first().map_or((1_000_000, &[512][..]), |(&count, sizes)| (count, sizes));
    for shape in ["surface", "scan", "volume"] {
        let points = points(shape, count);
        for &n in sizes {
            let mut chosen = Computed::default();
            chosen.set("size", &n.to_string()).expect("it is a number");
            let plan = chosen.points_plan::<3>(points.extent()).expect("it fits");
            for &value in PointsValue::ALL.iter().filter(|&&value| value != PointsValue::Min) {
                let (mut sorting, mut run, mut of_threads, mut regions, mut cells) = (vec![], vec![], vec![], 0, 0);
                for _ in 0..=RUNS {
                    let (start, before) = (Instant::now(), cpu());
                    let made = FromPoints::new(&plan, &points, value).expect("the plan is that of points");
                    made.inside().expect("all are inside");
                    sorting.push(start.elapsed().as_secs_f64());
                    let tree = made.tree().expect("there is memory");
                    run.push(start.elapsed().as_secs_f64());
                    of_threads.push(cpu() - before);
                    (regions, cells) = (tree.len(), tree.bricks().len());
                }
                let [sorting, run, cpu] = [sorting, run, of_threads].map(|samples| median(samples[1..].to_vec()));
                println!(
                    "{{\"shape\":\"{shape}\",\"points\":{count},\"n\":{n},\"value\":\"{value}\",\"threads\":{},\"sorting\":{sorting:.4},\
                     \"run\":{run:.4},\"cpu\":{cpu:.2},\"regions\":{regions},\"leaf_cells\":{cells}}}",
                    rayon::current_num_threads(),
                );
            }
        }
    }
}
