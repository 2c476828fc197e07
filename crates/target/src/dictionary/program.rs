//! Texts in a program's data, as tokens: what it compares its input with is
//! often among them.
//!
//! Texts are runs of printable bytes, as `strings` shows them. Long ones are
//! messages for people and left out. Those of our own runtime are in a section of
//! their own, which is not read.

use super::Tokens;
use object::read::{ReadCache, ReadRef};
use object::{Object, ObjectSection, SectionKind};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use wug_files::regular;

/// Shortest and longest text that is taken for a token.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=32;

/// Most tokens of a program.
const MOST: usize = 4096;

/// Bytes of data that are looked through.
const DATA: u64 = 64 << 20;

/// Where to look for texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    /// In constants, where literals of C are.
    ReadOnly,
    /// Also in variables that have a value from the start.
    AllData,
}

/// Texts of a program, at most 4,096. A file that is no program has none.
pub fn of_program(path: &Path, sections: Sections) -> io::Result<Vec<Vec<u8>>> {
    let cache = ReadCache::new(regular::open(path)?);
    let bounded = Bounded(&cache);
    let Ok(program) = object::File::parse(bounded) else { return Ok(Vec::new()) };
    let mut tokens = Tokens::default();
    let mut left = DATA;
    for section in program.sections() {
        let wanted = match section.kind() {
            SectionKind::ReadOnlyString | SectionKind::ReadOnlyData => {
                is_text_section(section.name().unwrap_or(""))
            }
            SectionKind::Data => {
                sections == Sections::AllData && section.name().unwrap_or("").ends_with("data")
            }
            _ => false,
        };
        let Some((offset, size)) = section.file_range().filter(|_| wanted) else { continue };
        let size = size.min(left);
        left -= size;
        if let Ok(data) = bounded.read_bytes_at(offset, size) {
            scan(data, &mut tokens);
        }
    }
    if tokens.seen.contains(AFL) {
        tokens.list.retain(|text| !is_of_afl(text));
    }
    Ok(tokens.list)
}

/// A file in which a header cannot claim that all of it is one table.
#[derive(Clone, Copy)]
struct Bounded<'a>(&'a ReadCache<File>);

impl<'a> ReadRef<'a> for Bounded<'a> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        if size > DATA { Err(()) } else { self.0.read_bytes_at(offset, size) }
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}

/// Other read-only sections are tables: of unwinding, of relocation.
fn is_text_section(name: &str) -> bool {
    name.starts_with(".rodata") || matches!(name, "__cstring" | "__const" | ".rdata")
}

fn scan(data: &[u8], tokens: &mut Tokens) {
    for run in data.split(|&byte| !(0x20..0x7f).contains(&byte)) {
        if LENGTHS.contains(&run.len()) {
            tokens.add(run);
        }
        if tokens.list.len() == MOST {
            return;
        }
    }
}

/// A text of AFL++'s runtime, in every program that its compilers build.
const AFL: &[u8] = b"__AFL_SHM_ID";

/// Whether a text is one of AFL++'s runtime, as far as its beginning tells:
/// they are among those of the program.
fn is_of_afl(text: &[u8]) -> bool {
    let beginnings: [&[u8]; 4] = [b"__AFL", b"AFL_", b"##SIG_AFL", b"__afl"];
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}
