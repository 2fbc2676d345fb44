//! A formula as CUDA source: what `kernels/fields/formula.cuh` includes.
//!
//! A formula of a usual size becomes a line per clause, on values that each have a name, so that the compiler sees all of
//! it. The time that a compiler takes grows faster than the text, and thousands of clauses would take many seconds. So a
//! larger formula becomes a list of clauses and a loop over it, whose values lie in slots of a thread's own memory.
//!
//! Either is written once, for numbers and for bounds: an operation has one name for both.

use std::fmt::{Display, Write};

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::functions;
use crate::field::formula::labels::FormulaLabels;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::{FormulaClause, FormulaTape};
use crate::field::twin::MOST_SLOTS;

/// The most clauses that are copied to where they are named.
const MOST_INLINED: usize = 64;

/// The most thresholds that are compared without a loop.
const FEW: usize = 64;

/// The numbers that the header needs, as constants by name.
pub(super) fn defines<T: FormulaNumber>() -> Vec<(&'static str, String)> {
    let in_doubles = |number: &f64| format!("of_bits({})", bits(*number));
    let list = |numbers: &[f64]| numbers.iter().map(in_doubles).collect::<Vec<_>>().join(", ");
    let own = [("FORMULA_NAN", T::NAN), ("FORMULA_INFINITY", T::INFINITY)];
    let own = own.map(|(name, number)| (name, format!("of_bits({})", bits(number))));
    functions::NUMBERS.iter().map(|(name, numbers)| (*name, list(numbers))).chain(own).collect()
}

/// The bits of a number, as a constant of u32 or u64.
fn bits<T: FormulaNumber>(number: T) -> String {
    format!("{:#x}{}", number.word(), if size_of::<T>() == 4 { "u" } else { "ull" })
}

/// The source; None if the formula has more than `most_lines` clauses and needs more slots than a loop may have.
pub(super) fn written<T: FormulaNumber>(
    tape: &FormulaTape<T>,
    labels: &FormulaLabels<T>,
    most_lines: usize,
) -> Option<String> {
    let all = |numbers: &[T]| numbers.iter().map(|&number| bits(number)).collect::<Vec<_>>();
    let (label, thresholds) = match labels {
        FormulaLabels::Truth => ("u32 label(Real value) { return value == Real(1) ? 1 : 0; }", Vec::new()),
        // Bits of a NaN differ between processors.
        FormulaLabels::Value => ("Real label(Real value) { return is_nan(value) ? FORMULA_NAN : value; }", Vec::new()),
        FormulaLabels::Classes(thresholds) => ("u32 label(Real value) { return classes(value); }", all(thresholds)),
    };
    let text = FormulaSource {
        wide: size_of::<T>() == 8,
        clauses: &tape.clauses,
        constants: all(&tape.constants),
        axes: &tape.axes,
        slots: tape.slots,
        result: tape.result,
        thresholds,
    };
    let (before, value) = match tape.clauses.len() <= most_lines {
        true => (String::new(), text.lines()),
        false if tape.slots <= MOST_SLOTS => (text.lists(), text.steps()),
        false => return None,
    };
    let (thresholds, classes) = text.classes();
    // Kernels name it in several places, and a compiler takes the time of a copy for each.
    let how = if tape.clauses.len() <= MOST_INLINED { "DEVICE" } else { "__device__ __noinline__" };
    let is_value = matches!(labels, FormulaLabels::Value);
    Some(format!(
        "#pragma once\n\n{before}{thresholds}struct Formula {{\n    static constexpr bool IS_VALUE = {is_value};\n{classes}    \
         static DEVICE {label}\n    template <class Number> static {how} Number value(const Number (&x)[DIM]) {{\n\
         {value}    }}\n}};\n"
    ))
}

/// What is written of a formula. Numbers are texts, whatever their type is.
struct FormulaSource<'a> {
    wide: bool,
    clauses: &'a [FormulaClause],
    constants: Vec<String>,
    axes: &'a [usize],
    slots: usize,
    result: u16,
    thresholds: Vec<String>,
}

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($format:tt)+) => { writeln!($text, $($format)+).expect("writing to a string") };
}

impl FormulaSource<'_> {
    /// A line per clause.
    fn lines(&self) -> String {
        // The names of what is in the slots.
        let mut names = vec![String::new(); self.slots];
        names.iter_mut().zip(self.axes).for_each(|(name, axis)| *name = format!("x[{axis}]"));
        let (mut text, mut third) = (String::new(), String::new());
        for (number, clause) in self.clauses.iter().enumerate() {
            let operand = |place: u16, constant: bool| match constant {
                true => format!("FormulaConstant<Number>::of(of_bits({}))", self.constants[usize::from(place)]),
                false => names[usize::from(place)].clone(),
            };
            let a = operand(clause.a, clause.a_is_constant());
            if clause.op == FormulaOp::Third {
                third = a;
                continue;
            }
            let mut operands = vec![a];
            operands.extend((clause.op.operands() > 1).then(|| operand(clause.b, clause.b_is_constant())));
            let mut name = format!("op_{}", clause.op.name());
            if clause.op.operands() == 3 {
                operands.push(third.clone());
                write!(name, "<{}>", clause.is_of_one_factor()).expect("writing to a string");
            }
            line!(text, "        const Number v{number} = {name}({});", operands.join(", "));
            names[usize::from(clause.out)] = format!("v{number}");
        }
        line!(text, "        return {};", names[usize::from(self.result)]);
        text
    }

    /// The clauses and constants of a loop.
    fn lists(&self) -> String {
        let clause = |clause: &FormulaClause| {
            let FormulaClause { op, constants, out, a, b } = *clause;
            let low = u64::from(op as u8) | u64::from(constants) << 8 | u64::from(out) << 16;
            format!("{:#x}ull", low | u64::from(a) << 32 | u64::from(b) << 48)
        };
        array("u64", "CLAUSES", self.clauses.iter().map(clause))
            + &array(self.word(), "CONSTANTS", self.constants.iter())
    }

    /// A loop over the clauses.
    fn steps(&self) -> String {
        let mut text = String::new();
        line!(text, "        Number slots[{}];", self.slots);
        for (slot, axis) in self.axes.iter().enumerate() {
            line!(text, "        slots[{slot}] = x[{axis}];");
        }
        let constant = |place: &str| format!("FormulaConstant<Number>::of(of_bits(FORMULA_CONSTANTS[{place}]))");
        line!(text, "        Number third = FormulaConstant<Number>::of(Real(0));");
        line!(text, "#pragma unroll 1");
        line!(text, "        for (u32 i = 0; i < {}; i++) {{", self.clauses.len());
        line!(text, "            const u64 clause = FORMULA_CLAUSES[i];");
        line!(text, "            const u32 constants = u32(clause) >> 8 & 3, out = u32(clause) >> 16;");
        line!(text, "            const u32 first = u32(clause >> 32) & 0xffff, second = u32(clause >> 48);");
        line!(text, "            const bool same = constants == 0 && first == second;");
        line!(text, "            const Number a = (constants & 1) != 0 ? {} : slots[first];", constant("first"));
        line!(text, "            const Number b = (constants & 2) != 0 ? {} : slots[second];", constant("second"));
        line!(text, "            Number found = a;");
        line!(text, "            switch (u32(clause) & 0xff) {{");
        for op in FormulaOp::COMPUTED {
            let (number, name) = (op as u8, op.name());
            let found = match op.operands() {
                3 => format!("same ? op_{name}<true>(a, b, third) : op_{name}<false>(a, b, third)"),
                2 => format!("op_{name}(a, b)"),
                _ => format!("op_{name}(a)"),
            };
            line!(text, "            case {number}: found = {found}; break;");
        }
        line!(text, "            case {}: third = a; continue;", FormulaOp::Third as u8);
        line!(text, "            }}\n            slots[out] = found;\n        }}");
        line!(text, "        return slots[{}];", self.result);
        text
    }

    /// Thresholds, and the function that counts them.
    fn classes(&self) -> (String, String) {
        let count = self.thresholds.len();
        let body = match count {
            0 => return Default::default(),
            1..=FEW => {
                let each = self.thresholds.iter().map(|threshold| format!(" + u32(of_bits({threshold}) <= value)"));
                let text = format!("        return 0{};\n", each.collect::<String>());
                return (String::new(), classes_of(&text));
            }
            _ => format!(
                "        u32 found = 0;\n        for (u32 i = 0; i < {count}; i++) \
                 found += u32(of_bits(FORMULA_THRESHOLDS[i]) <= value);\n        return found;\n"
            ),
        };
        (array(self.word(), "THRESHOLDS", self.thresholds.iter()), classes_of(&body))
    }

    /// The type of a number's bits.
    fn word(&self) -> &'static str {
        if self.wide { "u64" } else { "u32" }
    }
}

fn classes_of(body: &str) -> String {
    format!("    static DEVICE u32 classes(Real value) {{\n{body}    }}\n")
}

/// An array in a GPU's memory, which has an element if nothing is in it.
fn array(of: &str, name: &str, elements: impl ExactSizeIterator<Item = impl Display>) -> String {
    let mut text = format!("static __device__ const {of} FORMULA_{name}[{}] = {{", elements.len().max(1));
    for (number, element) in elements.enumerate() {
        text += if number % 8 == 0 { "\n    " } else { " " };
        write!(text, "{element},").expect("writing to a string");
    }
    text + "\n};\n"
}
