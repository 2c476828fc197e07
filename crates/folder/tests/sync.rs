//! Imports: each file of others once, in order, whole.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wug_folder::sync::{Batch, Sync};
use wug_folder::{Folder, Setup, Start};

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sync").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    drop(Folder::open(&path, "own", Start::New, &Setup::default()).unwrap());
    path
}

/// A file that was written some time ago.
fn file(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    age(path, Duration::from_secs(60));
}

fn age(path: &Path, age: Duration) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

/// Asks until something comes; the pauses are in case that a folder was
/// read a moment ago.
fn poll(sync: &mut Sync, limit: usize) -> Batch {
    for _ in 0..100 {
        let batch = sync.poll(limit).unwrap();
        if !batch.imports.is_empty() || !batch.left_out.is_empty() {
            return batch;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Batch::default()
}

/// The same until nothing comes: who found what.
fn all(sync: &mut Sync) -> Vec<(String, u32, String)> {
    let mut imports = Vec::new();
    loop {
        let batch = poll(sync, 2);
        assert!(batch.imports.len() <= 2);
        if batch.imports.is_empty() {
            return imports;
        }
        let told = |import: wug_folder::sync::Import| {
            (import.fuzzer, import.source.0, String::from_utf8(import.bytes).unwrap())
        };
        imports.extend(batch.imports.into_iter().map(told));
    }
}

fn told(imports: &[(&str, u32, &str)]) -> Vec<(String, u32, String)> {
    imports.iter().map(|&(fuzzer, id, bytes)| (fuzzer.into(), id, bytes.into())).collect()
}

#[test]
fn siblings_are_imported_once_and_in_order() {
    let out = place("siblings");
    file(&out.join("b/queue/id:000001,src:000000,time:1,execs:2,op:havoc,rep:2"), b"b1");
    file(&out.join("b/queue/id:000000,time:0,execs:0,orig:x"), b"b0");
    file(&out.join("b/queue/.state/deterministic_done/id:000000,x"), b"no");
    file(&out.join("b/queue/other"), b"no");
    file(&out.join("a/queue/id:000000"), b"a0");
    file(&out.join("a/queue/id:000005,later"), b"a5");
    file(&out.join("own/queue/id:000000"), b"own");
    file(&out.join(".hidden/queue/id:000000"), b"no");
    file(&out.join("file"), b"no");
    fs::create_dir_all(out.join("empty")).unwrap();
    let mut sync = Sync::new(&out, "own", &[]).unwrap();
    assert_eq!(all(&mut sync), told(&[("a", 0, "a0"), ("a", 5, "a5"), ("b", 0, "b0"), ("b", 1, "b1")]));
    // As AFL++ writes it.
    assert_eq!(fs::read(out.join("own/.synced/a")).unwrap(), 6u32.to_ne_bytes());
    assert_eq!(fs::read(out.join("own/.synced/b")).unwrap(), 2u32.to_ne_bytes());
    // New files, new siblings, and one that had no queue.
    file(&out.join("b/queue/id:000002"), b"b2");
    file(&out.join("c/queue/id:000000"), b"c0");
    file(&out.join("empty/queue/id:000000"), b"e0");
    assert_eq!(all(&mut sync), told(&[("b", 2, "b2"), ("c", 0, "c0"), ("empty", 0, "e0")]));
    assert_eq!(sync.siblings().collect::<Vec<_>>(), ["a", "b", "c", "empty"]);
    // Another start remembers; one that starts over is imported again.
    let mut sync = Sync::new(&out, "own", &[]).unwrap();
    assert!(all(&mut sync).is_empty());
    fs::rename(out.join("b/queue"), out.join("b/old")).unwrap();
    file(&out.join("b/queue/id:000000"), b"new");
    assert_eq!(all(&mut sync), told(&[("b", 0, "new")]));
    if fs::metadata(&out).unwrap().created().is_ok() {
        // The new folder may well get the old one's number. Its time of birth
        // differs as soon as the system's clock of files goes on.
        let queue = out.join("b/queue");
        let born = || fs::metadata(&queue).and_then(|data| data.created()).unwrap();
        let old = born();
        loop {
            fs::remove_dir_all(&queue).unwrap();
            fs::create_dir(&queue).unwrap();
            if born() != old {
                break;
            }
        }
        file(&out.join("b/queue/id:000000"), b"newer");
        file(&out.join("b/queue/id:000001"), b"newest");
        assert_eq!(all(&mut sync), told(&[("b", 0, "newer"), ("b", 1, "newest")]));
    }
    fs::remove_dir_all(out.join("b")).unwrap();
    assert!(all(&mut sync).is_empty());
    // While we are away, too.
    file(&out.join("a/queue/id:000000"), b"again");
    fs::remove_file(out.join("a/queue/id:000005,later")).unwrap();
    assert_eq!(all(&mut Sync::new(&out, "own", &[]).unwrap()), told(&[("a", 0, "again")]));
}

#[test]
fn an_import_that_is_cut_short_is_made_again() {
    let out = place("cut");
    file(&out.join("a/queue/id:000000"), b"0");
    file(&out.join("a/queue/id:000001"), b"1");
    let foreign = out.join("../cut-foreign");
    let _ = fs::remove_dir_all(&foreign);
    file(&foreign.join("x"), b"x");
    let open = || Sync::new(&out, "own", std::slice::from_ref(&foreign)).unwrap();
    assert_eq!(poll(&mut open(), 10).imports.len(), 3);
    let mut sync = open();
    assert_eq!(poll(&mut sync, 10).imports.len(), 3);
    sync.done().unwrap();
    assert!(all(&mut open()).is_empty());
}

#[test]
fn files_that_are_being_written_wait() {
    let out = place("writing");
    let path = out.join("a/queue/id:000000");
    file(&path, b"");
    file(&out.join("a/queue/id:000001"), b"behind");
    // Its time says nothing, as if it came from another machine: what counts
    // is that it stays as it is.
    let future = |path: &Path| {
        let time = SystemTime::now() + Duration::from_secs(3600);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    future(&path);
    let mut sync = Sync::new(&out, "own", &[]).unwrap();
    assert!(sync.poll(10).unwrap().imports.is_empty());
    fs::write(&path, b"ha").unwrap();
    future(&path);
    assert!(sync.poll(10).unwrap().imports.is_empty());
    fs::write(&path, b"half no more").unwrap();
    future(&path);
    assert_eq!(all(&mut sync), told(&[("a", 0, "half no more"), ("a", 1, "behind")]));
    // One that is just being trimmed: it is removed and written again.
    let path = out.join("a/queue/id:000010");
    file(&path, b"10, long");
    file(&out.join("a/queue/id:000011"), b"11");
    assert_eq!(poll(&mut sync, 1).imports[0].bytes, b"10, long");
    file(&out.join("a/queue/id:000012"), b"12");
    fs::remove_file(out.join("a/queue/id:000011")).unwrap();
    assert!(sync.poll(10).unwrap().imports.is_empty());
    file(&out.join("a/queue/id:000011"), b"11, short");
    assert_eq!(all(&mut sync), told(&[("a", 11, "11, short"), ("a", 12, "12")]));
    // One that is gone, and one that stays empty, do not hold up the others.
    for (id, bytes) in [(20, "20"), (21, "21"), (22, ""), (23, "23")] {
        file(&out.join(format!("a/queue/id:{id:06}")), bytes.as_bytes());
    }
    assert_eq!(poll(&mut sync, 1).imports[0].bytes, b"20");
    fs::remove_file(out.join("a/queue/id:000021")).unwrap();
    assert_eq!(all(&mut sync), told(&[("a", 23, "23")]));
}

#[test]
fn unfit_files_are_told_once() {
    let out = place("unfit");
    file(&out.join("a/queue/id:000000"), &[0; (1 << 20) + 1]);
    file(&out.join("a/queue/id:000001"), b"1");
    let mut sync = Sync::new(&out, "own", &[]).unwrap();
    let batch = poll(&mut sync, 10);
    assert_eq!((batch.imports.len(), batch.left_out.len()), (1, 1));
    assert_eq!(batch.left_out[0].why, "it has 1048577 bytes, inputs have at most 1048576");
    let batch = poll(&mut sync, 10);
    assert!(batch.imports.is_empty() && batch.left_out.is_empty());
}

#[test]
fn folders_of_any_names_are_imported() {
    let out = place("foreign");
    let folder = out.join("../foreign-folder");
    let _ = fs::remove_dir_all(&folder);
    file(&folder.join("b"), b"1");
    file(&folder.join("a"), b"0");
    file(&folder.join(".hidden"), b"no");
    file(&folder.join("below/x"), b"no");
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    let open = || Sync::new(&out, "own", std::slice::from_ref(&folder)).unwrap();
    let mut sync = open();
    let label = "foreign_folder";
    assert_eq!(all(&mut sync), told(&[(label, 0, "0"), (label, 1, "1")]));
    // One that is being written holds up none.
    file(&folder.join("c"), b"half");
    let future = SystemTime::now() + Duration::from_secs(3600);
    File::options().write(true).open(folder.join("c")).unwrap().set_modified(future).unwrap();
    file(&folder.join("d"), b"3");
    assert_eq!(poll(&mut sync, 10).imports[0].bytes, b"3");
    assert_eq!(poll(&mut sync, 10).imports[0].bytes, b"half");
    sync.done().unwrap();
    assert!(all(&mut open()).is_empty());
    // A campaign's folder stands for its queue; what is absent is a mistake.
    file(&out.join("../foreign-campaign/queue/id:000007"), b"7");
    let mut sync = Sync::new(&out, "own", &[out.join("../foreign-campaign")]).unwrap();
    assert_eq!(all(&mut sync), told(&[("foreign_campaign", 0, "7")]));
    assert!(Sync::new(&out, "own", &[out.join("absent")]).is_err());
}

/// What must come, kept as plain lists.
#[derive(Default)]
struct Model {
    /// Inputs of each source in their order.
    all: [Vec<Vec<u8>>; 3],
    handed: [usize; 3],
    /// Those that a restart does not hand out again.
    done: [usize; 3],
}

impl Model {
    fn poll(&mut self, sync: &mut Sync, limit: usize) {
        let batch = sync.poll(limit).unwrap();
        self.done = self.handed;
        assert!(batch.imports.len() <= limit && batch.left_out.is_empty());
        for import in batch.imports {
            let source = SOURCES.iter().position(|&name| name == import.fuzzer).expect("a known source");
            let expected = self.all[source].get(self.handed[source]);
            assert_eq!(Some(&import.bytes), expected, "{} number {}", import.fuzzer, self.handed[source]);
            self.handed[source] += 1;
        }
    }

    fn is_complete(&self) -> bool {
        (0..3).all(|source| self.handed[source] == self.all[source].len())
    }
}

const SOURCES: [&str; 3] = ["a", "b", "any"];

/// Files come, limits are met, campaigns are stopped: each input is handed
/// out in its order, and again only if it was not acknowledged.
#[test]
fn imports_agree_with_a_plain_list() {
    let mut turn = 0;
    wug_property::check(|u| {
        turn += 1;
        let out = place(&format!("model/{turn}/out"));
        let foreign = out.with_file_name("any");
        fs::create_dir_all(&foreign).unwrap();
        let open = || Sync::new(&out, "own", std::slice::from_ref(&foreign)).unwrap();
        let (mut sync, mut model, mut next) = (open(), Model::default(), [0; 3]);
        for step in 0..u.int_in_range(1..=25)? {
            match u.int_in_range(0..=9)? {
                0 => {
                    model.handed = model.done;
                    sync = open();
                }
                1 => {
                    sync.done().unwrap();
                    model.done = model.handed;
                }
                2..=4 => model.poll(&mut sync, u.int_in_range(1..=4)?),
                _ => {
                    let source = u.choose_index(3)?;
                    next[source] += u.int_in_range(1..=2)?;
                    let id = next[source];
                    let bytes =
                        if u.ratio(1, 5)? { Vec::new() } else { format!("{source} {step}").into_bytes() };
                    let path = match source {
                        2 => foreign.join(format!("{id:03}")),
                        _ => out.join(SOURCES[source]).join(format!("queue/id:{id:06},op:x")),
                    };
                    file(&path, &bytes);
                    if !bytes.is_empty() {
                        model.all[source].push(bytes);
                    }
                }
            }
        }
        for _ in 0..20_000 {
            if model.is_complete() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
            model.poll(&mut sync, 3);
        }
        assert!(model.is_complete(), "{:?} of {:?}", model.handed, model.all);
        Ok(())
    })
    .for_cases(30);
    fs::remove_dir_all(Path::new(env!("CARGO_TARGET_TMPDIR")).join("sync/model")).unwrap();
}
