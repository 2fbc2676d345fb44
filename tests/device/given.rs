//! Fields that are data, points and meshes, on a GPU: every value, strategy, rule and curve.

use orthant::conformance::Scope;
use orthant::field::{DataValue, FieldData, Job, Open};
use orthant::mesh::Mesh;
use orthant::points::{PointAttribute, Points};
use orthant::prelude::*;
use orthant::{Mapping, Request};

/// The cells and the regions of a request, by every strategy and along every curve, against the CPU's.
struct Compare<'a> {
    gpu: &'a Target,
    request: Request,
}

impl Job for Compare<'_> {
    type Output = usize;

    fn run<const K: usize>(self, open: Open<K>) -> usize {
        let mut runs = 0;
        for rule in [RuleKind::Certified, RuleKind::Full, RuleKind::Border] {
            for &curve in CurveKind::ALL {
                let request = self.request.clone().explore(Some(rule)).curve(curve);
                // Hilbert does not serve every r.
                let Ok(plan) = request.plan::<K>() else { continue };
                let field = open(plan.domain(), &request.options().unwrap()).unwrap();
                let on = |target: &Target, how: &How| {
                    let how = how.clone().keep(Keep::Regions);
                    let run = Run::new(&plan, &*field).how(how).on(target).start().unwrap();
                    let levels: Vec<_> =
                        run.levels().iter().map(|level| (level.counts.filled, level.counts.leaves)).collect();
                    (levels, run.regions_checksum())
                };
                let cpu = on(&Target::cpu(), &How::default());
                assert!(cpu.1.is_some() && cpu.0.iter().any(|(filled, _)| *filled > 0));
                let ask = |mapping| How::default().mapping(Some(mapping));
                let mut hows = vec![ask(Mapping::Sbr), ask(Mapping::Mbr), How::default().strategy(StrategyKind::Dp)];
                hows.extend(rule.certifies().then(|| ask(Mapping::Stream)));
                for how in hows {
                    assert_eq!(on(self.gpu, &how), cpu, "{} {rule} {curve} {how:?}", request.title());
                    runs += 1;
                }
                let dense = |target: &Target| {
                    let how = How::default().strategy(StrategyKind::Exhaustive).poison(0x5a);
                    Run::new(&plan, &*field).how(how).on(target).start().unwrap().array().unwrap().checksum()
                };
                assert_eq!(dense(self.gpu), dense(&Target::cpu()), "{} {curve}", request.title());
            }
        }
        runs
    }
}

/// A ball's surface of points, and a block in which every cell has one.
fn cloud(size: &[u32]) -> FieldData {
    let k = size.len();
    let sphere = Points::sphere(0.4, 20_000);
    let mut coordinates = Vec::new();
    for (i, place) in sphere.coordinates().chunks(3).enumerate() {
        let turned = (0..k).map(|j| (place[(i + j) % 3] + 0.5) * f64::from(size[j]));
        coordinates.extend(turned);
    }
    let side = if k > 3 { 4 } else { 9 };
    let block = Region { corner: [0; 4], extent: std::array::from_fn(|j| if j < k { side } else { 1 }) };
    for cell in block.cells() {
        coordinates.extend(cell[..k].iter().map(|&at| f64::from(at) + 0.5));
    }
    let heights: Vec<f32> =
        (0..coordinates.len() / k).map(|i| if i < 20_000 { (i % 5) as f32 - 2.0 } else { 7.5 }).collect();
    let points = Points::new(k, coordinates).unwrap().attribute(PointAttribute::new("height", &heights)).unwrap();
    FieldData::from(points.named("cloud"))
}

/// Values, strategies, rules and curves, in two to four dimensions.
pub fn points_and_meshes_have_the_cpus_cells(gpu: &Target, scope: Scope) {
    let mut requests = Vec::new();
    let of = |workload, size: &[u32], (g, r, b), value, data: FieldData| {
        let size = if scope == Scope::Full { size.to_vec() } else { size.iter().map(|n| n / 2).collect() };
        Request::new(workload).dim(Some(size.len())).size(Some(size)).scheme(g, r, b).value(Some(value)).data(data)
    };
    for value in [DataValue::Inside, DataValue::Surface] {
        let torus = || FieldData::from(Mesh::torus(2.0, 0.8, [60, 40]).named("torus"));
        for (size, scheme) in [([240, 200, 130], (1, 2, 4)), ([111, 69, 33], (1, 3, 1))] {
            requests.push(of(FieldKind::Mesh, &size, scheme, value, torus()));
        }
    }
    for value in [DataValue::Occupied, DataValue::Count, DataValue::Min, DataValue::Max, DataValue::Mean] {
        for (size, scheme) in
            [(&[300, 277][..], (1, 2, 2)), (&[128, 100, 64], (2, 2, 4)), (&[37, 23, 20, 16], (1, 3, 1))]
        {
            let mut request = of(FieldKind::Points, size, scheme, value, cloud(size));
            request.computed.window = Some(size.iter().map(|&n| [0.0, f64::from(n)]).collect());
            requests.push(request);
        }
    }
    let runs: usize = requests
        .into_iter()
        .map(|request| request.workload.dispatch(request.k(), Compare { gpu, request: request.clone() }).unwrap())
        .sum();
    println!("{runs} runs of regions");
}
