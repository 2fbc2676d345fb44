//! What a field kernel needs of a vector unit.

/// An instruction set that a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// One number at a time, on any processor.
    Portable,
}

impl Isa {
    /// Every instruction set, the widest first.
    pub const ALL: &'static [Self] = &[Self::Avx512, Self::Avx2, Self::Portable];

    /// True if this processor has it.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Avx512 => is_x86_feature_detected!("avx512f") && Self::Avx2.is_available(),
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Self::Portable => true,
        };
        #[cfg(not(target_arch = "x86_64"))]
        return self == Self::Portable;
    }

    /// The widest that this processor has.
    pub fn detect() -> Self {
        *Self::ALL.iter().find(|isa| isa.is_available()).expect("portable code runs everywhere")
    }

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2 + FMA",
            Self::Portable => "portable",
        }
    }
}

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A floating-point number: f32 or f64.
pub(crate) trait Real: Lanes<Real = Self> + Default + PartialOrd + Send + Sync + 'static {
    /// Its 512-bit vector.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Real = Self>;
    /// Its 256-bit vector.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Real = Self>;

    /// Below this a squared distance from an axis counts as none.
    const TINY: Self;
    /// The unit roundoff: by which share a rounded number may be off.
    const UNIT: f64;

    /// Rounds to this type.
    fn from_f64(x: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
    /// Rounds to this type.
    fn from_u32(x: u32) -> Self;
    /// A whole number that this type holds exactly.
    fn to_u32(self) -> u32;
    /// A number that carries `index` in its bits; only moved, never computed with.
    fn from_index(index: u32) -> Self;
    /// The index that [`from_index`](Self::from_index) put in.
    fn to_index(self) -> u32;
}

/// One number or a vector of them.
///
/// Types of a vector unit may only be used where the processor has it: inside functions compiled for that unit, which
/// are entered through [`Isa`].
#[allow(unsafe_code)]
pub(crate) trait Lanes:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    /// The type of a lane.
    type Real: Real;
    /// One truth value per lane.
    type Mask: Copy;
    /// The number of lanes.
    const N: usize;

    /// The same number in every lane.
    fn splat(x: Self::Real) -> Self;
    /// N numbers.
    ///
    /// # Safety
    /// `from` points to N numbers.
    unsafe fn load(from: *const Self::Real) -> Self;
    /// N numbers.
    ///
    /// # Safety
    /// `to` points to room for N numbers.
    unsafe fn store(self, to: *mut Self::Real);
    /// self·b + c, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// self·b − c, rounded once.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// c − self·b, rounded once.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// self < other; false where either is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// self <= other; false where either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// All lanes true.
    fn all() -> Self::Mask;
    /// Both true.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// A bit per lane, lane 0 the lowest.
    fn bits(mask: Self::Mask) -> u32;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The lanes whose bit is set in `keep`, moved together to the front; the others hold anything.
    fn compress(self, keep: u32) -> Self;
}
