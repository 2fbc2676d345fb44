//! Arrays of data: the plan of one as a person states it.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::dimension::here;
use crate::engine::chosen_splits::ChosenSplits;
use crate::engine::domain_axes::{DomainAxes, per_axis, window_of, window_of_cells};
use crate::engine::request::Computed;
use crate::geometry::{Sample, Scheme};
use crate::per_axis::text;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::About;

impl Computed {
    /// The plan of an array of `size` cells: rule `full`, since a tree that is made of cells looks at all of them, and where
    /// nothing else was chosen [`Scheme::for_array`], the window that the array's file says or else the cells themselves, and their
    /// centres as samples.
    ///
    /// ```
    /// use orthant::Computed;
    /// use orthant::tree::About;
    /// use orthant::prelude::*;
    ///
    /// let plan = Computed::default().array_plan([600, 400], &About::default())?;
    /// assert_eq!((plan.rule(), plan.domain().window()), (RuleKind::Full, [[0.0, 600.0], [0.0, 400.0]]));
    /// // A size that is not the array's.
    /// let mut chosen = Computed::default();
    /// chosen.set("size", "600x300")?;
    /// assert!(chosen.array_plan([600, 400], &About::default()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed; a size or dimension that is not the array's is one.
    pub fn array_plan<const K: usize>(&self, size: [u32; K], about: &About) -> Result<Plan<K>, Error> {
        self.divided(size, about.window(size), about.series(size), RuleKind::Full)
    }

    /// The plan of an array of `size` cells in `window`, of which `series` are not divided.
    pub(super) fn divided<const K: usize>(
        &self,
        size: [u32; K],
        window: Option<[[f64; 2]; K]>,
        series: [bool; K],
        rule: RuleKind,
    ) -> Result<Plan<K>, Error> {
        here!(fn(&Computed, [u32; K], Option<[[f64; 2]; K]>, [bool; K], RuleKind) -> Result<Plan<K>, Error> = Computed::divided_here)(
            self, size, window, series, rule,
        )
    }

    fn divided_here<const K: usize>(
        &self,
        size: [u32; K],
        window: Option<[[f64; 2]; K]>,
        series: [bool; K],
        rule: RuleKind,
    ) -> Result<Plan<K>, Error> {
        let domain = self.array_domain(&size, window.as_ref().map(|window| &window[..]))?.domain()?;
        let ChosenSplits { g, r, b } = self.chosen_splits()?;
        Ok(Plan::new(domain, Scheme::for_array(size, g, r, b, series), self.curve, rule)?)
    }

    /// The domain of an array: the window that was chosen, else `window`, else the cells themselves.
    pub(super) fn array_domain(&self, size: &[u32], window: Option<&[[f64; 2]]>) -> Result<DomainAxes, Error> {
        let k = size.len();
        if let Some(dim) = self.dim.filter(|&dim| dim != k) {
            return Err(ChoiceError::new("dim", dim, format!("the array has {k} axes")).into());
        }
        if let Some(asked) = &self.size
            && per_axis("size", Some(asked), 0, k)?[..k] != *size
        {
            return Err(ChoiceError::new("size", text(asked), format!("the array has {} cells", text(size))).into());
        }
        let size = per_axis("size", Some(size), 0, k)?;
        let window = self.chosen_window(k)?.unwrap_or(window.map_or(window_of_cells(&size), window_of));
        Ok(DomainAxes { size, window, sample: self.sample.unwrap_or(Sample::Centre) })
    }
}
