//! Points, meshes and lists of cells on the stand-in: cells, regions and verdicts are those of the CPU.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::binary::{empty, orthant, text};
use crate::scope::every;

/// Points in four dimensions with values of three types: scattered ones, some cells with several, and a block in which each cell has one.
fn scan(sides: [u32; 4]) -> String {
    let mut state = 7u64;
    let mut random = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    let mut lines = Vec::new();
    for i in 0..400 {
        let [x, y, z, w] = sides.map(&mut random);
        let value = random(5) as i32 - 2;
        let number = ["1e30", "-0", "0.5", "0"][i % 4];
        (0..1 + i % 3).for_each(|_| lines.push(format!("{x}.5 {y}.25 {z}.75 {w}.5 {value} {number} -{value}e-3")));
    }
    for cell in 0..9 * 9 * 9 * 3 {
        let [x, y, z, w] = [cell % 9, cell / 9 % 9, cell / 81 % 9, cell / 729].map(|at| f64::from(at) + 0.5);
        lines.push(format!("{x} {y} {z} {w} -7 2.5 -2.5"));
    }
    let names = "property double x\nproperty double y\nproperty double z\nproperty double w\n";
    let values = "property short height\nproperty float f\nproperty double d\n";
    let lines: Vec<String> = lines.into_iter().map(|line| line.replace("--", "")).collect();
    format!("ply\nformat ascii 1.0\nelement vertex {}\n{names}{values}end_header\n{}\n", lines.len(), lines.join("\n"))
}

/// What became of regions on each level.
fn counts(report: &Value) -> Vec<Vec<Value>> {
    let level = |level: &Value| ["subdivided", "filled", "leaves", "proven"].map(|key| level[key].clone()).to_vec();
    report["levels"].as_array().unwrap().iter().map(level).collect()
}

/// Runs on the stand-in what `run` says, by every strategy, and on the CPU; both have the same cells, and what becomes of regions on each level.
fn as_on_the_cpu(folder: &Path, run: &str) {
    let report = |how: &str| -> Value {
        let (out, err) = text(&orthant(folder, &format!("run {run} {how} --json"), &[]));
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("run {run} {how}: {err}"))
    };
    // Hilbert does not serve every r.
    let stream =
        if run.contains("-r 3") { "--scheme stream --curve canonical" } else { "--scheme stream --curve hilbert" };
    for (rule, hows) in [
        ("--explore certified", &["--scheme sbr", stream, "--strategy dp"][..]),
        ("--explore border", &["--scheme mbr --curve canonical"]),
        ("--explore closed --prove yes", &["--strategy dp --block 32x2"]),
    ] {
        let cpu = report(&format!("{rule} --strategy ask --keep regions --backend cpu"));
        assert!(cpu["cells"]["filled"].as_u64() > Some(0) && cpu["cells"]["leaf"].as_u64() > Some(0), "{run}: {cpu}");
        for how in hows {
            let gpu = report(&format!("{rule} {how} --keep regions --backend cuda"));
            assert_eq!(counts(&gpu), counts(&cpu), "{run} {rule} {how}");
            assert!(cpu["regions_checksum"].is_string());
            assert_eq!(gpu["regions_checksum"], cpu["regions_checksum"], "{run} {rule} {how}");
        }
    }
    let [cpu, gpu] = ["cpu", "cuda"].map(|backend| report(&format!("--strategy exhaustive --backend {backend}")));
    assert!(cpu["checksum"].is_string());
    assert_eq!(gpu["checksum"], cpu["checksum"], "{run}");
}

pub(super) fn points_have_the_cpus_cells_and_proofs(folder: &Path) {
    let files = empty("points");
    let path = files.join("scan.ply");
    std::fs::write(&path, scan([37, 23, 11, 9])).unwrap();
    for run in every(
        4,
        [
            "--columns x,y,z -n 37x23x11 --domain 0:37,0:23,0:11 -r 3",
            "--columns x,y,z -n 27 --domain 0:27,0:27,0:27 -r 3",
            "--columns z,y,x -n 11x23x37 --domain 0:11,0:23,0:37 -r 3 --value min --attribute d",
            "--columns x,y -n 37x23 --domain 0:37,0:23 -r 2 --value count",
            "--columns x,y,z,w -n 12x11x10x9 --domain 0:12,0:11,0:10,0:9 -r 2 --value min --attribute height",
            "--columns x,y,z -n 64x48x40 --domain 0:64,0:48,0:40 -r 2 --value max --attribute f",
        ],
    ) {
        as_on_the_cpu(folder, &format!("points --input {} {run} -g 1 -B 1", path.display()));
    }
}

/// More points than a few blocks sort: some beyond the window, some on its ends and between cells, many in one cell.
pub(super) fn many_points_are_sorted_there(folder: &Path) {
    let files = empty("many-points");
    let path = files.join("scan.npy");
    let mut state = 11u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let points = 90_000;
    let coordinates: Vec<f64> = (0..points)
        .flat_map(|i| {
            let place = [random(), random(), random()];
            match i % 8 {
                0 => place.map(|x| 1.25 * x - 0.125),
                1 => place.map(|x| (x * 64.0).floor() / 64.0),
                2 => place.map(f64::round),
                3 => [0.1, 0.7, 0.3],
                _ => place,
            }
        })
        .collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({points}, 3), }}");
    let bytes = coordinates.into_iter().flat_map(f64::to_le_bytes).collect();
    std::fs::write(
        &path,
        [b"\x93NUMPY\x01\x00\x76\x00".to_vec(), format!("{header:<117}\n").into_bytes(), bytes].concat(),
    )
    .unwrap();
    for run in
        ["-n 64x48x40 --value count -B 2", "-n 200 -B 25 --value count", "-n 2^19x3x2^17 -B 2^14x1x2^13 --keep counts"]
    {
        let run = format!(
            "run points --input {} --domain 0:1,0:1,0:1 --keep regions --json --explore certified {run}",
            path.display()
        );
        let report = |how: &str| -> Value {
            let (out, err) = text(&orthant(folder, &format!("{run} {how}"), &[]));
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{run} {how}: {err}"))
        };
        let [cpu, gpu] = ["cpu", "cuda"].map(|backend| report(&format!("--strategy ask --backend {backend}")));
        assert!(cpu["regions_checksum"].is_string() || run.contains("--keep counts"));
        assert_eq!(gpu["regions_checksum"], cpu["regions_checksum"], "{run}");
        assert_eq!(counts(&gpu), counts(&cpu), "{run}");
        // Coordinates were copied, not cells that the host had sorted.
        assert_eq!(gpu["copied_bytes"], 24 * points, "{run}");
    }
    let (_, error) = text(&orthant(
        folder,
        &format!("run points --input {} -n 64 --domain 2:3,2:3,2:3 --backend cuda --strategy ask", path.display()),
        &[],
    ));
    assert!(error.contains("none of 90000 points lies in the window 2:3,2:3,2:3"), "{error}");
}

/// A block of cells of two values and cells here and there, as rows of i16 with a value each.
fn rows(sides: &[u16]) -> Vec<u8> {
    let mut state = 7u64;
    let mut random = |below: u16| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u16 % below
    };
    let mut cells = BTreeMap::new();
    let block: u32 = sides.iter().map(|&side| u32::from(side / 2)).product();
    for mut index in 0..block {
        let cell = sides.iter().map(|&side| {
            let coordinate = index % u32::from(side / 2);
            index /= u32::from(side / 2);
            coordinate as u16
        });
        let cell: Vec<u16> = cell.collect();
        let value = if cell[0] < sides[0] / 4 { 7 } else { -9i16 };
        cells.insert(cell, value);
    }
    for i in 0..200 {
        let cell = sides.iter().map(|&side| random(side)).collect();
        cells.entry(cell).or_insert(i % 4);
    }
    let header =
        format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({}, {}), }}", cells.len(), sides.len() + 1);
    let rows = cells.iter().flat_map(|(cell, &value)| cell.iter().map(|&at| at as i16).chain([value]));
    let header = format!("{header:<117}\n").into_bytes();
    [b"\x93NUMPY\x01\x00\x76\x00".to_vec(), header, rows.flat_map(i16::to_le_bytes).collect()].concat()
}

pub(super) fn lists_have_the_cpus_cells_and_proofs(folder: &Path) {
    let files = empty("lists");
    let lists = [
        ("space", &[37, 23, 11][..], "-r 3 --background -9"),
        ("plane", &[61, 40], "-r 2 --background 2"),
        ("four", &[12, 11, 10, 9], "-r 2"),
        ("five", &[10, 9, 8, 8, 8], "-r 2 --background 7"),
    ];
    for (name, sides, how) in every(3, lists) {
        let path = files.join(name).with_extension("npy");
        std::fs::write(&path, rows(sides)).unwrap();
        let size = sides.iter().map(u16::to_string).collect::<Vec<_>>().join("x");
        let list = format!("array --input {} --coordinates=cells --dim {} -n {size}", path.display(), sides.len());
        as_on_the_cpu(folder, &format!("{list} {how} -g 1 -B 1"));
    }
}

pub(super) fn meshes_have_the_cpus_cells_and_proofs(folder: &Path) {
    let files = empty("meshes");
    let path = files.join("part.off");
    // A wedge with a slope, so that rows change in every plane, and one upside down in it, whose inside is outside.
    let wedge = |[x, y, z]: [i32; 3], s: i32| {
        [[0, 0, 0], [8, 0, 0], [0, 7, 0], [1, 1, 9]]
            .map(|[a, b, c]| format!("{} {} {}\n", x + s * a, y + s * b, z + s * c))
    };
    let corners = [wedge([0, 0, 0], 4), wedge([16, 12, 12], -1)].concat().concat();
    let faces = "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n3 4 6 5\n3 4 5 7\n3 4 7 6\n3 5 6 7\n";
    std::fs::write(&path, format!("OFF\n8 8 0\n{corners}{faces}")).unwrap();
    for run in every(
        2,
        [
            "-n 37x23x29 -g 1 -r 3 -B 1",
            "-n 24x40x21 -g 3x2x1 -r 2 -B 2 --value surface",
            "-n 37x33x29 -g 1 -r 2 -B 2 --value distance --band 2",
            // Cells that are no cubes, and planes and rows below the first ones.
            "-n 40x33x37 -g 1 -r 3 -B 1 --value distance --domain 4:44,-8:58,3:40",
        ],
    ) {
        as_on_the_cpu(folder, &format!("mesh --input {} {run}", path.display()));
    }
}
