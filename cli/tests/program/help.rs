//! What the program says of itself.

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
