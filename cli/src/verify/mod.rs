//! `orthant verify`: the conformance suite as a table, and with `--ranks` pieces of processes beside one run.

mod case_files;
mod ranks;

use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::Args;
use orthant::Control;
use orthant::Target;
use orthant::field::FieldKind;
use orthant_lab::conformance::{Case, Checked, Scope, Suite, cases};

use ranks::Ranks;

use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine;
use crate::options::{Devices, OrAuto, or_auto, times, workload};
use crate::threads::spare;
use crate::voice::{Voice, align_right, print, table, tell};

/// Options of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// Only this workload
    #[arg(value_parser = workload())]
    pub(crate) workload: Option<FieldKind>,
    /// Every pair of choices with some workload, instead of with every one
    #[arg(long)]
    pub(crate) brief: bool,
    /// Each choice at least once, instead of each pair: a quick first check
    #[arg(long, conflicts_with = "brief")]
    pub(crate) once: bool,
    /// Where to run; auto takes CUDA if it is there, else the CPU; -v says why
    #[arg(long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND")]
    pub(crate) backend: OrAuto,
    /// Which GPUs: a number, several as in 0,1, or all [default: 0]
    #[arg(long, alias = "devices", value_name = "NUMBERS", env = "ORTHANT_DEVICE")]
    pub(crate) device: Option<Devices>,
    /// Let so many processes make each case in 1, 2, 3, 4 and 7 pieces, by `shard run`, and compare the tree with that of one run
    #[arg(long, value_parser = times, value_name = "N", conflicts_with_all = ["brief", "once"])]
    pub(crate) ranks: Option<NonZeroUsize>,
}

impl VerifyOptions {
    /// The cases of the workload that was named, else all.
    fn cases(&self) -> Vec<Case> {
        cases().into_iter().filter(|case| self.workload.is_none_or(|only| only == case.request.workload)).collect()
    }
}

fn no_case(backend: &str) -> Error {
    let reason = format!("verify: no case of this workload runs on the backend {backend}");
    Error::Input(reason).about(&["backend"])
}

/// Runs the suite and prints a line for each case and for each thing that is varied; exit code 3 if a law is broken.
pub(crate) fn verify(args: VerifyOptions, voice: Voice) -> Result<(), Error> {
    let target = machine::pick(args.backend, args.device.as_ref(), voice)?;
    if let Some(ranks) = args.ranks {
        return verify_ranks(args, ranks.get(), target, voice);
    }
    let scope = match (args.brief, args.once) {
        (true, _) => Scope::Brief,
        (_, true) => Scope::Once,
        _ => Scope::Full,
    };
    let mut suite = Suite::new(args.cases(), target.kind(), scope);
    if suite.rows().is_empty() {
        return Err(no_case(target.name()));
    }
    let (asked, spare) = (suite.threads(), spare(suite.threads()));
    if spare < asked {
        let took = if spare > 0 { spare.to_string() } else { "those that there are".into() };
        voice.say(format_args!("orthant: rows of {asked} threads take {took}, since no more can be started"));
        suite = suite.at_most(spare);
    }
    let control = Arc::new(Control::default());
    cancels(&control);
    let mut outcomes: Vec<Checked> = Vec::new();
    suite.run(&target, &control, &mut |outcome| outcomes.push(outcome.clone()))?;
    if !voice.quiet {
        print(page(&suite, &outcomes, if scope == Scope::Once { "choice" } else { "pair of choices that can meet" }))?;
    }
    let faults: Vec<_> = outcomes.iter().filter(|outcome| outcome.fault.is_some()).collect();
    if faults.is_empty() {
        return Ok(());
    }
    for outcome in &faults {
        let fault = outcome.fault.as_deref().unwrap_or_default();
        let row = &outcome.row;
        tell(format_args!("orthant: {} {} {:?} {:?}: {fault}", outcome.case, row.curve, row.cut, row.how));
    }
    Err(Error::Difference(format!("{} of {} rows broke a law", faults.len(), outcomes.len())))
}

/// Lets processes make pieces of every case, and prints a line for each; exit code 3 if a tree is not that of one run.
fn verify_ranks(args: VerifyOptions, ranks: usize, target: Target, voice: Voice) -> Result<(), Error> {
    let program = ranks::program("verify").ok_or_else(|| {
        Error::Input(format!(
            "--ranks {ranks}: this program was not started by a command line, so it cannot start others"
        ))
    })?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let temporary = |source| Error::File { path: std::env::temp_dir(), source };
    let (cases, backend, device) = (args.cases(), target.name(), args.device);
    let ranks = Ranks { ranks, program, device, target, control };
    let mut rows = table(&["case", "pieces", "differ", "verdict"]);
    let (mut all, mut faults) = (0, Vec::new());
    for (number, case) in cases.iter().enumerate() {
        let folder = tempfile::tempdir().map_err(temporary)?;
        let Some(checked) = ranks.check(case, number, folder.path())? else { continue };
        let pieces: Vec<String> = checked.pieces.iter().map(usize::to_string).collect();
        let verdict = match checked.faults.len() {
            0 => "equal".into(),
            faults => format!("{faults} FAULTS"),
        };
        rows.add_row([checked.case.clone(), pieces.join(" "), checked.differing.to_string(), verdict]);
        all += checked.pieces.len();
        faults.extend(checked.faults.into_iter().map(|fault| format!("{}: {fault}", checked.case)));
    }
    if all == 0 {
        return Err(no_case(backend));
    }
    align_right(&mut rows);
    if !voice.quiet {
        let count = ranks.ranks;
        print(format_args!(
            "{}\n\n{all} runs in pieces by {count} processes; arrays, regions per level and checksums are those of one run\n",
            rows.trim_fmt()
        ))?;
    }
    faults.iter().for_each(|fault| tell(format_args!("orthant: {fault}")));
    match faults.len() {
        0 => Ok(()),
        found => Err(Error::Difference(format!("{found} faults in {all} runs in pieces"))),
    }
}

/// A line per case, then the rows per value of everything that is varied.
fn page(suite: &Suite, outcomes: &[Checked], each: &str) -> String {
    let mut rows = table(&["case", "rows", "differ", "verdict"]);
    for group in outcomes.chunk_by(|a, b| a.row.case == b.row.case) {
        let broken = group.iter().filter(|outcome| outcome.fault.is_some()).count();
        let differ = group.iter().map(|outcome| outcome.differing).max().unwrap_or(0);
        rows.add_row([
            group[0].case.clone(),
            group.len().to_string(),
            differ.to_string(),
            if broken == 0 { "equal".into() } else { format!("{broken} FAULTS") },
        ]);
    }
    align_right(&mut rows);
    let mut text = format!("{}\n\n", rows.trim_fmt());
    for (axis, values) in suite.per_axis().into_iter().skip(1) {
        let values: Vec<_> = values.iter().map(|(value, rows)| format!("{value} {rows}")).collect();
        text += &format!("{axis:<16} {}\n", values.join(", "));
    }
    text + &format!(
        "\n{} rows, each over two poisons; every {each} is in one of them\n'differ' counts cells in which subdivision and exhaustive disagree: what a sampled border can miss\n",
        outcomes.len()
    )
}
