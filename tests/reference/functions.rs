//! The functions of the cost model by the names of reference files.
//!
//! The equations are taken literally: g·B may exceed n, tau may be negative if the policy says so. A case in which they
//! have no value answers with an error of its own, `infeasible` or `undefined`; that is a result.

use orthant_lab::model::fields::{self, Diagonal, FieldCounts};
use orthant_lab::model::geometry::volume;
use orthant_lab::model::olt::{self, Peak};
use orthant_lab::model::overhead::Features;
use orthant_lab::model::percolation::{self, Percolation};
use orthant_lab::model::work::{self, LevelCosts};
use orthant_lab::model::{
    Costs, Counts, Density, Kernels, ModelError, Objective, Problem, Processors, Ratio, Space, Surface, kernels, tau,
    time,
};
use serde_json::{Map, Value, json};

use super::inputs::{Inputs, Trouble};

/// What a function makes of inputs.
type Function = fn(&Inputs) -> Result<Value, Trouble>;

/// What can be evaluated.
const FUNCTIONS: &[(&str, Function)] = &[
    ("tau", levels),
    ("surface", surface),
    ("work_exhaustive", work_exhaustive),
    ("work_general", work_general),
    ("work_ssd", work_ssd),
    ("work_from_counts", work_from_counts),
    ("stop_side", stop_side),
    ("time", times),
    ("optimum", optimum),
    ("olt", tables),
    ("kernels", launches),
    ("scalar_bits", scalar_bits),
    ("sfc", canonical),
    ("overhead_features", overhead_features),
    ("carpet", carpet),
    ("line", line),
    ("slab", slab),
    ("halfspace", halfspace),
    ("percolation", percolate),
    ("percolation_moments", percolation_moments),
];

/// The outputs of a case.
pub(super) fn evaluate(case: &Value) -> Result<Value, String> {
    let name = case.get("function").and_then(Value::as_str);
    let name = name.ok_or("key 'function' is missing: a text is needed")?;
    let known = || FUNCTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
        return Err(format!("key 'function': unknown function '{name}': expected one of {}", known()));
    };
    let keys: &Map<_, _> =
        case.get("inputs").and_then(Value::as_object).ok_or("key 'inputs' is missing: an object is needed")?;
    let inputs = Inputs::new(keys);
    Ok(match function(&inputs) {
        Ok(outputs) => tidy(outputs),
        Err(Trouble::Model(ModelError::Infeasible { .. })) => json!({ "error": "infeasible" }),
        Err(Trouble::Model(ModelError::Undefined { .. })) => json!({ "error": "undefined" }),
        Err(Trouble::Model(ModelError::Parameter { symbol, value, allowed })) => {
            let key = if symbol == "lambda" { "lam" } else { symbol };
            return Err(format!("key '{key}' is {value}: must be {allowed}"));
        }
        Err(Trouble::Model(error)) => return Err(error.to_string()),
        Err(Trouble::Input(message)) => return Err(message),
    })
}

/// A sum of doubles this close to a whole number is that number.
const WHOLE: f64 = 1e-14;

/// Prints whole numbers below 2^53 as such: the rounding of sums is not part of the answer.
fn tidy(value: Value) -> Value {
    match value {
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, tidy(value))).collect(),
        Value::Array(list) => list.into_iter().map(tidy).collect(),
        Value::Number(number) if number.is_f64() => {
            let value = number.as_f64().unwrap_or_default();
            let whole = value.round();
            let near = (value - whole).abs() <= WHOLE * whole.abs() && whole.abs() < 2f64.powi(53);
            if near { json!(whole as i64) } else { json!(value) }
        }
        other => other,
    }
}

/// A result as JSON, with more keys.
fn object(result: impl serde::Serialize, more: Value) -> Value {
    let (Ok(Value::Object(mut map)), Value::Object(more)) = (serde_json::to_value(result), more) else {
        unreachable!("results are structs of numbers and lists, further keys an object")
    };
    map.extend(more);
    Value::Object(map)
}

fn levels(inputs: &Inputs) -> Result<Value, Trouble> {
    let geometry = inputs.geometry(true)?;
    let tau = tau::tau(&geometry);
    Ok(json!({
        "tau_floor": tau,
        "levels_floor": tau.max(1),
        "levels_gt": tau::levels_while_above(&geometry),
        "levels_ge": tau::levels_while_not_below(&geometry),
        "levels_trunc": tau::levels_truncating(&geometry),
    }))
}

fn surface(inputs: &Inputs) -> Result<Value, Trouble> {
    let sides = inputs.rationals("s")?;
    let of = |surface: Surface| surface.of(&sides).to_f64();
    Ok(json!({ "faces": of(Surface::Faces), "exact": of(Surface::Exact), "volume": volume(&sides).to_f64() }))
}

/// n^k of the key 'n'.
fn cells(inputs: &Inputs) -> Result<Ratio, Trouble> {
    Ok(inputs.axes("n")?.into_iter().map(Ratio::whole).product())
}

fn work_exhaustive(inputs: &Inputs) -> Result<Value, Trouble> {
    let costs = Costs::new(inputs.decimal("A")?, 0.0)?;
    Ok(json!({ "W_E": work::exhaustive(cells(inputs)?, costs) }))
}

fn work_general(inputs: &Inputs) -> Result<Value, Trouble> {
    let explored = inputs.tau()? as usize - 1;
    let [p, query, subdivide, fill] = ["P", "Q", "S", "T"].map(|key| inputs.per_level(key, explored));
    let (p, query, subdivide, fill) = (p?, query?, subdivide?, fill?);
    Density::Profile(p.clone()).check(2)?;
    let costs = Costs::new(inputs.decimal("A")?, 0.0)?;
    let levels: Vec<_> = (0..explored)
        .map(|i| LevelCosts { p: p[i], query: query[i], subdivide: subdivide[i], fill: fill[i] })
        .collect();
    let (initial, children) = (inputs.integer("G")? as f64, inputs.integer("R")? as f64);
    Ok(object(work::general(cells(inputs)?, initial, children, costs.a(), &levels), json!({})))
}

fn work_ssd(inputs: &Inputs) -> Result<Value, Trouble> {
    let (geometry, density) = (inputs.geometry(true)?, inputs.density()?);
    Ok(object(work::work(&geometry, &density, inputs.costs()?, inputs.options()?)?, json!({})))
}

fn work_from_counts(inputs: &Inputs) -> Result<Value, Trouble> {
    let geometry = inputs.geometry(false)?;
    let active = inputs.integers("active")?;
    let counts = Counts::measured(geometry.initial_regions(), geometry.children(), &active)?;
    Ok(json!({ "W": work::from_counts(&geometry, &counts, inputs.costs()?, inputs.options()?) }))
}

fn stop_side(inputs: &Inputs) -> Result<Value, Trouble> {
    Ok(json!({ "s_star": work::stop_side(inputs.k()?, inputs.decimal("P")?, inputs.costs()?)? }))
}

fn times(inputs: &Inputs) -> Result<Value, Trouble> {
    let (geometry, density) = (inputs.geometry(true)?, inputs.density()?);
    let times = time::times(&geometry, &density, inputs.costs()?, inputs.processors()?, inputs.options()?)?;
    Ok(object(times, json!({})))
}

fn optimum(inputs: &Inputs) -> Result<Value, Trouble> {
    let objective: Objective = inputs.name("objective")?;
    let processors = match objective {
        Objective::Work => Processors::new(inputs.integer_or("q", 1)?, inputs.integer_or("c", 1)?)?,
        _ => inputs.processors()?,
    };
    let problem = Problem {
        n: inputs.axes("n")?,
        density: inputs.density()?,
        costs: inputs.costs()?,
        processors,
        options: inputs.options()?,
    };
    Ok(match orthant_lab::model::optimum(&problem, objective, &space(inputs)?)? {
        Some(found) => object(found, json!({})),
        None => json!({ "feasible": 0, "g": null, "r": null, "B": null, "cost": null, "gain": null }),
    })
}

/// `space`, one list for g, r and B, of which `fixed` pins some.
fn space(inputs: &Inputs) -> Result<Space, Trouble> {
    let mut space = match inputs.get("space") {
        None => Space::default(),
        Some(_) => {
            let all = inputs.integers("space")?;
            Space { g: all.clone(), r: all.clone(), b: all }
        }
    };
    let wanted = || Trouble::Input("key 'fixed': an object that gives g, r or B a whole number is needed".into());
    if let Some(fixed) = inputs.get("fixed") {
        for (key, value) in fixed.as_object().ok_or_else(wanted)? {
            let value = vec![value.as_u64().ok_or_else(wanted)?];
            match key.as_str() {
                "g" => space.g = value,
                "r" => space.r = value,
                "B" => space.b = value,
                _ => return Err(wanted()),
            }
        }
    }
    Ok(space)
}

fn tables(inputs: &Inputs) -> Result<Value, Trouble> {
    let counts = inputs.counts()?;
    let children = Ratio::whole(inputs.integer("R")?);
    let peak = Peak::entries(&counts, children);
    let numbers = |ratios: &[Ratio]| ratios.iter().map(|ratio| ratio.to_f64()).collect::<Vec<_>>();
    Ok(json!({
        "N": numbers(counts.regions()),
        "active": numbers(counts.active()),
        "write_capacity": olt::write_capacity(&counts, children),
        "peak_entries": peak,
        "peak_bytes_coords": peak.bytes(4 * inputs.k()? as u64),
        "peak_bytes_scalar": peak.bytes(8),
    }))
}

fn launches(inputs: &Inputs) -> Result<Value, Trouble> {
    Ok(object(Kernels::new(&inputs.counts()?, inputs.integer_or("concurrent", kernels::CONCURRENT)?)?, json!({})))
}

fn scalar_bits(inputs: &Inputs) -> Result<Value, Trouble> {
    let geometry = inputs.geometry(false)?;
    let level = inputs.integer_in("i", 0..=128)? as i32;
    match inputs.name::<String>("what")?.as_str() {
        "region" => Ok(json!({ "bits": olt::region_bits(&geometry, level) })),
        "cell" => Ok(json!({ "bits": olt::cell_bits(&geometry) })),
        other => Err(Trouble::Input(format!("key 'what' is '{other}': region or cell is needed"))),
    }
}

fn canonical(inputs: &Inputs) -> Result<Value, Trouble> {
    Ok(json!({ "index": olt::canonical_index(&inputs.integers("p")?, &inputs.integers("dims")?)? }))
}

fn overhead_features(inputs: &Inputs) -> Result<Value, Trouble> {
    let geometry = inputs.geometry(inputs.get("active").is_none())?;
    let options = inputs.options()?;
    let counts = match inputs.measured(geometry.initial_regions(), geometry.children())? {
        Some(counts) => counts,
        None => {
            let tau = options.tau_policy.levels(&geometry)?;
            Counts::of_chain(&geometry, &inputs.density()?.chain(&geometry, tau)?)
        }
    };
    let block = inputs.integer("block")?;
    let variant = inputs.name("variant")?;
    let features = Features::new(&geometry, &counts, inputs.processors()?, block, variant, options.surface)?;
    Ok(object(features, json!({})))
}

/// The counts of a field with its densities.
fn counted(counts: &FieldCounts) -> Value {
    json!({ "N": numbers(&counts.regions), "active": numbers(&counts.active), "P": counts.densities() })
}

/// Counts as integers where JSON can hold them, else as doubles.
fn numbers(counts: &[u128]) -> Vec<Value> {
    counts
        .iter()
        .map(|&count| u64::try_from(count).map_or_else(|_| json!(count as f64), |count| json!(count)))
        .collect()
}

fn carpet(inputs: &Inputs) -> Result<Value, Trouble> {
    let rule: orthant::geometry::DigitRule = inputs.name("kind")?;
    let k = inputs.k()? as u32;
    let power = |key| Ok::<_, Trouble>(inputs.integer_in(key, 0..=1024)? as u32);
    let counts = FieldCounts::of_digits(rule, k, power("e")?, power("j")?, inputs.tau()? as u32)?;
    Ok(object(
        counted(&counts),
        json!({ "base": rule.base(), "m": rule.kept(k) as u64, "dimension": rule.dimension(k) }),
    ))
}

fn line(inputs: &Inputs) -> Result<Value, Trouble> {
    Ok(counted(&fields::line(inputs.k()? as u32, inputs.integer("g")?, inputs.integer("r")?, inputs.tau()? as u32)?))
}

fn slab(inputs: &Inputs) -> Result<Value, Trouble> {
    Ok(counted(&fields::slab(inputs.k()? as u32, inputs.integer("g")?, inputs.integer("r")?, inputs.tau()? as u32)?))
}

fn halfspace(inputs: &Inputs) -> Result<Value, Trouble> {
    let field = if inputs.boolean_or("thin", false)? { Diagonal::Plane } else { Diagonal::HalfSpace };
    let (n, threshold) = (inputs.integer("n")?, inputs.integer("thr")?);
    let splits = [inputs.integer("g")?, inputs.integer("r")?];
    Ok(counted(&fields::diagonal(field, inputs.k()? as u32, n, threshold, splits, inputs.tau()? as u32)?))
}

fn percolate(inputs: &Inputs) -> Result<Value, Trouble> {
    let (numerator, denominator) = (inputs.integer("p_num")?, inputs.integer("p_den")?);
    let field = Percolation::new(inputs.k()?, numerator, denominator, inputs.integer("seed")?)?;
    let counts = field.counts(inputs.integer("g")?, inputs.integer("r")?, inputs.tau()?)?;
    Ok(json!({ "N": numbers(&counts.regions), "active": numbers(&counts.active) }))
}

fn percolation_moments(inputs: &Inputs) -> Result<Value, Trouble> {
    let (initial, children) = (inputs.integer("G")? as f64, inputs.integer("R")? as f64);
    let level = inputs.integer_in("i", 0..=1024)? as i32;
    let [mean, variance] = percolation::moments(initial, children, inputs.decimal("P")?, level)?;
    Ok(json!({ "mean": mean, "variance": variance }))
}
