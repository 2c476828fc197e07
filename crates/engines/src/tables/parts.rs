//! Alternatives as parts: what is constant is text, and runs of it are one.
//!
//! In:  a program.
//! Out: for each alternative a range of [`Part`]s, and the bytes of texts.
//!
//! A rule or group that derives one text, whatever is chosen and at every
//! depth, is that text. So `"<" name ">"` with `name = "b"` is `<b>`.

use hashbrown::HashMap;
use wug_grammar::{AltId, BodyId, Symbol};
use wug_produce::program::Program;

/// Constant bodies longer than this stay calls.
const MOST_TEXT: usize = 256;
/// How deep constants are looked for.
const TURNS: usize = 8;

/// A part of an alternative.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Constant text.
    Text { start: u32, len: u32 },
    /// What is not: a symbol of the grammar.
    Symbol(Symbol),
}

/// All alternatives in parts.
#[derive(Debug)]
pub struct Parts {
    first: Vec<u32>,
    parts: Vec<Part>,
    text: Vec<u8>,
    places: HashMap<Box<[u8]>, u32>,
    /// Bodies that are one text.
    pub constant: Vec<Option<Box<[u8]>>>,
}

impl Parts {
    pub fn of(program: &Program) -> Parts {
        let grammar = &program.grammar;
        let mut all = Parts {
            first: Vec::with_capacity(grammar.alternative_count() + 1),
            parts: Vec::new(),
            text: Vec::new(),
            places: HashMap::new(),
            constant: vec![None; grammar.body_count()],
        };
        for _ in 0..TURNS {
            let mut changed = false;
            for body in (0..grammar.body_count() as u32).map(BodyId) {
                if all.constant[body.index()].is_none()
                    && let Some(text) = all.text_of_body(program, body)
                {
                    all.constant[body.index()] = Some(text.into());
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for alt in (0..grammar.alternative_count() as u32).map(AltId) {
            all.first.push(all.parts.len() as u32);
            all.add(program, alt);
        }
        all.first.push(all.parts.len() as u32);
        all
    }

    /// The parts of an alternative, as a range of numbers.
    pub fn range(&self, alt: AltId) -> (u32, u32) {
        (self.first[alt.index()], self.first[alt.index() + 1])
    }

    pub fn part(&self, at: u32) -> Part {
        self.parts[at as usize]
    }

    /// Bytes of a text.
    pub fn bytes(&self, start: u32, len: u32) -> &[u8] {
        &self.text[start as usize..][..len as usize]
    }

    fn text_of_body(&self, program: &Program, body: BodyId) -> Option<Vec<u8>> {
        let [one] = program.free.alternatives(body) else { return None };
        if program.closed.alternatives(body) != [*one] {
            return None;
        }
        let mut text = Vec::new();
        for symbol in program.grammar.symbols(*one) {
            text.extend_from_slice(self.text_of(program, *symbol)?);
            if text.len() > MOST_TEXT {
                return None;
            }
        }
        Some(text)
    }

    fn text_of<'a>(&'a self, program: &'a Program, symbol: Symbol) -> Option<&'a [u8]> {
        let body = match symbol {
            Symbol::Bytes(bytes) => return Some(program.grammar.bytes(bytes)),
            Symbol::Rule(rule) => program.grammar.rule(rule).body,
            Symbol::Group(body) => body,
            Symbol::Class(_) | Symbol::Repeat(_) => return None,
        };
        self.constant[body.index()].as_deref()
    }

    fn add(&mut self, program: &Program, alt: AltId) {
        let mut text = Vec::new();
        for symbol in program.grammar.symbols(alt) {
            match self.text_of(program, *symbol) {
                Some(bytes) => text.extend_from_slice(bytes),
                None => {
                    self.add_text(&mut text);
                    self.parts.push(Part::Symbol(*symbol));
                }
            }
        }
        self.add_text(&mut text);
    }

    fn add_text(&mut self, text: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let len = text.len() as u32;
        let start = match self.places.get(text.as_slice()) {
            Some(&start) => start,
            None => {
                let start = self.text.len() as u32;
                self.text.extend_from_slice(text);
                self.places.insert(text.as_slice().into(), start);
                start
            }
        };
        self.parts.push(Part::Text { start, len });
        text.clear();
    }
}
