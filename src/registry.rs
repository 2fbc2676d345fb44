//! One list per closed set of choices.
//!
//! A curve, a strategy or an exploration rule is named in exactly one place: the line of its registry. Everything that must
//! know the whole set (the command line, the documentation, the conformance suite) reads `ALL`, so a new member cannot be
//! half added.

/// A name that is not in a registry, with the names that are.
///
/// ```
/// use orthant::prelude::*;
///
/// let error = "hilbrt".parse::<CurveKind>().unwrap_err();
/// assert_eq!((error.name.as_str(), error.known.as_str()), ("hilbrt", "canonical, morton, hilbert"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{name}': expected one of {known}{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct UnknownName {
    /// What was looked up, e.g. "curve".
    pub what: &'static str,
    /// The name that was not found.
    pub name: String,
    /// The names that would have been, separated by commas.
    pub known: String,
    /// What is possible instead, of a name that people may look for.
    pub hint: Option<&'static str>,
}

/// Declares a unit-only enum with `ALL`, `name()`, `Display`, `FromStr`, serde by name, and as the value of a choice. Names
/// that people may look for and that are none are listed with what is possible instead, as `hints`. A `closed` set will have no other member.
#[doc(hidden)]
#[macro_export]
macro_rules! registry {
    (@enum
        $(#[$meta:meta])* $vis:vis enum $Kind:ident ($what:literal) {
            $($(#[$doc:meta])* $Variant:ident = $name:literal),+ $(,)?
        }
        $(hints { $($none:pat => $way:literal),+ $(,)? })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $Kind { $($(#[$doc])* $Variant),+ }

        impl $Kind {
            /// Every member, in the order in which they are listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// The name on the command line and in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }
        }

        $crate::registry::by_name! { $Kind ($what) = Self::ALL.iter().copied(), hints { $($($none => $way),+)? } }
    };
    (closed $($enum:tt)+) => { $crate::registry::registry! { @enum $($enum)+ } };
    ($($enum:tt)+) => { $crate::registry::registry! { @enum #[non_exhaustive] $($enum)+ } };
}
pub use registry;

/// What an enum has that people write by name: `Display`, `FromStr`, serde, and as the value of a choice. `$all` are its
/// members as an iterator; each has a `name()`.
#[doc(hidden)]
#[macro_export]
macro_rules! by_name {
    ($Kind:ident ($what:literal) = $all:expr, hints { $($none:pat => $way:literal),* }) => {
        impl std::fmt::Display for $Kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $Kind {
            type Err = $crate::UnknownName;
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $all.find(|kind: &Self| kind.name() == name).ok_or_else(|| $crate::UnknownName {
                    what: $what,
                    name: name.to_owned(),
                    known: $all.map(|kind| kind.name()).collect::<Vec<_>>().join(", "),
                    hint: <Self as $crate::choice::ChoiceValue>::hint(name),
                })
            }
        }

        impl serde::Serialize for $Kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }

        impl $crate::choice::ChoiceValue for $Kind {
            const FORM: &'static str = $what;
            fn names() -> Vec<&'static str> {
                let mut names = Vec::new();
                for kind in $all {
                    names.push(kind.name());
                }
                names
            }
            fn hint(name: &str) -> Option<&'static str> {
                match name {
                    $($none => Some($way),)*
                    _ => None,
                }
            }
            fn read(text: &str, _: std::ops::RangeInclusive<u64>) -> Result<Self, String> {
                text.parse().map_err(|error: $crate::UnknownName| error.to_string())
            }
            fn write(&self) -> Option<String> {
                Some(self.name().to_owned())
            }
        }
    };
}
pub use by_name;
