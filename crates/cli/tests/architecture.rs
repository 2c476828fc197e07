//! ARCHITECTURE.md names only what exists.

use std::path::Path;

#[test]
fn every_path_it_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text.split("](").skip(1).filter_map(|t| t.split(')').next());
    let is_path = |t: &&str| {
        let plain = t.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        plain && (t.contains('/') || t.ends_with(".md") || t.ends_with(".rs"))
    };
    let paths: Vec<&str> = quoted.chain(linked).filter(is_path).collect();
    assert!(paths.len() > 20, "found only {paths:?}");
    let absent: Vec<&&str> = paths.iter().filter(|p| !root.join(p).exists()).collect();
    assert!(absent.is_empty(), "ARCHITECTURE.md names {absent:?}");
}
