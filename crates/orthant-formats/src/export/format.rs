//! The formats of one file, by their names.

use std::io::Write;

#[cfg(feature = "hdf5")]
use crate::export::vtkhdf;
use crate::export::{ExportError, htg, npy, nvdb, vti, vtu};
use orthant::CellType;
use orthant::registry;
use orthant::tree::{Parts, TreeSource};

registry! {
    /// A file format for other programs, by its file name extension.
    ///
    /// ```
    /// use orthant::CellType;
    /// use orthant_formats::export::ExportFormat;
    ///
    /// let format: ExportFormat = "vti".parse()?;
    /// assert!(format.check([64, 64, 64], CellType::U8).is_ok());
    /// // VTK's images have no four dimensions; NumPy's arrays have.
    /// assert!(format.check([8; 4], CellType::U8).is_err());
    /// assert!(ExportFormat::Npy.check([8; 4], CellType::U8).is_ok());
    /// # Ok::<(), orthant::UnknownName>(())
    /// ```
    pub enum ExportFormat("format") {
        /// NumPy's array.
        Npy = "npy",
        /// VTK's ImageData: cells.
        Vti = "vti",
        /// VTK's HyperTreeGrid: boxes cut in halves.
        Htg = "htg",
        /// VTK's UnstructuredGrid: regions as they are.
        Vtu = "vtu",
        /// VTK's HyperTreeGrid in HDF5, four dimensions as steps of time.
        VtkHdf = "vtkhdf",
        /// NanoVDB: tiles and blocks of 8^3, for renderers and GPUs.
        Nvdb = "nvdb",
    }
}

impl ExportFormat {
    /// Checks, before any work, that the format can hold a domain of this size and cells of this type.
    ///
    /// # Errors
    /// As `check` of the format.
    pub fn check<const K: usize>(self, size: [u32; K], kind: CellType) -> Result<(), ExportError> {
        match self {
            Self::Npy => Ok(()),
            Self::Vti => vti::check(size),
            Self::Htg => htg::check(size),
            Self::Vtu => vtu::check(size),
            Self::Nvdb => nvdb::check(size, kind),
            #[cfg(feature = "hdf5")]
            Self::VtkHdf => vtkhdf::check(size),
            #[cfg(not(feature = "hdf5"))]
            Self::VtkHdf => Err(ExportError::Feature { format: ".vtkhdf", feature: "hdf5" }),
        }
    }

    /// Writes a tree.
    ///
    /// # Errors
    /// As `write` of the format.
    pub fn write<const K: usize>(self, tree: &dyn Parts<K>, out: &mut dyn Write) -> Result<(), ExportError> {
        let boxes = TreeSource(tree);
        match self {
            Self::Npy => npy::write(&boxes, out),
            Self::Vti => vti::write(&boxes, out),
            Self::Htg => htg::write(&boxes, out),
            Self::Vtu => vtu::write(tree, out),
            Self::Nvdb => nvdb::write(&boxes, out),
            #[cfg(feature = "hdf5")]
            Self::VtkHdf => vtkhdf::write(&boxes, out),
            #[cfg(not(feature = "hdf5"))]
            Self::VtkHdf => self.check(tree.plan().domain().size(), tree.kind()),
        }
    }
}
