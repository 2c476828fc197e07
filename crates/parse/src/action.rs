//! What a parser does in a state at a letter.

/// What to do in a state at a letter: a kind and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Action(u32);

const SHIFT_BITS: u32 = 28;
const NUMBER: u32 = (1 << SHIFT_BITS) - 1;

/// An [`Action`], told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Do {
    /// Not worked out yet.
    Unknown,
    Error,
    /// Read the letter and go to this state.
    Shift(u32),
    Reduce(u32),
    /// Read the letter and do this [`Macro`], which leaves the stack as it is.
    Loop(u32),
    /// Read the letter and do this [`Macro`], which leaves one state more.
    Push(u32),
    /// One of several: see [`Automaton::choices`](crate::automaton::Automaton::choices).
    Choose(u32),
    Accept,
}

impl Action {
    /// Not worked out yet.
    pub const UNKNOWN: Action = Action(0);

    pub fn new(kind: u32, number: u32) -> Action {
        debug_assert!(number <= NUMBER);
        Action(kind << SHIFT_BITS | number)
    }

    #[inline]
    pub fn what(self) -> Do {
        let number = self.0 & NUMBER;
        match self.0 >> SHIFT_BITS {
            0 => Do::Unknown,
            1 => Do::Error,
            2 => Do::Shift(number),
            3 => Do::Reduce(number),
            4 => Do::Loop(number),
            5 => Do::Push(number),
            6 => Do::Choose(number),
            _ => Do::Accept,
        }
    }
}

/// A shift and all reductions that must follow it.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    /// The state right behind the shift.
    pub shifted: u32,
    /// The state at the end.
    pub state: u32,
    /// The reductions, in order.
    pub reductions: Box<[u32]>,
}

/// Several things that could be done.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub shift: Option<u32>,
    pub reductions: Box<[u32]>,
}
