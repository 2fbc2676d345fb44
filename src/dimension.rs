//! What is generic over the number of dimensions, compiled once.
//!
//! Every crate compiles for itself the generic functions that it calls, and those that they call: each program that runs
//! anything would compile the engines of all backends once more. What is reached through a static is compiled with the
//! static.

/// The largest number of dimensions.
pub const MAX_DIM: usize = 8;

/// A number of dimensions that is known when the program runs, as a constant: `with_dimensions!(k, K => expression, else other)` is the
/// expression with `K` from 1 to [`MAX_DIM`], and the other one for all other numbers.
///
/// ```
/// let axes = |k: usize| orthant::with_dimensions!(k, K => Some([0u32; K].len()), else None);
/// assert_eq!((axes(3), axes(9)), (Some(3), None));
/// ```
#[macro_export]
macro_rules! with_dimensions {
    ($k:expr, $K:ident => $body:expr, else $other:expr) => {
        match $k {
            1 => {
                const $K: usize = 1;
                $body
            }
            2 => {
                const $K: usize = 2;
                $body
            }
            3 => {
                const $K: usize = 3;
                $body
            }
            4 => {
                const $K: usize = 4;
                $body
            }
            5 => {
                const $K: usize = 5;
                $body
            }
            6 => {
                const $K: usize = 6;
                $body
            }
            7 => {
                const $K: usize = 7;
                $body
            }
            8 => {
                const $K: usize = 8;
                $body
            }
            _ => $other,
        }
    };
}
pub(crate) use with_dimensions;

/// Numbers per axis in the first places of the most that there are, the others `beyond`: what is no more generic is compiled once.
#[cfg(feature = "cuda")]
pub(crate) fn widened<T: Copy, const K: usize>(values: [T; K], beyond: T) -> [T; MAX_DIM] {
    let mut all = [beyond; MAX_DIM];
    all[..K].copy_from_slice(&values);
    all
}

/// Declares `fn name<const K: usize>() -> &'static T<K>`: the value `T::<K>::HERE`, with all that it refers to compiled
/// in this crate. It panics where K is not a number of dimensions, except in unit tests.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_here {
    (fn $name:ident -> $T:ident) => {
        fn $name<const K: usize>() -> &'static $T<K> {
            // The compiler compiles a static whether or not anything reaches it. Other crates need all numbers of dimensions. No crate
            // depends on unit tests, so these compile only what they reach.
            #[cfg(test)]
            {
                &$T::<K>::HERE
            }
            #[cfg(not(test))]
            {
                static HERE: [&(dyn std::any::Any + Sync); $crate::MAX_DIM] = [
                    &$T::<1>::HERE,
                    &$T::<2>::HERE,
                    &$T::<3>::HERE,
                    &$T::<4>::HERE,
                    &$T::<5>::HERE,
                    &$T::<6>::HERE,
                    &$T::<7>::HERE,
                    &$T::<8>::HERE,
                ];
                let found = HERE.get(K.wrapping_sub(1)).and_then(|value| (*value as &dyn std::any::Any).downcast_ref());
                found.expect("between 1 and MAX_DIM dimensions are supported")
            }
        }
    };
}
pub use compiled_here;

/// A function that is generic over the number of dimensions, as what was compiled of it in this crate:
/// `here!(fn(&Tree<K>) -> u64 = Tree::<K>::summed)` is a pointer to `summed`. Other crates compile the call and no more.
#[doc(hidden)]
#[macro_export]
macro_rules! here {
    // A function: of a closure behind a pointer the compiler would also compile the call. A closure whose arguments are patterns stays one.
    (fn($($T:ty),* $(,)?) -> $R:ty = |$($argument:ident),*| $body:expr) => {{
        fn __called<const K: usize>($($argument: $T),*) -> $R {
            $body
        }
        $crate::dimension::here!(fn($($T),*) -> $R = __called::<K>)
    }};
    (fn($($T:ty),* $(,)?) -> $R:ty = $body:expr) => {{
        struct Here<const K: usize>(fn($($T),*) -> $R);
        impl<const K: usize> Here<K> {
            const HERE: Self = Self($body);
        }
        $crate::dimension::compiled_here!(fn here -> Here);
        here().0
    }};
}
pub use here;
