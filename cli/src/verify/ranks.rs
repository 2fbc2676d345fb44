//! `orthant verify --ranks N`: pieces that N processes make, beside one run.
//!
//! The processes are this program's own, as a launcher would start them. They know a case by its folder of pieces alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use orthant::backend::{Part, Tuning};
use orthant::field::{Field, FieldData, Job, Open};
use orthant::geometry::Domain;
use orthant::tree::{Collector, Parts, PieceFolder, PieceRequest, TreeFile, TreeInfo, TreeSource, TreeTarget};
use orthant::{BackendKind, Control, How, Plan, Request, StrategyKind, Target, Tree};
use orthant_lab::conformance::Case;
use orthant_lab::model::pilot;

use super::case_files;
use crate::error::Error;
use crate::options::{Devices, HowOptions};
use crate::shard::{PlannedRun, made_of};
use crate::voice::Voice;

/// Regions of the initial grid, so that seven pieces have several.
const ROOTS: u128 = 49;

/// Pieces of a run.
pub(super) const PIECES: [usize; 5] = [1, 2, 3, 4, 7];

/// The processes that make pieces.
pub(super) struct Ranks {
    pub(super) ranks: usize,
    /// What starts this program: its name, and for one that an interpreter carries, more words.
    pub(super) program: Vec<OsString>,
    pub(super) device: Option<Devices>,
    pub(super) target: Target,
    pub(super) control: Arc<Control>,
}

/// A case whose pieces were compared with one run.
pub(super) struct CheckedPieces {
    pub(super) case: String,
    /// Pieces of each of its runs.
    pub(super) pieces: Vec<usize>,
    /// The most cells in which a run differs.
    pub(super) differing: u128,
    /// What broke a law.
    pub(super) faults: Vec<String>,
}

/// The words that started this program, up to its command `name`: processes of the same program begin so. None if it was not
/// started by a command line.
pub(super) fn program(name: &str) -> Option<Vec<OsString>> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let place = words.iter().skip(1).position(|word| word == name)?;
    // Options before the command are about what this process says.
    let options = ["-q", "--quiet", "-v", "--verbose"];
    Some(words.into_iter().take(place + 1).filter(|word| !options.iter().any(|option| word == option)).collect())
}

impl Ranks {
    /// Checks a case; None if the backend cannot run it. `number` counts cases.
    ///
    /// # Errors
    /// If a run itself fails, or a process cannot be started.
    pub(super) fn check(&self, case: &Case, number: usize, folder: &Path) -> Result<Option<CheckedPieces>, Error> {
        let job = CheckCase { ranks: self, case, number, folder };
        case.request.workload.dispatch(case.request.k(), job)?
    }

    /// Lets all processes make the pieces of a folder: what is wrong with one that did not end well.
    fn make(&self, pieces: &Path) -> Result<Vec<String>, Error> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let start = |_| {
            let mut command = Command::new(&self.program[0]);
            command.args(&self.program[1..]).args(["shard", "run"]).arg(pieces);
            command.args(["--backend", self.target.kind().name()]);
            command.args(self.device.iter().map(|device| format!("--device={device}")));
            if self.target.kind() == BackendKind::Cpu {
                command.arg(format!("--threads={}", (cores / self.ranks).max(1)));
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
        };
        let started: Vec<std::io::Result<Child>> = (0..self.ranks).map(start).collect();
        let mut faults = Vec::new();
        for (rank, child) in started.into_iter().enumerate() {
            let output = child.and_then(Child::wait_with_output).map_err(|error| {
                let program = self.program[0].display();
                Error::System(format!("--ranks {}: {program} shard run: {error}", self.ranks))
            })?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().last().unwrap_or_default();
                faults.push(format!("process {rank}: {}: {last}", output.status));
            }
        }
        Ok(faults)
    }
}

/// A case once its dimension is a type.
struct CheckCase<'c> {
    ranks: &'c Ranks,
    case: &'c Case,
    number: usize,
    folder: &'c Path,
}

impl Job for CheckCase<'_> {
    type Output = Result<Option<CheckedPieces>, Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { ranks, case, number, folder } = self;
        let control = &*ranks.control;
        let domain = case.request.domain::<K>()?;
        let field = open(&domain, &case.request.options()?)?;
        let runs = match ranks.target.kind() {
            BackendKind::Cpu => field.host().is_some(),
            _ => field.twin().is_some(),
        };
        if !runs {
            return Ok(None);
        }
        let plan = case.request.plan::<K>()?;
        let scheme = plan.scheme().with_roots(domain.size(), ROOTS);
        let plan = Plan::new(*plan.domain(), scheme, plan.curve(), plan.rule()).map_err(orthant::Error::from)?;
        let mut request = case.request.clone();
        request.computed.g = Some(scheme.g.to_vec());
        let planned = planned::<K>(&request, &domain, &*field, folder, control)?;
        let quiet = Voice { quiet: true, verbose: false, colour: false };
        let read = planned.read(&HowOptions::default(), None, quiet)?;
        // The numbers of files are those of the case; how a column's are stored is not said there.
        if request.data.is_some() {
            request = read.request.clone();
        }
        request.how = read.request.how.clone();
        let field = open(plan.domain(), &request.options()?)?;
        let how = request.how.clone().for_labels(field.labels())?;
        let info = match &read.array {
            Some(array) => array.info(&plan),
            None => TreeInfo::of(&plan).source(request.title()),
        };
        let one = one_run(&ranks.target, &plan, &*field, &how, control)?;
        let path = folder.join("one.tree.zarr");
        one.save(&path, &info)?;
        let one = TreeFile::<K>::open(&path)?;
        let weights = pilot::weights(&request, &plan, open, control)?;
        let asked = serde_json::to_value(&planned).map_err(|error| Error::System(error.to_string()))?;
        let made_of = made_of(&read.request, &plan)?;
        let mut checked = CheckedPieces { case: case.name(), pieces: Vec::new(), differing: 0, faults: Vec::new() };
        for (turn, count) in PIECES.into_iter().enumerate() {
            // Pieces of equal cost and of equal size, by turns.
            let weights = if (number + turn) % 2 == 0 { &weights[..] } else { &[] };
            let asked = PieceRequest {
                plan: &plan,
                kind: how.kept.cell,
                info: &info,
                made_of: &made_of,
                request: asked.clone(),
                weights,
                pieces: count,
            };
            let pieces = PieceFolder::create(folder.join(format!("{count}.pieces")), asked, false)?;
            let mut faults = ranks.make(pieces.path())?;
            control.check()?;
            match together::<K>(&pieces, &folder.join(format!("{count}.tree.zarr")), &ranks.control) {
                Ok(tree) => {
                    let (cells, differences) = differences(&one, &tree, control)?;
                    checked.differing = checked.differing.max(cells);
                    faults.extend(differences);
                }
                Err(error) => faults.push(error.to_string()),
            }
            let about = |fault: String| format!("{} pieces: {fault}", pieces.len());
            checked.faults.extend(faults.into_iter().map(about));
            checked.pieces.push(pieces.len());
        }
        Ok(Some(checked))
    }
}

/// A case as the plan of a folder keeps it, its data in files.
fn planned<const K: usize>(
    request: &Request,
    domain: &Domain<K>,
    field: &dyn Field<K>,
    folder: &Path,
    control: &Control,
) -> Result<PlannedRun, Error> {
    let cells = || {
        let how = How::default().strategy(StrategyKind::Exhaustive).for_labels(field.labels())?;
        let plan = request.plan::<K>()?;
        debug_assert_eq!(plan.domain(), domain);
        let cpu = Target::cpu();
        let mut prepared = cpu.of::<K>().prepare(&plan, field, &how)?;
        prepared.run(&Part::default(), control)?;
        Ok(prepared.subdivision()?.materialise(None)?)
    };
    let input = match &request.data {
        Some(data) => case_files::write(data, request.computed.value, cells, folder)?,
        None => Vec::new(),
    };
    // An array's file says how large it is.
    let of_file = |name: &str| matches!(request.data, Some(FieldData::Array(_))) && ["dim", "size"].contains(&name);
    let computed = request.computed.entries().into_iter().filter(|(name, _)| !of_file(name));
    Ok(PlannedRun {
        workload: request.workload.to_string(),
        computed: computed.filter_map(|(name, text)| Some((name.to_owned(), text?))).collect(),
        cell: None,
        source: request.source.as_deref().map(str::to_owned),
        input,
    })
}

/// The tree of one run.
fn one_run<const K: usize>(
    target: &Target,
    plan: &Plan<K>,
    field: &dyn Field<K>,
    how: &How,
    control: &Control,
) -> Result<Tree<K>, Error> {
    let mut prepared = target.of().prepare(plan, field, how)?;
    prepared.run(&Part::default(), control)?;
    let mut collector = Collector::new(plan);
    prepared.result(&mut collector)?;
    let tree = collector.tree()?;
    Ok(if Tuning::default().asks_proofs(plan.rule()) { tree.proved_by(field, control)? } else { tree })
}

/// The tree of all pieces. Every byte is checked while it is copied.
fn together<const K: usize>(
    pieces: &PieceFolder,
    path: &PathBuf,
    control: &Arc<Control>,
) -> Result<TreeFile<K>, Error> {
    pieces.merge::<K>(&TreeTarget::new(path).overwrite(true), control)?.finish()?;
    let tree = TreeFile::<K>::open(path)?;
    tree.validate()?;
    Ok(tree)
}

/// The cells in which two trees differ, and in what else they do.
///
/// # Errors
/// If one cannot be read.
fn differences<const K: usize>(
    one: &TreeFile<K>,
    other: &TreeFile<K>,
    control: &Control,
) -> Result<(u128, Vec<String>), Error> {
    let mut found = Vec::new();
    let cells = (other as &dyn Parts<K>).compare(&TreeSource(one), 0, control)?.cells;
    if cells > 0 {
        found.push(format!("{cells} cells differ from one run's"));
    }
    if one.terminals() != other.terminals() {
        found.push(format!("the regions of the levels are {:?}, not {:?}", other.terminals(), one.terminals()));
    }
    if one.checksum() != other.checksum() {
        found.push(format!("the checksum of the regions is {}, not {}", other.checksum(), one.checksum()));
    }
    Ok((cells, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::field::CellField;
    use orthant::geometry::Scheme;
    use orthant::{CellType, Keep, RuleKind};

    /// One cell of another label, in one piece of several, is found as a cell, as a region and in the checksum.
    #[test]
    fn a_planted_cell_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let scheme = Scheme::uniform(8, 2, 2);
        let plan = Plan::builder([64, 64]).scheme(scheme).rule(RuleKind::Full).build().unwrap();
        let info = TreeInfo::of(&plan);
        let how = How::default().keep(Keep::Regions).cell(CellType::U8);
        let tree = |planted: [u32; 2], name: &str| {
            let disc = |[x, y]: [u32; 2]| u32::from(x * x + y * y < 1000) + u32::from([x, y] == planted);
            let path = folder.path().join(name);
            let field = CellField::new(2, disc);
            one_run(&Target::cpu(), &plan, &field, &how, &Control::default()).unwrap().save(&path, &info).unwrap();
            TreeFile::<2>::open(path).unwrap()
        };
        let one = tree([99, 99], "one.tree.zarr");
        let differences = |other: &TreeFile<2>| differences(&one, other, &Control::default()).unwrap();
        assert_eq!(differences(&tree([99, 99], "same.tree.zarr")), (0, Vec::new()));
        let (cells, found) = differences(&tree([60, 50], "other.tree.zarr"));
        assert_eq!((cells, found.len()), (1, 3), "{found:?}");
    }
}
