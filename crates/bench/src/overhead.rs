//! `wug-bench overhead`: what instrumentation costs a program.
//!
//! lua and cJSON, from the Debian sources that `tools/debian_targets.py`
//! fetches, at -O2: built by the compiler itself and by `wug cc`. Both do the
//! same work in turns and tell the CPU time that they took.

use super::median;
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};
use wug_runtime::compile::{self, Build, Language, Options};

/// Run instrumented programs beside plain ones: fast builds, CPU time
#[derive(Args)]
#[command(after_help = "Example:\n  tools/debian_targets.py --fetch lua cjson && wug-bench overhead")]
pub struct Overhead {
    /// Unpacked sources
    #[arg(long, default_value = "target/debian/sources", value_name = "FOLDER")]
    sources: PathBuf,
    /// Rounds for each program and compiler
    #[arg(long, default_value_t = 9, value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    program: &'static str,
    compiler: &'static str,
    rounds: usize,
    plain_seconds: f64,
    fast_seconds: f64,
    /// Fast over plain, median of rounds.
    ratio: f64,
    /// What the ratio may be at most.
    bar: f64,
}

/// Work for lua: strings, calls, tables, and its own parser.
const LUA_WORK: &str = r#"
local t = {}
for i = 1, 100000 do t[#t + 1] = tostring(i) .. 'x' end
local s = 0
for _, v in ipairs(t) do s = s + #v; if v:find('99') then s = s + 1 end end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
s = s + fib(24)
table.sort(t)
for i = 1, 3000 do
  assert(load(string.format("local a%d = function(x) if x > %d then return x * %d else return {a = x, b = 's'} end end",
    i % 150, i, i)))
end
io.write(os.clock(), '\n')
"#;

/// Work for cJSON: parse and print.
const CJSON_WORK: &str = r#"
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(void) {
    size_t room = 1 << 20, n = 0;
    char *text = malloc(room);
    n += (size_t)sprintf(text, "[");
    for (int i = 0; i < 2000; i++)
        n += (size_t)sprintf(text + n, "%s{\"id\": %d, \"name\": \"item \\u00e9 %d\", \"tags\": [true, false, null, %d.5e3]}",
                             i ? ", " : "", i, i * 7, i);
    sprintf(text + n, "]");
    size_t length = 0;
    for (int i = 0; i < 40; i++) {
        cJSON *json = cJSON_Parse(text);
        if (!json) return 1;
        char *printed = cJSON_PrintUnformatted(json);
        length += strlen(printed);
        free(printed);
        cJSON_Delete(json);
    }
    printf("%f\n", (double)clock() / CLOCKS_PER_SEC);
    return length == 0;
}
"#;

/// A program to build: its sources, flags, and arguments to run it with.
struct Program {
    name: &'static str,
    sources: Vec<PathBuf>,
    flags: Vec<OsString>,
    arguments: Vec<OsString>,
}

impl Overhead {
    pub fn run(self) -> Outcome {
        let work = std::env::temp_dir().join(format!("wug-overhead-{}", std::process::id()));
        fs::create_dir_all(&work)
            .map_err(|e| Failure::Message(1, format!("cannot create {}: {e}", work.display())))?;
        let rows = self.measure(&work);
        let _ = fs::remove_dir_all(&work);
        let rows = rows.map_err(|message| Failure::Message(1, message))?;
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "overhead", "rows": rows }));
        }
        let mut text = String::from("program  compiler     plain      fast  ratio  bar\n");
        for row in rows {
            let _ = writeln!(
                text,
                "{:7}  {:8} {:7.3} s {:7.3} s  {:5.2}  {:.1}",
                row.program, row.compiler, row.plain_seconds, row.fast_seconds, row.ratio, row.bar
            );
        }
        print(&text)
    }

    fn measure(&self, work: &Path) -> Result<Vec<Row>, String> {
        let programs = [self.lua(work)?, self.cjson(work)?];
        let mut rows = Vec::new();
        for (compiler, bar) in [("gcc", 2.0), ("clang", 1.3)] {
            for program in &programs {
                rows.push(self.row(program, compiler, bar, work)?);
            }
        }
        Ok(rows)
    }

    fn row(&self, program: &Program, compiler: &'static str, bar: f64, work: &Path) -> Result<Row, String> {
        let plain = work.join(format!("{}-{compiler}", program.name));
        let fast = work.join(format!("{}-{compiler}-fast", program.name));
        let status = Command::new(compiler).args(program.command(&plain)).status();
        if !status.map_err(|e| format!("cannot start {compiler}: {e}"))?.success() {
            return Err(format!("{compiler} cannot build {}", program.name));
        }
        let options = Options {
            build: Build::Fast,
            both: false,
            compiler: Some(compiler.into()),
            cache: compile::default_cache(),
        };
        let status =
            compile::compile(Language::C, &program.command(&fast), &options).map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("wug cc cannot build {} with {compiler}", program.name));
        }
        let mut times: Vec<(f64, f64)> = Vec::new();
        for round in 0..=self.rounds.max(1) {
            let pair = (seconds(&plain, program)?, seconds(&fast, program)?);
            // The first round warms the caches.
            if round > 0 {
                times.push(pair);
            }
        }
        Ok(Row {
            program: program.name,
            compiler,
            rounds: times.len(),
            plain_seconds: median(times.iter().map(|t| t.0).collect()),
            fast_seconds: median(times.iter().map(|t| t.1).collect()),
            ratio: median(times.iter().map(|t| t.1 / t.0).collect()),
            bar,
        })
    }

    fn tree(&self, package: &str) -> Result<PathBuf, String> {
        let tree = self.sources.join(package).join("tree");
        if tree.is_dir() {
            return Ok(tree);
        }
        Err(format!("{} is not there: run `tools/debian_targets.py --fetch lua cjson`", tree.display()))
    }

    fn lua(&self, work: &Path) -> Result<Program, String> {
        let source = self.tree("lua5.4")?.join("src");
        let mut sources: Vec<PathBuf> = fs::read_dir(&source)
            .map_err(|e| format!("cannot read {}: {e}", source.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "c") && !path.ends_with("luac.c"))
            .collect();
        sources.sort();
        write(&work.join("lua5.4-deb-multiarch.h"), "#define DEB_HOST_MULTIARCH \"none\"\n")?;
        let script = work.join("work.lua");
        write(&script, LUA_WORK)?;
        let flags = vec!["-DLUA_USE_POSIX".into(), "-I".into(), work.into(), "-lm".into()];
        Ok(Program { name: "lua", sources, flags, arguments: vec![script.into()] })
    }

    fn cjson(&self, work: &Path) -> Result<Program, String> {
        let source = self.tree("cjson")?;
        let main = work.join("work.c");
        write(&main, CJSON_WORK)?;
        let flags = vec!["-I".into(), source.clone().into(), "-lm".into()];
        Ok(Program {
            name: "cjson",
            sources: vec![source.join("cJSON.c"), main],
            flags,
            arguments: Vec::new(),
        })
    }
}

impl Program {
    fn command(&self, to: &Path) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec!["-O2".into(), "-w".into(), "-o".into(), to.into()];
        all.extend(self.sources.iter().map(OsString::from));
        all.extend(self.flags.iter().cloned());
        all
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// CPU seconds, as the program tells in its only line.
fn seconds(path: &Path, program: &Program) -> Result<f64, String> {
    let output = Command::new(path).args(&program.arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("cannot start {}: {e}", path.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse::<f64>() {
        Ok(seconds) if output.status.success() && seconds > 0.0 => Ok(seconds),
        _ => Err(format!("{} failed: {text}{}", path.display(), String::from_utf8_lossy(&output.stderr))),
    }
}
