//! Files read by range: only what is asked for, and no more than a budget.
//!
//! In:  a file that a target named, and how much of it may be read.
//! Out: parts of it; an error where one lies outside or the budget is spent.
//!
//! A target chooses the files that it maps, how large they are and what their
//! tables claim. Reading a file whole was rejected: it costs as much memory as
//! the file has bytes, and most of a program is code, which nobody looks at.

use object::read::{ReadCache, ReadRef};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes that are read at once where texts are looked for.
const BLOCK: u64 = 1 << 16;
/// Longer texts are none.
const LONGEST: u64 = 1 << 12;

/// A file of which parts are read once and kept until the end.
#[derive(Debug)]
pub struct Ranged<R: Read + Seek> {
    cache: ReadCache<R>,
    /// The same file, for what is not kept.
    file: R,
    length: u64,
    /// Bytes that may still be read.
    left: Cell<u64>,
    /// Parts that are there.
    known: RefCell<HashSet<(u64, u64)>>,
}

impl<R: Read + Seek + Clone> Ranged<R> {
    /// Of which at most `budget` bytes are read.
    pub fn new(mut file: R, budget: u64) -> Ranged<R> {
        let length = file.seek(SeekFrom::End(0)).unwrap_or(0);
        let cache = ReadCache::new(file.clone());
        Ranged { cache, file, length, left: Cell::new(budget), known: RefCell::default() }
    }

    /// A part that the caller keeps, of at most so many bytes.
    pub fn copy(&self, offset: u64, size: u64, most: u64) -> Option<Vec<u8>> {
        if size > most {
            return None;
        }
        self.pay(offset, size).ok()?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.fill(offset, &mut bytes).then_some(bytes)
    }

    /// Whether a text is in a part, of which no more than `most` bytes are
    /// looked at. They are not kept, and cost no budget.
    pub fn holds(&self, offset: u64, size: u64, text: &[u8], most: u64) -> bool {
        let end = offset.saturating_add(size.min(most)).min(self.length);
        let mut block = vec![0; BLOCK as usize + text.len()];
        let mut at = offset;
        while at < end {
            // Blocks overlap, since a text may lie across their border.
            let size = (block.len() as u64).min(end - at) as usize;
            if !self.fill(at, &mut block[..size]) {
                return false;
            }
            if find(&block[..size], text).is_some() {
                return true;
            }
            at += BLOCK;
        }
        false
    }

    fn fill(&self, offset: u64, to: &mut [u8]) -> bool {
        let mut file = self.file.clone();
        file.seek(SeekFrom::Start(offset)).is_ok() && file.read_exact(to).is_ok()
    }
}

impl<R: Read + Seek> Ranged<R> {
    /// Bytes that may still be read.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Pays for a part, before memory is taken for it.
    fn pay(&self, offset: u64, size: u64) -> Result<(), ()> {
        if offset.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(());
        }
        if self.known.borrow().contains(&(offset, size)) {
            return Ok(());
        }
        self.left.set(self.left.get().checked_sub(size).ok_or(())?);
        self.known.borrow_mut().insert((offset, size));
        Ok(())
    }
}

impl<'a, R: Read + Seek> ReadRef<'a> for &'a Ranged<R> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.length)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.pay(offset, size)?;
        (&self.cache).read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let until = |bytes: &'a [u8]| find(bytes, &[delimiter]).map(|end| &bytes[..end]);
        let first = range.start / BLOCK * BLOCK;
        let behind = range.end.min(self.length).min(range.start.saturating_add(LONGEST));
        let size = BLOCK.min(self.length.saturating_sub(first));
        let block = self.read_bytes_at(first, size)?;
        let end = behind.min(first + size);
        let inside = block.get((range.start - first) as usize..end.saturating_sub(first) as usize);
        match until(inside.ok_or(())?) {
            Some(text) => Ok(text),
            None if end == behind => Err(()),
            // It goes on in the next block.
            None => until(self.read_bytes_at(range.start, behind - range.start)?).ok_or(()),
        }
    }
}

/// Where a text is.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    // SAFETY: both slices are valid for their lengths, and are only read.
    let found = unsafe { libc::memmem(bytes.as_ptr().cast(), bytes.len(), text.as_ptr().cast(), text.len()) };
    (!found.is_null()).then(|| found as usize - bytes.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn parts_are_those_of_the_whole_file_within_the_budget() {
        wug_property::check(|u| {
            let length = u.int_in_range(0..=3 * BLOCK as usize)?;
            let mut bytes: Vec<u8> = u.bytes(length.min(u.len()))?.to_vec();
            bytes.resize(length, 7);
            let budget = *u.choose(&[0, 1000, BLOCK, 8 * BLOCK])?;
            let file = Ranged::new(Cursor::new(&bytes[..]), budget);
            let mut spent = 0;
            for _ in 0..u.int_in_range(1..=20)? {
                // Near the borders of blocks, at times.
                let near = u.int_in_range(0..=4)? * BLOCK / 2;
                let start = near.saturating_add(u.int_in_range(0..=40)?).saturating_sub(20);
                let size = if u.arbitrary()? { u.arbitrary()? } else { u.int_in_range(0..=9_000)? };
                let (end, before) = (start.saturating_add(size), file.left());
                let whole = bytes.get(start as usize..end as usize);
                let part = (&file).read_bytes_at(start, size);
                spent += before - file.left();
                match part {
                    Ok(part) => assert_eq!(Some(part), whole),
                    Err(()) => assert!(whole.is_none() || size > before),
                }
                let delimiter = u.int_in_range(0..=7)?;
                let before = file.left();
                let text = (&file).read_bytes_at_until(start..end, delimiter);
                spent += before - file.left();
                let end = end.min(bytes.len() as u64).min(start.saturating_add(LONGEST));
                let told = bytes.get(start as usize..end as usize).and_then(|part| {
                    part.iter().position(|byte| *byte == delimiter).map(|length| &part[..length])
                });
                match text {
                    Ok(text) => assert_eq!(Some(text), told),
                    Err(()) => assert!(told.is_none() || before < 2 * BLOCK),
                }
            }
            assert!(spent <= budget);
            Ok(())
        })
        .sizes(512, 8_192)
        .for_cases(300);
    }

    #[test]
    fn texts_are_found_across_blocks_and_within_the_bound() {
        let mut bytes = vec![0; 4 * BLOCK as usize];
        let at = 2 * BLOCK as usize - 3;
        bytes[at..at + 5].copy_from_slice(b"hello");
        let file = Ranged::new(Cursor::new(&bytes[..]), 0);
        assert!(file.holds(0, u64::MAX, b"hello", u64::MAX));
        assert!(!file.holds(0, u64::MAX, b"hello", BLOCK) && !file.holds(0, u64::MAX, b"hallo", u64::MAX));
    }
}
