//! `orthant curves compare`: curves as encodings of the tables that a run really makes.
//!
//! The field is subdivided once, and the tables of every level are made again from what was divided, in the order in which
//! each curve would have written them.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use orthant::backend::Part;
use orthant::curve::{CurveKind, Package};
use orthant::field::{FieldKind, Job, Open};
use orthant::result::Times;
use orthant::{Bytes, Control, Keep, Plan, Request, Run, Target, per_axis};
use orthant_lab::curves::{DividedRegions, Locality};
use serde::{Deserialize, Serialize};

use crate::data::read_for;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::Machine;
use crate::measure::{Patience, repeat};
use crate::options::{ComputedOptions, FormulaOptions, InputOptions, one_of, request, workload};
use crate::voice::{Voice, align_right, print, table};

/// Options of `curves compare`.
#[derive(Debug, Args)]
pub(crate) struct CurvesOptions {
    /// The field
    #[arg(value_parser = workload(), default_value = "mandelbrot")]
    pub(crate) workload: FieldKind,
    /// The curves [default: all, or the one that --curve names]
    #[arg(long, value_delimiter = ',', value_parser = one_of!(CurveKind), conflicts_with = "curve")]
    pub(crate) curves: Vec<CurveKind>,
    #[command(flatten)]
    pub(crate) computed: ComputedOptions,
    #[command(flatten)]
    pub(crate) formula: FormulaOptions,
    /// The text of a `formula`, or a .vm model
    #[arg(long, value_name = "FILE", env = "ORTHANT_SOURCE")]
    pub(crate) source: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// One JSON line per curve instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A curve on the largest table of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CurveRow {
    pub(crate) workload: String,
    pub(crate) k: usize,
    /// The text of a formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    size: Vec<u32>,
    pub(crate) curve: String,
    /// The level of the table, the regions that it lists, and the bytes of its codes, one per family.
    level: u32,
    entries: usize,
    bytes: u64,
    /// Of all levels, the most that a read table and a write table take together.
    peak_bytes: u64,
    /// Nanoseconds per region.
    encode_ns: f64,
    decode_ns: f64,
    pub(crate) mean_step: f64,
    max_step: u64,
    unit_steps: f64,
    /// Per region and per chunk, of 32 regions.
    pub(crate) cut_faces: f64,
    pub(crate) lines: f64,
    /// True if the table ascends along the curve, so that inserting children kept its order.
    order_kept: bool,
    /// A run that counts, in milliseconds.
    run_ms: f64,
    /// How fast a package for the same curve names the same regions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<Beside>,
}

impl CurveRow {
    /// Cells per axis.
    pub(crate) fn n(&self) -> String {
        per_axis::text(&self.size)
    }
}

/// A package for the same curve on the same regions.
#[derive(Debug, Serialize, Deserialize)]
struct Beside {
    name: String,
    /// True if it gives every region the same code, and finds the region of every code.
    agrees: bool,
    /// Nanoseconds per region.
    encode_ns: f64,
    decode_ns: f64,
}

/// Compares curves.
pub(super) fn compare(args: CurvesOptions, voice: Voice) -> Result<(), Error> {
    if args.workload == FieldKind::Kernel {
        return Err(Error::Input("curves compare kernel: the field is CUDA source, and this runs on the CPU".into()));
    }
    let mut request = request(args.workload, &args.computed.0)?;
    request.source = args.formula.source(args.workload, args.source.as_deref())?;
    request.how = request.how.keep(Keep::Regions);
    request.how.mem_limit = Machine::look().default_limit();
    read_for(&args.input, &mut request, voice)?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let (k, workload) = (request.k(), request.workload);
    let curves = match (&args.curves[..], args.computed.0.get("curve")) {
        ([], None) => CurveKind::ALL.to_vec(),
        ([], Some(_)) => vec![request.computed.curve],
        _ => args.curves,
    };
    let rows = workload.dispatch(k, Comparing { request, curves, control })??;
    if args.json {
        return rows.iter().try_for_each(|row| {
            let line = serde_json::to_string(row).map_err(|error| Error::System(format!("writing JSON: {error}")))?;
            print(format_args!("{line}\n"))
        });
    }
    if let Some(first) = rows.first() {
        voice.say(format_args!("orthant: the table of level {}, {} regions", first.level, first.entries));
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
            row.curve.clone(),
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
        if let Some(Beside { name, agrees, encode_ns, decode_ns }) = &row.reference {
            let (encode, decode) = (format!("{encode_ns:.2}"), format!("{decode_ns:.2}"));
            let order = if *agrees { "same" } else { "another" };
            shown.add_row([name, "", "", &encode, &decode, "", "", "", "", "", order, ""]);
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
    type Output = Result<Vec<CurveRow>, Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { request, curves, control } = self;
        // Every curve is checked before any work.
        let plans = curves.iter().map(|&curve| request.clone().curve(curve).plan::<K>());
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let Some(plan) = plans.first() else { return Ok(Vec::new()) };
        let field = open(plan.domain(), &request.options()?)?;
        let divided =
            DividedRegions::from_run(&Run::new(plan, &*field).how(request.how.clone()).control(&control).start()?);
        let (cpu, counting) = (Target::cpu(), request.how.clone().keep(Keep::Counts));
        let row = |plan: &Plan<K>| {
            let mut prepared = cpu.of().prepare(plan, &*field, &counting)?;
            let samples = repeat(&BRIEF, &mut || Ok(prepared.run(&Part::default(), &control)?))?;
            measured(&request, plan, &divided, prepared.counts()?.launches.table_bytes, samples.median() * 1e3)
        };
        plans.iter().map(row).collect()
    }
}

/// Short measurements: there are three per curve.
const BRIEF: Patience =
    Patience { warm_up: 1, min_samples: 5, max_samples: 100, error: 0.01, timeout: Duration::from_millis(500) };

fn measured<const K: usize>(
    request: &Request,
    plan: &Plan<K>,
    divided: &DividedRegions<K>,
    peak_bytes: u64,
    run_ms: f64,
) -> Result<CurveRow, Error> {
    let (level, codes) = divided.largest_table(plan);
    let encoding = plan.encoding();
    let mut coords = vec![[0; K]; codes.len()];
    let per_entry = |work: &mut dyn FnMut()| {
        let samples = repeat(&BRIEF, &mut || {
            let start = Instant::now();
            work();
            Ok(Times { wall: start.elapsed(), device: None })
        })?;
        Ok::<_, Error>(samples.median() * 1e9 / codes.len() as f64)
    };
    let decode_ns = per_entry(&mut || encoding.decode_slice(level, black_box(&codes), &mut coords))?;
    let mut again = vec![0; codes.len()];
    let encode_ns = per_entry(&mut || encoding.encode_slice(level, black_box(&coords), &mut again))?;
    let grid = plan.levels()[level as usize].grid;
    let order = grid[0].ilog2();
    let package = Package::of(plan.curve(), K, order).filter(|_| grid.iter().all(|&side| side == 1 << order));
    let reference = match package {
        None => None,
        Some(package) => {
            let (mut named, mut found) = (vec![0; codes.len()], vec![[0; K]; codes.len()]);
            Some(Beside {
                name: package.name().into(),
                encode_ns: per_entry(&mut || package.encode(black_box(coords.as_flattened()), &mut named))?,
                decode_ns: per_entry(&mut || package.decode(black_box(&codes), found.as_flattened_mut()))?,
                agrees: named == codes && found == coords,
            })
        }
    };
    let locality = Locality::new(&coords, grid).ok_or_else(|| {
        Error::Input("curves compare: the largest table has one region; use a larger -g or -n, or a smaller -B".into())
            .about(&["size", "g", "r", "B"])
    })?;
    Ok(CurveRow {
        workload: request.workload.to_string(),
        text: request.source.as_deref().map(str::to_owned),
        k: K,
        size: plan.domain().size().to_vec(),
        curve: plan.curve().to_string(),
        level,
        entries: codes.len(),
        bytes: match level {
            0 => 0,
            _ => plan.code_bytes(level - 1) * (codes.len() as u64 / plan.scheme().children()),
        },
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
