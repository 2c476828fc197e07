//! Inputs by emitted C, compiled without optimisation.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use wug_engines::emit::{self, Style};
use wug_produce::Program;

/// Whether there is a compiler.
pub fn possible() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("WUG_REQUIRE_ALL").is_none(), "no cc");
    found
}

/// The first `count` inputs of `program` under `seed`; nothing if it cannot be
/// emitted or there is no compiler.
pub fn inputs(program: &Program, seed: u64, count: u64) -> Option<Vec<Vec<u8>>> {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let source = emit::c(program, Style::Recursive).ok()?;
    if !possible() {
        return None;
    }
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emitted-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("producer.c"), source).expect("a file");
    let driver = DRIVER
        .replace("SEED", &format!("{seed}ULL"))
        .replace("COUNT", &format!("{count}ULL"))
        .replace("DEPTH", &program.options.max_depth.to_string())
        .replace("CAP", &format!("{}ULL", program.options.max_size));
    fs::write(folder.join("run.c"), driver).expect("a file");
    let run = |command: &mut Command| {
        let output = command.current_dir(&folder).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(Command::new("cc").args([
        "-std=gnu11",
        "-O0",
        "-w",
        "-DWUG_NO_MAIN",
        "-o",
        "run",
        "run.c",
        "producer.c",
    ]));
    let told = run(&mut Command::new("./run"));
    fs::remove_dir_all(&folder).expect("it was made here");
    let (mut inputs, mut rest) = (Vec::new(), &told[..]);
    while let Some((length, behind)) = rest.split_first_chunk::<8>() {
        let (input, more) = behind.split_at(u64::from_le_bytes(*length) as usize);
        inputs.push(input.to_vec());
        rest = more;
    }
    Some(inputs)
}

/// Writes the length of each input in eight bytes, and the input.
const DRIVER: &str = "
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
size_t wug_produce(uint64_t, uint64_t, uint32_t, uint64_t, unsigned char *, size_t);
int main(void) {
    unsigned char *room = malloc(CAP);
    for (uint64_t index = 0; index < COUNT; index++) {
        uint64_t length = wug_produce(SEED, index, DEPTH, CAP, room, CAP);
        fwrite(&length, 8, 1, stdout);
        fwrite(room, 1, length, stdout);
    }
    return 0;
}
";
