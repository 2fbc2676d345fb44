//! What every dividing run of a case must find.

use crate::conformance::cases::Case;
use orthant::MAX_DIM;
use orthant::backend::Error;
use orthant::field::Labels;
use orthant::result::{Content, DenseArray, Subdivision};

/// What the dividing runs of a case must find.
pub(super) struct Reference<const K: usize> {
    labels: Labels,
    pub(super) array: DenseArray<K>,
    counts: Vec<[u64; 3]>,
    terminals: Vec<PlacedTerminal>,
    total: u128,
}

impl<const K: usize> Reference<K> {
    pub(super) fn of(case: &Case, labels: Labels, run: &Subdivision<K>, truth: &DenseArray<K>) -> Result<Self, Error> {
        let counts = levels(run);
        if let Some(known) = &case.mixed {
            let mixed: Vec<u64> = counts.iter().map(|[subdivided, _, leaves]| subdivided + leaves).collect();
            if *known != mixed {
                let name = case.name();
                return Err(Error::System(format!("{name}: {mixed:?} regions are mixed; {known:?} are known to be")));
            }
        }
        let array = run.materialise(None)?;
        debug_assert_eq!(array.cells().len(), truth.cells().len());
        Ok(Self {
            array,
            counts,
            terminals: terminals(run, labels.most().is_some()),
            labels,
            total: run.plan().domain().cells(),
        })
    }

    /// What a run does not agree with, if with anything.
    pub(super) fn disagreement(&self, run: &Subdivision<K>) -> Option<String> {
        let counts = levels(run);
        if counts != self.counts {
            return Some(format!("the counts {counts:?} differ from {:?}", self.counts));
        }
        if run.terminals().is_empty() {
            return None;
        }
        let terminals = terminals(run, self.labels.most().is_some());
        let tiled = tiled(&terminals);
        if u128::from(tiled) != self.total {
            return Some(format!("the terminal regions hold {tiled} cells"));
        }
        (terminals != self.terminals).then(|| "the terminal regions differ".into())
    }
}

/// Regions subdivided, filled and left as leaves, per level.
fn levels<const K: usize>(run: &Subdivision<K>) -> Vec<[u64; 3]> {
    run.levels().iter().map(|level| [level.counts.subdivided, level.counts.filled, level.counts.leaves]).collect()
}

/// A terminal region by its place: no cells wide on axes that there are not.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PlacedTerminal {
    corner: [u32; MAX_DIM],
    extent: [u32; MAX_DIM],
    /// What fills a uniform one: a count, or a word.
    label: Option<u64>,
    volume: u64,
}

/// The terminal regions by their place, whatever curve named them.
fn terminals<const K: usize>(run: &Subdivision<K>, counts: bool) -> Vec<PlacedTerminal> {
    let mut terminals = Vec::with_capacity(run.terminals().len());
    for terminal in run.terminals() {
        let label = match terminal.content() {
            Content::Uniform(word) if counts => Some(run.bricks().kind().count(word)),
            Content::Uniform(word) => Some(word),
            Content::Leaf { .. } => None,
        };
        let region = run.region(terminal);
        let (mut corner, mut extent) = ([0; MAX_DIM], [0; MAX_DIM]);
        corner[..K].copy_from_slice(&region.corner);
        extent[..K].copy_from_slice(&region.extent);
        terminals.push(PlacedTerminal { corner, extent, label, volume: region.volume() });
    }
    in_order(&mut terminals);
    terminals
}

fn in_order(terminals: &mut [PlacedTerminal]) {
    terminals.sort_unstable();
}

/// Cells of all of them.
fn tiled(terminals: &[PlacedTerminal]) -> u64 {
    terminals.iter().map(|terminal| terminal.volume).sum()
}
