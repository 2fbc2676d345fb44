//! What a GPU is told, described once, in Rust.
//!
//! Kernels are compiled at run time, so the structs they take need not be written twice: `device_struct!` makes a Rust
//! struct and the C++ declaration with a `static_assert` against gaps, and the values travel as the bytes of the fields in
//! order. Nothing here needs CUDA.

use std::borrow::Cow;

use crate::escape::{Arithmetic, Precision};

/// A type that Rust and CUDA C++ share.
pub(crate) trait DeviceField {
    /// Bytes.
    const SIZE: usize;
    /// The C++ declaration of a field of this type.
    fn declare(name: &str) -> String;
    /// Appends the value's bytes.
    fn put(&self, bytes: &mut Vec<u8>);
}

macro_rules! device_field {
    ($($T:ty = $name:literal),+) => { $(
        impl DeviceField for $T {
            const SIZE: usize = size_of::<$T>();
            fn declare(name: &str) -> String { format!(concat!($name, " {}"), name) }
            fn put(&self, bytes: &mut Vec<u8>) { bytes.extend(self.to_ne_bytes()) }
        }
    )+ };
}
device_field!(u32 = "u32", u64 = "u64", f64 = "double");

impl<T: DeviceField, const N: usize> DeviceField for [T; N] {
    const SIZE: usize = N * T::SIZE;
    fn declare(name: &str) -> String {
        T::declare(&format!("{name}[{N}]"))
    }
    fn put(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(bytes));
    }
}

/// A struct that kernels take.
pub(crate) trait DeviceStruct {
    /// Its C++ declaration under `name`. The fields are those of [`bytes`](Self::bytes), in their order; an assertion on
    /// the size says that the compiler left no gaps between them.
    fn declaration(name: &str) -> String;
    /// Its fields in order, without gaps.
    fn bytes(&self) -> Vec<u8>;
}

/// Declares a struct for Rust and for kernels.
macro_rules! device_struct {
    ($(#[$doc:meta])* $vis:vis struct $Name:ident { $($(#[$field_doc:meta])* $field:ident: $T:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        $vis struct $Name { $($(#[$field_doc])* pub(crate) $field: $T),+ }

        impl $crate::device::DeviceStruct for $Name {
            fn declaration(name: &str) -> String {
                use $crate::device::DeviceField;
                let mut fields = String::new();
                let mut size = 0;
                $(
                    fields += &format!("    {};\n", <$T as DeviceField>::declare(stringify!($field)));
                    size += <$T as DeviceField>::SIZE;
                )+
                format!("struct {name} {{\n{fields}}};\nstatic_assert(sizeof({name}) == {size}, \"{name} has gaps\");\n")
            }
            fn bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::new();
                $($crate::device::DeviceField::put(&self.$field, &mut bytes);)+
                bytes
            }
        }
    };
}
pub(crate) use device_struct;

/// A workload on a GPU: a header that defines `u32 label(const FieldArgs&, const Coords&)` and what it needs.
///
/// The header is called by whole warps. It sees `DIM`, `Real`, `Coords` and the rounding functions of
/// `kernels/prelude.cuh`, and must return the labels of [`Workload::evaluate`](crate::workload::Workload::evaluate) to the
/// bit. A header that also defines `PROVES` and `bool prove(const FieldArgs&, const Region&, u32& outcome)` is asked for
/// proofs under `--explore full`: true if every cell of the region has the label `outcome`, or if two labels occur
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

/// What a curve needs on a GPU to decode the codes of one level; K ≤ 8 axes in the first places of eight.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceCurve<'a> {
    /// The twin's name among the kernels.
    pub header: &'static str,
    /// True if `sides` and `positions` are binary logarithms.
    pub binary: bool,
    /// True if there is one tree.
    pub single_tree: bool,
    /// Trees per axis.
    pub trees: [u32; 8],
    /// Regions of a tree per axis.
    pub sides: [u32; 8],
    /// Regions of a tree.
    pub positions: u64,
    /// Leading binary levels of a tree.
    pub leading: u32,
    /// The start state of every tree; may be empty.
    pub starts: &'a [u16],
}

device_struct! {
    /// Samples of cells: x_j = (c_j + offset)·pitch_j + low_j, and the dwell cap.
    pub(crate) struct SampleArgs {
        low: [f64; 8],
        pitch: [f64; 8],
        offset: f64,
        dwell: u32,
        padding: u32,
    }
}

/// `values` in the first places of eight.
pub(crate) fn padded<T: Copy + Default, const K: usize>(values: [T; K]) -> [T; 8] {
    let mut all = [T::default(); 8];
    all[..K].copy_from_slice(&values);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    device_struct! {
        struct Example { pointer: u64, count: u32, sides: [u32; 3] }
    }

    #[test]
    fn declarations_carry_the_layout() {
        let text = Example::declaration("Args");
        assert!(text.contains("    u64 pointer;\n    u32 count;\n    u32 sides[3];\n"), "{text}");
        assert!(text.contains("sizeof(Args) == 24"), "{text}");
        let bytes = Example { pointer: 1, count: 2, sides: [3, 4, 5] }.bytes();
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes[12..16], 3u32.to_ne_bytes());
    }
}
