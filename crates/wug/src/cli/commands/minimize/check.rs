//! A command that says whether an input is of interest.

use super::keep::{Keep, Trouble};
use crate::cli::Failure;
use crate::cli::interrupt::Interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wug_files::private::Temporary;
use wug_files::reason;

/// For a run, if none is given: a check may be a whole script.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// How often somebody is looked for who wants this to stop.
const SLICE: Duration = Duration::from_millis(50);

/// A command of the shell.
pub struct Check {
    command: OsString,
    /// The input comes on standard input.
    stdin: bool,
    timeout: Duration,
    interrupt: Interrupt,
    folder: Temporary,
    /// Where candidates are written to, with the name of the input.
    path: PathBuf,
    /// How the last run ended; none for a timeout.
    last: Option<ExitStatus>,
}

impl Check {
    pub fn new(
        command: &OsStr,
        input: &Path,
        timeout: Duration,
        interrupt: Interrupt,
    ) -> Result<Check, Failure> {
        let failed = |error: &io::Error| {
            Failure::Message(1, format!("cannot make a folder for candidates: {}", reason(error)))
        };
        let folder = Temporary::new("minimize").map_err(|error| failed(&error))?;
        // Programs look at the ending of a name.
        let name = input.extension().map_or("input".into(), |ending| {
            let mut name = OsString::from("input.");
            name.push(ending);
            name
        });
        let path = folder.path().join(name);
        let (command, stdin) = with_path(command, &path);
        Ok(Check { command, stdin, timeout, interrupt, folder, path, last: None })
    }

    fn run(&mut self, input: &[u8]) -> io::Result<Option<ExitStatus>> {
        // A command may have changed or removed it.
        let _ = fs::remove_file(&self.path);
        fs::write(&self.path, input)?;
        let stdin = if self.stdin { Stdio::from(File::open(&self.path)?) } else { Stdio::null() };
        let child = Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own: all of it ends when the time is up.
            .process_group(0)
            .spawn()?;
        self.wait(child)
    }

    /// Waits for the end, the time or an interrupt.
    fn wait(&self, mut child: Child) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + self.timeout;
        let pid = Pid::from_child(&child);
        let end = pidfd_open(pid, PidfdFlags::empty())?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let slice = left.min(SLICE);
            let time = Timespec { tv_sec: 0, tv_nsec: slice.as_nanos() as _ };
            let ready = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&time));
            match ready {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
            if left.is_zero() || self.interrupt.asked() {
                let _ = kill_process_group(pid, Signal::KILL);
                child.wait()?;
                return Ok(None);
            }
        }
        let status = child.wait()?;
        // What it left behind must not meet the next candidate.
        let _ = kill_process_group(pid, Signal::KILL);
        Ok(Some(status))
    }
}

impl Keep for Check {
    fn holds(&mut self, input: &[u8]) -> Result<bool, Trouble> {
        match self.run(input) {
            Ok(status) => {
                self.last = status;
                if status.is_none() && self.interrupt.asked() {
                    return Err(Trouble::Interrupted);
                }
                Ok(status.is_some_and(|status| status.success()))
            }
            Err(error) => {
                let (folder, why) = (self.folder.path().display(), reason(&error));
                Err(Trouble::Failed(format!("cannot run the check in `{folder}`: {why}")))
            }
        }
    }

    fn kept(&self) -> String {
        "the check exits with 0".to_string()
    }

    fn refusal(&self) -> String {
        let how = match self.last {
            None => format!("is not done after {} ms; -t gives it more time", self.timeout.as_millis()),
            Some(status) => match status.code() {
                Some(126 | 127) => "cannot be run: the shell does not find the command".to_string(),
                Some(code) => format!("exits with {code}"),
                None => "is ended by a signal".to_string(),
            },
        };
        format!("on the input as it is, the check {how}")
    }
}

/// The command with the path of the input; whether it names none.
fn with_path(command: &OsStr, path: &Path) -> (OsString, bool) {
    let (mut out, mut rest) = (Vec::new(), command.as_bytes());
    let mut found = false;
    while let Some(at) = rest.windows(2).position(|two| two == b"@@") {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(path.as_os_str().as_bytes());
        rest = &rest[at + 2..];
        found = true;
    }
    out.extend_from_slice(rest);
    (OsString::from_vec(out), !found)
}
