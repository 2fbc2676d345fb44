//! A plan carried out in parts, put together again.

use orthant::Plan;
use orthant::backend::{Control, Error, Part, Prepared, Roots};
use orthant::geometry::{Region, Rows};
use orthant::per_axis;
use orthant::result::{
    Bricks, Cells, Content, DenseArray, LevelCounts, LevelStats, MemoryError, RegionsChecksum, RunCounts, Stored,
    Subdivision, Terminal,
};
use orthant::{CellType, Words};

/// Where a plan is cut: the regions that it examines on a level, in the order of their codes, go to so many parts, and each part
/// is seen through so many windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The level; where a plan does not reach it, the last that it reaches.
    pub level: u32,
    /// The parts.
    pub parts: usize,
    /// The windows of a part, one or two; the line between them goes through regions.
    pub windows: usize,
}

impl Cut {
    /// No cut at all.
    pub const NONE: Self = Self { level: 0, parts: 1, windows: 1 };
}

/// What is above the cut, from a run of the same plan along any curve.
struct Above<const K: usize> {
    level: u32,
    /// The regions examined on the level, by their codes.
    codes: Vec<u64>,
    /// Terminal regions of the levels before it, all of them uniform.
    terminals: Vec<Terminal>,
    levels: Vec<LevelStats<K>>,
}

impl<const K: usize> Above<K> {
    fn of(known: &Subdivision<K>, plan: &Plan<K>, level: u32, cell: CellType) -> Self {
        let level = level.min(known.levels().len() as u32 - 1);
        let (r, encoding) = (plan.scheme().r, plan.encoding());
        let kind = known.bricks().kind();
        let stored = |word: u64| if kind == cell { word } else { cell.word(kind.count(word)) };
        let (mut codes, mut terminals) = (Vec::new(), Vec::new());
        for terminal in known.terminals() {
            let mut coords = known.plan().encoding().decode(terminal.level(), terminal.code);
            if let (Content::Uniform(word), true) = (terminal.content(), terminal.level() < level) {
                let code = encoding.encode(terminal.level(), coords);
                terminals.push(Terminal::uniform(terminal.level(), code, stored(word)));
                continue;
            }
            for _ in level..terminal.level() {
                coords = per_axis::each(|j| coords[j] / r[j]);
            }
            codes.push(encoding.encode(level, coords));
        }
        codes.sort_unstable();
        codes.dedup();
        Self { level, codes, terminals, levels: known.levels()[..level as usize].to_vec() }
    }
}

/// Carries out a prepared plan in parts, with cells of type `cell` over a poison, and puts them together; and what is wrong
/// with one of them, if anything is. `known` is a run of the same plan, along any curve.
///
/// # Errors
/// Those of the runs.
pub fn in_parts<const K: usize>(
    prepared: &mut dyn Prepared<K>,
    plan: &Plan<K>,
    known: &Subdivision<K>,
    (cut, cell, poison): (Cut, CellType, u8),
    control: &Control,
) -> Result<(Subdivision<K>, Option<String>), Error> {
    let above = Above::of(known, plan, cut.level, cell);
    let mut fault = None;
    let mut whole = Whole::new(plan, &above, cell);
    for i in 0..cut.parts {
        let of = |i: usize| i * above.codes.len() / cut.parts;
        let codes = &above.codes[of(i)..of(i + 1)];
        let bounds = bounds(codes.iter().map(|&code| plan.region(above.level, code)));
        let roots = match codes {
            // Every other run of codes is given as one.
            &[first, .., last] if i % 2 == 0 && last - first + 1 == codes.len() as u64 => {
                Roots::Codes { level: above.level, range: first..last + 1 }
            }
            _ => Roots::Table { level: above.level, codes, payloads: &[] },
        };
        // The first part is seen in a window over everything.
        let seen = bounds.filter(|_| i > 0).unwrap_or(plan.domain().region());
        for (number, window) in windows(seen, i, cut.windows).into_iter().enumerate() {
            prepared.run(&Part::of(roots.clone()).window(window), control)?;
            let piece = prepared.subdivision()?;
            let found = match (disorder(&piece), number) {
                (Some(found), _) => Some(found),
                (None, 0) => whole.add(&piece, poison)?,
                (None, _) => whole.paint(&piece, poison)?,
            };
            fault = fault.or(found.map(|fault| format!("part {i} in {window:?} of {cut:?}: {fault}")));
        }
    }
    let (all, found) = whole.finish(above)?;
    Ok((all, fault.or(found)))
}

/// The same for `exhaustive`, which is cut into windows only; counts are those of the first.
///
/// # Errors
/// Those of the runs.
pub fn in_windows<const K: usize>(
    prepared: &mut dyn Prepared<K>,
    plan: &Plan<K>,
    count: usize,
    control: &Control,
) -> Result<(Subdivision<K>, Option<String>), Error> {
    let domain = plan.domain().region();
    let (mut all, mut cells, mut fault) = (None, None, None);
    for window in windows(domain, count, count) {
        prepared.run(&Part::default().window(window), control)?;
        let seen = prepared.subdivision()?;
        let evaluated = seen.totals().evaluated_cells;
        if evaluated != window.volume() {
            fault = Some(format!("{evaluated} cells were evaluated in {window:?}"));
        }
        if let Some(array) = seen.array() {
            let all = match cells.take() {
                Some(all) => all,
                None => DenseArray::zeroed(Stored::Dense, domain, array.cells().kind())?,
            };
            copy(array, &window, cells.insert(all));
        }
        all.get_or_insert_with(|| seen.clone());
    }
    let all: Subdivision<K> = all.expect("there is a window");
    Ok((all.with_array(cells), fault))
}

/// A box cut across an axis, not quite in its middle.
fn windows<const K: usize>(seen: Region<K>, axis: usize, count: usize) -> Vec<Region<K>> {
    let axis = axis % K;
    let (mut low, mut high) = (seen, seen);
    low.extent[axis] = (seen.extent[axis] / 2 + 1).min(seen.extent[axis]);
    high.corner[axis] += low.extent[axis];
    high.extent[axis] -= low.extent[axis];
    match (count, high.extent[axis]) {
        (1, _) | (_, 0) => vec![seen],
        _ => vec![low, high],
    }
}

/// Copies the cells of a region that both arrays cover.
fn copy<const K: usize>(from: &DenseArray<K>, region: &Region<K>, to: &mut DenseArray<K>) {
    let mut words = Vec::new();
    let rows = Rows::of(region, &from.window());
    rows.each(|start| words.extend((start..start + rows.len()).map(|index| from.cells().word(index))));
    to.write(region, Words::Wide(&words));
}

/// What is wrong with the order of regions and bricks, if anything is.
#[inline(never)]
pub(super) fn disorder<const K: usize>(run: &Subdivision<K>) -> Option<String> {
    let ascend = |pair: &[Terminal]| (pair[0].level(), pair[0].code) < (pair[1].level(), pair[1].code);
    if !run.terminals().windows(2).all(ascend) {
        return Some("the terminal regions are out of order".into());
    }
    let mut next = 0;
    for terminal in run.terminals() {
        if let Content::Leaf { brick: Some(place) } = terminal.content() {
            if place != next {
                return Some(format!("a brick is at {place} instead of {next}"));
            }
            next += run.region(terminal).volume();
        }
    }
    (next != run.bricks().len() as u64).then(|| format!("{} cells in bricks, {next} in leaves", run.bricks().len()))
}

/// Cells that are not written, and not the poison either.
fn stray(cells: &Cells, written: &[bool], poison: u64) -> usize {
    (0..written.len()).filter(|&i| !written[i] && cells.word(i) != poison).count()
}

/// The smallest box around some.
fn bounds<const K: usize>(regions: impl Iterator<Item = Region<K>>) -> Option<Region<K>> {
    regions.reduce(|a, b| a.hull(&b))
}

/// The whole while it is put together.
struct Whole<'a, const K: usize> {
    plan: &'a Plan<K>,
    levels: Vec<LevelStats<K>>,
    terminals: Vec<Terminal>,
    bricks: Bricks,
    array: Option<DenseArray<K>>,
    checksum: Option<RegionsChecksum>,
    counts: Option<RunCounts<K>>,
}

impl<'a, const K: usize> Whole<'a, K> {
    fn new(plan: &'a Plan<K>, above: &Above<K>, cell: CellType) -> Self {
        let checksum = RegionsChecksum::of(plan, &above.terminals, &|_, _, _| unreachable!("uniform regions"));
        let (bricks, levels) = (Bricks::new(cell), above.levels.clone());
        Self { plan, levels, terminals: Vec::new(), bricks, array: None, checksum: Some(checksum), counts: None }
    }

    /// Adds a part; what is wrong with it, if anything is.
    fn add(&mut self, piece: &Subdivision<K>, poison: u8) -> Result<Option<String>, Error> {
        for stats in piece.levels() {
            match self.levels.iter_mut().find(|known| known.level == stats.level) {
                Some(known) => known.counts += stats.counts,
                None => self.levels.push(stats.clone()),
            }
        }
        self.checksum = self.checksum.zip(piece.regions_checksum()).map(|(sum, more)| sum + more);
        let before = self.bricks.len();
        let shifted = piece.terminals().iter().map(|terminal| terminal.shifted(before));
        self.terminals.extend(shifted);
        let bricks = piece.bricks().clone();
        self.bricks.append(bricks).map_err(|refused| MemoryError {
            what: Stored::Terminals,
            need: refused.bytes,
            limit: None,
        })?;
        self.counts = Some(piece.counts().clone());
        self.paint(piece, poison)
    }

    /// Takes the cells that a part shows; what is wrong with them, if anything is.
    #[inline(never)]
    fn paint(&mut self, piece: &Subdivision<K>, poison: u8) -> Result<Option<String>, Error> {
        let Some(array) = piece.array() else { return Ok(None) };
        let domain = self.plan.domain().region();
        let all = match self.array.take() {
            Some(all) => all,
            None => DenseArray::zeroed(Stored::Dense, domain, array.cells().kind())?,
        };
        let all = self.array.insert(all);
        let mut written = vec![false; array.cells().len()];
        for terminal in piece.terminals() {
            if let Some(region) = piece.region(terminal).intersection(&array.window()) {
                copy(array, &region, all);
                Rows::of(&region, &array.window()).fill(&mut written, true);
            }
        }
        let poison = u64::from_le_bytes([poison; 8]) >> (64 - 8 * array.cells().kind().bytes());
        let stray = stray(array.cells(), &written, poison);
        Ok((stray > 0).then(|| format!("{stray} cells outside the roots were written")))
    }

    /// Everything together.
    fn finish(mut self, above: Above<K>) -> Result<(Subdivision<K>, Option<String>), Error> {
        let mut fault = None;
        let hierarchical = self.plan.curve().is_hierarchical();
        for level in self.plan.levels() {
            let codes = self.terminals.iter().filter(|terminal| terminal.level() == level.index).map(|t| t.code);
            if hierarchical && !codes.is_sorted() {
                fault = Some(format!("the parts' regions of level {} do not follow each other", level.index));
            }
        }
        if let Some(array) = &mut self.array {
            for terminal in &above.terminals {
                if let Content::Uniform(word) = terminal.content() {
                    array.fill(&self.plan.region(terminal.level(), terminal.code), word);
                }
            }
        }
        let mut kept = LevelCounts::default();
        for level in &self.levels[above.levels.len()..] {
            kept += level.counts;
        }
        if self.terminals.len() as u64 == kept.filled + kept.leaves {
            self.terminals.extend(&above.terminals);
        }
        let counts = self.counts.expect("there is a part");
        let counts = RunCounts { levels: self.levels, ..counts };
        let all = Subdivision::of_parts(self.plan, counts, self.terminals, self.bricks, self.array)?;
        // A part that is seen through two windows has none.
        if self.checksum.is_some() && all.regions_checksum() != self.checksum {
            let (sum, whole) = (self.checksum, all.regions_checksum());
            fault = fault.or(Some(format!("the parts' checksums come to {sum:?}, that of the whole is {whole:?}")));
        }
        Ok((all, fault))
    }
}
