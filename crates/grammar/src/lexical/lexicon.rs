//! The tokens of a grammar and the automaton of each mode.
//!
//! What a lexer of this grammar does: in its current mode it takes the
//! longest text that some token accepts, and of those the first in order:
//! literals of syntax rules first, then tokens as they are written. What a
//! token with a lazy repetition accepts is told in `ordered`. No token is
//! empty.

use super::alphabet::Alphabet;
use super::dfa::{Dfa, Part};
use super::nfa::{Nfa, UNROLLED};
use super::ordered::ordered;
use super::{TooLarge, Work};
use crate::arena::{AltId, BodyId, Bytes, Note};
use crate::ast::{Action, Kind};
use crate::ir::{Grammar, ModeAction, ModeId, RuleId, Symbol};
use hashbrown::HashMap;

/// A token of a [`Lexicon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub u32);

impl TokenId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a token comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A literal in a syntax rule.
    Literal(Vec<u8>),
    /// A token rule.
    Rule(RuleId),
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// Where it comes from.
    pub origin: Origin,
    /// The mode in which it is read.
    pub mode: ModeId,
    /// What it does to the mode.
    pub action: ModeAction,
    /// Whether it may stand anywhere and means nothing.
    pub skip: bool,
    /// It is skipped, leaves the mode as it is, and is wanted between
    /// other tokens.
    pub separates: bool,
    /// The next token goes on with its text: nothing stands between them.
    pub joined: bool,
    /// Its lexemes are just what its rule derives: nothing is lost to an
    /// earlier token, to laziness or to an unrolled recursion.
    pub whole: bool,
    /// Its rule calls itself; only some levels are known here.
    pub unrolled: bool,
    /// It is skipped and too large for an automaton: no text of it is known
    /// here.
    pub lost: bool,
}

/// Tokens in order of priority, and one automaton for each mode.
#[derive(Clone, Debug)]
pub struct Lexicon {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// Bytes that no token tells apart.
    pub alphabet: Alphabet,
    /// Labels are the numbers of tokens.
    pub modes: Vec<Dfa>,
    by_rule: HashMap<RuleId, TokenId>,
    by_literal: HashMap<Vec<u8>, TokenId>,
}

impl Lexicon {
    /// The lexicon of a grammar with tokens.
    pub fn of(grammar: &Grammar) -> Result<Lexicon, TooLarge> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut by_rule = HashMap::new();
        let mut by_literal = HashMap::new();
        let declared: Vec<RuleId> = grammar.rules().filter(|&r| grammar.rule(r).is_token()).collect();
        // A token that is just a literal is meant by that literal.
        let mut meant: HashMap<&[u8], RuleId> = HashMap::new();
        for &rule in &declared {
            if let Some(bytes) = only_literal(grammar, grammar.rule(rule).body) {
                meant.entry(grammar.bytes(bytes)).or_insert(rule);
            }
        }
        let plain = |origin| Token {
            origin,
            mode: ModeId(0),
            action: Action::Stay,
            skip: false,
            separates: false,
            joined: false,
            whole: true,
            unrolled: false,
            lost: false,
        };
        for literal in literals(grammar) {
            if !meant.contains_key(literal) {
                by_literal.entry(literal.to_vec()).or_insert_with(|| {
                    tokens.push(plain(Origin::Literal(literal.to_vec())));
                    TokenId(tokens.len() as u32 - 1)
                });
            }
        }
        for &rule in &declared {
            if let Kind::Token { mode, action, skip } = grammar.rule(rule).kind {
                by_rule.insert(rule, TokenId(tokens.len() as u32));
                let has = |note: &Note| grammar.rule(rule).notes.contains(note);
                let joined = has(&Note::joined());
                let separates = skip && action == Action::Stay && !joined && !has(&Note::unwanted());
                let origin = Origin::Rule(rule);
                tokens.push(Token { mode, action, skip, separates, joined, ..plain(origin) });
            }
        }
        for (literal, rule) in meant {
            by_literal.insert(literal.to_vec(), by_rule[&rule]);
        }
        // Rules that stand inside themselves may be too much for automata:
        // then they do so once less.
        let mut known = tokens.clone();
        let found = automata(grammar, &mut known, UNROLLED);
        let again = found.is_err() && known.iter().any(|token| token.unrolled);
        let (alphabet, modes) = if again {
            automata(grammar, &mut tokens, 1)?
        } else {
            tokens = known;
            found?
        };
        Ok(Lexicon { tokens, alphabet, modes, by_rule, by_literal })
    }

    /// The token that a symbol of a syntax rule asks for.
    pub fn token_of(&self, grammar: &Grammar, symbol: Symbol) -> Option<TokenId> {
        match symbol {
            Symbol::Bytes(bytes) => self.by_literal.get(grammar.bytes(bytes)).copied(),
            Symbol::Rule(rule) => self.by_rule.get(&rule).copied(),
            _ => None,
        }
    }

    /// A token.
    pub fn token(&self, token: TokenId) -> &Token {
        &self.tokens[token.index()]
    }

    /// The automaton of a token's mode.
    pub fn dfa(&self, token: TokenId) -> &Dfa {
        &self.modes[self.token(token).mode.0 as usize]
    }

    /// All tokens.
    pub fn all(&self) -> impl ExactSizeIterator<Item = TokenId> + use<> {
        (0..self.tokens.len() as u32).map(TokenId)
    }

    /// Its name for people.
    pub fn name(&self, grammar: &Grammar, token: TokenId) -> String {
        match &self.token(token).origin {
            Origin::Rule(rule) => grammar.name(*rule).to_string(),
            Origin::Literal(bytes) => {
                let mut text = String::new();
                crate::print::wug::print_text(bytes, '"', &mut text);
                text
            }
        }
    }
}

/// The automata of all modes; a rule may stand inside itself `times` times.
fn automata(grammar: &Grammar, tokens: &mut [Token], times: usize) -> Result<(Alphabet, Vec<Dfa>), TooLarge> {
    let work = &mut Work::for_rules();
    let mut nfas = Vec::with_capacity(tokens.len());
    for token in tokens.iter() {
        nfas.push(match &token.origin {
            Origin::Literal(bytes) => Nfa::literal(bytes, work)?,
            Origin::Rule(rule) => Nfa::unrolled(grammar, grammar.rule(*rule).body, Some(*rule), times, work)?,
        });
    }
    let work = &mut Work::default();
    let alphabet = Alphabet::of(nfas.iter().flat_map(Nfa::ranges));
    for (token, nfa) in tokens.iter_mut().zip(&mut nfas) {
        token.unrolled = nfa.unrolled;
        token.whole &= !nfa.unrolled;
        let nullable = nfa.accepts_empty();
        if !nullable && !nfa.lazy && !nfa.unrolled {
            continue;
        }
        let mut own = alone(nfa, &alphabet, work);
        if let (Err(TooLarge), true, Origin::Rule(rule)) = (&own, nfa.unrolled && times > 1, &token.origin) {
            *nfa = Nfa::unrolled(grammar, grammar.rule(*rule).body, Some(*rule), 1, work)?;
            own = alone(nfa, &alphabet, work);
        }
        if own.is_err() && token.skip {
            // Nothing asks for it, so all else can do without.
            (token.whole, token.lost) = (false, true);
            *nfa = Nfa::nothing();
            continue;
        }
        let (own, cut) = own?;
        if nullable || cut {
            token.whole = false;
            *nfa = own.without_empty().to_nfa(&alphabet);
        }
    }
    let count = tokens.iter().map(|t| t.mode.0 as usize + 1).max().unwrap_or(1).max(grammar.modes().len());
    let mut modes = Vec::with_capacity(count);
    for mode in 0..count as u32 {
        let parts: Vec<Part> = (0..tokens.len())
            .filter(|&i| tokens[i].mode == ModeId(mode))
            .map(|i| Part { nfa: &nfas[i], label: i as u32 })
            .collect();
        let mut lost = Vec::new();
        modes.push(Dfa::union(&parts, &alphabet, &mut |label| lost.push(label), work)?.minimize());
        lost.into_iter().for_each(|label| tokens[label as usize].whole = false);
    }
    Ok((alphabet, modes))
}

/// What may be spent on the automaton of a token by itself.
const FOR_ONE: usize = 3_000_000;

/// The automaton of a token by itself; whether lazy repetitions cut it.
fn alone(nfa: &Nfa, alphabet: &Alphabet, work: &mut Work) -> Result<(Dfa, bool), TooLarge> {
    let plain = |work: &mut Work| Dfa::union(&[Part { nfa, label: 0 }], alphabet, &mut |_| {}, work);
    if !nfa.lazy {
        return Ok((work.at_most(FOR_ONE, plain)?.minimize(), false));
    }
    match work.at_most(FOR_ONE, |work| ordered(nfa, alphabet, work)) {
        Ok(preferred) => {
            let preferred = preferred.minimize();
            let plain = work.at_most(FOR_ONE / 8, plain);
            let cut = plain.map_or(true, |plain| plain.minimize() != preferred);
            Ok((preferred, cut))
        }
        // Too many orders in which the ways through it are preferred: only
        // texts without an accepted beginning are sure.
        Err(TooLarge) => Ok((work.at_most(FOR_ONE, plain)?.minimize().shortest_matches(), true)),
    }
}

/// The literal that a body is, if it is nothing else.
fn only_literal(grammar: &Grammar, body: BodyId) -> Option<Bytes> {
    let mut alternatives = grammar.alternatives(body);
    let (alt, None) = (alternatives.next()?, alternatives.next()) else { return None };
    match *grammar.symbols(alt) {
        [Symbol::Bytes(bytes)] => Some(bytes),
        _ => None,
    }
}

/// The literals of all syntax rules, in the order of the text.
fn literals(grammar: &Grammar) -> Vec<&[u8]> {
    let mut found = Vec::new();
    for rule in grammar.rules().filter(|&r| grammar.rule(r).kind == Kind::Syntax) {
        in_body(grammar, grammar.rule(rule).body, &mut found);
    }
    found
}

fn in_body<'a>(grammar: &'a Grammar, body: BodyId, found: &mut Vec<&'a [u8]>) {
    for alt in grammar.alternatives(body) {
        in_alternative(grammar, alt, found);
    }
}

fn in_alternative<'a>(grammar: &'a Grammar, alt: AltId, found: &mut Vec<&'a [u8]>) {
    for symbol in grammar.symbols(alt) {
        match *symbol {
            Symbol::Bytes(bytes) => found.push(grammar.bytes(bytes)),
            Symbol::Group(body) => in_body(grammar, body, found),
            Symbol::Repeat(repeat) => in_body(grammar, grammar.repeat(repeat).body, found),
            _ => {}
        }
    }
}
