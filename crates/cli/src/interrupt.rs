//! Ctrl-C: the first asks the command to stop where nothing is lost, the
//! second ends it at once.

use signal_hook::consts::{SIGINT, SIGTERM};
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
        let Interrupt { asked, signal } = &interrupt;
        for number in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set. A signal
            // that cannot be caught ends the process, as it would anyway.
            let exit = BY_SIGNAL + number;
            let _ = signal_hook::flag::register_conditional_shutdown(number, exit, asked.clone());
            let _ = signal_hook::flag::register_usize(number, signal.clone(), number as usize);
            let _ = signal_hook::flag::register(number, asked.clone());
        }
        interrupt
    }

    /// Whether it came.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The exit code of a command that was stopped, as shells have it.
    pub fn exit_code(&self) -> u8 {
        (BY_SIGNAL as usize + self.signal.load(Ordering::Relaxed)) as u8
    }
}
