//! Which crash it is: the innermost functions of the program itself.
//!
//! Two inputs that end in the same place rarely have the same stack: how
//! deep a parser is nested depends on the input. So calls of a function by
//! itself count once, and only the innermost functions count at all. What
//! libraries do about a crash (`abort`, `raise`, a sanitizer's report) tells
//! nothing about it and is left out.

use super::{Crash, Frame};

/// Files of the system's libraries and of sanitizers, by how they begin.
const MODULES: [&str; 12] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "libpthread",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libasan",
    "libubsan",
    "liblsan",
    "libclang_rt",
    "linux-vdso",
];
/// Functions of theirs, which may be linked into the program.
const FUNCTIONS: [&str; 9] = [
    "abort",
    "raise",
    "gsignal",
    "pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__libc_message",
    "malloc_printerr",
    "__assert_fail",
];
const PREFIXES: [&str; 8] = [
    "__GI_",
    "__assert_fail_",
    "__asan",
    "__ubsan",
    "__msan",
    "__sanitizer",
    "__interceptor_",
    "___interceptor_",
];

impl Crash {
    /// The innermost `most` functions, without repeats and without what
    /// libraries do about a crash.
    pub fn site(&self, most: usize) -> Vec<String> {
        let mut site: Vec<String> = Vec::new();
        for frame in self.stack.iter().skip_while(|frame| of_system(frame)) {
            let name = match &frame.function {
                Some(name) => name.clone(),
                None => format!("{}+{:#x}", base(&frame.module), frame.address),
            };
            if site.len() == most {
                break;
            }
            if !site.contains(&name) {
                site.push(name);
            }
        }
        site
    }
}

fn of_system(frame: &Frame) -> bool {
    let function = frame.function.as_deref().unwrap_or_default();
    MODULES.iter().any(|name| base(&frame.module).starts_with(name))
        || FUNCTIONS.contains(&function)
        || PREFIXES.iter().any(|name| function.starts_with(name))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Verdict;

    #[test]
    fn recursion_counts_once_and_libraries_do_not() {
        let frame = |(module, function): &(&str, &str)| Frame {
            module: (*module).to_string(),
            address: 16,
            function: (!function.is_empty()).then(|| (*function).to_string()),
            ..Frame::default()
        };
        let frames = [
            ("/lib/libc.so.6", "raise"),
            ("/bin/target", "__assert_fail"),
            ("/bin/target", "value"),
            ("/bin/target", "array"),
            ("/bin/target", "value"),
            ("/bin/target", "array"),
            ("/bin/target", ""),
            ("/bin/target", "main"),
        ];
        let stack = frames.iter().map(frame).collect();
        let crash = Crash { verdict: Verdict::Signal(6), stack, summary: None, output: Vec::new() };
        assert_eq!(crash.site(3), ["value", "array", "target+0x10"]);
        assert!(crash.site(0).is_empty());
    }
}
