//! Encoding and decoding random points, and generating children: ours and the crates that do the same.
//!
//! `cargo bench -p orthant-benches --bench curves`; for this processor's own instructions `RUSTFLAGS="-C target-cpu=native"` before it.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fast_hilbert::{h2xy, xy2h};
use hilbert_index::{FromHilbertIndex, ToHilbertIndex};
use morton_encoding::{morton_decode, morton_encode};
use orthant::curve::CurveKind;

/// Points per call: more than the first-level cache holds.
const POINTS: usize = 1 << 16;

fn points<const K: usize>(bits: u32) -> Vec<[u32; K]> {
    let mut word = 7u64;
    let mut next = || {
        word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (word >> (64 - bits)) as u32
    };
    (0..POINTS).map(|_| std::array::from_fn(|_| next())).collect()
}

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(POINTS as u64)).sample_size(30);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_millis(1500));
    group
}

/// Our curves over one tree of `bits` levels.
fn ours<const K: usize>(c: &mut Criterion, bits: u32) {
    let points = points::<K>(bits);
    for &kind in CurveKind::ALL {
        let encoding = kind.encoding([1; K], [2; K], bits).unwrap();
        let mut codes = vec![0; POINTS];
        let id = BenchmarkId::new(format!("orthant {kind}"), bits);
        group(c, &format!("encode {K}-D"))
            .bench_function(id.clone(), |b| b.iter(|| encoding.encode_slice(bits, black_box(&points), &mut codes)));
        let mut cells = vec![[0; K]; POINTS];
        group(c, &format!("decode {K}-D"))
            .bench_function(id, |b| b.iter(|| encoding.decode_slice(bits, black_box(&codes), &mut cells)));
        assert!(cells == points);
    }
}

/// Somebody else's pair of functions, one point at a time, in arrays as ours.
fn theirs<const K: usize, P: Copy, C: Copy>(
    c: &mut Criterion,
    name: &str,
    bits: u32,
    point: impl Fn([u32; K]) -> P,
    encode: impl Fn(P) -> C,
    decode: impl Fn(C) -> P,
) {
    let points: Vec<P> = points::<K>(bits).into_iter().map(point).collect();
    let mut codes: Vec<C> = points.iter().map(|&point| encode(point)).collect();
    let mut cells = points.clone();
    let id = BenchmarkId::new(name, bits);
    group(c, &format!("encode {K}-D")).bench_function(id.clone(), |b| {
        b.iter(|| black_box(&points).iter().zip(&mut codes).for_each(|(&point, code)| *code = encode(point)))
    });
    group(c, &format!("decode {K}-D")).bench_function(id, |b| {
        b.iter(|| black_box(&codes).iter().zip(&mut cells).for_each(|(&code, cell)| *cell = decode(code)))
    });
}

fn hilbert_index<const K: usize>(c: &mut Criterion, bits: u32)
where
    [usize; K]: ToHilbertIndex<K>,
    usize: FromHilbertIndex<K>,
{
    let bits = bits as usize;
    theirs(
        c,
        "hilbert_index",
        bits as u32,
        |p: [u32; K]| p.map(|x| x as usize),
        |p| p.to_hilbert_index(bits),
        |h| h.from_hilbert_index(bits),
    );
}

fn codes(c: &mut Criterion) {
    let narrow = |p: [u32; 2]| p.map(|x| x as u16);
    ours::<2>(c, 16);
    theirs(c, "morton-encoding", 16, narrow, morton_encode, morton_decode::<u16, 2>);
    theirs(c, "fast_hilbert", 16, narrow, |[x, y]| xy2h(x, y, 16), |h| h2xy::<u16>(h, 16).into());
    theirs(
        c,
        "hilbert_2d",
        16,
        |p: [u32; 2]| p.map(|x| x as usize),
        |[x, y]| hilbert_2d::xy2h_discrete(x, y, 16, hilbert_2d::Variant::Hilbert),
        |h| hilbert_2d::h2xy_discrete(h, 16, hilbert_2d::Variant::Hilbert).into(),
    );
    hilbert_index::<2>(c, 16);
    ours::<3>(c, 16);
    ours::<3>(c, 21);
    theirs(c, "morton-encoding", 21, |p: [u32; 3]| p, morton_encode, morton_decode::<u32, 3>);
    hilbert_index::<3>(c, 21);
    ours::<4>(c, 16);
    theirs(c, "morton-encoding", 16, |p: [u32; 4]| p.map(|x| x as u16), morton_encode, morton_decode::<u16, 4>);
    hilbert_index::<4>(c, 15);
    ours::<5>(c, 10);
    ours::<6>(c, 10);
    hilbert_index::<6>(c, 10);
}

/// All children of a table of parents.
fn children(c: &mut Criterion) {
    fn of<const K: usize>(c: &mut Criterion, level: u32) {
        for &kind in CurveKind::ALL {
            let encoding = kind.encoding([3; K], [2; K], level + 1).unwrap();
            let parents = encoding.lattice().codes(level) as u64;
            let mut group = c.benchmark_group("children");
            group.throughput(Throughput::Elements((POINTS << K) as u64)).sample_size(20);
            group.bench_function(BenchmarkId::new(kind.name(), format!("{K}-D")), |b| {
                b.iter_batched_ref(
                    || vec![0; POINTS << K],
                    |table| {
                        for (i, family) in table.chunks_exact_mut(1 << K).enumerate() {
                            encoding.children(level, black_box(i as u64 * 97 % parents), family);
                        }
                    },
                    BatchSize::LargeInput,
                )
            });
        }
    }
    of::<2>(c, 12);
    of::<3>(c, 10);
    of::<4>(c, 8);
}

criterion_group!(benches, codes, children);
criterion_main!(benches);
