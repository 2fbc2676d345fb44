//! Files and the arrows between them: what is wrong with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::path::Path;

use super::names::{Meaning, Sources};
use super::reader::Reader;

/// The lowest first: a name, and the files and folders in the layer. The longest match wins. `lib.rs` and `main.rs` are
/// above all.
pub(super) type Layers<'a> = &'a [(&'a str, &'a [&'a str])];

/// What is named, with the line that names it first.
type Ties = BTreeMap<String, usize>;

/// The module and the file of a type, and whether that file only stands in for another one of the module.
type Definition = (String, String, bool);

pub(super) struct Graph {
    /// From, to, why. Every file is in it; files are named from the folder of the root, as `src/plan.rs`.
    pub(super) arrows: BTreeMap<String, BTreeMap<String, Ties>>,
    /// By the name of the type.
    pub(super) types: BTreeMap<String, Vec<Definition>>,
    /// Paths into the crate that lead nowhere. They are faults, so that nothing is missed in silence.
    pub(super) lost: Vec<String>,
}

impl Graph {
    pub(super) fn faults(&self, layers: Layers) -> Vec<String> {
        let mut faults = self.lost.clone();
        for (from, arrows) in &self.arrows {
            let Some((low, lower)) = layer(layers, from) else {
                faults.push(format!("{from} is in no layer"));
                continue;
            };
            for (to, ties) in arrows {
                if let Some((_, higher)) = layer(layers, to).filter(|(high, _)| *high > low) {
                    faults.push(format!("layer {lower} imports from layer {higher}: {}", arrow(from, to, ties)));
                }
            }
        }
        let entries: Vec<_> = layers.iter().flat_map(|(_, entries)| *entries).collect();
        for (at, entry) in entries.iter().enumerate() {
            if entries[..at].contains(entry) || !self.arrows.keys().any(|file| is_under(file, entry)) {
                faults.push(format!("{entry} is listed twice in the layers, or there is no such file"));
            }
        }
        faults.into_iter().chain(self.circles()).chain(self.twins()).collect()
    }

    /// One shortest circle of every knot: of files that all reach each other.
    fn circles(&self) -> Vec<String> {
        let reach: BTreeMap<_, _> = self.arrows.keys().map(|file| (file, self.reach(file))).collect();
        let (mut circles, mut known) = (Vec::new(), BTreeSet::new());
        for (file, reached) in &reach {
            let knot: Vec<_> = reached.keys().copied().filter(|other| reach[other].contains_key(*file)).collect();
            let ways = knot.iter().map(|file| {
                let mut way = vec![*file, reach[file][file]];
                while way[way.len() - 1] != *file {
                    way.push(reach[file][way[way.len() - 1]]);
                }
                way
            });
            let Some(way) = ways.min_by_key(Vec::len).filter(|_| known.insert(knot[0])) else { continue };
            let arrows = way.windows(2).rev().map(|pair| arrow(pair[1], pair[0], &self.arrows[pair[1]][pair[0]]));
            let arrows = Vec::from_iter(arrows).join("\n    ");
            circles.push(format!("a circle of {}, in a knot of {} files:\n    {arrows}", way.len() - 1, knot.len()));
        }
        circles
    }

    /// Every file that `start` imports, at any distance, with the file before it on a shortest way.
    fn reach<'a>(&'a self, start: &'a String) -> BTreeMap<&'a String, &'a String> {
        let (mut before, mut queue) = (BTreeMap::new(), VecDeque::from([start]));
        while let Some(file) = queue.pop_front() {
            for next in self.arrows[file].keys() {
                before.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    file
                });
            }
        }
        before
    }

    /// Types of one name in several files. A file that stands in for a module says again what that module says.
    fn twins(&self) -> impl Iterator<Item = String> {
        let replaces = |(a, _, stands_in): &Definition, (b, ..): &Definition| {
            *stands_in && b.strip_prefix(a.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        self.types.iter().filter_map(move |(name, all)| {
            let clash = |a: &Definition, b: &Definition| a.1 != b.1 && !replaces(a, b) && !replaces(b, a);
            let files = all.iter().filter(|one| all.iter().any(|other| clash(one, other))).map(|(_, file, _)| &**file);
            let files = Vec::from_iter(BTreeSet::from_iter(files));
            let count = if files.len() == 2 { "two".to_owned() } else { files.len().to_string() };
            (!files.is_empty()).then(|| format!("{count} files define {name}: {}", files.join(", ")))
        })
    }

    pub(super) fn listing(&self, layers: Layers) -> String {
        let mut files: Vec<_> = self.arrows.iter().map(|(file, to)| (layer(layers, file), file, to)).collect();
        files.sort();
        let mut text = String::new();
        for group in files.chunk_by(|a, b| a.0 == b.0) {
            writeln!(text, "{}", group[0].0.map_or("no layer", |(_, name)| name)).unwrap();
            for (_, file, to) in group {
                writeln!(text, "    {file}: {}", Vec::from_iter(to.keys().map(String::as_str)).join(" ")).unwrap();
            }
        }
        text
    }
}

fn is_under(file: &str, entry: &str) -> bool {
    let (_, file) = file.split_once('/').unwrap();
    file == entry || entry.ends_with('/') && file.starts_with(entry)
}

fn layer<'a>(layers: Layers<'a>, file: &str) -> Option<(usize, &'a str)> {
    if is_under(file, "lib.rs") || is_under(file, "main.rs") {
        return Some((layers.len(), "root"));
    }
    let longest = |entries: &[&str]| entries.iter().filter(|entry| is_under(file, entry)).map(|e| e.len()).max();
    let (at, (name, entries)) = layers.iter().enumerate().max_by_key(|(_, (_, entries))| longest(entries))?;
    longest(entries).map(|_| (at, *name))
}

fn arrow(from: &str, to: &str, ties: &Ties) -> String {
    let ties: Vec<_> = ties.iter().map(|(name, line)| format!("line {line}: {name}")).collect();
    format!("{from} -> {to} ({})", ties.join(", "))
}

/// Reads the crate whose `lib.rs` or `main.rs` is in `root`.
pub(super) fn graph(root: &Path) -> Graph {
    let mut reader = Reader::of(root);
    for (file, name) in [("lib.rs", "crate"), ("main.rs", "main")] {
        if root.join(file).exists() {
            reader.read(root.join(file), name.to_owned(), root.to_owned(), false);
        }
    }
    let mut graph = Graph { arrows: BTreeMap::new(), types: BTreeMap::new(), lost: reader.lost };
    let sources = Sources(reader.modules);
    for ((module, file), source) in &sources.0 {
        let arrows = graph.arrows.entry(file.clone()).or_default();
        // Another file of the module stands in for this one.
        let is_own = |to: &String| sources.0.contains_key(&(module.clone(), to.clone()));
        for name in &source.names {
            let meaning = sources.resolve(name, &mut Vec::new());
            if meaning == Meaning::default() {
                graph.lost.push(format!("{file}, line {}: cannot find {}", name.line, name.text()));
            }
            let given = meaning.modules.iter().filter(|_| name.handed && meaning.items.is_empty());
            let given = given.flat_map(|m| sources.variants(m).map(|(file, _)| (file.clone(), m.clone())));
            for (to, item) in meaning.items.iter().cloned().chain(given).filter(|(to, _)| !is_own(to)) {
                let line = arrows.entry(to).or_default().entry(item).or_insert(name.line);
                *line = name.line.min(*line);
            }
        }
        for name in &source.types {
            graph.types.entry(name.clone()).or_default().push((module.clone(), file.clone(), source.stands_in));
        }
    }
    graph
}
