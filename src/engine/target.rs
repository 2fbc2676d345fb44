//! The backends that there are, and an open one before its dimension is a type.

use crate::backend::{Backend, Balanced, Balances, Balancing, DeviceFacts, Error, Fleet, Place};
use crate::cpu::Cpu;
use crate::cuda;
use crate::dimension::compiled_here;

/// The list of backends: name, type, and how one is opened by its number. A new one is a folder and a line here.
macro_rules! backends {
    ($($(#[$doc:meta])* $Variant:ident = $name:literal => $T:ty, $open:expr, $count:expr);+ $(;)?) => {
        crate::registry::registry! {
            /// Where plans are carried out.
            pub enum BackendKind("backend") { $($(#[$doc])* $Variant = $name),+ }
        }

        /// An open backend, the same type for any number of dimensions. [`of`](Self::of) gives the backend in K
        /// dimensions.
        ///
        /// ```
        /// use orthant::prelude::*;
        ///
        /// let cpu = Target::open(BackendKind::Cpu, 0)?;
        /// assert_eq!((cpu.kind(), cpu.name(), cpu.device()), (BackendKind::Cpu, "cpu", None));
        /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
        /// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
        /// let found = Run::new(&plan, &left).on(&cpu).start()?;
        /// assert_eq!(found.totals().filled, 4);
        /// # Ok::<(), orthant::Error>(())
        /// ```
        #[derive(Debug)]
        pub struct Target(Opened);

        #[derive(Debug)]
        enum Opened { $($Variant(Box<Fleet<$T>>)),+ }

        impl Target {
            /// Opens a backend; `ordinal` is the device's number, where there are several.
            ///
            /// # Errors
            /// [`Error::Cuda`] says what is missing and how to mend it.
            pub fn open(kind: BackendKind, ordinal: usize) -> Result<Self, Error> {
                Self::open_several(kind, &[ordinal])
            }

            /// Opens several devices as one backend, which share the work of every run: [`PIECES`](crate::backend::PIECES) pieces
            /// each, if level 0 has so many regions ([`Scheme::with_roots`](crate::geometry::Scheme::with_roots) sees to it).
            ///
            /// ```
            /// use orthant::prelude::*;
            ///
            /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(8, 2, 4)).build()?;
            /// let left = CellField::new(1, |[x, _]| u32::from(x < 40));
            /// // As on two GPUs, which may be no two processors.
            /// let two = Target::open_several(BackendKind::Cpu, &[0, 1])?;
            /// let found = Run::new(&plan, &left).on(&two).start()?;
            /// assert_eq!(found.array(), run(&plan, &left)?.array());
            /// # Ok::<(), orthant::Error>(())
            /// ```
            ///
            /// # Errors
            /// As [`open`](Self::open), of the first that cannot be had.
            ///
            /// # Panics
            /// If there is no number.
            pub fn open_several(kind: BackendKind, ordinals: &[usize]) -> Result<Self, Error> {
                match kind { $(BackendKind::$Variant => {
                    let open: fn(usize) -> Result<$T, Error> = $open;
                    let members = ordinals.iter().map(|&ordinal| open(ordinal)).collect::<Result<Vec<_>, _>>()?;
                    Ok(Self(Opened::$Variant(Box::new(Fleet::of(members)?))))
                }),+ }
            }

            /// How many devices of a kind there are.
            ///
            /// # Errors
            /// As [`open`](Self::open).
            pub fn count(kind: BackendKind) -> Result<usize, Error> {
                match kind { $(BackendKind::$Variant => {
                    let count: fn() -> Result<usize, Error> = $count;
                    count()
                }),+ }
            }

            /// How many devices it has.
            pub fn devices(&self) -> usize {
                match &self.0 { $(Opened::$Variant(backend) => backend.len()),+ }
            }

            /// Which it is.
            pub fn kind(&self) -> BackendKind {
                match &self.0 { $(Opened::$Variant(_) => BackendKind::$Variant),+ }
            }

            /// The backend in K dimensions.
            ///
            /// # Panics
            /// If K is not between 1 and [`MAX_DIM`](crate::MAX_DIM).
            pub fn of<const K: usize>(&self) -> &dyn Backend<K> {
                (of().0)(&self.0)
            }

            fn place(&self) -> &dyn Place {
                match &self.0 { $(Opened::$Variant(backend) => &**backend),+ }
            }

            fn balances(&self) -> &dyn Balances {
                match &self.0 { $(Opened::$Variant(backend) => &**backend),+ }
            }
        }

        impl<const K: usize> Of<K> {
            const HERE: Self = Self(|opened| match opened { $(Opened::$Variant(backend) => &**backend),+ });
        }
    };
}

struct Of<const K: usize>(fn(&Opened) -> &dyn Backend<K>);

compiled_here!(fn of -> Of);

backends! {
    /// The processor, always there.
    Cpu = "cpu" => Cpu, |_| Ok(Cpu), || Ok(1);
    /// A GPU, through CUDA.
    Cuda = "cuda" => cuda::Device, |ordinal| Ok(cuda::Device::open(&cuda::DeviceOptions::from_env(ordinal))?),
        || Ok(cuda::Device::count()?);
}

impl Target {
    /// The processor.
    pub fn cpu() -> Self {
        Self(Opened::Cpu(Box::new(Fleet::one(Cpu))))
    }

    /// Its name, as in [`BackendKind`].
    pub fn name(&self) -> &'static str {
        self.place().name()
    }

    /// The device in words; None for the CPU.
    pub fn device(&self) -> Option<&str> {
        self.place().device()
    }

    /// Multiprocessors of a GPU, and the threads that each keeps in flight; None for the CPU.
    pub fn multiprocessors(&self) -> Option<[u32; 2]> {
        self.place().multiprocessors()
    }

    /// Lets a balancer do the units of items, again and again, and checks that each unit was done.
    ///
    /// # Errors
    /// [`Error::Balancer`] of one that is not here or not for these items; [`Error::DeviceMemory`], [`Error::Cuda`],
    /// [`Error::Interrupted`].
    pub fn balance(&self, asked: &Balancing<'_>) -> Result<Balanced, Error> {
        self.balances().balance(asked)
    }

    /// Everything about a GPU, for a record; None for the CPU.
    pub fn facts(&self) -> Option<DeviceFacts> {
        self.place().facts()
    }
}
