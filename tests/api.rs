//! What a user of the library holds.

use orthant::backend::{Part, Prepared};
use orthant::prelude::*;
use orthant::tree::{BottomUp, TreeFile};
use orthant::{Control, Subdivision};

fn crosses_threads<T: Send + Sync + ?Sized>() {}

/// Plans, fields, results and trees can be moved to another thread and be shared.
#[test]
fn what_a_user_holds_crosses_threads() {
    crosses_threads::<Plan<3>>();
    crosses_threads::<Request>();
    crosses_threads::<How>();
    crosses_threads::<Target>();
    crosses_threads::<Control>();
    crosses_threads::<dyn Field<3>>();
    crosses_threads::<ArrayField<'_, 3, f64>>();
    crosses_threads::<Run<'_, 3>>();
    crosses_threads::<Subdivision<3>>();
    crosses_threads::<Tree<3>>();
    crosses_threads::<BottomUp<'_, 3>>();
    crosses_threads::<TreeFile<3>>();
    crosses_threads::<orthant::Error>();
    crosses_threads::<orthant::tree::TreeError>();
    crosses_threads::<orthant_formats::input::InputError>();
}

/// A plan that one thread prepared and ran tells another what it counted.
#[test]
fn a_prepared_plan_changes_threads() {
    let plan = Plan::builder([64, 64]).build().unwrap();
    let diagonal = CellField::new(1, |[x, y]: [u32; 2]| u32::from(x > y));
    let target = Target::cpu();
    let mut prepared = target.of::<2>().prepare(&plan, &diagonal, &How::default()).unwrap();
    std::thread::scope(|scope| {
        let ran = scope.spawn(move || {
            prepared.run(&Part::default(), &Control::default()).unwrap();
            prepared
        });
        let mut prepared: Box<dyn Prepared<2> + '_> = ran.join().unwrap();
        let found = prepared.subdivision().unwrap();
        let above = found.array().unwrap().view::<u16>().unwrap().iter().filter(|&&label| label == 1).count();
        assert_eq!(above, 64 * 63 / 2);
    });
}

/// A value alone, an option of one, and nothing: setters of choices take all three.
#[test]
fn setters_agree() {
    let chosen = How::default().strategy(StrategyKind::Dp).mapping(orthant::Mapping::Sbr).threads(3);
    assert_eq!(chosen, How::default().strategy(StrategyKind::Dp).mapping(Some(orthant::Mapping::Sbr)).threads(Some(3)));
    assert_eq!(chosen.mapping(None).threads(None), How::default().strategy(StrategyKind::Dp));
}

/// Who imports all of the prelude can keep it in mind.
#[test]
fn the_prelude_has_twenty_names() {
    let text = include_str!("../src/lib.rs");
    let start = text.find("pub mod prelude {").unwrap();
    let text = &text[start..start + text[start..].find("\n}").unwrap()];
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("pub use crate::"));
    let count = |line: &str| line[line.find('{').map_or(line.len() - 1, |at| at + 1)..].matches(',').count() + 1;
    assert!(names.map(count).sum::<usize>() <= 20, "{text}");
}
