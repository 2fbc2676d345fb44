//! Formulas: what is refused and where, and random ones, whose proofs and tapes are held against the definition.

use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Payload, Prove};
use crate::field::formula::dag::{FormulaDag, FormulaOp};
use crate::field::formula::field::FormulaField;
use crate::field::formula::lower::{LoweredFormula, lower};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::{MOST_BYTES, MOST_DEPTH, MOST_STEPS};
use crate::field::formula::random::{Random, text};
use crate::field::formula::text::Formula;
use crate::field::options::Arithmetic;
use crate::geometry::{Domain, Region, Sample};
use crate::rule::Verdict;
use crate::simd::Isa;

/// The value of a node by definition: its operands first, each anew.
pub(super) fn value_of<T: FormulaNumber>(dag: &FormulaDag<T::Bits>, index: u32, point: &[T]) -> T {
    let node = dag.node(index);
    if let Some(bits) = dag.value(index) {
        return T::of_bits(bits);
    }
    if node.op == FormulaOp::Axis {
        return point[node.args[0] as usize];
    }
    let mut values = [T::ZERO; 3];
    for (value, &operand) in values.iter_mut().zip(node.operands()) {
        *value = value_of::<T>(dag, operand, point);
    }
    T::computed(node.op, values)
}

/// A domain whose cells are the points 0, 1, .. of each axis.
pub(super) fn lattice<const K: usize>(size: [u32; K]) -> Domain<K> {
    Domain::new(size, size.map(|n| [0.0, f64::from(n)]), Sample::Corner).unwrap()
}

/// The value of a formula at whole coordinates, without fusing.
fn at<const K: usize>(text: &str, cell: [u32; K]) -> f32 {
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let field = FormulaField::<K, f32>::new(&lattice([8; K]), Arithmetic::Plain, &formula).unwrap();
    let mut words = [0];
    field.evaluate(&[cell], WordsMut::Narrow(&mut words));
    f32::from_bits(words[0])
}

#[test]
fn texts_mean_what_they_say() {
    for (text, wanted) in [
        ("x + 2*y - 6/x", 3.0 + 10.0 - 2.0),
        ("-x^2 + y", -9.0 + 5.0),
        ("(-x)^2", 9.0),
        ("2 - 3 - 4", -5.0),
        ("24/x/2", 4.0),
        ("x^1 + x^5 + x^6", 3.0 + 243.0 + 729.0),
        ("2^-y^0.5", f32::NAN),
        ("|x - y|*2 + ||y| - 9|", 4.0 + 4.0),
        ("min(x, y, 1) + max(x, y)", 6.0),
        ("sqrt(x*x) + floor(y/2) + abs(-1)", 3.0 + 2.0 + 1.0),
        ("exp(0) + ln(1) + sin(0) + cos(0)", 2.0),
        ("let r = x + y; let s = r*r; s - r", 56.0),
        ("param a = -1.5e0; a*x", -4.5),
        ("axes u, v; u - v", -2.0),
        ("def f(a, b) = a - 2*b; def g(x) = f(x, x) + y; f(y, x) + g(1)", -1.0 - 1.0 + 5.0),
        (".5 + 1. + 1e1", 11.5),
        ("  x\n+ y ", 8.0),
    ] {
        if wanted.is_nan() {
            assert!(Formula::parse(text).is_err(), "{text}");
        } else {
            assert_eq!(at(text, [3, 5]), wanted, "{text}");
        }
    }
}

#[test]
fn comparisons_are_one_or_nothing() {
    let holds = |text: &str| {
        let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let field = FormulaField::<2, f32>::new(&lattice([8; 2]), Arithmetic::Fused, &formula).unwrap();
        let mut words = [7];
        field.evaluate(&[[3, 5]], WordsMut::Narrow(&mut words));
        words[0]
    };
    for (text, wanted) in [
        ("x < y", 1),
        ("x > y", 0),
        ("x <= 3", 1),
        ("x >= 3", 1),
        ("x < 3 or x > 3", 0),
        ("not x < 3", 1),
        ("not (x < 3 or y < 3) and y > 1", 1),
        ("x < 1 and x < 1 or y > 1", 1),
        ("x < 9 or y < 1 and y < 0", 1),
        ("(x) + 1 < (y) and (x < y)", 1),
        // NaN is neither below nor at least anything, and what is not so is so under `not`.
        ("sqrt(-x) < 1", 0),
        ("sqrt(-x) >= 1", 0),
        ("not sqrt(-x) >= 1", 1),
        ("classes(x, 1, 3, 4, 2)", 3),
        ("classes(x - 3, -1, 0)", 2),
        ("classes(sqrt(-x), -1, 0)", 0),
        ("let near = |x - y| < 3; near and not y < x", 1),
    ] {
        assert_eq!(holds(text), wanted, "{text}");
    }
}

/// The column and the words of every error.
#[test]
fn errors_point_at_what_is_wrong() {
    for (text, column, words) in [
        ("", 1, "a number, a name or '(' is needed here, and the text ends"),
        ("x +", 4, "and the text ends"),
        ("x + * y", 5, "and '*' stands there"),
        ("(x + 1", 7, "')' is needed here"),
        ("x + 1)", 6, "an operator or the end is needed here, and ')' stands there"),
        ("|x", 3, "'|' is needed here"),
        ("x y", 3, "an operator or the end is needed here, and 'y' stands there"),
        ("2x", 2, "products are written out: 2*x"),
        ("1.5e", 4, "products are written out: 1.5*e"),
        (".", 1, "a number has digits"),
        ("x $ y", 3, "'$' is no sign of a formula"),
        ("x && y", 3, "write 'and'"),
        ("x ≤ 1", 3, "write '<='"),
        ("radius < 1", 1, "nothing is called 'radius'; `let radius = ..;` before it gives it a meaning"),
        ("let radius = 1; radios < x", 17, "did you mean 'radius'?"),
        ("x**2", 2, "'**' is no sign of a formula; write '^', as in x^2"),
        ("tan(x) < 1", 1, "write sin(a)/cos(a)"),
        (
            "gamma(x) < 1",
            1,
            "functions are min, max, abs, sqrt, floor, sin, cos, exp, ln, pow, re, im, conj, and `def gamma(a) = ..;`",
        ),
        ("flor(x)", 1, "did you mean 'floor'?"),
        ("sin + 1", 1, "sin is a function; write sin(..)"),
        ("sin(x, y)", 1, "sin takes 1 value, and 2 are given"),
        ("min(x)", 1, "min takes 2 values or more, and 1 are given"),
        ("pow(x)", 1, "pow takes 2 values"),
        ("def f(a) = a; f(1, 2)", 15, "f takes 1 values, and 2 are given"),
        ("def f(a) = f(a); f(1)", 12, "nothing is called 'f'"),
        ("def f(a, a) = a; f(1)", 10, "'a' is there twice"),
        ("x^y", 3, "an exponent is a whole number from 1 to 64"),
        ("x^0.5", 3, "pow(a, b) takes others"),
        ("x^65", 3, "from 1 to 64"),
        ("0 < x < 1", 7, "comparisons are not chained; write a < b and b < c"),
        ("x = 1", 3, "equality is not compared"),
        ("x and y < 1", 1, "a comparison is needed here, and this is a value"),
        ("x < 1 and y", 11, "a comparison is needed here, and this is a value"),
        ("(x < 1) + 2", 1, "a value is needed here, and this is a comparison"),
        ("sqrt(x < 1)", 6, "a value is needed here, and this is a comparison"),
        ("let x = 1; x", 5, "'x' is an axis"),
        ("let min = 1; min", 5, "'min' is a function"),
        ("let or = 1; x", 5, "'or' is a word of the language"),
        ("let a = 1; let a = 2; a", 16, "'a' has a meaning already"),
        ("let a = 1 a", 11, "';' is needed here, and 'a' stands there"),
        ("let 1 = a; x", 5, "a name is needed here"),
        ("param a = x; a", 11, "a number is needed here"),
        ("axes a, a; a", 9, "'a' is an axis already"),
        ("axes a; x", 9, "nothing is called 'x'"),
        ("let r = x; axes a; a", 12, "'axes' comes once, before any axis is named"),
        ("axes a, b, c, d, e, f, g, h, k; a", 30, "there are at most 8 axes"),
        ("x < 1; y", 6, "the result is the end of a formula"),
        ("classes(x)", 10, "',' is needed here"),
        ("classes(x, y)", 12, "a number is needed here"),
        ("1 + classes(x, 1)", 5, "'classes' is a result"),
        ("let i = 1; x", 5, "'i' is the imaginary unit"),
        ("x + 2*i < 1", 1, "a value is needed here, and this is a complex value; take |..|, re(..) or im(..)"),
        ("x + 2*i", 1, "the result is complex; take |..|, re(..) or im(..)"),
        ("sqrt(x + i)", 6, "this is a complex value"),
        ("x^(1 + i)", 3, "this is a complex value"),
        ("re(x, y)", 1, "re takes 1 value, and 2 are given"),
        ("1 + iterate z = z*z from z = 0 while z < 2", 5, "'iterate' is a result"),
        ("iterate z", 10, "'=' is needed here, and the text ends"),
        ("iterate z = z*z", 16, "'from', and what the names begin with"),
        ("iterate q = 1", 14, "'from', and what the names begin with"),
        ("iterate q = q*q from q = 0", 27, "'while', and a comparison that ends it"),
        ("iterate q = q*q from q = 0 while q", 34, "a comparison is needed here"),
        ("iterate q = q*q from p = 0 while q < 2", 13, "nothing is called 'q'"),
        ("iterate q = 1, p = 2 from q = 0 while q < 2", 16, "nothing says what 'p' begins with"),
        ("iterate q = 1 from q = 0, p = 1 while q < 2", 27, "no step changes 'p'"),
        ("iterate q = 1, q = 2 from q = 0 while q < 2", 16, "'q' is there twice"),
        ("iterate min = 1 from min = 0 while x < 2", 22, "'min' is a function"),
        ("iterate q = 1 from q = 0 while q < 2 cap 0", 42, "a cap is a whole number from 1 to 4294967295"),
        ("iterate q = 1 from q = 0 while q < 2 cap x", 42, "a cap is a whole number"),
        ("iterate q = q; q from q = 0 while q < 2", 14, "an operator, ',' or 'from' is needed here"),
        ("iterate q = 1 from q = 0 while q < 2; q", 37, "the result is the end of a formula"),
    ] {
        let error = Formula::parse(text).expect_err(text);
        assert!(error.reason().contains(words), "{text}: {error}");
        assert_eq!((error.line(), error.column()), (1, column), "{text}: {error}");
    }
    let error = Formula::parse("let r = x;\nlet s = r +;\ns").unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 12));
}

/// What is too large is refused in words, before a stack overflows or time passes.
#[test]
fn limits_are_refused() {
    let wrong = |text: String| Formula::parse(text).unwrap_err().to_string();
    for (open, close) in [("(", ")"), ("sqrt(", ")"), ("-", ""), ("|", "|"), ("x^", "")] {
        let deep = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(Formula::parse(deep(MOST_DEPTH - 1)).is_ok() || open == "x^", "{open}");
        assert!(wrong(deep(100_000)).contains("inside one another"), "{open}");
    }
    assert!(wrong(format!("{} x < 1", "not ".repeat(100_000))).contains("inside one another"));
    assert!(wrong(format!("x{}", "+x".repeat(MOST_STEPS))).contains("more than 262144 parts"));
    assert!(wrong(" ".repeat(MOST_BYTES + 1)).contains("at most 1048576 are read"));
    // Definitions that call those before them twice: a short text, and 2^60 parts.
    let mut text = "def f0(a) = a;".to_owned();
    (1..=60).for_each(|n| text += &format!("def f{n}(a) = f{0}(f{0}(a));", n - 1));
    assert!(wrong(text + "f60(x)").contains("more than 262144 parts"));
    // A long sum is no deep one, and has more constants than 16 bits count.
    let sum = (0..70_000).map(|n| format!("+{n}*x")).collect::<String>();
    let formula = Formula::parse(format!("x{sum}")).unwrap();
    let error = FormulaField::<1, f32>::new(&lattice([8]), Arithmetic::Fused, &formula).err().unwrap();
    assert!(error.to_string().contains("65536 different constants"), "{error}");
    // Every value of these is read after all of them were made.
    let lets = (0..9_000).map(|n| format!("let a{n} = x + {n}; ")).collect::<String>();
    let used = (0..9_000).map(|n| format!("*a{n}*a{}", 8_999 - n)).collect::<String>();
    let formula = Formula::parse(format!("{lets} 1{used}")).unwrap();
    let field = FormulaField::<1, f32>::new(&lattice([8]), Arithmetic::Fused, &formula).unwrap();
    assert!(field.value.tape.slots > 9_000, "{}", field.value.tape.slots);
}

#[test]
fn complex_values_are_pairs() {
    for (text, wanted) in [
        ("re(c) + 10*im(c)", 3.0 + 50.0),
        ("|c|^2", 34.0),
        ("|3*i - 4|", 5.0),
        ("|i*x|", 3.0),
        ("re(c*c) + 100*im(c*c)", -16.0 + 3000.0),
        ("re(c^2) + 100*im(c^2)", -16.0 + 3000.0),
        ("re(c^3) + 1000*im(c^3)", -198.0 + 10_000.0),
        ("re(c/(1 + i)) + 100*im(c/(1 + i))", 4.0 + 100.0),
        ("re(c/2) + im(c/2)", 4.0),
        ("im(-c) + im(conj(c)) + im(x - c)", -15.0),
        ("re(i*i) + im(i) + re(i) + im(x)", 0.0),
        ("let c = x - i; im(c)", -1.0),
        ("axes u, v; im(c) - re(c)", 2.0),
        ("def f(a) = a*i; im(f(c)) + re(f(2))", 3.0),
        ("abs(c - 3)", 5.0),
    ] {
        assert_eq!(at(text, [3, 5]), wanted, "{text}");
    }
    let dims = |text: &str| Formula::parse(text).unwrap().dims();
    assert_eq!([dims("|c| < 1"), dims("|x + i| < 1"), dims("iterate z = z^2 + c from z = 0 while |z| < 2")], [2, 1, 2]);
}

/// What was seen of random formulas, so that a test knows that it tested something.
#[derive(Debug, Default)]
struct Seen {
    proven: usize,
    regions: usize,
    both: usize,
}

/// A random formula over K axes in numbers of type T: its tape on every vector unit and its proofs against the definition.
fn check<const K: usize, T: FormulaNumber>(seed: u64, seen: &mut Seen) {
    let mut random = Random::new(seed);
    let text = text(&mut random, K);
    let arithmetic = [Arithmetic::Fused, Arithmetic::Plain][random.below(2)];
    let window = random.window();
    let size = [[97, 1, 1, 1], [17, 13, 1, 1], [9, 8, 7, 1], [6, 5, 6, 5]][K - 1];
    let size: [u32; K] = std::array::from_fn(|axis| size[axis]);
    let sample = [Sample::Corner, Sample::Centre][random.below(2)];
    let domain = Domain::new(size, [window; K], sample).unwrap();
    let formula = Formula::parse(text.as_str()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let mut field = FormulaField::<K, T>::new(&domain, arithmetic, &formula).unwrap();
    let what = format!("seed {seed}, k {K}, {} {arithmetic} over {window:?}: {text}", T::TYPE);

    let cells: Vec<[u32; K]> = domain.region().cells().collect();
    let labels = |field: &FormulaField<K, T>, cells: &[[u32; K]]| -> Vec<u64> {
        use crate::field::definition::Field;
        let (mut narrow, mut wide) = (vec![0; cells.len()], vec![0; cells.len()]);
        match field.labels().kind().bytes() {
            8 => field.evaluate(cells, WordsMut::Wide(&mut wide)),
            _ => {
                field.evaluate(cells, WordsMut::Narrow(&mut narrow));
                wide = narrow.iter().map(|&word| word.into()).collect();
            }
        }
        wide
    };
    // By definition, operation by operation.
    let LoweredFormula { dag, roots } = lower::<T>(&formula.parsed.dag, &formula.parsed.roots, arithmetic);
    let wanted: Vec<u64> = cells
        .iter()
        .map(|cell| {
            let point: Vec<T> = (0..K).map(|axis| field.samples.axes[axis].coordinate(cell[axis])).collect();
            field.value.labels.word(value_of::<T>(&dag, roots[0], &point))
        })
        .collect();
    for isa in Isa::ALL.iter().filter(|isa| isa.is_available()) {
        field.value.isa = *isa;
        assert_eq!(labels(&field, &cells), wanted, "{what}, {isa}");
    }
    // In other blocks.
    let some = 1 + random.below(cells.len());
    let pieces: Vec<u64> = cells.chunks(some).flat_map(|cells| labels(&field, cells)).collect();
    assert_eq!(pieces, wanted, "{what}, {some} at a time");

    seen.both += usize::from(wanted.iter().any(|word| *word != wanted[0]));
    let label = |cell: [u32; K]| {
        let index = (0..K).rev().fold(0, |index, axis| index * size[axis] as usize + cell[axis] as usize);
        wanted[index]
    };
    assert_eq!(cells.iter().map(|&cell| label(cell)).collect::<Vec<_>>(), wanted);
    for number in 0..24 {
        let corner: [u32; K] = std::array::from_fn(|axis| random.below(size[axis] as usize) as u32);
        let side = [1, 2, 4, 1000][number % 4];
        let extent = std::array::from_fn(|axis| (1 + random.below(side) as u32).min(size[axis] - corner[axis]));
        let region = Region { corner, extent };
        seen.regions += 1;
        match field.prove(&region, Payload::default()) {
            Verdict::Uniform(word) => {
                seen.proven += 1;
                for cell in region.cells() {
                    assert_eq!(label(cell), word, "{what}: {region:?} at {cell:?}");
                }
            }
            Verdict::Unknown => {}
            Verdict::Mixed => panic!("{what}: nothing proves that cells differ"),
        }
    }
}

/// 2400 formulas in f32 and 600 in f64. `ORTHANT_FUZZ_SEED` repeats one, in all dimensions and types.
#[test]
fn random_formulas_are_what_they_say() {
    let only = std::env::var("ORTHANT_FUZZ_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut seen = Seen::default();
    for seed in only.map_or(0..600, |seed| seed..seed + 1) {
        check::<1, f32>(seed, &mut seen);
        check::<2, f32>(seed, &mut seen);
        check::<3, f32>(seed, &mut seen);
        check::<4, f32>(seed, &mut seen);
        match seed % 4 {
            0 => check::<1, f64>(seed, &mut seen),
            1 => check::<2, f64>(seed, &mut seen),
            2 => check::<3, f64>(seed, &mut seen),
            _ => check::<4, f64>(seed, &mut seen),
        }
    }
    println!("{seen:?}");
    assert!(only.is_some() || seen.both > 1200 && seen.proven > seen.regions / 4, "{seen:?}");
}

/// The cells of a formula of x and y.
fn drawn(text: &str) -> Vec<u32> {
    let domain = Domain::new([33, 31], [[-1.0, 1.0]; 2], Sample::Corner).unwrap();
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(formula.dims(), 2);
    let field = FormulaField::<2, f32>::new(&domain, Arithmetic::Plain, &formula).unwrap();
    let cells: Vec<[u32; 2]> = domain.region().cells().collect();
    let mut words = vec![0; cells.len()];
    field.evaluate(&cells, WordsMut::Narrow(&mut words));
    words
}

/// A model is what its formula is, and its errors name line and column.
#[test]
fn models_are_read() {
    let model = "# A ball and a half space\nx var-x\ny var-y # the second\n\nxx square x\nyy square y\nsum add xx yy\n\
                 half const 0.5\nball sub sum half\nup recip y\nout max ball up\n";
    let formula = "max(x^2 + y^2 - 0.5, 1/y) < 0";
    let words = [model, formula].map(drawn);
    assert!(words[0] == words[1] && words[0].contains(&0) && words[0].contains(&1));
    for (text, line, column, reason) in [
        ("x var-x\ny add x", 2, 8, "add takes another operand here"),
        ("x var-x\ny add x q", 2, 9, "no line above is called 'q'"),
        ("x var-x\ny squar x", 2, 3, "'squar' is no operation of a .vm model; did you mean 'square'?"),
        ("x var-x\ny neg x x", 2, 9, "neg takes no more operands, and 'x' stands here"),
        ("x const\n", 1, 8, "a number is needed here"),
        ("x const 1,5\n", 1, 9, "'1,5' is no finite number"),
        ("x const nan\n", 1, 9, "'nan' is no finite number"),
        ("x const 1\nx const 2\n", 2, 1, "a line above is called 'x'"),
        ("# m\nx var-x\ny", 3, 2, "an operation is needed here"),
        ("# m\nx var-x\ny rand x", 3, 3, "formulas have no 'rand'"),
    ] {
        let error = Formula::parse(text).expect_err(text);
        assert!(error.reason().contains(reason), "{text}: {error}");
        assert_eq!((error.line(), error.column()), (line, column), "{text}: {error}");
    }
    for text in [
        "let const = x; const",
        "param const = 1; const",
        "let add = x; add",
        "x and y",
        "x var",
        "x < 1 # const",
        "# nothing",
        "# a ball\nx^2 + y^2 < 1",
        "const + 1",
    ] {
        assert!(!super::vm::is_model(text), "{text}");
    }
}

#[test]
fn comments_are_left_out() {
    let plain = drawn("let r = 0.5; x^2 + y^2 < r^2");
    let told = drawn("# A ball\nlet r = 0.5; # its radius; not < 1\n\nx^2 + y^2 < r^2 # that is all");
    assert!(told == plain && told.contains(&0) && told.contains(&1));
    // Places are those of the text with its comments.
    let error = Formula::parse("# A ball\nx^2 + < 1").unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 7), "{error}");
    assert!(Formula::parse("# nothing").is_err());
}
