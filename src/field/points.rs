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
    let low = padded(domain.low());
    let (pitch, offset) = (padded(domain.pitch()), domain.sample().offset());
    of_points(header, PointArgs64 { low, pitch, offset, dwell, padding: 0 }, precision, arithmetic)
}

fn of_points(header: &'static str, points: PointArgs64, precision: Precision, arithmetic: Arithmetic) -> DeviceTwin {
    let twin = match precision {
        Precision::F32 => {
            let PointArgs64 { low, pitch, offset, dwell, padding } = points;
            let [low, pitch] = [low, pitch].map(|numbers| numbers.map(|number| number as f32));
            DeviceTwin::built_in(header, &PointArgs32 { low, pitch, offset: offset as f32, dwell, padding })
        }
        Precision::F64 => DeviceTwin::built_in(header, &points),
    };
    DeviceTwin { precision, arithmetic, ..twin }
}
