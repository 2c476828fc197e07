//! Reads the trace of a parser, from its end.
//!
//! In:  a place in the trace.
//! Out: the productions and labels before it, one by one; macros are taken
//!      apart, jumps followed.

use crate::automaton::Automaton;
use crate::forest::{Forest, Label, Mark};

/// Where the trace is read: the next entry is the one before `at`, and of
/// a macro so many reductions are left (none: all).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub at: u32,
    pub left: u32,
}

/// What stands before a cursor.
pub(crate) enum Read {
    Production(u32),
    Label(Label),
}

impl Cursor {
    /// Reads what stands before it; none at the beginning of the trace.
    #[inline]
    pub fn read(&mut self, forest: &Forest, automaton: &Automaton) -> Option<Read> {
        loop {
            let at = self.at.checked_sub(1)?;
            match forest.trace[at as usize].mark() {
                Mark::Reduce(production) => {
                    self.at = at;
                    return Some(Read::Production(production));
                }
                Mark::Macro(number) => {
                    let reductions = &automaton.macros[number as usize].reductions;
                    let left = if self.left == 0 { reductions.len() as u32 } else { self.left };
                    self.left = left - 1;
                    if self.left == 0 {
                        self.at = at;
                    }
                    return Some(Read::Production(reductions[left as usize - 1]));
                }
                Mark::Node(node) => {
                    self.at = at;
                    return Some(Read::Label(Label::Node(node)));
                }
                Mark::Trace(elsewhere) => {
                    self.at = at;
                    return Some(Read::Label(Label::Trace(elsewhere)));
                }
                Mark::Jump(to) => self.at = to,
            }
        }
    }
}
