//! `wug fuzz -j 2`, killed at any moment: nothing that was in its folders once
//! is ever lost or changed, and nothing that it started outlives it.
//!
//! Judged from outside, by names and hashes of the files alone. The rule:
//!
//! - A name that starts with `id:` in `queue`, `crashes` or `crashes.DATE` is
//!   given to a file when it is whole, so what is seen under such a name after
//!   one kill is seen with the same bytes after every later kill, and after
//!   the campaign that goes on and ends by itself. [`Folder::replace`] may
//!   exchange an entry's bytes for others at once, but campaigns trim before
//!   they keep: they exchange nothing.
//! - Crashes may move from `crashes` to a `crashes.DATE`, as with AFL++.
//! - Files that appear between two looks are new finds; they crash or count
//!   for themselves in the end.
//!
//! [`Folder::replace`]: wug_folder::Folder::replace

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets/lists.c");
const WORKERS: [&str; 2] = ["worker0", "worker1"];
/// Longer than anything here takes, on the busiest machine.
const ENOUGH: Duration = Duration::from_secs(600);
/// Every process of a campaign has this variable: targets inherit it too.
const MARK: &str = "WUG_TEST_KILLED";

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes)).collect()
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < ENOUGH, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A file as it was seen: worker, kind, name, length and hash of its bytes.
type Seen = (&'static str, &'static str, String, u64, u64);

/// Campaigns on one output folder.
struct Scene {
    folder: PathBuf,
    /// What marks the processes of this test and no others.
    mark: String,
    random: u64,
}

impl Scene {
    fn new() -> Scene {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("lists.wug"), LISTS).unwrap();
        let scene = Scene { folder, mark: format!("{MARK}={}", std::process::id()), random: 17 };
        // Crashes that are easy to find.
        let built = scene.wug().args(["cc", "-O1", "-g", "-DDEEP=0", "-o", "target", SOURCE]).output();
        let built = built.unwrap();
        assert!(built.status.success(), "{}", text(&built));
        scene
    }

    fn wug(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        let (name, value) = self.mark.split_once('=').unwrap();
        command.current_dir(&self.folder).env(name, value);
        command.env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1").stdin(Stdio::null());
        command
    }

    fn fuzz(&self, arguments: &[&str]) -> Command {
        let mut command = self.wug();
        command.args(["fuzz", "-g", "lists.wug", "-o", "out", "-j", "2"]).args(arguments);
        command.args(["--", "./target"]);
        command
    }

    /// A number below `most`; the same ones in every run.
    fn draw(&mut self, most: u64) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) % most
    }

    fn sleep(&mut self, most: u64) {
        let millis = self.draw(most);
        std::thread::sleep(Duration::from_millis(millis));
    }

    /// All that was found, as it is on the disk now.
    fn look(&self) -> BTreeSet<Seen> {
        let mut seen = BTreeSet::new();
        for worker in WORKERS {
            let Ok(folders) = fs::read_dir(self.folder.join("out").join(worker)) else { continue };
            for folder in folders.map(|folder| folder.unwrap()) {
                let kind = match folder.file_name().to_string_lossy().split('.').next() {
                    Some("queue") => "queue",
                    Some("crashes") => "crashes",
                    _ => continue,
                };
                for file in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()) {
                    let name = file.file_name().to_string_lossy().into_owned();
                    if kind == "crashes" && name == "README.txt" {
                        continue;
                    }
                    // Nothing unfinished has a place among finds.
                    assert!(name.starts_with("id:"), "{worker}/{kind}/{name}");
                    let bytes = fs::read(file.path()).unwrap();
                    assert!(!bytes.is_empty(), "{worker}/{kind}/{name} is empty");
                    let mut hash = DefaultHasher::new();
                    bytes.hash(&mut hash);
                    seen.insert((worker, kind, name, bytes.len() as u64, hash.finish()));
                }
            }
        }
        seen
    }

    /// The processes that bear the mark and are not dead.
    fn alive(&self) -> Vec<(u32, String)> {
        let numbers = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let marked = |number: &u32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
        };
        // What is dead has no environment any more.
        let told = |number| (number, fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default());
        numbers.filter(|number| *number != std::process::id() && marked(number)).map(told).collect()
    }

    /// A line of `fuzzer_stats`.
    fn figure(&self, worker: &str, name: &str) -> Option<u64> {
        let stats = fs::read_to_string(self.folder.join("out").join(worker).join("fuzzer_stats")).ok()?;
        let line = stats.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split(':').nth(1)?.trim().parse().ok()
    }
}

/// A campaign that ends with the test, whatever becomes of it.
struct Running(Child);

impl Running {
    fn workers(&self) -> Vec<u32> {
        let id = self.0.id();
        let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn nothing_is_lost(before: &BTreeSet<Seen>, after: &BTreeSet<Seen>, when: &str) {
    let lost: Vec<&Seen> = before.difference(after).collect();
    assert!(lost.is_empty(), "{when}: lost or changed: {lost:#?}");
}

#[test]
fn killed_at_any_moment_two_workers_lose_nothing() {
    let kills = std::env::var("WUG_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let mut scene = Scene::new();
    let mut seen = BTreeSet::new();
    let mut edges = BTreeMap::new();
    let (mut of_workers, begin) = (0, Instant::now());
    let rich = |seen: &BTreeSet<Seen>| {
        let has = |worker, kind, most| seen.iter().filter(|s| (s.0, s.1) == (worker, kind)).count() > most;
        WORKERS.iter().all(|worker| has(worker, "queue", 5)) && WORKERS.iter().any(|w| has(w, "crashes", 0))
    };
    for kill in 0..kills {
        let said = fs::File::create(scene.folder.join("said")).unwrap();
        let mut command = scene.fuzz(&[]);
        command.env("AFL_AUTORESUME", "1").stdout(Stdio::null()).stderr(said);
        let running = Running(command.spawn().unwrap());
        // Now and then however long it takes, so that there is something to
        // lose also on a slow machine.
        if kill % 4 == 3 && !rich(&seen) {
            wait_until("both workers have found something", || rich(&scene.look()));
        }
        if scene.draw(3) == 0 {
            wait_until("there are workers", || running.workers().len() == WORKERS.len());
            scene.sleep(500);
            let workers = running.workers();
            if let Some(worker) = workers.get(scene.draw(2) as usize) {
                // One that has ended by itself meanwhile is no matter.
                let _ = Command::new("kill").args(["-KILL", &worker.to_string()]).output();
                of_workers += 1;
            }
        }
        scene.sleep(900);
        running.kill();
        wait_until("all that it started is gone", || scene.alive().is_empty());
        let after = scene.look();
        let when = format!("after kill {}", kill + 1);
        nothing_is_lost(&seen, &after, &when);
        seen = after;
        for worker in WORKERS {
            let most: &mut u64 = edges.entry(worker).or_default();
            *most = (*most).max(scene.figure(worker, "edges_found").unwrap_or(0));
        }
        if (kill + 1) % 50 == 0 {
            println!("{when}: {} files, {of_workers} workers killed, {:?}", seen.len(), begin.elapsed());
        }
    }
    assert!(rich(&seen) && of_workers > 0, "{of_workers} {seen:?}");
    // It goes on with all of it, and ends as one that was never killed.
    let output = scene.fuzz(&["-i", "-", "-E", "2000"]).output().unwrap();
    assert!(output.status.success() && !text(&output).contains("note:"), "{}", text(&output));
    let after = scene.look();
    nothing_is_lost(&seen, &after, "after the end");
    for worker in WORKERS {
        let kept = seen.iter().filter(|seen| (seen.0, seen.1) == (worker, "queue")).count();
        assert!(scene.figure(worker, "corpus_count").unwrap() >= kept as u64, "{worker} {kept}");
        // What was cut short would not reach what it was kept for.
        assert!(scene.figure(worker, "edges_found").unwrap() >= edges[worker], "{worker} {edges:?}");
    }
    // The same of crashes.
    let script = format!("exec {} run --json ./target -- out/worker*/crashes*", env!("CARGO_BIN_EXE_wug"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(&scene.folder).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let runs = report["runs"].as_array().unwrap();
    let crashes = |run: &serde_json::Value| run["verdict"].to_string().contains("crash");
    assert!(!runs.is_empty() && runs.iter().all(crashes), "{}", text(&output));
    println!("{kills} kills, {of_workers} of workers: {} files, {} crashes", after.len(), runs.len());
}
