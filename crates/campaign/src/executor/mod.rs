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

mod afl;
mod batch;
mod board;
mod confine;
pub mod cores;
pub mod coverage;
mod drive;
mod environment;
mod error;
mod input;
mod memory;
mod observation;
mod server;
mod spawn;
mod stack;
mod sys;
mod target;
mod verdict;
mod warden;
mod watchdog;

pub use batch::Batch;
pub use confine::{Confinement, Layer, Missing};
pub use error::Error;
pub use observation::Observation;
pub use stack::{Crash, Frame};
pub use target::{Kind, Options, Output, Target, Trace};
pub use verdict::Verdict;

use afl::AflMemory;
use board::Board;
use confine::{User, Workplace};
use drive::Driver;
use input::InputFile;
use memory::IpcSpace;
use server::{Link, Server};
use std::ffi::{CString, OsStr, OsString};
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use target::Traits;
use warden::{Job, Warden, c_path};
use wug_runtime::abi;

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
pub struct Executor {
    options: Options,
    traits: Traits,
    crash_codes: Vec<i32>,
    driver: Driver,
    // Before the workplace: the warden cleans up there when it is dropped.
    warden: Warden,
    /// What another warden needs, should this one be killed.
    job: Job,
    user: Option<User>,
    workplace: Workplace,
    input: InputFile,
    output: Vec<u8>,
    coverage: Vec<u8>,
    events: Vec<abi::Event>,
    pairs: Vec<u32>,
    depth: u32,
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor")
            .field("options", &self.options)
            .field("driver", &self.driver)
            .finish_non_exhaustive()
    }
}

impl Executor {
    /// Starts all that a target needs, and its fork server if it has one.
    pub fn new(target: Target, options: Options) -> Result<Executor, Error> {
        let program = target.locate()?;
        let traits = Traits::of(&program, options.as_afl);
        let mut missing = Vec::new();
        let user = warden::user_for(&options.confinement, &mut missing);
        let owner = user.map(|user| user.uid);
        let mut workplace = Workplace::new(user).map_err(Error::system("make a folder for the target"))?;
        // A native target gets the file to write to as well.
        let safe = user.is_some() && !traits.native;
        let input = match target.reads_file() {
            true => InputFile::at(&workplace.input(), safe)?,
            false => InputFile::on_stdin(safe)?,
        };
        let link = match traits {
            Traits { native: true, .. } => Some(Link::Native(Arc::new(Board::new(options.trace)?))),
            Traits { afl: true, .. } => {
                let space = options.confinement.namespaces.then(IpcSpace::new);
                if let Some(Err(error)) = &space {
                    missing.push(Missing { layer: Layer::Ipc, why: error.to_string() });
                }
                Some(Link::Afl(AflMemory::new(owner, space.and_then(Result::ok))?))
            }
            _ => None,
        };
        let job = job(&target, &options, &traits, &workplace, &input, &program, link.as_ref())?;
        let mut warden = Warden::launch(&job, &mut workplace, user)?;
        warden.missing.extend(missing);
        let mut crash_codes = options.crash_codes.clone();
        if traits.sanitized {
            crash_codes.extend(environment::CRASH_CODES);
        }
        let server = link.map(|link| Server::new(link, &warden, &options, owner)).transpose()?;
        let driver = Driver::new(server);
        let mut executor = Executor {
            options,
            traits,
            crash_codes,
            driver,
            warden,
            job,
            user,
            workplace,
            input,
            output: Vec::new(),
            coverage: Vec::new(),
            events: Vec::new(),
            pairs: Vec::new(),
            depth: 0,
        };
        executor.choose_kind()?;
        Ok(executor)
    }

    /// The layers of confinement that this machine does not permit.
    pub fn missing(&self) -> &[Missing] {
        &self.warden.missing
    }

    /// How long each run may take from now on.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.options.timeout = timeout;
        if let Some(server) = self.driver.server_mut() {
            server.set_timeout(timeout);
        }
    }

    /// Runs the target on an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, Error> {
        let run = match self.drive(input) {
            // Somebody killed the warden, and all that it watched over.
            Err(_) if self.warden.is_gone() => {
                self.relaunch()?;
                self.drive(input)?
            }
            other => other?,
        };
        let mut verdict = run.verdict;
        // Programs that are refused memory die in many ways: a second look
        // tells. Only where memory is bounded, and only after a crash.
        if self.options.memory.is_some() && verdict.is_crash() {
            let records = (std::mem::take(&mut self.coverage), std::mem::take(&mut self.events));
            let pairs = std::mem::take(&mut self.pairs);
            let depth = self.depth;
            if self.examine(input)?.verdict == Verdict::OutOfMemory {
                verdict = Verdict::OutOfMemory;
            }
            (self.coverage, self.events) = records;
            (self.pairs, self.depth) = (pairs, depth);
        }
        Ok(self.observation(verdict, run))
    }

    /// What was seen of a run.
    fn observation(&self, verdict: Verdict, run: spawn::Run) -> Observation<'_> {
        Observation {
            verdict,
            wall: run.wall,
            cpu: run.cpu,
            coverage: &self.coverage,
            events: &self.events,
            pairs: &self.pairs,
            depth: self.depth,
            output: &self.output,
        }
    }

    /// Starts another warden in place of one that is gone.
    fn relaunch(&mut self) -> Result<(), Error> {
        self.warden = Warden::launch(&self.job, &mut self.workplace, self.user)?;
        match self.driver.server_mut() {
            Some(server) => server.follow(&self.warden, &self.options),
            None => Ok(()),
        }
    }
}

fn job(
    target: &Target,
    options: &Options,
    traits: &Traits,
    workplace: &Workplace,
    input: &InputFile,
    program: &Path,
    link: Option<&Link>,
) -> Result<Job, Error> {
    let c = |text: &OsStr| {
        let nul =
            |error: std::ffi::NulError| Error::System { doing: "pass an argument", source: error.into() };
        CString::new(text.as_bytes()).map_err(nul)
    };
    let mut arguments = vec![c(&target.program)?];
    for argument in target.arguments_with(&workplace.input()) {
        arguments.push(c(&argument)?);
    }
    let mut added: Vec<(OsString, OsString)> = vec![("TMPDIR".into(), workplace.scratch().into())];
    let mut pass = Vec::new();
    let mut changing = Vec::new();
    let mut ipc = None;
    match link {
        Some(Link::Native(board)) => {
            added.push((abi::ENV_BOARD.into(), board::DESCRIPTOR.to_string().into()));
            pass.push((board.file()?, board::DESCRIPTOR));
            pass.push((input.writer()?, board::INPUT_DESCRIPTOR));
        }
        Some(Link::Afl(memory)) => {
            added.extend(afl::environment(traits));
            changing = memory.entries();
            ipc = memory.space().map(IpcSpace::file).transpose()?;
        }
        None => {}
    }
    added.extend(target.environment.iter().cloned());
    // A limit of addresses would break sanitizers, so they count themselves.
    let (own, limit) = if traits.shadow { (options.memory, None) } else { (None, options.memory) };
    Ok(Job {
        program: c_path(program),
        arguments,
        environment: environment::environment(&added, own),
        changing,
        stdin: input.stdin()?,
        output: outputs(options)?,
        pass,
        system_v: traits.afl,
        ipc,
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
