//! Offset lookup tables: the regions of one level, one scalar code each.
//!
//! A run holds two: the table of the level it reads and the table of the next level that it writes. The write table is
//! as large as the children that will enter it, which is R times the mixed parents and never more than the law
//! |T_i| = |G_i|·∏r_j of the ASK paper (eq. 28). Codes take four bytes where all codes of the level fit, else eight;
//! payloads lie beside them and take nothing for fields without one.

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
#[derive(Debug)]
pub(crate) struct Olt {
    pub(crate) level: u32,
    codes: Codes,
    payloads: Vec<AtomicU64>,
}

/// Slots are atomics so that workers fill disjoint ones through a shared reference; relaxed stores cost what plain ones
/// do, and the end of the pass orders them before any reader.
#[derive(Debug)]
enum Codes {
    U32(Vec<AtomicU32>),
    U64(Vec<AtomicU64>),
}

impl Olt {
    fn with_len(level: u32, wide: bool, payloads: bool, len: usize) -> Result<Self, MemoryError> {
        let codes = if wide { zeros(len).map(Codes::U64) } else { zeros(len).map(Codes::U32) };
        let refused = MemoryError::refused(Stored::NextTable);
        let payloads = zeros(if payloads { len } else { 0 }).map_err(&refused)?;
        Ok(Self { level, codes: codes.map_err(&refused)?, payloads })
    }

    /// The first table: the roots, in code order.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn roots<const K: usize>(
        plan: &Plan<K>,
        carry: Option<&dyn Carry<K>>,
        start: &Start<'_, K>,
    ) -> Result<Self, MemoryError> {
        let len = start.len() as usize;
        let olt = Self::with_len(start.level, plan.code_bytes(start.level) == 8, carry.is_some(), len)?;
        parallel::each(len.div_ceil(PIECE), &|i| {
            for slot in piece(len, PIECE, i) {
                olt.set(slot, start.code(slot as u64), start.payload(plan, carry, slot as u64));
            }
        });
        Ok(olt)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.codes {
            Codes::U32(v) => v.len(),
            Codes::U64(v) => v.len(),
        }
    }

    #[inline]
    pub(crate) fn code(&self, slot: usize) -> u64 {
        match &self.codes {
            Codes::U32(v) => u64::from(v[slot].load(Ordering::Relaxed)),
            Codes::U64(v) => v[slot].load(Ordering::Relaxed),
        }
    }

    #[inline]
    pub(crate) fn payload(&self, slot: usize) -> Payload {
        Payload(self.payloads.get(slot).map_or(0, |payload| payload.load(Ordering::Relaxed)))
    }

    #[inline]
    fn set(&self, slot: usize, code: u64, payload: Payload) {
        match &self.codes {
            Codes::U32(v) => v[slot].store(code as u32, Ordering::Relaxed),
            Codes::U64(v) => v[slot].store(code, Ordering::Relaxed),
        }
        if let Some(slot) = self.payloads.get(slot) {
            slot.store(payload.0, Ordering::Relaxed);
        }
    }

    /// The table of the next level: the children of the mixed regions (`mixed` has one word per entry of `self`).
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn children<const K: usize>(
        &self,
        plan: &Plan<K>,
        carry: Option<&dyn Carry<K>>,
        mixed: &[bool],
        insertion: Insertion,
    ) -> Result<Self, MemoryError> {
        let per_parent = plan.scheme().children() as usize;
        let (ranks, parents) = ranks(mixed);
        let next = self.level + 1;
        let olt = Self::with_len(next, plan.code_bytes(next) == 8, carry.is_some(), parents * per_parent)?;
        let cursor = AtomicUsize::new(0);
        parallel::try_each(ranks.len(), &|i| {
            let mut codes = zeros(per_parent).map_err(MemoryError::refused(Stored::Children))?;
            let mut rank = ranks[i];
            for parent in piece(mixed.len(), PIECE, i) {
                if !mixed[parent] {
                    continue;
                }
                let family = match insertion {
                    Insertion::Stable => rank,
                    Insertion::Atomic => cursor.fetch_add(1, Ordering::Relaxed),
                };
                rank += 1;
                let slot = family * per_parent;
                if carry.is_some() {
                    let children = self::family(plan, carry, self.level, self.code(parent), self.payload(parent))?;
                    for (i, &(code, payload)) in children.iter().enumerate() {
                        olt.set(slot + i, code, payload);
                    }
                } else {
                    plan.encoding().children(self.level, self.code(parent), &mut codes);
                    for (i, &code) in codes.iter().enumerate() {
                        olt.set(slot + i, code, Payload::default());
                    }
                }
            }
            Ok(())
        })?;
        Ok(olt)
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
    family.extend(codes.into_iter().zip(payloads));
    Ok(family)
}
