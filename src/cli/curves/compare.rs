//! `orthant curves compare`: curves as encodings of the tables that a run really makes.
//!
//! The field is subdivided once, and the tables of every level are made again from what was divided, in the order in which
//! each curve would have written them: level 0 by code, then the children of every mixed region, parents in order.

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use hilbert_2d::{Variant, h2xy_discrete, xy2h_discrete};
use serde::Serialize;

use crate::cli::args::{Numbers, number, numbers, one_of};
use crate::cli::machine::Machine;
use crate::cli::progress::cancel_on_signals;
use crate::cli::{Voice, align_right, print, table};
use crate::cpu::Control;
use crate::curve::CurveKind;
use crate::curve::locality::Locality;
use crate::engine::{Backend, run};
use crate::error::{Bytes, Error};
use crate::how::{How, Keep};
use crate::measure::{Rule, Sample, Warm, repeat};
use crate::plan::Plan;
use crate::request::Request;
use crate::subdivision::Subdivision;
use crate::workload::{Job, Open, WorkloadKind};

/// Options of `curves compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// The field
    #[arg(value_parser = one_of!(WorkloadKind), default_value = "mandelbrot")]
    pub workload: WorkloadKind,
    /// The curves
    #[arg(long, value_delimiter = ',', value_parser = one_of!(CurveKind), default_value = "canonical,morton,hilbert")]
    pub curve: Vec<CurveKind>,
    /// Dimensions k, for workloads that exist in several
    #[arg(long, env = "ORTHANT_DIM")]
    pub dim: Option<usize>,
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_parser = numbers, env = "ORTHANT_SIZE")]
    pub size: Option<Numbers>,
    /// Initial split per axis: one number or one per axis
    #[arg(short, value_parser = numbers, value_name = "G", env = "ORTHANT_G")]
    pub g: Option<Numbers>,
    /// Recurrent split per axis: one number or one per axis
    #[arg(short, value_parser = numbers, value_name = "R", env = "ORTHANT_R")]
    pub r: Option<Numbers>,
    /// Stop side in cells
    #[arg(short = 'B', value_parser = number, value_name = "B", env = "ORTHANT_B")]
    pub b: Option<u32>,
    /// Dwell cap D [default: per workload]
    #[arg(long, env = "ORTHANT_DWELL")]
    pub dwell: Option<u32>,
    /// One JSON line per curve instead of the table
    #[arg(long)]
    pub json: bool,
}

/// A curve on the largest table of a run.
#[derive(Debug, Serialize)]
struct Row {
    curve: CurveKind,
    /// The level of the table, and its entries.
    level: u32,
    entries: usize,
    bytes: u64,
    /// Of all levels, the most that a read table and a write table take together.
    peak_bytes: u64,
    /// Nanoseconds per entry.
    encode_ns: f64,
    decode_ns: f64,
    mean_step: f64,
    max_step: u64,
    unit_steps: f64,
    /// Per entry and per chunk, of 32 entries.
    cut_faces: f64,
    lines: f64,
    /// True if the table ascends along the curve, so that inserting children kept its order.
    order_kept: bool,
    /// A run that counts, in milliseconds.
    run_ms: f64,
    /// How fast another implementation of the same curve names the same regions.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Reference>,
}

/// A well-known implementation of a curve, one call per entry.
#[derive(Debug, Serialize)]
struct Reference {
    name: &'static str,
    /// Nanoseconds per entry.
    encode_ns: f64,
    decode_ns: f64,
}

/// Compares curves.
pub(super) fn compare(args: Compare, voice: Voice) -> Result<(), Error> {
    if args.workload == WorkloadKind::Kernel {
        return Err(Error::Input("curves compare kernel: the field is CUDA source, and this runs on the CPU".into()));
    }
    let own = |numbers: &Option<Numbers>| numbers.as_ref().map(|numbers| numbers.0.clone());
    let mut request = Request::new(args.workload);
    request.dim = args.dim;
    (request.size, request.g, request.r, request.b) = (own(&args.size), own(&args.g), own(&args.r), args.b);
    request.dwell = args.dwell;
    request.how = How { keep: Keep::Regions, mem_limit: Machine::look().default_limit(), ..How::default() };
    let control = Arc::new(Control::default());
    cancel_on_signals(&control)?;
    let (k, workload) = (request.dim(), request.workload);
    let rows = workload.dispatch(k, Comparing { request, curves: args.curve, control })??;
    if args.json {
        return rows.iter().try_for_each(|row| {
            let line = serde_json::to_string(row).map_err(|error| Error::System(format!("writing JSON: {error}")))?;
            print(format_args!("{line}\n"))
        });
    }
    if let Some(first) = rows.first() {
        voice.say(format_args!("orthant: the table of level {}, {} entries", first.level, first.entries));
    }
    let mut shown = table(&[
        "curve",
        "bytes",
        "peak",
        "encode ns",
        "decode ns",
        "mean step",
        "max",
        "unit",
        "cut faces",
        "lines",
        "order",
        "run ms",
    ]);
    for row in &rows {
        shown.add_row([
            row.curve.to_string(),
            Bytes(row.bytes.into()).to_string(),
            Bytes(row.peak_bytes.into()).to_string(),
            format!("{:.2}", row.encode_ns),
            format!("{:.2}", row.decode_ns),
            format!("{:.2}", row.mean_step),
            row.max_step.to_string(),
            format!("{:.1} %", row.unit_steps * 100.0),
            format!("{:.2}", row.cut_faces),
            format!("{:.1}", row.lines),
            if row.order_kept { "kept".into() } else { "lost".into() },
            format!("{:.2}", row.run_ms),
        ]);
        if let Some(Reference { name, encode_ns, decode_ns }) = &row.reference {
            let (encode, decode) = (format!("{encode_ns:.2}"), format!("{decode_ns:.2}"));
            shown.add_row([*name, "", "", &encode, &decode, "", "", "", "", "", "", ""]);
        }
    }
    align_right(&mut shown);
    print(format_args!("{}\n", shown.trim_fmt()))
}

/// The comparison once its dimension is a type.
struct Comparing {
    request: Request,
    curves: Vec<CurveKind>,
    control: Arc<Control>,
}

impl Job for Comparing {
    type Output = Result<Vec<Row>, Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { mut request, curves, control } = self;
        // Every curve is checked before any work.
        let plans = curves.iter().map(|&curve| {
            request.curve = curve;
            request.plan::<K>()
        });
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let Some(plan) = plans.first() else { return Ok(Vec::new()) };
        let workload = open(plan.domain(), &request.options()?)?;
        let divided = divided(&run(plan, &*workload, &request.how, &control)?);
        let counting = How { keep: Keep::Counts, ..request.how };
        let row = |plan: &Plan<K>| {
            let mut warm = Warm::new(&Backend::Cpu, plan, &*workload, &counting)?;
            let samples = repeat(&BRIEF, || warm.run(&control))?;
            measured(plan, &divided, warm.summary()?.launches().peak_olt_bytes, samples.median() * 1e3)
        };
        plans.iter().map(row).collect()
    }
}

/// Regions by their coordinates, one set per level.
type Levels<const K: usize> = Vec<HashSet<[u32; K]>>;

/// The regions that were divided: the parents of all that were examined.
fn divided<const K: usize>(run: &Subdivision<K>) -> Levels<K> {
    let (plan, r) = (run.plan(), run.plan().scheme().r);
    let mut divided: Levels<K> = vec![HashSet::new(); plan.levels().len()];
    for terminal in run.terminals() {
        let mut coords = plan.encoding().decode(terminal.level(), terminal.code);
        for level in (0..terminal.level() as usize).rev() {
            coords = std::array::from_fn(|j| coords[j] / r[j]);
            if !divided[level].insert(coords) {
                break; // its ancestors are known
            }
        }
    }
    divided
}

/// The codes of the largest table, in the order in which they were inserted, and its level.
fn largest<const K: usize>(plan: &Plan<K>, divided: &Levels<K>) -> (u32, Vec<u64>) {
    let encoding = plan.encoding();
    let mut codes: Vec<u64> = (0..plan.levels()[0].regions() as u64).collect();
    let mut largest = (0, codes.clone());
    let mut family = vec![0; plan.scheme().children() as usize];
    for level in 0..plan.levels().len() as u32 - 1 {
        let parents = codes.iter().filter(|&&code| divided[level as usize].contains(&encoding.decode(level, code)));
        let mut children = Vec::new();
        for &parent in parents {
            encoding.children(level, parent, &mut family);
            children.extend_from_slice(&family);
        }
        codes = children;
        if codes.len() >= largest.1.len() {
            largest = (level + 1, codes.clone());
        }
    }
    largest
}

/// Short measurements: there are three per curve.
const BRIEF: Rule =
    Rule { warm_up: 1, min_samples: 5, max_samples: 100, error: 0.01, timeout: Duration::from_millis(500) };

fn measured<const K: usize>(plan: &Plan<K>, divided: &Levels<K>, peak_bytes: u64, run_ms: f64) -> Result<Row, Error> {
    let (level, codes) = largest(plan, divided);
    let encoding = plan.encoding();
    let mut coords = vec![[0; K]; codes.len()];
    let per_entry = |work: &mut dyn FnMut()| {
        let samples = repeat(&BRIEF, || {
            let start = Instant::now();
            work();
            Ok(Sample { wall: start.elapsed(), device: None })
        })?;
        Ok::<_, Error>(samples.median() * 1e9 / codes.len() as f64)
    };
    let decode_ns = per_entry(&mut || encoding.decode_slice(level, black_box(&codes), &mut coords))?;
    let mut again = vec![0; codes.len()];
    let encode_ns = per_entry(&mut || encoding.encode_slice(level, black_box(&coords), &mut again))?;
    let grid = plan.levels()[level as usize].grid;
    let order = grid[0].ilog2() as usize;
    let reference = if plan.curve() == CurveKind::Hilbert && grid[..] == [1 << order; 2] {
        let encode = |cell: &[u32; K]| xy2h_discrete(cell[0] as usize, cell[1] as usize, order, Variant::Hilbert);
        let decode = |&code: &u64| h2xy_discrete(code as usize, order, Variant::Hilbert);
        let encode_ns = per_entry(&mut || _ = black_box(coords.iter().map(encode).fold(0, usize::wrapping_add)))?;
        let decode_ns = per_entry(&mut || _ = black_box(codes.iter().map(decode).fold(0, |sum, (x, y)| sum ^ x ^ y)))?;
        Some(Reference { name: "hilbert_2d", encode_ns, decode_ns })
    } else {
        None
    };
    let locality = Locality::new(&coords, grid).ok_or_else(|| {
        Error::Input("curves compare: the largest table has one region; use a larger -g or -n, or a smaller -B".into())
    })?;
    Ok(Row {
        curve: plan.curve(),
        level,
        entries: codes.len(),
        bytes: plan.code_bytes(level) * codes.len() as u64,
        peak_bytes,
        encode_ns,
        decode_ns,
        mean_step: locality.mean_step,
        max_step: locality.max_step,
        unit_steps: locality.unit_steps,
        cut_faces: locality.cut_faces,
        lines: locality.lines,
        order_kept: codes.is_sorted(),
        run_ms,
        reference,
    })
}
