//! What others may have put in the way: targets that forge their protocol,
//! pipes, devices, links and giant files in the folders of a user, and caches
//! that another user of the machine made first.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const TARGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets");
/// A limit that nothing but a hang reaches.
const HANG: Duration = Duration::from_secs(300);

fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn wug(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1");
    command
}

/// Runs a command that must end, without a panic; what it said.
#[track_caller]
fn ends(mut command: Command) -> (Option<i32>, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let out = child.stdout.take().map(reader);
    let err = child.stderr.take().map(reader);
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status;
        }
        if begin.elapsed() > HANG {
            let _ = child.kill();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said: String =
        [out, err].into_iter().flatten().map(|thread| thread.join().expect("a reader")).collect();
    assert!(!said.contains("panicked"), "{command:?}: {said}");
    (status.code(), said)
}

fn reader(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn succeeds(output: Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn build(folder: &Path, source: &str, name: &str) {
    let source = format!("{TARGETS}/{source}");
    succeeds(
        Command::new("gcc")
            .args(["-O1", "-w", "-o", name, &source])
            .current_dir(folder)
            .output()
            .expect("gcc"),
    );
}

fn fifo(path: &Path) {
    succeeds(Command::new("mkfifo").arg(path).output().expect("mkfifo"));
}

fn giant(path: &Path) {
    File::create(path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
}

#[test]
fn campaigns_on_targets_that_forge_end_in_time_with_the_right_code() {
    let folder = place("forge");
    build(&folder, "forge.c", "forge");
    let limits = ["-E", "60", "-V", "20", "-t", "100", "-g", "json"];
    for (mode, code, told) in [
        ("honest", 0, ""),
        ("figures", 0, ""),
        ("ones", 0, ""),
        ("progress", 0, ""),
        ("map", 1, "3000000000 ids: at most 16777216 are taken"),
        ("map-error", 1, "3000000000 ids: at most 16777216 are taken"),
    ] {
        let mut arguments = vec!["fuzz", "-o", mode];
        arguments.extend(limits);
        arguments.extend(["--traced", "./forge", "--", "./forge", mode]);
        let (ended, said) = ends(wug(&folder, &arguments));
        // A server that is broken for good ends a campaign with a message.
        let lost = said.contains("fork server ended") || said.contains("is not understood");
        assert!(ended == Some(code) || (lost && ended == Some(1)), "{mode}: {ended:?} {said}");
        assert!(said.contains(told), "{mode}: {said}");
    }
}

/// Processes that a process started.
fn children(process: u32) -> Vec<i32> {
    let parent = |number: i32| -> Option<u32> {
        let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        text.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| parent(*number) == Some(process)).collect()
}

#[test]
fn workers_that_are_all_given_up_are_a_failure() {
    let folder = place("workers");
    build(&folder, "forge.c", "forge");
    let mut arguments = vec!["fuzz", "-o", "out", "-j", "2", "-g", "json", "-t", "100"];
    arguments.extend(["-V", "200", "--", "./forge", "honest"]);
    let mut command = wug(&folder, &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let (own, begin) = (child.id(), Instant::now());
    let waiting = std::thread::spawn(move || child.wait_with_output().expect("an end"));
    // Each worker dies as soon as it is there.
    while !waiting.is_finished() && begin.elapsed() < HANG {
        for worker in children(own) {
            if let Some(worker) = rustix::process::Pid::from_raw(worker) {
                let _ = rustix::process::kill_process(worker, rustix::process::Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = waiting.join().expect("an end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("all workers were given up"), "{said}");
}

#[test]
fn files_that_are_none_are_refused_at_once() {
    let folder = place("files");
    let path = |name: &str| folder.join(name);
    fifo(&path("fifo"));
    giant(&path("giant"));
    symlink("/dev/zero", path("zero")).expect("a link");
    fs::create_dir(path("folder")).expect("a folder");
    for (name, told) in
        [("fifo", "a named pipe"), ("giant", "more than"), ("zero", "a device"), ("folder", "folder")]
    {
        for arguments in [
            vec!["parse", "json", name],
            vec!["minimize", name, "--", "true"],
            vec!["generate", "json", "--choices", name],
            vec!["check", &format!("./{name}"), "--format", "wug"],
            vec!["fuzz", "-g", "json", "-x", name, "-o", "out", "--", "true"],
            vec!["run", "true", "--", name],
        ] {
            // A folder is a folder of inputs there; a device is none.
            if (name == "folder" && matches!(arguments[0], "run" | "fuzz"))
                || arguments[0] == "check" && name == "giant"
            {
                continue;
            }
            let (code, said) = ends(wug(&folder, &arguments));
            assert!(code.is_some_and(|code| code > 0 && code <= 3), "{arguments:?}: {code:?} {said}");
            let lower = said.to_lowercase();
            let limit = name == "giant" && lower.contains("268435456");
            assert!(lower.contains(told) || limit, "{arguments:?}: {said}");
        }
    }
    // What a shell hands over is no file of a folder.
    let pipe = "printf '[1]' | \"$0\" parse json /dev/stdin";
    let mut command = Command::new("sh");
    command.args(["-c", pipe, env!("CARGO_BIN_EXE_wug")]).current_dir(&folder);
    let (code, said) = ends(command);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_campaign_goes_on_whatever_lies_in_its_folder() {
    let folder = place("resume");
    build(&folder, "forge.c", "forge");
    let fuzz = |more: &[&str]| {
        let mut arguments = vec!["fuzz", "-o", "out", "-g", "json", "-t", "200"];
        arguments.extend(more);
        arguments.extend(["--", "./forge", "honest"]);
        ends(wug(&folder, &arguments))
    };
    let (code, said) = fuzz(&["-E", "40"]);
    assert_eq!(code, Some(0), "{said}");
    let own = folder.join("out/default");
    for part in ["", "default", "default/queue", "default/crashes", "default/hangs", "default/.synced"] {
        let mode = fs::metadata(folder.join("out").join(part)).expect("a folder").mode();
        assert_eq!(mode & 0o777, 0o700, "out/{part}");
    }
    let victim = folder.join("victim");
    let names =
        ["fuzzer_stats", "plot_data", "report.json", ".fresh", "fuzz_bitmap", "cmdline", "fuzzer_setup"];
    type Plant<'a> = &'a dyn Fn(&Path);
    let plants: [Plant; 5] = [
        &|path| symlink(&victim, path).expect("a link"),
        &|path| fs::hard_link(&victim, path).expect("a link"),
        &|path| symlink("/dev/zero", path).expect("a link"),
        &fifo,
        &giant,
    ];
    for plant in plants {
        fs::write(&victim, b"mine").expect("a file");
        for name in names {
            let _ = fs::remove_file(own.join(name));
            plant(&own.join(name));
        }
        for name in ["id:000001,src:000000,time:1,execs:1,op:x", "id:4294967295", "odd"] {
            let _ = fs::remove_file(own.join("queue").join(name));
            plant(&own.join("queue").join(name));
        }
        let (code, said) = fuzz(&["-i", "-", "-E", "80"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(fs::read(&victim).expect("a file"), b"mine", "{said}");
        for name in ["fuzzer_stats", "plot_data", "report.json"] {
            let about = own.join(name).symlink_metadata().expect("a file");
            assert!(about.is_file() && about.nlink() == 1 && about.len() < 1 << 20, "{name}");
        }
        for entry in fs::read_dir(own.join("queue")).expect("a queue").flatten() {
            let about = entry.path().symlink_metadata().expect("a file");
            if !about.is_file() || about.len() > 1 << 20 || about.nlink() > 1 {
                fs::remove_file(entry.path()).expect("removed");
            }
        }
    }
    // What is written to a part must not end up elsewhere.
    let aside = folder.join("aside");
    fs::rename(own.join("hangs"), &aside).expect("renamed");
    symlink(&aside, own.join("hangs")).expect("a link");
    let (code, said) = fuzz(&["-i", "-", "-E", "80"]);
    assert!(code.is_some_and(|code| code != 0) && said.contains("hangs"), "{code:?} {said}");
}

const PROGRAM: &str = "int main(void) { return 0; }\n";

/// `wug cc` with nothing but these variables and what it needs to run.
fn cc(folder: &Path, variables: &[(&str, &Path)], arguments: &[&str]) -> (Option<i32>, String) {
    fs::write(folder.join("program.c"), PROGRAM).expect("a source");
    let mut command = wug(folder, &["cc", "program.c", "-o", "program"]);
    for name in ["HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "WUG_CACHE", "TMPDIR"] {
        command.env_remove(name);
    }
    command.args(arguments).envs(variables.iter().copied());
    let _ = fs::remove_file(folder.join("program"));
    ends(command)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_runtime_that_another_user_could_have_planted_is_not_used() {
    let folder = place("cache");
    let cache = folder.join("cache");
    let use_cache = || cc(&folder, &[("WUG_CACHE", &cache)], &[]);
    let (code, said) = use_cache();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::metadata(&cache).expect("a cache").mode() & 0o777, 0o700);
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    // It is there and complete, and looked at all the same.
    set(&cache, 0o777);
    let (code, said) = use_cache();
    assert!(code == Some(1) && said.contains("others may write to it"), "{said}");
    set(&cache, 0o700);
    let library = cache.join(names(&cache).first().expect("a library"));
    set(&library, 0o777);
    let (code, said) = use_cache();
    assert!(code == Some(1) && said.contains("others may write to it"), "{said}");
    set(&library, 0o700);
    let elsewhere = folder.join("elsewhere");
    fs::rename(&library, &elsewhere).expect("moved");
    symlink(&elsewhere, &library).expect("a link");
    let (code, said) = use_cache();
    assert!(code == Some(1) && said.contains("a symbolic link"), "{said}");
    fs::remove_file(&library).expect("removed");
    fs::rename(&elsewhere, &library).expect("moved");
    let owner = || std::os::unix::fs::chown(&cache, Some(54321), None);
    if owner().is_ok() {
        let (code, said) = use_cache();
        assert!(code == Some(1) && said.contains("another user"), "{said}");
    }
}

#[test]
fn without_a_home_nothing_is_kept_under_a_name_that_can_be_foretold() {
    let folder = place("homeless");
    let temporary = folder.join("tmp");
    fs::create_dir(&temporary).expect("a folder");
    // What an earlier version would have used.
    let user = fs::metadata(&folder).expect("a folder").uid();
    let planted = temporary.join(format!("wug-{user}"));
    fs::create_dir(&planted).expect("a folder");
    let (code, said) = cc(&folder, &[("TMPDIR", &temporary)], &["--wug-both"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(folder.join("program").exists() && folder.join("program.traced").exists());
    assert_eq!(names(&temporary), [planted.file_name().expect("a name").to_string_lossy()]);
    assert!(names(&planted).is_empty());
    // The session's folder, if it is private.
    let session = folder.join("session");
    fs::create_dir(&session).expect("a folder");
    for (mode, used) in [(0o777, false), (0o700, true)] {
        fs::set_permissions(&session, fs::Permissions::from_mode(mode)).expect("a mode");
        let (code, said) = cc(&folder, &[("TMPDIR", &temporary), ("XDG_RUNTIME_DIR", &session)], &[]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(!names(&session).is_empty(), used);
    }
}
