//! Runs a program on inputs and observes it.
//!
//! In:  a [`Target`] and [`Options`].
//! Out: for each input an [`Observation`]: how the run ended, what it
//!      covered, how long it took.
//!
//! ```text
//! Executor (this process)
//!    |  socket: start, kill; started, ended
//! warden: first process of the target's namespaces
//!    |  fork and exec, confined
//! target, or its fork server ---- pipes: runs, verdicts ----> Executor
//! ```
//!
//! What a target does is never an [`Error`]: it may crash, hang, kill its
//! fork server or fill its scratch folder, and the next run is as good as
//! the first.

mod confine;
mod environment;
mod error;
mod input;
mod observation;
mod spawn;
mod sys;
mod target;
mod verdict;
mod warden;

pub use confine::{Confinement, Layer, Missing};
pub use error::Error;
pub use observation::Observation;
pub use target::{Kind, Options, Output, Target};
pub use verdict::Verdict;

use confine::Workplace;
use input::InputFile;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use target::Traits;
use warden::{Job, Warden, c_path};

/// Runs one target on one input after the other.
///
/// ```no_run
/// use wug_campaign::executor::{Executor, Options, Target, Verdict};
///
/// let target = Target::new("xmllint").arguments(["--noout", "@@"]);
/// let mut executor = Executor::new(target, Options::default())?;
/// let seen = executor.run(b"<a/>")?;
/// assert_eq!(seen.verdict, Verdict::Ok);
/// # Ok::<(), wug_campaign::executor::Error>(())
/// ```
#[derive(Debug)]
pub struct Executor {
    options: Options,
    crash_codes: Vec<i32>,
    // Before the workplace: the warden cleans up there when it is dropped.
    warden: Warden,
    workplace: Workplace,
    input: InputFile,
    output: Vec<u8>,
}

impl Executor {
    /// Starts all that a target needs, but not yet the target.
    pub fn new(target: Target, options: Options) -> Result<Executor, Error> {
        let program = target.locate()?;
        let traits = Traits::of(&program);
        let mut missing = Vec::new();
        let user = warden::user_for(&options.confinement, &mut missing);
        let mut workplace = Workplace::new(user).map_err(Error::system("make a folder for the target"))?;
        let input =
            if target.reads_file() { InputFile::at(&workplace.input()) } else { InputFile::on_stdin() }?;
        let job = job(&target, &options, &traits, &workplace, &input, &program)?;
        let mut warden = Warden::launch(&job, &mut workplace, user)?;
        warden.missing.extend(missing);
        let mut crash_codes = options.crash_codes.clone();
        if traits.sanitized {
            crash_codes.extend(environment::CRASH_CODES);
        }
        Ok(Executor { options, crash_codes, warden, workplace, input, output: Vec::new() })
    }

    /// The layers of confinement that this machine does not permit.
    pub fn missing(&self) -> &[Missing] {
        &self.warden.missing
    }

    /// The user that targets run as.

    /// Runs the target on an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, Error> {
        self.input.put(input)?;
        let run = self.spawn()?;
        self.workplace.tidy().map_err(Error::system("clean the scratch folder"))?;
        let coverage = &[];
        Ok(Observation { verdict: run.verdict, wall: run.wall, cpu: run.cpu, coverage, output: &self.output })
    }
}

fn job(
    target: &Target,
    options: &Options,
    traits: &Traits,
    workplace: &Workplace,
    input: &InputFile,
    program: &std::path::Path,
) -> Result<Job, Error> {
    let c = |text: &std::ffi::OsStr| {
        CString::new(text.as_bytes())
            .map_err(|error| Error::System { doing: "pass an argument", source: error.into() })
    };
    let mut arguments = vec![c(&target.program)?];
    for argument in target.arguments_with(&workplace.input()) {
        arguments.push(c(&argument)?);
    }
    let mut added = vec![("TMPDIR".into(), workplace.scratch().into())];
    added.extend(target.environment.iter().cloned());
    // A limit of addresses would break sanitizers, so they count themselves.
    let (own, limit) = if traits.shadow { (options.memory, None) } else { (None, options.memory) };
    Ok(Job {
        program: c_path(program),
        arguments,
        environment: environment::environment(&added, own),
        changing: Vec::new(),
        stdin: input.stdin()?,
        output: outputs(options)?,
        pass: Vec::new(),
        system_v: traits.afl,
        memory: limit,
        confinement: options.confinement.clone(),
    })
}

/// Standard output and error of a target.
fn outputs(options: &Options) -> Result<[OwnedFd; 2], Error> {
    use std::os::fd::AsFd;
    let null = || OpenOptions::new().write(true).open("/dev/null").map(OwnedFd::from);
    let pair = match options.output {
        Output::Inherit => std::io::stdout()
            .as_fd()
            .try_clone_to_owned()
            .and_then(|out| Ok([out, std::io::stderr().as_fd().try_clone_to_owned()?])),
        _ => null().and_then(|out| Ok([out, null()?])),
    };
    pair.map_err(Error::system("open the target's output"))
}
