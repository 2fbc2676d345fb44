//! What is known of a tree beside its regions.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::cell::CellType;
use crate::geometry::Domain;
use crate::per_axis;
use crate::plan::Plan;
use crate::tree::predicate::Predicate;

/// An axis as whoever made the data knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeAxis {
    /// What it is called.
    pub name: String,
    /// What it is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// From one cell to the next, in units.
    pub spacing: f64,
    /// Where the first cell begins, in units.
    pub origin: f64,
}

impl TreeAxis {
    /// The axes of a domain: [called as everywhere](per_axis::names), with cells where its window has them, and without units.
    pub fn of<const K: usize>(domain: &Domain<K>) -> Vec<Self> {
        let (window, pitch) = (domain.window(), domain.pitch());
        let names = per_axis::names(K).into_iter().enumerate();
        names.map(|(j, name)| Self { name, unit: None, spacing: pitch[j], origin: window[j][0] }).collect()
    }
}

/// A label by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeLabel {
    /// The word of its cells.
    pub word: u64,
    /// What it is called.
    pub name: String,
    /// Red, green, blue and opacity.
    pub colour: Option<[u8; 4]>,
}

/// What a stored whole number stands for: a measured number, `slope` · cell + `intercept`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// What the cell is multiplied by.
    pub slope: f64,
    /// What is added then.
    pub intercept: f64,
}

/// What is known of a tree besides its regions: axes, names of labels, units, where the data came from.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::{TreeInfo, TreeLabel};
///
/// // Five cells per unit.
/// let plan = Plan::builder([100, 50]).window([[0.0, 20.0], [0.0, 10.0]]).build()?;
/// let mut info = TreeInfo::of(&plan).source("atlas.nrrd");
/// assert_eq!((info.axes[0].name.as_str(), info.axes[0].spacing), ("x", 0.2));
/// // What only you know.
/// info.axes[0].unit = Some("mm".into());
/// info.labels.push(TreeLabel { word: 7, name: "liver".into(), colour: None });
/// assert_eq!(info.source.as_deref(), Some("atlas.nrrd"));
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TreeInfo {
    /// The axes, axis 0 first.
    pub axes: Vec<TreeAxis>,
    /// A vector per axis, where it points in space, if that is not along the space's own axes: a point of the window lies at the sum
    /// of the vectors, each times its coordinate.
    pub directions: Option<Vec<Vec<f64>>>,
    /// When cells count as one value.
    pub predicate: Predicate,
    /// What the tree was made of: the name of a file, or of a field.
    pub source: Option<String>,
    /// The word of cells that hold no data.
    pub nodata: Option<u64>,
    /// What cells stand for, if not for themselves.
    pub scale: Option<Scale>,
    /// Labels that have names.
    pub labels: Vec<TreeLabel>,
}

impl TreeInfo {
    /// What a plan says: the [axes](TreeAxis::of) of its domain.
    pub fn of<const K: usize>(plan: &Plan<K>) -> Self {
        Self {
            axes: TreeAxis::of(plan.domain()),
            directions: None,
            predicate: Predicate::EXACT,
            source: None,
            nodata: None,
            scale: None,
            labels: Vec::new(),
        }
    }

    /// Sets the name of what the tree was made of.
    #[must_use]
    pub fn source(self, name: impl Into<String>) -> Self {
        Self { source: Some(name.into()), ..self }
    }

    /// Sets when cells count as one value, and the word of cells without data. If the predicate makes other cells of
    /// the source's, names of labels and the scale are dropped.
    #[must_use]
    pub fn predicate(self, predicate: Predicate, nodata: Option<u64>) -> Self {
        let kept = predicate.keeps_cells();
        let labels = if kept { self.labels } else { Vec::new() };
        Self { predicate, nodata, labels, scale: self.scale.filter(|_| kept), ..self }
    }

    /// Checks that a header can say it of a tree in `k` dimensions, whose cells are `kind`.
    pub(super) fn check(&self, k: usize, kind: CellType) -> Result<(), Unfit> {
        let refused = |key, reason| Err(Unfit { key, reason });
        if self.axes.len() != k {
            return refused("axes", format!("{} of them for {k} dimensions", self.axes.len()));
        }
        for (number, axis) in self.axes.iter().enumerate() {
            if !axis.spacing.is_finite() || axis.spacing == 0.0 || !axis.origin.is_finite() {
                let TreeAxis { spacing, origin, .. } = axis;
                let reason = format!(
                    "axis {number} has spacing {spacing} and origin {origin}; both are finite numbers, and spacing is not 0"
                );
                return refused("axes", reason);
            }
            if self.axes[..number].iter().any(|other| other.name == axis.name) || axis.name.is_empty() {
                return refused("axes", format!("axis {number} is called '{}'; each has a name of its own", axis.name));
            }
        }
        self.predicate.check(kind).or_else(|reason| refused("predicate", reason))?;
        if let Some(directions) = &self.directions {
            let right = |vector: &Vec<f64>| vector.len() == k && vector.iter().all(|part| part.is_finite());
            if directions.len() != k || !directions.iter().all(right) {
                return refused("directions", format!("{k} vectors of {k} finite numbers are needed"));
            }
        }
        if let Some(Scale { slope, intercept }) = self.scale
            && !(slope.is_finite() && slope != 0.0 && intercept.is_finite())
        {
            return refused(
                "scale",
                format!("{slope} and {intercept}; both are finite numbers, and the slope is not 0"),
            );
        }
        let fits = |word: u64| kind.bytes() == 8 || word >> (8 * kind.bytes()) == 0;
        if let Some(word) = self.nodata.filter(|&word| !fits(word)) {
            return refused("nodata", format!("{word:#x} is no word of {kind}"));
        }
        let mut words = HashSet::new();
        for &TreeLabel { word, .. } in &self.labels {
            if !fits(word) {
                return refused("labels", format!("{word:#x} is no word of {kind}"));
            }
            if !words.insert(word) {
                return refused("labels", format!("{} has two names", kind.text(word)));
            }
        }
        Ok(())
    }
}

/// What a header cannot say, by its key.
#[derive(Debug)]
pub(super) struct Unfit {
    pub(super) key: &'static str,
    pub(super) reason: String,
}
