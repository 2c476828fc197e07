//! The mappings of a process, as `/proc/PID/maps` lists them.

use std::fs;

/// A part of a process' memory, mostly of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    /// Whether it can be executed.
    pub code: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// The file, or what stands in its place.
    pub path: String,
}

impl Mapping {
    /// Whether an address is in it.
    pub fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Where it begins, in memory and in its file.
    pub fn begin(&self) -> (u64, u64) {
        (self.start, self.offset)
    }
}

/// The mappings of a process.
pub fn maps(pid: i32) -> Vec<Mapping> {
    parse(&fs::read(format!("/proc/{pid}/maps")).unwrap_or_default())
}

/// Reads what the system lists.
pub fn parse(text: &[u8]) -> Vec<Mapping> {
    String::from_utf8_lossy(text).lines().filter_map(mapping).collect()
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2).unwrap_or_default().trim_start();
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        code: rights.contains('x'),
        writable: rights.contains('w'),
        path: path.to_string(),
    })
}
