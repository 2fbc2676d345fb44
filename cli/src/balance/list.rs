//! `orthant balance list`.

use orthant::balance::BalancerKind;
use orthant_lab::balance::WorkList;

use crate::error::Error;
use crate::voice::{align_right, print, table};

/// Prints balancers with what they can be told, and workloads with their moments.
pub(super) fn list() -> Result<(), Error> {
    let mut balancers = table(&["balancer", "on the CPU", "takes", "by default", "which is"]);
    for &kind in BalancerKind::ALL {
        for (i, knob) in kind.knobs().iter().enumerate() {
            let default = if knob.default == 0 { "by the items".into() } else { knob.default.to_string() };
            let [name, here] = if i > 0 { ["", ""] } else { [kind.name(), if kind.is_on_cpu() { "yes" } else { "" }] };
            balancers.add_row([name, here, knob.name, &default, knob.what]);
        }
    }
    let mut workloads = table(&["workload", "items", "units", "mean", "deviation", "most", "empty"]);
    for workload in WorkList::ALL {
        let facts = workload.items().facts();
        workloads.add_row([
            workload.name().to_owned(),
            facts.items.to_string(),
            facts.units.to_string(),
            format!("{:.3}", facts.mean),
            format!("{:.1}", facts.deviation),
            facts.most.to_string(),
            facts.empty.to_string(),
        ]);
    }
    align_right(&mut workloads);
    print(format_args!("{}\n\n{}\n", balancers.trim_fmt(), workloads.trim_fmt()))
}
