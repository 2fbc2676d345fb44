//! Points whose coordinates lie on the GPU: regions and bricks as the CPU's, and how fast they are there.
//!
//! `ORTHANT_POINTS` is how many, 100,000 unless it is there; `ORTHANT_ROWS` names a file that gets a row of JSON for every way.

use std::io::Write;
use std::time::Duration;

use ndarray::ArrayView2;
use orthant::backend::Part;
use orthant::field::{ArrayField, DataValue, DevicePointsField, FieldData, FieldOptions, cloud};
use orthant::points::{Points, PointsValue};
use orthant::prelude::*;
use orthant::{Control, Mapping};
use orthant_lab::conformance::Scope;

/// Runs after one that does not count.
const REPEAT: usize = 7;

/// Points of a sphere, in no order: some lie beyond the window, some between cells, and a hundredth of them in one cell.
fn scan(points: u64) -> Vec<f64> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut coordinates = Vec::with_capacity(3 * points as usize);
    for i in 0..points {
        let (z, turn) = (2.0 * random() - 1.0, std::f64::consts::TAU * random());
        let around = (1.0 - z * z).sqrt();
        let place = [around * turn.cos(), around * turn.sin(), z];
        coordinates.extend(match i % 100 {
            0 => [0.5; 3],
            1 => place.map(|x| 1.5 * x),
            2 => place.map(|x| (x * 32.0).round() / 32.0),
            _ => place,
        });
    }
    coordinates
}

/// A row of what was measured.
fn row(gpu: &Target, points: u64, side: u32, way: &str, time: Duration) {
    let seconds = time.as_secs_f64();
    let rate = points as f64 / seconds / 1e6;
    println!("{way}, {points} points, {side}^3: {:.3} ms, {rate:.0} million points/s", seconds * 1e3);
    let Some(path) = std::env::var_os("ORTHANT_ROWS") else { return };
    let device = gpu.device().unwrap_or_default();
    let text = format!(
        "{{\"input\": \"coordinates on the GPU\", \"points\": {points}, \"side\": {side}, \"backend\": \"cuda\", \"device\": \"{device}\", \
         \"way\": \"{way}\", \"seconds\": {seconds:e}, \"million_points_per_second\": {rate:.1}}}\n"
    );
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Points that a run leaves on the GPU as an array are sorted there; regions and bricks are those of the CPU, and stay there.
pub fn points_on_the_gpu_are_sorted_there(gpu: &Target, scope: Scope) {
    let points = std::env::var("ORTHANT_POINTS").ok().and_then(|points| points.parse().ok()).unwrap_or(100_000u64);
    let coordinates = scan(points);
    let array = ArrayView2::from_shape((points as usize, 3), &coordinates).unwrap();
    let field = ArrayField::<2, f64>::new(array).unwrap();
    let lies = Plan::builder([3, points as u32]).rule(RuleKind::Full).build().unwrap();
    let how = How::default().strategy(StrategyKind::Exhaustive);
    let mut left = gpu.of().prepare(&lies, &field, &how).unwrap();
    left.run(&Part::default(), &Control::default()).unwrap();
    let address = left.resident_array().unwrap().unwrap().address;
    let data = FieldData::from(Points::new(3, coordinates.clone()).unwrap());
    let wide = if points > 1_000_000 { 2048 } else { 256 };
    for (side, value) in [(48, PointsValue::Count), (wide, PointsValue::Occupied), (wide, PointsValue::Count)] {
        let plan = Plan::builder([side; 3]).window([[-1.0, 1.0]; 3]).scheme(Scheme::uniform(4, 2, 4));
        let plan = plan.rule(RuleKind::Certified).build().unwrap();
        let there = DevicePointsField::new(plan.domain(), address, points, value).unwrap();
        let worth = if value == PointsValue::Count { DataValue::Count } else { DataValue::Occupied };
        let options = FieldOptions::default().data(data.clone()).value(worth);
        let here = cloud::open(plan.domain(), &options).unwrap();
        let cpu = Run::new(&plan, &*here).how(How::default().keep(Keep::Regions)).start().unwrap();
        let regions = How::default().keep(Keep::Regions);
        for (way, how) in [
            ("ask stream", regions.clone().mapping(Some(Mapping::Stream))),
            ("ask sbr", regions.clone().mapping(Some(Mapping::Sbr))),
            ("dp", regions.clone().strategy(StrategyKind::Dp)),
        ] {
            // Sanitizers that cannot follow launches from the device go without them.
            if way == "dp" && scope == Scope::Static {
                continue;
            }
            let mut prepared = gpu.of().prepare(&plan, &there, &how).unwrap();
            let mut times: Vec<Duration> = (0..=REPEAT)
                .map(|_| prepared.run(&Part::default(), &Control::default()).unwrap().device.unwrap())
                .skip(1)
                .collect();
            times.sort_unstable();
            row(gpu, points, side, &format!("{value} {way}"), times[REPEAT / 2]);
            let found = prepared.subdivision().unwrap();
            assert_eq!(found.totals(), cpu.totals(), "{value} {way}");
            assert!(cpu.regions_checksum().is_some());
            assert_eq!(found.regions_checksum(), cpu.regions_checksum(), "{value} {way}");
        }
        // Dense arrays, whose cells are settled from lists, too; of a domain that is not too large.
        if side <= 256 {
            let dense = |target: &Target, field: &dyn Field<3>, how: How| {
                Run::new(&plan, field).how(how).on(target).start().unwrap().array().unwrap().checksum()
            };
            let expected = dense(&Target::cpu(), &*here, How::default());
            for mapping in [Mapping::Mbr, Mapping::Sbr, Mapping::Stream] {
                let how = How::default().mapping(Some(mapping));
                assert_eq!(dense(gpu, &there, how), expected, "{value} {mapping}");
            }
        }
    }
}
