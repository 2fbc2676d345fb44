//! Numbers of bytes as people read them.
//!
//! Products of extents saturate: beyond the largest unit a number is only known to be larger than any machine.

/// A number of bytes in binary units.
///
/// ```
/// use orthant::Bytes;
///
/// assert_eq!(Bytes(1023).to_string(), "1023 B");
/// assert_eq!(Bytes(3 << 19).to_string(), "1.5 MiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u128);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        match unit {
            0 => write!(f, "{} B", self.0),
            _ if value >= 1024.0 => write!(f, "more than 1024 {}", UNITS[unit]),
            _ => write!(f, "{value:.1} {}", UNITS[unit]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_few_digits() {
        let texts = [1023, 1536, 1 << 41, 1023 << 80, 1 << 90, u128::MAX].map(|bytes| Bytes(bytes).to_string());
        let known = ["1023 B", "1.5 KiB", "2.0 TiB", "1023.0 YiB", "more than 1024 YiB", "more than 1024 YiB"];
        assert_eq!(texts, known);
    }
}
