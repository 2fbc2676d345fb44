//! The trees of a run that nothing else is written of: shard by shard, while the rest of the run is collected.

use std::path::PathBuf;

use orthant::backend::Prepared;
use orthant::field::Field;
use orthant::tree::write_run;
use orthant::{Control, Report, StageClock, Tree};

use super::outputs::{Outputs, write_report};
use super::summary;
use crate::error::Error;
use crate::output::tree::{self, TreeOutput};
use crate::voice::{Voice, print};

/// Trees on their way, all of one run.
pub(super) struct RunTrees<'a, const K: usize> {
    pub(super) trees: Vec<(TreeOutput<K>, PathBuf)>,
    /// The field, if it is asked for proofs of regions.
    pub(super) prover: Option<&'a dyn Field<K>>,
    pub(super) control: &'a Control,
    pub(super) voice: Voice,
}

impl<const K: usize> RunTrees<'_, K> {
    /// Writes the trees, and what is said of the run.
    ///
    /// # Errors
    /// If something cannot be written, or the backend fails.
    pub(super) fn write(
        self,
        prepared: &mut dyn Prepared<K>,
        report: Report,
        outputs: Outputs,
        mut clock: StageClock,
    ) -> Result<(), Error> {
        let Self { mut trees, prover, control, voice } = self;
        if !voice.quiet && !outputs.stdout {
            print(summary::of_field(&report))?;
        }
        clock.ends(|seconds| &mut seconds.reporting);
        let mut writers: Vec<_> = trees.iter_mut().map(|(tree, _)| &mut **tree).collect();
        let each = |part: Tree<K>| match prover {
            Some(field) => part.proved_by(field, control),
            None => Ok(part),
        };
        let first = write_run(prepared, &mut writers, &each)?;
        clock.ended(first, |seconds| &mut seconds.collecting);
        // Writing a tree adds up what a report says of its regions.
        let regions_checksum = trees.first().map(|(tree, _)| tree.checksum().to_string());
        for (tree, path) in trees {
            tree::finish(tree, &path, voice)?;
        }
        clock.ends(|seconds| &mut seconds.writing);
        let seconds = clock.seconds();
        if voice.verbose {
            voice.say(summary::of_stages(&seconds));
        }
        let report = Report { regions_checksum, seconds_by_stage: Some(seconds), ..report };
        write_report(outputs.report, &report, control, voice)
    }
}
