//! `wug demo`: from source to a small reproducer.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_demo_finds_its_bug_and_makes_it_small() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
    let _ = fs::remove_dir_all(&folder);
    let cache = folder.with_file_name("demo-cache");
    let output = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["demo", "-o"])
        .arg(&folder)
        .env("WUG_CACHE", cache)
        .output()
        .expect("wug runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    for part in ["$ wug cc", "wug fuzz -g abacus.wug", "$ wug minimize", "The reproducer:", "SIGSEGV"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // How long the path of this checkout is, the demo cannot help.
    let short = told.replace(folder.to_str().expect("a path of text"), "demo");
    assert!(short.lines().all(|line| line.chars().count() <= 80), "{told}");
    // Small, and still of several statements.
    let small = fs::read_to_string(folder.join("small")).expect("a reproducer");
    let mut original = fs::read_dir(folder.join("out/default/crashes")).expect("crashes").flatten();
    let original = original.find(|file| file.file_name().to_string_lossy().starts_with("id:"));
    assert!(small.len() as u64 <= original.expect("a crash").metadata().expect("its size").len());
    assert!(small.matches(';').count() >= 3 && small.len() < 120, "{small}");
    // The demo's folder can be used again.
    let parsed = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["parse", "abacus.wug", "small"])
        .current_dir(&folder)
        .output()
        .expect("wug runs");
    assert!(parsed.status.success(), "{small}");
}
