//! Which pieces a process makes.

use std::str::FromStr;

use orthant::choice::number;

use crate::error::Error;

/// Pieces, as `--shard` names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChosenPieces {
    /// From the first to the last.
    Range(usize, usize),
    /// Every n-th of those in the order of their cost, from the i-th on.
    Share { i: usize, n: usize },
    /// The share of this task of a job array.
    Auto,
}

/// The variables of schedulers that number the tasks of a job array: the task, the first one, and how many there are.
const ARRAYS: [[&str; 3]; 2] = [
    ["SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"],
    ["SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST"],
];

impl FromStr for ChosenPieces {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no piece as in 17, no range as in 0-63, no share as in 0/8, and not auto");
        let one = |text: &str| number(text.trim(), 0..=u64::from(u32::MAX)).map(|n| n as usize).map_err(|_| wrong());
        if text == "auto" {
            return Ok(Self::Auto);
        }
        if let Some((i, n)) = text.split_once('/') {
            let (i, n) = (one(i)?, one(n)?);
            return match i < n {
                true => Ok(Self::Share { i, n }),
                false => {
                    Err(format!("'{text}': shares are numbered from 0, so the last of {n} is {}/{n}", n.max(1) - 1))
                }
            };
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (one(first)?, one(last)?) {
            (first, last) if first <= last => Ok(Self::Range(first, last)),
            _ => Err(wrong()),
        }
    }
}

impl ChosenPieces {
    /// Those of all pieces, which come in the order in which they should be made.
    ///
    /// # Errors
    /// [`Error::Input`] if there are not so many, or no scheduler numbers this task.
    pub(super) fn of(&self, order: &[usize]) -> Result<Vec<usize>, Error> {
        let share = |i: usize, n: usize| order.iter().copied().skip(i).step_by(n).collect();
        match *self {
            Self::Share { i, n } => Ok(share(i, n)),
            Self::Auto => {
                let [task, first, count] = task().ok_or_else(|| {
                    let names = ARRAYS.map(|[task, ..]| task).join(" and ");
                    let reason = format!(
                        "--shard auto: no job array numbers this process ({names} are not set); name pieces, or \
                         leave it out to make whatever is missing"
                    );
                    Error::Input(reason).about(&["shard"])
                })?;
                Ok(share(task.saturating_sub(first), count.max(1)))
            }
            Self::Range(_, last) if last >= order.len() => {
                let reason = format!("--shard {last}: there are {} pieces, 0 to {}", order.len(), order.len() - 1);
                Err(Error::Input(reason).about(&["shard"]))
            }
            Self::Range(first, last) => {
                Ok(order.iter().copied().filter(|piece| (first..=last).contains(piece)).collect())
            }
        }
    }
}

/// The number of this task, that of the first, and how many there are.
fn task() -> Option<[usize; 3]> {
    let read = |name: &str| std::env::var(name).ok()?.trim().parse::<usize>().ok();
    ARRAYS.iter().find_map(|[task, first, count]| {
        let (task, first, last) = (read(task)?, read(first)?, read(count)?);
        // Slurm says how many there are, and Grid Engine which is the last.
        let count = if count.ends_with("COUNT") { last } else { last.saturating_sub(first) + 1 };
        Some([task, first, count])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_named_in_four_ways() {
        let chosen = |text: &str| text.parse::<ChosenPieces>();
        let order = [2, 0, 3, 1];
        let of = |text: &str| chosen(text).unwrap().of(&order).map_err(|error| error.to_string());
        assert_eq!(of("3"), Ok(vec![3]));
        assert_eq!(of("1-3"), Ok(vec![2, 3, 1]));
        assert_eq!((of("0/3"), of("2/3")), (Ok(vec![2, 1]), Ok(vec![3])));
        assert_eq!(of("7/8"), Ok(Vec::new()));
        assert!(of("4").unwrap_err().contains("there are 4 pieces, 0 to 3"));
        for wrong in ["", "x", "3-1", "1/1", "0/0", "-1", "1-", "/"] {
            assert!(chosen(wrong).is_err(), "{wrong}");
        }
    }

    /// Every piece is in one share.
    #[test]
    fn shares_are_all_pieces() {
        let order: Vec<usize> = (0..17).rev().collect();
        let mut all: Vec<usize> = (0..5).flat_map(|i| ChosenPieces::Share { i, n: 5 }.of(&order).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..17).collect::<Vec<_>>());
    }
}
