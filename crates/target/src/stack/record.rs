//! Where the runtime of a target saw it crash.
//!
//! In:  the addresses that the handler of `wug cc` wrote on the board.
//! Out: a [`Record`]: places in files, so that a crash at a known place costs
//!      no further run.
//!
//! The handler knows no names and finds its way by frame pointers, so what it
//! wrote is only compared with what it wrote before; and it is foreign data.

use super::super::server::Link;
use super::{Executor, Frame, symbols};
use wug_random::hash;
use wug_runtime::abi;

/// What the runtime wrote of a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The signal; 0 if nothing was written.
    pub signal: u32,
    /// Functions of instrumented files, innermost first, without names.
    pub frames: Vec<Frame>,
}

/// Frames by which records are told apart: more than sites have, since some
/// of them are old ones that were found on the stack.
const COMPARED: usize = 12;

impl Record {
    /// A number for it; None if nothing was written.
    pub fn key(&self) -> Option<u64> {
        let mut text = self.signal.to_string();
        for frame in self.frames.iter().take(COMPARED) {
            text.push_str(&format!(" {}+{:x}", frame.module, frame.address));
        }
        (!self.frames.is_empty()).then(|| hash(text.as_bytes()))
    }
}

impl Executor {
    /// What the runtime wrote of the last run, if it was asked for that
    /// ([`Options::record_crashes`](super::super::Options::record_crashes)).
    pub fn record(&mut self) -> Record {
        let Some(crash) = self.recorded else { return Record::default() };
        let modules = self.modules();
        let program = self.job.shown.program.to_string_lossy().into_owned();
        let count = (crash.frame_count as usize).min(abi::MAX_FRAMES);
        let mut frames = Vec::new();
        for (at, &pc) in crash.frames[..count].iter().enumerate() {
            // Inside the call, not behind it.
            let pc = pc.wrapping_sub(u64::from(at > 0));
            let Some(module) = modules.iter().find(|module| (module.base..module.end).contains(&pc)) else {
                continue;
            };
            let path = module.path.split(|byte| *byte == 0).next().unwrap_or_default();
            let path =
                if path.is_empty() { program.clone() } else { String::from_utf8_lossy(path).into_owned() };
            let lowest = self.knowledge.modules.get(&path).lowest();
            let address = (pc - module.base).wrapping_add(lowest);
            frames.push(Frame { module: path, address, ..Frame::default() });
        }
        Record { signal: crash.signal, frames }
    }

    /// The stack of a record, with names: for crashes that do not happen
    /// again, and where processes cannot be traced.
    pub fn stack_of(&mut self, record: Record) -> Vec<Frame> {
        symbols::name(record.frames, &mut |path| self.knowledge.modules.get(path))
    }

    /// Takes what was written on the board, for the next run.
    pub(in super::super) fn take_record(&mut self) {
        self.recorded = match self.driver.server().map(|server| &server.link) {
            Some(Link::Native(board)) if self.options.record_crashes => board.take_crash(),
            _ => None,
        };
    }
}
