//! The reader of output folders: names of entries, `fuzzer_stats`, `plot_data`,
//! `report.json`, what was imported, and what others put there.
//!
//! A folder is made with files as a campaign leaves them, changed as the bytes
//! say; then a campaign goes on with it.

use crate::report::Report;
use crate::sync::Sync;
use crate::{EntryId, Folder, How, Name, Origin, Setup, Start};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use wug_files::private::Temporary;
use wug_random::Draw;

/// Files in one folder.
const FILES: usize = 24;

/// Makes a folder of the bytes and goes on with it, twice.
pub fn check(bytes: &[u8]) {
    let mut draw = Draw(bytes);
    let base = Temporary::new("fuzzing").expect("a folder");
    let own = base.path().join("out/default");
    for part in ["queue", "crashes", "hangs", ".synced", "_resume"] {
        fs::create_dir_all(own.join(part)).expect("a folder");
    }
    fs::create_dir_all(base.path().join("out/other/queue")).expect("a folder");
    fs::write(base.path().join("victim"), b"victim").expect("a file");
    // As a campaign leaves it, but for the figures.
    let figures = format!("run_time          : {}\nexecs_done        : {}\n", draw.number(), draw.number());
    fs::write(own.join("fuzzer_stats"), figures).expect("a file");
    fs::write(own.join("report.json"), report(&mut draw)).expect("a file");
    fs::write(own.join("plot_data"), stats(&mut draw)).expect("a file");
    for name in ["id:000000,time:0,execs:0,orig:a", "id:000001,src:000000,time:1,execs:2,op:havoc,rep:1"] {
        fs::write(own.join("queue").join(name), b"[1]").expect("a file");
    }
    for _ in 0..FILES {
        if draw.is_over() {
            break;
        }
        plant(base.path(), &mut draw);
    }
    let starts = [Start::Resume, Start::AutoResume, Start::New];
    for _ in 0..2 {
        go_on(base.path(), starts[draw.below(3)]);
    }
    assert_eq!(fs::read(base.path().join("victim")).expect("a file"), b"victim");
}

/// Puts something into the folder.
fn plant(base: &Path, draw: &mut Draw<'_>) {
    let folders = ["queue", "queue", "queue", "crashes", "hangs", ".synced", "_resume", "", "../other/queue"];
    let folder = base.join("out/default").join(folders[draw.below(folders.len())]);
    let fixed = ["fuzzer_stats", "plot_data", "report.json", ".fresh", "fuzz_bitmap", "other", "crashes.old"];
    let path = match draw.byte() % 3 {
        0 => base.join("out/default").join(fixed[draw.below(fixed.len())]),
        _ => folder.join(name(draw)),
    };
    let victim = base.join("victim");
    // Not through what was planted before.
    let _ = fs::remove_file(&path);
    let _ = match draw.byte() % 12 {
        0 => symlink(&victim, &path),
        1 => fs::hard_link(&victim, &path),
        2 => symlink("nowhere", &path),
        3 => symlink("/dev/zero", &path),
        4 => fs::create_dir(&path),
        5 => fs::File::create(&path).and_then(|file| file.set_len(1 << 32)),
        6 => fs::write(&path, draw.number().to_ne_bytes()),
        7 => fs::write(&path, report(draw)),
        _ => fs::write(&path, stats(draw)),
    };
}

/// A name as a fuzzer gives, changed at some places.
fn name(draw: &mut Draw<'_>) -> PathBuf {
    let ids = [0, 1, 2, 3, 4, 17, 1003, u32::MAX - 1, u32::MAX];
    let id = |draw: &mut Draw<'_>| EntryId(ids[draw.below(ids.len())]);
    let how = match draw.byte() % 3 {
        0 => How::Seed("a seed,\u{7f}é".into()),
        1 => How::Sync { fuzzer: "other".into(), source: id(draw) },
        _ => How::Mutation { parents: vec![id(draw), id(draw)], op: "havoc".into(), rep: Some(2) },
    };
    let origin = Origin { time: draw.number(), execs: draw.number(), how, new_coverage: true };
    let signal = (draw.byte().is_multiple_of(2)).then(|| draw.byte());
    let mut text = Name { id: id(draw), signal, origin }.to_string().into_bytes();
    for _ in 0..draw.byte() % 3 {
        let (at, byte) = (draw.below(text.len()), draw.byte());
        match byte {
            b'/' | 0 => text.truncate(at.max(1)),
            byte if byte % 2 == 0 => text[at] = byte,
            byte => text.insert(at, byte),
        }
    }
    text.retain(|byte| !matches!(byte, b'/' | 0));
    if text.is_empty() || text == b"." || text == b".." {
        text = b"odd".to_vec();
    }
    std::ffi::OsString::from_vec(text).into()
}

/// Figures as text, with values of all sizes.
fn stats(draw: &mut Draw<'_>) -> Vec<u8> {
    let keys = [
        "start_time",
        "last_update",
        "run_time",
        "fuzzer_pid",
        "execs_done",
        "execs_per_sec",
        "corpus_count",
        "saved_crashes",
        "max_depth",
        "stability",
        "cpu_affinity",
        "afl_banner",
        "exec_timeout",
        "edges_found",
    ];
    let mut out = Vec::new();
    for _ in 0..draw.byte() % 20 {
        let key = keys[draw.below(keys.len())];
        let line = match draw.byte() % 6 {
            0 => format!("{key:18}: -{}\n", draw.number()),
            1 => format!("{key:18}: {}e{}%\n", draw.byte(), draw.number()),
            2 => format!("{key}:{}", draw.number()),
            3 => format!("{}, {}, nan, inf\n", draw.number(), draw.byte()),
            _ => format!("{key:18}: {}\n", draw.number()),
        };
        out.extend(line.into_bytes());
    }
    if draw.byte().is_multiple_of(4) && !out.is_empty() {
        let at = draw.below(out.len());
        out[at] = draw.byte();
    }
    out
}

/// Our own figures, some of them at their ends.
fn report(draw: &mut Draw<'_>) -> Vec<u8> {
    let report = Report {
        last_update: draw.number(),
        start_time: draw.number(),
        run_time: draw.number(),
        execs_done: draw.number(),
        corpus_count: draw.number(),
        execs_per_sec: f64::from_bits(draw.number()),
        command_line: "wug \u{1b}[2J".into(),
        ..Report::default()
    };
    let mut json = serde_json::to_vec(&report).unwrap_or_default();
    if draw.byte().is_multiple_of(3) && !json.is_empty() {
        let at = draw.below(json.len());
        json[at] = draw.byte();
    }
    json
}

/// What a campaign does with a folder.
fn go_on(base: &Path, start: Start) {
    let out = base.join("out");
    // A folder in the place of a file, an old campaign that is worth keeping:
    // these are told, and nothing else is wrong.
    let Ok(mut folder) = Folder::open(&out, "default", start, &Setup::default()) else { return };
    let report = folder.previous().cloned().unwrap_or_default();
    assert!(
        report.run_time.checked_add(1 << 32).is_some() && report.execs_done.checked_add(1 << 40).is_some()
    );
    let (entries, _) = folder.entries().expect("entries");
    for entry in &entries {
        let read = entry.read().expect("an entry");
        assert!(read.len() as u64 <= crate::MAX_INPUT);
    }
    assert!(entries.len() <= folder.len());
    let id = folder.add(b"[]", &Origin::default()).expect("an entry");
    assert_eq!(fs::read(folder.entry_path(id).expect("a path")).expect("a file"), b"[]");
    let path = folder.crash(b"c", 6, &Origin::default()).expect("a crash");
    assert_eq!(fs::read(path).expect("a file"), b"c");
    let _ = (folder.earlier_crashes(), folder.earlier_hangs());
    // Only a folder in the place of a file is in the way.
    for written in [folder.report(&report), folder.plot(&report), folder.bitmap(b"1")] {
        if let Err(error) = written {
            assert!(error.to_string().contains("directory"), "{error}");
        }
    }
    let foreign = [base.join("out/other")];
    if let Ok(mut sync) = Sync::new(&out, "default", &foreign) {
        for _ in 0..2 {
            let _ = sync.poll(8);
        }
    }
}
