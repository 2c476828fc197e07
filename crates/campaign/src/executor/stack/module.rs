//! Files of code in a target's memory: their segments, symbols and unwind
//! tables.
//!
//! In:  the path of a file that a process has mapped.
//! Out: a [`Module`], read once: [`Modules`] keeps it for as long as the file
//!      has the same identity (device, inode, size, time of change).
//!
//! Reading a file for each crash was rejected: it is most of what a stack
//! costs, and the files of one target are the same for all its crashes. Only
//! headers, symbols, unwind tables and constants are read, by range, each with
//! a bound of its own: a target can map a file of any size.

use super::ranged::Ranged;
use super::system;
use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EhFrameOffset, EndianSlice, NativeEndian,
    UnwindSection,
};
use object::read::ReadRef;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use wug_files::regular;

/// What a stack needs to know of a file.
#[derive(Debug, Default)]
pub struct Module {
    segments: Vec<Segment>,
    /// In order of addresses, one for each address.
    symbols: Vec<Symbol>,
    /// The names of all symbols, one behind the other.
    names: String,
    tables: Option<Tables>,
    /// Whether it holds libc or another runtime besides a program's own code.
    pub contained: bool,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u64,
    /// 0: up to the next one.
    size: u64,
    name: (u32, u32),
}

/// `.eh_frame`, with the place of each function's description.
#[derive(Debug)]
pub struct Tables {
    bytes: Vec<u8>,
    bases: BaseAddresses,
    /// First address, the address behind the last, offset in the section.
    index: Vec<(u64, u64, usize)>,
}

/// Symbols beyond are left out: they would only take memory.
const MAX_SYMBOLS: usize = 2_000_000;
/// The same of their names, in bytes: names may overlap in a file.
const MAX_NAMES: usize = 128 << 20;
/// The most that a symbol without a size stands for.
const MAX_UNSIZED: u64 = 1 << 16;
/// Headers, symbols and names of one file, in bytes.
const MAX_READ: u64 = 256 << 20;
/// The unwind tables of one file, in bytes.
const MAX_TABLES: u64 = 64 << 20;
/// Constants that are looked through, in bytes.
const MAX_CONSTANTS: u64 = 64 << 20;
/// Sections of constants that are looked through.
const MAX_SECTIONS: usize = 64;

impl Module {
    /// Reads what is there; an unreadable file is one that says nothing.
    pub fn parse<R: Read + Seek + Clone>(file: R) -> Module {
        let file = Ranged::new(file, MAX_READ);
        let Ok(object) = object::File::parse(&file) else { return Module::default() };
        let segment = |segment: object::Segment<'_, '_, &Ranged<R>>| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        };
        let mut module = Module {
            segments: object.segments().map(segment).collect(),
            tables: Tables::of(&object, &file),
            ..Module::default()
        };
        module.read_symbols(&object);
        module.contained = is_static(&object)
            || module.names.contains("__asan_init")
            || module.names.contains("__ubsan_handle_")
            || has_constant(&object, &file, b"RUST_BACKTRACE");
        module
    }

    fn read_symbols<'a, R: ReadRef<'a>>(&mut self, object: &object::File<'a, R>) {
        let mut all: Vec<(u64, u64, &str)> = object
            .symbols()
            .chain(object.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
            .filter(|(_, _, name)| !name.is_empty())
            .take(MAX_SYMBOLS)
            .collect();
        // Of several names for one address, one that says what it is.
        let rank = |name: &str| (!system::is_interceptor(name), name.starts_with('_'));
        all.sort_by(|a, b| (a.0, rank(a.2), a.2).cmp(&(b.0, rank(b.2), b.2)));
        all.dedup_by_key(|(address, _, _)| *address);
        for (start, size, name) in all {
            if self.names.len() + name.len() > MAX_NAMES {
                break;
            }
            self.symbols.push(Symbol { start, size, name: (self.names.len() as u32, name.len() as u32) });
            self.names.push_str(name);
        }
    }

    /// Bytes of memory that it takes.
    fn size(&self) -> usize {
        let tables = self
            .tables
            .as_ref()
            .map_or(0, |tables| tables.bytes.len() + tables.index.len() * size_of::<(u64, u64, usize)>());
        tables + self.names.len() + self.symbols.len() * size_of::<Symbol>()
    }

    /// The name of the function at an address, as the file has it, and where
    /// it begins.
    pub fn symbol(&self, address: u64) -> Option<(&str, u64)> {
        let behind = self.symbols.partition_point(|symbol| symbol.start <= address);
        // A label inside of a function may hide it: its own size tells.
        let inside = |symbol: &&Symbol| {
            let size = if symbol.size == 0 { MAX_UNSIZED } else { symbol.size };
            address - symbol.start < size
        };
        let symbol = self.symbols[..behind].iter().rev().take(8).find(inside)?;
        let (at, length) = symbol.name;
        Some((self.names.get(at as usize..at as usize + length as usize)?, symbol.start))
    }

    /// Where the function at an address begins, by the unwind tables: these
    /// are there without symbols as well.
    pub fn function_start(&self, address: u64) -> Option<u64> {
        self.tables.as_ref()?.entry(address).map(|(start, _, _)| start)
    }

    pub fn tables(&self) -> Option<&Tables> {
        self.tables.as_ref()
    }

    /// What is added to an address of the file to have it in memory, if a
    /// part of it from `offset` on is at `start`.
    pub fn slide(&self, start: u64, offset: u64) -> Option<u64> {
        // A mapping begins at a page, maybe before its segment does.
        let near = |segment: &&Segment| offset <= segment.offset && segment.offset - offset < 4096;
        let inside = |segment: &&Segment| {
            (segment.offset..segment.offset.saturating_add(segment.size)).contains(&offset)
        };
        let segment = self.segments.iter().find(near).or_else(|| self.segments.iter().find(inside))?;
        Some(start.wrapping_sub(offset).wrapping_add(segment.offset).wrapping_sub(segment.address))
    }

    /// The page where its first segment begins.
    pub fn lowest(&self) -> u64 {
        self.segments.iter().map(|segment| segment.address).min().unwrap_or(0) & !0xfff
    }
}

impl Tables {
    fn of<'a, R: Read + Seek + Clone>(
        object: &object::File<'a, &'a Ranged<R>>,
        file: &Ranged<R>,
    ) -> Option<Tables> {
        let section = object.section_by_name(".eh_frame")?;
        let text = object.section_by_name(".text").map_or(0, |text| text.address());
        let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
        let (offset, size) = section.file_range()?;
        let bytes = file.copy(offset, size, MAX_TABLES)?;
        let mut tables = Tables { bytes, bases, index: Vec::new() };
        let index = tables.read_index();
        tables.index = index;
        Some(tables)
    }

    fn read_index(&self) -> Vec<(u64, u64, usize)> {
        type Cie<'a> = CommonInformationEntry<EndianSlice<'a, NativeEndian>>;
        let section = self.section();
        let mut known: HashMap<usize, Cie> = HashMap::new();
        let mut index = Vec::new();
        let mut entries = section.entries(&self.bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let parsed = partial.parse(|section, bases, offset| match known.get(&offset.0) {
                Some(cie) => Ok(cie.clone()),
                None => {
                    let cie = section.cie_from_offset(bases, offset)?;
                    known.insert(offset.0, cie.clone());
                    Ok(cie)
                }
            });
            if let Ok(fde) = parsed
                && fde.len() > 0
            {
                let start = fde.initial_address();
                index.push((start, start.saturating_add(fde.len()), fde.offset()));
            }
        }
        index.sort_unstable();
        index
    }

    fn entry(&self, address: u64) -> Option<(u64, u64, usize)> {
        let behind = self.index.partition_point(|(start, _, _)| *start <= address);
        self.index[..behind].last().copied().filter(|(_, end, _)| address < *end)
    }

    pub fn section(&self) -> EhFrame<EndianSlice<'_, NativeEndian>> {
        EhFrame::new(&self.bytes, NativeEndian)
    }

    pub fn bases(&self) -> &BaseAddresses {
        &self.bases
    }

    /// Where the section describes the function at an address.
    pub fn description(&self, address: u64) -> Option<EhFrameOffset> {
        self.entry(address).map(|(_, _, offset)| EhFrameOffset(offset))
    }
}

/// Whether a program has libc inside: it needs neither a loader nor anything
/// that a loader would bring.
fn is_static<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> bool {
    object.section_by_name(".interp").is_none()
        && !object.dynamic_symbols().any(|symbol| symbol.is_undefined() && !symbol.is_weak())
        && object.section_by_name(".text").is_some()
}

/// Whether a text is among the constants of a program.
fn has_constant<'a, R: Read + Seek + Clone>(
    object: &object::File<'a, &'a Ranged<R>>,
    file: &Ranged<R>,
    text: &[u8],
) -> bool {
    let constants = object.sections().filter(|section| {
        section.name().is_ok_and(|name| name.starts_with(".rodata") || name.starts_with(".data.rel.ro"))
    });
    let mut left = MAX_CONSTANTS;
    constants.filter_map(|section| section.file_range()).take(MAX_SECTIONS).any(|(offset, size)| {
        let most = size.min(left);
        left -= most;
        file.holds(offset, size, text, most)
    })
}

/// Files that were read.
#[derive(Debug, Default)]
pub struct Modules {
    known: HashMap<String, (Identity, Arc<Module>)>,
    /// Bytes of memory that they take.
    held: usize,
    /// How many were read in all.
    pub reads: u64,
}

type Identity = (u64, u64, u64, i64, i64);

/// A target names these files: one that always names others must not fill
/// the memory.
const MAX_MODULES: usize = 64;
/// The same in bytes.
const MAX_HELD: usize = 512 << 20;

impl Modules {
    /// What a file holds; one that cannot be read holds nothing.
    pub fn get(&mut self, path: &str) -> Arc<Module> {
        let Some(identity) = identity(path) else { return Arc::default() };
        if let Some((known, module)) = self.known.get(path)
            && *known == identity
        {
            return module.clone();
        }
        self.reads += 1;
        let file = regular::open(path.as_ref());
        let module = Arc::new(file.map(|file: File| Module::parse(&file)).unwrap_or_default());
        if self.known.len() >= MAX_MODULES || self.held.saturating_add(module.size()) > MAX_HELD {
            self.known.clear();
            self.held = 0;
        }
        self.held += module.size();
        self.known.insert(path.to_string(), (identity, module.clone()));
        module
    }
}

/// None if it is no file that can hold code.
fn identity(path: &str) -> Option<Identity> {
    let data = fs::metadata(path).ok().filter(|data| data.is_file())?;
    Some((data.dev(), data.ino(), data.len(), data.mtime(), data.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::elf;
    use std::io::{Cursor, SeekFrom, Write};
    use std::sync::atomic::{AtomicU64, Ordering};
    use wug_files::private::Temporary;

    /// Counts what is read of a file.
    #[derive(Clone)]
    struct Counted<'a>(&'a File, &'a AtomicU64);

    impl Read for Counted<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let got = self.0.read(to)?;
            self.1.fetch_add(got as u64, Ordering::Relaxed);
            Ok(got)
        }
    }

    impl Seek for Counted<'_> {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// A program in a file of 3 GB costs what the program itself costs, and
    /// so does a file of nothing.
    #[test]
    fn a_giant_file_is_not_read_whole() {
        const GIANT: u64 = 3 << 30;
        let folder = Temporary::new("giant").expect("a folder");
        for (name, content, whole) in [("program", elf::file(), true), ("nothing", Vec::new(), false)] {
            let path = folder.path().join(name);
            let mut file =
                File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
            file.write_all(&content).expect("room");
            file.set_len(GIANT).expect("a sparse file");
            let read = AtomicU64::new(0);
            let module = Module::parse(Counted(&file, &read));
            assert_eq!(format!("{module:?}"), format!("{:?}", Module::parse(Cursor::new(&content[..]))));
            assert_eq!(module.symbol(elf::TEXT).is_some(), whole);
            assert!(read.into_inner() < 1 << 20);
        }
    }

    /// Tables that claim to be all of a giant file are bounded, before memory
    /// is taken for them.
    #[test]
    fn what_tables_claim_is_bounded() {
        const GIANT: u64 = 3 << 30;
        let folder = Temporary::new("claims").expect("a folder");
        let sample = elf::file();
        let table = u64::from_le_bytes(sample[0x28..0x30].try_into().expect("8 bytes")) as usize;
        // The size of each section in turn, from its header.
        for section in 1..6 {
            let mut content = sample.clone();
            let at = table + section * 64 + 0x20;
            content[at..at + 8].copy_from_slice(&(GIANT - 0x10_0000).to_le_bytes());
            let path = folder.path().join(section.to_string());
            let mut file =
                File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
            file.write_all(&content).expect("room");
            file.set_len(GIANT).expect("a sparse file");
            let read = AtomicU64::new(0);
            let module = Module::parse(Counted(&file, &read));
            assert!(read.into_inner() <= MAX_READ + MAX_CONSTANTS, "section {section}");
            assert!(module.size() <= (MAX_NAMES + MAX_TABLES as usize), "section {section}");
        }
    }
}
