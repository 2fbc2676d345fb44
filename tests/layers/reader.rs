//! Reads sources: which names a file defines and which it uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Token, UseTree};

use super::names::{Name, Source};

/// Where the reader is.
#[derive(Default, Clone)]
struct Place {
    module: String,
    file: String,
    /// The folder of the files of this module's modules, and the one from which `#[path]` counts.
    folder: PathBuf,
    path_folder: PathBuf,
    /// How many blocks deep: what a function defines is not the module's.
    blocks: usize,
}

#[derive(Default)]
pub(super) struct Reader {
    root: PathBuf,
    place: Place,
    pub(super) modules: BTreeMap<(String, String), Source>,
    pub(super) lost: Vec<String>,
}

impl Reader {
    /// A reader of the crate in a folder.
    pub(super) fn of(root: &Path) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }

    fn source(&mut self) -> &mut Source {
        self.modules.entry((self.place.module.clone(), self.place.file.clone())).or_default()
    }

    /// `folder` is that of the file's modules.
    pub(super) fn read(&mut self, path: PathBuf, module: String, folder: PathBuf, stands_in: bool) {
        let file = path.strip_prefix(self.root.parent().unwrap()).unwrap().display().to_string();
        if self.modules.contains_key(&(module.clone(), file.clone())) {
            return; // variants of a module may share the files of its modules
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let items = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items;
        let path_folder = path.parent().unwrap().to_owned();
        self.inside(Place { module, file, folder, path_folder, blocks: 0 }, |reader| {
            reader.source().stands_in = stands_in;
            items.iter().for_each(|item| reader.visit_item(item));
        });
    }

    fn inside(&mut self, place: Place, read: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.place, place);
        self.source();
        read(self);
        self.place = outer;
    }

    fn name(&self, line: usize, path: &[String], handed: bool) -> Name {
        let mut module = self.place.module.clone();
        let ups = path.iter().take_while(|segment| matches!(&***segment, "crate" | "self" | "super")).count();
        for up in &path[..ups] {
            let end = if up == "crate" { module.find("::") } else { module.rfind("::").filter(|_| up == "super") };
            module.truncate(end.unwrap_or(module.len()));
        }
        let rest = path[ups..].iter().filter(|segment| *segment != "self").cloned().collect();
        Name { line, module, rest, rooted: ups > 0, handed }
    }

    fn use_tree(&mut self, tree: &UseTree, mut path: Vec<String>) {
        let (first, called) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.use_tree(&tree.tree, path);
            }
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.use_tree(tree, path.clone())),
            UseTree::Glob(glob) => {
                let name = self.name(glob.star_token.span.start().line, &path, false);
                self.source().globs.push(name.clone());
                return self.source().names.push(name);
            }
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(rename) => (&rename.ident, &rename.rename),
        };
        let called = if called == "self" { path.last().cloned().unwrap_or_default() } else { called.to_string() };
        path.push(first.to_string());
        let name = self.name(first.span().start().line, &path, false);
        self.source().uses.push((called, name.clone()));
        self.source().names.push(name);
    }

    /// Paths among tokens that need not be Rust. `prefix` is what stands before the braces of a `use`; `made` says that
    /// the tokens are a macro's among the items.
    fn tokens(&mut self, stream: TokenStream, prefix: &[String], made: bool) {
        let tokens: Vec<_> = stream.into_iter().collect();
        let is = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == c);
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        };
        let colons = |at: usize| is(at, ':') && is(at + 1, ':');
        let braces = |at: usize| match tokens.get(at) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
            _ => None,
        };
        // `.field`, `'a`, `$name` and what follows `Type<T>::` begin no path; `..Default::default()` and `$crate` do.
        let begins = |at: usize| {
            let last = |c| at > 0 && is(at - 1, c);
            let follows = last('.') && !(at > 1 && is(at - 2, '.')) || at > 1 && colons(at - 2);
            !(follows || last('\'') || last('$') && ident(at).is_some_and(|name| name != "crate"))
        };
        let mut at = 0;
        while at < tokens.len() {
            let start = at;
            at += 1;
            if let TokenTree::Group(group) = &tokens[start] {
                self.tokens(group.stream(), &[], made);
            }
            let Some(first) = ident(start).filter(|_| begins(start)) else { continue };
            if first == "as" && !prefix.is_empty() {
                at += 1;
            // In a module that a macro writes, `super` is the module of the macro.
            } else if first == "mod"
                && let Some(body) = (at..at + 3).find(|at| braces(*at).is_some())
            {
                let module = format!("{}::{}", self.place.module, ident(at).map_or("_".into(), Ident::to_string));
                let place = Place { module, ..self.place.clone() };
                self.inside(place, |reader| reader.tokens(braces(body).unwrap(), &[], made));
                at = body + 1;
            } else {
                let mut path = [prefix, &[first.to_string()]].concat();
                while colons(at)
                    && let Some(next) = ident(at + 2)
                {
                    path.push(next.to_string());
                    at += 3;
                }
                if colons(at)
                    && let Some(group) = braces(at + 2)
                {
                    self.tokens(group, &path, made);
                    at += 3;
                    continue;
                }
                if made && path.len() == 1 {
                    self.source().made.insert(first.to_string());
                }
                let handed = made && path.len() == 1 && !["crate", "self", "super"].contains(&&*first.to_string());
                let name = self.name(first.span().start().line, &path, handed);
                self.source().names.push(name);
            }
        }
    }

    fn file_module(&mut self, item: &syn::ItemMod) {
        let Place { module, file, folder, path_folder, .. } = self.place.clone();
        let name = item.ident.to_string();
        let inner = folder.join(&name);
        // A file that an attribute names has its modules beside it, as a `mod.rs` has.
        let given = paths(&item.attrs).into_iter().map(|path| path_folder.join(path));
        let given = given.map(|path| (path.clone(), path.parent().unwrap().to_owned(), true));
        let own = [inner.with_extension("rs"), inner.join("mod.rs")].map(|path| (path, inner.clone(), false));
        let files: Vec<_> = own.into_iter().filter(|(path, ..)| path.exists()).chain(given).collect();
        if files.is_empty() {
            self.lost.push(format!("{file}, line {}: no file for mod {name}", item.ident.span().start().line));
        }
        for (path, folder, stands_in) in files {
            self.read(path, format!("{module}::{name}"), folder, stands_in);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Mod(item) => (&item.attrs, None),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Use(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            return;
        }
        if self.place.blocks == 0 {
            let mut types = Vec::new();
            match item {
                Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) => {
                    types.extend(name.map(Ident::to_string))
                }
                // `registry! { pub enum Kind .. }` defines a type as plainly as Rust does.
                Item::Macro(call) if name.is_none() => {
                    let words: Vec<_> = call.mac.tokens.clone().into_iter().map(|token| token.to_string()).collect();
                    let defines = |word: &str| ["enum", "struct", "trait", "type"].contains(&word);
                    types.extend(words.windows(2).filter(|pair| defines(&pair[0])).map(|pair| pair[1].clone()));
                }
                // The modules below see it without importing it.
                Item::Macro(_) => self.source().items.extend(name.map(|name| format!("{name}!"))),
                _ => {}
            }
            let source = self.source();
            source.items.extend(types.iter().cloned().chain(name.map(Ident::to_string)));
            source.types.extend(types);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, items)) = &item.content else { return self.file_module(item) };
        let folder = self.place.folder.join(item.ident.to_string());
        let module = format!("{}::{}", self.place.module, item.ident);
        let place = Place { module, path_folder: folder.clone(), folder, ..self.place.clone() };
        self.inside(place, |reader| items.iter().for_each(|item| reader.visit_item(item)));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.use_tree(&item.tree, Vec::new());
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.place.blocks += 1;
        visit::visit_block(self, block);
        self.place.blocks -= 1;
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone(), &[], self.place.blocks == 0);
        if let Some(called) = call.path.get_ident() {
            let mut name = self.name(called.span().start().line, &[format!("{called}!")], false);
            while let Some((parent, _)) = name.module.rsplit_once("::") {
                name.module = parent.to_owned();
                self.source().names.push(name.clone());
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let name = self.name(path.segments[0].ident.span().start().line, &segments, false);
            self.source().names.push(name);
        }
        visit::visit_path(self, path);
    }

    /// `pub(in path)` says who may import, and is no import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            Meta::List(list) => self.tokens(list.tokens.clone(), &[], false),
            Meta::NameValue(pair) => self.visit_expr(&pair.value),
            Meta::Path(_) => {}
        }
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter_map(|attribute| attribute.meta.require_list().ok()).any(|list| {
        let condition = list.tokens.to_string().replace(' ', "");
        list.path.is_ident("cfg") && (matches!(&*condition, "test" | "doctest") || condition.starts_with("all(test,"))
    })
}

/// The files that `#[path]` and `#[cfg_attr(.., path)]` name.
fn paths(attributes: &[Attribute]) -> Vec<String> {
    let metas = attributes.iter().flat_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            Vec::from_iter(list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap())
        }
        meta => vec![meta.clone()],
    });
    let text = |meta: Meta| match &meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => meta.path().is_ident("path").then(|| text.value()),
        _ => None,
    };
    metas.filter_map(text).collect()
}
