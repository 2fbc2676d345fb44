//! A piece of a tree that many processes make: who makes it, whether it is what was written, and all of them put together.

use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::backend::Control;
use crate::dimension::here;
use crate::disk::{Folder, PartFolder, StagingError, parent};
use crate::parallel;
use crate::tree::along::Along;
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::digested::{digested, undigested};
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Header, Held, add_terminals};
use crate::tree::file::making::{ShardMaker, are_equal};
use crate::tree::file::pieces::{PieceFolder, piece_name};
use crate::tree::file::shards::Shards;
use crate::tree::file::staged::{FinishedShard, held_by};
use crate::tree::file::writer::{TreeTarget, TreeWriter};
use crate::tree::file::written_tree::WrittenTree;
use crate::tree::stored::Tree;

/// The file of a piece that says what it holds.
const RECORD: &str = "piece.json";

/// What a process that makes a piece says first.
const BEGINNING: &str = concat!("{\"orthant\":\"", env!("CARGO_PKG_VERSION"), "\",\"made_of\":null}\n");

/// What a piece says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PieceRecord {
    /// The digest of the plan.
    plan: String,
    piece: usize,
    work: PieceWork,
    shards: Vec<FinishedShard>,
}

/// Who made a piece, and how long it took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PieceWork {
    /// The backend and the device, in words.
    pub device: String,
    /// Seconds from the claim to the last file.
    pub seconds: f64,
    /// Seconds of the run alone.
    pub running: f64,
    /// Seconds in which what the run left was read back.
    pub collecting: f64,
    /// Seconds in which the piece waited for a thread that writes.
    pub waiting: f64,
    /// Seconds in which regions and bricks were put in order.
    pub ordering: f64,
    /// Seconds in which files were written and brought to the disk.
    pub writing: f64,
}

/// What is known of a piece.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PieceState {
    /// Nobody makes it.
    Missing,
    /// A process makes it.
    Busy,
    /// It is not what was written.
    Damaged(String),
    /// It is finished.
    Done(PieceWork),
}

impl PieceFolder {
    fn piece_path(&self, piece: usize) -> PathBuf {
        self.path().join(piece_name(piece))
    }

    /// What a piece is. With `thorough` every byte of a finished one is read; else its files must be there, with their lengths.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no: what cannot be read is not damaged for that.
    pub fn state(&self, piece: usize, thorough: bool) -> Result<PieceState, TreeError> {
        let path = self.piece_path(piece);
        let facts = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound && PartFolder::is_busy(&path) => {
                return Ok(PieceState::Busy);
            }
            // Whoever made it may have finished between the two looks.
            Err(error) if error.kind() == ErrorKind::NotFound => path.symlink_metadata(),
            facts => facts,
        };
        match facts {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(PieceState::Missing),
            Ok(facts) if !facts.is_dir() => return Ok(PieceState::Damaged("it is no folder".into())),
            Err(error) => return Err(TreeFileError::io(&path)(error).into()),
            Ok(_) => {}
        }
        let PieceRecord { work, shards, .. } = match self.record(piece)? {
            Ok(record) => record,
            Err(reason) => return Ok(PieceState::Damaged(reason)),
        };
        let folder = Folder::open(&path).map_err(TreeFileError::io(&path))?;
        let broken = parallel::try_map(shards.len(), &|i| held_by(&folder, &shards[i], false, thorough))
            .map_err(TreeFileError::io(&path))?;
        let broken = broken.into_iter().zip(&shards);
        let broken = broken.filter_map(|(found, shard)| Some(format!("shard {}: {}", shard.shard, found?))).next();
        Ok(broken.map_or(PieceState::Done(work), PieceState::Damaged))
    }

    /// What a piece says of itself, or why it cannot be believed.
    fn record(&self, piece: usize) -> Result<Result<PieceRecord, String>, TreeFileError> {
        let path = self.piece_path(piece).join(RECORD);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Err(format!("it has no {RECORD}"))),
            text => text.map_err(TreeFileError::io(&path))?,
        };
        let Some((_, record)) = undigested::<PieceRecord>(&text) else {
            return Ok(Err(format!("{RECORD} is not what was written")));
        };
        Ok(match (record.piece == piece, record.plan == self.digest()) {
            (true, true) => Ok(record),
            (false, _) => Err(format!("it is a copy of piece {}", record.piece)),
            (_, false) => Err("it is of another plan".into()),
        })
    }

    /// The shards of a finished piece.
    ///
    /// # Errors
    /// [`TreeFileError::Pieces`] if it is missing or damaged.
    pub(super) fn shards_of(&self, piece: usize) -> Result<Vec<FinishedShard>, TreeFileError> {
        let reason = |reason: String| {
            let mend = format!("`orthant shard run {}` makes what is missing", self.path().display());
            TreeFileError::Pieces { path: self.path().to_owned(), reason: format!("piece {piece} {reason}; {mend}") }
        };
        if !self.piece_path(piece).is_dir() {
            return Err(reason("is not made yet".into()));
        }
        Ok(self.record(piece)?.map_err(|why| reason(format!("is damaged: {why}")))?.shards)
    }

    /// Takes a damaged piece away, so that it is made again. False if it is not damaged any more, or another process makes it.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no.
    pub fn retract(&self, piece: usize, thorough: bool) -> Result<bool, TreeError> {
        let path = self.piece_path(piece);
        // As whoever makes it does: nobody makes it meanwhile.
        let mut held = match PartFolder::resumable(&path, true, &|_| true) {
            Err(StagingError::Busy { .. }) => return Ok(false),
            held => held.map_err(TreeFileError::from)?,
        };
        held.stays(false);
        if !matches!(self.state(piece, thorough)?, PieceState::Damaged(_)) {
            return Ok(false);
        }
        let name = path.file_name().expect("a piece has a name");
        let gone = Folder::open(parent(&path)).and_then(|pieces| pieces.remove_all(name));
        gone.map_err(TreeFileError::io(&path))?;
        Ok(true)
    }

    /// Takes a piece to make it. None if it is there, or another process makes it: where files cannot be locked nobody is kept
    /// out, and a piece that two processes made is the same whoever is first.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no.
    pub fn claim(&self, piece: usize) -> Result<Option<PieceClaim>, TreeError> {
        let path = self.piece_path(piece);
        if path.symlink_metadata().is_ok() || PartFolder::is_busy(&path) {
            return Ok(None);
        }
        self.is_current()?;
        Folder::open_or_new(parent(&path)).map_err(TreeFileError::io(&path))?;
        let mut part = match PartFolder::unless_busy(&path) {
            Err(StagingError::Busy { .. } | StagingError::Exists { .. }) => return Ok(None),
            part => part.map_err(TreeFileError::from)?,
        };
        part.stays(false);
        // What a killed process left of it.
        part.clear().map_err(TreeFileError::from)?;
        part.rewrite(BEGINNING).map_err(TreeFileError::from)?;
        Ok(Some(PieceClaim { part, piece }))
    }
}

impl PieceFolder {
    /// The header of the tree that all pieces are.
    ///
    /// # Errors
    /// [`TreeFileError::Pieces`] if one is missing or damaged.
    pub(super) fn header(&self) -> Result<Header, TreeFileError> {
        let count = self.plan.shards.last().map_or(0, |&shards| shards as usize);
        let (mut held, mut terminals) = (vec![Held::default(); count], self.plan.header.terminals.clone());
        for piece in 0..self.len() {
            for shard in self.shards_of(piece)? {
                held[shard.shard as usize] = shard.held;
                add_terminals(&mut terminals, &shard.terminals);
            }
        }
        Ok(self.plan.header.clone().with(&held, terminals))
    }

    /// Puts the pieces, all of which are there, together: the tree is written but for its name, and as one process would have written it.
    ///
    /// # Errors
    /// [`TreeError::File`] if a piece is missing or not what was written, as [`TreeTarget::open`], or the system says no;
    /// [`TreeError::Run`] if the control does.
    pub fn merge<const K: usize>(
        &self,
        target: &TreeTarget,
        control: &Arc<Control>,
    ) -> Result<TreeWriter<K>, TreeError> {
        here!(fn(&PieceFolder, &TreeTarget, &Arc<Control>) -> Result<TreeWriter<K>, TreeError> =
            |this, target, control| this.merge_here(target, control))(self, target, control)
    }

    fn merge_here<const K: usize>(
        &self,
        target: &TreeTarget,
        control: &Arc<Control>,
    ) -> Result<TreeWriter<K>, TreeError> {
        let (plan, header) = (self.plan::<K>()?, &self.plan.header);
        // Before anything is copied.
        let shards = self.finished()?;
        let info = header.info().map_err(TreeFileError::unfit(self.path()))?;
        let target = target.clone().shard_cells(header.shard_cells);
        let mut writer = target.open(&plan, header.cell, &info)?.control(control.clone());
        self.hand_over(&shards, &mut writer.written)?;
        Ok(writer)
    }

    /// The shards of each piece, all of which are finished.
    fn finished(&self) -> Result<Vec<Vec<FinishedShard>>, TreeFileError> {
        (0..self.len()).map(|piece| self.shards_of(piece)).collect()
    }

    /// Puts the shards of each piece into a tree.
    fn hand_over(&self, shards: &[Vec<FinishedShard>], tree: &mut WrittenTree) -> Result<(), TreeError> {
        for (piece, shards) in shards.iter().enumerate() {
            let path = self.piece_path(piece);
            tree.take(&Folder::open(&path).map_err(TreeFileError::io(&path))?, shards)?;
        }
        Ok(())
    }
}

/// A piece that this process makes. It is free again when this goes.
#[derive(Debug)]
pub struct PieceClaim {
    part: PartFolder,
    piece: usize,
}

impl PieceClaim {
    /// The folder in which it is made.
    pub fn staged(&self) -> PathBuf {
        self.part.path()
    }

    /// Writes the piece, of which `tree` is all, and gives it its name. `work` is asked when its files are on the disk.
    ///
    /// # Errors
    /// [`TreeError::File`] if the tree is another part, or the system says no; [`TreeError::Run`] if the control does.
    pub fn write<const K: usize>(
        self,
        pieces: &PieceFolder,
        tree: &Tree<K>,
        work: &dyn Fn() -> PieceWork,
        control: Option<&Control>,
    ) -> Result<(), TreeError> {
        here!(fn(PieceClaim, &PieceFolder, &Tree<K>, &dyn Fn() -> PieceWork, Option<&Control>) -> Result<(), TreeError> =
            |this, pieces, tree, work, control| this.write_here(pieces, tree, work, control))(
            self, pieces, tree, work, control,
        )
    }

    fn write_here<const K: usize>(
        self,
        pieces: &PieceFolder,
        tree: &Tree<K>,
        work: &dyn Fn() -> PieceWork,
        control: Option<&Control>,
    ) -> Result<(), TreeError> {
        let plan = pieces.plan::<K>()?;
        let along = Along::new(&plan);
        let shards = self.shards(pieces, &along, tree.codes())?;
        let path = pieces.piece_path(self.piece);
        are_equal(&path, along.plan(), tree.plan())?;
        let maker = ShardMaker {
            path: &path,
            order: &along,
            kind: pieces.kind(),
            shards: &shards,
            folder: &self.part,
            control,
        };
        let made = maker.put(tree, &maker.covered(tree)?)?;
        let (plan, piece) = (pieces.digest().to_owned(), self.piece);
        self.finish(&path, &PieceRecord { plan, piece, work: work(), shards: made })
    }

    /// The shards of all pieces, if the piece has these codes.
    fn shards(&self, pieces: &PieceFolder, order: &CurveOrder, found: Range<u128>) -> Result<Shards, TreeFileError> {
        let path = pieces.piece_path(self.piece);
        let shards = Shards::new(order, pieces.plan.header.shard_cells).map_err(TreeFileError::unfit(&path))?;
        let roots = pieces.roots(self.piece);
        let codes = order.below(0, roots.start.into()..roots.end.into(), order.deepest());
        if found != codes {
            let piece = self.piece;
            let reason =
                format!("a part with the codes {found:?} of the deepest level, where piece {piece} has {codes:?}");
            return Err(TreeFileError::Part { path, reason });
        }
        Ok(shards)
    }

    /// Says what the piece holds, and gives it its name.
    fn finish(self, path: &Path, record: &PieceRecord) -> Result<(), TreeError> {
        let (part, (_, text)) = (self.part, digested(record));
        part.make(RECORD, |file| file.write_all(text.as_bytes())).map_err(TreeFileError::from)?;
        part.tree()
            .and_then(|tree| tree.sync_all().map_err(|error| StagingError::Io { path: path.to_owned(), error }))
            .map_err(TreeFileError::from)?;
        match part.place(false, false, &|_| false) {
            // Another process was first, where files cannot be locked.
            Err(StagingError::Exists { .. }) => Ok(()),
            placed => Ok(placed.map_err(TreeFileError::from)?),
        }
    }
}
