//! Data that a field is made of, read before: what a file holds.

use std::sync::Arc;

use crate::field::stored_array::StoredArray;
use crate::list::StoredList;
use crate::mesh::Mesh;
use crate::per_axis;
use crate::points::Points;

/// What a field is made of. Equal data have equal content.
///
/// ```
/// use orthant::field::FieldData;
/// use orthant::mesh::Mesh;
///
/// let data = FieldData::from(Mesh::cuboid([0.0; 3], [2.0, 1.0, 1.0]).named("part.stl"));
/// assert_eq!(data.name(), Some("part.stl"));
/// // Cells are cubes. 62 of 64 along the longest axis lie over the box, the others beside it.
/// assert_eq!(data.window([64; 3]), Some([[-0.03125, 2.03125], [-0.53125, 1.53125], [-0.53125, 1.53125]]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldData {
    /// A surface, for the field `mesh`.
    Mesh(Arc<Mesh>),
    /// Points, for the field `points`.
    Points(Arc<Points>),
    /// Cells, for the field `array`.
    Array(Arc<StoredArray>),
    /// Cells with values and a background, for the field `array`.
    List(Arc<StoredList>),
}

impl From<Mesh> for FieldData {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(Arc::new(mesh))
    }
}

impl From<Points> for FieldData {
    fn from(points: Points) -> Self {
        Self::Points(Arc::new(points))
    }
}

impl From<StoredArray> for FieldData {
    fn from(array: StoredArray) -> Self {
        Self::Array(Arc::new(array))
    }
}

impl From<StoredList> for FieldData {
    fn from(list: StoredList) -> Self {
        Self::List(Arc::new(list))
    }
}

impl FieldData {
    /// What it is called: the name of its file.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Mesh(mesh) => mesh.name(),
            Self::Points(points) => points.name(),
            Self::Array(array) => Some(array.name()),
            Self::List(list) => Some(list.name()),
        }
    }

    /// A hash of its content, as `xxh3:` and sixteen hexadecimal digits.
    pub fn hash(&self) -> String {
        match self {
            Self::Mesh(mesh) => mesh.hash(),
            Self::Points(points) => points.hash(),
            Self::Array(array) => array.hash(),
            Self::List(list) => list.hash(),
        }
    }

    /// The window that so many cells cover unless another is given; None in dimensions that the data do not have.
    ///
    /// Of a mesh: cells are cubes, as small as they can be so that all of it is covered, with 1/64 of its longest side
    /// on every side of it. It lies in the middle. Of points: [their own](Points::window). An array
    /// lies where its file says, else in cells. A list of cells lies in cells.
    pub fn window<const K: usize>(&self, size: [u32; K]) -> Option<[[f64; 2]; K]> {
        self.window_of_axes(&size)?.try_into().ok()
    }

    /// The same before the number of axes is a type.
    pub(crate) fn window_of_axes(&self, size: &[u32]) -> Option<Vec<[f64; 2]>> {
        let window = match self {
            Self::Array(array) => array.window.clone()?,
            Self::List(_) => return None,
            Self::Points(points) => points.window(size).ok()?,
            Self::Mesh(mesh) => window_of_mesh(&mesh.bounds(), size.try_into().ok()?).into(),
        };
        (window.len() == size.len()).then_some(window)
    }
}

/// The window that so many cells cover of a mesh with these bounds.
fn window_of_mesh(bounds: &[[f64; 2]; 3], size: &[u32; 3]) -> [[f64; 2]; 3] {
    let longest = bounds.iter().map(|[low, high]| high - low).fold(0.0, f64::max);
    let wide = |j: usize| bounds[j][1] - bounds[j][0] + longest / 32.0;
    let pitch = (0..3).map(|j| wide(j) / f64::from(size[j])).fold(0.0, f64::max);
    per_axis::each(|j| {
        let [low, high] = bounds[j];
        let (middle, half) = (low + (high - low) / 2.0, pitch * f64::from(size[j]) / 2.0);
        [middle - half, middle + half]
    })
}
