//! Campaigns that find nothing more look for valid inputs, as `wug explore`
//! does.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::collections::BTreeMap;
use std::path::Path;
use wug_campaign::fuzz::{Campaign, Event, Options, Parts, Seeds, Watch};
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_target::Target;

struct Quiet;

impl Watch for Quiet {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        false
    }
}

/// A campaign on `codes.c` from one space: what is in its queue, by name.
fn campaign(name: &str, traced: bool) -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stage-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    let seeds = folder.join("in");
    std::fs::create_dir_all(&seeds).expect("a folder");
    std::fs::write(seeds.join("space"), " ").expect("a seed");
    let fast = build_native("gcc", &["-O1"], "codes.c", &format!("codes-fast-{name}"));
    let traced =
        traced.then(|| build_native("gcc", &["--wug-traced"], "codes.c", &format!("codes-slow-{name}")));
    let out = folder.join("out");
    let parts = Parts {
        target: Target::new(fast),
        traced: traced.map(Target::new),
        checked: None,
        execution: wug_target::Options::default(),
        structure: None,
        folder: Folder::open(&out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut Quiet,
    };
    let options = Options { seed: 1, repeatable: true, max_execs: Some(30_000), ..Options::default() };
    let mut campaign = Campaign::new(parts, options).expect("a campaign");
    campaign.run(Seeds::Folder(seeds)).expect("it runs");
    let files = std::fs::read_dir(out.join("default/queue")).expect("a queue");
    files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let fields: Vec<&str> = name.split(',').filter(|field| !field.starts_with("time:")).collect();
            (fields.join(","), std::fs::read(&path).expect("bytes"))
        })
        .collect()
}

#[test]
fn a_campaign_that_finds_nothing_more_explores() {
    let explored =
        |queue: &BTreeMap<String, Vec<u8>>| queue.keys().filter(|name| name.contains("op:explore")).count();
    let found = campaign("traced", true);
    assert!(explored(&found) > 0, "{:?}", found.keys());
    assert_eq!(found, campaign("traced", true), "the same seed");
    assert_eq!(explored(&campaign("alone", false)), 0);
}
