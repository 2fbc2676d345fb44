//! Sorting by radix, on all threads, and stable: points and terminal regions.
//!
//! Records are first spread by their highest bits: every thread spreads chunks of its own, so that nobody writes where another does.
//! What has the same highest bits, of all chunks, is then gathered where it belongs and sorted in the cache. Where many records share
//! them (points of a scan lie dense in places) they are spread once more by the next bits.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::memory::{Refused, reserve};
use crate::parallel;

/// Bits by which records are spread.
const SPREAD: u32 = 11;

/// Records that a thread sorts by itself.
const TOGETHER: usize = 1 << 15;

/// A list of more than so many is spread again by all threads.
const MANY: usize = 1 << 20;

/// Records below which a list is sorted by comparing.
const FEW: usize = 64;

/// How a sort can end early.
pub(crate) struct Ends<'e, E> {
    /// Asked now and then whether to go on.
    pub(crate) check: &'e (dyn Fn() -> Result<(), E> + Sync),
    /// What it is if there is no memory for a second list.
    pub(crate) refused: &'e (dyn Fn(Refused) -> E + Sync),
}

/// Records that were spread: those of bucket b are `starts[b]..starts[b + 1]`.
pub(crate) struct SpreadRecords<R> {
    records: Vec<R>,
    starts: Vec<usize>,
}

impl<R> SpreadRecords<R> {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }
}

/// The bits that records are sorted by: those from `low` to before `high`; higher ones are the same in all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyBits {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl KeyBits {
    /// The lowest of the bits that records are spread by.
    fn shift(self) -> u32 {
        self.high.saturating_sub(SPREAD).max(self.low)
    }

    fn buckets(self) -> usize {
        1 << (self.high - self.shift())
    }

    #[inline]
    fn bucket(self, key: u64) -> usize {
        (key >> self.shift()) as usize & (self.buckets() - 1)
    }

    /// Those of the records of a bucket.
    fn below(self) -> Self {
        Self { low: self.low, high: self.shift() }
    }

    /// Without the highest of them that all records share.
    fn shared<R>(self, records: &[R], key: &impl Fn(&R) -> u64) -> Self {
        let Some(first) = records.first().map(key) else { return Self { high: self.low, ..self } };
        self.without_shared(records.iter().fold(0, |differ, record| differ | (key(record) ^ first)))
    }

    /// The same of many records, by all threads.
    fn shared_by_many<R: Sync>(self, records: &[R], key: &(impl Fn(&R) -> u64 + Sync)) -> Self {
        let first = key(&records[0]);
        let some = |i| {
            let records = &records[parallel::piece(records.len(), TOGETHER, i)];
            records.iter().fold(0, |differ, record| differ | (key(record) ^ first))
        };
        let found = parallel::map(records.len().div_ceil(TOGETHER), &some);
        self.without_shared(found.into_iter().fold(0, |differ, more| differ | more))
    }

    /// Up to the highest of the bits that differ.
    fn without_shared(self, differ: u64) -> Self {
        let highest = 64 - differ.leading_zeros();
        Self { low: self.low, high: self.high.min(highest.max(self.low)) }
    }
}

/// Spreads records by the highest of the bits, in their order.
pub(crate) fn spread<R: Copy>(
    records: &[R],
    bits: KeyBits,
    key: &impl Fn(&R) -> u64,
) -> Result<SpreadRecords<R>, Refused> {
    let mut starts = vec![0; bits.buckets() + 1];
    records.iter().for_each(|record| starts[bits.bucket(key(record)) + 1] += 1);
    (0..bits.buckets()).for_each(|bucket| starts[bucket + 1] += starts[bucket]);
    let mut places = starts.clone();
    let mut found = Vec::new();
    reserve(&mut found, records.len())?;
    // Any record: each place is written below.
    found.extend_from_slice(records);
    for record in records {
        let place = &mut places[bits.bucket(key(record))];
        found[*place] = *record;
        *place += 1;
    }
    Ok(SpreadRecords { records: found, starts })
}

/// Bytes beside a list of so many records while it is sorted: the records as they are spread, and those that threads sort in the
/// cache, which have a copy each.
pub(crate) fn room<R>(records: usize) -> u64 {
    let together = records.min(rayon::current_num_threads().saturating_mul(MANY));
    (records as u64).saturating_add(together as u64).saturating_mul(size_of::<R>() as u64)
}

/// Puts together what was spread, in the order of the bits: all records of `parts`, of which there are as many as `sorted` has.
pub(crate) fn gather<R: Copy + Send + Sync, E: Send>(
    parts: Vec<SpreadRecords<R>>,
    bits: KeyBits,
    sorted: &mut [R],
    key: &(impl Fn(&R) -> u64 + Sync),
    ends: &Ends<'_, E>,
) -> Result<(), E> {
    let len = |bucket: usize| parts.iter().map(|part| part.starts[bucket + 1] - part.starts[bucket]).sum::<usize>();
    // Buckets that follow each other, enough for a thread, and their places.
    let (mut tasks, mut rest, mut first, mut held) = (Vec::new(), sorted, 0, 0);
    for bucket in 0..bits.buckets() {
        held += len(bucket);
        if held >= TOGETHER || bucket + 1 == bits.buckets() {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(held);
            tasks.push((first..bucket + 1, Mutex::new(own)));
            (rest, first, held) = (others, bucket + 1, 0);
        }
    }
    let many = Mutex::new(Vec::new());
    parallel::try_each(tasks.len(), &|task| {
        (ends.check)()?;
        let (buckets, own) = &tasks[task];
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        let large = gather_some(&parts, buckets.clone(), &mut own, bits.below(), key);
        many.lock().unwrap_or_else(PoisonError::into_inner).extend(large.map(|range| (task, range)));
        Ok(())
    })?;
    // Else each list that is spread again would take room beside this one.
    drop(parts);
    for (task, range) in many.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let mut own = tasks[task].1.lock().unwrap_or_else(PoisonError::into_inner);
        sort(&mut own[range], bits.below(), key, ends)?;
    }
    Ok(())
}

/// The same of some buckets. What is left to be sorted, where that is much.
fn gather_some<R: Copy>(
    parts: &[SpreadRecords<R>],
    buckets: Range<usize>,
    sorted: &mut [R],
    bits: KeyBits,
    key: &impl Fn(&R) -> u64,
) -> Option<Range<usize>> {
    let (mut start, mut scratch, mut large) = (0, Vec::new(), None);
    for bucket in buckets {
        let mut end = start;
        for part in parts {
            let from = &part.records[part.starts[bucket]..part.starts[bucket + 1]];
            sorted[end..end + from.len()].copy_from_slice(from);
            end += from.len();
        }
        // A large one is the last of its task.
        if end - start > MANY {
            large = Some(start..end);
        } else {
            sort_few(&mut sorted[start..end], bits, key, &mut scratch);
        }
        start = end;
    }
    large
}

/// Sorts records by some bits of their keys, by all threads.
///
/// # Errors
/// What `ends` says.
pub(crate) fn sort<R: Copy + Send + Sync, E: Send>(
    records: &mut [R],
    bits: KeyBits,
    key: &(impl Fn(&R) -> u64 + Sync),
    ends: &Ends<'_, E>,
) -> Result<(), E> {
    (ends.check)()?;
    if records.len() <= MANY {
        sort_few(records, bits, key, &mut Vec::new());
        return Ok(());
    }
    let bits = bits.shared_by_many(records, key);
    if bits.high == bits.low {
        return Ok(());
    }
    let each = records.len().div_ceil(4 * rayon::current_num_threads()).max(TOGETHER);
    let part = |i| spread(&records[parallel::piece(records.len(), each, i)], bits, key);
    let parts = parallel::try_map(records.len().div_ceil(each), &part).map_err(ends.refused)?;
    gather(parts, bits, records, key, ends)
}

/// Sorts records by some bits of their keys, by one thread.
fn sort_few<R: Copy>(records: &mut [R], bits: KeyBits, key: &impl Fn(&R) -> u64, scratch: &mut Vec<R>) {
    if records.len() < 2 {
        return;
    }
    let bits = bits.shared(records, key);
    let width = bits.high - bits.low;
    if width == 0 {
        return;
    }
    // A digit has no more values than there are records to spread.
    let most = records.len().ilog2().clamp(1, 11);
    let passes = width.div_ceil(most);
    if records.len() < FEW || passes > 4 {
        records.sort_by_key(|record| key(record) >> bits.low);
        return;
    }
    scratch.clear();
    scratch.extend_from_slice(records);
    let digit = width.div_ceil(passes);
    let passes = width.div_ceil(digit);
    let mut counts = [0u32; 1 << 11];
    let (mut from, mut to) = (&mut *records, &mut scratch[..]);
    for pass in 0..passes {
        let shift = bits.low + pass * digit;
        let mask = (1usize << digit.min(bits.high - shift)) - 1;
        let value = |record: &R| (key(record) >> shift) as usize & mask;
        counts[..=mask].fill(0);
        from.iter().for_each(|record| counts[value(record)] += 1);
        let mut place = 0;
        for count in &mut counts[..=mask] {
            place += std::mem::replace(count, place);
        }
        for record in &*from {
            let place = &mut counts[value(record)];
            to[*place as usize] = *record;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests;
