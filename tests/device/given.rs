//! Fields that are data, points, meshes and lists of cells, on a GPU: every value, strategy, rule and curve.

use std::collections::BTreeMap;

use orthant::field::{DataValue, FieldData, Job, Open};
use orthant::list::StoredList;
use orthant::mesh::Mesh;
use orthant::points::{PointAttribute, Points};
use orthant::prelude::*;
use orthant::{CellType, Mapping, Request};
use orthant_lab::conformance::Scope;

use crate::gpu::share_of;

/// The cells and the regions of a request, by every strategy and along every curve, against the CPU's.
struct Compare<'a> {
    gpu: &'a Target,
    request: Request,
}

impl Job for Compare<'_> {
    type Output = usize;

    fn run<const K: usize>(self, open: Open<K>) -> usize {
        const STREAMS: &[Option<Mapping>] = &[Some(Mapping::Sbr), Some(Mapping::Stream), None];
        let mut runs = 0;
        for (rule, curves, mappings) in [
            (RuleKind::Certified, CurveKind::ALL, STREAMS),
            (RuleKind::Full, &[CurveKind::Morton], &[Some(Mapping::Mbr)]),
            (RuleKind::Border, &[CurveKind::Canonical], &[Some(Mapping::Sbr)]),
        ] {
            for &curve in curves {
                let request = self.request.clone().explore(Some(rule)).curve(curve);
                // Hilbert does not serve every r.
                let Ok(plan) = request.plan::<K>() else { continue };
                let start = |target: &Target, how: How| {
                    // The field is opened anew, since a GPU does not sort points that the CPU has sorted.
                    let field = open(plan.domain(), &request.options().unwrap()).unwrap();
                    Run::new(&plan, &*field).how(how).on(target).start().unwrap()
                };
                let regions = |target: &Target, how: How| {
                    let run = start(target, how.keep(Keep::Regions));
                    let levels = run.levels().iter().map(|level| (level.counts.filled, level.counts.leaves));
                    (levels.collect::<Vec<_>>(), run.regions_checksum())
                };
                let cpu = regions(&Target::cpu(), How::default());
                assert!(cpu.1.is_some() && cpu.0.iter().any(|(filled, _)| *filled > 0));
                for &mapping in mappings {
                    let how = match mapping {
                        None => How::default().strategy(StrategyKind::Dp),
                        mapping => How::default().mapping(mapping),
                    };
                    assert_eq!(regions(self.gpu, how), cpu, "{} {rule} {curve} {mapping:?}", request.title());
                    runs += 1;
                }
                if rule == RuleKind::Full {
                    let dense = |target: &Target| {
                        let how = How::default().strategy(StrategyKind::Exhaustive).poison(0x5a);
                        start(target, how).array().unwrap().checksum()
                    };
                    assert_eq!(dense(self.gpu), dense(&Target::cpu()), "{}", request.title());
                }
            }
        }
        runs
    }
}

/// A ball's surface of points, and a block in which every cell has one.
fn cloud(size: &[u32]) -> Points {
    let k = size.len();
    let sphere = Points::sphere(0.4, 20_000);
    let mut coordinates = Vec::new();
    for (i, place) in sphere.coordinates().chunks(3).enumerate() {
        let turned = (0..k).map(|j| (place[(i + j) % 3] + 0.5) * f64::from(size[j]));
        coordinates.extend(turned);
    }
    let side = if k > 3 { 4 } else { 9 };
    let block = Region { corner: [0; 5], extent: std::array::from_fn(|j| if j < k { side.min(size[j]) } else { 1 }) };
    for cell in block.cells() {
        coordinates.extend(cell[..k].iter().map(|&at| f64::from(at) + 0.5));
    }
    let heights: Vec<f32> =
        (0..coordinates.len() / k).map(|i| if i < 20_000 { (i % 5) as f32 - 2.0 } else { 7.5 }).collect();
    let points = Points::new(k, coordinates).unwrap().attribute(PointAttribute::new("height", &heights)).unwrap();
    points.named("cloud")
}

/// The cells of such points as a list, with a background that some of them have.
fn listed(kind: CellType, size: &[u32], background: f64) -> StoredList {
    let points = cloud(size);
    let place = |i: usize| points.coordinates()[i * size.len()..][..size.len()].iter().map(|&at| at as u32).collect();
    let cells: BTreeMap<Vec<u32>, f64> =
        (0..points.len()).map(|i| (place(i), if i < 20_000 { (i % 5) as f64 } else { 9.5 })).collect();
    let mut list = StoredList::builder(kind, size.to_vec()).unwrap().background(kind.word_of(background));
    cells.iter().try_for_each(|(cell, &value)| list.push(cell, kind.word_of(value))).unwrap();
    list.build(format!("{kind} list")).unwrap()
}

/// Types, strategies, rules and curves, in two to five dimensions.
pub fn lists_have_the_cpus_cells(gpu: &Target, scope: Scope) {
    let requests = [
        (CellType::U8, &[128, 100, 64][..], (1, 2, 4), 0.0),
        (CellType::I16, &[128, 100, 64], (2, 2, 4), 3.0),
        (CellType::F32, &[300, 277], (1, 3, 1), 1.0),
        (CellType::I64, &[37, 23, 20, 16], (2, 2, 1), -5.0),
        (CellType::F64, &[37, 23, 20, 16], (1, 3, 1), 2.0),
        (CellType::U16, &[12, 9, 10, 8, 7], (1, 2, 2), 0.0),
    ];
    let requests = requests.map(|(kind, size, (g, r, b), background)| {
        // A short axis stays long enough for a region of one value.
        let size: Vec<u32> =
            size.iter().map(|&n| if scope == Scope::Full { n } else { (n / 2).max(n.min(7)) }).collect();
        Request::new(FieldKind::Array).data(listed(kind, &size, background)).scheme(g, r, b)
    });
    let runs: usize = share_of(requests.to_vec())
        .into_iter()
        .map(|request| request.workload.dispatch(request.k(), Compare { gpu, request: request.clone() }).unwrap())
        .sum();
    println!("{runs} runs of regions");
}

/// Values, strategies, rules and curves, in two to four dimensions.
pub fn points_and_meshes_have_the_cpus_cells(gpu: &Target, scope: Scope) {
    let mut requests = Vec::new();
    let of = |workload, size: &[u32], (g, r, b), value, data: FieldData| {
        let size = if scope == Scope::Full { size.to_vec() } else { size.iter().map(|n| n / 2).collect() };
        Request::new(workload).dim(Some(size.len())).size(Some(size)).scheme(g, r, b).value(Some(value)).data(data)
    };
    for &value in DataValue::OF_MESHES {
        let torus = || FieldData::from(Mesh::torus(2.0, 0.8, [60, 40]).named("torus"));
        for (size, scheme) in [([240, 200, 130], (1, 2, 4)), ([111, 69, 33], (1, 3, 1))] {
            requests.push(of(FieldKind::Mesh, &size, scheme, value, torus()));
        }
    }
    let (plane, space, four) = (&[300, 277][..], &[128, 100, 64][..], &[37, 23, 20, 16][..]);
    for (value, size, scheme) in [
        (DataValue::Occupied, space, (1, 2, 4)),
        (DataValue::Count, space, (2, 2, 4)),
        (DataValue::Min, space, (1, 3, 1)),
        (DataValue::Mean, space, (3, 2, 2)),
        (DataValue::Count, plane, (1, 2, 2)),
        (DataValue::Max, plane, (1, 3, 1)),
        (DataValue::Occupied, four, (1, 3, 1)),
        (DataValue::Max, four, (2, 2, 1)),
    ] {
        let mut request = of(FieldKind::Points, size, scheme, value, cloud(size).into());
        request.computed.window = Some(size.iter().map(|&n| [0.0, f64::from(n)]).collect());
        requests.push(request);
    }
    let runs: usize = share_of(requests)
        .into_iter()
        .map(|request| request.workload.dispatch(request.k(), Compare { gpu, request: request.clone() }).unwrap())
        .sum();
    println!("{runs} runs of regions");
}
