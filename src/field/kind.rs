//! The fields that there are: what the command line calls a workload.

use crate::field::digits::{cantor, carpet, diagonal, menger, simplex};
use crate::field::error::FieldError;
use crate::field::own;
use crate::field::own::{Job, Open};
use crate::field::start::Defaults;
use crate::field::{julibrot, kernel, mandelbrot, mandelbulb, mxm};

/// The list of built-in fields: name, module, dimensions. A new one is a file and a line here.
///
/// This is the only place where a number of dimensions becomes a type.
macro_rules! fields {
    ($($Variant:ident = $name:literal => $module:ident in [$($k:literal),+]),+ $(,)?) => {
        /// A field by its name: a built-in one, or one that the program has [registered](OwnField::register).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FieldKind {
            $(#[doc = concat!("`", $name, "`")] $Variant,)+
            /// One from outside the crate, by its number among those that were registered.
            Own(usize),
        }

        crate::registry::by_name! { FieldKind ("workload") = Self::all() }

        impl FieldKind {
            /// The built-in ones.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// Every one, in the order in which they are listed to people: the program's own come first.
            pub fn all() -> impl Iterator<Item = Self> {
                (0..own::registered().len()).map(Self::Own).chain(Self::ALL.iter().copied())
            }

            /// The name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ Self::Own(number) => own::registered()[number].name }
            }

            /// The numbers of dimensions it exists in.
            pub fn dims(self) -> &'static [usize] {
                match self { $(Self::$Variant => &[$($k),+],)+ Self::Own(number) => own::registered()[number].dims() }
            }

            /// One line for lists.
            pub fn about(self) -> &'static str {
                match self { $(Self::$Variant => $module::ABOUT,)+ Self::Own(number) => own::registered()[number].about }
            }

            /// What a bare run uses in `k` dimensions.
            pub fn defaults(self, k: usize) -> Defaults {
                match self { $(Self::$Variant => $module::defaults(k),)+ Self::Own(number) => (own::registered()[number].defaults)(k) }
            }

            /// Runs `job` in `k` dimensions.
            ///
            /// # Errors
            /// [`FieldError::Dimension`] if the field does not exist in `k` dimensions.
            pub fn dispatch<J: Job>(self, k: usize, job: J) -> Result<J::Output, FieldError> {
                match (self, k) {
                    $($((Self::$Variant, $k) => {
                        // A static, so that what it refers to is compiled in this crate and not once more by each user.
                        static OPEN: Open<$k> = $module::open;
                        Ok(job.run::<$k>(OPEN))
                    })+)+
                    (Self::Own(number), k) => own::registered()[number].dispatch(k, job),
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
    Kernel = "kernel" => kernel in [1, 2, 3, 4, 5, 6, 7, 8],
}
