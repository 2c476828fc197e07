//! `wug`: tests programs that read structured input.

fn main() -> std::process::ExitCode {
    wug::cli::main()
}
