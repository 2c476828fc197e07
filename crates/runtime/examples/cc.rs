//! `wug cc` in a few lines: what a library user needs to compile targets.
//!
//! Called as `cc cc ARGUMENT...`, since that is how the linker script of
//! `wug_runtime::rust` calls `wug`.

use std::ffi::OsString;
use std::process::ExitCode;
use wug_runtime::compile::{self, Language, Options};

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let options = Options::take(Language::C, &mut arguments);
    match compile::compile(Language::C, &arguments, &options) {
        Ok(status) => ExitCode::from(status.code().unwrap_or(1) as u8),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
