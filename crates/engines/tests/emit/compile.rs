//! Compiles several emitted sources at once, runs them and compares.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wug_grammar::Grammar;
use wug_produce::{Engine, Options, Program, Scratch};

/// A grammar and the inputs that are asked for.
pub struct Case {
    pub grammar: Grammar,
    pub program: Program,
    pub wanted: Vec<Wanted>,
}

/// One input.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub seed: u64,
    pub index: u64,
    pub depth: u32,
    pub cap: u64,
}

/// What was made, and how much of it the exact way.
#[derive(Debug)]
pub struct Told {
    pub inputs: usize,
    pub remade: usize,
}

pub enum Compiler {
    C(&'static str),
    Rust,
}

impl Compiler {
    /// Compiles what `emit` makes of all cases, warnings being errors, runs it,
    /// and compares each input with that of the reference.
    pub fn check(&self, cases: &[Case], name: &str, emit: impl Fn(&Program) -> String) -> Told {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emit-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let compiler = match self {
            Compiler::C(name) => name,
            Compiler::Rust => "rustc",
        };
        if Command::new(compiler).arg("--version").output().is_err() {
            assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "no {compiler}");
            eprintln!("skipped: no {compiler}");
            return Told { inputs: 0, remade: 0 };
        }
        let mut command = Command::new(compiler);
        let sources: Vec<String> = cases.iter().map(|case| emit(&case.program)).collect();
        match self {
            Compiler::C(_) => {
                command.args(["-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror"]);
                command.args(["-DWUG_NO_MAIN", "-o", "run", "run.c"]);
                for (at, source) in sources.iter().enumerate() {
                    // Several in one program; and count what goes the exact way.
                    let source = source
                        .replace("wug_produce", &format!("produce_{at}"))
                        .replace("    return exactly(", "    remade++;\n    return exactly(");
                    fs::write(folder.join(format!("{at}.c")), format!("extern int remade;\n{source}"))
                        .unwrap();
                    command.arg(format!("{at}.c"));
                }
                fs::write(folder.join("run.c"), driver(cases)).unwrap();
            }
            Compiler::Rust => {
                command.args(["--edition", "2024", "-D", "warnings", "-o", "run", "run.rs"]);
                for (at, source) in sources.iter().enumerate() {
                    let source = source
                        .replace("    Some(Exact::new", "    crate::REMADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);\n    Some(Exact::new");
                    fs::write(folder.join(format!("g{at}.rs")), source).unwrap();
                }
                fs::write(folder.join("run.rs"), rust_driver(cases)).unwrap();
            }
        }
        run(command.current_dir(&folder));
        let output = run(Command::new("./run").current_dir(&folder));
        let remade = compare(cases, &output, &folder);
        fs::remove_dir_all(&folder).unwrap();
        Told { inputs: cases.iter().map(|case| case.wanted.len()).sum(), remade }
    }
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}: {}\n{said}", output.status);
    output.stdout
}

/// A program that writes, for each input that is asked for, its length in
/// eight bytes and the input: once with room to spare, once with too little.
fn driver(cases: &[Case]) -> String {
    let mut text = String::from(
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint remade;\n",
    );
    for at in 0..cases.len() {
        let parameters = "uint64_t, uint64_t, uint32_t, uint64_t, unsigned char *, size_t";
        writeln!(text, "size_t produce_{at}({parameters});").unwrap();
    }
    text.push_str(
        "typedef size_t producer(uint64_t, uint64_t, uint32_t, uint64_t, unsigned char *, size_t);
static void make(producer *produce, uint64_t seed, uint64_t index, uint32_t depth, uint64_t cap) {
    /* Behind the room there are bytes that must stay. */
    size_t room = (size_t)cap + 1, length, half, i;
    unsigned char *one = malloc(room + 64), *other = malloc(room + 64);
    int before;
    memset(one, 0xEE, room + 64);
    length = produce(seed, index, depth, cap, one, room);
    for (i = room; i < room + 64; i++) if (one[i] != 0xEE) abort();
    before = remade;
    memset(other, 0xEE, room + 64);
    half = length / 2;
    if (produce(seed, index, depth, cap, other, half) != length || memcmp(one, other, half)) abort();
    for (i = half; i < half + 64; i++) if (other[i] != 0xEE) abort();
    remade = before;
    fwrite(&length, 8, 1, stdout);
    fwrite(one, 1, length, stdout);
    free(one);
    free(other);
}
int main(void) {
    size_t length;
",
    );
    for (at, case) in cases.iter().enumerate() {
        for Wanted { seed, index, depth, cap } in &case.wanted {
            writeln!(text, "    make(produce_{at}, {seed}ULL, {index}ULL, {depth}u, {cap}ULL);").unwrap();
        }
    }
    text.push_str("    length = (size_t)remade;\n    fwrite(&length, 8, 1, stdout);\n    return 0;\n}\n");
    text
}

/// The same in Rust.
fn rust_driver(cases: &[Case]) -> String {
    let mut text = String::from("use std::sync::atomic::{AtomicU64, Ordering};\nuse std::io::Write;\n");
    text.push_str("static REMADE: AtomicU64 = AtomicU64::new(0);\n");
    for at in 0..cases.len() {
        writeln!(text, "mod g{at};").unwrap();
    }
    text.push_str(
        "type Producer = fn(u64, u64, u32, u64, &mut [u8]) -> Option<u64>;
fn make(produce: Producer, seed: u64, index: u64, depth: u32, cap: u64) {
    let mut one = vec![0; cap as usize];
    let length = produce(seed, index, depth, cap, &mut one).unwrap();
    let before = REMADE.load(Ordering::Relaxed);
    let half = length as usize / 2;
    let mut other = vec![0; half];
    assert_eq!(produce(seed, index, depth, cap, &mut other), Some(length));
    assert!(other[..] == one[..half]);
    REMADE.store(before, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    out.write_all(&length.to_le_bytes()).unwrap();
    out.write_all(&one[..length as usize]).unwrap();
}
fn main() {
",
    );
    for (at, case) in cases.iter().enumerate() {
        for Wanted { seed, index, depth, cap } in &case.wanted {
            writeln!(text, "    make(g{at}::produce, {seed}, {index}, {depth}, {cap});").unwrap();
        }
    }
    text.push_str(
        "    std::io::stdout().write_all(&REMADE.load(Ordering::Relaxed).to_le_bytes()).unwrap();\n}\n",
    );
    text
}

/// Gives how many went the exact way.
fn compare(cases: &[Case], output: &[u8], folder: &Path) -> usize {
    let mut rest = output;
    let mut expected = Vec::new();
    for (file, case) in cases.iter().enumerate() {
        let mut program = None::<Program>;
        for wanted in &case.wanted {
            let Options { closing, .. } = case.program.options;
            let options =
                Options { max_depth: wanted.depth, max_size: wanted.cap, closing, printable: false };
            let same = |p: &Program| (p.options.max_depth, p.options.max_size) == (wanted.depth, wanted.cap);
            if !program.as_ref().is_some_and(same) {
                program = Some(Program::new(&case.grammar, options).unwrap());
            }
            expected.clear();
            let scratch = &mut Scratch::default();
            let reference = program.as_ref().unwrap();
            reference.produce(Engine::Recursive, wanted.seed, wanted.index, scratch, &mut expected).unwrap();
            let length = number(&mut rest);
            let found = rest.get(..length).unwrap_or(rest);
            assert!(found == expected, "{}/{file}.c: {wanted:?}", folder.display());
            rest = &rest[length..];
        }
    }
    number(&mut rest)
}

fn number(rest: &mut &[u8]) -> usize {
    let (number, behind) = rest.split_first_chunk::<8>().expect("more output");
    *rest = behind;
    u64::from_le_bytes(*number) as usize
}
