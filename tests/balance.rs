//! Balancers on the CPU, and what they are told: every unit is done once, by its item and in its place.

use std::sync::Mutex;

use orthant::balance::{Balancer, BalancerKind, Items, UnitRun, expand};
use proptest::prelude::*;

/// The runs of a balancer, in the order of units and joined where they were cut.
fn runs(balancer: &Balancer, prefix: &[u64]) -> Vec<UnitRun> {
    let found = Mutex::new(Vec::new());
    balancer.run(prefix, &|run| found.lock().unwrap().push(run)).unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|run| run.unit);
    let mut joined: Vec<UnitRun> = Vec::new();
    for run in found {
        assert!(run.ranks.start < run.ranks.end, "{run:?} has no units");
        match joined.last_mut() {
            Some(last) if last.item == run.item && last.ranks.end == run.ranks.start => last.ranks.end = run.ranks.end,
            _ => joined.push(run),
        }
    }
    joined
}

fn on_cpu() -> impl Iterator<Item = Balancer> {
    BalancerKind::ALL.iter().filter(|kind| kind.is_on_cpu()).map(|&kind| kind.into())
}

fn holds(sizes: Vec<u32>) {
    let prefix = Items::new(sizes.clone()).unwrap().prefix();
    assert_eq!(prefix.len(), sizes.len() + 1);
    let mut expected = Vec::new();
    expand(&prefix, |run| expected.push(run));
    let units: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    assert_eq!(expected.iter().map(|run| run.ranks.end).sum::<u64>(), units);
    for balancer in on_cpu() {
        assert_eq!(runs(&balancer, &prefix), expected, "{balancer} of {sizes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_unit_is_done_once(
        sizes in prop::collection::vec(prop_oneof![4 => Just(0u32), 8 => 0..9u32, 1 => 0..70_000u32], 0..600),
        giant in prop::option::of((any::<prop::sample::Index>(), any::<u32>())),
    ) {
        let mut sizes = sizes;
        if let (Some((place, giant)), false) = (giant, sizes.is_empty()) {
            let place = place.index(sizes.len());
            sizes[place] = giant;
        }
        holds(sizes);
    }
}

#[test]
fn lists_that_are_hard_to_balance() {
    assert_eq!(on_cpu().count(), 3);
    for sizes in [
        vec![],
        vec![0],
        vec![0; 5000],
        vec![7],
        [vec![0; 3000], vec![4000], vec![0; 3000]].concat(),
        // More units than 32 bits count, with bounds of chunks and of items around 2^32.
        vec![u32::MAX, 1, 0, u32::MAX, 2, 0, 0],
        vec![u32::MAX; 9],
    ] {
        holds(sizes);
    }
}

#[test]
fn balancers_are_read_as_they_are_written() {
    for text in ["threads", "multi-phase:units=7:rounds=3", "virtual-warps:warp=16:block=128", "tile-search:tile=96"] {
        assert_eq!(text.parse::<Balancer>().unwrap().to_string(), text);
    }
    for (text, words) in [
        ("warps", "unknown balancer 'warps'"),
        ("virtual-warps:warp=5", "warp=2..32, a power of two"),
        ("virtual-warps:warp=64", "'warp=64'"),
        ("threads:units=3", "'units=3': it takes block=32..1024, a multiple of 32"),
        ("threads:block=33", "'block=33'"),
        ("two-phase:units=3:units=4", "'units=4'"),
        ("two-phase:", "''"),
    ] {
        let error = text.parse::<Balancer>().unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let error = "multi-phase".parse::<Balancer>().unwrap().run(&[0, 1], &|_| {}).unwrap_err().to_string();
    assert!(error.contains("on the CPU there are"), "{error}");
}
