//! The built-in fields: what the command line calls a workload.

use crate::field::definition::Field;
use crate::field::digits::{cantor, carpet, diagonal, menger, simplex};
use crate::field::error::FieldError;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::{julibrot, kernel, mandelbrot, mandelbulb, mxm};
use crate::geometry::Domain;

/// Builds a built-in field over a domain.
pub type Open<const K: usize> = fn(&Domain<K>, &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError>;

/// Something to do with a field once its dimension is a type: a closure that is generic over K.
pub trait Job {
    /// What comes of it.
    type Output;
    /// Does it in K dimensions; `open` builds the field.
    fn run<const K: usize>(self, open: Open<K>) -> Self::Output;
}

/// The list of built-in fields: name, module, dimensions. A new one is a file and a line here.
///
/// This is the only place where a number of dimensions becomes a type.
macro_rules! fields {
    ($($Variant:ident = $name:literal => $module:ident in [$($k:literal),+]),+ $(,)?) => {
        crate::registry::registry! {
            /// A built-in field.
            pub enum FieldKind("workload") { $(#[doc = concat!("`", $name, "`")] $Variant = $name),+ }
        }

        impl FieldKind {
            /// The numbers of dimensions it exists in.
            pub const fn dims(self) -> &'static [usize] {
                match self { $(Self::$Variant => &[$($k),+]),+ }
            }

            /// One line for lists.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$Variant => $module::ABOUT),+ }
            }

            /// What a bare run uses in `k` dimensions.
            pub fn defaults(self, k: usize) -> Defaults {
                match self { $(Self::$Variant => $module::defaults(k)),+ }
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
