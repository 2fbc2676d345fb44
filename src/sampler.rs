//! A coarse sample where a run will be: the labels of a lattice of cells, from either backend.
//!
//! A GPU that is about to run a plan evaluates a sample in a fraction of the time that the CPU beside it would take, and a
//! field that exists there only has no other. The labels are the same to the bit.

use crate::cuda;
use crate::domain::Domain;
use crate::engine::{Backend, check_on_cpu};
use crate::error::Error;
use crate::how::How;
use crate::model::sample::Lattice;
use crate::workload::Workload;

/// A sample of a workload, ready to be taken: on CUDA with its kernel compiled and its buffers allocated.
pub enum Sampler<'a, const K: usize> {
    /// On the CPU.
    Cpu {
        /// Which cells.
        lattice: Lattice<K>,
        /// What a cell is worth.
        workload: &'a dyn Workload<K>,
    },
    /// On a GPU.
    Cuda(Box<cuda::Sampler<'a, K>>),
}

impl<'a, const K: usize> Sampler<'a, K> {
    /// Prepares to sample `workload` over the lattice of `domain`; of `how` the block's shape matters, on CUDA.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the backend is the CPU and the workload exists on a GPU only; as [`cuda::Sampler::new`].
    pub fn new(
        backend: &'a Backend,
        lattice: Lattice<K>,
        workload: &'a dyn Workload<K>,
        domain: &Domain<K>,
        how: &How,
    ) -> Result<Self, Error> {
        Ok(match backend {
            Backend::Cpu => {
                check_on_cpu(workload)?;
                Self::Cpu { lattice, workload }
            }
            Backend::Cuda(device) => Self::Cuda(Box::new(cuda::Sampler::new(device, lattice, workload, domain, how)?)),
        })
    }

    /// The labels of the lattice's cells, in storage order.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn labels(&mut self) -> Result<Vec<u32>, Error> {
        match self {
            Self::Cpu { lattice, workload } => Ok(lattice.labels(*workload)),
            Self::Cuda(sampler) => sampler.labels(),
        }
    }
}
