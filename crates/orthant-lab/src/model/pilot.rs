//! What each region of the initial grid is expected to cost, from a small run of the same field.
//!
//! The pilot has the plan's initial grid and far fewer cells. What a region costs there is in proportion to what it costs
//! in the plan, as long as the boundary between labels looks alike at both sizes. That is enough to cut work into pieces of
//! nearly equal cost (docs/results/shards.md says how nearly).

use orthant::Plan;
use orthant::backend::{Control, Error, How};
use orthant::field::{FieldKind, Open};
use orthant::geometry::Scheme;
use orthant::here;
use orthant::per_axis;
use orthant::result::{Content, Keep};
use orthant::{Request, Run};

/// Cells of a pilot, at most: so many, and this part of the plan's.
const CELLS: u128 = 1 << 22;
const SHARE: u128 = 16;

/// What looking at a cell costs, in iterations of a field whose labels count them.
const LOOK: f64 = 16.0;

/// The expected cost of each region of the plan's initial grid, in the order of its curve. The unit is an iteration, or the work of a cell
/// where nothing is iterated. It is an empty list if nothing can be told: of a field that a GPU alone evaluates, of an array, whose
/// cells are all looked at, and where the initial grid is so fine that a pilot would be no smaller than the run.
///
/// ```
/// use orthant::field::{Job, Open};
/// use orthant_lab::model::pilot;
/// use orthant::prelude::*;
/// use orthant::{Control, Error};
///
/// struct Weights(Request);
/// impl Job for Weights {
///     type Output = Result<Vec<f64>, Error>;
///     fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
///         pilot::weights(&self.0, &self.0.plan::<K>()?, open, &Control::default())
///     }
/// }
/// let request = Request::new(FieldKind::Mandelbrot).size(vec![4096, 4096]).scheme(4, 2, 16);
/// let weights = request.workload.dispatch(2, Weights(request))??;
/// // The corners of the window are far from the set, whose boundary is dear.
/// assert_eq!(weights.len(), 16);
/// assert!(weights.iter().all(|&weight| weight >= weights[0]) && weights[0] * 50.0 < weights.iter().sum());
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`Run::start`]; [`Error::Interrupted`] if the control says so.
pub fn weights<const K: usize>(
    request: &Request,
    plan: &Plan<K>,
    open: Open<K>,
    control: &Control,
) -> Result<Vec<f64>, Error> {
    here!(fn(&Request, &Plan<K>, Open<K>, &Control) -> Result<Vec<f64>, Error> = weights_here)(
        request, plan, open, control,
    )
}

fn weights_here<const K: usize>(
    request: &Request,
    plan: &Plan<K>,
    open: Open<K>,
    control: &Control,
) -> Result<Vec<f64>, Error> {
    if request.workload == FieldKind::Array {
        return Ok(Vec::new());
    }
    let Some(pilot) = small(request, plan)? else { return Ok(Vec::new()) };
    let field = open(pilot.domain(), &request.options()?)?;
    if field.host().is_none() {
        return Ok(Vec::new());
    }
    let labels = field.labels();
    let how = How::default().keep(Keep::Regions).cell(request.how.kept.cell).for_labels(labels)?;
    let found = Run::new(&pilot, &*field).how(how).control(control).start()?;
    let kind = found.bricks().kind();
    let cost = |word: u64| if labels.work() { LOOK + kind.count(word) as f64 } else { 1.0 };
    // Whoever examines a region looks at a cell at least.
    let mut weights = vec![cost(0); plan.levels()[0].regions() as usize];
    for terminal in found.terminals() {
        let region = found.region(terminal);
        let price = match terminal.content() {
            Content::Leaf { brick } => {
                let start = brick.expect("regions are kept with their bricks") as usize;
                (start..start + region.volume() as usize).map(|cell| cost(found.bricks().word(cell))).sum()
            }
            // Proofs look at none of its cells, and other rules at those on its faces.
            Content::Uniform(_) if pilot.rule().certifies() => LOOK,
            Content::Uniform(word) => {
                cost(word) * region.volume() as f64 / f64::from(*region.extent.iter().max().unwrap_or(&1))
            }
        };
        let mut coords = pilot.encoding().decode(terminal.level(), terminal.code);
        for _ in 0..terminal.level() {
            coords = per_axis::each(|j| coords[j] / pilot.scheme().r[j]);
        }
        weights[plan.encoding().encode(0, coords) as usize] += price;
    }
    Ok(weights)
}

/// The plan of the pilot: the same initial grid, and as many cells for each of its regions as there may be.
fn small<const K: usize>(request: &Request, plan: &Plan<K>) -> Result<Option<Plan<K>>, Error> {
    let (size, grid) = (plan.domain().size(), plan.levels()[0].grid);
    let cells = |side: u32| {
        let along = |j: usize| u128::from(grid[j].saturating_mul(side).min(size[j]));
        (0..K).map(along).product::<u128>()
    };
    let most = CELLS.min(plan.domain().cells() / SHARE);
    let Some(side) = (1..20).map(|bits| 1u32 << bits).take_while(|&side| cells(side) <= most).last() else {
        return Ok(None);
    };
    let smaller: [u32; K] = per_axis::each(|j| grid[j].saturating_mul(side).min(size[j]));
    let domain = request.clone().size(smaller.to_vec()).domain::<K>()?;
    let scheme = Scheme { g: grid, r: plan.scheme().r, b: [1; K] };
    Ok(Some(Plan::new(domain, scheme, plan.curve(), plan.rule())?))
}
