//! Numbers as tables and JSON have them.

use serde_json::{Value, json};

use orthant::CellType;

/// A value as JSON has it: what is not finite is a text there.
pub(crate) fn value(kind: CellType, word: u64) -> Value {
    let text = kind.text(word);
    match kind {
        CellType::F32 | CellType::F64 if !kind.number(word).is_finite() => json!(text),
        _ => text.parse::<serde_json::Number>().map_or_else(|_| json!(text), Value::Number),
    }
}

/// A count as JSON has it: a number, or its digits where no reader's integers hold it.
pub(super) fn count(cells: u128) -> Value {
    u64::try_from(cells).map_or_else(|_| cells.to_string().into(), Value::from)
}

/// A number of a table: six digits at most, without an exponent where it needs none.
pub(super) fn short(number: f64) -> String {
    let digits = number.abs().log10().floor();
    match number {
        0.0 => "0".into(),
        _ if !number.is_finite() => number.to_string(),
        _ if !(-4.0..15.0).contains(&digits) => format!("{number:.5e}"),
        _ => {
            let text = format!("{number:.*}", (5.0 - digits).clamp(0.0, 9.0) as usize);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (-0.75, "-0.75"),
            (96.000_000_4, "96"),
            (1_582_875.0, "1582875"),
            (123.456_78, "123.457"),
            (1.5e-7, "1.50000e-7"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
