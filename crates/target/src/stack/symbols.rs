//! From addresses to functions, offsets in these, and lines.
//!
//! In:  addresses of a process, or of files as a sanitizer's report has them.
//! Out: [`Frame`]s with the names of the symbol tables; by
//!      [`Lines::explain`] also with functions that were inlined, and lines.
//!
//! Lines are looked up for people only: reading them takes many times as
//! long as reading symbols, and telling crashes apart does without.

use super::message::plain;
use super::module::Module;
use super::ranged::Ranged;
use super::unwind::Space;
use super::{Frame, system};
use gimli::{EndianArcSlice, RunTimeEndian};
use object::{CompressionFormat, Object, ObjectSection};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use wug_files::regular;

/// Which functions addresses of a process belong to.
pub fn locate(addresses: &[u64], space: &mut Space) -> Vec<Frame> {
    let mut frame = |&address: &u64| match space.place(address) {
        Some((module, path, in_file)) => named(&module, path, in_file),
        None => {
            let map = space.maps.iter().find(|map| map.holds(address));
            // An address that is in no file differs from run to run.
            let path = map.filter(|map| map.code).map_or("", |map| map.path.as_str());
            Frame { system: system::is_system_file(path), module: path.into(), address, ..Frame::default() }
        }
    };
    addresses.iter().map(&mut frame).collect()
}

/// Adds the names of functions to frames that have only addresses in files.
pub fn name(frames: Vec<Frame>, load: &mut dyn FnMut(&str) -> Arc<Module>) -> Vec<Frame> {
    let name = |frame: Frame| {
        if !frame.module.starts_with('/') {
            let function = frame.function.as_deref().unwrap_or_default();
            let system =
                system::is_system_file(&frame.module) || system::is_system_function(function, function, true);
            return Frame { system, ..frame };
        }
        let module = load(&frame.module);
        let found = named(&module, frame.module, frame.address);
        match frame.function {
            // What the report says is as good, and has lines.
            Some(_) => Frame { function: frame.function, file: frame.file, line: frame.line, ..found },
            None => found,
        }
    };
    frames.into_iter().map(name).collect()
}

fn named(module: &Module, path: String, address: u64) -> Frame {
    let in_system_file = system::is_system_file(&path);
    let contained = module.contained;
    match module.symbol(address) {
        Some((raw, start)) => {
            let name = addr2line::demangle_auto(raw.into(), None);
            let system = in_system_file || system::is_system_function(raw, &name, contained);
            let function = Some(plain(&name, MAX_NAME));
            let offset = Some(address - start);
            Frame { module: path, address, function, offset, system, ..Frame::default() }
        }
        None => {
            let offset = module.function_start(address).map(|start| address - start);
            // Without names the code of a program and of its libc are alike.
            let mixed = contained && !in_system_file;
            Frame { module: path, address, offset, system: in_system_file, mixed, ..Frame::default() }
        }
    }
}

/// The longest name of a function, in characters.
pub const MAX_NAME: usize = 1000;

/// Readers of lines, by file.
#[derive(Default)]
pub struct Lines {
    known: HashMap<String, Option<Context>>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

/// Debug information of a file, all of it in memory. What it names besides,
/// such as files with more of it, is not opened: a target made these names up.
type Context = addr2line::Context<EndianArcSlice<RunTimeEndian>>;

/// Files whose debug information is held.
const MAX_CONTEXTS: usize = 8;
/// Headers of a file and compressed sections, and debug information as it is
/// held, each in bytes.
const MAX_DEBUG: u64 = 512 << 20;

/// Reads the debug information of a file, if there is any.
fn context(path: &str) -> Option<Context> {
    let file = regular::open(path.as_ref()).ok()?;
    let file = Ranged::new(&file, MAX_DEBUG);
    let object = object::File::parse(&file).ok()?;
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut room = MAX_DEBUG;
    let section = |id: gimli::SectionId| {
        let data = object.section_by_name(id.name()).and_then(|section| {
            // What is compressed may claim any length.
            let range = section.compressed_file_range().ok()?;
            room = room.checked_sub(range.uncompressed_size)?;
            match range.format {
                CompressionFormat::None => file.copy(range.offset, range.uncompressed_size, MAX_DEBUG),
                _ => section.uncompressed_data().ok().map(Cow::into_owned),
            }
        });
        Ok::<_, gimli::Error>(EndianArcSlice::new(Arc::from(data.unwrap_or_default()), endian))
    };
    let dwarf = gimli::Dwarf::load(section).ok()?;
    Context::from_dwarf(dwarf).ok()
}

impl Lines {
    /// Adds lines; functions that were inlined get frames of their own.
    pub fn explain(&mut self, frames: &[Frame]) -> Vec<Frame> {
        let mut out = Vec::new();
        for frame in frames {
            let before = out.len();
            if frame.file.is_none() && frame.module.starts_with('/') {
                if self.known.len() >= MAX_CONTEXTS && !self.known.contains_key(&frame.module) {
                    self.known.clear();
                }
                let load = || context(&frame.module);
                if let Some(context) = self.known.entry(frame.module.clone()).or_insert_with(load) {
                    inlined(context, frame, &mut out);
                }
            }
            if out.len() == before {
                out.push(frame.clone());
            }
        }
        out
    }
}

fn inlined(context: &Context, frame: &Frame, out: &mut Vec<Frame>) {
    let Ok(mut frames) = context.find_frames(frame.address).skip_all_loads() else { return };
    while let Ok(Some(found)) = frames.next() {
        let name =
            found.function.as_ref().and_then(|name| name.demangle().ok().map(|name| name.into_owned()));
        let place = found.location;
        let file = place.as_ref().and_then(|place| place.file.map(str::to_string));
        let line = place.as_ref().and_then(|place| place.line);
        if name.is_some() {
            out.push(Frame { function: name, file, line, ..frame.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::maps::maps;
    use super::super::module::Modules;
    use super::*;

    #[test]
    fn own_functions_are_found_by_their_addresses() {
        let address = own_functions_are_found_by_their_addresses as *const () as u64;
        let (maps, mut modules) = (maps(std::process::id() as i32), Modules::default());
        let load = &mut |path: &str| modules.get(path);
        let mut space = Space { maps: &maps, load, read: &|_, _| false, faults: &[] };
        let frames = locate(&[address, address + 1], &mut space);
        let name = frames[0].function.as_deref().unwrap_or_default();
        assert!(name.contains("own_functions_are_found_by_their_addresses"), "{frames:?}");
        assert_eq!((frames[0].offset, frames[1].offset, frames[0].system), (Some(0), Some(1), false));
        assert_eq!(modules.reads, 1);
        let explained = Lines::default().explain(&frames);
        assert!(
            explained[0].file.as_deref().is_some_and(|file| file.ends_with("symbols.rs")),
            "{explained:?}"
        );
    }
}
