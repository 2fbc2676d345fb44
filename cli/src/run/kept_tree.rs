//! The pictures, arrays and the report of a tree that was made in memory, or of one of which counts are left.

use std::io::Write;

use orthant::{Control, Report, Tree};
use orthant_formats::export::npy;

use super::outputs::{Format, Outputs, finish, write_report};
use super::painted::Painted;
use crate::error::Error;
use crate::output::legend::{self, Shown};
use crate::output::png::Caption;
use crate::output::{Slice, overlay, png};
use crate::voice::Voice;

/// What was kept, and how it is shown.
pub(super) struct KeptTree<'a, const K: usize> {
    pub(super) tree: Option<&'a Tree<K>>,
    pub(super) slice: &'a Slice<K>,
    pub(super) shown: Shown<'a>,
    pub(super) report: &'a Report,
    /// Bytes of what is made for pictures, at most.
    pub(super) limit: Option<u64>,
    pub(super) control: &'a Control,
    pub(super) voice: Voice,
}

impl<const K: usize> KeptTree<'_, K> {
    /// Writes all that is asked for.
    ///
    /// # Errors
    /// If something cannot be written, or there is no memory for it.
    pub(super) fn write(&self, mut outputs: Outputs) -> Result<(), Error> {
        let Self { tree, slice, report, limit, control, voice, .. } = *self;
        let finish = |staged, write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            finish(staged, control, voice, write)
        };
        let shown = tree.filter(|_| outputs.pictures());
        let shown = shown.map(|tree| tree.array(&slice.window(tree.plan().domain().size()), limit)).transpose()?;
        let caption = Caption::new(&report.computation, slice);
        // Stdout comes last: whoever reads it may leave, and files must not suffer.
        if outputs.report.as_ref().is_some_and(|staged| !staged.is_stdout()) {
            write_report(outputs.report.take(), report, control, voice)?;
        }
        let painted = shown.as_ref().map(|cells| Painted::of_values(cells, slice, &self.shown));
        let picture = shown.as_ref().zip(painted.as_ref()).zip(tree);
        if let (Some(staged), Some(((cells, Painted { palette, .. }), tree))) = (outputs.overlay, picture) {
            let levels = report.levels.len();
            let mut regions = tree.regions().map(|region| (region.level(), region.cells()));
            finish(staged, &mut |out| {
                overlay::write(&slice.of(cells), (levels, &mut regions), slice, palette, &caption, out)
            })?;
        }
        for (format, staged) in outputs.arrays {
            match (format, picture, tree) {
                (Format::Png, Some(((cells, painted), _)), _) => finish(staged, &mut |out| match &painted.labels {
                    Some(labels) => legend::write(&slice.of(cells), labels, false, &caption, out),
                    None => png::write(&slice.of(cells), &painted.palette, &caption, out),
                })?,
                (Format::Npy, _, Some(tree)) => finish(staged, &mut |out| Ok(npy::write(tree, out)?))?,
                _ => unreachable!("outputs that show cells keep regions"),
            }
        }
        write_report(outputs.report, report, control, voice)
    }
}
