//! What to run with: the best {g, r, B} of powers of two by whoever can carry it out, or no scheme at all, by what a coarse sample says.
//!
//! With constants that were fitted to this device the predicted time decides, also whether to divide. Without them the paper's model
//! does, with the box dimension that the sample shows in place of P, and A and λ as in the paper's figures: it knows no overheads, so
//! that its order of schemes is a guess, no time is predicted, and it has nothing to say of streams or of whether dividing pays.

use super::observed::{Hardware, LevelWork, Terms};
use super::sample::{Coarse, Descent};
use super::streams;
use super::time::ModelTimes;
use super::{Costs, Density, Geometry, ModelError, Options, Surface, features, times};
use orthant::backend::{How, Mapping, StrategyKind};
use orthant::geometry::{Level, Scheme};
use orthant::here;
use orthant::per_axis;
use orthant::result::Keep;
use orthant::rule::RuleKind;

/// The g and r that are tried.
pub const SPLITS: [u32; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// The B that are tried. With 1 leaves have two cells a side, which pays where proofs decide.
pub const STOPS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// A and λ of the paper's figures.
const COSTS: (f64, f64) = (16.0, 100.0);

/// Sampled cells: this share of the domain's, within limits. By what 2^18 cells say, the schemes that it chooses for 18
/// domains of 2 to 4 dimensions, with the constants of a CPU and of a GPU, lose 3 % on average and 21 % at worst; those
/// of a thousandth up to 2^16, 4 % and 40 %; those of 2^10 or 2^11 up to 170 %, in three dimensions (2026-11, EPYC). How much of a
/// boundary is left far below the sample, 2^12 cells overstate: of mandelbrot 4096 by half after four levels, 2^14 by a fifth. They take a
/// tenth of a millisecond to judge, but proofs, which need no more cells to go as deep, several.
const SHARE: u128 = 512;
const LEAST_CELLS: u128 = 1 << 10;
const MOST_CELLS: u128 = 1 << 14;
const MOST_PROVEN: u128 = 1 << 12;

/// Cells that a sample of a domain of `cells` cells may evaluate under a rule: one in 512, at least 2^10 and at most 2^14, or 2^12 where
/// the regions of each have to be proven.
pub fn budget(cells: u128, rule: RuleKind) -> u64 {
    let most = if rule.certifies() { MOST_PROVEN } else { MOST_CELLS };
    (cells / SHARE).clamp(LEAST_CELLS, most) as u64
}

/// How a scheme is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// The host program.
    pub strategy: StrategyKind,
    /// Workers per region; None: as the backend has it.
    pub mapping: Option<Mapping>,
}

/// A scheme, the same on every axis, and who carries it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// g; of Exhaustive, which divides nothing, g = 1, r = 2 and B = n.
    pub g: u32,
    /// r.
    pub r: u32,
    /// B.
    pub b: u32,
    /// Who carries it out.
    pub means: Means,
    /// What it should take: seconds if there are constants for the means. Others begin beside the best of those, and go on as the
    /// paper's model has it.
    pub cost: f64,
    /// True if the cost is seconds.
    pub fitted: bool,
}

/// Every scheme with n ≥ g·r·B on every axis, by every means, the cheapest first. Equal costs are in the order of g, r,
/// B, then of the means. Of schemes with the same levels only the one of least B is listed. Exhaustive is listed once,
/// if it is among the means.
///
/// The ranking is arithmetic alone. A [`Plan`](orthant::Plan) says whether a curve serves a scheme, and a backend
/// whether it has the memory.
///
/// ```
/// use orthant::backend::ExploreOrder;
/// use orthant::geometry::SampleGrid;
/// use orthant_lab::model::auto::{Means, rank};
/// use orthant_lab::model::observed::Hardware;
/// use orthant_lab::model::sample::{Coarse, Explore};
/// use orthant::prelude::*;
/// use orthant::{Control, Mapping};
///
/// let plan = Plan::builder([256, 256]).build()?;
/// let (domain, field) = (plan.domain(), CellField::new(1, |[x, y]| u32::from(x * x + y * y < 10_000)));
/// let (hardware, how, grid) = (Hardware::Cpu { threads: 2 }, How::default(), SampleGrid::new(domain.size(), 1024));
/// // A sample of the field, and every scheme by what it says.
/// let labels = Target::cpu().of().sample(domain, &field, grid, &how)?(&Control::default())?;
/// let (rule, order, rounds) = (RuleKind::Border, ExploreOrder::Scattered, hardware.rounds());
/// let coarse = Coarse::new(&labels, grid, &field, domain, Explore { rule, proves: false, order, rounds });
/// let means = Means { strategy: StrategyKind::Ask, mapping: Some(Mapping::Sbr) };
/// let ranked = rank(&coarse, &[(means, None)], &how, hardware)?;
/// assert!(ranked.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
/// assert!(ranked.iter().all(|scheme| scheme.g * scheme.r * scheme.b <= 256));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ModelError`] if the model has no value for a candidate.
pub fn rank<const K: usize>(
    coarse: &Coarse<K>,
    means: &[(Means, Option<Terms>)],
    how: &How,
    hardware: Hardware,
) -> Result<Vec<Ranked>, ModelError> {
    here!(fn(&Coarse<K>, &[(Means, Option<Terms>)], &How, Hardware) -> Result<Vec<Ranked>, ModelError> = rank_here::<K>)(
        coarse, means, how, hardware,
    )
}

fn rank_here<const K: usize>(
    coarse: &Coarse<K>,
    means: &[(Means, Option<Terms>)],
    how: &How,
    hardware: Hardware,
) -> Result<Vec<Ranked>, ModelError> {
    let (whole, dividing) = apart(means);
    let found = divided(coarse, &dividing, how.kept.keep, hardware)?;
    let side = coarse.size().into_iter().max().unwrap_or(1);
    let undivided = |means, cost, fitted| Ranked { g: 1, r: 2, b: side, means, cost, fitted };
    let time = |means: Means| features(means.strategy, Mapping::Sbr, hardware, &[coarse.whole()]);
    Ok(in_order(found, &whole, &time, &undivided))
}

/// The seconds that one scheme should take by means whose constants are known, whatever its g, r and B are on each axis.
pub fn predicted<const K: usize>(
    coarse: &Coarse<K>,
    scheme: &Scheme<K>,
    means: Means,
    constants: Terms,
    keep: Keep,
    hardware: Hardware,
) -> f64 {
    let mapping = means.mapping.unwrap_or(Mapping::Sbr);
    if means.strategy == StrategyKind::Exhaustive {
        return features(means.strategy, mapping, hardware, &[coarse.whole()]).times(constants);
    }
    let descent = coarse.descend(scheme, keep);
    let descent = if coarse.looks() && mapping == Mapping::Stream { descent.of_streams() } else { descent };
    let levels = scheme.levels(coarse.size());
    let depth = levels.len();
    let mut way = Way::new(descent, levels.into_iter());
    features(means.strategy, mapping, hardware, way.down_to(depth)).times(constants)
}

/// Means that have constants, or none.
type WithConstants = (Means, Option<Terms>);

/// Those that do not divide, and those that do.
fn apart(means: &[WithConstants]) -> (Vec<WithConstants>, Vec<WithConstants>) {
    means.iter().copied().partition(|(means, _)| means.strategy == StrategyKind::Exhaustive)
}

/// Candidates in the order of their costs, with those that do not divide.
fn in_order(
    divided: Vec<Ranked>,
    whole: &[WithConstants],
    time: &dyn Fn(Means) -> Terms,
    undivided: &dyn Fn(Means, f64, bool) -> Ranked,
) -> Vec<Ranked> {
    let (mut found, mut unfitted): (Vec<_>, Vec<_>) = divided.into_iter().partition(|candidate| candidate.fitted);
    for &(means, constants) in whole {
        let Some(constants) = constants else { continue };
        found.push(undivided(means, time(means).times(constants), true));
    }
    let least = |of: &[Ranked]| of.iter().map(|candidate| candidate.cost).min_by(f64::total_cmp);
    if let (Some(best), Some(first)) = (least(&found), least(&unfitted)) {
        unfitted.iter_mut().for_each(|candidate| candidate.cost *= best / first);
    }
    found.extend(unfitted);
    let splits = |candidate: &Ranked| [candidate.g, candidate.r, candidate.b];
    let known_first = |a: &Ranked, b: &Ranked| b.fitted.cmp(&a.fitted);
    found.sort_by(|a, b| {
        a.cost.total_cmp(&b.cost).then_with(|| known_first(a, b)).then_with(|| splits(a).cmp(&splits(b)))
    });
    // What nobody knows is soon found out.
    for &(means, _) in whole.iter().filter(|(_, constants)| constants.is_none()) {
        let cost = found.first().map_or(0.0, |first| first.cost);
        found.insert(found.len().min(1), undivided(means, cost, false));
    }
    found
}

/// Every scheme by all means that divide, with the cost of each in its own unit.
fn divided<const K: usize>(
    coarse: &Coarse<K>,
    means: &[(Means, Option<Terms>)],
    keep: Keep,
    hardware: Hardware,
) -> Result<Vec<Ranked>, ModelError> {
    let mut found = Vec::new();
    for (g, r) in SPLITS.into_iter().flat_map(|g| SPLITS.map(|r| (g, r))) {
        let stops = stops(coarse.size(), g, r);
        let Some(&(least, _)) = stops.first() else { continue };
        let scheme = Scheme::uniform(g, r, least);
        let way = |descent| Way::new(descent, scheme.levels(coarse.size()).into_iter());
        let mut alone = way(coarse.descend(&scheme, keep));
        // Where proofs alone decide, streams do what others do.
        let mut sharing = coarse.looks().then(|| way(coarse.descend(&scheme, keep).of_streams()));
        // The larger B is, the fewer levels there are, and they are the first ones of a smaller B.
        for (b, depth) in stops.into_iter().rev() {
            let times = match means.iter().any(|(_, constants)| constants.is_none()) {
                true => Some(paper(coarse, hardware, [g, r, b])?),
                false => None,
            };
            for &(who, constants) in means {
                let mapping = who.mapping.unwrap_or(Mapping::Sbr);
                let cost = match (constants, &times) {
                    (Some(constants), _) => {
                        let levels = match (&mut sharing, mapping) {
                            (Some(sharing), Mapping::Stream) => sharing.down_to(depth),
                            _ => alone.down_to(depth),
                        };
                        if mapping == Mapping::Stream && streams::maps_cells(levels) {
                            continue;
                        }
                        features(who.strategy, mapping, hardware, levels).times(constants)
                    }
                    // (24) is never above (23): between the mappings they say nothing.
                    (None, Some(times)) if mapping == Mapping::Mbr && means.len() == 1 => times.mbr,
                    (None, times) => times.as_ref().map_or(f64::INFINITY, |times| times.sbr),
                };
                found.push(Ranked { g, r, b, means: who, cost, fitted: constants.is_some() });
            }
        }
    }
    Ok(found)
}

/// The least B of every number of levels that g and r can have, and that number; the least B first.
fn stops<const K: usize>(size: [u32; K], g: u32, r: u32) -> Vec<(u32, usize)> {
    let mut stops: Vec<(u32, usize)> = Vec::new();
    for b in STOPS {
        if size.iter().any(|&n| u64::from(n) < u64::from(g) * u64::from(r) * u64::from(b)) {
            break;
        }
        let depth = Scheme::<K>::uniform(g, r, b).levels(size).len();
        if stops.last().is_none_or(|&(_, last)| last != depth) {
            stops.push((b, depth));
        }
    }
    stops
}

/// Levels of one g and r, and what they are expected to do; entered once, however many B end among them.
struct Way<'a, const K: usize> {
    descent: Descent<'a, K>,
    grids: std::vec::IntoIter<Level<K>>,
    /// All that were entered; the last one as the last level if `inner` is what it does otherwise.
    levels: Vec<LevelWork>,
    inner: Option<LevelWork>,
    last: LevelWork,
}

impl<'a, const K: usize> Way<'a, K> {
    fn new(descent: Descent<'a, K>, grids: std::vec::IntoIter<Level<K>>) -> Self {
        Self { descent, grids, levels: Vec::new(), inner: None, last: LevelWork::default() }
    }

    /// The first `depth` levels, at least as many as before; fewer where no regions are left.
    fn down_to(&mut self, depth: usize) -> &[LevelWork] {
        if let (Some(inner), Some(last)) = (self.inner.take(), self.levels.last_mut()) {
            *last = inner;
        }
        while self.levels.len() < depth
            && let Some(level) = self.grids.next()
            && let Some(expected) = self.descent.enter(&level)
        {
            self.levels.push(expected.inner);
            self.last = expected.last;
        }
        if let (true, Some(last)) = (self.levels.len() == depth, self.levels.last_mut()) {
            self.inner = Some(std::mem::replace(last, self.last));
        }
        &self.levels
    }
}

/// T_SBR and T_MBR, Eqs. (23) and (24).
fn paper<const K: usize>(coarse: &Coarse<K>, hardware: Hardware, splits: [u32; 3]) -> Result<ModelTimes, ModelError> {
    let ([g, r, b], size) = (splits.map(u64::from), coarse.size());
    let geometry = Geometry::uniform(&per_axis::each::<u64, K>(|j| size[j].into()), g, r, b)?;
    let costs = Costs::new(COSTS.0, COSTS.1)?;
    let scheme = Scheme::uniform(splits[0], splits[1], splits[2]);
    let (density, surface) = match coarse.profile(&scheme) {
        Some(profile) => (Density::Profile(profile), Surface::Proof),
        None => (Density::Dimension(coarse.box_dimension()), Surface::default()),
    };
    times(&geometry, &density, costs, hardware.processors()?, Options { surface, ..Options::default() })
}
