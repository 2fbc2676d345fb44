//! Regions of a tree that the field proves.

use crate::backend::{Control, Error};
use crate::field::{Field, Payload};
use crate::parallel;
use crate::result::{Content, Storage};
use crate::rule::Verdict;
use crate::rule::exact;
use crate::tree::error::TreeError;
use crate::tree::provenance::Provenance;
use crate::tree::stored::Tree;

/// Regions that are proven between two looks at the control.
const TOGETHER: usize = 64;

impl<const K: usize> Tree<K> {
    /// The same tree after `field` was asked for proofs of its [sampled](Provenance::Sampled) regions. A region that
    /// the field proves becomes [proved](Provenance::Proved).
    ///
    /// Regions of a field that [carries](crate::field::Carry) payloads cannot be proved, because a tree does not hold
    /// payloads.
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::{Control, field};
    /// use orthant::field::FieldOptions;
    /// use orthant::tree::Provenance;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let plan = Plan::builder([256; 2])
    ///     .window([[-1.5, 0.5], [-1.0, 1.0]])
    ///     .scheme(Scheme::uniform(16, 2, 4))
    ///     .build()?;
    /// let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
    /// let tree = Tree::of(Run::new(&plan, &*field).start()?)?.proved_by(&*field, &Control::default())?;
    /// let inside = tree.region_at([168, 128]).unwrap();
    /// assert_eq!((inside.uniform(), inside.provenance()), (Some(512), Provenance::Proved));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Disproved`] if the field proves another value than a region has: the tree is of another field, or of the same
    /// with other options. [`TreeError::Run`] if the control says so.
    pub fn proved_by(mut self, field: &dyn Field<K>, control: &Control) -> Result<Self, TreeError> {
        let Some(prover) = field.prover().filter(|_| field.carrier().is_none()) else { return Ok(self) };
        let survey = prover.survey(&self.along.plan().domain().region()).map_err(Error::from)?;
        let prover = survey.as_deref().unwrap_or(prover);
        let storage = Storage { label: field.labels().kind(), cell: self.kind() };
        let is_proved = |row: usize| {
            let region = self.region(row);
            let Content::Uniform(found) = region.content() else { return Ok(false) };
            if region.provenance() != Provenance::Sampled {
                return Ok(false);
            }
            let Verdict::Uniform(label) = prover.prove(&region.cells(), Payload::default()) else { return Ok(false) };
            let proven = storage.word(exact::key(storage.label, label));
            match proven == found {
                true => Ok(true),
                false => Err(TreeError::Disproved { level: region.level(), code: region.code(), found, proven }),
            }
        };
        let some = |i| -> Result<Vec<usize>, TreeError> {
            control.check()?;
            let mut proved = Vec::new();
            for row in parallel::piece(self.len(), TOGETHER, i) {
                if is_proved(row)? {
                    proved.push(row);
                }
            }
            Ok(proved)
        };
        let proved = parallel::try_map(self.len().div_ceil(TOGETHER), &some)?;
        proved.into_iter().flatten().for_each(|row| self.entries.prove(row));
        Ok(self)
    }
}
