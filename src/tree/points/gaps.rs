//! Regions without points, as few and as large as they can be.

use crate::tree::along::Along;
use crate::tree::piece::Piece;
use crate::tree::predicate::Uniform;

/// Covers the codes of the last level from `first` to `last`, both included, with uniform regions of 0.
pub(super) fn fill<const K: usize>(piece: &mut Piece, along: &Along<K>, first: u64, last: u64) {
    let children = along.children;
    // R is mostly a power of two, and codes are divided by it for every region.
    let (mask, shift) = if children.is_power_of_two() { (children - 1, children.trailing_zeros()) } else { (0, 0) };
    let parent = |code: u64| match shift {
        0 => code.is_multiple_of(children).then(|| code / children),
        _ => (code & mask == 0).then(|| code >> shift),
    };
    let mut next = first;
    loop {
        let (mut level, mut code, mut end) = (along.deepest(), next, next);
        while level > 0
            && let Some(above) = parent(code)
        {
            let beyond = along.last(level - 1, along.key(level - 1, above));
            if beyond > last {
                break;
            }
            (level, code, end) = (level - 1, above, beyond);
        }
        piece.uniform(along, level, code, Uniform::exact(0));
        if end == last {
            return;
        }
        next = end + 1;
    }
}
