//! Balancers in a report: every one on every list, beside the best one there.

use std::collections::BTreeMap;

use crate::bench::ran::RanRow;
use crate::bench::row::{Phases, Row};
use crate::report::tables::ShownTable;
use crate::statistics::{median, median_absolute_deviation};

/// A balancer on a list.
struct Balanced<'a> {
    row: &'a Row<RanRow>,
    phases: &'a Phases,
    /// Seconds.
    median: f64,
    samples: &'a [f64],
}

impl Balanced<'_> {
    fn set(&self, name: &str) -> &str {
        self.row.case.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// What every balancer had to do, and where.
    fn list(&self) -> String {
        let thin = if self.set("thin") == "true" { ", thinned" } else { "" };
        format!("{}{thin}", self.set("workload"))
    }

    fn place(&self) -> String {
        let provenance = &self.row.provenance;
        let cpu = || format!("{} ({} threads)", provenance.cpu, provenance.threads);
        provenance.gpu.as_ref().map_or_else(cpu, |gpu| gpu.name.clone())
    }
}

/// The rows that are a balancer's, by list, order and place.
fn lists<'a>(rows: &[&'a Row<RanRow>]) -> BTreeMap<[String; 3], Vec<Balanced<'a>>> {
    let mut lists: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        if let (Some(times), Some(phases)) = (&row.samples, &row.phases) {
            let done = Balanced { row, phases, median: times.median, samples: times.samples() };
            lists.entry([done.list(), done.set("order").to_owned(), done.place()]).or_default().push(done);
        }
    }
    lists.values_mut().for_each(|all| all.sort_by(|a, b| a.median.total_cmp(&b.median)));
    lists
}

/// Which balancers are the fastest, in one sentence; None if there are none.
pub(super) fn sentence(rows: &[&Row<RanRow>]) -> Option<String> {
    let lists = lists(rows);
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    lists.values().filter_map(|all| all.first()).for_each(|best| *wins.entry(best.set("balancer")).or_default() += 1);
    let mut wins: Vec<_> = wins.into_iter().collect();
    wins.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name.to_owned()));
    let wins: Vec<String> = wins.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    (!wins.is_empty()).then(|| format!("The fastest of {} lists: {}.", lists.len(), wins.join(", ")))
}

/// Every balancer on every list.
pub(super) fn table(rows: &[&Row<RanRow>]) -> ShownTable {
    let micros = |seconds: f64| format!("{:.2}", seconds * 1e6);
    let rows = lists(rows).into_iter().flat_map(|([list, order, place], all)| {
        let best = all[0].median;
        let row = move |done: &Balanced<'_>| {
            let Phases { scan, partition, expansion, units, .. } = done.phases;
            vec![
                micros(done.median),
                format!("{:.1}", median_absolute_deviation(done.samples) / done.median * 100.0),
                format!("{:.2}", done.median / best),
                done.set("balancer").to_owned(),
                list.clone(),
                order.clone(),
                micros(median(scan)),
                micros(median(partition)),
                micros(median(expansion)),
                format!("{:.2}", *units as f64 / done.median / 1e9),
                place.clone(),
            ]
        };
        all.iter().map(row).collect::<Vec<_>>()
    });
    ShownTable::new(
        "Balancers",
        "Medians of one expansion with all that comes before it, their median absolute deviation, and how many times the best of the list each takes.",
        &[
            "#us",
            "#± %",
            "#of the best",
            "balancer",
            "list",
            "order",
            "#scan us",
            "#partition us",
            "#expansion us",
            "#units/ns",
            "machine",
        ],
        rows.collect(),
    )
}
