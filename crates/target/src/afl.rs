//! What targets of AFL++ need: System V memory that they attach by numbers in
//! their environment.

use super::error::Error;
use super::memory::{IpcSpace, Shared};
use super::target::Traits;
use std::ffi::OsString;
use wug_runtime::abi;

/// What AFL++'s targets attach by number.
pub struct AflMemory {
    pub map: Shared,
    pub input: Shared,
    /// Ids in use.
    pub ids: usize,
    /// Where the numbers stand in the target's environment: memory shared
    /// with the warden.
    numbers: Shared,
    space: Option<IpcSpace>,
}

/// AFL++ has no more ids than the old protocol can tell.
pub const AFL_IDS: usize = abi::OLD_MAX_MAPSIZE as usize;
const AFL_INPUT: usize = 1 << 20;
/// AFL's map if nothing else is said.
pub const AFL_DEFAULT_IDS: usize = 1 << 16;
const MAP_ENTRY: &str = "__AFL_SHM_ID";
const INPUT_ENTRY: &str = "__AFL_SHM_FUZZ_ID";
/// Each entry has its line of this length.
const LINE: usize = 64;

impl AflMemory {
    /// Memory that a user can attach.
    pub fn new(owner: Option<u32>, space: Option<IpcSpace>) -> Result<AflMemory, Error> {
        let (map, map_id) = segment(space.as_ref(), AFL_IDS, owner)?;
        let (input, input_id) = segment(space.as_ref(), AFL_INPUT + 4, owner)?;
        let (numbers, _) = Shared::new(c"wug-names", 4096)?;
        let memory = AflMemory { map, input, ids: AFL_DEFAULT_IDS, numbers, space };
        memory.enter(0, MAP_ENTRY, map_id);
        memory.enter(1, INPUT_ENTRY, input_id);
        Ok(memory)
    }

    /// Writes an entry of the environment.
    fn enter(&self, line: usize, name: &str, number: i32) {
        let text = format!("{name}={number}\0");
        self.numbers.put(line * LINE, text.as_bytes());
    }

    /// The namespace that the target must be in, if it has one.
    pub fn space(&self) -> Option<&IpcSpace> {
        self.space.as_ref()
    }

    /// Pointers to the entries; the memory is shared, so they hold in the
    /// warden as well, also when the entries change.
    pub fn entries(&self) -> Vec<*const libc::c_char> {
        (0..2).map(|line| self.numbers.address(line * LINE).cast()).collect()
    }

    /// Room for an input of this length; the target must be started anew.
    pub fn grow_input(&mut self, length: usize, owner: Option<u32>) -> Result<(), Error> {
        let limit = u32::MAX as usize - 4;
        if length > limit {
            return Err(Error::TooLong { length, limit });
        }
        let (input, id) = segment(self.space.as_ref(), length.next_power_of_two() + 4, owner)?;
        self.input = input;
        self.enter(1, INPUT_ENTRY, id);
        Ok(())
    }
}

/// A segment and its number, in a namespace if there is one.
fn segment(space: Option<&IpcSpace>, length: usize, owner: Option<u32>) -> Result<(Shared, i32), Error> {
    match space {
        Some(space) => space.within(|| Shared::system_v(length, owner)),
        None => Shared::system_v(length, owner),
    }
}

/// What targets of AFL++ expect in their environment, besides the numbers of
/// shared memory.
pub fn environment(traits: &Traits) -> Vec<(OsString, OsString)> {
    let mut out = Vec::new();
    let mut set = |name: &str, value: String| out.push((name.into(), value.into()));
    if std::env::var_os("AFL_MAP_SIZE").is_none() {
        set("AFL_MAP_SIZE", AFL_IDS.to_string());
    }
    if traits.afl_persistent {
        set("__AFL_PERSISTENT", "1".into());
    }
    if traits.afl_deferred {
        set("__AFL_DEFER_FORKSRV", "1".into());
    }
    out
}
