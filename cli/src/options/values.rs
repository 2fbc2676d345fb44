//! How values of options are read.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use orthant::choice::number;
use orthant::field::FieldKind;

/// A value parser over the names of a registry.
macro_rules! one_of {
    ($Kind:ty) => {
        clap::builder::TypedValueParser::map(
            clap::builder::PossibleValuesParser::new(<$Kind>::ALL.iter().map(|kind| kind.name())),
            |name| name.parse::<$Kind>().expect("clap lets only listed names through"),
        )
    };
}
pub(crate) use one_of;

/// A value parser over some things by their names, which may have help of their own.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    value: fn(T) -> PossibleValue,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&one| value(one))).map(move |name| {
        let found = all.iter().find(|&&one| value(one).get_name() == name);
        *found.expect("clap lets only listed names through")
    })
}

/// The value parser of a workload: those that are built in, and the program's own.
pub(crate) fn workload() -> impl TypedValueParser<Value = FieldKind> {
    PossibleValuesParser::new(FieldKind::all().map(FieldKind::name))
        .map(|name| name.parse::<FieldKind>().expect("clap lets only listed names through"))
}

/// A number of at least 1.
pub(crate) fn times(text: &str) -> Result<NonZeroUsize, String> {
    number(text, 1..=u32::MAX.into()).map(|times| NonZeroUsize::new(times as usize).expect("at least 1"))
}

/// A list of block shapes.
pub(crate) fn block(text: &str) -> Result<[u32; 3], String> {
    orthant::choice::ChoiceValue::read(text, 0..=u64::MAX)
}

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| format!("'{text}' is not a positive number of seconds"))
}

/// A number of bytes, with an optional unit: K, M, G, T (binary), iB or B after it.
///
/// # Errors
/// Says what is wrong, for people.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a number of bytes such as 1073741824, 512MiB or 8G");
    let lower = text.trim().to_ascii_lowercase();
    let bare = lower.trim_end_matches('b').trim_end_matches('i');
    let (digits, shift) = match bare.char_indices().last() {
        Some((at, 'k')) => (&bare[..at], 10),
        Some((at, 'm')) => (&bare[..at], 20),
        Some((at, 'g')) => (&bare[..at], 30),
        Some((at, 't')) => (&bare[..at], 40),
        _ => (bare, 0),
    };
    let value: u64 = digits.trim().parse().map_err(|_| wrong())?;
    value.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_bytes() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!((bytes("8G"), bytes("7")), (Ok(8 << 30), Ok(7)));
        assert!(bytes("99999999999T").is_err() && bytes("G").is_err() && bytes("").is_err() && bytes("8x").is_err());
    }
}
