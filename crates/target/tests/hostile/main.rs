//! What targets try in order to get out, and what becomes of it: as root and
//! as an ordinary user; with namespaces, without, and in a container such as
//! docker's.
//!
//! `cargo test -p wug-campaign --test hostile -- --nocapture` prints the
//! table.

#[path = "../common/mod.rs"]
mod common;
mod container;
mod scene;

use scene::Scene;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use wug_target::{Confinement, Executor, Options, Target, Verdict};

const REFUSED: Verdict = Verdict::Ok;
const CANNOT_TELL: Verdict = Verdict::Exit(2);

/// Where targets run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Namespaces,
    Without,
    Container,
}

const PLACES: [(Place, &str); 3] =
    [(Place::Namespaces, "namespaces"), (Place::Without, "without"), (Place::Container, "container")];

/// Runs of one attempt, each with the verdict that it must have.
fn attempts(scene: &Scene, place: Place) -> Vec<(&'static str, Vec<(String, Verdict)>)> {
    let Scene { secret, folder, fresh, stream, message, abstract_name, tcp, udp, .. } = scene;
    let view = place == Place::Namespaces;
    let path = |path: &std::path::Path| path.display().to_string();
    let (own, other) = (std::process::id().to_string(), scene.bystander().to_string());
    let one = |argument: &str| vec![(argument.to_string(), REFUSED)];
    let none = || one("");
    let mut all: Vec<(&'static str, Vec<(String, Verdict)>)> = Vec::new();
    for name in [
        "read_file",
        "write_file",
        "append_file",
        "truncate_file",
        "chmod_file",
        "fchmodat_file",
        "chown_file",
        "utimes_file",
        "setxattr_file",
        "flock_file",
        "rename_file",
        "unlink_file",
        "link_file",
        "through_link",
        "dot_dot",
    ] {
        all.push((name, one(&path(secret))));
    }
    all.push(("read_file /etc/shadow", one("/etc/shadow")));
    all.push(("read_file /proc/1/environ", one("/proc/1/environ")));
    all.push(("list_folder", one(&path(folder))));
    all.push(("chmod_file of a folder", one(&path(folder))));
    all.push(("rmdir_folder", one(&path(&folder.join("empty")))));
    all.push(("make_folder", one(&path(fresh))));
    all.push(("create_file", one(&path(fresh))));
    for name in ["make_device", "raw_disk", "kernel_settings", "handle", "own_program", "suid_program"] {
        all.push((name, none()));
    }
    all.push(("change_root", one("/")));
    all.push(("unix_stream", one(&path(stream))));
    all.push(("unix_message", one(&path(message))));
    all.push(("unix_pair", one(&path(message))));
    all.push(("unix_abstract", one(abstract_name)));
    all.push(("tcp", one(&tcp.to_string())));
    all.push(("udp", vec![(udp.to_string(), CANNOT_TELL)]));
    for name in [
        "vsock",
        "netlink",
        "packet",
        "raw_ip",
        "alg",
        "bluetooth",
        "add_key",
        "keyctl",
        "ring",
        "passed_ring",
        "userfault",
        "bpf",
        "perf",
        "mount_memory",
        "mount_open",
        "unmount",
        "remount",
        "new_user",
        "new_mounts",
        "clone_user",
        "clone3_user",
        "x32_calls",
        "terminal",
        "modules",
        "become_root",
        "raise_limits",
        "real_time",
        "trace_warden",
        "stop_warden",
        "warden_limits",
        "warden_memory",
        "sparse_file",
    ] {
        all.push((name, none()));
    }
    if cfg!(target_arch = "x86_64") {
        all.push(("old_calls", none()));
    }
    all.push(("tree_open", one("/usr")));
    for name in ["other_namespace", "trace_other", "write_memory", "read_environment", "wait_for_descriptor"]
    {
        all.push((name, one(&own)));
    }
    for name in
        ["signal_other", "priority_other", "limits_other", "affinity_other", "trace_other a bystander"]
    {
        all.push((name, one(&other)));
    }
    // Nothing is left for the next run, or outside.
    let shared = format!("/wug-left-{own}");
    let shm = if view { CANNOT_TELL } else { REFUSED };
    all.push(("leave_shm", vec![(shared, shm)]));
    all.push(("leave_queue", vec![(String::new(), CANNOT_TELL)]));
    all.push(("leave_semaphore", vec![(String::new(), CANNOT_TELL)]));
    let gone = |first: &str| vec![(first.to_string(), CANNOT_TELL), ("=find_files x".into(), REFUSED)];
    all.push(("leave_files", gone("x")));
    for name in
        ["leave_many", "leave_deep", "race_sweeper", "create_for_ever", "close_folder", "change_input"]
    {
        let argument = if name == "race_sweeper" { path(folder) } else { String::new() };
        let mut runs = vec![(argument, CANNOT_TELL)];
        for _ in 0..3 {
            runs.push(("=find_files x".into(), REFUSED));
            runs.push(("=use_folder".into(), REFUSED));
        }
        all.push((name, runs));
    }
    for name in ["leave_names", "fill_scratch", "forge_words", "flood_output"] {
        let mut runs = vec![(String::new(), CANNOT_TELL)];
        for _ in 0..2 {
            runs.push(("=find_names".into(), REFUSED));
            runs.push(("=use_folder".into(), REFUSED));
        }
        all.push((name, runs));
    }
    all.push(("async_signal", vec![(other.clone(), CANNOT_TELL)]));
    all.push(("priority_user", vec![(String::new(), CANNOT_TELL)]));
    for name in ["stop_itself", "stop_group"] {
        all.push((name, vec![(String::new(), Verdict::Timeout), ("=use_folder".into(), REFUSED)]));
    }
    // What programs do all the time works.
    all.push(("ordinary", one(if view { "" } else { "outside" })));
    if view {
        all.push(("own_socket", none()));
    }
    all
}

/// One row for each attempt: what became of it.
fn rows(place: Place) -> Vec<(String, String)> {
    let plain = PathBuf::from(std::env::var_os("WUG_TEST_ADVERSARY").expect("the target"));
    let native = PathBuf::from(std::env::var_os("WUG_TEST_ADVERSARY_SERVER").expect("the target"));
    let mut results: BTreeMap<usize, (String, Vec<String>)> = BTreeMap::new();
    for (program, by_file) in [(plain.clone(), false), (plain, true), (native, false)] {
        let scene = Scene::new(&program);
        let confinement = Confinement { namespaces: place != Place::Without, ..Confinement::default() };
        let options = Options { confinement, timeout: Duration::from_secs(10), ..Options::default() };
        let arguments: &[&str] = if by_file { &["@@"] } else { &[] };
        let target = Target::new(&scene.program).arguments(arguments.iter().copied());
        let mut executor = Executor::new(target.clone(), options.clone()).expect("an executor");
        for (i, (name, runs)) in attempts(&scene, place).into_iter().enumerate() {
            let word = name.split(' ').next().unwrap_or(name);
            let mut verdict = "refused".to_string();
            for (argument, expected) in runs {
                let input = match argument.strip_prefix('=') {
                    Some(whole) => whole.to_string(),
                    None => format!("{word} {argument}"),
                };
                // A hang takes all of its time: there it is short.
                executor.set_timeout(Duration::from_secs(if expected == Verdict::Timeout { 1 } else { 60 }));
                let seen = executor.run(input.trim_end().as_bytes()).expect("a run").verdict;
                if seen != expected {
                    verdict = format!("{seen:?} on `{input}`, not {expected:?}");
                    break;
                }
            }
            if let Some(change) = scene.change() {
                verdict = format!("went through: {change}");
            }
            results.entry(i).or_insert_with(|| (name.to_string(), Vec::new())).1.push(verdict);
        }
        drop(executor);
        assert_eq!(common::alive(&scene.program), 0, "no process is left");
    }
    let joined = |(name, mut verdicts): (String, Vec<String>)| {
        verdicts.sort();
        verdicts.dedup();
        (name, verdicts.join("; "))
    };
    results.into_values().map(joined).collect()
}

/// Not a test of its own: run by the one below, as one user in one place.
#[test]
fn one_place() {
    let Ok(name) = std::env::var("WUG_TEST_PLACE") else { return };
    let (place, _) = PLACES.iter().find(|(_, known)| *known == name).expect("a place");
    for (attempt, verdict) in rows(*place) {
        println!("\nROW {attempt}\t{verdict}");
    }
}

#[test]
fn no_attempt_goes_through() {
    if std::env::var_os("WUG_TEST_PLACE").is_some() {
        return;
    }
    let plain = common::build("cc", &["-O1", "-w"], "adversary.c", "adversary");
    let native = common::build_native("cc", &["-O1", "-w", "-DSERVED"], "adversary.c", "adversary-server");
    // SAFETY: the call always works.
    let root = unsafe { libc::geteuid() } == 0;
    let users: &[(&str, u32)] = if root { &[("root", 0), ("user", 65_534)] } else { &[("user", u32::MAX)] };
    let mut table: Vec<(String, Vec<String>)> = Vec::new();
    let mut heads = Vec::new();
    for (user, number) in users {
        for (place, name) in PLACES {
            heads.push(format!("{user}, {name}"));
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command
                .args(["--exact", "one_place", "--nocapture"])
                .env("WUG_TEST_PLACE", name)
                .env("WUG_TEST_ADVERSARY", &plain)
                .env("WUG_TEST_ADVERSARY_SERVER", &native);
            if root && *number != 0 {
                command.uid(*number).gid(*number);
            }
            if place == Place::Container {
                container::enter(&mut command);
            }
            let output = command.output().expect("the test in its place");
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{user}, {name}: {text}\n{errors}");
            let rows: Vec<(String, String)> = text
                .lines()
                .filter_map(|line| line.strip_prefix("ROW ")?.split_once('\t'))
                .map(|(attempt, verdict)| (attempt.into(), verdict.into()))
                .collect();
            assert!(rows.len() > 60, "{user}, {name}: {text}\n{errors}");
            for (attempt, verdict) in rows {
                let at = table.iter().position(|(known, _)| *known == attempt).unwrap_or_else(|| {
                    table.push((attempt, Vec::new()));
                    table.len() - 1
                });
                table[at].1.resize(heads.len() - 1, "-".into());
                table[at].1.push(verdict);
            }
        }
    }
    println!("| attempt | {} |\n| --- |{}", heads.join(" | "), " --- |".repeat(heads.len()));
    for (attempt, verdicts) in &mut table {
        verdicts.resize(heads.len(), "-".into());
        println!("| {attempt} | {} |", verdicts.join(" | "));
    }
    println!("{} attempts", table.len());
    let bad: Vec<_> =
        table.iter().filter(|(_, verdicts)| verdicts.iter().any(|v| v != "refused" && v != "-")).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
