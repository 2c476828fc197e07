//! Ctrl-C: the first asks the command to stop where nothing is lost, the
//! second ends it at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody wants this to stop.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

/// The exit code of a command that was stopped, as shells have it.
pub const EXIT: u8 = 130;

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set. A signal
            // that cannot be caught ends the process, as it would anyway.
            let exit = i32::from(EXIT);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, exit, asked.clone());
            let _ = signal_hook::flag::register(signal, asked.clone());
        }
        Interrupt(asked)
    }

    /// Whether it came.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
