//! Numbers in metadata as words of cells.

use serde_json::Value;

use orthant::{Cell, CellType};

/// The word of a cell that metadata says, if it is of the cells' type: a number, what is none by name, or its bits.
pub(super) fn word(kind: CellType, value: &Value) -> Option<u64> {
    let mask = u64::MAX >> (64 - 8 * kind.bytes());
    if kind.is_float() {
        let number = match value {
            Value::String(text) => match text.as_str() {
                "NaN" => return kind.nan(),
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                bits => {
                    let bits = u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?;
                    return (bits <= mask).then_some(bits);
                }
            },
            value => value.as_f64()?,
        };
        return Some(if kind == CellType::F32 { (number as f32).word() } else { number.word() });
    }
    let number = match value {
        Value::Bool(value) => i128::from(*value),
        Value::Number(number) if number.is_u64() => number.as_u64()?.into(),
        Value::Number(number) if number.is_i64() => number.as_i64()?.into(),
        // As NumPy's floats of whole numbers are written.
        Value::Number(number) => number.as_f64().filter(|whole| whole.fract() == 0.0 && whole.abs() < 9e15)? as i128,
        _ => return None,
    };
    let signed = matches!(kind, CellType::I8 | CellType::I16 | CellType::I32 | CellType::I64);
    let (least, most) = if signed { (-i128::from(mask / 2) - 1, i128::from(mask / 2)) } else { (0, i128::from(mask)) };
    (least..=most).contains(&number).then_some(number as u64 & mask)
}

/// The same of an attribute, where xarray writes numbers in base 64: the eight bytes of a float.
pub(super) fn attribute(kind: CellType, value: &Value) -> Option<u64> {
    if let Some(word) = word(kind, value) {
        return Some(word);
    }
    let text = value.as_str()?.strip_suffix('=').filter(|text| text.len() == 11)?;
    let mut bits = 0u128;
    for letter in text.bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u128::from(digit);
    }
    let number = f64::from_bits(((bits >> 2) as u64).swap_bytes());
    match kind {
        CellType::F32 | CellType::F64 if number.is_nan() => kind.nan(),
        CellType::F32 => Some((number as f32).word()),
        CellType::F64 => Some(number.word()),
        _ => None,
    }
}
