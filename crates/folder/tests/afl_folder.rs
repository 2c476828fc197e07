//! The output folder beside AFL++: its tools read ours, its fuzzer imports
//! from us and we from it.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wug_folder::report::{MutatorReport, Report};
use wug_folder::sync::Sync;
use wug_folder::{Folder, How, Origin, Setup, Start};

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("afl-folder").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn seed(name: &str) -> Origin {
    Origin { how: How::Seed(name.into()), ..Origin::default() }
}

fn report() -> Report {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    Report {
        start_time: now - 100,
        last_update: now,
        run_time: 100,
        fuzzer_pid: std::process::id(),
        execs_done: 123_456,
        execs_per_sec: 1234.56,
        corpus_count: 8,
        cur_item: 3,
        pending_total: 5,
        pending_favs: 2,
        bitmap_cvg: 12.5,
        saved_crashes: 1,
        edges_found: 99,
        last_find: now - 10,
        exec_timeout: 20,
        afl_banner: "./it \"$(touch pwned)`touch pwned`".into(),
        command_line: "wug fuzz -- \"./it\" $(touch pwned)".into(),
        mutators: vec![MutatorReport { name: "swap siblings".into(), ..MutatorReport::default() }],
        ..Report::default()
    }
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes)).collect()
}

#[test]
fn whatsup_reads_our_figures() {
    if !common::has("afl-whatsup") {
        return;
    }
    let out = place("whatsup");
    let mut folder = Folder::open(&out, "default", Start::New, &Setup::default()).unwrap();
    folder.add(b"x", &seed("x")).unwrap();
    folder.report(&report()).unwrap();
    let output = Command::new("afl-whatsup").arg(&out).env("TERM", "dumb").output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for line in [
        &format!(
            ">>> ./it __(touch pwned)_touch pwned_ (0 days, 0 hrs) fuzzer PID: {} <<<",
            std::process::id()
        ),
        "  cycles 1, lifetime speed 1234 execs/sec, items 3/8 (37%)",
        "  pending 2/5, coverage 12.50%, crashes saved 1 (!)",
        "       Fuzzers alive : 1",
        "         Total execs : 123 thousands",
        "       Crashes saved : 1",
    ] {
        assert!(text.contains(line), "`{line}` is not in:\n{text}");
    }
    assert!(!text.contains("syntax error") && !text.contains("not found"), "{text}");
    assert!(!out.join("pwned").exists());
}

#[test]
fn plot_reads_our_rows() {
    if !common::has("afl-plot") || !common::has("gnuplot") {
        return;
    }
    let out = place("plot");
    let mut folder = Folder::open(&out, "default", Start::New, &Setup::default()).unwrap();
    folder.report(&report()).unwrap();
    for time in [5, 10, 15] {
        folder.plot(&Report { run_time: time, corpus_count: time, edges_found: time, ..report() }).unwrap();
    }
    let page = out.join("page");
    fs::create_dir(&page).unwrap();
    let output = Command::new("afl-plot").arg(folder.path()).arg(&page).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(!text(&output).contains("warning"), "{}", text(&output));
    for picture in ["high_freq.png", "low_freq.png", "exec_speed.png", "edges.png"] {
        let bytes = fs::read(page.join(picture)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 500, "{picture}");
    }
}

/// A short campaign of afl-fuzz, of about so many executions.
fn afl_fuzz(target: &Path, arguments: &[&str], executions: u32) -> Output {
    let mut command = Command::new("afl-fuzz");
    command.args(["-E", &executions.to_string()]).args(arguments).arg("--").arg(target);
    for variable in [
        "AFL_NO_UI",
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
        "AFL_NO_AFFINITY",
        "AFL_IMPORT_FIRST",
        "AFL_QUIET",
    ] {
        command.env(variable, "1");
    }
    command.output().unwrap()
}

#[test]
fn finds_are_exchanged_with_afl_fuzz() {
    if !common::has("afl-fuzz") || !common::has("afl-clang-fast") {
        return;
    }
    let target = common::build("afl-clang-fast", &["-O1"], "steps.c", "steps-afl");
    let out = place("exchange");
    let seeds = place("exchange-seeds");
    fs::write(seeds.join("seed"), "-").unwrap();
    let setup = Setup { main: true, ..Setup::default() };
    let mut folder = Folder::open(&out, "ours", Start::New, &setup).unwrap();
    folder.add(b"", &seed("empty")).unwrap();
    folder.add(b"-", &seed("seed")).unwrap();
    let how = How::Mutation { parents: vec![], op: "generate".into(), rep: None };
    folder.add(b"wug", &Origin { how, new_coverage: true, ..Origin::default() }).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let output = afl_fuzz(&target, &["-i", &path(&seeds), "-o", &path(&out), "-S", "theirs"], 30_000);
    assert!(output.status.success(), "{}", text(&output));

    // Theirs has ours ...
    let theirs: Vec<_> =
        fs::read_dir(out.join("theirs/queue")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let imported = theirs.iter().find(|path| path.to_string_lossy().contains(",sync:ours,src:000002"));
    let imported = imported.unwrap_or_else(|| panic!("none of ours in {theirs:?}\n{}", text(&output)));
    assert_eq!(fs::read(imported).unwrap(), b"wug");
    let synced = fs::read(out.join("theirs/.synced/ours")).unwrap();
    assert_eq!(synced, 3u32.to_ne_bytes());
    // ... and we have all of theirs.
    let mut sync = Sync::new(&out, "ours", &[]).unwrap();
    let batch = sync.poll(1000).unwrap();
    let mut found: Vec<_> = theirs.iter().filter(|path| path.is_file()).cloned().collect();
    found.sort();
    assert_eq!(batch.imports.iter().map(|import| import.path.clone()).collect::<Vec<_>>(), found);
    assert!(batch.imports.iter().all(|import| fs::read(&import.path).unwrap() == import.bytes));
    assert!(
        batch.imports.iter().any(|import| import.bytes.starts_with(b"z") || import.bytes.starts_with(b"("))
    );

    // afl-fuzz goes on with a folder of ours, and we with one of its own.
    drop(folder);
    let output = afl_fuzz(&target, &["-i", "-", "-o", &path(&out), "-S", "ours"], 3_000);
    assert!(output.status.success(), "{}", text(&output));
    for id in ["ours", "theirs"] {
        let folder = Folder::open(&out, id, Start::Resume, &Setup::default()).unwrap();
        assert!(folder.previous().unwrap().execs_done > 0);
        let (entries, left_out) = folder.entries().unwrap();
        assert!(left_out.is_empty());
        assert!(entries.iter().any(|entry| entry.read().unwrap().starts_with(b"wug")), "{id}: {entries:?}");
        let plot = fs::read_to_string(out.join(id).join("plot_data")).unwrap();
        assert_eq!(plot.matches('#').count(), 1, "{plot}");
    }
}

#[test]
fn afl_fuzz_and_we_keep_each_other_out() {
    if !common::has("afl-fuzz") || !common::has("afl-clang-fast") {
        return;
    }
    let target = common::build("afl-clang-fast", &["-O1"], "steps.c", "steps-afl");
    let out = place("locked");
    let seeds = place("locked-seeds");
    fs::write(seeds.join("seed"), "-").unwrap();
    let folder = Folder::open(&out, "default", Start::New, &Setup::default()).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let output = afl_fuzz(&target, &["-i", &path(&seeds), "-o", &path(&out)], 1_000);
    assert!(!output.status.success());
    assert!(text(&output).contains("is in use"), "{}", text(&output));
    drop(folder);
    // It also reads the dictionaries that we write.
    let tokens: [&[u8]; 3] = [b"while", b"\"\\\n", b"\0\xff"];
    let dictionary = seeds.with_extension("dict");
    fs::write(&dictionary, wug_target::dictionary::write(tokens)).unwrap();
    let output =
        afl_fuzz(&target, &["-x", &path(&dictionary), "-i", &path(&seeds), "-o", &path(&out)], 1_000);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("Loaded 3 extra tokens"), "{}", text(&output));
}
