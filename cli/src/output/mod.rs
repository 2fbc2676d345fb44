//! Files: one module per format, and the way they come into being.
//!
//! An output is opened before any work, as a temporary file beside its target, so that an unwritable folder or an
//! existing file is found while nothing is lost; it takes its name when it is complete. A run that fails or is
//! interrupted leaves no half file.

pub mod chart;
pub mod journal;
pub mod npy;
pub mod overlay;
pub mod png;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;
use crate::interrupt::undisturbed;
use orthant::Control;
use orthant::result::DenseArray;

/// True if the path ends in `.extension`, in whatever case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// True of the path that means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file that takes its name only when it is complete, or stdout.
#[derive(Debug)]
pub struct Staged {
    target: PathBuf,
    force: bool,
    /// None: stdout.
    file: Option<NamedTempFile>,
}

impl Staged {
    /// Opens a temporary file beside `target`; nothing for stdout.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is such a file and `force` is off; [`Error::File`] if the folder cannot be written or
    /// the target is a folder.
    pub fn new(target: &Path, force: bool) -> Result<Self, Error> {
        let failed = |source| Error::File { path: target.to_owned(), source };
        if is_stdout(target) {
            return Ok(Self { target: "stdout".into(), force, file: None });
        }
        if target.is_dir() {
            return Err(failed(std::io::Error::new(std::io::ErrorKind::IsADirectory, "is a folder, not a file")));
        }
        if target.exists() && !force {
            return Err(Error::Exists { path: target.to_owned() });
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let missing = format!("there is no folder {}", folder.display());
            return Err(failed(std::io::Error::new(std::io::ErrorKind::NotFound, missing)));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".orthant-").suffix(".tmp");
        // Temporary files are private by default; a result gets the permissions of any new file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The error would name the temporary file, which nobody asked for.
        let file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
        undisturbed().temporary(file.path().to_owned());
        Ok(Self { target: target.to_owned(), force, file: Some(file) })
    }

    /// Where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// True if it is stdout.
    pub fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes the content with `write` and gives the file its name.
    ///
    /// # Errors
    /// An interruption if `control` was cancelled meanwhile, [`Error::File`] if writing fails.
    pub fn finish(
        self,
        control: &Control,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let Self { target, force, mut file } = self;
        let failed = |source| Error::File { path: target.clone(), source };
        let inner: Box<dyn Write + '_> = match &mut file {
            Some(file) => Box::new(file.as_file_mut()),
            None => Box::new(std::io::stdout().lock()),
        };
        let mut writer = BufWriter::with_capacity(1 << 18, Checked { inner, control });
        let written = write(&mut writer).and_then(|()| writer.flush());
        drop(writer);
        control.check()?;
        written.map_err(failed)?;
        let Some(file) = file else { return Ok(()) };
        file.as_file().sync_all().map_err(failed)?;
        let _ending = undisturbed();
        match force {
            true => file.persist(&target).map_err(|error| failed(error.error))?,
            // Somebody may have created the target meanwhile: do not overwrite that either.
            false => file.persist_noclobber(&target).map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => Error::Exists { path: target.clone() },
                _ => failed(error.error),
            })?,
        };
        Ok(())
    }
}

/// A writer that stops when the run is cancelled.
struct Checked<'a, W> {
    inner: W,
    control: &'a Control,
}

impl<W: Write> Write for Checked<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.control.check().map_err(std::io::Error::other)?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// A 2-D slice of a k-dimensional field, as a picture sees it: two axes across, the others fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice<const K: usize> {
    /// The axes that run across the picture: to the right, and upwards. In 1-D both are axis 0, and the picture is
    /// one row high.
    pub axes: [usize; 2],
    /// The cell that the slice passes through; its entries on `axes` are 0.
    pub through: [u32; K],
}

impl<const K: usize> Slice<K> {
    /// The slice with the axes in `fixed` held at an index; of the others, two run across (the lowest two) and the rest
    /// are held at their middle.
    ///
    /// # Errors
    /// [`Error::Input`] if an axis or an index is out of range, an axis is fixed twice, or fewer than two are left.
    pub fn new(size: [u32; K], fixed: &[(usize, u32)]) -> Result<Self, Error> {
        let mut through: [Option<u32>; K] = [None; K];
        for &(axis, index) in fixed {
            if axis >= K {
                return Err(Error::Input(format!("--slice {axis}={index}: axes run from 0 to {}", K - 1)));
            }
            if index >= size[axis] {
                return Err(Error::Input(format!(
                    "--slice {axis}={index}: axis {axis} has the indices 0 to {}",
                    size[axis] - 1
                )));
            }
            if through[axis].replace(index).is_some() {
                return Err(Error::Input(format!("--slice {axis}={index}: axis {axis} is fixed twice")));
            }
        }
        let mut free = (0..K).filter(|&j| through[j].is_none());
        let axes = match (free.next(), free.next()) {
            (Some(right), Some(up)) => [right, up],
            (Some(only), None) if K == 1 => [only, only],
            _ => return Err(Error::Input(format!("--slice: a picture needs two free axes of {K}"))),
        };
        let at = |j: usize| if axes.contains(&j) { 0 } else { through[j].unwrap_or(size[j] / 2) };
        Ok(Self { axes, through: std::array::from_fn(at) })
    }

    /// Width and height in cells.
    pub fn extent(&self, size: [u32; K]) -> [u32; 2] {
        [size[self.axes[0]], if K == 1 { 1 } else { size[self.axes[1]] }]
    }

    /// The label at `x` to the right and `y` upwards.
    pub fn label(&self, field: &DenseArray<K>, x: u32, y: u32) -> u32 {
        let mut cell = self.through;
        cell[self.axes[1]] = y;
        cell[self.axes[0]] = x;
        field.label(cell)
    }
}
