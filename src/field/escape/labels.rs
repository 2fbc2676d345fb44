//! Escape-time fields as fields: labels from the processor's vector unit, and the twin.

use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::escape::dispatch;
use crate::field::escape::enclosure::{certify, limits, numbers};
use crate::field::escape::orbit::{Orbit, Rounding};
use crate::field::escape::sampled::EscapeField;
use crate::field::labels::Labels;
use crate::field::options::Precision;
use crate::field::points;
use crate::field::twin::DeviceTwin;
use crate::geometry::Region;
use crate::rule::Verdict;
use crate::simd::Real;

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> Field<K> for EscapeField<K, V, O, T, A> {
    fn labels(&self) -> Labels {
        Labels::iterations(self.dwell)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn boundary_dimension(&self) -> f64 {
        self.dimension
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let precision = if size_of::<T>() == 4 { Precision::F32 } else { Precision::F64 };
        let twin = points::twin(O::TWIN, &self.domain, self.dwell, precision, A::ARITHMETIC);
        let (own, numbers) = match self.own {
            Precision::F32 => ("float", numbers::<f32, T>()),
            Precision::F64 => ("double", numbers::<f64, T>()),
        };
        let twin = twin.define("OWN", own);
        let twin = numbers.iter().fold(twin, |twin, (name, number)| twin.define(name, format!("{number:e}")));
        Some(twin.proves())
    }
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> Prove<K> for EscapeField<K, V, O, T, A> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        match self.own {
            Precision::F32 => dispatch::certified::<K, V, O, T, A, f32>(self, region),
            Precision::F64 => dispatch::certified::<K, V, O, T, A, f64>(self, region),
        }
    }
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> EscapeField<K, V, O, T, A> {
    /// What a certificate in N says of a region. No closures: those might not be compiled for the caller's instruction set.
    #[inline(always)]
    pub(super) fn certified<N: Real>(&self, region: &Region<K>) -> Verdict {
        match self.hull::<N>(region) {
            None => Verdict::Unknown,
            Some(hull) => certify(O::enclose(&hull), limits::<N>(T::UNIT), self.dwell),
        }
    }
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> Evaluate<K> for EscapeField<K, V, O, T, A> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        dispatch::evaluate(self, cells, labels.narrow());
    }
}

/// Builds an [`EscapeField`] in the precision and arithmetic of the options.
macro_rules! escape_field {
    ($Orbit:ty, $domain:expr, $options:expr, $dimension:expr) => {{
        use $crate::field::escape::orbit::{Fused, Plain};
        use $crate::field::escape::sampled::EscapeField;
        use $crate::field::options::{Arithmetic, Precision};
        let (domain, dwell) = ($domain, $options.dwell);
        let field: Box<dyn $crate::field::definition::Field<_>> = match ($options.precision, $options.arithmetic) {
            (Precision::F32, Arithmetic::Fused) => {
                Box::new(EscapeField::<_, _, $Orbit, f32, Fused>::new(domain, dwell, $dimension))
            }
            (Precision::F32, Arithmetic::Plain) => {
                Box::new(EscapeField::<_, _, $Orbit, f32, Plain>::new(domain, dwell, $dimension))
            }
            (Precision::F64, Arithmetic::Fused) => {
                Box::new(EscapeField::<_, _, $Orbit, f64, Fused>::new(domain, dwell, $dimension))
            }
            (Precision::F64, Arithmetic::Plain) => {
                Box::new(EscapeField::<_, _, $Orbit, f64, Plain>::new(domain, dwell, $dimension))
            }
        };
        field
    }};
}
pub(crate) use escape_field;
