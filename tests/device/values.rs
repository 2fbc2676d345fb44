//! Cells of every type on a GPU, against the CPU, to the bit.

use orthant::backend::Pass;
use orthant::field::ArrayField;
use orthant::prelude::*;
use orthant::result::LevelCounts;
use orthant::{Cell, Mapping, Subdivision};
use orthant_lab::conformance::Scope;

use crate::patterns::awkward;

fn check<T: Cell, const K: usize>(gpu: &Target, scope: Scope, side: u32) -> u32 {
    let values = awkward::<T>();
    let shape = ndarray::IxDyn(&[side as usize; K]);
    // Blocks of 9 cells of one value, and some cells of another.
    let array = ndarray::ArrayD::from_shape_fn(shape, |index| {
        let block: usize = (0..K).map(|j| index[j] / 9 * (2 * j + 3)).sum();
        let speck = (0..K).all(|j| index[j] % 7 == 2 + j);
        values[(block + usize::from(speck)) % values.len()]
    });
    let field = ArrayField::<K, T>::new(array.view()).unwrap();
    let domain = Domain::new(field.size(), [[0.0, 1.0]; K], Sample::Corner).unwrap();
    let mut runs = 0;
    // An array proves nothing.
    for &rule in RuleKind::ALL.iter().filter(|&&rule| rule != RuleKind::Certified) {
        let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Hilbert, rule).unwrap();
        for &strategy in StrategyKind::ON_BACKENDS {
            if strategy == StrategyKind::Dp && scope == Scope::Static {
                continue;
            }
            for (mapping, pass, keep) in [
                (Mapping::Sbr, Pass::InPlace, Keep::Dense),
                (Mapping::Mbr, Pass::Level, Keep::Dense),
                (Mapping::Sbr, Pass::Deferred, Keep::Dense),
                (Mapping::Mbr, Pass::InPlace, Keep::Regions),
            ] {
                if strategy == StrategyKind::Exhaustive && keep == Keep::Regions {
                    continue;
                }
                for poison in [0x5a, 0xa5] {
                    let how = How::default().strategy(strategy).mapping(Some(mapping)).pass(Some(pass)).keep(keep);
                    let how = how.poison(poison);
                    let here = Run::new(&plan, &field).how(how.clone()).start().unwrap();
                    let there = Run::new(&plan, &field).how(how).on(gpu).start().unwrap();
                    let what = format!("{} k={K} {rule} {strategy} {mapping} {pass} {keep} over {poison:#x}", T::TYPE);
                    assert!(there.materialise(None).unwrap() == here.materialise(None).unwrap(), "{what}");
                    let counts = |run: &Subdivision<K>| {
                        let of = |LevelCounts { subdivided, filled, leaves, .. }| [subdivided, filled, leaves];
                        run.levels().iter().map(|level| of(level.counts)).collect::<Vec<_>>()
                    };
                    assert_eq!(counts(&there), counts(&here), "{what}");
                    runs += 1;
                }
            }
        }
    }
    runs
}

/// Every type, in two and three dimensions, under every rule, strategy, mapping and form of result.
pub fn cells_of_every_type(gpu: &Target, scope: Scope) {
    let sides = if scope == Scope::Full { [150, 40] } else { [37, 19] };
    let mut runs = 0;
    macro_rules! of_types {
        ($($T:ty),+) => { $(
            runs += check::<$T, 2>(gpu, scope, sides[0]);
            runs += check::<$T, 3>(gpu, scope, sides[1]);
        )+ };
    }
    of_types!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);
    println!("{runs} runs, all equal");
}
