//! A formula in the numbers of a run: what is constant is computed, products and sums are fused.
//!
//! Only what keeps every bit of every result is written in another way: x·1, x/1, −(−x), min(x, x), and x·x as a square.
//! x + 0 is not x, since −0 + 0 is 0, and x − x is not 0 where x is infinite.

use crate::field::formula::dag::{FormulaDag, FormulaLiteral, FormulaOp};
use crate::field::formula::number::FormulaNumber;
use crate::field::options::Arithmetic;

/// The nodes that a run computes, and which of them are results.
pub(super) struct LoweredFormula<T: FormulaNumber> {
    pub(super) dag: FormulaDag<T::Bits>,
    pub(super) roots: Vec<u32>,
}

/// The formula in numbers of type T.
pub(super) fn lower<T: FormulaNumber>(
    read: &FormulaDag<FormulaLiteral>,
    roots: &[u32],
    arithmetic: Arithmetic,
) -> LoweredFormula<T> {
    let uses = read.uses(roots);
    let mut dag = FormulaDag::default();
    let mut made = vec![0; uses.len()];
    for index in (0..uses.len()).filter(|&index| uses[index] > 0) {
        let node = read.nodes()[index];
        made[index] = match (node.op, read.value(index as u32)) {
            (_, Some(literal)) => dag.constant(T::of_literal(literal).bits()),
            (FormulaOp::Axis, _) => dag.push(FormulaOp::Axis, &node.args[..1]),
            (op, _) => {
                let args = node.args.map(|arg| made[arg as usize]);
                simplified::<T>(&mut dag, op, &args[..op.operands()])
            }
        };
    }
    let folded = LoweredFormula { roots: roots.iter().map(|&root| made[root as usize]).collect(), dag };
    match arithmetic {
        Arithmetic::Plain => folded,
        Arithmetic::Fused => fused(&folded),
    }
}

/// The node of an operation: what it comes to if its operands are constants, or a node that has the same bits.
fn simplified<T: FormulaNumber>(dag: &mut FormulaDag<T::Bits>, op: FormulaOp, args: &[u32]) -> u32 {
    let mut values = [T::ZERO; 3];
    let mut constant = true;
    for (value, &arg) in values.iter_mut().zip(args) {
        match dag.value(arg) {
            Some(bits) => *value = T::of_bits(bits),
            None => constant = false,
        }
    }
    if constant {
        return dag.constant(T::computed(op, values).bits());
    }
    let one = |dag: &FormulaDag<T::Bits>, arg: u32| dag.value(arg) == Some(T::ONE.bits());
    match (op, args) {
        (FormulaOp::Mul, &[a, b]) if one(dag, b) => a,
        (FormulaOp::Mul, &[a, b]) if one(dag, a) => b,
        (FormulaOp::Div, &[a, b]) if one(dag, b) => a,
        (FormulaOp::Mul, &[a, b]) if a == b => dag.push(FormulaOp::Square, &[a]),
        (FormulaOp::Min | FormulaOp::Max, &[a, b]) if a == b => a,
        (FormulaOp::Neg, &[a]) if dag.node(a).op == FormulaOp::Neg => dag.node(a).args[0],
        _ => dag.push(op, args),
    }
}

/// The same with every sum of a product that nothing else reads rounded once; of two products it is the left one.
fn fused<T: FormulaNumber>(from: &LoweredFormula<T>) -> LoweredFormula<T> {
    let uses = from.dag.uses(&from.roots);
    let product = |index: u32| {
        let node = from.dag.node(index);
        match node.op {
            _ if uses[index as usize] > 1 => None,
            FormulaOp::Mul => Some([node.args[0], node.args[1]]),
            FormulaOp::Square => Some([node.args[0]; 2]),
            _ => None,
        }
    };
    // The operands of products are made before the products are.
    let mut made: Vec<u32> = vec![0; uses.len()];
    let mut dag = FormulaDag::default();
    for index in (0..uses.len()).filter(|&index| uses[index] > 0) {
        let node = from.dag.nodes()[index];
        let new = |operand: u32| made[operand as usize];
        let (op, args) = match (node.op, node.operands()) {
            (FormulaOp::Add | FormulaOp::Sub, &[a, b]) => match (product(a), product(b)) {
                (Some([p, q]), _) if node.op == FormulaOp::Add => (FormulaOp::MulAdd, vec![new(p), new(q), new(b)]),
                (Some([p, q]), _) => (FormulaOp::MulSub, vec![new(p), new(q), new(b)]),
                (None, Some([p, q])) if node.op == FormulaOp::Add => (FormulaOp::MulAdd, vec![new(p), new(q), new(a)]),
                (None, Some([p, q])) => (FormulaOp::SubMul, vec![new(p), new(q), new(a)]),
                (None, None) => (node.op, vec![new(a), new(b)]),
            },
            (op, operands) => (op, operands.iter().map(|&operand| new(operand)).collect()),
        };
        made[index] = match (op, from.dag.value(index as u32)) {
            (_, Some(bits)) => dag.constant(bits),
            (FormulaOp::Axis, _) => dag.push(op, &node.args[..1]),
            _ => dag.push(op, &args),
        };
    }
    LoweredFormula { roots: from.roots.iter().map(|&root| made[root as usize]).collect(), dag }
}
