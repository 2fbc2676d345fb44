//! Files of arrays and of trees with bytes changed at random: what is read is refused, or is what was there. Nothing panics. Fuzzing that
//! is guided by what the readers do starts from the same files: `.ci/fuzz`.
//!
//! Takes `ORTHANT_FUZZ_SECONDS`, or a moment; `ORTHANT_FUZZ_SEED` repeats a run.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, TreeFile, TreeInfo, TreeJob, TreeStore};

#[path = "../fuzz/src/formats/mod.rs"]
mod formats;

pub use formats::pack;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }
}

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Calls `round` until the time is over, and says what to repeat it with if it panics.
fn for_a_while(round: impl Fn(&mut Random)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let time = Duration::from_millis(number("ORTHANT_FUZZ_SECONDS").map_or(500, |seconds| seconds * 1000));
    let (start, mut rounds) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        let seed = number("ORTHANT_FUZZ_SEED").unwrap_or((u64::from(clock) << 32 | rounds) | 1);
        let run = std::panic::AssertUnwindSafe(|| round(&mut Random(seed)));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("ORTHANT_FUZZ_SEED={seed} repeats it");
            std::panic::resume_unwind(panic);
        }
        rounds += 1;
    }
    eprintln!("{rounds} files");
}

/// Some of the bytes are others, twice there, or gone; those after the first `often` are left alone mostly.
fn change(bytes: &mut Vec<u8>, often: usize, random: &mut Random) {
    const TEXTS: [&[u8]; 10] =
        [b"0", b"-1", b"99999999999999999999", b"'", b"(", b"}", b"True", b"null", b"4294967295", b"1e400"];
    for _ in 0..=random.below(3) {
        let reach = if random.below(4) > 0 { often.min(bytes.len()) } else { bytes.len() };
        if reach == 0 {
            return;
        }
        let at = random.below(reach);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = bytes.len().min(at + 1 + random.below(16));
                bytes.drain(at..end);
            }
            4 => {
                let end = bytes.len().min(at + 1 + random.below(16));
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                let text = TEXTS[random.below(TEXTS.len())];
                let end = bytes.len().min(at + random.below(text.len() + 2));
                bytes.splice(at..end, text.iter().copied());
            }
        }
    }
}

/// What fuzzing starts from, and what it found: a folder for each target.
fn seeds() -> PathBuf {
    Path::new(crate::ROOT).join("fuzz/seeds")
}

/// Every file that fuzzing starts from, as it is and changed at random, is refused or read. `BLESS=1` writes those that are made here.
#[test]
fn seeds_are_read_or_refused() {
    let folder = Folder::new("fuzzed-seeds");
    formats::PLACE.set(folder.0.clone()).unwrap();
    if std::env::var_os("BLESS").is_some() {
        crate::seeds::write(&seeds(), &folder.0);
    }
    let mut all = Vec::new();
    for &(target, check) in formats::ALL {
        let mut paths = Vec::new();
        files(&seeds().join(target), &mut paths);
        assert!(!paths.is_empty(), "{target}");
        for path in paths {
            let bytes = std::fs::read(&path).unwrap();
            eprintln!("{}", path.display());
            check(&bytes);
            all.push((check, bytes));
        }
    }
    for_a_while(|random| {
        let (check, bytes) = &all[random.below(all.len())];
        let mut bytes = bytes.clone();
        change(&mut bytes, 600, random);
        check(&bytes);
    });
}

/// Reads all of a tree, and compares it with the one that was there.
struct Read<'t>(&'t Tree<3>);

impl TreeJob for Read<'_> {
    type Output = ();

    fn run<const K: usize>(self, tree: TreeFile<K>) {
        if tree.validate().is_err() {
            return;
        }
        // What is right under all checksums is what was written.
        let array = tree.tree(None).unwrap().array(&tree.plan().domain().region(), None).unwrap();
        let own = self.0.array(&self.0.plan().domain().region(), None).unwrap();
        assert_eq!(array.cells(), own.cells());
    }
}

pub fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn trees_are_read_or_refused() {
    let folder = Folder::new("fuzzed-trees");
    let array =
        ArrayD::from_shape_fn(vec![12, 10, 9], |at| u16::from(at[0] > 5) * (at[1] / 5) as u16 + u16::from(at[2] == 3));
    let field = ArrayField::new(array.view()).unwrap();
    let domain = Domain::new([9, 10, 12], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    let (open, packed) = (folder.0.join("a.tree.zarr"), folder.0.join("a.tree.zarr.zip"));
    tree.save(&open, &TreeInfo::of(&plan)).unwrap();
    tree.save(&packed, &TreeInfo::of(&plan)).unwrap();
    let mut members = Vec::new();
    files(&open, &mut members);
    members.sort();
    for_a_while(|random| {
        let (path, tree_path) = match random.below(2) {
            0 => (&members[random.below(members.len())], &open),
            _ => (&packed, &packed),
        };
        let right = std::fs::read(path).unwrap();
        let mut bytes = right.clone();
        change(&mut bytes, usize::MAX, random);
        std::fs::write(path, &bytes).unwrap();
        if let Ok(store) = TreeStore::open(tree_path) {
            let _ = store.dispatch(Read(&tree));
        }
        std::fs::write(path, &right).unwrap();
    });
}
