//! What a warden and the executor say to each other: messages of fixed
//! size over a socket that keeps their borders.

/// From the executor to its warden.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub what: u32,
    /// Flags of a start, or a process.
    pub a: i32,
}

impl Command {
    /// Start the target; `a` holds the flags below.
    pub const START: u32 = 1;
    /// Kill process `a`, a child of the target, by its number there.
    pub const KILL: u32 = 2;
    /// Kill everything that was started.
    pub const KILL_ALL: u32 = 3;
    /// Kill all processes from `a` on but the target that was started, and
    /// answer when they are gone.
    pub const SWEEP: u32 = 4;
    /// Answer, to show that all before was done.
    pub const PING: u32 = 6;
    /// Signal a fork server of ours that it end its run.
    pub const STOP: u32 = 5;

    /// With pipes on 198 and 199; the other ends come with the answer.
    pub const SERVER: i32 = 1;
    /// With output into a pipe, whose other end comes with the answer.
    pub const OUTPUT: i32 = 2;
    /// Stop before exec, so that a tracer can attach.
    pub const HOLD: i32 = 4;
}

/// From a warden to the executor.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub what: u32,
    /// Of a process that ended, as `wait` tells it; or how many were killed.
    pub status: i32,
    /// Of a sweep: the last number that was given out, if that is known.
    pub pid: i32,
    pub errno: i32,
    /// A step of the way, where something failed.
    pub step: u32,
    pub cpu_us: u64,
}

impl Event {
    /// The warden is ready; `step` holds a bit for each layer that failed.
    pub const READY: u32 = 1;
    /// The target runs as `pid`.
    pub const STARTED: u32 = 2;
    /// The target could not be started: `step` and `errno` tell why.
    pub const FAILED: u32 = 3;
    /// The target ended, and all that it started is gone.
    pub const ENDED: u32 = 4;
    /// The answer to a sweep or a ping.
    pub const SWEPT: u32 = 5;
    /// Sent by the target's process itself, before it stops for a tracer.
    pub const HELD: u32 = 6;
}

/// Steps on the way to a running target, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    Pipes = 1,
    Clone,
    Descriptors,
    Session,
    Limits,
    Groups,
    User,
    Privileges,
    Landlock,
    Seccomp,
    Exec,
}

impl Step {
    /// What could not be done.
    pub fn text(number: u32) -> &'static str {
        match number {
            1 => "make pipes",
            2 => "make a process",
            3 => "hand over descriptors",
            4 => "open a session",
            5 => "set limits",
            6 => "drop groups",
            7 => "change the user",
            8 => "give up privileges",
            9 => "restrict what may be written",
            10 => "restrict system calls",
            _ => "execute the program",
        }
    }
}
