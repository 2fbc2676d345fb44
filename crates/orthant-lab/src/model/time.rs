//! Time: the same operations on q multiprocessors of c cores, in waves, Eqs. (22)-(25).
//!
//! `sbr` gives every region one block, `mbr` spreads fill and evaluation over all multiprocessors; queries and divisions
//! stay on one block per region in both.
//!
//! The model cannot predict SBR faster than MBR: at equal {g, r, B} T_MBR ≤ T_SBR always. What reverses the order on
//! hardware is overhead, see [`overhead`](super::overhead). Eq. (24) is inferred from the paper's text and equals the
//! authors' published function.

use serde::Serialize;

use super::geometry::volume;
use super::options::{QueryCeil, Wave};
use super::{Costs, Density, Geometry, ModelError, Options, Ratio};

/// The parallel machine: q multiprocessors of c cores.
///
/// ```
/// use orthant_lab::model::{Costs, Density, Geometry, Options, Processors, Ratio, times};
///
/// let gpu = Processors::new(132, 128)?;
/// assert_eq!(gpu.cores(), Ratio::whole(16896u32));
/// let (geometry, costs) = (Geometry::uniform(&[1 << 14, 1 << 14], 4, 2, 32)?, Costs::new(100.0, 10.0)?);
/// let predicted = times(&geometry, &Density::Constant(0.5), costs, gpu, Options::default())?;
/// // The speed-up is the quotient of the times, and the terms add up to a time.
/// assert_eq!(predicted.sbr_speedup, predicted.exhaustive / predicted.sbr);
/// assert!((predicted.sbr_terms.total() / predicted.sbr - 1.0).abs() < 1e-12);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    q: u64,
    c: u64,
}

impl Processors {
    /// q multiprocessors of c cores each.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if one of them is 0.
    pub fn new(q: u64, c: u64) -> Result<Self, ModelError> {
        for (symbol, number) in [("q", q), ("c", c)] {
            if number == 0 {
                return Err(ModelError::parameter(symbol, number, "at least 1"));
            }
        }
        Ok(Self { q, c })
    }

    /// q.
    pub fn q(&self) -> Ratio {
        Ratio::whole(self.q)
    }

    /// c.
    pub fn c(&self) -> Ratio {
        Ratio::whole(self.c)
    }

    /// q·c.
    pub fn cores(&self) -> Ratio {
        self.q() * self.c()
    }
}

/// The time of a subdivision by what it is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spending {
    /// Σ Q.
    pub query: f64,
    /// Σ S.
    pub subdivide: f64,
    /// Σ T.
    pub fill: f64,
    /// The last level.
    pub last: f64,
}

impl Spending {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.query + self.subdivide + self.fill + self.last
    }
}

/// The three times of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ModelTimes {
    /// The number of levels.
    pub tau: i32,
    /// T_Ex, Eq. (22).
    #[serde(rename = "T_Ex")]
    pub exhaustive: f64,
    /// T_SBR, Eq. (23).
    #[serde(rename = "T_SBR")]
    pub sbr: f64,
    /// S_SBR = T_Ex / T_SBR, Eq. (25).
    #[serde(rename = "S_SBR")]
    pub sbr_speedup: f64,
    /// T_SBR by term.
    #[serde(rename = "terms_SBR")]
    pub sbr_terms: Spending,
    /// T_MBR, Eq. (24).
    #[serde(rename = "T_MBR")]
    pub mbr: f64,
    /// S_MBR = T_Ex / T_MBR, Eq. (25).
    #[serde(rename = "S_MBR")]
    pub mbr_speedup: f64,
    /// T_MBR by term.
    #[serde(rename = "terms_MBR")]
    pub mbr_terms: Spending,
}

/// T_Ex = ⌈n^k/(q·c)⌉·A, Eq. (22).
pub fn exhaustive(cells: Ratio, costs: Costs, processors: Processors) -> f64 {
    (cells / processors.cores()).ceil() * costs.a()
}

/// The times of a self-similar density in k dimensions, Eqs. (22)-(25), with Π_i = ∏_{j<i} P_j:
///
/// T_SBR = Σ_{i=0}^{τ−2} ( A·⌈σ_i/c⌉ + P_i·λ·A + (1−P_i)·⌈s_i^k/c⌉ )·⌈G·R^i/q⌉·Π_i + A·⌈s_{τ−1}^k/c⌉·⌈G·R^{τ−1}/q⌉·Π_{τ−1},
///
/// T_MBR = Σ_{i=0}^{τ−2} { ( A·⌈σ_i/c⌉ + P_i·λ·A )·⌈G·R^i/q⌉·Π_i + (1−P_i)·Π_i·⌈n^k/(q·c)⌉ } + A·⌈n^k/(q·c)⌉·Π_{τ−1}.
///
/// # Errors
/// [`ModelError`] if the density or tau has no meaning here.
pub fn times(
    geometry: &Geometry,
    density: &Density,
    costs: Costs,
    processors: Processors,
    options: Options,
) -> Result<ModelTimes, ModelError> {
    let tau = options.tau_policy.levels(geometry)?;
    let chain = density.chain(geometry, tau)?;
    let (a, cells) = (costs.a(), geometry.cells());
    let spread = cells / processors.cores();
    let active = options.wave == Wave::Active;
    // ⌈G·R^i/q⌉·Π_i, or the waves that are really there.
    let waves = |level: i32, reach: f64, exact: &dyn Fn() -> Ratio| {
        let regions = geometry.regions(level) / processors.q();
        if active { (regions * exact()).ceil() } else { regions.ceil() * reach }
    };
    let (mut sbr, mut mbr) = (Spending::default(), Spending::default());
    for (i, &p) in chain.probabilities().iter().enumerate() {
        let sides = geometry.sides(i as i32);
        let reach = chain.reach(i);
        let waves = waves(i as i32, reach, &|| chain.exact_reach(i));
        let surface = options.surface.queried(&sides) / processors.c();
        let query = match options.query_ceil {
            QueryCeil::Outside => a * surface.ceil(),
            QueryCeil::Inside => (Ratio::decimal(a) * surface).ceil(),
        };
        for terms in [&mut sbr, &mut mbr] {
            terms.query += query * waves;
            terms.subdivide += p * costs.subdivide() * waves;
        }
        sbr.fill += (1.0 - p) * (volume(&sides) / processors.c()).ceil() * waves;
        mbr.fill += match options.wave {
            Wave::Full => (1.0 - p) * reach * spread.ceil(),
            Wave::Active => ((Ratio::ONE - Ratio::decimal(p)) * chain.exact_reach(i) * spread).ceil(),
        };
    }
    let reach = chain.reach_last();
    let per_region = (volume(&geometry.sides(tau - 1)) / processors.c()).ceil();
    sbr.last = a * per_region * waves(tau - 1, reach, &|| chain.exact_reach_last());
    mbr.last = a * if active { (chain.exact_reach_last() * spread).ceil() } else { spread.ceil() * reach };
    let all = exhaustive(cells, costs, processors);
    Ok(ModelTimes {
        tau,
        exhaustive: all,
        sbr: sbr.total(),
        sbr_speedup: all / sbr.total(),
        sbr_terms: sbr,
        mbr: mbr.total(),
        mbr_speedup: all / mbr.total(),
        mbr_terms: mbr,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Surface, TauPolicy, work};
    use proptest::prelude::*;

    #[test]
    fn processors_have_a_range() {
        assert_eq!(Processors::new(0, 64).unwrap_err().to_string(), "q = 0: must be at least 1");
        assert_eq!(Processors::new(1, 0).unwrap_err().to_string(), "c = 0: must be at least 1");
    }

    fn options() -> impl Strategy<Value = Options> {
        let of = |all: &'static [Wave]| prop::sample::select(all);
        (of(Wave::ALL), prop::sample::select(QueryCeil::ALL), prop::sample::select(Surface::ALL))
            .prop_map(|(wave, query_ceil, surface)| Options { wave, query_ceil, surface, tau_policy: TauPolicy::Clamp })
    }

    proptest! {
        #[test]
        fn one_core_is_work(
            p in 0.0..=1.0f64, a in 1u32..50, lambda in 0.0..1e3f64, g in 0u32..4, t in 1u32..5, r in 2u64..4, b in 1u64..9,
            k in 1usize..4, surface in prop::sample::select(Surface::ALL),
        ) {
            // q = c = 1 and everything divides: (23) and (24) are (20).
            let n = 2u64.pow(g) * b * r.pow(t);
            let geometry = Geometry::uniform(&vec![n; k], 2u64.pow(g), r, b).unwrap();
            let costs = Costs::new(a.into(), lambda).unwrap();
            let options = Options { surface, ..Options::default() };
            let density = Density::Constant(p);
            let work = work(&geometry, &density, costs, options).unwrap();
            let times = times(&geometry, &density, costs, Processors::new(1, 1).unwrap(), options).unwrap();
            prop_assert!((times.sbr / work.total - 1.0).abs() < 1e-12);
            prop_assert!((times.mbr / work.total - 1.0).abs() < 1e-12);
            prop_assert_eq!(times.exhaustive, exhaustive(geometry.cells(), costs, Processors::new(1, 1).unwrap()));
        }

        #[test]
        fn many_blocks_are_never_slower_than_one(
            p in 0.0..=1.0f64, a in 1.0..50.0f64, lambda in 0.0..1e3f64, n in 2u64..100_000, g in 1u64..40, r in 2u64..9,
            b in 1u64..40, k in 1usize..4, q in 1u64..200, c in 1u64..129, options in options(),
        ) {
            let geometry = Geometry::uniform(&vec![n; k], g, r, b).unwrap();
            let (costs, processors) = (Costs::new(a, lambda).unwrap(), Processors::new(q, c).unwrap());
            // A share of a wave is not rounded up; with only the regions that are there, it is (of MBR more than of SBR).
            let options = Options { wave: Wave::Full, ..options };
            let times = times(&geometry, &Density::Constant(p), costs, processors, options).unwrap();
            prop_assert!(times.mbr <= times.sbr * (1.0 + 1e-12), "{times:?}");
            prop_assert!(times.sbr_speedup <= a * (1.0 + 1e-12) && times.mbr_speedup <= a * (1.0 + 1e-12), "{times:?}");
        }
    }
}
