//! What a target may do to the machine: as little as possible, in layers.
//!
//! | layer | keeps a target from |
//! | --- | --- |
//! | pid namespace | outliving the executor, signalling or seeing others' numbers |
//! | network namespace | talking to anybody but itself |
//! | IPC namespace | leaving System V memory behind |
//! | scratch file system | filling the disk: its scratch folder is memory of fixed size |
//! | other user | anything that only the user (or root) may do |
//! | Landlock | writing elsewhere, signalling or connecting to the outside |
//! | limits | forking without end, huge files, core files |
//!
//! Besides, always: its own session, no new privileges, and a warden process
//! (see `warden`) that ends it with the executor. A layer that the machine
//! does not permit is left out and [reported](Missing): a run in a container
//! is still worth something. Each can be switched off.

mod landlock;
mod scratch;
mod user;

pub(crate) use landlock::rules;
pub(crate) use scratch::{MAX_ENTRIES, Workplace};
pub(crate) use user::{User, choose_user, count_processes};

use std::fmt;

/// Which layers confine a target, and their bounds.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// New namespaces: pid, network, IPC, mounts.
    pub namespaces: bool,
    /// Another user, when root.
    pub user: bool,
    /// Landlock.
    pub landlock: bool,
    /// Limits on processes, files and core files.
    pub limits: bool,
    /// Processes and threads at a time.
    pub max_processes: u64,
    /// Bytes of the scratch folder, and of any file.
    pub scratch_bytes: u64,
}

impl Default for Confinement {
    fn default() -> Self {
        Confinement {
            namespaces: true,
            user: true,
            landlock: true,
            limits: true,
            max_processes: 256,
            scratch_bytes: 64 << 20,
        }
    }
}

impl Confinement {
    /// No layer at all: for programs that are trusted.
    pub fn none() -> Self {
        Confinement { namespaces: false, user: false, landlock: false, limits: false, ..Self::default() }
    }
}

/// A part of the confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A pid namespace.
    Processes,
    /// A network namespace.
    Network,
    /// An IPC namespace.
    Ipc,
    /// A file system of bounded size for the scratch folder.
    Scratch,
    /// Another user.
    User,
    /// Landlock: writing.
    Writing,
    /// Landlock: signals and abstract sockets.
    Signals,
    /// The limit of processes.
    ProcessLimit,
}

impl Layer {
    /// What a target can do without it.
    fn consequence(self) -> &'static str {
        match self {
            Layer::Processes => {
                "no pid namespace; processes that a target leaves behind are looked for in /proc"
            }
            Layer::Network => "no network namespace; targets can use the network",
            Layer::Ipc => "no IPC namespace; targets can leave System V memory behind",
            Layer::Scratch => {
                "no file system of its own for the scratch folder; a target can fill the disk during a run"
            }
            Layer::User => "no other user; targets have the rights of this one",
            Layer::Writing => "no Landlock; targets can write wherever their user can",
            Layer::Signals => {
                "Landlock of this kernel knows no signals; targets can signal processes of their user"
            }
            Layer::ProcessLimit => "the limit of processes does not bind root",
        }
    }
}

/// A layer that was asked for and that this machine does not permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which.
    pub layer: Layer,
    /// What the system says.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.layer.consequence())?;
        if self.why.is_empty() { Ok(()) } else { write!(f, " ({})", self.why) }
    }
}
