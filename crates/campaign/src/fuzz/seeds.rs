//! Seeds: what a campaign starts with.
//!
//! In:  a folder of the user, the queue of an earlier run, or neither.
//! Out: inputs with their sources, and statistics of the user's ones.

use super::Error;
use super::evaluate::Evaluator;
use super::source::Source;
use std::path::PathBuf;
use wug_folder::LeftOut;
use wug_folder::report::SeedStop;
use wug_parse::Failure;

/// What a campaign starts with.
#[derive(Clone, Debug)]
pub enum Seeds {
    /// Inputs that the grammar generates; without one, the printable
    /// characters.
    Fresh,
    /// The files of a folder.
    Folder(PathBuf),
    /// What is in the queue already.
    Queue,
}

/// Seeds that do not parse, crash or time out, of which the user is told.
const TOLD: usize = 5;

/// A seed that was not executed yet.
pub(crate) struct Seed {
    pub source: Source,
    content: Content,
}

enum Content {
    File(PathBuf),
    Entry(wug_folder::Entry),
    Bytes(Vec<u8>),
}

/// Crashes and timeouts so far.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    crashes: u64,
    timeouts: u64,
}

impl Seeds {
    /// The seeds in their order, the smallest first; none where inputs are to
    /// be generated.
    pub(super) fn list(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<Seed>, Error> {
        match self {
            Seeds::Queue => {
                let (entries, left_out) = evaluator.folder.entries()?;
                tell(&left_out, evaluator);
                let seed = |entry: wug_folder::Entry| Seed {
                    source: Source::Entry(entry.id),
                    content: Content::Entry(entry),
                };
                Ok(entries.into_iter().map(seed).collect())
            }
            Seeds::Folder(folder) => {
                let inputs = wug_folder::inputs(folder)?;
                evaluator.statistics.report.seeds.left_out += inputs.left_out.len() as u64;
                tell(&inputs.left_out, evaluator);
                if inputs.files.is_empty() {
                    let place = folder.display();
                    return Err(Error::NoInput(format!(
                        "there is no input in `{place}`: put one there, or leave -i out"
                    )));
                }
                let seed = |file: PathBuf| {
                    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    Seed { source: Source::Seed(name), content: Content::File(file) }
                };
                let mut files = inputs.files;
                // Stable: those of one size stay in the order of their names.
                files.sort_by_cached_key(|file| file.metadata().map_or(u64::MAX, |data| data.len()));
                Ok(files.into_iter().map(seed).collect())
            }
            Seeds::Fresh if evaluator.materials.structure.is_none() => Ok(vec![Seed {
                source: Source::Seed("printable".into()),
                content: Content::Bytes(printable()),
            }]),
            Seeds::Fresh => Ok(Vec::new()),
        }
    }
}

/// Names files that cannot be used.
fn tell(left_out: &[LeftOut], evaluator: &mut Evaluator<'_>) {
    for left in left_out {
        evaluator.runner.notice(format!("{}: {}", left.path.display(), left.why));
    }
}

impl Seed {
    /// Its bytes.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        Ok(match &self.content {
            Content::File(file) => wug_folder::read(file)?,
            Content::Entry(entry) => entry.read()?,
            Content::Bytes(bytes) => bytes.clone(),
        })
    }

    /// The user's name for it.
    fn name(&self) -> Option<&str> {
        match (&self.content, &self.source) {
            (Content::File(_), Source::Seed(name)) => Some(name),
            _ => None,
        }
    }

    /// Counts a seed of the user before it is executed, and whether and where
    /// it parses.
    pub fn before(&self, input: &[u8], evaluator: &mut Evaluator<'_>) -> Before {
        let findings = &evaluator.findings;
        let before = Before { crashes: findings.crashes.total, timeouts: findings.timeouts.total };
        let Some(name) = self.name() else { return before };
        let seeds = &mut evaluator.statistics.report.seeds;
        seeds.given += 1;
        let Some(structure) = &mut evaluator.materials.structure else { return before };
        let (offset, message) = match structure.parse(input) {
            Ok(_) => {
                seeds.parsed += 1;
                return before;
            }
            Err(Failure::Rejected(rejected)) => (rejected.valid, rejected.to_string()),
            Err(Failure::Limit(_, at)) => (at, "it takes more than the parser is given".into()),
        };
        if seeds.stops.len() < TOLD {
            seeds.stops.push(SeedStop { name: name.into(), offset: offset as u64, message });
        }
        before
    }

    /// Counts what came of it.
    pub fn after(&self, before: Before, evaluator: &mut Evaluator<'_>) {
        let Some(name) = self.name() else { return };
        let Evaluator { findings, statistics, runner, .. } = evaluator;
        let seeds = &mut statistics.report.seeds;
        for (before, after, count, what) in [
            (before.crashes, findings.crashes.total, &mut seeds.crashed, "crashes the target"),
            (before.timeouts, findings.timeouts.total, &mut seeds.timed_out, "takes too long"),
        ] {
            if after > before {
                *count += 1;
                if *count <= TOLD as u64 {
                    runner.notice(format!("seed `{name}` {what}: it is not mutated"));
                }
            }
        }
    }
}

/// The seed where nothing is known: letters, digits and signs.
pub(super) fn printable() -> Vec<u8> {
    let ranges = [b'A'..=b'Z', b'a'..=b'z', b'0'..=b'9', b'!'..=b'/', b':'..=b'@', b'['..=b'`', b'{'..=b'~'];
    ranges.into_iter().flatten().chain(*b" \n").collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_seed_has_each_printable_character_once() {
        let mut seed = super::printable();
        seed.sort_unstable();
        let printable: Vec<u8> = std::iter::once(b'\n').chain(b' '..=b'~').collect();
        assert_eq!(seed, printable);
    }
}
