//! The tables of a report: the best of every problem, failures, all cases; machines.
//!
//! What was measured stands first, so that a phone shows it without scrolling. A column that says the same in every row is told
//! once, above the table, and one that says nothing is left out.

use std::collections::BTreeMap;

use serde::Serialize;

use orthant::Bytes;

use crate::bench::ran::RanRow;
use crate::bench::row::Row;
use crate::report::facts::{Fact, Problem, best, four, least, problems};

/// A table as pages and text show it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ShownTable {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// Names and values of what every row has in common.
    pub(super) same: Vec<(String, String)>,
    pub(super) header: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// A column; numbers stand at the right and are sorted as numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) number: bool,
}

impl ShownTable {
    /// A table of columns by name, those of numbers beginning with `#`; the first column stays whatever it says.
    pub(super) fn new(title: &'static str, about: &'static str, names: &[&str], rows: Vec<Vec<String>>) -> Self {
        let mut table = Self { title, about, same: Vec::new(), header: Vec::new(), rows: vec![Vec::new(); rows.len()] };
        for (i, name) in names.iter().enumerate() {
            let number = name.starts_with('#');
            let name = name.trim_start_matches('#').to_owned();
            match &rows[..] {
                [first, rest @ ..] if i > 0 && rest.iter().all(|row| row[i] == first[i]) => {
                    table.same.extend((first[i] != NONE).then(|| (name, first[i].clone())));
                }
                _ => {
                    table.header.push(Column { name, number });
                    table.rows.iter_mut().zip(&rows).for_each(|(shown, row)| shown.push(row[i].clone()));
                }
            }
        }
        table
    }
}

/// What stands where there is nothing to say.
const NONE: &str = "-";

fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or(NONE.into(), |value| value.to_string())
}

/// The tables of one experiment that have rows.
pub(super) fn tables(rows: &[&Row<RanRow>], facts: &[Fact]) -> Vec<ShownTable> {
    let tables = [fastest(facts), thriftiest(facts), failures(rows), cases(facts)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn dwell(problem: &Problem) -> String {
    known((problem.dwell > 0).then_some(problem.dwell))
}

fn rate(fact: &Fact) -> String {
    four(fact.cells() / fact.median / 1e6)
}

fn fastest(facts: &[Fact]) -> ShownTable {
    let rows = problems(facts).into_iter().flat_map(|(problem, facts)| {
        let best = best(facts.iter().copied(), Fact::method);
        let exhaustive = best.get("exhaustive").map(|fact| fact.median);
        let row = move |(method, fact): (String, &Fact)| {
            vec![
                fact.ms(),
                fact.deviation(),
                known(exhaustive.map(|whole| format!("{:.2}", whole / fact.median))),
                method,
                problem.n.to_string(),
                dwell(&problem),
                known(Some(fact.configuration()).filter(|scheme| !scheme.is_empty())),
                rate(fact),
                problem.field.clone(),
                problem.place.clone(),
            ]
        };
        let mut best: Vec<_> = best.into_iter().collect();
        best.sort_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
        best.into_iter().map(row).collect::<Vec<_>>()
    });
    ShownTable::new(
        "The fastest of every method",
        "Per problem and method the row with the least median, its median absolute deviation, and its gain over exhaustive.",
        &["#ms", "#± %", "#gain", "method", "#n", "#dwell", "{g, r, B}", "#Mcells/s", "field", "machine"],
        rows.collect(),
    )
}

fn thriftiest(facts: &[Fact]) -> ShownTable {
    let rows = problems(facts).into_iter().flat_map(|(problem, facts)| {
        let least = least(facts.iter().copied(), Fact::method, Fact::joules);
        let exhaustive = least.get("exhaustive").and_then(|fact| fact.energy.as_ref());
        let row = move |(method, fact): (String, &Fact)| {
            let energy = fact.energy.as_ref()?;
            // Instruments differ: joules of one are no measure of the other's.
            let whole = exhaustive.filter(|whole| whole.by == energy.by);
            let both = energy.power_joules.zip(energy.counter_joules);
            Some(vec![
                four(energy.joules_per_run),
                known(energy.net_joules_per_run.map(four)),
                known(whole.map(|whole| four(whole.joules_per_run / energy.joules_per_run))),
                method,
                problem.n.to_string(),
                dwell(&problem),
                known(Some(fact.configuration()).filter(|scheme| !scheme.is_empty())),
                four(energy.watts()),
                known(both.map(|(power, counter)| four(power / counter))),
                energy.runs.to_string(),
                energy.by.clone(),
                problem.field.clone(),
                problem.place.clone(),
            ])
        };
        least.into_iter().filter_map(row).collect::<Vec<_>>()
    });
    ShownTable::new(
        "The least energy of every method",
        "Per problem and method the row with the least energy of a run: joules, joules less what the card takes while it idles, the gain over exhaustive (idling counted), mean watts, what integrating power says over what the counter says, and the instrument.",
        &[
            "#J",
            "#J net",
            "#gain",
            "method",
            "#n",
            "#dwell",
            "{g, r, B}",
            "#W",
            "#power / counter",
            "#runs",
            "by",
            "field",
            "machine",
        ],
        rows.collect(),
    )
}

fn failures(rows: &[&Row<RanRow>]) -> ShownTable {
    let failed = rows.iter().filter_map(|row| Some((row, row.error.as_ref()?)));
    ShownTable::new(
        "What failed",
        "Cases without a result, and why.",
        &["case", "reason"],
        failed.map(|(row, why)| vec![row.key.clone(), why.message.clone()]).collect(),
    )
}

fn cases(facts: &[Fact]) -> ShownTable {
    let mut settings: Vec<&str> = Vec::new();
    for (name, _) in facts.iter().flat_map(|fact| &fact.settings) {
        if !settings.contains(&&name[..]) {
            settings.push(name);
        }
    }
    let row = |fact: &Fact| {
        let mut row =
            vec![fact.ms(), fact.deviation(), known(fact.spread.as_ref().map(|spread| spread.outliers.len()))];
        row.extend(settings.iter().map(|name| known(fact.set(name))));
        row.extend([
            four(fact.least * 1e3),
            four(fact.greatest * 1e3),
            fact.samples.to_string(),
            fact.clock.clone(),
            rate(fact),
            fact.regions().0.to_string(),
            fact.ran.peak_olt_bytes.to_string(),
        ]);
        row
    };
    // A setting is a number if it is one wherever it is set.
    let named = settings.iter().map(|name| {
        let number = |fact: &Fact| fact.set(name).is_none_or(|value| value.parse::<f64>().is_ok());
        if facts.iter().all(number) { format!("#{name}") } else { (*name).to_owned() }
    });
    let mut names: Vec<String> = ["#ms", "#± %", "#outliers"].map(String::from).into();
    names.extend(named);
    names.extend(["#least", "#greatest", "#samples", "clock", "#Mcells/s", "#regions", "#OLT bytes"].map(String::from));
    ShownTable::new(
        "All cases",
        "Medians, the median absolute deviation in per cent of the median, how many samples are outliers (further from the median than 4.45 of these deviations and than 1 %), the settings, the extremes. Fewer than five samples have no spread.",
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        facts.iter().map(row).collect(),
    )
}

/// Where and when all of it was measured.
pub(super) fn machines(rows: &[Row<RanRow>]) -> ShownTable {
    let mut machines: BTreeMap<Vec<String>, (String, String, usize)> = BTreeMap::new();
    for row in rows {
        let from = &row.provenance;
        let clock = from.cpu_mhz.map_or(String::new(), |mhz| format!(", {mhz} MHz"));
        let memory = from.memory.map_or(String::new(), |bytes| format!(", {}", Bytes(bytes.into())));
        let gpu = from.gpu.as_ref().map(|gpu| {
            let clocks = match (gpu.clock_mhz, gpu.memory_clock_mhz) {
                (Some(core), Some(memory)) => format!(", at most {core} MHz, memory {memory} MHz"),
                _ => String::new(),
            };
            format!("{} ({}), CUDA {}, NVRTC {}{clocks}", gpu.name, gpu.capability, gpu.driver, gpu.nvrtc)
        });
        let machine = vec![
            row.sweep.clone(),
            known(from.host.as_ref()),
            format!("{}, {} threads{clock}{memory}", from.cpu, from.threads),
            known(gpu),
            known(from.os.as_ref()),
            from.orthant.clone(),
        ];
        let (first, last, many) = machines.entry(machine).or_insert((from.date.clone(), from.date.clone(), 0));
        *first = first.clone().min(from.date.clone());
        *last = last.clone().max(from.date.clone());
        *many += 1;
    }
    let row = |(machine, (first, last, many)): (Vec<String>, (String, String, usize))| {
        [vec![many.to_string()], machine, vec![first, last]].concat()
    };
    ShownTable::new(
        "Where and when",
        "Times are UTC.",
        &["#rows", "sweep", "host", "CPU", "GPU", "system", "orthant", "first", "last"],
        machines.into_iter().map(row).collect(),
    )
}
