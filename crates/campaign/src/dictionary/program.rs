//! Texts in a program's data, as tokens: what it compares its input with is
//! often among them.
//!
//! Texts are runs of printable bytes, as `strings` shows them. Long ones are
//! messages for people and left out, as are those of our own runtime, which
//! every target has.

use super::Tokens;
use object::read::{ReadCache, ReadRef};
use object::{Object, ObjectSection, SectionKind};
use std::fs::File;
use std::io;
use std::path::Path;

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
    let cache = ReadCache::new(File::open(path)?);
    let Ok(program) = object::File::parse(&cache) else { return Ok(Vec::new()) };
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
        if let Ok(data) = (&cache).read_bytes_at(offset, size) {
            scan(data, &mut tokens);
        }
    }
    Ok(tokens.list)
}

/// Other read-only sections are tables: of unwinding, of relocation.
fn is_text_section(name: &str) -> bool {
    name.starts_with(".rodata") || matches!(name, "__cstring" | "__const" | ".rdata")
}

fn scan(data: &[u8], tokens: &mut Tokens) {
    for run in data.split(|&byte| !(0x20..0x7f).contains(&byte)) {
        if LENGTHS.contains(&run.len()) && !is_ours(run) {
            tokens.add(run);
        }
        if tokens.list.len() == MOST {
            return;
        }
    }
}

fn is_ours(text: &[u8]) -> bool {
    let beginnings: [&[u8]; 6] = [b"__AFL", b"__WUG", b"AFL_", b"WUG_", b"##SIG", b"__afl"];
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}
