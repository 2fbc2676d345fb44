//! One GPU: its context, its compiled kernels, its streams and its memory.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cudarc::driver::{CudaContext, CudaEvent, CudaModule, CudaStream, DriverError, sys};
use cudarc::nvrtc::Ptx;

use super::cache::Cache;
use super::compile::{compile, key};
use super::driver::{Driver, quietly, refused, words};
use super::kernel::LoadedModule;
use super::link;
use super::nvrtc::{self, Nvrtc};
use super::pinned::Pinned;
use super::specialise::Specialisation;
use crate::backend::CudaError;
use crate::backend::DeviceFacts;
use crate::bytes::Bytes;

/// Blocks that may be in flight. When a run is told to end, those that have not begun still begin, a billion of them a
/// second or so.
const DRAINED: u64 = 1 << 28;

/// Which GPU, and where its kernels come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The GPU's number.
    pub ordinal: usize,
    /// Where compiled kernels are kept; None: nowhere.
    pub cache: Option<PathBuf>,
    /// Where NVRTC is looked for, beside the loader's own places.
    pub nvrtc: Vec<PathBuf>,
    /// CUDA's device runtime library; None: `libcudadevrt.a` where NVRTC is looked for.
    pub device_runtime: Option<PathBuf>,
}

impl DeviceOptions {
    /// From the environment: `ORTHANT_CACHE_DIR` (else the user's cache folder); `ORTHANT_NVRTC_DIR`, `CUDA_HOME`,
    /// `CUDA_PATH`, `VIRTUAL_ENV`; `ORTHANT_CUDADEVRT`.
    pub fn from_env(ordinal: usize) -> Self {
        let device_runtime = std::env::var_os("ORTHANT_CUDADEVRT").map(PathBuf::from);
        Self { ordinal, cache: Cache::default_folder(), nvrtc: nvrtc::folders(), device_runtime }
    }
}

/// An open GPU.
pub struct Device {
    pub(super) context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
    /// The stream of what must not wait for kernels.
    pub(super) signals: Arc<CudaStream>,
    /// Its name.
    name: String,
    capability: (i32, i32),
    driver: Driver,
    compiler: Nvrtc,
    cache: Cache,
    options: DeviceOptions,
    modules: Mutex<HashMap<u128, Arc<CudaModule>>>,
    /// Pinned memory for copies to the host, which takes longer to make than to fill.
    staging: Mutex<Vec<Pinned>>,
    max_grid: u64,
    multiprocessors: [u32; 2],
    /// How many threads give the GPU work, each by a `Device` of its own.
    ways: usize,
}

/// Pinned buffers that a device keeps: two for each of the threads that may read from it at the same time.
const STAGED: usize = 8;

/// Bytes of the smallest.
const LEAST_STAGED: usize = 1 << 16;

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name).field("capability", &self.capability).finish()
    }
}

impl Device {
    /// Pinned memory of at least so many bytes: the smallest that is kept and suffices.
    pub(super) fn staging(&self, bytes: usize) -> Result<Pinned, CudaError> {
        let mut kept = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = kept.iter().rposition(|pinned| pinned.len() >= bytes);
        let kept = fits.map(|place| kept.remove(place));
        // A size that the next, larger part of the same kind also fits into.
        kept.map_or_else(|| Pinned::new(&self.context, bytes.next_power_of_two().max(LEAST_STAGED)), Ok)
    }

    /// Takes it back, when no copy uses it any more. The largest stay.
    pub(super) fn keep_staging(&self, pinned: [Pinned; 2]) {
        let mut kept = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(pinned);
        kept.sort_by_key(|pinned| std::cmp::Reverse(pinned.len()));
        kept.truncate(STAGED);
    }

    /// How many GPUs there are.
    ///
    /// # Errors
    /// [`CudaError`] says what is missing and how to mend it.
    pub fn count() -> Result<usize, CudaError> {
        Ok(Driver::find()?.devices)
    }

    /// Opens a GPU.
    ///
    /// # Errors
    /// [`CudaError`] says what is missing and how to mend it.
    pub fn open(options: &DeviceOptions) -> Result<Self, CudaError> {
        let driver = Driver::find()?;
        if options.ordinal >= driver.devices {
            return Err(CudaError::DeviceOrdinal { ordinal: options.ordinal, count: driver.devices });
        }
        let compiler = Nvrtc::find(&options.nvrtc)?;
        let open = |error| CudaError::Unusable { what: "opening the GPU", text: words(&error) };
        let context = CudaContext::new(options.ordinal).map_err(open)?;
        // SAFETY: one thread drives the device; streams are ordered by hand, with events.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(open)?;
        let signals = context.new_stream().map_err(open)?;
        let attribute = |which| context.attribute(which).map_err(open);
        let max_grid = attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?;
        let multiprocessors = [
            attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
            attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)? as u32,
        ];
        Ok(Self {
            name: context.name().map_err(open)?,
            capability: context.compute_capability().map_err(open)?,
            stream,
            signals,
            context,
            driver,
            compiler,
            cache: Cache::new(options.cache.clone()),
            options: options.clone(),
            modules: Mutex::default(),
            staging: Mutex::default(),
            max_grid: (max_grid as u64).min(DRAINED),
            multiprocessors,
            ways: 1,
        })
    }

    /// Opens it a second time: with streams of its own, so that what two threads run there overlaps.
    pub(super) fn shared(&mut self) -> Result<Self, CudaError> {
        self.ways = 2;
        Ok(Self { ways: 2, ..Self::open(&self.options)? })
    }

    /// Its number.
    pub(super) fn ordinal(&self) -> usize {
        self.options.ordinal
    }

    /// Its name, as the driver says it.
    pub(super) fn product(&self) -> &str {
        &self.name
    }

    /// Its multiprocessors, and the threads that each keeps in flight.
    pub(super) fn processors(&self) -> [u32; 2] {
        self.multiprocessors
    }

    /// Name, capability, memory, driver and compiler in one line.
    pub fn describe(&self) -> String {
        let memory = match self.memory() {
            Ok((free, total)) => format!("{} of {} free", Bytes(free.into()), Bytes(total.into())),
            Err(error) => error.to_string(),
        };
        format!(
            "{} (sm_{}{}), {memory}, CUDA {}.{}, NVRTC {}.{}, {} kernels at once",
            self.name,
            self.capability.0,
            self.capability.1,
            self.driver.version.0,
            self.driver.version.1,
            self.compiler.version.0,
            self.compiler.version.1,
            self.concurrent_kernels(),
        )
    }

    /// Everything about it, for a record.
    pub(super) fn record(&self) -> DeviceFacts {
        let megahertz = |attribute| self.context.attribute(attribute).ok().map(|kilohertz| kilohertz as u64 / 1000);
        let version = |(major, minor)| format!("{major}.{minor}");
        // An old driver may lack the function, which panics in the bindings.
        let uuid = quietly(AssertUnwindSafe(|| self.context.uuid().ok())).flatten().map(|uuid| {
            let hex: String = uuid.bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect();
            format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
        });
        DeviceFacts {
            name: self.name.clone(),
            uuid,
            capability: version(self.capability),
            driver: version(self.driver.version),
            nvrtc: version(self.compiler.version),
            memory: self.memory().ok().map(|(_, total)| total),
            clock_mhz: megahertz(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            memory_clock_mhz: megahertz(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        }
    }

    /// The most kernels that one thread of the host lets run at once: its share of what was chosen, else of what the GPU runs.
    pub(super) fn kernels_at_once(&self, chosen: Option<u32>) -> usize {
        (chosen.map_or(self.concurrent_kernels(), |most| most as usize) / self.ways).max(1)
    }

    /// The most kernels that run at once (CUDA C++ programming guide, technical specifications per compute capability:
    /// resident grids per device). Measured on an H200: 128.
    pub(super) fn concurrent_kernels(&self) -> usize {
        match self.capability {
            (6, 1) => 32,
            (6, 2) | (7, 2) => 16,
            _ => 128,
        }
    }

    /// Bytes of its memory: free, total.
    ///
    /// # Errors
    /// If the driver refuses.
    pub(super) fn memory(&self) -> Result<(u64, u64), CudaError> {
        let (free, total) = self.context.mem_get_info().map_err(|e| refused("asking for free memory", e))?;
        Ok((free as u64, total as u64))
    }

    /// The most blocks in one launch, and of one run's launches in flight.
    pub(super) fn max_grid(&self) -> u64 {
        self.max_grid
    }

    /// The kernels of a specialisation, compiled if need be.
    pub(super) fn kernels(&self, specialisation: &Specialisation) -> Result<LoadedModule, CudaError> {
        let arch = format!("sm_{}{}", self.capability.0, self.capability.1);
        let key = key(specialisation, &arch, self.compiler);
        let hash = key.hash();
        let mut modules = self.modules.lock().expect("nobody panics holding it");
        let module = match modules.get(&hash) {
            Some(module) => module.clone(),
            None => {
                let make = || self.make(specialisation, &arch);
                let load = |image| self.context.load_module(Ptx::from_binary(image));
                let module = match load(self.cache.get(&key, make)?) {
                    Ok(module) => module,
                    // A kept image that this driver does not take: make it anew, once.
                    Err(_) => {
                        load(self.cache.renew(&key, make)?).map_err(|e| refused("loading a compiled kernel", e))?
                    }
                };
                modules.insert(hash, module.clone());
                module
            }
        };
        Ok(LoadedModule::new(module, specialisation.block))
    }

    /// Compiles a specialisation, and links it if its kernels launch kernels.
    fn make(&self, specialisation: &Specialisation, arch: &str) -> Result<Vec<u8>, CudaError> {
        let image = compile(self.compiler, specialisation, arch)?;
        if !specialisation.is_dynamic() {
            return Ok(image);
        }
        self.bind()?;
        let runtime = link::find(self.options.device_runtime.as_deref(), &self.options.nvrtc)?;
        link::link(&image, &runtime.1)
    }

    /// Makes it the device that this thread's calls go to, once at the start of a run: there may be several.
    pub(super) fn bind(&self) -> Result<(), CudaError> {
        self.context.bind_to_thread().map_err(|e| refused("binding the GPU's context", e))
    }

    /// Waits for everything in the stream, where that is not long; a run waits by its [watch](super::watch::Watch).
    pub(super) fn synchronise(&self, what: &'static str) -> Result<(), CudaError> {
        self.stream.synchronize().map_err(|e| refused(what, e))
    }

    /// True if everything in the stream is done.
    pub(super) fn is_idle(&self) -> Result<bool, DriverError> {
        // SAFETY: the stream is open.
        match unsafe { sys::cuStreamQuery(self.stream.cu_stream()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => result.result().map(|()| true),
        }
    }

    /// Waits for everything in all streams.
    pub(super) fn quiet(&self, what: &'static str) -> Result<(), CudaError> {
        self.context.synchronize().map_err(|e| refused(what, e))
    }

    /// A point in the stream, with its time.
    pub(super) fn mark(&self) -> Result<CudaEvent, CudaError> {
        self.stream
            .record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
            .map_err(|e| refused("recording an event", e))
    }
}

/// The time between two marks that were reached.
pub(super) fn elapsed(from: &CudaEvent, to: &CudaEvent) -> Result<Duration, CudaError> {
    let ms = from.elapsed_ms(to).map_err(|error| refused("reading an event's time", error))?;
    Ok(Duration::from_secs_f64(f64::from(ms) / 1e3))
}
