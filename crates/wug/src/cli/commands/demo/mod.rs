//! `wug demo`: the main job, from source to a small reproducer.
//!
//! It runs the commands that anybody would, and shows them, on a small
//! interpreter of ours with a mistake in it (`abacus.c`) and its grammar
//! (`abacus.wug`).

use super::print;
use crate::cli::{Failure, Outcome};
use clap::Args;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wug_files::private;

/// Show the main job: build, fuzz, find a bug, make it small
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug demo\n\nNeeds a C compiler. Everything is left in a folder, whose name is shown."
)]
pub struct Demo {
    /// Where to work; if not given, a fresh folder
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const SOURCE: &str = include_str!("abacus.c");
const GRAMMAR: &str = include_str!("abacus.wug");
const CRASHES: &str = "out/default/crashes";
const SOME_CRASH: &str = "out/default/crashes/id*";
/// Seconds until it gives up.
const PATIENCE: &str = "50";

impl Demo {
    pub fn run(self) -> Outcome {
        let begin = Instant::now();
        let folder = self.folder()?;
        write(&folder.join("abacus.c"), SOURCE)?;
        write(&folder.join("abacus.wug"), GRAMMAR)?;
        print(
            "abacus.c is an interpreter of a small language: numbers, arrays, loops and\n\
             functions. It has a mistake that shows only in a well-formed program, when\n\
             several statements play together. abacus.wug is the grammar of the language.\n",
        )?;

        step(
            &folder,
            "Build it, with coverage and a fork server in it:",
            &["cc", "-O1", "-g", "-o", "abacus", "abacus.c"],
        )?;
        print("\nA program that the grammar makes:\n")?;
        show(&folder, &["generate", "abacus.wug", "-s", "4", "-d", "5"])?;

        let fuzz = ["fuzz", "-g", "abacus.wug", "-o", "out", "-s", "1", "-V", PATIENCE, "--", "./abacus"];
        step(
            &folder,
            "\nFuzz it until it crashes: programs that reach new code are kept, and changed\nalong their trees, so that they stay programs.",
            &fuzz,
        )?;
        let Some(crash) = first_file(&folder.join(CRASHES)) else {
            return Err(Failure::Message(
                1,
                format!("no crash within {PATIENCE} seconds: this machine is slow, or busy; try again"),
            ));
        };
        let name = crash.strip_prefix(&folder).unwrap_or(&crash).to_string_lossy().into_owned();
        let size = fs::metadata(&crash).map_or(0, |data| data.len());
        print(&format!("\nThis program of {size} bytes crashes it:\n"))?;
        print(&indented(&fs::read(&crash).unwrap_or_default()))?;

        let minimize = ["minimize", "-g", "abacus.wug", &name, "-o", "small", "--", "./abacus"];
        step(&folder, "\nMake it as small as it gets, with the crash in the same place:", &minimize)?;
        print("\nThe reproducer:\n")?;
        print(&indented(&fs::read(folder.join("small")).unwrap_or_default()))?;
        step(&folder, "\nWhere it crashes:", &["run", "./abacus", "--", "small"])?;
        print(&format!(
            "\nTwo variables held the same array; when one of them grew, its items moved, and\n\
             the other was left with what is no longer there. `grow` in abacus.c should have\n\
             known. This took {:.0} seconds; everything is in {}.",
            begin.elapsed().as_secs_f64(),
            folder.display()
        ))
    }

    /// The folder to work in. Targets may run as another user, who must be
    /// able to reach it.
    fn folder(&self) -> Result<PathBuf, Failure> {
        use std::os::unix::fs::PermissionsExt;
        let failed = |path: &Path, error: std::io::Error| {
            Failure::usage(format!("cannot make the folder `{}`: {error}", path.display()))
        };
        let folder = match &self.output {
            // One that is there keeps its mode.
            Some(folder) if folder.is_dir() => folder.clone(),
            given => {
                let folder = match given {
                    Some(folder) => private::folder(folder).map(|()| folder.clone()),
                    None => private::Temporary::new("demo").map(private::Temporary::keep),
                };
                let base = std::env::temp_dir();
                let folder = folder.map_err(|error| failed(given.as_ref().unwrap_or(&base), error))?;
                // Others can pass through, but not look around.
                let open = fs::set_permissions(&folder, fs::Permissions::from_mode(0o711));
                open.map_err(|error| failed(&folder, error))?;
                folder
            }
        };
        fs::canonicalize(&folder).map_err(|error| failed(&folder, error))
    }
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}

/// Says what comes, shows the command, and runs it.
fn step(folder: &Path, why: &str, arguments: &[&str]) -> Outcome {
    let quiet = arguments[0] == "fuzz";
    let before = if quiet { "AFL_BENCH_UNTIL_CRASH=1 " } else { "" };
    // The name of a crash is long; a shell finds it.
    let words = arguments.iter().map(|word| if word.starts_with(CRASHES) { SOME_CRASH } else { word });
    let line = format!("{before}wug {}", words.collect::<Vec<_>>().join(" "));
    print(&format!("{why}\n\n  $ {}\n", broken(&line)))?;
    let status = command(folder, arguments)?.env("AFL_BENCH_UNTIL_CRASH", "1").status();
    let code = status.ok().and_then(|status| status.code());
    // A crash is what `wug run` is asked to show.
    let fine = code == Some(0) || arguments[0] == "run";
    if fine { Ok(()) } else { Err(Failure::Quiet(code.map_or(1, |code| code.clamp(1, 255) as u8))) }
}

/// A command in lines of at most 76 columns, as a shell reads them.
fn broken(command: &str) -> String {
    let mut out = String::new();
    let mut columns = 0;
    for word in command.split(' ') {
        if columns > 0 && columns + word.len() > 72 {
            out += " \\\n   ";
            columns = 4;
        }
        if columns > 0 {
            out.push(' ');
        }
        out += word;
        columns += word.len() + 1;
    }
    out
}

/// Runs a command and shows the beginning of what it prints.
fn show(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = command(folder, arguments)?.stderr(Stdio::null()).output();
    print(&indented(&output.map(|output| output.stdout).unwrap_or_default()))
}

fn command(folder: &Path, arguments: &[&str]) -> Result<Command, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Message(1, format!("cannot find this program: {error}")))?;
    let mut command = Command::new(program);
    command.args(arguments.iter().map(OsStr::new)).current_dir(folder).stdin(Stdio::null());
    Ok(command)
}

fn first_file(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|file| file.path());
    files
        .filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"id:")))
        .min()
}

/// Lines of at most 76 columns, and at most ten of them.
fn indented(text: &[u8]) -> String {
    const COLUMNS: usize = 74;
    const LINES: usize = 10;
    let text = String::from_utf8_lossy(text);
    let mut out = String::new();
    let mut lines = 0;
    for line in text.lines() {
        let characters: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        for part in characters.chunks(COLUMNS) {
            if lines == LINES {
                return out + "    …\n";
            }
            lines += 1;
            out += &format!("    {}\n", part.iter().collect::<String>());
        }
    }
    out
}
