//! The caller's hand on a run.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::backend::error::Error;

/// Cancels a run from another thread, and reads its progress.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{Control, Error};
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// // Another thread can read the progress, and cancel the run.
/// let control = Control::default();
/// Run::new(&plan, &left).control(&control).start()?;
/// assert_eq!(control.cells_done(), 64 * 64);
/// control.cancel(0);
/// assert!(matches!(Run::new(&plan, &left).control(&control).start(), Err(Error::Interrupted(0))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Control {
    signal: AtomicUsize,
    cancelled: AtomicBool,
    done: AtomicU64,
    looked: AtomicU64,
}

impl Control {
    /// Asks the run to stop soon. It then fails with [`Error::Interrupted`], which holds `signal`: a signal number, or
    /// 0. The control stays cancelled.
    pub fn cancel(&self, signal: usize) {
        self.signal.store(signal, Ordering::Relaxed);
        self.cancelled.store(true, Ordering::Release);
    }

    /// Cells whose label is settled so far.
    pub fn cells_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Cells that were looked at so far, to explore a region or to label it. A cell may count more than once. The
    /// number grows even while a long region settles nothing; it is 0 if the backend does not report it.
    pub fn cells_looked_at(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Says that a run begins.
    pub(crate) fn begin(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.looked.store(0, Ordering::Relaxed);
    }

    /// Says that so many more cells are looked at.
    pub(crate) fn look(&self, cells: u64) {
        self.looked.fetch_add(cells, Ordering::Relaxed);
    }

    /// Says how many cells are settled so far, which some backends learn level by level.
    #[cfg(feature = "cuda")]
    pub(crate) fn reach(&self, cells: u64) {
        self.done.store(cells, Ordering::Relaxed);
    }

    /// Says that so many more cells are settled.
    pub(crate) fn advance(&self, cells: u64) {
        self.done.fetch_add(cells, Ordering::Relaxed);
    }

    /// Fails if the run was cancelled.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after [`cancel`](Self::cancel).
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Acquire) {
            return Err(Error::Interrupted(self.signal.load(Ordering::Relaxed)));
        }
        Ok(())
    }
}
