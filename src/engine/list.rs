//! The plan of a list of cells as a person states it.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::dimension::here;
use crate::engine::chosen_splits::ChosenSplits;
use crate::engine::domain_axes::{DomainAxes, window_of_cells};
use crate::engine::request::Computed;
use crate::geometry::{Domain, Sample, Scheme};
use crate::plan::Plan;
use crate::rule::RuleKind;

impl Computed {
    /// The plan of a list of cells: rule `full`, and where nothing else was chosen [`Scheme::for_list`] and the cells themselves as the
    /// window. The size is the one that was chosen, else that of the list, which a matrix has.
    ///
    /// ```
    /// use orthant::Computed;
    ///
    /// let mut chosen = Computed::default();
    /// chosen.set("size", "2^20")?;
    /// let plan = chosen.list_plan::<4>(None)?;
    /// assert_eq!((plan.domain().size(), plan.levels().len()), ([1 << 20; 4], 17));
    /// // Nothing says how large the domain is.
    /// let error = Computed::default().list_plan::<2>(None).unwrap_err();
    /// assert!(error.to_string().contains("cells per axis are needed"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed.
    pub fn list_plan<const K: usize>(&self, size: Option<&[u32]>) -> Result<Plan<K>, Error> {
        here!(fn(&Computed, Option<&[u32]>) -> Result<Plan<K>, Error> = |this, size| this.list_plan_here(size))(
            self, size,
        )
    }

    fn list_plan_here<const K: usize>(&self, size: Option<&[u32]>) -> Result<Plan<K>, Error> {
        if let Some(rule) = self.explore.filter(|&rule| rule != RuleKind::Full) {
            return Err(ChoiceError::new("explore", rule, "a list is divided by its entries, which is full").into());
        }
        self.list_plan_by(size, RuleKind::Full)
    }

    /// The plan of a list of cells that is divided by a rule.
    pub(super) fn list_plan_by<const K: usize>(&self, size: Option<&[u32]>, rule: RuleKind) -> Result<Plan<K>, Error> {
        let domain = self.list_axes(size, K)?.domain()?;
        let ChosenSplits { g, r, b } = self.chosen_splits()?;
        Ok(Plan::new(domain, Scheme::for_list(domain.size(), g, r, b), self.curve, rule)?)
    }

    /// The domain of a list of cells, as that of [`list_plan`](Self::list_plan).
    ///
    /// ```
    /// use orthant::Computed;
    ///
    /// assert_eq!(Computed::default().list_domain::<2>(Some(&[64, 9]))?.size(), [64, 9]);
    /// # Ok::<(), orthant::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed.
    pub fn list_domain<const K: usize>(&self, size: Option<&[u32]>) -> Result<Domain<K>, Error> {
        here!(fn(&Computed, Option<&[u32]>) -> Result<Domain<K>, Error> = |this, size| this.list_axes(size, K)?.domain())(
            self, size,
        )
    }

    /// The domain of a list of cells in `k` axes.
    pub(super) fn list_axes(&self, size: Option<&[u32]>, k: usize) -> Result<DomainAxes, Error> {
        let Some(size) = self.size.as_deref().or(size) else {
            return Err(ChoiceError::new("size", "", "cells per axis are needed: the list does not say them").into());
        };
        let size = self.cells(Some(size), 0, k)?;
        let window = self.chosen_window(k)?.unwrap_or(window_of_cells(&size));
        Ok(DomainAxes { size, window, sample: self.sample.unwrap_or(Sample::Centre) })
    }
}
