//! The fields that there are: what the command line calls a workload.

use crate::field::digits::{cantor, carpet, diagonal, menger, simplex};
use crate::field::error::FieldError;
use crate::field::own::{self, Job, Open, OwnField, OwnNumber};
use crate::field::start::Defaults;
use crate::field::{cloud, formula, julibrot, kernel, mandelbrot, mandelbulb, mesh, mxm, stored};

/// The list of built-in fields: name, module, dimensions. A new one is a file and a line here.
///
/// This is the only place where a number of dimensions becomes a type.
macro_rules! fields {
    ($($Variant:ident = $name:literal => $module:ident in [$($k:literal),+]),+ $(,)?) => {
        /// A field by its name: a built-in one, or one that the program has [registered](FieldKind::register).
        ///
        /// ```
        /// use orthant::prelude::*;
        ///
        /// let kind: FieldKind = "mandelbulb".parse()?;
        /// assert_eq!((kind, kind.dims()), (FieldKind::Mandelbulb, &[3][..]));
        /// assert!("mandlebulb".parse::<FieldKind>().is_err());
        /// // A bare run of a dwell field has a cap.
        /// assert!(kind.defaults(3).dwell.is_some());
        /// # Ok::<(), orthant::UnknownName>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FieldKind {
            $(#[doc = concat!("`", $name, "`")] $Variant,)+
            /// One from outside the crate, by its number among those that were registered.
            Own(OwnNumber),
        }

        crate::registry::by_name! { FieldKind ("workload") = Self::all(), hints {} }

        impl FieldKind {
            /// The built-in ones.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// Every field, in the order of lists: the program's own come first.
            pub fn all() -> impl Iterator<Item = Self> {
                OwnNumber::all().map(Self::Own).chain(Self::ALL.iter().copied())
            }

            /// Makes fields known by their names until the process ends. Call it once, before any name is read.
            ///
            /// # Errors
            /// [`FieldError::Name`] if a name is empty or another field's; [`FieldError::Registered`] if it was done before.
            pub fn register(fields: Vec<OwnField>) -> Result<(), FieldError> {
                let mut names: Vec<&'static str> = Self::ALL.iter().map(|kind| kind.name()).collect();
                for field in &fields {
                    if field.name.is_empty() || names.contains(&field.name) {
                        return Err(FieldError::Name { name: field.name });
                    }
                    names.push(field.name);
                }
                own::keep(fields)
            }

            /// The name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ Self::Own(number) => number.field().name }
            }

            /// The numbers of dimensions it exists in.
            pub fn dims(self) -> &'static [usize] {
                match self { $(Self::$Variant => &[$($k),+],)+ Self::Own(number) => number.field().dims() }
            }

            /// One line for lists.
            pub fn about(self) -> &'static str {
                match self { $(Self::$Variant => $module::ABOUT,)+ Self::Own(number) => number.field().about }
            }

            /// What a bare run uses in `k` dimensions.
            pub fn defaults(self, k: usize) -> Defaults {
                match self { $(Self::$Variant => $module::defaults(k),)+ Self::Own(number) => (number.field().defaults)(k) }
            }

            /// Runs `job` in `k` dimensions.
            ///
            /// # Errors
            /// [`FieldError::Dimension`] if the field does not exist in `k` dimensions.
            pub fn dispatch<J: Job>(self, k: usize, job: J) -> Result<J::Output, FieldError> {
                match (self, k) {
                    $($((Self::$Variant, $k) => {
                        // A static, so that what it refers to is compiled in this crate and not once more by each user. Unit tests
                        // compile only what they reach (`compiled_here!`).
                        #[cfg(not(test))]
                        static OPEN: Open<$k> = $module::open;
                        #[cfg(test)]
                        const OPEN: Open<$k> = $module::open;
                        Ok(job.run::<$k>(OPEN))
                    })+)+
                    (Self::Own(number), k) => number.field().dispatch(k, job),
                    _ => Err(FieldError::Dimension { field: self.name(), k, dims: self.dims() }),
                }
            }
        }
    };
}

fields! {
    Mandelbrot = "mandelbrot" => mandelbrot in [2],
    Mandelbulb = "mandelbulb" => mandelbulb in [3],
    Julibrot = "julibrot" => julibrot in [4],
    Mxm = "mxm" => mxm in [4, 6],
    Cantor = "cantor" => cantor in [1, 2, 3, 4, 5, 6, 7, 8],
    Carpet = "carpet" => carpet in [1, 2, 3, 4, 5, 6, 7, 8],
    Menger = "menger" => menger in [1, 2, 3, 4, 5, 6, 7, 8],
    Simplex = "simplex" => simplex in [1, 2, 3, 4, 5, 6, 7, 8],
    Diagonal = "diagonal" => diagonal in [1, 2, 3, 4, 5, 6, 7, 8],
    Formula = "formula" => formula in [1, 2, 3, 4, 5, 6, 7, 8],
    Mesh = "mesh" => mesh in [3],
    Points = "points" => cloud in [2, 3, 4, 5, 6],
    Kernel = "kernel" => kernel in [1, 2, 3, 4, 5, 6, 7, 8],
    Array = "array" => stored in [1, 2, 3, 4, 5, 6, 7, 8],
}
