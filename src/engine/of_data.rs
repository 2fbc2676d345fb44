//! The plan of data that a request holds: an array, a list of cells, or points, which say themselves how large they are and where they lie.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::engine::domain_axes::DomainAxes;
use crate::engine::request::Request;
use crate::field::{FieldData, FieldKind};
use crate::per_axis;
use crate::plan::Plan;

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
                axes("array", array.size().len(), K)?;
                let window = array.window.as_ref().map(|window| per_axis::each(|j| window[j]));
                let (size, series) = (per_axis::each(|j| array.size()[j]), per_axis::each(|j| array.series[j]));
                Some(self.computed.divided(size, window, series, self.rule(K))?)
            }
            Some(FieldData::List(list)) => {
                axes("list", list.size().len(), K)?;
                Some(self.computed.list_plan_by(Some(list.size()), self.rule(K))?)
            }
            Some(FieldData::Points(points)) => Some(self.computed.points_plan(points.extent())?),
            Some(FieldData::Mesh(_)) | None => None,
        })
    }

    /// The cells and the window of the data; None if the field has them.
    pub(super) fn data_domain(&self, k: usize) -> Result<Option<DomainAxes>, Error> {
        Ok(match self.own_data() {
            Some(FieldData::Array(array)) => {
                axes("array", array.size().len(), k)?;
                Some(self.computed.array_domain(array.size(), array.window.as_deref())?)
            }
            Some(FieldData::List(list)) => {
                axes("list", list.size().len(), k)?;
                Some(self.computed.list_axes(Some(list.size()), k)?)
            }
            Some(FieldData::Points(points)) => Some(self.computed.points_domain(points.extent(), k)?),
            Some(FieldData::Mesh(_)) | None => None,
        })
    }
}

/// Refuses data of another number of axes.
fn axes(what: &str, axes: usize, k: usize) -> Result<(), Error> {
    let wrong = || ChoiceError::new("dim", k, format!("the {what} has {axes} axes")).into();
    (axes == k).then_some(()).ok_or_else(wrong)
}
