//! A campaign that is killed at any moment loses nothing that it has
//! acknowledged, and no file is ever half written; nor on a full disk.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use wug_folder::report::Report;
use wug_folder::{Error, Folder, How, Origin, Setup, Start};

/// What tells this program, started by itself, which part to play.
const PART: &str = "WUG_TEST_PART";
const OUT: &str = "WUG_TEST_OUT";

/// The same test program, for one test and part.
fn again(test: &str, part: &str, out: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(PART, part).env(OUT, out);
    command
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Draws that need no library.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

/// An input that tells by itself whether it is whole: its length and a
/// number from which all other bytes follow.
fn input(number: u64, length: usize) -> Vec<u8> {
    let mut bytes = [length as u64, number].map(u64::to_le_bytes).concat();
    let mut state = number;
    bytes.extend((0..length).map(|_| random(&mut state) as u8));
    bytes
}

/// The number of an input, if it is whole.
fn number(bytes: &[u8]) -> Option<u64> {
    let (length, rest) = bytes.split_first_chunk()?;
    let number = u64::from_le_bytes(*rest.first_chunk()?);
    (bytes == input(number, u64::from_le_bytes(*length) as usize)).then_some(number)
}

fn origin(time: u64) -> Origin {
    let how = How::Mutation { parents: Vec::new(), op: "test".into(), rep: None };
    Origin { time, how, ..Origin::default() }
}

/// Writes entries, crashes and figures without end, and says of each when it
/// is done.
fn write_without_end(out: &Path) {
    let mut state = u64::from(std::process::id());
    let mut folder = Folder::open(out, "default", Start::AutoResume, &Setup::default()).unwrap();
    let mut say = std::io::stdout();
    for turn in 1.. {
        let length = match random(&mut state) % 4 {
            0 => random(&mut state) as usize % (1 << 19),
            _ => random(&mut state) as usize % 300,
        };
        let number = random(&mut state);
        let bytes = input(number, length);
        let id = folder.add(&bytes, &origin(turn)).unwrap();
        writeln!(say, "entry {id} {number}").unwrap();
        if turn % 3 == 0 {
            // From here on either is right, until it is said.
            writeln!(say, "replacing {id} {}", number + 1).unwrap();
            folder.replace(id, &input(number + 1, length / 2)).unwrap();
            writeln!(say, "entry {id} {}", number + 1).unwrap();
        }
        if turn % 8 == 0 {
            let path = folder.crash(&bytes, 6, &origin(turn)).unwrap();
            writeln!(say, "crash {} {number}", path.file_name().unwrap().to_string_lossy()).unwrap();
            let report = Report { run_time: turn, fuzzer_pid: std::process::id(), ..Report::default() };
            folder.report(&report).unwrap();
            folder.plot(&report).unwrap();
        }
    }
}

#[test]
fn kill_at_any_moment_loses_nothing() {
    if std::env::var(PART).as_deref() == Ok("write") {
        return write_without_end(Path::new(&std::env::var_os(OUT).unwrap()));
    }
    let mut out = place("nine");
    let mut state = u64::from(std::process::id());
    let mut entries = std::collections::BTreeMap::<u32, (u64, Option<u64>)>::new();
    let (mut seen, mut crashes) = (0, 0);
    let kills = std::env::var("WUG_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(50);
    for kill in 0..kills {
        if kill > 0 && kill % 50 == 0 {
            // Each look at the folder takes longer than the last.
            out = place("nine");
            entries.clear();
        }
        let mut child = again("kill_at_any_moment_loses_nothing", "write", &out);
        let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // So far it comes, and a little further.
        let lines_seen = 1 + random(&mut state) as usize % 40;
        let mut said: Vec<String> = lines.by_ref().map(Result::unwrap).take(lines_seen).collect();
        std::thread::sleep(Duration::from_micros(random(&mut state) % 3000));
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(lines.map_while(Result::ok));
        let mut stems = Vec::new();
        for line in said {
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, name, number] = words[..] else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match kind {
                "entry" => drop(entries.insert(name.parse().unwrap(), (number, None))),
                "replacing" => entries.get_mut(&name.parse().unwrap()).unwrap().1 = Some(number),
                _ => stems.push((name.to_owned(), number)),
            }
        }
        crashes += stems.len();
        let folder = match Folder::open(&out, "default", Start::Resume, &Setup::default()) {
            // It was killed before it began, which the harness's own lines allow.
            Err(Error::NothingToResume(_)) if entries.is_empty() && stems.is_empty() => continue,
            opened => opened.unwrap(),
        };
        let (found, left_out) = folder.entries().unwrap();
        assert!(left_out.is_empty(), "{left_out:?}");
        assert_eq!(
            found.iter().map(|entry| entry.id.0).collect::<Vec<_>>(),
            (0..found.len() as u32).collect::<Vec<_>>()
        );
        for entry in &found {
            let number = number(&entry.read().unwrap());
            let number = number.unwrap_or_else(|| panic!("{} is torn", entry.path.display()));
            if let Some((said, maybe)) = entries.get(&entry.id.0) {
                assert!(number == *said || Some(number) == *maybe, "{} has changed", entry.path.display());
            }
            // What was written and not said before the end is settled now.
            entries.insert(entry.id.0, (number, None));
        }
        assert!(entries.len() == found.len(), "an entry is lost");
        seen += found.len();
        let earlier = folder.earlier_crashes().unwrap();
        for (name, said) in stems {
            let kept = earlier.iter().filter(|path| path.ends_with(&name));
            assert!(
                kept.map(|path| number(&fs::read(path).unwrap())).any(|number| number == Some(said)),
                "{name} is lost"
            );
        }
        for path in earlier {
            assert!(number(&fs::read(&path).unwrap()).is_some(), "{} is torn", path.display());
        }
        drop(folder);
        let plot = fs::read_to_string(out.join("default/plot_data")).unwrap();
        assert!(plot.lines().skip(1).all(|row| row.split(", ").count() == 13), "{plot}");
        assert!(!out.join("default/.fresh").exists());
    }
    // The test has seen something.
    assert!(seen > 200 && crashes > 5, "{seen} entries, {crashes} crashes");
    fs::remove_dir_all(&out).unwrap();
}

/// In a small file system of its own.
fn fill_the_disk(out: &Path) {
    let ballast = out.join("ballast");
    fs::write(&ballast, vec![1; 64 << 10]).unwrap();
    let mut folder = Folder::open(out, "default", Start::New, &Setup::default()).unwrap();
    let report = Report { run_time: 5, ..Report::default() };
    folder.report(&report).unwrap();
    folder.plot(&report).unwrap();
    let first = folder.add(&input(0, 20_000), &origin(1)).unwrap();
    let mut number = 1;
    let full = loop {
        match folder.add(&input(number, 20_000), &origin(number)) {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Full { .. }) && full.is_full(), "{full}");
    let message = full.to_string();
    assert!(message.starts_with("no room for `") && message.contains("/queue/id:"), "{message}");
    // Fill it to the last byte: then nothing can be written.
    let last = fs::File::create(out.join("default/last")).unwrap();
    while (&last).write(&[0; 512]).is_ok_and(|written| written > 0) {}
    assert!(folder.add(b"small", &origin(1)).unwrap_err().is_full());
    assert!(folder.crash(b"small", 6, &origin(1)).unwrap_err().is_full());
    assert!(folder.hang(b"small", &origin(1)).unwrap_err().is_full());
    assert!(folder.replace(first, &input(0, 19_000)).unwrap_err().is_full());
    assert!(folder.report(&Report { run_time: 10, ..Report::default() }).unwrap_err().is_full());
    assert!(folder.bitmap(&[0; 9000]).unwrap_err().is_full());
    let mut rows = 0;
    while folder.plot(&report).is_ok() {
        rows += 1;
        assert!(rows < 1000);
    }
    // Nothing is lost, nothing half there.
    let (entries, _) = folder.entries().unwrap();
    assert_eq!(entries.len() as u64, number);
    assert!(
        entries.iter().enumerate().all(|(n, entry)| self::number(&entry.read().unwrap()) == Some(n as u64))
    );
    assert!(fs::read_to_string(out.join("default/plot_data")).unwrap().ends_with('\n'));
    assert!(
        fs::read_to_string(out.join("default/fuzzer_stats")).unwrap().contains("run_time          : 5\n")
    );
    assert_eq!(fs::read_dir(out.join("default/crashes")).unwrap().count(), 1);
    assert!(!out.join("default/.fresh").exists());
    // With room it goes on, and ids have no gap.
    fs::remove_file(&ballast).unwrap();
    assert_eq!(u64::from(folder.add(&input(number, 20_000), &origin(number)).unwrap().0), number);
    folder.crash(b"small", 6, &origin(1)).unwrap();
    folder.replace(first, &input(0, 19_000)).unwrap();
    folder.plot(&report).unwrap();
    let plot = fs::read_to_string(out.join("default/plot_data")).unwrap();
    assert!(plot.lines().skip(1).all(|row| row.split(", ").count() == 13), "{plot}");
    drop(folder);
    // A folder that cannot even be opened.
    while (&last).write(&[0; 512]).is_ok_and(|written| written > 0) {}
    let error = Folder::open(out, "another", Start::New, &Setup::default()).err().expect("no room");
    assert!(error.is_full(), "{error}");
    println!("the disk was full");
}

/// Where nothing can be written.
fn write_where_nobody_can(out: &Path) {
    let error = Folder::open(out, "default", Start::New, &Setup::default()).err().expect("a refusal");
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
    let way_out = "Read-only file system (os error 30) (choose another folder with -o)";
    assert_eq!(error.to_string(), format!("cannot write to `{}/default`: {way_out}", out.display()));
    println!("nothing could be written");
}

/// Plays a part in a file system of its own; what it says.
fn elsewhere(test: &str, part: &str, options: &str) -> Option<String> {
    let out = place(part);
    let script = format!("mount -t tmpfs -o {options} wug \"${OUT}\" || exit 77; exec \"$0\" \"$@\"");
    let child = again(test, part, &out);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(child.get_program());
    unshare.args(child.get_args()).env(PART, part).env(OUT, &out);
    let output = match unshare.output() {
        Ok(output) if output.status.code() != Some(77) && !output.stderr.starts_with(b"unshare: ") => output,
        other => {
            assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "{other:?}");
            eprintln!("skipped: no file system of its own can be had here");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn a_full_disk_loses_nothing() {
    if std::env::var(PART).as_deref() == Ok("full") {
        return fill_the_disk(Path::new(&std::env::var_os(OUT).unwrap()));
    }
    if let Some(text) = elsewhere("a_full_disk_loses_nothing", "full", "size=300k") {
        assert!(text.contains("the disk was full"), "{text}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    if std::env::var(PART).as_deref() == Ok("read-only") {
        return write_where_nobody_can(Path::new(&std::env::var_os(OUT).unwrap()));
    }
    if let Some(text) = elsewhere("a_folder_that_cannot_be_written_is_told", "read-only", "ro") {
        assert!(text.contains("nothing could be written"), "{text}");
    }
}
