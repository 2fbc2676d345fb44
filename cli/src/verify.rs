//! `orthant verify`: the conformance suite as a table.

use std::sync::Arc;

use clap::Args;
use orthant::Control;
use orthant::conformance::{Checked, Scope, Suite, cases};
use orthant::field::FieldKind;

use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine;
use crate::options::{Devices, OrAuto, or_auto, workload};
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
    /// Where to run; auto takes CUDA if it is there, else the CPU; -v says why
    #[arg(long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND")]
    pub(crate) backend: OrAuto,
    /// Which GPUs: a number, several as in 0,1, or all [default: 0]
    #[arg(long, alias = "devices", value_name = "NUMBERS", env = "ORTHANT_DEVICE")]
    pub(crate) device: Option<Devices>,
}

/// Runs the suite and prints a line for each case and for each thing that is varied; exit code 3 if a law is broken.
pub(crate) fn verify(args: VerifyOptions, voice: Voice) -> Result<(), Error> {
    let target = machine::pick(args.backend, args.device.as_ref(), voice)?;
    let scope = if args.brief { Scope::Brief } else { Scope::Full };
    let wanted = |workload| args.workload.is_none_or(|only| only == workload);
    let cases = cases().into_iter().filter(|case| wanted(case.request.workload)).collect();
    let mut suite = Suite::new(cases, target.kind(), scope);
    if suite.rows().is_empty() {
        let reason = format!("verify: no case of this workload runs on the backend {}", target.name());
        return Err(Error::Input(reason).about(&["backend"]));
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
        print(page(&suite, &outcomes))?;
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

/// A line per case, then the rows per value of everything that is varied.
fn page(suite: &Suite, outcomes: &[Checked]) -> String {
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
        "\n{} rows, each over two poisons; every pair of choices that can meet is in one of them\n'differ' counts cells in which subdivision and exhaustive disagree: what a sampled border can miss\n",
        outcomes.len()
    )
}
