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
    /// All, from another one on in each task of a job array.
    Auto,
}

/// The variables of schedulers that number the tasks of a job array.
const TASKS: [&str; 5] =
    ["SLURM_ARRAY_TASK_ID", "SGE_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "AWS_BATCH_JOB_ARRAY_INDEX"];

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
            return match n {
                0 => Err(wrong()),
                n if i < n => Ok(Self::Share { i, n }),
                _ => Err(format!("'{text}': shares are numbered from 0, so the last of {n} is {}/{n}", n - 1)),
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
                let number = |name: &str| std::env::var(name).ok()?.trim().parse::<usize>().ok();
                let task = TASKS.iter().find_map(|name| number(name)).ok_or_else(|| {
                    let reason = format!(
                        "--shard auto: no job array numbers this process (one of {} does); leave it out to make whatever \
                         is missing",
                        TASKS.join(", ")
                    );
                    Error::Input(reason).about(&["shard"])
                })?;
                // Tasks that start at the same moment need not wait for each other's locks.
                let mut order = order.to_vec();
                let first = task % order.len();
                order.rotate_left(first);
                Ok(order)
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
