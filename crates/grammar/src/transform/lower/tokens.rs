//! Rules that derive the lexemes of tokens.
//!
//! A token all of whose texts may be used keeps the form that its author
//! gave it; any other becomes the states of its automaton, one rule each.

use super::contexts::Gap;
use crate::arena::{BodyId, Builder, Repeat};
use crate::ast::Kind;
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::lexical::lexicon::Origin;
use crate::lexical::{Dfa, Lexicon, TokenId, emit};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};

/// A grammar in the making: lowered rules over the bytes and classes of the
/// grammar they come from.
pub struct Output<'a> {
    pub from: &'a Grammar,
    pub lexicon: &'a Lexicon,
    pub builder: Builder<Symbol>,
    pub rules: Vec<Rule>,
    names: HashSet<String>,
    /// Copies of lexical rules, for tokens that keep their form.
    insides: HashMap<RuleId, RuleId>,
    waiting: Vec<(RuleId, RuleId)>,
    lexemes: HashMap<(TokenId, Vec<u32>), RuleId>,
    gaps: HashMap<Gap, Option<RuleId>>,
    /// The token that each rule derives a lexeme of, by name.
    pub token_of: HashMap<String, TokenId>,
}

impl<'a> Output<'a> {
    pub fn new(from: &'a Grammar, lexicon: &'a Lexicon) -> Output<'a> {
        Output {
            from,
            lexicon,
            builder: Builder::default(),
            rules: Vec::new(),
            names: HashSet::new(),
            insides: HashMap::new(),
            waiting: Vec::new(),
            lexemes: HashMap::new(),
            gaps: HashMap::new(),
            token_of: HashMap::new(),
        }
    }

    /// A new rule like `like`, with a name of its own and no body yet.
    pub fn declare(&mut self, name: &str, like: Rule) -> RuleId {
        let mut unique = name.to_string();
        let mut n = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{n}");
            n += 1;
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
    pub fn lexeme(&mut self, token: TokenId, states: &[u32]) -> RuleId {
        let key = (token, states.to_vec());
        if let Some(&rule) = self.lexemes.get(&key) {
            return rule;
        }
        let (name, span) = self.name_of(token);
        let rule = self.declare_made(&name, span);
        self.lexemes.insert(key, rule);
        self.token_of.insert(self.rules[rule.index()].name.clone(), token);
        let whole = self.lexicon.token(token).whole && states.len() == self.count_states(token);
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
                let keep = |s: u32| states.contains(&s).then_some(0);
                let dfa = self.lexicon.dfa(token).relabel(keep);
                self.automaton(&dfa, &name, span)
            }
        };
        self.rules[rule.index()].body = body;
        self.finish_insides();
        rule
    }

    fn count_states(&self, token: TokenId) -> usize {
        self.lexicon.dfa(token).labels.iter().filter(|&&l| l == Some(token.0)).count()
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
                        self.open_copy(inner);
                        match self.builder.close_group(false) {
                            Some(body) => Symbol::Group(body),
                            None => continue,
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
    pub fn gap(&mut self, gap: &Gap) -> Option<RuleId> {
        if let Some(&rule) = self.gaps.get(gap) {
            return rule;
        }
        let rule = (!gap.skips.is_empty()).then(|| self.gap_rule(gap));
        self.gaps.insert(gap.clone(), rule);
        rule
    }

    /// Mostly nothing where that is enough, else mostly the shortest text
    /// that separates, and now and then any that is skipped.
    fn gap_rule(&mut self, gap: &Gap) -> RuleId {
        let lexemes: Vec<RuleId> =
            gap.skips.iter().map(|(token, states)| self.lexeme(*token, states)).collect();
        let shortest = gap.skips.iter().filter_map(|(token, states)| self.short(*token, states));
        let shortest = shortest.min_by_key(|word| (word.len(), word != b" "));
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
        rule
    }

    /// The shortest lexeme, a blank if it is one.
    fn short(&self, token: TokenId, states: &[u32]) -> Option<Vec<u8>> {
        let dfa = self.lexicon.dfa(token).relabel(|s| states.contains(&s).then_some(0));
        if dfa.accepts(&self.lexicon.alphabet, b" ") {
            return Some(b" ".to_vec());
        }
        dfa.shortest_word(&self.lexicon.alphabet)
    }
}
