//! When cells count as one value, so that a region of them is uniform.
//!
//! What is a function of one cell is a [source](Mapped) that maps cells, over which the tree is an exact one. What is not, a tolerance or
//! one side of a threshold, is decided by the least and the greatest cell of regions.

mod criterion;
mod labels;
mod mapped;
mod not_a_number;
mod order;
mod threshold;
mod tolerance;

use serde::{Deserialize, Serialize};

use crate::cell::CellType;
use crate::choice::ChoiceError;
use crate::number::{Number, range};

use crate::tree::source::Source;
use criterion::Holds;
pub(super) use criterion::{Criterion, Spans, Uniform, one_value, same_bits};
use labels::Steps;
use mapped::Map;
pub use mapped::Mapped;
pub use not_a_number::{NoTreatment, NotANumber};
use order::CellOrder;
pub(super) use order::Span;
use threshold::Classes;

/// The kinds of predicates, with their numbers.
///
/// ```
/// use orthant::CellType;
/// use orthant::tree::{Number, Predicate, When};
///
/// let within = Predicate::tolerance(CellType::U16, Number::Real(2.5))?;
/// assert_eq!(within.when, When::Tolerance { e: Number::Real(2.5), bound: Number::Natural(2) });
/// // Classes are new cells, a tolerance keeps the old ones.
/// let classes = Predicate::threshold(CellType::U16, Number::Natural(100))?;
/// assert!(within.keeps_cells() && !classes.keeps_cells());
/// # Ok::<(), orthant::choice::ChoiceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum When {
    /// Their bits are equal, or neither is a number: [`exact`](crate::rule::exact).
    Exact,
    /// No cell is further than e from the one value that stands for them.
    Tolerance {
        /// What was asked for.
        e: Number,
        /// What is guaranteed of every cell of a uniform region: e as the type has it.
        bound: Number,
    },
    /// All of them and all cells around them are below t, or none is. The value nearest to t stands for them.
    Iso {
        /// The threshold.
        t: Number,
    },
    /// Cells are classes: 0 below t, 1 from t on, 2 what is not a number, 255 what is no data.
    Threshold {
        /// The threshold.
        t: Number,
    },
    /// Cells are labels: how many whole steps they are above a first value.
    Labels {
        /// From one label to the next.
        step: Number,
        /// Where label 0 begins.
        lo: Number,
    },
}

/// When cells count as one value, so that a region of them is uniform.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::CellType;
/// use orthant::tree::{BottomUp, Number, Predicate};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let noisy = orthant::ndarray::ArrayD::from_shape_fn(vec![40, 40], |at| 100u16 + (at[0] * 7 + at[1] * 13) as u16 % 9);
/// let source = ArrayField::new(noisy.view())?;
/// let plan = Plan::builder([40, 40]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build()?;
/// let within = Predicate::tolerance(CellType::U16, Number::Natural(4))?;
/// assert_eq!(BottomUp::new(&plan, &source)?.tree()?.regions().filter(|region| region.uniform().is_some()).count(), 0);
/// let tree = BottomUp::new(&plan, &source)?.predicate(&within, None)?.tree()?;
/// assert_eq!((tree.len(), tree.word([7, 9])), (4, Some(104)));
///
/// let above = Predicate::threshold(CellType::U16, Number::Natural(105))?;
/// let classes = above.over(&source)?;
/// assert_eq!(BottomUp::new(&plan, &classes)?.tree()?.word([0, 0]), Some(0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    /// What makes cells one.
    #[serde(flatten)]
    pub when: When,
    /// What was done about NaNs before.
    pub nan: NotANumber,
    /// The value of cells without data in the source, if cells are others than in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodata: Option<Number>,
}

impl Predicate {
    /// Cells are one whose bits are equal, and so are those that are not a number.
    pub const EXACT: Self = Self { when: When::Exact, nan: NotANumber::Equal, nodata: None };

    fn new(when: When) -> Self {
        Self { when, ..Self::EXACT }
    }

    /// Cells of a type count as one value if they are all within `e` of some value of the type.
    ///
    /// # Errors
    /// If `e` is below 0.
    pub fn tolerance(kind: CellType, e: Number) -> Result<Self, ChoiceError> {
        let bound = tolerance::bound(e, kind);
        let bound = bound.ok_or_else(|| ChoiceError::new("tolerance", e, "a tolerance is 0 or more"))?;
        Ok(Self::new(When::Tolerance { e, bound }))
    }

    /// Cells of a type count as one value if they, and all cells around them, are on the same side of `t`.
    ///
    /// # Errors
    /// If all numbers of the type are on one side.
    pub fn iso(kind: CellType, t: Number) -> Result<Self, ChoiceError> {
        splits("iso", kind, t)?;
        Ok(Self::new(When::Iso { t }))
    }

    /// Cells of a type become classes: below `t`, or from `t` on.
    ///
    /// # Errors
    /// If all numbers of the type are on one side.
    pub fn threshold(kind: CellType, t: Number) -> Result<Self, ChoiceError> {
        splits("threshold", kind, t)?;
        Ok(Self::new(When::Threshold { t }))
    }

    /// Cells of a type become labels: how many whole steps they are above `lo`.
    ///
    /// # Errors
    /// If the step is not above 0, or no type holds the labels.
    pub fn labels(kind: CellType, step: Number, lo: Number) -> Result<Self, ChoiceError> {
        let predicate = Self::new(When::Labels { step, lo });
        predicate.map(kind)?;
        Ok(predicate)
    }

    /// True if cells stay what they are in the source. Classes and labels do not.
    pub fn keeps_cells(&self) -> bool {
        matches!(self.when, When::Exact | When::Tolerance { .. } | When::Iso { .. })
    }

    /// With something done about cells that are not a number; who refuses them has none.
    ///
    /// # Errors
    /// If they are to be a number that cells of the type cannot be.
    pub fn nan(self, kind: CellType, nan: NotANumber) -> Result<Self, ChoiceError> {
        let nan = if nan == NotANumber::Error { NotANumber::Equal } else { nan };
        let predicate = Self { nan, ..self };
        predicate.fill(kind)?;
        Ok(predicate)
    }

    /// With a word of cells of a type that are no data, which are one with no others.
    ///
    /// # Errors
    /// If they are infinite, and cells become others.
    pub fn nodata(self, kind: CellType, word: u64) -> Result<Self, ChoiceError> {
        let number = kind.number(word);
        // What is not a number is apart as it is.
        if self.keeps_cells() || number.is_nan() {
            return Ok(self);
        }
        if number.is_infinite() {
            let reason = "classes and labels know no data by a finite number";
            return Err(ChoiceError::new("nodata", kind.text(word), reason));
        }
        Ok(Self { nodata: Some(Number::of_word(kind, word)), ..self })
    }

    /// The word of no data among the cells that [`over`](Self::over) makes of those of a type, of which `word` is no data.
    ///
    /// # Errors
    /// As [`over`](Self::over).
    pub fn nodata_word(&self, kind: CellType, word: Option<u64>) -> Result<Option<u64>, ChoiceError> {
        let map = self.map(kind)?;
        Ok(word.map(|word| match map {
            Map::Same => word,
            Map::Classes(_) => threshold::NO_DATA,
            Map::Labels(steps) => steps.no_data(),
        }))
    }

    /// A source of what cells become: NaNs filled, classes, or labels.
    ///
    /// # Errors
    /// If cells of the source's type cannot be so.
    pub fn over<'s, const K: usize>(&self, source: &'s dyn Source<K>) -> Result<Mapped<'s, K>, ChoiceError> {
        let kind = source.kind();
        Ok(Mapped { source, fill: self.fill(kind)?, map: self.map(kind)? })
    }

    /// The word that stands for what is not a number.
    fn fill(&self, kind: CellType) -> Result<Option<u64>, ChoiceError> {
        let NotANumber::Fill(number) = self.nan else { return Ok(None) };
        let word = number.word(kind);
        let word =
            word.ok_or_else(|| ChoiceError::new("nan", self.nan, format!("cells are {kind}, which does not hold it")))?;
        Ok(kind.is_float().then_some(word))
    }

    fn map(&self, kind: CellType) -> Result<Map, ChoiceError> {
        let refused = || {
            let number = self.nodata.expect("there is one");
            ChoiceError::new("nodata", number, format!("cells are {kind}, which does not hold it"))
        };
        let nodata = self.nodata.map(|number| number.word(kind).ok_or_else(refused)).transpose()?;
        Ok(match self.when {
            When::Exact | When::Tolerance { .. } | When::Iso { .. } => Map::Same,
            When::Threshold { t } => Map::Classes(Classes::new(kind, splits("threshold", kind, t)?, nodata)),
            When::Labels { step, lo } => {
                let refused = |reason| ChoiceError::new("step", format!("{step},{lo}"), reason);
                Map::Labels(Steps::new(kind, step, lo, nodata).map_err(refused)?)
            }
        })
    }

    /// What decides for regions of cells of a type, of which one word can be no data.
    pub(super) fn criterion(&self, kind: CellType, nodata: Option<u64>) -> Result<Criterion, ChoiceError> {
        let holds = match self.when {
            When::Exact | When::Threshold { .. } | When::Labels { .. } => return Ok(Criterion::Exact),
            When::Tolerance { e, .. } => {
                let When::Tolerance { bound, .. } = Self::tolerance(kind, e)?.when else { unreachable!("it is one") };
                Holds::Within(bound)
            }
            When::Iso { t } => Holds::OneSide(splits("iso", kind, t)?),
        };
        Ok(Criterion::Spans(Spans { order: CellOrder::new(kind, nodata), holds }))
    }

    /// Checks that a tree with cells of a type can have it; says why not.
    pub(super) fn check(&self, kind: CellType) -> Result<(), String> {
        let fits = match self.when {
            When::Exact => true,
            When::Tolerance { e, bound } => tolerance::bound(e, kind) == Some(bound),
            When::Iso { t } => t.least_word(kind).is_some(),
            When::Threshold { .. } => kind == threshold::KIND,
            When::Labels { .. } => labels::KINDS.contains(&kind),
        };
        if fits { Ok(()) } else { Err(format!("{self} is not of cells of {kind}")) }
    }
}

/// The least word of a type that is not below a threshold, on both sides of which there are numbers.
fn splits(name: &'static str, kind: CellType, t: Number) -> Result<u64, ChoiceError> {
    let reason = || match kind.is_float() {
        true => format!("cells are {kind}, which does not reach that far"),
        false => {
            let [least, greatest] = range(kind);
            format!("cells are {kind}, all on one side of it; give one above {least} and up to {greatest}")
        }
    };
    t.least_word(kind).ok_or_else(|| ChoiceError::new(name, t, reason()))
}

impl std::fmt::Display for Predicate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.when {
            When::Exact => f.write_str("exact"),
            When::Tolerance { e, bound } if e == bound => write!(f, "within {e}"),
            When::Tolerance { e, bound } => write!(f, "within {bound}, of {e}"),
            When::Iso { t } => write!(f, "one side of {t}, with the cells around"),
            When::Threshold { t } => write!(f, "0 below {t}, 1 from {t} on"),
            When::Labels { step, lo } => write!(f, "steps of {step} above {lo}"),
        }?;
        match self.nan {
            NotANumber::Fill(number) => write!(f, ", {number} for what is not a number"),
            NotANumber::Equal | NotANumber::Error => Ok(()),
        }?;
        self.nodata.map_or(Ok(()), |number| write!(f, ", {number} no data"))
    }
}
