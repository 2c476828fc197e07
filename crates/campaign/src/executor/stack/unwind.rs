//! From registers to the addresses that calls return to, by the tables that
//! compilers write for exceptions (`.eh_frame`), and by frame pointers where
//! there are none.

use super::symbols::Mapping;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, NativeEndian, Register, RegisterRule, UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::fs;

/// Registers of x86-64 by their numbers in DWARF.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    pub values: [u64; 17],
}

const FRAME: usize = 6;
const STACK: usize = 7;
const PC: usize = 16;
/// A stack that overflowed has more frames than anybody reads.
const MAX_FRAMES: usize = 256;

/// The tables of one file.
struct Tables {
    bytes: Vec<u8>,
    bases: BaseAddresses,
}

/// Addresses of the code that was under way, innermost first; all but the
/// first are one less than where the call returns to, so inside the call.
pub fn unwind(mut registers: Registers, maps: &[Mapping], read: &dyn Fn(u64, &mut [u8]) -> bool) -> Vec<u64> {
    let mut out = vec![registers.values[PC]];
    let mut files = HashMap::new();
    let word = |address: u64| {
        let mut bytes = [0; 8];
        read(address, &mut bytes).then(|| u64::from_ne_bytes(bytes))
    };
    while out.len() < MAX_FRAMES {
        let first = out.len() == 1;
        let pc = registers.values[PC].wrapping_sub(u64::from(!first));
        let step = by_tables(&registers, pc, maps, &mut files, &word);
        let next = match step {
            Some(next) => next,
            // A jump to nowhere: the caller's address is on top of the stack.
            None if first && !maps.iter().any(|map| map.code && map.holds(pc)) => {
                let mut next = registers;
                let Some(pc) = word(registers.values[STACK]) else { break };
                next.values[PC] = pc;
                next.values[STACK] = next.values[STACK].wrapping_add(8);
                next
            }
            None => match by_frame_pointer(&registers, &word) {
                Some(next) => next,
                None => break,
            },
        };
        // Stacks grow down: callers are further up.
        if next.values[STACK] <= registers.values[STACK] || next.values[PC] == 0 {
            break;
        }
        let inside = next.values[PC].wrapping_sub(1);
        if !maps.iter().any(|map| map.code && map.holds(inside)) {
            break;
        }
        out.push(inside);
        registers = next;
    }
    out
}

fn by_frame_pointer(registers: &Registers, word: &dyn Fn(u64) -> Option<u64>) -> Option<Registers> {
    let frame = registers.values[FRAME];
    if frame < registers.values[STACK] || !frame.is_multiple_of(8) {
        return None;
    }
    let mut next = *registers;
    next.values[FRAME] = word(frame)?;
    next.values[PC] = word(frame.checked_add(8)?)?;
    next.values[STACK] = frame.checked_add(16)?;
    Some(next)
}

fn by_tables<'m>(
    registers: &Registers,
    pc: u64,
    maps: &'m [Mapping],
    files: &mut HashMap<&'m str, Option<Tables>>,
    word: &dyn Fn(u64) -> Option<u64>,
) -> Option<Registers> {
    let map = maps.iter().find(|map| map.holds(pc))?;
    let tables = files.entry(map.path.as_str()).or_insert_with(|| load(&map.path)).as_ref()?;
    let address = map.address_in_file(pc)?;
    let section = EhFrame::new(&tables.bytes, NativeEndian);
    let mut context = UnwindContext::new();
    let row = section
        .unwind_info_for_address(&tables.bases, &mut context, address, EhFrame::cie_from_offset)
        .ok()?;
    let value = |register: Register| registers.values.get(usize::from(register.0)).copied();
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
    let cfa = value(*register)?.wrapping_add_signed(*offset);
    let mut next = *registers;
    for number in 0..registers.values.len() {
        match row.register(Register(number as u16)) {
            RegisterRule::Offset(offset) => next.values[number] = word(cfa.wrapping_add_signed(offset))?,
            RegisterRule::ValOffset(offset) => next.values[number] = cfa.wrapping_add_signed(offset),
            RegisterRule::Register(other) => next.values[number] = value(other)?,
            // The outermost function says that nobody called it.
            RegisterRule::Undefined if number == PC => return None,
            _ => {}
        }
    }
    next.values[STACK] = cfa;
    Some(next)
}

fn load(path: &str) -> Option<Tables> {
    let file = fs::read(path).ok()?;
    let object = object::File::parse(&*file).ok()?;
    let section = object.section_by_name(".eh_frame")?;
    let text = object.section_by_name(".text").map_or(0, |text| text.address());
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    Some(Tables { bytes: section.uncompressed_data().ok()?.into_owned(), bases })
}
