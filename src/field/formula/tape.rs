//! A formula as a list of clauses over slots: what is run for every block of cells and every region.

use std::collections::HashMap;

use crate::field::formula::dag::{FormulaDag, FormulaOp};
use crate::field::formula::error::FormulaError;
use crate::field::formula::lower::LoweredFormula;
use crate::field::formula::number::FormulaNumber;

/// Eight bytes: an operation, where its operands are and where its result goes.
///
/// An operand is the number of a slot, or that of a constant. The third one of three is `a` of a
/// [`FormulaOp::Third`] right before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct FormulaClause {
    pub(super) op: FormulaOp,
    /// A bit for each of the first two operands that is a constant, and one if the result is a truth: 1 or +0.
    pub(super) constants: u8,
    pub(super) out: u16,
    pub(super) a: u16,
    pub(super) b: u16,
}

impl FormulaClause {
    /// The bit of a truth.
    const TRUTH: u8 = 4;

    /// True if its first operand is a constant.
    #[inline(always)]
    pub(super) fn a_is_constant(self) -> bool {
        self.constants & 1 != 0
    }

    /// True if its second operand is a constant.
    #[inline(always)]
    pub(super) fn b_is_constant(self) -> bool {
        self.constants & 2 != 0
    }

    /// True if its result is 1 or +0.
    #[inline(always)]
    pub(super) fn is_truth(self) -> bool {
        self.constants & Self::TRUTH != 0
    }

    /// True if its two factors are one number. Of two constants the product would have been computed.
    #[inline(always)]
    pub(super) fn is_of_one_factor(self) -> bool {
        self.a == self.b && self.constants & 3 == 0
    }
}

/// Clauses in the order in which they run.
///
/// The first slots hold coordinates, those of the axes in `axes`, and nothing else is ever put there. No clause writes a
/// slot that it reads.
#[derive(Debug, Clone)]
pub(super) struct FormulaTape<T> {
    pub(super) clauses: Vec<FormulaClause>,
    pub(super) constants: Vec<T>,
    pub(super) slots: usize,
    pub(super) axes: Vec<usize>,
    /// The slots of the results, none of which is that of a coordinate.
    pub(super) results: Vec<u16>,
    /// The constants +0 and 1, if some clause is a truth and there is room for them.
    pub(super) truth: Option<[u16; 2]>,
}

/// Clauses that run over slots, with the constants that they name.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormulaSteps<'a, T> {
    pub(super) clauses: &'a [FormulaClause],
    pub(super) constants: &'a [T],
    /// Every slot that a clause names is below.
    pub(super) slots: usize,
}

/// What a formula has too much of for its numbers to be of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooLarge {
    Slots,
    Constants,
}

impl TooLarge {
    /// The error of a formula that has so much.
    pub(super) fn error(self, text: &str) -> FormulaError {
        let reason = match self {
            Self::Slots => "more than 65536 values are needed at once; a formula can have no more",
            Self::Constants => "the formula has more than 65536 different constants; it can have no more",
        };
        FormulaError::new(text, 0, reason)
    }
}

impl<T: FormulaNumber> FormulaTape<T> {
    /// The tape of a formula. A slot is used again as soon as nothing reads it any more.
    pub(super) fn new(formula: &LoweredFormula<T>) -> Result<Self, TooLarge> {
        let LoweredFormula { dag, roots } = formula;
        // How often each result will still be read.
        let mut left = dag.uses(roots);
        let live: Vec<usize> = (0..left.len()).filter(|&index| left[index] > 0).collect();
        let truths = truths::<T>(dag, left.len());
        let mut slots = FormulaSlotNumbers::default();
        let mut slot_of = vec![0; left.len()];
        let mut axes = Vec::new();
        for &index in &live {
            let node = dag.nodes()[index];
            if node.op == FormulaOp::Axis {
                axes.push(node.args[0] as usize);
                slot_of[index] = slots.take()?;
                left[index] = u32::MAX;
            }
        }
        let (mut clauses, mut constants) = (Vec::new(), FormulaConstants::default());
        for &index in &live {
            let node = dag.nodes()[index];
            // A constant is no clause, but for one that is a result.
            let whole = node.op == FormulaOp::Number && roots.contains(&(index as u32));
            if node.op == FormulaOp::Axis || node.op == FormulaOp::Number && !whole {
                continue;
            }
            let mut places = [(0, false); 3];
            let own = [index as u32];
            let operands = if whole { &own[..] } else { node.operands() };
            for (place, &operand) in places.iter_mut().zip(operands) {
                *place = match dag.value(operand) {
                    None => (slot_of[operand as usize], false),
                    Some(bits) => (constants.number(bits)?, true),
                };
            }
            let [(a, a_constant), (b, b_constant), (c, c_constant)] = places;
            let out = slots.take()?;
            slot_of[index] = out;
            if node.op.operands() == 3 {
                let third = FormulaOp::Third;
                clauses.push(FormulaClause { op: third, constants: c_constant.into(), out: 0, a: c, b: 0 });
            }
            let truth = if truths[index] { FormulaClause::TRUTH } else { 0 };
            let of_constants = u8::from(a_constant) | u8::from(b_constant) << 1 | truth;
            clauses.push(FormulaClause { op: node.op, constants: of_constants, out, a, b });
            for &operand in node.operands() {
                let left = &mut left[operand as usize];
                if *left != u32::MAX {
                    *left -= 1;
                    if *left == 0 && dag.value(operand).is_none() {
                        slots.free.push(slot_of[operand as usize]);
                    }
                }
            }
        }
        // A result is not in a slot that a coordinate is in.
        for &root in roots.iter().filter(|&&root| dag.node(root).op == FormulaOp::Axis) {
            let a = slot_of[root as usize];
            if usize::from(a) < axes.len() {
                let out = slots.take()?;
                clauses.push(FormulaClause { op: FormulaOp::Number, constants: 0, out, a, b: 0 });
                slot_of[root as usize] = out;
            }
        }
        let results = roots.iter().map(|&root| slot_of[root as usize]).collect();
        // Those that the truths of a part of the domain are.
        let mut truth = None;
        if live.iter().any(|&index| truths[index]) {
            let [never, always] = [T::ZERO, T::ONE].map(|value| constants.number(value.bits()).ok());
            truth = never.zip(always).map(|(never, always)| [never, always]);
        }
        Ok(Self { clauses, constants: constants.values, slots: slots.taken, axes, results, truth })
    }
}

/// Which of the first nodes are 1 or +0 wherever they are computed.
fn truths<T: FormulaNumber>(dag: &FormulaDag<T::Bits>, nodes: usize) -> Vec<bool> {
    let mut truths = vec![false; nodes];
    for index in 0..nodes {
        let node = dag.nodes()[index];
        let constant =
            |operand: u32| dag.value(operand).is_some_and(|bits| [T::ZERO.bits(), T::ONE.bits()].contains(&bits));
        let truth = |operand: u32| truths[operand as usize];
        truths[index] = match (node.op, node.operands()) {
            (FormulaOp::Less | FormulaOp::LessEq, _) => true,
            (FormulaOp::Min | FormulaOp::Max, &[a, b]) => {
                truth(a) && (truth(b) || constant(b)) || truth(b) && constant(a)
            }
            // `not`.
            (FormulaOp::Sub, &[a, b]) => truth(b) && dag.value(a) == Some(T::ONE.bits()),
            _ => false,
        };
    }
    truths
}

impl<T> FormulaTape<T> {
    /// All of it.
    pub(super) fn steps(&self) -> FormulaSteps<'_, T> {
        FormulaSteps { clauses: &self.clauses, constants: &self.constants, slots: self.slots }
    }
}

/// The constants that clauses name by their numbers, each once.
struct FormulaConstants<T: FormulaNumber> {
    values: Vec<T>,
    numbers: HashMap<T::Bits, u16>,
}

impl<T: FormulaNumber> Default for FormulaConstants<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: FormulaNumber> FormulaConstants<T> {
    /// The number of a constant, which is a new one if nothing has named it yet.
    fn number(&mut self, bits: T::Bits) -> Result<u16, TooLarge> {
        if let Some(&number) = self.numbers.get(&bits) {
            return Ok(number);
        }
        let next = u16::try_from(self.values.len()).map_err(|_| TooLarge::Constants)?;
        self.values.push(T::of_bits(bits));
        self.numbers.insert(bits, next);
        Ok(next)
    }
}

/// The numbers of slots: those that were given back, and how many there are.
#[derive(Default)]
struct FormulaSlotNumbers {
    free: Vec<u16>,
    taken: usize,
}

impl FormulaSlotNumbers {
    fn take(&mut self) -> Result<u16, TooLarge> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        let slot = u16::try_from(self.taken).map_err(|_| TooLarge::Slots)?;
        self.taken += 1;
        Ok(slot)
    }
}
