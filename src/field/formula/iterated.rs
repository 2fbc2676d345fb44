//! A formula that iterates: the label of a cell is how often a step is done while a condition holds, at most `cap` times.
//!
//! What a step needs of the cell alone is computed once per cell, with the start. A step and the condition before it are one
//! tape, whose common parts are computed once. Lanes take turns: a lane whose cell is done takes the next cell of the batch,
//! so that cells of few and of many iterations share blocks.

use std::collections::HashMap;

use crate::cell::WordsMut;
use crate::dimension::MAX_DIM;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::formula::dag::{FormulaDag, FormulaOp};
use crate::field::formula::error::FormulaError;
use crate::field::formula::intervals::{FormulaBounds, bounds};
use crate::field::formula::lanes::FormulaBlock;
use crate::field::formula::lower::{LoweredFormula, lower};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::sampled::{FormulaAxis, FormulaSamples};
use crate::field::formula::source;
use crate::field::formula::tape::FormulaTape;
use crate::field::formula::text::Formula;
use crate::field::labels::Labels;
use crate::field::options::Arithmetic;
use crate::field::twin::{DeviceTwin, MOST_LINES};
use crate::geometry::{Domain, Region};
use crate::rule::Verdict;
use crate::simd::Isa;

/// Lanes that iterate side by side.
const BLOCK: usize = 128;

/// Turns between two looks for orbits that have come back to where they were.
const LOOK: usize = 16;

/// Turns for which what an orbit is compared with is kept.
const KEPT: usize = 16 * LOOK;

/// Cells whose orbits are in the air at the same time.
const BATCH: usize = 2048;

/// A formula that iterates, in numbers of type T over a domain.
pub(super) struct IteratedField<const K: usize, T> {
    samples: FormulaSamples<K, T>,
    pub(super) orbit: FormulaOrbit<T>,
}

/// What there is of it without a domain.
pub(super) struct FormulaOrbit<T> {
    /// The states of a cell before the first step, and what the steps need besides.
    start: FormulaTape<T>,
    /// Whether a cell goes on, and the states after a step. The states are axes from [`MAX_DIM`] on, and then comes what
    /// else the start has.
    turn: FormulaTape<T>,
    states: usize,
    cap: u32,
    pub(super) isa: Isa,
}

impl<const K: usize, T: FormulaNumber> IteratedField<K, T> {
    pub(super) fn new(domain: &Domain<K>, arithmetic: Arithmetic, formula: &Formula) -> Result<Self, FormulaError> {
        let orbit = FormulaOrbit::new(arithmetic, formula)?;
        Ok(Self { samples: FormulaSamples::new(domain, arithmetic), orbit })
    }

    /// The twin, which has lines up to `most_lines` clauses.
    pub(super) fn twin_within(&self, most_lines: usize) -> DeviceTwin {
        let FormulaOrbit { start, turn, states, cap, .. } = &self.orbit;
        self.samples.twin(source::of_orbit(start, turn, *states, most_lines), *cap)
    }
}

/// The start and the turn of a formula whose roots are the condition, the states after a step, and those before the first.
/// What a turn needs and no state changes becomes a part of the start.
fn parted<T: FormulaNumber>(formula: &LoweredFormula<T>, states: usize) -> [LoweredFormula<T>; 2] {
    let LoweredFormula { dag, roots } = formula;
    let (turn_roots, first) = roots.split_at(1 + states);
    let mut start = first.to_vec();
    let uses = dag.uses(turn_roots);
    let mut changes = vec![false; uses.len()];
    for index in (0..uses.len()).filter(|&index| uses[index] > 0) {
        let node = dag.nodes()[index];
        changes[index] = match node.op {
            FormulaOp::Axis => node.args[0] as usize >= MAX_DIM,
            _ => node.operands().iter().any(|&operand| changes[operand as usize]),
        };
    }
    let mut turn = FormulaDag::default();
    let mut given: HashMap<u32, u32> = HashMap::new();
    let mut made = vec![None; uses.len()];
    // Operands come before what reads them, and what stays is asked for by what changes.
    let mut new = |index: u32, turn: &mut FormulaDag<T::Bits>, made: &[Option<u32>]| {
        if let Some(made) = made[index as usize] {
            return made;
        }
        match (dag.value(index), dag.node(index)) {
            (Some(bits), _) => turn.constant(bits),
            (None, node) if node.op == FormulaOp::Axis => turn.push(FormulaOp::Axis, &node.args[..1]),
            _ => {
                let number = *given.entry(index).or_insert_with(|| {
                    start.push(index);
                    start.len() as u32 - 1
                });
                turn.push(FormulaOp::Axis, &[MAX_DIM as u32 + number])
            }
        }
    };
    for index in (0..uses.len()).filter(|&index| uses[index] > 0 && changes[index]) {
        let node = dag.nodes()[index];
        if node.op != FormulaOp::Axis {
            let operands: Vec<u32> = node.operands().iter().map(|&operand| new(operand, &mut turn, &made)).collect();
            made[index] = Some(turn.push(node.op, &operands));
        }
    }
    let roots = turn_roots.iter().map(|&root| new(root, &mut turn, &made)).collect();
    [LoweredFormula { dag: dag.clone(), roots: start }, LoweredFormula { dag: turn, roots }]
}

impl<T: FormulaNumber> FormulaOrbit<T> {
    fn new(arithmetic: Arithmetic, formula: &Formula) -> Result<Self, FormulaError> {
        let parsed = &formula.parsed;
        let FormulaResult::Iterations { states, cap } = parsed.result else {
            unreachable!("other formulas are not iterated");
        };
        let [start, turn] = parted(&lower::<T>(&parsed.dag, &parsed.roots, arithmetic), states);
        let tape = |part| FormulaTape::new(part).map_err(|large| large.error(formula.text()));
        Ok(Self { start: tape(&start)?, turn: tape(&turn)?, states, cap, isa: Isa::detect() })
    }

    /// The iterations of a batch of cells, of which there are the numbers on each axis.
    fn count(&self, axes: &[FormulaAxis<T>], cells: &[Vec<u32>], counts: &mut [u32]) {
        let Self { start, turn, isa, .. } = self;
        let mut block = FormulaBlock::new();
        block.make_room(start.slots, BLOCK);
        let mut columns = vec![Vec::new(); MAX_DIM + start.results.len()];
        for &axis in turn.axes.iter().filter(|&&axis| axis < MAX_DIM) {
            columns[axis] = cells[axis].iter().map(|&cell| axes[axis].coordinate(cell)).collect();
        }
        for first in (0..counts.len()).step_by(BLOCK) {
            let some = first..counts.len().min(first + BLOCK);
            for (slot, &axis) in start.axes.iter().enumerate() {
                axes[axis].coordinates(&cells[axis][some.clone()], block.slot_mut(slot), *isa);
            }
            block.run(start.steps(), *isa);
            for (number, column) in columns[MAX_DIM..].iter_mut().enumerate() {
                let result = start.results[number];
                column.extend_from_slice(&block.slot(result.into())[..some.len()]);
            }
        }
        self.run(&columns, counts);
    }

    /// The iterations of a batch of cells, whose numbers are in `columns`: coordinates, which `start` reads, and from
    /// [`MAX_DIM`] on what it computed.
    fn run(&self, columns: &[Vec<T>], counts: &mut [u32]) {
        let mut block = FormulaBlock::new();
        block.make_room(self.turn.slots, BLOCK);
        // A tape's results are not in the slots that it begins with.
        let state_of = |axis: usize| axis.checked_sub(MAX_DIM).filter(|&state| state < self.states);
        let moves = self.turn.axes.iter().enumerate().filter_map(|(slot, &axis)| Some((slot, state_of(axis)?)));
        let moves: Vec<(usize, usize)> =
            moves.map(|(slot, state)| (slot, usize::from(self.turn.results[1 + state]))).collect();
        let (mut cell, mut count) = ([0; BLOCK], [0; BLOCK]);
        // What states were a while ago, in lanes that have had the same cell since.
        let mut kept = vec![[T::ZERO; BLOCK]; moves.len()];
        let (mut comparable, mut age) = ([0u32; BLOCK], KEPT - LOOK);
        // 1 in lanes that have a cell.
        let mut busy = [0u32; BLOCK];
        let mut next = 0;
        loop {
            for lane in 0..BLOCK {
                if busy[lane] == 1 || next == counts.len() {
                    continue;
                }
                (cell[lane], count[lane], busy[lane], comparable[lane]) = (next, 0, 1, 0);
                for (slot, &axis) in self.turn.axes.iter().enumerate() {
                    block.slot_mut(slot)[lane] = columns[axis][next];
                }
                next += 1;
            }
            if busy.iter().all(|&busy| busy == 0) {
                return;
            }
            let (mut ended, mut some) = ([0; BLOCK], 0);
            while some == 0 {
                block.run(self.turn.steps(), self.isa);
                let goes_on: &[T; BLOCK] = block.slot(self.turn.results[0].into()).first_chunk().expect("a block");
                // Without branches, so that it becomes vectors.
                for lane in 0..BLOCK {
                    let goes_on = u32::from(goes_on[lane] == T::ONE) & u32::from(count[lane] < self.cap) & busy[lane];
                    count[lane] += goes_on;
                    ended[lane] = busy[lane] ^ goes_on;
                    some |= ended[lane];
                }
                for &(to, from) in &moves {
                    block.copy(from, to);
                }
                age += 1;
                if !age.is_multiple_of(LOOK) {
                    continue;
                }
                // A turn depends on the states alone: what comes back comes back for ever.
                let mut same: [u32; BLOCK] = std::array::from_fn(|lane| comparable[lane] & busy[lane] & !ended[lane]);
                for (&(slot, _), kept) in moves.iter().zip(&mut kept) {
                    let states = block.slot(slot);
                    (0..BLOCK).for_each(|lane| same[lane] &= u32::from(states[lane].bits() == kept[lane].bits()));
                    if age >= KEPT {
                        kept.copy_from_slice(&states[..BLOCK]);
                    }
                }
                for lane in (0..BLOCK).filter(|&lane| same[lane] == 1) {
                    (count[lane], ended[lane], some) = (self.cap, 1, 1);
                }
                if age >= KEPT {
                    (age, comparable) = (0, [1; BLOCK]);
                }
            }
            for lane in (0..BLOCK).filter(|&lane| ended[lane] == 1) {
                counts[cell[lane]] = count[lane];
                busy[lane] = 0;
            }
        }
    }

    /// The number of iterations of every cell whose coordinates lie in `place`, if it is certain that they have the same.
    fn proven(&self, place: &[FormulaBounds<T>]) -> Option<u32> {
        let mut slots = Vec::new();
        bounds(&self.start, place, &mut slots);
        // What a turn reads: coordinates, and from MAX_DIM on what the start has.
        let mut places = [FormulaBounds::ANYTHING; MAX_DIM].to_vec();
        places[..place.len()].copy_from_slice(place);
        places.extend(self.start.results.iter().map(|&result| slots[usize::from(result)]));
        let states = MAX_DIM..MAX_DIM + self.states;
        // Steps depend on the states alone: where bounds come back, they come back for ever, and the condition held all the way.
        let mut before = places[states.clone()].to_vec();
        for count in 0..self.cap {
            bounds(&self.turn, &places, &mut slots);
            let FormulaBounds { low, high } = slots[usize::from(self.turn.results[0])];
            if low != high {
                return None;
            }
            if low != T::ONE {
                return Some(count);
            }
            for (state, &result) in places[states.clone()].iter_mut().zip(&self.turn.results[1..]) {
                *state = slots[usize::from(result)];
            }
            if before == places[states.clone()] {
                break;
            }
            // Looked back at from further and further ahead, so that cycles of any length are found.
            if (count + 1).is_power_of_two() {
                before.copy_from_slice(&places[states.clone()]);
            }
        }
        Some(self.cap)
    }
}

impl<const K: usize, T: FormulaNumber> Field<K> for IteratedField<K, T> {
    fn labels(&self) -> Labels {
        Labels::iterations(self.orbit.cap)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        Some(self.twin_within(MOST_LINES))
    }
}

impl<const K: usize, T: FormulaNumber> Evaluate<K> for IteratedField<K, T> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        for (cells, labels) in cells.chunks(BATCH).zip(labels.narrow().chunks_mut(BATCH)) {
            let numbers = std::array::from_fn::<_, K, _>(|axis| cells.iter().map(|cell| cell[axis]).collect());
            self.orbit.count(&self.samples.axes, &numbers, labels);
        }
    }
}

impl<const K: usize, T: FormulaNumber> Prove<K> for IteratedField<K, T> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        match self.orbit.proven(&self.samples.bounds(region)) {
            Some(count) => Verdict::Uniform(count.into()),
            None => Verdict::Unknown,
        }
    }
}
