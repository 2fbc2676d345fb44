//! What is done with a file that a fuzzer made: it is refused with a message, or all of it is read, and what is read in two ways is the
//! same. The library's own tests do it, too, with what this crate starts from.

mod array;
mod bundle;
#[path = "formula.rs"]
mod formulas;
#[path = "mesh.rs"]
mod meshes;
mod place;
#[path = "points.rs"]
mod scattered;
mod tree;

use array::{laid_out, read};

pub use bundle::pack;
pub use place::{PLACE, put};
pub use tree::tree;

/// What is done with an input.
pub type Check = fn(&[u8]);

/// Every format, by the name of its target.
pub const ALL: &[(&str, Check)] = &[
    ("npy", npy),
    ("npz", npz),
    ("nifti", nifti),
    ("nrrd", nrrd),
    ("metaimage", metaimage),
    ("tiff", tiff),
    ("hdf5", hdf5),
    ("zarr", zarr),
    ("zarr_zip", zarr_zip),
    ("raw", raw),
    ("tree", tree),
    ("mesh", mesh),
    ("formula", formula),
    ("points", points),
];

/// An array of NumPy.
pub fn npy(bytes: &[u8]) {
    read(&put("a.npy", bytes), None);
}

/// An archive of NumPy: its only member, and the one that is called `a`.
pub fn npz(bytes: &[u8]) {
    let path = put("a.npz", bytes);
    read(&path, None);
    read(&path, Some("a"));
}

/// A NIfTI file, packed or not, and a header without its cells, which lie beside.
pub fn nifti(bytes: &[u8]) {
    put("a.img", &bytes[bytes.len().min(352)..]);
    for name in ["a.nii", "a.nii.gz", "a.hdr"] {
        read(&put(name, bytes), None);
    }
}

/// An NRRD file, or a header whose cells lie in `a.raw`.
pub fn nrrd(bytes: &[u8]) {
    put("a.raw", &bytes[bytes.len() / 2..]);
    for name in ["a.nrrd", "a.nhdr"] {
        read(&put(name, bytes), None);
    }
}

/// A MetaImage, or a header whose cells lie in `a.raw`.
pub fn metaimage(bytes: &[u8]) {
    put("a.raw", &bytes[bytes.len() / 2..]);
    for name in ["a.mha", "a.mhd"] {
        read(&put(name, bytes), None);
    }
}

/// A TIFF.
pub fn tiff(bytes: &[u8]) {
    read(&put("a.tif", bytes), None);
}

/// An HDF5 file: its only data set, and the one that is called `cells`.
pub fn hdf5(bytes: &[u8]) {
    let path = put("a.h5", bytes);
    read(&path, None);
    read(&path, Some("/cells"));
}

/// A folder of Zarr of either version.
pub fn zarr(bytes: &[u8]) {
    if let Some(folder) = bundle::unpack("a.zarr", bytes) {
        read(&folder, None);
        read(&folder, Some("/0"));
    }
}

/// Zarr in a zip.
pub fn zarr_zip(bytes: &[u8]) {
    read(&put("a.zarr.zip", bytes), None);
}

/// A mesh of any format.
pub fn mesh(bytes: &[u8]) {
    meshes::read(bytes);
}

/// Points of any format.
pub fn points(bytes: &[u8]) {
    scattered::read(bytes);
}

/// A file of cells alone, after how they lie in it.
pub fn raw(bytes: &[u8]) {
    laid_out(bytes);
}

/// The text of a formula, or a model.
pub fn formula(bytes: &[u8]) {
    formulas::read(bytes);
}
