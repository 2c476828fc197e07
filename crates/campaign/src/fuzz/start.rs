//! The first inputs: an old campaign's, the user's, or fresh ones; and what
//! others find later.

use super::execute::Making;
use super::{Campaign, Error, Event};
use std::path::PathBuf;
use std::time::Instant;
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

/// Places that are told of seeds which do not parse.
const STOPS: usize = 5;
/// Inputs of others that are taken at once.
const IMPORTS: usize = 256;
/// Depth and nodes of fresh inputs at most.
const DEPTH: u32 = 12;
const NODES: u32 = 400;

impl Campaign<'_> {
    pub(super) fn start(&mut self, seeds: Seeds) -> Result<(), Error> {
        let fresh = matches!(seeds, Seeds::Fresh);
        match seeds {
            Seeds::Queue => self.start_queue()?,
            Seeds::Folder(folder) => self.start_folder(folder)?,
            Seeds::Fresh => self.start_fresh()?,
        }
        if self.corpus.len() == 0 && self.structure.is_some() && !fresh && !self.is_over() {
            self.watch.event(Event::Notice(
                "no seed can be mutated: the campaign starts with inputs of the grammar instead".into(),
            ));
            self.start_fresh()?;
        }
        self.fill_report();
        self.write_figures()?;
        if self.corpus.len() > 0 || self.stopped {
            return Ok(());
        }
        let crashed = self.figures.report.seeds.crashed + self.figures.report.seeds.timed_out;
        Err(Error::NoInput(match crashed {
            1.. => "every seed crashes the target or takes too long: give one that does not, or more time with -t".into(),
            _ => "no seed reaches anything in the target".into(),
        }))
    }

    fn start_queue(&mut self) -> Result<(), Error> {
        let (entries, left_out) = self.folder.entries()?;
        for left in left_out {
            self.watch.event(Event::Notice(format!("{}: {}", left.path.display(), left.why)));
        }
        for entry in entries {
            if self.is_over() {
                break;
            }
            self.input = entry.read()?;
            self.execute(&Making::Entry(entry.id))?;
        }
        Ok(())
    }

    fn start_folder(&mut self, folder: PathBuf) -> Result<(), Error> {
        let inputs = wug_folder::inputs(&folder)?;
        self.figures.report.seeds.left_out += inputs.left_out.len() as u64;
        for left in inputs.left_out {
            self.watch.event(Event::Notice(format!("{}: {}", left.path.display(), left.why)));
        }
        if inputs.files.is_empty() {
            let place = folder.display();
            return Err(Error::NoInput(format!(
                "there is no input in `{place}`: put one there, or leave -i out"
            )));
        }
        for file in inputs.files {
            if self.is_over() {
                break;
            }
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.input = wug_folder::read(&file)?;
            self.look_at_seed(&name);
            let (crashes, hangs) = (self.crashes.total, self.crashes.timeouts);
            self.execute(&Making::Seed(name.clone()))?;
            let seeds = &mut self.figures.report.seeds;
            for (before, after, count, what) in [
                (crashes, self.crashes.total, &mut seeds.crashed, "crashes the target"),
                (hangs, self.crashes.timeouts, &mut seeds.timed_out, "takes too long"),
            ] {
                if after > before {
                    *count += 1;
                    if *count <= STOPS as u64 {
                        self.watch.event(Event::Notice(format!("seed `{name}` {what}: it is not mutated")));
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts a seed, and whether and where it parses.
    fn look_at_seed(&mut self, name: &str) {
        let seeds = &mut self.figures.report.seeds;
        seeds.given += 1;
        let Some(structure) = &mut self.structure else { return };
        let (offset, message) = match structure.parse(&self.input) {
            Ok(_) => {
                seeds.parsed += 1;
                return;
            }
            Err(Failure::Rejected(rejected)) => (rejected.valid, rejected.to_string()),
            Err(Failure::Limit(_, at)) => (at, "it takes more than the parser is given".into()),
        };
        if seeds.stops.len() < STOPS {
            seeds.stops.push(SeedStop { name: name.into(), offset: offset as u64, message });
        }
    }

    fn start_fresh(&mut self) -> Result<(), Error> {
        if self.structure.is_none() && !self.is_over() {
            self.input = super::learn::uninformed();
            self.execute(&Making::Seed("printable".into()))?;
        }
        if self.structure.is_none() {
            return Ok(());
        }
        for _ in 0..self.options.generated {
            if self.is_over() {
                break;
            }
            self.fresh()?;
        }
        Ok(())
    }

    /// Runs one fresh input of the grammar.
    pub(super) fn fresh(&mut self) -> Result<(), Error> {
        if self.make_fresh() && !self.is_over() {
            self.execute(&Making::Mutation { from: None, other: None, op: "generate", rep: 1 })?;
        }
        Ok(())
    }

    /// Makes a fresh input; whether there is one.
    pub(super) fn make_fresh(&mut self) -> bool {
        let Some(structure) = &mut self.structure else { return false };
        let (depth, nodes) = (1 + self.rng.below(DEPTH), 1 + self.rng.below(NODES) as usize);
        let done = structure.mutator.fresh(depth, nodes, &mut self.rng, &mut self.made);
        done.is_some()
            && structure.print(&self.made, &mut self.input)
            && self.input.len() <= self.options.max_size
    }

    /// Runs what others found since the last time.
    pub(super) fn import(&mut self) -> Result<(), Error> {
        let Some(mut sync) = self.sync.take() else { return Ok(()) };
        let begin = Instant::now();
        let batch = sync.poll(IMPORTS);
        // Not again inside: what is found while importing must not import.
        let mut outcome = Ok(());
        match batch {
            Err(error) => outcome = Err(error.into()),
            Ok(batch) => {
                let input = std::mem::take(&mut self.input);
                for import in batch.imports {
                    if self.is_over() {
                        break;
                    }
                    self.input = import.bytes;
                    if let Err(error) = self.execute(&Making::Import(import.fuzzer, import.source)) {
                        outcome = Err(error);
                        break;
                    }
                }
                self.input = input;
            }
        }
        self.sync = Some(sync);
        self.figures.sync += begin.elapsed();
        outcome
    }
}
