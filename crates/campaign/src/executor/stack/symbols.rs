//! From addresses to functions and lines: mappings of a process, and the
//! symbols of the files behind them.

use super::Frame;
use addr2line::Loader;
use object::{Object, ObjectSegment};
use std::collections::HashMap;
use std::fs;

/// A part of a file in a process' memory.
#[derive(Clone, Debug)]
pub struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    /// Whether it can be executed.
    pub code: bool,
    /// The file.
    pub path: String,
    /// What is added to an address of the file to have it in memory.
    slide: Option<u64>,
}

impl Mapping {
    /// Whether an address is in it.
    pub fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// An address of the process as the file has it.
    pub fn address_in_file(&self, address: u64) -> Option<u64> {
        Some(address.wrapping_sub(self.slide?))
    }
}

/// The mappings of a process.
pub fn maps(pid: i32) -> Vec<Mapping> {
    let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut maps: Vec<Mapping> = String::from_utf8_lossy(&text).lines().filter_map(mapping).collect();
    // Which addresses a file wants is written in its segments.
    let mut segments: HashMap<String, Vec<(u64, u64, u64)>> = HashMap::new();
    for map in &mut maps {
        if !map.path.starts_with('/') {
            continue;
        }
        let known = segments.entry(map.path.clone()).or_insert_with(|| loaded_segments(&map.path));
        let inside = known.iter().find(|(offset, size, _)| (*offset..offset + size).contains(&map.offset));
        // A mapping begins at a page, maybe before its segment does.
        let near = known.iter().find(|(offset, _, _)| map.offset <= *offset && offset - map.offset < 4096);
        let slide = |&(offset, _, address): &(u64, u64, u64)| {
            map.start.wrapping_sub(map.offset).wrapping_add(offset).wrapping_sub(address)
        };
        map.slide = near.or(inside).map(slide);
    }
    maps
}

/// Offset in the file, size there, and address.
fn loaded_segments(path: &str) -> Vec<(u64, u64, u64)> {
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    let Ok(object) = object::File::parse(&*bytes) else { return Vec::new() };
    let segment = |segment: object::Segment| {
        let (offset, size) = segment.file_range();
        (offset, size, segment.address())
    };
    object.segments().map(segment).collect()
}

/// A line of `/proc/PID/maps`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2).unwrap_or_default().trim_start();
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        offset: u64::from_str_radix(offset, 16).ok()?,
        code: rights.contains('x'),
        path: path.to_string(),
        slide: None,
    })
}

/// Which files addresses belong to.
pub fn locate(addresses: &[u64], maps: &[Mapping]) -> Vec<Frame> {
    let frame = |&address: &u64| {
        let map = maps.iter().find(|map| map.holds(address));
        match map.and_then(|map| Some((map, map.address_in_file(address)?))) {
            Some((map, in_file)) => Frame { module: map.path.clone(), address: in_file, ..Frame::default() },
            None => {
                let module = map.map_or("?", |map| map.path.as_str());
                Frame { module: module.to_string(), address, ..Frame::default() }
            }
        }
    };
    addresses.iter().map(frame).collect()
}

/// Adds names and lines to frames that have none; functions that were
/// inlined get frames of their own.
pub fn resolve(frames: &[Frame]) -> Vec<Frame> {
    let mut loaders: HashMap<&str, Option<Loader>> = HashMap::new();
    let mut out = Vec::new();
    for frame in frames {
        if frame.function.is_some() || !frame.module.starts_with('/') {
            out.push(frame.clone());
            continue;
        }
        let loader = loaders.entry(&frame.module).or_insert_with(|| Loader::new(&frame.module).ok());
        let before = out.len();
        if let Some(loader) = loader {
            inlined(loader, frame, &mut out);
        }
        if out.len() == before {
            out.push(frame.clone());
        }
    }
    out
}

fn inlined(loader: &Loader, frame: &Frame, out: &mut Vec<Frame>) {
    let before = out.len();
    if let Ok(mut frames) = loader.find_frames(frame.address) {
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
    if out.len() == before
        && let Some(name) = loader.find_symbol(frame.address)
    {
        out.push(Frame {
            function: Some(addr2line::demangle_auto(name.into(), None).into_owned()),
            ..frame.clone()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_functions_are_found_by_their_addresses() {
        let address = own_functions_are_found_by_their_addresses as *const () as u64;
        let frames = resolve(&locate(&[address], &maps(std::process::id() as i32)));
        let name = frames[0].function.as_deref().unwrap_or_default();
        assert!(name.contains("own_functions_are_found_by_their_addresses"), "{frames:?}");
        assert!(frames[0].file.as_deref().is_some_and(|file| file.ends_with("symbols.rs")), "{frames:?}");
    }
}
