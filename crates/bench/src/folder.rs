//! `wug-bench folder`: what it costs to keep what a campaign finds, and to
//! look for what others find.

use super::median;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};
use wug_folder::report::Report;
use wug_folder::sync::Sync;
use wug_folder::{Folder, How, Origin, Setup, Start};

/// Write entries, crashes and figures; look for those of others
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench folder --at target")]
pub struct FolderBench {
    /// Where a folder is made, and removed
    #[arg(long, default_value = ".", value_name = "DIR")]
    at: PathBuf,
    /// Entries of a queue
    #[arg(long, default_value_t = 5000, value_name = "N")]
    entries: usize,
    /// Campaigns beside ours
    #[arg(long, default_value_t = 4, value_name = "N")]
    siblings: usize,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    what: &'static str,
    /// Time for each, in microseconds, median of rounds.
    micros: f64,
    /// The slowest of all, likewise.
    slowest: f64,
}

/// Bytes of an entry.
const SIZE: usize = 200;

impl FolderBench {
    pub fn run(self) -> Outcome {
        let place = self.at.join(format!("wug-bench-folder-{}", std::process::id()));
        let rows = self.measure(&place);
        let _ = fs::remove_dir_all(&place);
        let rows = rows.map_err(|error| Failure::Message(1, error.to_string()))?;
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "folder", "rows": rows }));
        }
        let mut out = format!("{:<42} {:>10} {:>12}\n", "", "us each", "slowest, us");
        for Row { what, micros, slowest } in rows {
            let _ = writeln!(out, "{what:<42} {micros:>10.1} {slowest:>12.1}");
        }
        print(&out)
    }

    fn measure(&self, place: &Path) -> anyhow::Result<Vec<Row>> {
        let mut writing = [const { Vec::new() }; 6];
        for round in 0..self.rounds.max(1) {
            self.write(&place.join(format!("round-{round}")), &mut writing)?;
        }
        let names = [
            "a file, written in place",
            "an entry",
            "the same, to the disk at once",
            "a crash",
            "figures",
            "a row of figures",
        ];
        let mut rows: Vec<Row> =
            names.into_iter().zip(writing).map(|(what, times)| row(what, times)).collect();
        rows.extend(self.read(&place.join("siblings"))?);
        Ok(rows)
    }

    fn write(&self, out: &Path, times: &mut [Vec<f64>; 6]) -> anyhow::Result<()> {
        let mut folder = Folder::open(out, "default", Start::New, &Setup::default())?;
        let plain = out.join("plain");
        fs::create_dir(&plain)?;
        let report = Report { afl_banner: "x".repeat(100), ..Report::default() };
        for turn in 0..self.entries {
            let bytes = input(turn);
            let path = plain.join(turn.to_string());
            times[0].push(timed(|| Ok(fs::write(&path, &bytes)?))?);
            times[1].push(timed(|| Ok(folder.add(&bytes, &origin(turn)).map(drop)?))?);
            if turn % 250 == 0 {
                times[2].push(timed(|| {
                    fs::write(&path, &bytes)?;
                    File::open(&path)?.sync_all()?;
                    Ok(File::open(&plain)?.sync_all()?)
                })?);
                times[3].push(timed(|| Ok(folder.crash(&bytes, 6, &origin(turn)).map(drop)?))?);
                times[4].push(timed(|| Ok(folder.report(&report)?))?);
                times[5].push(timed(|| Ok(folder.plot(&report)?))?);
            }
        }
        Ok(())
    }

    fn read(&self, out: &Path) -> anyhow::Result<Vec<Row>> {
        drop(Folder::open(out, "own", Start::New, &Setup::default())?);
        let queues: Vec<_> =
            (0..self.siblings).map(|n| out.join(format!("sibling-{n}")).join("queue")).collect();
        for queue in &queues {
            fs::create_dir_all(queue)?;
            for turn in 0..self.entries {
                fs::write(queue.join(name(turn)), input(turn))?;
            }
        }
        // As if it had been written a while ago: no need to look again.
        let settle = || {
            let long_ago = SystemTime::now() - Duration::from_secs(60);
            queues
                .iter()
                .chain([&out.to_owned()])
                .try_for_each(|path| File::open(path)?.set_modified(long_ago))
        };
        settle()?;
        std::thread::sleep(Duration::from_millis(150));
        let mut sync = Sync::new(out, "own", &[])?;
        let all = timed(|| {
            while !sync.poll(1000)?.imports.is_empty() {}
            Ok(())
        })?;
        let all = all / (self.entries * self.siblings).max(1) as f64;
        std::thread::sleep(Duration::from_secs(1));
        sync.poll(1000)?;
        let (mut idle, mut changed) = (Vec::new(), Vec::new());
        for round in 0..self.rounds.max(1) {
            for _ in 0..100 {
                idle.push(timed(|| Ok(sync.poll(1000).map(drop)?))?);
            }
            let Some(queue) = queues.first() else { break };
            let path = queue.join(name(self.entries + round));
            fs::write(&path, input(round))?;
            File::options()
                .write(true)
                .open(&path)?
                .set_modified(SystemTime::now() - Duration::from_secs(1))?;
            // The folder was read a moment ago, perhaps.
            std::thread::sleep(Duration::from_secs(1));
            let mut found = 0;
            changed.push(timed(|| {
                found = sync.poll(1000)?.imports.len();
                Ok(())
            })?);
            anyhow::ensure!(found == 1, "{found} imports in place of 1");
            File::open(queue)?.set_modified(SystemTime::now() - Duration::from_secs(50 - round as u64))?;
            std::thread::sleep(Duration::from_secs(1));
            sync.poll(1000)?;
        }
        let mut resume = Vec::new();
        if self.siblings > 0 {
            let open = || Folder::open(out, "sibling-0", Start::Resume, &Setup::default());
            resume.push(timed(|| Ok(open().map(drop)?))?);
        }
        Ok(vec![
            row("an import", vec![all]),
            row("a look for imports, nothing new", idle),
            row("a look for imports, one new", changed),
            row("going on with a campaign", resume),
        ])
    }
}

fn row(what: &'static str, times: Vec<f64>) -> Row {
    let slowest = times.iter().copied().fold(0.0, f64::max);
    Row { what, micros: median(times), slowest }
}

fn input(turn: usize) -> Vec<u8> {
    let mut bytes = vec![b'x'; SIZE];
    bytes[..8].copy_from_slice(&(turn as u64).to_le_bytes());
    bytes
}

fn name(turn: usize) -> String {
    format!("id:{turn:06},src:000000,time:{turn},execs:{turn},op:havoc,rep:2,+cov")
}

fn origin(turn: usize) -> Origin {
    let how = How::Mutation { parents: Vec::new(), op: "bench".into(), rep: Some(1) };
    Origin { time: turn as u64, execs: turn as u64, how, new_coverage: true }
}

/// Microseconds.
fn timed(run: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let begin = Instant::now();
    run()?;
    Ok(begin.elapsed().as_secs_f64() * 1e6)
}
