//! What fuzz targets do with the bytes that they are given. In their builds checksums are not compared (`CHECKSUMS` in the library): a fuzzer
//! does not find them, and whoever means harm writes the right ones.

pub mod formats;

pub use formats::{formula, hdf5, mesh, metaimage, nifti, npy, npz, nrrd, points, raw, tiff, tree, zarr, zarr_zip};

/// Rows of `bench`.
pub fn rows(bytes: &[u8]) {
    let _ = orthant_cli::fuzzing::report(&formats::put("a.jsonl", bytes));
}

/// A sweep of `bench`.
pub fn sweep(bytes: &[u8]) {
    let _ = orthant_cli::fuzzing::sweep(&formats::put("a.toml", bytes));
}
