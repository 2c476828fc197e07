//! What can be read of an input that does not parse as a whole.
//!
//! In:  a grammar and any bytes.
//! Out: the input in pieces: subtrees of rules (islands), and the bytes
//!      between them.
//!
//! The parser starts anywhere and with any rule. Where it gets stuck, its
//! stack holds the largest subtrees that are complete; it starts again at
//! the letter that it could not read. So every letter is read once, and a
//! second time only where it got stuck. To look for the longest match of
//! every rule at every byte was rejected: it is quadratic, and on a missing
//! bracket finds no more.

use crate::derive::Derive;
use crate::engine::{DET, End, Engine, Input};
use crate::explain::Names;
use crate::forest::Label;
use crate::form::{Key, Unfit};
use crate::terminals::{Terminals, lex_on};
use crate::text::Text;
use crate::{ByteInput, Cache, Failure, Limit, Limits, MAX_INPUT, Parser, TokenInput};
use std::ops::Range;
use wug_grammar::{Derivation, Grammar, RuleId, RuleKind};

/// A stretch of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What a rule derives.
    Island {
        /// The rule.
        rule: RuleId,
        /// Where it stands.
        span: Range<usize>,
        /// How it is derived, from that rule.
        derivation: Derivation,
    },
    /// Anything else.
    Raw(Range<usize>),
}

impl Piece {
    /// Where it stands.
    pub fn span(&self) -> Range<usize> {
        match self {
            Piece::Island { span, .. } | Piece::Raw(span) => span.clone(),
        }
    }
}

/// A parser that starts with any rule.
pub struct Islands<'g> {
    parser: Parser<'g>,
}

/// A symbol on a stack.
#[derive(Clone, Copy, Debug)]
struct Item {
    state: u32,
    label: Label,
    level: u32,
}

impl<'g> Islands<'g> {
    /// Prepares `grammar`.
    pub fn new(grammar: &'g Grammar) -> Result<Islands<'g>, Unfit> {
        let known = |&rule: &RuleId| {
            let rule = grammar.rule(rule);
            !rule.made && (rule.kind == RuleKind::Syntax || !grammar.has_tokens())
        };
        let starts: Vec<RuleId> = grammar.rules().filter(known).collect();
        Ok(Islands { parser: Parser::starting(grammar, &starts)? })
    }

    /// What one thread writes to.
    pub fn cache(&self) -> Cache {
        Cache::new(&self.parser)
    }

    /// All of `text` in pieces, in order; no two raw ones side by side.
    pub fn cover(&self, text: &[u8], cache: &mut Cache, limits: Limits) -> Result<Vec<Piece>, Failure> {
        if text.len() > MAX_INPUT {
            return Err(Failure::Limit(Limit::Length, MAX_INPUT));
        }
        match &self.parser.terminals {
            Terminals::Bytes(alphabet) => {
                let input = ByteInput::new(text, alphabet);
                self.all(&input, Text::Bytes(text), cache, limits)
            }
            Terminals::Tokens(lexicon) => {
                let tokens = lex_on(lexicon, text);
                let input = TokenInput { tokens: &tokens, end: self.parser.terminals.letters() as u32 };
                self.all(&input, Text::Tokens(text, &tokens), cache, limits)
            }
        }
    }

    fn all<I: Input>(
        &self,
        input: &I,
        text: Text<'_>,
        cache: &mut Cache,
        limits: Limits,
    ) -> Result<Vec<Piece>, Failure> {
        let parser = &self.parser;
        let names = Names::new(parser.grammar, &parser.terminals);
        let mut found: Vec<Piece> = Vec::new();
        let mut at = 0;
        let mut steps = 0;
        while at < input.len() {
            let Cache { automaton, scratch } = cache;
            automaton.begin();
            let left = Limits { steps: limits.steps.saturating_sub(steps), ..limits };
            let (form, follow) = (&parser.form, &parser.follow);
            let mut engine = Engine { form, follow, automaton, input, scratch, limits: left };
            let (end, items) = match engine.run(at) {
                End::Accepted(label) => {
                    let level = input.len() as u32;
                    (input.len(), vec![Item { state: 0, label, level }])
                }
                End::Rejected(end, tops) => {
                    let mut items = engine.stack(tops.first().copied().unwrap_or(DET));
                    engine.settle(&mut items, parser.terminals.letters() as u32);
                    (end, items)
                }
                End::Limit(limit, end) => return Err(Failure::Limit(limit, text.boundary(end))),
            };
            steps += scratch.steps;
            let mut derive = Derive::new(parser.grammar, form, automaton, &scratch.forest, text);
            let mut islands = Vec::new();
            for item in &items {
                let too_many = |_| Failure::Limit(Limit::Memory, text.boundary(at));
                derive
                    .islands(
                        item.label,
                        item.level as usize,
                        limits.memory / 8,
                        &mut |key, span, derivation| {
                            let rule = names.rule_id(key);
                            islands.extend(rule.map(|rule| Piece::Island { rule, span, derivation }));
                        },
                    )
                    .map_err(too_many)?;
            }
            islands.sort_by_key(|piece| piece.span().start);
            found.extend(islands);
            // A letter that nothing begins with is passed over.
            at = end.max(at + usize::from(end == at));
        }
        Ok(with_raw(found, text.bytes().len()))
    }
}

/// Puts what is between the islands between them.
fn with_raw(islands: Vec<Piece>, end: usize) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(2 * islands.len() + 1);
    let mut at = 0;
    for island in islands {
        let span = island.span();
        if at < span.start {
            pieces.push(Piece::Raw(at..span.start));
        }
        at = span.end;
        pieces.push(island);
    }
    if at < end {
        pieces.push(Piece::Raw(at..end));
    }
    pieces
}

impl<I: Input> Engine<'_, I> {
    /// The first of the stacks below a handle, without its bottom.
    fn stack(&self, top: u32) -> Vec<Item> {
        let mut items = Vec::new();
        let mut handle = top;
        loop {
            let mut below = None;
            self.each_edge(handle, |_, to, label| {
                below.get_or_insert((to, label));
            });
            let Some((to, label)) = below else { break };
            items.push(Item { state: self.state_of(handle), label, level: self.level_of(handle) });
            handle = to;
        }
        items.reverse();
        items
    }

    /// Reduces what is complete at the top of a stack, as if the input
    /// ended here.
    fn settle(&mut self, items: &mut Vec<Item>, end: u32) {
        let bottom = self.scratch.stack[0].level;
        while let Some(&Item { state, level, .. }) = items.last() {
            let Some(production) = self.first_offer(state, end) else { return };
            let p = *self.form.production(production);
            if self.form.cyclic[p.lhs as usize] || p.len as usize > items.len() || production == 0 {
                return;
            }
            let below = items.len() - p.len as usize;
            let (mut kids, mut met, mut split) = ([Label::Letter; 2], 0, 0);
            let start = |at: usize| at.checked_sub(1).map_or(bottom, |i| items[i].level);
            for at in (below..items.len()).rev().filter(|&at| items[at].label != Label::Letter) {
                if met < 2 {
                    kids[met] = items[at].label;
                    split = if met == 0 { start(at) } else { split };
                    met += 1;
                }
            }
            let node = self.scratch.forest.add(p.lhs, start(below), level, (production, split, kids));
            let under = below.checked_sub(1).map_or(crate::automaton::START, |i| items[i].state);
            let state = self.automaton.goto(self.form, under, p.lhs);
            items.truncate(below);
            items.push(Item { state, label: Label::Node(node), level });
        }
    }
}

impl Names<'_> {
    /// The rule that a nonterminal is, if a person wrote it.
    fn rule_id(&self, key: Key) -> Option<RuleId> {
        let Key::Body(body) = key else { return None };
        self.rule(body)?;
        self.rules[body.index()]
    }
}
