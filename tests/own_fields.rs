//! Fields of our own making, whose counts follow from theory, and what only a custom field can see.

use std::sync::Mutex;
use std::time::Duration;

use orthant::backend::ExploreOrder;
use orthant::field::{Carry, Evaluate, FieldOptions, Labels, Payload, Prove};
use orthant::field::{DigitSet, FieldError};
use orthant::prelude::*;
use orthant::result::{MemoryError, Stored};
use orthant::rule::Verdict;
use orthant::{Control, Error, WordsMut, field};

use crate::outcome::{labels, mixed};
use crate::scope::sized;

/// Mixed regions per level of the base-2 digit set given by a mask of kept children.
fn mask_counts<const K: usize>(mask: &[u64], levels: u32, how: &How) -> Vec<u64> {
    let n = 2u32.pow(levels + 1);
    let keeps = move |digits: &[u32; K]| {
        let child: usize = (0..K).map(|j| (digits[j] as usize) << j).sum();
        mask[child / 64] >> (child % 64) & 1 == 1
    };
    let domain = Domain::new([n; K], [[0.0, 1.0]; K], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let field = DigitSet::new(2, [n; K], keeps);
    mixed(&Run::new(&plan, &field).how(how.clone()).start().unwrap())
}

fn check_mask<const K: usize>(mask: &[u64], levels: u32) {
    let m = mask.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let expected: Vec<u64> = (1..=levels).map(|i| m.pow(i)).collect();
    for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
        let how = How::default().strategy(strategy).keep(Keep::Counts);
        assert_eq!(mask_counts::<K>(mask, levels, &how), expected, "k = {K}, mask {mask:x?}, {strategy}");
    }
}

#[test]
fn every_digit_mask_has_m_to_the_i_mixed_regions() {
    // Neither empty nor full: those are constant fields.
    (1..3).for_each(|mask| check_mask::<1>(&[mask], 5));
    (1..15).for_each(|mask| check_mask::<2>(&[mask], 4));
    (1..255).for_each(|mask| check_mask::<3>(&[mask], 3));
    // A sample of the 2^16 .. 2^256 others, from a fixed multiplicative sequence.
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        word ^ word >> 32
    };
    for _ in 0..40 {
        check_mask::<4>(&[(next() & 0xffff).clamp(1, 0xfffe)], 2);
        check_mask::<5>(&[(next() & 0xffff_ffff) | 1], 2);
        check_mask::<6>(&[next() | 2], 1);
    }
    for _ in 0..4 {
        check_mask::<7>(&[next(), next() | 1], 1);
        check_mask::<8>(&[next(), next(), next(), next() | 1], 1);
    }
}

/// A sphere of radius R about the middle of the domain, in exact integers: doubled coordinates, so that the centre is
/// one. A cell is 1 if the sphere cuts it, 0 inside and 2 outside.
struct Shell<const K: usize> {
    n: u32,
    radius: i64,
}

impl<const K: usize> Shell<K> {
    fn side(&self, region: &Region<K>) -> u32 {
        let (mut least, mut most) = (0i64, 0i64);
        for j in 0..K {
            let low = 2 * i64::from(region.corner[j]) - i64::from(self.n);
            let high = low + 2 * i64::from(region.extent[j]);
            most += low.abs().max(high.abs()).pow(2);
            least += if low <= 0 && high >= 0 { 0 } else { low.abs().min(high.abs()).pow(2) };
        }
        let square = 4 * self.radius * self.radius;
        if most < square {
            0
        } else if least > square {
            2
        } else {
            1
        }
    }
}

impl<const K: usize> Field<K> for Shell<K> {
    fn labels(&self) -> Labels {
        Labels::counts(2)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }
}

impl<const K: usize> Evaluate<K> for Shell<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|&corner| self.side(&Region { corner, extent: [1; K] })));
    }
}

impl<const K: usize> Prove<K> for Shell<K> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        match self.side(region) {
            1 => Verdict::Mixed,
            label => Verdict::Uniform(label.into()),
        }
    }
}

fn check_shell<const K: usize>(n: u32, unit_ball_below: f64) {
    let shell = Shell::<K> { n, radius: i64::from(n) * 2 / 5 };
    let domain = Domain::new([n; K], [[-1.0, 1.0]; K], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let subdivision = run(&plan, &shell).unwrap();
    for stats in subdivision.levels() {
        let lattice = Region { corner: [0; K], extent: stats.level.grid };
        let cut = lattice.cells().filter(|&p| shell.side(&stats.level.region(p)) == 1).count() as u64;
        assert_eq!(stats.counts.subdivided + stats.counts.leaves, cut, "k = {K}, level {}", stats.level.index);
    }
    let cut = labels(subdivision.array().unwrap()).iter().filter(|&&label| label == 1).count() as f64;
    let expected = 2.0 * K as f64 * unit_ball_below * (shell.radius as f64).powi(K as i32 - 1);
    assert!((cut / expected - 1.0).abs() < 0.01, "k = {K}: {cut} cells are cut, {expected:.0} expected");
}

#[test]
fn shells_have_the_counts_of_their_surface() {
    use std::f64::consts::PI;
    check_shell::<2>(1000, 2.0);
    check_shell::<3>(sized(240, 160), PI);
    check_shell::<4>(sized(80, 60), 4.0 * PI / 3.0);
}

/// A field that only payloads know: a region carries how often it was divided; its label is not looked at.
struct Depth;

impl Field<2> for Depth {
    fn labels(&self) -> Labels {
        Labels::counts(100)
    }

    fn host(&self) -> Option<&dyn Evaluate<2>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<2>> {
        Some(self)
    }

    fn carrier(&self) -> Option<&dyn Carry<2>> {
        Some(self)
    }
}

impl Evaluate<2> for Depth {
    fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|cell| (cell[0] ^ cell[1]) & 1));
    }
}

impl Prove<2> for Depth {
    fn prove(&self, region: &Region<2>, payload: Payload) -> Verdict {
        let depth = payload.0 & 0xff;
        assert_eq!(
            payload.0 >> 8,
            u64::from(region.corner[0]) << 24 | u64::from(region.corner[1]),
            "a payload went astray"
        );
        if depth == 3 { Verdict::Uniform(7) } else { Verdict::Mixed }
    }
}

impl Carry<2> for Depth {
    fn root(&self, region: &Region<2>) -> Payload {
        Payload((u64::from(region.corner[0]) << 24 | u64::from(region.corner[1])) << 8)
    }

    fn split(&self, _: &Region<2>, payload: Payload, children: &[Region<2>], payloads: &mut [Payload]) {
        for (child, handed) in children.iter().zip(payloads) {
            *handed = Payload(self.root(child).0 | ((payload.0 & 0xff) + 1));
        }
    }
}

#[test]
fn payloads_travel_from_parent_to_child() {
    let domain = Domain::new([100, 90], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    for curve in CurveKind::ALL {
        let plan = Plan::new(domain, Scheme::uniform(3, 2, 1), *curve, RuleKind::Full).unwrap();
        for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
            let subdivision = Run::new(&plan, &Depth).how(How::default().strategy(strategy)).start().unwrap();
            assert_eq!(mixed(&subdivision), [9, 36, 144, 0]);
            assert!(labels(subdivision.array().unwrap()).iter().all(|&label| label == 7));
        }
    }
}

#[test]
fn a_domain_too_large_to_be_dense_is_counted() {
    // 2^60 cells; the diagonal has g·r^i mixed regions on every level.
    let domain = Domain::new([1 << 20; 3], [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 64), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let field = DigitSet::new(2, [1 << 20; 3], |digits: &[u32; 3]| digits.iter().all(|&d| d == digits[0]));
    let how = How::default().mem_limit(1 << 28);
    let refused = Run::new(&plan, &field).how(how.clone()).start();
    assert!(matches!(refused, Err(Error::Memory(MemoryError { what: Stored::Dense, .. }))), "{refused:?}");
    let counted = Run::new(&plan, &field).how(how.keep(Keep::Counts)).start().unwrap();
    assert_eq!(mixed(&counted), (1..14).map(|i| 1u64 << i).collect::<Vec<_>>());
}

/// While one region takes long nothing is settled, and the control tells of the cells that are looked at.
#[test]
fn a_long_region_is_heard_of() {
    let n = 300;
    let domain = Domain::new([n; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, n), CurveKind::Morton, RuleKind::Full).unwrap();
    for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
        let control = Control::default();
        // What a looker-on sees at the first and at the last cell.
        let heard = |cell: [u32; 2]| match cell {
            [0, 0] => assert_eq!((control.cells_done(), control.cells_looked_at()), (0, 0)),
            [0, 299] => assert!(control.cells_done() == 0 && control.cells_looked_at() > 16 * u64::from(n)),
            _ => {}
        };
        let field = CellField::<2, _>::new(1, |cell| {
            heard(cell);
            0
        });
        let how = How::default().strategy(strategy).keep(Keep::Counts).explore_order(ExploreOrder::Paper);
        let total = u64::from(n) * u64::from(n);
        for _ in 0..2 {
            Run::new(&plan, &field).how(how.clone()).control(&control).start().unwrap();
            assert_eq!((control.cells_done(), control.cells_looked_at()), (total, total), "{strategy}");
        }
    }
}

/// Nothing limits these but the address space, and nothing aborts.
#[test]
fn memory_that_the_system_refuses_is_an_error() {
    let size = [1 << 24, 1 << 23];
    let domain = Domain::new(size, [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let field = CellField::<2, _>::new(1, |_| 0);
    let refused = |scheme, how: How| {
        let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
        match Run::new(&plan, &field).how(how).start().map(drop) {
            Err(Error::Memory(MemoryError { what, need, limit: None })) => (what, need),
            other => panic!("{other:?}"),
        }
    };
    let leaf = Scheme::uniform(1, 2, 1 << 24);
    for strategy in [StrategyKind::Ask, StrategyKind::Dp, StrategyKind::Exhaustive] {
        let how = How::default().strategy(strategy);
        for how in [how.clone(), how.poison(1)] {
            assert_eq!(refused(leaf, how), (Stored::Dense, 1 << 48), "{strategy}");
        }
    }
    // The roots need no table, but a byte each for what is mixed.
    let cells = Scheme { g: size, r: [2; 2], b: [1; 2] };
    assert_eq!(refused(cells, How::default().keep(Keep::Counts)), (Stored::Outcomes, 1 << 47));
    let planes = Domain::new([1 << 24, 1 << 23, 2, 2], [[0.0, 1.0]; 4], Sample::Corner).unwrap();
    let need = match field::mxm::open(&planes, &FieldOptions::default()).map(drop) {
        Err(FieldError::Memory { need, .. }) => need,
        other => panic!("{other:?}"),
    };
    assert_eq!(need, 1 << 49);
}

type Cost = fn([u32; 2]) -> Duration;

/// Cells that cost as much as their author likes, and the longest that the engine was kept from looking up.
struct Costly {
    cost: Cost,
    longest: Mutex<(Duration, usize)>,
}

impl Field<2> for Costly {
    fn labels(&self) -> Labels {
        Labels::counts(1)
    }

    fn host(&self) -> Option<&dyn Evaluate<2>> {
        Some(self)
    }
}

impl Evaluate<2> for Costly {
    fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
        let took = cells.iter().map(|&cell| (self.cost)(cell)).sum();
        std::thread::sleep(took);
        labels.put(cells.iter().map(|_| 0u32));
        let mut longest = self.longest.lock().unwrap();
        *longest = (longest.0.max(took), longest.1.max(cells.len()));
    }
}

#[test]
fn a_run_hears_of_its_end_whatever_a_cell_costs() {
    let domain = Domain::new([1 << 10; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 64), CurveKind::Morton, RuleKind::Full).unwrap();
    let costs: [(Cost, usize); 4] = [
        (|_| Duration::ZERO, 2048),
        (|_| Duration::from_micros(50), 400),
        (|_| Duration::from_millis(10), 8),
        // Costly all of a sudden.
        (|[_, y]| Duration::from_micros(if y % 512 < 256 { 0 } else { 50 }), 2048),
    ];
    for (i, (cost, most)) in costs.into_iter().enumerate() {
        for strategy in [StrategyKind::Ask, StrategyKind::Dp, StrategyKind::Exhaustive] {
            let field = Costly { cost, longest: Mutex::default() };
            let control = Control::default();
            let how = How::default().strategy(strategy).threads(Some(2));
            let ended = std::thread::scope(|scope| {
                let run = scope.spawn(|| Run::new(&plan, &field).how(how).control(&control).start().map(drop));
                std::thread::sleep(Duration::from_millis(150));
                control.cancel(2);
                run.join().unwrap()
            });
            assert!(
                matches!(ended, Ok(()) | Err(Error::Interrupted(2))) && (i == 0 || ended.is_err()),
                "{i} {ended:?}"
            );
            let (longest, cells) = field.longest.into_inner().unwrap();
            assert!(longest < Duration::from_millis(200) && cells <= most, "{i} {strategy}: {longest:?} for {cells}");
            // Quick ones are not taken one by one.
            assert!(i > 0 || cells >= 256, "{strategy}: {cells}");
        }
    }
}

/// A field that lies where a cheap one lay, with the workers that knew that.
#[test]
fn what_cells_cost_is_learnt_anew_by_each_run() {
    let domain = Domain::new([1 << 9; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 64), CurveKind::Morton, RuleKind::Full).unwrap();
    let costs: [Cost; 3] = [|_| Duration::ZERO, |_| Duration::ZERO, |_| Duration::from_millis(10)];
    for cost in costs {
        let (field, control) = (Box::new(Costly { cost, longest: Mutex::default() }), Box::new(Control::default()));
        std::thread::scope(|scope| {
            let run = scope.spawn(|| Run::new(&plan, &*field).control(&control).start().map(drop));
            std::thread::sleep(Duration::from_millis(150));
            control.cancel(2);
            let _ = run.join().unwrap();
        });
        let (longest, cells) = field.longest.into_inner().unwrap();
        assert!(longest < Duration::from_millis(200), "{longest:?} for {cells} cells");
    }
}
