//! What is read to tell crashes apart: output of targets, reports of
//! sanitizers, mappings, program files, stacks.

use super::elf;
use crate::stack::module::Module;
use crate::stack::unwind::{self, Fault, MAX_FRAMES, Registers, Space};
use crate::stack::{maps, message, report, symbols};
use crate::{Crash, Site, Verdict};
use std::io::Cursor;
use std::sync::Arc;

/// Outputs that are read, with what is between `{}` to be filled in.
const OUTPUTS: [&str; 6] = [
    "==7==ERROR: AddressSanitizer: heap-use-after-free on address {} at pc {}\nREAD of size 1 at {} thread T0\n    #0 {} in parse(char const*) /src/a.c:12:3\n    #1 {}  (/bin/target+0x12d0) (BuildId: 00ff)\n    #2 {} in main (/bin/target+0x1300)\n\nfreed by thread T0 here:\n    #0 {} in free (/lib/libasan.so+0x1)\n",
    "a.c:3:9: runtime error: signed integer overflow: {} + 1 cannot be represented in type 'int'\n    #0 {} in f (/bin/target+0x7)\n",
    "thread 'main' ({}) panicked at src/main.rs:3:5:\nindex out of bounds: the len is {} but the index is {}\nnote: run\n",
    "terminate called after throwing an instance of 'std::out_of_range'\n  what():  __n (which is {}) >= this->size() (which is {})\n",
    "target: a.c:12: parse: Assertion `x > 0' failed.\n",
    "==7==ERROR: AddressSanitizer: stack-overflow on address {} (pc {} bp {} sp {} T0)\n    #0 {} in f (/bin/target+0x7)\n    #1 {} in f (/bin/target+0x17)\n    #2 {} in f (/bin/target+0x17)\n    #3 {} in f (/bin/target+0x17)\n    #4 {} in f (/bin/target+0x17)\n",
];

const TOKENS: [&str; 22] = [
    "#0 0x",
    "#1 0x7f in ",
    " (/bin/target+0x",
    ")",
    "\n",
    "ERROR: AddressSanitizer: ",
    ": runtime error: ",
    " panicked at ",
    "what():",
    "\u{1b}[2J",
    "\u{202e}",
    "0x",
    "ffffffffffffffffffff",
    ":",
    "Assertion `",
    "' failed.",
    "terminate called after throwing an instance of '",
    "ä",
    "\0",
    "\"",
    "'",
    "-1.",
];

/// Reads an output as it is, and with the edits that bytes tell.
pub fn check_output(bytes: &[u8]) {
    read(bytes);
    let Some((&which, edits)) = bytes.split_first() else { return };
    let sample = OUTPUTS[usize::from(which) % OUTPUTS.len()];
    // Numbers of a run tell nothing about where it crashed.
    let fill = |seed: u64| {
        let mut number = seed;
        let parts: Vec<&str> = sample.split("{}").collect();
        let mut out = parts[0].to_string();
        for part in &parts[1..] {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.push_str(&if sample.starts_with("==") { format!("{number:#x}") } else { number.to_string() });
            out.push_str(part);
        }
        out
    };
    let seed = edits.iter().fold(1, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let numbered = fill(seed).replace("#0 ", "#0 0x1").replace("0x10x", "0x1");
    assert_eq!(read(fill(seed).as_bytes()), read(fill(!seed).as_bytes()), "{numbered}");
    let mut text = fill(seed).into_bytes();
    for edit in edits.chunks_exact(4).take(16) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (text.len() + 1);
        let length = usize::from(edit[2] / 3 % 32).min(text.len() - at);
        let token = TOKENS[usize::from(edit[3]) % TOKENS.len()].as_bytes();
        match edit[2] % 3 {
            0 => drop(text.splice(at..at, token.iter().copied())),
            1 => drop(text.drain(at..at + length)),
            _ => drop(text.splice(at..at + length, token.iter().copied())),
        }
    }
    read(&text);
}

/// The site that an output tells of; it can be shown to people.
fn read(output: &[u8]) -> Site {
    let mut crash = Crash { said: message::read(output), ..Crash::of(Verdict::Signal(6)) };
    if let Some(report) = report::read(output) {
        (crash.kind, crash.overflow) = (Some(report.kind), report.overflow);
        crash.stack = symbols::name(report.stack, &mut |_| Arc::default());
    }
    check_site(&crash)
}

fn check_site(crash: &Crash) -> Site {
    let sites = [0, 1, 3, 100].map(|most| crash.site(most));
    for site in &sites {
        let shown = site.to_string();
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
        assert!(site.frames.len() <= 100.min(crash.stack.len()));
        assert_eq!(site.key(), site.clone().key());
    }
    sites[2].clone()
}

/// Reads a program file with the edits that bytes tell, and walks up a stack
/// that bytes make up, in a process that has the file.
pub fn check_stack(bytes: &[u8]) {
    let mut file = elf::file();
    let (edits, stack) = bytes.split_at(bytes.len().min(64) / 2);
    for edit in edits.chunks_exact(4).take(8) {
        // Most of the file is empty or code.
        let places: Vec<usize> = (0..120).chain(elf::TEXT as usize + 0x300..file.len()).collect();
        let at = places[usize::from(u16::from_le_bytes([edit[0], edit[1]])) % places.len()];
        file[at] = match edit[2] % 4 {
            0 => 0,
            1 => 0xff,
            2 => file[at].wrapping_add(1),
            _ => edit[3],
        };
    }
    walk(&file, stack);
    maps::parse(bytes);
}

/// Where the file and the stack are in the process that is made up.
const LOADED: u64 = 0x5555_5555_0000;
const STACK: u64 = 0x7ffe_0000_0000;

fn walk(file: &[u8], stack: &[u8]) {
    let module = Arc::new(Module::parse(Cursor::new(file)));
    for address in [0, elf::TEXT, elf::TEXT + 5, elf::TEXT + 0x2ff, u64::MAX] {
        if let Some((name, start)) = module.symbol(address) {
            assert!(!name.is_empty() && start <= address);
        }
        assert!(module.function_start(address).is_none_or(|start| start <= address));
    }
    let listed = format!(
        "{LOADED:x}-{:x} r-xp 00000000 00:00 7 /bin/target\n{STACK:x}-{:x} rw-p 00000000 00:00 0 [stack]\n",
        LOADED + 0x3000,
        STACK + 0x1000,
    );
    let maps = maps::parse(listed.as_bytes());
    // A word of the stack is a return address, a place on the stack, or data.
    let memory: Vec<u8> = stack
        .chunks(3)
        .flat_map(|word| {
            let value = word.iter().fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
            let word = match word[0] % 3 {
                0 => LOADED + elf::TEXT + value % (3 * elf::FUNCTION),
                1 => STACK + value % 0x1000 / 8 * 8,
                _ => value,
            };
            word.to_le_bytes()
        })
        .collect();
    let read = |address: u64, to: &mut [u8]| {
        let (from, base) = if address >= STACK { (&memory[..], STACK) } else { (file, LOADED) };
        let at = address.wrapping_sub(base) as usize;
        let Some(bytes) = at.checked_add(to.len()).and_then(|end| from.get(at..end)) else { return false };
        to.copy_from_slice(bytes);
        true
    };
    let mut registers = Registers::default();
    (registers.values[6], registers.values[7]) = (STACK + 16, STACK);
    registers.values[16] = LOADED + elf::TEXT + stack.first().map_or(0, |byte| u64::from(*byte) * 3);
    let load = &mut |_: &str| module.clone();
    let mut space = Space { maps: &maps, load, read: &read, faults: &[] };
    let fault = Fault { signal: libc::SIGSEGV, address: Some(STACK - 8) };
    let walked = unwind::unwind(registers, fault, &mut space);
    assert!((1..=MAX_FRAMES).contains(&walked.pcs.len()) && walked.overflow);
    let stack = symbols::locate(&walked.pcs, &mut space);
    check_site(&Crash { stack, overflow: walked.overflow, ..Crash::of(Verdict::Signal(11)) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_symbols_and_tables() {
        let file = elf::file();
        let module = Module::parse(Cursor::new(&file[..]));
        for (number, name) in elf::NAMES.iter().enumerate() {
            let start = elf::TEXT + number as u64 * elf::FUNCTION;
            assert_eq!(module.symbol(start + 7), Some((*name, start)));
            assert_eq!(module.function_start(start + 7), Some(start));
        }
        assert_eq!(module.slide(LOADED, 0), Some(LOADED));
    }
}
