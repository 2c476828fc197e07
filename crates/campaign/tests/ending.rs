//! Campaigns end when they are asked to, whatever they are about to do.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wug_campaign::fuzz::{Campaign, Event, Options, Parts, Seeds, Watch};
use wug_campaign::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start};
use wug_grammar::{Notation, load::load_text};
use wug_target::{End, Target};

const LISTS: &str = "list = '(' items? ')' ; items = item (' '+ item)* ; item = list | [abc]+ ;";
/// Longer than any test runs.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

/// Wants an end when it was asked so often.
struct Asked {
    left: u64,
}

impl Watch for Asked {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ending-folder-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// What a campaign ran that was stopped when it asked for the so manieth time.
fn execs_until(out: &Path, asked: u64, traced: Option<&Path>, fast: &Path, timeout: Duration) -> u64 {
    let _ = std::fs::remove_dir_all(out);
    let grammar = load_text("lists.wug", LISTS, Notation::Wug).expect("it loads").grammar;
    let structure = traced.is_none().then(|| Structure::new(&grammar).expect("it is small"));
    let mut watch = Asked { left: asked };
    // With a bound on memory, each run is made on its own.
    let execution = wug_target::Options { timeout, memory: Some(1 << 30), ..wug_target::Options::default() };
    let generalise = structure.is_none();
    let parts = Parts {
        target: Target::new(fast),
        traced: traced.map(Target::new),
        checked: None,
        execution,
        structure,
        folder: Folder::open(out, "default", Start::New, &Setup::default()).expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut watch,
    };
    let options = Options { seed: 1, repeatable: true, generalise, ..Options::default() };
    let mut campaign = Campaign::new(parts, options).expect("a campaign");
    campaign.run(Seeds::Fresh).expect("it ends well").execs_done
}

#[test]
fn a_campaign_asks_before_every_run_of_every_stage() {
    let target = build_native("gcc", &["-O1", "-DDEEP=1", "-DHANGS"], "lists.c", "ending-lists");
    let out = folder("asks");
    let mut most = 0;
    for asked in (1..40).chain([200, 500]) {
        let execs = execs_until(&out, asked, None, &target, Duration::from_secs(10));
        assert!(execs < asked, "{execs} runs, but it was asked {asked} times");
        most = most.max(execs);
    }
    // It does run something.
    assert!(most > 100, "{most}");
}

#[test]
fn a_campaign_without_a_grammar_asks_before_every_run_as_well() {
    let fast = build_native("gcc", &["-O1"], "codes.c", "ending-fast");
    let slow = build_native("gcc", &["--wug-traced"], "codes.c", "ending-slow");
    let out = folder("asks-traced");
    let mut most = 0;
    for asked in [1, 2, 3, 5, 8, 13, 50, 200, 400, 1000] {
        let execs = execs_until(&out, asked, Some(&slow), &fast, Duration::from_secs(10));
        assert!(execs < asked, "{execs} runs, but it was asked {asked} times");
        most = most.max(execs);
    }
    assert!(most > 100, "{most}");
}

/// Raises a flag when the second input is about to be run.
struct Raise {
    flag: Arc<AtomicBool>,
    asked: u32,
}

impl Watch for Raise {
    fn event(&mut self, _: Event<'_>) {}

    fn stops(&mut self) -> bool {
        self.asked += 1;
        if self.asked == 2 {
            let flag = self.flag.clone();
            // Sooner or later during a run that never ends.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                flag.store(true, Ordering::Relaxed);
            });
        }
        false
    }
}

#[test]
fn a_run_under_way_is_cut_short_and_is_no_hang() {
    let server = build_native("gcc", &["-O1", "-DHANGS"], "lists.c", "ending-hangs");
    let plain = common::build("gcc", &["-O1", "-DHANGS", "-DMAIN"], "lists.c", "ending-plain");
    for (name, target, plain) in [("server", server, false), ("plain", plain, true)] {
        let out = folder(name);
        let seeds = out.join("in");
        std::fs::create_dir_all(&seeds).expect("a folder");
        std::fs::write(seeds.join("1"), "(cacbcacbcacbc)").expect("a seed");
        let flag = Arc::new(AtomicBool::new(false));
        let end = End::default().or_asked(flag.clone());
        let mut watch = Raise { flag, asked: 1 };
        let parts = Parts {
            target: Target::new(target),
            traced: None,
            checked: None,
            execution: wug_target::Options { timeout: FOR_EVER, end, ..wug_target::Options::default() },
            structure: None,
            folder: Folder::open(&out.join("out"), "default", Start::New, &Setup::default())
                .expect("a folder"),
            sync: None,
            report: Report::default(),
            tokens: Vec::new(),
            watch: &mut watch,
        };
        let options = Options { plain, ..Options::default() };
        let mut campaign = Campaign::new(parts, options).expect("a campaign");
        let report = campaign.run(Seeds::Folder(seeds)).expect("it ends well");
        assert_eq!((report.saved_hangs, report.saved_crashes), (0, 0), "{name}");
    }
}
