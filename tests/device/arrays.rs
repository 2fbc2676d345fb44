//! Arrays on a GPU: regions, bricks and counts are the CPU's, by every strategy, whole and in parts, copied there or lying there.

use cudarc::driver::{CudaContext, CudaStream, result};
use orthant::backend::{Part, Proofs, ResidentRegions, Roots};
use orthant::field::{FieldData, FieldOptions, Job, Open, StoredArray};
use orthant::ndarray::Array3;
use orthant::prelude::*;
use orthant::result::{Content, LevelStats, Subdivision};
use orthant::{CellType, Control, Mapping, Request, field};
use orthant_lab::conformance::Scope;

use crate::gpu::share_of;

/// An element of a shape: values of a ball, of a wall, of what is about them, and now and then of a speck.
fn element(kind: CellType, cell: &[u32], size: &[u32]) -> Vec<u8> {
    let far: f64 = cell.iter().zip(size).map(|(&c, &n)| (2.0 * f64::from(c) / f64::from(n) - 0.8).powi(2)).sum();
    let speck = cell.iter().fold(7u64, |sum, &c| sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(c.into()));
    let class = match () {
        () if far < 0.4 => 1,
        () if cell[0] == size[0] - 2 => 2,
        () if speck >> 56 == 3 && far > 1.5 => 3,
        () => 0,
    };
    match kind {
        // No number, in two ways: one value to whoever compares. Zeros with a sign are another.
        CellType::F32 => [f32::from_bits(0x7fc0_0000 | u32::from(cell[0].is_multiple_of(2))), 0.0, -0.0, 1.5][class]
            .to_ne_bytes()
            .to_vec(),
        CellType::F64 => {
            let none = f64::from_bits(0xfff8_0000_0000_0000 | u64::from(cell[0].is_multiple_of(3)));
            [none, -0.0, 0.0, 1e300][class].to_ne_bytes().to_vec()
        }
        kind => {
            let values: [u64; 4] = [0, 1, 0x8040_2010_0804_0281, u64::MAX];
            values[class].to_ne_bytes()[..kind.bytes() as usize].to_vec()
        }
    }
}

fn array(kind: CellType, size: &[u32]) -> FieldData {
    let cells: u64 = size.iter().map(|&n| u64::from(n)).product();
    let mut bytes = Vec::new();
    for mut index in 0..cells {
        let mut cell = Vec::new();
        for &n in size {
            cell.push((index % u64::from(n)) as u32);
            index /= u64::from(n);
        }
        bytes.extend(element(kind, &cell, size));
    }
    StoredArray::new("shape", kind, size.to_vec(), bytes).unwrap().into()
}

/// What a run came to: regions divided, filled and left per level, and all of them with their cells.
fn outcome<const K: usize>(found: &Subdivision<K>) -> (Vec<[u64; 5]>, String) {
    let level = |level: &LevelStats<K>| {
        let counts = level.counts;
        [counts.subdivided, counts.filled, counts.leaves, counts.filled_cells, counts.leaf_cells]
    };
    (found.levels().iter().map(level).collect(), format!("{:?}", found.regions_checksum()))
}

/// The regions of a request by every strategy and along every curve, against the CPU's.
struct Compare<'a> {
    gpu: &'a Target,
    request: Request,
}

impl Job for Compare<'_> {
    type Output = usize;

    fn run<const K: usize>(self, open: Open<K>) -> usize {
        let mut runs = 0;
        for &curve in CurveKind::ALL {
            let planned = |rule| self.request.clone().explore(Some(rule)).curve(curve).plan::<K>();
            // Hilbert does not serve every r.
            let (Ok(full), Ok(certified), Ok(closed)) =
                (planned(RuleKind::Full), planned(RuleKind::Certified), planned(RuleKind::Closed))
            else {
                continue;
            };
            let field = open(full.domain(), &self.request.options().unwrap()).unwrap();
            let start = |target: &Target, plan: &Plan<K>, how: How| {
                Run::new(plan, &*field).how(how.keep(Keep::Regions)).on(target).start().unwrap()
            };
            let cpu = start(&Target::cpu(), &full, How::default());
            let truth = outcome(&cpu);
            assert!(truth.0.iter().any(|level| level[1] > 0) && truth.0.iter().any(|level| level[2] > 0));
            let mapped = |mapping| How::default().mapping(Some(mapping));
            // Of smaller leaves a stream asks for proofs from the top down, as `certified` has it.
            let last = full.levels().last().unwrap();
            let small = last.regions() * 16 > full.domain().cells();
            for (plan, how) in [
                (&full, How::default()),
                (if small { &certified } else { &full }, mapped(Mapping::Stream)),
                (&full, mapped(Mapping::Sbr)),
                (&full, mapped(Mapping::Mbr)),
                (&full, How::default().strategy(StrategyKind::Dp)),
                (&full, How::default().prove(Some(Proofs::No))),
                (&certified, How::default()),
                (&certified, mapped(Mapping::Sbr)),
            ] {
                let gpu = start(self.gpu, plan, how.clone());
                assert_eq!(outcome(&gpu), truth, "{} {curve} {how:?}", self.request.title());
                assert!(gpu.terminals() == cpu.terminals() && gpu.bricks() == cpu.bricks(), "{curve} {how:?}");
                let how = how.keep(Keep::Counts);
                let counts = Run::new(plan, &*field).how(how).on(self.gpu).start().unwrap();
                assert_eq!(outcome(&counts).0, truth.0, "{} {curve}, counts alone", self.request.title());
                runs += 2;
            }
            // Proofs change no cell of a rule that looks at faces.
            let by = |prove| outcome(&start(self.gpu, &closed, mapped(Mapping::Sbr).prove(Some(prove))));
            assert_eq!(by(Proofs::Yes), by(Proofs::No), "{} {curve}", self.request.title());
            runs += self.parts(&full, &*field);
        }
        runs
    }
}

impl Compare<'_> {
    /// Parts of a plan: runs of codes and a table of them, on two levels.
    fn parts<const K: usize>(&self, plan: &Plan<K>, field: &dyn Field<K>) -> usize {
        let mut runs = 0;
        for level in 0..plan.levels().len().min(3) as u32 {
            let codes = plan.levels()[level as usize].regions() as u64;
            let table: Vec<u64> = (0..codes).filter(|code| code % 3 == 1).collect();
            for roots in [
                Roots::Codes { level, range: 0..codes },
                Roots::Codes { level, range: codes / 3..codes - codes / 5 },
                Roots::Table { level, codes: &table, payloads: &[] },
            ] {
                let part = Part::of(roots);
                let [here, there] = [self.gpu, &Target::cpu()].map(|target| {
                    let mut prepared = target.of().prepare(plan, field, &How::default().keep(Keep::Regions)).unwrap();
                    prepared.run(&part, &Control::default()).unwrap();
                    prepared.subdivision().unwrap()
                });
                assert_eq!(outcome(&here), outcome(&there), "{} {part:?}", self.request.title());
                assert!(here.terminals() == there.terminals() && here.bricks() == there.bricks());
                runs += 1;
            }
        }
        runs
    }
}

/// The type of a cell, the size, and g, r and B.
type ArrayCase = (CellType, &'static [u32], (u32, u32, u32));

/// Types, shapes, strategies, rules, curves and parts, in one to five dimensions.
pub fn arrays_have_the_cpus_regions(gpu: &Target, scope: Scope) {
    let cases: &[ArrayCase] = &[
        (CellType::U8, &[64, 48, 32], (2, 2, 2)),
        (CellType::F32, &[37, 29, 23], (1, 2, 4)),
        (CellType::U16, &[100, 77], (3, 2, 4)),
        (CellType::I64, &[27, 54, 27], (1, 3, 1)),
        (CellType::F64, &[24, 18, 12, 10], (2, 2, 2)),
        (CellType::I8, &[300], (2, 2, 16)),
        (CellType::U32, &[12, 11, 10, 9, 8], (1, 2, 1)),
        (CellType::I16, &[128, 128], (4, 4, 1)),
    ];
    let cases = if scope == Scope::Full { cases } else { &cases[..4] };
    let request = |&(kind, size, (g, r, b)): &(CellType, &[u32], (u32, u32, u32))| {
        Request::new(FieldKind::Array).scheme(g, r, b).data(array(kind, size))
    };
    let runs: usize = share_of(cases.iter().map(request).collect())
        .into_iter()
        .map(|request| request.workload.dispatch(request.k(), Compare { gpu, request: request.clone() }).unwrap())
        .sum();
    println!("{runs} runs of regions");
}

/// Bytes that lie on the device.
fn copied(stream: &CudaStream, address: u64, bytes: u64) -> Vec<u8> {
    let mut copy = vec![0; bytes as usize];
    if bytes > 0 {
        #[expect(unsafe_code, reason = "the driver copies as many bytes as there are")]
        // SAFETY: lists of the prepared plan, which were waited for and have so many bytes.
        unsafe { result::memcpy_dtoh_async(&mut copy, address, stream.cu_stream()) }.unwrap();
        stream.synchronize().unwrap();
    }
    copy
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Lists on the device against the regions that the same prepared plan brings to the host.
fn check<const K: usize>(lists: &ResidentRegions, found: &Subdivision<K>) {
    let (count, width) = (lists.len(), lists.cell.bytes());
    let stream = CudaContext::new(lists.ordinal).unwrap().new_stream().unwrap();
    let copied = |address, bytes| copied(&stream, address, bytes);
    assert_eq!(count as usize, found.terminals().len());
    let codes = words(&copied(lists.codes, 8 * count));
    let places = words(&copied(lists.places, 8 * count));
    let fills = copied(lists.words, width * count);
    for (level, entries) in lists.levels.iter().enumerate() {
        for i in entries.start as usize..entries.end as usize {
            let terminal = &found.terminals()[i];
            assert_eq!((terminal.level() as usize, terminal.code), (level, codes[i]));
            let mut word = [0; 8];
            word[..width as usize].copy_from_slice(&fills[i * width as usize..][..width as usize]);
            match terminal.content() {
                Content::Uniform(value) => assert_eq!((places[i], u64::from_le_bytes(word)), (u64::MAX, value)),
                Content::Leaf { brick } => {
                    // A brick may have room for more cells than its region has.
                    assert!(found.region(terminal).volume() <= lists.each);
                    let volume = found.region(terminal).volume() * width;
                    let there = (brick.unwrap() * width) as usize;
                    let cells = copied(lists.cells + places[i] * width, volume);
                    assert_eq!(cells, found.bricks().as_bytes()[there..][..volume as usize]);
                }
            }
        }
    }
}

/// A dense array that a run leaves on the GPU is divided there by another run, whose regions stay there, too. The first array changes,
/// and a second run sees it.
pub fn regions_stay_on_the_gpu(gpu: &Target, _: Scope) {
    for size in [[64, 48, 32], [37, 30, 41]] {
        let plan = |rule| {
            Plan::builder(size).window([[-1.2, 1.2]; 3]).scheme(Scheme::uniform(2, 2, 2)).rule(rule).build().unwrap()
        };
        let (dense, sparse) = (plan(RuleKind::Certified), plan(RuleKind::Full));
        let cell = How::default().cell(CellType::U8);
        let bulb = |dwell| field::mandelbulb::open(dense.domain(), &FieldOptions::default().dwell(dwell)).unwrap();
        let first = bulb(6);
        let mut left = gpu.of().prepare(&dense, &*first, &cell).unwrap();
        left.run(&Part::default(), &Control::default()).unwrap();
        let lies = left.resident_array().unwrap().unwrap().field();
        let mut divided = gpu.of().prepare(&sparse, &lies, &How::default().keep(Keep::Regions)).unwrap();
        divided.run(&Part::default(), &Control::default()).unwrap();
        assert_eq!(divided.mapping(), Mapping::Stream);
        let lists = divided.resident_regions().unwrap().unwrap();
        let found = divided.subdivision().unwrap();
        check(&lists, &found);
        // The same by way of the host.
        let array = left.subdivision().unwrap().into_array().unwrap();
        let there = ArrayField::<3, u8>::new(array.view::<u8>().unwrap()).unwrap();
        let cpu = Run::new(&sparse, &there).how(How::default().keep(Keep::Regions)).start().unwrap();
        assert_eq!(outcome(&found), outcome(&cpu));
        assert!(found.terminals() == cpu.terminals() && found.bricks() == cpu.bricks());
        assert!(lists.leaves > 10 && lists.len() > lists.leaves && lists.bytes() > 0);
        // Roots that are no range of codes along a hierarchical curve, between runs of the whole plan.
        let (run, some) =
            (Roots::Codes { level: 0, range: 1..4 }, Roots::Table { level: 0, codes: &[1, 4, 6], payloads: &[] });
        for (curve, roots) in [(CurveKind::Canonical, run), (CurveKind::Morton, some)] {
            let plan = Plan::new(*sparse.domain(), *sparse.scheme(), curve, RuleKind::Certified).unwrap();
            let of = |target: &Target, mapping| {
                let how = How::default().keep(Keep::Regions).mapping(mapping);
                let mut prepared = target.of().prepare(&plan, &there, &how).unwrap();
                let mut part = |part: &Part<'_, 3>| {
                    prepared.run(part, &Control::default()).unwrap();
                    outcome(&prepared.subdivision().unwrap())
                };
                [Part::default(), Part::of(roots.clone()), Part::default()].map(|roots| part(&roots))
            };
            let cpu = of(&Target::cpu(), None);
            assert_ne!(cpu[0], cpu[1]);
            assert_eq!(of(gpu, Some(Mapping::Stream)), cpu, "{curve}");
        }
    }
}

/// An array of a GiB on a GPU with half of that left: it goes there in pieces, by every strategy.
pub fn arrays_without_room_go_in_pieces(gpu: &Target, _: Scope) {
    let (side, left) = (1024u32, 512 << 20);
    let far = |c: u32| (u64::from(c) * 2).abs_diff(u64::from(side)).pow(2);
    let array = Array3::from_shape_fn((side as usize, side as usize, side as usize), |(z, y, x)| {
        let ball = far(x as u32) + far(y as u32) + far(z as u32) < 600_000;
        u8::from(ball) + u8::from(x == 700 && y % 7 == 0)
    });
    let field = ArrayField::<3, u8>::new(array.view()).unwrap();
    let plan = Plan::builder([side; 3]).scheme(Scheme::uniform(16, 2, 8)).rule(RuleKind::Full).build().unwrap();
    let regions = |target: &Target, how: How| {
        let mut prepared = target.of().prepare(&plan, &field, &how.keep(Keep::Regions)).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        (prepared.copied(), outcome(&prepared.subdivision().unwrap()))
    };
    let (copied, whole) = regions(gpu, How::default());
    assert_eq!(copied, 1 << 30);
    let context = CudaContext::new(0).unwrap();
    let (free, _) = context.mem_get_info().unwrap();
    #[expect(unsafe_code, reason = "memory that nobody uses")]
    // SAFETY: freed below, and never read.
    let taken = unsafe { result::malloc_sync(free - left) }.unwrap();
    for how in [How::default(), How::default().mapping(Some(Mapping::Sbr))] {
        let (copied, found) = regions(gpu, how);
        assert!(copied >= 1 << 30, "{copied}");
        assert_eq!(found, whole);
    }
    #[expect(unsafe_code, reason = "memory that nobody uses")]
    // SAFETY: taken above.
    unsafe { result::free_sync(taken) }.unwrap();
}
