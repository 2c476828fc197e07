//! How `wug fuzz` and `wug explore` end, what they say then, and what they say
//! on the way.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
/// Crashes at once, in one place.
const CRASHES: &str = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
    { if (n > 3) __builtin_trap(); return 0; }";
/// Never ends on all but the smallest inputs.
const FOR_EVER: &str = "#include <unistd.h>
    int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { while (n > 2) pause(); return 0; }";
/// Longer than anything here takes, on the busiest machine.
const ENOUGH: Duration = Duration::from_secs(240);

/// A new folder with a grammar and a target in it.
fn place(name: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-ending").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("lists.wug"), LISTS).unwrap();
    fs::write(folder.join("target.c"), source).unwrap();
    let built = wug(&folder).args(["cc", "-O1", "-g", "-o", "target", "target.c"]).output().unwrap();
    assert!(built.status.success(), "{}", said(&built));
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

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn times(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// Ends with the test, whatever becomes of it.
struct Running(Option<Child>);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(Some(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    fn signal(&self, signal: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
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

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < ENOUGH, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The processes that a process started.
fn children(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

#[test]
fn crashes_have_the_exit_code_that_was_asked_for() {
    let folder = place("exit-code", CRASHES);
    for (arguments, code) in [(vec!["--exit-code", "77"], 77), (vec![], 0)] {
        let _ = fs::remove_dir_all(folder.join("out"));
        let output = fuzz(&folder, &arguments).env("AFL_BENCH_UNTIL_CRASH", "1").output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert_eq!(times(&said(&output), "crashes are in out/default/crashes"), 1, "{}", said(&output));
    }
    // None, none.
    let quiet = place("exit-code-0", "int LLVMFuzzerTestOneInput() { return 0; }");
    let output = fuzz(&quiet, &["--exit-code", "77", "-E", "200"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn every_signal_that_asks_for_an_end_gets_a_summary() {
    let folder = place("signals", FOR_EVER);
    for workers in ["1", "2"] {
        for signal in ["INT", "TERM", "HUP"] {
            let _ = fs::remove_dir_all(folder.join("out"));
            // A run that is under way may take a day.
            let running = Running::start(&mut fuzz(&folder, &["-j", workers, "-t", "86400000"]));
            wait_until("something is run", || !children(running.id()).is_empty());
            std::thread::sleep(Duration::from_millis(300));
            running.signal(signal);
            let output = running.end();
            assert!(output.status.success(), "{signal} -j {workers}: {}", said(&output));
            let told = said(&output);
            assert_eq!(times(&told, " execs, ") + times(&told, "it ended before"), 1, "{signal}: {told}");
        }
    }
}

#[test]
fn the_second_interrupt_ends_at_once_and_leaves_no_worker() {
    let folder = place("second", FOR_EVER);
    let running = Running::start(&mut fuzz(&folder, &["-j", "2", "-t", "86400000"]));
    wait_until("there are workers", || children(running.id()).len() == 2);
    let workers = children(running.id());
    // The first is not seen while it is stopped: both come together.
    running.signal("STOP");
    running.signal("INT");
    running.signal("TERM");
    running.signal("CONT");
    let output = running.end();
    assert!(matches!(output.status.code(), Some(130 | 143)), "{output:?}");
    wait_until("no worker is left", || {
        workers.iter().all(|worker| {
            let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap_or_default();
            status.is_empty() || status.contains("State:\tZ")
        })
    });
}

#[test]
fn a_campaign_whose_warden_does_not_answer_ends_as_well() {
    let folder = place("warden", FOR_EVER);
    let running = Running::start(&mut fuzz(&folder, &["-t", "86400000"]));
    wait_until("there is a warden", || !children(running.id()).is_empty());
    std::thread::sleep(Duration::from_millis(300));
    let wardens = children(running.id());
    let tell = |signal: &str| {
        for warden in &wardens {
            let _ = Command::new("kill").args([&format!("-{signal}"), &warden.to_string()]).status();
        }
    };
    tell("STOP");
    running.signal("INT");
    let output = running.end();
    tell("CONT");
    assert!(output.status.success(), "{}", said(&output));
    assert!(!said(&output).contains("error"), "{}", said(&output));
}

/// Neither a target that never ends nor a warden that does not answer keeps a
/// search from its end, by a signal or by the clock.
#[test]
fn a_search_ends_with_its_summary_whatever_stands_in_the_way() {
    let folder = place("search", FOR_EVER);
    let built = wug(&folder).args(["cc", "--wug-traced", "-o", "traced", "target.c"]).output().unwrap();
    assert!(built.status.success(), "{}", said(&built));
    for (stopped, signal) in [(false, Some("INT")), (true, Some("INT")), (true, Some("HUP")), (true, None)] {
        let _ = fs::remove_dir_all(folder.join("out"));
        let mut command = wug(&folder);
        command.args(["explore", "-o", "out", "-t", "86400000"]);
        if signal.is_none() {
            command.args(["-V", "3"]);
        }
        let running = Running::start(command.args(["--", "./traced"]));
        wait_until("there is a warden", || !children(running.id()).is_empty());
        std::thread::sleep(Duration::from_millis(300));
        let wardens = if stopped { children(running.id()) } else { Vec::new() };
        let tell = |signal: &str| {
            for warden in &wardens {
                let _ = Command::new("kill").args([&format!("-{signal}"), &warden.to_string()]).status();
            }
        };
        tell("STOP");
        if let Some(signal) = signal {
            running.signal(signal);
        }
        let output = running.end();
        tell("CONT");
        let told = said(&output);
        assert_eq!(times(&told, " valid inputs in out/default/queue, after "), 1, "{signal:?}: {told}");
        assert!(matches!(output.status.code(), Some(0 | 1)) && !told.contains("panicked"), "{output:?}");
    }
}

#[test]
fn workers_have_one_report_and_count_crashes_by_place() {
    let folder = place("one-report", CRASHES);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let many = (cores + 1).to_string();
    let output = fuzz(&folder, &["-M", "boss", "-j", &many, "-E", "3000", "--json"]).output().unwrap();
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!((times(&told, "found: "), times(&told, "crashes are in")), (1, 1), "{told}");
    assert!(told.contains(&format!("{many} workers share {cores} core")), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!((&report["saved_crashes"], &report["workers"]), (&1.into(), &(cores as u64 + 1).into()));
    assert!(report["execs_done"].as_u64() >= Some(3000 * (cores as u64 + 1)), "{report}");
    assert!(folder.join("out/boss/queue").is_dir() && folder.join("out/boss-1/queue").is_dir());
    assert!(!folder.join("out/worker0").exists());
}

#[test]
fn workers_that_cannot_start_say_why_once() {
    let folder = place("say-once", CRASHES);
    let output = fuzz(&folder, &["-j", "2", "-i", "absent"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(times(&said(&output), "there is no folder `absent`"), 1, "{}", said(&output));
}

#[test]
fn on_a_full_disk_the_time_is_kept() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets/lists.c");
    let folder = place("full", &fs::read_to_string(source).unwrap());
    fs::create_dir(folder.join("out")).unwrap();
    // No room for all that the first inputs find.
    let script = "mount -t tmpfs -o size=400k wug out || exit 77
        head -c 340k /dev/zero > out/ballast
        timeout -s KILL 200 \"$@\"";
    let campaign = fuzz(&folder, &["-V", "10"]);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    unshare.arg(campaign.get_program()).args(campaign.get_args()).current_dir(&folder);
    let output = unshare.env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1").output().unwrap();
    if output.status.code() == Some(77) || output.stderr.starts_with(b"unshare: ") {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{}", said(&output));
        eprintln!("skipped: no file system of its own can be had here");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        said(&output).contains("waiting: no room") && said(&output).contains(" execs, "),
        "{}",
        said(&output)
    );
}

#[test]
fn what_afl_fuzz_has_and_we_lack_is_told_in_a_line() {
    let folder = place("afl", CRASHES);
    let output = fuzz(&folder, &["-E", "10"])
        .env("AFL_CUSTOM_MUTATOR_LIBRARY", "x.so")
        .env("AFL_SKIP_CPUFREQ", "1")
        .output()
        .unwrap();
    let told = said(&output);
    assert_eq!(
        times(&told, "AFL_CUSTOM_MUTATOR_LIBRARY is not honoured: give a grammar with -g"),
        1,
        "{told}"
    );
    assert!(!told.contains("AFL_SKIP_CPUFREQ") && !told.contains("AFL_NO_UI"), "{told}");
    for (flag, tip) in [("-Q", "wug cc"), ("-p", "leave -p out"), ("-c", "--traced"), ("-D", "leave -D out")]
    {
        let output = fuzz(&folder, &[flag, "0"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(&format!("`{flag}` of afl-fuzz is not there")), "{}", said(&output));
        assert!(said(&output).contains(tip), "{}", said(&output));
    }
    // As with the other commands.
    let output = fuzz(&folder, &["--start", "absent"]).output().unwrap();
    assert!(said(&output).contains("there is no rule `absent`"), "{}", said(&output));
    let output = fuzz(&folder, &["--format", "bnf", "--start", "item", "-E", "10"]).output().unwrap();
    assert!(said(&output).contains("read as bnf"), "{}", said(&output));
}

#[test]
fn sanitizers_are_asked_for_as_of_afl() {
    let source = "#include <stdlib.h>
        int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
        { volatile char *p = malloc(4); volatile int i = 2147483647;
          if (n == 1) p[4] = 1; if (n == 2) i += d[0]; free((void *)p); return 0; }";
    let folder = place("sanitizers", source);
    fs::write(folder.join("one"), "a").unwrap();
    fs::write(folder.join("two"), "aa").unwrap();
    for (variable, input, text) in
        [("AFL_USE_ASAN", "one", "heap-buffer-overflow"), ("AFL_USE_UBSAN", "two", "signed integer overflow")]
    {
        let built = wug(&folder).args(["cc", "-g", "-o", variable, "target.c"]).env(variable, "1").output();
        assert!(built.as_ref().unwrap().status.success(), "{}", said(&built.unwrap()));
        let output = wug(&folder).args(["run", &format!("./{variable}"), "--", input]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}{}", said(&output));
        assert!(told.contains(text), "{told}");
        let output = wug(&folder).args(["run", "./target", "--", input]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "without it nothing is seen");
    }
}

#[test]
fn limits_that_cannot_be_kept_are_told() {
    let folder = place(
        "limits",
        "#include <unistd.h>
        int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { usleep(30000); return 0; }",
    );
    let output = fuzz(&folder, &["-m", "2", "-E", "10"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("does not start with 2 MB of memory"), "{}", said(&output));
    // 0 is no limit, as with afl-fuzz.
    let output = fuzz(&folder, &["-m", "0", "-E", "100"]).output().unwrap();
    assert!(output.status.success() && said(&output).contains("which is slow"), "{}", said(&output));
}

#[test]
fn where_nothing_may_be_traced_that_is_told() {
    let folder = place("untraced", CRASHES);
    // As a container without the right does.
    let denied = "#include <stddef.h>
        #include <linux/audit.h>\n#include <linux/filter.h>\n#include <linux/seccomp.h>
        #include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <unistd.h>
        int main(int c, char **v) {
          struct sock_filter f[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
          struct sock_fprog p = { sizeof f / sizeof *f, f };
          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) return 99;
          execv(v[1], v + 1); return 98; }";
    fs::write(folder.join("denied.c"), denied).unwrap();
    let built = Command::new("cc").args(["-o", "denied", "denied.c"]).current_dir(&folder).status().unwrap();
    assert!(built.success());
    let campaign = fuzz(&folder, &["-E", "500"]);
    let mut command = Command::new("./denied");
    command.arg(campaign.get_program()).args(campaign.get_args()).current_dir(&folder);
    let output = command.env("AFL_NO_AFFINITY", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(times(&said(&output), "ptrace is not permitted"), 1, "{}", said(&output));
    fs::write(folder.join("one"), "aaaaaa").unwrap();
    let mut command = Command::new("./denied");
    command.arg(env!("CARGO_BIN_EXE_wug")).args(["run", "./target", "--", "one"]).current_dir(&folder);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(times(&said(&output), "ptrace is not permitted"), 1, "{}", said(&output));
}

#[test]
fn a_folder_of_crashes_is_run_without_what_is_written_for_people() {
    let folder = place(
        "crashes",
        "#include <stdio.h>\n#include <stdlib.h>
        int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
        { if (n > 3) { fprintf(stderr, \"it \\033[31mhurts\\n\"); abort(); } return 0; }",
    );
    let output = fuzz(&folder, &[]).env("AFL_BENCH_UNTIL_CRASH", "1").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(folder.join("out/default/crashes/README.txt").exists());
    for line in ["out/default/crashes", "out/default/crashes/*"] {
        let line = format!("{} run ./target -- {line}", env!("CARGO_BIN_EXE_wug"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(!told.contains("README.txt"), "{told}");
        // What the target wrote is shown, and obeyed by nobody.
        assert!(told.contains("| it \\x1b[31mhurts") && !told.contains('\x1b'), "{told}");
    }
}

#[test]
fn names_of_files_are_no_commands_to_a_terminal() {
    let folder = place("names", CRASHES);
    let evil = "evil\x1b]0;title\x07\n\u{9b}2J\u{202e}";
    fs::write(folder.join(evil), "aaaaaa").unwrap();
    let absent = format!("{evil}absent");
    let plain = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
        text
    };
    for arguments in [
        vec!["run", "./target", "--", evil],
        vec!["parse", "lists.wug", evil],
        vec!["check", evil],
        vec!["fuzz", "-o", "out", "--", evil],
        vec!["fuzz", "-o", evil, "--", "./target"],
        vec!["minimize", &absent, "--", "./target"],
        vec!["generate", "lists.wug", evil],
        vec!["generate", "lists.wug", "--start", evil],
        vec![evil],
    ] {
        let output = wug(&folder).args(&arguments).output().unwrap();
        let told = plain(&output.stdout) + &plain(&output.stderr);
        assert!(told.contains("evil\\x1b]0;title\\x07"), "{arguments:?}: {told}");
    }
    let output = wug(&folder).args(["run", "--json", "./target", "--", evil]).output().unwrap();
    let report: Value = serde_json::from_str(&plain(&output.stdout)).expect("JSON");
    assert_eq!(report["runs"][0]["file"], evil);
    // A grammar that holds such characters is shown without them.
    fs::write(folder.join("odd.wug"), "start = 'a\x1b[31m' \u{9b} ;").unwrap();
    let output = wug(&folder).args(["check", "odd.wug"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(!said(&output).contains("\x1b[31m'") && !said(&output).contains('\u{9b}'), "{}", said(&output));
}

/// What a command shows when standard output and error are a terminal of so
/// many columns.
fn on_a_terminal(mut command: Command, columns: u16) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).and_then(|()| unlockpt(&near)).unwrap();
    let name = ptsname(&near, Vec::new()).unwrap().into_string().unwrap();
    let far = fs::File::options().read(true).write(true).open(name).unwrap();
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&far, size).unwrap();
    command
        .stdout(far.try_clone().unwrap())
        .stderr(far)
        .env("TERM", "xterm-256color")
        .env_remove("AFL_NO_UI");
    let mut child = command.spawn().unwrap();
    // The far end must be closed here, or reading never ends.
    drop(command);
    let mut shown = Vec::new();
    // When the far end is closed the system reports an error, not an end.
    let _ = fs::File::from(near).read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn the_line_that_changes_fits_the_terminal() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets/lists.c");
    let folder = place("width", &fs::read_to_string(source).unwrap());
    for columns in [20, 80, 100, 200] {
        let _ = fs::remove_dir_all(folder.join("out"));
        let shown = on_a_terminal(fuzz(&folder, &["-V", "2"]), columns);
        // Each is written over the one before, and stands on one row.
        let lines: Vec<&str> = shown.split("\r\x1B[K").skip(1).collect();
        let changing = lines.iter().filter(|line| line.contains(" · ")).count();
        assert!(changing > 0, "{shown:?}");
        for line in lines.iter().filter(|line| !line.contains('\n')) {
            assert!(line.chars().count() < columns.into(), "{columns}: {line:?}");
        }
    }
}

#[test]
fn inputs_on_a_terminal_are_shown_and_not_obeyed() {
    let folder = place("screen", CRASHES);
    fs::write(folder.join("odd.wug"), "start = '\\x1B[31m' '\\x07' 'end' ;").unwrap();
    let generate = || {
        let mut command = wug(&folder);
        command.args(["generate", "odd.wug", "-s", "1"]);
        command
    };
    let shown = on_a_terminal(generate(), 80);
    assert!(shown.contains("\\x1b[31m\\x07end") && !shown.contains('\x07'), "{shown:?}");
    // In a pipe inputs are what they are.
    let output = generate().output().unwrap();
    assert_eq!(output.stdout, b"\x1B[31m\x07end\n", "{output:?}");
}
