//! The commands whose calls fail: one for each way in which outputs come into being.

use std::fs;
use std::path::Path;

use ndarray::{ArrayD, IxDyn};
use orthant::field::ArrayField;
use orthant::geometry::{Domain, Sample, Scheme};
use orthant::prelude::{CurveKind, RuleKind};
use orthant::tree::{BottomUp, TreeError, TreeInfo, TreeTarget};
use orthant::{CellType, Plan, ndarray};

use super::stream::Stream;

/// One command in a folder.
pub struct Case {
    pub name: &'static str,
    /// Files or folders that it makes.
    pub outputs: &'static [&'static str],
    /// True if they hold times and are never twice the same.
    pub loose: bool,
    /// True if two names can be exchanged in one step.
    pub exchanges: bool,
    /// True if it overwrites what `prepare` makes.
    pub force: bool,
    pub prepare: fn(&Path),
    /// Runs it, overwriting or not.
    pub run: fn(&Path, bool) -> Ended,
}

/// How a command ends, if it fails: what it says.
pub type Ended = Result<(), String>;

/// Runs a command line. Words that begin with `@` are names in the folder.
///
/// # Errors
/// The exit code, and what it says on stderr.
pub fn status(folder: &Path, line: &str, force: bool) -> Result<(), (u8, String)> {
    let word = |word: &str| match word.strip_prefix('@') {
        Some(name) => folder.join(name).into_os_string(),
        None => word.into(),
    };
    let words = ["orthant", "-q"].into_iter().chain(line.split_whitespace()).chain(force.then_some("--force"));
    let (ended, said) = Stream::Stderr.caught(|| orthant_cli::main(words.map(word).collect::<Vec<_>>()));
    match (0..=u8::MAX).find(|&code| ended == code.into()).expect("it has a code") {
        0 => Ok(()),
        code => Err((code, String::from_utf8_lossy(&said).into_owned())),
    }
}

/// Runs a command line.
fn orthant(folder: &Path, line: &str, force: bool) -> Ended {
    status(folder, line, force).map_err(|(_, said)| said)
}

fn nothing(_: &Path) {}

/// An array of two labels, 12 x 10 x 8 cells.
fn array(folder: &Path) {
    let mut bytes = b"\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (8, 10, 12)}".to_vec();
    bytes.resize(79, b' ');
    bytes.push(b'\n');
    bytes.extend((0..960u32).map(|cell| u8::from(cell % 12 > 6) + u8::from(cell > 700)));
    fs::write(folder.join("x.npy"), bytes).unwrap();
}

fn tree(folder: &Path) {
    array(folder);
    orthant(folder, "run array --input @x.npy -g 2 -B 1 -o @x.tree.zarr", false).unwrap();
}

/// Outputs of something else, to be overwritten.
fn others(folder: &Path) {
    array(folder);
    for name in ["a.tree.zarr", "a.tree.zarr.zip", "a.npy"] {
        orthant(folder, &format!("run mandelbrot -n 16 -g 2 -B 2 -o @{name}"), false).unwrap();
    }
}

fn converted(folder: &Path) {
    tree(folder);
    orthant(folder, "run mandelbrot -n 16 -g 2 -B 2 -o @old.tree.zarr", false).unwrap();
    orthant(folder, "tree convert @old.tree.zarr @a.zarr", false).unwrap();
}

fn sweep(folder: &Path) {
    let sweep = "about = \"two rows\"\n[measure]\nmin-samples = 2\nmax-samples = 2\n[base]\nworkload = \"mandelbrot\"\n\
                 backend = \"cpu\"\nn = 16\ndwell = 8\n[axes]\nB = \"2,4\"\n";
    fs::write(folder.join("sweep.toml"), sweep).unwrap();
}

/// A tree in many shards, which a later process can resume.
pub fn sharded(folder: &Path, name: &str, force: bool) -> Ended {
    let write = || -> Result<(), TreeError> {
        let cells: Vec<u16> = (0..32 * 32 * 32).map(|cell| u16::from(cell % 37 > 20)).collect();
        let array = ArrayD::from_shape_vec(IxDyn(&[32; 3]), cells).expect("it has that many cells");
        let field = ArrayField::new(array.view()).expect("it is an array");
        let domain = Domain::new([32; 3], [[0.0, 1.0]; 3], Sample::Centre).expect("it has a window");
        let plan = Plan::new(domain, Scheme::uniform(2, 2, 4), CurveKind::Morton, RuleKind::Full).expect("it divides");
        let target = TreeTarget::new(folder.join(name)).shard_cells(4096).made_of("cells").overwrite(force);
        let mut writer = target.open(&plan, CellType::U16, &TreeInfo::of(&plan))?;
        BottomUp::new(&plan, &field)?.write(&mut writer)?;
        writer.finish()
    };
    write().map_err(|error| error.to_string())
}

pub fn cases() -> Vec<Case> {
    let case =
        |name, outputs, prepare, run| Case { name, outputs, loose: false, exchanges: true, force: false, prepare, run };
    let over = |name, outputs, prepare, run| Case { force: true, ..case(name, outputs, prepare, run) };
    let only = std::env::var("ORTHANT_FAULTS_OF").unwrap_or_default();
    let cases = vec![
        case("run -o .png .npy --overlay", &["a.png", "a.npy", "b.png"], nothing, |folder, force| {
            orthant(folder, "run mandelbrot -n 32 -g 2 -B 2 -o @a.png -o @a.npy --overlay @b.png", force)
        }),
        over("run -o .npy --force", &["a.npy"], others, |folder, force| {
            orthant(folder, "run mandelbrot -n 32 -g 2 -B 2 -o @a.npy", force)
        }),
        Case {
            loose: true,
            ..case("run --report", &["r.json"], nothing, |folder, force| {
                orthant(folder, "run mandelbrot -n 32 -g 2 -B 2 --report @r.json", force)
            })
        },
        case("run -o .tree.zarr", &["a.tree.zarr"], nothing, |folder, force| {
            orthant(folder, "run mandelbrot -n 32 -g 2 -B 2 -o @a.tree.zarr", force)
        }),
        over("run array -o .tree.zarr --force", &["a.tree.zarr"], others, |folder, force| {
            orthant(folder, "run array --input @x.npy -g 2 -B 1 -o @a.tree.zarr", force)
        }),
        Case {
            exchanges: false,
            ..over("the same in two steps", &["a.tree.zarr"], others, |folder, force| {
                orthant(folder, "run array --input @x.npy -g 2 -B 1 -o @a.tree.zarr", force)
            })
        },
        over("run array -o .tree.zarr.zip --force", &["a.tree.zarr.zip"], others, |folder, force| {
            orthant(folder, "run array --input @x.npy -g 2 -B 1 -o @a.tree.zarr.zip", force)
        }),
        case("TreeWriter, 8 shards", &["s.tree.zarr"], nothing, |folder, force| sharded(folder, "s.tree.zarr", force)),
        case("TreeWriter, 8 shards, zip", &["s.tree.zarr.zip"], nothing, |folder, force| {
            sharded(folder, "s.tree.zarr.zip", force)
        }),
        case("shard plan, run and merge", &["a.tree.zarr"], nothing, |folder, force| {
            // Two pieces of a shard each: with more files it takes hours, since every call is failed.
            orthant(folder, "shard plan mandelbrot -n 4 -g 2x1 -B 2 --pieces 2 -o @a.pieces", force)?;
            orthant(folder, "shard run @a.pieces --backend cpu", false)?;
            orthant(folder, "shard merge @a.pieces -o @a.tree.zarr", force)?;
            // Pieces say how long they took, and are never twice the same.
            fs::remove_dir_all(folder.join("a.pieces")).map_err(|error| error.to_string())
        }),
        case("tree convert .zarr", &["a.zarr"], tree, |folder, force| {
            orthant(folder, "tree convert @x.tree.zarr @a.zarr", force)
        }),
        over("tree convert .zarr --force", &["a.zarr"], converted, |folder, force| {
            orthant(folder, "tree convert @x.tree.zarr @a.zarr", force)
        }),
        case("tree convert .vti", &["a.vti"], tree, |folder, force| {
            orthant(folder, "tree convert @x.tree.zarr @a.vti", force)
        }),
        case("tree view", &["a.html"], tree, |folder, force| {
            orthant(folder, "tree view @x.tree.zarr -o @a.html", force)
        }),
        Case {
            loose: true,
            ..case("bench", &["a.jsonl"], sweep, |folder, force| {
                orthant(folder, "bench @sweep.toml -o @a.jsonl", force)
            })
        },
    ];
    // Commands that write all files twice, the slowest of all cases.
    let full = crate::scope::is_full();
    let wanted =
        |case: &Case| case.name.contains(&only) && (full || !only.is_empty() || !case.name.starts_with("shard"));
    cases.into_iter().filter(wanted).collect()
}
