//! Targets for the tests, built once per test program.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the targets' sources.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tests/targets")
}

/// Compiles a source; the name is that of the program. Other test programs
/// may build the same at this moment, so it is moved into its place.
pub fn build(compiler: &str, flags: &[&str], source: &str, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    let fresh = folder.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    let output = Command::new(compiler)
        .args(flags)
        .arg(sources().join(source))
        .arg("-o")
        .arg(&fresh)
        .env("AFL_QUIET", "1")
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&fresh, &path).expect("the target in its place");
    path
}

/// The same by `wug cc`, with gcc or clang behind it.
pub fn build_native(compiler: &str, flags: &[&str], source: &str, name: &str) -> PathBuf {
    use wug_runtime::compile::{Language, Options, compile};
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    let fresh = folder.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    let mut arguments: Vec<std::ffi::OsString> = vec![format!("--wug-cc={compiler}").into()];
    arguments.extend(flags.iter().map(Into::into));
    arguments.extend([sources().join(source).into(), "-o".into(), fresh.clone().into()]);
    let language = if compiler.ends_with("++") { Language::Cxx } else { Language::C };
    let mut options = Options::take(language, &mut arguments);
    options.cache = folder.join("runtimes");
    let status = compile(language, &arguments, &options).expect("a compiler");
    assert!(status.success(), "{compiler} {flags:?} {source}");
    std::fs::rename(&fresh, &path).expect("the target in its place");
    path
}

/// Whether a tool is there; with `WUG_REQUIRE_ALL` it must be.
pub fn has(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{tool} is needed");
    if !found {
        eprintln!("skipped: {tool} is not there");
    }
    found
}

/// A program of its own for a test, so that its processes can be counted.
pub fn copy(program: &Path, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    std::fs::hard_link(program, &path).or_else(|_| std::fs::copy(program, &path).map(drop)).expect("a copy");
    path
}

/// How many processes run a program.
pub fn alive(program: &Path) -> usize {
    processes(program).len()
}

/// The processes that run a program.
pub fn processes(program: &Path) -> Vec<i32> {
    use std::os::unix::ffi::OsStrExt;
    let number = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let own = line.starts_with(program.as_os_str().as_bytes());
        own.then(|| entry.file_name().to_string_lossy().parse().ok()).flatten()
    };
    std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(number).collect()
}

/// The parent of a process; 0 if it is gone.
pub fn parent(process: i32) -> i32 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0)
}
