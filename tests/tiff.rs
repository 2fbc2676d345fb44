//! TIFF: pages, tiles, packings, and what is damaged.

use orthant::geometry::Region;
use orthant::tree::Source;
use orthant_formats::input::ArrayFile;

use crate::images::{Folder, cells};
use crate::samples;

/// As many as ever are in one file: directories before their cells and after, near and far from each other.
#[test]
fn pages_by_the_thousand_are_read_in_order() {
    let folder = Folder::new("pages");
    let all: Vec<u16> = (0..3 * 5000).collect();
    for (first, far) in [(false, 0), (true, 0), (false, 5000)] {
        let (mut file, mut link) = (b"II\x2a\0\0\0\0\0".to_vec(), 4);
        for cells in all.chunks(3) {
            let directory = 2 + 7 * 12 + 4;
            let (at, cells_at) =
                if first { (file.len(), file.len() + directory) } else { (file.len() + 6 + far / 10, file.len()) };
            file.resize(file.len() + directory + 6 + far / 10, 0);
            file[cells_at..cells_at + 6].copy_from_slice(bytemuck::cast_slice(cells));
            file[link..link + 4].copy_from_slice(&(at as u32).to_le_bytes());
            file[at] = 7;
            let tags: [(u16, u32); 7] =
                [(256, 3), (257, 1), (258, 16), (259, 1), (277, 1), (273, cells_at as u32), (279, 6)];
            for (index, (tag, value)) in tags.into_iter().enumerate() {
                let entry = at + 2 + 12 * index;
                file[entry..entry + 2].copy_from_slice(&tag.to_le_bytes());
                file[entry + 2] = 4;
                file[entry + 4] = 1;
                file[entry + 8..entry + 12].copy_from_slice(&value.to_le_bytes());
            }
            link = at + directory - 4;
        }
        assert_eq!(cells(&folder.open("pages.tif", &file)), all, "{first} {far}");
    }
}

/// A TIFF of one page of bytes: whole numbers by their tags, and a chunk of which there are so many.
fn page(chunk: &[u8], count: u32, tags: &[(u16, u32)]) -> Vec<u8> {
    let chunks = 8 + chunk.len() as u32;
    let list = |number: u32| number.to_le_bytes().repeat(count as usize);
    let mut entries: Vec<(u16, u32, u32)> = tags.iter().map(|&(tag, value)| (tag, 1, value)).collect();
    entries.push((324, count, if count == 1 { 8 } else { chunks }));
    entries.push((325, count, if count == 1 { chunk.len() as u32 } else { chunks + 4 * count }));
    let lists = if count == 1 { Vec::new() } else { [list(8), list(chunk.len() as u32)].concat() };
    let mut file = [&b"II*\0"[..], &(chunks + lists.len() as u32).to_le_bytes(), chunk, &lists].concat();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, count, value) in entries {
        file.extend([tag.to_le_bytes(), 4u16.to_le_bytes()].concat());
        file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
    }
    file.extend([0; 4]);
    file
}

/// All cells of a page of bytes.
fn bytes(file: &ArrayFile) -> Vec<u8> {
    let source = file.source::<2>().unwrap();
    let whole = Region { corner: [0; 2], extent: source.size() };
    let mut bytes = vec![0; whole.volume() as usize];
    source.read(&whole, &mut bytes).unwrap();
    bytes
}

/// Many tiles across, tiles that reach far over the edge, and tiles of which too many bytes lie side by side.
#[test]
fn tiles_take_no_more_memory_than_their_page() {
    let folder = Folder::new("tiles");
    let sides = |size: [u32; 2], tile: [u32; 2], packing: u32| {
        [(256, size[0]), (257, size[1]), (258, 8), (259, packing), (322, tile[0]), (323, tile[1])]
    };
    let many = page(&samples::zlib(&[7]), 5000, &sides([5000, 1], [1, 1], 8));
    assert_eq!(bytes(&folder.open("many.tif", &many)), [7; 5000]);
    let wide = page(&samples::zlib(&vec![7; 1 << 24]), 1, &sides([8, 2], [1 << 23, 1 << 30], 8));
    assert_eq!(bytes(&folder.open("wide.tif", &wide)), [7; 16]);
    let high = page(&samples::zlib(&[7]), 2, &sides([8, 1 << 30], [4, 1 << 30], 8));
    let wrong = folder.wrong("high.tif", &high);
    assert!(wrong.contains("TileLength '1073741824': 8589934592 bytes are unpacked together; at most"), "{wrong}");
}

/// A chunk whose rows are whole is damaged all the same if its stream does not end well.
#[test]
fn deflated_chunks_are_read_to_their_end() {
    let folder = Folder::new("deflated");
    let sides = [(256, 4), (257, 1), (258, 8), (259, 8), (322, 4), (323, 2)];
    // Four bytes as they are, and more to come.
    let rows = [0x78, 0x01, 0x00, 4, 0, 0xfb, 0xff, 1, 2, 3, 4];
    let stream = |rest: &[u8]| page(&[&rows[..], rest].concat(), 1, &sides);
    // The second row of a tile that reaches over the edge, and the checksum.
    let good = stream(&[0x01, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x44, 0x00, 0x0b]);
    assert_eq!(bytes(&folder.open("good.tif", &good)), [1, 2, 3, 4]);
    for rest in [&[0x07][..], &[], &[0x01, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x44, 0x00, 0x0c]] {
        let wrong = folder.wrong("wrong.tif", &stream(rest));
        assert!(wrong.contains("a chunk of cells that is damaged"), "{rest:?}: {wrong}");
    }
}

#[test]
fn bits_of_a_tiff_have_one_order_and_runs_no_predictor() {
    let folder = Folder::new("bits");
    let with = |tag: u16, value: u32| {
        let sides = [(256, 4), (257, 1), (258, 8), (259, 32773), (322, 4), (323, 1)];
        page(&[3, 1, 2, 3, 4], 1, &[&sides[..], &[(tag, value)]].concat())
    };
    let wrong = folder.wrong("order.tif", &with(266, 2));
    assert!(wrong.contains("FillOrder '2': 1, the highest bit of a byte first, can be read"), "{wrong}");
    assert_eq!(bytes(&folder.open("runs.tif", &with(317, 2))), [1, 2, 3, 4]);
}
