//! The colours of a run's pictures.

use orthant::field::Labels;
use orthant::result::DenseArray;

use crate::output::Slice;
use crate::output::legend::{self, Colours, DrawnValues};
use crate::output::png::Palette;

/// The colours of cells: those of numbers, and one per label where cells are labels.
pub(super) struct Painted {
    /// By number; an overlay is drawn on these.
    pub(super) palette: Palette,
    pub(super) labels: Option<Colours>,
}

impl Painted {
    /// Of counts, or of values, which are looked at.
    pub(super) fn of<const K: usize>(
        labels: Labels,
        array: &DenseArray<K>,
        slice: &Slice<K>,
        drawn: &DrawnValues<'_>,
    ) -> Self {
        match labels.most() {
            None => Self::of_values(array, slice, drawn),
            Some(_) => Self { palette: Palette::of_labels(labels, array.cells().kind(), drawn.gradient), labels: None },
        }
    }

    /// Of values, a part of which is drawn: a colour per label if they are labels and no gradient was asked for.
    pub(super) fn of_values<const K: usize>(array: &DenseArray<K>, slice: &Slice<K>, drawn: &DrawnValues<'_>) -> Self {
        let DrawnValues { gradient, are_labels, labels, nodata } = *drawn;
        let are = gradient.is_none() && are_labels.unwrap_or_else(|| legend::looks_like_labels(array, slice));
        Self {
            palette: Palette::of_values(array.cells(), nodata, gradient),
            labels: are.then(|| Colours::of_labels(array.cells(), labels)),
        }
    }
}
