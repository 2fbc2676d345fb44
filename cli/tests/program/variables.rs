//! Where options come from: variables, what is typed, and who is blamed.

use crate::binary::{command, files, folder, text};

#[test]
fn errors_name_the_variable_that_an_option_came_from() {
    let folder = folder("variables");
    let run = |variable: &str, value: &str, arguments: &str| {
        let output = command(&folder, &format!("run mandelbrot -q {arguments}")).env(variable, value).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    for (variable, value, arguments) in [
        ("ORTHANT_SIZE", "many", ""),
        ("ORTHANT_SIZE", "0", ""),
        ("ORTHANT_CURVE", "peano", "-n 64"),
        ("ORTHANT_B", "0", "-n 64"),
        ("ORTHANT_OUTPUT", "m.jpg", "-n 64"),
        ("ORTHANT_FORCE", "perhaps", "-n 64"),
    ] {
        let (code, message) = run(variable, value, arguments);
        assert!(code == Some(2) && message.contains(variable), "{variable}: {message}");
        assert_eq!(run(variable, "", &format!("-n 64 {arguments}")), (Some(0), String::new()), "{variable} is empty");
    }
    assert_eq!(run("ORTHANT_AUTO_SCHEME", "1", "-n 64").0, Some(0));
}

/// The limit of memory is one for all commands.
#[test]
fn commands_on_trees_read_the_limit_of_memory() {
    let folder = folder("variables-trees");
    let run = |limit: &str, arguments: &str| {
        let output = command(&folder, arguments).env("ORTHANT_MEM_LIMIT", limit).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(run("", "run mandelbrot -qn 64 -o m.tree.zarr").0, Some(0));
    for arguments in ["tree validate m.tree.zarr", "tree stats m.tree.zarr", "tree convert m.tree.zarr m.npy"] {
        let (code, said) = run("1K", arguments);
        assert!(code == Some(5) && said.contains("--mem-limit is set by the variable ORTHANT_MEM_LIMIT"), "{said}");
        // What is typed wins.
        assert_eq!(run("1K", &format!("{arguments} --mem-limit 1G")).0, Some(0));
    }
}

/// Variables, arguments, and the variables that the message must name: all that the error follows from, and no others.
const BLAMED: &[(&str, &str, &str)] = &[
    // What is typed is not blamed on the environment, nor is what gave way to it.
    ("SIZE=0", "run mandelbrot --size=0", ""),
    ("SIZE=16", "run mandelbrot -qn 16 -g 17", ""),
    ("G=0", "model tune mandelbrot --strategy ask --dry-run -n 3", ""),
    // A set of cell indices has nothing to round, wherever that comes from.
    ("PRECISION=f64 SIZE=27", "run cantor", "PRECISION"),
    // Plans.
    ("R=1x2", "run mandelbrot --curve hilbert -n 64", "R"),
    ("R=3", "run mandelbrot --curve hilbert -n 64", "R"),
    ("CURVE=hilbert", "run cantor -n 27", "CURVE"),
    ("CURVE=hilbert R=2x4 B=4", "run mandelbrot -n 64", "CURVE R"),
    ("CURVE=hilbert R=2x4", "run mandelbrot -n 64 --curve hilbert", "R"),
    ("CURVE=hilbert G=8193 R=2", "run mandelbrot -n 2^14 --keep counts", "CURVE G"),
    ("B=1 SIZE=2^12", "run simplex --dim 8 --keep counts", "B SIZE"),
    ("G=17", "run mandelbrot -n 16", "G"),
    ("SIZE=16", "run mandelbrot -g 17", "SIZE"),
    ("R=1", "run mandelbrot", "R"),
    ("SIZE=8x8x8", "run mandelbrot", "SIZE"),
    ("DIM=2", "run mandelbrot -n 8x8x8", "DIM"),
    ("DIM=3", "run cantor -g 3x3", "DIM"),
    ("SIZE=9x9x9", "run cantor -g 3x3", "SIZE"),
    ("DIM=9", "run menger", "DIM"),
    ("SIZE=8x8x8", "run cantor --domain 0:1", ""),
    ("DOMAIN=1:0,0:1", "run mandelbrot", "DOMAIN"),
    // What is kept.
    ("CELL=u8", "run mandelbrot --dwell 256", "CELL"),
    ("DWELL=256", "run mandelbrot --cell u8", "DWELL"),
    ("DWELL=256 CELL=u8", "run mandelbrot", "DWELL CELL"),
    ("CELL=u8", "run mandelbrot", "CELL"),
    ("CELL=u8 DWELL=5", "run cantor", "DWELL"),
    ("KEEP=regions STRATEGY=exhaustive", "run mandelbrot -n 64", "KEEP STRATEGY"),
    ("STRATEGY=exhaustive", "run mandelbrot -n 64 --keep regions", "STRATEGY"),
    ("MEM_LIMIT=1M", "run mandelbrot -n 2^12", "MEM_LIMIT"),
    ("SIZE=2^12 KEEP=dense CELL=u32", "run mandelbrot --mem-limit 1M", "SIZE KEEP CELL"),
    ("SIZE=2^20 B=1 CELL=u32", "run mandelbrot --keep counts --mem-limit 1M", "SIZE B"),
    // Outputs.
    ("KEEP=counts OUTPUT=m.png", "run mandelbrot", "KEEP OUTPUT"),
    ("OVERLAY=m.png", "run mandelbrot --keep counts", "OVERLAY"),
    ("OUTPUT=m.png", "run mandelbrot --overlay m.png", "OUTPUT"),
    ("OUTPUT=a.npy,missing/m.png", "run mandelbrot", "OUTPUT"),
    ("OUTPUT=there.png OVERLAY=o.png", "run mandelbrot", "OUTPUT"),
    ("REPORT=r.txt", "run mandelbrot", "REPORT"),
    ("PALETTE=viridis", "run mandelbrot", "PALETTE"),
    ("SLICE=2=0", "run mandelbrot", "SLICE"),
    ("SIZE=16", "run mandelbulb --slice 2=16", "SIZE"),
    ("DIM=2 SLICE=0=1", "run cantor --slice 2=0", "DIM"),
    // Where it runs.
    ("SOURCE=missing.cuh", "run kernel", "SOURCE"),
    ("SOURCE=there.png", "run mandelbrot", "SOURCE"),
    ("BACKEND=cpu SOURCE=there.png", "run kernel", "BACKEND"),
    ("BACKEND=cpu DEVICE=7", "run mandelbrot", "DEVICE BACKEND"),
    ("BACKEND=cpu", "run mandelbrot --block 16x16", "BACKEND"),
    ("BLOCK=16x16 DP_BUDGET=4", "run mandelbrot --backend cpu", "BLOCK DP_BUDGET"),
    ("BACKEND=cpu", "verify kernel", "BACKEND"),
    ("DEVICE=7", "verify --backend cpu", "DEVICE"),
    // Arrays.
    ("INPUT=there.png", "run array", "INPUT"),
    ("INPUT=missing.npy", "run array", "INPUT"),
    ("INPUT=there.png DTYPE=u8 SIZE=3", "run array", "INPUT DTYPE SIZE"),
    ("TOLERANCE=2 STRATEGY=dp INPUT=there.png", "run array --dtype u8 -n 4", "TOLERANCE STRATEGY"),
    ("ENDIAN=big", "run mandelbrot", "ENDIAN"),
    // The search for a scheme.
    ("STRATEGY=exhaustive", "run mandelbrot --auto-scheme", "STRATEGY"),
    ("AUTO_SCHEME=1 STRATEGY=exhaustive", "run mandelbrot", "AUTO_SCHEME STRATEGY"),
    ("SIZE=3 CURVE=morton", "model tune mandelbrot --strategy ask --dry-run", "SIZE CURVE"),
    ("STRATEGY=exhaustive", "model tune mandelbrot", "STRATEGY"),
    ("BACKEND=cpu", "model tune mandelbrot -n 64 --blocks 8x8", "BACKEND"),
    ("DATA_DIR=there.png", "run mandelbrot -n 64 --auto-scheme", "DATA_DIR"),
    // The model.
    ("DIM=2", "model predict -n 8x8x8", "DIM"),
    ("SIZE=8x8x8 DIM=2", "model predict", "SIZE DIM"),
    ("SIZE=16", "model predict -g 17", "SIZE"),
    ("G=32", "model predict -n 64 -B 8 --tau-policy strict", "G"),
    ("B=64", "model predict --profile 0.5,0.7", "B"),
    ("SIZE=64x64", "model predict --box-dim 3", "SIZE"),
    ("A=0", "model plan", "A"),
    ("SIZE=4", "model plot landscape -o l.svg", "SIZE"),
    // Curves.
    ("R=3", "curves compare", "R"),
    ("SIZE=1", "curves compare -g 1", "SIZE"),
    // Sweeps.
    ("MAX_SAMPLES=0", "bench -a workload=mandelbrot", "MAX_SAMPLES"),
    ("MAX_SAMPLES=3", "bench -a workload=mandelbrot --min-samples 9", "MAX_SAMPLES"),
    ("MIN_SAMPLES=9 MAX_SAMPLES=3", "bench -a workload=mandelbrot", "MIN_SAMPLES MAX_SAMPLES"),
    ("ENERGY=3", "bench -a workload=mandelbrot -a backend=cpu", "ENERGY"),
    ("BENCH_OUTPUT=b.txt", "bench -a workload=mandelbrot -a backend=cpu", "BENCH_OUTPUT"),
    ("BENCH_OUTPUT=there.jsonl", "bench -a workload=mandelbrot -a backend=cpu", "BENCH_OUTPUT"),
    ("BENCH_OUTPUT=there.jsonl", "bench -a workload=mandelbrot -a backend=cpu --resume", "BENCH_OUTPUT"),
    // Cases of a sweep do not look at variables.
    ("CURVE=hilbert R=3 CELL=u8", "bench -a workload=mandelbrot -a backend=cpu -a n=0", ""),
];

#[test]
fn errors_name_all_variables_that_they_follow_from() {
    let folder = folder("blamed");
    for name in ["there.png", "there.jsonl"] {
        std::fs::write(folder.join(name), "mine").unwrap();
    }
    let mut wrong = Vec::new();
    for (variables, arguments, blamed) in BLAMED {
        let mut command = command(&folder, arguments);
        let pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
        command.envs(pairs.map(|(name, value)| (format!("ORTHANT_{name}"), value)));
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        let mut named: Vec<_> = said.split("the variable ORTHANT_").skip(1).collect();
        named.iter_mut().for_each(|rest| *rest = rest.split([' ', ',', ')']).next().unwrap_or_default());
        named.sort();
        let mut expected: Vec<_> = blamed.split_whitespace().collect();
        expected.sort();
        if output.status.code().is_none_or(|code| code == 0) || named != expected {
            wrong.push(format!("{variables} orthant {arguments}: {blamed:?} {:?}: {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_typed_wins_over_a_variable_that_cannot_go_with_it() {
    let folder = folder("gives-way");
    let run = |variables: &[(&str, &str)], arguments: &str| {
        let mut command = command(&folder, arguments);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let scheme = [("ORTHANT_G", "4"), ("ORTHANT_B", "8")];
    let (code, table, said) = run(&scheme, "run mandelbrot -n 64 --auto-scheme -v");
    assert!(code == Some(0) && table.contains("scheme   ask sbr, the default"), "{said}{table}");
    for variable in ["ORTHANT_G", "ORTHANT_B"] {
        assert!(
            said.contains(&format!("the variable {variable} gives way to --auto-scheme, which was typed")),
            "{said}"
        );
    }
    let said = run(&scheme, "run mandelbrot -n 64 --auto-scheme").2;
    assert!(
        said.starts_with("orthant: the default scheme, since nothing was measured") && said.lines().count() == 1,
        "{said}"
    );
    let (code, table, said) = run(&[("ORTHANT_AUTO_SCHEME", "1")], "run mandelbrot -n 64 -g 2 -v");
    assert!(code == Some(0) && !table.contains("scheme  ") && table.contains("g 2 "), "{table}");
    assert!(said.contains("the variable ORTHANT_AUTO_SCHEME gives way to -g"), "{said}");
    let (code, _, _) = run(&[("ORTHANT_REPORT", "r.json")], "run mandelbrot -n 64 --json -q");
    assert!(code == Some(0) && !folder.join("r.json").exists());
    // Neither was typed, or both were: nobody gives way.
    let (code, _, said) = run(&[("ORTHANT_G", "4"), ("ORTHANT_AUTO_SCHEME", "1")], "run mandelbrot -n 64");
    assert!(code == Some(2) && said.contains("ORTHANT_G") && said.contains("ORTHANT_AUTO_SCHEME"), "{said}");
    assert_eq!(run(&scheme, "run mandelbrot -n 64 --auto-scheme -r 2").0, Some(2));
}

#[test]
fn a_variable_of_what_may_be_repeated_is_a_list() {
    let folder = folder("lists");
    let run = |value: &str, arguments: &str| {
        let run = format!("run mandelbrot -n 16 -q {arguments}");
        assert!(command(&folder, &run).env("ORTHANT_OUTPUT", value).status().unwrap().success(), "{value} {arguments}");
    };
    run("a.png,b.npy", "");
    // What is typed is one path, and a variable then counts for nothing.
    run("c.png,d.npy", "-o e,f.png");
    run("c.png,d.npy", "-qo g,h.npy");
    assert_eq!(files(&folder), ["a.png", "b.npy", "e,f.png", "g,h.npy"]);
}
