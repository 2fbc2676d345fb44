//! `zarr.json` as text: objects spread over lines as far down as people look, and lists in one line.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};

use crate::zarr::error::Fault;

/// Writes objects over lines down to a depth, and what is below in one line.
#[derive(Default)]
struct Lines {
    /// Objects down to this depth have a line per member.
    spread: usize,
    depth: usize,
    /// True in an object that has no member yet.
    empty: bool,
    /// Brackets that are open and in one line, outside of which objects may spread.
    lists: usize,
}

impl Lines {
    fn spreads(&self) -> bool {
        self.depth <= self.spread && self.lists == 0
    }

    fn line<W: Write + ?Sized>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.lists += 1;
        out.write_all(b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.lists -= 1;
        out.write_all(b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        out.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        let spreads = self.spreads() && !self.empty;
        self.depth -= 1;
        self.empty = false;
        if spreads {
            self.line(out)?;
        }
        out.write_all(b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.empty = false;
        if !first {
            out.write_all(if self.spreads() { b"," } else { b", " })?;
        }
        if self.spreads() { self.line(out) } else { Ok(()) }
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// A value as text, with lines down to a depth of `spread` and one at its end.
///
/// # Panics
/// If it has a map whose keys are no strings.
pub(super) fn text(value: &impl Serialize, spread: usize) -> String {
    let mut bytes = Vec::new();
    let lines = Lines { spread, ..Lines::default() };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, lines)).expect("it has names for keys");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is text")
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupDocument<A> {
    zarr_format: u32,
    node_type: String,
    attributes: A,
}

/// The text of a group with these attributes, an object.
pub(crate) fn group<A: Serialize>(attributes: &A) -> String {
    // As far as the members of an attribute that is an object.
    text(&GroupDocument { zarr_format: 3, node_type: "group".into(), attributes }, 3)
}

/// The text of a group with these attributes and arrays, which are described in it once more, so that whoever opens it need not look
/// for them.
pub fn group_of<A: Serialize, M: Serialize>(attributes: &A, arrays: &BTreeMap<String, M>) -> String {
    let consolidated_metadata = Consolidated { kind: "inline", must_understand: false, metadata: arrays };
    let node_type = "group";
    // As far as the arrays.
    text(&ConsolidatedDocument { zarr_format: 3, node_type, attributes, consolidated_metadata }, 3)
}

#[derive(Serialize)]
struct ConsolidatedDocument<'a, A, M> {
    zarr_format: u32,
    node_type: &'static str,
    attributes: &'a A,
    consolidated_metadata: Consolidated<'a, M>,
}

#[derive(Serialize)]
struct Consolidated<'a, M> {
    kind: &'static str,
    must_understand: bool,
    metadata: &'a BTreeMap<String, M>,
}

/// The attributes that the text of a group has, whose first byte is at `start` of its file.
///
/// # Errors
/// If it is no group, or has other attributes.
pub(crate) fn read_group<A: DeserializeOwned>(text: &[u8], start: u64) -> Result<A, Fault> {
    let at = |line: usize, column: usize| {
        let before: usize =
            text.split_inclusive(|&byte| byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        start + (before + column.saturating_sub(1)).min(text.len()) as u64
    };
    let group: GroupDocument<A> = serde_json::from_slice(text).map_err(|error| {
        // What the parser says ends with line and column.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        Fault::Json { offset: at(error.line(), error.column()), reason }
    })?;
    if group.zarr_format != 3 || group.node_type != "group" {
        let reason = format!("a {} of Zarr {}, where a group of Zarr 3 must be", group.node_type, group.zarr_format);
        return Err(Fault::Json { offset: start, reason });
    }
    Ok(group.attributes)
}

/// Compares text, whose first byte is at `start` of its file, with what must be there.
///
/// # Errors
/// [`Fault::Metadata`] with the first difference, and some of what is there.
pub(super) fn compare(found: &[u8], start: u64, expected: &str) -> Result<(), Fault> {
    if found == expected.as_bytes() {
        return Ok(());
    }
    let same = found.iter().zip(expected.as_bytes()).take_while(|(a, b)| a == b).count();
    let some = |text: &[u8]| String::from_utf8_lossy(&text[same..text.len().min(same + 24)]).into_owned();
    Err(Fault::Metadata { offset: start + same as u64, found: some(found), expected: some(expected.as_bytes()) })
}
