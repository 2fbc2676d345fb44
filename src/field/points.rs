//! Sample points of cells, as kernels are told of them: in the precision that they compute in.

use crate::abi::{device_struct, padded};
use crate::field::options::{Arithmetic, Precision};
use crate::field::twin::DeviceTwin;
use crate::geometry::Domain;

macro_rules! point_args {
    ($($Name:ident of $Real:ident),+) => { $(
        device_struct! {
            /// Samples of cells: x_j = (c_j + offset)·pitch_j + low_j, and the dwell cap.
            struct $Name {
                low: [$Real; 8],
                pitch: [$Real; 8],
                offset: $Real,
                dwell: u32,
                padding: u32,
            }
        }

        impl $Name {
            fn new<const K: usize>(domain: &Domain<K>, dwell: u32) -> Self {
                Self {
                    low: padded(domain.window().map(|[low, _]| low as $Real)),
                    pitch: padded(domain.pitch().map(|pitch| pitch as $Real)),
                    offset: domain.sample().offset() as $Real,
                    dwell,
                    padding: 0,
                }
            }
        }
    )+ };
}
point_args!(PointArgs32 of f32, PointArgs64 of f64);

/// The twin of a field that is evaluated at points of the domain; its header comes with the crate.
pub(crate) fn twin<const K: usize>(
    header: &'static str,
    domain: &Domain<K>,
    dwell: u32,
    precision: Precision,
    arithmetic: Arithmetic,
) -> DeviceTwin {
    let twin = match precision {
        Precision::F32 => DeviceTwin::built_in(header, &PointArgs32::new(domain, dwell)),
        Precision::F64 => DeviceTwin::built_in(header, &PointArgs64::new(domain, dwell)),
    };
    DeviceTwin { precision, arithmetic, ..twin }
}
