//! Parts of a formula: real and complex values, and the truth of comparisons.
//!
//! A complex number is a pair of nodes. A part of it that is exactly 0 is none, so that x + i·y is x and y as they are, and
//! no operation with 0 is done that could make NaN of infinity.

use crate::field::formula::dag::{FormulaDag, FormulaLiteral, FormulaOp};

/// What a part of a formula is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormulaKind {
    Value,
    Complex,
    Truth,
}

impl FormulaKind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Complex => "a complex value",
            Self::Truth => "a comparison",
        }
    }
}

/// A part of a formula.
#[derive(Debug, Clone, Copy)]
pub(super) enum FormulaPart {
    /// A real value. `square` is the node of its square, if it is known without a root.
    Value { node: u32, square: Option<u32> },
    /// A complex value: its real and its imaginary part, None where that is 0.
    Complex([Option<u32>; 2]),
    /// 1 if a comparison holds, else 0.
    Truth(u32),
}

/// The nodes that parts are made of.
pub(super) type PartDag = FormulaDag<FormulaLiteral>;

impl FormulaPart {
    pub(super) fn value(node: u32) -> Self {
        Self::Value { node, square: None }
    }

    pub(super) fn kind(self) -> FormulaKind {
        match self {
            Self::Value { .. } => FormulaKind::Value,
            Self::Complex(_) => FormulaKind::Complex,
            Self::Truth(_) => FormulaKind::Truth,
        }
    }

    /// The real and the imaginary part.
    pub(super) fn pair(self) -> [Option<u32>; 2] {
        match self {
            Self::Value { node, .. } | Self::Truth(node) => [Some(node), None],
            Self::Complex(pair) => pair,
        }
    }

    /// The node of a value or a comparison; of a complex value that of its real part.
    pub(super) fn node(self, dag: &mut PartDag) -> u32 {
        let [real, _] = self.pair();
        real.unwrap_or_else(|| dag.constant(FormulaLiteral::new(0.0)))
    }

    fn is_complex(self) -> bool {
        self.kind() == FormulaKind::Complex
    }

    /// The result of an operation on two, at least one of which is complex if `complex` is true.
    fn of(dag: &mut PartDag, pair: [Option<u32>; 2], complex: bool) -> Self {
        if complex { Self::Complex(pair) } else { Self::value(Self::Complex(pair).node(dag)) }
    }

    pub(super) fn negated(self, dag: &mut PartDag) -> Self {
        let pair = self.pair().map(|part| part.map(|node| dag.push(FormulaOp::Neg, &[node])));
        Self::of(dag, pair, self.is_complex())
    }

    /// The sum of two, or the difference.
    pub(super) fn sum(self, dag: &mut PartDag, op: FormulaOp, other: Self) -> Self {
        let (a, b) = (self.pair(), other.pair());
        let pair = [0, 1].map(|part| match (a[part], b[part], op) {
            (Some(a), Some(b), op) => Some(dag.push(op, &[a, b])),
            (None, Some(b), FormulaOp::Sub) => Some(dag.push(FormulaOp::Neg, &[b])),
            (a, b, _) => a.or(b),
        });
        Self::of(dag, pair, self.is_complex() || other.is_complex())
    }

    /// (a + ib)(c + id) = (ac − bd) + i(ad + bc).
    pub(super) fn product(self, dag: &mut PartDag, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.pair(), other.pair());
        let mut times = |a: Option<u32>, b: Option<u32>| Some(dag.push(FormulaOp::Mul, &[a?, b?]));
        let [ac, bd, ad, bc] = [times(a, c), times(b, d), times(a, d), times(b, c)];
        let pair = [minus(dag, ac, bd), plus(dag, ad, bc)];
        Self::of(dag, pair, self.is_complex() || other.is_complex())
    }

    /// (a + ib)/(c + id) = ((ac + bd) + i(bc − ad)) / (c² + d²).
    pub(super) fn quotient(self, dag: &mut PartDag, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.pair(), other.pair());
        if d.is_none() {
            let c = other.node(dag);
            let pair = [a, b].map(|part| part.map(|node| dag.push(FormulaOp::Div, &[node, c])));
            return Self::of(dag, pair, self.is_complex() || other.is_complex());
        }
        let square = other.square(dag);
        let mut times = |a: Option<u32>, b: Option<u32>| Some(dag.push(FormulaOp::Mul, &[a?, b?]));
        let [ac, bd, bc, ad] = [times(a, c), times(b, d), times(b, c), times(a, d)];
        let pair = [plus(dag, ac, bd), minus(dag, bc, ad)];
        Self::Complex(pair.map(|part| part.map(|node| dag.push(FormulaOp::Div, &[node, square]))))
    }

    /// a² − b² + i(a + a)b; of a real value its square.
    pub(super) fn squared(self, dag: &mut PartDag) -> Self {
        if let Self::Value { square: Some(square), .. } = self {
            return Self::value(square);
        }
        let [a, b] = self.pair();
        let [a2, b2] = [a, b].map(|part| part.map(|node| dag.push(FormulaOp::Square, &[node])));
        let twice = a.zip(b).map(|(a, b)| {
            let sum = dag.push(FormulaOp::Add, &[a, a]);
            dag.push(FormulaOp::Mul, &[sum, b])
        });
        let pair = [minus(dag, a2, b2), twice];
        Self::of(dag, pair, self.is_complex())
    }

    /// The square of the distance from 0.
    fn square(self, dag: &mut PartDag) -> u32 {
        let squares = self.pair().map(|part| part.map(|node| dag.push(FormulaOp::Square, &[node])));
        let sum = plus(dag, squares[0], squares[1]);
        sum.unwrap_or_else(|| dag.constant(FormulaLiteral::new(0.0)))
    }

    /// The distance from 0. Comparisons of one with a constant take squares.
    pub(super) fn magnitude(self, dag: &mut PartDag) -> Self {
        match self.pair() {
            [Some(_), Some(_)] => {
                let square = self.square(dag);
                Self::Value { node: dag.push(FormulaOp::Sqrt, &[square]), square: Some(square) }
            }
            [real, imaginary] => match real.or(imaginary) {
                Some(node) => Self::value(dag.push(FormulaOp::Abs, &[node])),
                None => Self::value(self.node(dag)),
            },
        }
    }

    /// The real part, the imaginary part, or the opposite of that.
    pub(super) fn component(self, dag: &mut PartDag, component: usize) -> Self {
        Self::value(Self::Complex([self.pair()[component], None]).node(dag))
    }

    pub(super) fn conjugated(self, dag: &mut PartDag) -> Self {
        let [real, imaginary] = self.pair();
        let imaginary = imaginary.map(|node| dag.push(FormulaOp::Neg, &[node]));
        Self::of(dag, [real, imaginary], self.is_complex())
    }

    /// The comparison of two values. A distance and a constant are compared by their squares, unless the square of the constant
    /// may underflow or overflow in numbers of 32 bits.
    pub(super) fn compared(self, dag: &mut PartDag, op: FormulaOp, other: Self) -> Self {
        let mut nodes = [self.node(dag), other.node(dag)];
        let squares = [self, other].map(|part| match part {
            Self::Value { square, .. } => square,
            _ => None,
        });
        let squared = |number: f64| number == 0.0 || (1e-18..1e18).contains(&number);
        let fits = |node: u32| dag.value(node).is_some_and(|literal| squared(literal.wide()));
        match (squares, [fits(nodes[0]), fits(nodes[1])]) {
            ([Some(square), None], [_, true]) => nodes = [square, dag.push(FormulaOp::Square, &nodes[1..])],
            ([None, Some(square)], [true, _]) => nodes = [dag.push(FormulaOp::Square, &nodes[..1]), square],
            ([Some(first), Some(second)], _) => nodes = [first, second],
            _ => {}
        }
        Self::Truth(dag.push(op, &nodes))
    }
}

/// The sum of two, each of which may be 0.
fn plus(dag: &mut PartDag, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(dag.push(FormulaOp::Add, &[a, b])),
        (a, b) => a.or(b),
    }
}

/// The difference of two, each of which may be 0.
fn minus(dag: &mut PartDag, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(dag.push(FormulaOp::Sub, &[a, b])),
        (None, Some(b)) => Some(dag.push(FormulaOp::Neg, &[b])),
        (a, None) => a,
    }
}
