//! A tree as a source of cells: what takes an array takes a tree.

use std::borrow::Cow;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cell::CellType;
use crate::geometry::Region;
use crate::result::{DenseArray, Stored};
use crate::tree::error::TreeError;
use crate::tree::parts::Parts;
use crate::tree::source::Source;
use crate::tree::stored::Tree;

/// Parts that stay in memory.
const HELD: usize = 4;

/// A tree, whose parts are read when cells of theirs are asked for; the last ones stay in memory.
pub struct Reading<'p, const K: usize> {
    parts: &'p dyn Parts<K>,
    /// The last one that was asked for comes last.
    held: Mutex<Vec<(usize, Held<'p, K>)>>,
}

type Held<'p, const K: usize> = Arc<Cow<'p, Tree<K>>>;

impl<'p, const K: usize> Reading<'p, K> {
    /// Of a tree.
    pub fn new(parts: &'p dyn Parts<K>) -> Self {
        Self { parts, held: Mutex::default() }
    }

    fn part(&self, index: usize) -> Result<Held<'p, K>, TreeError> {
        // No thread panics between taking a part out and putting it back.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let part = match held.iter().position(|(number, _)| *number == index) {
            Some(place) => held.remove(place).1,
            None => {
                if held.len() == HELD {
                    held.remove(0);
                }
                Arc::new(self.parts.part(index)?)
            }
        };
        held.push((index, part.clone()));
        Ok(part)
    }

    /// A box as an array.
    pub(super) fn array(&self, window: &Region<K>) -> Result<DenseArray<K>, TreeError> {
        let mut array = DenseArray::zeroed(Stored::Materialised, *window, self.kind())?;
        for index in self.parts.meeting(window)? {
            self.part(index)?.show(&mut array);
        }
        Ok(array)
    }

    /// The word that all cells of a box count as; None if there are several.
    pub(super) fn uniform(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        let mut found = None;
        for index in self.parts.meeting(window)? {
            let part = self.part(index)?;
            if !part.meets(window) {
                continue;
            }
            match part.uniform(window)? {
                Some(word) if *found.get_or_insert(word) == word => {}
                _ => return Ok(None),
            }
        }
        Ok(found)
    }
}

impl<const K: usize> Source<K> for Reading<'_, K> {
    fn kind(&self) -> CellType {
        self.parts.kind()
    }

    fn size(&self) -> [u32; K] {
        self.parts.plan().domain().size()
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        let mut array = self.array(window).map_err(io::Error::other)?;
        bytes.copy_from_slice(array.cells_mut().bytes_mut());
        Ok(())
    }

    fn known(&self, window: &Region<K>) -> io::Result<Option<u64>> {
        self.uniform(window).map_err(io::Error::other)
    }
}
