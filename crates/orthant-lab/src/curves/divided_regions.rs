//! The tables of a run, made again in the order of any curve.

use std::collections::HashSet;

use orthant::dimension::here;
use orthant::{Plan, Subdivision, per_axis};

/// The regions that a run divided, by their coordinates on their level.
///
/// ```
/// use orthant::prelude::*;
/// use orthant_lab::curves::DividedRegions;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).build()?;
/// let corner = CellField::new(1, |[x, y]| u32::from(x + y < 10));
/// let run = Run::new(&plan, &corner).how(How::default().keep(Keep::Regions)).start()?;
/// // The three regions of level 0 at the corner are mixed, and have four children each.
/// let (level, codes) = DividedRegions::from_run(&run).largest_table(&plan);
/// assert_eq!((level, codes.len()), (0, 16));
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DividedRegions<const K: usize>(Vec<HashSet<[u32; K]>>);

impl<const K: usize> DividedRegions<K> {
    /// Those of a run that kept [`Regions`](orthant::Keep::Regions): the parents of all that were examined.
    pub fn from_run(run: &Subdivision<K>) -> Self {
        here!(fn(&Subdivision<K>) -> DividedRegions<K> = DividedRegions::from_run_here)(run)
    }

    fn from_run_here(run: &Subdivision<K>) -> Self {
        let (plan, r) = (run.plan(), run.plan().scheme().r);
        let mut divided: Vec<HashSet<[u32; K]>> = vec![HashSet::new(); plan.levels().len()];
        for terminal in run.terminals() {
            let mut coords = plan.encoding().decode(terminal.level(), terminal.code);
            for level in (0..terminal.level() as usize).rev() {
                coords = per_axis::each(|j| coords[j] / r[j]);
                if !divided[level].insert(coords) {
                    break; // its ancestors are known
                }
            }
        }
        Self(divided)
    }

    /// The level of the largest table of a plan that divides the same regions, and the table's codes in the order in which a run
    /// inserts them: level 0 by code, then the children of every mixed region, parents in order.
    pub fn largest_table(&self, plan: &Plan<K>) -> (u32, Vec<u64>) {
        here!(fn(&DividedRegions<K>, &Plan<K>) -> (u32, Vec<u64>) = DividedRegions::largest_table_here)(self, plan)
    }

    fn largest_table_here(&self, plan: &Plan<K>) -> (u32, Vec<u64>) {
        let encoding = plan.encoding();
        let mut codes: Vec<u64> = (0..plan.levels()[0].regions() as u64).collect();
        let mut largest = (0, codes.clone());
        let mut family = vec![0; plan.scheme().children() as usize];
        for level in 0..plan.levels().len() as u32 - 1 {
            let divided = &self.0[level as usize];
            let parents = codes.iter().filter(|&&code| divided.contains(&encoding.decode(level, code)));
            let mut children = Vec::new();
            for &parent in parents {
                encoding.children(level, parent, &mut family);
                children.extend_from_slice(&family);
            }
            codes = children;
            if codes.len() >= largest.1.len() {
                largest = (level + 1, codes.clone());
            }
        }
        largest
    }
}
