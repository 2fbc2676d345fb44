//! Regions that were not divided.

use std::ops::Range;

use rayon::slice::ParallelSliceMut;

use crate::memory::give_back;
use crate::parallel;
use crate::radix::{self, Ends, KeyBits};
#[cfg(feature = "cuda")]
use crate::result::limit::{MemoryError, Stored};

/// Regions that a thread looks at, and all of them together.
const TOGETHER: usize = 1 << 14;
const WINDOW: usize = 1 << 20;

/// What fills a terminal region.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::result::Content;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 16)).rule(RuleKind::Full).build()?;
/// // One cell is 1: one of the four regions is a leaf.
/// let spot = CellField::new(1, |cell| u32::from(cell == [40, 40]));
/// let found = Run::new(&plan, &spot).how(How::default().keep(Keep::Regions)).start()?;
/// let uniform = |content: Content| matches!(content, Content::Uniform(0));
/// assert_eq!(found.terminals().iter().filter(|terminal| uniform(terminal.content())).count(), 3);
/// assert_eq!(found.bricks().len(), 32 * 32);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// One value: the word of a cell, in the type of the bricks.
    Uniform(u64),
    /// The cells, in storage order of the region, start here among the bricks.
    Leaf {
        /// The index of the first cell; None if leaves were not kept.
        brick: Option<u64>,
    },
}

/// A region that was not divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Its code on its level.
    pub code: u64,
    level: u32,
    kind: Kind,
    /// A word, or the start of a brick.
    what: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Uniform,
    Leaf,
    /// A leaf whose cells were not kept.
    Bare,
}

impl Terminal {
    pub(crate) const BYTES: u64 = size_of::<Self>() as u64;

    #[doc(hidden)]
    pub fn uniform(level: u32, code: u64, word: u64) -> Self {
        Self { code, level, kind: Kind::Uniform, what: word }
    }

    pub(crate) fn leaf(level: u32, code: u64, brick: Option<u64>) -> Self {
        let kind = if brick.is_some() { Kind::Leaf } else { Kind::Bare };
        Self { code, level, kind, what: brick.unwrap_or_default() }
    }

    /// Sorts by level and code.
    #[doc(hidden)]
    pub fn sort(terminals: &mut [Self]) {
        let most = |i| {
            let terminals = &terminals[parallel::piece(terminals.len(), TOGETHER, i)];
            terminals.iter().fold((0, 0), |(level, code), terminal| (terminal.level.max(level), terminal.code | code))
        };
        let found = parallel::map(terminals.len().div_ceil(TOGETHER), &most);
        let (level, codes) = found.into_iter().fold((0, 0), |(level, codes), (l, c)| (l.max(level), codes | c));
        let bits = u64::BITS - u64::leading_zeros(codes);
        let high = bits + (u32::BITS - u32::leading_zeros(level));
        if high > u64::BITS || bits == u64::BITS {
            terminals.par_sort_unstable_by_key(|terminal| (terminal.level, terminal.code));
            return;
        }
        Self::sort_by(terminals, high, &|terminal| u64::from(terminal.level) << bits | terminal.code);
    }

    /// Sorts by keys that have so many bits. Regions come in runs of neighbours at best: a device lists them as it finds them.
    pub(crate) fn sort_by(terminals: &mut [Self], bits: u32, key: &(impl Fn(&Self) -> u64 + Sync)) {
        let ordered = |i| {
            let Range { start, end } = parallel::piece(terminals.len(), TOGETHER, i);
            terminals[start..(end + 1).min(terminals.len())].is_sorted_by_key(key)
        };
        if parallel::map(terminals.len().div_ceil(TOGETHER), &ordered).into_iter().all(|ordered| ordered) {
            return;
        }
        let ends = Ends { check: &|| Ok(()), refused: &|none| none };
        let sorted = radix::sort(terminals, KeyBits { low: 0, high: bits }, key, &ends);
        // The second list was in blocks that the allocator keeps.
        if terminals.len() > WINDOW {
            give_back();
        }
        // No room for a second list: slower, and in place.
        if sorted.is_err() {
            terminals.par_sort_unstable_by_key(key);
        }
    }

    /// Appends those that all threads find among so many regions, in the order of these.
    ///
    /// # Errors
    /// If there is no memory for them.
    #[cfg(feature = "cuda")]
    pub(crate) fn find(
        terminals: &mut Vec<Self>,
        regions: usize,
        of: &(dyn Fn(usize) -> Option<Self> + Sync),
    ) -> Result<(), MemoryError> {
        // Some at a time: they are there twice for a moment.
        for first in (0..regions).step_by(WINDOW) {
            let window = WINDOW.min(regions - first);
            let found = parallel::map(window.div_ceil(TOGETHER), &|i| {
                parallel::piece(window, TOGETHER, i).filter_map(|region| of(first + region)).collect::<Vec<_>>()
            });
            parallel::append(terminals, &found).map_err(MemoryError::refused(Stored::Terminals))?;
        }
        Ok(())
    }

    /// Where its brick begins, if it has one.
    pub(crate) fn brick(&self) -> Option<u64> {
        (self.kind == Kind::Leaf).then_some(self.what)
    }

    /// The same with its brick elsewhere, if it has one.
    pub(crate) fn with_brick(self, place: u64) -> Self {
        Self { what: if self.kind == Kind::Leaf { place } else { self.what }, ..self }
    }

    /// The same with its brick `by` cells further on.
    #[doc(hidden)]
    pub fn shifted(self, by: u64) -> Self {
        Self { what: if self.kind == Kind::Leaf { self.what + by } else { self.what }, ..self }
    }

    /// Its level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// What fills it.
    pub fn content(&self) -> Content {
        match self.kind {
            Kind::Uniform => Content::Uniform(self.what),
            Kind::Leaf => Content::Leaf { brick: Some(self.what) },
            Kind::Bare => Content::Leaf { brick: None },
        }
    }
}
