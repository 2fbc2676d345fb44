//! Covering sets: few rows in which every pair of choices occurs.
//!
//! Most faults need one choice or two that meet. So instead of every combination, rows are made until each pair of values
//! of two axes that may meet at all has met. Greedy (after Cohen et al., *The AETG system*, 1997): each row starts from a
//! pair that is still missing and takes, axis by axis, the value that adds most pairs. There is no chance in it: the same
//! axes give the same rows.

use std::collections::HashSet;

/// Rows over axes with so many values each; a row has the number of a value per axis. `allowed` says whether values chosen
/// so far (None: open) can go together. Pairs that no row can have are left out.
pub(super) fn cover(axes: &[usize], allowed: impl Fn(&[Option<usize>]) -> bool) -> Vec<Vec<usize>> {
    let mut missing = pairs(axes);
    let mut rows = Vec::new();
    while let Some(&pair) = missing.first() {
        match row(axes, pair, &missing, &allowed) {
            Some(row) => {
                missing.retain(|&[(i, a), (j, b)]| row[i] != a || row[j] != b);
                rows.push(row);
            }
            None => {
                missing.remove(0);
            }
        }
    }
    rows
}

/// Few of the rows, in which every value of theirs occurs. Greedy: the next row has most values that are missing.
pub(super) fn once(rows: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut missing: HashSet<(usize, usize)> = rows.iter().flat_map(|row| row.iter().copied().enumerate()).collect();
    let mut few = Vec::new();
    while !missing.is_empty() {
        let gain = |row: &&Vec<usize>| row.iter().copied().enumerate().filter(|value| missing.contains(value)).count();
        let row = rows.iter().max_by_key(gain).expect("what is missing is in a row");
        row.iter().copied().enumerate().for_each(|value| _ = missing.remove(&value));
        few.push(row.clone());
    }
    few
}

/// A value of one axis and one of another.
type Pair = [(usize, usize); 2];

fn pairs(axes: &[usize]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (j, &right) in axes.iter().enumerate() {
        for (i, &left) in axes[..j].iter().enumerate() {
            pairs.extend((0..left).flat_map(|a| (0..right).map(move |b| [(i, a), (j, b)])));
        }
    }
    pairs
}

/// A row that has `pair` and many of the other missing ones; None if none can have it.
fn row(
    axes: &[usize],
    pair: Pair,
    missing: &[Pair],
    allowed: &impl Fn(&[Option<usize>]) -> bool,
) -> Option<Vec<usize>> {
    let mut row = vec![None; axes.len()];
    pair.iter().for_each(|&(axis, value)| row[axis] = Some(value));
    fill(axes, &mut row, missing, allowed).then(|| row.into_iter().map(|value| value.expect("filled")).collect())
}

/// Fills the open axes of a row, the best value first, going back where nothing goes together.
fn fill(
    axes: &[usize],
    row: &mut Vec<Option<usize>>,
    missing: &[Pair],
    allowed: &impl Fn(&[Option<usize>]) -> bool,
) -> bool {
    if !allowed(row) {
        return false;
    }
    let Some(axis) = row.iter().position(Option::is_none) else { return true };
    let mut gains = vec![0usize; axes[axis]];
    for &[(i, a), (j, b)] in missing {
        if j == axis && row[i] == Some(a) {
            gains[b] += 1;
        } else if i == axis && row[j] == Some(b) {
            gains[a] += 1;
        }
    }
    let mut values: Vec<usize> = (0..axes[axis]).collect();
    values.sort_by_key(|&value| std::cmp::Reverse(gains[value]));
    for value in values {
        row[axis] = Some(value);
        if fill(axes, row, missing, allowed) {
            return true;
        }
        row[axis] = None;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every pair that some complete, allowed row can have is in a row, and every row is allowed.
    fn check(axes: &[usize], allowed: impl Fn(&[Option<usize>]) -> bool + Copy) -> usize {
        let rows = cover(axes, allowed);
        for row in &rows {
            assert!(allowed(&row.iter().copied().map(Some).collect::<Vec<_>>()), "{row:?}");
        }
        let all: usize = axes.iter().product();
        let complete =
            (0..all).map(|mut number| axes.iter().map(|&len| (number % len, number /= len).0).collect::<Vec<_>>());
        let possible: Vec<_> =
            complete.filter(|row| allowed(&row.iter().copied().map(Some).collect::<Vec<_>>())).collect();
        for pair @ [(i, a), (j, b)] in pairs(axes) {
            let can = possible.iter().any(|row| row[i] == a && row[j] == b);
            let has = rows.iter().any(|row| row[i] == a && row[j] == b);
            assert_eq!(can, has, "{pair:?}");
        }
        rows.len()
    }

    #[test]
    fn few_rows_have_every_pair() {
        // 3^13 combinations; the best known covering has 15 rows.
        assert!(cover(&[3; 13], |_| true).len() <= 36);
        assert!(check(&[4, 3, 3, 2], |_| true) <= 16);
    }

    #[test]
    fn fewer_rows_have_every_value() {
        let axes = [5, 3, 3, 2];
        let rows = once(&cover(&axes, |_| true));
        assert!((5..=6).contains(&rows.len()), "{rows:?}");
        for (axis, &values) in axes.iter().enumerate() {
            assert!((0..values).all(|value| rows.iter().any(|row| row[axis] == value)), "{axis}: {rows:?}");
        }
    }

    proptest! {
        #[test]
        fn what_may_not_meet_does_not(axes in prop::collection::vec(1usize..4, 2..5), ban in 0usize..3) {
            check(&axes, |row| !(row[0] == Some(0) && row[1] == Some(ban.min(axes[1] - 1)) && axes[0] > 1));
        }
    }
}
