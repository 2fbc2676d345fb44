//! What is there of CUDA on this machine, for `orthant doctor`.

use super::cache;
use super::device::{Device, DeviceOptions};
use super::driver::Driver;
use super::link;
use super::nvrtc::Nvrtc;
use crate::backend::CudaError;

/// What CUDA needs, one line each: what was found, or what is missing and how to mend it.
pub fn findings() -> Vec<(&'static str, Result<String, String>)> {
    let options = DeviceOptions::from_env(0);
    let dots = |(major, minor): (i32, i32)| format!("{major}.{minor}");
    let driver = Driver::find().map(|driver| format!("CUDA {}, GPUs: {}", dots(driver.version), driver.devices));
    let compiler = Nvrtc::find(&options.nvrtc).map(|compiler| format!("version {}", dots(compiler.version)));
    let device = driver.is_ok().then(|| Device::open(&options).map(|device| device.describe()));
    let cache = match &options.cache {
        None => Err("no folder for compiled kernels: set ORTHANT_CACHE_DIR, or every run compiles them again".into()),
        Some(folder) if cache::is_writable(folder) => Ok(folder.display().to_string()),
        Some(folder) => {
            Err(format!("{} cannot be written: set ORTHANT_CACHE_DIR to a folder that can", folder.display()))
        }
    };
    let runtime = link::find(options.device_runtime.as_deref(), &options.nvrtc).map(|library| library.0);
    let text = |found: Result<String, CudaError>| found.map_err(|error| error.to_string());
    let mut findings = vec![
        ("cuda driver", text(driver)),
        ("nvrtc", text(compiler)),
        ("device runtime", text(runtime)),
        ("kernel cache", cache),
    ];
    findings.extend(device.map(|device| ("gpu", text(device))));
    findings
}
