//! Runs whose trees are written while their bricks are read, a few regions at a time.

use orthant::backend::{Error, Part};
use orthant::prelude::*;
use orthant::result::MaterialiseError;
use orthant::tree::{TreeError, TreeFileError, TreeInfo, TreeTarget, write_run};
use orthant::{CellType, Control};

use crate::trees::folder;

type EachPart = dyn Fn(Tree<2>) -> Result<Tree<2>, TreeError> + Sync;

/// A disc, and regions of one value that go on over many shards.
fn disc() -> CellField<2, impl Fn([u32; 2]) -> u32 + Sync> {
    CellField::new(90, |[x, y]: [u32; 2]| if x * x + y * y < 475 { 7 } else { (x > 30) as u32 * (y % 90) })
}

fn plan(curve: CurveKind, rule: RuleKind) -> Plan<2> {
    Plan::builder([50, 32]).scheme(Scheme::uniform(2, 2, 2)).curve(curve).rule(rule).build().unwrap()
}

/// What a file of the tree has, written as a whole, and in pieces of so many rows.
#[test]
fn files_are_those_of_the_whole_tree() {
    let (folder, control) = (folder(), Control::default());
    let how = How::default().keep(Keep::Regions).cell(CellType::U8);
    for (curve, rule) in [CurveKind::Morton, CurveKind::Hilbert, CurveKind::Canonical].into_iter().zip([
        RuleKind::Full,
        RuleKind::Border,
        RuleKind::Closed,
    ]) {
        let (plan, field, target) = (plan(curve, rule), disc(), Target::cpu());
        let mut prepared = target.of().prepare(&plan, &field, &how).unwrap();
        for cells in [100, 1 << 25] {
            let open = |name: &str, rows| {
                let path = folder.path().join(format!("{name}-{curve}-{cells}.tree.zarr.zip"));
                let target = TreeTarget::new(&path).overwrite(true).shard_cells(cells).rows_at_once(rows);
                (target.open(&plan, CellType::U8, &TreeInfo::of(&plan)).unwrap(), path)
            };
            let (mut whole, path) = open("whole", 1);
            prepared.run(&Part::default(), &control).unwrap();
            let tree = Tree::of(prepared.subdivision().unwrap()).unwrap();
            whole.write(&tree).unwrap();
            assert_eq!(whole.checksum(), tree.checksum());
            whole.finish().unwrap();
            let expected = std::fs::read(path).unwrap();
            for rows in [1, 40, usize::MAX] {
                let ((mut one, first), (mut other, second)) = (open("one", rows), open("other", rows));
                prepared.run(&Part::default(), &control).unwrap();
                write_run(&mut *prepared, &mut [&mut one, &mut other], &Ok).unwrap();
                assert_eq!((one.checksum(), one.counts().0), (tree.checksum(), other.counts().0));
                one.finish().unwrap();
                other.finish().unwrap();
                assert_eq!(std::fs::read(first).unwrap(), expected, "{curve}, {cells} cells, {rows} rows");
                assert_eq!(std::fs::read(second).unwrap(), expected);
            }
        }
    }
}

#[test]
fn failures_have_their_reasons() {
    let folder = folder();
    let (plan, field, cpu) = (plan(CurveKind::Morton, RuleKind::Full), disc(), Target::cpu());
    let failed = |how: How, kind, control: Option<Control>, each: &EachPart| {
        let mut prepared = cpu.of().prepare(&plan, &field, &how).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        let target = TreeTarget::new(folder.path().join("failed.tree.zarr")).shard_cells(64).rows_at_once(9);
        let mut writer = target.open(&plan, kind, &TreeInfo::of(&plan)).unwrap();
        writer = match control {
            Some(control) => writer.control(control.into()),
            None => writer,
        };
        write_run(&mut *prepared, &mut [&mut writer], each).unwrap_err()
    };
    let how = || How::default().keep(Keep::Regions).cell(CellType::U8);
    let cancelled = Control::default();
    cancelled.cancel(15);
    assert!(matches!(failed(how(), CellType::U8, Some(cancelled), &Ok), TreeError::Run(Error::Interrupted(15))));
    assert!(matches!(failed(how(), CellType::U16, None, &Ok), TreeError::File(TreeFileError::Part { .. })));
    let other = Plan::builder([50, 32]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build().unwrap();
    let mut writer = TreeTarget::new(folder.path().join("other.tree.zarr"))
        .open(&other, CellType::U8, &TreeInfo::of(&other))
        .unwrap();
    let mut prepared = cpu.of().prepare(&plan, &field, &how()).unwrap();
    prepared.run(&Part::default(), &Control::default()).unwrap();
    let refused = write_run(&mut *prepared, &mut [&mut writer], &Ok);
    assert!(matches!(refused, Err(TreeError::File(TreeFileError::Part { .. }))));
    drop((prepared, writer));
    let not_kept = |keep| failed(how().keep(keep), CellType::U8, None, &Ok);
    assert!(matches!(not_kept(Keep::Counts), TreeError::Run(Error::NotKept(MaterialiseError::NotKept))));
    assert!(matches!(not_kept(Keep::Dense), TreeError::Run(Error::NotKept(MaterialiseError::NotKept))));
    let refuses = |_| Err(TreeError::Level { level: 7, deepest: 3 });
    assert!(matches!(failed(how(), CellType::U8, None, &refuses), TreeError::Level { level: 7, .. }));
    // Nothing half-written stays.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
