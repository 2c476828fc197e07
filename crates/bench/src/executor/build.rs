//! The targets of the benchmark, built twice: by `wug cc` and by AFL++.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wug_grammar::builtin;
use wug_produce::{Engine, Options, Program, Scratch};

/// One source in one shape, built by both.
pub struct Pair {
    pub name: &'static str,
    pub persistent: bool,
    pub wug: PathBuf,
    pub afl: PathBuf,
}

/// All targets, in a folder of their own that is removed at the end.
pub struct Targets {
    folder: PathBuf,
    pairs: Vec<(&'static str, bool)>,
    /// About 200 bytes each.
    pub inputs: Vec<Vec<u8>>,
}

const SOURCES: [(&str, &str); 6] = [
    ("server.c", include_str!("c/server.c")),
    ("floor.c", include_str!("c/floor.c")),
    ("body.h", include_str!("c/body.h")),
    ("trivial.c", include_str!("c/trivial.c")),
    ("cjson.c", include_str!("c/cjson.c")),
    ("mutator.c", include_str!("c/mutator.c")),
];

/// Ids of the target with many.
const MANY: usize = 10_000;

impl Targets {
    pub fn new(cjson: Option<&Path>) -> Result<Targets, String> {
        let folder = std::env::temp_dir().join(format!("wug-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut targets = Targets { folder, pairs: Vec::new(), inputs: inputs()? };
        targets.build(cjson)?;
        Ok(targets)
    }

    fn build(&mut self, cjson: Option<&Path>) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        for (name, text) in SOURCES {
            fs::write(self.path(name), text).map_err(failed)?;
        }
        fs::write(self.path("many.c"), many()).map_err(failed)?;
        let mut all = Vec::new();
        for input in &self.inputs {
            all.extend((input.len() as u32).to_ne_bytes());
            all.extend(input);
        }
        fs::write(self.path("inputs.bin"), all).map_err(failed)?;
        fs::create_dir_all(self.path("seeds")).map_err(failed)?;
        fs::write(self.path("seeds/seed"), &self.inputs[0]).map_err(failed)?;
        self.compile(&["clang"], &["-O2", "-shared", "-fPIC", "mutator.c", "-o", "mutator.so"])?;
        let own = crate::wug().map_err(failed)?;
        let own = own.to_string_lossy().into_owned();
        for persistent in [false, true] {
            let mut sources = vec![("trivial", vec!["trivial.c".to_string()])];
            if let Some(folder) = cjson {
                let include = format!("-I{}", folder.display());
                let library = folder.join("cJSON.c").to_string_lossy().into_owned();
                sources.push(("cjson", vec!["cjson.c".into(), library, include]));
            }
            for (name, mut arguments) in sources {
                arguments.insert(0, "-O2".into());
                if persistent {
                    arguments.push("-DLOOP".into());
                }
                for (compiler, suffix) in [(vec![own.as_str(), "cc"], "wug"), (vec!["afl-clang-fast"], "afl")]
                {
                    let out = file(name, persistent, suffix);
                    let whole: Vec<&str> = arguments.iter().map(String::as_str).chain(["-o", &out]).collect();
                    self.compile(&compiler, &whole)?;
                }
                self.pairs.push((name, persistent));
            }
        }
        self.compile(&[&own, "cc"], &["-O1", "-DLOOP", "many.c", "-o", "many.wug"])?;
        self.compile(&["clang"], &["-O2", "floor.c", "-o", "floor"])?;
        self.compile(&["clang"], &["-O2", "server.c", "-o", "server"])?;
        // For plain runs, without any instrumentation.
        self.compile(&["clang"], &["-O2", "trivial.c", "-o", "trivial.plain"])
    }

    fn compile(&self, compiler: &[&str], arguments: &[&str]) -> Result<(), String> {
        let output = Command::new(compiler[0])
            .args(&compiler[1..])
            .args(arguments)
            .current_dir(&self.folder)
            .env("WUG_CC", "clang")
            .env("AFL_QUIET", "1")
            .output()
            .map_err(|error| format!("{}: {error}", compiler[0]))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!(
            "{} {}: {}",
            compiler.join(" "),
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        ))
    }

    /// What both fuzzers run, fork mode before persistent mode.
    pub fn pairs(&self) -> Vec<Pair> {
        let pair = |&(name, persistent): &(&'static str, bool)| Pair {
            name,
            persistent,
            wug: self.path(&file(name, persistent, "wug")),
            afl: self.path(&file(name, persistent, "afl")),
        };
        self.pairs.iter().map(pair).collect()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn file(name: &str, persistent: bool, suffix: &str) -> String {
    format!("{name}.{}.{suffix}", if persistent { "loop" } else { "fork" })
}

/// A thousand inputs from the built-in grammar of JSON, of 150 to 250 bytes.
fn inputs() -> Result<Vec<Vec<u8>>, String> {
    let json = builtin::find("json").ok_or("no grammar of JSON")?;
    let loaded = json.load().map_err(|_| "the grammar of JSON has errors")?;
    let program = Program::new(&loaded.grammar, Options::default()).map_err(|_| "JSON never ends")?;
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for index in 0..1_000_000 {
        let mut input = Vec::new();
        let made = program.produce(Engine::Recursive, 1, index, &mut scratch, &mut input);
        if made.is_some() && (150..=250).contains(&input.len()) {
            out.push(input);
        }
        if out.len() == 1000 {
            return Ok(out);
        }
    }
    Err("too few inputs of the right length".into())
}

/// A program with many ids, few of which an input hits.
fn many() -> String {
    let mut text = String::from("#include <stddef.h>\n#include <stdint.h>\nstatic volatile unsigned sink;\n");
    let functions = 10;
    // Each case has two blocks.
    let cases = MANY / functions / 2;
    for function in 0..functions {
        text += &format!("static void part{function}(unsigned value) {{\n    switch (value) {{\n");
        for case in 0..cases {
            text += &format!(
                "    case {case}: sink += {}; if (sink == {case}) sink = 1; break;\n",
                case * 7 + function
            );
        }
        text += "    }\n}\n";
    }
    text += "static int body(const uint8_t *data, size_t length) {\n    if (length < 2) return 0;\n";
    for function in 0..functions {
        text += &format!("    part{function}((data[{function} % length] * 4u + {function}) % {cases});\n");
    }
    text + "    return 0;\n}\n#include \"body.h\"\n"
}
