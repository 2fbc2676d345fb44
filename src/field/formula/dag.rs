//! What a formula computes: operations on the results of others, each kept once.

use std::collections::HashMap;
use std::hash::Hash;

/// An operation of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum FormulaOp {
    /// The coordinate on an axis, which is `a`; from 8 on a number that changes from one iteration to the next.
    Axis,
    /// A constant; `a` is its number.
    Number,
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// 1 if a < b, else 0.
    Less,
    /// 1 if a <= b, else 0.
    LessEq,
    Neg,
    Abs,
    Sqrt,
    Square,
    Floor,
    Sin,
    Cos,
    Exp,
    Ln,
    /// a·b + c, rounded once.
    MulAdd,
    /// a·b − c, rounded once.
    MulSub,
    /// c − a·b, rounded once.
    SubMul,
    /// On a tape alone: `a` is the third operand of the operation that follows.
    Third,
}

impl FormulaOp {
    /// Those that compute something of their operands.
    pub(super) const COMPUTED: [Self; 21] = [
        Self::Number,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Min,
        Self::Max,
        Self::Less,
        Self::LessEq,
        Self::Neg,
        Self::Abs,
        Self::Sqrt,
        Self::Square,
        Self::Floor,
        Self::Sin,
        Self::Cos,
        Self::Exp,
        Self::Ln,
        Self::MulAdd,
        Self::MulSub,
        Self::SubMul,
    ];

    /// What kernels call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Axis => "axis",
            Self::Number => "number",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Min => "min",
            Self::Max => "max",
            Self::Less => "less",
            Self::LessEq => "less_eq",
            Self::Neg => "neg",
            Self::Abs => "abs",
            Self::Sqrt => "sqrt",
            Self::Square => "square",
            Self::Floor => "floor",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Exp => "exp",
            Self::Ln => "ln",
            Self::MulAdd => "mul_add",
            Self::MulSub => "mul_sub",
            Self::SubMul => "sub_mul",
            Self::Third => "third",
        }
    }

    /// How many operands it has.
    pub(super) fn operands(self) -> usize {
        match self {
            Self::Axis | Self::Number | Self::Third => 0,
            Self::Neg | Self::Abs | Self::Sqrt | Self::Square | Self::Floor => 1,
            Self::Sin | Self::Cos | Self::Exp | Self::Ln => 1,
            Self::Add | Self::Sub | Self::Mul | Self::Div => 2,
            Self::Min | Self::Max | Self::Less | Self::LessEq => 2,
            Self::MulAdd | Self::MulSub | Self::SubMul => 3,
        }
    }
}

/// A number as it was written, rounded to either precision on its own: rounding twice can end elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FormulaLiteral {
    wide: u64,
    narrow: u32,
}

impl FormulaLiteral {
    /// The number that `text` says.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (wide, narrow): (f64, f32) = (text.parse().ok()?, text.parse().ok()?);
        Some(Self { wide: wide.to_bits(), narrow: narrow.to_bits() })
    }

    /// A number that is known to 64 bits.
    pub(super) fn new(number: f64) -> Self {
        Self { wide: number.to_bits(), narrow: (number as f32).to_bits() }
    }

    pub(super) fn wide(self) -> f64 {
        f64::from_bits(self.wide)
    }

    pub(super) fn narrow(self) -> f32 {
        f32::from_bits(self.narrow)
    }

    pub(super) fn negated(self) -> Self {
        Self { wide: (-self.wide()).to_bits(), narrow: (-self.narrow()).to_bits() }
    }
}

/// An operation and the numbers of its operands among the nodes; those that it lacks are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FormulaNode {
    pub(super) op: FormulaOp,
    pub(super) args: [u32; 3],
}

impl FormulaNode {
    /// The nodes that it reads.
    pub(super) fn operands(&self) -> &[u32] {
        &self.args[..self.op.operands()]
    }
}

/// Nodes, every operand before what reads it, none twice. A constant is a C: its bits.
#[derive(Debug, Clone)]
pub(super) struct FormulaDag<C> {
    nodes: Vec<FormulaNode>,
    constants: Vec<C>,
    seen: HashMap<FormulaNode, u32>,
    known: HashMap<C, u32>,
}

impl<C> Default for FormulaDag<C> {
    fn default() -> Self {
        Self { nodes: Vec::new(), constants: Vec::new(), seen: HashMap::new(), known: HashMap::new() }
    }
}

impl<C: Copy + Eq + Hash> FormulaDag<C> {
    /// The node of an operation.
    pub(super) fn push(&mut self, op: FormulaOp, args: &[u32]) -> u32 {
        let mut node = FormulaNode { op, args: [0; 3] };
        node.args[..args.len()].copy_from_slice(args);
        *self.seen.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }

    /// The node of a constant.
    pub(super) fn constant(&mut self, bits: C) -> u32 {
        let number = *self.known.entry(bits).or_insert_with(|| {
            self.constants.push(bits);
            self.constants.len() as u32 - 1
        });
        self.push(FormulaOp::Number, &[number])
    }

    pub(super) fn nodes(&self) -> &[FormulaNode] {
        &self.nodes
    }

    pub(super) fn node(&self, index: u32) -> FormulaNode {
        self.nodes[index as usize]
    }

    /// The constant that a node is, if it is one.
    pub(super) fn value(&self, index: u32) -> Option<C> {
        let node = self.node(index);
        (node.op == FormulaOp::Number).then(|| self.constants[node.args[0] as usize])
    }

    /// How often the result of each node is read on the way to `roots`, each of which counts as read once more. Others are
    /// not.
    pub(super) fn uses(&self, roots: &[u32]) -> Vec<u32> {
        let last = roots.iter().max().map_or(0, |&root| root as usize + 1);
        let mut uses = vec![0; last];
        roots.iter().for_each(|&root| uses[root as usize] += 1);
        for index in (0..last).rev() {
            if uses[index] > 0 {
                self.nodes[index].operands().iter().for_each(|&operand| uses[operand as usize] += 1);
            }
        }
        uses
    }
}
