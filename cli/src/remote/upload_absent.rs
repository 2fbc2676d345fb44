//! What stands for uploads where the feature `cloud` is off.

use std::convert::Infallible;
use std::path::Path;

use orthant::Control;

use crate::error::Error;
use crate::remote::refuse_output;

/// There is none.
#[derive(Debug)]
pub(crate) struct Upload(Infallible);

impl Upload {
    /// None of a path.
    ///
    /// # Errors
    /// [`Error::Input`] refuses a URL.
    pub(crate) fn of(path: &Path, _: bool) -> Result<Option<Self>, Error> {
        refuse_output(path).map(|()| None)
    }

    /// There is none.
    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    /// There is none.
    pub(crate) fn printable(&self) -> &Path {
        match self.0 {}
    }

    /// There is none.
    ///
    /// # Errors
    /// Never.
    pub(crate) fn send(&self, _: &Path, _: &Control) -> Result<(), Error> {
        match self.0 {}
    }
}
