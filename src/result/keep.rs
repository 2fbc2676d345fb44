//! What is kept of a run.

use crate::registry::registry;

registry! {
    /// What a run keeps in memory.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
    /// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
    /// let keeping = |keep| Run::new(&plan, &left).how(How::default().keep(keep)).start();
    /// // Four uniform regions, and an array of 4096 cells if it is kept.
    /// let (dense, regions, counts) = (keeping(Keep::Dense)?, keeping(Keep::Regions)?, keeping(Keep::Counts)?);
    /// assert_eq!([&dense, &regions, &counts].map(|run| run.terminals().len()), [4, 4, 0]);
    /// assert_eq!([&dense, &regions, &counts].map(|run| run.array().is_some()), [true, false, false]);
    /// assert_eq!(counts.totals().filled, 4);
    /// # Ok::<(), orthant::Error>(())
    /// ```
    pub enum Keep("keep") {
        /// The dense array of labels and the terminal regions.
        Dense = "dense",
        /// The terminal regions and the cells of the leaves, but no dense array.
        Regions = "regions",
        /// Counts only: leaves are counted, not evaluated.
        Counts = "counts",
    }
}
