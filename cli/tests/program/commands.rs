//! The other commands, in short.

use crate::binary::{folder, orthant, text};

/// There may be a GPU here, but hardly a hundred.
#[test]
fn a_backend_that_is_not_there_is_an_error() {
    let folder = folder("no-gpu");
    for arguments in ["run mandelbrot --backend cuda --device 99", "verify --backend cuda --device 99"] {
        let output = orthant(&folder, arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{message}");
        let named = ["--backend cuda: ", "--device 99: the driver sees "].iter().any(|name| message.contains(name));
        assert!(named && !message.contains("panicked"), "{message}");
    }
}

#[test]
fn walks_print_coordinates_in_code_order() {
    let folder = folder("walks");
    let walk = |arguments: &str| text(&orthant(&folder, &format!("curves walk {arguments}")).stdout);
    assert_eq!(walk("--curve hilbert --level 1"), "0 0\n0 1\n1 1\n1 0\n");
    assert_eq!(walk("--curve canonical --dim 1 --g 3 --level 0"), "0\n1\n2\n");
    assert_eq!(walk("--curve morton --dim 3 --level 1").lines().count(), 8);
    assert_eq!(walk("--curve hilbert --dim 2 --g 3x5 --level 2").lines().count(), 15 * 16);
}

#[test]
fn the_other_commands_answer() {
    let folder = folder("others");
    for (arguments, says) in [
        ("info", "vector unit"),
        ("doctor --help", "Exits with 0 if runs on the CPU work"),
        ("completions bash", "_orthant"),
        ("man", ".TH"),
        ("--help", "verify"),
        ("run --help", "--explore-order"),
        ("--version", "orthant"),
        ("verify mxm", "equal"),
        ("model predict -g 2,4 -P 0.5,0.7", "S_MBR"),
        ("model predict --json -n 2^40x2^50 --box-dim 1.5", "\"Omega\":"),
        ("model plan -P 0.7", "2 2 8"),
        ("model fit --help", "--hold-out"),
        ("run simplex -n 64 --auto-scheme", ", the default: nothing was measured"),
        ("curves compare -n 64 -B 1", "hilbert_2d"),
        ("curves compare simplex --dim 3 -n 32 --json", "\"order_kept\":true"),
        ("bench -a workload=cantor -a n=27 -a g=3:9:x3 --list", "workload=cantor n=27 g=9"),
    ] {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(says), "{arguments}");
    }
}

#[test]
fn the_doctor_fails_only_where_nothing_runs() {
    let folder = folder("doctor");
    let answer = |at: &std::path::Path| {
        let output = crate::binary::command(at, "doctor --color never").output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, says, error) = answer(&folder);
    assert!(says.contains("ok   threads") && says.contains("ok   outputs"), "{says}");
    // A GPU is optional; what is missing of one is told in full on demand.
    assert_eq!((code, error.as_str()), (Some(0), ""), "{says}");
    let verbose = text(&orthant(&folder, "doctor -v --color never").stdout);
    assert!(
        says.lines().count() <= verbose.lines().count() && !says.contains("install NVIDIA's driver")
            || says.contains("ok   ")
    );
    assert!(verbose.contains("driver"), "{verbose}");
    #[cfg(target_os = "linux")]
    {
        // Nobody can write there, not even root.
        let (code, says, error) = answer("/proc".as_ref());
        assert!(code == Some(1) && says.contains("mend outputs"), "{code:?} {says}{error}");
    }
}

#[test]
fn curves_that_are_named_are_compared() {
    let folder = folder("curves");
    for (options, rows) in [("", 3), ("--curve morton", 1), ("--curves morton,hilbert", 2)] {
        let output = orthant(&folder, &format!("curves compare -n 64 -B 1 --json {options}"));
        assert_eq!(text(&output.stdout).lines().count(), rows, "{options}");
    }
    let both = orthant(&folder, "curves compare --curve morton --curves hilbert");
    assert_eq!(both.status.code(), Some(2));
}
