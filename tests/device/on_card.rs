//! How fast an array that lies on the GPU becomes regions and bricks that lie there, beside a plain read of it.
//!
//! `ORTHANT_ROWS` names a file that gets a row of JSON for every way; `ORTHANT_SIDE` is the side of the array, 2048 unless it is there.

use std::io::Write;
use std::time::Duration;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use orthant::backend::{Part, Proofs, ResidentArray};
use orthant::field::{FieldOptions, formula};
use orthant::prelude::*;
use orthant::{CellType, Control, Mapping};
use orthant_lab::conformance::Scope;

/// Runs after one that does not count.
const REPEAT: usize = 7;

/// Labels 0 to 6: shells and bodies, as of a head.
const PHANTOM: &str =
    "classes(min(x^2/0.48 + y^2/0.85 + z^2/0.66, 4*((x - 0.2)^2 + y^2 + z^2) + 0.35), 0.36, 0.4, 0.5, 0.6, 0.93, 1)";

/// Reads sixteen bytes a thread, four times at once, and stores what nobody needs.
const READ: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 from, .param .u64 units, .param .u64 to)
{
    .reg .pred %p<3>;
    .reg .b32 %r<24>;
    .reg .b64 %a<12>;
    ld.param.u64 %a1, [from];
    ld.param.u64 %a2, [units];
    ld.param.u64 %a3, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %a4, %r1, %r2;
    cvt.u64.u32 %a5, %r3;
    add.u64 %a4, %a4, %a5;
    mul.wide.u32 %a6, %r4, %r2;
    shl.b64 %a7, %a6, 4;
    shl.b64 %a8, %a4, 4;
    add.u64 %a9, %a1, %a8;
    mov.u32 %r5, 0;
LOOP:
    setp.ge.u64 %p1, %a4, %a2;
    @%p1 bra DONE;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%a9];
    add.u64 %a9, %a9, %a7;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%a9];
    add.u64 %a9, %a9, %a7;
    ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%a9];
    add.u64 %a9, %a9, %a7;
    ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%a9];
    add.u64 %a9, %a9, %a7;
    xor.b32 %r5, %r5, %r6;
    xor.b32 %r5, %r5, %r7;
    xor.b32 %r5, %r5, %r8;
    xor.b32 %r5, %r5, %r9;
    xor.b32 %r5, %r5, %r10;
    xor.b32 %r5, %r5, %r11;
    xor.b32 %r5, %r5, %r12;
    xor.b32 %r5, %r5, %r13;
    xor.b32 %r5, %r5, %r14;
    xor.b32 %r5, %r5, %r15;
    xor.b32 %r5, %r5, %r16;
    xor.b32 %r5, %r5, %r17;
    xor.b32 %r5, %r5, %r18;
    xor.b32 %r5, %r5, %r19;
    xor.b32 %r5, %r5, %r20;
    xor.b32 %r5, %r5, %r21;
    mad.lo.u64 %a4, %a6, 4, %a4;
    bra LOOP;
DONE:
    setp.ne.u32 %p2, %r5, 305419896;
    @%p2 bra END;
    st.global.u32 [%a3], %r5;
END:
    ret;
}
";

/// Blocks of the plain read, each of 256 threads. What they read at a time divides the arrays here.
const BLOCKS: u32 = 1 << 12;

/// The middle of the times of some runs after the first.
fn middle(mut run: impl FnMut() -> Duration) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..REPEAT).map(|_| run()).collect();
    times.sort_unstable();
    times[REPEAT / 2]
}

/// A plain read of an array; None with the reason where it cannot be had.
fn plain_read(array: &ResidentArray<3>) -> Result<Duration, Box<dyn std::error::Error>> {
    let units = array.bytes / 16;
    if !units.is_multiple_of(4 * 256 * u64::from(BLOCKS)) {
        return Err(format!("{units} units are no multiple of what the kernel reads at a time").into());
    }
    let context = CudaContext::new(array.ordinal)?;
    let stream = context.default_stream();
    let kernel = context.load_module(Ptx::from_src(READ))?.load_function("read")?;
    let unused = stream.alloc_zeros::<u32>(4)?;
    let (address, timed) = (array.address, Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
    let mut failed = None;
    let time = middle(|| {
        let run = || -> Result<Duration, cudarc::driver::DriverError> {
            let from = stream.record_event(timed)?;
            let config = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
            let mut launch = stream.launch_builder(&kernel);
            launch.arg(&address).arg(&units).arg(&unused);
            #[expect(unsafe_code, reason = "a kernel reads an array of the size that it is told")]
            // SAFETY: the array has so many bytes, and stays until the run that made it is dropped.
            unsafe { launch.launch(config) }?;
            let to = stream.record_event(timed)?;
            stream.synchronize()?;
            Ok(Duration::from_secs_f64(f64::from(from.elapsed_ms(&to)?) / 1e3))
        };
        run().unwrap_or_else(|error| {
            failed = Some(error);
            Duration::ZERO
        })
    });
    failed.map_or(Ok(time), |error| Err(error.into()))
}

/// A row of what was measured.
fn row(gpu: &Target, array: &ResidentArray<3>, leaf: u32, way: &str, time: Duration, more: &str) {
    let seconds = time.as_secs_f64();
    let rate = array.bytes as f64 / seconds / 1e9;
    println!("{way}, leaves of {leaf}^3: {:.3} ms, {rate:.0} GB/s{more}", seconds * 1e3);
    let Some(path) = std::env::var_os("ORTHANT_ROWS") else { return };
    let device = gpu.device().unwrap_or_default();
    let text = format!(
        "{{\"input\": \"phantom on the GPU\", \"size\": {:?}, \"cell\": \"u8\", \"backend\": \"cuda\", \"device\": \"{device}\", \
         \"way\": \"{way}\", \"leaf\": {leaf}, \"seconds\": {seconds:e}, \"bytes\": {}, \"gb_per_second\": {rate:.1}{more}}}\n",
        array.window.extent, array.bytes,
    );
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A phantom of 2048^3 u8, which a run leaves on the GPU, from the cells up and from the top down; regions and bricks stay there.
pub fn an_array_on_the_gpu_is_divided_there(gpu: &Target, _: Scope) {
    let side = std::env::var("ORTHANT_SIDE").ok().and_then(|side| side.parse().ok()).unwrap_or(2048);
    let domain = Domain::new([side; 3], [[-1.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = |b, rule| Plan::new(domain, Scheme::uniform(16, 2, b), CurveKind::Morton, rule).unwrap();
    let whole = plan(8, RuleKind::Certified);
    let options = FieldOptions::default().source(PHANTOM);
    let phantom = formula::open(&domain, &options).unwrap();
    let mut made = gpu.of().prepare(&whole, &*phantom, &How::default().cell(CellType::U8)).unwrap();
    made.run(&Part::default(), &Control::default()).unwrap();
    let array = made.resident_array().unwrap().unwrap();
    let field = array.field();
    match plain_read(&array) {
        Ok(time) => row(gpu, &array, 0, "plain read", time, ""),
        Err(error) => println!("no plain read: {error}"),
    }
    for b in [8, 4] {
        let plan = plan(b, RuleKind::Full);
        let leaf = plan.levels().last().unwrap().region([0; 3]).extent[0];
        let mut counts = Vec::new();
        for (way, how) in [
            ("from the cells up", How::default()),
            ("from the cells up, counts", How::default().keep(Keep::Counts)),
            ("ask sbr, pyramid", How::default().mapping(Some(Mapping::Sbr))),
            ("ask sbr, cells", How::default().mapping(Some(Mapping::Sbr)).prove(Some(Proofs::No))),
        ] {
            let kept = if how.kept.keep == Keep::Counts { how } else { how.keep(Keep::Regions) };
            let mut prepared = gpu.of().prepare(&plan, &field, &kept).unwrap();
            let time = middle(|| prepared.run(&Part::default(), &Control::default()).unwrap().device.unwrap());
            let found = prepared.counts().unwrap();
            let level = |counts: &orthant::result::LevelCounts| [counts.subdivided, counts.filled, counts.leaves];
            counts.push(found.levels.iter().map(|stats| level(&stats.counts)).collect::<Vec<_>>());
            let totals = found.totals();
            let regions = totals.filled + totals.leaves;
            let left = prepared.resident_regions().unwrap();
            let bytes = left.map_or(String::new(), |left| {
                assert_eq!((left.len(), left.leaves), (regions, totals.leaves));
                format!(", \"left_bytes\": {}", left.bytes())
            });
            let more = format!(
                ", \"regions\": {regions}, \"leaves\": {}, \"leaf_cells\": {}{bytes}",
                totals.leaves, totals.leaf_cells
            );
            row(gpu, &array, leaf, way, time, &more);
        }
        assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
    }
}
