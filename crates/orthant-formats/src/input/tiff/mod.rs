//! TIFF and BigTIFF: a page is an array of two axes, pages of one size are a third.
//!
//! Pages of cells that are not packed are read where they lie. ImageJ and OME say what pages are, and how far apart cells and pages
//! lie; that is kept.

mod decode;
mod directory;
mod page_notes;

use std::io::{self, Write};
use std::path::Path;

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart};
use crate::input::error::{FilePlace, InputError, InputFault};
use crate::input::format::{Access, Format, no_folder};
use crate::input::layout::Layout;
use crate::input::members::Members;
use crate::input::reader::open;
pub(super) use directory::Page;
use directory::{Beside, Compression};
use orthant::tree::TreeLabel;
use orthant::tree::{About, Remark};
use orthant::{Endian, IndexOrder};
use page_notes::PageNotes;

pub(super) const FORMAT: Format =
    Format { name: "TIFF", extensions: &["tif", "tiff", "btf"], part: None, folder: no_folder, describe };

/// A file of pages that have one size and type.
pub(super) struct Pages {
    pub(super) endian: Endian,
    pub(super) pages: Vec<Page>,
    beside: Beside,
    smaller: usize,
}

impl Pages {
    pub(super) fn read(path: &Path) -> Result<Self, InputFault> {
        let (file, length) = open(path)?;
        let (endian, pages, beside, smaller) = directory::read(&file, length)?;
        let of = |page: &Page| format!("{}x{} {}", page.size[0], page.size[1], page.kind);
        if let Some(other) = pages.iter().find(|page| (page.size, page.kind) != (pages[0].size, pages[0].kind)) {
            let what = format!(
                "a page of {}, after pages of {}; only pages of one size and type are an array",
                of(other),
                of(&pages[0])
            );
            return Err(InputFault::Damaged { at: FilePlace::Byte(other.at), what });
        }
        Ok(Self { endian, pages, beside, smaller })
    }

    /// Bytes of a page's cells.
    fn page_bytes(&self) -> u128 {
        let page = &self.pages[0];
        u128::from(page.size[0]) * u128::from(page.size[1]) * u128::from(page.kind.bytes())
    }

    /// Where cells lie in the file, in order and in as few runs as can be, if they are not packed.
    fn plain(&self, path: &Path) -> Result<Option<Vec<FilePiece>>, InputFault> {
        let striped = |page: &Page| page.compression == Compression::Nothing && page.chunk[0] == page.size[0];
        if !self.pages.iter().all(striped) {
            return Ok(None);
        }
        let mut pieces: Vec<FilePiece> = Vec::new();
        for page in &self.pages {
            let row = u64::from(page.size[0]) * page.kind.bytes();
            for (index, &(offset, bytes)) in page.chunks.iter().enumerate() {
                let rows = page.chunk[1].min(page.size[1] - index as u32 * page.chunk[1]);
                let need = u128::from(row) * u128::from(rows);
                if u128::from(bytes) < need {
                    return Err(InputFault::Length { offset, have: bytes, need });
                }
                match pieces.last_mut() {
                    Some(last) if matches!(last.start, PieceStart::At(start) if u128::from(start) + last.bytes == u128::from(offset)) =>
                    {
                        last.bytes += need;
                    }
                    _ => pieces.push(FilePiece {
                        path: path.to_owned(),
                        start: PieceStart::At(offset),
                        packing: Packing::Nothing,
                        skip: 0,
                        bytes: need,
                        after: After::Others,
                    }),
                }
            }
        }
        Ok(Some(pieces))
    }

    /// Writes the cells of all pages.
    pub(super) fn write(&self, path: &Path, out: &mut dyn Write) -> Result<(), InputError> {
        let written =
            open(path).and_then(|(file, _)| self.pages.iter().try_for_each(|page| page.write(&file, self.endian, out)));
        written.map_err(|wrong| InputError { path: path.to_owned(), wrong })
    }

    /// What is known of a page's own axes, of `k`.
    pub(super) fn about(&self, notes: &PageNotes, k: usize) -> About {
        let mut about = About::new(k);
        for (axis, name) in ["x", "y"].into_iter().enumerate() {
            about.axes[axis].name = Some(name.into());
            if let Some(spacing) = notes.spacing(axis, self.beside.resolution) {
                about.step(axis, spacing, spacing / 2.0);
                about.axes[axis].unit.clone_from(&notes.unit);
            }
        }
        let grey = self.beside.palette.iter().all(|[red, green, blue]| red == green && green == blue);
        if !grey {
            let kind = self.pages[0].kind;
            let coloured = self.beside.palette.iter().zip(0u64..).filter(|(colour, _)| **colour != [0; 3]);
            about.labels.extend(coloured.map(|(&[red, green, blue], word)| TreeLabel {
                word,
                name: kind.text(word),
                colour: Some([red, green, blue, 255]),
            }));
        }
        about
    }

    pub(super) fn notes(&self) -> PageNotes {
        PageNotes::of(&self.beside.description)
    }
}

/// Turns the bytes of each cell around on their way.
pub(super) struct Turned<'o> {
    pub(super) out: &'o mut dyn Write,
    /// Bytes of a cell.
    pub(super) width: usize,
    /// The beginning of a cell.
    pub(super) kept: Vec<u8>,
}

impl Write for Turned<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(bytes);
        let whole = self.kept.len() / self.width * self.width;
        self.kept[..whole].chunks_exact_mut(self.width).for_each(<[u8]>::reverse);
        self.out.write_all(&self.kept[..whole])?;
        self.kept.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn describe(path: &Path, _: Option<&str>, _: Access) -> Result<Described, InputError> {
    described(path).map_err(|wrong| InputError { path: path.to_owned(), wrong })
}

fn described(path: &Path) -> Result<Described, InputFault> {
    let stack = Pages::read(path)?;
    let (kind, size, notes) = (stack.pages[0].kind, stack.pages[0].size, stack.notes());
    let mut pieces = stack.plain(path)?;
    let mut pages = stack.pages.len() as u64;
    // ImageJ writes stacks that a directory cannot hold as one page, and cells go on.
    if let (1, Some(images), Some([piece])) = (pages, notes.images, pieces.as_deref_mut())
        && images > 1
    {
        piece.bytes = stack.page_bytes().saturating_mul(images.into());
        pages = images;
    }
    let axes = notes.axes(pages);
    let count = |(_, cells): &(&str, u64)| {
        u32::try_from(*cells)
            .map_err(|_| InputFault::Damaged { at: FilePlace::Byte(0), what: format!("{cells} pages are too many") })
    };
    let counts = axes.iter().map(count).collect::<Result<Vec<_>, _>>()?;
    let mut layout = Layout {
        kind,
        size: size.into_iter().chain(counts).collect(),
        order: IndexOrder::C,
        endian: stack.endian,
        offset: 0,
    };
    let mut about = stack.about(&notes, layout.size.len());
    for (index, (name, _)) in axes.iter().enumerate() {
        about.axes[2 + index].name = Some((*name).to_owned());
        if let Some((spacing, unit)) = notes.between(name) {
            about.step(2 + index, spacing, spacing / 2.0);
            about.axes[2 + index].unit = unit;
        }
    }
    if stack.smaller > 0 {
        about.remarks.push(Remark::SmallerPages(stack.smaller));
    }
    let bytes = layout.bytes()?;
    let cells = match pieces {
        Some(pieces) => {
            if let [FilePiece { start: PieceStart::At(start), .. }] = pieces[..] {
                layout.offset = start;
            }
            Located::Pieces(pieces)
        }
        None => {
            let own = path.to_owned();
            Located::Unpacked { bytes, write: Box::new(move |out| stack.write(&own, out)) }
        }
    };
    Ok(Described { layout, cells, about, files: Members::default() })
}
