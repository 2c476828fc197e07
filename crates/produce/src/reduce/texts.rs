//! Shorter leaves: lexemes, characters, and what stands between tokens.
//!
//! Each kind is a list for delta debugging, in which an element that is left
//! out gives way to the shortest of its kind; so where nothing depends on
//! them, all do in one run.

use super::ddmin::ddmin;
use super::shortest::member;
use super::tree::Search;
use super::trial::Stop;
use crate::lexemes::Spacing;
use wug_grammar::derivation::{Node, Place};
use wug_grammar::{Derivation, RuleId};

/// A token that could be shorter.
#[derive(Clone, Copy)]
struct Lexeme {
    at: usize,
    /// Its place among all tokens.
    number: usize,
    rule: RuleId,
}

impl Search<'_, '_, '_> {
    /// All texts between tokens as short as can be, in one run.
    pub fn tighten(&mut self) -> Result<bool, Stop> {
        if self.reducer.printer.lexicon().is_none() {
            return Ok(false);
        }
        let whole = self.tree.derivation.clone();
        self.attempt(&whole, Spacing::Least)
    }

    /// Shortens all kinds of leaves; whether one gave way.
    pub fn shorten(&mut self) -> Result<bool, Stop> {
        let before = self.tree.bytes.len();
        self.members()?;
        if self.reducer.printer.lexicon().is_some() {
            self.lexemes()?;
            self.gaps()?;
        }
        Ok(self.tree.bytes.len() < before)
    }

    /// Characters of fewer bytes.
    fn members(&mut self) -> Result<(), Stop> {
        let grammar = self.reducer.grammar();
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (at, fact) in self.tree.facts.iter().enumerate() {
            let Place::Class(class) = fact.place else { continue };
            let class = grammar.class(class);
            let least = member(class).filter(|&value| class.len_of(value) < fact.size);
            found.extend(least.map(|value| (at, value)));
        }
        let whole = self.tree.derivation.clone();
        let mut candidate = Derivation::default();
        ddmin(found.len(), 0, &mut |kept| {
            candidate.clone_from(&whole);
            left_out(kept, found.len()).for_each(|i| candidate.set_member(found[i].0, found[i].1));
            self.attempt(&candidate, Spacing::Keep)
        })?;
        Ok(())
    }

    fn lexemes(&mut self) -> Result<(), Stop> {
        let (found, tokens) = self.tokens();
        let whole = self.tree.derivation.clone();
        ddmin(found.len(), 0, &mut |kept| {
            let mut texts = vec![None; tokens];
            for i in left_out(kept, found.len()) {
                let lexemes = self.reducer.shortest.lexemes(found[i].rule);
                texts[found[i].number] = lexemes.first().map(Vec::as_slice);
            }
            self.attempt(&whole.with_tokens(|token| texts[token]), Spacing::Keep)
        })?;
        // Those that stay, each by itself; numbers of nodes may change when
        // what stands between tokens does, those of tokens do not.
        for lexeme in self.tokens().0 {
            for text in self.reducer.shortest.lexemes(lexeme.rule) {
                if self.attempt_token(lexeme.number, text)? {
                    break;
                }
            }
            let (now, _) = self.tokens();
            if let Some(&lexeme) = now.iter().find(|other| other.number == lexeme.number) {
                self.inside(lexeme)?;
            }
        }
        Ok(())
    }

    /// Fewer bytes of one lexeme.
    fn inside(&mut self, lexeme: Lexeme) -> Result<(), Stop> {
        let (printer, shortest) = (&self.reducer.printer, &self.reducer.shortest);
        let (Some(lexicon), Some(token)) = (printer.lexicon(), shortest.token(lexeme.rule)) else {
            return Ok(());
        };
        let text = self.tree.text(lexeme.at).to_vec();
        let mut shorter = Vec::new();
        ddmin(text.len(), 1, &mut |kept| {
            shorter.clear();
            shorter.extend(kept.iter().map(|&i| text[i]));
            let dfa = lexicon.dfa(token);
            let step = |state, &byte: &u8| dfa.step(state, lexicon.alphabet.letter(byte));
            let state = shorter.iter().fold(dfa.start, step);
            let fits = dfa.labels[state as usize] == Some(token.0);
            Ok(fits && self.attempt_token(lexeme.number, &shorter)?)
        })?;
        Ok(())
    }

    fn attempt_token(&mut self, number: usize, text: &[u8]) -> Result<bool, Stop> {
        let candidate = self.tree.derivation.with_tokens(|token| (token == number).then_some(text));
        self.attempt(&candidate, Spacing::Keep)
    }

    /// Tokens that have a shorter lexeme, and how many tokens there are.
    fn tokens(&self) -> (Vec<Lexeme>, usize) {
        let (mut found, mut number) = (Vec::new(), 0);
        for (at, fact) in self.tree.facts.iter().enumerate() {
            if let Place::Token(rule) = fact.place {
                let least = self.reducer.shortest.lexemes(rule).first();
                if least.is_some_and(|least| least.len() < fact.size as usize) {
                    found.push(Lexeme { at, number, rule });
                }
            }
            number += usize::from(matches!(fact.place, Place::Token(_) | Place::Literal(_)));
        }
        (found, number)
    }

    /// Less between tokens.
    fn gaps(&mut self) -> Result<(), Stop> {
        let whole = self.tree.derivation.clone();
        let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
        for at in 0..whole.len() {
            match (whole.node(at), texts.last_mut()) {
                (Node::Skipped(_), Some(last)) => *last = self.tree.text(at).to_vec(),
                (Node::Token(_), _) => texts.push(Vec::new()),
                _ => {}
            }
        }
        let found: Vec<usize> = (0..texts.len()).filter(|&gap| !texts[gap].is_empty()).collect();
        let mut empty = vec![false; texts.len()];
        ddmin(found.len(), 0, &mut |kept| {
            empty.fill(false);
            left_out(kept, found.len()).for_each(|i| empty[found[i]] = true);
            let candidate = whole.respaced(|gap| if empty[gap] { &[] } else { &texts[gap] });
            self.attempt(&candidate, Spacing::Keep)
        })?;
        Ok(())
    }
}

/// The elements that are not kept, of so many.
fn left_out(kept: &[usize], count: usize) -> impl Iterator<Item = usize> + '_ {
    let mut next = kept.iter().copied().peekable();
    (0..count).filter(move |&i| next.next_if_eq(&i).is_none())
}
