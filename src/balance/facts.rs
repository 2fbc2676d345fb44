//! What is known of work-items beside their sizes.

/// What balancers choose by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Work-items.
    pub items: u64,
    /// Units of all of them.
    pub units: u64,
    /// Units per item, and the standard deviation over all items.
    pub mean: f64,
    /// See [`mean`](Self::mean).
    pub deviation: f64,
    /// Units of the largest item.
    pub most: u64,
    /// Items without units.
    pub empty: u64,
    /// Items of one size that follow each other, if there are [few](Class::MOST) such classes; without the empty ones.
    pub classes: Option<Vec<Class>>,
}

/// Items of one size that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// The first of them.
    pub first: u64,
    /// Units before it.
    pub units: u64,
    /// Units of each.
    pub size: u32,
    /// How many there are.
    pub items: u64,
}

impl Class {
    /// The most classes that are told apart.
    pub const MOST: usize = 16;
}
