//! N_i regions and a_i mixed ones per level: what a density predicts, or what a run counted.
//!
//! Tables, kernels and overheads depend on the counts alone, so that the same functions serve the model and the report
//! of a run. The last level is evaluated and divides nothing: its a_i is 0.

use super::{Chain, Geometry, ModelError, Ratio};

/// How many regions each level has, and how many of them are mixed. Level 0 comes first, the evaluated level last.
///
/// ```
/// use orthant_lab::model::{Counts, Ratio};
///
/// let whole = |n: u32| Ratio::whole(n);
/// // Of 16 regions 4 are mixed, and of their 16 children 8.
/// let counts = Counts::measured(whole(16), whole(4), &[4, 8])?;
/// assert_eq!(counts.regions(), [16, 16, 32].map(whole));
/// assert_eq!(counts.uniform(1), whole(8));
/// // Five of four cannot be mixed.
/// assert!(Counts::measured(whole(4), whole(4), &[5]).is_err());
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    regions: Vec<Ratio>,
    active: Vec<Ratio>,
}

impl Counts {
    /// Expected counts N_i = G·R^i·∏_{j<i} P_j (Eq. 11), a_i = P_i·N_i, of as many explored levels as there are
    /// probabilities, and of the last.
    pub fn expected(initial: Ratio, children: Ratio, probabilities: &[f64]) -> Self {
        let mut counts = Self { regions: vec![initial], active: Vec::new() };
        for &p in probabilities {
            let active = counts.regions[counts.regions.len() - 1] * Ratio::decimal(p);
            counts.active.push(active);
            counts.regions.push(active * children);
        }
        counts.active.push(Ratio::ZERO);
        counts
    }

    /// The counts that a chain of probabilities leads to.
    pub fn of_chain(geometry: &Geometry, chain: &Chain) -> Self {
        Self::expected(geometry.initial_regions(), geometry.children(), chain.probabilities())
    }

    /// Counted mixed regions a_0 .. a_{τ−2}; N_0 = G, N_{i+1} = R·a_i.
    ///
    /// # Errors
    /// [`ModelError::Active`] if more regions are mixed than there are.
    pub fn measured(initial: Ratio, children: Ratio, active: &[u64]) -> Result<Self, ModelError> {
        let mut counts = Self { regions: vec![initial], active: Vec::new() };
        for (level, &active) in active.iter().enumerate() {
            let regions = counts.regions[level];
            if Ratio::whole(active) > regions {
                return Err(ModelError::Active { level, active, regions: regions.to_f64() });
            }
            counts.active.push(Ratio::whole(active));
            counts.regions.push(Ratio::whole(active) * children);
        }
        counts.active.push(Ratio::ZERO);
        Ok(counts)
    }

    /// τ, at least 1.
    pub fn levels(&self) -> usize {
        self.regions.len()
    }

    /// N_i.
    pub fn regions(&self) -> &[Ratio] {
        &self.regions
    }

    /// a_i; 0 on the last level.
    pub fn active(&self) -> &[Ratio] {
        &self.active
    }

    /// e_i = N_i − a_i: filled, or evaluated on the last level.
    pub fn uniform(&self, i: usize) -> Ratio {
        self.regions[i] - self.active[i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cannot_be_mixed_than_is_there() {
        let [four, sixteen] = [4u32, 16].map(Ratio::whole);
        let counts = Counts::measured(four, four, &[4, 14]).unwrap();
        assert_eq!(counts.regions(), [4u32, 16, 56].map(Ratio::whole));
        assert_eq!((counts.levels(), counts.uniform(1)), (3, Ratio::whole(2u32)));
        assert_eq!(
            Counts::measured(sixteen, four, &[4, 17]).unwrap_err().to_string(),
            "active = 17 on level 1: at most the 16 regions of that level can be mixed"
        );
        assert_eq!(Counts::expected(sixteen, four, &[]).regions(), [sixteen]);
    }
}
