//! Several ranks that a launcher starts: what they share, and what is refused. Launchers are what their variables say;
//! `scripts/shard-check` runs the real ones.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::binary::{command, files, folder_in_memory, orthant, text};

/// The variables of a rank, as launchers set them.
type Variables = Vec<(&'static str, String)>;

fn openmpi(rank: usize, ranks: usize) -> Variables {
    let (rank, ranks) = (rank.to_string(), ranks.to_string());
    vec![("OMPI_COMM_WORLD_LOCAL_RANK", rank.clone()), ("OMPI_COMM_WORLD_RANK", rank), ("OMPI_COMM_WORLD_SIZE", ranks)]
}

fn mpich(rank: usize, ranks: usize) -> Variables {
    let (rank, ranks) = (rank.to_string(), ranks.to_string());
    vec![("MPI_LOCALRANKID", rank.clone()), ("PMI_RANK", rank), ("PMI_SIZE", ranks)]
}

fn srun(rank: usize, ranks: usize) -> Variables {
    let (rank, ranks) = (rank.to_string(), ranks.to_string());
    let local = ("SLURM_LOCALID", rank.clone());
    vec![local, ("SLURM_PROCID", rank), ("SLURM_NTASKS", ranks.clone()), ("SLURM_STEP_NUM_TASKS", ranks)]
}

fn under(folder: &Path, arguments: &str, variables: Variables) -> Output {
    command(folder, arguments).envs(variables).output().unwrap()
}

/// A command that does not share its work is refused before it does any, and nothing is written.
#[test]
fn ranks_do_not_all_do_the_same() {
    let place = folder_in_memory();
    let folder = place.path();
    fs::write(folder.join("cells.raw"), [7u8; 64]).unwrap();
    for (arguments, launcher, variables, words) in [
        ("run mandelbrot -n 64 -o m.tree.zarr", "mpirun", openmpi(2, 4), "rank 2 of 4 (OMPI_COMM_WORLD_SIZE)"),
        ("run mandelbrot -n 64", "mpirun", mpich(0, 2), "rank 0 of 2 (PMI_SIZE)"),
        (
            "run array --input cells.raw --dtype u8 -n 64 -o a.tree.zarr",
            "srun",
            srun(1, 3),
            "rank 1 of 3 (SLURM_STEP_NUM_TASKS)",
        ),
        ("tree build cells.raw --dtype u8 -n 64 -o a.tree.zarr", "mpirun", openmpi(0, 2), "`orthant tree`"),
        ("bench -a workload=mandelbrot -o b.jsonl", "mpirun", mpich(1, 2), "`orthant bench`"),
        ("shard merge m.pieces -o m.tree.zarr", "mpirun", openmpi(1, 2), "`orthant shard merge`"),
        ("demo here", "srun", srun(0, 2), "`orthant demo`"),
    ] {
        let output = under(folder, arguments, variables);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments}: {message}");
        for words in
            [words, "`orthant shard plan", &format!("`{launcher} -n "), "orthant shard run X.pieces`", "--each-rank"]
        {
            assert!(message.contains(words), "{arguments}: {words}: {message}");
        }
        assert_eq!((message.lines().count(), output.stdout.len()), (1, 0), "{message}");
    }
    assert_eq!(files(folder), ["cells.raw"]);
}

/// A sweep whose ranks write other files, one process, and the shell and the script of an allocation run as they always do.
#[test]
fn ranks_that_may_run() {
    let place = folder_in_memory();
    let folder = place.path();
    let run = |rank: usize| format!("-q run mandelbrot -n 32 -o {rank}.png");
    let sweep = under(folder, &format!("{} --each-rank", run(0)), openmpi(0, 4));
    let by_variable = command(folder, &run(1)).envs(mpich(1, 4)).env("ORTHANT_EACH_RANK", "1").output().unwrap();
    let alone = under(folder, &run(2), openmpi(0, 1));
    let shell = under(folder, &run(3), vec![("SLURM_NTASKS", "8".into()), ("SLURM_JOB_ID", "7".into())]);
    let script = vec![("SLURM_NTASKS", "8".into()), ("SLURM_PROCID", "0".into()), ("SLURM_LOCALID", "0".into())];
    let script = under(folder, &run(4), script);
    for output in [sweep, by_variable, alone, shell, script] {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(files(folder), ["0.png", "1.png", "2.png", "3.png", "4.png"]);
    for arguments in ["info", "--version", "run --help", "completions bash"] {
        assert!(under(folder, arguments, srun(0, 4)).status.success(), "{arguments}");
    }
}

/// Ranks share pieces whatever started them, even a launcher whose processes do not know each other, and other numbers of ranks go on
/// with what is there.
#[test]
fn any_ranks_go_on_with_pieces() {
    let place = folder_in_memory();
    let folder = place.path();
    let run = "mandelbrot -n 256 -g 8 --dwell 1000";
    assert!(orthant(folder, &format!("-q run {run} -o one.tree.zarr")).status.success());
    // Ranks that plan the same at once agree.
    let plan = format!("-q shard plan {run} -o m.pieces --pieces 24");
    let plans: Vec<_> = (0..4).map(|rank| command(folder, &plan).envs(openmpi(rank, 4)).spawn().unwrap()).collect();
    plans.into_iter().for_each(|mut plan| assert!(plan.wait().unwrap().success()));
    let make = |set: Vec<Variables>, pieces: &str| {
        let arguments = format!("-q shard run m.pieces --threads 1 {pieces}");
        let start = |variables| command(folder, &arguments).envs(variables).spawn().unwrap();
        let started: Vec<_> = set.into_iter().map(start).collect();
        started.into_iter().for_each(|mut rank| assert!(rank.wait().unwrap().success()));
        let state = orthant(folder, "shard status m.pieces --json");
        let state: Value = serde_json::from_slice(&state.stdout).unwrap();
        assert_eq!((state["damaged"].as_array().unwrap().len(), state["busy"].as_array().unwrap().len()), (0, 0));
        state["done"].as_array().unwrap().len()
    };
    let done = [
        make((0..4).map(|rank| openmpi(rank, 4)).collect(), "--shard 0-5"),
        make((0..2).map(|rank| mpich(rank, 2)).collect(), "--shard 3-10"),
        // MPICH's mpirun of a program for Open MPI, or the other way round: each is rank 0 of 1.
        make(vec![mpich(0, 1), mpich(0, 1), openmpi(0, 1)], "--shard 8-15"),
        make((0..7).map(|rank| srun(rank, 7)).collect(), ""),
    ];
    assert_eq!(done, [6, 11, 16, 24]);
    assert!(orthant(folder, "-q shard merge m.pieces -o m.tree.zarr").status.success());
    let diff = orthant(folder, "-q tree diff m.tree.zarr one.tree.zarr");
    assert!(diff.status.success(), "{}", text(&diff.stderr));
}

/// `verify --ranks`, with its pieces in the folder.
fn verify(folder: &Path, program: &Path, arguments: &str) -> Output {
    let mut command = std::process::Command::new(program);
    command.arg("verify").args(arguments.split_whitespace()).current_dir(folder).env("TMPDIR", folder);
    command.env("ORTHANT_DATA_DIR", folder.join("data")).output().unwrap()
}

#[test]
fn pieces_of_processes_are_verified() {
    let place = folder_in_memory();
    let folder = place.path();
    let program = Path::new(env!("CARGO_BIN_EXE_orthant"));
    let output = verify(folder, program, "mesh --ranks 3 --backend cpu");
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{table}{said}");
    assert_eq!(table.lines().filter(|line| line.contains("1 2 3 4 7") && line.contains("equal")).count(), 3, "{table}");
    assert!(table.contains("15 runs in pieces by 3 processes"), "{table}");
    // A field that the backend cannot run has no case.
    let output = verify(folder, program, "kernel --ranks 2 --backend cpu");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// A process that writes another byte, one that makes nothing, and one that cannot even start.
#[cfg(unix)]
#[test]
fn what_processes_do_wrong_is_found() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder_in_memory();
    let folder = place.path();
    // Programs may be forbidden there.
    let programs = crate::binary::folder("ranks-planted");
    let program = env!("CARGO_BIN_EXE_orthant");
    let flip = "f=$(find \"$3/pieces\" -type f -path '*cells*' | sort | tail -1)\n\
        printf '\\377\\376' | dd of=\"$f\" bs=1 seek=4 conv=notrunc 2>/dev/null";
    for (name, fault, words) in [
        ("flips", format!("{program} \"$@\"; {flip}"), "is not what was written"),
        ("nothing", "exit 0".into(), "is not made yet"),
        ("ends", "echo broken >&2; exit 7".into(), "process 1: exit status: 7: broken"),
    ] {
        let path = programs.join(name);
        let script =
            format!("#!/bin/bash\nif [ \"$1\" = shard ]; then {fault}\nelse exec -a \"$0\" {program} \"$@\"; fi\n");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let output = verify(folder, &path, "mesh --ranks 2 --backend cpu");
        let (table, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{name}: {table}{said}");
        assert!(said.contains(words) && table.contains("FAULTS"), "{name}: {table}{said}");
        assert!(said.contains("in 15 runs in pieces"), "{name}: {said}");
    }
}
