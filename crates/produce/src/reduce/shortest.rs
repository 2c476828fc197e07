//! The shortest derivation of everything.
//!
//! In:  a grammar, its facts and its tokens.
//! Out: for each body or symbol a derivation of least length, written node
//!      by node; for each token its shortest lexemes.

use std::collections::VecDeque;
use wug_grammar::derivation::{Forwards, Node};
use wug_grammar::facts::Facts;
use wug_grammar::lexical::dfa::DEAD;
use wug_grammar::lexical::{Lexicon, TokenId};
use wug_grammar::{AltId, BodyId, Class, Grammar, RuleId, Symbol};

/// So many lexemes of a token are known.
const LEXEMES: usize = 4;

#[derive(Debug)]
pub(super) struct Shortest<'g> {
    grammar: &'g Grammar,
    pub facts: Facts,
    tokens: bool,
    /// The alternative of least length of each body.
    best: Vec<Option<AltId>>,
    /// The token of each rule.
    token_of: Vec<Option<TokenId>>,
    /// Of each token, the shortest first.
    lexemes: Vec<Vec<Vec<u8>>>,
}

/// What is to be written.
enum Work {
    Body(BodyId),
    Symbol(Symbol),
    Close(usize),
}

impl<'g> Shortest<'g> {
    pub fn of(grammar: &'g Grammar, lexicon: Option<&Lexicon>) -> Shortest<'g> {
        let facts = Facts::of(grammar);
        let best = (0..grammar.body_count() as u32).map(|body| {
            let measured = grammar
                .alternatives(BodyId(body))
                .filter_map(|alt| facts.length.of_alternative(alt).map(|length| (length, alt)));
            measured.min().map(|(_, alt)| alt)
        });
        let best = best.collect();
        let token = |rule| lexicon.and_then(|lexicon| lexicon.token_of(grammar, Symbol::Rule(rule)));
        let token_of = grammar.rules().map(token).collect();
        let lexemes = lexicon.map_or_else(Vec::new, lexemes);
        Shortest { grammar, facts, tokens: lexicon.is_some(), best, token_of, lexemes }
    }

    /// The token that a rule is.
    pub fn token(&self, rule: RuleId) -> Option<TokenId> {
        self.token_of[rule.index()]
    }

    /// The lexemes of a token that are known, the shortest first.
    pub fn lexemes(&self, rule: RuleId) -> &[Vec<u8>] {
        self.token(rule).map_or(&[], |token| &self.lexemes[token.index()])
    }

    /// Least bytes of a body.
    pub fn length(&self, body: BodyId) -> Option<u64> {
        self.facts.min_length(body)
    }

    /// Writes the shortest derivation of a body, if it has at most `most`
    /// nodes.
    pub fn body(&self, body: BodyId, out: &mut Forwards<'_>, most: usize) -> Option<()> {
        self.write(Work::Body(body), out, most)
    }

    /// The same for a symbol.
    pub fn symbol(&self, symbol: Symbol, out: &mut Forwards<'_>, most: usize) -> Option<()> {
        self.write(Work::Symbol(symbol), out, most)
    }

    fn write(&self, first: Work, out: &mut Forwards<'_>, most: usize) -> Option<()> {
        let grammar = self.grammar;
        let end = out.len() + most;
        let mut work = vec![first];
        while let Some(next) = work.pop() {
            if out.len() + work.len() > end {
                return None;
            }
            match next {
                Work::Close(mark) => out.close(mark),
                Work::Body(body) => {
                    let alt = self.best[body.index()]?;
                    work.push(Work::Close(out.open(Node::Alternative(alt))));
                    work.extend(grammar.symbols(alt).iter().rev().map(|&symbol| Work::Symbol(symbol)));
                }
                Work::Symbol(Symbol::Bytes(bytes)) => {
                    if self.tokens {
                        out.leaf(grammar.bytes(bytes), false);
                    }
                }
                Work::Symbol(Symbol::Class(class)) => out.member(member(grammar.class(class))?),
                Work::Symbol(Symbol::Group(body)) => work.push(Work::Body(body)),
                Work::Symbol(Symbol::Repeat(repeat)) => {
                    let repeat = grammar.repeat(repeat);
                    if repeat.min as usize > end - out.len() {
                        return None;
                    }
                    work.push(Work::Close(out.open(Node::Repeat(repeat.min))));
                    work.extend((0..repeat.min).map(|_| Work::Body(repeat.body)));
                }
                Work::Symbol(Symbol::Rule(rule)) if grammar.rule(rule).is_token() => {
                    out.leaf(self.lexemes(rule).first()?, false);
                }
                Work::Symbol(Symbol::Rule(rule)) => work.push(Work::Body(grammar.rule(rule).body)),
            }
        }
        Some(())
    }
}

/// The member of least length that is the best to look at.
pub(super) fn member(class: &Class) -> Option<u32> {
    let nice = b"a0 x1_-".iter().map(|&b| u32::from(b)).find(|&value| class.contains(value));
    nice.or_else(|| class.ranges().first().map(|&(low, _)| low))
}

/// Shortest lexemes, found by going through each mode's automaton once.
fn lexemes(lexicon: &Lexicon) -> Vec<Vec<Vec<u8>>> {
    let mut found: Vec<Vec<Vec<u8>>> = vec![Vec::new(); lexicon.tokens.len()];
    let mut letters: Vec<(usize, u8)> = (0..lexicon.alphabet.len())
        .map(|letter| {
            let (low, high) = lexicon.alphabet.bytes(letter);
            (letter, (low..=high).min_by_key(|&b| rank(b)).unwrap_or(low))
        })
        .collect();
    letters.sort_by_key(|&(_, byte)| rank(byte));
    for dfa in &lexicon.modes {
        let mut from: Vec<Option<(u32, u8)>> = vec![None; dfa.len()];
        let mut queue = VecDeque::from([dfa.start]);
        while let Some(state) = queue.pop_front() {
            if let Some(label) = dfa.labels[state as usize] {
                let words = &mut found[label as usize];
                if words.len() < LEXEMES {
                    words.push(word(&from, dfa.start, state));
                }
            }
            for &(letter, byte) in &letters {
                let to = dfa.step(state, letter);
                if to != DEAD && to != dfa.start && from[to as usize].is_none() {
                    from[to as usize] = Some((state, byte));
                    queue.push_back(to);
                }
            }
        }
    }
    found
}

fn word(from: &[Option<(u32, u8)>], start: u32, end: u32) -> Vec<u8> {
    let mut word = Vec::new();
    let mut at = end;
    while at != start {
        let Some((before, byte)) = from[at as usize] else { break };
        word.push(byte);
        at = before;
    }
    word.reverse();
    word
}

/// Letters before digits before all else.
fn rank(byte: u8) -> (u8, u8) {
    let class = match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        _ if byte.is_ascii_graphic() => 3,
        b' ' | b'\n' => 4,
        _ => 5,
    };
    (class, byte)
}
