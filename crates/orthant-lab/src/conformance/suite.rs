//! Running the rows, and the laws that they must keep.

use crate::conformance::axes::{Axis, Row, Scope, axes, counts, rows};
use crate::conformance::cases::Case;
use crate::conformance::cut::{Cut, disorder, in_parts, in_windows};
use crate::conformance::reference::Reference;
use crate::conformance::served::Served;
use orthant::CellType;
use orthant::Plan;
use orthant::backend::{Backend, Control, Error, How, Part, StrategyKind};
use orthant::field::{Field, Job, Open};
use orthant::geometry::{Domain, SampleGrid};
use orthant::result::{Keep, Subdivision};
use orthant::{BackendKind, Target};

/// What a dense array is filled with before the runs of a row: a cell that is not written cannot be right in both.
const POISONS: [u8; 2] = [0x5a, 0xa5];

/// Points of the coarse samples that are compared.
const SAMPLED: u64 = 1 << 10;

/// One run of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The case in words.
    pub case: String,
    /// What was varied.
    pub row: Row,
    /// The checksum of the dense array in its cells' type; None if no cells were kept.
    pub checksum: Option<String>,
    /// Cells that differ from Exhaustive.
    pub differing: u64,
    /// What broke a law; None if nothing did.
    pub fault: Option<String>,
}

/// Cases, and the rows that vary them on a backend.
#[derive(Debug)]
pub struct Suite {
    cases: Vec<Case>,
    axes: Vec<Axis>,
    rows: Vec<Row>,
    scope: Scope,
    /// The most that a row may ask for; None: any number.
    threads: Option<usize>,
}

impl Suite {
    /// The suite of some cases on a backend; cases that it cannot run are left out.
    pub fn new(cases: Vec<Case>, backend: BackendKind, scope: Scope) -> Self {
        let served = cases.into_iter().map(|case| (case.served(), case));
        let (served, cases): (Vec<Served>, Vec<Case>) = served.filter(|(served, _)| served.runs_on(backend)).unzip();
        let axes = axes(&cases, backend);
        let rows = match cases[..] {
            [] => Vec::new(),
            _ => rows(&axes, scope, |case, wanted| served[case].serves(wanted)),
        };
        Self { cases, axes, rows, scope, threads: None }
    }

    /// The rows, by case.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The most threads that a row asks for; 0 if none does.
    pub fn threads(&self) -> usize {
        self.rows.iter().filter_map(|row| row.how.tuning.threads).max().unwrap_or(0)
    }

    /// With at most so many threads for a row that asks for some, where no more can be started; with 0, it takes those of
    /// the caller's pool. No cell may depend on it.
    #[must_use]
    pub fn at_most(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// What is varied, with the number of rows that take each value: cases by name.
    pub fn per_axis(&self) -> Vec<(&'static str, Vec<(String, usize)>)> {
        let mut counts = counts(&self.axes, &self.rows);
        if let Some((_, cases)) = counts.first_mut() {
            cases.iter_mut().zip(&self.cases).for_each(|((name, _), case)| *name = case.name());
        }
        counts
    }

    /// Runs every row on `target` and reports it to `each`.
    ///
    /// # Errors
    /// If a run itself fails, or `control` is cancelled.
    pub fn run(&self, target: &Target, control: &Control, each: &mut dyn FnMut(&Checked)) -> Result<(), Error> {
        let mut sampled = Vec::new();
        for rows in self.rows.chunk_by(|a, b| a.case == b.case) {
            let case = &self.cases[rows[0].case];
            // A GPU compiles a kernel for each sample. `Once` samples the first case of each kind of field.
            let kind = case.kind();
            let samples = self.scope != Scope::Once || !sampled.contains(&kind);
            sampled.push(kind);
            let job = RunCase { case, rows, samples, most_threads: self.threads, target, control, each: &mut *each };
            case.request.workload.dispatch(case.request.k(), job)??;
        }
        Ok(())
    }
}

/// The rows of one case once its dimension is a type.
struct RunCase<'a> {
    case: &'a Case,
    rows: &'a [Row],
    /// Whether a coarse sample is compared, too.
    samples: bool,
    most_threads: Option<usize>,
    target: &'a Target,
    control: &'a Control,
    each: &'a mut dyn FnMut(&Checked),
}

impl Job for RunCase<'_> {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { case, rows, samples, most_threads, target, control, each } = self;
        let domain = case.request.domain::<K>()?;
        let field = &*open(&domain, &case.request.options()?)?;
        let backend = target.of::<K>();
        // A field that is source for a GPU has no other oracle than itself.
        let cpu = Target::cpu();
        let oracle = if field.host().is_none() { backend } else { cpu.of::<K>() };
        let mut sampled = match samples {
            true => sampled(oracle, backend, field, &domain, control)?,
            false => None,
        };
        let labels = field.labels();
        let truth = {
            let how = How::default().strategy(StrategyKind::Exhaustive).cell(labels.cell(CellType::U64));
            once(oracle, &case.request.plan::<K>()?, field, &how, control)?
        };
        let truth = truth.array().expect("a dense array is kept");
        let how = How::default().cell(labels.cell(CellType::U64));
        let known = once(oracle, &case.request.plan::<K>()?, field, &how, control)?;
        let reference = Reference::of(case, labels, &known, truth)?;
        // The field is opened anew, since a GPU does not sort points that the CPU has sorted.
        let tested = &*open(&domain, &case.request.options()?)?;
        for row in rows {
            let plan = case.request.clone().curve(row.curve).plan::<K>()?;
            let mut outcome =
                Checked { case: case.name(), row: row.clone(), checksum: None, differing: 0, fault: sampled.take() };
            let mut how = row.how.clone();
            if let (Some(most), Some(asked)) = (most_threads, how.tuning.threads) {
                how = how.threads(Some(asked.min(most)).filter(|&threads| threads > 0));
            }
            for poison in POISONS {
                let how = how.clone().poison(poison);
                let exhaustive = row.how.tuning.strategy == StrategyKind::Exhaustive;
                let (run, disorder) = match row.cut {
                    Cut::NONE => {
                        let run = once(backend, &plan, tested, &how, control)?;
                        let disorder = disorder(&run);
                        (run, disorder)
                    }
                    cut => {
                        let mut prepared = backend.prepare(&plan, tested, &how)?;
                        let cells = (cut, how.kept.cell, poison);
                        match exhaustive {
                            true => in_windows(&mut *prepared, &plan, cut.windows, control)?,
                            false => in_parts(&mut *prepared, &plan, &known, cells, control)?,
                        }
                    }
                };
                let array = match row.how.kept.keep {
                    Keep::Counts => None,
                    _ => Some(run.materialise(None)?),
                };
                let expected = if exhaustive { truth } else { &reference.array };
                let mut fault = |fault: String| {
                    outcome.fault.get_or_insert(fault);
                };
                disorder.into_iter().for_each(&mut fault);
                if let Some(array) = &array {
                    outcome.checksum = Some(array.checksum());
                    outcome.differing = truth.differing(array);
                    match expected.differing(array) {
                        0 => {}
                        cells => fault(format!("{cells} cells differ from the CPU's, over poison {poison:#x}")),
                    }
                }
                if !exhaustive {
                    reference.disagreement(&run).into_iter().for_each(&mut fault);
                }
                if case.exact && outcome.differing > 0 {
                    fault(format!("{} cells differ from exhaustive", outcome.differing));
                }
            }
            each(&outcome);
        }
        Ok(())
    }
}

/// One run.
fn once<const K: usize>(
    backend: &dyn Backend<K>,
    plan: &Plan<K>,
    field: &dyn Field<K>,
    how: &How,
    control: &Control,
) -> Result<Subdivision<K>, Error> {
    let mut prepared = backend.prepare(plan, field, how)?;
    prepared.run(&Part::default(), control)?;
    prepared.subdivision()
}

/// What a coarse sample here and one by the oracle disagree in, if in anything.
fn sampled<'a, const K: usize>(
    oracle: &'a dyn Backend<K>,
    here: &'a dyn Backend<K>,
    field: &'a dyn Field<K>,
    domain: &Domain<K>,
    control: &Control,
) -> Result<Option<String>, Error> {
    let grid = SampleGrid::new(domain.size(), SAMPLED);
    let of = |backend: &'a dyn Backend<K>| backend.sample(domain, field, grid, &How::default())?(control);
    Ok(disagreement(&of(here)?, &of(oracle)?))
}

fn disagreement(here: &[u64], there: &[u64]) -> Option<String> {
    let differing = here.iter().zip(there).filter(|(a, b)| a != b).count();
    (here.len() != there.len() || differing > 0).then(|| format!("{differing} sampled labels differ from the CPU's"))
}
