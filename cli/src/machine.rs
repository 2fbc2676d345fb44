//! What the machine has: processor, memory, CUDA driver.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use orthant::backend::{PIECES, ROOTS_OF_A_PIECE};
use orthant::field::{Field, FieldKind};
use orthant::geometry::Scheme;
use orthant::per_axis::{shortest, text};
use orthant::{BackendKind, Mapping, Plan, Request, RuleKind, StartingScheme, StrategyKind, Target};

use crate::error::Error;
use crate::options::{Devices, OrAuto};
use crate::voice::Voice;

/// A look at the machine; None where the system does not tell.
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    pub(crate) threads: usize,
    /// Bytes of memory in all.
    pub(crate) memory: Option<u64>,
    /// Bytes that a process can still take, control groups counted.
    pub(crate) available: Option<u64>,
}

impl Machine {
    /// Looks at what there is.
    pub fn look() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(kinds).ok();
        let group = system.as_ref().and_then(System::cgroup_limits);
        let least = |whole: Option<u64>, group: Option<u64>| whole.map(|bytes| bytes.min(group.unwrap_or(bytes)));
        let brand = system.as_ref().and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()));
        Self {
            cpu: brand.filter(|brand| !brand.is_empty()).unwrap_or_else(|| "unknown CPU".into()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: least(system.as_ref().map(System::total_memory), group.as_ref().map(|group| group.total_memory)),
            available: least(
                least(
                    // Nothing at all is what it says where its files cannot be opened.
                    system.as_ref().map(System::available_memory).filter(|&bytes| bytes > 0),
                    group.as_ref().map(|group| group.free_memory),
                ),
                address_space(),
            ),
        }
    }

    /// The memory that a run may take unless told otherwise: 80 % of what is available.
    pub fn default_limit(&self) -> Option<u64> {
        self.available.map(|bytes| bytes / 5 * 4)
    }
}

/// Bytes that the limit of the address space leaves, if there is one.
fn address_space() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let limit = getrlimit(Resource::As).current?;
        let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = pages.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
    }
    #[cfg(not(unix))]
    None
}

/// The CPU for a field that a GPU cannot run, where the backend was left open; says so.
pub(crate) fn without_twin<const K: usize>(
    wanted: OrAuto,
    name: FieldKind,
    field: &dyn Field<K>,
    voice: Voice,
) -> OrAuto {
    if wanted.is_some() || field.host().is_none() {
        return wanted;
    }
    match field.twin().map(|twin| twin.refusal().cloned()) {
        None => voice.say(format_args!("orthant: on the CPU, since {name} has no CUDA twin")),
        Some(Some(refusal)) => voice.say(format_args!("orthant: {name} on the CPU, since {refusal}")),
        Some(None) => return wanted,
    }
    Some(BackendKind::Cpu)
}

/// The plan and the mapping that suit a backend where nobody chose any of them and `cells` alone are asked for; says so if one wants to know
/// more. Else the plan as it is.
pub(crate) fn suited<const K: usize>(
    plan: Plan<K>,
    target: &Target,
    request: &Request,
    cells: bool,
    voice: Voice,
) -> Result<(Plan<K>, Option<Mapping>), Error> {
    let start = if cells { request.start_on::<K>(target.kind())? } else { None };
    let Some(StartingScheme { plan, mapping }) = start else { return Ok((plan, request.how.tuning.mapping)) };
    if voice.verbose {
        let (size, kind) = (text(&plan.domain().size()), target.name());
        let options = options(plan.scheme());
        let name = request.workload;
        voice.say(format_args!(
            "orthant: {options} --scheme {mapping}, as measured for {name} of {size} cells on the backend {kind}"
        ));
    }
    // Streams are a GPU's default, and give way where there is no room for them.
    Ok((plan, Some(mapping).filter(|&mapping| mapping != Mapping::Stream)))
}

/// A scheme as options to type.
pub(crate) fn options<const K: usize>(scheme: &Scheme<K>) -> String {
    let [g, r, b] = [scheme.g, scheme.r, scheme.b].map(|axes| text(&shortest(&axes)));
    format!("-g {g} -r {r} -B {b}")
}

/// Regions of level 0 that let all of a GPU look at an array: with fewer, a block looks at millions of cells alone.
const ROOTS_OF_ARRAYS: u128 = 4096;

/// The plan with an initial grid that is fine enough for a GPU that divides an array, or for several, where nobody chose g; says so.
pub(crate) fn shared<const K: usize>(
    plan: Plan<K>,
    target: &Target,
    request: &Request,
    voice: Voice,
) -> Result<Plan<K>, Error> {
    let (devices, size) = (target.devices(), plan.domain().size());
    let of_array = request.workload == FieldKind::Array && target.kind() == BackendKind::Cuda;
    let (least, why) = match devices {
        1 if of_array => (ROOTS_OF_ARRAYS, "all of the GPU has regions to look at".to_owned()),
        1 => return Ok(plan),
        _ => {
            (u128::from(PIECES * ROOTS_OF_A_PIECE) * devices as u128, format!("{devices} devices have pieces to share"))
        }
    };
    let exhaustive = request.how.tuning.strategy == StrategyKind::Exhaustive;
    if exhaustive || request.computed.g.is_some() || plan.levels()[0].regions() >= least {
        return Ok(plan);
    }
    let scheme = plan.scheme().with_roots(size, least);
    if plan.rule() != RuleKind::Full && !plan.rule().certifies() {
        // What such a rule misses depends on where regions begin: the number of devices must not change a cell.
        let (g, has) = (text(&shortest(&scheme.g)), plan.levels()[0].regions());
        voice
            .say(format_args!("orthant: {devices} devices share {has} regions of level 0; -g {g} has enough for them"));
        return Ok(plan);
    }
    voice.say(format_args!("orthant: -g {}, so that {why}", text(&shortest(&scheme.g))));
    Ok(Plan::new(*plan.domain(), scheme, plan.curve(), plan.rule()).map_err(orthant::Error::from)?)
}

/// Opens the backend; None takes the CPU where CUDA cannot be used, and says so, with the reason where one wants to know more.
pub(crate) fn pick(wanted: OrAuto, devices: Option<&Devices>, voice: Voice) -> Result<Target, Error> {
    let open = |kind| match devices {
        None => Target::open(kind, 0),
        Some(Devices::These(numbers)) => Target::open_several(kind, numbers),
        Some(Devices::All) => Target::open_several(kind, &(0..Target::count(kind)?).collect::<Vec<_>>()),
    };
    let target = match wanted {
        Some(kind) => open(kind)?,
        None => match open(BackendKind::Cuda) {
            Ok(target) => target,
            Err(reason) => {
                let reason = reason.to_string();
                let reason = match voice.verbose {
                    true => format!(", since {}", reason.strip_prefix("backend cuda: ").unwrap_or(&reason)),
                    false => "; -v says why no GPU is used".into(),
                };
                voice.say(format_args!("orthant: on the CPU{reason}"));
                Target::cpu()
            }
        },
    };
    if let (BackendKind::Cpu, Some(devices)) = (target.kind(), devices) {
        return Err(Error::Unavailable(format!(
            "--device {devices}: names a GPU, and this runs on the backend cpu; leave out, or use --backend cuda"
        ))
        .about(&["device", "backend"]));
    }
    if let (true, Some(device)) = (voice.verbose, target.device()) {
        voice.say(format_args!("orthant: on {device}"));
    }
    Ok(target)
}
