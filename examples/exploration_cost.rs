//! What exploring costs: iterations of a full scan of every border, of the scattered order, and of Exhaustive.
//!
//! Arguments: workload, extent, initial split, stop side; without any, three small cases.

use orthant::Error;
use orthant::backend::ExploreOrder;
use orthant::field::{Job, Open};
use orthant::prelude::*;

struct Compare(Request);

impl Job for Compare {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let plan = self.0.plan::<K>()?;
        let field = open(plan.domain(), &self.0.options()?)?;
        let go = |how| Run::new(&plan, &*field).how(how).start();
        let all = go(How::default().strategy(StrategyKind::Exhaustive))?;
        let whole = go(How::default().explore_order(ExploreOrder::Paper).keep(Keep::Regions))?.totals().label_sum;
        let scattered = go(How::default())?;
        let wrong = all.array().unwrap().differing(scattered.array().unwrap());
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
        _ => {
            vec![(FieldKind::Mandelbrot, 512, 4, 4), (FieldKind::Mandelbulb, 64, 4, 2), (FieldKind::Julibrot, 16, 2, 2)]
        }
    };
    for (workload, n, g, b) in cases {
        let request = Request::new(workload).size(Some(vec![n])).g(Some(vec![g])).b(Some(vec![b]));
        request.workload.dispatch(request.k(), Compare(request))??;
    }
    Ok(())
}
