//! `orthant model predict`: what the model says of one scheme, or of every combination of lists.

use serde::Serialize;

use crate::model::args::{Axes, PredictOptions};
use crate::model::symbols::{dimensions, flagged, short, spread};
use crate::voice::{align_right, print, table};
use orthant::Bytes;

use crate::error::Error;
use orthant_lab::model::olt::{self, Peak};
use orthant_lab::model::time::{self, ModelTimes};
use orthant_lab::model::work::{self, Operations};
use orthant_lab::model::{Costs, Counts, Density, Geometry, Kernels, ModelError, Processors, kernels};

/// The most configurations of one call: all are there before the first is printed, at 4 KB each.
const MOST_ROWS: usize = 100_000;

/// Predicts every combination of the lists.
pub(crate) fn predict(args: PredictOptions) -> Result<(), Error> {
    let rows = rows(&args)?;
    if args.json {
        let lines: Vec<_> = rows
            .iter()
            .map(|row| serde_json::to_string(row).expect("a row is a struct of numbers and lists"))
            .collect();
        return print(lines.join("\n") + "\n");
    }
    print(summary(&rows))
}

/// What goes into one prediction.
#[derive(Debug, Clone, Serialize)]
struct Configuration {
    k: usize,
    n: Vec<u64>,
    g: Vec<u64>,
    r: Vec<u64>,
    #[serde(rename = "B", serialize_with = "orthant::per_axis::serialize")]
    b: Vec<u64>,
    #[serde(flatten)]
    density: Density,
    #[serde(rename = "A")]
    a: f64,
    lambda: f64,
    q: u64,
    c: u64,
}

/// What the model says of it.
#[derive(Debug, Serialize)]
struct Prediction {
    #[serde(flatten)]
    configuration: Configuration,
    tau: i32,
    #[serde(rename = "W_E")]
    exhaustive_work: f64,
    work: Operations,
    time: ModelTimes,
    olt: PeakTable,
    kernels: Kernels,
}

/// The offset lookup table at its peak.
#[derive(Debug, Serialize)]
struct PeakTable {
    peak_entries: Peak,
    region_bits: u32,
    entry_bytes: u64,
    peak_bytes_scalar: Peak,
    peak_bytes_coords: Peak,
}

/// Every combination of the lists, n slowest.
fn rows(args: &PredictOptions) -> Result<Vec<Prediction>, Error> {
    let densities = densities(args);
    let lengths = [args.size.len(), args.g.len(), args.r.len(), args.b.len(), densities.len()];
    let lengths = lengths.into_iter().chain([args.a.len(), args.lambda.len(), args.q.len(), args.c.len()]);
    let combinations = lengths.fold(1usize, usize::saturating_mul);
    if combinations > MOST_ROWS {
        let reason = format!("the lists make {combinations} configurations; at most {MOST_ROWS} are predicted at once");
        return Err(Error::Input(reason).about(&["size", "g", "r", "B", "A", "lambda", "q", "c"]));
    }
    let mut rows = Vec::with_capacity(combinations);
    for size in &args.size {
        let k = dimensions(args.dim, size)?;
        let n = spread("--size", size, k)?;
        for (g, r, b) in schemes(args) {
            let (g, r, b) = (spread("-g", g, k)?, spread("-r", r, k)?, spread("-B", b, k)?);
            let geometry = Geometry::new(n.clone(), g.clone(), r.clone(), b.clone()).map_err(flagged)?;
            if let Some(axis) = (0..k).find(|&j| g[j] > n[j]) {
                return Err(Error::Input(format!(
                    "-g {} on axis {axis}: the initial split must be between 1 and the {} cells of the axis",
                    g[axis], n[axis]
                ))
                .about(&["g", "size"]));
            }
            for density in &densities {
                for (a, lambda, q, c) in machines(args) {
                    let (n, g, r, b, density) = (n.clone(), g.clone(), r.clone(), b.clone(), density.clone());
                    let configuration = Configuration { k, n, g, r, b, density, a, lambda, q, c };
                    rows.push(row(configuration, &geometry, args).map_err(flagged)?);
                }
            }
        }
    }
    Ok(rows)
}

/// Every g with every r and B.
fn schemes(args: &PredictOptions) -> impl Iterator<Item = (&Axes, &Axes, &Axes)> {
    let splits = args.g.iter().flat_map(|g| args.r.iter().map(move |r| (g, r)));
    splits.flat_map(|(g, r)| args.b.iter().map(move |b| (g, r, b)))
}

/// Every density that was asked for.
fn densities(args: &PredictOptions) -> Vec<Density> {
    match (&args.profile, &args.box_dim) {
        (Some(list), _) => vec![Density::Profile(list.clone())],
        (None, Some(dimensions)) => dimensions.iter().copied().map(Density::Dimension).collect(),
        (None, None) => args.p.iter().copied().map(Density::Constant).collect(),
    }
}

/// Every A with every lambda, q and c.
fn machines(args: &PredictOptions) -> impl Iterator<Item = (f64, f64, u64, u64)> {
    let costs = args.a.iter().flat_map(|&a| args.lambda.iter().map(move |&lambda| (a, lambda)));
    let with_q = costs.flat_map(|(a, lambda)| args.q.iter().map(move |&q| (a, lambda, q)));
    with_q.flat_map(|(a, lambda, q)| args.c.iter().map(move |&c| (a, lambda, q, c)))
}

/// What the model says of a configuration.
fn row(configuration: Configuration, geometry: &Geometry, args: &PredictOptions) -> Result<Prediction, ModelError> {
    let Configuration { density, a, lambda, q, c, .. } = &configuration;
    let options = args.variants.options(args.tau_policy);
    let (costs, processors) = (Costs::new(*a, *lambda)?, Processors::new(*q, *c)?);
    let work = work::work(geometry, density, costs, options)?;
    let time = time::times(geometry, density, costs, processors, options)?;
    let counts = Counts::of_chain(geometry, &density.chain(geometry, work.tau)?);
    let peak = Peak::entries(&counts, geometry.children());
    let region_bits = olt::region_bits(geometry, (work.tau - 1).max(0));
    let entry_bytes = olt::scalar_bytes(region_bits);
    let table = PeakTable {
        peak_entries: peak,
        region_bits,
        entry_bytes,
        peak_bytes_scalar: peak.bytes(entry_bytes),
        peak_bytes_coords: peak.bytes(4 * geometry.k() as u64),
    };
    let kernels = Kernels::new(&counts, kernels::CONCURRENT)?;
    let exhaustive_work = work::exhaustive(geometry.cells(), costs);
    Ok(Prediction { configuration, tau: work.tau, exhaustive_work, work, time, olt: table, kernels })
}

/// The table: what every row shares in a line above it, the rest in columns.
fn summary(rows: &[Prediction]) -> String {
    type Show = fn(&Configuration) -> String;
    let parameters: [(&str, Show); 8] = [
        ("k", |row| row.k.to_string()),
        ("P", |row| row.density.to_string()),
        ("A", |row| row.a.to_string()),
        ("lambda", |row| row.lambda.to_string()),
        ("q", |row| row.q.to_string()),
        ("c", |row| row.c.to_string()),
        ("n", |row| axes(&row.n)),
        ("g r B", |row| format!("{} {} {}", axes(&row.g), axes(&row.r), axes(&row.b))),
    ];
    let shared = |show: Show| rows.iter().all(|row| show(&row.configuration) == show(&rows[0].configuration));
    let (above, columns): (Vec<_>, Vec<_>) =
        parameters.into_iter().partition(|(name, show)| !["n", "g r B"].contains(name) && shared(*show));
    let above: Vec<_> = above.iter().map(|(name, show)| format!("{name} {}", show(&rows[0].configuration))).collect();
    let results = [
        "tau",
        "W",
        "Omega",
        "T_Ex",
        "T_SBR",
        "S_SBR",
        "T_MBR",
        "S_MBR",
        "OLT",
        "as coords",
        "ASK kernels",
        "DP kernels",
    ];
    let header: Vec<_> = columns.iter().map(|(name, _)| *name).chain(results).collect();
    let mut shown = table(&header);
    for row in rows {
        let mut cells: Vec<_> = columns.iter().map(|(_, show)| show(&row.configuration)).collect();
        cells.extend([
            row.tau.to_string(),
            short(row.work.total),
            format!("{:.3}", row.work.reduction),
            short(row.time.exhaustive),
            short(row.time.sbr),
            format!("{:.3}", row.time.sbr_speedup),
            short(row.time.mbr),
            format!("{:.3}", row.time.mbr_speedup),
            Bytes(row.olt.peak_bytes_scalar.compact as u128).to_string(),
            Bytes(row.olt.peak_bytes_coords.compact as u128).to_string(),
            row.kernels.ask_sbr.to_string(),
            short(row.kernels.dp),
        ]);
        shown.add_row(cells);
    }
    align_right(&mut shown);
    format!("{}\n\n{}\n", above.join(", "), shown.trim_fmt())
}

fn axes(numbers: &[u64]) -> String {
    match numbers.iter().all(|number| *number == numbers[0]) {
        true => numbers[0].to_string(),
        false => Axes(numbers.to_vec()).to_string(),
    }
}
