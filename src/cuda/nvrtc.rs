//! NVRTC, the compiler: found at run time, beside a toolkit or in a Python wheel.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use cudarc::nvrtc::{result::NvrtcError, sys};

use super::driver::quietly;
use crate::backend::CudaError;

/// A compiler that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nvrtc {
    /// Its version: major, minor.
    pub version: (i32, i32),
    /// Whether it optimises little.
    quick: bool,
}

impl Nvrtc {
    /// Finds NVRTC in `folders`, or where the loader looks. A process loads it once.
    ///
    /// # Errors
    /// [`CudaError::NoNvrtc`].
    pub fn find(folders: &[PathBuf]) -> Result<Self, CudaError> {
        static FOUND: OnceLock<Option<Nvrtc>> = OnceLock::new();
        let found = *FOUND.get_or_init(|| {
            folders.iter().any(|folder| load(folder));
            quietly(|| {
                let (mut major, mut minor) = (0, 0);
                // SAFETY: opens the library, then writes two integers.
                let asked =
                    unsafe { sys::is_culib_present() && sys::nvrtcVersion(&mut major, &mut minor).result().is_ok() };
                asked.then_some(Self { version: (major, minor), quick: false })
            })
            .flatten()
        });
        match found {
            None => Err(CudaError::NoNvrtc { searched: folders.to_vec() }),
            // The loader may know an older one under the plain name, which the bindings try first.
            Some(Self { version: (major, minor), .. }) if major < 13 => Err(CudaError::OldNvrtc { major, minor }),
            Some(compiler) => Ok(compiler),
        }
    }

    /// The same compiler with the least optimisation, for tests that compile kernels and run none. It takes a third of the time and
    /// finds the same errors. Its kernels are slow.
    pub fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    /// Compiles `source` to machine code for `arch` (as in `sm_90`); `headers` are names and texts. For a virtual architecture (as in
    /// `compute_90`) NVRTC only checks the source; the image is empty.
    ///
    /// # Errors
    /// [`CudaError::Compile`] with the log.
    pub(super) fn compile(
        &self,
        name: &str,
        source: &str,
        headers: &[(&str, &str)],
        arch: &str,
        options: &[&str],
    ) -> Result<Vec<u8>, CudaError> {
        let failed = |log: String| CudaError::Compile { name: name.into(), arch: arch.into(), log };
        let text = |text: &str| CString::new(text).map_err(|_| failed("a source contains a NUL byte".into()));
        let (source, file) = (text(source)?, text(name)?);
        let names = headers.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>, _>>()?;
        let texts = headers.iter().map(|(_, header)| text(header)).collect::<Result<Vec<_>, _>>()?;
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
        let arch_option = format!("--gpu-architecture={arch}");
        let quick = self.quick.then_some("--Ofast-compile=max");
        // Ends before PTX, which would take longer than the check.
        let checked = arch.starts_with("compute_").then_some("--dlink-time-opt");
        let options = options.iter().copied().chain([&*arch_option]).chain(quick).chain(checked);
        let options = options.map(text).collect::<Result<Vec<_>, _>>()?;
        let option_pointers = pointers(&options);
        let mut program = Compilation(ptr::null_mut());
        let call = |result: sys::nvrtcResult| result.result().map_err(|NvrtcError(code)| failed(format!("{code:?}")));
        // SAFETY: all strings end in NUL and outlive the calls; the program is created before it is used, and the sizes
        // asked for are the sizes that are written.
        unsafe {
            call(sys::nvrtcCreateProgram(
                &mut program.0,
                source.as_ptr(),
                file.as_ptr(),
                headers.len() as i32,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            ))?;
            let compiled = sys::nvrtcCompileProgram(program.0, options.len() as i32, option_pointers.as_ptr());
            if compiled.result().is_err() {
                let mut size = 0;
                call(sys::nvrtcGetProgramLogSize(program.0, &mut size))?;
                let mut log: Vec<c_char> = vec![0; size.max(1)];
                call(sys::nvrtcGetProgramLog(program.0, log.as_mut_ptr()))?;
                return Err(failed(CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned()));
            }
            let mut size = 0;
            call(sys::nvrtcGetCUBINSize(program.0, &mut size))?;
            let mut image = vec![0u8; size];
            call(sys::nvrtcGetCUBIN(program.0, image.as_mut_ptr().cast()))?;
            Ok(image)
        }
    }
}

/// A program that is destroyed with its owner.
struct Compilation(sys::nvrtcProgram);

impl Drop for Compilation {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: created and not destroyed yet. A failure leaks a little memory, nothing else.
            let _ = unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
        }
    }
}

/// Loads NVRTC and its built-ins from `folder` and keeps them: the bindings then find them by name.
fn load(folder: &Path) -> bool {
    let open = |path: &Path| {
        // SAFETY: NVRTC's libraries have no initialisers that matter.
        unsafe { libloading::Library::new(path) }.map(std::mem::forget).is_ok()
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut builtins: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libnvrtc-builtins.so.13")))
        .collect();
    builtins.sort();
    // NVRTC opens its built-ins by name when it compiles; an absolute path to it is not enough.
    builtins.iter().for_each(|path| {
        open(path);
    });
    open(&folder.join("libnvrtc.so.13"))
}

/// Where NVRTC is looked for, in this order.
pub(super) fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folders.extend(variable("ORTHANT_NVRTC_DIR"));
    for toolkit in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).chain(["/usr/local/cuda".into()]) {
        folders.push(toolkit.join("lib64"));
        folders.push(toolkit.join("targets/x86_64-linux/lib"));
    }
    if let Some(lib) = variable("VIRTUAL_ENV").map(|environment| environment.join("lib")) {
        let pythons = std::fs::read_dir(lib).into_iter().flatten().flatten();
        folders.extend(pythons.map(|python| python.path().join("site-packages/nvidia/cu13/lib")));
    }
    folders
}
