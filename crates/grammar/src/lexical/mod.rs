//! Lexical rules as automata over bytes.
//!
//! In:  a grammar with tokens.
//! Out: a [`Lexicon`]: its tokens in order of priority, and for each mode
//!      one deterministic automaton that reads them all.
//!
//! | file | what |
//! | --- | --- |
//! | `alphabet` | bytes that no rule tells apart, as one |
//! | `nfa` | the language of a body as a nondeterministic automaton |
//! | `dfa` | deterministic automata: subsets, minimum, difference |
//! | `ordered` | tokens with lazy repetitions |
//! | `partition` | sets that split, for the minimum |
//! | `emit` | an automaton as rules again |
//! | `lexicon` | the tokens of a grammar and the automaton of each mode |
//! | `lexer` | maximal munch with it |
//!
//! `regex-automata` matches, but gives no product, difference or quotient
//! of automata, which is what lowering needs; so these are our own.

pub mod alphabet;
pub mod dfa;
pub mod emit;
pub mod lexer;
pub mod lexicon;
pub mod nfa;
mod ordered;
mod partition;

pub use dfa::Dfa;
pub use lexicon::{Lexicon, TokenId};

/// An automaton would pass the bound on work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// What may still be spent on automata, in entries of sets of states: a
/// bound on time and memory for all automata of one grammar.
#[derive(Clone, Copy, Debug)]
pub struct Work(usize);

impl Default for Work {
    /// A second or two, and some hundred megabytes: enough for dialects of
    /// SQL with thousands of keywords in either case.
    fn default() -> Self {
        Work(40_000_000)
    }
}

impl Work {
    /// What may be spent on the rules as nondeterministic automata, whose
    /// entries take more memory.
    pub fn for_rules() -> Work {
        Work(10_000_000)
    }

    /// What may be spent on sets of tokens, in words of 64.
    pub fn for_sets() -> Work {
        Work(50_000_000)
    }

    /// Lets `work` spend at most `limit` of what is left.
    pub fn at_most<T>(
        &mut self,
        limit: usize,
        work: impl FnOnce(&mut Work) -> Result<T, TooLarge>,
    ) -> Result<T, TooLarge> {
        let given = self.0.min(limit);
        let mut part = Work(given);
        let done = work(&mut part);
        self.0 -= given - part.0;
        done
    }

    /// Takes `amount` off what is left.
    pub fn spend(&mut self, amount: usize) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(amount).ok_or(TooLarge)?;
        Ok(())
    }
}
