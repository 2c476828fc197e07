//! What a hostile target cannot do, layer by layer. The tests that need no
//! root run a second time as another user.

mod common;

use common::{alive, build, copy};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use wug_target::{Confinement, Executor, Kind, Options, Target, Verdict};

fn hostile() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let make = || match std::env::var_os("WUG_TEST_HOSTILE") {
        Some(path) => path.into(),
        None => build("cc", &["-O1", "-w"], "hostile.c", "hostile-confined"),
    };
    PATH.get_or_init(make).clone()
}

fn executor(confinement: Confinement) -> Executor {
    let options = Options { confinement, timeout: Duration::from_secs(20), ..Options::default() };
    Executor::new(Target::new(hostile()), options).expect("an executor")
}

fn is_root() -> bool {
    // SAFETY: the call always works.
    unsafe { libc::geteuid() == 0 }
}

#[track_caller]
fn check(executor: &mut Executor, input: &str, expected: Verdict) {
    let seen = executor.run(input.as_bytes()).expect("a run");
    assert_eq!(seen.verdict, expected, "{input}");
}

const CANNOT: Verdict = Verdict::Exit(1);

/// Only Landlock, or only another layer.
fn only(layer: &str) -> Confinement {
    Confinement {
        namespaces: layer == "namespaces",
        user: layer == "user",
        landlock: layer == "landlock",
        seccomp: layer == "seccomp",
        limits: layer == "limits",
        ..Confinement::default()
    }
}

/// A folder that every user can write to.
fn open_folder(name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("rights");
    folder
}

#[test]
fn nothing_is_missing_on_machines_that_permit_all() {
    let executor = executor(Confinement::default());
    for missing in executor.missing() {
        // Containers lack layers; then the others must still hold.
        eprintln!("missing: {missing}");
    }
    assert!(executor.missing().is_empty() || std::env::var_os("WUG_REQUIRE_ALL").is_none());
}

#[test]
fn nothing_is_written_outside_the_scratch_folder() {
    let folder = open_folder("wug-writes");
    let file = folder.join("file");
    std::fs::write(&file, "kept").expect("a file");
    let fresh = folder.join("fresh");
    let mut trusted = executor(Confinement::none());
    check(&mut trusted, &format!("p{}", fresh.display()), Verdict::Ok);
    std::fs::remove_file(&fresh).expect("it was written");
    for confinement in [Confinement::default(), only("landlock")] {
        let mut executor = executor(confinement);
        for path in [&fresh, &file] {
            check(&mut executor, &format!("p{}", path.display()), CANNOT);
            check(&mut executor, &format!("u{}", path.display()), CANNOT);
        }
        // In a view of its own this is the scratch folder.
        let _ = executor.run(b"p/dev/shm/wug-written");
        assert!(!Path::new("/dev/shm/wug-written").exists());
        check(&mut executor, "p/dev/null", Verdict::Ok);
        assert!(!fresh.exists());
        assert_eq!(std::fs::read(&file).expect("the file"), b"kept");
    }
    std::fs::remove_dir_all(&folder).expect("an end");
}

#[test]
fn the_scratch_folder_is_bounded_and_empty_before_each_run() {
    let mut executor = executor(Confinement { scratch_bytes: 3 << 20, ..Confinement::default() });
    for _ in 0..2 {
        check(&mut executor, "q", Verdict::Ok);
        check(&mut executor, "w", Verdict::Signal(libc::SIGXFSZ));
        check(&mut executor, "q", Verdict::Ok);
        check(&mut executor, "W", Verdict::Exit(28));
        check(&mut executor, "q", Verdict::Ok);
        check(&mut executor, "t", Verdict::Ok);
        check(&mut executor, "q", Verdict::Ok);
    }
    // Without a file system of its own it is swept as well.
    let mut plain =
        self::executor(Confinement { namespaces: false, scratch_bytes: 3 << 20, ..Confinement::default() });
    check(&mut plain, "w", Verdict::Signal(libc::SIGXFSZ));
    // Users who own files may not change rights there.
    check(&mut plain, "t", if is_root() { Verdict::Ok } else { Verdict::Exit(255) });
    check(&mut plain, "q", Verdict::Ok);
}

#[test]
fn forks_without_end_meet_a_limit_and_leave_nothing() {
    let program = copy(&hostile(), "bomb");
    for namespaces in [true, false] {
        let confinement = Confinement { namespaces, max_processes: 50, ..Confinement::default() };
        let timeout = Duration::from_millis(700);
        let options = Options { confinement, timeout, ..Options::default() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        let (stop, stopped) = std::sync::mpsc::channel();
        let watched = program.clone();
        let most = std::thread::spawn(move || {
            let mut most = 0;
            while stopped.recv_timeout(Duration::from_millis(50)).is_err() {
                most = most.max(alive(&watched));
            }
            most
        });
        check(&mut executor, "b", Verdict::Timeout);
        assert_eq!(alive(&program), 0);
        stop.send(()).expect("a watcher");
        let most = most.join().expect("a watcher");
        assert!((2..=50).contains(&most), "{most} processes at a time");
        check(&mut executor, "", Verdict::Ok);
    }
}

/// A process that a target would like to signal.
struct Bystander(Child);

impl Bystander {
    fn new() -> Bystander {
        Bystander(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("sleep"))
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().expect("its state").is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn others_cannot_be_signalled() {
    let mut bystander = Bystander::new();
    let input = format!("g{}", bystander.0.id());
    for confinement in [Confinement::default(), only("landlock"), only("namespaces")] {
        check(&mut executor(confinement), &input, CANNOT);
        assert!(bystander.lives());
    }
    // Everything it can reach: its namespace, or its user.
    check(&mut executor(Confinement::default()), "K", Verdict::Ok);
    assert!(bystander.lives());
    if is_root() {
        check(&mut executor(only("user")), &input, CANNOT);
        assert!(bystander.lives());
    }
    check(&mut executor(Confinement::none()), &input, Verdict::Ok);
    let gone = Instant::now() + Duration::from_secs(10);
    while bystander.lives() && Instant::now() < gone {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!bystander.lives(), "a target that is not confined can");
}

#[test]
fn the_network_is_out_of_reach() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let input = format!("n{}", listener.local_addr().expect("an address").port());
    for confinement in [Confinement::default(), only("landlock"), only("namespaces")] {
        check(&mut executor(confinement), &input, CANNOT);
    }
    check(&mut executor(Confinement::none()), &input, Verdict::Ok);
}

/// System V segments of the length that the target leaves behind.
fn segments() -> usize {
    let all = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    all.lines().filter(|line| line.split_whitespace().nth(3) == Some("12345")).count()
}

#[test]
fn no_system_v_memory_is_left_behind() {
    let before = segments();
    check(&mut executor(Confinement::default()), "M", Verdict::Ok);
    assert_eq!(segments(), before);
    // Targets of AFL++ attach memory of the executor by its number.
    if is_root() && common::has("afl-clang-fast") {
        let program = build("afl-clang-fast", &["-O1", "-w"], "hostile.c", "hostile-ipc");
        let options = Options { kind: Kind::Server, timeout: Duration::from_secs(20), ..Options::default() };
        let mut executor = Executor::new(Target::new(program), options).expect("an executor");
        check(&mut executor, "M", Verdict::Ok);
        assert_eq!(segments(), before);
    }
}

#[test]
fn targets_of_root_are_not_root() {
    check(&mut executor(Confinement::default()), "i", Verdict::Ok);
    if is_root() {
        check(&mut executor(Confinement::none()), "i", CANNOT);
    }
}

/// Not a test of its own: killed by the one below.
#[test]
fn victim() {
    let Some(program) = std::env::var_os("WUG_TEST_VICTIM") else { return };
    let namespaces = std::env::var_os("WUG_TEST_PLAIN").is_none();
    let confinement = Confinement { namespaces, ..Confinement::default() };
    let options = Options { confinement, timeout: Duration::from_secs(1000), ..Options::default() };
    let mut executor = Executor::new(Target::new(program), options).expect("an executor");
    let input = std::env::var("WUG_TEST_INPUT").unwrap_or_default();
    let _ = executor.run(input.as_bytes());
}

#[test]
fn nothing_outlives_an_executor_that_is_killed() {
    // A hang with daemons, and a target that forks without end; with
    // namespaces and without.
    for (input, plain) in [("Dh", false), ("Dh", true), ("b", false), ("b", true)] {
        let program = copy(&hostile(), "survivor");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["--exact", "victim", "--nocapture"])
            .env("WUG_TEST_VICTIM", &program)
            .env("WUG_TEST_INPUT", input);
        if plain {
            command.env("WUG_TEST_PLAIN", "1");
        }
        let mut victim = command.stdout(Stdio::null()).spawn().expect("a victim");
        let end = Instant::now() + Duration::from_secs(30);
        while alive(&program) < 3 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(alive(&program) >= 3, "the target and its daemons run");
        let folders = || {
            let mine = format!("wug-{}-", victim.id());
            let places = [Path::new("/dev/shm").to_path_buf(), std::env::temp_dir()];
            let entries = places.iter().filter_map(|place| place.read_dir().ok()).flatten().flatten();
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&mine)).count()
        };
        assert!(folders() > 0, "the executor has a folder");
        let gone = || alive(&program) == 0 && folders() == 0;
        // SIGKILL, to the process that was started above.
        let id = victim.id();
        assert!(id > 1);
        // SAFETY: the child was not waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(id as i32, libc::SIGKILL) }, 0);
        let end = Instant::now() + Duration::from_secs(30);
        while !gone() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!((alive(&program), folders()), (0, 0), "plain {plain}");
        let _ = victim.wait();
    }
}

#[test]
fn nothing_outlives_a_warden_that_is_killed_and_another_takes_its_place() {
    let program = copy(&hostile(), "orphan");
    for namespaces in [true, false] {
        // Without a namespace it takes a user of its own.
        if !namespaces && !is_root() {
            continue;
        }
        let confinement = Confinement { namespaces, ..Confinement::default() };
        let options = Options { confinement, timeout: Duration::from_secs(6), ..Options::default() };
        let mut executor = Executor::new(Target::new(&program), options).expect("an executor");
        let mine = std::process::id();
        let watched = program.clone();
        let killer = std::thread::spawn(move || {
            let end = Instant::now() + Duration::from_secs(15);
            while alive(&watched) < 8 && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            // The warden is the parent of the first process of the target.
            for process in common::processes(&watched) {
                let parent = common::parent(process);
                if common::parent(parent) == mine as i32 {
                    // SAFETY: a child of this process that was not waited for.
                    assert_eq!(unsafe { libc::kill(parent, libc::SIGKILL) }, 0);
                    return;
                }
            }
            panic!("no warden");
        });
        let seen = executor.run(b"b").expect("a run").verdict;
        assert_eq!(seen, Verdict::Timeout, "the run is made again, to its end");
        killer.join().expect("the warden was killed");
        assert_eq!(executor.run(b"e7").expect("a run").verdict, Verdict::Exit(7));
        drop(executor);
        let end = Instant::now() + Duration::from_secs(10);
        while alive(&program) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(alive(&program), 0, "namespaces {namespaces}");
    }
}

#[test]
fn all_this_holds_for_users_without_rights() {
    if !is_root() {
        return;
    }
    let tests = [
        "nothing_is_missing_on_machines_that_permit_all",
        "nothing_is_written_outside_the_scratch_folder",
        "the_scratch_folder_is_bounded_and_empty_before_each_run",
        "others_cannot_be_signalled",
        "the_network_is_out_of_reach",
        "targets_of_root_are_not_root",
    ];
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--test-threads=2"])
        .args(tests)
        .env("WUG_TEST_HOSTILE", hostile())
        .uid(65_534)
        .gid(65_534)
        .output()
        .expect("the tests again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("6 passed"), "{text}");
}
