//! The environment of a target: that of this process, and what sanitizers
//! and the runtime need besides. It is set for the target alone.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A sanitizer's report must not take longer than the run: symbols are
/// looked up later. A signal tells more than an exit code.
const COMMON: [(&str, &str); 3] =
    [("abort_on_error", "1"), ("symbolize", "0"), ("allocator_may_return_null", "1")];

/// The variables of sanitizers and what they say if the user does not.
const SANITIZERS: [(&str, &[(&str, &str)]); 4] = [
    ("ASAN_OPTIONS", &[("detect_leaks", "0"), ("detect_odr_violation", "0"), ("malloc_context_size", "0")]),
    ("MSAN_OPTIONS", &[("exit_code", "86"), ("msan_track_origins", "0")]),
    ("UBSAN_OPTIONS", &[("halt_on_error", "1"), ("print_stacktrace", "1")]),
    ("LSAN_OPTIONS", &[("exitcode", "23"), ("fast_unwind_on_malloc", "0")]),
];

/// Exit codes of sanitizers that found something.
pub const CRASH_CODES: [i32; 2] = [86, 23];

/// The exit code of a Rust program that panicked.
pub const RUST_PANIC: i32 = 101;

/// The environment for a target, as `NAME=VALUE`. What is added wins over
/// what is there; options of sanitizers are extended.
pub fn environment(added: &[(OsString, OsString)], rss_limit: Option<u64>) -> Vec<CString> {
    let mut all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    for (name, value) in added {
        all.retain(|(known, _)| known != name);
        all.push((name.clone(), value.clone()));
    }
    // Symbols that are looked up in each child of a fork server cost a fifth
    // of its run.
    let has = |all: &[(OsString, OsString)], name: &str| all.iter().any(|(known, _)| known == name);
    // A panic of Rust would read the program's debug information each time.
    if !added.iter().any(|(name, _)| name == "RUST_BACKTRACE") {
        all.retain(|(name, _)| name != "RUST_BACKTRACE");
        all.push(("RUST_BACKTRACE".into(), "0".into()));
    }
    if !has(&all, "LD_BIND_LAZY") && !has(&all, "LD_BIND_NOW") {
        all.push(("LD_BIND_NOW".into(), "1".into()));
    }
    for (name, defaults) in SANITIZERS {
        let at = all.iter().position(|(known, _)| known == name);
        let given = at.map(|at| all.swap_remove(at).1).unwrap_or_default();
        let limit = rss_limit.map(|bytes| (bytes >> 20).max(1).to_string());
        let limit = limit.as_deref().map(|megabytes| ("hard_rss_limit_mb", megabytes));
        let defaults = COMMON.iter().chain(defaults).copied().chain(limit);
        all.push((name.into(), extended(&given, defaults)));
    }
    let entry = |(name, value): (OsString, OsString)| {
        let mut bytes = name.into_vec();
        bytes.push(b'=');
        bytes.extend(value.into_vec());
        // Variables of a process hold no NUL.
        CString::new(bytes).ok()
    };
    all.into_iter().filter_map(entry).collect()
}

/// Options with the defaults that they do not name.
fn extended<'a>(given: &OsStr, defaults: impl Iterator<Item = (&'a str, &'a str)>) -> OsString {
    let named: Vec<Vec<u8>> = given
        .as_bytes()
        .split(|byte| matches!(byte, b':' | b',' | b' ' | b'\t' | b'\n'))
        .map(|option| option.split(|byte| *byte == b'=').next().unwrap_or_default().to_vec())
        .collect();
    let mut out = given.as_bytes().to_vec();
    for (name, value) in defaults {
        if named.iter().any(|known| known == name.as_bytes()) {
            continue;
        }
        if !out.is_empty() {
            out.push(b':');
        }
        out.extend(format!("{name}={value}").bytes());
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::extended;

    #[test]
    fn options_are_extended_and_never_overwritten() {
        let defaults = [("abort_on_error", "1"), ("symbolize", "0")];
        let check = |given: &str, expected: &str| {
            assert_eq!(extended(given.as_ref(), defaults.into_iter()), expected);
        };
        check("", "abort_on_error=1:symbolize=0");
        check("symbolize=1", "symbolize=1:abort_on_error=1");
        check("a=b:abort_on_error=0,symbolize=1", "a=b:abort_on_error=0,symbolize=1");
        check("xsymbolize=1", "xsymbolize=1:abort_on_error=1:symbolize=0");
    }
}
