//! What a target writes, kept in a file in memory: for runs of any kind.
//!
//! A pipe would do for plain runs only, since children of a fork server share
//! it. The file is the target's to write to at any time: it is read up to a
//! bound, and never mapped.

use super::error::Error;
use super::sys;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// The file.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    bound: usize,
}

impl Recorder {
    /// An empty one.
    pub fn new(bound: usize) -> Result<Recorder, Error> {
        let file = sys::memory_file(c"wug-output").map_err(Error::system("make a file in memory"))?;
        Ok(Recorder { file: file.into(), bound })
    }

    /// For the target: whatever is written comes behind what is there.
    pub fn end(&self) -> io::Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        OpenOptions::new().append(true).open(path).map(OwnedFd::from)
    }

    /// What was written since the last time.
    pub fn take(&self) -> Result<Vec<u8>, Error> {
        let take = || {
            let length = self.file.metadata()?.len().min(self.bound as u64) as usize;
            let mut bytes = vec![0; length];
            let mut done = 0;
            while done < length {
                match self.file.read_at(&mut bytes[done..], done as u64)? {
                    0 => break,
                    got => done += got,
                }
            }
            bytes.truncate(done);
            self.file.set_len(0)?;
            Ok(bytes)
        };
        take().map_err(Error::system("read the target's output"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_written_is_taken_once_and_up_to_the_bound() {
        let recorder = Recorder::new(4).expect("memory");
        let mut end = File::from(recorder.end().expect("an end"));
        end.write_all(b"abc").expect("room");
        assert_eq!(recorder.take().expect("bytes"), b"abc");
        assert_eq!(recorder.take().expect("bytes"), b"");
        end.write_all(b"defghi").expect("room");
        assert_eq!(recorder.take().expect("bytes"), b"defg");
    }
}
