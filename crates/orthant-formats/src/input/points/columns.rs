//! Which columns of a file are coordinates, and which is an attribute.

use crate::input::error::{FilePlace, InputFault};

/// PointColumns as they are typed: names of them, or their numbers from 1 on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PointColumns {
    pub(super) coordinates: Option<Vec<String>>,
    pub(super) attribute: Option<String>,
}

/// PointColumns by their number from 0 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundColumns {
    pub(super) coordinates: Vec<usize>,
    pub(super) attribute: Option<usize>,
}

impl PointColumns {
    /// Finds the columns of a file that has `count` of them, with these names if it has names. The place is that of the names.
    pub(super) fn find(&self, names: &[String], count: usize, at: FilePlace) -> Result<FoundColumns, InputFault> {
        let coordinates = match &self.coordinates {
            Some(typed) if !(2..=6).contains(&typed.len()) => {
                return Err(InputFault::field(at, "columns", typed.join(","), "2 to 6 columns are coordinates"));
            }
            Some(typed) => {
                typed.iter().map(|name| self.column(name, names, count, at)).collect::<Result<Vec<_>, _>>()?
            }
            None => self.usual(names, count, at)?,
        };
        if let Some(typed) = &self.coordinates {
            let twice = (1..coordinates.len()).find(|&place| coordinates[..place].contains(&coordinates[place]));
            if let Some(place) = twice {
                return Err(InputFault::field(at, "column", &typed[place], "each coordinate has a column of its own"));
            }
        }
        let attribute = self.attribute.as_ref().map(|name| self.column(name, names, count, at)).transpose()?;
        Ok(FoundColumns { coordinates, attribute })
    }

    /// Those called x, y and z, or the first three.
    fn usual(&self, names: &[String], count: usize, at: FilePlace) -> Result<Vec<usize>, InputFault> {
        let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        match [place("x"), place("y"), place("z")] {
            [Some(x), Some(y), Some(z)] => Ok(vec![x, y, z]),
            [Some(x), Some(y), None] => Ok(vec![x, y]),
            _ if count >= 2 => Ok((0..count.min(3)).collect()),
            _ => Err(InputFault::field(at, "columns", count, "at least 2 are needed, one for each coordinate")),
        }
    }

    fn column(&self, typed: &str, names: &[String], count: usize, at: FilePlace) -> Result<usize, InputFault> {
        let named = names.iter().position(|name| name == typed);
        let named = named.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(typed)));
        let numbered = || typed.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        named.or_else(|| numbered().map(|number| number - 1)).ok_or_else(|| {
            let known = match names {
                [] => String::new(),
                names => format!("{}, or ", names.join(", ")),
            };
            InputFault::field(at, "column", typed, format!("columns are {known}numbers from 1 to {count}"))
        })
    }
}
