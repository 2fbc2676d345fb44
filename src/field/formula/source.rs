//! A formula as CUDA source: what `kernels/fields/formula.cuh` includes.
//!
//! A formula of a usual size becomes a line per clause, on values that each have a name, so that the compiler sees all of
//! it. The time that a compiler takes grows faster than the text, and thousands of clauses would take many seconds. So a
//! larger formula becomes a list of clauses and a loop over it, whose values lie in slots of a thread's own memory.
//!
//! Either is written once, for numbers and for bounds: an operation has one name for both.

use std::fmt::{Display, Write};

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::FormulaOp;
use crate::field::formula::functions;
use crate::field::formula::labels::FormulaLabels;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::{FormulaClause, FormulaTape};
use crate::field::twin::{DeviceTwin, MOST_SLOTS, TwinRefusal};

/// The most clauses that are copied to where they are named.
const MOST_INLINED: usize = 64;

/// The most thresholds that are compared without a loop.
const FEW: usize = 64;

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($format:tt)+) => { writeln!($text, $($format)+).expect("writing to a string") };
}

/// The numbers that the header needs, as constants by name.
fn defines<T: FormulaNumber>() -> Vec<(&'static str, String)> {
    let in_doubles = |number: &f64| format!("of_bits({})", bits(*number));
    let list = |numbers: &[f64]| numbers.iter().map(in_doubles).collect::<Vec<_>>().join(", ");
    let own = [("FORMULA_NAN", T::NAN), ("FORMULA_INFINITY", T::INFINITY)];
    let own = own.map(|(name, number)| (name, format!("of_bits({})", bits(number))));
    functions::NUMBERS.iter().map(|(name, numbers)| (*name, list(numbers))).chain(own).collect()
}

/// The type of a number's bits.
fn word<T>() -> &'static str {
    if size_of::<T>() == 4 { "u32" } else { "u64" }
}

/// The bits of a number, as a constant of u32 or u64.
fn bits<T: FormulaNumber>(number: T) -> String {
    format!("{:#x}{}", number.word(), if size_of::<T>() == 4 { "u" } else { "ull" })
}

/// The source of a formula, and the numbers that it needs.
#[derive(Debug)]
pub(super) struct FormulaText {
    pub(super) defines: Vec<(&'static str, String)>,
    /// The text, or why there is none.
    pub(super) source: Result<String, TwinRefusal>,
}

impl FormulaText {
    /// Puts it into a twin of the same cells.
    pub(super) fn twin(self, points: DeviceTwin) -> DeviceTwin {
        let twin = self.defines.into_iter().fold(points.proves(), |twin, (name, value)| twin.define(name, value));
        twin.written(self.source)
    }
}

/// The source of a formula that is a value. It has lines up to `most_lines` clauses.
pub(super) fn of_value<T: FormulaNumber>(
    tape: &FormulaTape<T>,
    labels: &FormulaLabels<T>,
    most_lines: usize,
) -> FormulaText {
    let value = function("value", tape, most_lines);
    let (before, label) = label(labels);
    let is_value = matches!(labels, FormulaLabels::Value);
    let operation = if tape.clauses.len() > most_lines { operation() } else { String::new() };
    let head = format!("    static constexpr bool ITERATES = false, IS_VALUE = {is_value};\n{label}{operation}");
    FormulaText { defines: defines::<T>(), source: value.map(|value| structure(&before, &head, &[value])) }
}

/// The source of a formula that iterates: `start` gives each cell `states` numbers and others that stay, `turn` says whether
/// it goes on, and what the states become.
pub(super) fn of_orbit<T: FormulaNumber>(
    start: &FormulaTape<T>,
    turn: &FormulaTape<T>,
    states: usize,
    most_lines: usize,
) -> FormulaText {
    let functions =
        function("start", start, most_lines).and_then(|start| Ok([start, function("turn", turn, most_lines)?]));
    let given = start.results.len();
    let long = [start, turn].iter().any(|tape| tape.clauses.len() > most_lines);
    let operation = if long { operation() } else { String::new() };
    let head = format!(
        "    static constexpr bool ITERATES = true;\n    static constexpr u32 STATES = {states}, GIVEN = {given};\n{operation}"
    );
    FormulaText { defines: defines::<T>(), source: functions.map(|functions| structure("", &head, &functions)) }
}

/// A function, after what stands before the struct that it is in.
struct FormulaCode {
    before: String,
    function: String,
}

fn structure(before: &str, head: &str, functions: &[FormulaCode]) -> String {
    let all = |part: fn(&FormulaCode) -> &str| functions.iter().map(part).collect::<String>();
    let (arrays, bodies) = (all(|code| &code.before), all(|code| &code.function));
    format!("#pragma once\n\n{arrays}{before}struct Formula {{\n{head}{bodies}}};\n")
}

/// The function `name` that computes the results of a tape.
fn function<T: FormulaNumber>(
    name: &str,
    tape: &FormulaTape<T>,
    most_lines: usize,
) -> Result<FormulaCode, TwinRefusal> {
    let text = FormulaSource {
        name: name.to_uppercase(),
        word: word::<T>(),
        clauses: &tape.clauses,
        constants: tape.constants.iter().map(|&constant| bits(constant)).collect(),
        axes: &tape.axes,
        slots: tape.slots,
        results: &tape.results,
    };
    let (before, body) = match tape.clauses.len() <= most_lines {
        true => (String::new(), text.lines()),
        false if tape.slots <= MOST_SLOTS => (text.lists(), text.steps()),
        false => return Err(TwinRefusal::Formula { steps: tape.clauses.len(), values: tape.slots }),
    };
    // Kernels name it in several places, and a compiler takes the time of a copy for each.
    let how = if tape.clauses.len() <= MOST_INLINED { "DEVICE" } else { "__device__ __noinline__" };
    let head = format!("template <class Number> static {how} void {name}(const Number* x, Number* found)");
    Ok(FormulaCode { before, function: format!("    {head} {{\n{body}    }}\n") })
}

/// A function that does what a clause says.
fn operation() -> String {
    let mut text = String::new();
    line!(text, "    template <class Number>");
    line!(
        text,
        "    static DEVICE Number operation(u32 op, bool same, const Number& a, const Number& b, const Number& c) {{"
    );
    line!(text, "        switch (op) {{");
    for op in FormulaOp::COMPUTED {
        let (number, name) = (op as u8, op.name());
        let found = match op.operands() {
            3 => format!("same ? op_{name}<true>(a, b, c) : op_{name}<false>(a, b, c)"),
            2 => format!("op_{name}(a, b)"),
            _ => format!("op_{name}(a)"),
        };
        line!(text, "        case {number}: return {found};");
    }
    line!(text, "        }}\n        return a;\n    }}");
    text
}

/// What says the label of a value, after an array if it needs one.
fn label<T: FormulaNumber>(labels: &FormulaLabels<T>) -> (String, String) {
    let in_struct = |line: &str| format!("    static DEVICE {line}\n");
    let FormulaLabels::Classes(thresholds) = labels else {
        return (
            String::new(),
            in_struct(match labels {
                FormulaLabels::Truth => "u32 label(Real value) { return value == Real(1) ? 1 : 0; }",
                // Bits of a NaN differ between processors.
                _ => "Real label(Real value) { return is_nan(value) ? FORMULA_NAN : value; }",
            }),
        );
    };
    let count = thresholds.len();
    if count <= FEW {
        let each = thresholds.iter().map(|&threshold| format!(" + u32(of_bits({}) <= value)", bits(threshold)));
        let sum = each.collect::<String>();
        return (String::new(), in_struct(&format!("u32 label(Real value) {{ return 0{sum}; }}")));
    }
    let counted = format!(
        "u32 label(Real value) {{\n        u32 found = 0;\n        for (u32 i = 0; i < {count}; i++) \
         found += u32(of_bits(FORMULA_THRESHOLDS[i]) <= value);\n        return found;\n    }}"
    );
    (array(word::<T>(), "THRESHOLDS", thresholds.iter().map(|&threshold| bits(threshold))), in_struct(&counted))
}

/// What is written of a tape. Numbers are texts, whatever their type is.
struct FormulaSource<'a> {
    /// What its arrays are called after.
    name: String,
    /// The type of a number's bits.
    word: &'static str,
    clauses: &'a [FormulaClause],
    constants: Vec<String>,
    axes: &'a [usize],
    slots: usize,
    results: &'a [u16],
}

/// Where a number that a tape begins with is: coordinates come first, and then what an iteration is given.
fn given(axis: usize) -> String {
    if axis < MAX_DIM { format!("x[{axis}]") } else { format!("x[DIM + {}]", axis - MAX_DIM) }
}

impl FormulaSource<'_> {
    /// A line per clause.
    fn lines(&self) -> String {
        // The names of what is in the slots.
        let mut names = vec![String::new(); self.slots];
        names.iter_mut().zip(self.axes).for_each(|(name, axis)| *name = given(*axis));
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
        for (number, &result) in self.results.iter().enumerate() {
            line!(text, "        found[{number}] = {};", names[usize::from(result)]);
        }
        text
    }

    /// The clauses and constants of a loop.
    fn lists(&self) -> String {
        let clause = |clause: &FormulaClause| {
            let FormulaClause { op, constants, out, a, b } = *clause;
            let low = u64::from(op as u8) | u64::from(constants) << 8 | u64::from(out) << 16;
            format!("{:#x}ull", low | u64::from(a) << 32 | u64::from(b) << 48)
        };
        let named = |name: &str| format!("{}_{name}", self.name);
        array("u64", &named("CLAUSES"), self.clauses.iter().map(clause))
            + &array(self.word, &named("CONSTANTS"), self.constants.iter())
    }

    /// A loop over the clauses.
    fn steps(&self) -> String {
        let mut text = String::new();
        line!(text, "        Number slots[{}];", self.slots);
        for (slot, axis) in self.axes.iter().enumerate() {
            line!(text, "        slots[{slot}] = {};", given(*axis));
        }
        let name = &self.name;
        let constant = |place: &str| format!("FormulaConstant<Number>::of(of_bits(FORMULA_{name}_CONSTANTS[{place}]))");
        line!(text, "        Number third = FormulaConstant<Number>::of(Real(0));");
        line!(text, "#pragma unroll 1");
        line!(text, "        for (u32 i = 0; i < {}; i++) {{", self.clauses.len());
        line!(text, "            const u64 clause = FORMULA_{name}_CLAUSES[i];");
        line!(text, "            const u32 constants = u32(clause) >> 8 & 3, out = u32(clause) >> 16;");
        line!(text, "            const u32 first = u32(clause >> 32) & 0xffff, second = u32(clause >> 48);");
        line!(text, "            const bool same = constants == 0 && first == second;");
        line!(text, "            const Number a = (constants & 1) != 0 ? {} : slots[first];", constant("first"));
        line!(text, "            const Number b = (constants & 2) != 0 ? {} : slots[second];", constant("second"));
        let third = FormulaOp::Third as u8;
        line!(text, "            const u32 op = u32(clause) & 0xff;");
        line!(text, "            if (op == {third}) third = a;");
        line!(text, "            else slots[out] = operation(op, same, a, b, third);\n        }}");
        for (number, result) in self.results.iter().enumerate() {
            line!(text, "        found[{number}] = slots[{result}];");
        }
        text
    }
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
