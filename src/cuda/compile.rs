//! From a specialisation to machine code.

use super::cache::Key;
use super::nvrtc::Nvrtc;
use super::specialise::Specialisation;
use crate::backend::CudaError;

/// Options that every kernel is compiled with. Contraction is off: sums and products are fused where the source says so.
const OPTIONS: &[&str] = &["--std=c++17", "--fmad=false", "-lineinfo"];

/// What an image depends on.
pub(super) fn key(specialisation: &Specialisation, arch: &str, compiler: Nvrtc) -> Key {
    let version = format!("{} {:?}", env!("CARGO_PKG_VERSION"), compiler.version);
    let headers = specialisation.headers();
    let headers = headers.iter().flat_map(|&(name, text)| [name, text]);
    Key::new([&*version, arch, specialisation.source()].into_iter().chain(OPTIONS.iter().copied()).chain(headers))
}

/// Compiles a specialisation for an architecture; needs no GPU.
pub(super) fn compile(compiler: Nvrtc, specialisation: &Specialisation, arch: &str) -> Result<Vec<u8>, CudaError> {
    let headers = specialisation.headers();
    let relocatable = specialisation.is_dynamic().then_some("--relocatable-device-code=true");
    let options: Vec<&str> = OPTIONS.iter().copied().chain(relocatable).collect();
    compiler.compile(specialisation.entry, specialisation.source(), &headers, arch, &options)
}
