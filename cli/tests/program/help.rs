//! What the program says of itself, and where options come from.

use crate::binary::{command, folder, orthant, text};

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
        ("ORTHANT_G", "4", "-n 64 --auto-scheme"),
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
}
