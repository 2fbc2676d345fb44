//! A folder of slices, each a TIFF of a page: the third axis is their order by name, in which numbers count as numbers.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::input::described::{Described, Located};
use crate::input::error::{InputError, InputFault};
use crate::input::format::{Access, Format};
use crate::input::layout::Layout;
use crate::input::tiff::{self, Pages};
use orthant::tree::Remark;
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format =
    Format { name: "folders of TIFF slices", extensions: &[], part: None, folder: Path::is_dir, describe };

fn describe(path: &Path, _: Option<&str>, _: Access) -> Result<Described, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let (slices, others) = slices(path).map_err(wrong)?;
    let one = |slice: &Path| -> Result<Pages, InputError> {
        let wrong = |wrong| InputError { path: slice.to_owned(), wrong };
        let stack = Pages::read(slice).map_err(wrong)?;
        match stack.pages.len() {
            1 => Ok(stack),
            pages => Err(wrong(InputFault::Other(format!("{pages} pages, where a slice of a folder has one")))),
        }
    };
    let first = one(&slices[0])?;
    let (kind, size) = (first.pages[0].kind, first.pages[0].size);
    // Slices are looked at one after the other, so that as many can be as a folder has.
    for slice in &slices[1..] {
        let page = &one(slice)?.pages[0];
        if (page.kind, page.size) != (kind, size) {
            let own = format!("{}x{} {}", page.size[0], page.size[1], page.kind);
            let what = format!("{own}, where {} has {}x{} {kind}", slices[0].display(), size[0], size[1]);
            return Err(InputError { path: slice.clone(), wrong: InputFault::Other(what) });
        }
    }
    let size = vec![size[0], size[1], slices.len() as u32];
    let layout = Layout { kind, size, order: IndexOrder::C, endian: Endian::HERE, offset: 0 };
    let mut about = first.about(&first.notes(), 3);
    if others > 0 {
        about.remarks.push(Remark::OtherFiles(others));
    }
    let (bytes, files) = (layout.bytes().map_err(wrong)?, slices.clone());
    let write = move |out: &mut dyn std::io::Write| {
        slices.iter().try_for_each(|slice| {
            let stack = one(slice)?;
            if stack.endian == Endian::HERE {
                return stack.write(slice, out);
            }
            stack.write(slice, &mut tiff::Turned { out, width: kind.bytes() as usize, kept: Vec::new() })
        })
    };
    Ok(Described { layout, cells: Located::Unpacked { bytes, write: Box::new(write) }, about, files: files.into() })
}

/// The slices of a folder in their order, and how many other files there are.
fn slices(folder: &Path) -> Result<(Vec<PathBuf>, usize), InputFault> {
    let (mut slices, mut others) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if tiff::FORMAT.has(&path) {
            slices.push(path);
        } else {
            others += 1;
        }
    }
    if slices.is_empty() {
        return Err(InputFault::Other("a folder without .tif or .tiff files".into()));
    }
    if u32::try_from(slices.len()).is_err() {
        return Err(InputFault::Other(format!("{} files are too many", slices.len())));
    }
    slices.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok((slices, others))
}

/// The order of names in which runs of digits count as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let digits = |text: &str| text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (m, n) = (digits(left), digits(right));
        let order = if m > 0 && n > 0 {
            let number = |text: &str| text.trim_start_matches('0').to_owned();
            let (x, y) = (number(&left[..m]), number(&right[..n]));
            (left, right) = (&left[m..], &right[n..]);
            x.len().cmp(&y.len()).then(x.cmp(&y))
        } else {
            let (mut x, mut y) = (left.chars(), right.chars());
            let order = match (x.next(), y.next()) {
                // Names that differ in zeros alone.
                (None, None) => return a.cmp(b),
                (x, y) => x.cmp(&y),
            };
            (left, right) = (x.as_str(), y.as_str());
            order
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}
