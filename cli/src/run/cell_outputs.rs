//! The pictures and arrays of a run.

use std::borrow::Cow;

use orthant::geometry::Region;
use orthant::result::{DenseArray, MaterialiseError, MemoryError, RegionsChecksum, Stored};
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
pub(super) enum KeptCells<const K: usize> {
    /// A dense array and the regions that were found beside it, or a run of which no output shows cells.
    Run(Subdivision<K>),
    /// Regions and their cells.
    Tree(Tree<K>),
}

impl<const K: usize> KeptCells<K> {
    /// What a run left: a tree in at most `limit` bytes if its regions are shown, which have no dense array.
    ///
    /// # Errors
    /// If there is no memory for the tree, or the run kept no cells.
    pub(super) fn of(run: Subdivision<K>, drawn: bool, limit: Option<u64>) -> Result<Self, Error> {
        if !drawn || run.array().is_some() {
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

    /// A tree of all cells. It takes the place of the run, so that memory does not hold both.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn into_tree(self) -> Result<Tree<K>, Error> {
        match self {
            Self::Run(run) => Ok(Tree::of(run)?),
            Self::Tree(tree) => Ok(tree),
        }
    }

    /// The bytes of a tree, beside which its cells are shown.
    fn tree_bytes(&self) -> u64 {
        match self {
            Self::Run(_) => 0,
            Self::Tree(tree) => tree.bytes(),
        }
    }

    /// The cells of a slice, which fit `limit` bytes together with the tree that they are read from.
    fn cells(&self, slice: &Slice<K>, limit: Option<u64>) -> Result<Cow<'_, DenseArray<K>>, Error> {
        match self {
            Self::Run(run) => {
                let array = run.array().ok_or(MaterialiseError::NotKept)?;
                let window = slice.window(array.size());
                Ok(if window == array.window() { Cow::Borrowed(array) } else { Cow::Owned(array.cut(&window)?) })
            }
            Self::Tree(tree) => {
                let window = slice.window(tree.plan().domain().size());
                let need = u128::from(window.volume() * tree.kind().bytes()) + u128::from(tree.bytes());
                if limit.is_some_and(|limit| need > limit.into()) {
                    return Err(MemoryError { what: Stored::Materialised, need, limit }.into());
                }
                Ok(Cow::Owned(tree.array(&window, None)?))
            }
        }
    }

    /// All regions of so many levels, each with its level. Coarse ones come first: an overlay draws finer ones over them.
    fn regions(&self, levels: usize) -> Box<dyn Iterator<Item = (u32, Region<K>)> + '_> {
        match self {
            Self::Run(run) => Box::new(run.terminals().iter().map(|one| (one.level(), run.region(one)))),
            Self::Tree(tree) => Box::new((0..levels as u32).flat_map(|level| {
                let of_level = tree.regions().filter(move |region| region.level() == level);
                of_level.map(move |region| (level, region.cells()))
            })),
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
    kept: &'a KeptCells<K>,
    /// The cells of pictures and their colours; None if there is no picture.
    drawn: Option<(Cow<'a, DenseArray<K>>, Painted)>,
    drawing: HowDrawn<'a, K>,
    /// Bytes that may be in memory, at most.
    limit: Option<u64>,
    control: &'a Control,
    voice: Voice,
}

impl<'a, const K: usize> CellOutputs<'a, K> {
    /// Reads the cells that `outputs` show as pictures, within `limit` bytes, and says if all of them are alike.
    ///
    /// # Errors
    /// If the cells take more, or were not kept.
    pub(super) fn new(
        kept: &'a KeptCells<K>,
        outputs: &Outputs,
        limit: Option<u64>,
        painted: impl FnOnce(&DenseArray<K>) -> Painted,
        drawing: HowDrawn<'a, K>,
        control: &'a Control,
        voice: Voice,
    ) -> Result<Self, Error> {
        let cells = outputs.pictures().then(|| kept.cells(drawing.slice, limit)).transpose()?;
        if K > 2 && cells.as_ref().is_some_and(|cells| drawing.slice.is_uniform(cells)) {
            voice.say("orthant: every cell of the picture has one value; --slice names another slice");
        }
        let drawn = cells.map(|cells| {
            let painted = painted(&cells);
            (cells, painted)
        });
        Ok(Self { kept, drawn, drawing, limit, control, voice })
    }

    /// Writes the overlay, if one is asked for, then pictures and arrays.
    ///
    /// # Errors
    /// If one cannot be written.
    pub(super) fn write(&self, overlay: Option<Staged>, arrays: Vec<(Format, Staged)>) -> Result<(), Error> {
        let Self { kept, drawn, drawing: HowDrawn { slice, caption, levels }, limit, control, voice } = self;
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_sub(kept.tree_bytes()));
        if let (Some(staged), Some((cells, painted))) = (overlay, drawn) {
            let mut regions = kept.regions(*levels);
            finish(staged, control, *voice, &mut |out| {
                overlay::write(&slice.of(cells), *levels, &mut regions, slice, &painted.palette, caption, out)
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
                (Format::Npy, _, KeptCells::Tree(tree)) => Ok(npy::write_within(tree, most, out)?),
                (Format::Npy, _, KeptCells::Run(_)) => {
                    let array = kept.array().expect("a run is shown by its array, or as a tree");
                    npy::header(&array.size(), array.cells().kind(), out)?;
                    array.cells().le_bytes(0..array.cells().len(), |bytes| out.write_all(bytes))
                }
            })?;
        }
        Ok(())
    }
}
