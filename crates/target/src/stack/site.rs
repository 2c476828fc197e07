//! Which crash it is: the site by which crashes are told apart.
//!
//! In:  a [`Crash`].
//! Out: a [`Site`]: what kind of crash, the innermost functions of the
//!      program's own code with the offset in each, and what the program
//!      said. None of it depends on where a file was loaded, on how deep the
//!      program was nested, or on a number in the input.
//!
//! Names of functions alone were rejected: four assertions in one function
//! would be one crash.

use super::{Crash, Frame, system};
use std::collections::BTreeMap;
use std::fmt;
use wug_random::hash;

/// Functions that tell one crash from another, unless a user says otherwise.
pub const FRAMES: usize = 3;
/// The same where the program's code and that of its libc are in one file
/// without names: an abort alone takes seven.
const MIXED_FRAMES: usize = 16;

/// Where and how a target crashed, the same for all inputs that crash it in
/// one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// A signal, or what a sanitizer complains of.
    pub kind: String,
    /// Functions with offsets, the innermost first.
    pub frames: Vec<String>,
    /// The failed assertion, the place of a panic and so on.
    pub said: Option<String>,
    /// What was said besides, which may be made of the input.
    pub message: Option<String>,
}

impl Site {
    /// Whether only the kind is known.
    pub fn is_vague(&self) -> bool {
        self.frames.is_empty() && self.said.is_none()
    }

    /// A number for it.
    pub fn key(&self) -> u64 {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let parts = [self.kind.clone(), self.frames.join("\n"), text(&self.said), text(&self.message)];
        hash(parts.join("\n\n").as_bytes())
    }

    /// The same whatever was said besides.
    pub fn without_message(&self) -> Site {
        Site { message: None, ..self.clone() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.frames.is_empty() {
            write!(f, " in {}", self.frames.join(" < "))?;
        }
        for text in [&self.said, &self.message].into_iter().flatten() {
            write!(f, ": {text}")?;
        }
        Ok(())
    }
}

impl Crash {
    /// The site by its innermost `most` functions; the kind alone if that is 0.
    pub fn site(&self, most: usize) -> Site {
        let kind = match (&self.kind, self.overflow) {
            (Some(kind), _) => kind.clone(),
            (None, true) => "stack overflow".into(),
            (None, false) => self.verdict.to_string(),
        };
        if most == 0 {
            return Site { kind, ..Site::default() };
        }
        let own: Vec<&Frame> = self.stack.iter().filter(|frame| !frame.system).collect();
        let own = if own.iter().any(|frame| frame.is_known()) { own } else { self.stack.iter().collect() };
        let frames = match self.overflow.then(|| recursion(&own)) {
            Some(frames) if !frames.is_empty() => frames,
            _ => innermost(&own, most),
        };
        // What is said about a stack that is used up depends on who says it.
        let said = self.said.clone().filter(|_| !self.overflow).unwrap_or_default();
        let text = |text: String| (!text.is_empty()).then_some(text);
        Site { kind, frames, said: text(said.place), message: text(said.message) }
    }
}

/// The innermost functions, each once: how often a function calls itself
/// depends on the input.
fn innermost(frames: &[&Frame], most: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut functions: Vec<(&str, &str, u64)> = Vec::new();
    for frame in frames {
        let most = if frame.mixed { most.max(MIXED_FRAMES) } else { most };
        if out.len() >= most {
            break;
        }
        let function = frame.identity();
        if !functions.contains(&function) {
            functions.push(function);
            out.push(place(frame));
        }
    }
    out
}

/// The calls that are under way most often, in order of names: where the
/// stack ends, and so which of them is the innermost, is chance.
fn recursion(frames: &[&Frame]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for frame in frames.iter().skip(1) {
        *counts.entry(place(frame)).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    if most < 3 {
        return Vec::new();
    }
    // A part of a round may stand at either end.
    counts
        .into_iter()
        .filter(|(_, count)| count + 2 >= most)
        .map(|(place, _)| place)
        .take(MIXED_FRAMES)
        .collect()
}

/// `function+0x12`, `file+0x1234`, or what is known.
fn place(frame: &Frame) -> String {
    let base = system::base(&frame.module);
    match (&frame.function, frame.offset, frame.line) {
        (Some(name), Some(offset), _) => format!("{name}+{offset:#x}"),
        (Some(name), None, Some(line)) => format!("{name}:{line}:{}", frame.column.unwrap_or(0)),
        (Some(name), None, None) if frame.address != 0 => format!("{name} {base}+{:#x}", frame.address),
        (Some(name), None, None) => name.clone(),
        (None, _, _) if frame.module.starts_with('/') => format!("{base}+{:#x}", frame.address),
        // Memory that is no file: an address there tells nothing.
        (None, _, _) if base.is_empty() => "nowhere".into(),
        (None, _, _) => base.to_string(),
    }
}

impl Frame {
    /// Whether it is in a file or has a name.
    fn is_known(&self) -> bool {
        self.function.is_some() || self.module.starts_with('/')
    }

    /// The function, wherever it stands in it.
    fn identity(&self) -> (&str, &str, u64) {
        match (&self.function, self.offset) {
            (Some(name), _) => (&self.module, name, 0),
            (None, Some(offset)) => (&self.module, "", self.address.wrapping_sub(offset)),
            (None, None) if self.module.starts_with('/') => (&self.module, "", self.address),
            (None, None) => (&self.module, "", 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Said;
    use super::*;
    use crate::Verdict;

    fn crash(frames: &[(&str, &str, u64)]) -> Crash {
        let frame = |&(module, function, offset): &(&str, &str, u64)| Frame {
            module: module.to_string(),
            address: 0x1000 + offset,
            function: (!function.is_empty()).then(|| function.to_string()),
            offset: Some(offset),
            system: module.contains("libc.so"),
            ..Frame::default()
        };
        let stack = frames.iter().map(frame).collect();
        Crash { stack, ..Crash::of(Verdict::Signal(6)) }
    }

    const ASSERTION: [(&str, &str, u64); 8] = [
        ("/lib/libc.so.6", "raise", 1),
        ("/lib/libc.so.6", "__assert_fail", 1),
        ("/bin/target", "value", 3),
        ("/bin/target", "array", 4),
        ("/bin/target", "value", 5),
        ("/bin/target", "array", 4),
        ("/bin/target", "", 16),
        ("/bin/target", "main", 6),
    ];

    #[test]
    fn recursion_counts_once_and_libraries_do_not() {
        let crash = crash(&ASSERTION);
        assert_eq!(crash.site(3).frames, ["value+0x3", "array+0x4", "target+0x1010"]);
        assert_eq!(crash.site(0).to_string(), "crash, SIGABRT");
    }

    #[test]
    fn places_in_one_function_and_messages_tell_crashes_apart() {
        let (one, mut other) = (crash(&ASSERTION), ASSERTION);
        other[2].2 = 9;
        let other = crash(&other);
        assert_ne!(one.site(3).key(), other.site(3).key());
        let said = Crash {
            said: Some(Said { place: "panic at a.rs:1:1".into(), message: "x".into() }),
            ..one.clone()
        };
        assert_ne!(one.site(3).key(), said.site(3).key());
        assert_ne!(said.site(3).key(), said.site(3).without_message().key());
        // How deep it was nested does not.
        let mut deeper = ASSERTION.to_vec();
        deeper.splice(6..6, [ASSERTION[4], ASSERTION[5]]);
        assert_eq!(crash(&deeper).site(3), one.site(3));
    }

    #[test]
    fn a_stack_that_is_used_up_is_known_by_its_round() {
        let round = |first: usize, length: usize| {
            let of = |at: usize| match at % 2 {
                0 => ("/bin/target", "value", 5),
                _ => ("/bin/target", "array", 4),
            };
            // Where the fault came is chance.
            let mut frames = vec![("/bin/target", "array", first as u64)];
            frames.extend((first..first + length).map(of));
            Crash { overflow: true, ..crash(&frames) }.site(3)
        };
        assert_eq!(round(0, 200).to_string(), "stack overflow in array+0x4 < value+0x5");
        assert_eq!(round(0, 200), round(1, 255));
    }

    #[test]
    fn jumps_to_nowhere_have_no_addresses() {
        let mut crash = crash(&ASSERTION[2..3]);
        for address in [0, 0x4141_4141] {
            let nowhere = Frame { address, ..Frame::default() };
            crash.stack.splice(..crash.stack.len() - 1, [nowhere]);
            assert_eq!(crash.site(3).frames, ["nowhere", "value+0x3"]);
        }
    }
}
