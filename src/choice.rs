//! The choices of a run, each defined once.
//!
//! `choices!` declares a struct of choices: a line per member with its type, its default and its name. From the same lines
//! come setters, serialisation and [`Choice`]s, from which a command line makes its options, a sweep its axes and a store
//! the keys of what it keeps. A choice that is added to the struct cannot be forgotten in one of these.

use std::ops::RangeInclusive;

use crate::per_axis;

/// A value of a choice that cannot be used, and why.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{CellType, Error};
///
/// // A cell of one byte counts to 255.
/// let mut request = Request::new(FieldKind::Mandelbrot).dwell(1000);
/// request.how = How::default().cell(CellType::U8);
/// match request.options() {
///     Err(Error::Choice(error)) => assert_eq!((error.name, &*error.value, error.with), ("dwell", "1000", &["cell"][..])),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}{value}: {reason}", if value.is_empty() { "" } else { " " })]
pub struct ChoiceError {
    /// The choice's name, as in [`Choice::name`].
    pub name: &'static str,
    /// The value; empty if there is no single one.
    pub value: String,
    /// What is wrong with it, or what is allowed.
    pub reason: String,
    /// The other choices that it follows from, by name: another value of one of them may do, too.
    pub with: &'static [&'static str],
}

impl ChoiceError {
    pub(crate) fn new(name: &'static str, value: impl ToString, reason: impl Into<String>) -> Self {
        Self { name, value: value.to_string(), reason: reason.into(), with: &[] }
    }

    /// The same, as what follows from other choices too.
    pub(crate) fn with(self, names: &'static [&'static str]) -> Self {
        Self { with: names, ..self }
    }
}

/// One choice of a run, such as `strategy`: its name, its values and its check. Use it to list choices, to read them or
/// to write them.
///
/// ```
/// use orthant::StrategyKind;
/// use orthant::backend::Tuning;
///
/// // The choices of a group, for a form or a list of options.
/// let choice = Tuning::CHOICES.iter().find(|choice| choice.name == "strategy").ok_or("there is one")?;
/// assert_eq!((choice.names)(), ["exhaustive", "ask", "dp", "bottom-up"]);
/// assert!((choice.check)("fast").is_err());
/// // One by its name and the text of its value.
/// let mut tuning = Tuning::default();
/// tuning.set(choice.name, "dp")?;
/// assert_eq!(tuning.strategy, StrategyKind::Dp);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Its name: words joined by dashes, or a single letter as in the papers.
    pub name: &'static str,
    /// A second name of one letter.
    pub short: Option<char>,
    /// What it is about, in a line.
    pub about: &'static str,
    /// What a value looks like.
    pub form: &'static str,
    /// The names that it may have; none if values are no names.
    pub names: fn() -> Vec<&'static str>,
    /// What is possible instead of a name that people may look for and that is none of them.
    pub hint: fn(&str) -> Option<&'static str>,
    /// The value that it has unless one is chosen; None if that depends on others.
    pub default: fn() -> Option<String>,
    /// Says what is wrong with a value.
    pub check: fn(&str) -> Result<(), String>,
}

/// A type of values that people write.
pub trait ChoiceValue: Sized {
    /// What a value looks like, e.g. "N".
    const FORM: &'static str;
    /// The names that there are; none if values are no names.
    fn names() -> Vec<&'static str> {
        Vec::new()
    }
    /// What is possible instead of a name that people may look for and that is none of them.
    fn hint(_: &str) -> Option<&'static str> {
        None
    }
    /// The value of a text; numbers lie `within` the range.
    ///
    /// # Errors
    /// Says what is wrong, for people.
    fn read(text: &str, within: RangeInclusive<u64>) -> Result<Self, String>;
    /// The text of a value; None if it is left open.
    fn write(&self) -> Option<String>;
}

/// What the setter of a choice takes: a value, and for a choice that may be left open, an option of one as well.
pub trait Chosen<T> {
    /// The value of the choice.
    fn chosen(self) -> T;
}

impl<T: ChoiceValue> Chosen<T> for T {
    fn chosen(self) -> T {
        self
    }
}

impl<T: ChoiceValue> Chosen<Option<T>> for T {
    fn chosen(self) -> Option<T> {
        Some(self)
    }
}

impl<T: ChoiceValue> ChoiceValue for Option<T> {
    const FORM: &'static str = T::FORM;
    fn names() -> Vec<&'static str> {
        T::names()
    }
    fn hint(name: &str) -> Option<&'static str> {
        T::hint(name)
    }
    fn read(text: &str, within: RangeInclusive<u64>) -> Result<Self, String> {
        T::read(text, within).map(Some)
    }
    fn write(&self) -> Option<String> {
        self.as_ref().and_then(T::write)
    }
}

/// `N` or `a^b`, within a range.
///
/// ```
/// use orthant::choice::number;
///
/// assert_eq!(number("2^12", 1..=10_000), Ok(4096));
/// assert!(number("2^14", 1..=10_000).is_err());
/// ```
///
/// # Errors
/// Says what is wrong, for people.
pub fn number(text: &str, within: RangeInclusive<u64>) -> Result<u64, String> {
    let number = match text.split_once('^') {
        Some((base, exponent)) => match (base.trim().parse::<u64>(), exponent.trim().parse()) {
            (Ok(base), Ok(exponent)) => base.checked_pow(exponent),
            _ => None,
        },
        None => text.trim().parse().ok(),
    };
    let end = |end: u64| match (end, end.wrapping_add(1)) {
        (..0x8000, _) => end.to_string(),
        (_, 0) => "2^64 - 1".into(),
        (_, next) if next.is_power_of_two() => format!("2^{} - 1", next.ilog2()),
        _ if end.is_power_of_two() => format!("2^{}", end.ilog2()),
        _ => end.to_string(),
    };
    number
        .filter(|number| within.contains(number))
        .ok_or_else(|| format!("'{text}' is not a whole number between {} and {}", within.start(), end(*within.end())))
}

macro_rules! numbers {
    ($($T:ty),+) => { $(
        impl ChoiceValue for $T {
            const FORM: &'static str = "N";
            fn read(text: &str, within: RangeInclusive<u64>) -> Result<Self, String> {
                let most = <$T>::MAX as u64;
                number(text, *within.start()..=most.min(*within.end())).map(|number| number as $T)
            }
            fn write(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )+ };
}
numbers!(u32, usize);

/// What numbers of axes are that have a comma or a star between them, or a thousand as a k.
fn meant(text: &str) -> Option<String> {
    let number = |text: &str| {
        let text = text.trim();
        let (digits, factor) = match text.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1000),
            None => (text.strip_suffix('M').unwrap_or(text), if text.ends_with('M') { 1_000_000 } else { 1 }),
        };
        let number = self::number(digits, 1..=u32::MAX.into()).ok()?.checked_mul(factor)?;
        u32::try_from(number).ok().map(|_| if factor == 1 { digits.to_owned() } else { number.to_string() })
    };
    let axes: Option<Vec<_>> = text.split(['x', 'X', ',', '*', '×']).map(number).collect();
    axes.map(|axes| axes.join("x"))
}

/// `N`, `N1xN2x..`: one number for all axes, or one per axis.
impl ChoiceValue for Vec<u32> {
    const FORM: &'static str = "N";
    fn read(text: &str, _: RangeInclusive<u64>) -> Result<Self, String> {
        let axes = text.split(['x', 'X']);
        let read = axes.map(|number| self::number(number, 0..=u32::MAX.into()).map(|number| number as u32));
        read.collect::<Result<_, String>>().map_err(|reason| match meant(text) {
            Some(meant) => format!("{reason}; write {meant}"),
            None => reason,
        })
    }
    fn write(&self) -> Option<String> {
        Some(per_axis::text(self))
    }
}

/// `lo:hi,lo:hi,..`: an interval per axis.
impl ChoiceValue for Vec<[f64; 2]> {
    const FORM: &'static str = "LO:HI,..";
    fn read(text: &str, _: RangeInclusive<u64>) -> Result<Self, String> {
        let interval = |text: &str| {
            let (lo, hi) = text.split_once(':').ok_or_else(|| format!("'{text}' is not an interval lo:hi"))?;
            let end = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("'{text}' is not a number"));
            Ok([end(lo)?, end(hi)?])
        };
        text.split(',').map(interval).collect()
    }
    fn write(&self) -> Option<String> {
        Some(self.iter().map(|[lo, hi]| format!("{lo}:{hi}")).collect::<Vec<_>>().join(","))
    }
}

/// `X`, `XxY` or `XxYxZ`: the threads of a block, whole warps, at most 1024 in all.
impl ChoiceValue for [u32; 3] {
    const FORM: &'static str = "SHAPE";
    fn read(text: &str, within: RangeInclusive<u64>) -> Result<Self, String> {
        let sides = Vec::<u32>::read(text, within)?;
        if sides.len() > 3 {
            return Err("a block has at most three axes".into());
        }
        let mut block = [1; 3];
        block[..sides.len()].copy_from_slice(&sides);
        match block.iter().try_fold(1u32, |threads, &side| threads.checked_mul(side)) {
            Some(threads) if is_block(threads) => Ok(block),
            _ => Err(format!("the threads of a block must be {BLOCKS}")),
        }
    }
    fn write(&self) -> Option<String> {
        let sides = self.iter().rposition(|&side| side > 1).map_or(1, |last| last + 1);
        self[..sides].to_vec().write()
    }
}

/// What the threads of a block must be, in words.
pub(crate) const BLOCKS: &str = "a multiple of 32 between 32 and 1024";

/// True if a block can have so many threads.
pub(crate) fn is_block(threads: u32) -> bool {
    (32..=1024).contains(&threads) && threads.is_multiple_of(32)
}

/// Declares a struct of choices and, on the type that `on` names, a setter for each.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub struct $Group:ident $(or none as $Given:ident)? on $Owner:ident: |$owner:ident| $place:expr;
        $( $(#[doc = $about:literal])+ $(#[serde($($serde:tt)*)])?
           $field:ident: $T:ty = $default:expr, $name:literal $(($short:literal))? $(within $range:expr)?; )+
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $Group { $( $(#[doc = $about])+ $(#[serde($($serde)*)])? pub $field: $T ),+ }

        impl Default for $Group {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $Group {
            /// Its choices, in the order in which they are listed to people.
            pub const CHOICES: &'static [$crate::choice::Choice] = &[$($crate::choice::Choice {
                name: $name,
                short: $crate::choice::choices!(@first $(Some($short),)? None),
                about: concat!($($about),+),
                form: <$T as $crate::choice::ChoiceValue>::FORM,
                names: <$T as $crate::choice::ChoiceValue>::names,
                hint: <$T as $crate::choice::ChoiceValue>::hint,
                default: || $crate::choice::ChoiceValue::write(&Self::default().$field),
                check: |text| Self::default().set($name, text),
            }),+];

            /// Sets the choice `name` to the value of a text.
            ///
            /// # Errors
            /// Says what is wrong with the value, or that there is no such choice.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
                match name {
                    $($name => {
                        let within = $crate::choice::choices!(@first $($range,)? 0..=u64::MAX);
                        self.$field = $crate::choice::ChoiceValue::read(text, within)?;
                    })+
                    _ => return Err(format!("there is no choice '{name}'")),
                }
                Ok(())
            }

            /// Every choice by name with the text of its value; None where it is left open.
            pub fn entries(&self) -> Vec<(&'static str, Option<String>)> {
                vec![$(($name, $crate::choice::ChoiceValue::write(&self.$field))),+]
            }
        }

        $crate::choice::choices! { @given $Group, $($Given)?; $($(#[serde($($serde)*)])? $field: $T),+ }

        impl $Owner {
            $($(#[doc = $about])+
            #[must_use]
            pub fn $field(mut self, value: impl $crate::choice::Chosen<$T>) -> Self {
                let $owner = &mut self;
                $place.$field = value.chosen();
                self
            })+
        }
    };
    (@given $Group:ident, ; $($rest:tt)*) => {};
    (@given $Group:ident, $Given:ident; $($(#[serde($($serde:tt)*)])? $field:ident: $T:ty),+) => {
        #[doc = concat!("[`", stringify!($Group), "`] or nothing, where every key is null.")]
        #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub(crate) struct $Given { $($(#[serde($($serde)*)])? $field: Option<$T>),+ }

        impl From<Option<$Group>> for $Given {
            fn from(group: Option<$Group>) -> Self {
                group.map_or_else(Self::default, |group| Self { $($field: Some(group.$field)),+ })
            }
        }

        impl From<$Given> for Option<$Group> {
            fn from(given: $Given) -> Self {
                let any = $(given.$field.is_some())||+;
                let usual = $Group::default();
                any.then(|| $Group { $($field: given.$field.unwrap_or(usual.$field)),+ })
            }
        }
    };
    (@first $first:expr $(, $rest:expr)*) => { $first };
}
pub(crate) use choices;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Owner {
        group: Group,
    }

    choices! {
        /// An example.
        pub struct Group on Owner: |owner| owner.group;
        /// Threads
        threads: Option<usize> = None, "threads" within 1..=64;
        /// The block
        block: [u32; 3] = [8, 8, 1], "block";
        /// Cells
        size: Vec<u32> = vec![4], "size" ('n');
    }

    #[test]
    fn a_line_makes_a_choice() {
        let mut group = Group::default();
        assert_eq!(Group::CHOICES.iter().map(|choice| choice.name).collect::<Vec<_>>(), ["threads", "block", "size"]);
        assert_eq!((Group::CHOICES[1].default)(), Some("8x8".into()));
        assert_eq!((Group::CHOICES[0].short, Group::CHOICES[2].short), (None, Some('n')));
        group.set("threads", "2^3").unwrap();
        assert_eq!(group.entries()[0], ("threads", Some("8".into())));
        for (name, text, why) in [
            ("threads", "0", "between 1 and 64"),
            ("threads", "65", "between 1 and 64"),
            ("block", "8x3", "multiple of 32"),
            ("x", "1", "no choice"),
        ] {
            let error = group.set(name, text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!((Group::CHOICES[0].check)("7").is_ok() && (Group::CHOICES[0].check)("seven").is_err());
        assert_eq!(
            Owner::default().threads(2).block([32, 1, 1]).size(vec![3]).group,
            Group { threads: Some(2), block: [32, 1, 1], size: vec![3] }
        );
    }

    #[test]
    fn numbers_and_powers() {
        let sizes = |text| Vec::<u32>::read(text, 0..=u64::MAX);
        assert_eq!(sizes("2^12"), Ok(vec![4096]));
        assert_eq!(sizes("64x2^5X7"), Ok(vec![64, 32, 7]));
        for wrong in ["", "x", "3x", "2^32", "-1", "1.5", "2^^2", "4294967296", "2^-1", "a^2"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(number("2^63", 0..=u64::MAX), Ok(1 << 63));
        assert!(number("2^64", 1..=u64::MAX).unwrap_err().contains("between 1 and 2^64 - 1"));
        let window = |text| Vec::<[f64; 2]>::read(text, 0..=0);
        assert_eq!(window("-1.5:.5,-1:1"), Ok(vec![[-1.5, 0.5], [-1.0, 1.0]]));
        assert_eq!(window("-1.5:.5,-1:1").unwrap().write(), Some("-1.5:0.5,-1:1".into()));
        assert!(window("1").is_err() && window("a:1").is_err());
        let block = |text| <[u32; 3]>::read(text, 0..=0);
        assert_eq!((block("16x16"), block("8x4x2")), (Ok([16, 16, 1]), Ok([8, 4, 2])));
        assert!(["", "16", "33", "2x2x2x8", "64x32", "2^16x2^16x32", "0x32"].iter().all(|shape| block(shape).is_err()));
    }
}
