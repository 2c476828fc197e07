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
//!
//! # The way of a run
//!
//! 1. `lib.rs` is given a target and makes an observation of each input.
//!    `target.rs` says what can be asked for; `observation.rs` what is seen.
//! 2. Between executor and target stands a warden (`warden/mod.rs`): the
//!    first process of the target's namespaces. It starts the target, takes
//!    in and kills what the target leaves behind, and ends with the executor,
//!    even if that is killed; a warden that is killed is replaced.
//!    `confine/mod.rs` lists the layers of confinement. What a target sees of
//!    the file system is planned in `confine/view.rs`, with its libraries
//!    (`confine/libraries.rs`), and mounted by the warden
//!    (`warden/mounts.rs`); `confine/filter.rs` is the filter of system
//!    calls, `confine/sweep.rs` empties the scratch folder. `unseen.rs` finds
//!    paths that a target misses.
//! 3. `drive.rs` decides which way a run goes: in a process of its own
//!    (`spawn.rs`) or by the target's fork server (`server.rs`). A fork
//!    server that a target breaks is started anew, and the input that broke
//!    it is run by itself.
//!    Where a fork server starts is told in `fork.rs`: before `main`, or where
//!    the input begins, if runs of both kinds agree (`prove.rs`, with output
//!    kept by `record.rs`).
//! 4. When all is to end (`-V`, Ctrl-C) is known to every executor
//!    (`end.rs`): none begins a run then, and one that is under way is cut
//!    short. Nobody else asks the clock during a run: a thread ends runs
//!    whose time is up (`watchdog.rs`), so a run costs one write and one
//!    read. A target, be it persistent or served by forks, runs many inputs
//!    for these (`batch.rs`, `crates/runtime/c/batch.c`): it compares its
//!    counts with what was seen by itself and answers at the first input that
//!    is of interest. A fork server writes the inputs of a batch to the file
//!    that its children read, and ends a batch where the number of a child
//!    does not follow that of the one before, since then a run has started
//!    something else. So campaigns let inputs wait and run them together
//!    (`crates/campaign/src/fuzz/batch.rs`).
//! 5. Hit counts are copied out of shared memory (`memory.rs`), since a
//!    hostile process can write there at any time. Its length is sealed,
//!    since a hostile process could shorten it otherwise: more room means
//!    another board and another warden (`board.rs`). `coverage.rs` compares
//!    them.
//! 6. Where a target crashed is found by one more run under trace
//!    (`stack/mod.rs`): core files are switched off. Files of the target are
//!    read once (`stack/module.rs`), by range and within a budget
//!    (`stack/ranged.rs`); `stack/site.rs` makes a site of the
//!    stack, without what is not the program's own (`stack/system.rs`) and
//!    with what the program said (`stack/message.rs`). A crash that the
//!    target's runtime saw before (`stack/record.rs`) needs no such run.

#[cfg(not(target_os = "linux"))]
compile_error!("targets are confined by means of Linux");

mod afl;
mod batch;
pub(crate) mod board;
mod confine;
pub mod cores;
pub mod coverage;
pub mod dictionary;
mod drive;
mod end;
mod environment;
mod error;
mod fork;
pub mod fuzzing;
mod input;
mod memory;
mod observation;
mod prove;
mod record;
mod server;
mod spawn;
pub(crate) mod stack;
mod sys;
mod target;
mod unseen;
mod verdict;
mod warden;
mod watchdog;

pub use batch::Batch;
pub use confine::{Confinement, Layer, Missing};
pub use end::End;
pub use error::Error;
pub use fork::{Fork, ForkAt, ForkPoint};
pub use observation::Observation;
pub use stack::{Crash, Frame, Record, SITE_FRAMES, Said, Site};
pub use target::{Kind, Options, Output, Target, Trace};
pub use unseen::{Unseen, unseen};
pub use verdict::Verdict;

use afl::AflMemory;
use board::Board;
use confine::{Shown, User, Workplace, view};
use drive::Driver;
use fork::Place;
use input::InputFile;
use memory::IpcSpace;
use record::Recorder;
use server::{Link, Server};
use spawn::Run;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use target::Traits;
use warden::{Job, Warden};
use wug_runtime::abi;

/// Runs one target on one input after the other.
///
/// ```no_run
/// use wug_target::{Executor, Options, Target, Verdict};
///
/// let target = Target::new("xmllint").arguments(["--noout", "@@"]);
/// let mut executor = Executor::new(target, Options::default())?;
/// let seen = executor.run(b"<a/>")?;
/// assert_eq!(seen.verdict, Verdict::Ok);
/// # Ok::<(), wug_target::Error>(())
/// ```
pub struct Executor {
    target: Target,
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
    /// Where the runtime of the target saw it crash.
    recorded: Option<abi::Crash>,
    knowledge: stack::Knowledge,
    /// Where the fork server starts.
    place: Place,
    /// Where output is kept, and what the set-up wrote.
    recorder: Option<Recorder>,
    setup_output: Vec<u8>,
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
            true => InputFile::at(&workplace.input(false), safe)?,
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
        let place = Place::new(&options.fork.at, traits.native && !options.as_afl, &program)?;
        let recorder = match options.output {
            Output::Record(bound) => Some(Recorder::new(bound)?),
            _ => None,
        };
        let shown = shown(&target, &options, &program, user.is_some());
        let mut job = job(&target, &options, &traits, shown, &input, link.as_ref())?;
        if let Some(recorder) = &recorder {
            let end = || recorder.end().map_err(Error::system("open the target's output"));
            job.output = [end()?, end()?];
        }
        let mut warden = Warden::launch(&job, &mut workplace, user)?;
        warden.missing.extend(missing);
        let mut crash_codes = options.crash_codes.clone();
        if traits.sanitized {
            crash_codes.extend(environment::CRASH_CODES);
        }
        if traits.rust {
            crash_codes.push(environment::RUST_PANIC);
        }
        let server = link.map(|link| Server::new(link, &warden, &options, owner)).transpose()?;
        let driver = Driver::new(server);
        let mut executor = Executor {
            target,
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
            recorded: None,
            knowledge: stack::Knowledge::default(),
            place,
            recorder,
            setup_output: Vec::new(),
        };
        executor.choose_kind()?;
        executor.check_memory()?;
        Ok(executor)
    }

    /// Whether a fork server that ended before its first word does better
    /// without a bound on its memory: then the bound is a mistake.
    fn check_memory(&self) -> Result<(), Error> {
        let (Some(limit), true) = (self.options.memory, self.has_failed_server()) else { return Ok(()) };
        let unbounded = Options { memory: None, ..self.options.clone() };
        match Executor::new(self.target.clone(), unbounded) {
            Ok(other) if other.has_server() => Err(Error::Memory(limit)),
            _ => Ok(()),
        }
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

    /// When all runs are to end.
    pub fn end(&self) -> &End {
        &self.options.end
    }

    /// Runs the target on an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, Error> {
        self.prove(&[input])?;
        if let Some(recorder) = &self.recorder {
            recorder.take()?;
        }
        let driven = if self.options.end.has_come() { Err(Error::Ended) } else { self.drive(input) };
        let run = match driven {
            // A run that was cut short tells nothing, nor does a server that
            // was given no time to start.
            Ok(Run { verdict: Verdict::Timeout, .. }) | Err(_) if self.options.end.has_come() => {
                return Err(Error::Ended);
            }
            // Somebody killed the warden, and all that it watched over.
            Err(_) if self.warden.is_gone() => {
                self.relaunch()?;
                self.drive(input)?
            }
            other => other?,
        };
        if let Some(recorder) = &self.recorder {
            self.output = recorder.take()?;
        }
        let mut verdict = run.verdict;
        // Programs that are refused memory die in many ways: a second look
        // tells. Only where memory is bounded, and only after a crash.
        if self.options.memory.is_some() && verdict.is_crash() {
            let records = (std::mem::take(&mut self.coverage), std::mem::take(&mut self.events));
            let pairs = std::mem::take(&mut self.pairs);
            let depth = self.depth;
            if self.locate_crash(input)?.verdict == Verdict::OutOfMemory {
                verdict = Verdict::OutOfMemory;
            }
            (self.coverage, self.events) = records;
            (self.pairs, self.depth) = (pairs, depth);
        }
        Ok(self.observation(verdict, run))
    }

    /// What was seen of a run.
    fn observation(&self, verdict: Verdict, run: Run) -> Observation<'_> {
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

    /// Hands the target a larger board, if its server needs one. Descriptors
    /// come to a target only through its warden, so there is another. That is
    /// rare: for inputs and programs far beyond the usual.
    fn enlarge_board(&mut self) -> Result<(), Error> {
        let Some(server) = self.driver.server_mut() else { return Ok(()) };
        let Some(file) = server.enlarge()? else { return Ok(()) };
        let handed = self.job.pass.iter_mut().find(|(_, number)| *number == board::DESCRIPTOR);
        if let Some((handed, _)) = handed {
            *handed = file;
        }
        self.warden.put_down()?;
        self.relaunch()
    }

    /// Starts another warden in place of one that is gone.
    pub(crate) fn relaunch(&mut self) -> Result<(), Error> {
        let missing = std::mem::take(&mut self.warden.missing);
        self.warden = Warden::launch(&self.job, &mut self.workplace, self.user)?;
        self.warden.missing = missing;
        match self.driver.server_mut() {
            Some(server) => server.follow(&self.warden, &self.options),
            None => Ok(()),
        }
    }
}

/// What a target sees of the machine, besides what all see.
fn shown(target: &Target, options: &Options, program: &Path, as_stranger: bool) -> Shown {
    let all = |paths: &[PathBuf]| paths.iter().map(|path| view::absolute(path)).collect();
    let named = view::absolute(program);
    // The loader looks for libraries beside the file itself, not beside a
    // link to it; of what all see, the links are there.
    let program = if view::is_system(&named) { named } else { program.canonicalize().unwrap_or(named) };
    let variable = |name: &str| {
        let own = target.environment.iter().rfind(|(known, _)| known == name);
        own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    };
    Shown {
        libraries: confine::libraries(&program, variable),
        folder: std::env::current_dir().unwrap_or_else(|_| "/".into()),
        read: all(&options.confinement.allow_read),
        write: all(&options.confinement.allow_write),
        program,
        as_stranger,
    }
}

fn job(
    target: &Target,
    options: &Options,
    traits: &Traits,
    shown: Shown,
    input: &InputFile,
    link: Option<&Link>,
) -> Result<Job, Error> {
    let arguments = [&target.program].into_iter().chain(&target.arguments).cloned().collect();
    let mut added: Vec<(OsString, OsString)> = Vec::new();
    let mut pass = Vec::new();
    let mut changing = Vec::new();
    let mut ipc = None;
    match link {
        Some(Link::Native(board)) => {
            added.push((abi::ENV_BOARD.into(), board::DESCRIPTOR.to_string().into()));
            pass.push((board.file()?, board::DESCRIPTOR));
            pass.push((input.writer()?, board::INPUT_DESCRIPTOR));
            // Without one, runs cost more page faults.
            pass.extend(sys::dormant_ring().ok().map(|ring| (ring, abi::RING_FD)));
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
    // The warden says where the scratch folder is.
    let mut environment = environment::environment(&added, own);
    environment.retain(|entry| !entry.to_bytes().starts_with(b"TMPDIR="));
    Ok(Job {
        shown,
        arguments,
        environment,
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
