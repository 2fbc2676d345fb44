//! The CUDA source of formulas, compiled for this processor by g++ and held against the CPU's own: cells, verdicts of proofs,
//! and the functions, to the bit.
//!
//! Many formulas are one program. It begins with the header that kernels behind the stand-in driver begin with, and has
//! their flags for arithmetic; what a GPU computes is a test of its own (`tests/device`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cell::WordsMut;
use crate::field::definition::{Field, Payload};
use crate::field::formula::field::FormulaField;
use crate::field::formula::functions;
use crate::field::formula::iterated::IteratedField;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::random::{Random, iteration, text};
use crate::field::formula::text::Formula;
use crate::field::options::Arithmetic;
use crate::geometry::{Domain, Region, Sample};
use crate::per_axis;
use crate::rule::Verdict;

/// Those on which the rules for zeros, NaN, infinity and rounding show.
const TEXTS: [&str; 10] = [
    "min(0*x, -(0*x))",
    "max(-(0*x), 0*x)",
    "min(x, sqrt(x)) - max(sqrt(x), x)",
    "min(sqrt(x), x) < 0.1 or not max(x, ln(x)) < 0.3",
    "1/min(0*x, -(0*x)) < 0",
    "|x*(1e300*1e300)| > -1",
    "(x + 0.1)*(x - 0.3) - x*x + 0.7*x",
    "(x*1e30)*1e30 - x*1e30 < 1",
    "floor(x*7)/7 + |x|*1e-40 + exp(100*x)/1e38",
    "classes(sin(9*x) + cos(x)*2, -2, -1, -0.5, 0, 0.5, 1, 2, 3)",
];

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Those of the stand-in for NVRTC, but that more is optimised: a program is compiled once and computes much.
const FLAGS: &str = "-O1 -std=c++17 -ffp-contract=off -mfma -fno-strict-aliasing -w -pthread";

/// The compiler, if there is one that the header is for. One that is missing is said.
fn compiler() -> Option<Command> {
    let here = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if here && Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(Command::new("g++"));
    }
    assert!(std::env::var_os("ORTHANT_REQUIRE_STANDIN").is_none(), "g++ on x86-64 Linux is needed");
    println!("SKIPPED: g++ on x86-64 Linux is needed");
    None
}

/// A folder of a test's own, which goes with it.
struct SourceFolder(PathBuf);

impl SourceFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("orthant-formulas-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for SourceFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The numbers that a program writes when it reads `input`. `fixed` is what a run has fixed, `source` the formulas, and `main`
/// what the program does.
fn answers(mut compiler: Command, name: &str, [fixed, source, main]: [&str; 3], input: &[u8]) -> Vec<u64> {
    let folder = SourceFolder::new(name);
    folder.write(
        "generated.cuh",
        format!("#define BLOCK 32\n#define CODE u32\n#define USER_SOURCE \"source.cuh\"\n{fixed}"),
    );
    folder.write("source.cuh", source);
    folder.write(
        "main.cpp",
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\n\
             #include \"prelude.cuh\"\nstruct Region {{ Coords corner, extent; }};\n#include \"fields/formula.cuh\"\n\
             template <class T> T take() {{ T x; if (fread(&x, sizeof x, 1, stdin) != 1) abort(); return x; }}\n\
             void give(u64 x) {{ fwrite(&x, sizeof x, 1, stdout); }}\n{main}"
        ),
    );
    folder.write("input", input);
    compiler.args(FLAGS.split(' ')).args(["-include", &format!("{ROOT}/cli/tests/standin/shim.h")]);
    compiler.arg("-I").arg(&folder.0).arg("-I").arg(Path::new(ROOT).join("kernels"));
    let program = folder.0.join("program");
    let compiled = compiler.arg("-o").arg(&program).arg(folder.0.join("main.cpp")).output().unwrap();
    assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
    let input = std::fs::File::open(folder.0.join("input")).unwrap();
    let output = Command::new(program).stdin(input).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", output.status);
    output.stdout.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes)).collect()
}

/// What a program is asked of some formulas, and what the CPU says.
#[derive(Default)]
struct Questions {
    fixed: String,
    source: String,
    main: String,
    input: Vec<u8>,
    /// A number, and which formula and question it belongs to.
    wanted: Vec<(u64, String)>,
    names: usize,
    proven: usize,
}

impl Questions {
    fn put(&mut self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.input.extend(number.to_ne_bytes()));
    }

    /// Asks for labels of cells and verdicts of regions, of lines and of a loop.
    fn add<const K: usize, T: FormulaNumber>(&mut self, seed: u64, text: Option<&str>, arithmetic: Arithmetic) {
        let mut random = Random::new(seed);
        let text = match text {
            Some(text) => text.to_owned(),
            None if seed.is_multiple_of(3) => iteration(&mut random, K),
            None => self::text(&mut random, K),
        };
        let window = random.window();
        let domain = Domain::new([64; K], [window; K], [Sample::Corner, Sample::Centre][random.below(2)]).unwrap();
        let formula = Formula::parse(text.as_str()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let what = format!("seed {seed}, k {K}, {} {arithmetic} over {window:?}: {text}", T::TYPE);
        // In lines, and as a loop.
        let (field, twins): (Box<dyn Field<K>>, _) = match formula.parsed.result {
            FormulaResult::Iterations { .. } => {
                let field = IteratedField::<K, T>::new(&domain, arithmetic, &formula).unwrap();
                let twins = [usize::MAX, 0].map(|most| field.twin_within(most));
                (Box::new(field), twins)
            }
            _ => {
                let field = FormulaField::<K, T>::new(&domain, arithmetic, &formula).unwrap();
                let twins = [usize::MAX, 0].map(|most| field.twin_within(most));
                (Box::new(field), twins)
            }
        };
        let (host, prover) = (field.host().unwrap(), field.prover().unwrap());
        let twin = &twins[0];
        if self.fixed.is_empty() {
            let (real, value) = if size_of::<T>() == 4 { ("float", "u32") } else { ("double", "u64") };
            self.fixed = format!("#define DIM {K}\n#define FUSED {}\n", arithmetic == Arithmetic::Fused);
            twin.defines.iter().for_each(|(name, text)| writeln!(self.fixed, "#define {name} {text}").unwrap());
            write!(
                self.fixed,
                "using Real = {real};\nusing Label = Real;\nusing Value = {value};\n{}",
                twin.declaration
            )
            .unwrap();
        }
        let cells: Vec<[u32; K]> = (0..64).map(|_| per_axis::each(|_| random.below(64) as u32)).collect();
        let regions = (0..32).map(|number| {
            let corner: [u32; K] = per_axis::each(|_| random.below(64) as u32);
            let most = [1, 4, 16, 64][number % 4];
            Region { corner, extent: corner.map(|first| (1 + random.below(most) as u32).min(64 - first)) }
        });
        let regions: Vec<Region<K>> = regions.collect();
        let (mut narrow, mut labels) = (vec![0; cells.len()], vec![0; cells.len()]);
        match field.labels().kind().bytes() {
            8 => host.evaluate(&cells, WordsMut::Wide(&mut labels)),
            _ => {
                host.evaluate(&cells, WordsMut::Narrow(&mut narrow));
                labels = narrow.iter().map(|&word| word.into()).collect();
            }
        }
        let verdicts: Vec<[u64; 2]> = regions
            .iter()
            .map(|region| match prover.prove(region, Payload::default()) {
                Verdict::Unknown => [0, 0],
                Verdict::Uniform(word) => [1, word],
                Verdict::Mixed => unreachable!("nothing proves that cells differ"),
            })
            .collect();
        self.proven += verdicts.iter().filter(|verdict| verdict[0] == 1).count();
        for (twin, form) in twins.iter().zip(["lines", "a loop"]) {
            let source = twin.user_source.as_ref().unwrap();
            let what = format!("{what}, {form}");
            writeln!(self.source, "namespace n{} {{\n{source}}}", self.names).unwrap();
            writeln!(self.main, "    ask<n{}::Formula>();", self.names).unwrap();
            self.names += 1;
            self.input.extend(&twin.args);
            self.put(&[cells.len() as u32]);
            cells.iter().for_each(|cell| self.put(cell));
            self.put(&[regions.len() as u32]);
            for region in &regions {
                self.put(&region.corner);
                self.put(&region.extent);
            }
            self.wanted.extend(cells.iter().zip(&labels).map(|(cell, &label)| (label, format!("{what}: {cell:?}"))));
            for (region, verdict) in regions.iter().zip(&verdicts) {
                self.wanted.extend(verdict.map(|number| (number, format!("{what}: {region:?}"))));
            }
        }
    }

    /// Compiles and compares.
    fn hold(self, name: &str, compiler: Command) -> usize {
        const ASK: &str = "template <class F> void ask() {
            const FieldArgs args = take<FieldArgs>();
            for (u32 left = take<u32>(); left > 0; left--) give(label_bits(formula_label<F>(args, take<Coords>())));
            for (u32 left = take<u32>(); left > 0; left--) {
                const Region region = take<Region>();
                Value value = 0;
                const Verdict verdict = formula_verdict<F>(args, region, value);
                give(verdict);
                give(value);
            }
        }
        int main() {\n";
        let source = self.source + "using Formula = n0::Formula;\n";
        let main = format!("{ASK}{}}}\n", self.main);
        let found = answers(compiler, name, [&self.fixed, &source, &main], &self.input);
        assert_eq!(found.len(), self.wanted.len(), "{name}");
        for (found, (wanted, what)) in found.iter().zip(&self.wanted) {
            assert_eq!(found, wanted, "{what}");
        }
        self.proven
    }
}

/// Formulas in lines and in a loop. Ordinary runs take four ways, each with ten formulas written by hand and six random ones.
/// `ORTHANT_FORMULAS=800` takes eight ways, and 800 random formulas in all.
#[test]
fn random_formulas_have_the_same_cells_and_verdicts_as_cuda_source() {
    fn asked() -> Option<u64> {
        std::env::var("ORTHANT_FORMULAS").ok().map(|text| text.parse().unwrap())
    }
    fn some<const K: usize, T: FormulaNumber>(arithmetic: Arithmetic) -> usize {
        let Some(compiler) = compiler() else { return 10_000 };
        let mut questions = Questions::default();
        let first = 50_000 + 1000 * K as u64;
        (first..first + asked().map_or(6, |all| all.div_ceil(8)))
            .for_each(|seed| questions.add::<K, T>(seed, None, arithmetic));
        (first..).zip(TEXTS).for_each(|(seed, text)| questions.add::<K, T>(seed, Some(text), arithmetic));
        questions.hold(&format!("{K}-{}-{arithmetic}", T::TYPE), compiler)
    }
    let runs: [fn() -> usize; 8] = [
        || some::<1, f32>(Arithmetic::Fused),
        || some::<2, f64>(Arithmetic::Fused),
        || some::<3, f64>(Arithmetic::Plain),
        || some::<4, f32>(Arithmetic::Plain),
        || some::<1, f64>(Arithmetic::Plain),
        || some::<2, f32>(Arithmetic::Plain),
        || some::<3, f32>(Arithmetic::Fused),
        || some::<4, f32>(Arithmetic::Fused),
    ];
    let runs = if asked().is_some() { &runs[..] } else { &runs[..4] };
    let proven: usize = std::thread::scope(|scope| {
        let halves =
            runs.chunks(runs.len() / 2).map(|runs| scope.spawn(|| runs.iter().map(|run| run()).sum::<usize>()));
        halves.collect::<Vec<_>>().into_iter().map(|half| half.join().unwrap()).sum()
    });
    println!("{proven} regions proven");
    assert!(proven > 1000, "{proven}");
}

/// sin, cos, exp and ln of numbers of every size, and of those at which they end.
#[test]
fn functions_are_the_same_as_cuda_source() {
    let Some(compiler) = compiler() else { return };
    let mut inputs: Vec<f64> = Vec::new();
    // Floats spread over all of them, and doubles.
    inputs.extend((0..u32::MAX).step_by(8191).map(|bits| f64::from(f32::from_bits(bits))));
    let mut random = Random::new(7);
    inputs.extend(
        (0..200_000).map(|_| f64::from_bits((random.below(1 << 32) as u64) << 32 | random.below(1 << 32) as u64)),
    );
    inputs.extend((0..200_000).map(|_| (random.below(1 << 40) as f64 / (1u64 << 39) as f64 - 1.0) * 800.0));
    let ends =
        [0.0, 1.0, 88.72, 88.73, 103.97, 103.98, 709.78, 745.13, 720.0, 760.0, 1_048_576.0, 1e-310, f64::MIN_POSITIVE];
    let others =
        [f64::INFINITY, f64::NAN, f64::MAX, 5e-324, 3.4e38, 0.5f64.sqrt(), 2f64.sqrt(), std::f64::consts::FRAC_PI_2];
    for end in ends.into_iter().chain(others) {
        let near = (0..9).map(|step| f64::from_bits(end.to_bits().wrapping_add(step).saturating_sub(4)));
        inputs.extend(near.flat_map(|x| [x, -x]));
    }
    let bytes: Vec<u8> = inputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let mut fixed =
        "#define DIM 1\n#define FUSED true\nusing Real = float;\nusing Label = u32;\nusing Value = u32;\n".to_owned();
    fixed += "struct FieldArgs { float low[1], pitch[1], offset; u32 dwell; };\n";
    let field = FormulaField::<1, f32>::new(
        &Domain::new([1], [[0.0, 1.0]], Sample::Corner).unwrap(),
        Arithmetic::Fused,
        &Formula::parse("x < 1").unwrap(),
    );
    let field = field.unwrap();
    let twin = field.twin().unwrap();
    twin.defines.iter().for_each(|(name, text)| writeln!(fixed, "#define {name} {text}").unwrap());
    let main = "int main() {\n    double x;\n    while (fread(&x, sizeof x, 1, stdin) == 1) {\n        \
                give(to_bits(formula_sin(x)));\n        give(to_bits(formula_cos(x)));\n        \
                give(to_bits(formula_exp(x)));\n        give(to_bits(formula_ln(x)));\n    }\n}\n";
    let found = answers(compiler, "functions", [&fixed, twin.user_source.as_ref().unwrap(), main], &bytes);
    assert_eq!(found.len(), 4 * inputs.len());
    for (&x, found) in inputs.iter().zip(found.chunks(4)) {
        let wanted = [functions::sin(x), functions::cos(x), functions::exp(x), functions::ln(x)];
        for ((wanted, &found), name) in wanted.into_iter().zip(found).zip(["sin", "cos", "exp", "ln"]) {
            let found = f64::from_bits(found);
            let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
            assert!(same, "{name}({x:e}): {found:e} in CUDA, {wanted:e} here");
        }
    }
}
