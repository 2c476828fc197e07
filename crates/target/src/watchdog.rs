//! Ends runs whose time is up, from a thread of its own.
//!
//! The executor waits for a verdict in a plain `read`, without asking for
//! the time: two calls to the system per run would be one too many. It only
//! stores when a run began. The watchdog sleeps until the run that it saw
//! could be over, and looks again: as a later run can only be over later,
//! one look per timeout is enough, and each run is ended on time.
//!
//! At the end of a campaign ([`End`]) the time of every run is up.
//!
//! A run has one end: whoever takes it out of [`Clock::state`] first, the
//! executor or the watchdog, has ended it.

use super::end::End;
use super::warden::Commander;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a watchdog does to end a run.
pub trait Stop: Send + Sync {
    /// How far the run is: when this grows, its time begins anew, up to
    /// [`WHOLE`]. The target writes it: it may be anything.
    fn progress(&self) -> u32;
    /// Ends run `number`; what follows must be an answer on the pipe.
    fn stop(&self, number: u32, commander: &Commander);
}

/// Runs, as executor and watchdog see them.
pub struct Clock {
    epoch: Instant,
    /// 0: no run. Else twice the number of the run, and 1 if it was ended
    /// by the watchdog.
    state: AtomicU64,
    /// The run that the watchdog has stopped last, as in the state.
    stopped: AtomicU64,
    /// When it began, in nanoseconds since the epoch.
    began: AtomicU64,
    /// How long a run may take, in nanoseconds.
    limit: AtomicU64,
    /// The child that runs it, for those who stop it by its number.
    pub child: AtomicI32,
    over: AtomicBool,
    asleep: Mutex<()>,
    wake: Condvar,
}

impl Clock {
    /// A run begins now.
    pub fn begin(&self, number: u32) -> Instant {
        let now = Instant::now();
        self.began.store((now - self.epoch).as_nanos() as u64, Ordering::Relaxed);
        self.state.store(u64::from(number) << 1, Ordering::Release);
        now
    }

    fn limit(&self) -> Duration {
        Duration::from_nanos(self.limit.load(Ordering::Relaxed))
    }

    /// How long runs may take from now on. No run is under way.
    pub fn set_limit(&self, limit: Duration) {
        self.limit.store(limit.as_nanos().try_into().unwrap_or(u64::MAX / 2), Ordering::Relaxed);
        // The watchdog may sleep until a later time.
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// The run is over; whether the watchdog was first. Then it has done
    /// what it does about this run.
    pub fn end(&self) -> bool {
        let state = self.state.swap(0, Ordering::AcqRel);
        let stopped = state & 1 == 1;
        while stopped && self.stopped.load(Ordering::Acquire) != state {
            std::thread::sleep(Duration::from_micros(50));
        }
        stopped
    }
}

/// The thread.
pub struct Watchdog {
    clock: Arc<Clock>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watchdog")
    }
}

/// The time of all inputs that are run together, in times of one run. Whatever
/// a target says of its progress, it ends then.
const WHOLE: u32 = 2;
/// For a fork server to answer after its child was killed.
const GRACE: Duration = Duration::from_secs(2);
/// The same when the campaign is to end.
const SHORT_GRACE: Duration = Duration::from_millis(200);

impl Watchdog {
    /// Watches runs of at most this time.
    pub fn new(
        limit: Duration,
        end: End,
        commander: Commander,
        stop: Arc<dyn Stop>,
    ) -> std::io::Result<Watchdog> {
        let clock = Arc::new(Clock {
            epoch: Instant::now(),
            state: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            began: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            child: AtomicI32::new(0),
            over: AtomicBool::new(false),
            asleep: Mutex::new(()),
            wake: Condvar::new(),
        });
        clock.set_limit(limit);
        let shared = clock.clone();
        let builder = std::thread::Builder::new().name("watchdog".into()).stack_size(64 << 10);
        let thread = builder.spawn(move || watch(&shared, &end, &commander, &*stop))?;
        Ok(Watchdog { clock, thread: Some(thread) })
    }

    /// What the executor tells of its runs.
    pub fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.clock.over.store(true, Ordering::Release);
        drop(self.clock.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.clock.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(clock: &Clock, end: &End, commander: &Commander, stop: &dyn Stop) {
    // The run that was stopped, and when; later it is ended the hard way.
    let mut stopped: Option<(u64, Duration)> = None;
    let mut mark = None;
    loop {
        let state = clock.state.load(Ordering::Acquire);
        let began = Duration::from_nanos(clock.began.load(Ordering::Relaxed));
        let limit = clock.limit();
        let now = clock.epoch.elapsed();
        let over = end.has_come();
        let grace = if over { SHORT_GRACE } else { GRACE };
        // Whatever begins from now on is not over before.
        let mut until = now + limit;
        if state & 1 == 1 {
            if let Some((run, since)) = stopped
                && run == state
                && now >= since + grace
            {
                commander.kill_all();
                stopped = Some((run, now));
            }
            until = until.min(now + grace);
        } else if state != 0 {
            let mut deadline = began.saturating_add(limit);
            if now >= deadline {
                deadline = extended(&mut mark, state, stop.progress(), began, now, limit);
            }
            if now < deadline && !over {
                until = deadline;
            // Fails if the run has just ended, or another has begun.
            } else if clock
                .state
                .compare_exchange(state, state | 1, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                stop.stop((state >> 1) as u32, commander);
                clock.stopped.store(state | 1, Ordering::Release);
                stopped = Some((state | 1, now));
                until = until.min(now + grace);
            }
        }
        // Once it has come, only a run that was stopped is worth a look.
        let time = until.saturating_sub(now);
        let time = if over { time.min(SHORT_GRACE) } else { end.nap(time) };
        if !sleep(clock, time, limit) {
            return;
        }
    }
}

/// How far a run had come, and when that was seen first.
#[derive(Clone, Copy, Debug)]
struct Mark {
    run: u64,
    progress: u32,
    since: Duration,
}

/// When a run that began longer ago than the limit is over.
fn extended(
    mark: &mut Option<Mark>,
    run: u64,
    progress: u32,
    began: Duration,
    now: Duration,
    limit: Duration,
) -> Duration {
    let before = mark.filter(|mark| mark.run == run).unwrap_or(Mark { run, progress: 0, since: began });
    let here = if progress > before.progress { Mark { run, progress, since: now } } else { before };
    *mark = Some(here);
    here.since.saturating_add(limit).min(began.saturating_add(limit.saturating_mul(WHOLE)))
}

/// Sleeps, unless the limit is another by now; false when the watch is over.
fn sleep(clock: &Clock, time: Duration, limit: Duration) -> bool {
    let guard = clock.asleep.lock().unwrap_or_else(PoisonError::into_inner);
    if clock.over.load(Ordering::Acquire) {
        return false;
    }
    // Waking too early does no harm: the clock is read again.
    if clock.limit() == limit {
        drop(clock.wake.wait_timeout(guard, time));
    }
    !clock.over.load(Ordering::Acquire)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);
    const BEGAN: Duration = Duration::from_secs(5);

    /// When a run ends whose progress is this, each time that the watchdog looks.
    #[track_caller]
    fn check(mut progress: impl FnMut(u32) -> u32, limits: u32) {
        let mut mark = None;
        let mut now = BEGAN + LIMIT;
        for look in 0..100 {
            let end = extended(&mut mark, 2, progress(look), BEGAN, now, LIMIT);
            if now >= end {
                assert_eq!(now, BEGAN + LIMIT * limits);
                return;
            }
            now = end;
        }
        panic!("the run never ends");
    }

    #[test]
    fn progress_gives_time_but_not_without_end() {
        check(|_| 0, 1);
        check(|look| look, 1);
        check(|_| 3, 2);
        check(|look| look + 1, WHOLE);
        check(|look| u32::MAX - look, WHOLE);
        check(|look| if look % 2 == 0 { 7 } else { 0 }, WHOLE);
        check(|look| [u32::MAX, 5, 9][look as usize % 3], WHOLE);
    }

    #[test]
    fn another_run_has_its_own_progress() {
        let mut mark = Some(Mark { run: 2, progress: u32::MAX, since: BEGAN });
        let later = BEGAN + LIMIT * 5;
        let end = extended(&mut mark, 4, 3, later, later + LIMIT, LIMIT);
        assert_eq!(end, later + LIMIT * WHOLE);
    }
}
