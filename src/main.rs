//! The program: everything is in the library.

fn main() -> std::process::ExitCode {
    holdup::run(std::env::args_os())
}
