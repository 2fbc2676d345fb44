//! The plan of data that a request holds: an array, a list of cells, or points, which say themselves how large they are and where they lie.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::engine::request::Request;
use crate::field::{FieldData, FieldKind, StoredArray};
use crate::geometry::Domain;
use crate::per_axis;
use crate::plan::Plan;

/// Size, window and series axes of an array.
type ArrayFacts<const K: usize> = ([u32; K], Option<[[f64; 2]; K]>, [bool; K]);

impl Request {
    /// What is run, if it is data that have a plan of their own.
    fn own_data(&self) -> Option<&FieldData> {
        let data = self.data.as_ref()?;
        let of = match data {
            FieldData::Array(_) | FieldData::List(_) => FieldKind::Array,
            FieldData::Points(_) => FieldKind::Points,
            FieldData::Mesh(_) => return None,
        };
        (self.workload == of).then_some(data)
    }

    /// How many axes the data have.
    pub(super) fn data_axes(&self) -> Option<usize> {
        self.own_data().and_then(|data| match data {
            FieldData::Array(array) => Some(array.size().len()),
            FieldData::List(list) => Some(list.size().len()),
            FieldData::Points(points) => Some(points.axes()),
            FieldData::Mesh(_) => None,
        })
    }

    /// The plan of the data; None if they have none of their own.
    pub(super) fn data_plan<const K: usize>(&self) -> Result<Option<Plan<K>>, Error> {
        Ok(match self.own_data() {
            Some(FieldData::Array(array)) => {
                let (size, window, series) = facts::<K>(array)?;
                Some(self.computed.divided(size, window, series, self.rule(K))?)
            }
            Some(FieldData::List(list)) => {
                axes::<K>("list", list.size().len())?;
                Some(self.computed.list_plan_by(Some(list.size()), self.rule(K))?)
            }
            Some(FieldData::Points(points)) => Some(self.computed.points_plan(points.extent())?),
            Some(FieldData::Mesh(_)) | None => None,
        })
    }

    /// The cells and the window of the data; None if the field has them.
    pub(super) fn data_domain<const K: usize>(&self) -> Result<Option<Domain<K>>, Error> {
        Ok(match self.own_data() {
            Some(FieldData::Array(array)) => {
                let (size, window, _) = facts::<K>(array)?;
                Some(self.computed.array_domain(size, window)?)
            }
            Some(FieldData::List(list)) => {
                axes::<K>("list", list.size().len())?;
                Some(self.computed.list_domain(Some(list.size()))?)
            }
            Some(FieldData::Points(points)) => Some(self.computed.points_domain(points.extent())?),
            Some(FieldData::Mesh(_)) | None => None,
        })
    }
}

/// Refuses data of another number of axes.
fn axes<const K: usize>(what: &str, axes: usize) -> Result<(), Error> {
    let wrong = || ChoiceError::new("dim", K, format!("the {what} has {axes} axes")).into();
    (axes == K).then_some(()).ok_or_else(wrong)
}

/// What an array says itself.
fn facts<const K: usize>(array: &StoredArray) -> Result<ArrayFacts<K>, Error> {
    axes::<K>("array", array.size().len())?;
    let window = array.window.as_ref().map(|window| per_axis::each(|j| window[j]));
    Ok((per_axis::each(|j| array.size()[j]), window, per_axis::each(|j| array.series[j])))
}
