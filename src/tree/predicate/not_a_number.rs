//! What is done about cells that are not a number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number::Number;

/// What is done about cells that are NaN.
///
/// ```
/// use orthant::tree::{NotANumber, Number};
///
/// assert_eq!("fill=-1".parse(), Ok(NotANumber::Fill(Number::Negative(-1))));
/// assert_eq!(NotANumber::default().to_string(), "equal");
/// assert!("zero".parse::<NotANumber>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum NotANumber {
    /// They count as one value, which no number is near to.
    #[default]
    Equal,
    /// The first that is met is an error.
    Error,
    /// They are this number.
    Fill(Number),
}

/// A text that is no treatment of what is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is none of equal, error and fill=V, where V is a finite number")]
pub struct NoTreatment(String);

impl FromStr for NotANumber {
    type Err = NoTreatment;

    fn from_str(text: &str) -> Result<Self, NoTreatment> {
        match (text, text.strip_prefix("fill=").map(str::parse)) {
            ("equal", _) => Ok(Self::Equal),
            ("error", _) => Ok(Self::Error),
            (_, Some(Ok(number))) => Ok(Self::Fill(number)),
            _ => Err(NoTreatment(text.into())),
        }
    }
}

impl TryFrom<String> for NotANumber {
    type Error = NoTreatment;

    fn try_from(text: String) -> Result<Self, NoTreatment> {
        text.parse()
    }
}

impl From<NotANumber> for String {
    fn from(treatment: NotANumber) -> Self {
        treatment.to_string()
    }
}

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Error => f.write_str("error"),
            Self::Fill(number) => write!(f, "fill={number}"),
        }
    }
}
