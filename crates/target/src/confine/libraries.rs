//! The libraries of a program, as the dynamic loader would find them.
//!
//! In:  a program, and the variables that the loader reads.
//! Out: the files that it will load from outside of the system's folders,
//!      which a target sees anyway.
//!
//! The loader itself is not asked: it would read a foreign file with this
//! process' rights.

use super::view::{absolute, is_system};
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use wug_files::regular;

/// Files that are looked at.
const MOST: usize = 512;
/// Of each list in a file.
const LONGEST: usize = 4096;

/// What a file says about the libraries it needs.
#[derive(Default)]
struct Needs {
    names: Vec<OsString>,
    /// Folders that hold for what it loads, too.
    old_paths: Vec<OsString>,
    /// Folders that hold for itself.
    paths: Vec<OsString>,
    loader: Option<PathBuf>,
}

/// Files outside of the system's folders that a program is loaded from,
/// besides itself. `variable` looks names of the environment up.
pub fn libraries(program: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let given: Vec<OsString> = variable("LD_LIBRARY_PATH").map(|list| split(&list)).unwrap_or_default();
    let configured = configured(Path::new("/etc/ld.so.conf"), 0);
    let mut found = BTreeSet::new();
    let mut open: VecDeque<(PathBuf, Vec<PathBuf>)> = VecDeque::from([(program.to_path_buf(), Vec::new())]);
    for name in variable("LD_PRELOAD").map(|list| split(&list)).unwrap_or_default() {
        if name.as_bytes().contains(&b'/') {
            let path = absolute(Path::new(&name));
            take(path, &mut found, &mut open, &[]);
        }
    }
    let mut seen = 0;
    while let Some((file, inherited)) = open.pop_front() {
        seen += 1;
        if seen > MOST {
            break;
        }
        let needs = needs(&file);
        if let Some(loader) = needs.loader {
            take(absolute(&loader), &mut found, &mut open, &[]);
        }
        let expand =
            |list: &[OsString]| -> Vec<PathBuf> { list.iter().map(|path| origin(path, &file)).collect() };
        // New paths take the place of old ones.
        let old = if needs.paths.is_empty() { expand(&needs.old_paths) } else { Vec::new() };
        let own: Vec<PathBuf> = old.into_iter().chain(inherited).collect();
        let folders: Vec<PathBuf> = own
            .iter()
            .cloned()
            .chain(expand(&given))
            .chain(expand(&needs.paths))
            .chain(configured.iter().cloned())
            .collect();
        for name in needs.names {
            let path = if name.as_bytes().contains(&b'/') {
                Some(origin(&name, &file))
            } else {
                folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
            };
            if let Some(path) = path {
                take(absolute(&path), &mut found, &mut open, &own);
            }
        }
    }
    found.into_iter().collect()
}

/// A file that is loaded, and what it needs in turn.
fn take(
    path: PathBuf,
    found: &mut BTreeSet<PathBuf>,
    open: &mut VecDeque<(PathBuf, Vec<PathBuf>)>,
    inherited: &[PathBuf],
) {
    if !is_system(&path) && path.is_file() && found.insert(path.clone()) {
        open.push_back((path, inherited.to_vec()));
    }
}

/// What a file needs: a program, a library or a script.
fn needs(path: &Path) -> Needs {
    let Ok(mut file) = regular::open(path) else { return Needs::default() };
    let mut start = [0; 256];
    let got = file.read(&mut start).unwrap_or(0);
    if let Some(line) = start[..got].strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        let interpreter = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let loader = (!interpreter.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(interpreter)));
        return Needs { loader, ..Needs::default() };
    }
    let data = ReadCache::new(file);
    match start.get(4) {
        Some(&elf::ELFCLASS64) => read::<elf::FileHeader64<Endianness>>(&data),
        Some(&elf::ELFCLASS32) => read::<elf::FileHeader32<Endianness>>(&data),
        _ => None,
    }
    .unwrap_or_default()
}

fn read<Elf: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> Option<Needs> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let mut needs = Needs::default();
    let mut entries = None;
    for segment in segments {
        if let Ok(Some(name)) = segment.interpreter(endian, data) {
            needs.loader = Some(PathBuf::from(OsStr::from_bytes(name)));
        }
        entries = entries.or(segment.dynamic(endian, data).ok().flatten());
    }
    let entries: Vec<(u64, u64)> = entries?
        .iter()
        .take(LONGEST)
        .map(|entry| (entry.d_tag(endian).into(), entry.d_val(endian).into()))
        .collect();
    let value =
        |wanted: u32| entries.iter().find(|(tag, _)| *tag == u64::from(wanted)).map(|(_, value)| *value);
    let (start, size) = (value(elf::DT_STRTAB)?, value(elf::DT_STRSZ)?);
    // Addresses become places in the file.
    let at = segments.iter().find_map(|segment| {
        let (from, length): (u64, u64) = (segment.p_vaddr(endian).into(), segment.p_filesz(endian).into());
        let inside =
            segment.p_type(endian) == elf::PT_LOAD && (from..from.saturating_add(length)).contains(&start);
        inside.then(|| segment.p_offset(endian).into().checked_add(start - from)).flatten()
    })?;
    let text = |offset: u64| {
        let bytes = data.read_bytes_at_until(at.checked_add(offset)?..at.checked_add(size)?, 0).ok()?;
        Some(OsString::from_vec(bytes.to_vec()))
    };
    for (tag, offset) in &entries {
        let list = |offset| text(offset).map(|list| split(&list)).unwrap_or_default();
        match u32::try_from(*tag).unwrap_or(0) {
            elf::DT_NEEDED => needs.names.extend(text(*offset)),
            elf::DT_RPATH => needs.old_paths = list(*offset),
            elf::DT_RUNPATH => needs.paths = list(*offset),
            _ => {}
        }
    }
    Some(needs)
}

/// Parts of a list between colons, semicolons or spaces.
fn split(list: &OsStr) -> Vec<OsString> {
    let parts = list.as_bytes().split(|byte| matches!(byte, b':' | b';' | b' ' | b'\t' | b'\n'));
    parts.filter(|part| !part.is_empty()).take(LONGEST).map(|part| OsStr::from_bytes(part).into()).collect()
}

/// A path in which `$ORIGIN` is the folder of a file.
fn origin(path: &OsStr, file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new("/")).as_os_str().as_bytes();
    let mut bytes = path.as_bytes().to_vec();
    for mark in [b"$ORIGIN".as_slice(), b"${ORIGIN}"] {
        while let Some(at) = bytes.windows(mark.len()).position(|window| window == mark) {
            bytes.splice(at..at + mark.len(), folder.iter().copied());
            if bytes.len() > LONGEST {
                break;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Folders that the administrator added to those of the system.
fn configured(file: &Path, depth: usize) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let Ok(open) = regular::open(file) else { return folders };
    for line in BufReader::new(open.take(1 << 20)).lines().map_while(Result::ok) {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line.strip_prefix("include ") {
            // `include FOLDER/*.conf` is the only form in use.
            Some(pattern) if depth < 4 => {
                let folder = Path::new(pattern.trim()).parent().map(PathBuf::from).unwrap_or_default();
                let folder = if folder.is_absolute() { folder } else { Path::new("/etc").join(folder) };
                let mut files: Vec<PathBuf> =
                    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
                files.retain(|file| file.extension().is_some_and(|extension| extension == "conf"));
                files.sort();
                folders.extend(files.iter().flat_map(|file| configured(file, depth + 1)));
            }
            None if line.starts_with('/') => folders.push(line.into()),
            _ => {}
        }
    }
    folders
}
