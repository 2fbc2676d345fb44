//! The pictures and arrays of a run of a field.

use std::borrow::Cow;
use std::io::ErrorKind;

use orthant::result::DenseArray;
use orthant::{Control, Subdivision};
use orthant_formats::export::npy;

use super::outputs::{Format, PIECE, finish, write_cells};
use super::painted::Painted;
use crate::error::Error;
use crate::output::png::Caption;
use crate::output::{Slice, Staged, legend, overlay, png};
use crate::voice::Voice;

/// What a run left, and how it is shown.
pub(super) struct ArrayOutputs<'a, const K: usize> {
    subdivision: &'a Subdivision<K>,
    /// The dense array, if it was kept or a picture needs it.
    array: Option<&'a DenseArray<K>>,
    limit: Option<u64>,
    shown_as: ShownAs<'a, K>,
}

/// How pictures are drawn.
#[derive(Clone, Copy)]
pub(super) struct ShownAs<'a, const K: usize> {
    pub(super) slice: &'a Slice<K>,
    pub(super) painted: &'a Painted,
    pub(super) caption: &'a Caption,
}

impl<'a, const K: usize> ArrayOutputs<'a, K> {
    /// What `subdivision` holds and shows.
    pub(super) fn new(
        subdivision: &'a Subdivision<K>,
        array: &'a Option<Cow<'a, DenseArray<K>>>,
        limit: Option<u64>,
        shown_as: ShownAs<'a, K>,
    ) -> Self {
        Self { subdivision, array: array.as_deref(), limit, shown_as }
    }

    /// The dense array of `subdivision`, made for pictures within `limit` bytes.
    ///
    /// # Errors
    /// If that is too much.
    pub(super) fn dense(
        subdivision: &'a Subdivision<K>,
        pictures: bool,
        limit: Option<u64>,
    ) -> Result<Option<Cow<'a, DenseArray<K>>>, Error> {
        Ok(match subdivision.array() {
            Some(array) => Some(Cow::Borrowed(array)),
            None if pictures => Some(Cow::Owned(subdivision.materialise(limit)?)),
            None => None,
        })
    }

    /// Writes the overlay, if one is asked for, then pictures and arrays.
    ///
    /// # Errors
    /// If one cannot be written.
    pub(super) fn write_all(
        &self,
        overlay: Option<Staged>,
        arrays: Vec<(Format, Staged)>,
        control: &Control,
        voice: Voice,
    ) -> Result<(), Error> {
        let Self { subdivision, shown_as: ShownAs { slice, painted, caption }, .. } = *self;
        if let (Some(staged), Some(array)) = (overlay, self.array) {
            let levels = subdivision.levels().len();
            let terminals = subdivision.terminals().iter();
            let mut regions = terminals.map(|terminal| (terminal.level(), subdivision.region(terminal)));
            finish(staged, control, voice, &mut |out| {
                overlay::write(&slice.of(array), (levels, &mut regions), slice, &painted.palette, caption, out)
            })?;
        }
        arrays.into_iter().try_for_each(|(format, staged)| self.write(format, staged, control, voice))
    }

    fn write(&self, format: Format, staged: Staged, control: &Control, voice: Voice) -> Result<(), Error> {
        let Self { subdivision, shown_as: ShownAs { slice, painted, caption }, .. } = *self;
        match (format, self.array) {
            (Format::Png, Some(array)) => finish(staged, control, voice, &mut |out| match &painted.labels {
                Some(labels) => legend::write(&slice.of(array), labels, false, caption, out),
                None => png::write(&slice.of(array), &painted.palette, caption, out),
            }),
            (Format::Npy, Some(array)) => finish(staged, control, voice, &mut |out| {
                npy::header(&array.size(), array.cells().kind(), out)?;
                write_cells(array, out)
            }),
            (_, None) => {
                let mut layers = subdivision.layers(PIECE, self.limit)?;
                let mut refused = None;
                let written = finish(staged, control, voice, &mut |out| {
                    npy::header(&subdivision.plan().domain().size(), subdivision.bricks().kind(), out)?;
                    layers.try_for_each(|piece| match piece {
                        Ok(piece) => write_cells(&piece, out),
                        Err(error) => {
                            refused = Some(error);
                            Err(ErrorKind::OutOfMemory.into())
                        }
                    })
                });
                refused.map_or(Ok(()), |error| Err(error.into())).and(written)
            }
        }
    }
}
