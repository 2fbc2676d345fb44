//! Imports point one way: from a layer to the layers below it, and never in a circle of files.
//!
//! The compiler does not ask for this, so this test reads the sources. An arrow goes from a file to the file that
//! defines what it names. Re-exports are looked through, or a `mod.rs` would hide what depends on what. For the same
//! reason to name a module is no arrow; to name something in it is.
//!
//! `cargo test --test laws imports_point -- --nocapture` prints every layer, its files and what they import.
//!
//! It does not see names that only come into being when a macro is expanded, names in strings as in
//! `#[serde(with = "..")]`, and traits that come by a glob and are used by their methods only.

mod graph;
mod names;
mod reader;

use std::fmt::Write;
use std::path::Path;

use graph::{Graph, Layers, graph};

/// The library's, the lowest first.
const LIBRARY: Layers = &[
    (
        "ground",
        &[
            "abi.rs",
            "bytes.rs",
            "cell/",
            "choice.rs",
            "dimension.rs",
            "disk/",
            "mapping/",
            "memory.rs",
            "number.rs",
            "per_axis.rs",
            "radix.rs",
            "registry.rs",
            "simd/",
            "parallel.rs",
            "threads.rs",
        ],
    ),
    ("balance", &["balance/"]),
    ("zarr", &["zarr/"]),
    ("geometry", &["geometry/"]),
    ("curve", &["curve/"]),
    ("rule", &["rule/"]),
    ("mesh", &["mesh/", "points/", "list/"]),
    ("field", &["field/"]),
    ("plan", &["plan.rs", "plan_builder.rs"]),
    ("result", &["result/"]),
    ("backend", &["backend/"]),
    ("tree", &["tree/"]),
    ("backends", &["cpu/", "cuda/"]),
    ("engine", &["engine/"]),
];

/// Files of other programs.
const FORMATS: Layers = &[("input", &["input/"]), ("export", &["export/"])];

/// What judges the library.
const LAB: Layers =
    &[("conformance", &["conformance/"]), ("model", &["model/"]), ("balance", &["balance/"]), ("curves", &["curves/"])];

/// The program's.
const PROGRAM: Layers = &[
    (
        "ground",
        &[
            "error.rs",
            "escape.rs",
            "exit.rs",
            "interrupt.rs",
            "memory.rs",
            "near.rs",
            "progress.rs",
            "statistics.rs",
            "threads.rs",
            "utc.rs",
            "variables.rs",
            "stdout.rs",
            "system.rs",
            "voice.rs",
            "output/",
            "remote/",
            "energy/",
        ],
    ),
    ("choices", &["options/"]),
    ("runs", &["data.rs", "list_input.rs", "input.rs", "hint.rs", "measure.rs", "machine.rs", "search.rs", "store/"]),
    (
        "commands",
        &[
            "demo.rs",
            "fuzzing.rs",
            "info.rs",
            "run/",
            "balance/",
            "bench/",
            "compare/",
            "curves/",
            "model/",
            "report/",
            "shard/",
            "tree/",
            "verify/",
        ],
    ),
    ("arguments", &["args.rs", "help.rs", "lazy_options.rs", "ranks.rs", "shell.rs", "tips.rs"]),
];

/// The folder of each crate's `lib.rs`, from that of the manifest.
const CRATES: &[(&str, Layers)] =
    &[("src", LIBRARY), ("crates/orthant-formats/src", FORMATS), ("crates/orthant-lab/src", LAB), ("cli/src", PROGRAM)];

#[test]
fn imports_point_one_way() {
    let mut faults = String::new();
    for (root, layers) in CRATES {
        let graph = graph(&Path::new(crate::ROOT).join(root));
        println!("{}", graph.listing(layers));
        graph.faults(layers).iter().for_each(|fault| writeln!(faults, "{root}: {fault}").unwrap());
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// A crate of these files.
fn sample(name: &str, files: &[(&str, &str)]) -> Graph {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers").join(name).join("src");
    let _ = std::fs::remove_dir_all(&root);
    for (file, text) in files {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), text).unwrap();
    }
    graph(&root)
}

#[test]
fn sees_every_way_to_import() {
    let cases: &[(&str, &[&str])] = &[
        ("fn f() { crate::plain::go() }", &["src/plain.rs"]),
        ("struct S(Vec<crate::plain::Plain>);", &["src/plain.rs"]),
        ("impl crate::plain::Can for u8 {} fn f<T: super::inner::Can>() {}", &["src/facade/inner.rs", "src/plain.rs"]),
        ("fn f() { assert!(matches!(x.go, [crate::plain::Kind::A])) }", &["src/plain.rs"]),
        (
            "macro_rules! m { () => { use $crate::{plain::{self, Kind as K}, facade::Outer}; } }",
            &["src/facade/inner.rs", "src/plain.rs"],
        ),
        ("#[error(transparent, crate::plain::go())] struct S;", &["src/plain.rs"]),
        ("use super::Outer;", &["src/facade/inner.rs"]),
        ("use super::Plain; fn f() { super::HashMap::new() }", &["src/plain.rs"]),
        ("fn f() { super::super::plain::Kind::A }", &["src/plain.rs"]),
        ("use super::*; struct S(Outer);", &["src/facade/inner.rs"]),
        ("use super::*;", &[]),
        ("use crate::plain as p; fn f() { p::go() }", &["src/plain.rs"]),
        ("use crate::plain as p; fn f() { vec![p::go()] }", &["src/plain.rs"]),
        (
            "fn f() { use crate::{facade::inner::{self, Can}, plain::Kind::{self, A}}; }",
            &["src/facade/inner.rs", "src/plain.rs"],
        ),
        ("use crate::plain::plain; plain! { pub enum Kind {} }", &["src/plain.rs"]),
        ("use crate::plain::Made;", &["src/plain.rs"]),
        ("fn f() { inherited!() }", &["src/lib.rs"]),
        ("type T = crate::two::Two;", &["src/off.rs", "src/two.rs"]),
        ("pub(in crate::facade) fn f() { std::fmt::format(x.plain) }", &[]),
        ("#[cfg(test)] mod tests { use crate::plain::Plain; } #[cfg(all(test, unix))] use crate::plain::go;", &[]),
        ("mod own { pub struct S; } use own::S; fn f(plain: S) { self::own::S::new(plain) }", &[]),
    ];
    for (at, (text, expected)) in cases.iter().enumerate() {
        let lib =
            "macro_rules! inherited { () => {} } mod facade; mod plain; #[cfg_attr(unix, path = \"off.rs\")] mod two;";
        let plain = "pub struct Plain; pub trait Can {} pub enum Kind { A } pub fn go() {} \
            macro_rules! plain { ($($t:tt)*) => { $($t)* } } pub(crate) use plain; plain! { struct Made; }";
        let facade = "mod inner; mod user; use std::collections::HashMap; use crate::plain::Plain; pub use inner::Inner as Outer;";
        let files =
            [("lib.rs", lib), ("plain.rs", plain), ("two.rs", "pub struct Two;"), ("off.rs", "pub struct Two;")];
        let inner = [
            ("facade/mod.rs", facade),
            ("facade/inner.rs", "pub struct Inner; pub trait Can {}"),
            ("facade/user.rs", text),
        ];
        let graph = sample(&format!("case_{at}"), &[&files[..], &inner].concat());
        assert_eq!(graph.lost, [""; 0], "{text}");
        assert_eq!(Vec::from_iter(graph.arrows["src/facade/user.rs"].keys()), *expected, "{text}");
        assert!(graph.arrows["src/facade/mod.rs"].keys().eq(["src/facade/inner.rs", "src/plain.rs"]));
    }
}

#[test]
fn names_every_fault() {
    let graph = sample(
        "faults",
        &[
            ("lib.rs", "mod low; mod high; mod stray;"),
            ("low/mod.rs", "mod a; mod b;"),
            ("low/a.rs", "use super::b::B;\nstruct High;"),
            ("low/b.rs", "pub struct B;\nfn f() {\n    crate::high::High::new(crate::nowhere::X)\n}"),
            (
                "high.rs",
                "use crate::low::a::*;\npub struct High;\nimpl High { fn new() { let _: crate::low::a::High; } }",
            ),
            ("stray.rs", "fn f() { struct High; }"),
        ],
    );
    let faults = graph.faults(&[("ground", &["low/"]), ("roof", &["high.rs", "attic/"]), ("cellar", &["low/mod.rs"])]);
    let expected = [
        "src/low/b.rs, line 3: cannot find crate::nowhere::X",
        "layer ground imports from layer roof: src/low/b.rs -> src/high.rs (line 3: crate::high::High)",
        "src/stray.rs is in no layer",
        "attic/ is listed twice in the layers, or there is no such file",
        "a circle of 3, in a knot of 3 files:\n    \
            src/high.rs -> src/low/a.rs (line 3: crate::low::a::High)\n    \
            src/low/a.rs -> src/low/b.rs (line 1: crate::low::b::B)\n    \
            src/low/b.rs -> src/high.rs (line 3: crate::high::High)",
        "two files define High: src/high.rs, src/low/a.rs",
    ];
    assert_eq!(faults, expected);
    assert!(graph.listing(&[("cellar", &["low/mod.rs"])]).contains("cellar\n    src/low/mod.rs: \n"));
}
