//! How a campaign was started, written down for people and for other
//! fuzzers: `cmdline`, `fuzzer_setup`, `crashes/README.txt`, `is_main_node`.

use super::Error;
use super::write::{When, Writer};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The file that says: this one imports from all, and all from it.
pub(super) const MAIN: &str = "is_main_node";

/// How a campaign was started.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The target and its arguments, `@@` as it was given.
    pub target: Vec<OsString>,
    /// The whole command line.
    pub command_line: Vec<OsString>,
    /// Whether secondary afl-fuzz instances shall import from here.
    pub main: bool,
}

impl Setup {
    pub(super) fn write(&self, folder: &Path, writer: &Writer) -> Result<(), Error> {
        let put = |name: &str, bytes: &[u8]| writer.put(&folder.join(name), bytes, When::Whenever);
        put("cmdline", &lines(&self.target))?;
        put("fuzzer_setup", &self.description())?;
        put("crashes/README.txt", &self.readme())?;
        if self.main {
            return put(MAIN, b"");
        }
        match std::fs::remove_file(folder.join(MAIN)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::of("remove", &folder.join(MAIN))(error))
            }
            _ => Ok(()),
        }
    }

    /// Variables that change what we do, and the command line, to be run
    /// again by a shell.
    fn description(&self) -> Vec<u8> {
        let ours =
            |name: &OsStr| [&b"AFL_"[..], b"WUG_"].iter().any(|prefix| name.as_bytes().starts_with(prefix));
        let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| ours(name)).collect();
        variables.sort();
        let mut out = b"# environment variables:\n".to_vec();
        for (name, value) in variables {
            out.extend([name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat());
        }
        out.extend(b"# command line:\n");
        out.extend(shell(&self.command_line));
        out.push(b'\n');
        out
    }

    fn readme(&self) -> Vec<u8> {
        let mut out =
            b"Each file here is an input that crashed the target; its name says by which signal and\n\
            how it was found. This campaign was started by\n\n  "
                .to_vec();
        out.extend(shell(&self.command_line));
        out.extend(b"\n\nTo see a crash again:\n\n  wug run ");
        out.extend(shell(&self.target));
        out.extend(b" -- FILE\n");
        out
    }
}

fn lines(words: &[OsString]) -> Vec<u8> {
    words.iter().flat_map(|word| [word.as_bytes(), b"\n"]).flatten().copied().collect()
}

/// Words as a shell reads them.
fn shell(words: &[OsString]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.push(b'\'');
        for &byte in word.as_bytes() {
            if byte == b'\'' { out.extend(b"'\\''") } else { out.push(byte) }
        }
        out.push(b'\'');
    }
    out
}
