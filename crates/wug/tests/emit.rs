//! Producers as C: `wug emit` and the engine `compiled`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn wug(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).output().expect("wug runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder for one test.
fn scratch(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

#[test]
fn the_compiled_engine_is_built_once_and_makes_the_same_inputs() {
    let cache = scratch("compiled");
    let generate = |engine: &str| {
        Command::new(env!("CARGO_BIN_EXE_wug"))
            .args(["generate", "json", "-n", "50", "-s", "4", "--stats", "--engine", engine])
            .env("XDG_CACHE_HOME", &cache)
            .output()
            .expect("wug runs")
    };
    let plain = generate("recursive");
    // Both at once, into an empty cache.
    let runs: Vec<Output> = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| generate("compiled")));
        runs.map(|run| run.join().expect("it ends")).into()
    });
    let again = generate("compiled");
    for run in runs.iter().chain([&again]) {
        assert_eq!(text(&run.stdout), text(&plain.stdout), "{}", text(&run.stderr));
    }
    let setup = |run: &Output| -> f64 {
        let stats: Value = serde_json::from_slice(&run.stderr).expect("one object");
        assert_eq!(stats["engine"], "compiled");
        stats["setup_seconds"].as_f64().expect("a time")
    };
    assert!(setup(&again) < setup(&runs[0]), "compiled once");
    let kept: Vec<_> = cache.join("wug/compiled").read_dir().expect("a folder").collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn the_compiled_engine_says_what_it_lacks() {
    let cache = scratch("compiled-lacks");
    let generate = |set: &dyn Fn(&mut Command)| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["generate", "json", "-s", "4", "--engine", "compiled"]).env("XDG_CACHE_HOME", &cache);
        set(&mut command);
        let output = command.output().expect("wug runs");
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let said = generate(&|command| {
        command.env_remove("CC").env("PATH", &cache);
    });
    assert!(said.starts_with("error: the engine `compiled` needs a C compiler"), "{said}");
    let said = generate(&|command| {
        command.env("CC", "no-such-compiler");
    });
    assert!(
        said.starts_with("error: the C compiler `no-such-compiler`, named by CC, does not run"),
        "{said}"
    );
    let open = cache.join("wug/compiled");
    std::fs::create_dir_all(&open).expect("a folder");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&open, mode).expect("a mode");
    let said = generate(&|_| {});
    assert!(said.contains("others may write to"), "{said}");
}

#[test]
fn an_emitted_program_prints_what_generate_prints() {
    let folder = scratch("emitted");
    let source = folder.join("json.c").to_string_lossy().into_owned();
    let program = folder.join("json").to_string_lossy().into_owned();
    assert!(wug(&["emit", "json", "-o", &source]).status.success());
    let compiler =
        Command::new("cc").args(["-O1", "-Wall", "-Wextra", "-Werror", &source, "-o", &program]).output();
    let said = compiler.expect("a C compiler");
    assert!(said.status.success(), "{}", text(&said.stderr));
    let printed = Command::new(&program).args(["3", "40", "9", "5000"]).output().expect("it runs");
    let expected = wug(&["generate", "json", "-s", "3", "-n", "40", "-d", "9", "--max-size", "5000"]);
    assert_eq!(text(&printed.stdout), text(&expected.stdout));
    let wrong = Command::new(&program).args(["three"]).output().expect("it runs");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).starts_with("use: "), "{}", text(&wrong.stderr));
    let small = Command::new(&program).args(["3", "1", "9", "0"]).output().expect("it runs");
    assert_eq!(small.status.code(), Some(1));
}
