//! `orthant model plot`: curves of the model as a picture.

use std::sync::Arc;

use crate::error::Error;
use crate::interrupt::cancels;
use crate::model::args::{Picture, PlotCommand, Question};
use crate::model::figures;
use crate::model::measured::MeasuredSpeedups;
use crate::model::symbols::{dimensions, spread};
use crate::output::{Staged, chart, expect_extension};
use crate::voice::Voice;
use orthant::Control;

/// What the pictures show, for those who cannot see them.
const DESCRIPTION: &str = "Panels computed by the cost model, whose numbers `orthant model plan --json` gives, and what was measured, if the title says so.";

/// Draws a figure of the paper, or a landscape of one's own.
pub(crate) fn plot(command: PlotCommand, voice: Voice) -> Result<(), Error> {
    let picture = match &command {
        PlotCommand::Fig3(picture) => picture,
        PlotCommand::Fig4(options) => &options.picture,
        PlotCommand::Landscape(landscape) => &landscape.picture,
    };
    let control = Arc::new(Control::default());
    cancels(&control);
    let staged = stage(picture)?;
    let (title, panels) = match &command {
        PlotCommand::Fig3(_) => {
            let title = "Work reduction by subdivision, what is not named at its best: P = 0.7, A = 16, lambda = 100; over P at n = 2^16";
            (title.to_owned(), figures::work_reduction()?)
        }
        PlotCommand::Fig4(options) => {
            let title = "Speedup by subdivision, what is not named at its best: P = 0.7, A = 16, lambda = 100, q = 128, c = 64; over g, r and B at n = 2^16";
            let measured = options.measured.as_deref().map(MeasuredSpeedups::read).transpose()?;
            let beside = measured
                .as_ref()
                .map_or(String::new(), |measured| format!("\nmeasured, g, r and B at the greatest n: {}", measured.of));
            (format!("{title}{beside}"), figures::speedups(measured.as_ref())?)
        }
        PlotCommand::Landscape(landscape) => {
            let k = dimensions(landscape.dim, &landscape.size)?;
            let problem = landscape.question.problem(spread("--size", &landscape.size, k)?)?;
            let panels = figures::landscapes(&problem, landscape.objective, &landscape.space.space(1)?)?;
            let Question { a, lambda, q, c, .. } = landscape.question;
            let density = problem.density.to_string();
            (format!("n {}, k {k}, P {density}, A {a}, lambda {lambda}, q {q}, c {c}", landscape.size), vec![panels])
        }
    };
    let target = staged.target().to_owned();
    staged.finish(&control, |out| out.write_all(chart::svg(&title, DESCRIPTION, &panels)?.as_bytes()))?;
    voice.say(format_args!("orthant: wrote {}", target.display()));
    Ok(())
}

fn stage(picture: &Picture) -> Result<Staged, Error> {
    expect_extension("--output", &picture.output, &["svg"])?;
    Staged::new(&picture.output, picture.force)
}
