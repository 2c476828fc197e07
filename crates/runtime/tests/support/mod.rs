//! What the tests share: compiling small programs, and a fuzzer's side of the
//! protocols, as plain as can be.
#![allow(dead_code)]

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wug_runtime::abi::*;
use wug_runtime::compile::{self, Build, Language, Options};
use wug_runtime::rust;

/// A folder of one test, gone when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wug-test-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a tool is there. With `WUG_REQUIRE_ALL=1` it must be.
pub fn has(tool: &str) -> bool {
    let found =
        Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{tool} is not installed");
        eprintln!("skipped: {tool} is not installed");
    }
    found
}

/// The compilers that are there: `gcc`, and `clang` if installed.
pub fn compilers() -> Vec<&'static str> {
    let mut found = vec!["gcc"];
    if has("clang") {
        found.push("clang");
    }
    found
}

/// One cache for all tests of a process.
pub fn cache() -> PathBuf {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache")).clone()
}

pub fn options(compiler: &str, build: Build) -> Options {
    Options { build, both: false, compiler: Some(compiler.into()), cache: cache() }
}

/// Compiles in a folder; the arguments are split at spaces.
#[track_caller]
pub fn cc(folder: &Folder, compiler: &str, build: Build, arguments: &str) {
    assert_eq!(try_cc(folder, compiler, build, arguments), 0, "{compiler} {arguments}");
}

/// The exit code of the same.
pub fn try_cc(folder: &Folder, compiler: &str, build: Build, arguments: &str) -> i32 {
    // Arguments are relative to the folder, and tests run in parallel: so
    // names of files are made absolute instead of changing the directory.
    let arguments: Vec<OsString> = arguments
        .split_whitespace()
        .map(|a| match a.strip_prefix("./") {
            Some(name) => folder.path(name).into_os_string(),
            None => match a.split_once("./") {
                Some((option, name)) if option.starts_with('-') => {
                    format!("{option}{}", folder.path(name).display()).into()
                }
                _ => a.into(),
            },
        })
        .collect();
    let language = if compiler.ends_with("++") { Language::Cxx } else { Language::C };
    compile::compile(language, &arguments, &options(compiler, build)).unwrap().code().unwrap()
}

/// Builds one program from its text.
#[track_caller]
pub fn build(compiler: &str, build: Build, flags: &str, text: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    folder.file("target.c", text);
    cc(&folder, compiler, build, &format!("{flags} -o ./target ./target.c"));
    let path = folder.path("target");
    (folder, path)
}

/// What `wug rustflags` prints.
pub fn rust_flags(build: Build) -> Vec<String> {
    // The example stands in for `wug`; with `--test NAME` alone it is not
    // built yet.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--package", "wug-runtime", "--example", "cc", "--message-format=short"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let tests = std::env::current_exe().unwrap();
    let wug = tests.parent().unwrap().parent().unwrap().join("examples/cc");
    rust::flags(&options("cc", build), &wug).unwrap()
}

/// Sizes of the regions that the tests use.
const REGIONS: [usize; 7] = [1 << 20, 1 << 20, 1 << 21, 1 << 16, 1 << 18, 1 << 16, 1 << 14];

/// A target with a board, as our own fuzzer drives it.
pub struct Native {
    pub child: Child,
    control: std::fs::File,
    status: std::fs::File,
    board: *mut Board,
    size: usize,
    run: u32,
    pub map_size: u32,
    pub options: u32,
}

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a program with the two pipes at their places.
pub fn start(command: &mut Command, keep: Option<i32>) -> (Child, std::fs::File, std::fs::File) {
    let mut ends = [[0i32; 2]; 2];
    for pair in &mut ends {
        // SAFETY: pipe2 fills the two numbers.
        assert_eq!(unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    }
    let [control, status] = ends;
    // SAFETY: only calls that are safe between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::dup2(control[0], CONTROL_FD);
            libc::dup2(status[1], STATUS_FD);
            if let Some(fd) = keep {
                libc::fcntl(fd, libc::F_SETFD, 0);
            }
            Ok(())
        });
    }
    let child = command.spawn().unwrap();
    // SAFETY: the descriptors are ours, and each is given away once.
    unsafe {
        drop(OwnedFd::from_raw_fd(control[0]));
        drop(OwnedFd::from_raw_fd(status[1]));
        (child, std::fs::File::from_raw_fd(control[1]), std::fs::File::from_raw_fd(status[0]))
    }
}

/// Whether something can be read within the time.
pub fn readable(file: &std::fs::File, patience: Duration) -> bool {
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd.
    unsafe { libc::poll(&mut poll, 1, patience.as_millis() as i32) == 1 }
}

/// Reads a word, or none at the end of the pipe.
#[track_caller]
pub fn word(file: &mut std::fs::File) -> Option<u32> {
    assert!(readable(file, PATIENCE), "the target is silent");
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes).ok()?;
    Some(u32::from_ne_bytes(bytes))
}

impl Native {
    pub fn start(path: &Path, wants: u32) -> Native {
        Native::start_with(Command::new(path).stdout(Stdio::null()).stderr(Stdio::null()), wants)
    }

    pub fn start_with(command: &mut Command, wants: u32) -> Native {
        let size = MAP_PAGE as usize + REGIONS.iter().sum::<usize>();
        // SAFETY: a fresh descriptor, mapped in full.
        let (fd, board) = unsafe {
            let fd = libc::memfd_create(c"board".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0 && libc::ftruncate(fd, size as i64) == 0);
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, fd, 0);
            assert_ne!(at, libc::MAP_FAILED);
            (OwnedFd::from_raw_fd(fd), at.cast::<Board>())
        };
        let mut offset = u64::from(MAP_PAGE);
        let mut next = REGIONS.iter().map(|&capacity| {
            let region = Region { offset, capacity: capacity as u64 };
            offset += capacity as u64;
            region
        });
        // SAFETY: the mapping begins with a board, all zero.
        unsafe {
            (*board).magic = MAGIC;
            (*board).version = ABI_VERSION;
            (*board).size = size as u64;
            (*board).wants = wants;
            let [map, input, events, pairs, order, dictionary, modules] =
                [(); 7].map(|()| next.next().unwrap());
            (*board).map = map;
            (*board).input = input;
            (*board).events = events;
            (*board).pairs = pairs;
            (*board).pair_order = order;
            (*board).dictionary = dictionary;
            (*board).modules = modules;
        }
        command.env(ENV_BOARD, fd.as_raw_fd().to_string());
        let (child, control, status) = start(command, Some(fd.as_raw_fd()));
        let mut it = Native { child, control, status, board, size, run: 0, map_size: 0, options: 0 };
        it.handshake();
        it
    }

    #[track_caller]
    fn handshake(&mut self) {
        assert_eq!(word(&mut self.status), Some(V1_HELLO));
        self.control.write_all(&(!V1_HELLO).to_ne_bytes()).unwrap();
        self.options = word(&mut self.status).unwrap();
        assert_eq!(self.options & V1_ERROR, 0, "error {:x}", self.options);
        assert_ne!(self.options & V1_MAPSIZE, 0);
        self.map_size = word(&mut self.status).unwrap();
        assert_eq!(word(&mut self.status), Some(V1_HELLO));
    }

    pub fn board(&self) -> Board {
        // SAFETY: the mapping lives as long as we do.
        unsafe { self.board.read_volatile() }
    }

    /// Clears the logs, places the input, and sends the number.
    pub fn send(&mut self, input: &[u8]) -> u32 {
        let board = self.board();
        self.run += 1;
        assert!(input.len() <= board.input.capacity as usize);
        // SAFETY: regions are inside the mapping, see `start_with`.
        unsafe {
            let base = self.board.cast::<u8>();
            std::ptr::copy_nonoverlapping(input.as_ptr(), base.add(board.input.offset as usize), input.len());
            (*self.board).input_length = input.len() as u32;
            (*self.board).stop_run = 0;
            (*self.board).event_count = 0;
            (*self.board).pair_count = 0;
            (*self.board).max_depth = 0;
            (*self.board).crash.signal = 0;
            base.add(board.map.offset as usize).write_bytes(0, board.map_used as usize);
            base.add(board.pairs.offset as usize).write_bytes(0, board.pairs.capacity as usize);
        }
        self.control.write_all(&self.run.to_ne_bytes()).unwrap();
        self.run
    }

    /// The next reply, whatever its number.
    #[track_caller]
    pub fn reply(&mut self) -> (u32, i32) {
        let run = word(&mut self.status).expect("the fork server is gone");
        (run, word(&mut self.status).unwrap() as i32)
    }

    /// One run; its status as `waitpid` gives it.
    #[track_caller]
    pub fn run(&mut self, input: &[u8]) -> i32 {
        let run = self.send(input);
        loop {
            let (number, status) = self.reply();
            if number == run {
                return status;
            }
        }
    }

    pub fn stop(&mut self, run: u32) {
        // SAFETY: as above; the child is ours and not yet waited for.
        unsafe {
            (*self.board).stop_run = run;
            libc::kill(self.child.id() as i32, STOP_SIGNAL);
        }
    }

    pub fn silent(&self) -> bool {
        !readable(&self.status, Duration::from_millis(100))
    }

    fn region<T: Copy>(&self, region: Region, count: usize) -> Vec<T> {
        assert!(count * size_of::<T>() <= region.capacity as usize);
        // SAFETY: inside the mapping; every bit pattern is a T.
        unsafe {
            let at = self.board.cast::<u8>().add(region.offset as usize).cast::<T>();
            std::slice::from_raw_parts(at, count).to_vec()
        }
    }

    /// The map's bytes in use.
    pub fn map(&self) -> Vec<u8> {
        let board = self.board();
        self.region(board.map, board.map_used as usize)
    }

    /// Ids hit in the last run.
    pub fn hits(&self) -> Vec<usize> {
        self.map().iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, _)| i).collect()
    }

    pub fn events(&self) -> Vec<Event> {
        let board = self.board();
        let capacity = board.events.capacity as usize / size_of::<Event>();
        let all: Vec<Event> = self.region(board.events, capacity);
        let count = board.event_count as usize;
        (count.saturating_sub(capacity)..count).map(|i| all[i % capacity]).collect()
    }

    pub fn pairs(&self) -> Vec<u32> {
        let board = self.board();
        self.region(board.pair_order, board.pair_count as usize)
    }

    pub fn modules(&self) -> Vec<Module> {
        let board = self.board();
        self.region(board.modules, board.module_count as usize)
    }

    /// The words of the dictionary.
    pub fn dictionary(&self) -> Vec<Vec<u8>> {
        let board = self.board();
        words(&self.region(board.dictionary, board.dictionary_used as usize))
    }

    /// Closes the control pipe and waits for the end of the fork server.
    pub fn close(mut self) -> std::process::ExitStatus {
        let null = std::fs::File::open("/dev/null").unwrap();
        self.control = null;
        self.child.wait().unwrap()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let child = self.board().child_pid;
        let _ = self.child.kill();
        let _ = self.child.wait();
        if child > 0 {
            // SAFETY: a child of the fork server that we just ended; with
            // its parent dead nobody else can have reused the number yet.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        // SAFETY: mapped in `start_with`.
        unsafe { libc::munmap(self.board.cast(), self.size) };
    }
}

/// Splits a dictionary: a length byte before each word.
pub fn words(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some((&length, rest)) = bytes.split_first() {
        let (word, rest) = rest.split_at(length.into());
        all.push(word.to_vec());
        bytes = rest;
    }
    all
}

pub fn exited(code: i32) -> i32 {
    code << 8
}
