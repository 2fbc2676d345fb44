//! Regions that were not divided.

use rayon::slice::ParallelSliceMut;

/// What fills a terminal region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// One label.
    Uniform(u32),
    /// The labels of its cells, in storage order of the region, start here among the bricks.
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
    label: u32,
    brick: u64,
}

/// Stands for "a leaf" in `label` and for "not kept" in `brick`; no label and no brick can have this value.
const NONE: u64 = u64::MAX;

impl Terminal {
    pub(crate) const BYTES: u64 = size_of::<Self>() as u64;

    pub(crate) fn uniform(level: u32, code: u64, label: u32) -> Self {
        Self { code, level, label, brick: NONE }
    }

    pub(crate) fn leaf(level: u32, code: u64, brick: Option<u64>) -> Self {
        Self { code, level, label: u32::MAX, brick: brick.unwrap_or(NONE) }
    }

    /// Sorts by level and code.
    pub(crate) fn sort(terminals: &mut [Self]) {
        terminals.par_sort_unstable_by_key(|terminal| (terminal.level, terminal.code));
    }

    /// The same with its brick `by` cells further on.
    pub(crate) fn shifted(self, by: u64) -> Self {
        Self { brick: if self.brick == NONE { NONE } else { self.brick + by }, ..self }
    }

    /// Its level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// What fills it.
    pub fn content(&self) -> Content {
        if self.label == u32::MAX {
            Content::Leaf { brick: (self.brick != NONE).then_some(self.brick) }
        } else {
            Content::Uniform(self.label)
        }
    }
}
