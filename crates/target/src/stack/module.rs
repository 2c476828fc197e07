//! Files of code in a target's memory: their segments, symbols and unwind
//! tables.
//!
//! In:  the path of a file that a process has mapped.
//! Out: a [`Module`], read once: [`Modules`] keeps it for as long as the file
//!      has the same identity (device, inode, size, time of change).
//!
//! Reading a file for each crash was rejected: it is most of what a stack
//! costs, and the files of one target are the same for all its crashes.

use super::system;
use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EhFrameOffset, EndianSlice, NativeEndian,
    UnwindSection,
};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::HashMap;
use std::fs;
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
/// The most that a symbol without a size stands for.
const MAX_UNSIZED: u64 = 1 << 16;

impl Module {
    /// Reads what is there; an unreadable file is one that says nothing.
    pub fn parse(bytes: &[u8]) -> Module {
        let Ok(object) = object::File::parse(bytes) else { return Module::default() };
        let segment = |segment: object::Segment| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        };
        let mut module = Module {
            segments: object.segments().map(segment).collect(),
            tables: Tables::of(&object),
            ..Module::default()
        };
        module.read_symbols(&object);
        module.contained = is_static(&object)
            || module.names.contains("__asan_init")
            || module.names.contains("__ubsan_handle_")
            || memory_find(bytes, b"RUST_BACKTRACE");
        module
    }

    fn read_symbols(&mut self, object: &object::File) {
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
            let (Ok(at), Ok(length)) = (u32::try_from(self.names.len()), u32::try_from(name.len())) else {
                break;
            };
            self.names.push_str(name);
            self.symbols.push(Symbol { start, size, name: (at, length) });
        }
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
    fn of(object: &object::File) -> Option<Tables> {
        let section = object.section_by_name(".eh_frame")?;
        let text = object.section_by_name(".text").map_or(0, |text| text.address());
        let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
        let bytes = section.uncompressed_data().ok()?.into_owned();
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
fn is_static(object: &object::File) -> bool {
    object.section_by_name(".interp").is_none()
        && !object.dynamic_symbols().any(|symbol| symbol.is_undefined() && !symbol.is_weak())
        && object.section_by_name(".text").is_some()
}

fn memory_find(bytes: &[u8], text: &[u8]) -> bool {
    // SAFETY: both slices are valid for their lengths, and are only read.
    let found = unsafe { libc::memmem(bytes.as_ptr().cast(), bytes.len(), text.as_ptr().cast(), text.len()) };
    !found.is_null()
}

/// Files that were read.
#[derive(Debug, Default)]
pub struct Modules {
    known: HashMap<String, (Identity, Arc<Module>)>,
    /// How many were read in all.
    pub reads: u64,
}

type Identity = (u64, u64, u64, i64, i64);

/// A target names these files: one that always names others must not fill
/// the memory.
const MAX_MODULES: usize = 64;
/// Larger files are not read, in bytes.
pub const MAX_FILE: u64 = 1 << 30;

impl Modules {
    /// What a file holds; one that cannot be read holds nothing.
    pub fn get(&mut self, path: &str) -> Arc<Module> {
        let Some(identity) = identity(path) else { return Arc::default() };
        if let Some((known, module)) = self.known.get(path)
            && *known == identity
        {
            return module.clone();
        }
        if self.known.len() >= MAX_MODULES {
            self.known.clear();
        }
        self.reads += 1;
        let bytes = regular::read(path.as_ref(), MAX_FILE);
        let module = Arc::new(bytes.map(|bytes| Module::parse(&bytes)).unwrap_or_default());
        self.known.insert(path.to_string(), (identity, module.clone()));
        module
    }
}

/// None if it is no file that can hold code.
fn identity(path: &str) -> Option<Identity> {
    let data = fs::metadata(path).ok().filter(|data| data.is_file())?;
    Some((data.dev(), data.ino(), data.len(), data.mtime(), data.mtime_nsec()))
}
