//! Which part of a plan a run carries out.
//!
//! The regions of a level are a partition of the domain, so a run over some of them is a run of its own: counts add up, and
//! so do checksums of terminal regions. Under a hierarchical curve the descendants of a run of codes are a run of codes on
//! every level, so that results of parts that follow each other only have to be put one after the other.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "cuda")]
use crate::dimension::MAX_DIM;
use crate::field::{Carry, Payload};
use crate::geometry::{Region, WindowError};
use crate::parallel;
use crate::plan::Plan;

/// The regions that a run starts from. It examines these and the regions below them.
///
/// ```
/// use orthant::backend::{Part, Roots};
/// use orthant::prelude::*;
/// use orthant::{Control, Error};
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// let (cpu, how) = (Target::cpu(), How::default().keep(Keep::Regions));
/// let mut prepared = cpu.of().prepare(&plan, &left, &how)?;
/// // Two of the four regions of level 0.
/// let table = Roots::Table { level: 0, codes: &[0, 3], payloads: &[] };
/// prepared.run(&Part::of(table), &Control::default())?;
/// assert_eq!(prepared.subdivision()?.cells(), 2 * 32 * 32);
/// // The level has four codes.
/// let beyond = Roots::Codes { level: 0, range: 0..5 };
/// assert!(matches!(prepared.run(&Part::of(beyond), &Control::default()), Err(Error::Part(_))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Roots<'r> {
    /// The whole initial grid.
    #[default]
    All,
    /// A run of codes of a level. Fields that carry payloads know them on level 0 alone.
    Codes {
        /// The level.
        level: u32,
        /// The codes; none is allowed.
        range: Range<u64>,
    },
    /// Some codes of a level.
    Table {
        /// The level.
        level: u32,
        /// The codes, ascending, each once.
        codes: &'r [u64],
        /// What each region carries; empty for fields that carry nothing.
        payloads: &'r [Payload],
    },
}

/// A part of a plan: the regions that a run starts from, and the box that its dense array covers. The default is the
/// whole plan.
///
/// Cells of the array outside the roots are 0, or the poison that you chose. Cells of the roots outside the box are
/// computed and counted, but not stored.
///
/// ```
/// use orthant::backend::{Part, Roots};
/// use orthant::prelude::*;
/// use orthant::{Control, Error, field};
/// use orthant::field::FieldOptions;
/// # fn main() -> Result<(), Error> {
/// let plan = Plan::builder([64, 64]).window([[-1.5, 0.5], [-1.0, 1.0]]).scheme(Scheme::uniform(4, 2, 4)).build()?;
/// let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
/// let cpu = Target::cpu();
/// let mut prepared = cpu.of().prepare(&plan, &*field, &How::default())?;
/// // The first quarter of the initial grid's codes is a quarter of the domain here.
/// let quarter = Region { corner: [0, 0], extent: [32, 32] };
/// let part = Part::of(Roots::Codes { level: 0, range: 0..4 }).window(quarter);
/// prepared.run(&part, &Control::default())?;
/// assert_eq!(prepared.subdivision()?.array().unwrap().window(), quarter);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part<'r, const K: usize> {
    /// The regions to start from.
    pub roots: Roots<'r>,
    /// What a dense array covers; None: the domain.
    pub window: Option<Region<K>>,
}

/// The codes and the payloads of roots, after the checks.
type CheckedRoots<'r> = (Given<'r>, Cow<'r, [Payload]>);

impl<'r> Roots<'r> {
    /// Checks codes and payloads. The level has so many `regions`, and `carries` says whether the field carries payloads.
    fn given(&self, regions: u128, carries: bool) -> Result<CheckedRoots<'r>, PartError> {
        // At most 2^64 codes, so the last is one of 64 bits.
        let last = (regions - 1) as u64;
        let below = |level, code| if code <= last { Ok(()) } else { Err(PartError::Code { level, code, last }) };
        match self {
            Self::All => unreachable!("all regions are no part"),
            Self::Codes { level, range } => {
                if range.start > range.end {
                    return Err(PartError::Reversed { start: range.start, end: range.end });
                }
                if !range.is_empty() {
                    below(*level, range.end - 1)?;
                }
                if carries && *level > 0 {
                    return Err(PartError::UnknownPayloads { level: *level });
                }
                Ok((Given::Range(range.clone()), Cow::Borrowed(&[])))
            }
            &Self::Table { level, codes, payloads } => {
                if let Some(pair) = codes.windows(2).find(|pair| pair[0] >= pair[1]) {
                    return Err(PartError::Order { before: pair[0], code: pair[1] });
                }
                codes.last().map_or(Ok(()), |&code| below(level, code))?;
                let needed = if carries { codes.len() } else { 0 };
                if payloads.len() != needed {
                    return Err(PartError::Payloads { given: payloads.len(), codes: codes.len(), needed });
                }
                Ok((Given::Table(Cow::Borrowed(codes)), Cow::Borrowed(payloads)))
            }
        }
    }
}

impl<const K: usize> Default for Part<'_, K> {
    fn default() -> Self {
        Self { roots: Roots::All, window: None }
    }
}

impl<'r, const K: usize> Part<'r, K> {
    /// What lies below some regions.
    pub fn of(roots: Roots<'r>) -> Self {
        Self { roots, window: None }
    }

    /// With an array that covers a box of cells only.
    #[must_use]
    pub fn window(self, window: Region<K>) -> Self {
        Self { window: Some(window), ..self }
    }
}

/// What is wrong with a part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// A level that the plan does not have.
    #[error("roots on level {level}: the plan has levels 0 to {deepest}")]
    Level {
        /// The level.
        level: u32,
        /// The deepest.
        deepest: u32,
    },
    /// A code that the level does not have.
    #[error("roots: code {code} on level {level}, whose codes are 0 to {last}")]
    Code {
        /// The level.
        level: u32,
        /// The code.
        code: u64,
        /// The level's last code.
        last: u64,
    },
    /// A range from a larger code to a smaller one.
    #[error("roots: the codes {start}..{end}; a range ends where it starts or after")]
    Reversed {
        /// Its first code.
        start: u64,
        /// The code after its last.
        end: u64,
    },
    /// Codes that do not ascend.
    #[error("roots: code {code} follows {before}; the codes of a table ascend, each once")]
    Order {
        /// The code.
        code: u64,
        /// The one before it.
        before: u64,
    },
    /// More or fewer payloads than are needed.
    #[error("roots: {given} payloads for {codes} codes; this field needs {needed}")]
    Payloads {
        /// Payloads.
        given: usize,
        /// Codes.
        codes: usize,
        /// How many there should be.
        needed: usize,
    },
    /// Payloads that nobody knows.
    #[error(
        "roots: a range of codes on level {level} of a field that carries payloads; below level 0 it takes a table with them"
    )]
    UnknownPayloads {
        /// The level.
        level: u32,
    },
    /// A window that is empty, or not in the domain.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Roots for a strategy that knows no regions.
    #[error("roots: strategy exhaustive knows no regions; it takes a window")]
    Exhaustive,
}

/// Roots per task.
const PIECE: usize = 4096;

/// A part that fits its plan: where a run starts.
#[derive(Debug, Clone)]
pub(crate) struct Start<'r, const K: usize> {
    /// The level of the roots.
    pub(crate) level: u32,
    codes: Given<'r>,
    payloads: Cow<'r, [Payload]>,
    /// What a dense array covers.
    pub(crate) window: Region<K>,
    /// True if the roots leave out no cell of the domain.
    pub(crate) whole: bool,
    /// Cells of the roots.
    pub(crate) cells: u128,
}

/// The codes of the roots.
#[derive(Debug, Clone)]
enum Given<'r> {
    Range(Range<u64>),
    Table(Cow<'r, [u64]>),
}

impl Given<'_> {
    fn len(&self) -> u128 {
        match self {
            Self::Range(range) => (range.end - range.start).into(),
            Self::Table(codes) => codes.len() as u128,
        }
    }

    #[inline]
    fn code(&self, index: u64) -> u64 {
        match self {
            Self::Range(range) => range.start + index,
            Self::Table(codes) => codes[index as usize],
        }
    }

    /// The sum over all codes.
    fn sum(&self, volume: &(dyn Fn(u64) -> u64 + Sync)) -> u128 {
        let len = self.len() as usize;
        let some = |i| parallel::piece(len, PIECE, i).map(|i| u128::from(volume(self.code(i as u64)))).sum::<u128>();
        parallel::map(len.div_ceil(PIECE), &some).into_iter().sum()
    }
}

impl<'r, const K: usize> Start<'r, K> {
    /// The whole of a plan.
    pub(crate) fn whole(plan: &Plan<K>) -> Self {
        let codes = u64::try_from(plan.levels()[0].regions()).unwrap_or(u64::MAX);
        Self {
            level: 0,
            codes: Given::Range(0..codes),
            payloads: Cow::Borrowed(&[]),
            window: plan.domain().region(),
            whole: true,
            cells: plan.domain().cells(),
        }
    }

    /// A part of a plan over a field that carries payloads, or does not.
    ///
    /// # Errors
    /// [`PartError`] says what does not fit.
    pub(crate) fn new(plan: &Plan<K>, carries: bool, part: &Part<'r, K>) -> Result<Self, PartError> {
        let mut start = Self::whole(plan);
        if let Some(window) = part.window {
            window.within(plan.domain().size())?;
            start.window = window;
        }
        let level = match part.roots {
            Roots::All => return Ok(start),
            Roots::Codes { level, .. } | Roots::Table { level, .. } => level,
        };
        let deepest = plan.levels().len() as u32 - 1;
        let Some(lattice) = plan.levels().get(level as usize) else {
            return Err(PartError::Level { level, deepest });
        };
        start.level = level;
        (start.codes, start.payloads) = part.roots.given(lattice.regions(), carries)?;
        start.whole = start.codes.len() == lattice.regions();
        if !start.whole {
            start.cells = start.volume(plan);
        }
        Ok(start)
    }

    /// The smallest box with all roots in it; None if there are none.
    pub(crate) fn bounds(&self, plan: &Plan<K>) -> Option<Region<K>> {
        if self.whole {
            return Some(plan.domain().region());
        }
        let len = self.len() as usize;
        let all = Mutex::new(None::<Region<K>>);
        parallel::each(len.div_ceil(PIECE), &|i| {
            let mut some = parallel::piece(len, PIECE, i);
            let root = |i: usize| plan.region(self.level, self.code(i as u64));
            let mut bounds = root(some.start);
            some.start += 1;
            for i in some {
                bounds = bounds.hull(&root(i));
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            *all = Some(all.map_or(bounds, |all| all.hull(&bounds)));
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cells of the roots.
    fn volume(&self, plan: &Plan<K>) -> u128 {
        let sides = plan.levels()[self.level as usize].whole_sides();
        if !sides.contains(&0) {
            return product(&sides) * u128::from(self.len());
        }
        self.codes.sum(&|code| plan.region(self.level, code).volume())
    }

    /// The same for a run of `exhaustive`, which settles the window.
    ///
    /// # Errors
    /// [`PartError::Exhaustive`] if roots were chosen.
    pub(crate) fn exhaustive(self, part: &Part<'_, K>) -> Result<Self, PartError> {
        match part.roots {
            Roots::All => Ok(Self { cells: self.window.cells_wide(), ..self }),
            _ => Err(PartError::Exhaustive),
        }
    }

    /// The same in the most dimensions.
    #[cfg(feature = "cuda")]
    pub(crate) fn widened(&self) -> Start<'r, MAX_DIM> {
        let Self { level, codes, payloads, window, whole, cells } = self.clone();
        Start { level, codes, payloads, window: window.widened(), whole, cells }
    }

    /// The same with codes of its own.
    #[cfg(feature = "cuda")]
    pub(crate) fn into_owned(self) -> Start<'static, K> {
        let Self { level, codes, payloads, window, whole, cells } = self;
        let codes = match codes {
            Given::Range(range) => Given::Range(range),
            Given::Table(codes) => Given::Table(Cow::Owned(codes.into_owned())),
        };
        Start { level, codes, payloads: Cow::Owned(payloads.into_owned()), window, whole, cells }
    }

    /// The first code of a range; None of a table.
    pub(crate) fn first(&self) -> Option<u64> {
        match &self.codes {
            Given::Range(range) => Some(range.start),
            Given::Table(_) => None,
        }
    }

    /// The number of roots.
    pub(crate) fn len(&self) -> u64 {
        self.codes.len() as u64
    }

    /// The code of a root.
    #[inline]
    pub(crate) fn code(&self, index: u64) -> u64 {
        self.codes.code(index)
    }

    /// What a root carries.
    #[inline]
    pub(crate) fn payload(&self, plan: &Plan<K>, carry: Option<&dyn Carry<K>>, index: u64) -> Payload {
        match (carry, self.payloads.get(index as usize)) {
            (None, _) => Payload::default(),
            (_, Some(&payload)) => payload,
            (Some(carry), None) => carry.root(&plan.region(self.level, self.code(index))),
        }
    }
}

fn product(sides: &[u32]) -> u128 {
    sides.iter().map(|&side| u128::from(side)).product()
}
