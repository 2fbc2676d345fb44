//! What a cell is worth: fields over the cells of a domain.
//!
//! A [`Workload`] turns cells into integer labels and knows nothing of levels, curves or strategies. Labels are
//! integers, so that "uniform" and "equal" are exact on every backend. Cells are asked for in batches: one virtual
//! call per batch costs nothing, and a batch is what a vectorised inner loop wants to see.

mod custom;
mod digits;
pub mod julibrot;
pub mod kernel;
pub mod mandelbrot;
pub mod mandelbulb;
pub mod mxm;

use std::sync::Arc;

use crate::device::DeviceTwin;
use crate::domain::Domain;
use crate::error::Error;
use crate::escape::{Arithmetic, Precision};
use crate::plan::ExploreRule;
use crate::region::Region;

pub use custom::{ArrayField, CellField};
pub use digits::{DigitSet, cantor, carpet, diagonal, menger, simplex};

/// Eight bytes that a region hands to its children, beside its code in the OLT: a point range, a tape, a node of a
/// pyramid. Workloads that say [`Workload::carries_payload`] pack and unpack it as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[repr(transparent)]
pub struct Payload(pub u64);

/// What a workload can say about a whole region without sampling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every cell of the region has this label.
    Uniform(u32),
    /// At least two labels occur.
    Mixed,
    /// Nothing is known: look at the cells.
    Unknown,
}

/// A field over the cells of a k-dimensional domain.
pub trait Workload<const K: usize>: Sync {
    /// The labels of `cells`, in their order. The slices have equal length; any cell of the domain may be asked for,
    /// in any order, any number of times, and always has the same label.
    ///
    /// A label is at most [`max_label`](Self::max_label).
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]);

    /// The largest label that can occur; at most `u32::MAX - 1`.
    fn max_label(&self) -> u32;

    /// True if a label is the number of iterations that its cell cost (dwell fields), so that labels add up to work.
    fn labels_count_iterations(&self) -> bool {
        false
    }

    /// A proof about a whole region, asked for under `--explore full` before any cell is looked at.
    fn classify(&self, region: &Region<K>, payload: Payload) -> Verdict {
        let _ = (region, payload);
        Verdict::Unknown
    }

    /// A guess at the box dimension d of the boundary between labels, which sizes the OLT before a run: a level is
    /// expected to subdivide a share r^(d−k) of its regions. Default: a smooth surface, k − 1.
    fn boundary_dimension(&self) -> f64 {
        K as f64 - 1.0
    }

    /// The same field for a GPU; None if there is only this one.
    fn device(&self) -> Option<DeviceTwin> {
        None
    }

    /// True if there is nothing but the device twin, so that the CPU cannot evaluate it.
    fn is_device_only(&self) -> bool {
        false
    }

    /// True if regions carry a [`Payload`]; then [`root`](Self::root) and [`split`](Self::split) are called.
    fn carries_payload(&self) -> bool {
        false
    }

    /// The payload of a region of level 0.
    fn root(&self, region: &Region<K>) -> Payload {
        let _ = region;
        Payload::default()
    }

    /// The payloads of the children of a mixed region, in the order of `children`.
    fn split(&self, parent: &Region<K>, payload: Payload, children: &[Region<K>], payloads: &mut [Payload]) {
        let _ = (parent, payload, children, payloads);
    }
}

/// What a dwell field is computed with; digit sets ignore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOptions {
    /// D, the largest number of iterations.
    pub dwell: u32,
    /// The type of the iterated numbers.
    pub precision: Precision,
    /// Fused or separately rounded products and sums.
    pub arithmetic: Arithmetic,
    /// The CUDA source of a `kernel` field.
    pub source: Option<Arc<str>>,
}

impl Default for FieldOptions {
    fn default() -> Self {
        Self { dwell: 512, precision: Precision::F32, arithmetic: Arithmetic::Fused, source: None }
    }
}

/// What a bare run of a built-in workload uses in a given number of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Defaults {
    /// Cells per axis.
    pub size: u32,
    /// Initial split per axis.
    pub g: u32,
    /// Recurrent split per axis.
    pub r: u32,
    /// Stop side.
    pub b: u32,
    /// Dwell cap; None if the workload has none.
    pub dwell: Option<u32>,
    /// `[lo, hi]` per axis.
    pub window: Vec<[f64; 2]>,
    /// How a region is found uniform.
    pub explore: ExploreRule,
}

/// Builds a built-in workload over a domain.
pub type Open<const K: usize> = fn(&Domain<K>, &FieldOptions) -> Result<Box<dyn Workload<K>>, Error>;

/// Something to do with a workload once its dimension is a type: a closure that is generic over K.
pub trait Job {
    /// What comes of it.
    type Output;
    /// Does it in K dimensions; `open` builds the workload.
    fn run<const K: usize>(self, open: Open<K>) -> Self::Output;
}

/// The list of built-in workloads: name, module, dimensions. A new one is a file and a line here.
///
/// This is the only place where a number of dimensions becomes a type.
macro_rules! workloads {
    ($($Variant:ident = $name:literal => $module:ident in [$($k:literal),+]),+ $(,)?) => {
        crate::registry::registry! {
            /// A built-in workload.
            pub enum WorkloadKind("workload") { $(#[doc = concat!("`", $name, "`")] $Variant = $name),+ }
        }

        impl WorkloadKind {
            /// The numbers of dimensions it exists in.
            pub const fn dims(self) -> &'static [usize] {
                match self { $(Self::$Variant => &[$($k),+]),+ }
            }

            /// One line for lists.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$Variant => $module::ABOUT),+ }
            }

            /// What a bare run uses in `k` dimensions.
            pub fn defaults(self, k: usize) -> Defaults {
                match self { $(Self::$Variant => $module::defaults(k)),+ }
            }

            /// Runs `job` in `k` dimensions.
            ///
            /// # Errors
            /// [`Error::Input`] if the workload does not exist in `k` dimensions.
            pub fn dispatch<J: Job>(self, k: usize, job: J) -> Result<J::Output, Error> {
                match (self, k) {
                    $($((Self::$Variant, $k) => Ok(job.run::<$k>($module::open)),)+)+
                    _ => Err(Error::Input(format!(
                        "--dim {k}: {self} exists in {} dimensions",
                        self.dims().iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
                    ))),
                }
            }
        }
    };
}

workloads! {
    Mandelbrot = "mandelbrot" => mandelbrot in [2],
    Mandelbulb = "mandelbulb" => mandelbulb in [3],
    Julibrot = "julibrot" => julibrot in [4],
    Mxm = "mxm" => mxm in [4, 6],
    Cantor = "cantor" => cantor in [1, 2, 3, 4, 5, 6, 7, 8],
    Carpet = "carpet" => carpet in [1, 2, 3, 4, 5, 6, 7, 8],
    Menger = "menger" => menger in [1, 2, 3, 4, 5, 6, 7, 8],
    Simplex = "simplex" => simplex in [1, 2, 3, 4, 5, 6, 7, 8],
    Diagonal = "diagonal" => diagonal in [1, 2, 3, 4, 5, 6, 7, 8],
    Kernel = "kernel" => kernel in [1, 2, 3, 4, 5, 6, 7, 8],
}
