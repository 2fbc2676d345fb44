//! A mesh over a domain.

use std::sync::Arc;

use crate::abi::device_struct;
use crate::cell::WordsMut;
use crate::field::data::FieldData;
use crate::field::data_value::DataValue;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::mesh::distance::{BAND, MeshDistance};
use crate::field::mesh::lattice::MeshLattice;
use crate::field::mesh::rows::{MeshRows, OfPlanes};
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::rule::{RuleKind, Verdict};

/// One line for lists.
pub(crate) const ABOUT: &str = "a closed surface of triangles in a file: cells inside of it, or cells that it meets";

/// What a bare run uses.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults { size: 256, g: 4, r: 2, b: 4, explore: RuleKind::Certified, ..Defaults::unit(k) }
}

/// Opens a mesh, which `options` hold as their data, over a domain.
///
/// With [`DataValue::Inside`], the usual value, a cell is 1 if its sample lies inside of the mesh, else 0. The mesh has to be closed.
/// With [`DataValue::Surface`] a cell is 1 if it meets a triangle, its faces included. With [`DataValue::Distance`] a cell is the
/// distance of its sample from the nearest triangle as an f32, in the units of the mesh and negative inside. From
/// [`band`](FieldOptions::band) of the longest edges of cells on, it is the width of that band. The mesh has to be closed.
///
/// ```
/// use orthant::field::{DataValue, FieldData, FieldOptions, mesh};
/// use orthant::mesh::Mesh;
/// use orthant::prelude::*;
///
/// // Half of the window is inside.
/// let data = FieldData::from(Mesh::cuboid([0.0; 3], [8.0, 8.0, 4.0]));
/// let plan = Plan::builder([8; 3]).window([[0.0, 8.0]; 3]).rule(RuleKind::Certified).build()?;
/// let field = mesh::open(plan.domain(), &FieldOptions::default().data(data.clone()))?;
/// let found = run(&plan, &*field)?;
/// assert_eq!([[0, 0, 3], [0, 0, 4]].map(|cell| found.array().unwrap().label(cell)), [1, 0]);
/// // The surface meets the cells on both sides of it.
/// let field = mesh::open(plan.domain(), &FieldOptions::default().data(data).value(DataValue::Surface))?;
/// let found = run(&plan, &*field)?;
/// assert_eq!([[4, 4, 3], [4, 4, 4], [4, 4, 5]].map(|cell| found.array().unwrap().label(cell)), [1, 1, 0]);
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// [`FieldError`] if there are no data or the mesh is open, with the place of the hole; if there is no memory for
/// the rows of the cells or the triangles near them; if distances are too large or too small for an f32.
pub fn open(domain: &Domain<3>, options: &FieldOptions) -> Result<Box<dyn Field<3>>, FieldError> {
    let Some(FieldData::Mesh(mesh)) = &options.data else {
        return Err(FieldError::NoData { field: "mesh", what: "a file of triangles: STL, OBJ, PLY or OFF" });
    };
    let value = options.value.unwrap_or(DataValue::Inside);
    if [DataValue::Inside, DataValue::Distance].contains(&value) {
        let name = || mesh.name().unwrap_or("the mesh").to_owned();
        mesh.closed().map_err(|error| FieldError::Mesh { name: name(), error })?;
    }
    let lattice = MeshLattice::new(mesh, domain)?;
    let limit = options.mem_limit.unwrap_or(u64::MAX);
    let rows = match value {
        DataValue::Inside | DataValue::Distance => MeshRows::inside(&lattice, limit),
        DataValue::Surface => MeshRows::surface(&lattice, limit),
        _ => return Err(FieldError::Value { field: "mesh", value }),
    };
    let rows = rows.map_err(|refused| FieldError::Memory { what: "the rows of a mesh", need: refused.bytes })?;
    if value == DataValue::Distance {
        let left = limit.saturating_sub(rows.bytes());
        return Ok(Box::new(MeshDistance::open(rows, &lattice, domain, options.band.unwrap_or(BAND), left)?));
    }
    Ok(Box::new(MeshField { rows: rows.into() }))
}

/// A set of cells by its rows.
struct MeshField {
    rows: Arc<MeshRows>,
}

device_struct! {
    /// What is known of planes, the starts and the changes of their rows, and the first plane and how many there are.
    struct MeshArgs { planes: u64, starts: u64, changes: u64, first: u32, count: u32 }
}

impl Field<3> for MeshField {
    fn labels(&self) -> Labels {
        Labels::counts(1)
    }

    fn host(&self) -> Option<&dyn Evaluate<3>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<3>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let planes = self.rows.table();
        let args = MeshArgs { first: self.rows.first, count: planes.len() as u32, ..MeshArgs::default() };
        let of_planes = |changes| Arc::new(OfPlanes { rows: self.rows.clone(), changes });
        let twin =
            DeviceTwin::built_in("fields/mesh.cuh", &args).proves().proofs_add_up().with("planes", Arc::new(planes));
        Some(twin.with("starts", of_planes(false)).with("changes", of_planes(true)))
    }
}

impl Evaluate<3> for MeshField {
    fn evaluate(&self, cells: &[[u32; 3]], labels: WordsMut<'_>) {
        let words = labels.narrow();
        // The row of the last cell, and how many of its changes lie at it or before. No cell is the first last one.
        let (mut last, mut row, mut passed) = ([u32::MAX; 3], &[][..], 0);
        for (&cell, word) in cells.iter().zip(words) {
            let [x, y, z] = cell;
            if [y, z] != last[1..] || x < last[0] {
                row = self.rows.row(y, z);
                passed = row.partition_point(|&change| change <= x);
            } else {
                while row.get(passed).is_some_and(|&change| change <= x) {
                    passed += 1;
                }
            }
            last = cell;
            *word = passed as u32 & 1;
        }
    }
}

/// Complete: the answer is never that nothing is known.
impl Prove<3> for MeshField {
    fn prove(&self, region: &Region<3>, _: Payload) -> Verdict {
        let ([x, y, z], extent) = (region.corner, region.extent);
        let last = x + (extent[0] - 1);
        let mut label = None;
        for z in (0..extent[2]).map(|more| z + more) {
            for y in (0..extent[1]).map(|more| y + more) {
                let row = self.rows.row(y, z);
                let passed = row.partition_point(|&change| change <= x);
                let here = passed as u64 & 1;
                if row.get(passed).is_some_and(|&change| change <= last) || *label.get_or_insert(here) != here {
                    return Verdict::Mixed;
                }
            }
        }
        label.map_or(Verdict::Unknown, Verdict::Uniform)
    }
}
