//! Every instruction set, precision and arithmetic against the plain loop, to the bit.

use proptest::prelude::*;

use super::enclosure::{certify, limits};
use super::orbit::{Fused, Orbit, Plain, Rounding};
use super::sampled::EscapeField;
use crate::cell::WordsMut;
use crate::field::julibrot::Julibrot;
use crate::field::mandelbrot::Mandelbrot;
use crate::field::mandelbulb::Mandelbulb;
use crate::field::{Arithmetic, Open, Payload, Precision};
use crate::field::{Evaluate, Field, FieldOptions, Prove, julibrot, mandelbrot, mandelbulb};
use crate::geometry::{Domain, Region, Sample};
use crate::rule::Verdict;
use crate::simd::{Isa, Real};

fn check<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding>(
    window: [[f64; 2]; K],
    n: u32,
    dwell: u32,
    cells: &[[u32; K]],
) {
    let domain = Domain::new([n; K], window, Sample::Corner).unwrap();
    let mut field = EscapeField::<K, V, O, T, A>::new(&domain, dwell, 1.0);
    let wanted: Vec<_> = cells.iter().map(|&cell| field.dwell_of(cell)).collect();
    for &isa in Isa::ALL.iter().filter(|isa| isa.is_available()) {
        field.isa = isa;
        let mut labels = vec![u32::MAX; cells.len()];
        field.evaluate(cells, WordsMut::Narrow(&mut labels));
        assert!(labels == wanted, "{isa} differs over {window:?}, n = {n}, D = {dwell}, {} cells", cells.len());
    }
}

fn check_all<const K: usize, const V: usize, O: Orbit<K, V>>(
    window: [[f64; 2]; K],
    n: u32,
    dwell: u32,
    cells: &[[u32; K]],
) {
    check::<K, V, O, f32, Fused>(window, n, dwell, cells);
    check::<K, V, O, f32, Plain>(window, n, dwell, cells);
    check::<K, V, O, f64, Fused>(window, n, dwell, cells);
    check::<K, V, O, f64, Plain>(window, n, dwell, cells);
}

fn spread<const K: usize>(count: usize, n: u32) -> Vec<[u32; K]> {
    let mut word = 7u64;
    let mut next = || {
        word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (word >> 33) as u32 % n
    };
    (0..count).map(|_| std::array::from_fn(|_| next())).collect()
}

#[test]
fn every_path_is_the_plain_loop() {
    let cells = spread(5000, 1000);
    for dwell in [1, 2, 7, 8, 9, 24, 25, 511, 512, 700] {
        check_all::<2, 4, Mandelbrot>([[-1.5, 0.5], [-1.0, 1.0]], 1000, dwell, &cells);
    }
    for count in [0, 1, 15, 16, 17, 63, 64, 65, 2047, 2048, 2049] {
        check_all::<2, 4, Mandelbrot>([[-1.5, 0.5], [-1.0, 1.0]], 1000, 300, &cells[..count]);
    }
    // About c = -2, where |c| is 2 and escape is slow; far outside; overflow at once; a tiny window.
    for window in [
        [[-2.000_001, -1.999_999], [-1e-6, 1e-6]],
        [[-2.0, -1.99], [0.0, 0.01]],
        [[-3.0, 3.0], [-3.0, 3.0]],
        [[-1e30, 1e30], [-1e30, 1e30]],
        [[-1e300, 1e300], [-1e300, 1e300]],
        [[-0.743_65, -0.743_63], [0.131_81, 0.131_83]],
        [[0.24, 0.26], [-0.01, 0.01]],
    ] {
        check_all::<2, 4, Mandelbrot>(window, 1000, 600, &cells[..3000]);
    }
    check_all::<2, 4, Mandelbrot>([[-2.0, 2.0], [0.0, 2.0]], 1000, 65_535, &cells[..64]);
    check_all::<4, 4, Julibrot>([[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]], 40, 64, &spread(5000, 40));
    check_all::<4, 4, Julibrot>([[-2.5, 2.5], [-2.5, 2.5], [-2.5, 2.5], [-2.5, 2.5]], 40, 200, &spread(5000, 40));
}

/// The fields' own orbits through the fields' own doors: the vector path against one cell at a time.
#[test]
fn a_batch_is_its_cells() {
    let options = FieldOptions { dwell: 64, ..FieldOptions::default() };
    fn check<const K: usize>(field: &dyn Field<K>, n: u32) {
        let cells = spread::<K>(3000, n);
        let mut labels = vec![0; cells.len()];
        field.host().unwrap().evaluate(&cells, WordsMut::Narrow(&mut labels));
        for (cell, label) in cells.iter().zip(&labels) {
            let mut one = [0];
            field.host().unwrap().evaluate(std::slice::from_ref(cell), WordsMut::Narrow(&mut one));
            assert_eq!(one[0], *label);
        }
        assert!(labels.contains(&64) && labels.iter().any(|&label| label < 5));
    }
    let window = [[-1.5, 0.5], [-1.0, 1.0], [-1.2, 1.2]];
    check(
        &*mandelbrot::open(&Domain::new([99; 2], [window[0], window[1]], Sample::Corner).unwrap(), &options).unwrap(),
        99,
    );
    for sample in [Sample::Corner, Sample::Centre] {
        check(&*mandelbulb::open(&Domain::new([48; 3], [window[2]; 3], sample).unwrap(), &options).unwrap(), 48);
    }
    let window = [[-1.5, 1.5], [-1.5, 1.5], window[0], window[1]];
    check(&*julibrot::open(&Domain::new([20; 4], window, Sample::Centre).unwrap(), &options).unwrap(), 20);
}

#[test]
fn the_bulb_agrees_with_its_trigonometric_form() {
    let domain = Domain::new([32; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let options = FieldOptions { dwell: 6, precision: Precision::F64, ..FieldOptions::default() };
    let field = mandelbulb::open(&domain, &options).unwrap();
    let cells: Vec<_> = domain.region().cells().collect();
    let mut labels = vec![0; cells.len()];
    field.host().unwrap().evaluate(&cells, WordsMut::Narrow(&mut labels));
    let wrong = cells.iter().zip(&labels).filter(|&(cell, &label)| {
        let c: [f64; 3] = cell.map(|i| (f64::from(i) + 0.5) * (2.4 / 32.0) - 1.2);
        let (mut z, mut dwell) = (c, 0);
        let norm = |z: [f64; 3]| z.iter().map(|x| x * x).sum::<f64>();
        while dwell < 6 && norm(z) < 4.0 {
            let r = norm(z).sqrt();
            let (theta, phi) = ((z[2] / r).acos() * 8.0, z[1].atan2(z[0]) * 8.0);
            let r = r.powi(8);
            z = [r * theta.sin() * phi.cos() + c[0], r * theta.sin() * phi.sin() + c[1], r * theta.cos() + c[2]];
            dwell += 1;
        }
        dwell != label
    });
    assert_eq!(wrong.count(), 0);
}

/// The checks see a certificate that leaves out what the run rounds away: where orbits are long, the middle's in f64 soon is
/// another than the one in f32.
#[test]
fn without_the_runs_rounding_a_proof_would_be_wrong() {
    fn wrong<const K: usize, const V: usize, O: Orbit<K, V>, A: Rounding>(window: [[f64; 2]; K], n: u32) -> [usize; 2] {
        let domain = Domain::new([n; K], window, Sample::Corner).unwrap();
        let field = EscapeField::<K, V, O, f32, A>::new(&domain, 400, 1.0);
        let wrong = |unit: f64| {
            let is_wrong = |region: &Region<K>| {
                let mut hull = field.hull::<f64>(region).unwrap();
                hull.unit = unit;
                let verdict = certify(O::enclose(&hull), limits::<f64>(unit), field.dwell);
                verdict != Verdict::Unknown && verdict != Verdict::Uniform(field.dwell_of(region.corner).into())
            };
            lattice(n, 1).iter().filter(|region| is_wrong(region)).count()
        };
        [wrong(0.0), wrong(f32::UNIT)]
    }
    for found in [
        wrong::<2, 4, Mandelbrot, Fused>([[-0.75, -0.73], [0.1, 0.12]], 100),
        wrong::<2, 4, Mandelbrot, Plain>([[-0.75, -0.73], [0.1, 0.12]], 100),
        wrong::<3, 6, Mandelbulb, Fused>([[-1.2, 1.2]; 3], 24),
        wrong::<4, 4, Julibrot, Plain>([[-1.5, 1.5], [-1.5, 1.5], [-0.75, -0.73], [0.1, 0.12]], 10),
    ] {
        assert!(found[0] > 0 && found[1] == 0, "{found:?}");
    }
}

proptest! {
    #[test]
    fn any_region_that_is_proven_is_uniform(
        which in 0usize..4, at in prop::array::uniform4(0u32..900), extent in prop::array::uniform4(1u32..9),
        low in prop::array::uniform4(-2.0f64..1.5), side in 1e-7f64..3.0,
    ) {
        let options = options().nth(which).unwrap();
        fn check<const K: usize>(
            open: Open<K>,
            options: &FieldOptions, (at, extent, low, side): ([u32; 4], [u32; 4], [f64; 4], f64),
        ) {
            let window = std::array::from_fn(|j| [low[j], low[j] + side]);
            let domain = Domain::new([1000; K], window, Sample::Corner).unwrap();
            let region = Region { corner: std::array::from_fn(|j| at[j]), extent: std::array::from_fn(|j| extent[j]) };
            proven(&*open(&domain, options).unwrap(), [region].iter());
        }
        check(mandelbrot::open, &options, (at, extent, low, side));
        check(mandelbulb::open, &options, (at, extent, low, side));
        check(julibrot::open, &options, (at, extent, low, side));
    }

    #[test]
    fn any_window_is_the_plain_loop(
        low in prop::array::uniform2(-3.0f64..3.0), side in 1e-6f64..5.0, dwell in 1u32..400, count in 1usize..600,
    ) {
        let window = low.map(|low| [low, low + side]);
        check_all::<2, 4, Mandelbrot>(window, 4096, dwell, &spread(count, 4096));
    }
}

/// How many of some regions are proven; each of those is evaluated cell by cell.
fn proven<'r, const K: usize>(field: &dyn Field<K>, regions: impl Iterator<Item = &'r Region<K>>) -> usize {
    let prover = field.prover().unwrap();
    let uniform = regions.filter(|region| match prover.prove(region, Payload::default()) {
        Verdict::Uniform(label) => {
            let cells: Vec<_> = region.cells().collect();
            let mut labels = vec![u32::MAX; cells.len()];
            field.host().unwrap().evaluate(&cells, WordsMut::Narrow(&mut labels));
            let wrong = labels.iter().filter(|&&found| u64::from(found) != label).count();
            assert_eq!(wrong, 0, "{region:?} is not {label}");
            true
        }
        Verdict::Unknown => false,
        Verdict::Mixed => panic!("a certificate cannot know that {region:?} is mixed"),
    });
    uniform.count()
}

/// In every precision and arithmetic.
fn options() -> impl Iterator<Item = FieldOptions> {
    let of = |(precision, arithmetic): (Precision, Arithmetic)| FieldOptions {
        dwell: 200,
        precision,
        arithmetic,
        ..FieldOptions::default()
    };
    let all = Precision::ALL.iter().flat_map(|&p| Arithmetic::ALL.iter().map(move |&a| (p, a)));
    all.map(of)
}

/// The regions of a lattice of side `side`.
fn lattice<const K: usize>(n: u32, side: u32) -> Vec<Region<K>> {
    let lattice = Region { corner: [0; K], extent: [n / side; K] };
    lattice.cells().map(|at| Region { corner: at.map(|c| c * side), extent: [side; K] }).collect()
}

/// Looks at every `one`-th region of one cell, and in 2-D at every `two`-th of two cells a side. Both numbers are odd, and the lattices have
/// a power of two of regions a side. So every row and column has some.
fn check_proofs(one: usize, two: usize) {
    let mandelbrot = [
        ([[-1.5, 0.5], [-1.0, 1.0]], 30..90),
        ([[-0.75, -0.73], [0.1, 0.12]], 1..60),
        ([[-2e3, 2e3], [-1.0, 1.0]], 80..101),
        ([[1e-40, 2e-40], [-1e-39, 1e-39]], 100..101),
        ([[-2.000_001, -1.999_999], [-1e-6, 1e-6]], 0..101),
        ([[-1e200, 1e200], [-1.0, 1.0]], 0..101),
    ];
    for options in options() {
        for (window, percent) in mandelbrot.clone() {
            let domain = Domain::new([256; 2], window, Sample::Corner).unwrap();
            let field = mandelbrot::open(&domain, &options).unwrap();
            for (side, step) in [(1, one), (2, two), (8, 1), (32, 1)] {
                let regions = lattice(256, side);
                let proven = proven(&*field, regions.iter().step_by(step));
                if side == 8 {
                    assert!(percent.contains(&(100 * proven / regions.len())), "{options:?} {window:?}: {proven}");
                }
            }
        }
        let windows = [[[-1.2, 1.2]; 3], [[0.3, 0.5], [-0.1, 0.1], [0.7, 0.9]], [[-1e-9, 1e-9]; 3]];
        for (window, least) in windows.into_iter().zip([60, 0, 4096]) {
            let domain = Domain::new([32; 3], window, Sample::Centre).unwrap();
            let field = mandelbulb::open(&domain, &options).unwrap();
            let found =
                [(1, one), (2, 1), (4, 1)].map(|(side, step)| proven(&*field, lattice(32, side).iter().step_by(step)));
            assert!(found[1] >= least);
        }
        let window = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]];
        let domain = Domain::new([16; 4], window, Sample::Centre).unwrap();
        let field = julibrot::open(&domain, &options).unwrap();
        let found =
            [(1, one), (2, 1), (4, 1)].map(|(side, step)| proven(&*field, lattice(16, side).iter().step_by(step)));
        assert!(found[1] > 900);
    }
}

#[test]
fn what_is_proven_holds() {
    check_proofs(15, 5);
}

#[test]
#[ignore = "long; .ci/long functions runs it"]
fn what_is_proven_holds_in_every_region() {
    check_proofs(1, 1);
}

/// A certificate is the same whatever it is compiled for.
#[test]
fn every_instruction_set_proves_the_same() {
    fn check<const K: usize, const V: usize, O: Orbit<K, V>>(window: [[f64; 2]; K], n: u32, side: u32) {
        let domain = Domain::new([n; K], window, Sample::Centre).unwrap();
        let mut field = EscapeField::<K, V, O, f32, Plain>::new(&domain, 300, 1.0);
        for own in [Precision::F32, Precision::F64] {
            field.own = own;
            let verdicts = |isa, field: &mut EscapeField<K, V, O, f32, Plain>| -> Vec<Verdict> {
                field.isa = isa;
                lattice(n, side).iter().map(|region| field.prove(region, Payload::default())).collect()
            };
            let portable = verdicts(Isa::Portable, &mut field);
            for &isa in Isa::ALL.iter().filter(|isa| isa.is_available()) {
                assert!(verdicts(isa, &mut field) == portable, "{isa} differs over {window:?}");
            }
        }
    }
    check::<2, 4, Mandelbrot>([[-1.5, 0.5], [-1.0, 1.0]], 256, 4);
    check::<3, 6, Mandelbulb>([[-1.2, 1.2]; 3], 32, 2);
    check::<4, 4, Julibrot>([[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]], 16, 2);
}

/// Orbits that come near a cycle are certain to stay long before the cap, about points of cycles of 1 to 4; about a cycle that repels, and
/// on the boundary, nothing is.
#[test]
fn proofs_end_where_orbits_settle() {
    for options in options() {
        let options = FieldOptions { dwell: u32::MAX, ..options };
        let domain = Domain::new([4096; 2], [[-2.0, 1.0], [-1.5, 1.5]], Sample::Corner).unwrap();
        let field = mandelbrot::open(&domain, &options).unwrap();
        let about = |re: f64, im: f64, side: u32| {
            let cell = [(re + 2.0) / 3.0, (im + 1.5) / 3.0].map(|x| (x * 4096.0) as u32);
            let region = Region { corner: cell.map(|c| c - side / 2), extent: [side; 2] };
            field.prover().unwrap().prove(&region, Payload::default())
        };
        for (re, im, side) in
            [(0.0, 0.0, 64), (-0.3, 0.3, 16), (-1.0, 0.0, 64), (-1.1, 0.1, 8), (-0.1226, 0.7449, 16), (-1.3107, 0.0, 4)]
        {
            assert_eq!(about(re, im, side), Verdict::Uniform(u32::MAX.into()), "{re} {im} {options:?}");
        }
        for (re, im) in [(0.25, 0.0), (-0.75, 0.0), (-0.5, 0.62)] {
            assert_eq!(about(re, im, 16), Verdict::Unknown, "{re} {im}");
        }
    }
}

/// Certificates in f32 are right too; on coarse lattices they are chosen, and prove next to all that those in f64 do.
#[test]
fn either_own_numbers_prove() {
    fn share<const K: usize, const V: usize, O: Orbit<K, V>, A: Rounding>(
        window: [[f64; 2]; K],
        n: u32,
        dwell: u32,
    ) -> f64 {
        let domain = Domain::new([n; K], window, Sample::Corner).unwrap();
        let mut field = EscapeField::<K, V, O, f32, A>::new(&domain, dwell, 1.0);
        let coarse = field.own == Precision::F32;
        let sides = [2u32, 3, 4, 5, 8, 11, 16];
        let regions: Vec<_> = sides
            .iter()
            .flat_map(|&side| {
                // As many cells of every side, but for 16 in four dimensions.
                let count = ((1u32 << 17) / side.pow(K as u32)).clamp(8, 2000);
                spread(count as usize, n - side).into_iter().map(move |corner| Region { corner, extent: [side; K] })
            })
            .collect();
        let [single, double] = [Precision::F32, Precision::F64].map(|own| {
            field.own = own;
            proven(&field, regions.iter()) as f64
        });
        if coarse { single / double } else { 1.0 }
    }
    fn both<const K: usize, const V: usize, O: Orbit<K, V>>(window: [[f64; 2]; K], n: u32, dwell: u32) {
        for share in [share::<K, V, O, Fused>(window, n, dwell), share::<K, V, O, Plain>(window, n, dwell)] {
            assert!((0.97..1.01).contains(&share), "{window:?} {n}: {share}");
        }
    }
    let (z, c) = ([[-1.5, 1.5]; 2], [[-1.5, 0.5], [-1.0, 1.0]]);
    for n in [64, 128, 256] {
        both::<4, 4, Julibrot>([z[0], z[1], c[0], c[1]], n, 64);
    }
    for n in [256, 1024] {
        both::<3, 6, Mandelbulb>([[-1.2, 1.2]; 3], n, 64);
    }
    for n in [256, 2048, 1 << 12, 1 << 16] {
        both::<2, 4, Mandelbrot>(c, n, 512);
    }
}
