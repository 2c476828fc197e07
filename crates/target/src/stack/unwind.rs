//! From registers to the addresses that calls return to.
//!
//! In:  the registers of a process that stopped, and its memory.
//! Out: a [`Walk`]: addresses of the code that was under way, innermost
//!      first, and the fault that began it.
//!
//! The way out of a function is told by the tables that compilers write for
//! exceptions (`.eh_frame`), else by the frame pointer. Where neither leads
//! on from the first function, the next return address on the stack counts.
//! Where a handler of a fatal signal was under way, the walk begins anew at
//! the code that raised the signal: what a handler does tells nothing.

use super::maps::Mapping;
use super::module::{Module, Tables};
use gimli::{
    CfaRule, EndianSlice, EvaluationResult, Location, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindExpression, UnwindSection, Value,
};
use std::sync::Arc;

/// Registers of x86-64 by their numbers in DWARF.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub values: [u64; 17],
}

impl Registers {
    pub fn pc(&self) -> u64 {
        self.values[PC]
    }
}

const FRAME: usize = 6;
const STACK: usize = 7;
const PC: usize = 16;
/// A stack that overflowed has more frames than anybody reads.
pub const MAX_FRAMES: usize = 256;
/// Words of stack that are searched for a return address.
const SEARCH: u64 = 512;
/// Steps of an expression in the tables.
const MAX_STEPS: u32 = 1000;
/// Handlers of signals that were interrupted by further signals.
const MAX_HANDLERS: usize = 8;

/// A fatal signal and the address it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub signal: i32,
    /// None if it was sent, not raised by the code.
    pub address: Option<u64>,
}

/// What was under way.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// All but the first are one less than where the call returns to, so
    /// inside the call.
    pub pcs: Vec<u64>,
    /// Whether the stack was used up.
    pub overflow: bool,
}

/// The memory of a process.
pub struct Space<'a> {
    pub maps: &'a [Mapping],
    /// Reads a file.
    pub load: &'a mut dyn FnMut(&str) -> Arc<Module>,
    pub read: &'a dyn Fn(u64, &mut [u8]) -> bool,
    /// Fatal signals that came before, and where the process was then.
    pub faults: &'a [(u64, Fault)],
}

impl Space<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        (self.read)(address, &mut bytes).then(|| u64::from_ne_bytes(bytes))
    }

    fn map(&self, address: u64) -> Option<&Mapping> {
        self.maps.iter().find(|map| map.holds(address))
    }

    fn is_code(&self, address: u64) -> bool {
        self.map(address).is_some_and(|map| map.code)
    }

    /// The file behind an address, and the address as that file has it.
    pub fn place(&mut self, address: u64) -> Option<(Arc<Module>, String, u64)> {
        let map = self.map(address).filter(|map| map.path.starts_with('/'))?;
        let (path, (start, offset)) = (map.path.clone(), map.begin());
        let module = (self.load)(&path);
        let in_file = address.wrapping_sub(module.slide(start, offset)?);
        Some((module, path, in_file))
    }

    /// Whether a stack that reached down to this address has overflowed
    /// there: nothing can be written, and the stack pointer is near.
    fn is_overflow(&self, fault: Fault, stack: u64) -> bool {
        const BELOW: u64 = 64 << 10;
        const ABOVE: u64 = 1 << 20;
        let Some(address) = fault.address else { return false };
        let near = (stack.saturating_sub(BELOW)..stack.saturating_add(ABOVE)).contains(&address);
        near && [libc::SIGSEGV, libc::SIGBUS].contains(&fault.signal)
            && !self.map(address).is_some_and(|map| map.writable)
    }

    /// Whether a call ends just before this address.
    fn follows_call(&self, address: u64) -> bool {
        let mut code = [0; 7];
        if !self.is_code(address.wrapping_sub(1)) || !(self.read)(address.wrapping_sub(7), &mut code) {
            return false;
        }
        // A call to an address, or by a register or memory.
        code[2] == 0xe8 || (0..=5).any(|at| code[at] == 0xff && code[at + 1] & 0x38 == 0x10)
    }

    /// Whether a handler of a signal returns to this address.
    fn is_handler_end(&self, address: u64) -> bool {
        // mov $15, %rax; syscall
        const RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
        let mut code = [0; 9];
        (self.read)(address, &mut code) && code == RETURN
    }

    /// What was interrupted by a signal, whose frame is on top of the stack.
    fn interrupted(&self, stack: u64) -> Option<(Registers, Fault)> {
        // Words of the kernel's `ucontext`, by the numbers of DWARF.
        const PLACES: [u64; 17] = [13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16];
        const REGISTERS: u64 = 40;
        const INFO: u64 = 304;
        let mut registers = Registers::default();
        for (value, place) in registers.values.iter_mut().zip(PLACES) {
            *value = self.word(stack.checked_add(REGISTERS + place * 8)?)?;
        }
        let pc = registers.values[PC];
        if let Some((_, fault)) = self.faults.iter().rev().find(|(at, _)| *at == pc) {
            return Some((registers, *fault));
        }
        // Written only for handlers that ask for it.
        let signal = self.word(stack.checked_add(INFO)?)? as i32;
        let code = self.word(stack.checked_add(INFO + 8)?)? as i32;
        let address = self.word(stack.checked_add(INFO + 16)?)?;
        Some((registers, Fault { signal, address: (code > 0).then_some(address) }))
    }
}

/// Walks up the stack from where a process stopped.
pub fn unwind(mut registers: Registers, fault: Fault, space: &mut Space) -> Walk {
    let mut walk =
        Walk { pcs: vec![registers.values[PC]], overflow: space.is_overflow(fault, registers.values[STACK]) };
    let mut handlers = 0;
    // The address is that of the instruction itself, not behind a call.
    let mut exact = true;
    while walk.pcs.len() < MAX_FRAMES {
        let pc = registers.values[PC].wrapping_sub(u64::from(!exact));
        let Some(next) = step(&registers, pc, walk.pcs.len() == 1, space) else { break };
        if next.values[PC] == 0 {
            break;
        }
        if space.is_handler_end(next.values[PC]) && handlers < MAX_HANDLERS {
            handlers += 1;
            let Some((before, fault)) = space.interrupted(next.values[STACK]) else { break };
            if super::trace::FATAL.contains(&fault.signal) {
                walk.pcs.clear();
                walk.overflow = space.is_overflow(fault, before.values[STACK]);
            }
            walk.pcs.push(before.values[PC]);
            (registers, exact) = (before, true);
            continue;
        }
        let inside = next.values[PC].wrapping_sub(1);
        // Stacks grow down: callers are further up.
        if next.values[STACK] <= registers.values[STACK] || !space.is_code(inside) {
            break;
        }
        walk.pcs.push(inside);
        (registers, exact) = (next, false);
    }
    walk
}

/// The registers of the caller.
fn step(registers: &Registers, pc: u64, first: bool, space: &mut Space) -> Option<Registers> {
    let by_tables = space.place(pc).and_then(|(module, _, address)| {
        let tables = module.tables()?;
        Some(by_tables(registers, address, tables, space))
    });
    match by_tables {
        Some(Step::To(next)) => return Some(next),
        Some(Step::Outermost) => return None,
        Some(Step::Unknown) | None => {}
    }
    let stack = registers.values[STACK];
    if !space.is_code(pc) && first {
        // A jump to nowhere: the caller's address is on top of the stack.
        if let Some(back) = space.word(stack)
            && space.follows_call(back)
        {
            return Some(returned(registers, back, stack));
        }
    } else if let Some(next) = by_frame_pointer(registers, space)
        && space.is_code(next.values[PC].wrapping_sub(1))
    {
        return Some(next);
    }
    if !first {
        return None;
    }
    let places = (0..SEARCH).map_while(|word| stack.checked_add(word * 8));
    for place in places {
        let back = space.word(place)?;
        if space.follows_call(back) {
            return Some(returned(registers, back, place));
        }
    }
    None
}

/// The registers after a return to an address that was found at a place.
fn returned(registers: &Registers, back: u64, place: u64) -> Registers {
    let mut next = *registers;
    next.values[PC] = back;
    next.values[STACK] = place.wrapping_add(8);
    next
}

fn by_frame_pointer(registers: &Registers, space: &Space) -> Option<Registers> {
    let frame = registers.values[FRAME];
    if frame < registers.values[STACK] || !frame.is_multiple_of(8) {
        return None;
    }
    let mut next = *registers;
    next.values[FRAME] = space.word(frame)?;
    next.values[PC] = space.word(frame.checked_add(8)?)?;
    next.values[STACK] = frame.checked_add(16)?;
    Some(next)
}

enum Step {
    To(Registers),
    /// Nobody called it.
    Outermost,
    /// The tables say nothing.
    Unknown,
}

fn by_tables(registers: &Registers, address: u64, tables: &Tables, space: &Space) -> Step {
    tables_step(registers, address, tables, space).unwrap_or(Step::Unknown)
}

fn tables_step(registers: &Registers, address: u64, tables: &Tables, space: &Space) -> Option<Step> {
    let (section, bases) = (tables.section(), tables.bases());
    let offset = tables.description(address)?;
    let entry = section
        .fde_from_offset(bases, offset, |section, bases, offset| section.cie_from_offset(bases, offset))
        .ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(&section, bases, &mut context, address).ok()?;
    let value = |register: Register| registers.values.get(usize::from(register.0)).copied();
    let evaluate = |expression: &UnwindExpression<usize>, initial: Option<u64>| {
        let expression = expression.get(&section).ok()?;
        evaluate(expression, entry.cie().encoding(), initial, registers, space)
    };
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => value(*register)?.wrapping_add_signed(*offset),
        CfaRule::Expression(expression) => evaluate(expression, None)?,
    };
    let mut next = *registers;
    for number in 0..registers.values.len() {
        next.values[number] = match row.register(Register(number as u16)) {
            RegisterRule::Offset(offset) => space.word(cfa.wrapping_add_signed(offset))?,
            RegisterRule::ValOffset(offset) => cfa.wrapping_add_signed(offset),
            RegisterRule::Register(other) => value(other)?,
            RegisterRule::Expression(expression) => space.word(evaluate(&expression, Some(cfa))?)?,
            RegisterRule::ValExpression(expression) => evaluate(&expression, Some(cfa))?,
            // The outermost function says that nobody called it.
            RegisterRule::Undefined if number == PC => return Some(Step::Outermost),
            _ => continue,
        };
    }
    next.values[STACK] = cfa;
    Some(Step::To(next))
}

fn evaluate(
    expression: gimli::Expression<EndianSlice<'_, NativeEndian>>,
    encoding: gimli::Encoding,
    initial: Option<u64>,
    registers: &Registers,
    space: &Space,
) -> Option<u64> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(MAX_STEPS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate().ok()?;
    for _ in 0..MAX_STEPS {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.values.get(usize::from(register.0)).copied()?;
                evaluation.resume_with_register(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = space.word(address)?;
                let bits = u32::from(size.clamp(1, 8)) * 8;
                let value = word & (u64::MAX >> (64 - bits));
                evaluation.resume_with_memory(Value::Generic(value)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().last()?.location {
        Location::Address { address } => Some(address),
        Location::Value { value: Value::Generic(value) } => Some(value),
        _ => None,
    }
}
