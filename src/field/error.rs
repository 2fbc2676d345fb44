//! What is wrong with a field.

use crate::bytes::Bytes;
use crate::cell::CellType;
use crate::field::data_value::DataValue;
use crate::field::formula::FormulaError;
use crate::geometry::DomainError;
use crate::mesh::MeshError;
use crate::per_axis::text;
use crate::points::PointsError;

/// Why there is no such field.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// It does not exist in so many dimensions.
    #[error("dim {k}: {field} exists in {} dimensions", list(dims))]
    Dimension {
        /// The field's name.
        field: &'static str,
        /// The number asked for.
        k: usize,
        /// Those there are.
        dims: &'static [usize],
    },
    /// A field that is CUDA source, without one.
    #[error("source: the field 'kernel' needs one, a file of CUDA source")]
    NoSource,
    /// A field that is made of data, without them.
    #[error("input: the field '{field}' needs one, {what}")]
    NoData {
        /// The field's name.
        field: &'static str,
        /// What it needs.
        what: &'static str,
    },
    /// A mesh that has no such cells.
    #[error("{name}: {error}")]
    Mesh {
        /// What the mesh is called.
        name: String,
        /// What is wrong.
        error: MeshError,
    },
    /// Points that have no such cells.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// A value of other data.
    #[error("value: {field} has no value '{value}'; it has {}", of_field(field))]
    Value {
        /// The field's name.
        field: &'static str,
        /// The value.
        value: DataValue,
    },
    /// A mesh that is much larger than the window, or too many cells, so that they cannot be compared exactly.
    #[error("domain: the mesh and the window span {cells:e} cells on an axis; up to {most:e} can be compared exactly")]
    MeshSpan {
        /// Cells from the lower end of the window to the farthest vertex.
        cells: f64,
        /// Those that there may be.
        most: f64,
    },
    /// Distances that an f32 does not hold.
    #[error(
        "domain: cells have an edge of {edge:e}, and a band of {band} of them is too wide or too narrow for distances of type f32; scale the mesh"
    )]
    Distances {
        /// The longest edge of a cell.
        edge: f64,
        /// The width of the band, in edges.
        band: u32,
    },
    /// An array with another number of axes than the field.
    #[error("the array has {found} axes, the field {k}")]
    ArrayAxes {
        /// Axes of the array.
        found: usize,
        /// K.
        k: usize,
    },
    /// An array of another size than the domain.
    #[error("the array has {} cells, and the domain {}", text(found), text(domain))]
    ArraySize {
        /// Cells per axis of the array.
        found: Vec<u32>,
        /// Those of the domain.
        domain: Vec<u32>,
    },
    /// Bytes that are not those of an array's cells.
    #[error("an array of {} cells of type {kind} does not have {found} bytes", text(size))]
    ArrayBytes {
        /// Cells per axis.
        size: Vec<u32>,
        /// The type of a cell.
        kind: CellType,
        /// Bytes there are.
        found: u64,
    },
    /// An array without elements.
    #[error("the array is empty")]
    EmptyArray,
    /// An address on a device at which no array begins.
    #[error(
        "an array on a device: its address is {address:#x}; elements of {kind} begin at a multiple of {bytes} that is not 0",
        bytes = kind.bytes()
    )]
    DeviceAddress {
        /// The address.
        address: u64,
        /// The type of an element.
        kind: CellType,
    },
    /// Something that the field keeps, and there is no memory for.
    #[error("{what} would take {}, more than there is memory for", Bytes(*need))]
    Memory {
        /// What it keeps.
        what: &'static str,
        /// Bytes needed.
        need: u128,
    },
    /// An array with more cells on an axis than a domain can have.
    #[error("the array has {cells} cells on an axis, and at most 2^32 - 1 can be")]
    LongArray {
        /// Cells of that axis.
        cells: usize,
    },
    /// A name that a field cannot have.
    #[error("a field cannot be named '{name}': names are not empty, and are one field's")]
    Name {
        /// The name.
        name: &'static str,
    },
    /// Fields were registered already.
    #[error("fields are registered once, all together")]
    Registered,
    /// A text that is no formula.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A factor over some of the axes that cannot be.
    #[error(transparent)]
    Domain(#[from] DomainError),
}

/// The values of cells that a field has.
fn of_field(field: &str) -> String {
    let of_points = field == "points";
    let own = DataValue::ALL.iter().filter(|value| value.of_points().is_some() == of_points);
    own.map(|value| value.name()).collect::<Vec<_>>().join(", ")
}

fn list(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
