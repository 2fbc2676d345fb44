//! `orthant tree sample`: values of cells and of points.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use orthant::tree::{Parts, TreeAxis, TreeFile, TreeJob};

use super::memory::MemoryOptions;
use super::open::open;
use crate::error::Error;
use crate::output::{HeldAxes, is_stdout};
use crate::stdout;
use crate::voice::Voice;

/// Cells that are looked up at a time.
const BATCH: usize = 1 << 16;

/// Options of `tree sample`.
#[derive(Debug, Args)]
pub(crate) struct SampleOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// A cell by its indices, axis 0 first: 250,235,68; or by axes' names and places: x=10mm,z=68,y=0.6. May be repeated
    ///
    /// Every axis is needed, in any order. The line of a cell that is named has its indices.
    #[arg(long, value_name = "I,J,..")]
    at: Vec<String>,
    /// A point in the coordinates of the tree's window; may be repeated
    #[arg(long, value_name = "X,Y,..", allow_hyphen_values = true)]
    point: Vec<String>,
    /// Cells from a file, one per line, as for --at; - is stdin. A first line of names is passed over
    #[arg(long, value_name = "FILE")]
    cells: Option<PathBuf>,
    /// Points from a file, one per line: comma-separated coordinates; - is stdin. A first line of names is passed over
    #[arg(long, value_name = "FILE", conflicts_with = "cells")]
    points: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    quiet: bool,
}

/// Prints what lies where.
pub(super) fn sample(args: SampleOptions, voice: Voice) -> Result<(), Error> {
    if args.at.is_empty() && args.point.is_empty() && args.cells.is_none() && args.points.is_none() {
        return Err(Error::Input("--at: name a cell, or points by --point, --cells FILE or --points FILE".into()));
    }
    open(&args.tree.clone(), SampleOptions { quiet: voice.quiet, ..args })
}

impl TreeJob for SampleOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let mut lines = Lines::new(&tree)?;
        for text in &self.at {
            lines.cell(text, &|why| format!("--at {text}: {why}"))?;
        }
        for text in &self.point {
            lines.point(text, &|why| format!("--point {text}: {why}"))?;
        }
        if let Some(path) = &self.cells {
            each_line(path, &mut |text, wrong| lines.cell(text, wrong))?;
        }
        if let Some(path) = &self.points {
            each_line(path, &mut |text, wrong| lines.point(text, wrong))?;
        }
        let outside = lines.end()?;
        if outside > 0 && !self.quiet {
            crate::voice::tell(format_args!(
                "orthant: {outside} of the places are outside the tree, and have no value"
            ));
        }
        Ok(())
    }
}

/// Makes what is wrong with a place a message that says where it was written.
type Explain<'w> = dyn Fn(String) -> String + 'w;

/// Shows a visitor the lines of a file, with what says which one it was.
fn each_line(path: &Path, visit: &mut dyn FnMut(&str, &Explain<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let reader: Box<dyn BufRead> = match is_stdout(path) {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
    };
    for (number, line) in reader.lines().enumerate() {
        let line = line.map_err(failed)?;
        let is_header =
            number == 0 && !line.contains('=') && line.split(',').all(|field| field.trim().parse::<f64>().is_err());
        if !line.trim().is_empty() && !is_header {
            visit(&line, &|why| format!("{}: line {}: {why}", path.display(), number + 1))?;
        }
    }
    Ok(())
}

/// Places that wait to be looked up, and where answers go.
struct Lines<'t, const K: usize> {
    tree: &'t dyn Parts<K>,
    axes: &'t [TreeAxis],
    /// As they were written; cells of points outside the window are outside the domain.
    places: Vec<(String, [u32; K])>,
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    outside: u64,
}

impl<'t, const K: usize> Lines<'t, K> {
    fn new(tree: &'t TreeFile<K>) -> Result<Self, Error> {
        let mut out = std::io::BufWriter::new(stdout::lock()?);
        let names: String = tree.info().axes.iter().map(|axis| format!("{},", axis.name)).collect();
        writeln!(out, "{names}value,level").map_err(stdout::failed)?;
        Ok(Self { tree, axes: &tree.info().axes, places: Vec::new(), out, outside: 0 })
    }

    fn cell(&mut self, text: &str, wrong: &Explain<'_>) -> Result<(), Error> {
        if text.contains('=') {
            let cell = self.named(text).map_err(|why| Error::Input(wrong(why)))?;
            let text: Vec<_> = cell.iter().map(i64::to_string).collect();
            return self.add(&text.join(","), cell.map(|index| u32::try_from(index).unwrap_or(u32::MAX)));
        }
        let cell = numbers::<K, u64>(text, "an index such as 12; a place needs the axis, as in x=90mm or x=0.6")
            .map_err(|why| Error::Input(wrong(why)))?;
        // What is no index of any axis is outside.
        self.add(text, cell.map(|index| u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// The indices of a cell that is said by the names of all axes. They can be outside.
    fn named(&self, text: &str) -> Result<[i64; K], String> {
        let mut cell = [None; K];
        for held in text.parse::<HeldAxes>()?.iter() {
            let (axis, index) = held.index(self.axes)?;
            if cell[axis].replace(index).is_some() {
                return Err(held.wrong(format!("axis {axis} is named twice")));
            }
        }
        match cell.iter().position(Option::is_none) {
            Some(axis) => Err(format!("axis {} is missing; a cell needs all {K} axes", self.axes[axis].name)),
            None => Ok(cell.map(Option::unwrap_or_default)),
        }
    }

    fn point(&mut self, text: &str, wrong: &Explain<'_>) -> Result<(), Error> {
        let point = numbers::<K, f64>(text, "a number such as 0.5").map_err(|why| Error::Input(wrong(why)))?;
        let cell = self.tree.plan().domain().cell_at(point).unwrap_or([u32::MAX; K]);
        self.add(text, cell)
    }

    fn add(&mut self, text: &str, cell: [u32; K]) -> Result<(), Error> {
        let mut place = String::with_capacity(text.len() + 1);
        text.split(',').for_each(|number| place.extend([number.trim(), ","]));
        self.places.push((place, cell));
        if self.places.len() < BATCH { Ok(()) } else { self.answer() }
    }

    fn answer(&mut self) -> Result<(), Error> {
        let cells: Vec<_> = self.places.iter().map(|(_, cell)| *cell).collect();
        let kind = self.tree.kind();
        for ((text, _), found) in self.places.drain(..).zip(self.tree.look_up(&cells)?) {
            match found {
                Some(found) => writeln!(self.out, "{text}{},{}", kind.text(found.word), found.level),
                None => writeln!(self.out, "{text},"),
            }
            .map_err(stdout::failed)?;
            self.outside += u64::from(found.is_none());
        }
        Ok(())
    }

    /// Answers what is left; how many places were outside.
    fn end(mut self) -> Result<u64, Error> {
        self.answer()?;
        self.out.flush().map_err(stdout::failed)?;
        Ok(self.outside)
    }
}

/// A number per axis.
fn numbers<const K: usize, T: std::str::FromStr + Default + Copy>(text: &str, what: &str) -> Result<[T; K], String> {
    let (mut numbers, mut given) = ([T::default(); K], 0);
    for number in text.split(',') {
        let number = number.trim();
        let parsed = number.parse().map_err(|_| format!("'{number}' is not {what}"))?;
        if let Some(place) = numbers.get_mut(given) {
            *place = parsed;
        }
        given += 1;
    }
    if given == K { Ok(numbers) } else { Err(format!("{given} numbers, and the tree has {K} axes")) }
}
