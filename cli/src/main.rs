//! The binary: its arguments are the program's.

fn main() -> std::process::ExitCode {
    orthant_cli::main(std::env::args_os())
}
