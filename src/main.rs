//! The `orthant` binary; everything is in the library's `cli`.

fn main() -> std::process::ExitCode {
    orthant::cli::main()
}
