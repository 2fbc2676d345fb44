//! What is known of work-items beside their sizes.

/// The numbers about items by which a balancer is chosen.
///
/// ```
/// use orthant::balance::Items;
///
/// let facts = Items::new(vec![2, 4, 2, 4])?.facts();
/// assert_eq!((facts.items, facts.units, facts.mean, facts.deviation), (4, 12, 3.0, 1.0));
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
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

impl Facts {
    /// What is known of runs of items: their size, and how many of it follow each other.
    pub(crate) fn of(runs: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut facts = Self::default();
        let (mut squares, mut classes) = (0.0, Some(Vec::<Class>::new()));
        for (size, items) in runs.filter(|&(_, items)| items > 0) {
            if let Some(known) = classes.as_mut().filter(|_| size > 0) {
                let few = known.len() < Class::MOST;
                match known.last_mut() {
                    Some(class) if class.size == size && class.first + class.items == facts.items => {
                        class.items += items
                    }
                    _ if !few => classes = None,
                    _ => known.push(Class { first: facts.items, units: facts.units, size, items }),
                }
            }
            let size = u64::from(size);
            facts.items += items;
            facts.units += size * items;
            facts.most = facts.most.max(size);
            facts.empty += if size == 0 { items } else { 0 };
            squares += (size as f64).powi(2) * items as f64;
        }
        let items = facts.items.max(1) as f64;
        facts.mean = facts.units as f64 / items;
        facts.deviation = (squares / items - facts.mean.powi(2)).max(0.0).sqrt();
        facts.classes = classes;
        facts
    }
}

/// The mean size of those items in runs that are not empty and have at most `most` units; 0 if there are none.
pub(crate) fn mean_of_small(runs: impl Iterator<Item = (u32, u64)>, most: u64) -> f64 {
    let small = runs.filter(|&(size, _)| (1..=most).contains(&size.into()));
    let (count, sum) = small.fold((0, 0), |(count, sum), (size, items)| (count + items, sum + u64::from(size) * items));
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
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
