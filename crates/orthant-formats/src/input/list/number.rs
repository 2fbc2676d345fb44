//! Numbers of a file as coordinates.

use crate::input::error::InputFault;
use orthant::CellType;
use orthant::Endian;

/// The word of a number as it lies in a file.
pub(super) fn word(bytes: &[u8], endian: Endian) -> u64 {
    let mut wide = [0; 8];
    match endian {
        Endian::Little => wide[..bytes.len()].copy_from_slice(bytes),
        Endian::Big => bytes.iter().rev().zip(&mut wide).for_each(|(byte, wide)| *wide = *byte),
    }
    u64::from_le_bytes(wide)
}

/// A coordinate: a whole number from 0 on, of 32 bits. `place` says where it is, for a message.
pub(super) fn coordinate(kind: CellType, word: u64, place: &dyn Fn() -> String) -> Result<u32, InputFault> {
    let number = if kind.is_float() {
        let number = kind.number(word);
        (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
    } else {
        // Of a negative number the rank is below that of 0.
        kind.rank(word).checked_sub(kind.rank(0)).and_then(|number| u32::try_from(number).ok())
    };
    number.ok_or_else(|| {
        let text = kind.text(word);
        InputFault::Other(format!("{}: coordinate {text}; whole numbers from 0 to 2^32 - 1 name cells", place()))
    })
}
