//! Rounds of exploration.

/// How exploration goes on after a first round of cells: rounds double up to the last size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// Cells of the first round.
    pub first: u64,
    /// Most cells of a round.
    pub last: u64,
}

impl Rounds {
    /// Expected cells visited of a mixed region of which a share `others` of the deciding cells differs from the first:
    /// rounds go on while none of them was met.
    pub(super) fn visited(self, others: f64) -> f64 {
        let (mut seen, mut round, mut expected, mut going) = (0.0, self.first as f64, 0.0, 1.0);
        while going > 1e-3 && others > 0.0 {
            expected += going * round;
            seen += round;
            // Rounds are whole numbers of cells.
            going = (1.0 - others).powi((seen - 1.0) as i32);
            round = (2.0 * round).min(self.last as f64);
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::backend::{FIRST_ROUND, LAST_ROUND};

    #[test]
    fn rounds_end_where_the_label_changes() {
        let rounds = Rounds { first: FIRST_ROUND, last: LAST_ROUND };
        assert_eq!((rounds.visited(1.0), rounds.visited(0.0)), (16.0, 0.0));
        assert!(rounds.visited(0.5) < 16.1 && rounds.visited(0.01) > 48.0);
    }
}
