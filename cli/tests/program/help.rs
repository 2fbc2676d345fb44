//! What the program says of itself, and where options come from.

use crate::binary::{command, files, folder, orthant, text};

#[test]
fn the_short_help_of_run_fits_a_screen() {
    let folder = folder("help");
    let help = |arguments: &str| text(&command(&folder, arguments).env("COLUMNS", "80").output().unwrap().stdout);
    let short = help("run -h");
    let widest = short.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(short.lines().count() <= 40 && widest <= 80, "{} {widest}\n{short}", short.lines().count());
    let long = help("run --help");
    for (words, in_short) in
        [("--size", true), ("Examples:", true), ("--ask-loop", false), ("[env: ORTHANT_SIZE]", false)]
    {
        assert!(long.contains(words) && short.contains(words) == in_short, "{words}: {short}");
    }
    let prose = long.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(prose.contains("with y upwards") && prose.contains("[env: ORTHANT_OUTPUT]"), "{long}");
    let at = |heading: &str| long.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("{heading}: {long}"));
    let headings = ["What is computed", "Results", "How", "To compare with the papers", "CUDA", "General", "Examples"];
    assert!(headings.map(at).is_sorted());
    let papers = &long[at("To compare with the papers")..at("CUDA")];
    for option in ["--explore-order", "--ask-loop", "--table", "--dp-launch"] {
        assert!(papers.contains(option), "{option}: {papers}");
    }
}

#[test]
fn tuning_lists_what_it_takes() {
    let folder = folder("help-tune");
    let help = text(&orthant(&folder, "model tune --help").stdout);
    for option in ["\n  -g", "\n  -r", "\n  -B", "--auto-scheme", "--output", "--overlay", "--report"] {
        assert!(!help.contains(option), "{option}: {help}");
    }
    assert!(help.contains("--size") && help.contains("--patience") && help.contains("--threads"));
}

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
    // What was typed is not blamed on the environment.
    let (code, message) = run("ORTHANT_SIZE", "0", "--size=0");
    assert!(code == Some(2) && !message.contains("ORTHANT"), "{message}");
    assert_eq!(run("ORTHANT_AUTO_SCHEME", "1", "-n 64").0, Some(0));
    // A set of cell indices has nothing to round, wherever that comes from.
    let output = command(&folder, "run cantor").env("ORTHANT_PRECISION", "f64").output().unwrap();
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("variable ORTHANT_PRECISION"));
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
    assert!(code == Some(0) && table.contains("scheme   found by"), "{said}");
    for variable in ["ORTHANT_G", "ORTHANT_B"] {
        assert!(
            said.contains(&format!("the variable {variable} gives way to --auto-scheme, which was typed")),
            "{said}"
        );
    }
    assert_eq!(run(&scheme, "run mandelbrot -n 64 --auto-scheme").2, "");
    let (code, table, said) = run(&[("ORTHANT_AUTO_SCHEME", "1")], "run mandelbrot -n 64 -g 2 -v");
    assert!(code == Some(0) && !table.contains("found by") && table.contains("g 2 "), "{table}");
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
