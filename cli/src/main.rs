//! The binary: its arguments are the program's.

#[global_allocator]
static MEMORY: orthant_cli::Memory = orthant_cli::Memory;

fn main() -> std::process::ExitCode {
    orthant_cli::main(std::env::args_os())
}
