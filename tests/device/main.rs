//! What needs a GPU or its compiler.
//!
//! What a machine cannot run is counted as ignored, with its reason; with `ORTHANT_REQUIRE_GPU` or
//! `ORTHANT_REQUIRE_NVRTC` set it fails instead. `ORTHANT_GPU_SCOPE=brief` runs less, for slow tools, and `static` the same
//! without launches from the device. The binary needs nothing but a driver and NVRTC, so it can be carried to a machine
//! without Rust.

mod arrays;
mod formulas;
mod given;
mod gpu;
mod kernels;
mod launches;
mod on_card;
#[path = "../patterns.rs"]
mod patterns;
mod points_on_card;
mod values;

use libtest_mimic::{Arguments, Failed, Trial};
use orthant::cuda::{DeviceOptions, Nvrtc};
use orthant::prelude::*;
use orthant_lab::conformance::Scope;

/// What cannot be had: in short, and the reason if there is more to say.
#[derive(Clone)]
struct Lack {
    kind: &'static str,
    reason: String,
    /// The variable that makes it a failure, if one does.
    required: &'static str,
}

/// What a test needs.
type Needed<T> = Result<T, Lack>;

fn main() {
    let mut arguments = Arguments::from_args();
    // Tests share GPUs, and a limit of one of them is a limit of all.
    arguments.test_threads = arguments.test_threads.or(Some(1));
    let scope = match std::env::var("ORTHANT_GPU_SCOPE").as_deref() {
        Ok("brief") => Scope::Brief,
        Ok("static") => Scope::Static,
        _ => Scope::Full,
    };
    let open = |number| match Target::open(BackendKind::Cuda, number) {
        Ok(gpu) => Ok(&*Box::leak(Box::new(gpu))),
        Err(error) => Err(Lack { kind: "no GPU", reason: error.to_string(), required: "ORTHANT_REQUIRE_GPU" }),
    };
    let gpu = open(0);
    let unless =
        |not: bool, why| if not { Err(Lack { kind: why, reason: String::new(), required: "" }) } else { gpu.clone() };
    let with_launches = unless(scope == Scope::Static, "without launches from the device");
    let long = unless(scope != Scope::Full, "too long for a brief run");
    let memory = gpu.as_ref().ok().and_then(|gpu| gpu.facts()?.memory).unwrap_or(0);
    let large = unless(scope != Scope::Full, "too long for a brief run")
        .and_then(|_| unless(memory < 20 << 30, "less than 20 GiB of device memory"));
    let pair =
        gpu.clone().and_then(|gpu| Ok([gpu, open(1).map_err(|lack| Lack { kind: "one GPU", required: "", ..lack })?]));
    for lack in [gpu.as_ref().err(), compiler().as_ref().err()].into_iter().flatten() {
        eprintln!("{}: {}", lack.kind, lack.reason);
    }
    let on_gpu = |name, needed, test: fn(&Target, Scope)| trial(name, needed, move |gpu| test(gpu, scope));
    let trials = vec![
        on_gpu("every_choice_gives_the_cpus_cells", gpu.clone(), gpu::every_choice_gives_the_cpus_cells),
        on_gpu("cells_of_every_type", gpu.clone(), values::cells_of_every_type),
        on_gpu(
            "points_and_meshes_have_the_cpus_cells",
            with_launches.clone(),
            given::points_and_meshes_have_the_cpus_cells,
        ),
        on_gpu("lists_have_the_cpus_cells", with_launches.clone(), given::lists_have_the_cpus_cells),
        on_gpu("arrays_have_the_cpus_regions", with_launches.clone(), arrays::arrays_have_the_cpus_regions),
        on_gpu("regions_stay_on_the_gpu", gpu.clone(), arrays::regions_stay_on_the_gpu),
        on_gpu("random_formulas_have_the_cpus_cells", gpu.clone(), formulas::random_formulas_have_the_cpus_cells),
        on_gpu("long_formulas_have_the_cpus_cells", gpu.clone(), formulas::long_formulas_have_the_cpus_cells),
        on_gpu("functions_are_the_cpus", gpu.clone(), formulas::functions_are_the_cpus),
        on_gpu(
            "unchecked_arithmetic_is_correctly_rounded",
            gpu.clone(),
            gpu::unchecked_arithmetic_is_correctly_rounded,
        ),
        on_gpu("published_counts", gpu.clone(), gpu::published_counts),
        on_gpu("arrays_without_room_go_in_pieces", large.clone(), arrays::arrays_without_room_go_in_pieces),
        on_gpu("an_array_on_the_gpu_is_divided_there", large.clone(), on_card::an_array_on_the_gpu_is_divided_there),
        on_gpu("points_on_the_gpu_are_sorted_there", gpu.clone(), points_on_card::points_on_the_gpu_are_sorted_there),
        on_gpu("more_cells_than_32_bits_count", large, gpu::more_cells_than_32_bits_count),
        on_gpu("wide_codes_and_visits", gpu.clone(), gpu::wide_codes_and_visits),
        on_gpu("stacks_are_throttled", gpu.clone(), launches::stacks_are_throttled),
        on_gpu("native_grids_are_stacks", gpu.clone(), launches::native_grids_are_stacks),
        on_gpu("budgets_are_spent_and_kept", with_launches.clone(), launches::budgets_are_spent_and_kept),
        on_gpu(
            "tables_of_coordinates_name_the_same_regions",
            gpu.clone(),
            gpu::tables_of_coordinates_name_the_same_regions,
        ),
        on_gpu("what_is_left_open_is_chosen", gpu.clone(), gpu::what_is_left_open_is_chosen),
        on_gpu("dynamic_parallelism_loses_nothing", with_launches.clone(), launches::dynamic_parallelism_loses_nothing),
        on_gpu("a_run_ends_in_the_midst", long, gpu::a_run_ends_in_the_midst),
        on_gpu("the_pending_limit_is_put_back", with_launches, launches::the_pending_limit_is_put_back),
        on_gpu("several_plans_live_side_by_side", gpu, gpu::several_plans_live_side_by_side),
        trial("several_devices_live_side_by_side", pair, gpu::several_devices_live_side_by_side),
        trial("common_kernels_compile", compiler(), kernels::common_kernels_compile),
        trial("long_formulas_compile", compiler(), formulas::long_formulas_compile),
        trial("every_specialisation_compiles", compiler(), kernels::every_specialisation_compiles),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn compiler() -> Needed<Nvrtc> {
    Nvrtc::find(&DeviceOptions::from_env(0).nvrtc).map_err(|error| Lack {
        kind: "no NVRTC",
        reason: error.to_string(),
        required: "ORTHANT_REQUIRE_NVRTC",
    })
}

/// A test with what it needs.
fn trial<T: Send + 'static>(name: &str, needed: Needed<T>, test: impl FnOnce(T) + Send + 'static) -> Trial {
    match needed {
        Ok(needed) => Trial::test(name, move || {
            test(needed);
            Ok(())
        }),
        Err(lack) if !lack.required.is_empty() && std::env::var_os(lack.required).is_some() => {
            Trial::test(name, move || Err(Failed::from(format!("{}: {}", lack.kind, lack.reason))))
        }
        Err(lack) => Trial::test(name, || Ok(())).with_kind(lack.kind).with_ignored_flag(true),
    }
}
