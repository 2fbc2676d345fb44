//! A field on a GPU: its device twin.

use std::borrow::Cow;

use crate::abi::DeviceStruct;
use crate::field::options::{Arithmetic, Precision};

/// A field on a GPU: a header that defines `u32 label(const FieldArgs&, const Coords&)` and what it needs.
///
/// The header is called by whole warps. It sees `DIM`, `Real`, `Coords` and the rounding functions of
/// `kernels/prelude.cuh`, and must return the labels of [`Field::evaluate`](crate::field::Field::evaluate) to the
/// bit. A header that also defines `PROVES` and `bool prove(const FieldArgs&, const Region&, u32& outcome)` is asked for
/// proofs under the rule `full`: true if every cell of the region has the label `outcome`, or if two labels occur
/// (`MIXED`).
#[derive(Debug, Clone)]
pub struct DeviceTwin {
    /// The header's name among the kernels.
    pub header: &'static str,
    /// The type of iterated numbers.
    pub precision: Precision,
    /// How products and sums are rounded.
    pub arithmetic: Arithmetic,
    /// Constants: name and value.
    pub defines: Vec<(&'static str, String)>,
    /// The declaration of `FieldArgs`.
    pub declaration: String,
    /// The bytes of `FieldArgs`.
    pub args: Vec<u8>,
    /// Arrays that live on the device; their addresses are written into `args`.
    pub arrays: Vec<DeviceArray>,
    /// A source of the user's own, which the header includes as `USER_SOURCE`.
    pub user_source: Option<Cow<'static, str>>,
}

/// An array on the device and the place of its address in `FieldArgs`.
#[derive(Debug, Clone)]
pub struct DeviceArray {
    /// Where in `FieldArgs` its address belongs.
    pub offset: usize,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl DeviceTwin {
    /// The twin in `header` with arguments `args`.
    pub(crate) fn new<A: DeviceStruct>(header: &'static str, args: &A) -> Self {
        Self {
            header,
            precision: Precision::F32,
            arithmetic: Arithmetic::Fused,
            defines: Vec::new(),
            declaration: A::declaration("FieldArgs"),
            args: args.bytes(),
            arrays: Vec::new(),
            user_source: None,
        }
    }

    /// With a constant that the header sees.
    pub(crate) fn define(mut self, name: &'static str, value: impl ToString) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }
}
