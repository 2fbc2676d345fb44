//! Tables of text: a line for each point, with words between commas, semicolons or spaces.
//!
//! Pieces of the text are read by all threads. A piece does not know how many lines are before it; they are counted where one is wrong.

use crate::input::error::{FilePlace, InputFault};
use crate::input::points::columns::{FoundColumns, PointColumns};
use crate::input::points::rows::{PointRows, exact};
use crate::input::text::{Text, number};
use orthant::parallel;
use orthant::points::Points;

/// Bytes that a thread reads at a time.
const TOGETHER: usize = 1 << 20;

/// What is between the words of a line.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    /// A character, and spaces beside it.
    Character(u8),
    Spaces,
}

/// A line without what says nothing; None if there is nothing else.
#[inline]
fn meaningful(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    (!line.is_empty() && line[0] != b'#' && !line.starts_with(b"//")).then_some(line)
}

impl Between {
    fn of(line: &[u8]) -> Self {
        [b',', b';'].into_iter().find(|byte| line.contains(byte)).map_or(Self::Spaces, Self::Character)
    }

    #[inline]
    fn words(self, line: &[u8]) -> impl Iterator<Item = &[u8]> {
        let cut = move |byte: &u8| match self {
            Self::Character(between) => *byte == between,
            Self::Spaces => byte.is_ascii_whitespace(),
        };
        let words = line.split(cut).map(|word| word.trim_ascii());
        words.filter(move |word| self != Self::Spaces || !word.is_empty())
    }
}

/// A number, also in quotation marks.
#[inline]
fn number_of(word: &[u8]) -> Option<f64> {
    number(word).or_else(|| number(word.strip_prefix(b"\"")?.strip_suffix(b"\"")?))
}

fn name_of(word: &[u8]) -> String {
    String::from_utf8_lossy(word).trim_matches(['"', '\'', '/', '#', ' ']).to_owned()
}

/// What comes before the points.
struct TableHead {
    between: Between,
    names: Vec<String>,
    /// Where the names are, or the first point.
    at: FilePlace,
    /// Words on the first line with a point.
    count: usize,
    /// Where the points begin: a byte, and the lines before.
    start: usize,
    lines: u64,
    /// Points that the first line counts, as `.pts` has it, and its number.
    counted: Option<(u64, u64)>,
}

impl TableHead {
    fn of(text: &Text<'_>) -> Result<Self, InputFault> {
        let mut names: (Vec<u8>, u64) = (Vec::new(), 0);
        let (mut counted, mut start, mut lines, mut header) = (None, 0, 0, false);
        for line in text.lines() {
            let (end, at) = (start + line.len() + 1, FilePlace::Line(lines + 1));
            match meaningful(line) {
                // A remark before the points can have their names.
                None if !header && !line.trim_ascii().is_empty() => names = (line.to_vec(), lines + 1),
                None => {}
                Some(line) => {
                    let between = Between::of(line);
                    let words: Vec<&[u8]> = between.words(line).collect();
                    let numbers = words.iter().filter(|word| number_of(word).is_some()).count();
                    match (&words[..], numbers) {
                        ([word], 1) if counted.is_none() && !header && number::<u64>(word).is_some() => {
                            counted = number(word).map(|count| (count, lines + 1));
                        }
                        (_, 0) if !header => (names, header) = ((line.to_vec(), lines + 1), true),
                        _ => {
                            let (line, number) = names;
                            let words_of = |line: &[u8]| between.words(line).map(name_of).collect::<Vec<_>>();
                            let mut names = words_of(&line);
                            names.retain(|name| header || !name.is_empty());
                            // A remark that says something else has no word for each column.
                            let fits = header || names.len() == words.len();
                            let (names, at) = if fits && !names.is_empty() {
                                (names, FilePlace::Line(number))
                            } else {
                                (Vec::new(), at)
                            };
                            let count = words.len().max(names.len());
                            return Ok(Self { between, names, at, count, start, lines, counted });
                        }
                    }
                }
            }
            (start, lines) = (end, lines + 1);
        }
        Err(orthant::points::PointsError::None.into())
    }
}

/// A table whose head is known.
pub(super) struct PointTable {
    head: TableHead,
    found: FoundColumns,
    /// What lines end with.
    end: u8,
    /// The byte of the file where points begin.
    pub(super) start: usize,
}

impl PointTable {
    /// By the first bytes of a file: all of them, or enough for what comes before the points and for the first of them.
    pub(super) fn of(bytes: &[u8], columns: &PointColumns) -> Result<Self, InputFault> {
        let text = Text::of(bytes)?;
        let head = TableHead::of(&text)?;
        let found = columns.find(&head.names, head.count, head.at)?;
        let start = head.start + (bytes.len() - text.bytes().len());
        Ok(Self { head, found, end: text.end(), start })
    }

    /// Coordinates of a point.
    pub(super) fn axes(&self) -> usize {
        self.found.coordinates.len()
    }

    /// The lines before the points.
    pub(super) fn lines(&self) -> u64 {
        self.head.lines
    }

    /// What lines end with.
    pub(super) fn end(&self) -> u8 {
        self.end
    }

    /// What the attribute is called, if there is one.
    pub(super) fn attribute(&self) -> Option<String> {
        let name = |column: usize| self.head.names.get(column).cloned().unwrap_or_else(|| (column + 1).to_string());
        self.found.attribute.map(name)
    }

    /// Reads lines that come after `before` others.
    pub(super) fn rows(&self, lines: &[u8], before: u64) -> Result<PointRows, InputFault> {
        // Pieces that end with a line.
        let mut starts = vec![0];
        while starts[starts.len() - 1] + TOGETHER < lines.len() {
            let from = starts[starts.len() - 1] + TOGETHER;
            let Some(end) = lines[from..].iter().position(|&byte| byte == self.end) else { break };
            starts.push(from + end + 1);
        }
        starts.push(lines.len());
        let read = parallel::map(starts.len() - 1, &|i| {
            let mut rows = PointRows::default();
            let read = self.piece(&lines[starts[i]..starts[i + 1]], &mut rows);
            read.map(|()| rows).map_err(|(line, wrong)| (i, line, wrong))
        });
        let mut rows = PointRows::default();
        for read in read {
            let more = read.map_err(|(i, line, wrong)| {
                let passed = lines[..starts[i]].iter().filter(|&&byte| byte == self.end).count() as u64;
                wrong(FilePlace::Line(before + passed + line))
            })?;
            if rows.coordinates.is_empty() {
                rows = more;
            } else {
                rows.coordinates.extend(more.coordinates);
                rows.values.extend(more.values);
            }
        }
        Ok(rows)
    }

    /// Checks the number of all points against what the first line says.
    pub(super) fn check(&self, points: u64) -> Result<(), InputFault> {
        match self.head.counted.filter(|&(counted, _)| counted != points) {
            None => Ok(()),
            Some((counted, line)) => {
                let allowed = format!("{points} points follow");
                Err(InputFault::field(FilePlace::Line(line), "number of points", counted, allowed))
            }
        }
    }

    /// Reads the lines of a piece.
    fn piece(&self, lines: &[u8], rows: &mut PointRows) -> Result<(), FaultAt> {
        let columns = &self.found;
        let last = columns.coordinates.iter().chain(&columns.attribute).copied().max().unwrap_or(0);
        let mut words: Vec<&[u8]> = Vec::new();
        for (line, number) in lines.split(|&byte| byte == self.end).zip(1..) {
            let Some(line) = meaningful(line) else { continue };
            words.clear();
            words.extend(self.head.between.words(line).take(last + 1));
            for (&column, is_coordinate) in columns
                .coordinates
                .iter()
                .map(|column| (column, true))
                .chain(columns.attribute.iter().map(|column| (column, false)))
            {
                let word = words.get(column).copied();
                let Some(value) = word.and_then(number_of) else {
                    return Err((number, no_number(word, line, column)));
                };
                let at = FilePlace::Line(0);
                let whole = || word.is_some_and(|word| word.iter().all(|byte| b"+-0123456789".contains(byte)));
                if !is_coordinate && exact(at, value, whole()).is_err() {
                    let wrong = move |at| exact(at, value, true).expect_err("as just now");
                    return Err((number, Box::new(wrong)));
                }
                let kept = if is_coordinate { rows.coordinate(at, value) } else { rows.value(at, value) };
                if kept.is_err() {
                    let what = if is_coordinate { "coordinate" } else { "value" };
                    let wrong =
                        move |at| InputFault::field(at, what, value, format!("a {what} must be a finite number"));
                    return Err((number, Box::new(wrong)));
                }
            }
        }
        Ok(())
    }
}

/// The points of a table.
pub(super) fn parse(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    let table = PointTable::of(bytes, columns)?;
    let rows = table.rows(&bytes[table.start..], table.lines())?;
    table.check((rows.coordinates.len() / table.axes()) as u64)?;
    rows.points(table.axes(), table.attribute().map(|name| (name, None)))
}

/// What is wrong, once the line is known; and its number in a piece, from 1 on.
type FaultAt = (u64, Box<dyn FnOnce(FilePlace) -> InputFault + Send>);

/// That a word is missing, or is no number.
fn no_number(word: Option<&[u8]>, line: &[u8], column: usize) -> Box<dyn FnOnce(FilePlace) -> InputFault + Send> {
    let (what, value, allowed) = match word {
        Some(word) => {
            let column = format!("column {}", column + 1);
            (column, String::from_utf8_lossy(word).into_owned(), "a number is needed".to_owned())
        }
        None => {
            let allowed = format!("at least {} columns are needed", column + 1);
            ("line".to_owned(), String::from_utf8_lossy(line).into_owned(), allowed)
        }
    };
    Box::new(move |at| InputFault::field(at, &what, value, allowed))
}
