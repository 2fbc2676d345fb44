//! Balancers on lists of work-items that are hard on them. The program checks every unit, and ends with 3 if one is wrong.

use std::path::{Path, PathBuf};

use crate::binary::{empty, orthant, scratch, text};
use crate::scope::every;

/// Lists by name: none empty, all empty, many empty at the ends and between, giants, all alike.
fn lists() -> Vec<(&'static str, Vec<u32>)> {
    let repeat = |size: u32, times: usize| vec![size; times];
    let mut state = 1u64;
    let mut random = |most: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % most
    };
    let tailed = |x: u64| if x.is_multiple_of(61) { 700 } else { x as u32 % 5 };
    vec![
        ("few", vec![4, 1, 3, 9, 1, 5, 1, 4]),
        ("one", vec![7]),
        ("ones", repeat(1, 100)),
        ("ends", [repeat(0, 37), vec![5, 0, 0, 3], repeat(0, 50)].concat()),
        ("giant", [repeat(1, 33), vec![9000], repeat(2, 31)].concat()),
        ("alone", [repeat(0, 70), vec![5000], repeat(0, 70), vec![1]].concat()),
        // More empty items within a chunk than are looked at at a time.
        ("void", [vec![3], repeat(0, 5000), vec![2], repeat(0, 3000), vec![1, 1], repeat(0, 2100)].concat()),
        ("sparse", (0..9000).map(|item| u32::from(item % 2 == 0)).collect()),
        ("random", (0..900).map(|_| random(9) as u32).collect()),
        ("tailed", (0..900).map(|_| tailed(random(1 << 20))).collect()),
        ("alike", repeat(8, 96)),
        ("levels", [repeat(64, 20), repeat(27, 30), repeat(1, 500)].concat()),
    ]
}

fn files(lists: &[(&str, Vec<u32>)]) -> Vec<PathBuf> {
    let folder = scratch("balance");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |(name, sizes): &(&str, Vec<u32>)| {
        let path = folder.join(format!("{name}.txt"));
        let lines: String = sizes.iter().map(|size| format!("{size}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        path
    };
    lists.iter().map(file).collect()
}

fn command(files: &[PathBuf], balancers: &str) -> String {
    let sizes: String = files.iter().map(|file| format!(" --sizes {}", file.display())).collect();
    format!("balance run --backend cuda --order given --samples 1 --warm-up 0 --copies 1 --balancer {balancers}{sizes}")
}

/// What it prints, of a run in which every unit was done once.
fn done(folder: &Path, arguments: &str, variables: &[(&str, &str)]) -> String {
    let output = orthant(folder, arguments, variables);
    let (out, err) = text(&output);
    assert!(output.status.success(), "{arguments}: {out}{err}");
    out
}

/// Every technique as it is by default, and with small blocks, so that lists have many.
const BALANCERS: &str = "threads,virtual-warps:warp=4,virtual-warps:warp=32:block=32,dynamic-warps:threshold=40:block=32,\
    cta-warp-scan:block=32,cta-warp-scan,direct-search,warp-search:block=64,block-search:items=50:block=32,block-search,\
    two-phase:block=32:units=3,two-phase,multi-phase:block=32:units=1:rounds=3,multi-phase,merge-path:block=32:units=2,merge-path,\
    tile-search:tile=50:block=32,tile-search";

pub(super) fn every_unit_is_done_once(folder: &Path) {
    let files = files(&lists());
    let said = done(folder, &command(&files, BALANCERS), &[]);
    for name in ["dynamic-warps:threshold=40:block=32", "multi-phase:block=32:units=1:rounds=3", "tile-search"] {
        let lines = said.lines().filter(|line| line.trim().starts_with(&format!("{name} ")));
        assert_eq!(lines.count(), files.len(), "{said}");
    }
    // What lies together only.
    let together: Vec<_> =
        files.into_iter().filter(|file| file.ends_with("alike.txt") || file.ends_with("levels.txt")).collect();
    self::done(folder, &command(&together, "level-arithmetic,level-arithmetic:block=32"), &[]);
    // Sums within a warp beyond 32 bits.
    let large = self::files(&[("large", vec![3, 1 << 23, 0, 5, 7])]);
    self::done(folder, &command(&large, "cta-warp-scan,direct-search,merge-path,tile-search:tile=4096"), &[]);
    let empty = self::files(&[("nothing", vec![]), ("nowhere", vec![0; 40])]);
    let said = self::done(folder, &command(&empty, "merge-path"), &[]);
    assert_eq!(said.matches("nothing to measure").count(), 2, "{said}");
}

/// Regions of odd sizes and of even ones, uniform and mixed, in two to four dimensions, settled by every balancer and in every way.
pub(super) fn every_balancer_settles(folder: &Path) {
    const TWO: &str = "mandelbrot -n 70x37 -g 4 -r 2 -B 3";
    const TURNS: [&str; 4] = [
        TWO,
        "mandelbrot -n 64 -g 4 -r 2 -B 4 --cell u8 --dwell 60",
        "mandelbulb -n 18 -g 3 -r 2 -B 2",
        "julibrot -n 8 -g 2 -r 2 -B 2",
    ];
    let all = "auto,threads,virtual-warps:warp=8,dynamic-warps:threshold=32,cta-warp-scan:block=32,direct-search,warp-search,\
        block-search:items=50,two-phase:units=3,multi-phase:units=1:rounds=3,merge-path,tile-search:tile=100,level-arithmetic";
    let checksum = |arguments: &str| {
        let output = orthant(folder, &format!("run {arguments} --json"), &[]);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{arguments}: {err}");
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        // How many cells are looked at before two differ depends on the order.
        [&report["checksum"], &report["cells"]["filled"], &report["cells"]["evaluated"]].map(Clone::clone)
    };
    let expected = TURNS.map(|plan| checksum(&format!("{plan} --backend cpu")));
    let ways = [
        "ask --pass level",
        "ask --pass deferred",
        "ask --pass level --scheme mbr --insertion atomic",
        "dp --pass deferred",
        "dp --pass level",
    ];
    for (i, balancer) in all.split(',').map(str::trim).enumerate() {
        for turn in every(2, [i % TURNS.len(), (i + 1) % TURNS.len()]) {
            let (plan, expected) = (TURNS[turn], &expected[turn]);
            let way = ways[i % ways.len()];
            let found = checksum(&format!("{plan} --backend cuda --strategy {way} --balancer {balancer}"));
            assert_eq!(&found, expected, "{plan} {way} {balancer}");
        }
    }
    let refused = |arguments: &str, why: &str| {
        let (_, err) = text(&orthant(folder, &format!("run {TWO} --backend cuda {arguments}"), &[]));
        assert!(err.contains(why), "{arguments}: {err}");
    };
    refused("--balancer auto", "in place there are none");
    refused("--balancer auto --pass level --keep counts", "dense array");
    refused("--balancer best --pass level", "level-arithmetic");
}

/// Whatever launches from the device come to.
pub(super) fn launches_that_fail_lose_no_unit(folder: &Path) {
    let files = files(&[("giants", vec![3000; 40])]);
    for variables in [&[("STANDIN_FAIL_CHILDREN", "50")], &[("STANDIN_PENDING", "3")], &[("STANDIN_SEED", "5")]] {
        done(folder, &command(&files, "dynamic-warps:threshold=100:block=32"), variables);
    }
}

/// A test that finds nothing is worth nothing: each search has a fault planted in it.
pub(super) fn faults_are_found(folder: &Path) {
    let files = files(&lists());
    for (balancer, fault) in [
        ("direct-search", "balance/items.cuh|starts[i + step] <= unit|starts[i + step] < unit"),
        (
            "tile-search:tile=50:block=32",
            "balance/items.cuh|starts[first + probe] <= unit|starts[first + probe] < unit",
        ),
        ("warp-search:block=64", "balance/warp_search.cuh|other <= unit|other < unit"),
        ("block-search:items=50:block=32", "balance/block_search.cuh|starts[i + 1] <= unit|starts[i + 1] < unit"),
        ("two-phase:block=256:units=16", "balance/chunks.cuh|first += WINDOW|first += WINDOW + 1"),
        ("two-phase:block=32:units=3", "balance/chunks.cuh|args.units - 1)|args.units - 9)"),
        ("multi-phase:block=32:units=1:rounds=3", "balance/interpolation.cuh|return low|return high"),
        (
            "merge-path:block=32:units=2",
            "balance/merge_path.cuh|ends[middle] < step - middle|ends[middle] <= step - middle",
        ),
        (
            "merge-path:block=32:units=2",
            "balance/merge_path.cuh|ends[middle] < mine - middle|ends[middle] <= mine - middle",
        ),
        ("cta-warp-scan", "balance/cta_warp_scan.cuh|if (lane() == source) left = 0|if (lane() == source) left--"),
        ("dynamic-warps:threshold=40:block=32", "balance/dynamic_warps.cuh|= *counter(args, BALANCE_OVERFLOW)|= 0"),
        ("threads", "balance/scan.cuh|lane() <= nearest|lane() < nearest"),
    ] {
        // What is compiled with a fault must not be kept under the name of what has none.
        let cache = empty("balance-faults");
        let variables =
            [("STANDIN_FAULT", fault), ("STANDIN_PENDING", "3"), ("ORTHANT_CACHE_DIR", cache.to_str().unwrap())];
        let output = orthant(folder, &command(&files, balancer), &variables);
        assert!(!output.status.success(), "{balancer} does not mind {fault}");
        let said = text(&output).1;
        assert!(!said.contains("nothing to plant") && !said.contains("does not compile"), "{fault}: {said}");
    }
}
