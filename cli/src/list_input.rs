//! A list of cells in a file.

use std::path::PathBuf;

use orthant::list::{ListError, StoredList};
use orthant::result::{MemoryError, Stored};
use orthant::{Computed, with_dimensions};
use orthant_formats::input::{InputError, InputFault, ListFile, OnEntry};

use crate::error::Error;
use crate::input::wrong;
use crate::options::{InputOptions, WRONG_FOR_LISTS};
use crate::output::has_extension;
use crate::voice::Voice;

/// A list whose file is open, and what options say of it.
pub(crate) struct ListInput {
    pub(crate) path: PathBuf,
    pub(crate) file: ListFile,
    /// The word of cells that are not listed.
    pub(crate) background: u64,
}

impl ListInput {
    /// Opens the file that the options name.
    ///
    /// # Errors
    /// [`Error::Input`] names options that lists do not have; else what is wrong with the file.
    pub(crate) fn open(options: &InputOptions, computed: &Computed) -> Result<Self, Error> {
        let reading = &options.reading;
        let given = [
            ("columns", reading.points.columns.is_some()),
            ("attribute", reading.points.attribute.is_some()),
            ("follow", reading.follow),
            ("kind", reading.kind.is_some()),
            ("label-table", reading.label_table.is_some()),
            ("spacing", reading.spacing.is_some()),
        ];
        let given = given.into_iter().filter(|given| given.1).map(|given| given.0);
        let names: Vec<_> = given.chain(reading.predicate.given()).chain(options.raw()).collect();
        if let [first, ..] = names[..] {
            let reason = format!("--{}: {WRONG_FOR_LISTS}", names.join(", --"));
            return Err(Error::Input(reason).about(&[first]));
        }
        let path = options.input.clone().unwrap_or_default();
        // Sizes that differ say how many axes there are.
        let sizes = computed.size.as_deref().map(<[u32]>::len).filter(|&sizes| sizes > 1);
        let file = ListFile::open(&path, computed.dim.or(sizes)).map_err(about)?;
        let kind = file.kind();
        let background = match reading.points.background {
            None => 0,
            Some(value) => value.word(kind).ok_or_else(|| {
                let reason = format!("--background {value}: values are {kind}, which does not hold it");
                Error::Input(reason).about(&["background"])
            })?,
        };
        Ok(Self { path, file, background })
    }

    /// Its name without folders.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Goes through the entries.
    ///
    /// # Errors
    /// As the file's; [`Error`] of memory, if `entry` finds none, of which `limit` bytes may be used.
    pub(crate) fn each(&self, limit: Option<u64>, entry: &mut OnEntry<'_>) -> Result<(), Error> {
        let mut full = None;
        let read =
            self.file.each(&mut |cell, word| entry(cell, word).inspect_err(|error| full = full.or(needed(error))));
        match full {
            Some(need) => Err(too_much(need, limit)),
            None => read.map_err(about),
        }
    }

    /// What is wrong with the list, in words about its file.
    pub(crate) fn refused(&self, error: &ListError) -> Error {
        match error {
            ListError::Twice { .. } => {
                let way = if has_extension(&self.path, "npy") {
                    "numpy.unique(a, axis=0) leaves one of equal rows"
                } else {
                    "of a sparse matrix sum_duplicates() makes one entry of several"
                };
                Error::Input(format!("{error}; {way}")).about(&["input"])
            }
            ListError::Cells { .. } => Error::Input(format!("--size: {error}")).about(&["size", "strategy"]),
            ListError::TooLarge { .. } => {
                Error::Input(format!("--size: {error}; fewer cells per axis (-n), or a smaller -B, have them"))
                    .about(&["size"])
            }
            _ => Error::Input(error.to_string()).about(&["input"]),
        }
    }

    /// The list as what a field is made of, sorted by index.
    ///
    /// # Errors
    /// [`Error`] names the file or the option, and what is wrong; if the list takes more than `limit` bytes.
    pub(crate) fn stored(&self, computed: &Computed, limit: Option<u64>, voice: Voice) -> Result<StoredList, Error> {
        let size = with_dimensions!(
            self.file.axes(),
            K => computed.list_domain::<K>(self.file.size()).map_err(no_size)?.size().to_vec(),
            else unreachable!("a list of another number of axes is refused")
        );
        let of_list = |error: ListError| match needed(&error) {
            Some(need) => too_much(need, limit),
            None => self.refused(&error),
        };
        let list = StoredList::builder(self.file.kind(), size).map_err(of_list)?;
        let mut list = list.background(self.background).mem_limit(limit.unwrap_or(u64::MAX));
        list.reserve(usize::try_from(self.file.count()).unwrap_or(usize::MAX)).map_err(of_list)?;
        self.each(limit, &mut |cell, word| list.push(cell, word))?;
        let list = list.build(self.name()).map_err(of_list)?;
        if list.dropped() > 0 {
            let (name, dropped, background) =
                (self.path.display(), list.dropped(), list.kind().text(list.background()));
            voice.say(format_args!(
                "orthant: {name}: {dropped} entries are {background}, as all cells that are not listed"
            ));
        }
        Ok(list)
    }
}

/// Bytes that a list needs, if that is what is wrong.
fn needed(error: &ListError) -> Option<u128> {
    match error {
        ListError::Memory { need } => Some(*need),
        _ => None,
    }
}

fn too_much(need: u128, limit: Option<u64>) -> Error {
    MemoryError { what: Stored::Points, need, limit }.into()
}

/// That a size is missing, with what it looks like.
pub(crate) fn no_size(error: orthant::Error) -> Error {
    match &error {
        orthant::Error::Choice(missing) if missing.name == "size" && missing.value.is_empty() => {
            Error::Input(format!("--{error}; -n 2^20 is as many on each, -n 64x64x9 one for each")).about(&["size"])
        }
        _ => error.into(),
    }
}

/// What is wrong with the file of a list.
fn about(error: InputError) -> Error {
    match &error.wrong {
        InputFault::NoFormat { known } => {
            let path = error.path.display();
            let reason = format!("--coordinates=cells: {path}: the name of a list of cells ends with {known}");
            Error::Input(reason).about(&["coordinates", "input"])
        }
        // How many columns are coordinates is the number of axes.
        InputFault::Field { field, .. } if ["shape", "axes"].contains(&&**field) => {
            let reason =
                format!("{error}; --dim K says how many axes there are, and so does a size of each, -n 64x64x9");
            Error::Input(reason).about(&["dim", "size", "input"])
        }
        _ => wrong(error).about(&["input", "size", "dim"]),
    }
}
