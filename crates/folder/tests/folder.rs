//! The output folder: what is written is read again, old campaigns are not
//! lost, mistakes are told.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use wug_folder::report::{MutatorReport, Report};
use wug_folder::{EntryId, Error, Folder, How, Name, Origin, Setup, Start, inputs};

/// An empty place for one test.
fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("folder").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn setup() -> Setup {
    let target = vec!["./it's".into(), "@@".into()];
    Setup { target, command_line: vec!["wug".into(), "fuzz".into()], main: true }
}

fn open(out: &Path, start: Start) -> Result<Folder, Error> {
    Folder::open(out, "default", start, &setup())
}

fn seed(name: &str) -> Origin {
    Origin { how: How::Seed(name.into()), ..Origin::default() }
}

fn mutation(time: u64, op: &str) -> Origin {
    let how = How::Mutation { parents: vec![EntryId(0)], op: op.into(), rep: Some(2) };
    Origin { time, execs: 7, how, new_coverage: true }
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn entries_have_the_names_of_afl() {
    let out = place("names");
    let mut folder = open(&out, Start::New).unwrap();
    folder.add(b"a", &seed("a/b c,d")).unwrap();
    folder.add(b"b", &mutation(12, "splice")).unwrap();
    let how = How::Sync { fuzzer: "other".into(), source: EntryId(9) };
    folder.add(b"c", &Origin { how, ..Origin::default() }).unwrap();
    folder.crash(b"d", 6, &mutation(13, "x")).unwrap();
    folder.hang(b"e", &mutation(14, "y,/")).unwrap();
    let default = out.join("default");
    let queue = [
        "id:000000,time:0,execs:0,orig:a_b c,d",
        "id:000001,src:000000,time:12,execs:7,op:splice,rep:2,+cov",
        "id:000002,sync:other,src:000009",
    ];
    assert_eq!(names(&default.join("queue")), queue);
    assert_eq!(
        names(&default.join("crashes")),
        ["README.txt", "id:000000,sig:06,src:000000,time:13,execs:7,op:x,rep:2,+cov"]
    );
    assert_eq!(names(&default.join("hangs")), ["id:000000,src:000000,time:14,execs:7,op:y__,rep:2,+cov"]);
    assert_eq!(
        names(&default),
        [".synced", "cmdline", "crashes", "fuzzer_setup", "hangs", "is_main_node", "plot_data", "queue"]
    );
    assert_eq!(fs::read_to_string(default.join("cmdline")).unwrap(), "./it's\n@@\n");
    let setup = fs::read_to_string(default.join("fuzzer_setup")).unwrap();
    assert!(setup.ends_with("# command line:\n'wug' 'fuzz'\n"), "{setup}");
    let readme = fs::read_to_string(default.join("crashes/README.txt")).unwrap();
    assert!(readme.contains(r"wug run './it'\''s' '@@' -- FILE"), "{readme}");
    drop(folder);
    assert!(!default.join("is_main_node").exists());
}

#[test]
fn names_round_trip() {
    wug_property::check(|u| {
        let how = match u.int_in_range(0..=2)? {
            0 => How::Seed(u.arbitrary()?),
            1 => How::Sync { fuzzer: u.arbitrary()?, source: EntryId(u.arbitrary()?) },
            _ => {
                let parents: Vec<u32> = u.arbitrary()?;
                How::Mutation {
                    parents: parents.into_iter().map(EntryId).collect(),
                    op: u.arbitrary()?,
                    rep: u.arbitrary()?,
                }
            }
        };
        let origin =
            Origin { time: u.arbitrary()?, execs: u.arbitrary()?, how, new_coverage: u.arbitrary()? };
        let name = Name { id: EntryId(u.arbitrary()?), signal: u.arbitrary()?, origin };
        let text = name.to_string();
        assert!(text.len() < 256 && !text.contains(['/', '\0', '\n']), "{text}");
        let read = Name::parse(&text).expect("our own name");
        // What names hold, they hold exactly.
        assert_eq!(read.to_string(), text);
        assert_eq!((read.id, read.signal), (name.id, name.signal));
        match (&read.origin.how, &name.origin.how) {
            (How::Mutation { parents, rep, .. }, How::Mutation { parents: all, rep: given, .. }) => {
                assert_eq!((&parents[..], rep), (&all[..all.len().min(2)], given));
                assert_eq!((read.origin.time, read.origin.execs), (name.origin.time, name.origin.execs));
                assert_eq!(read.origin.new_coverage, name.origin.new_coverage);
            }
            (How::Sync { source, .. }, How::Sync { source: given, .. }) => {
                assert_eq!(source, given);
                assert_eq!(read.origin.new_coverage, name.origin.new_coverage);
            }
            (How::Seed(_), How::Seed(_)) => assert_eq!(read.origin.time, name.origin.time),
            (read, given) => panic!("{given:?} became {read:?}"),
        }
        Ok(())
    })
    .for_cases(500);
    wug_property::check(|u| {
        let _ = Name::parse(&format!("id:000001,{}", u.arbitrary::<String>()?));
        Ok(())
    })
    .for_cases(500);
}

#[test]
fn a_campaign_goes_on() {
    let out = place("resume");
    assert!(matches!(open(&out, Start::Resume), Err(Error::NothingToResume(_))));
    let mut folder = open(&out, Start::AutoResume).unwrap();
    assert!(!folder.is_resumed() && folder.is_empty());
    folder.add(b"one", &seed("s")).unwrap();
    let id = folder.add(b"two, long", &mutation(1, "m")).unwrap();
    folder.replace(id, b"two").unwrap();
    folder.crash(b"c", 11, &mutation(2, "m")).unwrap();
    let mutators = vec![MutatorReport { name: "m".into(), tries: 3, ..MutatorReport::default() }];
    let report = Report { start_time: 5, last_update: 9, run_time: 4, mutators, ..Report::default() };
    folder.report(&report).unwrap();
    folder.plot(&report).unwrap();
    drop(folder);

    let mut folder = open(&out, Start::AutoResume).unwrap();
    assert!(folder.is_resumed());
    assert_eq!(folder.previous(), Some(&report));
    let (entries, left_out) = folder.entries().unwrap();
    assert!(left_out.is_empty());
    let read: Vec<_> = entries.iter().map(|entry| (entry.id.0, entry.read().unwrap())).collect();
    assert_eq!(read, [(0, b"one".to_vec()), (1, b"two".to_vec())]);
    assert_eq!(entries[1].origin, mutation(1, "m"));
    assert_eq!(folder.add(b"three", &mutation(3, "m")).unwrap(), EntryId(2));
    // What it found before is set aside under a date.
    assert_eq!(names(&out.join("default/crashes")), ["README.txt"]);
    let earlier = folder.earlier_crashes().unwrap();
    assert_eq!(earlier.len(), 1);
    assert_eq!(fs::read(&earlier[0]).unwrap(), b"c");
    folder.plot(&Report { run_time: 9, ..Report::default() }).unwrap();
    let plot = fs::read_to_string(out.join("default/plot_data")).unwrap();
    assert_eq!(
        plot.lines().map(|line| line.split(',').next().unwrap()).collect::<Vec<_>>(),
        ["# relative_time", "4", "9"]
    );
    // Twice in a second: both are kept.
    folder.crash(b"d", 11, &mutation(2, "m")).unwrap();
    drop(folder);
    let mut folder = open(&out, Start::Resume).unwrap();
    folder.crash(b"e", 11, &mutation(2, "m")).unwrap();
    drop(folder);
    assert_eq!(open(&out, Start::Resume).unwrap().earlier_crashes().unwrap().len(), 3);
}

#[test]
fn queues_of_any_kind_are_read() {
    let out = place("foreign");
    let queue = out.join("default/queue");
    fs::create_dir_all(queue.join(".state/deterministic_done")).unwrap();
    let files: [(&str, &[u8]); 7] = [
        ("id:000000,time:0,execs:0,orig:x", b"0"),
        ("id:000003,src:000000,time:4,execs:5,op:havoc,rep:2", b"3"),
        ("id:000003,src:000001,time:4,execs:5,op:havoc,rep:2", b"3 again"),
        ("id:999999,far", b"far"),
        ("my input", b"mine"),
        ("id:7", b"seven"),
        ("id:000004,large", &[0; (1 << 20) + 1]),
    ];
    for (name, bytes) in files {
        fs::write(queue.join(name), bytes).unwrap();
    }
    use std::os::unix::ffi::OsStrExt;
    fs::write(queue.join(std::ffi::OsStr::from_bytes(b"raw\xff")), b"raw").unwrap();
    fs::create_dir(queue.join("folder")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(queue.join("pipe")).status().unwrap();
    assert!(status.success());

    // As an afl-fuzz leaves it that was stopped while it went on.
    fs::create_dir(out.join("default/_resume")).unwrap();
    fs::write(out.join("default/_resume/id:000000,time:0,execs:0,orig:x"), b"moved").unwrap();

    let mut folder = open(&out, Start::Resume).unwrap();
    let (entries, left_out) = folder.entries().unwrap();
    let read: Vec<_> = entries.iter().map(|entry| (entry.id.0, entry.read().unwrap())).collect();
    let all: [(u32, &[u8]); 8] = [
        (0, b"0"),
        (3, b"3"),
        (5, b"seven"),
        (6, b"mine"),
        (7, b"raw"),
        (8, b"moved"),
        (9, b"3 again"),
        (10, b"far"),
    ];
    assert_eq!(read, all.map(|(id, bytes)| (id, bytes.to_vec())));
    let mut why: Vec<_> =
        left_out.iter().map(|left| (left.path.file_name().unwrap(), left.why.as_str())).collect();
    why.sort();
    assert_eq!(why.len(), 2);
    assert_eq!(why[0].0, "id:000004,large");
    assert_eq!(why[0].1, "it has 1048577 bytes, inputs have at most 1048576");
    assert_eq!((why[1].0.to_str(), why[1].1), (Some("pipe"), "it is a named pipe, not a regular file"));
    assert_eq!(folder.add(b"next", &seed("n")).unwrap(), EntryId(11));
    // Whoever imports by counting finds a file at every number.
    let numbers =
        names(&queue).into_iter().filter_map(|name| name.strip_prefix("id:")?[..6].parse::<u32>().ok());
    assert_eq!(numbers.collect::<Vec<_>>(), (0..=11).collect::<Vec<_>>());
    assert!(!out.join("default/_resume").exists());
    drop(folder);
    assert_eq!(open(&out, Start::Resume).unwrap().len(), 10);
}

/// The message of an error that must come.
#[track_caller]
fn refused(result: Result<Folder, Error>, out: &Path) -> String {
    let message = result.err().expect("a refusal").to_string();
    message.replace(out.to_str().unwrap(), "OUT")
}

#[test]
fn old_campaigns_are_not_thrown_away() {
    let out = place("risk");
    let way_out =
        "go on with it by `-i -` or AFL_AUTORESUME=1, choose another folder with -o, or remove this one";
    // Short and without findings: it makes place.
    let mut folder = open(&out, Start::New).unwrap();
    folder.add(b"x", &seed("x")).unwrap();
    folder.report(&Report { start_time: 1, last_update: 1500, ..Report::default() }).unwrap();
    drop(folder);
    let mut folder = open(&out, Start::New).unwrap();
    assert!(folder.is_empty() && names(&out.join("default/queue")).is_empty() && folder.previous().is_none());
    assert!(!out.join("default/fuzzer_stats").exists());
    // Long.
    folder.report(&Report { start_time: 1, last_update: 1502, ..Report::default() }).unwrap();
    drop(folder);
    let message = refused(open(&out, Start::New), &out);
    assert_eq!(message, format!("`OUT/default` holds an old campaign with 25 minutes of work: {way_out}"));
    fs::remove_file(out.join("default/fuzzer_stats")).unwrap();
    // Long, by the names of its entries: its figures were never written.
    let mut folder = open(&out, Start::New).unwrap();
    folder.add(b"x", &mutation(26 * 60_000, "x")).unwrap();
    drop(folder);
    let message = refused(open(&out, Start::New), &out);
    assert_eq!(message, format!("`OUT/default` holds an old campaign with 26 minutes of work: {way_out}"));
    // With a finding.
    let out = place("risk-crash");
    open(&out, Start::New).unwrap().hang(b"x", &seed("x")).unwrap();
    let message = refused(open(&out, Start::New), &out);
    assert_eq!(message, format!("`OUT/default` holds an old campaign with 1 hang: {way_out}"));
    // With a file of somebody else.
    let out = place("risk-file");
    drop(open(&out, Start::New).unwrap());
    fs::write(out.join("default/queue/mine"), "x").unwrap();
    let message = refused(open(&out, Start::New), &out);
    assert!(message.contains("a file in its queue that no fuzzer made, `mine`"), "{message}");
    assert!(out.join("default/queue/mine").exists());
}

#[test]
fn one_campaign_to_a_folder() {
    let out = place("lock");
    let mut folder = open(&out, Start::New).unwrap();
    let stop = "stop it, or choose another folder with -o";
    let locked = |who: &str| format!("another campaign runs in `OUT/default`{who}: {stop}");
    assert_eq!(refused(open(&out, Start::New), &out), locked(""));
    let report = Report { fuzzer_pid: std::process::id(), ..Report::default() };
    folder.report(&report).unwrap();
    assert_eq!(
        refused(open(&out, Start::Resume), &out),
        locked(&format!(" (process {})", std::process::id()))
    );
    assert!(Folder::open(&out, "other", Start::New, &setup()).is_ok());
    drop(folder);
    assert!(open(&out, Start::Resume).is_ok());
}

#[test]
fn bad_places_are_told() {
    let out = place("bad");
    let refused = |path: &Path, id: &str| {
        let result = Folder::open(path, id, Start::New, &setup());
        result.err().expect("a refusal").to_string().replace(out.to_str().unwrap(), "OUT")
    };
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("file"), "").unwrap();
    assert_eq!(refused(&out.join("file"), "a"), "`OUT/file` is not a folder: choose another with -o");
    assert_eq!(
        refused(&out.join("file/below"), "a"),
        "`OUT/file/below` is not a folder: choose another with -o"
    );
    assert_eq!(refused(&out, "file"), "`OUT/file` is not a folder: choose another with -o");
    for id in ["", ".", "..", "a/b", "a b", ".hidden", &"x".repeat(33)] {
        assert!(refused(&out, id).contains("cannot name a campaign"), "{id}");
    }
    // Root may write everywhere, except where nobody may.
    let message = refused(Path::new("/proc/sys"), "a");
    assert!(message.starts_with("cannot ") && message.contains("/proc/sys/a"), "{message}");
    let message = inputs(&out.join("absent")).expect_err("a mistake").to_string();
    assert!(message.contains("No such file") || message.contains("not found"), "{message}");
}

#[test]
fn rows_that_were_cut_short_are_taken_away() {
    let out = place("plot");
    let mut folder = open(&out, Start::New).unwrap();
    folder.add(b"x", &seed("x")).unwrap();
    folder
        .plot(&Report { run_time: 5, bitmap_cvg: 12.345, execs_per_sec: f64::NAN, ..Report::default() })
        .unwrap();
    drop(folder);
    let path = out.join("default/plot_data");
    let whole = fs::read_to_string(&path).unwrap();
    assert!(whole.ends_with("edges_found\n5, 0, 0, 0, 0, 0, 12.35%, 0, 0, 0, 0.00, 0, 0\n"), "{whole}");
    fs::write(&path, format!("{whole}10, 0, 0")).unwrap();
    open(&out, Start::Resume).unwrap().plot(&Report { run_time: 15, ..Report::default() }).unwrap();
    let plot = fs::read_to_string(&path).unwrap();
    assert_eq!(plot, format!("{whole}15, 0, 0, 0, 0, 0, 0.00%, 0, 0, 0, 0.00, 0, 0\n"));
}
