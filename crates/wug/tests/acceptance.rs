//! Built-in grammars before the real parsers of their languages: a sample
//! of what `tools/acceptance.py` measures.

use std::path::Path;
use std::process::Command;

#[test]
fn real_parsers_accept_a_sample_of_every_built_in_grammar() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // luac has -v only; that it starts at all is what counts.
    let absent = |tool: &&str| Command::new(tool).arg("-v").output().is_err();
    let missing: Vec<&str> = ["python3", "xmllint", "luac5.4"].into_iter().filter(absent).collect();
    if !missing.is_empty() {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "missing: {missing:?}");
        println!("skipped: {missing:?} not found (packages python3, libxml2-utils, lua5.4)");
        return;
    }
    let output = Command::new("python3")
        .arg(root.join("tools/acceptance.py"))
        .args(["--wug", env!("CARGO_BIN_EXE_wug"), "-n", "200", "-s", "7"])
        .output()
        .expect("python3 runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().filter(|l| l.contains(" % |")).count(), 9, "{text}");
}
