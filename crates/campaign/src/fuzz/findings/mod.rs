//! Findings: crashes in buckets and inputs that hang.
//!
//! In:  inputs whose execution failed, with their coverage.
//! Out: files in the folder; what the schedule gains by them.
//!
//! | file | what |
//! | --- | --- |
//! | `crashes` | crashes told apart by where they happen |
//! | `buckets` | crash buckets, and which of their inputs are kept |
//! | `timeouts` | hangs and slow finds told apart by a second run |

mod buckets;
mod crashes;
mod timeouts;

use super::corpus::Corpus;
use super::runner::Runner;
use super::source::Source;
use super::{Error, Options};
use crashes::Crashes;
pub(crate) use timeouts::Slow;
use timeouts::Timeouts;
use wug_folder::Folder;
use wug_folder::report::Report;

/// Crashes and hangs of a campaign.
#[derive(Debug)]
pub(crate) struct Findings {
    pub crashes: Crashes,
    pub timeouts: Timeouts,
}

/// An input whose execution failed.
pub(crate) struct Failed<'f> {
    pub input: &'f [u8],
    /// How often each edge was hit.
    pub counts: &'f [u8],
    pub source: &'f Source,
    pub corpus: &'f Corpus,
}

impl Findings {
    pub fn new(options: &Options) -> Findings {
        Findings { crashes: Crashes::new(options), timeouts: Timeouts::new(options) }
    }

    /// Fills in what was found.
    pub fn report(&self, runner: &Runner<'_>, report: &mut Report) {
        self.crashes.report(runner, report);
        self.timeouts.report(report);
    }
}

impl Failed<'_> {
    /// Writes the input to the folder.
    fn keep<T>(
        &self,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
        mut write: impl FnMut(&mut Folder, &[u8], &wug_folder::Origin) -> Result<T, wug_folder::Error>,
    ) -> Result<T, Error> {
        let origin = self.source.origin(self.corpus, runner, true);
        runner.insist(folder, |folder| write(folder, self.input, &origin))
    }
}

/// Leaves only whether an edge was hit.
pub(crate) fn simplify(counts: &mut [u8]) {
    counts.iter_mut().for_each(|count| *count = u8::from(*count != 0));
}
