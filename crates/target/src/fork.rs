//! Where the fork server of a target of `wug cc` starts.
//!
//! In:  where it is asked to ([`Fork`]), and what the target's runtime said.
//! Out: where it did, or why it stays before `main`: a [`ForkPoint`].
//!
//! A server that starts where the input begins spares each run the set-up of
//! the program. The runtime finds that place and looks whether a fork keeps the
//! state of the process there (`crates/runtime/c/late.c`); `prove.rs` compares
//! runs of both kinds before such a server is used. What the runtime says is
//! foreign data: numbers are looked up, unknown ones are named as such.

use super::error::Error;
use super::stack::symbol_address;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use wug_runtime::abi;

/// Where a fork server is asked to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ForkAt {
    /// Before `main`.
    #[default]
    Main,
    /// Right before the first system call that may tell of the input.
    Input,
    /// Before this function of the executable is called for the first time.
    Symbol(String),
}

/// Where fork servers start, and what is known of the place. Copies share what
/// was found out: each build of a target is judged once.
#[derive(Clone, Debug)]
pub struct Fork {
    /// Where they are asked to start.
    pub at: ForkAt,
    /// Mutants of the first inputs that are run both ways. 0: the place is
    /// taken without proof, which only its judge does.
    pub mutants: usize,
    /// Of slow programs, fewer mutants are run: those that begin in this time.
    pub patience: Duration,
    proofs: Arc<Mutex<Proofs>>,
}

/// By program: whether runs of both kinds agree, or how they differ.
type Proofs = HashMap<PathBuf, Result<usize, String>>;

impl Default for Fork {
    fn default() -> Self {
        Fork { at: ForkAt::Main, mutants: 100, patience: Duration::from_secs(60), proofs: Arc::default() }
    }
}

impl Fork {
    /// A choice that has not been proven.
    pub fn at(at: ForkAt) -> Fork {
        Fork { at, ..Fork::default() }
    }

    /// The same place, taken without proof: for its judge, and for measurements.
    pub fn unproven(&self) -> Fork {
        Fork { mutants: 0, ..Fork::at(self.at.clone()) }
    }

    /// What is known so far. Whoever holds it is the one that finds out.
    pub(crate) fn proofs(&self) -> MutexGuard<'_, Proofs> {
        // A map is whole at any time.
        self.proofs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl std::str::FromStr for ForkAt {
    type Err = String;

    fn from_str(text: &str) -> Result<ForkAt, String> {
        match text {
            "main" => Ok(ForkAt::Main),
            "input" => Ok(ForkAt::Input),
            "" => Err("write main, input, or the name of a function".into()),
            name => Ok(ForkAt::Symbol(name.into())),
        }
    }
}

/// Where a fork server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkPoint {
    /// Before `main`, or where the program itself says; or there is none.
    Main,
    /// Where it was asked to.
    Late {
        /// The function, or where the input begins.
        symbol: Option<String>,
        /// The system call at that place.
        call: Option<u32>,
        /// `abi::NOTE_*`.
        notes: u32,
        /// How many runs of both kinds agreed; None: none was made yet.
        agreed: Option<usize>,
    },
    /// Before `main`, though it was asked for elsewhere: why.
    Stays(String),
}

impl ForkPoint {
    /// Whether runs begin behind the set-up of the program.
    pub fn is_late(&self) -> bool {
        matches!(self, ForkPoint::Late { .. })
    }
}

impl fmt::Display for ForkPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (symbol, call, notes, agreed) = match self {
            ForkPoint::Main => return f.write_str("the fork server starts before main"),
            ForkPoint::Stays(why) => {
                return write!(f, "the fork server stays before main: {why}");
            }
            ForkPoint::Late { symbol, call, notes, agreed } => (symbol, call, notes, agreed),
        };
        match symbol {
            Some(symbol) => write!(f, "the fork server starts before {symbol}")?,
            None => write!(f, "the fork server starts where the input begins")?,
        }
        if let Some(call) = call {
            match call_name(*call) {
                Some(name) => write!(f, ", at {name}")?,
                None => write!(f, ", at system call {call}")?,
            }
        }
        if let Some(runs) = agreed {
            write!(f, " ({runs} runs agree with runs from the beginning)")?;
        }
        let kept: Vec<&str> =
            NOTES.iter().filter(|(bit, _)| notes & bit != 0).map(|(_, name)| *name).collect();
        match kept.is_empty() {
            true => Ok(()),
            false => write!(f, "; the same in all runs: {}", kept.join(", ")),
        }
    }
}

const NOTES: [(u32, &str); 4] = [
    (abi::NOTE_RANDOM, "random numbers"),
    (abi::NOTE_PROCESS, "the number of the process"),
    (abi::NOTE_TIME, "the time"),
    (abi::NOTE_OUTPUT, "what was written before"),
];

/// Calls at which inputs begin, by the numbers of x86-64, the only machine on
/// which a runtime says any.
fn call_name(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "read",
        2 => "open",
        4 => "stat",
        5 => "fstat",
        6 => "lstat",
        7 => "poll",
        8 => "lseek",
        9 => "mmap",
        16 => "ioctl",
        17 => "pread64",
        19 => "readv",
        21 => "access",
        23 => "select",
        88 => "symlink",
        89 => "readlink",
        257 => "openat",
        262 => "newfstatat",
        267 => "readlinkat",
        269 => "faccessat",
        270 => "pselect6",
        271 => "ppoll",
        332 => "statx",
        437 => "openat2",
        439 => "faccessat2",
        _ => return None,
    })
}

/// What a runtime said of the place: its number, system call and notes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    pub late: u32,
    pub call: u32,
    pub notes: u32,
}

/// The place of an executor's fork server.
#[derive(Debug)]
pub(crate) struct Place {
    symbol: Option<String>,
    /// As the runtime is told: the function's place, or 0 for the input.
    site: Option<u64>,
    pub point: ForkPoint,
    /// What the target covers before that place.
    pub setup: Vec<u8>,
    /// Whether nothing is to be proven any more.
    pub settled: bool,
}

impl Place {
    /// Looks for the symbol, if there is one. Programs without our runtime know
    /// one place only.
    pub fn new(at: &ForkAt, native: bool, program: &Path) -> Result<Place, Error> {
        let mut place =
            Place { symbol: None, site: None, point: ForkPoint::Main, setup: Vec::new(), settled: true };
        match at {
            ForkAt::Main => return Ok(place),
            ForkAt::Input if !native => return Ok(place),
            ForkAt::Symbol(_) if !native => {
                place.point =
                    ForkPoint::Stays("only programs built with `wug cc` can start it elsewhere".into());
                return Ok(place);
            }
            ForkAt::Input => place.site = Some(0),
            ForkAt::Symbol(name) => {
                let address = symbol_address(program, name);
                place.site = Some(address.ok_or_else(|| Error::NoSymbol(name.clone()))?);
                place.symbol = Some(name.clone());
            }
        }
        place.settled = false;
        Ok(place)
    }

    /// What the runtime is told; None: to start before `main`.
    pub fn site(&self) -> Option<u64> {
        self.site
    }

    /// A fork server has started.
    pub fn started(&mut self, said: Said, is_late: bool, counts: &[u8]) {
        let Some(_) = self.site else { return };
        if !is_late || said.late != abi::LATE_SERVES {
            // Before `main`, and it stays there.
            return self.stay(match said.late {
                abi::LATE_OWN => {
                    self.site = None;
                    self.settled = true;
                    self.point = ForkPoint::Main;
                    return;
                }
                abi::LATE_SYSTEM => "this system cannot watch its calls (Linux 5.11 and x86-64 can)".into(),
                _ => "it was built by an older `wug cc`, or for another machine than x86-64".into(),
            });
        }
        self.setup = counts.to_vec();
        let agreed = match &self.point {
            ForkPoint::Late { agreed, .. } => *agreed,
            _ => None,
        };
        let call = (said.call != u32::MAX).then_some(said.call);
        self.point = ForkPoint::Late { symbol: self.symbol.clone(), call, notes: said.notes, agreed };
    }

    /// It did not start there; whether another start is worth it.
    pub fn failed(&mut self, said: Said) {
        let place = self.symbol.as_deref().unwrap_or("its input");
        let before = |what: &str| format!("before {place} comes, the program {what}");
        self.stay(match said.late {
            abi::LATE_TOUCHED => before("looks at its input"),
            abi::LATE_PROCESS => before("starts a thread or a process"),
            abi::LATE_EXEC => before("becomes another program"),
            abi::LATE_ENDED => before("ends"),
            abi::LATE_TIMER => before("sets a timer"),
            abi::LATE_LOCK => before("locks a file"),
            abi::LATE_PIPE => before("opens a pipe, a socket or a queue of events"),
            abi::LATE_SHARED => before("takes memory that a fork shares or leaves out"),
            abi::LATE_WRITES => before("changes files"),
            abi::LATE_LIMIT => before("sets bounds that would hold for the server"),
            abi::LATE_SIGNAL => before("uses signals that hide its system calls"),
            abi::LATE_DESCRIPTORS => before("opens too many files"),
            _ => before("ends, or never comes there"),
        });
    }

    /// From now on it starts before `main`.
    pub fn stay(&mut self, why: String) {
        self.site = None;
        self.settled = true;
        self.setup.clear();
        self.point = ForkPoint::Stays(why);
    }

    /// So many runs agree.
    pub fn prove(&mut self, runs: usize) {
        self.settled = true;
        if let ForkPoint::Late { agreed, .. } = &mut self.point {
            *agreed = Some(runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_in_one_line() {
        let check = |point: ForkPoint, line: &str| assert_eq!(point.to_string(), line);
        check(ForkPoint::Main, "the fork server starts before main");
        check(ForkPoint::Stays("x".into()), "the fork server stays before main: x");
        let late = |symbol: Option<&str>, call, notes, agreed| ForkPoint::Late {
            symbol: symbol.map(str::to_string),
            call,
            notes,
            agreed,
        };
        check(
            late(None, Some(257), abi::NOTE_TIME | abi::NOTE_RANDOM | 1 << 30, Some(101)),
            "the fork server starts where the input begins, at openat (101 runs agree with runs from the \
             beginning); the same in all runs: random numbers, the time",
        );
        check(late(Some("parse"), None, 0, None), "the fork server starts before parse");
        check(
            late(None, Some(9999), 0, None),
            "the fork server starts where the input begins, at system call 9999",
        );
    }

    #[test]
    fn whatever_a_target_says_is_a_line() {
        for late in (0..40).chain([u32::MAX]) {
            let mut place = Place::new(&ForkAt::Input, true, Path::new("")).expect("no symbol");
            place.failed(Said { late, call: late, notes: late });
            assert!(matches!(&place.point, ForkPoint::Stays(why) if !why.is_empty()));
            assert_eq!(place.site(), None);
            let mut place = Place::new(&ForkAt::Input, true, Path::new("")).expect("no symbol");
            place.started(Said { late, call: late, notes: late }, true, &[1]);
            assert_eq!(place.point.is_late(), late == abi::LATE_SERVES);
        }
    }
}
