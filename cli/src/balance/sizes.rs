//! Lists of work-items that people bring: numbers in a file, or the regions of a tree.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use orthant::balance::{Items, ItemsError};
use orthant::geometry::Region;
use orthant::tree::{Parts, Source, TreeFile, TreeJob, TreeStore};
use orthant_formats::input::matrix_rows;

use crate::error::Error;
use crate::input::Input;
use crate::output::has_extension;
use crate::voice::Voice;

/// The items of a file: a number per line, an array of whole numbers with one axis (.npy), the rows of a sparse matrix (.mtx), of which
/// each has as many units as entries, or the terminal regions of a tree, of which each has as many as cells.
///
/// # Errors
/// [`Error`] names the file, and the line or the item.
pub(super) fn read(path: &Path, voice: Voice) -> Result<Items, Error> {
    let wrong = |error: ItemsError| match error {
        ItemsError::Read(source) => Error::File { path: path.to_owned(), source },
        error => Error::Input(format!("--sizes {}: {error}", path.display())),
    };
    if has_extension(path, "npy") {
        return Items::new(numbers(path, voice)?).map_err(wrong);
    }
    if has_extension(path, "mtx") {
        let rows = matrix_rows(path).map_err(|error| Error::Input(format!("--sizes {error}")))?;
        return Items::new(rows).map_err(wrong);
    }
    if has_extension(path, "zarr") || has_extension(path, "zip") {
        return Items::new(TreeStore::open(path)?.dispatch(Regions(path))??).map_err(wrong);
    }
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    Items::read(BufReader::new(file)).map_err(wrong)
}

/// The numbers of an array.
fn numbers(path: &Path, voice: Voice) -> Result<Vec<u32>, Error> {
    let file = Input::named(path, false, voice)?.file;
    let (size, kind) = (file.layout().size.clone(), file.layout().kind);
    let wrong = |what: String| Error::Input(format!("--sizes {}: {what}", path.display()));
    let &[items] = &size[..] else {
        return Err(wrong(format!("has {} axes, and a list of sizes has one", size.len())));
    };
    if kind.is_float() {
        return Err(wrong(format!("holds {kind}, and sizes are whole numbers")));
    }
    let source = file.source::<1>().map_err(|error| wrong(error.to_string()))?;
    let (mut sizes, width) = (Vec::new(), kind.bytes() as usize);
    let mut bytes = vec![0; PIECE as usize * width];
    for first in (0..items).step_by(PIECE as usize) {
        let piece = Region { corner: [first], extent: [PIECE.min(items - first)] };
        let bytes = &mut bytes[..piece.extent[0] as usize * width];
        source.read(&piece, bytes).map_err(|source| Error::File { path: path.to_owned(), source })?;
        for cell in bytes.chunks_exact(width) {
            let mut word = [0; 8];
            word[..width].copy_from_slice(cell);
            // Moved up to its sign, and down again.
            let unused = 64 - 8 * width as u32;
            let number = i128::from(u64::from_le_bytes(word));
            let signed = i128::from((number as u64 as i64) << unused >> unused);
            let number = if kind.name().starts_with('i') { signed } else { number };
            let item = sizes.len();
            let reason = || wrong(format!("item {item} is {number}: a number between 0 and 2^32 - 1 is needed"));
            sizes.push(u32::try_from(number).map_err(|_| reason())?);
        }
    }
    Ok(sizes)
}

/// Numbers that are read at a time.
const PIECE: u32 = 1 << 16;

/// The cells of a tree's regions, along its curve.
struct Regions<'a>(&'a Path);

impl TreeJob for Regions<'_> {
    type Output = Result<Vec<u32>, Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let parts: &dyn Parts<K> = &tree;
        let mut sizes = Vec::new();
        for part in 0..parts.parts() {
            for region in parts.part(part)?.regions() {
                let cells = region.cells().volume();
                let size = u32::try_from(cells).map_err(|_| {
                    let path = self.0.display();
                    Error::Input(format!("--sizes {path}: a region of {cells} cells: at most 2^32 - 1 can be"))
                });
                sizes.push(size?);
            }
        }
        Ok(sizes)
    }
}
