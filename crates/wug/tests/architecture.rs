//! ARCHITECTURE.md names only what exists, and draws the crates as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn every_path_it_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = ["ARCHITECTURE.md", "docs/judges.md"]
        .map(|page| std::fs::read_to_string(root.join(page)).expect("a page"))
        .concat();
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text.split("](").skip(1).filter_map(|t| t.split(')').next());
    let is_path = |t: &&str| {
        let plain = t.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        plain && (t.contains('/') || t.ends_with(".md") || t.ends_with(".rs"))
    };
    let paths: Vec<&str> = quoted.chain(linked).filter(is_path).collect();
    assert!(paths.len() > 20, "found only {paths:?}");
    let absent: Vec<&&str> = paths.iter().filter(|p| !root.join(p).exists()).collect();
    assert!(absent.is_empty(), "they name {absent:?}");
}

/// The crates that each crate of ours is built on, by name without `wug-`.
fn dependencies(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for folder in std::fs::read_dir(root.join("crates")).expect("crates").flatten() {
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).expect("a manifest");
        let section = manifest.split("\n[").find_map(|part| part.strip_prefix("dependencies]"));
        let lines = section.unwrap_or_default().lines();
        let ours =
            lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter_map(|name| match name {
                "wug" => Some("wug".to_string()),
                _ => name.strip_prefix("wug-").map(str::to_string),
            });
        all.insert(folder.file_name().to_string_lossy().into_owned(), ours.collect());
    }
    all
}

/// Lines `name <- name, name` of the picture.
#[test]
fn the_picture_of_crates_is_that_of_their_manifests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let block = text.split("```text crates\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut drawn = BTreeMap::new();
    for line in block.expect("a picture").lines() {
        let (name, below) = line.split_once("->").unwrap_or((line, ""));
        let below: BTreeSet<String> = below.split_whitespace().map(str::to_string).collect();
        drawn.insert(name.trim().to_string(), below);
    }
    assert_eq!(drawn, dependencies(&root), "left: ARCHITECTURE.md, right: crates/*/Cargo.toml");
    // Arrows point one way: what is drawn below comes earlier.
    let order: Vec<&str> =
        block.expect("a picture").lines().map(|line| line.split("->").next().unwrap_or("").trim()).collect();
    for (at, name) in order.iter().enumerate() {
        assert!(drawn[*name].iter().all(|below| order[at + 1..].contains(&below.as_str())), "{name}");
    }
}
