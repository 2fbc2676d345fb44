//! Trees of arrays that lie in memory, which are looked at in its order, against those of the same arrays read box by box.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, InMemory, Source};
use orthant::{Cell, CellType};
use proptest::prelude::*;

use crate::trees::Case;

/// An array, and how it is said to lie in memory.
pub(super) struct Lying<'a, const K: usize> {
    boxes: &'a dyn Source<K>,
    memory: Option<(Vec<u64>, usize, [bool; 2])>,
    read: AtomicU64,
}

impl<'a, const K: usize> Lying<'a, K> {
    /// In the other order of axes, of bytes, or of both; None: not at all.
    pub(super) fn new<T: Cell>(boxes: &'a dyn Source<K>, array: &ArrayD<T>, turned: Option<[bool; 2]>) -> Self {
        let memory = turned.map(|[reversed, swapped]| {
            let view = if reversed { array.view().reversed_axes() } else { array.view() };
            let bits = |cell: &T| {
                let mut bytes = bytemuck::bytes_of(cell).to_vec();
                if swapped {
                    bytes.reverse();
                }
                bytes
            };
            let mut bytes: Vec<u8> = view.iter().flat_map(bits).collect();
            let length = bytes.len();
            bytes.resize(length.next_multiple_of(8), 0);
            {
                let words = bytes.as_chunks().0.iter().map(|&eight| u64::from_ne_bytes(eight)).collect();
                (words, length, [reversed, swapped])
            }
        });
        Self { boxes, memory, read: AtomicU64::new(0) }
    }
}

impl<const K: usize> Source<K> for Lying<'_, K> {
    fn kind(&self) -> CellType {
        self.boxes.kind()
    }

    fn size(&self) -> [u32; K] {
        self.boxes.size()
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        let (words, length, [reversed, swapped]) = self.memory.as_ref()?;
        let memory = InMemory::new(&bytemuck::cast_slice(words)[..*length]);
        Some(memory.reversed(*reversed).swapped(*swapped))
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.read.fetch_add(window.volume(), Ordering::Relaxed);
        self.boxes.read(window, bytes)
    }
}

fn surveyed<T: Cell, const K: usize>(case: Case<K>, stop: u32) {
    let array = case.array::<T>();
    let scheme = Scheme { b: case.scheme.b.map(|b| b * stop), ..case.scheme };
    let plan = Case { scheme, ..case }.plan([CurveKind::Morton, CurveKind::Canonical][case.seed as usize % 2]).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let hidden = Lying::new(&field, &array, None);
    let expected = BottomUp::new(&plan, &hidden).unwrap().tree().unwrap();
    assert!(hidden.read.into_inner() >= plan.domain().region().volume());
    for turned in [[false, false], [true, false], [false, true], [true, true]] {
        let lying = Lying::new(&field, &array, Some(turned));
        let building = BottomUp::new(&plan, &lying).unwrap();
        assert_eq!(building.counts(false).unwrap().0.totals(), {
            let hidden = Lying::new(&field, &array, None);
            BottomUp::new(&plan, &hidden).unwrap().counts(true).unwrap().0.totals()
        });
        assert!(building.tree().unwrap() == expected, "{turned:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn memory_is_looked_at_as_boxes_are(
        line in Case::<1>::any(5000),
        plane in Case::<2>::any(90),
        space in Case::<3>::any(24),
        more in Case::<4>::any(9),
        stop in 4u32..20,
    ) {
        surveyed::<f32, 1>(line, 20 * stop);
        surveyed::<f64, 2>(plane, stop);
        surveyed::<u16, 2>(plane, stop);
        surveyed::<i8, 3>(space, stop);
        surveyed::<f32, 4>(more, stop);
    }
}

/// Nothing but mixed leaves is read once memory was looked at.
#[test]
fn what_is_of_one_value_is_not_read() {
    let mut array = ArrayD::from_elem(vec![256, 256], 3u32);
    array[[100, 70]] = 4;
    let field = ArrayField::<2, u32>::new(array.view()).unwrap();
    let domain = Domain::new([256; 2], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 16), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let lying = Lying::new(&field, &array, Some([false, false]));
    let building = BottomUp::new(&plan, &lying).unwrap();
    building.counts(false).unwrap();
    assert_eq!(lying.read.load(Ordering::Relaxed), 0);
    assert_eq!(building.tree().unwrap().bricks().len(), 32 * 32);
    assert_eq!(lying.read.into_inner(), 32 * 32);
}
