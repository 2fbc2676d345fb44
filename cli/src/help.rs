//! The command line as it is shown: examples under the help of every command.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::args::Cli;
use crate::lazy_options;
use crate::variables;

/// What people ask of a command first, without the program's name.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "demo",
            "tree build labels.nrrd -o labels.tree.zarr",
            "run mandelbrot -o m.png --overlay regions.png",
            "run --help",
        ],
    ),
    ("run", &["run mandelbrot -n 2^12 --auto-scheme -o m.png", "run array --input volume.npy -o slice.png"]),
    ("verify", &["verify", "verify mandelbulb --backend cpu"]),
    (
        "bench",
        &[
            "bench -a workload=mandelbrot -a n=2^10,2^12 -a strategy=ask,dp -o mine.jsonl",
            "bench benches/sweeps/paper-ask-small.toml --list",
        ],
    ),
    ("compare", &["compare before.jsonl after.jsonl", "compare before.jsonl after.jsonl --fail-above 5%"]),
    ("report", &["report mine.jsonl -o page.html", "report mine.jsonl --md page.md --svg figures"]),
    ("curves", &["curves walk --curve hilbert --level 3", "curves compare mandelbrot -n 2^12"]),
    ("curves walk", &["curves walk --curve hilbert --level 3", "curves walk --curve morton --dim 3 -g 3 --level 1"]),
    (
        "curves compare",
        &["curves compare mandelbrot -n 2^12", "curves compare simplex --dim 3 --curves morton,hilbert"],
    ),
    ("model", &["model plan -P 0.7 -n 2^16", "model predict -g 2,4,8 -B 32", "model tune mandelbrot -n 2^12"]),
    ("model predict", &["model predict -g 2,4,8 -B 32", "model predict -n 2^10x2^12 --box-dim 1.5 --json"]),
    ("model plan", &["model plan -P 0.7 -n 2^16", "model plan --box-dim 1.5 -r 2 --objective mbr"]),
    ("model fit", &["model fit mine.jsonl", "model fit mine.jsonl --hold-out 2^14 --dry-run"]),
    ("model tune", &["model tune mandelbrot -n 2^12", "model tune mandelbulb -n 256 --patience 8 --dry-run"]),
    ("model plot", &["model plot fig3 -o fig3.svg", "model plot landscape -n 2^16 -o landscape.svg"]),
    ("model plot fig3", &["model plot fig3 -o fig3.svg"]),
    ("model plot fig4", &["model plot fig4 -o fig4.svg"]),
    ("model plot landscape", &["model plot landscape -n 2^16 -g 8 -o landscape.svg"]),
    (
        "tree",
        &[
            "tree build frog.npy -o frog.tree.zarr",
            "tree slice frog.tree.zarr --axis z=68 -o s.png",
            "tree convert frog.tree.zarr frog.htg",
        ],
    ),
    (
        "tree build",
        &[
            "tree build brain.nii.gz -o brain.tree.zarr",
            "tree build cells.raw --dtype u8 -n 512x512x64 -o cells.tree.zarr",
        ],
    ),
    ("tree info", &["tree info frog.tree.zarr", "tree info frog.tree.zarr.zip --json"]),
    ("tree print", &["tree print frog.tree.zarr --level 1", "tree print frog.tree.zarr --json"]),
    ("tree validate", &["tree validate frog.tree.zarr", "tree validate frog.tree.zarr --against frog.npy"]),
    (
        "tree sample",
        &["tree sample brain.tree.zarr --at x=10mm,y=20mm,z=68", "tree sample frog.tree.zarr --points places.csv"],
    ),
    (
        "tree box",
        &[
            "tree box frog.tree.zarr 0:64,0:64,68 -o corner.npy",
            "tree box brain.tree.zarr --axis z=60:70 --axis y=10mm:30mm -o -",
        ],
    ),
    (
        "tree slice",
        &[
            "tree slice frog.tree.zarr --axis z=68 --legend -o s.png",
            "tree slice series.tree.zarr --axis t=0 -o first.tree.zarr",
        ],
    ),
    (
        "tree lod",
        &[
            "tree lod frog.tree.zarr --level 2 -o small.npy",
            "tree lod ct.tree.zarr --level 1 --by max -o ct1.tree.zarr",
        ],
    ),
    ("tree stats", &["tree stats frog.tree.zarr", "tree stats frog.tree.zarr --json"]),
    (
        "tree view",
        &["tree view frog.tree.zarr -o frog.html", "tree view ct.tree.zarr --by max --max-size 20M -o ct.html"],
    ),
    ("tree convert", &["tree convert frog.tree.zarr frog.htg", "tree convert frog.tree.zarr frog.tree.zarr.zip"]),
    ("tree diff", &["tree diff before.tree.zarr after.tree.zarr"]),
    ("balance", &["balance list", "balance run --thin", "balance run --balancer multi-phase,merge-path"]),
    ("balance list", &["balance list"]),
    (
        "balance run",
        &[
            "balance run circuit5M --balancer multi-phase:units=7,merge-path --order shuffled,descending",
            "balance run --sizes frog.tree.zarr -o balance.jsonl",
        ],
    ),
    (
        "shard",
        &["shard plan mandelbrot -n 2^16 -o m.pieces", "shard run m.pieces", "shard merge m.pieces -o m.tree.zarr"],
    ),
    (
        "shard plan",
        &["shard plan mandelbrot -n 2^16 -o m.pieces", "shard plan array --input ct.npy --pieces 256 -o ct.pieces"],
    ),
    ("shard run", &["shard run m.pieces", "shard run m.pieces --shard auto --device all"]),
    ("shard status", &["shard status m.pieces", "shard status m.pieces --quick --json"]),
    ("shard merge", &["shard merge m.pieces -o m.tree.zarr"]),
    ("demo", &["demo", "demo elsewhere --force"]),
    ("info", &["info"]),
    ("doctor", &["doctor"]),
    ("completions", &["completions bash"]),
    ("man", &["man"]),
];

/// The command line with its examples and variables.
pub(crate) fn command() -> Command {
    dressed(Cli::command(), "")
}

/// The same, but only the commands that are typed have their options.
pub(crate) fn command_of(arguments: &[OsString]) -> Command {
    lazy_options::of_words(arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(), command)
}

/// The command at `path`, and those below it.
fn dressed(command: Command, path: &str) -> Command {
    let examples = EXAMPLES.iter().find(|(of, _)| *of == path).map_or(&[][..], |(_, examples)| examples);
    let lines: String = examples.iter().map(|example| format!("\n  orthant {example}")).collect();
    let command = command.mut_args(variables::show).after_help(format!("Examples:{lines}"));
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        dressed(below, path.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &Command, path: &str) -> Vec<String> {
        let below =
            command.get_subcommands().flat_map(|below| paths(below, format!("{path} {}", below.get_name()).trim()));
        std::iter::once(path.to_owned()).chain(below).collect()
    }

    #[test]
    fn every_command_has_examples_that_are_read() {
        let command = command();
        command.clone().debug_assert();
        let shown: Vec<_> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
        let mut known = paths(&command, "");
        known.sort();
        assert_eq!(known, {
            let mut shown = shown;
            shown.sort();
            shown
        });
        for (path, examples) in EXAMPLES {
            for example in *examples {
                assert!(example.starts_with(path), "{path}: {example}");
                let read = command.clone().try_get_matches_from(format!("orthant {example}").split(' '));
                let help = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
                assert!(read.as_ref().is_ok() || read.as_ref().is_err_and(help), "{example}: {read:?}");
            }
        }
    }

    #[test]
    fn each_command_has_its_options_when_it_is_typed() {
        let (whole, names) = (command(), |command: &Command| -> Vec<String> {
            let below = command.get_subcommands().map(|below| below.get_name().to_owned());
            command.get_arguments().map(|option| option.get_id().to_string()).chain(below).collect()
        });
        for one in whole.get_subcommands() {
            // By another name its options would not be found.
            assert!(one.get_all_aliases().next().is_none(), "{}", one.get_name());
            let typed = command_of(&["orthant", "-q", one.get_name(), "x"].map(OsString::from));
            for other in typed.get_subcommands() {
                let is_typed = other.get_name() == one.get_name();
                let all = names(whole.find_subcommand(other.get_name()).unwrap());
                // One option is not worth waiting for.
                let built = if is_typed || other.get_name() == "completions" { all } else { Vec::new() };
                assert_eq!(names(other), built, "{} where {} is typed", other.get_name(), one.get_name());
            }
            assert_eq!(typed.clone().render_long_help().to_string(), whole.clone().render_long_help().to_string());
        }
    }

    #[test]
    fn every_option_of_run_has_a_variable() {
        let command = command();
        let run = command.find_subcommand("run").unwrap();
        let bare: Vec<_> = run.get_opts().filter(|option| option.get_env().is_none()).collect();
        assert!(bare.is_empty(), "{bare:?}");
    }
}
