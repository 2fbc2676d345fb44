//! `orthant balance run`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValue;

use orthant::backend::{BalanceTimes, Balanced, Balancing};
use orthant::balance::{Balancer, BalancerError, BalancerKind, Items};
use orthant::result::{MemoryError, Stored};
use orthant::{Control, Target};
use orthant_lab::balance::{ItemOrder, WorkList, thinned};

use super::sizes;
use crate::bench::provenance::Provenance;
use crate::bench::row::{CaseTimes, Failure, Phases, Row, SCHEMA};
use crate::bench::settings::Case;
use crate::error::Error;
use crate::interrupt::{cancels, undisturbed};
use crate::machine::{self, Machine};
use crate::options::{Devices, OrAuto, named, or_auto};
use crate::output::expect_extension;
use crate::output::journal::Journal;
use crate::statistics::{median, median_absolute_deviation, standard_error};
use crate::stdout;
use crate::voice::{Voice, align_right, print, table};

/// Options of `balance run`.
#[derive(Debug, Args)]
pub(crate) struct BalanceOptions {
    /// Lists of the Multi-phase Mapping paper [default: all, unless there are --sizes]
    #[arg(value_parser = named(WorkList::ALL, |list| list.name().into()))]
    workload: Vec<WorkList>,
    /// A list of one's own: a file with a number per line, an array of whole numbers (.npy), a sparse matrix (.mtx), of whose rows
    /// each has as many units as entries, or a tree, of whose regions each has as many as cells; may be repeated
    #[arg(long, value_name = "FILE")]
    sizes: Vec<PathBuf>,
    /// Orders of the items
    #[arg(long, value_parser = named(&ItemOrder::ALL, |order| PossibleValue::new(order.name()).help(order.about())), value_delimiter = ',', default_value = "shuffled")]
    order: Vec<ItemOrder>,
    /// What random orders are made of
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Take every 64th item only, and one of a 64th of the largest
    #[arg(long)]
    thin: bool,
    /// Balancers, with what they are told as in multi-phase:units=7:rounds=3 [default: all that there are]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    balancer: Vec<Balancer>,
    /// Where
    #[arg(long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND")]
    backend: OrAuto,
    /// The number of the GPU
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Samples to take
    #[arg(long, value_name = "N", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: u32,
    /// Runs before the first sample
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(0..=1000))]
    warm_up: u32,
    /// Copies of everything that take turns on a GPU, so that no cache holds what is measured [default: as many as that takes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    copies: Option<u16>,
    /// Write a line per case to this file, as bench does
    #[arg(short, long, value_name = "PATH.jsonl")]
    output: Option<PathBuf>,
    /// Overwrite an existing output
    #[arg(long)]
    force: bool,
}

/// Measures.
pub(super) fn run(args: BalanceOptions, voice: Voice) -> Result<(), Error> {
    if let Some(path) = &args.output {
        expect_extension("--output", path, &["jsonl"])?;
    }
    stdout::is_open()?;
    let device = args.device.map(|number| Devices::These(vec![number]));
    let target = machine::pick(args.backend, device.as_ref(), voice)?;
    let everyone = args.balancer.is_empty();
    once("--balancer", &args.balancer)?;
    once("--order", &args.order.iter().map(|order| order.name()).collect::<Vec<_>>())?;
    once("--sizes", &args.sizes.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())?;
    once("balance run", &args.workload.iter().map(|workload| workload.name()).collect::<Vec<_>>())?;
    let balancers: Vec<Balancer> = match everyone {
        true => BalancerKind::ALL.iter().map(|&kind| kind.into()).collect(),
        false => args.balancer.clone(),
    };
    let named = args.workload.iter().map(|workload| Ok((workload.name().to_owned(), workload.items())));
    let all = args.workload.is_empty() && args.sizes.is_empty();
    let all = WorkList::ALL.iter().filter(|_| all).map(|workload| Ok((workload.name().to_owned(), workload.items())));
    let own = args.sizes.iter().map(|path| Ok((path.display().to_string(), sizes::read(path, voice)?)));
    let lists = named.chain(all).chain(own).collect::<Result<Vec<_>, Error>>()?;
    let machine = Machine::look();
    for (_, items) in &lists {
        check_memory(&target, &machine, items)?;
    }
    let here = |balancer: &&Balancer| target.device().is_none() && !balancer.kind().is_on_cpu();
    if let Some(absent) = balancers.iter().find(here).filter(|_| !everyone) {
        absent.run(&[0], &|_| {}).map_err(orthant::Error::from)?;
    }
    let mut journal = args.output.as_ref().map(|path| Journal::create(path, args.force)).transpose()?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let bench = BalancerBench { args: &args, provenance: Provenance::look(&machine), target, control, voice };
    let mut wrong = Vec::new();
    for (name, items) in lists {
        for &order in &args.order {
            let items = order.arrange(&if args.thin { thinned(&items) } else { items.clone() }, args.seed);
            let list = List { name: &name, order, items };
            let cases = bench.list(&list, &balancers, everyone, journal.as_mut())?;
            wrong.extend(cases);
        }
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(Error::Difference(format!("{} cases are wrong, first {first}", wrong.len()))),
    }
}

/// Fails if something is there twice: rows of one key cannot be told apart.
fn once<T: PartialEq + std::fmt::Display>(option: &str, values: &[T]) -> Result<(), Error> {
    let twice = values.iter().enumerate().find(|(i, value)| values[..*i].contains(value));
    twice.map_or(Ok(()), |(_, value)| Err(Error::Input(format!("{option} {value}: is given twice"))))
}

/// Fails if the host cannot hold what it needs: the units' cells on the CPU, and the list.
fn check_memory(target: &Target, machine: &Machine, items: &Items) -> Result<(), Error> {
    let facts = items.facts();
    let cells = if target.device().is_none() { 4 * u128::from(facts.units) } else { 0 };
    let need = cells + 16 * u128::from(facts.items);
    match machine.default_limit() {
        Some(limit) if need > u128::from(limit) => {
            Err(orthant::Error::Memory(MemoryError { what: Stored::Units, need, limit: Some(limit) }).into())
        }
        _ => Ok(()),
    }
}

/// Items to be balanced.
struct List<'a> {
    name: &'a str,
    order: ItemOrder,
    items: Items,
}

struct BalancerBench<'a> {
    args: &'a BalanceOptions,
    provenance: Provenance,
    target: Target,
    control: Arc<Control>,
    voice: Voice,
}

impl BalancerBench<'_> {
    /// All balancers on one list: a table, and a row each. Returns the cases that are wrong.
    fn list(
        &self,
        list: &List<'_>,
        balancers: &[Balancer],
        everyone: bool,
        mut journal: Option<&mut Journal>,
    ) -> Result<Vec<String>, Error> {
        let facts = list.items.facts();
        let head = format!(
            "{}, {}: {} items, {} units, mean {:.3}, deviation {:.1}, at most {}, {} empty",
            list.name,
            list.order.name(),
            facts.items,
            facts.units,
            facts.mean,
            facts.deviation,
            facts.most,
            facts.empty
        );
        if facts.units == 0 {
            return print(format_args!("{head}\nno units: there is nothing to measure\n\n")).map(|()| Vec::new());
        }
        let (mut shown, mut wrong) = (table(COLUMNS), Vec::new());
        for balancer in balancers {
            let asked = Balancing {
                items: &list.items,
                balancer,
                warm_up: self.args.warm_up as usize,
                samples: self.args.samples as usize,
                copies: self.args.copies.map(usize::from),
                control: &self.control,
            };
            let done = match self.target.balance(&asked) {
                Ok(done) => done,
                // Of all that there are, some are not for these items, or not here.
                Err(error @ orthant::Error::Balancer(BalancerError::Items { .. })) => {
                    if !everyone || self.voice.verbose {
                        self.voice.say(format_args!("orthant: {}, {}: left out {error}", list.name, list.order.name()));
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let row = self.row(list, balancer, &done, facts.units, facts.items);
            if done.mistakes > 0 {
                wrong.push(row.key.clone());
            }
            shown.add_row(cells(balancer, &done, facts.units, facts.items));
            if let Some(journal) = journal.as_deref_mut() {
                undisturbed().keep(journal.path());
                let line =
                    serde_json::to_string(&row).map_err(|error| Error::System(format!("writing JSON: {error}")))?;
                journal.append(&line)?;
            }
        }
        align_right(&mut shown);
        print(format_args!("{head}\n{}\n\n", shown.trim_fmt()))?;
        Ok(wrong)
    }

    fn row(&self, list: &List<'_>, balancer: &Balancer, done: &Balanced, units: u64, items: u64) -> Row<()> {
        let total: Vec<f64> = done.samples.iter().map(|times| times.total()).collect();
        let case: Case = [
            ("workload", list.name.to_owned()),
            ("thin", self.args.thin.to_string()),
            ("order", list.order.name().to_owned()),
            ("seed", self.args.seed.to_string()),
            ("balancer", balancer.to_string()),
            ("backend", self.target.name().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect();
        let error = standard_error(&total);
        let on_device = self.target.device().is_some();
        let failure = (done.mistakes > 0)
            .then(|| Failure { message: format!("{} units or items are wrong", done.mistakes), exit: 3 });
        let phase = |of: fn(&BalanceTimes) -> f64| done.samples.iter().map(of).collect();
        Row {
            schema: SCHEMA,
            sweep: "balance".into(),
            key: case.key(),
            case: case.settings().to_vec(),
            samples: failure.is_none().then(|| CaseTimes {
                clock: if on_device { "device" } else { "wall" }.into(),
                median: median(&total),
                standard_error: error.is_finite().then_some(error),
                stop: "max-samples".into(),
                warm_up: self.args.warm_up as usize,
                wall: done.wall.clone(),
                device: if on_device { total } else { Vec::new() },
            }),
            energy: None,
            run: None,
            phases: Some(Phases {
                scan: phase(|times| times.scan),
                partition: phase(|times| times.partition),
                expansion: phase(|times| times.expansion),
                units,
                items,
                copies: done.copies,
            }),
            error: failure,
            provenance: self.provenance.now(self.target.facts()),
        }
    }
}

const COLUMNS: &[&str] =
    &["balancer", "scan us", "partition us", "expansion us", "total us", "mad us", "units/ns", "GB/s", "wrong"];

/// A line of the table. Bytes are those that must move: eight per unit, which is read and written, and eight per item.
fn cells(balancer: &Balancer, done: &Balanced, units: u64, items: u64) -> [String; 9] {
    let phase = |of: fn(&BalanceTimes) -> f64| done.samples.iter().map(of).collect::<Vec<_>>();
    let micros = |seconds: f64| format!("{:.2}", seconds * 1e6);
    let totals = phase(|times| times.total());
    let (total, expansion) = (median(&totals), median(&phase(|times| times.expansion)));
    if done.mistakes > 0 {
        let mut line = [const { String::new() }; 9];
        (line[0], line[8]) = (balancer.to_string(), done.mistakes.to_string());
        return line;
    }
    [
        balancer.to_string(),
        micros(median(&phase(|times| times.scan))),
        micros(median(&phase(|times| times.partition))),
        micros(expansion),
        micros(total),
        micros(median_absolute_deviation(&totals)),
        format!("{:.3}", units as f64 / total / 1e9),
        format!("{:.0}", 8.0 * (units + items) as f64 / total / 1e9),
        done.mistakes.to_string(),
    ]
}
