//! Golden tests of the command line: the command in the file, what it
//! prints beside it.
//!
//! In `golden/NAME.txt` each `$ ` line is given to `sh` in a fresh copy of
//! `golden/files`; commands of one file run one after the other, so that
//! one may read what another wrote. Below the command stand
//!
//! ```text
//! standard output as it is
//! ! each line of standard error behind an exclamation mark
//! exit 1                   (if it is not 0)
//! ```
//!
//! Lines with `## ` are remarks. `UPDATE_EXPECT=1 cargo test --test golden`
//! writes the files anew from their commands.

use expect_test::expect_file;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

macro_rules! golden {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

golden! {
    automaton_tells_its_size
    check_counts_errors_and_exits_1
    check_describes_a_good_grammar
    check_prints_json
    check_warns_and_exits_0
    emit_writes_source_or_says_why_not
    files_are_joined_by_commas_or_imported
    full_disks_are_told_and_closed_pipes_are_not
    generate_by_tables
    generate_closes_rules_at_the_depth
    generate_is_the_same_by_every_way
    generate_keeps_to_its_limits
    generate_makes_the_same_inputs_from_a_seed
    generate_refuses_wrong_arguments
    generate_writes_a_folder
    grammars_are_found_by_name
    grammars_are_listed
    minimize_keeps_what_a_check_says
    notations_are_told_or_given
    parse_accepts_or_rejects
    parse_covers_with_islands
    run_refuses_wrong_use
    show_prints_each_notation
    show_refuses_what_a_notation_cannot_say
    show_rewrites
    version_and_help
    wrong_commands_get_a_tip
}

#[test]
fn every_golden_file_is_run() {
    for entry in fs::read_dir(folder()).expect("the folder of golden files") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(path.is_dir() || NAMES.contains(&stem.as_str()), "{stem} is not in the list of golden.rs");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[track_caller]
fn check(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let text = fs::read_to_string(&path).expect("a golden file");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    let _ = fs::remove_dir_all(&work);
    copy(&folder().join("files"), &work);
    let mut out = String::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            // A blank line before each command, unless a remark stands between.
            if !out.is_empty() && !is_remark(out.lines().next_back().unwrap_or_default()) {
                out.push('\n');
            }
            let _ = writeln!(out, "{line}");
            out.push_str(&shown(&run(command, &work)));
        } else if is_remark(line) {
            if !out.is_empty() && !is_remark(out.lines().next_back().unwrap_or_default()) {
                out.push('\n');
            }
            let _ = writeln!(out, "{line}");
        }
    }
    expect_file![path].assert_eq(&out);
}

fn is_remark(line: &str) -> bool {
    line.starts_with("## ")
}

fn run(command: &str, work: &Path) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_wug")).parent().expect("a folder").to_path_buf();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&before)));
    Command::new("sh")
        .args(["-c", command])
        .current_dir(work)
        .env("PATH", path.expect("no path holds a colon"))
        .env("LC_ALL", "C")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("sh runs")
}

fn shown(output: &Output) -> String {
    let mut out = String::new();
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in printed.lines() {
        let marked = ["$ ", "! ", "## ", "exit "].iter().any(|mark| line.starts_with(mark));
        assert!(!marked, "this line of the output cannot be told from the test: {line}");
        let _ = writeln!(out, "{line}");
    }
    if !printed.is_empty() && !printed.ends_with('\n') {
        out.push_str("(no line break at the end)\n");
    }
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let _ = writeln!(out, "{}", format!("! {line}").trim_end());
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => {
            let _ = writeln!(out, "exit {code}");
        }
        None => out.push_str("exit by a signal\n"),
    }
    out
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder to work in");
    for entry in fs::read_dir(from).expect("the folder of files") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("a copy");
        }
    }
}
