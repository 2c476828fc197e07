//! Producers from PyPI beside ours, on JSON.
//!
//! In:  a Python that has some of them, and a depth.
//! Out: what each makes in a second of CPU time; what is not installed is told.
//!
//! They run by a script of ours, each in a process of its own, with grammars
//! of JSON in their notations. What "depth" means differs, and so do inputs:
//! the mean size stands beside.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("rivals.py");
const NAMES: [&str; 3] = ["grammarinator", "dharma", "gramfuzz"];
/// CPU time of each.
const SECONDS: &str = "2";

/// What a producer made.
#[derive(Deserialize)]
struct Made {
    inputs: u64,
    bytes: u64,
    seconds: f64,
}

/// A producer at a depth.
#[derive(Serialize)]
pub struct Rival {
    name: &'static str,
    depth: u32,
    mean: f64,
    inputs_per_s: f64,
    mib_per_s: f64,
    /// Why there are no figures.
    missing: Option<String>,
}

/// Measures all of them at some depths.
pub fn measure(python: &OsStr, depths: &[u32]) -> Vec<Rival> {
    let all = depths.iter().flat_map(|depth| NAMES.map(|name| (name, *depth)));
    all.map(|(name, depth)| match run(python, name, depth) {
        Ok(Made { inputs, bytes, seconds }) => Rival {
            name,
            depth,
            mean: bytes as f64 / inputs.max(1) as f64,
            inputs_per_s: inputs as f64 / seconds.max(1e-9),
            mib_per_s: bytes as f64 / seconds.max(1e-9) / f64::from(1 << 20),
            missing: None,
        },
        Err(why) => Rival { name, depth, mean: 0.0, inputs_per_s: 0.0, mib_per_s: 0.0, missing: Some(why) },
    })
    .collect()
}

fn run(python: &OsStr, name: &str, depth: u32) -> Result<Made, String> {
    let depth = depth.to_string();
    let mut child = Command::new(python)
        .args(["-", name, &depth, SECONDS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}`: {error}", python.to_string_lossy()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A Python that ends before it has read all tells why.
        let _ = stdin.write_all(SCRIPT.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it failed").to_string();
        return Err(if last.contains("No module named") { "not installed".into() } else { last });
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// A table.
pub fn table(rivals: &[Rival], out: &mut String) {
    let _ = writeln!(out, "\nJSON by producers from PyPI");
    let _ =
        writeln!(out, "{:20} {:>5} {:>9} {:>12} {:>12}", "producer", "depth", "mean", "inputs/s", "MiB/s");
    for one in rivals {
        let Rival { name, depth, mean, inputs_per_s, mib_per_s, missing } = one;
        let _ = match missing {
            None => writeln!(out, "{name:20} {depth:>5} {mean:>9.1} {inputs_per_s:>12.0} {mib_per_s:>12.3}"),
            Some(why) => writeln!(out, "{name:20} {depth:>5} {why}"),
        };
    }
}
