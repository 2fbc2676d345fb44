//! Orders of work-items: who stands beside whom matters as much as sizes do.

use orthant::balance::Items;

/// An order of items.
///
/// ```
/// use orthant::balance::Items;
/// use orthant_lab::balance::ItemOrder;
///
/// let items = Items::new(vec![5, 0, 7])?;
/// assert_eq!(ItemOrder::Descending.arrange(&items, 0).sizes(), [7, 5, 0]);
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemOrder {
    /// As they come.
    Given,
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
    /// At random.
    Shuffled,
    /// Smallest first, in runs whose order is random.
    Clustered,
}

/// Items of a run that stays together.
const RUN: usize = 1024;

impl ItemOrder {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Given, Self::Ascending, Self::Descending, Self::Shuffled, Self::Clustered];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Ascending => "ascending",
            Self::Descending => "descending",
            Self::Shuffled => "shuffled",
            Self::Clustered => "clustered",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Given => "As they come: from a file, or along the curve of a tree",
            Self::Ascending => "Smallest first, so that sizes are grouped, as a list by levels has them",
            Self::Descending => "Largest first",
            Self::Shuffled => "At random",
            Self::Clustered => "Smallest first, in runs of 1024 whose order is random",
        }
    }

    /// The items in this order. Random orders are made of the seed.
    pub fn arrange(self, items: &Items, seed: u64) -> Items {
        let mut sizes = items.sizes().to_vec();
        match self {
            Self::Given => {}
            Self::Ascending => sizes.sort_unstable(),
            Self::Descending => sizes.sort_unstable_by(|a, b| b.cmp(a)),
            Self::Shuffled => {
                sizes.sort_unstable();
                sizes = at_random(sizes.len(), seed).into_iter().map(|item| sizes[item]).collect();
            }
            Self::Clustered => {
                sizes.sort_unstable();
                let runs: Vec<&[u32]> = sizes.chunks(RUN).collect();
                sizes = at_random(runs.len(), seed).into_iter().flat_map(|run| runs[run].iter().copied()).collect();
            }
        }
        Items::new(sizes).expect("no more than there were")
    }
}

/// The numbers below `n` by keys that are random.
fn at_random(n: usize, seed: u64) -> Vec<usize> {
    let start = mixed(seed);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_cached_key(|&i| mixed(start.wrapping_add((i as u64).wrapping_mul(GOLDEN))));
    order
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(GOLDEN);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::work_list::WorkList;

    /// Checksums of another program's lists, made by the same recipe.
    #[test]
    fn orders_are_those_of_the_recipe() {
        assert_eq!([mixed(0), mixed(1)], [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1]);
        let sum = |items: Items| {
            let place =
                |(i, &size): (usize, &u32)| mixed(u64::from(size).wrapping_add((i as u64).wrapping_mul(GOLDEN)));
            items.sizes().iter().enumerate().map(place).fold(0, |all, one| all ^ one)
        };
        for (workload, shuffled, clustered) in [
            (2, 0x81c5_fd5e_28c3_8d20, 0x02a2_1a80_bf99_4450),
            (3, 0xeeaf_676a_917e_c256, 0xeeaf_676a_917e_c256),
            (6, 0xfebc_f63b_b945_7ba4u64, 0xa7b4_351f_12ad_e460u64),
        ] {
            let items = WorkList::ALL[workload].items();
            assert_eq!(sum(ItemOrder::Shuffled.arrange(&items, 1)), shuffled);
            assert_eq!(sum(ItemOrder::Clustered.arrange(&items, 1)), clustered);
        }
    }
}
