//! A field that panics while a piece is made: the piece is given back, nothing of it is half there, and others make it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use orthant::backend::{Part, Roots};
use orthant::prelude::*;
use orthant::tree::{
    Collector, Parts, PieceFolder, PieceRequest, PieceState, PieceWork, TreeFile, TreeInfo, TreeSource, TreeTarget,
};
use orthant::{CellType, Control};

use crate::trees::folder;

/// How many labels may be looked at before the field panics; negative: no matter how many.
static LEFT: AtomicI64 = AtomicI64::new(-1);

fn plan() -> Plan<2> {
    Plan::builder([64, 64]).scheme(Scheme::uniform(8, 2, 2)).rule(RuleKind::Full).build().unwrap()
}

fn how() -> How {
    How::default().keep(Keep::Regions).cell(CellType::U8)
}

fn label([x, y]: [u32; 2]) -> u32 {
    // In one step, since threads count down together.
    let counted =
        LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| (left != 0).then(|| (left - 1).max(-1)));
    assert!(counted.is_ok(), "the field panics");
    u32::from(x * x + y * y < 1000)
}

/// Makes a piece, and may panic when its files are written and it has no name yet: true if it was free.
fn make(pieces: &PieceFolder, piece: usize, panics_at_the_end: bool) -> bool {
    let Some(claim) = pieces.claim(piece).unwrap() else { return false };
    let (plan, cpu, field) = (plan(), Target::cpu(), CellField::new(1, label));
    let mut prepared = cpu.of().prepare(&plan, &field, &how()).unwrap();
    let roots = pieces.roots(piece);
    prepared.run(&Part::of(Roots::Codes { level: 0, range: roots.clone() }), &Control::default()).unwrap();
    let mut collector = Collector::new(&plan);
    prepared.result(&mut collector).unwrap();
    let tree = collector.part(0, roots.start.into()..roots.end.into()).unwrap();
    let work = || {
        assert!(!panics_at_the_end, "the work panics");
        PieceWork { device: "cpu".into(), ..PieceWork::default() }
    };
    claim.write(pieces, &tree, &work, None).unwrap();
    true
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// At once, on the way, and after all files are written.
#[test]
fn a_piece_whose_field_panics_is_given_back() {
    let folder = folder();
    let (plan, path) = (plan(), folder.path().join("disc.pieces"));
    let asked = PieceRequest {
        plan: &plan,
        kind: CellType::U8,
        info: &TreeInfo::of(&plan),
        made_of: "a disc",
        request: Default::default(),
        weights: &[],
        pieces: 4,
    };
    let pieces = PieceFolder::create(&path, asked, false).unwrap();
    LEFT.store(i64::MAX, Ordering::Relaxed);
    assert!(make(&pieces, 0, false));
    let looks = i64::MAX - LEFT.load(Ordering::Relaxed);
    assert!(looks > 500, "{looks}");
    for left in [0, 1, 100, 500, -1] {
        LEFT.store(left, Ordering::Relaxed);
        let ended = catch_unwind(AssertUnwindSafe(|| make(&pieces, 1, left < 0)));
        assert!(ended.is_err(), "after {left} of some {looks} labels");
        assert_eq!(pieces.state(1, true).unwrap(), PieceState::Missing, "after {left} of some {looks} labels");
        // A finished piece beside it is as it was.
        assert!(matches!(pieces.state(0, true).unwrap(), PieceState::Done(_)));
    }
    LEFT.store(-1, Ordering::Relaxed);
    (1..4).for_each(|piece| assert!(make(&pieces, piece, false), "piece {piece} is free"));
    assert_eq!(names(&path.join("pieces")), (0..4).map(|piece| format!("{piece:06}.zarr")).collect::<Vec<_>>());
    let target = folder.path().join("disc.tree.zarr");
    pieces.merge::<2>(&TreeTarget::new(&target), &Default::default()).unwrap().finish().unwrap();
    let (tree, field) = (TreeFile::<2>::open(&target).unwrap(), CellField::new(1, label));
    let cpu = Target::cpu();
    let mut prepared = cpu.of().prepare(&plan, &field, &how()).unwrap();
    prepared.run(&Part::default(), &Control::default()).unwrap();
    let mut collector = Collector::new(&plan);
    prepared.result(&mut collector).unwrap();
    let whole = collector.tree().unwrap();
    let parts: &dyn Parts<2> = &tree;
    assert_eq!(parts.compare(&TreeSource(&whole), 1, &Control::default()).unwrap().cells, 0);
    assert_eq!(tree.checksum(), whole.checksum());
}
