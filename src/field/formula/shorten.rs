//! The tapes of up to sixteen regions, each without what its region never takes, in one pass from the end of a tape.
//!
//! Slots are numbered anew, for each region on its own: a slot is taken where a clause reads it last, and free again before
//! the clause that writes it. Nothing but the tape is needed, and a clause that no region takes is looked at once.
//! What is left are the same operations on the same numbers, so that results have the same bits.

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::siblings::{SIBLINGS, SiblingChoices, chooses};
use crate::field::formula::tape::FormulaClause;

/// A tape that is right in a part of the domain. Constants and slots of coordinates are those of the whole tape.
#[derive(Debug, Default)]
pub(super) struct ShortTape {
    pub(super) clauses: Vec<FormulaClause>,
    pub(super) slots: usize,
    pub(super) result: u16,
}

/// A tape to shorten.
#[derive(Clone, Copy)]
pub(super) struct Shortening<'a> {
    pub(super) clauses: &'a [FormulaClause],
    pub(super) slots: usize,
    pub(super) result: u16,
    /// How many slots hold coordinates.
    pub(super) coordinates: usize,
    /// The constants +0 and 1, if there are any.
    pub(super) truth: Option<[u16; 2]>,
}

/// Memory of a pass, which is used again.
#[derive(Default)]
pub(super) struct ShortenScratch {
    /// The regions that still read a slot.
    live: Vec<u16>,
    /// What the slot is called in each.
    bound: Vec<[u16; SIBLINGS]>,
    free: [Vec<u16>; SIBLINGS],
    taken: [u16; SIBLINGS],
    tapes: [Vec<FormulaClause>; SIBLINGS],
}

/// An operand of a clause: the number of a slot, or that of a constant.
#[derive(Clone, Copy)]
struct ClauseOperand {
    number: u16,
    constant: bool,
}

/// Does something for each region of a set.
#[inline(always)]
fn for_each(mut lanes: u16, mut f: impl FnMut(usize)) {
    while lanes != 0 {
        f(lanes.trailing_zeros() as usize);
        lanes &= lanes - 1;
    }
}

impl ShortenScratch {
    /// Readies it for a tape of so many slots, in the regions of a set.
    fn clear(&mut self, slots: usize, coordinates: usize, lanes: u16) {
        self.live.clear();
        self.live.resize(slots, 0);
        if self.bound.len() < slots {
            self.bound.resize(slots, [0; SIBLINGS]);
        }
        self.taken = [coordinates as u16; SIBLINGS];
        for_each(lanes, |lane| {
            self.free[lane].clear();
            self.tapes[lane].clear();
        });
    }

    #[inline(always)]
    fn take(&mut self, lane: usize) -> u16 {
        self.free[lane].pop().unwrap_or_else(|| {
            self.taken[lane] += 1;
            self.taken[lane] - 1
        })
    }

    /// What a slot is called in a region that reads it.
    #[inline(always)]
    fn read(&mut self, slot: u16, lane: usize, coordinates: usize) -> u16 {
        let place = usize::from(slot);
        if place < coordinates {
            return slot;
        }
        if self.live[place] >> lane & 1 == 0 {
            self.bound[place][lane] = self.take(lane);
            self.live[place] |= 1 << lane;
        }
        self.bound[place][lane]
    }

    /// The result of a clause is an operand as it is.
    #[inline(always)]
    fn pass(&mut self, lanes: u16, mine: &[u16; SIBLINGS], operand: ClauseOperand, coordinates: usize) {
        let ClauseOperand { number: from, constant } = operand;
        let place = usize::from(from);
        let bare = constant || place < coordinates;
        let copied = if bare { lanes } else { lanes & self.live[place] };
        for_each(copied, |lane| {
            let a = if bare { from } else { self.bound[place][lane] };
            let constants = u8::from(constant);
            self.tapes[lane].push(FormulaClause { op: FormulaOp::Number, constants, out: mine[lane], a, b: 0 });
            self.free[lane].push(mine[lane]);
        });
        if !bare {
            for_each(lanes & !copied, |lane| self.bound[place][lane] = mine[lane]);
            self.live[place] |= lanes;
        }
    }

    /// A region takes a clause, with its third operand right before it.
    #[inline(always)]
    fn keep(&mut self, lane: usize, clause: FormulaClause, third: Option<FormulaClause>, coordinates: usize) {
        // No clause writes a slot that it reads: its own is free after its operands have theirs.
        let mut new = clause;
        if !clause.a_is_constant() {
            new.a = self.read(clause.a, lane, coordinates);
        }
        if clause.op.operands() > 1 && !clause.b_is_constant() {
            new.b = self.read(clause.b, lane, coordinates);
        }
        let third = third.map(|mut third| {
            if !third.a_is_constant() {
                third.a = self.read(third.a, lane, coordinates);
            }
            third
        });
        self.tapes[lane].push(new);
        self.tapes[lane].extend(third);
        self.free[lane].push(clause.out);
    }
}

impl Shortening<'_> {
    /// The tapes of the regions in `lanes`, by what is chosen in them.
    pub(super) fn shorten(
        self,
        choices: &[SiblingChoices],
        lanes: u16,
        scratch: &mut ShortenScratch,
    ) -> [Option<ShortTape>; SIBLINGS] {
        let Self { clauses, slots, result, coordinates, truth } = self;
        scratch.clear(slots, coordinates, lanes);
        // The result of a whole tape is in no slot of a coordinate.
        let mut results = [0; SIBLINGS];
        for_each(lanes, |lane| results[lane] = scratch.read(result, lane, coordinates));
        let (mut at, mut choice) = (clauses.len(), choices.len());
        while at > 0 {
            at -= 1;
            let clause = clauses[at];
            let third = (clause.op.operands() == 3).then(|| {
                at -= 1;
                clauses[at]
            });
            let chosen = if chooses(&clause) {
                choice -= 1;
                choices[choice]
            } else {
                SiblingChoices::default()
            };
            let live = std::mem::take(&mut scratch.live[usize::from(clause.out)]);
            if live == 0 {
                continue;
            }
            let mine = scratch.bound[usize::from(clause.out)];
            let a = ClauseOperand { number: clause.a, constant: clause.a_is_constant() };
            let b = ClauseOperand { number: clause.b, constant: clause.b_is_constant() };
            let first = live & chosen.first;
            let second = live & chosen.second & !first;
            let mut kept = live;
            match clause.op {
                FormulaOp::Number => {
                    scratch.pass(live, &mine, a, coordinates);
                    kept = 0;
                }
                FormulaOp::Min | FormulaOp::Max => {
                    scratch.pass(first, &mine, a, coordinates);
                    scratch.pass(second, &mine, b, coordinates);
                    kept &= !(first | second);
                }
                _ => {
                    if let Some(truth) = truth {
                        let [never, always] = truth.map(|number| ClauseOperand { number, constant: true });
                        scratch.pass(first, &mine, never, coordinates);
                        scratch.pass(second, &mine, always, coordinates);
                        kept &= !(first | second);
                    }
                }
            }
            for_each(kept, |lane| scratch.keep(lane, FormulaClause { out: mine[lane], ..clause }, third, coordinates));
        }
        std::array::from_fn(|lane| {
            (lanes >> lane & 1 == 1).then(|| {
                let clauses = scratch.tapes[lane].iter().rev().copied().collect();
                ShortTape { clauses, slots: usize::from(scratch.taken[lane]), result: results[lane] }
            })
        })
    }
}
