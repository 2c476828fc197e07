//! Several workers on one output folder: a process each, on a core of its
//! own, which is started again if it dies.
//!
//! Processes, not threads: a worker that dies takes no other with it, and
//! finds are shared as with any other fuzzer beside, through the folder.
//!
//! A worker tells what a person should know in words on its standard output
//! (`word`); this process shows each once, and one summary of all.

use super::Fuzz;
use super::status::Status;
use super::word::Word;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, Outcome, terminal};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use wug_campaign::fuzz::{Event, Watch};
use wug_folder::report::{CrashReport, Report};
use wug_target::{End, cores};

/// Says which worker a process is: its number, counted from 0, the process
/// that started it, and the milliseconds that it has, if they are bounded.
const WORKER: &str = "WUG_WORKER";

/// How often workers are looked after.
const LOOK: Duration = Duration::from_millis(100);
/// A worker that ends sooner than this after its first start was started
/// wrongly, and the others will be no better.
const TOO_SOON: Duration = Duration::from_secs(5);
/// A worker that dies so often in a row, each time at once, is given up.
const MOST_DEATHS: u32 = 5;
/// How long workers may take to end when they are asked to.
const GRACE: Duration = Duration::from_millis(700);

/// What a worker was told by the process that started it.
#[derive(Clone, Copy)]
pub struct Place {
    pub number: u32,
    parent: i32,
    /// The time that it has.
    pub time: Option<Duration>,
}

/// The place of this process, if it is a worker.
pub fn place() -> Option<Place> {
    let text = std::env::var(WORKER).ok()?;
    let mut fields = text.split(' ');
    let number = fields.next()?.parse().ok()?;
    let parent = fields.next()?.parse().ok()?;
    let millis = fields.next().and_then(|field| field.parse().ok());
    Some(Place { number, parent, time: millis.map(Duration::from_millis) })
}

impl Place {
    /// From now on this process ends with the one that started it.
    ///
    /// A thread that does nothing else asks for that: the system forgets it
    /// for a thread that changes its rights on files, as those do that clean up
    /// behind targets.
    pub fn follow_parent(&self) -> Outcome {
        let parent = self.parent;
        let (say, hear) = channel();
        let follow = move || {
            let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
            // It may be gone already, and then nobody tells.
            let own = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
            let _ = say.send(own == parent);
            loop {
                std::thread::park();
            }
        };
        let started = std::thread::Builder::new().name("follow".into()).spawn(follow);
        started.map_err(|error| Failure::Message(1, format!("cannot start a thread: {error}")))?;
        if hear.recv() == Ok(true) { Ok(()) } else { Err(Failure::Quiet(1)) }
    }
}

struct Worker {
    number: u32,
    process: Option<Child>,
    begin: Instant,
    deaths: u32,
    /// Not to be started again.
    done: bool,
    given_up: bool,
    /// Its last figures.
    report: Report,
}

/// All workers, and what they say.
struct Crew<'a> {
    fuzz: &'a Fuzz,
    end: &'a End,
    /// When the time is up.
    until: Option<Instant>,
    workers: Vec<Worker>,
    status: Status,
    said: HashSet<String>,
    stacks: HashSet<u64>,
    speaker: Sender<(usize, Word)>,
    words: Receiver<(usize, Word)>,
}

/// Runs workers until they end or somebody wants them to.
pub fn run(fuzz: &Fuzz, interrupt: &Interrupt, end: &End, until: Option<Instant>) -> Outcome {
    // First of all: it also keeps the time while grammars are read.
    let status = Status::of_crew(fuzz, interrupt.clone(), end.clone());
    // Mistakes in it are told here, once.
    fuzz.grammar.load_and_warn()?;
    let cores = cores::allowed().map_or(usize::MAX, |cores| cores.len());
    if fuzz.workers as usize > cores {
        terminal::warning(&format!(
            "{} workers share {cores} core{}: more workers than cores find nothing sooner; -j {cores} is enough",
            fuzz.workers,
            if cores == 1 { "" } else { "s" }
        ));
    }
    let (speaker, words) = channel();
    let worker = |number| Worker {
        number,
        process: None,
        begin: Instant::now(),
        deaths: 0,
        done: false,
        given_up: false,
        report: Report::default(),
    };
    let mut crew = Crew {
        fuzz,
        end,
        until,
        workers: (0..fuzz.workers).map(worker).collect(),
        status,
        said: HashSet::new(),
        stacks: HashSet::new(),
        speaker,
        words,
    };
    let outcome = crew.tend();
    crew.finish();
    let sum = crew.sum();
    let all_given_up = crew.workers.iter().all(|worker| worker.given_up);
    let outcome = match all_given_up {
        true => outcome.and(Err(Failure::Message(1, "all workers were given up".into()))),
        false => outcome,
    };
    if outcome.is_err() && sum.execs_done == 0 {
        return outcome;
    }
    let told = crew.status.finish(&sum);
    outcome.and(told)
}

impl Crew<'_> {
    fn tend(&mut self) -> Outcome {
        loop {
            for at in 0..self.workers.len() {
                self.look_at(at)?;
            }
            if self.workers.iter().all(|worker| worker.done) || self.end.has_come() {
                return Ok(());
            }
            let found = self.listen(self.end.nap(LOOK));
            if found && super::set_up::is_set("AFL_BENCH_UNTIL_CRASH") {
                return Ok(());
            }
            let sum = self.sum();
            self.status.event(Event::Report(&sum));
        }
    }

    /// Starts a worker, or starts it again.
    fn look_at(&mut self, at: usize) -> Outcome {
        let worker = &mut self.workers[at];
        if worker.done {
            return Ok(());
        }
        let Some(process) = &mut worker.process else { return self.start(at) };
        let Ok(Some(ended)) = process.try_wait() else { return Ok(()) };
        worker.process = None;
        if ended.success() || self.end.has_come() {
            worker.done = true;
            return Ok(());
        }
        let soon = worker.begin.elapsed() < TOO_SOON;
        if let (true, Some(code)) = (soon && worker.deaths == 0, ended.code()) {
            // It has said why, though that may be on its way.
            self.listen(LOOK * 5);
            return Err(Failure::Quiet(code.clamp(1, 255) as u8));
        }
        worker.deaths = if soon { worker.deaths + 1 } else { 1 };
        let number = worker.number;
        if worker.deaths > MOST_DEATHS {
            (worker.done, worker.given_up) = (true, true);
            self.status.warn(&format!("worker {number} ends again and again ({ended}): it is given up"));
            return Ok(());
        }
        self.status.warn(&format!("worker {number} ended ({ended}): it is started again"));
        self.start(at)
    }

    fn start(&mut self, at: usize) -> Outcome {
        let worker = &mut self.workers[at];
        let failed = |error: std::io::Error| Failure::Message(1, format!("cannot start a worker: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        // One that was started again would take its whole time again.
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()).as_millis());
        let left = left.map_or("-".into(), |left| left.to_string());
        let place = format!("{} {} {left}", worker.number, std::process::id());
        command.args(std::env::args_os().skip(1)).env(WORKER, place);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        if worker.deaths > 0 {
            command.env("AFL_AUTORESUME", "1");
        }
        let mut process = command.spawn().map_err(failed)?;
        if let Some(out) = process.stdout.take() {
            let speaker = self.speaker.clone();
            // It ends with the worker.
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if speaker.send((at, Word::read(line))).is_err() {
                        break;
                    }
                }
            });
        }
        worker.process = Some(process);
        worker.begin = Instant::now();
        Ok(())
    }

    /// Hears workers for this time; whether there is a new crash.
    fn listen(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut crash = false;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.words.recv_timeout(left) {
                Ok((at, word)) => crash |= self.hear(at, word),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return crash,
            }
        }
    }

    /// Passes on what a worker says, once; whether it is a new crash.
    fn hear(&mut self, at: usize, word: Word) -> bool {
        let crashes = self.fuzz.id_of(Some(self.workers[at].number));
        let named =
            |crash: CrashReport| CrashReport { file: format!("{crashes}/crashes/{}", crash.file), ..crash };
        match word {
            Word::Report(report) => {
                let crashes = report.crashes.iter().cloned().map(named).collect();
                self.workers[at].report = Report { crashes, ..*report };
            }
            Word::Crash(crash) => {
                if self.stacks.insert(crash.stack) {
                    self.status.event(Event::Crash(&named(crash)));
                    return true;
                }
            }
            Word::Note { kind, text } => {
                if self.said.insert(text.clone()) {
                    self.status.note(&kind, &text);
                }
            }
            Word::Failed(message) => {
                if self.said.insert(message.clone()) {
                    self.status.fail(&message);
                }
            }
            Word::Other(line) => self.status.pass(&line),
        }
        false
    }

    /// Asks all workers to end, and hears their last words. None is left
    /// behind, whatever it does.
    fn finish(&mut self) {
        let signal = |worker: &Worker, signal| {
            let process = worker.process.as_ref().map(|process| process.id() as i32);
            if let Some(pid) = process.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, signal);
            }
        };
        self.workers.iter().for_each(|worker| signal(worker, rustix::process::Signal::TERM));
        let until = Instant::now() + GRACE;
        loop {
            for worker in &mut self.workers {
                if worker.process.as_mut().is_some_and(|process| !matches!(process.try_wait(), Ok(None))) {
                    worker.process = None;
                }
            }
            let running = self.workers.iter().any(|worker| worker.process.is_some());
            if !running || Instant::now() >= until {
                break;
            }
            self.listen(LOOK / 4);
        }
        for worker in &mut self.workers {
            signal(worker, rustix::process::Signal::KILL);
            if let Some(process) = &mut worker.process {
                let _ = process.wait();
            }
        }
        self.listen(LOOK / 4);
    }

    /// The figures of all workers as one.
    fn sum(&self) -> Report {
        let mut sum = Report::default();
        self.workers.iter().for_each(|worker| sum.merge(&worker.report));
        sum
    }
}
