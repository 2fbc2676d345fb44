//! A field on a GPU: its device twin.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use bytemuck::{Pod, bytes_of, cast_slice};

#[cfg(feature = "cuda")]
use crate::abi::DeviceMember;
use crate::abi::DeviceStruct;
use crate::bytes::Bytes;
use crate::field::device_points::DevicePoints;
use crate::field::options::{Arithmetic, Precision};
use crate::memory::{Refused, reserve};

/// The name under which a source from outside the crate is compiled.
pub(crate) const USER_SOURCE: &str = "user_source.cuh";

/// The twin of a field on a GPU: a CUDA header that defines what the field's traits define on the CPU.
///
/// The text of the header is compiled with the kernels. It defines
///
/// ```cuda
/// DEVICE Label label(const FieldArgs& args, const Coords& cell);
/// ```
///
/// which returns the label of a cell. `cell[j]` is the coordinate on axis j of `DIM`, and `Label` is the field's
/// [type](crate::field::Labels::kind). The label has to be that of [`Evaluate`](crate::field::Evaluate), to the bit.
///
/// Kernels call `label` with any cell of the domain. Whole warps call it, except where a balancer settles regions: there some
/// lanes of a warp have no cell. A `label` that synchronises begins with `const u32 together = LABEL_LANES;` and calls
/// `__syncwarp(together)`.
///
/// A header of a field that [proves](Self::proves) also defines
///
/// ```cuda
/// DEVICE Verdict prove(const FieldArgs& args, const Region& region, Value& value);
/// ```
///
/// which returns `UNKNOWN`, `MIXED`, or `UNIFORM` with the word of the label in `value`. `region.corner[j]` and
/// `region.extent[j]` are in cells. A single lane may call `prove`, so it must not synchronise.
///
/// `kernels/prelude.cuh` says what else the header may use: integers by their width (`u32`, `i64`, ..), `DEVICE`, and products
/// and sums with a fixed rounding (`mul`, `add`, `fma_once`, `root`, `quotient`), which the compiler does not contract. The macro
/// `ORTHANT_TWIN_API` holds [`API`](Self::API). Choose names that `kernels/` does not have: `Body`, `owner` and `least`, for
/// example, are taken.
///
/// [`device_struct!`](crate::device_struct) declares `FieldArgs` in Rust, once for both sides. A member of type `u64` may be the
/// address of an [array](Self::array).
///
/// ```
/// use orthant::abi::DeviceStruct;
/// use orthant::field::DeviceTwin;
/// orthant::device_struct! {
///     struct Ball { centre: [f32; 3], radius: f32 }
/// }
/// let header = "DEVICE Label label(const FieldArgs& args, const Coords& cell) { return float(cell[0]) - args.radius; }";
/// let ball = Ball { centre: [0.5; 3], radius: 0.25 };
/// let twin = DeviceTwin::new(DeviceTwin::API, header, &ball);
/// // The kernels see the same bytes: three numbers, and one behind them.
/// assert_eq!(Ball::MEMBERS, [("centre", 0, 12), ("radius", 12, 4)]);
/// assert_eq!(ball.bytes()[12..], 0.25f32.to_ne_bytes());
/// ```
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
#[derive(Debug, Clone)]
pub struct DeviceTwin {
    /// The version of this interface that the header was written for.
    pub(crate) api: u32,
    /// The header's name among the kernels.
    pub(crate) header: &'static str,
    /// The type of iterated numbers.
    pub(crate) precision: Precision,
    /// How products and sums are rounded.
    pub(crate) arithmetic: Arithmetic,
    /// Constants: name and value.
    pub(crate) defines: Vec<(&'static str, String)>,
    /// The declaration of `FieldArgs`.
    pub(crate) declaration: String,
    /// Name, offset and bytes of the members of `FieldArgs`.
    pub(crate) members: &'static [(&'static str, usize, usize)],
    /// The bytes of `FieldArgs`.
    pub(crate) args: Vec<u8>,
    /// Arrays that live on the device; their addresses are written into `args`.
    pub(crate) arrays: Vec<DeviceArray>,
    /// What it needs to keep what its proofs find out of regions, if they do.
    pub(crate) forest: Option<ForestNeed>,
    /// Why it cannot be used, if it cannot.
    pub(crate) refused: Option<TwinRefusal>,
    /// A source from outside the crate, as `USER_SOURCE`.
    pub(crate) user_source: Option<Cow<'static, str>>,
    /// It is an array, of whose regions a device makes a pyramid before it divides them.
    pub(crate) surveyed: bool,
    /// Its array or its points lie on the device, and others may be writing them.
    pub(crate) lent: bool,
    /// Points that a device sorts into cells, whose places it writes into `args`.
    pub(crate) points: Option<DevicePoints>,
}

/// Why no GPU can take a twin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TwinRefusal {
    /// There is no memory for the copy of an array.
    #[error("there is no memory for a copy of its arrays, which takes {}", Bytes(*bytes))]
    Memory {
        /// Bytes needed.
        bytes: u128,
    },
    /// A long formula that needs many values at once.
    #[error(
        "it has {steps} steps and needs {values} values at once, and on a GPU a formula of more than {MOST_LINES} steps may need {MOST_SLOTS}"
    )]
    Formula {
        /// The operations of the formula.
        steps: usize,
        /// How many of their results are needed at the same time.
        values: usize,
    },
}

/// The most steps of a formula whose values are known to the compiler one by one.
pub(crate) const MOST_LINES: usize = 1000;

/// The most values that a longer formula may need at once. A GPU keeps room for those of every thread that it can have: bounds
/// of 256 values of f64 are 4 KiB a thread, and a GiB on a large GPU.
pub(crate) const MOST_SLOTS: usize = 256;

/// An array on the device and the place of its address in `FieldArgs`.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
#[derive(Debug, Clone)]
pub(crate) struct DeviceArray {
    /// Where in `FieldArgs` its address belongs.
    pub(crate) offset: usize,
    /// Its content, of which others may have the same copy.
    pub(crate) content: Arc<dyn DeviceContent>,
}

/// What a field needs whose proofs keep a shorter tape for each region that stays open (`kernels/fields/formula_forest.cuh`).
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForestNeed {
    /// Words of the whole tape.
    pub(crate) words: usize,
    /// Bytes that a block needs to shorten it.
    pub(crate) row: usize,
}

/// What an array on the device holds.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
pub(crate) trait DeviceContent: Debug + Send + Sync {
    /// Its bytes, in as many pieces as the host has.
    fn pieces(&self) -> Box<dyn Iterator<Item = &[u8]> + '_>;
}

impl<T: Pod + Debug + Send + Sync> DeviceContent for Vec<T> {
    fn pieces(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        Box::new(std::iter::once(cast_slice(self)))
    }
}

impl DeviceTwin {
    /// The version of the interface of headers. It grows when headers for the version before would be wrong.
    pub const API: u32 = 1;

    /// The twin with the header `source`, written for version `api` of the interface, and the arguments `args`.
    pub fn new<A: DeviceStruct>(api: u32, source: impl Into<Cow<'static, str>>, args: &A) -> Self {
        Self { api, user_source: Some(source.into()), ..Self::built_in(USER_SOURCE, args) }
    }

    /// Says that the header defines `prove`.
    #[must_use]
    pub fn proves(self) -> Self {
        self.define("PROVES", 1)
    }

    /// Says that whole warps call `prove`, and every lane of a warp with the same region, so that it may synchronise.
    /// Otherwise a single lane may call it.
    #[must_use]
    pub fn by_warps(self) -> Self {
        self.define("PROVES_BY_WARPS", 1)
    }

    /// Says that no verdict is ever unknown, and that of a region follows from those of its parts, whose labels are compared by their
    /// words: several threads then share a proof.
    pub(crate) fn proofs_add_up(self) -> Self {
        self.define("PROOFS_ADD_UP", 1)
    }

    /// Says that it is an array, whose proofs are looked up in what a device makes of it (kernels/strategies/bottom_up.cu).
    pub(crate) fn surveyed(self) -> Self {
        Self { surveyed: true, ..self.proves() }
    }

    /// Says that its array or its points lie on the device, and are somebody else's.
    pub(crate) fn lent(self) -> Self {
        Self { lent: true, ..self }
    }

    /// True if several threads can share a proof.
    #[cfg(feature = "cuda")]
    pub(crate) fn shares_proofs(&self) -> bool {
        self.defines.iter().any(|(name, _)| *name == "PROOFS_ADD_UP")
    }

    /// Says that the header defines `prove_by_block`, whose proofs keep what they find out of regions. The member `forest` of the
    /// arguments becomes an address; it is 0 where there is no forest.
    pub(crate) fn with_forest(self, words: usize, row: usize) -> Self {
        Self { forest: Some(ForestNeed { words, row }), ..self.define("PROVES_BY_BLOCKS", 1) }
    }

    /// True if a proof takes a warp.
    #[doc(hidden)]
    pub fn proves_by_warps(&self) -> bool {
        self.defines.iter().any(|(name, _)| *name == "PROVES_BY_WARPS")
    }

    /// Why no GPU can take it; None if nothing is in the way.
    pub fn refusal(&self) -> Option<&TwinRefusal> {
        self.refused.as_ref()
    }

    /// The twin as one that cannot be used. The first reason counts.
    pub(crate) fn refuse(mut self, refusal: TwinRefusal) -> Self {
        self.refused.get_or_insert(refusal);
        self
    }

    /// The twin with what its header includes, or the reason that there is no such text.
    pub(crate) fn written(self, source: Result<String, TwinRefusal>) -> Self {
        match source {
            Ok(source) => Self { user_source: Some(source.into()), ..self },
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// True if the header defines `prove`.
    #[doc(hidden)]
    pub fn has_proofs(&self) -> bool {
        self.defines.iter().any(|(name, _)| *name == "PROVES")
    }

    /// Adds an array on the device. Its address is the member `member` of the arguments, a `u64`.
    ///
    /// # Panics
    /// If the arguments have no such member.
    #[must_use]
    pub fn array(self, member: &str, bytes: Vec<u8>) -> Self {
        self.with(member, Arc::new(bytes))
    }

    /// With an array on the device, whose address is the member `member`. It is not copied here.
    pub(crate) fn with(self, member: &str, content: Arc<dyn DeviceContent>) -> Self {
        let place = self.place(member);
        self.shared(place, content)
    }

    /// Where in the arguments the address `member` belongs.
    pub(crate) fn place(&self, member: &str) -> usize {
        match self.members.iter().find(|(name, _, _)| *name == member) {
            Some(&(_, offset, 8)) => offset,
            _ => panic!("the arguments have no member `{member}: u64` for an address"),
        }
    }

    /// The address that a member of the arguments is.
    #[cfg(feature = "cuda")]
    pub(crate) fn address(&self, member: &str) -> u64 {
        let place = self.place(member);
        u64::from_ne_bytes(self.args[place..place + 8].try_into().expect("eight bytes"))
    }

    /// Writes a member of the arguments.
    ///
    /// # Panics
    /// If there is no such member of as many bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn write<T: DeviceMember>(&mut self, member: &str, value: &T) {
        let mut bytes = Vec::with_capacity(T::SIZE);
        value.put(&mut bytes);
        let found = self.members.iter().find(|(name, _, size)| *name == member && *size == T::SIZE);
        let &(_, offset, size) = found.unwrap_or_else(|| panic!("the arguments have no member `{member}`"));
        self.args[offset..offset + size].copy_from_slice(&bytes);
    }

    /// With a copy of elements on the device, whose address belongs to `offset` in the arguments. Where there is no memory for
    /// the copy, whoever takes the twin hears it.
    pub(crate) fn copied<T: Pod>(mut self, offset: usize, elements: impl ExactSizeIterator<Item = T>) -> Self {
        let mut bytes = Vec::new();
        match reserve(&mut bytes, elements.len().saturating_mul(size_of::<T>())) {
            Ok(()) => elements.for_each(|element| bytes.extend_from_slice(bytes_of(&element))),
            Err(Refused { bytes }) => self = self.refuse(TwinRefusal::Memory { bytes }),
        }
        self.shared(offset, Arc::new(bytes))
    }

    /// With an array on the device, whose address belongs to `offset` in the arguments. Its bytes are not copied here.
    pub(crate) fn shared(mut self, offset: usize, content: Arc<dyn DeviceContent>) -> Self {
        self.arrays.push(DeviceArray { offset, content });
        self
    }

    /// The twin in `header`, one of the crate's own, with arguments `args`.
    pub(crate) fn built_in<A: DeviceStruct>(header: &'static str, args: &A) -> Self {
        Self {
            api: Self::API,
            header,
            precision: Precision::F32,
            arithmetic: Arithmetic::Fused,
            defines: Vec::new(),
            declaration: A::declaration("FieldArgs"),
            members: A::MEMBERS,
            args: args.bytes(),
            arrays: Vec::new(),
            forest: None,
            refused: None,
            user_source: None,
            surveyed: false,
            lent: false,
            points: None,
        }
    }

    /// With a constant that the header sees.
    pub(crate) fn define(mut self, name: &'static str, value: impl ToString) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }
}
