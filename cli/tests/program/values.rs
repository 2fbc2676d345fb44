//! Fields written from docs/values.md alone: what the page says is what is computed.

use crate::binary::{folder, orthant, text};

/// The page's rules for numbers of type `$T`, rounded as `$ma` and `$ms` do.
macro_rules! page {
    ($name:ident, $T:ty, $tiny:literal, $ma:expr, $ms:expr, $square:expr) => {
        fn $name(field: &str, n: u16, cell: [u16; 3]) -> u16 {
            let (ma, ms): (fn($T, $T, $T) -> $T, fn($T, $T, $T) -> $T) = ($ma, $ms);
            let square: fn($T, $T, $T) -> $T = $square;
            let sample =
                |c: u16, o: $T, [lo, hi]: [f64; 2]| ma(<$T>::from(c) + o, ((hi - lo) / f64::from(n)) as $T, lo as $T);
            let mut d = 0;
            if field == "mandelbrot" {
                let c = [sample(cell[0], 0.0, [-1.5, 0.5]), sample(cell[1], 0.0, [-1.0, 1.0])];
                let [mut x, mut y] = c;
                while d < 512 && ma(x, x, y * y) < 4.0 {
                    (x, y, d) = (square(x, y, c[0]), ma(x + x, y, c[1]), d + 1);
                }
                return d;
            }
            let c = cell.map(|c| sample(c, 0.5, [-1.2, 1.2]));
            let [mut x, mut y, mut z] = c;
            while d < 64 && ma(x, x, ma(y, y, z * z)) < 4.0 {
                let q = ma(x, x, y * y);
                let (a1, b1) = (ms(z, z, q), z + z);
                let (a2, b2) = (ms(a1, a1, q * (b1 * b1)), (a1 + a1) * b1);
                let (a3, b3) = (ms(a2, a2, q * (b2 * b2)), (a2 + a2) * b2);
                let i = 1.0 / q;
                let (c1, s1) = (ms(x, x, y * y) * i, ((x + x) * y) * i);
                let (c2, s2) = (ms(c1, c1, s1 * s1), (c1 + c1) * s1);
                let (c3, s3) = (ms(c2, c2, s2 * s2), (c2 + c2) * s2);
                let p = q.sqrt() * b3;
                let [u, v] = if q < $tiny { [0.0; 2] } else { [p * c3, p * s3] };
                (x, y, z, d) = (u + c[0], v + c[1], a3 + c[2], d + 1);
            }
            d
        }
    };
}
page!(fused_f32, f32, 1e-30, f32::mul_add, |a, b, c| a.mul_add(b, -c), |x, y, c| x.mul_add(x, (-y).mul_add(y, c)));
page!(fused_f64, f64, 1e-300, f64::mul_add, |a, b, c| a.mul_add(b, -c), |x, y, c| x.mul_add(x, (-y).mul_add(y, c)));
page!(plain_f32, f32, 1e-30, |a, b, c| a * b + c, |a, b, c| a * b - c, |x, y, c| (x * x - y * y) + c);
page!(plain_f64, f64, 1e-300, |a, b, c| a * b + c, |a, b, c| a * b - c, |x, y, c| (x * x - y * y) + c);

/// The label of a cell of a field with n cells per axis.
type Label = fn(&str, u16, [u16; 3]) -> u16;

#[test]
fn the_page_of_values_is_enough_to_write_a_field() {
    let folder = folder("values");
    let pages: [(&str, &str, Label); 4] = [
        ("f32", "fused", fused_f32),
        ("f64", "fused", fused_f64),
        ("f32", "plain", plain_f32),
        ("f64", "plain", plain_f64),
    ];
    for (precision, arithmetic, label) in pages {
        for (field, n, layers) in [("mandelbrot", 200u16, 1), ("mandelbulb", 24, 24)] {
            let options = format!("-n {n} --precision {precision} --arithmetic {arithmetic}");
            let run = format!("run {field} {options} --strategy exhaustive -q -o x.npy --force");
            let output = orthant(&folder, &run);
            assert!(output.status.success(), "{run}: {}", text(&output.stderr));
            let npy = std::fs::read(folder.join("x.npy")).unwrap();
            let start = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
            let found = npy[start..].chunks_exact(2).map(|cell| u16::from_le_bytes([cell[0], cell[1]]));
            let cells = (0..layers).flat_map(|z| (0..n).flat_map(move |y| (0..n).map(move |x| [x, y, z])));
            let wrong = cells.zip(found).filter(|&(cell, found)| label(field, n, cell) != found).count();
            assert_eq!(wrong, 0, "{run}");
        }
    }
}
