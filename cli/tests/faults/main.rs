//! What is left when a call to the system fails, or when the power goes: the old output, the new one, or something that the same
//! command resumes. Never a part of one that looks whole.
//!
//! Every command runs in this process, over a layer that fails one call after the other, or remembers them all. All calls of the process
//! pass the one layer, and some commands write to its stdout: so one test runs at a time, and the harness says nothing meanwhile.

mod commands;
mod layer;
mod power;
mod reads;
mod snapshot;
mod stream;

#[expect(dead_code, reason = "there are no lists of cases here")]
#[path = "../scope.rs"]
mod scope;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use commands::{Case, cases};
use layer::{FAULTS, Fault};
use libtest_mimic::{Arguments, Trial};
use orthant::disk::{Folder, sweep};
use snapshot::{Files, restore, take};

/// What the outputs of a case are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Old,
    New,
    Lie,
}

/// How a command is run after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With --force.
    Forced,
    /// Without, and if it is refused, with --force after that.
    Plain,
}

impl Way {
    /// Both, or by turns where not all calls are failed.
    fn after(injected: u64) -> &'static [Self] {
        const BOTH: [Way; 2] = [Way::Plain, Way::Forced];
        match stride(SOME) {
            1 => &BOTH,
            _ => std::slice::from_ref(&BOTH[injected as usize % 2]),
        }
    }
}

/// A folder before a case, and after it.
struct Expected {
    before: Files,
    after: Files,
}

impl Expected {
    fn of(case: &Case, folder: &Path) -> Self {
        (case.prepare)(folder);
        let before = take(folder);
        (case.run)(folder, case.force).unwrap_or_else(|said| panic!("{}: fails without a fault: {said}", case.name));
        let after = take(folder);
        let hidden: Vec<_> = after.keys().filter(|name| name.starts_with('.')).collect();
        assert!(hidden.is_empty(), "{}: leaves {hidden:?}", case.name);
        Self { before, after }
    }

    /// What the outputs are like.
    fn state(&self, case: &Case, folder: &Path) -> State {
        if !case.exchanges {
            // Between the two steps there is no target. The next command that looks for it puts the old one back.
            sweep(&Folder::open(folder).unwrap());
        }
        let found = take(folder);
        let states = case.outputs.iter().map(|output| {
            let of = |files: &Files| -> Files {
                let own = |name: &str| name == *output || name.starts_with(&format!("{output}/"));
                files.iter().filter(|(name, _)| own(name)).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
            };
            match of(&found) {
                found if found == of(&self.after) => State::New,
                found if found == of(&self.before) => State::Old,
                found if case.loose && snapshot::is_whole_text(&found) => State::New,
                _ => State::Lie,
            }
        });
        states.max().expect("a case has outputs")
    }

    /// The same command in this way mends what is left, and leaves nothing beside its outputs. One that is not to overwrite may be
    /// refused: then it says what to type, and the outputs are as they were.
    fn mended(&self, case: &Case, folder: &Path, way: Way, what: &str) {
        if way == Way::Plain {
            let before = self.state(case, folder);
            let Err(said) = (case.run)(folder, false) else {
                return self.whole(case, folder, &format!("{what}, plainly"));
            };
            let helps = ["--force", "--resume", "rm -r", ": exists"].iter().any(|words| said.contains(words));
            assert!(helps, "{}: {what}: the plain command is refused without help: {said}", case.name);
            assert_eq!(self.state(case, folder), before, "{}: {what}: the plain command: {said}", case.name);
            // It was there before, or the fault came after it was.
            assert!(case.force || before == State::New || case.loose || case.outputs.len() > 1, "{what}: {said}");
        }
        let ended = (case.run)(folder, true);
        ended.unwrap_or_else(|said| panic!("{}: {what}: does not succeed afterwards: {said}", case.name));
        self.whole(case, folder, what);
    }

    /// All outputs are there and new, and nothing beside them.
    fn whole(&self, case: &Case, folder: &Path, what: &str) {
        let found = take(folder);
        let others = |of: &Files, from: &Files| of.keys().filter(|name| !from.contains_key(*name)).cloned().collect();
        let differ: [Vec<String>; 2] = [others(&found, &self.after), others(&self.after, &found)];
        assert!(
            differ.iter().all(Vec::is_empty),
            "{}: {what}: {differ:?} too many and too few after the second run",
            case.name
        );
        if !case.loose {
            assert!(found == self.after, "{}: {what}: other bytes after the second run", case.name);
        }
    }
}

/// Calls from one fault to the next: in full every call fails.
fn stride(some: u64) -> u64 {
    scope::sized(1, some)
}

/// The commands, or those whose names hold what ORTHANT_FAULTS_OF says.
fn chosen() -> Vec<Case> {
    let of = std::env::var("ORTHANT_FAULTS_OF").unwrap_or_default();
    let chosen: Vec<Case> = cases().into_iter().filter(|case| case.name.contains(&of)).collect();
    assert!(!chosen.is_empty(), "ORTHANT_FAULTS_OF={of}: no command has such a name");
    chosen
}

/// Calls from one fault to the next of its kind, unless all are failed. Each kind begins one call later, so that of 61 calls as many fail as
/// there are kinds.
const SOME: u64 = 61;

/// Calls from one power cut to the next.
const SOME_CUTS: u64 = 23;

/// A folder in memory where there is one: to sync a disk takes longer than all else here.
fn place() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn told(kind: &str, case: &Case, count: u64, states: &BTreeMap<State, u64>) {
    let of = |state| states.get(&state).copied().unwrap_or_default();
    println!("| {} | {kind} | {count} | {} | {} | {} |", case.name, of(State::Old), of(State::New), of(State::Lie));
}

fn no_failing_call_leaves_a_lie() {
    println!("| command | faults | injected | old | new | lies |\n|---|---|--:|--:|--:|--:|");
    for case in chosen() {
        let folder = place();
        let folder = folder.path();
        FAULTS.within(folder, case.exchanges);
        let expected = Expected::of(&case, folder);
        for (number, fault) in Fault::ALL.into_iter().enumerate() {
            let mut states = BTreeMap::new();
            let (mut nth, mut injected) = (number as u64 % stride(SOME), 0);
            'calls: loop {
                for &way in Way::after(number as u64 + injected) {
                    restore(folder, &expected.before);
                    FAULTS.fail(nth, fault);
                    let ended = (case.run)(folder, case.force);
                    if !FAULTS.off() {
                        break 'calls;
                    }
                    let what = format!("{fault:?} at call {nth}");
                    let state = expected.state(&case, folder);
                    assert_ne!(state, State::Lie, "{}: {what}: {:?}", case.name, take(folder).keys());
                    // Files of one command are independent, so one that is whole may stand beside one that is not there.
                    assert!(ended.is_err() || state == State::New, "{}: {what}: says that it succeeded", case.name);
                    assert!(ended.is_ok() || !fault.is_harmless(), "{}: {what}: fails: {ended:?}", case.name);
                    *states.entry(state).or_insert(0) += 1;
                    expected.mended(&case, folder, way, &what);
                    injected += 1;
                }
                nth += stride(SOME);
            }
            assert!(injected > 0, "{}: {fault:?}: too few calls pass the layer", case.name);
            told(&format!("{fault:?}"), &case, injected, &states);
        }
    }
}

fn no_power_cut_leaves_a_lie() {
    println!("| command | cut | states | old | new | lies |\n|---|---|--:|--:|--:|--:|");
    for case in chosen() {
        let folder = place();
        FAULTS.within(folder.path(), case.exchanges);
        let expected = Expected::of(&case, folder.path());
        restore(folder.path(), &expected.before);
        FAULTS.record();
        (case.run)(folder.path(), case.force).unwrap();
        let log = FAULTS.recorded();
        for (number, loss) in power::Loss::ALL.into_iter().enumerate() {
            let mut states = BTreeMap::new();
            // From the end: a short command is whole there. Each loss begins one call earlier.
            let (step, skipped) = (stride(SOME_CUTS) as usize, number % stride(SOME_CUTS) as usize);
            for (turn, calls) in (0..=log.len()).rev().skip(skipped).step_by(step).enumerate() {
                for &way in Way::after((number + turn) as u64) {
                    restore(folder.path(), &BTreeMap::new());
                    power::cut(&expected.before, &log[..calls], loss, folder.path());
                    let what = format!("power cut after call {calls} of {}, {loss:?}", log.len());
                    let state = expected.state(&case, folder.path());
                    assert_ne!(state, State::Lie, "{}: {what}: {:?}", case.name, take(folder.path()).keys());
                    *states.entry(state).or_insert(0) += 1;
                    expected.mended(&case, folder.path(), way, &what);
                }
            }
            told(&format!("{loss:?}"), &case, states.values().sum(), &states);
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let test = |name, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let tests = vec![
        test("no_failing_call_leaves_a_lie", no_failing_call_leaves_a_lie),
        test("no_power_cut_leaves_a_lie", no_power_cut_leaves_a_lie),
        test("no_failing_read_gives_a_wrong_answer", reads::no_failing_read_gives_a_wrong_answer),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}
