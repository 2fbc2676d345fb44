//! HDF5: groups, types and scales, and what is damaged.

use hdf5_pure::{AttrValue, Datatype, DatatypeByteOrder, FileBuilder, FloatingPointLayout};
use orthant_formats::input::{ArrayFile, rows_at_once};

use crate::images::Folder;

/// Groups that lie in themselves lead to one data set, or to an end.
#[test]
fn groups_of_hdf5_that_lie_in_themselves_end() {
    let folder = Folder::new("groups");
    let file = folder.open("links.h5", include_bytes!("hdf5/links.h5"));
    assert_eq!(file.layout().size, [6, 7, 5]);
    let wrong = folder.wrong("loop.h5", include_bytes!("hdf5/loop.h5"));
    assert!(wrong.starts_with("more than 10000 groups or data sets, or groups that lie in themselves"), "{wrong}");
}

#[test]
fn types_of_hdf5_that_are_not_read_are_named() {
    let folder = Folder::new("types");
    let odd = FloatingPointLayout { exponent_bias: 511, ..FloatingPointLayout::IEEE754_BINARY32 };
    let half = FloatingPointLayout {
        bit_precision: 16,
        exponent_location: 10,
        exponent_size: 5,
        mantissa_size: 10,
        exponent_bias: 15,
        ..odd
    };
    for (layout, size, says) in [
        (odd, 4, "a float: 4 bytes, exponent 8 bits, bias 511, mantissa 23"),
        (half, 2, "a float: 2 bytes, exponent 5 bits, bias 15, mantissa 10"),
    ] {
        let mut file = FileBuilder::new();
        let datatype = Datatype::FloatingPoint { size, byte_order: DatatypeByteOrder::LittleEndian, layout };
        file.create_dataset("a").with_raw_data(datatype, vec![0; 6 * size as usize], 6);
        let path = folder.put("a.h5", &file.finish().unwrap());
        for part in [Some("a"), None] {
            let wrong = ArrayFile::open(&path, part, |_| unreachable!("nothing is packed")).unwrap_err().to_string();
            assert!(wrong.contains(&format!("its type '{says}': integers of 8 to 64 bits and floats of")), "{wrong}");
        }
    }
}

/// A scale that is attached to another data set says nothing of this one.
#[test]
fn scales_of_hdf5_belong_to_whom_they_are_attached() {
    let folder = Folder::new("scales");
    for (own, first, second, name) in [
        (false, false, None, Some("u")),
        (false, true, None, None),
        (true, true, None, Some("u")),
        (true, false, Some(true), Some("v")),
        (false, false, Some(true), None),
        (false, false, Some(false), None),
    ] {
        let mut file = FileBuilder::new();
        let data = file.create_dataset("a").with_f32_data(&[0.0; 35]).with_shape(&[5, 7]);
        if own {
            data.set_attr("DIMENSION_LIST", AttrValue::I64(0));
        }
        for (name, attached) in [("u", Some(first)), ("v", second)] {
            if let Some(attached) = attached {
                let scale = file.create_dataset(name).with_f64_data(&[0.0, 2.0, 4.0, 6.0, 8.0]);
                scale.set_attr("CLASS", AttrValue::AsciiString("DIMENSION_SCALE".into()));
                if attached {
                    scale.set_attr("REFERENCE_LIST", AttrValue::I64(0));
                }
            }
        }
        let file = folder.open("a.h5", &file.finish().unwrap());
        let axis = &file.about().axes[1];
        let found = (axis.name.as_deref(), axis.spacing);
        assert_eq!(found, (name, name.map(|_| 2.0)), "{own} {first} {second:?}");
    }
}

/// A scale whose type is damaged has no places, and says nothing.
#[test]
fn scales_of_hdf5_that_are_damaged_say_nothing() {
    let folder = Folder::new("damaged");
    let mut file = FileBuilder::new();
    file.create_dataset("a").with_f32_data(&[0.0; 35]).with_shape(&[5, 7]);
    let layout = FloatingPointLayout { bit_offset: 127, ..FloatingPointLayout::IEEE754_BINARY64 };
    let datatype = Datatype::FloatingPoint { size: 8, byte_order: DatatypeByteOrder::LittleEndian, layout };
    let scale = file.create_dataset("x").with_raw_data(datatype, vec![0; 56], 7);
    scale.set_attr("CLASS", AttrValue::AsciiString("DIMENSION_SCALE".into()));
    let file = folder.open("a.h5", &file.finish().unwrap());
    assert_eq!(file.about().axes.iter().map(|axis| axis.spacing).collect::<Vec<_>>(), [None; 2]);
}

#[test]
fn rows_are_those_of_whole_chunks_unless_they_are_many_bytes() {
    for (row, chunk, rows) in [
        (1 << 10, 1, 1 << 14),
        (1 << 10, 3, 16_383),
        (1 << 20, 64, 64),
        (1 << 20, 65, 64),
        (1 << 30, 1 << 20, 1),
        (1, u64::MAX, 1 << 26),
        (0, 1, 1 << 24),
    ] {
        assert_eq!(rows_at_once(row, chunk), rows, "{row} {chunk}");
    }
}
