//! What golden files cannot say: fresh seeds, figures of time, terminals.

use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn wug(arguments: &[&str]) -> Output {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/files");
    Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(arguments)
        .current_dir(files)
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .output()
        .expect("wug runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_fresh_seed_is_shown_and_gives_the_same_inputs_again() {
    let first = wug(&["generate", "json", "-n", "20"]);
    let seed = text(&first.stderr).trim().strip_prefix("seed: ").expect("a seed").to_string();
    assert!(seed.parse::<u64>().is_ok(), "{seed}");
    let again = wug(&["generate", "json", "-n", "20", "-s", &seed]);
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(text(&again.stderr), "", "a seed that was given is not shown");
    let other = wug(&["generate", "json", "-n", "20"]);
    assert_ne!(first.stdout, other.stdout, "two fresh seeds");
}

#[test]
fn stats_are_one_json_object_on_standard_error() {
    let output = wug(&[
        "generate",
        "sum.wug",
        "-n",
        "100",
        "-s",
        "3",
        "--separator",
        "",
        "--stats",
        "--engine",
        "recursive",
    ]);
    let stats: Value = serde_json::from_slice(&output.stderr).expect("one object");
    let number = |name: &str| stats[name].as_f64().unwrap_or_else(|| panic!("{name} in {stats}"));
    assert!(stats["engine"].is_string() && stats["why"].is_string(), "{stats}");
    assert_eq!(number("seed"), 3.0);
    assert_eq!(number("inputs"), 100.0);
    assert_eq!(number("bytes"), output.stdout.len() as f64);
    assert_eq!(number("mean"), output.stdout.len() as f64 / 100.0);
    for time in ["seconds", "cpu_seconds", "setup_seconds", "mib_per_s"] {
        assert!(number(time) >= 0.0, "{time}");
    }
    let sizes = ["p50", "p90", "p99", "max"].map(number);
    assert!(sizes.is_sorted() && sizes[0] > 0.0, "{sizes:?}");
    assert!((0.0..=1.0).contains(&number("alternatives_used")));
}

#[test]
fn a_folder_holds_what_the_stream_holds() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a_folder");
    let _ = std::fs::remove_dir_all(&folder);
    let into = folder.to_string_lossy().into_owned();
    assert!(wug(&["generate", "json", "-n", "12", "-s", "5", "-o", &into]).status.success());
    let mut paths: Vec<_> = folder.read_dir().expect("a folder").map(|e| e.expect("a file").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 12);
    let joined: Vec<u8> = paths.iter().flat_map(|path| std::fs::read(path).expect("an input")).collect();
    assert_eq!(joined, wug(&["generate", "json", "-n", "12", "-s", "5", "--separator", ""]).stdout);
}

#[test]
fn help_has_an_example_and_fits_in_80_columns() {
    let commands: &[&[&str]] = &[
        &[],
        &["demo"],
        &["grammars"],
        &["check"],
        &["show"],
        &["generate"],
        &["emit"],
        &["automaton"],
        &["parse"],
        &["rustflags"],
        &["run"],
        &["fuzz"],
        &["explore"],
        &["minimize"],
        &["bench"],
    ];
    for command in commands {
        for flag in ["-h", "--help"] {
            let output = wug(&[*command, &[flag]].concat());
            let help = text(&output.stdout);
            assert!(output.status.success() && help.contains("\nExample:\n  wug "), "{help}");
            fits(&help);
        }
    }
    let help = text(&wug(&["--help"]).stdout);
    let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    // Compilers have flags of their own: only `--help` is ours.
    for compiler in ["cc", "c++"] {
        let help = text(&wug(&[compiler, "--help"]).stdout);
        assert!(help.contains("\nExample:\n  wug "), "{help}");
        fits(&help);
    }
    let others = |name: &&str| !["help", "cc", "c++"].contains(name);
    for name in listed.filter_map(|l| l.split_whitespace().next()).filter(others) {
        assert!(commands.iter().any(|c| c.first() == Some(&name)), "`{name}` is not in this test");
    }
}

#[test]
fn descriptions_fit_in_80_columns() {
    fits(&text(&wug(&["grammars"]).stdout));
    for grammar in ["lua", "sql", "xml", "http"] {
        fits(&text(&wug(&["check", grammar]).stdout));
    }
}

#[track_caller]
fn fits(text: &str) {
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn colours_are_for_terminals_only() {
    let piped = wug(&["check", "unknown.wug"]);
    assert!(!piped.stderr.contains(&0x1B) && !piped.stdout.contains(&0x1B));
    let plain = |shown: &str| !shown.contains('\u{1B}');
    assert!(!plain(&on_a_terminal(&["check", "unknown.wug"], None)));
    assert!(plain(&on_a_terminal(&["check", "unknown.wug"], Some(("NO_COLOR", "1")))));
    assert!(plain(&on_a_terminal(&["check", "unknown.wug"], Some(("TERM", "dumb")))));
    let alike = [&["check", "unknown.wug"][..], &["check", "nowhere.wug"], &["check"]];
    for wrong in alike {
        assert!(!plain(&on_a_terminal(wrong, None)), "{wrong:?}");
    }
}

/// What a command shows on standard error when that is a terminal.
fn on_a_terminal(arguments: &[&str], setting: Option<(&str, &str)>) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&near).and_then(|()| unlockpt(&near)).expect("its other end");
    let name = ptsname(&near, Vec::new()).expect("its name").into_string().expect("a path");
    let far = File::options().read(true).write(true).open(name).expect("its other end");
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/files");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.args(arguments).current_dir(files);
    command
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .env("TERM", "xterm-256color");
    command.envs(setting).stdout(Stdio::null()).stderr(far);
    let mut child = command.spawn().expect("wug runs");
    // The far end must be closed here, or reading never ends.
    drop(command);
    let mut shown = Vec::new();
    // When the far end is closed the system reports an error, not an end.
    let _ = File::from(near).read_to_end(&mut shown);
    child.wait().expect("wug ends");
    text(&shown)
}

/// Ctrl-C in the middle of a long run: what was written is whole.
#[test]
fn an_interrupted_run_leaves_whole_inputs() {
    let folder = std::env::temp_dir().join(format!("wug-interrupt-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let mapped = folder.join("mapped");
    let mut child = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["generate", "json", "-n", "1000000000", "-s", "1", "--engine", "tables", "--sink"])
        .arg(format!("mmap:{}", mapped.display()))
        .stderr(Stdio::piped())
        .spawn()
        .expect("wug runs");
    // Until something is there.
    while std::fs::metadata(&mapped).map_or(0, |m| m.len()) == 0 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = rustix::process::Pid::from_raw(child.id() as i32).expect("a process id");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let inputs: String = said.chars().filter(char::is_ascii_digit).collect();
    let expected = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["generate", "json", "-s", "1", "--engine", "tables", "-n", &inputs])
        .output()
        .expect("wug runs");
    assert!(said.contains("stopped after"), "{said}");
    assert!(std::fs::read(&mapped).expect("the file") == expected.stdout, "{inputs} inputs are whole");
    std::fs::remove_dir_all(&folder).expect("the scratch folder");
}

#[test]
fn run_tells_verdict_time_and_edges_of_each_input() {
    let output =
        wug(&["run", "--json", "sh", "-c", "grep -q sum || kill -6 $$", "--", "sum.txt", "deep.wug"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(report["target"], "sh");
    assert_eq!(report["mode"], "spawn");
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1]["file"], "deep.wug");
    assert!(runs.iter().all(|run| run["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0)), "{report}");
    assert!(runs.iter().all(|run| run["edges"].is_null()), "{report}");
    assert_eq!(
        (runs[1]["verdict"].as_str(), runs[1]["signal"].as_i64()),
        (Some("crash"), Some(6)),
        "{report}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn run_exits_as_afl_showmap_does() {
    let code = |arguments: &[&str]| wug(arguments).status.code();
    assert_eq!(code(&["run", "true", "--", "sum.txt"]), Some(0));
    assert_eq!(code(&["run", "false", "--", "sum.txt"]), Some(0), "an exit code is no crash");
    assert_eq!(code(&["run", "-t", "50", "sleep", "100", "--", "sum.txt"]), Some(1));
    assert_eq!(code(&["run", "sh", "-c", "kill -11 $$", "--", "sum.txt"]), Some(2));
    assert_eq!(code(&["run", "true"]), Some(3));
    assert_eq!(code(&["run", "--no-such-option", "true", "--", "sum.txt"]), Some(3));
    assert_eq!(code(&["run", "true", "--", "no-such-file"]), Some(3));
}

#[test]
fn run_hands_over_files_folders_and_standard_input() {
    let runs = |arguments: &[&str]| {
        let output = wug(arguments);
        let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
        let verdicts = report["runs"].as_array().expect("runs").iter().map(|run| run["verdict"].to_string());
        verdicts.collect::<Vec<_>>()
    };
    let check = "test \"$(head -c 1 \"$0\")\" = '@'";
    assert_eq!(runs(&["run", "--json", "sh", "-c", check, "@@", "--", "sum.txt"]), [r#""exit""#]);
    let parts = runs(&["run", "--json", "grep", "-q", "=", "--", "parts"]);
    assert_eq!(parts, [r#""ok""#, r#""ok""#], "every file of a folder");
}

#[test]
fn run_shows_where_a_program_crashed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crashing");
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = folder.join("crashing.c");
    let code =
        "#include <stdlib.h>\nvoid inner(int *p) { *p = 1; }\nint main(void) { inner(0); return 0; }\n";
    std::fs::write(&source, code).expect("a source");
    let program = folder.join("crashing").to_string_lossy().into_owned();
    let built = Command::new("cc").args(["-g", "-O0", "-o", &program]).arg(&source).status();
    assert!(built.is_ok_and(|status| status.success()));
    let output = wug(&["run", &program, "--", "sum.txt"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("crash, SIGSEGV"), "{shown}");
    assert!(shown.contains("#0 inner at") && shown.contains("crashing.c:2"), "{shown}");
    assert!(shown.contains("#1 main at") && shown.contains("crashing.c:3"), "{shown}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn run_runs_a_program_that_only_root_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("for-root-only");
    std::fs::copy("/bin/true", &program).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("rights");
    let program = program.to_string_lossy().into_owned();
    let kept = wug(&["run", "--keep-user", &program, "--", "sum.txt"]);
    assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
    // Root's target is another user, who is shown a copy.
    for layers in [&[][..], &["--no-namespaces"]] {
        let output = wug(&[&["run"], layers, &[program.as_str(), "--", "sum.txt"]].concat());
        assert_eq!(output.status.code(), Some(0), "{layers:?} {}", text(&output.stderr));
    }
}

#[test]
fn benchmarks_are_called_where_they_are_and_else_the_way_out_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let wug = folder.join("wug");
    std::fs::copy(env!("CARGO_BIN_EXE_wug"), &wug).expect("a copy");
    let run = || {
        Command::new(&wug)
            .args(["bench", "load", "--sizes", "10"])
            .env("PATH", &folder)
            .output()
            .expect("it runs")
    };
    let absent = run();
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("cargo run --release -p wug-bench"), "{}", text(&absent.stderr));
    let bench = folder.join("wug-bench");
    std::fs::write(&bench, "#!/bin/sh\necho \"$@\"; exit 7\n").expect("a script");
    std::fs::set_permissions(&bench, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let called = run();
    assert_eq!((text(&called.stdout).as_str(), called.status.code()), ("load --sizes 10\n", Some(7)));
    let _ = std::fs::remove_dir_all(&folder);
}
