//! AFL++ runs what we build: afl-showmap and afl-fuzz as the judges, and both
//! of its handshakes word by word.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::Fast;

const HARNESS: &str = r#"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
    if (n > 0 && d[0] == 'a')
        if (n > 1 && d[1] == 'b')
            if (n > 2 && d[2] == '!') abort();
    if (n == 6 && !memcmp(d, "secret", 6)) return 1;
    return 0;
}
"#;

const PLAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    if (getchar() == 'a')
        if (getchar() == 'b')
            if (getchar() == '!') abort();
    return 0;
}
"#;

fn targets() -> Vec<(Folder, std::path::PathBuf)> {
    let mut all = Vec::new();
    for compiler in compilers() {
        for text in [HARNESS, PLAIN] {
            all.push(build(compiler, Fast, "-O1 -fno-builtin-memcmp", text));
        }
    }
    all
}

/// The lines `id:count` that afl-showmap prints for an input, and its exit code.
fn showmap(folder: &Folder, target: &Path, input: &str) -> (String, Option<i32>) {
    let input = folder.file("input", input);
    let status = Command::new("afl-showmap")
        .args(["-q", "-o"])
        .arg(folder.path("map"))
        .arg("--")
        .arg(target)
        .stdin(std::fs::File::open(input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    (std::fs::read_to_string(folder.path("map")).unwrap(), status.code())
}

#[test]
fn afl_showmap_sees_what_our_fuzzer_sees() {
    if !has("afl-showmap") {
        return;
    }
    for (folder, path) in targets() {
        let (map, code) = showmap(&folder, &path, "ab");
        assert_eq!(code, Some(0));
        assert_eq!(showmap(&folder, &path, "ab").0, map);
        assert_ne!(showmap(&folder, &path, "zz").0, map);
        assert_eq!(showmap(&folder, &path, "ab!").1, Some(2), "a crash");
    }
}

#[test]
fn afl_fuzz_finds_the_crash() {
    if !has("afl-fuzz") {
        return;
    }
    for (folder, path) in targets() {
        std::fs::create_dir(folder.path("seeds")).unwrap();
        folder.file("seeds/seed", "ab ");
        let output = Command::new("afl-fuzz")
            .args(["-D", "-V", "600", "-i"])
            .arg(folder.path("seeds"))
            .arg("-o")
            .arg(folder.path("out"))
            .arg("--")
            .arg(&path)
            .envs([
                ("AFL_NO_UI", "1"),
                ("AFL_SKIP_CPUFREQ", "1"),
                ("AFL_NO_AFFINITY", "1"),
                ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
                ("AFL_BENCH_UNTIL_CRASH", "1"),
            ])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stats = std::fs::read_to_string(folder.path("out/default/fuzzer_stats"))
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stdout)));
        let value = |key: &str| {
            let line = stats.lines().find(|line| line.starts_with(key)).unwrap();
            line.split_once(": ").unwrap().1.trim().to_string()
        };
        assert_eq!(value("saved_crashes"), "1", "{stats}");
        assert!(value("total_edges").parse::<u32>().unwrap() < 100, "the map is dense");
        let persistent = std::fs::read(&path).unwrap().windows(22).any(|w| w == b"##SIG_AFL_PERSISTENT##");
        assert_eq!(value("target_mode").contains("persistent"), persistent);
    }
}

/// A System V segment, gone with the last process that has it.
struct Segment(i32, *mut u8);

impl Segment {
    fn new(size: usize) -> Segment {
        // SAFETY: a fresh segment, attached where the kernel likes; marked to
        // go when the last process detaches.
        unsafe {
            let id = libc::shmget(libc::IPC_PRIVATE, size, 0o600);
            assert!(id >= 0);
            let at = libc::shmat(id, std::ptr::null(), 0);
            libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
            assert_ne!(at as isize, -1);
            Segment(id, at.cast())
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: attached in `new`.
        unsafe { libc::shmdt(self.1.cast()) };
    }
}

fn dictionary(status: &mut std::fs::File) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; word(status).unwrap() as usize];
    std::io::Read::read_exact(status, &mut bytes).unwrap();
    words(&bytes)
}

/// Drives a target as AFL++ does; for each input, the status and the ids hit.
fn drive(path: &Path, v1: bool, inputs: &[&[u8]]) -> Vec<(i32, Vec<usize>)> {
    let map = Segment::new(1 << 16);
    let input = Segment::new((1 << 20) + 4);
    let mut command = Command::new(path);
    command.env(ENV_AFL_MAP, map.0.to_string()).env(ENV_AFL_INPUT, input.0.to_string());
    command.stderr(Stdio::null());
    if v1 {
        command.env(ENV_FORKSERVER, "v1");
    }
    let (mut child, mut control, mut status) = start(&mut command, None);
    let told;
    let size = if v1 {
        assert_eq!(word(&mut status), Some(V1_HELLO));
        control.write_all(&(!V1_HELLO).to_ne_bytes()).unwrap();
        assert_eq!(word(&mut status), Some(V1_MAPSIZE | V1_SHARED_INPUT | V1_AUTODICT));
        let size = word(&mut status).unwrap();
        told = dictionary(&mut status);
        assert_eq!(word(&mut status), Some(V1_HELLO));
        size
    } else {
        let options = word(&mut status).unwrap();
        let expected = OLD_ENABLED | OLD_MAPSIZE | OLD_SHARED_INPUT;
        assert_eq!(options & expected, expected);
        control.write_all(&(OLD_ENABLED | OLD_SHARED_INPUT).to_ne_bytes()).unwrap();
        told = vec![b"secret".to_vec()];
        ((options & 0x00ff_fffe) >> 1) + 1
    };
    assert!((3..100).contains(&size), "{size}");
    assert!(told.contains(&b"secret".to_vec()), "{told:?}");
    let mut seen = Vec::new();
    for bytes in inputs {
        // SAFETY: both segments are larger than what is written.
        unsafe {
            map.1.write_bytes(0, size as usize);
            input.1.cast::<u32>().write(bytes.len() as u32);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), input.1.add(4), bytes.len());
        }
        control.write_all(&0u32.to_ne_bytes()).unwrap();
        assert!(word(&mut status).unwrap() > 1, "a pid");
        let verdict = word(&mut status).unwrap() as i32;
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(map.1, 1 << 16) };
        let hits = (0..bytes.len()).filter(|&id| bytes[id] > 0).collect();
        seen.push((verdict, hits));
    }
    drop(control);
    assert_eq!(child.wait().unwrap().code(), Some(0), "the fork server ends with its fuzzer");
    seen
}

#[test]
fn both_handshakes_lead_to_the_same_runs() {
    for compiler in compilers() {
        let (_folder, path) = build(compiler, Fast, "-O1 -fno-builtin-memcmp", HARNESS);
        let inputs: &[&[u8]] = &[b"", b"zz", b"ab", b"ab!", b"ab", b"zz"];
        let old = drive(&path, false, inputs);
        assert_eq!(old, drive(&path, true, inputs));
        // A persistent child of AFL++ stops after each run.
        let verdicts: Vec<i32> = old.iter().map(|(verdict, _)| verdict & 0xff).collect();
        assert_eq!(verdicts, [0x7f, 0x7f, 0x7f, libc::SIGABRT, 0x7f, 0x7f]);
        assert_eq!((&old[1], &old[2]), (&old[5], &old[4]), "the same before and after a crash");
        assert_ne!(old[1].1, old[3].1);
    }
}
