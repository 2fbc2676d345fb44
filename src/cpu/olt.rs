//! Offset lookup tables: the regions of one level, one scalar code per family.
//!
//! A run holds two: the table of the level it reads and the table of the next level that it writes. The table of level
//! i + 1 holds the codes of the mixed regions of level i, and entry e of the level stands for child e mod R of family
//! e / R. So it is R times smaller than the law |T_i| = |G_i|·∏r_j of the ASK paper (eq. 28) says. The roots need no
//! table. Codes take four bytes where all codes of the level fit, else eight; payloads lie beside them and take nothing
//! for fields without one. Twin of kernels/olt.cuh.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::backend::{Insertion, Start};
use crate::field::{Carry, Payload};
use crate::memory::{copies, reserve, zeros};
use crate::parallel::{self, piece};
use crate::plan::Plan;
use crate::result::{MemoryError, Stored};

/// Regions per task: enough to hide a task's cost, few enough to balance.
const PIECE: usize = 2048;

/// The regions of one level by their codes.
pub(crate) struct Olt<'a, const K: usize> {
    plan: &'a Plan<K>,
    carry: Option<&'a dyn Carry<K>>,
    pub(crate) level: u32,
    source: OltSource<'a, K>,
}

/// Where a level's regions come from.
enum OltSource<'a, const K: usize> {
    Roots(&'a Start<'a, K>),
    Families(Families),
}

/// Mixed regions of the level above.
struct Families {
    codes: Codes,
    payloads: Vec<AtomicU64>,
}

/// Slots are atomics so that workers fill disjoint ones through a shared reference; relaxed stores cost what plain ones
/// do, and the end of the pass orders them before any reader.
enum Codes {
    U32(Vec<AtomicU32>),
    U64(Vec<AtomicU64>),
}

impl Families {
    fn with_len(len: usize, wide: bool, payloads: bool) -> Result<Self, MemoryError> {
        let refused = MemoryError::refused(Stored::NextTable);
        let codes = if wide { zeros(len).map(Codes::U64) } else { zeros(len).map(Codes::U32) };
        let payloads = zeros(if payloads { len } else { 0 }).map_err(&refused)?;
        Ok(Self { codes: codes.map_err(&refused)?, payloads })
    }

    fn len(&self) -> usize {
        match &self.codes {
            Codes::U32(v) => v.len(),
            Codes::U64(v) => v.len(),
        }
    }

    fn get(&self, slot: usize) -> (u64, Payload) {
        let code = match &self.codes {
            Codes::U32(v) => u64::from(v[slot].load(Ordering::Relaxed)),
            Codes::U64(v) => v[slot].load(Ordering::Relaxed),
        };
        (code, Payload(self.payloads.get(slot).map_or(0, |payload| payload.load(Ordering::Relaxed))))
    }

    fn set(&self, slot: usize, (code, payload): (u64, Payload)) {
        match &self.codes {
            Codes::U32(v) => v[slot].store(code as u32, Ordering::Relaxed),
            Codes::U64(v) => v[slot].store(code, Ordering::Relaxed),
        }
        if let Some(slot) = self.payloads.get(slot) {
            slot.store(payload.0, Ordering::Relaxed);
        }
    }
}

impl<'a, const K: usize> Olt<'a, K> {
    /// The roots, in code order.
    pub(crate) fn roots(plan: &'a Plan<K>, carry: Option<&'a dyn Carry<K>>, start: &'a Start<'a, K>) -> Self {
        Self { plan, carry, level: start.level, source: OltSource::Roots(start) }
    }

    /// Scalars that the table holds.
    pub(crate) fn entries(&self) -> usize {
        match &self.source {
            OltSource::Roots(_) => 0,
            OltSource::Families(families) => families.len(),
        }
    }

    /// Regions that it stands for.
    pub(crate) fn len(&self) -> usize {
        match &self.source {
            OltSource::Roots(start) => start.len() as usize,
            OltSource::Families(families) => families.len() * self.children(),
        }
    }

    fn children(&self) -> usize {
        self.plan.scheme().children() as usize
    }

    /// Appends those of some regions that follow each other, with their payloads.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn read(&self, slots: Range<usize>, found: &mut Vec<(u64, Payload)>) -> Result<(), MemoryError> {
        reserve(found, slots.len()).map_err(MemoryError::refused(Stored::Children))?;
        match &self.source {
            OltSource::Roots(start) => {
                for slot in slots.map(|slot| slot as u64) {
                    found.push((start.code(slot), start.payload(self.plan, self.carry, slot)));
                }
            }
            OltSource::Families(families) => {
                let (level, children, mut codes) = (self.level - 1, self.children(), Vec::new());
                reserve(&mut codes, slots.len().min(children)).map_err(MemoryError::refused(Stored::Children))?;
                for number in slots.start / children..slots.end.div_ceil(children) {
                    let (code, payload) = families.get(number);
                    let first = number * children;
                    let mine = slots.start.max(first) - first..slots.end.min(first + children) - first;
                    if self.carry.is_some() {
                        found.extend_from_slice(&family(self.plan, self.carry, level, code, payload)?[mine]);
                        continue;
                    }
                    // Of a large family a piece has some children.
                    codes.resize(mine.len(), 0);
                    self.plan.encoding().children_from(level, code, mine.start as u64, &mut codes);
                    for &code in &codes {
                        found.push((code, Payload::default()));
                    }
                }
            }
        }
        Ok(())
    }

    /// The table of the next level: the families of the mixed regions (`mixed` has one word per region of `self`).
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn next(&self, mixed: &[bool], insertion: Insertion) -> Result<Self, MemoryError> {
        let (ranks, parents) = ranks(mixed);
        let wide = self.plan.code_bytes(self.level) == 8;
        let families = Families::with_len(parents, wide, self.carry.is_some())?;
        let cursor = AtomicUsize::new(0);
        parallel::try_each(ranks.len(), &|i| {
            let slots = piece(mixed.len(), PIECE, i);
            if !mixed[slots.clone()].contains(&true) {
                return Ok(());
            }
            let mut regions = Vec::new();
            self.read(slots.clone(), &mut regions)?;
            let parents = regions.into_iter().zip(&mixed[slots]).filter(|&(_, &mixed)| mixed);
            for (rank, (region, _)) in (ranks[i]..).zip(parents) {
                let slot = match insertion {
                    Insertion::Stable => rank,
                    Insertion::Atomic => cursor.fetch_add(1, Ordering::Relaxed),
                };
                families.set(slot, region);
            }
            Ok(())
        })?;
        Ok(Self { level: self.level + 1, source: OltSource::Families(families), ..*self })
    }
}

/// For each piece of `mixed` the number of mixed regions before it, and the number of all of them.
fn ranks(mixed: &[bool]) -> (Vec<usize>, usize) {
    let count = |i| mixed[piece(mixed.len(), PIECE, i)].iter().filter(|&&mixed| mixed).count();
    let mut ranks = parallel::map(mixed.len().div_ceil(PIECE), &count);
    let mut before = 0;
    for rank in &mut ranks {
        before += std::mem::replace(rank, before);
    }
    (ranks, before)
}

/// The children of one region, with their payloads, in code order.
///
/// # Errors
/// If there is no memory for them.
#[inline]
pub(crate) fn family<const K: usize>(
    plan: &Plan<K>,
    carry: Option<&dyn Carry<K>>,
    level: u32,
    code: u64,
    payload: Payload,
) -> Result<Vec<(u64, Payload)>, MemoryError> {
    let refused = MemoryError::refused(Stored::Children);
    let len = plan.scheme().children() as usize;
    let mut codes = zeros(len).map_err(&refused)?;
    plan.encoding().children(level, code, &mut codes);
    let mut payloads = copies(Payload::default(), len).map_err(&refused)?;
    if let Some(carry) = carry {
        let regions: Vec<_> = codes.iter().map(|&child| plan.region(level + 1, child)).collect();
        carry.split(&plan.region(level, code), payload, &regions, &mut payloads);
    }
    let mut family = Vec::new();
    reserve(&mut family, len).map_err(&refused)?;
    for i in 0..len {
        family.push((codes[i], payloads[i]));
    }
    Ok(family)
}
