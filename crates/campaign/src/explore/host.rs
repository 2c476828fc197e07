//! Where what is found goes: to a folder that somebody watches, or to a
//! campaign that asked for it.

use crate::fuzz::{Error, Event, Watch, insist};
use wug_folder::report::Report;
use wug_folder::{EntryId, Folder, Origin};
use wug_target::{End, Verdict};

pub enum Host<'a> {
    Folder {
        folder: Box<Folder>,
        watch: &'a mut dyn Watch,
        end: End,
    },
    /// Valid inputs, and how many there were in all.
    Campaign {
        found: Vec<Vec<u8>>,
        count: usize,
    },
}

impl Host<'_> {
    /// Keeps an input where it belongs; its id, if it has one.
    pub fn keep(
        &mut self,
        input: &[u8],
        verdict: Verdict,
        origin: &Origin,
    ) -> Result<Option<EntryId>, Error> {
        match self {
            Host::Folder { folder, watch, end } => Ok(match verdict {
                Verdict::Timeout => {
                    insist(folder, *watch, end, |folder| folder.hang(input, origin)).map(|_| None)
                }
                _ if verdict.is_crash() => {
                    let signal = if let Verdict::Signal(number) = verdict { number as u8 } else { 0 };
                    insist(folder, *watch, end, |folder| folder.crash(input, signal, origin)).map(|_| None)
                }
                _ => insist(folder, *watch, end, |folder| folder.add(input, origin)).map(Some),
            }?),
            Host::Campaign { found, count } => {
                found.push(input.to_vec());
                *count += 1;
                Ok(None)
            }
        }
    }

    /// What was found for a campaign since the last time.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        match self {
            Host::Folder { .. } => Vec::new(),
            Host::Campaign { found, .. } => std::mem::take(found),
        }
    }

    /// How many valid inputs there are.
    pub fn len(&self) -> usize {
        match self {
            Host::Folder { folder, .. } => folder.len(),
            Host::Campaign { count, .. } => *count,
        }
    }

    /// Whether the search is to end.
    pub fn stops(&mut self) -> bool {
        match self {
            Host::Folder { watch, .. } => watch.stops(),
            Host::Campaign { .. } => false,
        }
    }

    /// Tells something to whoever watches.
    pub fn tell(&mut self, event: Event<'_>) {
        if let Host::Folder { watch, .. } = self {
            watch.event(event);
        }
    }

    /// Writes figures, what was hit, and words.
    pub fn write(&mut self, report: &Report, hit: &[u8], words: &str) -> Result<(), Error> {
        if let Host::Folder { folder, watch, end } = self {
            insist(folder, *watch, end, |folder| folder.report(report))?;
            insist(folder, *watch, end, |folder| folder.plot(report))?;
            insist(folder, *watch, end, |folder| folder.bitmap(hit))?;
            insist(folder, *watch, end, |folder| folder.put("tokens.dict", words.as_bytes()))?;
        }
        Ok(())
    }

    /// All that was kept is on the disk.
    pub fn settle(&mut self) -> Result<(), Error> {
        match self {
            Host::Folder { folder, .. } => Ok(folder.settle()?),
            Host::Campaign { .. } => Ok(()),
        }
    }
}
