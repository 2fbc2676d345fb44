//! The sizes of things: sides, surfaces, volumes and numbers of regions on every level, per axis.
//!
//! s_{j,i} = n_j / (g_j·r_j^i) stays a rational where it does not divide; only the quotients by q and c are rounded up,
//! in [`time`](super::time).

use super::{ModelError, Ratio};
use orthant::registry;

registry! {
    /// How many cells a query of a region's border visits, Q = A·σ.
    ///
    /// ```
    /// use orthant_lab::model::{Ratio, Surface};
    ///
    /// // The border of 4 x 4 cells has 12; four faces of 4 count corners twice.
    /// let cells = |surface: Surface| surface.of(&[Ratio::whole(4u32); 2]).to_f64();
    /// assert_eq!([Surface::Faces, Surface::Exact, Surface::Proof].map(cells), [16.0, 12.0, 1.0]);
    /// ```
    #[derive(Default)]
    pub enum Surface("surface") {
        /// σ = 2·Σ_j ∏_{l≠j} s_l, in two dimensions the paper's 4s: corners count twice.
        #[default]
        Faces = "faces",
        /// σ = ∏ s_j − ∏ max(s_j − 2, 0): every cell once.
        Exact = "exact",
        /// σ = 1: no cell is looked at, and a proof takes what a cell takes.
        Proof = "proof",
    }
}

impl Surface {
    /// σ of a region with these sides.
    pub fn of(self, sides: &[Ratio]) -> Ratio {
        match self {
            Self::Faces => {
                let face = |j: usize| sides.iter().enumerate().filter(|&(l, _)| l != j).map(|(_, &s)| s).product();
                Ratio::whole(2u32) * (0..sides.len()).map(face).sum::<Ratio>()
            }
            Self::Exact => {
                let inside: Ratio = sides.iter().map(|&s| s - Ratio::whole(2u32)).product();
                volume(sides) - inside
            }
            Self::Proof => Ratio::ONE,
        }
    }

    /// Cells that a query of a region with these sides visits: σ, or all where the region is single cells on some axis and
    /// therefore all border. Only axes that are not split have such regions on a level that is divided.
    pub fn queried(self, sides: &[Ratio]) -> Ratio {
        let is_border = self != Self::Proof && sides.iter().any(|side| *side <= Ratio::ONE);
        if is_border { volume(sides) } else { self.of(sides) }
    }
}

/// ∏ s_j, the cells of a region with these sides.
pub fn volume(sides: &[Ratio]) -> Ratio {
    sides.iter().copied().product()
}

/// {n, g, r, B} per axis: the domain, and how it is divided.
///
/// ```
/// use orthant_lab::model::{Geometry, Ratio};
///
/// let geometry = Geometry::uniform(&[64, 64], 4, 2, 4)?;
/// assert_eq!((geometry.initial_regions(), geometry.children()), (Ratio::whole(16u32), Ratio::whole(4u32)));
/// // Level 1 has 64 regions of 8 x 8 cells.
/// assert_eq!(geometry.regions(1), Ratio::whole(64u32));
/// assert_eq!(geometry.sides(1), [Ratio::whole(8u32); 2]);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Geometry {
    n: Vec<u64>,
    g: Vec<u64>,
    r: Vec<u64>,
    b: Vec<u64>,
}

impl Geometry {
    /// A domain of `n` cells per axis, initial split g, recurrent split r, stop side B.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if k is not 1 to 8, n, g, r or B is 0, or r 1 on every axis; [`ModelError::Axes`] if the
    /// lists have different lengths.
    pub fn new(n: Vec<u64>, g: Vec<u64>, r: Vec<u64>, b: Vec<u64>) -> Result<Self, ModelError> {
        let k = n.len();
        if !(1..=orthant::MAX_DIM).contains(&k) {
            return Err(ModelError::parameter("k", k, "between 1 and 8"));
        }
        for (symbol, axes, least, allowed) in [
            ("n", &n, 1, "at least 1 cell on every axis"),
            ("g", &g, 1, "at least 1 on every axis"),
            ("r", &r, 1, "at least 1 on every axis"),
            ("B", &b, 1, "at least 1 cell on every axis"),
        ] {
            if axes.len() != k {
                return Err(ModelError::Axes { symbol, found: axes.len(), k });
            }
            if let Some(wrong) = axes.iter().find(|&&x| x < least) {
                return Err(ModelError::parameter(symbol, wrong, allowed));
            }
        }
        if r.iter().all(|&r| r == 1) {
            return Err(ModelError::parameter("r", 1, "at least 2 on some axis"));
        }
        Ok(Self { n, g, r, b })
    }

    /// The same g, r and B on every axis of a domain of `n` cells per axis.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn uniform(n: &[u64], g: u64, r: u64, b: u64) -> Result<Self, ModelError> {
        let k = n.len();
        Self::new(n.to_vec(), vec![g; k], vec![r; k], vec![b; k])
    }

    /// k.
    pub fn k(&self) -> usize {
        self.n.len()
    }

    /// n, g, r and B of every axis.
    pub fn axes(&self) -> impl Iterator<Item = [u64; 4]> {
        (0..self.k()).map(|j| [self.n[j], self.g[j], self.r[j], self.b[j]])
    }

    /// ∏ n_j, the cells of the domain.
    pub fn cells(&self) -> Ratio {
        self.n.iter().map(|&n| Ratio::whole(n)).product()
    }

    /// G = ∏ g_j, the initial regions.
    pub fn initial_regions(&self) -> Ratio {
        self.regions(0)
    }

    /// R = ∏ r_j, the children of a region.
    pub fn children(&self) -> Ratio {
        self.r.iter().map(|&r| Ratio::whole(r)).product()
    }

    /// G·R^i = ∏ g_j·r_j^i, the regions of level i if all are reached. Literal for negative i.
    pub fn regions(&self, i: i32) -> Ratio {
        self.axes().map(|[_, g, r, _]| Ratio::whole(g) * Ratio::whole(r).pow(i)).product()
    }

    /// s_{j,i} = n_j / (g_j·r_j^i) of every axis.
    pub fn sides(&self, i: i32) -> Vec<Ratio> {
        self.axes().map(|[n, g, r, _]| Ratio::new(n.into(), g.into()) / Ratio::whole(r).pow(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_rational() {
        let geometry = Geometry::uniform(&[10_000], 7, 3, 11).unwrap();
        assert_eq!(geometry.sides(2), [Ratio::new(10_000, 63)]);
        assert_eq!(geometry.sides(-1), [Ratio::new(30_000, 7)]);
        assert_eq!(geometry.regions(3), Ratio::whole(189u32));
    }

    #[test]
    fn both_surfaces() {
        let sides = |s: &[u32]| s.iter().map(|&s| Ratio::whole(s)).collect::<Vec<_>>();
        assert_eq!(Surface::Faces.of(&sides(&[32, 32])), Ratio::whole(128u32));
        assert_eq!(Surface::Exact.of(&sides(&[32, 32])), Ratio::whole(124u32));
        assert_eq!(Surface::Exact.of(&sides(&[1, 7, 9])), Ratio::whole(63u32));
        // A slice of one step is all border.
        assert_eq!(Surface::Faces.queried(&sides(&[8, 8, 1])), Ratio::whole(64u32));
        assert_eq!(Surface::Faces.queried(&sides(&[32, 32])), Ratio::whole(128u32));
        assert_eq!(Surface::Faces.of(&sides(&[9])), Ratio::whole(2u32));
    }

    #[test]
    fn errors_name_the_symbol() {
        let message = |n: &[u64], g, r, b| Geometry::uniform(n, g, r, b).unwrap_err().to_string();
        assert_eq!(message(&[0], 1, 2, 1), "n = 0: must be at least 1 cell on every axis");
        assert_eq!(message(&[8], 0, 2, 1), "g = 0: must be at least 1 on every axis");
        assert_eq!(message(&[8], 1, 1, 1), "r = 1: must be at least 2 on some axis");
        assert_eq!(message(&[8], 1, 0, 1), "r = 0: must be at least 1 on every axis");
        assert_eq!(message(&[8], 1, 2, 0), "B = 0: must be at least 1 cell on every axis");
        assert_eq!(message(&[8; 9], 1, 2, 1), "k = 9: must be between 1 and 8");
        let axes = Geometry::new(vec![8; 3], vec![1; 2], vec![2; 3], vec![1; 3]).unwrap_err();
        assert_eq!(axes.to_string(), "g has 2 axes; k = 3 takes 3");
    }
}
