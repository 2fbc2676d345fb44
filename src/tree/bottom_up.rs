//! A tree from the cells up.
//!
//! A region of the last level is uniform if its cells have one value, and a region above if its children are uniform and have
//! the same: children tile their parent, so that this is what rule `full` finds from the top down. Other predicates say what it is to
//! have one value, and of the regions so far there is then kept what their cells are. Cells that lie in memory are
//! looked at in its order first, when the whole is built ([`Survey`]); others are read once, in blocks that are whole regions of a level, and blocks along the curve are shared among the threads of the pool that the
//! caller is in. In memory there are the regions and bricks so far, and for each thread some blocks.

use std::ops::Range;
use std::sync::OnceLock;

use crate::backend::{Control, Error, Sink};
use crate::dimension::here;
use crate::geometry::{Region, Rows};
use crate::plan::Plan;
use crate::result::{Cells, MemoryError, Stored};
use crate::rule::RuleKind;
use crate::tree::along::Along;
use crate::tree::block_waves::{BlockWaves, Reading};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::predicate::{Criterion, Predicate, Uniform, one_value};
use crate::tree::source::Source;
use crate::tree::stored::Tree;
use crate::tree::survey::Survey;

/// Cells that are read at a time: few enough to stay in a cache, enough for rows of some length.
pub(super) const BLOCK: u64 = 1 << 18;

/// A block is read at once if more than one in so many of its leaves is mixed.
const MANY: u64 = 4;

/// A region whose cells are read at once, unless they are too many.
struct Block<const K: usize> {
    level: u32,
    code: u64,
    cells: Region<K>,
}

/// Makes a tree of a [`Source`]: reads its cells, and merges families of regions of one value into their parent.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::BottomUp;
///
/// let image = Array2::from_shape_fn((64, 64), |(_, x)| u8::from(x < 32));
/// let source = ArrayField::new(image.view())?;
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).rule(RuleKind::Full).build()?;
/// let making = BottomUp::new(&plan, &source)?;
/// // All 16 regions of level 0 are uniform.
/// assert_eq!(making.tree()?.len(), 16);
/// // A quarter of their codes is a partial tree, of the lower left quarter of the image.
/// let part = making.part(0, 0..4)?;
/// assert_eq!((part.word([31, 31]), part.word([32, 31])), (Some(1), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BottomUp<'a, const K: usize> {
    pub(super) along: Along<K>,
    pub(super) source: &'a dyn Source<K>,
    control: Option<&'a Control>,
    limit: u64,
    pub(super) criterion: Criterion,
    /// The word of cells that are no data.
    pub(super) nodata: Option<u64>,
    /// Regions of the deepest level, if the whole of them was looked at; None if it is of no use.
    survey: OnceLock<Option<Survey<K>>>,
}

impl<'a, const K: usize> BottomUp<'a, K> {
    /// Prepares a tree of `source`, divided as `plan` says. The tree lies along the plan's curve, or along Morton's if
    /// that is canonical.
    ///
    /// # Errors
    /// [`TreeError::Rule`] if the plan's rule is not `full`, [`TreeError::Size`] if the source has not the domain's size.
    pub fn new(plan: &Plan<K>, source: &'a dyn Source<K>) -> Result<Self, TreeError> {
        if plan.rule() != RuleKind::Full {
            return Err(TreeError::Rule(plan.rule()));
        }
        let (domain, found) = (plan.domain().size(), source.size());
        for axis in 0..K {
            if domain[axis] != found[axis] {
                return Err(TreeError::Size { axis, domain: domain[axis], found: found[axis] });
            }
        }
        Ok(Self {
            along: Along::new(plan),
            source,
            control: None,
            limit: u64::MAX,
            criterion: Criterion::Exact,
            nodata: None,
            survey: OnceLock::new(),
        })
    }

    /// Lets `control` watch and cancel the making. It counts the cells of all parts that are made from here on.
    #[must_use]
    pub fn control(self, control: &'a Control) -> Self {
        control.begin();
        Self { control: Some(control), ..self }
    }

    /// Allows at most so many bytes for regions and bricks.
    #[must_use]
    pub fn mem_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Says when cells of the source count as one value. `nodata` is the word of cells without data: they are one with
    /// no others.
    ///
    /// For classes and labels the source has to be [`Predicate::over`] the data.
    ///
    /// # Errors
    /// [`TreeError::Run`] names the number that cells of the source's type cannot be judged by.
    pub fn predicate(self, predicate: &Predicate, nodata: Option<u64>) -> Result<Self, TreeError> {
        Ok(Self { criterion: predicate.criterion(self.source.kind(), nodata).map_err(Error::from)?, nodata, ..self })
    }

    /// Makes the tree.
    ///
    /// # Errors
    /// [`TreeError::Source`] if a box cannot be read; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn tree(&self) -> Result<Tree<K>, TreeError> {
        here!(fn(&BottomUp<'_, K>) -> Result<Tree<K>, TreeError> = |this| this.tree_here())(self)
    }

    fn tree_here(&self) -> Result<Tree<K>, TreeError> {
        self.survey()?;
        self.part(0, 0..self.along.codes(0))
    }

    /// Makes a partial tree: what lies below the regions of a level with these codes. The codes are those of the tree's
    /// curve. They have 128 bits, because the end of a range can be 2^64.
    ///
    /// A part cannot know that a region of one value reaches beyond it. Such a region becomes several here, and the
    /// value of each stands for its own cells.
    ///
    /// # Errors
    /// As [`tree`](Self::tree); [`TreeError::Level`], [`TreeError::Code`] or [`TreeError::Codes`] if there is no such run of codes.
    pub fn part(&self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        here!(fn(&BottomUp<'_, K>, u32, Range<u128>) -> Result<Tree<K>, TreeError> = |this, level, codes| this.part_here(level, codes))(
            self, level, codes,
        )
    }

    fn part_here(&self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        let keys = self.along.keys(level, codes.clone())?;
        let Piece { entries, bricks, .. } = self.piece(level, codes)?;
        Tree::new(self.along.clone(), keys, entries, bricks)
    }

    /// Makes what lies below some regions of a level, as [`part`](Self::part), and hands it to a sink in the order of the curve.
    ///
    /// # Errors
    /// As [`part`](Self::part), and those of the sink.
    pub fn shard(&self, level: u32, codes: Range<u128>, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        here!(fn(&BottomUp<'_, K>, u32, Range<u128>, &mut dyn Sink<K>) -> Result<(), TreeError> =
            |this, level, codes, sink| this.shard_here(level, codes, sink))(self, level, codes, sink)
    }

    fn shard_here(&self, level: u32, codes: Range<u128>, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        Ok(self.piece(level, codes)?.deliver(&self.along, sink)?)
    }

    /// Looks at all cells in the order of memory, if they lie there and that is of use: parts that are made afterwards read mixed
    /// leaves alone. For whoever makes all parts.
    pub(super) fn survey(&self) -> Result<Option<&Survey<K>>, TreeError> {
        if self.survey.get().is_none() {
            let exact = matches!(self.criterion, Criterion::Exact);
            let bytes = exact.then(|| Survey::bytes(&self.along, self.source)).flatten();
            // Beside it there is to be room for what is built.
            let of_use = bytes.is_some_and(|bytes| bytes <= self.limit / 4);
            let unheard = Control::default();
            let control = self.control.unwrap_or(&unheard);
            let found = of_use.then(|| Survey::new(&self.along, self.source, control)).transpose()?;
            let _ = self.survey.set(found);
        }
        Ok(self.survey.get().and_then(Option::as_ref))
    }

    /// What lies below a run of a level's codes.
    pub(super) fn piece(&self, above: u32, codes: Range<u128>) -> Result<Piece, TreeError> {
        here!(fn(&BottomUp<'_, K>, u32, Range<u128>) -> Result<Piece, TreeError> = |this, above, codes| this.piece_here(above, codes))(
            self, above, codes,
        )
    }

    fn piece_here(&self, above: u32, codes: Range<u128>) -> Result<Piece, TreeError> {
        self.along.keys(above, codes.clone())?;
        let unheard = Control::default();
        let control = self.control.unwrap_or(&unheard);
        let (level, cells) = self.block_level(above);
        if u64::try_from(cells).is_err() {
            // No time suffices to read that, and no address to keep it.
            return Err(MemoryError { what: Stored::Terminals, need: cells, limit: None }.into());
        }
        let each = (u128::from(BLOCK) / cells).max(1);
        let mut piece = Piece::new(self.source.kind(), self.criterion);
        let waves = BlockWaves { codes: self.along.below(above, codes, level), each, control };
        waves.read(
            &mut piece,
            &|codes, buffer, reading| self.blocks(level, codes, buffer, reading),
            &mut |all, next| {
                self.fits(all.bytes() + next.bytes())?;
                Ok(all.append(&self.along, &next)?)
            },
        )?;
        Ok(piece)
    }

    /// The first level from `above` on whose regions have at most as many cells as a block, or the last, and the most cells of one.
    fn block_level(&self, above: u32) -> (u32, u128) {
        let level = self.along.level_of(above, BLOCK.into());
        (level, self.along.most_cells(level))
    }

    /// What lies below some regions of a level, each read at once.
    fn blocks(
        &self,
        level: u32,
        codes: Range<u128>,
        buffer: &mut Cells,
        reading: &Reading<'_>,
    ) -> Result<Piece, TreeError> {
        let (plan, kind, deepest) = (self.along.plan(), self.source.kind(), self.along.deepest());
        let mut piece = Piece::new(kind, self.criterion);
        for code in codes.map(|code| code as u64) {
            let block = plan.region(level, code);
            if let Some(survey) = self.survey.get().and_then(Option::as_ref) {
                self.surveyed(survey, &Block { level, code, cells: block }, buffer, &mut piece, reading)?;
                continue;
            }
            if block.cells_wide() > BLOCK.into() {
                match &self.criterion {
                    Criterion::Exact => self.large(code, &block, buffer, &mut piece, reading)?,
                    Criterion::Spans(spans) => self.large_by(spans, code, &block, buffer, &mut piece, reading)?,
                }
                continue;
            }
            let size = plan.domain().size();
            let read = match &self.criterion {
                Criterion::Exact => block,
                Criterion::Spans(spans) => spans.around(&block, size),
            };
            self.read(&read, buffer, reading.control)?;
            reading.control.advance(block.volume());
            // Most blocks of a sparse array are of one value, and that is told by a pass in the order of memory.
            if let Criterion::Exact = self.criterion
                && let Some(word) = one_value(kind, buffer, &block, &block)
            {
                piece.uniform(&self.along, level, code, Uniform::exact(word));
                continue;
            }
            let each = self.along.children.pow(deepest - level);
            // Counted from 0, since the code after the last can be 2^64.
            for child in 0..each {
                let code = code * each + child;
                let region = plan.region(deepest, code);
                let found = match &self.criterion {
                    Criterion::Exact => one_value(kind, buffer, &block, &region).map(Uniform::exact),
                    Criterion::Spans(spans) => {
                        let around = spans.around(&region, size);
                        let own = spans.span(buffer, &read, &region);
                        spans.region(own, if around == region { own } else { spans.span(buffer, &read, &around) })
                    }
                };
                match found {
                    Some(found) => piece.uniform(&self.along, deepest, code, found),
                    None => self.leaf(code, &region, buffer, &read, &mut piece)?,
                }
            }
        }
        Ok(piece)
    }

    /// What lies below a region whose cells have been looked at. Mixed leaves are read, one by one if they are few.
    fn surveyed(
        &self,
        survey: &Survey<K>,
        block: &Block<K>,
        buffer: &mut Cells,
        piece: &mut Piece,
        reading: &Reading<'_>,
    ) -> Result<(), TreeError> {
        let (plan, deepest) = (self.along.plan(), self.along.deepest());
        let each = self.along.children.pow(deepest - block.level);
        let word = |code| survey.word(plan.encoding().decode(deepest, code));
        let small = block.cells.cells_wide() <= BLOCK.into();
        let mut mixed = 0;
        if small {
            for child in 0..each {
                mixed += u64::from(word(block.code * each + child).is_none());
            }
        }
        let at_once = mixed > each / MANY;
        if at_once {
            self.read(&block.cells, buffer, reading.control)?;
        }
        for child in 0..each {
            let code = block.code * each + child;
            match word(code) {
                Some(word) => piece.uniform(&self.along, deepest, code, Uniform::exact(word)),
                None if !small => {
                    // It counts what it reads.
                    self.large(code, &block.cells, buffer, piece, reading)?;
                    return Ok(());
                }
                None => {
                    let region = plan.region(deepest, code);
                    if !at_once {
                        self.read(&region, buffer, reading.control)?;
                    }
                    self.leaf(code, &region, buffer, if at_once { &block.cells } else { &region }, piece)?;
                    reading.control.advance(region.volume());
                }
            }
        }
        Ok(())
    }

    /// A mixed region of the last level. Its cells lie in a buffer that holds those of `read`.
    fn leaf(
        &self,
        code: u64,
        region: &Region<K>,
        buffer: &Cells,
        read: &Region<K>,
        piece: &mut Piece,
    ) -> Result<(), TreeError> {
        let (deepest, place) = (self.along.deepest(), piece.bricks.len() as u64);
        piece.leaf(&self.along, deepest, code, place);
        piece.bricks.reserve(region.volume() as usize)?;
        if region == read {
            piece.bricks.append(buffer);
            return Ok(());
        }
        let rows = Rows::of(region, read);
        rows.each(|start| piece.bricks.extend_from(buffer, start..start + rows.len()));
        Ok(())
    }

    /// Checks so many bytes of regions and bricks against the limit.
    pub(super) fn fits(&self, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.limit {
            let limit = Some(self.limit);
            return Err(MemoryError { what: Stored::Terminals, need: bytes.into(), limit }.into());
        }
        Ok(())
    }

    /// Reads a box into a buffer.
    pub(super) fn read(&self, window: &Region<K>, buffer: &mut Cells, control: &Control) -> Result<(), TreeError> {
        control.check()?;
        let kind = self.source.kind();
        let room = std::mem::replace(buffer, Cells::empty(kind)).resized(window.volume() as usize);
        *buffer = room?;
        Ok(self.source.read(window, buffer.bytes_mut())?)
    }
}
