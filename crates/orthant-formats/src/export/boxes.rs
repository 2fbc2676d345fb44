//! What is exported: cells that are handed out box by box.

use std::io;

use orthant::CellType;
use orthant::geometry::{Domain, Region, WindowError};
use orthant::per_axis;
use orthant::tree::{Source, Tree, TreeSource};

/// A source of cells with a place in space. An export does not read boxes that the source [knows](Source::known) to be
/// of one value.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::Boxes;
/// use orthant::ndarray::Array2;
///
/// /// How large an export is, before it is made.
/// fn bytes<const K: usize>(boxes: &dyn Boxes<K>) -> u128 {
///     boxes.domain().cells() * u128::from(boxes.kind().bytes())
/// }
/// let tree = Tree::<2>::from_array(Array2::<u16>::zeros((40, 60)).view())?;
/// assert_eq!(bytes(&tree), 40 * 60 * 2);
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
pub trait Boxes<const K: usize>: Source<K> {
    /// Where the cells lie.
    fn domain(&self) -> Domain<K>;
}

impl<const K: usize> std::fmt::Debug for dyn Boxes<K> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boxes").field("kind", &self.kind()).field("domain", &self.domain()).finish_non_exhaustive()
    }
}

impl<const K: usize> Boxes<K> for Tree<K> {
    fn domain(&self) -> Domain<K> {
        *self.plan().domain()
    }
}

impl<const K: usize> Boxes<K> for TreeSource<'_, K> {
    fn domain(&self) -> Domain<K> {
        *self.0.plan().domain()
    }
}

/// A box of other cells, as a domain of its own. Use it to export a part.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::{Boxes, Cutout, npy};
/// use orthant::geometry::Region;
/// use orthant::ndarray::Array2;
///
/// let numbered = Array2::from_shape_fn((10, 10), |(y, x)| (10 * y + x) as u8);
/// let tree = Tree::<2>::from_array(numbered.view())?;
/// // A box of it is a domain of its own, which lies where it did.
/// let cutout = Cutout::new(&tree, Region { corner: [4, 7], extent: [3, 2] })?;
/// assert_eq!(cutout.domain().window(), [[4.0, 7.0], [7.0, 9.0]]);
/// let mut cells = Vec::new();
/// npy::cells(&cutout, &mut cells)?;
/// assert_eq!(cells, [74, 75, 76, 84, 85, 86]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cutout<'b, const K: usize> {
    of: &'b dyn Boxes<K>,
    window: Region<K>,
    domain: Domain<K>,
}

impl<'b, const K: usize> Cutout<'b, K> {
    /// The cells of a box.
    ///
    /// # Errors
    /// If the box is empty or reaches beyond the domain.
    pub fn new(of: &'b dyn Boxes<K>, window: Region<K>) -> Result<Self, WindowError> {
        let whole = of.domain();
        window.within(whole.size())?;
        let (pitch, ends) = (whole.pitch(), whole.window());
        let end = |j: usize, cell: u32| match cell == whole.size()[j] {
            true => ends[j][1],
            false => f64::from(cell).mul_add(pitch[j], ends[j][0]),
        };
        let part = per_axis::each(|j| {
            let Region { corner, extent } = window;
            [end(j, corner[j]), end(j, corner[j] + extent[j])]
        });
        // Where cells coincide, a box of them has no width in the window's coordinates: it is then told by the whole's.
        let domain = Domain::new(window.extent, part, whole.sample());
        let domain = domain.or_else(|_| Domain::new(window.extent, ends, whole.sample()));
        Ok(Self { of, window, domain: domain.expect("a window of a domain, and cells") })
    }

    /// A box of it among the cells of the others.
    fn among(&self, part: &Region<K>) -> Region<K> {
        Region { corner: self.window.cell(part.corner), extent: part.extent }
    }
}

impl<const K: usize> Source<K> for Cutout<'_, K> {
    fn kind(&self) -> CellType {
        self.of.kind()
    }

    fn size(&self) -> [u32; K] {
        self.window.extent
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        self.of.read(&self.among(window), bytes)
    }

    fn known(&self, window: &Region<K>) -> io::Result<Option<u64>> {
        window.within(self.window.extent).map_err(io::Error::other)?;
        self.of.known(&self.among(window))
    }
}

impl<const K: usize> Boxes<K> for Cutout<'_, K> {
    fn domain(&self) -> Domain<K> {
        self.domain
    }
}
