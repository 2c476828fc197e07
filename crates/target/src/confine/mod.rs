//! What a target may do to the machine: as little as possible, in layers.
//!
//! | layer | keeps a target from |
//! | --- | --- |
//! | pid namespace | outliving the executor, signalling or seeing others' numbers |
//! | network namespace | talking to anybody but itself |
//! | IPC namespace | leaving System V memory behind |
//! | mount namespace | all files but those it needs (see `view`), sockets among them; filling the disk |
//! | other user | anything that only the user (or root) may do |
//! | Landlock | writing elsewhere, signalling or connecting to the outside |
//! | seccomp | calls that lead out of the other layers (see `filter`) |
//! | limits | forking without end, huge files, core files |
//!
//! Besides, always: its own session, no new privileges, and a warden process
//! (see `warden`) that ends it with the executor. A layer that the machine
//! does not permit is left out and [reported](Missing): a run in a container
//! is still worth something. Each can be switched off.

pub(crate) mod filter;
mod landlock;
mod libraries;
mod scratch;
mod secrets;
pub(crate) mod sweep;
mod user;
pub(crate) mod view;

pub(crate) use landlock::{Allowed, rules};
pub(crate) use libraries::libraries;
pub(crate) use scratch::{MANY, MAX_ENTRIES, Workplace};
pub(crate) use user::{User, choose_user, count_processes};
pub(crate) use view::{Rights, Shown, Step, View};

use std::fmt;
use std::path::PathBuf;

/// Which layers confine a target, and their bounds.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// New namespaces: pid, network, IPC, mounts.
    pub namespaces: bool,
    /// Of these, that of mounts: a file system of the target's own.
    pub view: bool,
    /// Another user, when root.
    pub user: bool,
    /// Landlock.
    pub landlock: bool,
    /// A filter of system calls.
    pub seccomp: bool,
    /// Limits on processes, files and core files.
    pub limits: bool,
    /// Processes and threads at a time.
    pub max_processes: u64,
    /// Bytes of the scratch folder, and of any file.
    pub scratch_bytes: u64,
    /// Files and folders that a target may read, besides what it needs.
    pub allow_read: Vec<PathBuf>,
    /// Files and folders that a target may write to.
    pub allow_write: Vec<PathBuf>,
}

impl Default for Confinement {
    fn default() -> Self {
        Confinement {
            namespaces: true,
            view: true,
            user: true,
            landlock: true,
            seccomp: true,
            limits: true,
            max_processes: 256,
            scratch_bytes: 64 << 20,
            allow_read: Vec::new(),
            allow_write: Vec::new(),
        }
    }
}

impl Confinement {
    /// No layer at all: for programs that are trusted.
    pub fn none() -> Self {
        Confinement {
            namespaces: false,
            user: false,
            landlock: false,
            seccomp: false,
            limits: false,
            ..Self::default()
        }
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
    /// A file system of its own, with a scratch folder of bounded size.
    View,
    /// A list of processes of its own, in `/proc`.
    ProcessList,
    /// Another user.
    User,
    /// Landlock: writing.
    Writing,
    /// Landlock: signals and abstract sockets.
    Signals,
    /// The filter of system calls.
    Calls,
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
            Layer::View => {
                "no mount namespace; targets can see the names of all files and fill the disk during a run"
            }
            Layer::ProcessList => "no /proc of its own; targets can see which processes run",
            Layer::User => "no other user; targets have the rights of this one",
            Layer::Writing => "no Landlock; targets can write wherever their user can",
            Layer::Calls => "no seccomp; targets can make all system calls",
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
