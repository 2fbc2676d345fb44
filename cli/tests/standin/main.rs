//! The CUDA backend without a GPU: the real host code and the real kernels, run on the CPU.
//!
//! Beside this file is a stand-in for the driver, for NVRTC and for NVML. The program finds them as it would find the real
//! ones, so everything between the command line and a kernel's arithmetic is what runs on a GPU. Needs g++ on x86-64 Linux;
//! where it cannot run, every test counts as ignored, with the reason, and fails if `ORTHANT_REQUIRE_STANDIN` is set.

mod balance;
mod binary;
mod ends;
mod energy;
mod formulas;
mod given;
mod kept;
mod launches;
mod libraries;
mod long_formulas;
mod missing;
mod orbits;
mod runs;
mod streams;
mod trees;
mod values;
mod verify;

#[path = "../scope.rs"]
mod scope;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use orthant::field::FieldKind;
use scope::is_full;

const NVML: bool = cfg!(feature = "nvml");

/// A test by name.
struct Test {
    name: String,
    /// Why it is not run although there is a stand-in, if it is not.
    ignored: Option<&'static str>,
    run: Box<dyn Fn(&Path) + Send>,
}

impl Test {
    fn new(name: impl Into<String>, run: impl Fn(&Path) + Send + 'static) -> Self {
        Self { name: name.into(), ignored: None, run: Box::new(run) }
    }

    fn unless(self, reason: &'static str, met: bool) -> Self {
        Self { ignored: self.ignored.or((!met).then_some(reason)), ..self }
    }
}

/// Tests that are functions, under their paths. One that is not listed is dead code, which the compiler reports.
macro_rules! tests {
    ($($test:path),+ $(,)?) => { [$(Test::new(stringify!($test), $test)),+] };
}

fn tests(full: bool) -> Vec<Test> {
    let mut tests: Vec<Test> = tests![
        verify::every_choice_once,
        verify::pieces_of_processes_are_one_run,
        runs::a_field_of_the_users_own,
        runs::an_array_of_a_file,
        runs::an_array_without_room_goes_in_pieces,
        runs::bricks_come_in_the_order_of_regions,
        runs::digit_sets_prove_every_region,
        runs::proofs_are_those_of_the_cpu,
        runs::shapes_are_subdivided_as_on_the_cpu,
        runs::sweeps_run_on_warm_sessions,
        runs::two_gpus_find_what_one_finds,
        runs::wide_codes_name_the_same_regions,
        given::meshes_have_the_cpus_cells_and_proofs,
        given::points_have_the_cpus_cells_and_proofs,
        given::many_points_are_sorted_there,
        given::lists_have_the_cpus_cells_and_proofs,
        formulas::random_ones_have_the_cpus_cells_and_proofs,
        formulas::long_ones_are_loops_or_refused,
        formulas::they_run_on_a_gpu_in_every_dimension,
        long_formulas::they_have_the_cpus_cells_and_counts,
        long_formulas::those_that_find_no_room_are_counted,
        streams::every_region_and_cell_is_asks,
        streams::shared_faces_say_what_closed_boxes_do,
        streams::bricks_hold_the_cells_of_leaves,
        streams::regions_are_read_in_the_room_that_is_left,
        streams::their_lists_are_tables,
        streams::what_has_no_streams_is_refused,
        streams::they_are_the_default_where_there_are_some,
        streams::the_model_knows_them,
        trees::files_are_those_of_the_cpu,
        values::a_type_of_each_width,
        launches::launch_spaces_beyond_the_grid_go_out_in_parts,
        launches::launches_that_fail_lose_nothing,
        launches::lists_that_are_too_short_are_made_longer,
        launches::stacks_fill_their_streams,
        launches::the_budget_is_spent_and_kept,
        launches::native_grids_are_stacks,
        launches::numbers_that_kernels_cannot_hold_are_refused,
        launches::the_order_of_threads_does_not_matter,
        ends::a_run_ends_in_the_midst_and_the_next_one_is_right,
        balance::every_unit_is_done_once,
        balance::every_balancer_settles,
        balance::launches_that_fail_lose_no_unit,
        orbits::late_tests_find_the_step_of_the_plain_loop,
        orbits::unchecked_arithmetic_is_correctly_rounded,
        kept::compiled_kernels_are_kept_and_mended,
        kept::times_of_a_gpu_are_fitted_and_tuned,
        missing::what_is_missing_is_said,
    ]
    .into();
    let metered = tests![energy::energy_is_measured_by_both_instruments, energy::energy_is_reported];
    tests.extend(metered.map(|test| test.unless("the feature 'nvml' is off", NVML)));
    tests.push(
        Test::new("energy::energy_needs_its_feature", energy::energy_needs_its_feature)
            .unless("the feature 'nvml' is on", !NVML),
    );
    let long = tests![verify::every_pair_of_choices_with_some_field, balance::faults_are_found, values::every_type,];
    tests.extend(long.map(|test| test.unless("long; ORTHANT_TESTS=full runs it", full)));
    // Digit sets share a header, and orbits one: some stand for all. The others, and sources of one's own, take turns with choices.
    let others = [
        FieldKind::Cantor,
        FieldKind::Carpet,
        FieldKind::Diagonal,
        FieldKind::Simplex,
        FieldKind::Mandelbulb,
        FieldKind::Kernel,
        // It is data, of which meshes and points have cases.
        FieldKind::Array,
    ];
    tests.extend(FieldKind::ALL.iter().filter(|field| !others.contains(field)).map(|&field| {
        let name = format!("verify::every_pair_of_choices_with_{field}");
        let verify = move |folder: &Path| verify::every_pair_of_choices_with(folder, field);
        Test::new(name, verify).unless("long; ORTHANT_TESTS=full runs it", full)
    }));
    tests
}

fn main() -> ExitCode {
    if std::env::var_os(ends::INSIDE).is_some() {
        ends::inside();
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(binary::OWN).is_some() {
        return orthant_cli::main_with(std::env::args_os(), values::fields());
    }
    let arguments = Arguments::from_args();
    let full = is_full();
    let lacking = libraries::lacking();
    if let (Some(lacking), Some(_)) = (lacking, std::env::var_os("ORTHANT_REQUIRE_STANDIN")) {
        panic!("ORTHANT_REQUIRE_STANDIN is set, and the stand-in cannot run: {lacking}");
    }
    let trial = |Test { name, ignored, run }| {
        // `.ci/run` leaves them out by this word, and runs them beside other steps.
        let trial = Trial::test(format!("standin::{name}"), move || {
            run(libraries::folder());
            Ok(())
        });
        match lacking.or(ignored) {
            Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
            None => trial,
        }
    };
    libtest_mimic::run(&arguments, tests(full).into_iter().map(trial).collect()).exit_code()
}
