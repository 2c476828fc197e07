//! `wug fuzz`: mistakes cost nothing that is there already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn wug(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).current_dir(folder).output().expect("wug runs")
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-mistakes");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("out/default/queue")).expect("a folder");
    folder
}

#[test]
fn mistakes_are_told_before_an_old_campaign_is_touched() {
    let folder = folder();
    let entry = folder.join("out/default/queue/id:000000,time:0,execs:1,op:generate,rep:1");
    fs::write(&entry, "[]").expect("an entry");
    fs::write(folder.join("out/default/fuzzer_stats"), "run_time          : 60\n").expect("figures");
    for (arguments, told) in [
        (vec!["-g", "json", "-o", "out", "--", "./absent"], "there is no program `./absent`"),
        (vec!["-g", "json", "-o", "out", "-i", "seds", "--", "true"], "there is no folder `seds` with seeds"),
        (vec!["-g", "json", "-o", "out", "--", "true"], "`true` is not instrumented"),
        (vec!["-g", "jsn", "-o", "out", "--", "true"], "did you mean `json`?"),
    ] {
        let output = wug(&folder, &[&["fuzz"], &arguments[..]].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(told), "{message}");
        assert_eq!(fs::read(&entry).expect("it is still there"), b"[]", "{arguments:?}");
    }
}
