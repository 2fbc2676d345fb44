//! A field of your own: a closure for a field of cells, or a type that can also prove whole regions.

use orthant::field::{Evaluate, Labels, Payload, Prove};
use orthant::prelude::*;
use orthant::rule::Verdict;
use orthant::{Error, WordsMut};

/// The slab x_0 + x_1 + .. = t, one cell thick, in any number of dimensions.
struct Plane {
    t: u64,
}

impl<const K: usize> Field<K> for Plane {
    fn labels(&self) -> Labels {
        Labels::counts(1)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }
}

impl<const K: usize> Evaluate<K> for Plane {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|cell| u32::from(cell.iter().map(|&c| u64::from(c)).sum::<u64>() == self.t)));
    }
}

impl<const K: usize> Prove<K> for Plane {
    /// Exact for every box, so `full` never looks at a cell above the leaves.
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let least: u64 = region.corner.iter().map(|&c| u64::from(c)).sum();
        let most = least + region.extent.iter().map(|&s| u64::from(s - 1)).sum::<u64>();
        match (least..=most).contains(&self.t) {
            true if least == most => Verdict::Uniform(1),
            true => Verdict::Mixed,
            false => Verdict::Uniform(0),
        }
    }
}

fn main() -> Result<(), Error> {
    // What both plans have in common; the rule is what differs.
    let builder = Plan::builder([64; 3]).scheme(Scheme::uniform(2, 2, 2));
    let full = builder.rule(RuleKind::Full).build()?;
    let plane = run(&full, &Plane { t: 96 })?;
    println!("the plane: {} cells evaluated of {}", plane.totals().evaluated_cells, full.domain().cells());

    let border = builder.rule(RuleKind::Border).build()?;
    let octants = CellField::new(7, |[x, y, z]| x / 32 + 2 * (y / 32) + 4 * (z / 32));
    let boxes = run(&border, &octants)?;
    println!("eight octants: {} regions examined", boxes.totals().regions);
    Ok(())
}
