//! Points that memory does not hold: sorted runs in one file, of which a range of codes is read at a time.
//!
//! As many points as memory holds are sorted and written one run after the other, 8 bytes for each point or 16 with a value: no more than
//! the numbers that they were made of. Whoever asks for regions asks along the curve, so that every run is read from front to back, once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use crate::memory::reserve;
use crate::result::{MemoryError, Stored};
use crate::tree::error::TreeError;
use crate::tree::points::record::SortedRecord;

/// Records between those whose keys are remembered.
const STEP: usize = if cfg!(test) { 16 } else { 1 << 12 };

/// Records that are written or read at once.
const TOGETHER: usize = 1 << 16;

/// A run: where it begins in the file, and every [`STEP`]-th key of it.
#[derive(Debug)]
struct SortedRun {
    start: u64,
    len: usize,
    keys: Vec<u64>,
}

impl SortedRun {
    /// A place that no record of a code from `code` on comes before.
    fn before(&self, code: u64, places: u32) -> usize {
        let steps = self.keys.partition_point(|&key| key >> places < code);
        steps.saturating_sub(1) * STEP
    }

    /// A place that all records of codes before `code` come before.
    fn after(&self, code: u64, places: u32) -> usize {
        (self.keys.partition_point(|&key| key >> places < code) * STEP).min(self.len)
    }
}

/// Runs of sorted points in a file.
#[derive(Debug)]
pub(super) struct SortedRuns {
    file: Mutex<File>,
    runs: Vec<SortedRun>,
    len: usize,
}

impl SortedRuns {
    /// None yet, in an empty file.
    pub(super) fn new(file: File) -> Self {
        Self { file: Mutex::new(file), runs: Vec::new(), len: 0 }
    }

    /// Points in all runs.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// So many points are read of a range, however few it has.
    pub(super) fn least(&self) -> usize {
        4 * STEP * self.runs.len()
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| 8 * run.keys.len() as u64).sum()
    }

    /// Writes points that are sorted, which come after those before them where codes are equal.
    pub(super) fn push<R: SortedRecord>(&mut self, records: &[R]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let start = file.seek(SeekFrom::End(0))?;
        let mut bytes = Vec::with_capacity(TOGETHER * R::BYTES);
        for some in records.chunks(TOGETHER) {
            bytes.clear();
            some.iter().for_each(|record| record.write(&mut bytes));
            file.write_all(&bytes)?;
        }
        let keys = records.iter().step_by(STEP).map(|record| record.key()).collect();
        self.runs.push(SortedRun { start, len: records.len(), keys });
        self.len += records.len();
        Ok(())
    }

    /// About how many points have codes from the first to the last, and never fewer than there are.
    pub(super) fn at_most(&self, [first, last]: [u64; 2], places: u32) -> usize {
        self.spans([first, last], places).iter().map(|(_, start, end)| end - start).sum()
    }

    /// Where those points lie in each run.
    fn spans(&self, [first, last]: [u64; 2], places: u32) -> Vec<(&SortedRun, usize, usize)> {
        let span = |run: &'_ SortedRun| {
            let end = last.checked_add(1).map_or(run.len, |beyond| run.after(beyond, places));
            (run.before(first, places), end)
        };
        self.runs.iter().map(|run| (run, span(run))).map(|(run, (start, end))| (run, start, end.max(start))).collect()
    }

    /// The points of codes from the first to the last, run after run.
    pub(super) fn read<R: SortedRecord>(&self, codes: [u64; 2], places: u32) -> Result<Vec<R>, TreeError> {
        let [first, last] = codes;
        let mut found = Vec::new();
        let most = self.at_most(codes, places);
        reserve(&mut found, most).map_err(MemoryError::refused(Stored::Points))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; TOGETHER * R::BYTES];
        for (run, start, end) in self.spans(codes, places) {
            file.seek(SeekFrom::Start(run.start + (start * R::BYTES) as u64))?;
            let mut left = end - start;
            while left > 0 {
                let some = &mut bytes[..left.min(TOGETHER) * R::BYTES];
                file.read_exact(some)?;
                let records = some.chunks_exact(R::BYTES).map(R::read);
                found.extend(records.filter(|record| (first..=last).contains(&(record.key() >> places))));
                left -= some.len() / R::BYTES;
            }
        }
        Ok(found)
    }
}
