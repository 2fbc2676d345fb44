//! The workloads of the Multi-phase Mapping paper (Busato and Bombieri), Table 3.
//!
//! Of the matrices whose rows are their items the paper prints N, W, mean, deviation and most; the histograms here have these
//! moments, and are not the matrices. Where the table contradicts itself (the means of kron_g500-logn20 and web-NotreDame), N and
//! W are kept. How many rows are empty the table does not say; that is an assumption.

use orthant::balance::Items;

/// A workload: a histogram of sizes.
///
/// ```
/// let facts = orthant_lab::balance::WorkList::ALL[3].items().facts();
/// assert_eq!((facts.items, facts.units), (1_000_000, 8_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkList {
    name: &'static str,
    histogram: &'static str,
}

macro_rules! workloads {
    ($($name:literal),+ $(,)?) => {
        impl WorkList {
            /// All of them, by their mean.
            pub const ALL: &'static [Self] = &[$(Self {
                name: $name,
                histogram: include_str!(concat!("../../assets/work_sizes/", $name, ".csv")),
            }),+];
        }
    };
}
workloads![
    "great-britain_osm",
    "cit-Patents",
    "web-NotreDame",
    "regular8",
    "circuit5M",
    "as-Skitter",
    "kron_g500-logn20",
];

impl WorkList {
    /// What it is called: the matrix's name in the paper.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Its items, the smallest first.
    pub fn items(self) -> Items {
        let lines = self.histogram.lines().skip(1).map(|line| {
            let (size, count) = line.split_once(',').expect("a line has two numbers");
            (size.parse().expect("a size"), count.parse().expect("a count"))
        });
        let sizes = lines.flat_map(|(size, count): (u32, usize)| std::iter::repeat_n(size, count)).collect();
        Items::new(sizes).expect("a few million items")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3.
    #[test]
    fn moments_are_those_of_the_paper() {
        let printed = [
            (7_733_822, 16_313_034, 0.5, 8),
            (3_774_768, 16_518_948, 7.5, 770),
            (325_729, 1_497_134, 21.4, 3_445),
            (1_000_000, 8_000_000, 0.0, 8),
            (5_558_326, 59_524_291, 1_356.6, 1_290_501),
            (1_696_415, 22_190_596, 136.9, 35_455),
            (1_048_576, 89_239_674, 1_033.1, 413_378),
        ];
        for (workload, (items, units, deviation, most)) in WorkList::ALL.iter().zip(printed) {
            let facts = workload.items().facts();
            assert_eq!((facts.items, facts.units, facts.most), (items, units, most), "{}", workload.name);
            assert!((facts.deviation - deviation).abs() < 0.051, "{}: {}", workload.name, facts.deviation);
        }
    }
}
