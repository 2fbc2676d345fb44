//! Linking kernels that launch kernels with CUDA's device runtime, by the driver's own linker.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr;

use cudarc::driver::sys;

use super::driver::refused;
use crate::backend::CudaError;

const LIBRARY: &str = "libcudadevrt.a";

/// Where CUDA's device runtime library, `libcudadevrt.a`, is, and its bytes: the file itself (`ORTHANT_CUDADEVRT`), or in
/// one of `folders`.
///
/// # Errors
/// [`CudaError::NoDeviceRuntime`].
pub(super) fn find(file: Option<&Path>, folders: &[PathBuf]) -> Result<(String, Vec<u8>), CudaError> {
    let candidates = file.map(Path::to_path_buf).into_iter().chain(folders.iter().map(|folder| folder.join(LIBRARY)));
    let candidates: Vec<PathBuf> = candidates.collect();
    let found = candidates.iter().find_map(|path| Some((path.display().to_string(), std::fs::read(path).ok()?)));
    found.ok_or(CudaError::NoDeviceRuntime { searched: candidates })
}

/// A link under way.
struct LinkState(sys::CUlinkState);

impl Drop for LinkState {
    fn drop(&mut self) {
        // SAFETY: created and not destroyed yet. A failure leaks a little memory, nothing else.
        let _ = unsafe { sys::cuLinkDestroy(self.0) };
    }
}

/// Links a relocatable image with the device runtime; needs a current context.
///
/// # Errors
/// [`CudaError::Call`].
pub(super) fn link(image: &[u8], runtime: &[u8]) -> Result<Vec<u8>, CudaError> {
    let call = |result: sys::CUresult| result.result().map_err(|e| refused("linking with CUDA's device runtime", e));
    let mut state = LinkState(ptr::null_mut());
    // SAFETY: the inputs outlive the calls that read them; the result belongs to the state and is copied before that goes.
    unsafe {
        call(sys::cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut state.0))?;
        for (kind, data, name) in [
            (sys::CUjitInputType::CU_JIT_INPUT_CUBIN, image, c"kernel"),
            (sys::CUjitInputType::CU_JIT_INPUT_LIBRARY, runtime, c"libcudadevrt"),
        ] {
            let bytes = data.as_ptr().cast_mut().cast::<c_void>();
            let add = sys::cuLinkAddData_v2;
            call(add(state.0, kind, bytes, data.len(), name.as_ptr(), 0, ptr::null_mut(), ptr::null_mut()))?;
        }
        let (mut linked, mut size) = (ptr::null_mut(), 0);
        call(sys::cuLinkComplete(state.0, &mut linked, &mut size))?;
        Ok(std::slice::from_raw_parts(linked.cast::<u8>(), size).to_vec())
    }
}
