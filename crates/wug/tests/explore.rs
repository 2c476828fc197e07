//! `wug explore` from end to end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tests/targets/letters.c");

fn wug(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].iter().map(|bytes| String::from_utf8_lossy(bytes)).collect()
}

/// A new folder with a build of a small parser in it.
fn place(name: &str, flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explore").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let built = wug(&folder, &[&["cc", "-o", "target", SOURCE], flags].concat());
    assert!(built.status.success(), "{}", text(&built));
    folder
}

/// The inputs of a queue, in order.
fn queue(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder.join("out/default/queue")).unwrap();
    let mut paths: Vec<PathBuf> =
        files.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn a_build_that_is_not_traced_costs_no_folder() {
    let folder = place("plain", &[]);
    fs::create_dir(folder.join("out")).unwrap();
    fs::write(folder.join("out/precious"), "").unwrap();
    let output = wug(&folder, &["explore", "-o", "out", "-E", "100", "--", "./target"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("is no traced build"), "{}", text(&output));
    let left: Vec<_> =
        fs::read_dir(folder.join("out")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["precious"]);
}

#[test]
fn more_cores_find_the_same() {
    let folder = place("cores", &["--wug-traced"]);
    let mut found = Vec::new();
    for jobs in ["1", "3"] {
        let arguments = ["explore", "-o", "out", "-s", "5", "-E", "1500", "-j", jobs, "--", "./target"];
        let output = wug(&folder, &arguments);
        assert!(output.status.success(), "{}", text(&output));
        found.push(queue(&folder));
        fs::remove_dir_all(folder.join("out")).unwrap();
    }
    assert!(found[0].len() > 3);
    assert_eq!(found[0], found[1]);
}
