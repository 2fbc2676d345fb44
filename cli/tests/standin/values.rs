//! Cells of every type on the stand-in: arrays of awkward bit patterns, as fields of this program's own.

use std::path::Path;

use orthant::Cell;
use orthant::CellType;
use orthant::field::FieldOptions;
use orthant::field::{ArrayField, Defaults, OwnField};
use orthant::ndarray::{ArrayD, IxDyn};
use orthant::prelude::*;

use crate::binary::{empty, own, text};

/// Blocks of values that engines could trip over: zeros, ones, what is not a number in two patterns, a negative zero.
fn open<T: Cell>(domain: &Domain<2>, _: &FieldOptions) -> Result<Box<dyn Field<2>>, orthant::field::FieldError> {
    let nan = |more: u64| match T::TYPE {
        CellType::F32 => f32::NAN.word() | more,
        CellType::F64 => f64::NAN.word() | more,
        _ => more,
    };
    let words = [0, u64::MAX, nan(0), nan(1), 1 << (8 * size_of::<T>() - 1), 1];
    let shape = IxDyn(&[domain.size()[1] as usize, domain.size()[0] as usize]);
    let array = ArrayD::from_shape_fn(shape, |index| {
        let speck = index[0] % 13 == 5 && index[1] % 17 == 3;
        T::from_word(words[(index[0] / 11 * 5 + index[1] / 19 + usize::from(speck)) % words.len()])
    });
    // As long as the process lives, like every field of a program's own.
    let array: &'static ArrayD<T> = Box::leak(Box::new(array));
    Ok(Box::new(ArrayField::<2, T>::new(array.view())?))
}

/// The fields, by the names of their types.
pub(super) fn fields() -> Vec<OwnField> {
    macro_rules! of_types {
        ($($name:literal: $T:ty),+) => {
            vec![$(OwnField::new($name, "awkward values", Defaults::unit).in_dim::<2>(open::<$T>)),+]
        };
    }
    of_types!(
        "values-u8": u8, "values-u16": u16, "values-u32": u32, "values-u64": u64, "values-i8": i8,
        "values-i16": i16, "values-i32": i32, "values-i64": i64, "values-f32": f32, "values-f64": f64
    )
}

fn equal(folder: &Path, types: &[CellType]) {
    let files = empty("values");
    for kind in types {
        for how in
            ["full --scheme mbr --keep regions", "border --strategy dp --scheme mbr", "closed --insertion atomic"]
        {
            let file = |backend: &str| {
                let path = files.join(format!("{backend}.npy"));
                let arguments = format!(
                    "run values-{kind} -n 61x53 -g 2 -r 2 -B 3 --explore {how} --backend {backend} --force -o {}",
                    path.display()
                );
                let output = own(folder, &arguments);
                assert!(output.status.success(), "{arguments}: {:?}", text(&output));
                std::fs::read(path).unwrap()
            };
            let written = file("cpu");
            let letter = match kind.name() {
                name if name.starts_with('u') => 'u',
                name if name.starts_with('i') => 'i',
                _ => 'f',
            };
            let header = String::from_utf8_lossy(&written[10..80]).into_owned();
            assert!(header.contains(&format!("{letter}{}'", kind.bytes())), "{kind} --explore {how}: {header}");
            assert!(written == file("cuda"), "{kind} --explore {how}");
        }
    }
}

pub(super) fn a_type_of_each_width(folder: &Path) {
    equal(folder, &[CellType::I8, CellType::U16, CellType::F32, CellType::F64]);
}

pub(super) fn every_type(folder: &Path) {
    equal(folder, CellType::ALL);
}
