//! What a campaign works on, and how its builds of the target are started.

use super::mutators::operand::Comparisons;
use super::{Error, Event, Watch};
use crate::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{Folder, sync::Sync};
use wug_target::{Executor, Target};

/// What a campaign works on.
pub struct Parts<'a> {
    /// The program.
    pub target: Target,
    /// A build of it that tells what it compares, if there is one.
    pub traced: Option<Target>,
    /// A build of it that sees more errors, if there is one: new entries are
    /// run by it as well.
    pub checked: Option<Target>,
    /// How it is executed.
    pub execution: wug_target::Options,
    /// By a grammar, if there is one.
    pub structure: Option<Structure<'a>>,
    /// Where all is kept.
    pub folder: Folder,
    /// What other fuzzers find.
    pub sync: Option<Sync>,
    /// Statistics to begin with: how the campaign was started.
    pub report: Report,
    /// Tokens of the user, and of the target's file.
    pub tokens: Vec<Vec<u8>>,
    /// Who observes it.
    pub watch: &'a mut dyn Watch,
}

/// Starts the target.
pub(super) fn start(
    target: &Target,
    execution: &wug_target::Options,
    plain: bool,
    watch: &mut dyn Watch,
) -> Result<Executor, Error> {
    for path in wug_target::unseen(target, execution, b"") {
        watch.event(Event::Notice(path.to_string()));
    }
    let recorded = wug_target::Options { record_crashes: true, ..execution.clone() };
    let executor = Executor::new(target.clone(), recorded)?;
    if executor.ids() == 0 && !plain {
        let name = target.program.to_string_lossy().into_owned();
        let has_runtime = target.is_instrumented();
        return Err(if has_runtime { Error::TellsNothing(name) } else { Error::NotInstrumented(name) });
    }
    for missing in executor.missing() {
        watch.event(Event::Notice(missing.to_string()));
    }
    Ok(executor)
}

/// Starts the traced build. A campaign goes on without one that does not run.
pub(super) fn comparisons(
    target: Target,
    options: &wug_target::Options,
    watch: &mut dyn Watch,
) -> Option<Comparisons> {
    let name = target.program.to_string_lossy().into_owned();
    match Comparisons::new(target, options) {
        Ok(comparisons) if comparisons.is_traced() => return Some(comparisons),
        Ok(_) => watch.event(Event::Notice(format!(
            "`{name}` is no traced build, so nothing is known of comparisons: build it with WUG_TRACED=1"
        ))),
        Err(error) => watch.event(Event::Notice(format!("the traced build is left out: {error}"))),
    }
    None
}
