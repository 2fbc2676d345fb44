//! Files that take their names when they are complete.
//!
//! An output is opened before any work, as a temporary file beside its target, so that an unwritable folder or an
//! existing file is found while nothing is lost. A run that fails or is interrupted leaves no half file. What a killed
//! process left is swept by the next one that writes there: whoever lives holds a lock on its temporary files.

use std::fs::{FileType, OpenOptions};
use std::io::{BufWriter, Error as IoError, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::folder::missing_folder;
use super::tree::tree_name;
use crate::error::Error;
use crate::interrupt::undisturbed;
use crate::remote::{refuse_output, refuse_url};
use crate::stdout;
use crate::system::bare;
use orthant::Control;
use orthant::disk::{self, Temporary, parent};

/// True if the path ends in `.extension`, in whatever case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// True of the path that means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// True if two paths lead to one file, whether it is there already or not.
fn same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| Some(parent(path).canonicalize().ok()?.join(path.file_name()?));
    let one_name = || whole(a).is_some_and(|a| whole(b) == Some(a));
    a == b || (!is_stdout(a) && !is_stdout(b) && (one_name() || identical(a, b)))
}

/// True if both are there and are one, which is told without opening them: to open a FIFO would wait for its other end.
#[cfg(unix)]
fn identical(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path: &Path| path.metadata().map(|facts| (facts.dev(), facts.ino()));
    number(a).ok().zip(number(b).ok()).is_some_and(|(a, b)| a == b)
}

#[cfg(not(unix))]
fn identical(a: &Path, b: &Path) -> bool {
    same_file::is_same_file(a, b).unwrap_or(false)
}

/// True if an input lies in a folder that would be replaced.
fn holds(output: &Path, input: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    !is_stdout(output) && whole(input).zip(whole(output)).is_some_and(|(input, output)| input.starts_with(output))
}

/// Refuses outputs that are one file, or one that is read.
///
/// # Errors
/// [`Error::Input`] names it.
pub fn distinct<'a>(outputs: impl IntoIterator<Item = &'a Path>, inputs: &[PathBuf]) -> Result<(), Error> {
    let mut seen: Vec<&Path> = Vec::new();
    for output in outputs {
        refuse_output(output)?;
        if inputs.iter().any(|input| same_file(input, output) || holds(output, input)) {
            return Err(Error::Input(format!("{}: is read, and cannot be written too", output.display())));
        }
        if seen.iter().any(|other| same_file(other, output)) {
            let error = Error::Input(format!("{}: named for two outputs", output.display()));
            return Err(error.about(&["output", "overlay", "report", "json"]));
        }
        seen.push(output);
    }
    Ok(())
}

/// Checks what an output is called, in whatever case.
///
/// # Errors
/// [`Error::Input`] names the option, the path and what is allowed.
pub fn expect_extension(flag: &str, path: &Path, allowed: &[&str]) -> Result<(), Error> {
    refuse_output(path)?;
    if allowed.iter().any(|extension| has_extension(path, extension)) {
        return Ok(());
    }
    let near = ["tree", "zarr", "zar"].iter().any(|ending| has_extension(path, ending));
    let meant = (near && allowed.contains(&"tree.zarr")).then(|| format!(", as in `{}`", tree_name(path)));
    let allowed: Vec<_> = allowed.iter().map(|extension| format!(".{extension}")).collect();
    let (last, others) = allowed.split_last().expect("something is allowed");
    let allowed = if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
    Err(Error::Input(format!(
        "{flag} {}: the extension must be {allowed}{}",
        path.display(),
        meant.unwrap_or_default()
    )))
}

/// An output on its way.
#[derive(Debug)]
pub struct Staged {
    target: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Stdout,
    /// A file that is there and takes bytes as they come: a FIFO or a device.
    Stream,
    /// A file that gets the name of `target`, where links were followed; true: whatever is there.
    File {
        temporary: Temporary,
        target: PathBuf,
        force: bool,
    },
}

impl Staged {
    /// Opens a temporary file beside `target`, or beside the file that it is a link to; nothing for streams yet.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is such a file and `force` is off; [`Error::File`] if the folder cannot be written or
    /// the target is a folder, a socket or a link to nothing.
    pub fn new(target: &Path, force: bool) -> Result<Self, Error> {
        refuse_url(target)?;
        let staged = |place| Ok(Self { target: target.to_owned(), place });
        let failed = |kind, why: &str| Error::File { path: target.to_owned(), source: IoError::new(kind, why) };
        if is_stdout(target) {
            stdout::is_open()?;
            return Ok(Self { target: stdout::STDOUT.into(), place: Place::Stdout });
        }
        let is_link = target.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
        let followed = match target.metadata() {
            Ok(facts) if facts.is_dir() => return Err(failed(ErrorKind::IsADirectory, "is a folder, not a file")),
            Ok(_) if !force => return Err(Error::Exists { path: target.to_owned() }),
            Ok(facts) if is_socket(facts.file_type()) => return Err(failed(ErrorKind::Unsupported, "is a socket")),
            Ok(facts) if !facts.is_file() => return staged(Place::Stream),
            Ok(_) if is_link => target.canonicalize().map_err(|error| failed(error.kind(), "is a broken link"))?,
            Err(_) if is_link => return Err(failed(ErrorKind::NotFound, "is a link to a file that is not there")),
            Ok(_) | Err(_) => target.to_owned(),
        };
        let folder = parent(&followed);
        missing_folder(target, folder)?;
        // The error would name the temporary file, which nobody asked for.
        let temporary =
            Temporary::new(folder).map_err(|error| Error::File { path: target.to_owned(), source: bare(error) })?;
        undisturbed().temporary(temporary.path());
        staged(Place::File { temporary, target: followed, force })
    }

    /// Where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// True if it is stdout.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
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
        let Self { target, mut place } = self;
        let failed = |source| Error::File { path: target.clone(), source };
        let inner: Box<dyn Write + '_> = match &mut place {
            Place::Stdout => Box::new(stdout::lock()?),
            Place::Stream => Box::new(OpenOptions::new().write(true).open(&target).map_err(failed)?),
            Place::File { temporary, .. } => Box::new(temporary.file()),
        };
        let mut refused = None;
        let mut writer = BufWriter::with_capacity(1 << 18, Checked { inner, control, refused: &mut refused });
        let written = write(&mut writer).and_then(|()| writer.flush());
        drop(writer);
        control.check()?;
        written.map_err(|error| failed(refused.map_or(error, IoError::from_raw_os_error)))?;
        let Place::File { temporary, target: followed, force } = place else { return Ok(()) };
        temporary.sync().map_err(failed)?;
        let name = followed.file_name().unwrap_or_default().to_owned();
        let _ending = undisturbed();
        // Somebody may have created the target meanwhile: do not overwrite that either.
        let persisted = temporary.persist(&name, if force { disk::Renaming::Replace } else { disk::Renaming::New });
        persisted.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: target.clone() },
            _ => failed(error),
        })
    }
}

#[cfg(unix)]
fn is_socket(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&kind)
}

#[cfg(not(unix))]
fn is_socket(_: FileType) -> bool {
    false
}

/// A writer that stops when the run is cancelled.
struct Checked<'a, W> {
    inner: W,
    control: &'a Control,
    /// The number of the system's last error: formats of pictures pass on its text alone.
    refused: &'a mut Option<i32>,
}

impl<W: Write> Write for Checked<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.control.check().map_err(std::io::Error::other)?;
        self.inner.write(bytes).inspect_err(|error| *self.refused = error.raw_os_error())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
