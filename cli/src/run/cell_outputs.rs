//! The pictures and arrays of a run.

use std::borrow::Cow;

use orthant::geometry::Region;
use orthant::result::{DenseArray, MaterialiseError, RegionsChecksum};
use orthant::tree::Collector;
use orthant::{Control, Subdivision, Tree};
use orthant_formats::export::npy;

use super::outputs::{Format, Outputs, finish};
use super::painted::Painted;
use crate::error::Error;
use crate::output::png::Caption;
use crate::output::{Slice, Staged, legend, overlay, png};
use crate::voice::Voice;

/// The cells and the regions that a run kept.
pub(super) enum Kept<const K: usize> {
    /// A dense array, and what regions were found beside it; or what nothing is shown of.
    Run(Subdivision<K>),
    /// Regions and their cells.
    Tree(Tree<K>),
}

impl<const K: usize> Kept<K> {
    /// What a run left: a tree in at most `limit` bytes if its regions are shown, which have no dense array.
    ///
    /// # Errors
    /// If there is no memory for the tree, or the run kept no cells.
    pub(super) fn of(run: Subdivision<K>, shown: bool, limit: Option<u64>) -> Result<Self, Error> {
        if !shown || run.array().is_some() {
            return Ok(Self::Run(run));
        }
        Ok(Self::Tree(Collector::of(run)?.mem_limit(limit.unwrap_or(u64::MAX)).tree()?))
    }

    /// The dense array, if it was kept.
    pub(super) fn array(&self) -> Option<&DenseArray<K>> {
        match self {
            Self::Run(run) => run.array(),
            Self::Tree(_) => None,
        }
    }

    /// The checksum of the regions, if they were kept.
    pub(super) fn regions_checksum(&self) -> Option<RegionsChecksum> {
        match self {
            Self::Run(run) => run.regions_checksum(),
            Self::Tree(tree) => Some(tree.checksum()),
        }
    }

    /// A tree of all cells, which is never there beside what it is made of.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn into_tree(self) -> Result<Tree<K>, Error> {
        match self {
            Self::Run(run) => Ok(Tree::of(run)?),
            Self::Tree(tree) => Ok(tree),
        }
    }

    /// The cells of a slice at least, in `limit` bytes if they have to be made of regions.
    fn cells(&self, slice: &Slice<K>, limit: Option<u64>) -> Result<Cow<'_, DenseArray<K>>, Error> {
        Ok(match self {
            Self::Run(run) => Cow::Borrowed(run.array().ok_or(MaterialiseError::NotKept)?),
            Self::Tree(tree) => Cow::Owned(tree.array(&slice.window(tree.plan().domain().size()), limit)?),
        })
    }

    /// All regions, each with its level.
    fn regions(&self) -> Box<dyn Iterator<Item = (u32, Region<K>)> + '_> {
        match self {
            Self::Run(run) => Box::new(run.terminals().iter().map(|one| (one.level(), run.region(one)))),
            Self::Tree(tree) => Box::new(tree.regions().map(|region| (region.level(), region.cells()))),
        }
    }
}

/// How pictures are drawn.
pub(super) struct HowDrawn<'a, const K: usize> {
    pub(super) slice: &'a Slice<K>,
    pub(super) caption: Caption,
    /// The levels of the subdivision, each of which has a colour in the overlay.
    pub(super) levels: usize,
}

/// What shows the cells of a run.
pub(super) struct CellOutputs<'a, const K: usize> {
    kept: &'a Kept<K>,
    /// The cells of pictures and their colours; None if there is no picture.
    drawn: Option<(Cow<'a, DenseArray<K>>, Painted)>,
    drawing: HowDrawn<'a, K>,
    control: &'a Control,
    voice: Voice,
}

impl<'a, const K: usize> CellOutputs<'a, K> {
    /// Reads the cells that `outputs` show as pictures, within `limit` bytes, and says if all of them are alike.
    ///
    /// # Errors
    /// If the cells take more, or were not kept.
    pub(super) fn new(
        kept: &'a Kept<K>,
        (outputs, limit): (&Outputs, Option<u64>),
        painted: impl FnOnce(&DenseArray<K>) -> Painted,
        drawing: HowDrawn<'a, K>,
        (control, voice): (&'a Control, Voice),
    ) -> Result<Self, Error> {
        let cells = outputs.pictures().then(|| kept.cells(drawing.slice, limit)).transpose()?;
        if K > 2 && cells.as_ref().is_some_and(|cells| drawing.slice.is_uniform(cells)) {
            voice.say("orthant: every cell of the picture has one value; --slice names another slice");
        }
        let drawn = cells.map(|cells| {
            let painted = painted(&cells);
            (cells, painted)
        });
        Ok(Self { kept, drawn, drawing, control, voice })
    }

    /// Writes the overlay, if one is asked for, then pictures and arrays.
    ///
    /// # Errors
    /// If one cannot be written.
    pub(super) fn write(&self, overlay: Option<Staged>, arrays: Vec<(Format, Staged)>) -> Result<(), Error> {
        let Self { kept, drawn, drawing: HowDrawn { slice, caption, levels }, control, voice } = self;
        if let (Some(staged), Some((cells, painted))) = (overlay, drawn) {
            let mut regions = kept.regions();
            finish(staged, control, *voice, &mut |out| {
                overlay::write(&slice.of(cells), (*levels, &mut regions), slice, &painted.palette, caption, out)
            })?;
        }
        for (format, staged) in arrays {
            finish(staged, control, *voice, &mut |out| match (format, drawn, kept) {
                (Format::Png, Some((cells, Painted { labels: Some(labels), .. })), _) => {
                    legend::write(&slice.of(cells), labels, false, caption, out)
                }
                (Format::Png, Some((cells, painted)), _) => {
                    png::write(&slice.of(cells), &painted.palette, caption, out)
                }
                (Format::Png, None, _) => unreachable!("cells of pictures were read"),
                (Format::Npy, _, Kept::Tree(tree)) => Ok(npy::write(tree, out)?),
                (Format::Npy, _, Kept::Run(_)) => {
                    let array = kept.array().expect("a run is shown by its array, or as a tree");
                    npy::header(&array.size(), array.cells().kind(), out)?;
                    array.cells().le_bytes(0..array.cells().len(), |bytes| out.write_all(bytes))
                }
            })?;
        }
        Ok(())
    }
}
