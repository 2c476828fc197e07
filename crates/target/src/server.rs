//! A target's fork server: its first words, and runs.
//!
//! Three protocols (see `wug.h`): that of `wug cc`, and AFL++'s old one and
//! v1. What differs is behind [`Server`]: how the target is told of its
//! shared memory, the first words, and what a run says.

use super::afl::{AFL_DEFAULT_IDS, AFL_IDS, AflMemory};
use super::board::{Board, INPUT_DESCRIPTOR, MAX_IDS};
use super::end::End;
use super::error::Error;
use super::fork::Said;
use super::sys;
use super::target::{Options, Traits};
use super::warden::{Command, Commander, Warden};
use super::watchdog::{Clock, Stop, Watchdog};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wug_runtime::abi;

/// No machine that we know of has more.
const MAX_CORES: u32 = 4096;

/// What a fork server said of a run.
pub enum Reply {
    /// The status of the child, as `wait` gives it.
    Status(i32),
    /// Its time was up; the child was killed.
    Timeout,
    /// The server itself ended, or lost its senses.
    Lost,
}

/// Memory shared with the target, by kind of target.
pub enum Link {
    /// Built with `wug cc`.
    Native(Arc<Board>),
    /// Built with AFL++.
    Afl(AflMemory),
}

/// How the watchdog ends a run.
struct Stopper {
    board: Option<Arc<Board>>,
    clock: std::sync::OnceLock<Arc<Clock>>,
}

impl Stop for Stopper {
    fn progress(&self) -> u32 {
        self.board.as_ref().map_or(0, |board| board.batch_at())
    }

    fn stop(&self, number: u32, commander: &Commander) {
        if let Some(board) = &self.board {
            board.stop_run(number);
            commander.stop();
        } else if let Some(clock) = self.clock.get() {
            match clock.child.load(std::sync::atomic::Ordering::Acquire) {
                // No child yet: the server itself hangs.
                pid if pid <= 0 => commander.kill_all(),
                pid => commander.kill(pid),
            }
        }
    }
}

/// A fork server that runs, or will.
pub struct Server {
    pub link: Link,
    pipes: Option<Pipes>,
    watchdog: Watchdog,
    /// Whether inputs go by shared memory.
    pub shared_input: bool,
    /// Whether it takes several inputs at once.
    pub batches: bool,
    pub persistent: bool,
    /// AFL++: the last child was killed.
    killed: bool,
    number: u32,
    owner: Option<u32>,
    /// A board that has room for what this one has not.
    larger: Option<Board>,
}

/// How long a fork server may take for its first words.
struct Patience {
    until: Instant,
    limit: Duration,
    end: End,
}

struct Pipes {
    control: File,
    status: File,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("persistent", &self.persistent).finish_non_exhaustive()
    }
}

impl Server {
    /// A server that is not started yet.
    pub fn new(link: Link, warden: &Warden, options: &Options, owner: Option<u32>) -> Result<Server, Error> {
        let watchdog = watchdog(&link, warden, options)?;
        Ok(Server {
            link,
            pipes: None,
            watchdog,
            shared_input: false,
            batches: false,
            persistent: false,
            killed: false,
            number: 0,
            owner,
            larger: None,
        })
    }

    /// Takes a larger board, if one was found to be needed: what the target is
    /// to be handed. Then another warden has to start it.
    pub fn enlarge(&mut self) -> Result<Option<OwnedFd>, Error> {
        let Some(board) = self.larger.take() else { return Ok(None) };
        let file = board.file()?;
        self.link = Link::Native(Arc::new(board));
        Ok(Some(file))
    }

    /// From now on another warden starts it; what the last one started is gone.
    pub fn follow(&mut self, warden: &Warden, options: &Options) -> Result<(), Error> {
        self.pipes = None;
        self.watchdog = watchdog(&self.link, warden, options)?;
        Ok(())
    }

    /// Whether it was started and not lost since.
    pub fn runs(&self) -> bool {
        self.pipes.is_some()
    }

    /// Starts it and hears its first words. With a place, it starts late: at
    /// the function there, or where the input begins; and the input's identity.
    pub fn start(
        &mut self,
        warden: &mut Warden,
        options: &Options,
        traits: &Traits,
        crash_codes: &[i32],
        place: Option<(u64, (u64, u64))>,
    ) -> Result<(), Error> {
        self.pipes = None;
        self.killed = false;
        if let Link::Native(board) = &self.link {
            board.introduce();
            let late = if place.is_some() { abi::WANT_LATE } else { 0 };
            board.want(options.wants() | late);
            if let Some((site, input)) = place {
                board.tell_place(site, input);
            }
            // Numbers of children tell of what a run left behind only there.
            let input = warden.pid_namespace.then_some(INPUT_DESCRIPTOR);
            board.tell(input, crash_codes);
        }
        let started = warden.start(Command::SERVER)?;
        let mut ends = started.pipes.into_iter().map(File::from);
        let (Some(control), Some(status)) = (ends.next(), ends.next()) else {
            return Err(Error::Protocol("no pipes".into()));
        };
        let mut pipes = Pipes { control, status };
        let patience = Patience {
            until: Instant::now() + options.handshake,
            limit: options.handshake,
            end: options.end.clone(),
        };
        let heard = self.hear(&mut pipes, &patience, traits);
        if let Err(error) = heard {
            warden.kill_all()?;
            return Err(error);
        }
        self.pipes = Some(pipes);
        Ok(())
    }

    /// What it said of the place where it starts, and whether it starts late.
    pub fn place(&self) -> (Said, bool) {
        match &self.link {
            Link::Native(board) => (board.place(), board.features() & abi::HAS_LATE != 0),
            Link::Afl(_) => (Said::default(), false),
        }
    }

    /// Whether it needs a larger board.
    pub fn needs_room(&self) -> bool {
        self.larger.is_some()
    }

    /// Ends it.
    pub fn stop(&mut self, warden: &mut Warden) -> Result<(), Error> {
        self.pipes = None;
        warden.kill_all().map(drop)
    }

    fn hear(&mut self, pipes: &mut Pipes, patience: &Patience, traits: &Traits) -> Result<(), Error> {
        let first = pipes.word(patience)?;
        self.shared_input = false;
        self.batches = false;
        if first & 0xffff_ff00 == abi::V1_HELLO & 0xffff_ff00 {
            return self.hear_v1(pipes, first, patience);
        }
        if first & 0xffff_0000 == abi::V1_ERROR {
            return Err(Error::Protocol(format!("it reports error {}", first & 0xffff)));
        }
        let Link::Afl(memory) = &mut self.link else {
            return Err(Error::Protocol(format!("it begins with {first:#x}")));
        };
        memory.ids = AFL_DEFAULT_IDS;
        let options = if first & abi::OLD_ENABLED == abi::OLD_ENABLED { first } else { 0 };
        if options & abi::OLD_MAPSIZE != 0 {
            // At most `AFL_IDS`: there are no more bits.
            memory.ids = ((options & 0x00ff_fffe) >> 1) as usize + 1;
        }
        let offered = options & (abi::OLD_SHARED_INPUT | abi::OLD_AUTODICT);
        if offered != 0 {
            let accepted = options & abi::OLD_SHARED_INPUT;
            pipes.say(abi::OLD_ENABLED | accepted, patience)?;
            self.shared_input = accepted != 0;
        }
        self.persistent = traits.afl_persistent;
        Ok(())
    }

    fn hear_v1(&mut self, pipes: &mut Pipes, hello: u32, patience: &Patience) -> Result<(), Error> {
        if hello != abi::V1_HELLO {
            return Err(Error::Protocol(format!("version {} is not known", hello & 0xff)));
        }
        pipes.say(!hello, patience)?;
        let options = pipes.word(patience)?;
        if options & 0xffff_0000 == abi::V1_ERROR {
            let code = options & 0xffff;
            if let Link::Native(board) = &self.link
                && code == abi::V1_ERROR_MAP_SIZE
            {
                self.larger = Some(board.with_ids(board.ids_wanted())?);
            }
            return Err(Error::Protocol(format!("it reports error {code}")));
        }
        let ids =
            if options & abi::V1_MAPSIZE != 0 { pipes.word(patience)? as usize } else { AFL_DEFAULT_IDS };
        if options & abi::V1_AUTODICT != 0 {
            let length = pipes.word(patience)? as usize;
            pipes.skip(length, patience)?;
        }
        let last = pipes.word(patience)?;
        if last != hello {
            return Err(Error::Protocol(format!("it ends with {last:#x}")));
        }
        match &mut self.link {
            Link::Native(board) => {
                at_most(board.ids_wanted().max(ids as u64), MAX_IDS)?;
                let features = board.features();
                self.shared_input = features & abi::HAS_SHARED_INPUT != 0;
                self.batches = features & abi::HAS_BATCH != 0;
                self.persistent = features & abi::HAS_PERSISTENT != 0 && board.wants() & abi::WANT_FORK == 0;
            }
            Link::Afl(memory) => {
                self.shared_input = options & abi::V1_SHARED_INPUT != 0;
                at_most(ids as u64, AFL_IDS as u64)?;
                memory.ids = ids.max(1);
            }
        }
        Ok(())
    }

    /// Puts the input into shared memory; false if there is no room, and the
    /// server must be started anew.
    pub fn put_input(&mut self, input: &[u8]) -> Result<bool, Error> {
        match &mut self.link {
            Link::Native(board) => {
                if input.len() as u64 > board.input_capacity() {
                    self.larger = Some(board.with_input(input.len() as u64)?);
                    return Ok(false);
                }
                board.put_input(input);
            }
            Link::Afl(memory) => {
                if input.len() + 4 > memory.input.length() {
                    memory.grow_input(input.len(), self.owner)?;
                    return Ok(false);
                }
                memory.input.write(0, input.len() as u32);
                memory.input.put(4, input);
            }
        }
        Ok(true)
    }

    /// Makes one run. The input is in its place.
    pub fn run(&mut self) -> (Reply, Instant) {
        let Some(pipes) = &mut self.pipes else { return (Reply::Lost, Instant::now()) };
        // Never 0, never that of the run before.
        self.number = self.number % (u32::MAX - 1) + 1;
        let clock = self.watchdog.clock();
        clock.child.store(0, std::sync::atomic::Ordering::Relaxed);
        let begin = clock.begin(self.number);
        let status = match &self.link {
            Link::Native(_) => pipes.run_native(self.number),
            Link::Afl(_) => pipes.run_afl(self.killed, clock),
        };
        let timeout = clock.end();
        self.killed = timeout;
        if let (Link::Native(board), true) = (&self.link, timeout) {
            // What was asked of the server may still be on its way.
            board.stop_run(0);
        }
        let reply = match status {
            None => {
                self.pipes = None;
                // A server that had to be killed with its child.
                if timeout { Reply::Timeout } else { Reply::Lost }
            }
            Some(_) if timeout => Reply::Timeout,
            Some(status) => Reply::Status(status),
        };
        (reply, begin)
    }

    /// The child of the last run, by the target's own numbers.
    pub fn child(&self) -> i32 {
        match &self.link {
            Link::Native(board) => board.child(),
            Link::Afl(_) => self.watchdog.clock().child.load(std::sync::atomic::Ordering::Relaxed),
        }
    }

    /// How long each run may take from now on.
    pub fn set_timeout(&self, timeout: Duration) {
        self.watchdog.clock().set_limit(timeout);
    }

    /// CPU time of the last run, where the target measures it; no more than
    /// its time allows.
    pub fn cpu(&self, wall: Duration) -> Option<Duration> {
        match &self.link {
            Link::Native(board) => {
                let nanos = Some(board.cpu_nanos()).filter(|nanos| *nanos > 0);
                nanos.map(|nanos| Duration::from_nanos(nanos).min(wall.saturating_mul(MAX_CORES)))
            }
            Link::Afl(_) => None,
        }
    }

    /// Copies the counts out and sets them to 0 for the next run.
    pub fn take_map(&self, to: &mut Vec<u8>) {
        match &self.link {
            Link::Native(board) => board.take_map(to),
            Link::Afl(memory) => {
                to.resize(memory.ids, 0);
                memory.map.copy(0, to);
                memory.map.clear(0, memory.ids);
            }
        }
    }

    /// How many ids the target has.
    pub fn ids(&self) -> usize {
        match &self.link {
            Link::Native(board) => board.ids(),
            Link::Afl(memory) => memory.ids,
        }
    }
}

/// Refuses a target that claims more ids than there can be.
fn at_most(ids: u64, limit: u64) -> Result<(), Error> {
    if ids > limit { Err(Error::TooManyIds { ids, limit }) } else { Ok(()) }
}

fn watchdog(link: &Link, warden: &Warden, options: &Options) -> Result<Watchdog, Error> {
    let board = match link {
        Link::Native(board) => Some(board.clone()),
        Link::Afl(_) => None,
    };
    let stopper = Arc::new(Stopper { board, clock: std::sync::OnceLock::new() });
    let watchdog = Watchdog::new(options.timeout, options.end.clone(), warden.commander()?, stopper.clone())
        .map_err(Error::system("start a thread"))?;
    let _ = stopper.clock.set(watchdog.clock().clone());
    Ok(watchdog)
}

impl Pipes {
    /// A word of the handshake.
    fn word(&mut self, patience: &Patience) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        self.bytes(&mut bytes, patience)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn skip(&mut self, length: usize, patience: &Patience) -> Result<(), Error> {
        let mut buffer = [0; 4096];
        let mut left = length;
        while left > 0 {
            let part = left.min(buffer.len());
            self.bytes(&mut buffer[..part], patience)?;
            left -= part;
        }
        Ok(())
    }

    fn bytes(&mut self, to: &mut [u8], patience: &Patience) -> Result<(), Error> {
        let failed = "hear the fork server";
        let mut done = 0;
        while done < to.len() {
            let waited = patience.end.readable([self.status.as_raw_fd()], patience.until);
            // One that never ends what it has to say is as good as silent.
            if waited.map_err(Error::system(failed))?.is_none() || Instant::now() >= patience.until {
                return Err(Error::Silent(patience.limit));
            }
            match self.status.read(&mut to[done..]) {
                Ok(0) => return Err(Error::Protocol("it ended before it said a word".into())),
                Ok(got) => done += got,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::System { doing: failed, source: error }),
            }
        }
        Ok(())
    }

    fn say(&mut self, word: u32, patience: &Patience) -> Result<(), Error> {
        // A target can fill the pipe that it is to read from.
        let left = patience.until.saturating_duration_since(Instant::now());
        let ready = sys::writable(self.control.as_raw_fd(), patience.end.nap(left));
        if !ready.map_err(Error::system("reach the fork server"))? {
            return Err(Error::Silent(patience.limit));
        }
        let told = self.control.write_all(&word.to_ne_bytes());
        told.map_err(|_| Error::Protocol("it ended before it heard a word".into()))
    }

    /// The status of the run, or None if the server is gone.
    fn run_native(&mut self, number: u32) -> Option<i32> {
        self.control.write_all(&number.to_ne_bytes()).ok()?;
        loop {
            let mut reply = [0; 8];
            self.status.read_exact(&mut reply).ok()?;
            let [a, b, c, d, e, f, g, h] = reply;
            // A late second word on an earlier run is dropped.
            if u32::from_ne_bytes([a, b, c, d]) == number {
                return Some(i32::from_ne_bytes([e, f, g, h]));
            }
        }
    }

    fn run_afl(&mut self, killed: bool, clock: &Clock) -> Option<i32> {
        self.control.write_all(&u32::from(killed).to_ne_bytes()).ok()?;
        let mut word = [0; 4];
        self.status.read_exact(&mut word).ok()?;
        clock.child.store(i32::from_ne_bytes(word), std::sync::atomic::Ordering::Release);
        self.status.read_exact(&mut word).ok()?;
        Some(i32::from_ne_bytes(word))
    }
}
