//! Trees of data that a request holds, from the cells up.

use std::io;

use crate::backend::{Control, Error};
use crate::cell::CellType;
use crate::choice::ChoiceError;
use crate::dimension::here;
use crate::field::{FieldData, StoredArray};
use crate::geometry::Region;
use crate::per_axis;
use crate::plan::Plan;
use crate::points::PointsValue;
use crate::tree::bottom_up::BottomUp;
use crate::tree::error::TreeError;
use crate::tree::list::CellList;
use crate::tree::points::FromPoints;
use crate::tree::source::{InMemory, Source, copy_rows};
use crate::tree::stored::Tree;

impl<const K: usize> Tree<K> {
    /// Makes the tree of data: of an array, of a list of cells, or of points, of which cells have `value`. The rule of the plan is
    /// `full`. Regions are those of a run of the same plan.
    ///
    /// ```
    /// use orthant::field::{FieldData, StoredArray};
    /// use orthant::points::PointsValue;
    /// use orthant::prelude::*;
    /// use orthant::{CellType, Control};
    ///
    /// let cells = (0..64 * 64).map(|i| u8::from(i % 64 < 40)).collect();
    /// let data = FieldData::from(StoredArray::new("left.npy", CellType::U8, vec![64, 64], cells)?);
    /// let mut request = Request::new(FieldKind::Array).data(data.clone());
    /// request.how = How::default().strategy(StrategyKind::BottomUp);
    /// let plan = request.plan::<2>()?;
    /// let tree = Tree::from_data(&plan, &data, PointsValue::Occupied, None, &Control::default())?;
    /// assert_eq!((tree.get([39, 7]), tree.get([40, 7])), (Some(1u8), Some(0u8)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Rule`] of a plan of another rule; [`TreeError::Size`], [`TreeError::Points`] or [`TreeError::List`] of data that are
    /// not of the plan's domain; [`TreeError::Run`] of a mesh, which has no cells to begin with, of an interrupt, and if `limit` bytes do
    /// not hold the tree.
    pub fn from_data(
        plan: &Plan<K>,
        data: &FieldData,
        value: PointsValue,
        limit: Option<u64>,
        control: &Control,
    ) -> Result<Self, TreeError> {
        here!(fn(&Plan<K>, &FieldData, PointsValue, Option<u64>, &Control) -> Result<Tree<K>, TreeError> =
            Tree::<K>::from_data_here)(plan, data, value, limit, control)
    }

    fn from_data_here(
        plan: &Plan<K>,
        data: &FieldData,
        value: PointsValue,
        limit: Option<u64>,
        control: &Control,
    ) -> Result<Self, TreeError> {
        let most = limit.unwrap_or(u64::MAX);
        check(data, K)?;
        match data {
            FieldData::Array(array) => {
                BottomUp::new(plan, &StoredCells(array))?.mem_limit(most).control(control).tree()
            }
            FieldData::List(list) => {
                // To the last level, as runs divide.
                let cells = CellList::new(plan, list.kind())?.background(list.background());
                let mut cells = cells.most(0).mem_limit(most);
                cells.reserve(list.len())?;
                for (cell, word) in list.entries() {
                    cells.push(per_axis::each(|j| cell[j]), word)?;
                }
                cells.sorted(control)?.tree()
            }
            FieldData::Points(points) => FromPoints::new(plan, points, value)?.mem_limit(most).control(control).tree(),
            FieldData::Mesh(_) => unreachable!("a mesh was refused"),
        }
    }
}

/// Refuses data without cells, and data of another number of axes.
fn check(data: &FieldData, k: usize) -> Result<(), Error> {
    let found = match data {
        FieldData::Array(array) => array.size().len(),
        FieldData::List(list) => list.size().len(),
        FieldData::Points(points) => points.axes(),
        FieldData::Mesh(_) => {
            let reason = "a mesh has no cells to join: ask, dp and exhaustive divide it";
            return Err(ChoiceError::new("strategy", "bottom-up", reason).into());
        }
    };
    if found != k {
        return Err(ChoiceError::new("dim", k, format!("the data have {found} axes")).into());
    }
    Ok(())
}

/// A stored array whose number of axes was looked at.
struct StoredCells<'a>(&'a StoredArray);

impl<const K: usize> Source<K> for StoredCells<'_> {
    fn kind(&self) -> CellType {
        self.0.kind()
    }

    fn size(&self) -> [u32; K] {
        per_axis::each(|j| self.0.size()[j])
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        Some(InMemory::new(self.0.bytes()))
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        copy_rows(Source::<K>::size(self), self.0.bytes(), window, bytes);
        Ok(())
    }
}
