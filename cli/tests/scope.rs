//! How much of the tests runs. `ORTHANT_TESTS=full` runs what is too long for every day, too: `.ci/long` does.

/// True where everything runs.
pub(crate) fn is_full() -> bool {
    match std::env::var("ORTHANT_TESTS").as_deref() {
        Err(_) | Ok("brief") => false,
        Ok("full") => true,
        Ok(other) => panic!("ORTHANT_TESTS={other}: brief or full is needed"),
    }
}

/// The first case and each that is `step` further, or all cases in full.
pub(crate) fn every<T>(step: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(sized(1, step))
}

/// `full` if everything runs, else `brief`.
pub(crate) fn sized<T>(full: T, brief: T) -> T {
    if is_full() { full } else { brief }
}
