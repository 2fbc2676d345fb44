//! What lies at a name of a store: an array or a group, by its metadata of version 2 or 3.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::members::FileState;
use orthant::zarr::{Fault, ZarrError, ZarrStore};

/// The most bytes of metadata. That of a group can have that of all its arrays in it.
const MOST: u64 = 1 << 26;

/// What metadata says.
pub(super) struct ZarrNode {
    /// Of an array; else of a group.
    pub(super) array: bool,
    /// Of Zarr: 2 or 3.
    pub(super) version: u8,
    pub(super) content: Map<String, Value>,
    pub(super) attributes: Map<String, Value>,
    /// The file, and its name in a zip.
    path: PathBuf,
    member: Option<String>,
    text: String,
    /// The files that it was read from, and what they were then; none of a zip.
    pub(super) files: Vec<(PathBuf, FileState)>,
}

impl ZarrNode {
    /// What lies at a name, `/` between folders and none of the store itself; None if nothing does.
    pub(super) fn read(store: &ZarrStore, name: &str) -> Result<Option<Self>, InputError> {
        if let Some(mut found) = Self::file(store, &inside(name, "zarr.json"), 3)? {
            let kind = found.content.get("node_type").and_then(Value::as_str);
            found.array = match kind {
                Some("array") => true,
                Some("group") => false,
                _ => {
                    return Err(found.wrong(
                        "node_type",
                        found.content.get("node_type"),
                        "an array or a group is needed",
                    ));
                }
            };
            if let Some(Value::Object(attributes)) = found.content.remove("attributes") {
                found.attributes = attributes;
            }
            return Ok(Some(found));
        }
        for (file, array) in [(".zarray", true), (".zgroup", false)] {
            if let Some(mut found) = Self::file(store, &inside(name, file), 2)? {
                found.array = array;
                if let Some(attributes) = Self::json(store, &inside(name, ".zattrs"))? {
                    found.attributes = attributes.content;
                    found.files.extend(attributes.files);
                }
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A file of metadata of that version.
    fn file(store: &ZarrStore, name: &str, version: u8) -> Result<Option<Self>, InputError> {
        let Some(mut found) = Self::json(store, name)? else { return Ok(None) };
        found.version = version;
        let said = found.content.get("zarr_format");
        if said.and_then(Value::as_u64) != Some(version.into()) {
            return Err(found.wrong("zarr_format", said, format!("{version} is needed in a file of this name")));
        }
        Ok(Some(found))
    }

    fn json(store: &ZarrStore, name: &str) -> Result<Option<Self>, InputError> {
        let Some(member) = store.member(name).map_err(of_store)? else { return Ok(None) };
        if member.len() > MOST {
            return Err(of_store(member.wrong(Fault::Large { length: member.len(), most: MOST })));
        }
        let metadata = member.metadata().map_err(|error| of_store(member.wrong(error.into())))?;
        let bytes = member.all().map_err(of_store)?;
        let ZarrError { path, member, .. } = member.wrong(Fault::NoStore);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let content = serde_json::from_str(&numbers_quoted(&text));
        let (content, attributes) = (content, Map::new());
        let files = if member.is_none() { vec![(path.clone(), FileState::of(&metadata))] } else { Vec::new() };
        let mut found = Self { array: false, version: 0, content: Map::new(), attributes, path, member, text, files };
        found.content = content.map_err(|error| {
            let reason = error.to_string();
            let what = format!("no JSON object of metadata: {}", reason.split(" at line ").next().unwrap_or_default());
            found.at(InputFault::Damaged { at: FilePlace::Line(error.line().max(1) as u64), what })
        })?;
        Ok(Some(found))
    }

    /// Something about this file.
    pub(super) fn at(&self, wrong: InputFault) -> InputError {
        let path = self.path.clone();
        match self.member.clone() {
            Some(name) => InputError { path, wrong: InputFault::InMember { name, wrong: Box::new(wrong) } },
            None => InputError { path, wrong },
        }
    }

    /// Something about a key of it, and what would be allowed.
    pub(super) fn wrong(&self, key: &str, said: Option<&Value>, allowed: impl Into<String>) -> InputError {
        let quoted = format!("\"{key}\"");
        let line = self.text.lines().position(|line| line.contains(&quoted)).map_or(1, |line| line as u64 + 1);
        let value = match said {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "nothing".into(),
        };
        self.at(InputFault::field(FilePlace::Line(line), key, value, allowed))
    }
}

/// A name in a folder of the store.
pub(super) fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The same about a store.
pub(super) fn of_store(ZarrError { path, member, fault }: ZarrError) -> InputError {
    let wrong = match fault {
        Fault::Io(error) => InputFault::Io(error),
        fault => InputFault::Archive(fault),
    };
    match member {
        Some(name) => InputError { path, wrong: InputFault::InMember { name, wrong: Box::new(wrong) } },
        None => InputError { path, wrong },
    }
}

/// JSON as Python writes it, with what is no number in quotes.
fn numbers_quoted(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest, mut quoted) = (String::new(), text, false);
    while let Some(letter) = rest.chars().next() {
        let word = WORDS.iter().find(|&&word| !quoted && rest.starts_with(word));
        let length = match (word, letter) {
            (Some(word), _) => {
                out.extend(["\"", word, "\""]);
                rest = &rest[word.len()..];
                continue;
            }
            (None, '\\') => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, _) => letter.len_utf8(),
        };
        quoted ^= letter == '"';
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Cow::Owned(out)
}
