//! Printing of derivations so that they lex as they say.
//!
//! In:  a derivation of a grammar as it is written, perhaps with subtrees
//!      put together from several inputs.
//! Out: bytes whose tokens are just those of the derivation; `None` if no
//!      bytes between the tokens achieve that.
//!
//! The leaves of a derivation are tokens with what is skipped before them.
//! Where subtrees have new neighbours, tokens can run together (`return`
//! and `x`), or what is skipped can mean something else (`-` before a
//! comment `-- x`). So the text is lexed while it is written, by maximal
//! munch with order and modes. What stands between two tokens is kept if it
//! serves; else the shortest text of one skipped token that does is put
//! there. In a grammar without tokens this is plain printing.
//!
//! | file | what |
//! | --- | --- |
//! | `leaves` | the tokens of a derivation, each with its kind |
//! | `separators` | texts that can stand between tokens |
//! | `fit` | what stands between them |
//! | `join` | the same for texts that are put together |
//!
//! Sequences of several skipped tokens are kept, but never made: where one
//! does not separate, hardly ever do two.

mod fit;
mod join;
mod leaves;
mod separators;

use fit::{Fit, Gap};
use leaves::{Frame, Leaf};
use separators::Separators;
use wug_grammar::lexical::{Lexicon, TooLarge};
use wug_grammar::{AltId, BodyId, Derivation, Grammar, ModeId, RuleId, Symbol};

/// Prints derivations of one grammar; immutable, shared between threads.
#[derive(Debug)]
pub struct Printer<'g> {
    grammar: &'g Grammar,
    tokens: Option<Tokens>,
}

/// What is known of the tokens of a grammar.
#[derive(Debug)]
struct Tokens {
    lexicon: Lexicon,
    separators: Separators,
    /// The token that each symbol asks for, by its number.
    of_symbol: Vec<u32>,
}

/// No token.
const NONE: u32 = u32::MAX;

/// What one thread writes to, and how the last derivation was printed.
/// Nothing is allocated when inputs do not grow.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    frames: Vec<Frame>,
    leaves: Vec<Leaf>,
    gaps: Vec<Gap>,
    modes: Vec<ModeId>,
    saved: Vec<ModeId>,
}

/// What is done about texts between tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// What serves is kept.
    #[default]
    Keep,
    /// The shortest that serves, everywhere.
    Least,
}

impl<'g> Printer<'g> {
    /// Prepares `grammar`.
    pub fn new(grammar: &'g Grammar) -> Result<Printer<'g>, TooLarge> {
        let tokens = if grammar.has_tokens() { Some(Tokens::of(grammar)?) } else { None };
        Ok(Printer { grammar, tokens })
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// Its tokens, where it has some.
    pub fn lexicon(&self) -> Option<&Lexicon> {
        self.tokens.as_ref().map(|tokens| &tokens.lexicon)
    }

    /// Appends the input to `out`; `None`, and nothing, if the nodes do not
    /// fit the grammar or the tokens cannot be kept apart.
    pub fn print(&self, derivation: &Derivation, layout: &mut Layout, out: &mut Vec<u8>) -> Option<()> {
        self.print_from(self.grammar.start(), derivation, Spacing::Keep, layout, out)
    }

    /// As [`Printer::print`], for a derivation that begins with `rule`, in
    /// the first mode.
    pub fn print_from(
        &self,
        rule: RuleId,
        derivation: &Derivation,
        spacing: Spacing,
        layout: &mut Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        self.print_symbol(Symbol::Rule(rule), derivation, spacing, layout, out)
    }

    /// As [`Printer::print`], for a derivation of the body of a rule, of a
    /// group or of a round.
    pub fn print_body(
        &self,
        body: BodyId,
        derivation: &Derivation,
        layout: &mut Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        self.print_symbol(Symbol::Group(body), derivation, Spacing::Keep, layout, out)
    }

    fn print_symbol(
        &self,
        root: Symbol,
        derivation: &Derivation,
        spacing: Spacing,
        layout: &mut Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let from = out.len();
        let done = match &self.tokens {
            None => leaves::print(self.grammar, root, derivation, &mut layout.frames, out),
            Some(tokens) => leaves::collect(self.grammar, tokens, root, derivation, layout)
                .and_then(|()| Fit::new(tokens, derivation.texts(), layout, out).run(spacing)),
        };
        if done.is_none() {
            out.truncate(from);
        }
        done
    }

    /// Whether parts of inputs can be put together by [`Printer::join`]: not
    /// if what a text means depends on more than where it begins.
    pub fn joins(&self) -> bool {
        self.tokens.as_ref().is_none_or(|tokens| tokens.lexicon.modes.len() == 1)
    }

    /// Puts separators into a text that was put together from several, at the
    /// joints that a token would run across. Joints are in order, each at a
    /// place where one token ends and another may begin.
    pub fn join(&self, text: &mut Vec<u8>, joints: &mut [usize]) -> Option<()> {
        self.tokens.as_ref().map_or(Some(()), |tokens| join::join(tokens, text, joints))
    }

    /// The derivation that was printed last with `layout`, with what now
    /// stands between its tokens: it prints as those bytes by itself.
    pub fn respaced(&self, derivation: &Derivation, layout: &Layout) -> Derivation {
        let Some(tokens) = &self.tokens else { return derivation.clone() };
        if layout.gaps.iter().all(|gap| *gap == Gap::Own) {
            return derivation.clone();
        }
        let text = derivation.texts();
        derivation.respaced(|token| match (layout.gaps.get(token), layout.leaves.get(token)) {
            (Some(gap), Some(leaf)) => gap.text(leaf, text, &tokens.separators),
            _ => &[],
        })
    }
}

impl Tokens {
    fn of(grammar: &Grammar) -> Result<Tokens, TooLarge> {
        let lexicon = Lexicon::of(grammar)?;
        let mut of_symbol = Vec::new();
        for alt in (0..grammar.alternative_count() as u32).map(AltId) {
            for (id, &symbol) in grammar.numbered(alt) {
                if of_symbol.len() <= id.index() {
                    of_symbol.resize(id.index() + 1, NONE);
                }
                of_symbol[id.index()] = lexicon.token_of(grammar, symbol).map_or(NONE, |token| token.0);
            }
        }
        let separators = Separators::of(&lexicon);
        Ok(Tokens { lexicon, separators, of_symbol })
    }

    fn of_rule(&self, grammar: &Grammar, rule: RuleId) -> u32 {
        self.lexicon.token_of(grammar, Symbol::Rule(rule)).map_or(NONE, |token| token.0)
    }
}
