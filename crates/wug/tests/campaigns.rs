//! `wug fuzz` from end to end: several workers, beside afl-fuzz, on a full disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets/lists.c");
/// Longer than anything here takes, on the busiest machine.
const ENOUGH: Duration = Duration::from_secs(600);

/// A new folder with a grammar and a target in it.
fn place(name: &str, flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaigns").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("lists.wug"), LISTS).unwrap();
    let built = wug(&folder).args(["cc", "-O1", "-g", "-o", "target", SOURCE]).args(flags).output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    folder
}

fn wug(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.current_dir(folder).env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1").stdin(Stdio::null());
    command
}

fn fuzz(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = wug(folder);
    command.args(["fuzz", "-g", "lists.wug", "-o", "out"]).args(arguments).args(["--", "./target"]);
    command
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes)).collect()
}

/// The files of a folder and their bytes; none if it is not there yet.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

fn imported(folder: &Path, from: &str) -> usize {
    let mark = format!(",sync:{from},");
    files(&folder.join("queue")).keys().filter(|name| name.contains(&mark)).count()
}

/// A line of `fuzzer_stats`.
fn figure(folder: &Path, name: &str) -> Option<u64> {
    let stats = fs::read_to_string(folder.join("fuzzer_stats")).ok()?;
    let line = stats.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < ENOUGH, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ends with the test, whatever becomes of it.
struct Running(Option<Child>);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(Some(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn signal(&self, signal: &str) {
        kill(self.0.as_ref().unwrap().id(), signal);
    }

    fn end(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn kill(process: u32, signal: &str) {
    let done = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
}

/// Whether a tool is there; with `WUG_REQUIRE_ALL` it must be.
fn has(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{tool} is needed");
    if !found {
        eprintln!("skipped: {tool} is not there");
    }
    found
}

#[test]
fn workers_share_what_they_find_and_come_back_from_the_dead() {
    // A target in which there is something to find for longer than a moment.
    let folder = place("workers", &[]);
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli/commands/demo");
    fs::copy(format!("{demo}/abacus.wug"), folder.join("lists.wug")).unwrap();
    let built =
        wug(&folder).args(["cc", "-O1", "-g", "-o", "target"]).arg(format!("{demo}/abacus.c")).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let [one, other] = ["worker0", "worker1"].map(|name| folder.join("out").join(name));
    let running = Running::start(&mut fuzz(&folder, &["-j", "2", "-V", "600"]));
    let both = || imported(&one, "worker1") > 0 && imported(&other, "worker0") > 0;
    wait_until("both have something of the other's", both);
    wait_until("it says who it is", || figure(&other, "fuzzer_pid").is_some());
    let first = figure(&other, "fuzzer_pid");
    let before = files(&other.join("queue"));
    kill(first.unwrap() as u32, "KILL");
    wait_until("another has its place", || {
        figure(&other, "fuzzer_pid").is_some_and(|pid| Some(pid) != first)
    });
    running.signal("INT");
    let output = running.end();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("worker 1 ended") && said.contains("it is started again"), "{said}");
    let after = files(&other.join("queue"));
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{before:?} {after:?}");
}

#[test]
fn one_worker_runs_the_build_that_sees_more() {
    let folder = place("asan", &["-DOVERFLOW"]);
    let mut build = wug(&folder);
    let built = build.args(["cc", "-O1", "-g", "-DOVERFLOW", "-fsanitize=address", "-o", "checked", SOURCE]);
    let built = built.output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let crashes = |worker: &str| files(&folder.join("out").join(worker).join("crashes")).len();
    let running = Running::start(&mut fuzz(&folder, &["-j", "2", "--asan", "checked", "-V", "600"]));
    wait_until("the last one sees a crash", || crashes("worker1") > 1);
    running.signal("INT");
    let said = text(&running.end());
    assert!(said.contains("heap-buffer-overflow"), "{said}");
}

#[test]
fn a_plain_afl_fuzz_beside_us_exchanges_finds() {
    if !has("afl-fuzz") {
        return;
    }
    // afl-fuzz runs our builds as well.
    let folder = place("exchange", &[]);
    fs::create_dir(folder.join("seeds")).unwrap();
    // The target tells this one from others, which nobody finds out soon.
    fs::write(folder.join("seeds/seed"), format!("( {})", "a ".repeat(2159))).unwrap();
    let ours = Running::start(&mut fuzz(&folder, &["-M", "ours", "-V", "600"]));
    let mut command = Command::new("afl-fuzz");
    command
        .current_dir(&folder)
        .args(["-i", "seeds", "-o", "out", "-S", "theirs", "-V", "600", "--", "./target"]);
    for variable in [
        "AFL_NO_UI",
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
        "AFL_NO_AFFINITY",
        "AFL_IMPORT_FIRST",
    ] {
        command.env(variable, "1");
    }
    let theirs = Running::start(command.stderr(Stdio::null()));
    let [us, them] = ["ours", "theirs"].map(|name| folder.join("out").join(name));
    wait_until("they have something of ours", || imported(&them, "ours") > 0);
    wait_until("we have something of theirs", || imported(&us, "theirs") > 0);
    theirs.signal("INT");
    ours.signal("INT");
    theirs.end();
    let output = ours.end();
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn on_a_full_disk_a_campaign_waits() {
    let folder = place("full", &[]);
    fs::create_dir(folder.join("out")).unwrap();
    // In a file system of its own, which somebody fills and frees.
    let script = "mount -t tmpfs -o size=400k wug out || exit 77
        head -c 340k /dev/zero > out/ballast
        \"$@\" 2> said & fuzzer=$!
        tries=0
        while ! grep -q '^waiting: ' said && [ $tries -lt 1000 ]; do sleep 0.05; tries=$((tries + 1)); done
        sleep 1
        kill -0 $fuzzer || exit 1
        ls out/default/queue > before
        rm out/ballast
        while ! grep -q 'room on the disk again' said && [ $tries -lt 2000 ]; do sleep 0.05; tries=$((tries + 1)); done
        kill -INT $fuzzer; wait $fuzzer; status=$?
        cp -r out/default/queue after
        exit $status";
    let campaign = fuzz(&folder, &["-V", "600", "-s", "3"]);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    unshare.arg(campaign.get_program()).args(campaign.get_args());
    let output =
        unshare.current_dir(&folder).env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1").output().unwrap();
    if output.status.code() == Some(77) || output.stderr.starts_with(b"unshare: ") {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{}", text(&output));
        eprintln!("skipped: no file system of its own can be had here");
        return;
    }
    let said = fs::read_to_string(folder.join("said")).unwrap();
    assert!(output.status.success(), "{}{said}", text(&output));
    assert!(said.contains("is full") || said.contains("No space left"), "{said}");
    let after = files(&folder.join("after"));
    let before = fs::read_to_string(folder.join("before")).unwrap();
    assert!(
        before.lines().filter(|name| name.starts_with("id:")).all(|name| after.contains_key(name)),
        "{before}"
    );
    assert!(after.len() > before.lines().filter(|name| name.starts_with("id:")).count(), "{said}");
    // Nothing was cut.
    assert!(after.values().all(|bytes| !bytes.is_empty()), "{after:?}");
}
