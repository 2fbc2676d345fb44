//! What is varied: every choice that must not change a cell, an axis each.

use crate::conformance::cases::Case;
use crate::conformance::cover::{cover, once};
use crate::conformance::cut::Cut;
use orthant::BackendKind;
use orthant::CellType;
use orthant::backend::{
    AskLoop, Cycles, DpLaunch, ExploreOrder, How, Insertion, Mapping, Pass, Proofs, Stack, StrategyKind, Table,
};
use orthant::balance::{BalancerChoice, BalancerKind};
use orthant::choice::ChoiceValue;
use orthant::curve::CurveKind;
use orthant::result::Keep;

/// How much is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// Every pair of choices, fields among them.
    Full,
    /// Every pair of choices with some field, and every field with some choices.
    Brief,
    /// The same without launches from the device, for tools that cannot follow those.
    Static,
    /// Each choice and each field in at least one row.
    Once,
}

/// One run of the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The case's number.
    pub case: usize,
    /// The curve.
    pub curve: CurveKind,
    /// How it is carried out in parts.
    pub cut: Cut,
    /// Everything else.
    pub how: How,
}

/// One thing that is varied.
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
    set: Set,
    /// The strategies that it concerns; with the others the choice is as it would be by default.
    concerns: fn(StrategyKind) -> bool,
}

impl std::fmt::Debug for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Axis").field("name", &self.name).field("values", &self.values).finish_non_exhaustive()
    }
}

/// Gives a row the value of a number.
type Set = Box<dyn Fn(&mut Row, usize)>;

const ALL: fn(StrategyKind) -> bool = |_| true;
const ASK: fn(StrategyKind) -> bool = |strategy| strategy == StrategyKind::Ask;
const DP: fn(StrategyKind) -> bool = |strategy| strategy == StrategyKind::Dp;
const EXHAUSTIVE: fn(StrategyKind) -> bool = |strategy| strategy == StrategyKind::Exhaustive;
const DIVIDING: fn(StrategyKind) -> bool = |strategy| strategy != StrategyKind::Exhaustive;

/// The places of the axes that conditions are about.
const CASE: usize = 0;
const CURVE: usize = 1;
const STRATEGY: usize = 2;
const KEEP: usize = 3;
const CELL: usize = 4;
const PROVE: usize = 5;
const SCHEME: usize = 6;
const PASS: usize = 7;
const CUT_LEVEL: usize = 11;

/// The axes of what there is on a GPU alone, and of which conditions speak.
const BALANCER: &str = "balancer";
const STACK: &str = "stack";
const DP_LAUNCH: &str = "dp-launch";

/// The one that fits, one that looks things up beforehand, and one that launches. The test `every_balancer_settles` has all of them.
fn balancers() -> [Option<BalancerChoice>; 3] {
    let named = |kind: BalancerKind| Some(BalancerChoice::Named(kind.into()));
    [None, named(BalancerKind::MultiPhase), named(BalancerKind::DynamicWarps)]
}

/// Whether proofs are asked for.
const PROOFS: [Option<Proofs>; 3] = [None, Some(Proofs::No), Some(Proofs::Yes)];

fn axis<T: Clone + ChoiceValue + 'static>(
    name: &'static str,
    concerns: fn(StrategyKind) -> bool,
    values: &[T],
    set: impl Fn(&mut Row, T) + 'static,
) -> Axis {
    let names = values.iter().map(|value| value.write().unwrap_or_else(|| "default".into())).collect();
    let values = values.to_vec();
    Axis { name, values: names, set: Box::new(move |row, number| set(row, values[number].clone())), concerns }
}

/// A setter of [`How`] as one of rows.
fn how<T>(set: fn(How, T) -> How) -> impl Fn(&mut Row, T) {
    move |row, value| row.how = set(std::mem::take(&mut row.how), value)
}

const PASSES: [Option<Pass>; 3] = [Some(Pass::InPlace), Some(Pass::Level), Some(Pass::Deferred)];

/// The axes on a backend.
pub(super) fn axes(cases: &[Case], backend: BackendKind) -> Vec<Axis> {
    let names: Vec<usize> = (0..cases.len()).collect();
    let mappings = match backend {
        BackendKind::Cpu => &Mapping::OF_THE_PAPERS[..],
        _ => Mapping::ALL,
    };
    let mut axes = vec![
        axis("case", ALL, &names, |row, case| row.case = case),
        axis("curve", ALL, CurveKind::ALL, |row, curve| row.curve = curve),
        axis("strategy", ALL, StrategyKind::ON_BACKENDS, how(How::strategy)),
        axis("keep", ALL, Keep::ALL, how(How::keep)),
        axis("cell", ALL, CellType::ALL, how(How::cell)),
        axis("prove", DIVIDING, &PROOFS, how(How::prove)),
        axis("scheme", DIVIDING, mappings, how(|how, mapping| how.mapping(Some(mapping)))),
        axis("pass", DIVIDING, &PASSES, how(How::pass)),
        axis("explore-order", DIVIDING, ExploreOrder::ALL, how(How::explore_order)),
        axis("insertion", ASK, Insertion::ALL, how(How::insertion)),
        axis("parts", DIVIDING, &[1, 2, 3, 7, 64], |row, parts| row.cut.parts = parts),
        axis("cut-level", DIVIDING, &[0, 1, 2], |row, level| row.cut.level = level),
        axis("windows", ALL, &[1, 2], |row, windows| row.cut.windows = windows),
        axis("max-kernels", ALL, &[None, Some(1), Some(5)], how(How::max_kernels)),
    ];
    match backend {
        BackendKind::Cpu => axes.push(axis("threads", ALL, &[None, Some(1), Some(3)], how(How::threads))),
        BackendKind::Cuda => {
            let shapes = [[8, 8, 1], [16, 16, 1], [32, 32, 1], [64, 4, 1], [64, 8, 1], [32, 1, 1], [4, 4, 4]];
            axes.extend([
                axis("block", ALL, &shapes, how(How::block)),
                axis("table", ASK, Table::ALL, how(How::table)),
                axis("ask-loop", ASK, AskLoop::ALL, how(How::ask_loop)),
                axis(BALANCER, DIVIDING, &balancers(), how(How::balancer)),
                axis(STACK, ALL, Stack::ALL, how(How::stack)),
                axis("cycles", EXHAUSTIVE, Cycles::ALL, how(How::cycles)),
                axis(DP_LAUNCH, DP, DpLaunch::ALL, how(How::dp_launch)),
                axis("dp-budget", DP, &[None, Some(1), Some(3)], how(How::dp_budget)),
                axis("dp-overflow", DP, &[1 << 20, 0, 2], how(How::dp_overflow)),
                axis("pending-launches", DP, &[None, Some(64), Some(32768)], how(How::pending_launches)),
            ]);
        }
        _ => {}
    }
    axes
}

/// What a row wants of its case, as far as it is known.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) curve: Option<CurveKind>,
    /// A type that holds its labels.
    pub(super) cell: Option<CellType>,
    /// That proofs can be asked for, or not.
    pub(super) proofs: Option<Proofs>,
    /// That it can be a stream of proofs.
    pub(super) streams: bool,
}

/// Says whether a case can be what a row wants of it.
type Serves<'s> = dyn Fn(usize, Wanted) -> bool + 's;

/// The rows of the suite, in the order of their cases. `serves` says whether a case can be what a row wants of it.
pub(super) fn rows(axes: &[Axis], scope: Scope, serves: impl Fn(usize, Wanted) -> bool) -> Vec<Row> {
    let conditions = Conditions::new(axes, scope, &serves);
    let absent = &conditions.absent;
    let sizes: Vec<usize> = axes.iter().zip(absent).map(|(axis, absent)| axis.values.len() + absent).collect();
    let mut rows = match scope {
        Scope::Full => cover(&sizes, |row| conditions.allow(row)),
        Scope::Brief | Scope::Static | Scope::Once => {
            let choices = cover(&sizes[1..], |row| conditions.allow(&[&[None], row].concat()));
            let rows = conditions.taking_turns(sizes[CASE], &choices);
            if scope == Scope::Once { once(&rows) } else { rows }
        }
    };
    rows.sort();
    let row = |numbers: Vec<usize>| {
        let mut row = Row { case: 0, curve: CurveKind::Morton, cut: Cut::NONE, how: How::default() };
        let strategy = StrategyKind::ON_BACKENDS[numbers[STRATEGY]];
        let concerned = axes.iter().zip(absent).zip(numbers).filter(|((axis, _), _)| (axis.concerns)(strategy));
        concerned.for_each(|((axis, absent), number)| (axis.set)(&mut row, number - absent));
        row
    };
    rows.into_iter().map(row).collect()
}

/// What the values of a row must be, to be in one row. A value is a number, or None while it is open.
struct Conditions<'a> {
    axes: &'a [Axis],
    scope: Scope,
    serves: &'a Serves<'a>,
    /// An axis that does not concern every strategy has one value more, the first: it is not there. Without that, pairs would
    /// count as met in rows that drop them.
    absent: Vec<usize>,
    balancer: Option<usize>,
    stack: Option<usize>,
    launch: Option<usize>,
}

impl<'a> Conditions<'a> {
    fn new(axes: &'a [Axis], scope: Scope, serves: &'a Serves<'a>) -> Self {
        let all = |axis: &Axis| StrategyKind::ON_BACKENDS.iter().all(|&strategy| (axis.concerns)(strategy));
        let absent = axes.iter().map(|axis| usize::from(!all(axis))).collect();
        let named = |name| axes.iter().position(|axis| axis.name == name);
        let (balancer, stack, launch) = (named(BALANCER), named(STACK), named(DP_LAUNCH));
        Self { axes, scope, serves, absent, balancer, stack, launch }
    }

    /// True if all values of a row can go together.
    fn allow(&self, row: &[Option<usize>]) -> bool {
        let strategy = row[STRATEGY].map(|number| StrategyKind::ON_BACKENDS[number]);
        let kept = row[KEEP].map(|number| Keep::ALL[number]);
        self.balances(row)
            && self.streams_whole(row, strategy)
            && self.stacks(row, strategy)
            && self.concerns(row, strategy)
            && !(strategy == Some(StrategyKind::Exhaustive) && kept == Some(Keep::Regions))
            && !(strategy == Some(StrategyKind::Dp) && self.scope == Scope::Static)
            && self.is_served(row)
    }

    /// The value of a choice of those that divide.
    fn chosen(&self, row: &[Option<usize>], axis: usize) -> Option<usize> {
        row[axis].and_then(|number| number.checked_sub(self.absent[axis]))
    }

    /// True if nothing is balanced, or lists of a dense array are, which balancers settle.
    fn balances(&self, row: &[Option<usize>]) -> bool {
        let balanced = self.balancer.and_then(|axis| self.chosen(row, axis)).filter(|&balancer| balancer > 0);
        let listed = row[KEEP].is_none_or(|keep| Keep::ALL[keep] == Keep::Dense)
            && row[PASS].is_none_or(|pass| pass == 0 || PASSES[pass - self.absent[PASS]] != Some(Pass::InPlace));
        !balanced.is_some_and(|balancer| !listed || (self.scope == Scope::Static && balancer == 2))
    }

    fn streams(&self, row: &[Option<usize>]) -> bool {
        self.chosen(row, SCHEME).is_some_and(is_stream)
    }

    /// True if nothing is a stream, or all else suits one: streams are ASK's, settle in place, and begin above the last levels.
    fn streams_whole(&self, row: &[Option<usize>], strategy: Option<StrategyKind>) -> bool {
        let whole = strategy.is_none_or(|strategy| strategy == StrategyKind::Ask)
            && self.chosen(row, PASS).is_none_or(|pass| PASSES[pass] == Some(Pass::InPlace))
            && self.chosen(row, CUT_LEVEL).is_none_or(|level| level == 0);
        whole || !self.streams(row)
    }

    /// True if the strategy has such a stack. Native grids share regions between blocks, or are what a family is launched as; other stacks are
    /// exhaustive's.
    fn stacks(&self, row: &[Option<usize>], strategy: Option<StrategyKind>) -> bool {
        let native = self.stack.and_then(|stack| row[stack]).map(|number| Stack::ALL[number]);
        match (native, strategy) {
            (None | Some(Stack::Folded), _) | (_, None | Some(StrategyKind::Exhaustive)) => true,
            (Some(Stack::Split), _) => false,
            (Some(Stack::Grid3d), Some(StrategyKind::Ask)) => {
                self.chosen(row, SCHEME).is_none_or(|scheme| Mapping::ALL[scheme] == Mapping::Mbr)
                    && self.chosen(row, PASS).is_none_or(|pass| PASSES[pass] == Some(Pass::InPlace))
            }
            (Some(Stack::Grid3d), Some(StrategyKind::Dp)) => self
                .launch
                .and_then(|axis| self.chosen(row, axis))
                .is_none_or(|launch| DpLaunch::ALL[launch] == DpLaunch::Region),
            _ => false,
        }
    }

    /// True if exactly those axes are there that concern the strategy.
    fn concerns(&self, row: &[Option<usize>], strategy: Option<StrategyKind>) -> bool {
        let concerned = |((axis, absent), value): ((&Axis, &usize), &Option<usize>)| match (strategy, value) {
            (Some(strategy), Some(value)) if *absent > 0 => (axis.concerns)(strategy) == (*value > 0),
            _ => true,
        };
        self.axes.iter().zip(&self.absent).zip(row).all(concerned)
    }

    /// True if the row's case can be what the row wants.
    fn is_served(&self, row: &[Option<usize>]) -> bool {
        row[CASE].is_none_or(|case| {
            let wanted = Wanted {
                curve: row[CURVE].map(|curve| CurveKind::ALL[curve]),
                cell: row[CELL].map(|cell| CellType::ALL[cell]),
                proofs: row[PROVE].and_then(proofs),
                streams: self.streams(row),
            };
            (self.serves)(case, wanted)
        })
    }

    /// Rows of so many cases that take turns with the choices, instead of meeting every other one.
    fn taking_turns(&self, cases: usize, choices: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let turns = choices.len();
        let fits = |case: usize, turn: usize| {
            let row: Vec<Option<usize>> = [case].iter().chain(&choices[turn]).copied().map(Some).collect();
            self.is_served(&row)
        };
        let with_some_case = (0..turns).filter_map(|turn| {
            Some(((turn..turn + cases).map(|case| case % cases).find(|&case| fits(case, turn))?, turn))
        });
        let mut pairs: Vec<(usize, usize)> = with_some_case.collect();
        for case in 0..cases {
            if pairs.iter().all(|&(had, _)| had != case) {
                let turn = (case..case + turns).map(|turn| turn % turns).find(|&turn| fits(case, turn));
                pairs.extend(turn.map(|turn| (case, turn)));
            }
        }
        pairs.into_iter().map(|(case, turn)| [&[case], &choices[turn][..]].concat()).collect()
    }
}

fn is_stream(number: usize) -> bool {
    Mapping::ALL.get(number) == Some(&Mapping::Stream)
}

/// The first number says that the axis is not there.
fn proofs(number: usize) -> Option<Proofs> {
    number.checked_sub(1).and_then(|number| PROOFS[number])
}

/// True if a row takes the value of a number on an axis that concerns it.
fn takes(axis: &Axis, row: &Row, number: usize) -> bool {
    let mut same = row.clone();
    (axis.set)(&mut same, number);
    (axis.concerns)(row.how.tuning.strategy) && same == *row
}

/// How often each value of each axis is taken.
pub(super) fn counts(axes: &[Axis], rows: &[Row]) -> Vec<(&'static str, Vec<(String, usize)>)> {
    let count = |axis: &Axis| {
        let value = |(number, name): (usize, &String)| {
            (name.clone(), rows.iter().filter(|row| takes(axis, row, number)).count())
        };
        (axis.name, axis.values.iter().enumerate().map(value).collect())
    };
    axes.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::cases::cases;

    /// Asked of finished rows: two values that some strategy takes together are in one of them.
    #[test]
    fn every_pair_has_met() {
        for &backend in BackendKind::ALL {
            let axes = axes(&cases(), backend);
            // Every third case is not served by the last curve, and every fifth not by the last type of a cell.
            let (last, widest) = (CurveKind::ALL.len() - 1, CellType::ALL.len() - 1);
            let serves = |case: usize, Wanted { curve, cell, .. }: Wanted| {
                (!case.is_multiple_of(3) || curve.is_none_or(|curve| curve as usize != last))
                    && (!case.is_multiple_of(5) || cell.is_none_or(|cell| cell as usize != widest))
            };
            let rows = rows(&axes, Scope::Full, serves);
            let can = |pair: [(usize, usize); 2]| {
                let has = |axis, value| pair.contains(&(axis, value));
                let streams = has(SCHEME, Mapping::Stream as usize);
                let stacked = |strategy: StrategyKind| {
                    let on =
                        |name: &str| pair.iter().find(|&&(axis, _)| axes[axis].name == name).map(|&(_, value)| value);
                    match (on(STACK).map_or(Stack::Folded, |stack| Stack::ALL[stack]), strategy) {
                        (Stack::Folded, _) | (_, StrategyKind::Exhaustive) => true,
                        (Stack::Split, _) => false,
                        (Stack::Grid3d, StrategyKind::Ask) => {
                            on("scheme").is_none_or(|scheme| Mapping::ALL[scheme] == Mapping::Mbr)
                                && on("pass").is_none_or(|pass| PASSES[pass] == Some(Pass::InPlace))
                                && on(BALANCER).is_none_or(|balancer| balancer == 0)
                        }
                        (Stack::Grid3d, StrategyKind::Dp) => {
                            on(DP_LAUNCH).is_none_or(|launch| DpLaunch::ALL[launch] == DpLaunch::Region)
                        }
                        _ => false,
                    }
                };
                let possible = |&(number, &strategy): &(usize, &StrategyKind)| {
                    pair.iter()
                        .all(|&(axis, value)| (axes[axis].concerns)(strategy) && (axis != STRATEGY || value == number))
                        && !(strategy == StrategyKind::Exhaustive && has(KEEP, Keep::Regions as usize))
                        && !(streams && strategy != StrategyKind::Ask)
                        && stacked(strategy)
                };
                let [(i, a), (j, b)] = pair;
                let listed = pair.iter().any(|&(axis, value)| axis == PASS && PASSES[value] != Some(Pass::InPlace))
                    || pair.iter().any(|&(axis, value)| [CUT_LEVEL, PASS].contains(&axis) && value > 0)
                    || (axes[j].name == BALANCER && b > 0);
                // Balancers settle lists of dense arrays.
                let balanced = axes[j].name == BALANCER && b > 0;
                let in_place = i == PASS && PASSES.get(a) == Some(&Some(Pass::InPlace));
                let unlisted = balanced && ((i == KEEP && a != Keep::Dense as usize) || in_place);
                let unserved = unlisted
                    || streams && listed
                    || (i, j) == (CASE, CURVE) && a % 3 == 0 && b == last
                    || (i, j) == (CASE, CELL) && a % 5 == 0 && b == widest;
                !unserved && StrategyKind::ON_BACKENDS.iter().enumerate().any(|strategy| possible(&strategy))
            };
            for j in 0..axes.len() {
                for i in 0..j {
                    for (a, left) in axes[i].values.iter().enumerate() {
                        for (b, right) in axes[j].values.iter().enumerate() {
                            let met = rows.iter().any(|row| takes(&axes[i], row, a) && takes(&axes[j], row, b));
                            let what = format!("{backend}: {} {left}, {} {right}", axes[i].name, axes[j].name);
                            assert_eq!(met, can([(i, a), (j, b)]), "{what}");
                        }
                    }
                }
            }
        }
    }
}
