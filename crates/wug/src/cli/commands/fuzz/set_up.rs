//! From arguments and environment to a campaign.

use super::pin::pin;
use super::status::Status;
use super::{Fuzz, Schedule};
use crate::cli::execution_arg::target;
use crate::cli::{Failure, Outcome};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use wug_campaign::fuzz::{Campaign, Error, Mutators, Options, Parts, Seeds};
use wug_campaign::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{Folder, Setup, Start, sync::Sync};
use wug_grammar::Grammar;
use wug_grammar::transform::beginnings::by_beginnings;
use wug_target::dictionary::{self, Sections};
use wug_target::{End, Target};

/// All that a campaign needs, ready to run.
pub struct Started<'a> {
    fuzz: &'a Fuzz,
    grammar: Option<&'a Grammar>,
    target: Target,
    traced: Option<Target>,
    checked: Option<Target>,
    options: Options,
    folder: Folder,
    sync: Sync,
    seeds: Seeds,
    report: Report,
    tokens: Vec<Vec<u8>>,
    status: Status,
    end: End,
}

pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Message(1, error.to_string())
}

impl<'a> Started<'a> {
    pub fn new(
        fuzz: &'a Fuzz,
        grammar: Option<&'a Grammar>,
        mut status: Status,
        end: End,
        worker: Option<u32>,
    ) -> Result<Self, Failure> {
        let Some(target) = target(fuzz.command.iter().cloned()) else {
            return Err(Failure::usage("no program behind `--`"));
        };
        let core = pin(worker.unwrap_or(0));
        let seed = fuzz.seed.unwrap_or_else(crate::cli::number::fresh_seed);
        let seed = seed.wrapping_add(worker.unwrap_or(0).into());
        let id = fuzz.id_of(worker);
        let hang = crate::cli::execution_arg::number::<u64>("AFL_HANG_TMOUT")?;
        let options = Options {
            seed,
            // What ends by the clock is never the same again.
            repeatable: fuzz.seed.is_some() && fuzz.seconds.is_none(),
            max_execs: fuzz.execs,
            until_crash: is_set("AFL_BENCH_UNTIL_CRASH"),
            invalid: f64::from(fuzz.invalid) / 100.0,
            links: !fuzz.no_links,
            generalise: !fuzz.no_generalise && (fuzz.generalise || grammar.is_none()),
            uniform: fuzz.schedule == Schedule::Uniform,
            mutators: fuzz.mutators.into(),
            hang_timeout: hang.map(Duration::from_millis),
            fixed_timeout: fuzz.execution.has_fixed_timeout(),
            plain: fuzz.plain,
            ..Options::default()
        };
        let mut tokens = Vec::new();
        for argument in &fuzz.dictionary {
            tokens.extend(dictionary::load(argument).map_err(|error| Failure::usage(error.to_string()))?);
        }
        let (start, given) = match &fuzz.input {
            Some(folder) if folder == Path::new("-") => (Start::Resume, None),
            given if is_set("AFL_AUTORESUME") => (Start::AutoResume, given.clone()),
            given => (Start::New, given.clone()),
        };
        // Before the folder is opened, which may make room for a new campaign:
        // a slip of the pen must not cost an old one.
        let wrong = |error: wug_target::Error| Failure::usage(error.to_string());
        target.locate().map_err(wrong)?;
        let traced = traced(&target, fuzz.traced.as_deref())?;
        let mut checked = fuzz.asan.as_deref().map(|build| beside(&target, build)).transpose()?;
        // Of several workers one runs that build and no other: it imports what
        // the others find.
        let mut target = target;
        if fuzz.workers > 1 {
            let own = checked.take().filter(|_| worker == Some(fuzz.workers - 1));
            target = own.unwrap_or(target);
        }
        if let Some(folder) = given.as_ref().filter(|folder| !folder.is_dir()) {
            let name = folder.display();
            return Err(Failure::usage(format!(
                "there is no folder `{name}` with seeds; without -i, none are needed"
            )));
        }
        if !fuzz.plain && !target.is_instrumented() {
            let name = target.program.to_string_lossy().into_owned();
            return Err(Failure::usage(Error::NotInstrumented(name).to_string()));
        }
        let command_line: Vec<_> = std::env::args_os().collect();
        let setup = Setup {
            target: fuzz.command.clone(),
            command_line: command_line.clone(),
            main: fuzz.is_main(worker),
        };
        let folder = Folder::open(&fuzz.output, &id, start, &setup).map_err(failed)?;
        let sync = Sync::new(&fuzz.output, &id, &fuzz.foreign).map_err(failed)?;
        let seeds = match given {
            _ if folder.is_resumed() => Seeds::Queue,
            Some(folder) => Seeds::Folder(folder),
            None => Seeds::Fresh,
        };
        let words = command_line.iter().map(|word| word.to_string_lossy());
        let report = Report {
            grammar: fuzz.grammar.name(),
            afl_banner: target.program.to_string_lossy().into_owned(),
            afl_version: format!("wug-{}", env!("CARGO_PKG_VERSION")),
            command_line: words.collect::<Vec<_>>().join(" "),
            workers: fuzz.workers.into(),
            cpu_affinity: core.map_or(-1, |core| core as i64),
            ..Report::default()
        };
        status.seed(seed);
        Ok(Started {
            fuzz,
            grammar,
            target,
            traced,
            checked,
            options,
            folder,
            sync,
            seeds,
            report,
            tokens,
            status,
            end,
        })
    }

    pub fn run(mut self) -> Outcome {
        // Gramatron's mutations go with inputs drawn as it draws them.
        let published = match self.options.mutators {
            Mutators::Aggressive => self.grammar.map(by_beginnings),
            _ => None,
        };
        let structure =
            published.as_ref().or(self.grammar).map(Structure::new).transpose().map_err(failed)?;
        let structure = structure.map(|structure| match published.is_some() {
            true => structure.of_any_length(),
            false => structure,
        });
        if let Ok(program) = self.target.locate() {
            self.tokens.extend(dictionary::of_program(&program, Sections::ReadOnly).unwrap_or_default());
        }
        let execution = wug_target::Options { end: self.end, ..self.fuzz.execution.options()? };
        let parts = Parts {
            target: self.target,
            traced: self.traced,
            checked: self.checked,
            execution,
            structure,
            folder: self.folder,
            sync: Some(self.sync),
            report: self.report,
            tokens: self.tokens,
            watch: &mut self.status,
        };
        let outcome = Campaign::new(parts, self.options).and_then(|mut campaign| campaign.run(self.seeds));
        match outcome {
            Ok(report) => self.status.finish(&report),
            // It ended before it began.
            Err(Error::Executor(wug_target::Error::Ended)) => self.status.finish_as_known(),
            Err(error) => {
                // What there is, then why there is no more.
                self.status.finish_failed();
                Err(failed(error))
            }
        }
    }
}

/// The traced build: what was asked for, or what `wug cc` puts beside.
fn traced(target: &Target, given: Option<&Path>) -> Result<Option<Target>, Failure> {
    if let Some(given) = given {
        return beside(target, given).map(Some);
    }
    let Ok(mut program) = target.locate().map(OsString::from) else { return Ok(None) };
    program.push(".traced");
    let beside = Target { program, ..target.clone() };
    Ok(beside.locate().is_ok().then_some(beside))
}

/// Another build of a target, run with the same arguments.
fn beside(target: &Target, build: &Path) -> Result<Target, Failure> {
    // A name without a folder is a file here, not one to be searched for.
    let bare = build.components().count() == 1;
    let program = if bare { Path::new(".").join(build).into() } else { build.into() };
    let other = Target { program, ..target.clone() };
    other.locate().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(other)
}
