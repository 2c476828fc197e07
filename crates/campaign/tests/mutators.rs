//! A mutator is a value: one that only this test knows takes part in a
//! campaign as all others do.

#[path = "../../target/tests/common/mod.rs"]
mod common;

use common::build_native;
use std::path::Path;
use wug_campaign::fuzz::mutators::{Made, Making, Mutator, Subject};
use wug_campaign::fuzz::{Campaign, Error, Event, Options, Parts, Seeds, Watch};
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

/// Puts an entry into brackets, up to a depth, and counts what it made.
struct Bracket<'c> {
    deepest: usize,
    made: &'c mut u64,
}

impl Mutator for Bracket<'_> {
    fn name(&self) -> &'static str {
        "bracket"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        let depth = entry.bytes.iter().take_while(|byte| **byte == b'(').count();
        entry.may_leave && depth < self.deepest && entry.bytes.len() + 2 <= making.max_size()
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let times = 1 + making.rng().below(3);
        making.out.clear();
        making.out.extend((0..times).map(|_| b'('));
        making.out.extend_from_slice(entry.bytes);
        making.out.extend((0..times).map(|_| b')'));
        *self.made += 1;
        Ok(Some(Made::careless(times)))
    }
}

#[test]
fn a_mutator_of_the_user_takes_part_in_a_campaign() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutators");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("in")).expect("a folder");
    std::fs::write(folder.join("in/list"), "(a b c)").expect("a seed");
    let parts = Parts {
        target: Target::new(build_native("gcc", &["-O1"], "lists.c", "mutators-lists")),
        traced: None,
        checked: None,
        execution: wug_target::Options::default(),
        structure: None,
        folder: Folder::open(&folder.join("out"), "default", Start::New, &Setup::default())
            .expect("a folder"),
        sync: None,
        report: Report::default(),
        tokens: Vec::new(),
        watch: &mut Quiet,
    };
    let options = Options { seed: 1, repeatable: true, max_execs: Some(5_000), ..Options::default() };
    let mut made = 0;
    let report = {
        let mut campaign = Campaign::new(parts, options).expect("a campaign");
        campaign.add_mutator(Box::new(Bracket { deepest: 40, made: &mut made }));
        campaign.run(Seeds::Folder(folder.join("in"))).expect("it runs")
    };
    // The last mutator of the report, after those of every campaign; stages follow.
    let last = report.mutators.iter().rfind(|one| !one.is_stage).expect("mutators");
    assert_eq!((last.name.as_str(), last.tries), ("bracket", made), "{:?}", report.mutators);
    assert!(made > 10 && last.finds > 0, "{last:?}");
    assert!(report.mutators.iter().any(|other| other.name == "havoc" && other.tries > 0));
    let queue = std::fs::read_dir(folder.join("out/default/queue")).expect("a queue");
    let names = queue.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    assert!(names.into_iter().any(|name| name.contains("op:bracket")));
}
