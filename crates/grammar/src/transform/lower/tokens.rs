//! Rules that derive the lexemes of tokens.
//!
//! A token all of whose texts may be used keeps the form that its author
//! gave it; any other becomes the states of its automaton, one rule each.

use super::contexts::Gap;
use crate::arena::{BodyId, Builder, Repeat};
use crate::ast::Kind;
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::lexical::dfa::Before;
use crate::lexical::lexicon::Origin;
use crate::lexical::{Dfa, Lexicon, TokenId, TooLarge, Work, emit};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// A grammar in the making: lowered rules over the bytes and classes of the
/// grammar they come from.
pub struct Output<'a> {
    pub from: &'a Grammar,
    pub lexicon: &'a Lexicon,
    pub builder: Builder<Symbol>,
    pub rules: Vec<Rule>,
    names: HashSet<String>,
    /// How often a name was asked for that was taken.
    taken: HashMap<String, u32>,
    /// Copies of lexical rules, for tokens that keep their form.
    insides: HashMap<RuleId, RuleId>,
    waiting: Vec<(RuleId, RuleId)>,
    lexemes: HashMap<(TokenId, Rc<[u32]>), RuleId>,
    gaps: HashMap<Gap, RuleId>,
    /// The token that each rule derives a lexeme of, by name.
    pub token_of: HashMap<String, TokenId>,
    /// By token: how many states mean it.
    states: Vec<u32>,
    /// By mode, once it is asked for.
    before: Vec<Option<Before>>,
    work: Work,
}

impl<'a> Output<'a> {
    pub fn new(from: &'a Grammar, lexicon: &'a Lexicon) -> Output<'a> {
        let mut states = vec![0; lexicon.tokens.len()];
        for &token in lexicon.modes.iter().flat_map(|m| m.labels.iter().flatten()) {
            states[token as usize] += 1;
        }
        Output {
            from,
            lexicon,
            builder: Builder::default(),
            rules: Vec::new(),
            names: HashSet::new(),
            taken: HashMap::new(),
            insides: HashMap::new(),
            waiting: Vec::new(),
            lexemes: HashMap::new(),
            gaps: HashMap::new(),
            token_of: HashMap::new(),
            states,
            before: lexicon.modes.iter().map(|_| None).collect(),
            work: Work::default(),
        }
    }

    /// A new rule like `like`, with a name of its own and no body yet.
    pub fn declare(&mut self, name: &str, like: Rule) -> RuleId {
        let mut unique = name.to_string();
        if !self.names.insert(unique.clone()) {
            let n = self.taken.entry(unique.clone()).or_insert(1);
            while !self.names.insert(unique.clone()) {
                *n += 1;
                unique = format!("{name}_{n}");
            }
        }
        self.rules.push(Rule { name: unique, ..like });
        RuleId(self.rules.len() as u32 - 1)
    }

    fn declare_made(&mut self, name: &str, span: Span) -> RuleId {
        let like = Rule {
            name: String::new(),
            span,
            kind: Kind::Syntax,
            body: BodyId(0),
            depth_limit: None,
            made: true,
            notes: Vec::new(),
        };
        self.declare(name, like)
    }

    fn name_of(&self, token: TokenId) -> (String, Span) {
        match &self.lexicon.token(token).origin {
            Origin::Rule(rule) => (self.from.name(*rule).to_string(), self.from.rule(*rule).span),
            Origin::Literal(bytes) => (String::from_utf8_lossy(bytes).into_owned(), Span::NONE),
        }
    }

    /// The rule for the lexemes of `token` that lead to `states`.
    pub fn lexeme(&mut self, token: TokenId, states: &Rc<[u32]>) -> Result<RuleId, TooLarge> {
        let key = (token, states.clone());
        if let Some(&rule) = self.lexemes.get(&key) {
            return Ok(rule);
        }
        let (name, span) = self.name_of(token);
        let rule = self.declare_made(&name, span);
        self.lexemes.insert(key, rule);
        self.token_of.insert(self.rules[rule.index()].name.clone(), token);
        let whole = self.lexicon.token(token).whole && states.len() == self.states[token.index()] as usize;
        let body = match &self.lexicon.token(token).origin {
            _ if states.is_empty() => {
                self.builder.open_body(span);
                self.builder.close_body_without_last()
            }
            Origin::Literal(bytes) => {
                self.builder.open_body(span);
                let bytes = self.builder.bytes(bytes);
                self.builder.symbol(Symbol::Bytes(bytes), span);
                self.builder.close_body()
            }
            Origin::Rule(origin) if whole => self.copy_body(self.from.rule(*origin).body),
            Origin::Rule(_) => {
                let dfa = self.leading_to(token, states)?;
                self.automaton(&dfa, &name, span)
            }
        };
        self.rules[rule.index()].body = body;
        self.finish_insides();
        Ok(rule)
    }

    /// The automaton of the lexemes of `token` that lead to `states`.
    fn leading_to(&mut self, token: TokenId, states: &[u32]) -> Result<Dfa, TooLarge> {
        let dfa = self.lexicon.dfa(token);
        let mode = self.lexicon.token(token).mode.0 as usize;
        let before = self.before[mode].get_or_insert_with(|| dfa.before());
        dfa.leading_to(before, states, &mut self.work)
    }

    /// Writes the copies of lexical rules that were asked for.
    fn finish_insides(&mut self) {
        while let Some((from, to)) = self.waiting.pop() {
            let body = self.copy_body(self.from.rule(from).body);
            self.rules[to.index()].body = body;
        }
    }

    fn copy_body(&mut self, body: BodyId) -> BodyId {
        self.open_copy(body);
        if self.from.alternatives(body).len() == 0 {
            return self.builder.close_body_without_last();
        }
        self.builder.close_body()
    }

    /// Copies a body of a lexical rule, its last alternative still open.
    fn open_copy(&mut self, body: BodyId) {
        self.builder.open_body(Span::NONE);
        for (i, alt) in self.from.alternatives(body).enumerate() {
            let alternative = *self.from.alternative(alt);
            if i > 0 {
                self.builder.next_alternative(alternative.span);
            }
            self.builder.weight(alternative.weight);
            for (id, symbol) in self.from.numbered(alt) {
                let span = self.from.span(id);
                let copied = match *symbol {
                    Symbol::Bytes(bytes) => Symbol::Bytes(self.builder.bytes(self.from.bytes(bytes))),
                    Symbol::Class(class) => Symbol::Class(self.builder.class(self.from.class(class).clone())),
                    Symbol::Rule(rule) => Symbol::Rule(self.inside(rule)),
                    Symbol::Group(inner) => {
                        if self.from.alternatives(inner).len() == 0 {
                            Symbol::Group(self.copy_body(inner))
                        } else {
                            self.open_copy(inner);
                            match self.builder.close_group(false) {
                                Some(body) => Symbol::Group(body),
                                None => continue,
                            }
                        }
                    }
                    Symbol::Repeat(repeat) => {
                        let repeat = *self.from.repeat(repeat);
                        let body = self.copy_body(repeat.body);
                        Symbol::Repeat(self.builder.repeat(Repeat { body, greedy: true, ..repeat }))
                    }
                };
                self.builder.symbol(copied, span);
            }
        }
    }

    /// The copy of a lexical rule inside a token.
    fn inside(&mut self, rule: RuleId) -> RuleId {
        if let Some(&copy) = self.insides.get(&rule) {
            return copy;
        }
        let copy = self.declare_made(self.from.name(rule), self.from.rule(rule).span);
        self.insides.insert(rule, copy);
        self.waiting.push((rule, copy));
        copy
    }

    /// The body that derives the words of `dfa`.
    fn automaton(&mut self, dfa: &Dfa, name: &str, span: Span) -> BodyId {
        let (mut builder, lexicon) = (std::mem::take(&mut self.builder), self.lexicon);
        let mut declare = |state: u32| self.declare_made(&format!("{name}.{state}"), span);
        let emitted = emit::emit(dfa, &lexicon.alphabet, &mut builder, span, &mut declare);
        self.builder = builder;
        for (rule, body) in emitted.bodies {
            self.rules[rule.index()].body = body;
        }
        emitted.start
    }

    /// The rule for what stands behind a token; `None` if nothing can.
    pub fn gap(&mut self, gap: &Gap) -> Result<Option<RuleId>, TooLarge> {
        if gap.skips.is_empty() {
            return Ok(None);
        }
        if let Some(&rule) = self.gaps.get(gap) {
            return Ok(Some(rule));
        }
        self.work.spend(gap.skips.len())?;
        let rule = self.gap_rule(gap)?;
        self.gaps.insert(gap.clone(), rule);
        Ok(Some(rule))
    }

    /// Mostly nothing where that is enough, else mostly the shortest text
    /// that separates, and now and then any that is skipped.
    fn gap_rule(&mut self, gap: &Gap) -> Result<RuleId, TooLarge> {
        let mut lexemes = Vec::with_capacity(gap.skips.len());
        let mut shortest: Option<Vec<u8>> = None;
        let rank = |word: &Vec<u8>| (word.len(), word != b" ");
        for (token, states) in &gap.skips {
            lexemes.push(self.lexeme(*token, states)?);
            let word = self.short(*token, states)?;
            if shortest.is_none() || word.as_ref().map(rank) < shortest.as_ref().map(rank) {
                shortest = word.or(shortest);
            }
        }
        let rule = self.declare_made(if gap.optional { "gap" } else { "space" }, Span::NONE);
        self.builder.open_body(Span::NONE);
        let each = lexemes.len() as u32;
        if gap.optional {
            self.builder.weight(24 * each);
            self.builder.next_alternative(Span::NONE);
        }
        self.builder.weight(12 * each);
        let bytes = self.builder.bytes(&shortest.unwrap_or_default());
        if bytes.len > 0 {
            self.builder.symbol(Symbol::Bytes(bytes), Span::NONE);
        }
        for lexeme in lexemes {
            self.builder.next_alternative(Span::NONE);
            self.builder.symbol(Symbol::Rule(lexeme), Span::NONE);
        }
        let body = self.builder.close_body();
        self.rules[rule.index()].body = body;
        Ok(rule)
    }

    /// The shortest lexeme, a blank if it is one.
    fn short(&mut self, token: TokenId, states: &[u32]) -> Result<Option<Vec<u8>>, TooLarge> {
        let dfa = self.leading_to(token, states)?;
        if dfa.accepts(&self.lexicon.alphabet, b" ") {
            return Ok(Some(b" ".to_vec()));
        }
        Ok(dfa.shortest_word(&self.lexicon.alphabet))
    }
}
