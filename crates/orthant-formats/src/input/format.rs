//! What a format is: how its files are told from others, and who reads what they say.

use std::path::{Path, PathBuf};

use crate::input::described::Described;
use crate::input::error::InputError;

/// A file format of arrays. A file says itself how its cells lie.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use orthant_formats::input::Format;
///
/// let name = |path: &str| Format::of(Path::new(path)).map(Format::name);
/// assert_eq!((name("brain.nii.gz"), name("brain.docx")), (Some("NIfTI"), None));
/// // An array in a file that has several.
/// let (file, part) = Format::parts(Path::new("scan.npz:volume"));
/// assert_eq!((file, part.as_deref()), (PathBuf::from("scan.npz"), Some("volume")));
/// ```
pub struct Format {
    pub(super) name: &'static str,
    pub(super) extensions: &'static [&'static str],
    /// What separates the name of an array in the file from the file's, where it can have several.
    pub(super) part: Option<&'static str>,
    /// True of a folder that is one.
    pub(super) folder: fn(&Path) -> bool,
    /// Reads what a file says, and no cells. A part is given where the format has them.
    pub(super) describe: fn(&Path, Option<&str>, Access) -> Result<Described, InputError>,
}

/// Which files may be read for an array besides the named one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// True if a header of NRRD or MetaImage may name files outside of its own folder: by an absolute path, by `..`, or by a link. By
    /// default it may not, since the header may come from somebody who should not choose which files are read.
    pub follow: bool,
}

impl Access {
    /// With or without files outside of the header's folder.
    pub fn follow(follow: bool) -> Self {
        Self { follow }
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Format {
    /// What people call it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What its files' names end with, after a point; none of folders.
    pub fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    /// What an array in a file is named after, as `:` in `x.npz:name`, if files of the format have several.
    pub fn part(&self) -> Option<&'static str> {
        self.part
    }

    /// True if a file's name ends as this format's do.
    pub(super) fn has(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        self.extensions.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.')))
    }

    /// The file, and the array in it, of a name that has both.
    pub(super) fn split(&self, path: &Path) -> Option<(PathBuf, String)> {
        let (file, part) = path.to_str()?.rsplit_once(self.part?)?;
        (self.has(file.as_ref()) && !part.is_empty()).then(|| (file.into(), part.to_owned()))
    }
}

/// Of a format without folders.
pub(super) fn no_folder(_: &Path) -> bool {
    false
}
