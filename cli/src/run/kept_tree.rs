//! The pictures, arrays and the report of a tree that was made in memory, or of one of which counts are left; and the trees' names.

use std::path::PathBuf;

use orthant::result::DenseArray;
use orthant::{Control, Report, Tree};

use super::cell_outputs::{CellOutputs, HowDrawn, KeptCells};
use super::outputs::{Outputs, write_report};
use super::painted::Painted;
use crate::error::Error;
use crate::output::Slice;
use crate::output::legend::DrawnValues;
use crate::output::png::Caption;
use crate::output::tree::{self, TreeOutput};
use crate::voice::Voice;

/// What was kept, and how it is shown.
pub(super) struct KeptTree<'a, const K: usize> {
    pub(super) tree: Option<Tree<K>>,
    pub(super) slice: &'a Slice<K>,
    pub(super) drawn: DrawnValues<'a>,
    pub(super) report: &'a Report,
    /// Bytes of what is made for pictures, at most.
    pub(super) limit: Option<u64>,
    pub(super) control: &'a Control,
    pub(super) voice: Voice,
}

impl<const K: usize> KeptTree<'_, K> {
    /// Gives `trees` their names, and writes all else that is asked for.
    ///
    /// # Errors
    /// If something cannot be written, or there is no memory for it.
    pub(super) fn write(self, trees: Vec<(TreeOutput<K>, PathBuf)>, mut outputs: Outputs) -> Result<(), Error> {
        trees.into_iter().try_for_each(|(writer, target)| tree::finish(writer, &target, self.voice))?;
        let Self { tree, slice, drawn, report, limit, control, voice } = self;
        let drawing =
            HowDrawn { slice, caption: Caption::new(&report.computation, slice), levels: report.levels.len() };
        let painted = |cells: &DenseArray<K>| Painted::of_values(cells, slice, &drawn);
        let kept = tree.map(KeptCells::Tree);
        let shown = kept
            .as_ref()
            .map(|kept| CellOutputs::new(kept, &outputs, limit, painted, drawing, control, voice))
            .transpose()?;
        // Stdout comes last: whoever reads it may leave, and files must not suffer.
        if outputs.report.as_ref().is_some_and(|staged| !staged.is_stdout()) {
            write_report(outputs.report.take(), report, control, voice)?;
        }
        if let Some(shown) = shown {
            shown.write(outputs.overlay, outputs.arrays)?;
        }
        write_report(outputs.report, report, control, voice)
    }
}
