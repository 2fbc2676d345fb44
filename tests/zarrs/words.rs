//! Numbers in metadata as words of cells.

use orthant::{Cell, CellType};

use super::*;

/// An array of one cell that no file has.
fn one(kind: CellType, fill: &Value) -> Value {
    let name = match kind {
        CellType::U8 => "|u1",
        CellType::I8 => "|i1",
        CellType::I16 => "<i2",
        CellType::I64 => "<i8",
        CellType::U64 => "<u8",
        CellType::F32 => "<f4",
        CellType::F64 => "<f8",
        kind => unreachable!("no array of {kind}"),
    };
    second(&json!({"shape": [1], "chunks": [1], "dtype": name, "fill_value": fill}))
}

/// The word of the first cell.
fn first<const K: usize>(file: &ArrayFile) -> u64 {
    let mut bytes = bytes::<K>(file);
    bytes.truncate(file.layout().kind.bytes() as usize);
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[test]
fn words_are_of_their_type() {
    let folder = Folder::new("words");
    for (kind, value, expected) in [
        (CellType::U8, json!(255), Some(255)),
        (CellType::U8, json!(256), None),
        (CellType::U8, json!(true), Some(1)),
        (CellType::I8, json!(-1), Some(255)),
        (CellType::I8, json!(128), None),
        (CellType::I64, json!(i64::MIN), Some(1 << 63)),
        (CellType::U64, json!(u64::MAX), Some(u64::MAX)),
        (CellType::U64, json!(-1), None),
        (CellType::I16, json!(3.0), Some(3)),
        (CellType::I16, json!(3.5), None),
        (CellType::I16, json!("3"), None),
        (CellType::F32, json!(1), Some(0x3f80_0000)),
        (CellType::F32, json!("NaN"), Some(0x7fc0_0000)),
        (CellType::F32, json!("-Infinity"), Some(0xff80_0000)),
        (CellType::F32, json!("0x7fc00001"), Some(0x7fc0_0001)),
        (CellType::F32, json!("0x7fc00000000"), None),
        (CellType::F64, json!(0.1), Some(0.1f64.to_bits())),
        (CellType::F64, json!([0.1]), None),
    ] {
        let found = folder.json("a.zarr/.zarray", &one(kind, &value)).open("a.zarr", None);
        assert_eq!(found.as_ref().ok().map(first::<1>), expected, "{kind} {value}");
        if let Err(error) = found {
            let wrong = error.to_string();
            assert!(
                wrong.contains("fill_value '") && wrong.contains(&format!("a cell of {kind} is needed")),
                "{wrong}"
            );
        }
    }
    // -999.0 and what is no number, as xarray writes them.
    for (kind, value, expected) in [
        (CellType::F32, "AAAAAAA4j8A=", Some((-999f32).word())),
        (CellType::F64, "AAAAAAAA+H8=", CellType::F64.nan()),
        (CellType::F64, "AAAAAAAA*H8=", None),
        (CellType::I16, "AAAAAAA4j8A=", None),
    ] {
        folder.json("a.zarr/.zarray", &one(kind, &json!(0))).json("a.zarr/.zattrs", &json!({"_FillValue": value}));
        assert_eq!(folder.open("a.zarr", None).unwrap().about().nodata, expected, "{kind} {value}");
    }
}

/// Python writes words for what is no number. Where they are in quotes they are names.
#[test]
fn what_is_no_number_is_quoted_and_names_are_left() {
    let folder = Folder::new("quoted");
    let names = ["NaN", "\"NaN", "Infinity"];
    let metadata = third(&json!({"data_type": "float32", "dimension_names": names})).to_string();
    for (word, bits) in [("NaN", 0x7fc0_0000), ("-Infinity", 0xff80_0000), ("Infinity", 0x7f80_0000)] {
        let attributes = r#""attributes":{"a": NaN, "NaN": [-Infinity, "\"NaN", Infinity], "_FillValue": WORD}"#;
        let text = metadata.replace(r#""attributes":{}"#, &attributes.replace("WORD", word));
        let text = text.replace(r#""fill_value":0"#, &format!(r#""fill_value":{word}"#));
        assert_eq!(text.matches(word).count(), metadata.matches(word).count() + attributes.matches(word).count() + 2);
        let file = folder.put("a.zarr/zarr.json", text).open("a.zarr", None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((first::<3>(&file), file.about().nodata), (bits, Some(bits)), "{word}");
        let found: Vec<_> = file.about().axes.iter().rev().map(|axis| axis.name.clone().unwrap()).collect();
        assert_eq!(found, names);
    }
    // A word at the begin, and a backslash at the end.
    let wrong = folder.put("b.zarr/zarr.json", "NaN\\").wrong("b.zarr", None);
    assert!(wrong.contains("no JSON object of metadata: invalid type: string \"NaN\""), "{wrong}");
    let wrong = folder.put("b.zarr/zarr.json", "{\"a\": NaN}\\").wrong("b.zarr", None);
    assert!(wrong.contains("no JSON object of metadata: trailing characters"), "{wrong}");
}
