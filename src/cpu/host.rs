//! A field as the CPU sees it: what it can do here, asked once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::{Error, Unsupported};
use crate::field::{Carry, Evaluate, Field, Labels, Prove};

/// What a field can do on the CPU.
#[derive(Clone, Copy)]
pub(crate) struct Host<'a, const K: usize> {
    pub(crate) labels: Labels,
    pub(crate) evaluate: &'a dyn Evaluate<K>,
    pub(crate) prove: Option<&'a dyn Prove<K>>,
    pub(crate) carry: Option<&'a dyn Carry<K>>,
    /// No other host's: what is known of the cost of its cells belongs to it alone.
    pub(crate) number: u64,
}

static HOSTS: AtomicU64 = AtomicU64::new(1);

impl<'a, const K: usize> Host<'a, K> {
    /// What `field` can do.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it cannot be evaluated here.
    pub(crate) fn of(field: &'a dyn Field<K>) -> Result<Self, Error> {
        let lacking = || Error::Unsupported { backend: "cpu", what: Unsupported::DeviceOnly };
        let evaluate = field.host().ok_or_else(lacking)?;
        let number = HOSTS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { labels: field.labels(), evaluate, prove: field.prover(), carry: field.carrier(), number })
    }
}
