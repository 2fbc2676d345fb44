//! Which GPUs run.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::str::FromStr;

use orthant::choice::number;

/// One GPU or several, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Devices {
    All,
    These(Vec<usize>),
}

impl FromStr for Devices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let wrong = || format!("'{text}' is not all, a number, or a list as in 0,1 or 0-3");
        let one = |text: &str| number(text.trim(), 0..=u64::from(u16::MAX)).map_err(|_| wrong());
        let mut these = Vec::new();
        // In a sweep a comma is between two cases.
        for item in text.split([',', '+']) {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (one(first)?, one(last)?);
            these.extend((first..=last).map(|number| number as usize));
            if first > last {
                return Err(wrong());
            }
        }
        match (1..these.len()).find(|&i| these[..i].contains(&these[i])) {
            Some(i) => Err(format!("'{text}': GPU {} is named twice", these[i])),
            None => Ok(Self::These(these)),
        }
    }
}

impl Display for Devices {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::All => f.write_str("all"),
            Self::These(numbers) if numbers.len() > 8 => {
                write!(f, "{},{},.. ({} of them)", numbers[0], numbers[1], numbers.len())
            }
            Self::These(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let these = |text: &str| text.parse::<Devices>();
        assert_eq!(these("all"), Ok(Devices::All));
        assert_eq!(these("0,2-4"), Ok(Devices::These(vec![0, 2, 3, 4])));
        assert_eq!(these("1+0").map(|devices| devices.to_string()), Ok("1,0".into()));
        for wrong in ["", "x", "1-", "3-1", "0,0", "0-2,1", "-1", "99999999"] {
            assert!(these(wrong).is_err(), "{wrong}");
        }
    }
}
