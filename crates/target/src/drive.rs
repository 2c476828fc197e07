//! Which way a run goes, and what is done when a target breaks its fork
//! server.
//!
//! - A fork server that ends during a run is started anew, and the input is
//!   run again in a process of its own: that verdict counts. A target that
//!   kills its parent is not a target that crashes.
//! - Processes that a run leaves behind are killed before they can touch the
//!   run after the next: children of a fork server have numbers in a row
//!   unless something else was started. If one was alive, the run that it
//!   may have disturbed is made again.
//! - Servers that end again and again are started after growing pauses.

use super::Executor;
use super::error::Error;
use super::record::Recorder;
use super::server::{Link, Reply, Server};
use super::spawn::Run;
use super::target::Kind;
use super::verdict::Verdict;
use std::time::{Duration, Instant};
use wug_runtime::abi::Module;

/// How the target is driven.
#[derive(Debug)]
pub(super) struct Driver {
    server: Option<Server>,
    /// Whether the server is used: an instrumented target may be run plainly.
    serve: bool,
    /// Whether it ever said its first words.
    worked: bool,
    /// Times that the server ended, since it last did its work.
    losses: u32,
    /// The child of the run before, in its own numbers.
    last_child: i32,
    /// Runs since the scratch folder was last read.
    since_tidy: u32,
    pub litter: Litter,
    /// How long runs take, or took lately if that was longer.
    pub pace: Duration,
    /// When processes left behind were last looked for, without a namespace.
    last_sweep: Instant,
}

/// A server that fails so many times to say its first words is given up.
const MAX_FAILURES: u32 = 5;
/// Runs after which a glance at the scratch folder does not do.
const TIDY_EVERY: u32 = 256;
/// Without a pid namespace, processes left behind are looked for this often.
const SWEEP_EVERY: Duration = Duration::from_millis(1000);

/// What runs left in the scratch folder: after that, each is made on its own
/// for a while, so that none finds the files of another.
#[derive(Debug, Default)]
pub(super) struct Litter {
    /// Runs that are still to be made on their own.
    left: u32,
    /// How many there are to be: ever more for one that does it again.
    sentence: u32,
}

impl Litter {
    const LEAST: u32 = 256;
    const MOST: u32 = 1 << 20;

    /// Whether runs have to be made one by one.
    pub fn is_likely(&self) -> bool {
        self.left > 0
    }

    fn note(&mut self, found: bool, runs: u32) {
        if !found {
            self.left = self.left.saturating_sub(runs);
            return;
        }
        if !self.is_likely() {
            self.sentence = self.sentence.saturating_mul(2).clamp(Self::LEAST, Self::MOST);
        }
        self.left = self.sentence;
    }
}

impl Driver {
    pub fn new(server: Option<Server>) -> Driver {
        Driver {
            server,
            serve: true,
            worked: false,
            losses: 0,
            last_child: 0,
            since_tidy: 0,
            litter: Litter::default(),
            pace: Duration::ZERO,
            last_sweep: Instant::now(),
        }
    }

    /// Whether runs go by the server.
    pub fn is_served(&self) -> bool {
        self.serve
    }

    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    pub fn server_mut(&mut self) -> Option<&mut Server> {
        self.server.as_mut()
    }
}

impl Executor {
    /// Starts the fork server if there is to be one.
    pub(super) fn choose_kind(&mut self) -> Result<(), Error> {
        match (self.options.kind, &self.driver.server) {
            (Kind::Spawn, _) | (Kind::Auto, None) => self.driver.serve = false,
            (Kind::Server, None) => {
                return Err(Error::Protocol("the program has none: build it with `wug cc` or AFL++".into()));
            }
            (Kind::Server, Some(_)) => self.start_server()?,
            // A program that holds a runtime but does not use it.
            (Kind::Auto, Some(_)) => match self.start_server() {
                Err(Error::Protocol(_)) => self.driver.serve = false,
                other => other?,
            },
        }
        Ok(())
    }

    /// Whether the target has a runtime whose fork server did not start.
    pub(super) fn has_failed_server(&self) -> bool {
        self.options.kind == Kind::Auto && self.driver.server.is_some() && !self.driver.serve
    }

    /// Whether runs go by a fork server.
    pub fn has_server(&self) -> bool {
        self.driver.serve
    }

    /// Whether one process of the target makes many runs.
    pub fn is_persistent(&self) -> bool {
        self.driver.serve && self.driver.server.as_ref().is_some_and(|server| server.persistent)
    }

    /// Whether the target is a traced build, which tells what it compares.
    pub fn is_traced(&self) -> bool {
        match self.driver.server.as_ref().map(|server| &server.link) {
            Some(Link::Native(board)) => board.features() & wug_runtime::abi::HAS_TRACE != 0,
            _ => false,
        }
    }

    /// How many ids the target has; 0 without instrumentation.
    pub fn ids(&self) -> usize {
        self.driver.server.as_ref().map_or(0, Server::ids)
    }

    /// Constants of a program built with `wug cc`.
    pub fn dictionary(&self) -> Vec<Vec<u8>> {
        match self.driver.server.as_ref().map(|server| &server.link) {
            Some(Link::Native(board)) => board.dictionary(),
            _ => Vec::new(),
        }
    }

    /// The instrumented parts of a program built with `wug cc`.
    pub fn modules(&self) -> Vec<Module> {
        match self.driver.server.as_ref().map(|server| &server.link) {
            Some(Link::Native(board)) => board.modules(),
            _ => Vec::new(),
        }
    }

    /// One run, whatever it takes.
    pub(super) fn drive(&mut self, input: &[u8]) -> Result<Run, Error> {
        if !self.driver.serve {
            return self.plain(input);
        }
        // Twice at most: once more if the first run was disturbed.
        for again in [false, true] {
            let Some(run) = self.serve(input)? else { return self.plain(input) };
            if again || !self.clean_up(run.verdict, 1)? {
                return Ok(run);
            }
        }
        self.plain(input)
    }

    /// A run in a process of its own.
    fn plain(&mut self, input: &[u8]) -> Result<Run, Error> {
        self.input.put(input)?;
        self.take_records();
        let run = self.spawn()?;
        self.take_records();
        self.tidy(1)?;
        Ok(run)
    }

    /// A run by the fork server; None if the server did not survive it.
    fn serve(&mut self, input: &[u8]) -> Result<Option<Run>, Error> {
        // At most one start for a lost server, a larger board, its start, a run.
        for _ in 0..4 {
            let Some(server) = &mut self.driver.server else { return Ok(None) };
            if !server.runs() {
                self.start_server()?;
                continue;
            }
            if !server.shared_input {
                self.input.put(input)?;
            } else if !server.put_input(input)? {
                server.stop(&mut self.warden)?;
                self.enlarge_board()?;
                continue;
            }
            let (reply, begin) = server.run();
            let wall = begin.elapsed();
            let verdict = match reply {
                Reply::Status(status) => Verdict::of_status(status, &self.crash_codes),
                Reply::Timeout => {
                    // What the watchdog asked for has happened.
                    self.warden.settle()?;
                    Verdict::Timeout
                }
                Reply::Lost => {
                    self.warden.kill_all()?;
                    self.driver.losses += 1;
                    return Ok(None);
                }
            };
            self.driver.pace = wall.max(self.driver.pace / 8 * 7);
            let cpu = server.cpu(wall);
            if !server.runs() {
                self.warden.kill_all()?;
            }
            self.driver.losses = 0;
            self.take_records();
            return Ok(Some(Run { verdict, wall, cpu }));
        }
        Ok(None)
    }

    /// Copies what the target recorded and makes room for the next run.
    pub(super) fn take_records(&mut self) {
        self.take_record();
        let Some(server) = &self.driver.server else { return };
        server.take_map(&mut self.coverage);
        if let (Link::Native(board), Some(_)) = (&server.link, self.options.trace) {
            board.take_events(&mut self.events);
            board.take_pairs(&mut self.pairs);
            self.depth = board.depth();
            board.clear_logs(&self.pairs);
        }
    }

    /// Ends what some runs left behind, of which the last ended in this way;
    /// whether that may have disturbed it.
    pub(super) fn clean_up(&mut self, verdict: Verdict, runs: u32) -> Result<bool, Error> {
        let Some(server) = &mut self.driver.server else { return Ok(false) };
        let last = std::mem::replace(&mut self.driver.last_child, server.child());
        let disturbed = self.end_processes(verdict, runs, last)?;
        let found = self.tidy(runs)?;
        self.driver.litter.note(found, runs);
        Ok(disturbed)
    }

    /// Empties the scratch folder after some runs; whether there was anything
    /// in it. A target that does not let it become empty is ended.
    pub(super) fn tidy(&mut self, runs: u32) -> Result<bool, Error> {
        self.driver.since_tidy += runs;
        let thoroughly = self.driver.since_tidy >= TIDY_EVERY;
        if thoroughly {
            self.driver.since_tidy = 0;
        }
        if self.workplace.is_tidy(thoroughly) {
            return Ok(false);
        }
        // A persistent target lives on in any case.
        if !self.warden.pid_namespace && !self.is_persistent() {
            self.warden.sweep(0)?;
        }
        if !self.workplace.tidy(false) {
            self.stop_server()?;
            self.warden.kill_all()?;
            if !self.workplace.tidy(true) {
                // With another warden comes another folder.
                self.warden.put_down()?;
                self.relaunch()?;
            }
        }
        Ok(true)
    }

    /// Ends processes that some runs left behind.
    fn end_processes(&mut self, verdict: Verdict, runs: u32, last: i32) -> Result<bool, Error> {
        let Some(server) = &mut self.driver.server else { return Ok(false) };
        let persistent = server.persistent;
        let child = self.driver.last_child;
        if !self.warden.pid_namespace {
            if verdict != Verdict::Ok || self.driver.last_sweep.elapsed() >= SWEEP_EVERY {
                self.driver.last_sweep = Instant::now();
                self.warden.sweep(0)?;
            }
            return Ok(false);
        }
        // The target can write any number there.
        let next = last.wrapping_add(if persistent { 1 } else { runs as i32 });
        if last == 0 || child == last || child == next {
            return Ok(false);
        }
        // Numbers have begun anew, or a persistent child left something, of
        // which its successor cannot be told apart: all begin anew.
        if child < last || persistent {
            server.stop(&mut self.warden)?;
            self.driver.last_child = 0;
            return Ok(persistent && verdict != Verdict::Ok);
        }
        let (disturbed, last) = self.warden.sweep(last.saturating_add(1))?;
        // The sweep takes a number as well: the next child has the one after.
        self.driver.last_child = last.max(child);
        Ok(disturbed)
    }

    /// Ends the fork server; the next run starts it again.
    pub(super) fn stop_server(&mut self) -> Result<(), Error> {
        match &mut self.driver.server {
            Some(server) if server.runs() => server.stop(&mut self.warden),
            _ => Ok(()),
        }
    }

    /// The next process has no handler of crashes: it would stand between
    /// the target and its own. A fork server is told anew when it starts.
    pub(super) fn without_handler(&self) {
        if let Some(Link::Native(board)) = self.driver.server.as_ref().map(|server| &server.link) {
            board.want(self.options.wants() & !wug_runtime::abi::WANT_CRASH);
        }
    }

    /// Starts the fork server, after a pause if it was lost before.
    fn start_server(&mut self) -> Result<(), Error> {
        self.driver.last_child = 0;
        let mut failures = 0;
        loop {
            self.options.end.sleep(pause(self.driver.losses + failures));
            if self.options.end.has_come() {
                return Err(Error::Ended);
            }
            let Some(server) = &mut self.driver.server else { return Ok(()) };
            let place = self.place.site().map(|site| Ok((site, self.input.identity()?))).transpose()?;
            match server.start(&mut self.warden, &self.options, &self.traits, &self.crash_codes, place) {
                Ok(()) => {
                    // Counts of the way to the first run are no run's.
                    server.take_map(&mut self.coverage);
                    let (said, is_late) = server.place();
                    self.place.started(said, is_late, &self.coverage);
                    self.setup_output =
                        self.recorder.as_ref().map(Recorder::take).transpose()?.unwrap_or_default();
                    self.driver.worked = true;
                    return Ok(());
                }
                Err(_) if self.options.end.has_come() => return Err(Error::Ended),
                // Not there: before `main` then, in a folder that is empty again.
                Err(Error::Protocol(_) | Error::Silent(_)) if place.is_some() && !server.needs_room() => {
                    let (said, _) = server.place();
                    self.place.failed(said);
                    self.tidy(TIDY_EVERY)?;
                }
                Err(error @ (Error::Protocol(_) | Error::Silent(_))) => {
                    failures += 1;
                    // A server that never said a word will hardly learn it.
                    let hopeless = !self.driver.worked && matches!(error, Error::Silent(_));
                    if failures >= MAX_FAILURES || hopeless {
                        return Err(if self.driver.worked { Error::Lost { times: failures } } else { error });
                    }
                    self.enlarge_board()?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// How long to wait before a server is started once more: nothing at first,
/// then ever longer, up to a second.
fn pause(losses: u32) -> Duration {
    match losses {
        0 | 1 => Duration::ZERO,
        n => Duration::from_millis(1 << (n - 2).min(10)).min(Duration::from_secs(1)),
    }
}
