//! `orthant info` and `orthant doctor`: what is here, and how to mend what is missing.

use crate::energy;
use crate::machine::Machine;
use crate::voice::{Voice, print, table};
use orthant::Bytes;
use orthant::cuda::{self, Device, DeviceOptions};

use crate::error::Error;
use orthant::Isa;
use orthant::field::FieldKind;

/// Prints what is here.
pub(crate) fn info() -> Result<(), Error> {
    let machine = Machine::look();
    let mut facts = table(&["", ""]);
    let mut fact = |name: &str, value: String| {
        facts.add_row([name.to_owned(), value]);
    };
    fact("orthant", env!("CARGO_PKG_VERSION").into());
    fact("cpu", machine.cpu.clone());
    fact("threads", machine.threads.to_string());
    fact("vector unit", Isa::detect().to_string());
    fact("memory", format!("{}, {} available", bytes(machine.memory), bytes(machine.available)));
    fact("default --mem-limit", bytes(machine.default_limit()));
    match Device::open(&DeviceOptions::from_env(0)) {
        Ok(device) => {
            fact("backends", "cpu, cuda".into());
            fact("gpu", device.describe());
        }
        Err(error) => fact("backends", format!("cpu (no cuda: {error})")),
    }
    for workload in FieldKind::all() {
        let dims = workload.dims().iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        fact(&format!("workload {workload}"), format!("k = {dims}: {}", workload.about()));
    }
    print(format_args!("{}\n", facts.trim_fmt().trim_start()))
}

/// Checks what a run needs and says how to mend what is missing. A GPU is optional: one line says that runs use the CPU, and how to
/// mend each part of CUDA comes with `-v`, or where some of its parts are here.
///
/// # Errors
/// [`Error::System`] if runs on the CPU lack something.
pub(crate) fn doctor(voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let line = |state: State, name: &str, found: &str| {
        print(format_args!("{} {name}: {found}\n", if voice.colour { state.coloured() } else { state.word().into() }))
    };
    let isa = Isa::detect();
    line(State::Ok, "threads", &machine.threads.to_string())?;
    line(State::Ok, "vector unit", &isa.to_string())?;
    if isa == Isa::Portable && cfg!(target_arch = "x86_64") {
        line(State::Note, "vector unit", "no AVX2 with FMA here: fused arithmetic is emulated, exact but slow")?;
    }
    let available = format!("{} available", bytes(machine.available));
    match machine.available {
        Some(few) if few < 1 << 28 => {
            line(State::Note, "memory", &format!("{available}; use small -n or --keep regions"))?
        }
        _ => line(State::Ok, "memory", &available)?,
    }
    let output = tempfile::tempfile_in(".");
    match &output {
        Ok(_) => line(State::Ok, "outputs", "this folder can be written")?,
        Err(error) => {
            line(State::Mend, "outputs", &format!("this folder cannot be written ({error}); go to one that can"))?
        }
    }
    let meter = energy::finding().map_err(|missing| missing.to_string());
    let cuda = cuda::findings().into_iter();
    let findings: Vec<_> = cuda.chain([("nvml", meter)]).collect();
    let has_gpu_parts = findings.iter().any(|(_, finding)| finding.is_ok());
    if !has_gpu_parts && !voice.verbose {
        line(State::Note, "gpu", "none found, and none is needed: runs use the CPU (-v says what a GPU would need)")?;
    }
    for (name, finding) in &findings {
        match finding {
            Ok(found) => line(State::Ok, name, found)?,
            Err(why) if has_gpu_parts || voice.verbose => line(State::Note, name, why)?,
            Err(_) => {}
        }
    }
    match output {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::System("doctor: no output can be written here".into())),
    }
}

/// How a check went.
#[derive(Clone, Copy)]
enum State {
    Ok,
    Note,
    Mend,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Note => "note",
            Self::Mend => "mend",
        }
    }

    fn coloured(self) -> String {
        let colour = match self {
            Self::Ok => 32,
            Self::Note => 33,
            Self::Mend => 31,
        };
        format!("\x1b[{colour}m{}\x1b[0m", self.word())
    }
}

/// A number of bytes that may not be known.
fn bytes(value: Option<u64>) -> String {
    value.map_or("unknown".into(), |bytes| Bytes(bytes.into()).to_string())
}
