//! What is in exported files is what was in the cells.

mod zarr;

use std::io;

use orthant::CellType;
use orthant::prelude::*;
use orthant::rule::exact;
use orthant::tree::{BottomUp, Source};
use orthant_formats::export::{Boxes, Cutout, ExportError, htg, npy, vti};
use proptest::prelude::*;

/// Cells in memory, little-endian.
#[derive(Debug, Clone)]
struct Volume<const K: usize> {
    size: [u32; K],
    kind: CellType,
    bytes: Vec<u8>,
}

impl<const K: usize> Source<K> for Volume<K> {
    fn kind(&self) -> CellType {
        self.kind
    }

    fn size(&self) -> [u32; K] {
        self.size
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        let (whole, width) = (Region { corner: [0; K], extent: self.size }, self.kind.bytes() as usize);
        for (cell, bytes) in window.cells().zip(bytes.chunks_exact_mut(width)) {
            bytes.copy_from_slice(&self.bytes[whole.place(cell) * width..][..width]);
        }
        Ok(())
    }
}

impl<const K: usize> Volume<K> {
    fn tree(&self) -> Tree<K> {
        let window = std::array::from_fn(|j| [j as f64 - 1.5, j as f64 - 1.5 + 0.25 * f64::from(self.size[j])]);
        let domain = Domain::new(self.size, window, Sample::Centre).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Hilbert, RuleKind::Full).unwrap();
        BottomUp::new(&plan, self).unwrap().tree().unwrap()
    }
}

/// Blocks of few values, zeros more often than others, in arrays of up to so many cells per axis.
fn volumes<const K: usize>(most: u32) -> impl Strategy<Value = Volume<K>> {
    const WORDS: [u64; 10] =
        [0, 0, 0, 0, 1, 2, u64::MAX, 0x8000_0000_8000_0080, 0x7ff8_0000_7fc0_0000, 0x3ff0_0000_3f80_0001];
    let values = prop::collection::vec(prop::sample::select(&WORDS[..]), 40);
    let size: Vec<_> = (0..K).map(|_| 1..=most).collect();
    (size, prop::sample::select(CellType::ALL), values, 0u32..4).prop_map(|(size, kind, values, bits)| {
        let size: [u32; K] = size.try_into().unwrap();
        let width = kind.bytes() as usize;
        let value = |cell: [u32; K]| {
            let block = cell.iter().fold(7u32, |block, &c| block.wrapping_mul(31).wrapping_add(c >> bits));
            let word = values[block as usize % values.len()] & (u64::MAX >> (64 - 8 * width));
            // Uniform regions have the usual word of all that is not a number.
            exact::key(kind, word).to_le_bytes()[..width].to_vec()
        };
        let bytes = Region { corner: [0; K], extent: size }.cells().flat_map(value).collect();
        Volume { size, kind, bytes }
    })
}

/// The XML of a file, and the arrays behind it.
fn split(file: &[u8]) -> (String, &[u8]) {
    let mark = b"<AppendedData encoding=\"raw\">\n   _";
    let end = file.windows(mark.len()).position(|bytes| bytes == mark).unwrap() + mark.len();
    (String::from_utf8(file[..end].to_vec()).unwrap(), &file[end..])
}

/// An attribute of the first element after `after`.
fn attribute<'x>(xml: &'x str, after: &str, name: &str) -> &'x str {
    let rest = &xml[xml.find(after).unwrap()..];
    rest.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap()
}

/// An array of the file, by its name.
fn array<'f>(xml: &str, arrays: &'f [u8], name: &str) -> &'f [u8] {
    let at: usize = attribute(xml, &format!("Name=\"{name}\""), "offset").parse().unwrap();
    let len = u64::from_le_bytes(arrays[at..at + 8].try_into().unwrap()) as usize;
    &arrays[at + 8..at + 8 + len]
}

fn bit(bits: &[u8], at: usize) -> bool {
    bits[at / 8] & 0x80 >> (at % 8) != 0
}

fn integers(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// A file of hyper trees, read as its format says: every cell of the domain from the vertex that covers it.
fn check_htg<const K: usize>(volume: &Volume<K>, file: &[u8]) {
    let (xml, arrays) = split(file);
    let array = |name| array(&xml, arrays, name);
    let (width, size) = (volume.kind.bytes() as usize, volume.size);
    let floats =
        |name| array(name).chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect::<Vec<_>>();
    let axes: [Vec<f64>; K] = std::array::from_fn(|j| floats(["XCoordinates", "YCoordinates", "ZCoordinates"][j]));
    let side = ((axes[0][1] - axes[0][0]) / 0.25) as u32;
    assert!(side.is_power_of_two());
    for j in 0..K {
        let blocks = size[j].div_ceil(side);
        let expected: Vec<f64> = (0..=blocks).map(|p| j as f64 - 1.5 + 0.25 * f64::from(p * side)).collect();
        assert_eq!(axes[j], expected);
    }
    let points: Vec<usize> =
        attribute(&xml, "<HyperTreeGrid", "Dimensions").split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(points, (0..3).map(|j| axes.get(j).map_or(1, Vec::len)).collect::<Vec<_>>());
    let (divided, masked, values) = (array("Descriptors"), array("Mask"), array("value"));
    let mut per_depth = integers(array("NumberOfVerticesPerDepth")).into_iter();
    let (mut vertex, mut descriptor) = (0, 0);
    let whole = Region { corner: [0; K], extent: size };
    let mut covered = 0;
    let blocks: [u32; K] = std::array::from_fn(|j| size[j].div_ceil(side));
    assert_eq!(integers(array("TreeIds")), (0..blocks.iter().product::<u32>().into()).collect::<Vec<u64>>());
    let depths = array("DepthPerTree").chunks_exact(4).map(|depth| u32::from_le_bytes(depth.try_into().unwrap()));
    for (block, depths) in (Region { corner: [0; K], extent: blocks }).cells().zip(depths) {
        let mut row = vec![block.map(|p| u64::from(p * side))];
        for depth in 0..depths {
            let side = u64::from(side) >> depth;
            assert_eq!(per_depth.next(), Some(row.len() as u64));
            let mut next = Vec::new();
            for corner in row {
                let last = depth + 1 == depths;
                let divides = !last && bit(divided, descriptor);
                descriptor += usize::from(!last);
                let value = &values[vertex * width..(vertex + 1) * width];
                let beyond = (0..K).any(|j| corner[j] >= size[j].into());
                assert_eq!(bit(masked, vertex), beyond, "{corner:?}");
                vertex += 1;
                if beyond {
                    assert!(!divides);
                    continue;
                }
                let extent = std::array::from_fn(|j| side.min(u64::from(size[j]) - corner[j]) as u32);
                let part = Region { corner: corner.map(|c| c as u32), extent };
                let cells = || part.cells().map(|cell| &volume.bytes[whole.place(cell) * width..][..width]);
                let key = |bytes: &[u8]| {
                    let mut word = [0; 8];
                    word[..width].copy_from_slice(bytes);
                    exact::key(volume.kind, u64::from_le_bytes(word))
                };
                if divides {
                    let half = side / 2;
                    next.extend(
                        (0..1u64 << K).map(|child| std::array::from_fn(|j| corner[j] + (child >> j & 1) * half)),
                    );
                    let rank = |bytes| volume.kind.rank(key(bytes));
                    assert_eq!(rank(value), cells().map(rank).min().unwrap());
                    let fits = part.volume() == side.pow(K as u32);
                    assert!(!fits || cells().map(key).any(|word| word != key(value)), "{part:?} has one value");
                } else {
                    covered += part.volume();
                    assert_eq!(part.volume(), side.pow(K as u32));
                    assert!(cells().map(key).all(|word| word == key(value)), "{part:?}");
                }
            }
            row = next;
        }
        assert!(row.is_empty());
    }
    assert_eq!(covered, whole.volume());
    assert_eq!((per_depth.next(), vertex * width, descriptor.div_ceil(8)), (None, values.len(), divided.len()));
    let tuples = attribute(&xml, "Name=\"Descriptors\"", "NumberOfTuples");
    assert_eq!(tuples, descriptor.to_string());
}

fn check_vti<const K: usize>(volume: &Volume<K>, file: &[u8]) {
    let (xml, arrays) = split(file);
    assert!(array(&xml, arrays, "value") == volume.bytes, "{:?} {}", volume.size, volume.kind);
    let extent = |j: usize| volume.size.get(j).copied().unwrap_or(0);
    assert_eq!(attribute(&xml, "<Piece", "Extent"), format!("0 {} 0 {} 0 {}", extent(0), extent(1), extent(2)));
    let expected = if K == 2 { ["-1.5 -0.5 0.0", "0.25 0.25 1.0"] } else { ["-1.5 -0.5 0.5", "0.25 0.25 0.25"] };
    assert_eq!(["Origin", "Spacing"].map(|name| attribute(&xml, "<ImageData", name)), expected);
}

fn check<const K: usize>(volume: &Volume<K>) {
    let tree = volume.tree();
    let mut file = Vec::new();
    htg::write(&tree, &mut file).unwrap();
    check_htg(volume, &file);
    file.clear();
    vti::write(&tree, &mut file).unwrap();
    check_vti(volume, &file);
    file.clear();
    npy::write(&tree, &mut file).unwrap();
    assert!(file.ends_with(&volume.bytes) && (file.len() - volume.bytes.len()).is_multiple_of(64));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn files_hold_the_cells(two in volumes::<2>(150), three in volumes::<3>(20), long in 1u32..100) {
        check(&two);
        check(&three);
        let mut thin = three;
        thin.size = [1, 1, long];
        thin.bytes.resize(long as usize * thin.kind.bytes() as usize, 0);
        check(&thin);
    }

    #[test]
    fn a_box_is_a_domain_of_its_own(volume in volumes::<3>(12), at in prop::array::uniform6(0u32..12)) {
        let tree = volume.tree();
        let size = volume.size;
        let corner: [u32; 3] = std::array::from_fn(|j| at[j] % size[j]);
        let extent = std::array::from_fn(|j| 1 + at[3 + j] % (size[j] - corner[j]));
        let window = Region { corner, extent };
        let cutout = Cutout::new(&tree, window).unwrap();
        let mut bytes = vec![0; (window.volume() * volume.kind.bytes()) as usize];
        volume.read(&window, &mut bytes).unwrap();
        let own = Volume { size: extent, kind: volume.kind, bytes: bytes.clone() };
        let mut file = Vec::new();
        npy::write(&cutout, &mut file).unwrap();
        prop_assert!(file.ends_with(&bytes));
        let whole = Region { corner: [0; 3], extent };
        prop_assert_eq!(cutout.known(&whole).unwrap(), tree.uniform(&window).unwrap());
        prop_assert_eq!(own.tree().known(&whole).unwrap(), tree.uniform(&window).unwrap());
        let pitch = cutout.domain().pitch();
        prop_assert_eq!(pitch, [0.25; 3]);
        let begins = (0..3).all(|j| cutout.domain().window()[j][0] == j as f64 - 1.5 + 0.25 * f64::from(corner[j]));
        prop_assert!(begins);
        let beyond = Region { corner, extent: size.map(|n| n + 1) };
        prop_assert!(Cutout::new(&tree, beyond).is_err());
    }
}

#[test]
fn what_a_format_does_not_hold_is_an_error() {
    let said = |error: Result<(), ExportError>| error.unwrap_err().to_string();
    let k = ".htg: 4 dimensions; it holds 2 or 3";
    assert_eq!(said(htg::check([8; 4])), k);
    assert!(said(vti::check([8])).starts_with(".vti: 1 dimensions; it holds 2 or 3"));
    let most = "2147483647 cells on axis 1; it counts to 2147483646";
    assert_eq!(said(vti::check([8, i32::MAX as u32])), format!(".vti: {most}"));
    htg::check([i32::MAX as u32 - 1; 3]).unwrap();
    // A writer that fails, in every format that has one.
    let tree = Volume { size: [3, 3], kind: CellType::U8, bytes: vec![5; 9] }.tree();
    let full = |write: fn(&dyn Boxes<2>, &mut dyn io::Write) -> Result<(), ExportError>| {
        let mut room = [0u8; 20];
        matches!(write(&tree, &mut &mut room[..]), Err(ExportError::Write(_)))
    };
    assert!(full(npy::write) && full(vti::write) && full(htg::write));
}

#[test]
fn formats_say_what_they_cannot_hold() {
    use orthant_formats::export::ExportFormat::{self, Htg, Npy, Nvdb, Vti, VtkHdf, Vtu};

    fn dimensions<const K: usize>(allowed: &[ExportFormat]) {
        for &format in ExportFormat::ALL {
            let hdf5 = cfg!(feature = "hdf5") || format != VtkHdf;
            let checked = format.check([5; K], CellType::U8);
            assert_eq!(checked.is_ok(), allowed.contains(&format) && hdf5, "{format} in {K} dimensions: {checked:?}");
        }
    }
    dimensions::<1>(&[Npy]);
    dimensions::<2>(&[Npy, Vti, Htg, Vtu, VtkHdf]);
    dimensions::<3>(&[Npy, Vti, Htg, Vtu, VtkHdf, Nvdb]);
    dimensions::<4>(&[Npy, VtkHdf]);
    dimensions::<5>(&[Npy]);
    let refused = Nvdb.check([5; 3], CellType::U64).unwrap_err().to_string();
    assert!(refused.starts_with(".nvdb: cells of type u64"), "{refused}");
    let refused = Nvdb.check([1 << 31, 5, 5], CellType::U8).unwrap_err().to_string();
    assert!(refused.contains("2147483648 cells on axis 0"), "{refused}");
}
