//! The tool that all passes share: writes a new grammar while reading an
//! old one, and lets a pass step in where it wants something else.
//!
//! In:  a grammar, which of its rules stay, and an [`Edit`].
//! Out: a grammar with spans, weights, remarks, kinds and limits kept; new
//!      rules come behind the old ones, so that numbers stay where no rule
//!      is dropped.
//!
//! Changing a grammar in place was rejected: bodies are ranges of flat
//! arrays, and what a pass drops would stay in them for ever.

use super::calls::Calls;
use crate::arena::{AltId, Alternative, BodyId, Builder, Bytes, ClassId, Repeat, SymbolId};
use crate::ast::Kind;
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};

/// What a pass does otherwise than copying.
pub(crate) trait Edit {
    /// Whether an alternative stays.
    fn keeps(&self, _alt: AltId) -> bool {
        true
    }

    /// Writes something else in place of a symbol; `false` copies it.
    fn replace(&mut self, _out: &mut Rewrite<'_>, _symbol: SymbolId) -> bool {
        false
    }
}

/// Copies all as it is.
pub(crate) struct AsIs;

impl Edit for AsIs {}

/// A grammar in the making.
pub(crate) struct Rewrite<'g> {
    /// What is read.
    pub(crate) from: &'g Grammar,
    /// What is written.
    pub(crate) to: Builder<Symbol>,
    rules: Vec<Rule>,
    /// The new number of each old rule that stays.
    numbers: Vec<Option<RuleId>>,
    place: Option<Span>,
    bytes: HashMap<Bytes, Bytes>,
    classes: Vec<Option<ClassId>>,
    /// All names, once the first rule is made.
    names: HashSet<String>,
    counters: HashMap<RuleId, u32>,
}

impl<'g> Rewrite<'g> {
    /// Begins with the rules of `from` that `keep` wants, bodies not yet
    /// written. The start must be among them.
    pub(crate) fn new(from: &'g Grammar, keep: impl Fn(RuleId) -> bool) -> Rewrite<'g> {
        let (mut rules, mut numbers) = (Vec::new(), Vec::with_capacity(from.rules.len()));
        for rule in from.rules() {
            let kept = keep(rule) || rule == from.start;
            numbers.push(kept.then_some(RuleId(rules.len() as u32)));
            if kept {
                rules.push(from.rule(rule).clone());
            }
        }
        Rewrite {
            from,
            to: Builder::default(),
            rules,
            numbers,
            place: None,
            bytes: HashMap::new(),
            classes: vec![None; from.class_count()],
            names: HashSet::new(),
            counters: HashMap::new(),
        }
    }

    /// Writes the bodies of all rules that stay.
    pub(crate) fn all(mut self, edit: &mut dyn Edit) -> Grammar {
        for (old, new) in self.kept() {
            let body = self.body(self.from.rule(old).body, edit);
            self.set_body(new, body);
        }
        self.finish()
    }

    /// The old rules that stay, with their new numbers.
    pub(crate) fn kept(&self) -> Vec<(RuleId, RuleId)> {
        self.from.rules().filter_map(|old| Some((old, self.numbers[old.index()]?))).collect()
    }

    /// Where the name of a new rule stands.
    pub(crate) fn span_of(&self, rule: RuleId) -> Span {
        self.rules[rule.index()].span
    }

    /// Gives a rule its body.
    pub(crate) fn set_body(&mut self, rule: RuleId, body: BodyId) {
        self.rules[rule.index()].body = body;
    }

    /// The new grammar, when every rule has its body.
    pub(crate) fn finish(self) -> Grammar {
        let start = self.numbers[self.from.start.index()].unwrap_or(RuleId(0));
        let modes = self.from.modes.clone();
        Grammar { rules: self.rules, arena: self.to.finish(), start, modes, mentioned: Vec::new() }
    }

    /// Copies a body. Works inside an open alternative too.
    pub(crate) fn body(&mut self, body: BodyId, edit: &mut dyn Edit) -> BodyId {
        let alternatives: Vec<AltId> = self.from.alternatives(body).collect();
        self.body_of(&alternatives, edit)
    }

    /// Writes a body of some alternatives.
    pub(crate) fn body_of(&mut self, alternatives: &[AltId], edit: &mut dyn Edit) -> BodyId {
        if self.open(alternatives, edit) { self.to.close_body() } else { self.to.close_body_without_last() }
    }

    /// Opens a body and writes the alternatives, the last still open;
    /// `false` if there was none to write.
    fn open(&mut self, alternatives: &[AltId], edit: &mut dyn Edit) -> bool {
        let kept: Vec<AltId> = alternatives.iter().copied().filter(|&alt| edit.keeps(alt)).collect();
        for (i, &alt) in kept.iter().enumerate() {
            let &Alternative { weight, span, .. } = self.from.alternative(alt);
            let span = self.place.unwrap_or(span);
            if i == 0 {
                self.to.open_body(span);
            } else {
                self.to.next_alternative(span);
            }
            self.to.weight(weight);
            self.symbols(alt, edit);
        }
        if kept.is_empty() {
            self.to.open_body(Span::NONE);
        }
        !kept.is_empty()
    }

    /// Appends the symbols of an alternative to the open one.
    pub(crate) fn symbols(&mut self, alt: AltId, edit: &mut dyn Edit) {
        let a = self.from.alternative(alt);
        for symbol in (a.first..a.end).map(SymbolId) {
            self.symbol(symbol, edit);
        }
    }

    /// Appends a symbol to the open alternative. Recurses over groups, of
    /// which the nesting is bounded.
    pub(crate) fn symbol(&mut self, id: SymbolId, edit: &mut dyn Edit) {
        if edit.replace(self, id) {
            return;
        }
        let symbol = match self.from.symbols[id.index()] {
            Symbol::Bytes(bytes) => Symbol::Bytes(self.bytes(bytes)),
            Symbol::Class(class) => Symbol::Class(self.class(class)),
            // Nothing that stays calls a rule that does not.
            Symbol::Rule(rule) => Symbol::Rule(self.numbers[rule.index()].unwrap_or(RuleId(0))),
            Symbol::Group(body) => {
                let alternatives: Vec<AltId> = self.from.alternatives(body).collect();
                let body = if self.open(&alternatives, edit) {
                    self.to.close_group(self.noted(id))
                } else {
                    Some(self.to.close_body_without_last())
                };
                let Some(body) = body else { return };
                Symbol::Group(body)
            }
            Symbol::Repeat(repeat) => {
                let repeat = *self.from.repeat(repeat);
                let body = self.body(repeat.body, edit);
                Symbol::Repeat(self.to.repeat(Repeat { body, ..repeat }))
            }
        };
        self.put(symbol, id);
    }

    /// Appends a call of a new rule where `id` stood, with its remarks.
    pub(crate) fn call(&mut self, rule: RuleId, id: SymbolId) {
        self.put(Symbol::Rule(rule), id);
    }

    fn put(&mut self, symbol: Symbol, id: SymbolId) {
        let span = self.place.unwrap_or(self.from.span(id));
        self.to.symbol(symbol, span);
        for note in self.from.notes(id) {
            self.to.note_last(note.clone());
        }
    }

    /// Whether remarks stand on a symbol.
    pub(crate) fn noted(&self, id: SymbolId) -> bool {
        self.from.notes(id).next().is_some()
    }

    /// Runs `write` so that all it copies stands at `span`: what replaces
    /// a call stands where the call stood, or the spans of alternatives
    /// would stretch over half a file.
    pub(crate) fn at<T>(&mut self, span: Span, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.place;
        self.place = before.or(Some(span));
        let result = write(self);
        self.place = before;
        result
    }

    fn bytes(&mut self, bytes: Bytes) -> Bytes {
        let (from, to) = (self.from, &mut self.to);
        *self.bytes.entry(bytes).or_insert_with(|| to.bytes(from.bytes(bytes)))
    }

    fn class(&mut self, class: ClassId) -> ClassId {
        let (from, to) = (self.from, &mut self.to);
        *self.classes[class.index()].get_or_insert_with(|| to.class(from.class(class).clone()))
    }

    /// A new rule, a part of the new rule `of`, called `name_1` or with
    /// the next number that is free.
    pub(crate) fn make_numbered(&mut self, of: RuleId, span: Span) -> RuleId {
        self.collect_names();
        let mut number = self.counters.get(&of).copied().unwrap_or(0);
        let name = loop {
            number += 1;
            let name = format!("{}_{number}", self.rules[of.index()].name);
            if !self.names.contains(&name) {
                break name;
            }
        };
        self.counters.insert(of, number);
        self.push_made(of, name, span)
    }

    /// A new rule, a part of the new rule `of`, called `name_suffix` if
    /// that is free, else with a number behind it.
    pub(crate) fn make_named(&mut self, of: RuleId, suffix: &str, span: Span) -> RuleId {
        self.collect_names();
        let wanted = format!("{}_{suffix}", self.rules[of.index()].name);
        let mut name = wanted.clone();
        let mut number = 0;
        while self.names.contains(&name) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        self.push_made(of, name, span)
    }

    fn collect_names(&mut self) {
        if self.names.is_empty() {
            // Dropped rules too: their names may still be spoken of.
            self.names.extend(self.from.rules.iter().map(|r| r.name.clone()));
        }
    }

    fn push_made(&mut self, of: RuleId, name: String, span: Span) -> RuleId {
        self.names.insert(name.clone());
        let kind = match self.rules[of.index()].kind {
            Kind::Syntax => Kind::Syntax,
            Kind::Token { .. } | Kind::Fragment => Kind::Fragment,
        };
        let body = self.rules[of.index()].body;
        self.rules.push(Rule { name, span, kind, body, depth_limit: None, made: true, notes: Vec::new() });
        RuleId(self.rules.len() as u32 - 1)
    }
}

/// The grammar without rules that neither the start nor a token reaches.
pub(crate) fn drop_uncalled(grammar: &Grammar) -> Grammar {
    let reachable = Calls::of(grammar).reachable(grammar);
    Rewrite::new(grammar, |rule| reachable[rule.index()]).all(&mut AsIs)
}
