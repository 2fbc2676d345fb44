//! The tables of a report: machines, the best of every problem, failures, all cases.

use std::collections::BTreeMap;

use serde::Serialize;

use orthant::Bytes;

use crate::bench::row::Row;
use crate::report::facts::{Fact, RanRow, best, least};

/// A table as pages and text show it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ShownTable {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) header: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// A column; numbers stand at the right and are sorted as numbers.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) number: bool,
}

/// Columns from names; those of numbers begin with `#`.
fn header(names: &[&'static str]) -> Vec<Column> {
    let column = |name: &&'static str| match name.strip_prefix('#') {
        Some(name) => Column { name, number: true },
        None => Column { name, number: false },
    };
    names.iter().map(column).collect()
}

/// Every table that has rows.
pub(super) fn tables(rows: &[Row<RanRow>], facts: &[Fact]) -> Vec<ShownTable> {
    let tables = [fastest(facts), thriftiest(facts), failures(rows), machines(rows), cases(facts)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Milliseconds to four digits.
fn ms(seconds: f64) -> String {
    four(seconds * 1e3)
}

/// A number to four digits; a dash for none.
fn four(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// The facts by what is computed, where, and how large it is: field, machine, n, dwell.
fn problems(facts: &[Fact]) -> BTreeMap<(String, String, u64, u64), Vec<&Fact>> {
    let mut problems: BTreeMap<_, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        problems.entry((fact.field(), fact.place(), fact.n(), fact.dwell())).or_default().push(fact);
    }
    problems
}

fn fastest(facts: &[Fact]) -> ShownTable {
    let rows = problems(facts).into_iter().flat_map(|((field, place, n, dwell), facts)| {
        let best = best(facts.iter().copied(), Fact::method);
        let exhaustive = best.get("exhaustive").map(|fact| fact.median);
        let row = move |(method, fact): (String, &Fact)| {
            vec![
                field.clone(),
                place.clone(),
                n.to_string(),
                if dwell > 0 { dwell.to_string() } else { "-".into() },
                method,
                fact.configuration(),
                ms(fact.median),
                exhaustive.map_or("-".into(), |whole| format!("{:.2}", whole / fact.median)),
                format!("{:.1}", fact.cells() / fact.median / 1e6),
            ]
        };
        best.into_iter().map(row).collect::<Vec<_>>()
    });
    ShownTable {
        title: "The fastest of every method",
        about: "Per problem and method the row with the least median, and its gain over exhaustive.",
        header: header(&[
            "field",
            "machine",
            "#n",
            "#dwell",
            "method",
            "{g, r, B}",
            "#ms",
            "#over exhaustive",
            "#Mcells/s",
        ]),
        rows: rows.collect(),
    }
}

fn thriftiest(facts: &[Fact]) -> ShownTable {
    let rows = problems(facts).into_iter().flat_map(|((field, place, n, dwell), facts)| {
        let least = least(facts.iter().copied(), Fact::method, Fact::joules);
        let exhaustive = least.get("exhaustive").and_then(|fact| fact.energy.as_ref());
        let row = move |(method, fact): (String, &Fact)| {
            let energy = fact.energy.as_ref()?;
            let known = |value: Option<f64>| value.map_or("-".into(), four);
            let both = energy.power_joules.zip(energy.counter_joules);
            Some(vec![
                field.clone(),
                place.clone(),
                n.to_string(),
                if dwell > 0 { dwell.to_string() } else { "-".into() },
                method,
                fact.configuration(),
                four(energy.joules_per_run),
                known(energy.net_joules_per_run),
                // Instruments differ: joules of one are no measure of the other's.
                known(
                    exhaustive
                        .filter(|whole| whole.by == energy.by)
                        .map(|whole| whole.joules_per_run / energy.joules_per_run),
                ),
                four(energy.watts()),
                energy.by.clone(),
                known(both.map(|(power, counter)| power / counter)),
                energy.runs.to_string(),
            ])
        };
        least.into_iter().filter_map(row).collect::<Vec<_>>()
    });
    ShownTable {
        title: "The least energy of every method",
        about: "Per problem and method the row with the least energy of a run: joules, joules less what the card takes while it idles, the gain over exhaustive (idling counted), mean watts, the instrument, and what integrating power says over what the counter says.",
        header: header(&[
            "field",
            "machine",
            "#n",
            "#dwell",
            "method",
            "{g, r, B}",
            "#J",
            "#J net",
            "#over exhaustive",
            "#W",
            "by",
            "#power / counter",
            "#runs",
        ]),
        rows: rows.collect(),
    }
}

fn failures(rows: &[Row<RanRow>]) -> ShownTable {
    let failed = rows.iter().filter_map(|row| Some((row, row.error.as_ref()?)));
    ShownTable {
        title: "What failed",
        about: "Cases without a result, and why.",
        header: header(&["sweep", "case", "reason"]),
        rows: failed.map(|(row, why)| vec![row.sweep.clone(), row.key.clone(), why.message.clone()]).collect(),
    }
}

fn machines(rows: &[Row<RanRow>]) -> ShownTable {
    let mut machines: BTreeMap<Vec<String>, (String, String, usize)> = BTreeMap::new();
    for row in rows {
        let from = &row.provenance;
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        let clock = from.cpu_mhz.map_or(String::new(), |mhz| format!(", {mhz} MHz"));
        let memory = from.memory.map_or(String::new(), |bytes| format!(", {}", Bytes(bytes.into())));
        let gpu = from.gpu.as_ref().map_or("-".into(), |gpu| {
            let clocks = match (gpu.clock_mhz, gpu.memory_clock_mhz) {
                (Some(core), Some(memory)) => format!(", at most {core} MHz, memory {memory} MHz"),
                _ => String::new(),
            };
            format!("{} ({}), CUDA {}, NVRTC {}{clocks}", gpu.name, gpu.capability, gpu.driver, gpu.nvrtc)
        });
        let machine = vec![
            row.sweep.clone(),
            known(&from.host),
            format!("{}, {} threads{clock}{memory}", from.cpu, from.threads),
            gpu,
            known(&from.os),
            from.orthant.clone(),
        ];
        let (first, last, many) = machines.entry(machine).or_insert((from.date.clone(), from.date.clone(), 0));
        *first = first.clone().min(from.date.clone());
        *last = last.clone().max(from.date.clone());
        *many += 1;
    }
    let row = |(mut machine, (first, last, many)): (Vec<String>, (String, String, usize))| {
        machine.extend([first, last, many.to_string()]);
        machine
    };
    ShownTable {
        title: "Where and when",
        about: "Times are UTC.",
        header: header(&["sweep", "host", "CPU", "GPU", "system", "orthant", "first", "last", "#rows"]),
        rows: machines.into_iter().map(row).collect(),
    }
}

fn cases(facts: &[Fact]) -> ShownTable {
    let row = |fact: &Fact| {
        vec![
            fact.sweep.clone(),
            fact.key.clone(),
            fact.clock.clone(),
            ms(fact.median),
            fact.error.map_or("-".into(), |error| format!("{:.2}", error / fact.median * 100.0)),
            ms(fact.least),
            ms(fact.greatest),
            fact.samples.to_string(),
            format!("{:.1}", fact.cells() / fact.median / 1e6),
            fact.regions().0.to_string(),
            fact.ran.peak_olt_bytes.to_string(),
        ]
    };
    ShownTable {
        title: "All cases",
        about: "Medians, the standard error of the mean in per cent of the median, the extremes.",
        header: header(&[
            "sweep",
            "case",
            "clock",
            "#ms",
            "#± %",
            "#least",
            "#greatest",
            "#samples",
            "#Mcells/s",
            "#regions",
            "#OLT bytes",
        ]),
        rows: facts.iter().map(row).collect(),
    }
}
