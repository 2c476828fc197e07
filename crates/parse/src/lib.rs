//! From bytes to derivations, for any grammar.
//!
//! In:  a [`Grammar`] and bytes.
//! Out: a [`Derivation`], chosen among all by weights and order; how many of
//!      its nodes are ambiguous; or where the input stops being one of the
//!      grammar, and what was expected there.
//!
//! ```text
//! Grammar --form--> Form --automaton--> LR states, as far as asked for
//! bytes --terminals--> letters --engine, several--> Forest --derive--> Derivation
//! ```
//!
//! A grammar with tokens is read token by token (maximal munch, order,
//! modes, skipped tokens), one without them byte by byte. The parser is a
//! plain LR parser where there is one thing to do, and follows all stacks at
//! once where there are several: left recursion, ambiguity, empty rules and
//! circles are fine. Time is linear on LR grammars, cubic at worst, and
//! bounded by [`Limits`]; nothing recurses on the native stack.
//!
//! This crate is the judge of all producers, and shares no code with them.
//!
//! ```
//! use wug_grammar::{Notation, load::load_text};
//! use wug_parse::{Cache, Limits, Parser};
//!
//! let grammar = load_text("sum.wug", "sum = [0-9]+ | sum '+' sum ;", Notation::Wug)?.grammar;
//! let parser = Parser::new(&grammar).expect("it is small");
//! let mut cache = Cache::new(&parser);
//! let parsed = parser.parse(b"1+22+3", &mut cache, Limits::default()).expect("it is a sum");
//! assert_eq!(parsed.ambiguities, 1);
//! let mut text = Vec::new();
//! parsed.derivation.print(&grammar, &mut text).expect("it is of this grammar");
//! assert_eq!(text, b"1+22+3");
//! # Ok::<(), wug_grammar::Rejected>(())
//! ```
//!
//! # The way back
//!
//! 1. `terminals.rs` makes letters of an input: tokens by maximal munch, or
//!    bytes that no rule tells apart.
//! 2. `form/mod.rs` writes the grammar as productions without empty ones and
//!    with at most two nonterminals each; `automaton.rs` builds LR states
//!    from them as inputs ask for them.
//! 3. `engine.rs` is a plain LR parser; where there is more than one thing to
//!    do, `several.rs` follows all stacks at once; `explore.rs` tells whether
//!    there is. Both leave a `forest.rs`.
//! 4. `derive.rs` takes one derivation out of it: a
//!    `crates/grammar/src/derivation/mod.rs`, one array of eight bytes a
//!    node. `packed.rs` writes out the whole forest for those who want it.
//!    `explain.rs` says what was expected where an input is rejected;
//!    `islands.rs` finds what can be read of it all the same.
//! 5. `crates/produce/src/derived.rs` turns a derivation of the lowered
//!    grammar into choices, with which every engine makes the input again.
//! 6. `crates/produce/src/lexemes/mod.rs` prints derivations that were put
//!    together from several, so that their tokens stay apart.
//! 7. `crates/produce/src/reduce/mod.rs` looks for the smallest input that
//!    still fulfils a predicate: along the tree
//!    (`crates/produce/src/reduce/cuts.rs`,
//!    `crates/produce/src/reduce/lists.rs`,
//!    `crates/produce/src/reduce/texts.rs`), or byte by byte where there is
//!    none. Each candidate goes through `crates/produce/src/reduce/trial.rs`,
//!    which runs nothing twice. `crates/wug/src/cli/commands/minimize/mod.rs`
//!    asks a target or a command; which crash it is,
//!    `crates/target/src/stack/site.rs` says.

mod action;
mod automaton;
mod cursor;
mod derive;
mod engine;
mod explain;
mod explore;
mod facts;
mod follow;
mod forest;
mod form;
mod fx;
mod islands;
mod packed;
mod rejected;
mod several;
mod terminals;
mod text;

pub use engine::{Limit, Limits};
pub use form::Unfit;
pub use islands::{Islands, Piece};
pub use packed::{Packed, PackedNode, PackedWay};
pub use rejected::{Rejected, place};

use automaton::Automaton;
use derive::{Derive, TooMany};
use engine::{End, Engine, Input, Scratch};
use explain::Names;
use follow::Follow;
use forest::Label;
use form::Form;
use packed::Pack;
use rejected::word;
use terminals::{Lexeme, Terminals, lex};
use text::Text;
use wug_grammar::lexical::TooLarge;
use wug_grammar::lexical::alphabet::Alphabet;
use wug_grammar::{Derivation, Grammar, RuleId, RuleKind};

/// No input is longer than this, in bytes.
pub const MAX_INPUT: usize = 1 << 28;

/// What is known of a grammar before the first input: immutable, shared
/// between threads.
pub struct Parser<'g> {
    grammar: &'g Grammar,
    terminals: Terminals,
    form: Form,
    follow: Follow,
}

/// What one thread writes to while it parses: the automaton as far as it is
/// built, and room that is used again.
pub struct Cache {
    automaton: Automaton,
    scratch: Scratch,
}

/// An input that the grammar derives.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// How it is derived.
    pub derivation: Derivation,
    /// How many nodes of the derivation could be derived in another way,
    /// ways to derive the empty text apart.
    pub ambiguities: u64,
    /// What it took, as [`Limits::steps`] counts it.
    pub steps: u64,
    /// Bytes that were held in the end: the forest, the stacks, the tokens
    /// and the derivation; without the automaton, which all inputs share.
    pub memory: usize,
}

/// Why there is no derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The grammar does not derive the input.
    Rejected(Rejected),
    /// A limit was passed at this byte.
    Limit(Limit, usize),
}

/// What automata may take for their rows, in bytes.
const AUTOMATON: usize = 256 << 20;

impl Default for Limits {
    /// A gigabyte, and some seconds.
    fn default() -> Limits {
        Limits { memory: 1 << 30, steps: 100_000_000 }
    }
}

impl<'g> Parser<'g> {
    /// Prepares `grammar`.
    pub fn new(grammar: &'g Grammar) -> Result<Parser<'g>, Unfit> {
        let start = grammar.start();
        if grammar.has_tokens() && grammar.rule(start).kind == RuleKind::Fragment {
            return Err(Unfit::Fragment(grammar.name(start).to_string()));
        }
        Parser::starting(grammar, &[start])
    }

    /// Prepares it with several rules to start from.
    fn starting(grammar: &'g Grammar, starts: &[RuleId]) -> Result<Parser<'g>, Unfit> {
        let terminals = Terminals::of(grammar).map_err(|TooLarge| Unfit::Lexical)?;
        let form = Form::new(grammar, &terminals, starts)?;
        let follow = Follow::of(&form, terminals.letters());
        Ok(Parser { grammar, terminals, form, follow })
    }

    /// Parses `text`.
    pub fn parse(&self, text: &[u8], cache: &mut Cache, limits: Limits) -> Result<Parsed, Failure> {
        self.read(text, cache, limits, |text, root, letters, cache| {
            let Cache { automaton, scratch } = cache;
            let derive = Derive::new(self.grammar, &self.form, automaton, &scratch.forest, text);
            let (derivation, ambiguities) = derive.run(root, limits.memory / 8).map_err(|TooMany| letters)?;
            let (steps, held) = if root.is_some() { (scratch.steps, scratch.bytes()) } else { (0, 0) };
            let memory = held + text.token_bytes() + derivation.len() * 8;
            Ok(Parsed { derivation, ambiguities, steps, memory })
        })
    }

    /// All derivations of `text`, packed. None of the empty text is told.
    pub fn forest(&self, text: &[u8], cache: &mut Cache, limits: Limits) -> Result<Packed, Failure> {
        self.read(text, cache, limits, |_, root, letters, cache| {
            let Some(root) = root else { return Ok(Packed::default()) };
            let pack = Pack::new(&self.form, &cache.automaton, &cache.scratch.forest);
            pack.run(root, letters, limits.memory / 128).map_err(|TooMany| letters)
        })
    }

    /// Reads `text` and hands what was found to `finish`, with the number of
    /// letters; an error there is where memory ran out.
    fn read<T>(
        &self,
        text: &[u8],
        cache: &mut Cache,
        limits: Limits,
        finish: impl FnOnce(Text<'_>, Option<Label>, usize, &Cache) -> Result<T, usize>,
    ) -> Result<T, Failure> {
        if text.len() > MAX_INPUT {
            return Err(Failure::Limit(Limit::Length, MAX_INPUT));
        }
        let tokens;
        let (text, letters, root) = match &self.terminals {
            Terminals::Bytes(alphabet) => {
                let input = ByteInput::new(text, alphabet);
                (Text::Bytes(text), text.len(), self.root(&input, Text::Bytes(text), cache, limits)?)
            }
            Terminals::Tokens(lexicon) => {
                tokens = lex(lexicon, text);
                let input = TokenInput { tokens: &tokens, end: self.terminals.letters() as u32 };
                let text = Text::Tokens(text, &tokens);
                (text, tokens.len(), self.root(&input, text, cache, limits)?)
            }
        };
        finish(text, root, letters, cache).map_err(|at| Failure::Limit(Limit::Memory, text.place(at)))
    }

    /// The label of the whole input; none if it is empty.
    fn root<I: Input>(
        &self,
        input: &I,
        text: Text<'_>,
        cache: &mut Cache,
        limits: Limits,
    ) -> Result<Option<Label>, Failure> {
        let Cache { automaton, scratch } = cache;
        automaton.begin();
        let start = self.grammar.rule(self.grammar.start());
        if input.len() == 0 && self.form.facts.empty(start.body).is_some() && !start.is_token() {
            return Ok(None);
        }
        let (form, follow) = (&self.form, &self.follow);
        let mut engine = Engine { form, follow, automaton, input, scratch, limits };
        match engine.run(0) {
            End::Accepted(label) => Ok(Some(label)),
            End::Rejected(at, tops) => {
                let names = Names::new(self.grammar, &self.terminals);
                let why = engine.explain(&names, &tops, self.terminals.letters() as u32);
                let valid = text.place(at);
                Err(Failure::Rejected(Rejected { valid, found: word(text.bytes(), valid), ..why }))
            }
            End::Limit(limit, at) => Err(Failure::Limit(limit, text.place(at))),
        }
    }
}

impl Cache {
    /// An empty one.
    pub fn new(parser: &Parser<'_>) -> Cache {
        Cache::bounded(parser, AUTOMATON)
    }

    /// An empty one that keeps at most about so many bytes of what can be
    /// worked out again.
    pub fn bounded(parser: &Parser<'_>, bytes: usize) -> Cache {
        let automaton = Automaton::new(&parser.form, parser.terminals.letters(), bytes);
        Cache { automaton, scratch: Scratch::default() }
    }
}

struct ByteInput<'a> {
    text: &'a [u8],
    letters: [u32; 256],
    end: u32,
}

impl<'a> ByteInput<'a> {
    fn new(text: &'a [u8], alphabet: &Alphabet) -> ByteInput<'a> {
        let mut letters = [0; 256];
        (0..=255u8).for_each(|b| letters[usize::from(b)] = alphabet.letter(b) as u32);
        ByteInput { text, letters, end: alphabet.len() as u32 }
    }
}

impl Input for ByteInput<'_> {
    fn len(&self) -> usize {
        self.text.len()
    }

    #[inline]
    fn letter(&self, at: usize) -> u32 {
        match self.text.get(at) {
            Some(&byte) => self.letters[usize::from(byte)],
            None => self.end,
        }
    }
}

struct TokenInput<'a> {
    tokens: &'a [Lexeme],
    end: u32,
}

impl Input for TokenInput<'_> {
    fn len(&self) -> usize {
        self.tokens.len()
    }

    #[inline]
    fn letter(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(self.end, |t| t.letter)
    }
}
