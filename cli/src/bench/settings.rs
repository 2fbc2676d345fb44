//! The options of `run` as the settings of a case.
//!
//! Axes are not a list of their own: whatever `run` understands can be swept, is read by the same parser and fails with
//! the same words. Left out are outputs, what repeats or chooses by itself, and the environment, which would change what a
//! sweep means.

use std::cmp::Ordering;
use std::collections::HashSet;

use clap::builder::Resettable;
use clap::{Arg, Args, FromArgMatches};

use orthant::field::FieldKind;

use crate::options::RunOptions;

/// Options of `run` that are about what it writes, that no strategy knows, or that measure by themselves. Those without a value are left out
/// too.
const NOT_SWEPT: [&str; 12] = [
    "output",
    "overlay",
    "slice",
    "palette",
    "scale",
    "report",
    "repeat",
    "kind",
    "label_table",
    "tolerance",
    "iso",
    "most",
];

/// What `run` understands.
pub(crate) struct Settings {
    command: clap::Command,
    /// The names that cases use, in the order in which `run` declares its options.
    names: Vec<Name>,
}

struct Name {
    /// One letter where there is one: n, g, r, B.
    short: Option<char>,
    /// The long name, or the place of a positional argument.
    long: Option<String>,
    id: String,
}

impl Name {
    fn of(option: &Arg) -> Self {
        Self { short: option.get_short(), long: option.get_long().map(str::to_owned), id: option.get_id().to_string() }
    }

    /// The name that cases use.
    fn canonical(&self) -> String {
        match (self.short, &self.long) {
            (Some(short), _) => short.to_string(),
            (None, Some(long)) => long.clone(),
            (None, None) => self.id.clone(),
        }
    }

    fn is(&self, given: &str) -> bool {
        self.canonical() == given || self.long.as_deref() == Some(given)
    }

    /// The argument that sets it to `value`.
    fn argument(&self, value: &str) -> String {
        match (&self.long, self.short) {
            (Some(long), _) => format!("--{long}={value}"),
            (None, Some(short)) => format!("-{short}={value}"),
            (None, None) => value.to_owned(),
        }
    }
}

impl Settings {
    pub(crate) fn new() -> Self {
        let run = RunOptions::augment_args(clap::Command::new("run").no_binary_name(true));
        let command = run.mut_args(|option| option.env(Resettable::Reset));
        let swept = command
            .get_arguments()
            .filter(|option| option.get_action().takes_values() && !NOT_SWEPT.contains(&option.get_id().as_str()));
        let names = swept.map(Name::of).collect();
        Self { command, names }
    }

    /// The name that cases use for `given`.
    ///
    /// # Errors
    /// A text with all names.
    pub(crate) fn name(&self, given: &str) -> Result<String, String> {
        let known = || self.names.iter().map(Name::canonical).collect::<Vec<_>>().join(", ");
        let found = self.names.iter().find(|name| name.is(given));
        found.map(Name::canonical).ok_or_else(|| format!("unknown axis '{given}': expected one of {}", known()))
    }

    /// Checks one value by itself.
    ///
    /// # Errors
    /// What `run` would say.
    pub(super) fn check(&self, name: &str, value: &str) -> Result<(), String> {
        let mut case = Case::default();
        // `run` needs a workload, and any will do.
        case.set("workload", FieldKind::ALL[0].name());
        case.set(name, value);
        self.parse(&case).map(drop)
    }

    /// A case as `run` would read it.
    ///
    /// # Errors
    /// What `run` would say.
    pub(crate) fn parse(&self, case: &Case) -> Result<RunOptions, String> {
        let mut arguments = Vec::new();
        for (name, value) in &case.0 {
            let option = self.names.iter().find(|option| option.is(name));
            arguments.extend(option.map(|option| option.argument(value)));
        }
        let matches = self.command.clone().try_get_matches_from(arguments).map_err(|error| words(&error))?;
        RunOptions::from_arg_matches(&matches).map_err(|error| words(&error))
    }

    /// Puts the settings of a case in the order in which `run` declares them.
    pub(crate) fn sort(&self, case: &mut Case) {
        case.0.sort_by_key(|(name, _)| self.names.iter().position(|option| option.is(name)));
    }
}

/// What is wrong, on one line.
fn words(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is set for one measurement: names and values, as `run` reads them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Case(Vec<(String, String)>);

impl Case {
    /// The value of a setting.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sets it, anew or for the first time.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_owned(),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Names and values.
    pub(crate) fn settings(&self) -> &[(String, String)] {
        &self.0
    }

    /// What tells this case from every other.
    pub(crate) fn key(&self) -> String {
        self.those(|_| true)
    }

    fn those(&self, told: impl Fn(&String) -> bool) -> String {
        let told = self.0.iter().filter(|(name, _)| told(name));
        told.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// Setting by setting, numbers as numbers: n=64 before n=256.
impl Ord for Case {
    fn cmp(&self, other: &Self) -> Ordering {
        let axes =
            |value: &'_ str| value.split('x').map(|n| n.parse::<u64>().map_err(|_| n.to_owned())).collect::<Vec<_>>();
        let parts = |case: &Self| case.0.iter().map(|(name, value)| (name.clone(), axes(value))).collect::<Vec<_>>();
        parts(self).cmp(&parts(other)).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Case {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FromIterator<(String, String)> for Case {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(settings: I) -> Self {
        Self(settings.into_iter().collect())
    }
}

/// The settings that are not the same in all of some cases.
pub(crate) struct Apart(HashSet<String>);

impl Apart {
    /// Of these cases.
    pub(crate) fn of<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> Self {
        let names: HashSet<&String> = cases.clone().flat_map(|case| case.settings()).map(|(name, _)| name).collect();
        let differs = |name: &&String| {
            let mut values = cases.clone().map(|case| case.get(name));
            values.next().is_some_and(|first| values.any(|value| value != first))
        };
        Self(names.into_iter().filter(differs).cloned().collect())
    }

    /// What tells one of them from the others; all of it where nothing does.
    pub(crate) fn name(&self, case: &Case) -> String {
        case.those(|name| self.0.is_empty() || self.0.contains(name))
    }

    /// What all of them have, which is not in a name.
    pub(crate) fn shared(&self, case: &Case) -> String {
        case.those(|name| !self.0.is_empty() && !self.0.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_as_runs() {
        let settings = Settings::new();
        let mut case = Case::default();
        for (name, value) in [("B", "8"), ("domain", "-2:1,-1:1"), ("workload", "mandelbrot"), ("n", "64x32")] {
            settings.check(name, value).unwrap();
            case.set(&settings.name(name).unwrap(), value);
        }
        settings.sort(&mut case);
        assert_eq!(case.key(), "workload=mandelbrot n=64x32 B=8 domain=-2:1,-1:1");
        let run = settings.parse(&case).unwrap();
        let given = |name| run.computed.0.get(name);
        assert_eq!((given("B"), given("size")), (Some("8"), Some("64x32")));
        assert_eq!(settings.name("size").unwrap(), "n");
    }

    fn case(text: &str) -> Case {
        let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn numbers_are_in_order_and_what_is_shared_is_told_apart() {
        let mut cases = ["n=256 g=4", "n=64 g=16", "n=64x128 g=4", "n=64 g=4"].map(case);
        cases.sort();
        let apart = Apart::of(cases.iter());
        let names: Vec<_> = cases.iter().map(|case| apart.name(case)).collect();
        assert_eq!(names, ["n=64 g=4", "n=64 g=16", "n=64x128 g=4", "n=256 g=4"]);
        let two = [case("workload=cantor n=9"), case("workload=cantor n=27")];
        let apart = Apart::of(two.iter());
        assert_eq!((apart.name(&two[1]).as_str(), apart.shared(&two[1]).as_str()), ("n=27", "workload=cantor"));
        let alone = Apart::of(two[..1].iter());
        assert_eq!((alone.name(&two[0]), alone.shared(&two[0])), (two[0].key(), String::new()));
    }

    #[test]
    fn mistakes_are_named() {
        let settings = Settings::new();
        assert!(
            settings
                .name("output")
                .unwrap_err()
                .contains("unknown axis 'output': expected one of workload, dim, n, g, r, B")
        );
        let unknown = settings.check("curve", "peano").unwrap_err();
        assert!(unknown.contains("peano") && unknown.contains("hilbert") && !unknown.contains('\n'), "{unknown}");
        assert!(settings.check("n", "1.5").unwrap_err().contains("not a whole number"));
    }
}
