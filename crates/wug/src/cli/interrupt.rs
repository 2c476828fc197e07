//! Signals that ask a command to end: the first asks it to stop where nothing
//! is lost, a second Ctrl-C (or SIGTERM) ends it at once.
//!
//! A terminal that goes away (SIGHUP) asks as well; shells may send that
//! twice, so it never ends anything at once. Under `nohup` it stays ignored.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether somebody wants this to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

/// What shells add to the number of a signal that ended a command.
const BY_SIGNAL: i32 = 128;

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        for number in [SIGINT, SIGTERM] {
            interrupt.ask_then_end(number);
        }
        if !is_ignored(SIGHUP) {
            interrupt.ask_by(SIGHUP);
        }
        interrupt
    }

    /// The same in a process that another one tells when to end, by SIGTERM:
    /// what the terminal sends to both is for the other alone.
    pub fn listen_to_parent() -> Interrupt {
        let interrupt = Interrupt::default();
        interrupt.ask_by(SIGTERM);
        for number in [SIGINT, SIGHUP] {
            // Not ignored, which what is started here would inherit.
            let _ = signal_hook::flag::register(number, Arc::default());
        }
        interrupt
    }

    /// A signal that cannot be caught ends the process, as it would anyway.
    fn ask_by(&self, number: i32) {
        let _ = signal_hook::flag::register_usize(number, self.signal.clone(), number as usize);
        let _ = signal_hook::flag::register(number, self.asked.clone());
    }

    /// Asks at the first signal, and ends the process at the second.
    ///
    /// One swap tells first from second: two signals can arrive on two
    /// threads at once, and both would find a flag down that is raised later.
    fn ask_then_end(&self, number: i32) {
        let Interrupt { asked, signal } = self.clone();
        let handler = move || {
            signal.store(number as usize, Ordering::Relaxed);
            if asked.swap(true, Ordering::Relaxed) {
                signal_hook::low_level::exit(BY_SIGNAL + number);
            }
        };
        // SAFETY: the handler does only what is async-signal-safe, two atomic
        // stores and _exit; the tests of `tests/ending.rs` send both signals.
        let _ = unsafe { signal_hook::low_level::register(number, handler) };
    }

    /// Whether it came.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag that is raised then.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// The exit code of a command that was stopped, as shells have it.
    pub fn exit_code(&self) -> u8 {
        (BY_SIGNAL as usize + self.signal.load(Ordering::Relaxed)) as u8
    }
}

/// Whether this process was started with a signal ignored.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}
