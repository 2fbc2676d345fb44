//! The constants of the time model, from measured times: log least squares over positive constants.
//!
//! Minimises Σ_j (ln t_j − ln f_j)² with f_j = Σ_m θ_m·x_jm and θ = exp(φ) > 0. The start is the non-negative least-squares
//! solution of the rows divided by t_j, by cyclic coordinate descent; Levenberg-Marquardt goes on from there, with the
//! Jacobian ∂ ln f/∂φ_m = θ_m·x_m/f. Logarithms make an error of 10 % count the same in a run of a millisecond and one of a
//! minute. Terms that are zero in every run are left out.

use super::ModelError;
use super::observed::Terms;

use orthant::per_axis;

/// One measured run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Its features.
    pub terms: Terms,
    /// What it took, in seconds.
    pub seconds: f64,
}

/// Fitted constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// α, ν, γ, λ, κ, β, δ in seconds; 0 for terms that no run had.
    pub constants: Terms,
    /// The root of the mean square of ln t − ln f.
    pub rms: f64,
    /// The runs it rests on.
    pub runs: usize,
}

/// How far predictions are from measured times: |f − t|/t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// The median.
    pub median: f64,
    /// The largest.
    pub worst: f64,
    /// The number of runs.
    pub runs: usize,
}

const TERMS: usize = Terms::NAMES.len();

/// Sweeps of the start, and steps after it: far more than either takes.
const SWEEPS: usize = 20_000;
const STEPS: usize = 2_000;

/// A term that the start finds to be zero begins at this share of the fastest run.
const TRACE: f64 = 1e-4;

/// Fits the constants of the time to measured runs.
///
/// ```
/// use orthant_lab::model::fit::{Observation, fit};
/// use orthant_lab::model::observed::Terms;
///
/// // Runs that take 2 ms per launch, and nothing else.
/// let run = |launches: f64| {
///     let terms = Terms { kappa: launches, ..Terms::of([0.0; 7]) };
///     Observation { terms, seconds: 0.002 * launches }
/// };
/// let fitted = fit(&[1.0, 3.0, 10.0].map(run))?;
/// assert!((fitted.constants.kappa / 0.002 - 1.0).abs() < 1e-6);
/// assert!(fitted.rms < 1e-6);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
///
/// # Errors
/// [`ModelError::Parameter`] if a time is not positive, or there are fewer runs than terms that occur.
pub fn fit(samples: &[Observation]) -> Result<Fit, ModelError> {
    if let Some(sample) = samples.iter().find(|sample| !(sample.seconds.is_finite() && sample.seconds > 0.0)) {
        return Err(ModelError::parameter("seconds", sample.seconds, "a positive number"));
    }
    // ln f with rows divided by t is ln(f/t): the residual itself.
    let rows: Vec<[f64; TERMS]> =
        samples.iter().map(|sample| sample.terms.array().map(|x| x / sample.seconds)).collect();
    let used: Vec<usize> = (0..TERMS).filter(|&m| rows.iter().any(|row| row[m] > 0.0)).collect();
    if rows.len() < used.len() || rows.is_empty() {
        return Err(ModelError::parameter("runs", rows.len(), "at least as many as terms that occur in them, up to 7"));
    }
    if let Some(row) = rows.iter().find(|row| !row.iter().sum::<f64>().is_finite() || row.iter().sum::<f64>() <= 0.0) {
        return Err(ModelError::parameter("features", row.iter().sum::<f64>(), "a positive sum"));
    }
    let mut theta = start(&rows, &used);
    refine(&rows, &used, &mut theta);
    let rms = (cost(&rows, &theta) / rows.len() as f64).sqrt();
    Ok(Fit { constants: Terms::of(theta), rms, runs: samples.len() })
}

/// The errors of constants on runs; none of no runs.
pub fn errors(constants: Terms, samples: &[Observation]) -> Option<Errors> {
    let mut errors: Vec<f64> =
        samples.iter().map(|sample| (sample.terms.times(constants) / sample.seconds - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let worst = *errors.last()?;
    let median = (errors[errors.len() / 2] + errors[(errors.len() - 1) / 2]) / 2.0;
    Some(Errors { median, worst, runs: errors.len() })
}

fn dot(row: &[f64; TERMS], theta: &[f64; TERMS]) -> f64 {
    row.iter().zip(theta).map(|(x, theta)| x * theta).sum()
}

/// Σ_j (ln f_j − ln t_j)².
fn cost(rows: &[[f64; TERMS]], theta: &[f64; TERMS]) -> f64 {
    rows.iter().map(|row| dot(row, theta).ln().powi(2)).sum()
}

/// Non-negative least squares of rows·θ = 1, and a trace of every term that it leaves out.
fn start(rows: &[[f64; TERMS]], used: &[usize]) -> [f64; TERMS] {
    let mut theta = [0.0; TERMS];
    let mut residuals = vec![1.0; rows.len()];
    for _ in 0..SWEEPS {
        let mut moved = false;
        for &m in used {
            let (mut slope, mut square) = (0.0, 0.0);
            for (row, residual) in rows.iter().zip(&residuals) {
                slope += row[m] * residual;
                square += row[m] * row[m];
            }
            let next = (theta[m] + slope / square).max(0.0);
            let step = next - theta[m];
            if step != 0.0 {
                rows.iter().zip(&mut residuals).for_each(|(row, residual)| *residual -= step * row[m]);
                moved |= step.abs() > 1e-12 * next;
                theta[m] = next;
            }
        }
        if !moved {
            break;
        }
    }
    for &m in used {
        // As large as TRACE in the run where the term weighs most.
        let most = rows.iter().map(|row| row[m]).fold(0.0, f64::max);
        theta[m] = theta[m].max(TRACE / most);
    }
    theta
}

/// Levenberg-Marquardt on φ = ln θ.
fn refine(rows: &[[f64; TERMS]], used: &[usize], theta: &mut [f64; TERMS]) {
    let (mut damping, mut least) = (1e-3, cost(rows, theta));
    for _ in 0..STEPS {
        let (mut normal, mut slope) = ([[0.0; TERMS]; TERMS], [0.0; TERMS]);
        for row in rows {
            let sum = dot(row, theta);
            let share: [f64; TERMS] = per_axis::each(|m| theta[m] * row[m] / sum);
            for &a in used {
                slope[a] -= share[a] * sum.ln();
                used.iter().for_each(|&b| normal[a][b] += share[a] * share[b]);
            }
        }
        let mut improved = false;
        while damping < 1e12 {
            let mut damped = normal;
            used.iter().for_each(|&m| damped[m][m] += damping * (normal[m][m] + 1e-12));
            let step = solve(damped, slope, used);
            // A term that the runs do not want shrinks by a large factor per step, and stays positive.
            let next: [f64; TERMS] = per_axis::each(|m| theta[m] * step[m].clamp(-20.0, 20.0).exp());
            let cost = cost(rows, &next);
            if cost < least {
                improved = least - cost > 1e-15 * least;
                (*theta, least) = (next, cost);
                damping = (damping * 0.3).max(1e-12);
                break;
            }
            damping *= 4.0;
        }
        if !improved {
            return;
        }
    }
}

/// Solves `matrix`·x = `right` over the rows and columns in `used`, by elimination with pivots on the diagonal: the matrix is
/// positive definite. Unused unknowns are 0.
fn solve(mut matrix: [[f64; TERMS]; TERMS], mut right: [f64; TERMS], used: &[usize]) -> [f64; TERMS] {
    for (i, &pivot) in used.iter().enumerate() {
        for &row in &used[i + 1..] {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            used.iter().for_each(|&column| matrix[row][column] -= factor * matrix[pivot][column]);
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; TERMS];
    for (i, &row) in used.iter().enumerate().rev() {
        let known: f64 = used[i + 1..].iter().map(|&column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observed::{Hardware, LevelWork};
    use orthant::backend::{Mapping, StrategyKind};

    /// On a CPU, where nobody waits for the longest region, and on a GPU.
    const CONSTANTS: [f64; 7] = [3.5e-11, 3.5e-9, 2e-10, 0.0, 2e-5, 4e-8, 6e-7];
    const ON_GPU: [f64; 7] = [5e-8, 5e-6, 1e-6, 4e-6, 2e-5, 3e-6, 5e-7];
    const CPU: Hardware = Hardware::Cpu { threads: 2 };
    const GPU: Hardware = Hardware::Gpu { multiprocessors: 132, threads: 2048, block: 64 };

    fn synthetic(noise: f64) -> Vec<Observation> {
        made(CPU, CONSTANTS, noise)
    }

    /// Runs of a boundary of dimension 1.5 with known constants; `noise` is the amplitude of a uniform relative error.
    fn made(hardware: Hardware, constants: [f64; 7], noise: f64) -> Vec<Observation> {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let mut samples = Vec::new();
        for n in [256.0f64, 512.0, 1024.0, 2048.0, 4096.0, 8192.0] {
            let all = LevelWork {
                regions: 1.0,
                leaves: 1.0,
                evaluated: n * n,
                iterations: Some(200.0 * n * n),
                ..LevelWork::default()
            };
            let mut runs = vec![Terms::new(StrategyKind::Exhaustive, Mapping::Sbr, hardware, &[all])];
            let deepest = n.log2() as usize - 1;
            let splits = [(2.0, 2.0, deepest), (2.0, 2.0, deepest - 3), (8.0, 2.0, deepest - 2), (8.0, 2.0, 3)];
            for (g, r, levels) in
                splits.into_iter().chain([(32.0, 2.0, 2), (4.0, 4.0, 3), (64.0, 4.0, 1), (2.0, 4.0, 2)])
            {
                let levels = scheme(n, g, r, levels);
                for (strategy, scheme) in [
                    (StrategyKind::Ask, Mapping::Sbr),
                    (StrategyKind::Ask, Mapping::Mbr),
                    (StrategyKind::Dp, Mapping::Sbr),
                ] {
                    runs.push(Terms::new(strategy, scheme, hardware, &levels));
                }
            }
            for terms in runs {
                samples
                    .push(Observation { terms, seconds: terms.times(Terms::of(constants)) * (1.0 + noise * random()) });
            }
        }
        samples
    }

    fn scheme(n: f64, g: f64, r: f64, levels: usize) -> Vec<LevelWork> {
        let (mut regions, mut grid) = (g * g, g);
        (0..levels)
            .map(|i| {
                let side = n / grid;
                let mixed = (regions * if i == 0 { g } else { r }.powf(-0.5)).round();
                let (filled, last) = (regions - mixed, i + 1 == levels);
                let explored = filled * 4.0 * side + mixed * 30.0;
                let evaluated = if last { mixed * side * side } else { 0.0 };
                let level = LevelWork {
                    regions,
                    divided: if last { 0.0 } else { mixed },
                    filled,
                    leaves: if last { mixed } else { 0.0 },
                    deciding: 4.0 * side,
                    explored,
                    filled_cells: filled * side * side,
                    evaluated,
                    iterations: Some(explored * (300.0 - 20.0 * i as f64) + evaluated * 70.0),
                    ..LevelWork::default()
                };
                (regions, grid) = (mixed * r * r, grid * r);
                level
            })
            .collect()
    }

    fn near(found: Terms, constants: [f64; 7], tolerance: f64) {
        for (found, constant) in found.array().iter().zip(constants) {
            assert!((found - constant).abs() <= tolerance * constant, "{found} {constant}");
        }
    }

    #[test]
    fn exact_times_give_the_constants_back() {
        for (hardware, constants) in [(CPU, CONSTANTS), (GPU, ON_GPU)] {
            let found = fit(&made(hardware, constants, 0.0)).unwrap();
            near(found.constants, constants, 1e-6);
            assert!(found.rms < 1e-9);
        }
    }

    #[test]
    fn noise_moves_them_little() {
        let samples = synthetic(0.05);
        let found = fit(&samples).unwrap();
        near(found.constants, CONSTANTS, 0.06);
        let errors = errors(found.constants, &samples).unwrap();
        assert!(found.rms < 0.04 && errors.median < 0.04 && errors.worst < 0.1, "{found:?} {errors:?}");
    }

    #[test]
    fn terms_that_never_occur_are_left_out() {
        let samples: Vec<_> = synthetic(0.0).into_iter().filter(|sample| sample.terms.delta == 0.0).collect();
        let found = fit(&samples).unwrap();
        assert_eq!(found.constants.delta, 0.0);
        assert!((found.constants.kappa / CONSTANTS[4] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_term_that_costs_nothing_comes_out_small() {
        let free = Terms { beta: 0.0, ..Terms::of(CONSTANTS) };
        let mut samples = synthetic(0.0);
        samples.iter_mut().for_each(|sample| sample.seconds = sample.terms.times(free));
        let found = fit(&samples).unwrap();
        assert!(found.rms < 1e-6 && found.constants.beta < 1e-3 * CONSTANTS[5], "{found:?}");
    }

    #[test]
    fn too_few_runs_are_refused() {
        let samples = synthetic(0.0);
        let message = fit(&samples[..3]).unwrap_err().to_string();
        assert!(message.contains("runs = 3"), "{message}");
        assert!(fit(&[]).is_err());
        assert!(fit(&[Observation { seconds: 0.0, ..samples[0] }]).is_err());
        assert_eq!(errors(Terms::default(), &[]), None);
    }
}
