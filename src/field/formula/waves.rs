//! A tape in waves, for a GPU: no clause of a wave reads another one of it, so that threads take a wave side by side.
//!
//! Every clause has a value of its own, whose number follows from its place, so that a clause needs no place for its result
//! and has room for a third operand. A tape that is shortened keeps the order of its clauses, and no slots have to be found
//! for it. `kernels/fields/formula_forest.cuh` runs such tapes and shortens them.

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::tape::FormulaTape;

/// Bits of a clause beside its operation: which operands are constants, that its result is a truth, that its two factors are
/// one number, that it has a third operand.
const CONSTANT: [u64; 3] = [1, 2, 4];
const TRUTH: u64 = 8;
const SAME: u64 = 16;
const TERNARY: u64 = 32;

/// Beside the number of a result that is a constant.
const CONSTANT_RESULT: u64 = 1 << 16;

/// A clause, before it is a word.
#[derive(Clone, Copy)]
struct WaveClause {
    op: FormulaOp,
    /// How many waves come before, at least.
    wave: usize,
    /// TRUTH and SAME.
    flags: u64,
    /// The number of a constant; or that of a value, coordinates first and then clauses in the order of the tape.
    operands: [(usize, bool); 3],
}

/// The words of a tape with one result: how many clauses and waves it has, its result, the clauses of eight bytes each, and where
/// waves end, two in a word. None if values have more numbers than 16 bits.
pub(super) fn words<T>(tape: &FormulaTape<T>) -> Option<Vec<u64>> {
    let axes = tape.axes.len();
    // Which value a slot holds, and how many waves there are up to it.
    let mut slots = vec![(0, 0); tape.slots];
    slots.iter_mut().take(axes).enumerate().for_each(|(slot, place)| *place = (slot, 0));
    let mut third = ((0, true), 0);
    let mut clauses: Vec<WaveClause> = Vec::new();
    for clause in &tape.clauses {
        let operand = |place: u16, constant: bool| match constant {
            true => ((usize::from(place), true), 0),
            false => ((slots[usize::from(place)].0, false), slots[usize::from(place)].1),
        };
        let a = operand(clause.a, clause.a_is_constant());
        if clause.op == FormulaOp::Third {
            third = a;
            continue;
        }
        // An operand that there is not is the one before.
        let b = if clause.op.operands() > 1 { operand(clause.b, clause.b_is_constant()) } else { a };
        let c = if clause.op.operands() > 2 { third } else { b };
        let flags = if clause.is_truth() { TRUTH } else { 0 } | if clause.is_of_one_factor() { SAME } else { 0 };
        let wave = a.1.max(b.1).max(c.1);
        slots[usize::from(clause.out)] = (axes + clauses.len(), wave + 1);
        clauses.push(WaveClause { op: clause.op, wave, flags, operands: [a.0, b.0, c.0] });
    }
    let result = slots[usize::from(*tape.results.first()?)].0;
    if axes + clauses.len() > 1 << 16 {
        return None;
    }
    // Lanes that are neighbours have the same operation where that goes.
    let mut order: Vec<usize> = (0..clauses.len()).collect();
    order.sort_by_key(|&index| (clauses[index].wave, clauses[index].op as u8));
    let mut number: Vec<usize> = (0..axes + clauses.len()).collect();
    order.iter().enumerate().for_each(|(place, &index)| number[axes + index] = axes + place);
    let (mut words, mut ends) = (vec![0, number[result] as u64], Vec::new());
    for (place, &index) in order.iter().enumerate() {
        let WaveClause { op, wave, flags, operands } = clauses[index];
        let mut word = op as u64 | flags << 8;
        for ((position, &(operand, constant)), bit) in operands.iter().enumerate().zip(CONSTANT) {
            word |= if constant { bit << 8 } else { 0 };
            word |= (if constant { operand } else { number[operand] } as u64) << (16 + 16 * position);
        }
        words.push(word | if op.operands() > 2 { TERNARY << 8 } else { 0 });
        ends.resize(wave + 1, 0u32);
        ends[wave] = place as u32 + 1;
    }
    words[0] = clauses.len() as u64 | (ends.len() as u64) << 32;
    words.extend(ends.chunks(2).map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or(0)) << 32));
    Some(words)
}

/// What kernels know of such tapes, by name.
pub(super) fn defines() -> [(&'static str, u64); 9] {
    [
        ("WAVE_A_IS_CONSTANT", CONSTANT[0]),
        ("WAVE_B_IS_CONSTANT", CONSTANT[1]),
        ("WAVE_C_IS_CONSTANT", CONSTANT[2]),
        ("WAVE_TRUTH", TRUTH),
        ("WAVE_SAME", SAME),
        ("WAVE_TERNARY", TERNARY),
        ("WAVE_CONSTANT", CONSTANT_RESULT),
        ("WAVE_MIN", FormulaOp::Min as u64),
        ("WAVE_MAX", FormulaOp::Max as u64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::formula::text::Formula;
    use crate::field::formula::value::FormulaValue;
    use crate::field::options::Arithmetic;

    #[test]
    fn waves_read_what_is_before_them() {
        let text = "let a = min(x*x + y, |y - 0.3|); max(a, min(x, a*a - 2)) < 0.25 and not x*y + a < sin(y)";
        let value = FormulaValue::<f32>::new(Arithmetic::Fused, &Formula::parse(text).unwrap()).unwrap();
        let axes = value.tape.axes.len();
        let words = words(&value.tape).unwrap();
        let (count, waves) = (words[0] as u32 as usize, (words[0] >> 32) as usize);
        let thirds = value.tape.clauses.iter().filter(|clause| clause.op == FormulaOp::Third).count();
        assert_eq!(count, value.tape.clauses.len() - thirds);
        assert!(thirds > 0 && waves < count);
        let end = |wave: usize| (words[2 + count + wave / 2] >> (32 * (wave % 2))) as u32 as usize;
        assert_eq!(words.len(), 2 + count + waves.div_ceil(2));
        assert_eq!((end(waves - 1), words[1] as usize), (count, axes + count - 1));
        let mut begin = 0;
        for wave in 0..waves {
            assert!(begin < end(wave), "a wave has a clause");
            for place in begin..end(wave) {
                let word = words[2 + place];
                for (operand, bit) in CONSTANT.into_iter().enumerate() {
                    let named = (word >> (16 + 16 * operand)) as u16;
                    let there = if word >> 8 & bit != 0 { value.tape.constants.len() } else { axes + begin };
                    assert!(usize::from(named) < there, "wave {wave}, clause {place}");
                }
            }
            begin = end(wave);
        }
    }
}
