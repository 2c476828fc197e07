//! Lexemes of tokens: made from the token's rule, and met in inputs.

use super::shape::Shape;
use crate::{Engine, Options, Program, Scratch};
use wug_grammar::lexical::lexicon::Origin;
use wug_grammar::lexical::{Lexicon, TokenId};
use wug_grammar::{ModeId, RuleId};
use wug_random::Rng;

/// Lexemes that are made when a token is first asked for.
const MADE: u64 = 64;
/// Lexemes of a token that are kept; beyond, a new one takes the place of
/// some other.
const KEPT: usize = 1024;
/// A lexeme that is kept is no longer.
const LONGEST: usize = 256;
/// Rules at most this deep inside a token.
const DEPTH: u32 = 12;

/// Known lexemes of each token rule.
#[derive(Debug)]
pub(super) struct Lexemes {
    pools: Vec<Pool>,
}

#[derive(Clone, Debug, Default)]
struct Pool {
    asked: bool,
    texts: Vec<Box<[u8]>>,
}

impl Lexemes {
    pub fn new(shape: &Shape) -> Lexemes {
        Lexemes { pools: vec![Pool::default(); shape.grammar().rules().len()] }
    }

    /// Some lexeme of a token.
    pub fn draw(&mut self, shape: &Shape, rule: RuleId, rng: &mut Rng) -> Option<&[u8]> {
        let pool = &mut self.pools[rule.index()];
        if !pool.asked {
            pool.asked = true;
            make(shape, rule, pool);
        }
        let texts = &pool.texts;
        (!texts.is_empty()).then(|| &*texts[rng.below(texts.len() as u32) as usize])
    }

    /// Keeps a lexeme of a token.
    pub fn add(&mut self, rule: RuleId, text: &[u8], rng: &mut Rng) {
        let texts = &mut self.pools[rule.index()].texts;
        if text.len() > LONGEST || texts.iter().any(|known| **known == *text) {
            return;
        }
        if texts.len() < KEPT {
            texts.push(text.into());
        } else {
            texts[rng.below(KEPT as u32) as usize] = text.into();
        }
    }

    /// Keeps a text for every token that it is a lexeme of; whether there is
    /// one.
    pub fn offer(&mut self, shape: &Shape, text: &[u8], rng: &mut Rng) -> bool {
        let Some(lexicon) = &shape.lexicon else { return false };
        let mut any = false;
        for mode in 0..lexicon.modes.len() {
            let Some(token) = token_of(lexicon, ModeId(mode as u32), text) else { continue };
            if let Origin::Rule(rule) = lexicon.token(token).origin
                && !lexicon.token(token).skip
            {
                self.add(rule, text, rng);
                any = true;
            }
        }
        any
    }
}

/// The token that a whole text is a lexeme of.
pub(super) fn token_of(lexicon: &Lexicon, mode: ModeId, text: &[u8]) -> Option<TokenId> {
    let dfa = &lexicon.modes[mode.0 as usize];
    let mut state = dfa.start;
    for &byte in text {
        state = dfa.step(state, lexicon.alphabet.letter(byte));
    }
    dfa.labels[state as usize].map(TokenId)
}

/// Whether a text is a lexeme of a rule's token.
pub(super) fn is_lexeme(shape: &Shape, rule: RuleId, text: &[u8]) -> bool {
    let Some(lexicon) = &shape.lexicon else { return false };
    let wanted = lexicon.token_of(shape.grammar(), wug_grammar::Symbol::Rule(rule));
    wanted.is_some_and(|token| token_of(lexicon, lexicon.token(token).mode, text) == Some(token))
}

/// Lexemes made from the rule; none if lowering leaves nothing of it.
fn make(shape: &Shape, rule: RuleId, pool: &mut Pool) {
    let grammar = shape.grammar().clone().with_start(rule);
    let options = Options { max_depth: DEPTH, max_size: LONGEST as u64, ..Options::default() };
    let Ok(program) = Program::new(&grammar, options) else { return };
    let mut scratch = Scratch::default();
    let mut text = Vec::new();
    for index in 0..MADE {
        text.clear();
        if program.produce(Engine::Recursive, u64::from(rule.0), index, &mut scratch, &mut text).is_none() {
            return;
        }
        if is_lexeme(shape, rule, &text) && !pool.texts.iter().any(|known| **known == *text) {
            pool.texts.push(text.as_slice().into());
        }
    }
}
