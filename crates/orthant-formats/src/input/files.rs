//! Files that a header of text names.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::input::error::{FilePlace, InputFault};
use crate::input::format::Access;
use crate::input::lines::HeaderField;
use crate::input::reader::open;

/// The most files that an array is in.
const MOST: u64 = 1 << 16;

/// The files that a field names: one; `LIST`, and then `list`; or a pattern with numbers, `slice%03d.raw 1 40 1`. Their names are
/// meant from the header's folder on. Files outside of it are refused unless `access` follows them.
pub(super) fn data_files(
    header: &Path,
    field: &HeaderField<'_>,
    list: &[String],
    access: Access,
) -> Result<Vec<PathBuf>, InputFault> {
    let folder = header.parent().unwrap_or(Path::new(""));
    let words: Vec<&str> = field.value.split_whitespace().collect();
    let names = match &words[..] {
        [] => return Err(field.wrong("the name of a file is needed")),
        ["LIST", ..] if list.is_empty() => {
            return Err(field.wrong("names of files are needed on the lines that follow"));
        }
        ["LIST", ..] if list.len() as u64 > MOST => return Err(field.wrong(format!("at most {MOST} files can be"))),
        ["LIST", ..] => list.to_vec(),
        [pattern, first, last, step, ..] if pattern.contains('%') => {
            let number = |word: &str| word.parse::<i64>().map_err(|_| field.wrong("whole numbers follow the pattern"));
            let steps = Steps { first: number(first)?, last: number(last)?, step: number(step)? };
            numbered(field, pattern, &steps)?
        }
        _ => vec![field.value.trim().to_owned()],
    };
    if let Some(name) = names.iter().find(|name| name.contains(char::is_control)) {
        return Err(InputFault::field(
            field.at,
            field.name,
            name,
            "a file's name without control characters is needed",
        ));
    }
    if !access.follow
        && let Some((name, file)) = names.iter().find_map(|name| Some((name, outside(folder, name)?)))
    {
        return Err(InputFault::Outside { at: field.at, field: field.name.into(), value: name.as_str().into(), file });
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// Where a file is that a name leads to from a folder, if that is outside of the folder.
fn outside(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = folder.join(name);
    let mut parts = Path::new(name).components();
    let own = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if own && !file.is_symlink() {
        return None;
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (file.canonicalize(), here.canonicalize()) {
        (Ok(real), Ok(folder)) => (!real.starts_with(&folder)).then_some(real),
        // Nothing is there, which is not told of what lies outside.
        _ => {
            let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            (!Path::new(name).components().all(inside)).then_some(file)
        }
    }
}

/// Numbers from the first in steps up to the last.
struct Steps {
    first: i64,
    last: i64,
    step: i64,
}

/// The names that a pattern makes of numbers.
fn numbered(field: &HeaderField<'_>, pattern: &str, numbers: &Steps) -> Result<Vec<String>, InputFault> {
    let Steps { first, last, step } = *numbers;
    let wrong = || field.wrong("a pattern has one number in it, as slice%03d.raw");
    let (before, rest) = pattern.split_once('%').ok_or_else(wrong)?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (width, rest) = rest.split_at(digits);
    let after = rest.strip_prefix(['d', 'i', 'u']).filter(|after| !after.contains('%')).ok_or_else(wrong)?;
    let zeros = width.starts_with('0');
    let width: usize = if width.is_empty() { 0 } else { width.parse().map_err(|_| wrong())? };
    let count = match step {
        0 => None,
        step => last.checked_sub(first).and_then(|span| span.checked_div(step)).filter(|&span| span >= 0),
    };
    let count = count.map_or(u64::MAX, i64::unsigned_abs);
    if count >= MOST || width > 20 {
        return Err(
            field.wrong(format!("between 1 and {MOST} files, from the first number in steps to the last, can be"))
        );
    }
    let name = |index: i64| {
        let number = first + index * step;
        let number = if zeros { format!("{number:0width$}") } else { format!("{number:width$}") };
        format!("{before}{number}{after}")
    };
    Ok((0..=count as i64).map(name).collect())
}

/// The byte after so many lines of a file, from some byte on.
pub(super) fn past_lines(path: &Path, from: u64, lines: u64) -> Result<u64, InputFault> {
    if lines == 0 {
        return Ok(from);
    }
    let (file, _) = open(path)?;
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(from))?;
    let mut at = from;
    for line in 0..lines {
        // Without memory for what may be no lines at all.
        let read = (&mut reader).take(u64::MAX).skip_until(b'\n')? as u64;
        if read == 0 {
            return Err(InputFault::Damaged {
                at: FilePlace::Line(line + 1),
                what: "the file ends within the lines that are skipped".into(),
            });
        }
        at += read;
    }
    Ok(at)
}
