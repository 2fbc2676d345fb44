//! Names, and what they mean.

use std::collections::{BTreeMap, BTreeSet};

/// What one file says of one module. A module has several if a `cfg_attr` chooses between files.
#[derive(Default)]
pub(super) struct Source {
    pub(super) stands_in: bool,
    pub(super) items: BTreeSet<String>,
    pub(super) types: BTreeSet<String>,
    /// Words of macro calls among the items: what is defined nowhere else is defined by them.
    pub(super) made: BTreeSet<String>,
    pub(super) uses: Vec<(String, Name)>,
    pub(super) globs: Vec<Name>,
    pub(super) names: Vec<Name>,
}

/// A path as it is written, but for `crate`, `self` and `super`.
#[derive(Clone)]
pub(super) struct Name {
    pub(super) line: usize,
    pub(super) module: String,
    pub(super) rest: Vec<String>,
    /// It began with `crate`, `self` or `super`, so it must lead somewhere.
    pub(super) rooted: bool,
    /// A word among the arguments of a macro that makes items. If it is a module, the items use that module.
    pub(super) handed: bool,
}

impl Name {
    pub(super) fn text(&self) -> String {
        format!("{}::{}", self.module, self.rest.join("::"))
    }
}

/// Everything that a path can mean: a name may be a function, a macro and a module at once.
#[derive(Default, PartialEq)]
pub(super) struct Meaning {
    pub(super) modules: BTreeSet<String>,
    /// The files that define it, with its full path.
    pub(super) items: BTreeSet<(String, String)>,
    outside: bool,
}

impl Meaning {
    fn add(&mut self, other: Self) {
        self.modules.extend(other.modules);
        self.items.extend(other.items);
        self.outside |= other.outside;
    }
}

/// By module path and file.
pub(super) struct Sources(pub(super) BTreeMap<(String, String), Source>);

impl Sources {
    pub(super) fn variants(&self, module: &str) -> impl Iterator<Item = (&String, &Source)> {
        let from = (module.to_owned(), String::new());
        self.0.range(from..).take_while(move |((name, _), _)| name == module).map(|((_, file), source)| (file, source))
    }

    /// `trail` has the imports that are being followed: following one of them again would not end.
    pub(super) fn resolve<'a>(&'a self, name: &'a Name, trail: &mut Vec<&'a Name>) -> Meaning {
        let mut meaning = Meaning { modules: [name.module.clone()].into(), ..Meaning::default() };
        if trail.iter().any(|followed| std::ptr::eq(*followed, name)) {
            return Meaning::default();
        }
        trail.push(name);
        for (at, segment) in name.rest.iter().enumerate() {
            // What follows a type is a variant or an associated item.
            if meaning.modules.is_empty() {
                break;
            }
            let mut next = Meaning::default();
            meaning.modules.iter().for_each(|module| next.add(self.look_up(module, segment, trail)));
            if next == Meaning::default() && at == 0 && !name.rooted {
                next.outside = true;
            }
            meaning = next;
        }
        trail.pop();
        meaning
    }

    fn look_up<'a>(&'a self, module: &str, name: &str, trail: &mut Vec<&'a Name>) -> Meaning {
        let mut meaning = self.declared(module, name, trail);
        if meaning == Meaning::default() {
            let made = self.variants(module).filter(|(_, source)| source.made.contains(name));
            meaning.items.extend(made.map(|(file, _)| (file.clone(), format!("{module}::{name}"))));
        }
        meaning
    }

    fn declared<'a>(&'a self, module: &str, name: &str, trail: &mut Vec<&'a Name>) -> Meaning {
        let path = format!("{module}::{name}");
        let mut meaning = Meaning::default();
        for (file, source) in self.variants(module) {
            if source.items.contains(name) {
                meaning.items.insert((file.clone(), path.clone()));
            }
            for (_, import) in source.uses.iter().filter(|(called, _)| called == name) {
                meaning.add(self.resolve(import, trail));
            }
        }
        if self.variants(&path).next().is_some() {
            meaning.modules.insert(path);
        }
        if meaning == Meaning::default() {
            for glob in self.variants(module).flat_map(|(_, source)| &source.globs) {
                let from = self.resolve(glob, trail).modules;
                trail.push(glob);
                from.iter().for_each(|module| meaning.add(self.declared(module, name, trail)));
                trail.pop();
            }
        }
        meaning
    }
}
