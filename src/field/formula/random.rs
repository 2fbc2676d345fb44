//! Random formulas, of the constants among others at which arithmetic goes wrong: -0, subnormal numbers, those whose
//! products overflow, infinity and NaN. Laws of the whole engine read this file too.

/// Numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A window, the same on every axis: usual, wide, of subnormal numbers, or so narrow that samples coincide.
    pub fn window(&mut self) -> [f64; 2] {
        let windows = [[-1.0, 1.0], [-3.0, 5.0], [0.0, 1.0], [-100.0, 100.0], [-1e-40, 1e-40], [1.0, 1.0 + 1e-7]];
        windows[self.below(windows.len())]
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const CONSTANTS: [&str; 16] = [
    "0",
    "(-0)",
    "1",
    "(-1)",
    "0.5",
    "2",
    "1e-3",
    "100",
    "1e30",
    "3.7",
    "(-0.3)",
    "1e-40",
    "7.25",
    "(1e30*1e30)",
    "(0/0)",
    "pi",
];

/// The names of axes.
const AXES: [&str; 4] = ["x", "y", "z", "w"];

/// A random value of what is named.
fn value(random: &mut Random, names: &[&str], depth: usize) -> String {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(3) {
            0 => random.pick(&CONSTANTS).to_owned(),
            _ => random.pick(names).to_owned(),
        };
    }
    let mut part = || value(random, names, depth - 1);
    let (a, b, c) = (part(), part(), part());
    match random.below(22) {
        0 | 1 => format!("({a} + {b})"),
        2 | 3 => format!("({a} - {b})"),
        4 | 5 => format!("({a} * {b})"),
        6 => format!("({a} / {b})"),
        7 | 8 => format!("min({a}, {b})"),
        9 | 10 => format!("max({a}, {b})"),
        11 => format!("(-{a})"),
        12 => format!("|{a}|"),
        13 => format!("sqrt({a})"),
        14 => format!("({a})^{}", 2 + random.below(4)),
        15 => format!("floor({a})"),
        16 => format!("sin({a})"),
        17 => format!("cos({a})"),
        18 => format!("exp({a})"),
        19 => format!("ln({a})"),
        20 => format!("({a} * {b} + {c})"),
        _ => format!("({c} - {a} * {a})"),
    }
}

/// A random comparison.
fn comparison(random: &mut Random, names: &[&str], depth: usize) -> String {
    let left = match random.below(6) {
        0 if depth > 0 => return format!("(not {})", comparison(random, names, depth - 1)),
        word @ (1 | 2) if depth > 0 => {
            let (a, b) = (comparison(random, names, depth - 1), comparison(random, names, depth - 1));
            return format!("({a} {} {b})", ["and", "or"][word - 1]);
        }
        _ => {
            let deep = 1 + depth + random.below(2);
            value(random, names, deep)
        }
    };
    let (sign, deep) = (random.pick(&["<", "<=", ">", ">="]), random.below(3));
    format!("{left} {sign} {}", value(random, names, deep))
}

/// A random formula over the first `k` axes: a value, classes or a comparison.
pub fn text(random: &mut Random, k: usize) -> String {
    let depth = 1 + random.below(4);
    match random.below(4) {
        0 => value(random, &AXES[..k], depth),
        1 => format!("classes({}, -1, 0.25, -0, 1e30)", value(random, &AXES[..k], depth)),
        _ => comparison(random, &AXES[..k], depth.min(2)),
    }
}

/// A random formula over the first `k` axes that chooses among many parts: the tape that is left of it in a region is shorter.
#[allow(dead_code, reason = "not everyone who reads this file wants long ones")]
pub fn long_text(random: &mut Random, k: usize) -> String {
    let parts = 8 + random.below(24);
    if random.below(3) == 0 {
        let mut all = comparison(random, &AXES[..k], 1);
        for _ in 0..parts {
            let word = random.pick(&["and", "or", "or not"]);
            all = format!("({all}) {word} ({})", comparison(random, &AXES[..k], 1));
        }
        return all;
    }
    let mut all = value(random, &AXES[..k], 2);
    for _ in 0..parts {
        let part = value(random, &AXES[..k], 2);
        all = match random.below(8) {
            0 => format!("-{all} + 0.1*({part})"),
            1 => format!("min({part}, |{all}|)"),
            2 | 3 => format!("min({all}, {part})"),
            4 | 5 => format!("max({all}, {part})"),
            6 => format!("max({part}, {all} - {})", random.pick(&CONSTANTS)),
            _ => format!("min({part}, {all})"),
        };
    }
    if random.below(2) == 0 { all } else { format!("{all} < 0.1") }
}

/// A random formula over the first `k` axes that iterates: of real names, or of a complex one.
#[allow(dead_code, reason = "not everyone who reads this file iterates")]
pub fn iteration(random: &mut Random, k: usize) -> String {
    let cap = [1, 2, 7, 20, 60][random.below(5)];
    if random.below(2) == 0 {
        const STEPS: [&str; 8] = [
            "z^2 + c",
            "conj(z)^2 + c",
            "(|re(z)| + i*|im(z)|)^2 + c",
            "z^3 - c*z",
            "z*z/(z + c) - i",
            "c*z*(1 - z)",
            "z^2 + 0.3*z/c",
            "-z^5 + i*(z - 2*c)",
        ];
        const ENDS: [&str; 4] = ["|z| < 2", "|z|^2 < 9 and re(z) < 1", "|z| < |c| + 3", "not im(z)*re(z) >= 4"];
        const STARTS: [&str; 4] = ["0", "c", "0.3 - 0.1*i", "|c|"];
        let point = ["x + i*y", "0.2 - 0.6*i + x/4", "y*i - x*0.1"][if k > 1 { random.below(3) } else { 1 }];
        let (step, end, start) = (random.pick(&STEPS), random.pick(&ENDS), random.pick(&STARTS));
        return format!("let c = {point}; iterate z = {step} from z = {start} while {end} cap {cap}");
    }
    let names: Vec<&str> = AXES[..k].iter().chain(&["u", "v"]).copied().collect();
    let (first, second) = (value(random, &names, 2), value(random, &names, 2));
    let (start, end) = (value(random, &AXES[..k], 1), comparison(random, &names, 1));
    format!("iterate u = {first}, v = {second} from u = {start}, v = x while {end} cap {cap}")
}
