//! Folders of slices.

use orthant_formats::input::{Endian, Remark};

use crate::images::{Folder, cells, open};
use crate::samples::{self, Packed};

/// A slice of 4 x 3 cells of one value.
fn page(value: u16, endian: Endian) -> Vec<u8> {
    let mut file = samples::tiff(false, endian, Packed::Not, false);
    // The second page is cut off, and the first one's cells are others.
    let first = file.iter().position(|&byte| byte != 0).unwrap();
    assert_eq!(first, 0);
    let bytes = if endian == Endian::Big { value.to_be_bytes() } else { value.to_le_bytes() };
    file[8..32].copy_from_slice(&bytes.repeat(12));
    let next = file.len();
    let directory = if endian == Endian::Big {
        u32::from_be_bytes(file[4..8].try_into().unwrap())
    } else {
        u32::from_le_bytes(file[4..8].try_into().unwrap())
    };
    let link = directory as usize + 2 + 10 * 12;
    assert!(link + 4 < next);
    file[link..link + 4].fill(0);
    file
}

#[test]
fn slices_of_a_folder_are_a_volume() {
    let folder = Folder::new("slices");
    folder.put("s10.tif", &page(10, Endian::Little));
    folder.put("s9.TIFF", &page(9, Endian::Big));
    folder.put("read me", b"");
    let file = open(folder.path()).unwrap();
    assert_eq!((cells(&file), file.layout().size.clone()), ([[9; 12], [10; 12]].concat(), vec![4, 3, 2]));
    assert_eq!((file.about().remarks.clone(), file.others().len()), (vec![Remark::OtherFiles(1)], 2));
    folder.put("s11.tif", &samples::tiff(false, Endian::Little, Packed::Not, false));
    assert_eq!(
        open(folder.path()).unwrap_err().to_string(),
        format!("{}: 2 pages, where a slice of a folder has one", folder.path().join("s11.tif").display())
    );
    let empty = Folder::new("no-slices");
    assert_eq!(open(empty.path()).unwrap_err().wrong.to_string(), "a folder without .tif or .tiff files");
}

#[test]
fn numbers_count_as_numbers() {
    let folder = Folder::new("natural");
    let names = ["s10", "s9", "s009", "s1b", "s1", "t0", "s", "S2", "s99999999999999999999999", "s1a2"];
    let order = ["S2", "s", "s1", "s1a2", "s1b", "s009", "s9", "s10", "s99999999999999999999999", "t0"];
    for name in names {
        let place = order.iter().position(|other| *other == name).unwrap();
        folder.put(&format!("{name}.tif"), &page(place as u16, Endian::Little));
    }
    assert_eq!(cells(&open(folder.path()).unwrap()), (0..10).flat_map(|place| [place; 12]).collect::<Vec<_>>());
}
