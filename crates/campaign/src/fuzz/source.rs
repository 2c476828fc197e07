//! The source of an input: a seed, another fuzzer, an entry or a mutator.

use super::corpus::Corpus;
use super::runner::Runner;
use wug_folder::{EntryId, How, Origin};

/// Where an input comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The user gave it, under this name.
    Seed(String),
    /// Another fuzzer found it.
    Import(String, EntryId),
    /// It is an entry of the campaign that is resumed.
    Entry(EntryId),
    /// A mutator or stage made it, of one or two entries or of none, by so
    /// many operations.
    Mutation { from: Option<usize>, other: Option<usize>, op: &'static str, rep: u32 },
}

impl Source {
    /// Made by a stage, of an entry or of none.
    pub fn stage(op: &'static str, from: Option<usize>) -> Source {
        Source::Mutation { from, other: None, op, rep: 1 }
    }

    /// What statistics name it by.
    pub fn stage_name(&self) -> &'static str {
        match self {
            Source::Seed(_) => "seeds",
            Source::Import(..) => "sync",
            Source::Entry(_) => "resume",
            Source::Mutation { op, .. } => op,
        }
    }

    /// The same for the name of a file, as of now.
    pub fn origin(&self, corpus: &Corpus, runner: &Runner<'_>, new_coverage: bool) -> Origin {
        let id = |at: &usize| corpus.entries()[*at].id;
        let how = match self {
            Source::Seed(name) => How::Seed(name.clone()),
            Source::Import(fuzzer, source) => How::Sync { fuzzer: fuzzer.clone(), source: *source },
            Source::Entry(_) => How::default(),
            Source::Mutation { from, other, op, rep } => How::Mutation {
                parents: from.iter().chain(other).map(id).collect(),
                op: (*op).to_string(),
                rep: Some(*rep),
            },
        };
        let time = runner.elapsed().as_millis() as u64;
        Origin { time, execs: runner.execs(), how, new_coverage }
    }
}
