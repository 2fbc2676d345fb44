//! `orthant verify`: the conformance suite as a table.

use std::sync::Arc;

use super::args::Verify;
use super::progress::cancel_on_signals;
use super::{Voice, align_right, machine, print, table};
use crate::conformance::{self, Outcome, Scope};
use crate::cpu::Control;
use crate::error::Error;
use crate::strategy::StrategyKind;

/// Runs every case and prints a line for each; exit code 3 if a law is broken.
pub(super) fn verify(args: Verify, voice: Voice) -> Result<(), Error> {
    let backend = machine::pick(args.backend, args.device, voice)?;
    let scope = if args.brief { Scope::Brief } else { Scope::Full };
    let control = Arc::new(Control::default());
    cancel_on_signals(&control)?;
    let mut rows =
        table(&["case", "curve", "strategies x schemes x insertions x orders", "checksum", "differ", "verdict"]);
    let (mut runs, mut faults) = (0, Vec::new());
    let cases = conformance::cases();
    let wanted = |case: &&conformance::Case| args.workload.is_none_or(|workload| workload == case.request.workload);
    for case in cases.iter().filter(wanted) {
        let mut outcomes: Vec<Outcome> = Vec::new();
        conformance::verify(case, &backend, scope, &control, |outcome| outcomes.push(outcome.clone()))?;
        for group in outcomes.chunk_by(|a, b| a.curve == b.curve) {
            let broken: Vec<_> = group.iter().filter(|outcome| outcome.fault.is_some()).collect();
            let subdivided = group.iter().find(|outcome| outcome.how.strategy != StrategyKind::Exhaustive);
            let shown = subdivided.unwrap_or(&group[0]);
            rows.add_row([
                shown.case.clone(),
                shown.curve.to_string(),
                format!("{} runs", group.len()),
                shown.checksum.clone(),
                shown.differing.to_string(),
                if broken.is_empty() { "equal".into() } else { format!("{} FAULTS", broken.len()) },
            ]);
            faults.extend(broken.into_iter().cloned());
        }
        runs += outcomes.len();
    }
    align_right(&mut rows);
    if !voice.quiet {
        print(format_args!("{}\n\n", rows.trim_fmt()))?;
        print(format_args!(
            "{runs} runs; 'differ' counts cells in which subdivision and exhaustive disagree: what a sampled border can miss\n"
        ))?;
    }
    if runs == 0 {
        return Err(Error::Input("verify: there are no cases of this workload".into()));
    }
    if faults.is_empty() {
        return Ok(());
    }
    for outcome in &faults {
        eprintln!(
            "orthant: {} {} {:?}: {}",
            outcome.case,
            outcome.curve,
            outcome.how,
            outcome.fault.as_deref().unwrap_or_default()
        );
    }
    Err(Error::Difference(format!("{} of {runs} runs broke a law", faults.len())))
}
