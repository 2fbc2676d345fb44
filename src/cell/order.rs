//! The order of indices and of bytes in which an array lies in memory or in a file.

use crate::registry::registry;

registry! { closed
    /// Which index of an array is the fastest in memory.
    ///
    /// ```
    /// use orthant::IndexOrder;
    ///
    /// assert_eq!("fortran".parse(), Ok(IndexOrder::Fortran));
    /// ```
    pub enum IndexOrder("order") {
        /// The last, which is axis 0.
        C = "c",
        /// The first, which is the last axis.
        Fortran = "fortran",
    }
}

registry! { closed
    /// Which byte of a number comes first.
    pub enum Endian("endian") {
        /// The lowest.
        Little = "little",
        /// The highest.
        Big = "big",
    }
}

impl Endian {
    /// This machine's.
    pub const HERE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}
