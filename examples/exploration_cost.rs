//! What exploring costs: iterations of a full scan of every border, of the scattered order, and of Exhaustive.
//!
//! Arguments: workload, extent, initial split, stop side; without any, three small cases.

use orthant::prelude::*;

struct Compare(Request);

impl Job for Compare {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let plan = self.0.plan::<K>()?;
        let field = open(plan.domain(), &self.0.options()?)?;
        let go = |how| run(&plan, &*field, &how, &Control::default());
        let all = go(How { strategy: StrategyKind::Exhaustive, ..How::default() })?;
        let whole = go(How { order: ExploreOrder::Paper, keep: Keep::Regions, ..How::default() })?.totals().label_sum;
        let scattered = go(How::default())?;
        let wrong = conformance::differing(all.field().unwrap(), scattered.field().unwrap());
        let (all, scattered) = (all.totals().label_sum, scattered.totals().label_sum);
        let last = plan.levels()[plan.levels().len() - 1];
        println!(
            "{} n={} L={} {}: iterations {all} exhaustive, {whole} full scan ({:.2}), {scattered} scattered ({:.2}); \
             {wrong} wrong cells ({:.2} ppm)",
            self.0.workload,
            plan.domain().size()[0],
            plan.domain().size()[0] / last.grid[0],
            plan.domain().sample(),
            all as f64 / whole as f64,
            all as f64 / scattered as f64,
            wrong as f64 / plan.domain().cells() as f64 * 1e6,
        );
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let cases = match &arguments[..] {
        [workload, numbers @ ..] if numbers.len() == 3 => {
            let number = |i: usize| numbers[i].parse().expect("a whole number");
            vec![(workload.parse()?, number(0), number(1), number(2))]
        }
        _ => vec![
            (WorkloadKind::Mandelbrot, 512, 4, 4),
            (WorkloadKind::Mandelbulb, 64, 4, 2),
            (WorkloadKind::Julibrot, 16, 2, 2),
        ],
    };
    for (workload, n, g, b) in cases {
        let mut request = Request::new(workload);
        (request.size, request.g, request.b) = (Some(vec![n]), Some(vec![g]), Some(b));
        request.workload.dispatch(request.dim(), Compare(request))??;
    }
    Ok(())
}
