//! A tree that many processes make: a folder with a plan of pieces, and a folder per piece that is finished.
//!
//! ```text
//! mandelbrot.pieces/plan.json                what is computed, where it is cut, and what each piece weighs
//! mandelbrot.pieces/pieces/000017.zarr       the files of the piece's shards, as they are in the tree, and
//! mandelbrot.pieces/pieces/000017.zarr/piece.json      what they hold
//! ```
//!
//! A piece is a run of the initial grid's regions, and of whole shards. No region reaches beyond it, so that whoever makes a
//! piece needs no other. It is made in a folder beside its own, which a living process holds by a lock, and takes its name in
//! one step: a piece is there as a whole or not at all. Whoever makes it, its files have the same bytes.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backend::Partition;
use crate::cell::CellType;
use crate::dimension::here;
use crate::disk::{Folder, PartFolder, Renaming, Temporary};
use crate::plan::Plan;
use crate::tree::along::Along;
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::digested::{digested, undigested};
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Header;
use crate::tree::file::info::{TreeInfo, Unfit};
use crate::tree::file::shards::{CELLS, Shards};

/// The file that says what the pieces are.
const PLAN: &str = "plan.json";

/// The folder of the pieces.
const PIECES: &str = "pieces";

/// How names begin of what is in the folder for a moment only.
const OURS: &[u8] = b".orthant-";

/// How the name begins of a folder of the pieces of another plan, which goes.
const OLD: &str = ".orthant-old-";

/// Shards that a piece should have where there is a choice, so that cuts can follow weights.
const SHARDS_OF_A_PIECE: u64 = 4;

/// The folder of a piece among those of all.
pub(super) fn piece_name(piece: usize) -> String {
    format!("{PIECES}/{piece:06}.zarr")
}

/// What is to be made in pieces.
#[derive(Debug, Clone)]
pub struct PieceRequest<'a, const K: usize> {
    /// The plan; its curve is hierarchical.
    pub plan: &'a Plan<K>,
    /// The type of a cell.
    pub kind: CellType,
    /// What is known of the tree beside its regions.
    pub info: &'a TreeInfo,
    /// What decides the cells, in words that change whenever they do.
    pub made_of: &'a str,
    /// Anything that whoever makes pieces has to know.
    pub request: Value,
    /// What each region of the initial grid is expected to cost, in the order of the curve; none if nothing is known.
    pub weights: &'a [f64],
    /// How many pieces there are, at most.
    pub pieces: usize,
}

/// What a folder's plan says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PiecePlan {
    orthant: String,
    made_of: String,
    request: Value,
    /// Runs of the initial grid's regions.
    pub(super) cut: Partition,
    /// The shard behind each piece.
    pub(super) shards: Vec<u64>,
    pub(super) header: Header,
}

/// A folder of pieces.
///
/// ```
/// use orthant::backend::{Part, Roots};
/// use orthant::prelude::*;
/// use orthant::tree::{Collector, PieceFolder, PieceRequest, PieceState, PieceWork, TreeFile, TreeInfo, TreeTarget};
/// use orthant::{CellType, Control};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let base = std::env::temp_dir().join(format!("orthant-doc-pieces-{}", std::process::id()));
/// # std::fs::create_dir_all(&base)?;
/// # let (folder, target) = (base.join("disc.pieces"), base.join("disc.tree.zarr"));
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(8, 2, 2)).rule(RuleKind::Full).build()?;
/// let disc = CellField::new(1, |[x, y]| u32::from((x * x + y * y) < 1000));
/// let (info, request) = (TreeInfo::of(&plan), Default::default());
/// let asked =
///     PieceRequest { plan: &plan, kind: CellType::U8, info: &info, made_of: "a disc", request, weights: &[], pieces: 4 };
/// let pieces = PieceFolder::create(&folder, asked, false)?;
/// // Any number of processes may do this at the same time, on any machines that see the folder.
/// let cpu = Target::cpu();
/// let mut prepared = cpu.of().prepare(&plan, &disc, &How::default().keep(Keep::Regions).cell(CellType::U8))?;
/// for piece in pieces.partition().order() {
///     let Some(claim) = pieces.claim(piece)? else { continue };
///     let roots = pieces.roots(piece);
///     prepared.run(&Part::of(Roots::Codes { level: 0, range: roots.clone() }), &Control::default())?;
///     let collector = Collector::of(prepared.subdivision()?)?;
///     let tree = collector.part(0, roots.start.into()..roots.end.into())?;
///     let work = PieceWork { device: "cpu".into(), ..PieceWork::default() };
///     claim.write(&pieces, &tree, &|| work.clone(), None)?;
///     assert!(matches!(pieces.state(piece, true)?, PieceState::Done(_)));
/// }
/// pieces.merge::<2>(&TreeTarget::new(&target), &Default::default())?.finish()?;
/// assert_eq!(TreeFile::<2>::open(&target)?.word([20, 3])?, Some(1));
/// # std::fs::remove_dir_all(&base)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PieceFolder {
    path: PathBuf,
    pub(super) plan: PiecePlan,
    digest: String,
}

impl PieceFolder {
    /// Makes a folder of pieces that are all missing. One that is there for the same pieces is opened as it is, with all that is
    /// finished; `overwrite` lets another folder of pieces go.
    ///
    /// # Errors
    /// [`TreeError::File`] if something else is there, the curve is flat, `info` cannot be said, there would be too many shards, or the system
    /// says no.
    ///
    /// # Panics
    /// If no piece is asked for, or there are weights, but not one for each region of the initial grid.
    pub fn create<const K: usize>(
        path: impl AsRef<Path>,
        asked: PieceRequest<'_, K>,
        overwrite: bool,
    ) -> Result<Self, TreeError> {
        here!(fn(&Path, PieceRequest<'_, K>, bool) -> Result<PieceFolder, TreeError> = PieceFolder::create_here)(
            path.as_ref(),
            asked,
            overwrite,
        )
    }

    fn create_here<const K: usize>(
        path: &Path,
        asked: PieceRequest<'_, K>,
        overwrite: bool,
    ) -> Result<Self, TreeError> {
        let PieceRequest { plan, kind, info, made_of, request, weights, pieces } = asked;
        let refused = TreeFileError::unfit(path);
        if !plan.curve().is_hierarchical() {
            let reason = format!("{}, along which a region's cells are no run; use morton or hilbert", plan.curve());
            return Err(refused(Unfit { key: "curve", reason }).into());
        }
        info.check(K, kind).map_err(&refused)?;
        let along = Along::new(plan);
        let each = plan.domain().cells() / (pieces as u128 * u128::from(SHARDS_OF_A_PIECE)).max(1);
        let cells = u64::try_from(each).unwrap_or(CELLS).clamp(1, CELLS);
        let (shards, cells) = Shards::fitting(&along, cells).map_err(&refused)?;
        let cut = cut(&shards, &along, weights, pieces);
        let plan = PiecePlan {
            orthant: env!("CARGO_PKG_VERSION").into(),
            made_of: made_of.into(),
            request,
            shards: ends(&cut, &shards, &along),
            cut,
            header: Header::new(along.plan(), kind, info).sharded(cells),
        };
        Ok(Self::written(path, plan, overwrite)?)
    }

    /// The folder of a plan, written unless it is there.
    fn written(path: &Path, plan: PiecePlan, overwrite: bool) -> Result<Self, TreeFileError> {
        let (digest, text) = digested(&plan);
        let made = Self { path: path.to_owned(), plan, digest };
        let same = |made: &Self| Self::read(&made.path).ok().filter(|there| there.digest == made.digest);
        if let Some(there) = same(&made) {
            return Ok(there);
        }
        let wrote = made.make_room(overwrite).and_then(|()| match made.write_plan(&text, overwrite) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(TreeFileError::Exists { path: path.into() }),
            wrote => wrote.map_err(TreeFileError::io(path)),
        });
        match wrote {
            // Another process may have been first, with the same plan.
            Err(exists @ TreeFileError::Exists { .. }) => same(&made).ok_or(exists),
            wrote => wrote.map(|()| made),
        }
    }

    /// Opens a folder of pieces.
    ///
    /// # Errors
    /// [`TreeError::File`] if it is none, or of another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TreeError> {
        Ok(Self::read(path.as_ref())?)
    }

    pub(super) fn read(path: &Path) -> Result<Self, TreeFileError> {
        let path = path.to_owned();
        let wrong = |reason: &str| TreeFileError::Pieces { path: path.clone(), reason: reason.into() };
        let text = match std::fs::read(path.join(PLAN)) {
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Err(wrong("no folder of pieces: it has no plan.json, which `orthant shard plan` writes"));
            }
            text => text.map_err(TreeFileError::io(&path.join(PLAN)))?,
        };
        let (digest, plan) = undigested::<PiecePlan>(&text).ok_or_else(|| {
            wrong("its plan.json is not what this version of orthant wrote; plan it again, with --force")
        })?;
        if plan.orthant != env!("CARGO_PKG_VERSION") {
            let reason = format!(
                "planned by orthant {}, and this is {}: use that one, or plan it again, with --force",
                plan.orthant,
                env!("CARGO_PKG_VERSION")
            );
            return Err(wrong(&reason));
        }
        Ok(Self { path, plan, digest })
    }

    /// True if a folder says that it is one of pieces.
    pub fn is(path: impl AsRef<Path>) -> bool {
        path.as_ref().join(PLAN).is_file()
    }

    /// Checks that there is nothing yet, or an empty folder, or takes the pieces of another plan away.
    fn make_room(&self, overwrite: bool) -> Result<(), TreeFileError> {
        let failed = TreeFileError::io(&self.path);
        let other = |reason: &str| Err(TreeFileError::Pieces { path: self.path.clone(), reason: reason.into() });
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Ok(_) if !self.path.is_dir() => return other("a file, which no folder of pieces takes the place of"),
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let folder = Folder::open(&self.path).map_err(&failed)?;
        let names = folder.names().map_err(&failed)?;
        let ours = |name: &OsString| name == PLAN || name == PIECES || name.as_encoded_bytes().starts_with(OURS);
        if !names.iter().all(ours) {
            return other("there is something else than pieces in it, which is not overwritten");
        }
        let pieces = folder.folder(PIECES.as_ref()).and_then(|pieces| pieces.names()).unwrap_or_default();
        if pieces.is_empty() && !folder.has(PLAN.as_ref()) {
            return Ok(());
        }
        if !overwrite {
            return Err(TreeFileError::Exists { path: self.path.clone() });
        }
        let being_made = |name: &OsString| {
            let target = name.to_str()?.strip_prefix('.')?.strip_suffix(".part")?;
            Some(PartFolder::is_busy(&self.path.join(PIECES).join(target)))
        };
        if pieces.iter().any(|name| being_made(name) == Some(true)) {
            return other("other processes make pieces of another plan there; end them first");
        }
        for old in names.iter().filter(|name| name.as_encoded_bytes().starts_with(OLD.as_bytes())) {
            let _ = folder.remove_all(old);
        }
        if !pieces.is_empty() {
            // In one step, so that whoever still has the old plan finds none of its pieces. What such a process is still writing there
            // goes with the next plan.
            let old = format!("{OLD}{}", std::process::id());
            folder.rename(PIECES.as_ref(), &folder, old.as_ref(), Renaming::New).map_err(failed)?;
            let _ = folder.remove_all(old.as_ref());
        }
        Ok(())
    }

    /// Checks that the folder still has this plan.
    pub(super) fn is_current(&self) -> Result<(), TreeFileError> {
        let path = self.path.join(PLAN);
        let mut first = vec![0; 2 + self.digest.len()];
        let read = std::fs::File::open(&path).and_then(|mut file| file.read_exact(&mut first));
        match read {
            Ok(()) if first[2..] == *self.digest.as_bytes() => Ok(()),
            Err(error) if ![ErrorKind::NotFound, ErrorKind::UnexpectedEof].contains(&error.kind()) => {
                Err(TreeFileError::io(&path)(error))
            }
            _ => {
                let reason = "was planned again meanwhile; run the same command to make the new pieces".into();
                Err(TreeFileError::Pieces { path: self.path.clone(), reason })
            }
        }
    }

    fn write_plan(&self, text: &str, overwrite: bool) -> std::io::Result<()> {
        Folder::open_or_new(&self.path)?.folder_or_new(PIECES.as_ref())?;
        let mut file = Temporary::new(&self.path)?;
        file.file().write_all(text.as_bytes())?;
        file.sync()?;
        file.persist(PLAN.as_ref(), if overwrite { Renaming::Replace } else { Renaming::New })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What whoever makes pieces has to know, as it was planned.
    pub fn request(&self) -> &Value {
        &self.plan.request
    }

    /// What decides the cells, as it was planned.
    pub fn made_of(&self) -> &str {
        &self.plan.made_of
    }

    /// What tells this plan from every other.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.plan.header.size.len()
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.plan.header.cell
    }

    /// The number of pieces, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is always a piece")]
    pub fn len(&self) -> usize {
        self.plan.cut.len()
    }

    /// The regions of the initial grid that a piece covers: a run of codes of level 0.
    ///
    /// # Panics
    /// If there are not so many pieces.
    pub fn roots(&self, piece: usize) -> Range<u64> {
        self.plan.cut.piece(piece)
    }

    /// Where the initial grid is cut, and what each piece is expected to cost in the unit of the weights that were given.
    pub fn partition(&self) -> &Partition {
        &self.plan.cut
    }

    /// The plan of the tree.
    ///
    /// # Errors
    /// [`TreeError::File`] if it has another number of dimensions.
    pub fn plan<const K: usize>(&self) -> Result<Plan<K>, TreeError> {
        here!(fn(&PieceFolder) -> Result<Plan<K>, TreeError> = PieceFolder::plan_here)(self)
    }

    fn plan_here<const K: usize>(&self) -> Result<Plan<K>, TreeError> {
        let (path, found) = (self.path.clone(), self.dimensions());
        if found != K {
            return Err(TreeFileError::Dimensions { path, found, k: K }.into());
        }
        Ok(self.plan.header.plan::<K>().map_err(TreeFileError::unfit(&self.path))?)
    }
}

/// Where regions of the initial grid are cut into pieces of whole shards.
fn cut(shards: &Shards, order: &CurveOrder, weights: &[f64], pieces: usize) -> Partition {
    let roots = u64::try_from(order.codes(0)).unwrap_or(u64::MAX);
    assert!(weights.is_empty() || weights.len() as u64 == roots, "a weight for each region of the initial grid");
    // A shard has several regions of the initial grid, or such a region several shards.
    let each = shards.roots();
    let units = (0..roots.div_ceil(each)).map(|unit| {
        let regions = unit * each..roots.min((unit + 1) * each);
        match weights {
            [] => (regions.end - regions.start) as f64,
            weights => weights[regions.start as usize..regions.end as usize].iter().sum(),
        }
    });
    Partition::by_weight(&units.collect::<Vec<f64>>(), pieces).refined(each, roots)
}

/// The shard behind each piece.
fn ends(cut: &Partition, shards: &Shards, order: &CurveOrder) -> Vec<u64> {
    let end = |roots: Range<u64>| order.below(0, 0..roots.end.into(), order.deepest()).end;
    cut.pieces().map(|roots| shards.from(end(roots)).min(shards.count)).collect()
}
