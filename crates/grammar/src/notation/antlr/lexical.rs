//! Lexical rules as ours.
//!
//! The end of the text in a lexical rule is desugared: `.wug` has no token
//! that ends only there. An alternative that needs it is left out, since it
//! could not stand before anything else; in `~[\n]* ('\n' | EOF)`, where the
//! text can end nowhere but at its end anyway, it becomes `'\n'?`.

use super::build::Build;
use super::chars::{both_cases, fold};
use super::tokens::flat;
use super::tree::{Alternative, Block, Element, What};
use super::unit::Lexical;
use crate::arena::Repeat;
use crate::ast::{AstRule, AstSymbol, Kind};
use crate::class::{Class, Unit as Letters};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Names of rules are followed this deep when a set is looked for.
const MAX_DEPTH: usize = 20;

impl<'a> Build<'a> {
    /// Writes all lexical rules, in order.
    pub(super) fn lexical_rules(&mut self) {
        for at in 0..self.unit.lexical.len() {
            let lexical = self.unit.lexical[at];
            self.place = lexical.rule.span;
            self.current = &lexical.rule.name;
            let variants = self.tokens.of_rule[at].clone();
            if variants.is_empty() {
                self.fragment(&lexical.rule.name.clone(), lexical);
                continue;
            }
            for v in variants.clone() {
                let (name, range) = {
                    let variant = &self.tokens.variants[v];
                    (variant.name.clone(), variant.alternatives.clone())
                };
                self.place = lexical.rule.span;
                let body = self.body(|build| {
                    let all: &'a [Alternative] = flat(&lexical.rule.block.0);
                    build.lexical_alternatives(&all[range.clone()], lexical.caseless)
                });
                let effect = self.tokens.variants[v].effect.clone();
                let named = |mode: usize| (mode > 0).then(|| self.mode_names[mode - 1]);
                let kind = Kind::Token {
                    mode: named(lexical.mode),
                    action: effect.action.map(named),
                    skip: self.skipped[v],
                };
                let notes = self.notes_of(v);
                let name = (self.ast.names.add(&name), lexical.rule.span);
                self.ast.rules.push(AstRule { name, kind, body, depth_limit: None, made: false, notes });
            }
            // Where other lexical rules call it, they mean all of it.
            if variants.len() > 1 && self.called_by_tokens.contains(&at) {
                let name = self.whole_name(at);
                self.fragment(&name, lexical);
            }
        }
    }

    fn fragment(&mut self, name: &str, lexical: Lexical<'a>) {
        let body = self.body(|build| build.lexical_alternatives(&lexical.rule.block.0, lexical.caseless));
        let name = (self.ast.names.add(name), lexical.rule.span);
        let notes = Vec::new();
        self.ast.rules.push(AstRule {
            name,
            kind: Kind::Fragment,
            body,
            depth_limit: None,
            made: false,
            notes,
        });
    }

    /// Writes the alternatives that can be derived into the open body;
    /// whether there is one.
    fn lexical_alternatives(&mut self, alternatives: &'a [Alternative], caseless: bool) -> bool {
        let mut first = true;
        for alternative in alternatives {
            if !self.lexical_alive(alternative) {
                continue;
            }
            if !first {
                self.ast.builder.next_alternative(alternative.span);
            }
            first = false;
            self.lexical_sequence(&alternative.elements, caseless);
        }
        !first
    }

    fn lexical_sequence(&mut self, elements: &'a [Element], caseless: bool) {
        for (i, element) in elements.iter().enumerate() {
            let span = element.span;
            match &element.what {
                What::Text(text) => self.characters(text.as_deref().unwrap_or(""), caseless, span),
                What::Set(class) => {
                    let class = if caseless { fold(class) } else { class.clone() };
                    self.ast.class(class, span);
                }
                What::Any => self.ast.class(Class::any_char(), span),
                What::Not(members) => {
                    let class = self.negated(members, caseless, span);
                    self.ast.class(class, span);
                }
                What::Name(name) => {
                    let name = match self.tokens.rules.get(name) {
                        Some(&rule) if self.tokens.of_rule[rule].len() > 1 => self.whole_name(rule),
                        _ => name.clone(),
                    };
                    self.ast.call(&name, span);
                }
                What::Block(block) => {
                    let ends = self.may_end_instead(elements, i);
                    self.ast.builder.open_body(span);
                    if self.lexical_alternatives(&block.0, caseless) {
                        self.ast.close_group(ends, span);
                        if ends {
                            self.ast.repeat_last(0, Some(1), true, span);
                        }
                    } else {
                        self.ast.builder.close_body_without_last();
                    }
                }
                What::Repeat { body, min, max, greedy } => {
                    if !body.0.iter().any(|a| self.lexical_alive(a)) {
                        continue;
                    }
                    let body = self.body(|build| build.lexical_alternatives(&body.0, caseless));
                    let repeat =
                        self.ast.builder.repeat(Repeat { body, min: *min, max: *max, greedy: *greedy });
                    self.ast.builder.symbol(AstSymbol::Repeat(repeat), span);
                }
                What::Predicate => self.codes.predicate(self.current, span),
                What::Action => self.codes.action(self.current, span),
                What::Eof => {}
            }
        }
    }

    pub(super) fn characters(&mut self, text: &str, caseless: bool, span: Span) {
        if !caseless {
            return self.ast.literal(text.as_bytes(), span);
        }
        let mut run = String::new();
        for c in text.chars() {
            let class = Class::new(Letters::Char, both_cases(c).chain([c]).map(|c| (c as u32, c as u32)));
            if class.count() == 1 {
                run.push(c);
            } else {
                self.ast.literal(run.as_bytes(), span);
                run.clear();
                self.ast.class(class, span);
            }
        }
        self.ast.literal(run.as_bytes(), span);
    }

    /// Whether something can be derived: an alternative that needs the end
    /// of the text, or half of a surrogate pair, cannot.
    fn lexical_alive(&self, alternative: &Alternative) -> bool {
        alternative.elements.iter().all(|element| match &element.what {
            What::Eof | What::Text(None) => false,
            What::Block(block) => block.0.iter().any(|a| self.lexical_alive(a)),
            What::Repeat { body, min, .. } => *min == 0 || body.0.iter().any(|a| self.lexical_alive(a)),
            _ => true,
        })
    }

    /// Whether the end of the text in a block can be said by leaving the
    /// block out: all that the repetition before it does not take begins the
    /// other alternatives.
    fn may_end_instead(&self, elements: &[Element], at: usize) -> bool {
        let What::Block(block) = &elements[at].what else { return false };
        let is_end = |a: &Alternative| matches!(&a.elements[..], [Element { what: What::Eof, .. }]);
        if !block.0.iter().any(is_end) || at == 0 {
            return false;
        }
        let What::Repeat { body, max: None, greedy: true, .. } = &elements[at - 1].what else { return false };
        let Some(mut all) = self.set_of(body, 0) else { return false };
        for alternative in block.0.iter().filter(|a| !is_end(a)) {
            let Some(first) = self.first_of(&alternative.elements) else { return false };
            let Some(union) = all.union(&first) else { return false };
            all = union;
        }
        all == Class::any_char()
    }

    /// The characters that a sequence can begin with, where it is simple.
    fn first_of(&self, elements: &[Element]) -> Option<Class> {
        let mut first = Class::new(Letters::Char, []);
        for element in elements {
            let (own, optional) = match &element.what {
                What::Repeat { body, min, .. } => {
                    let [only] = &body.0[..] else { return self.set_of(body, 0) };
                    (self.first_of(&only.elements)?, *min == 0)
                }
                What::Text(Some(text)) => {
                    let c = text.chars().next()? as u32;
                    (Class::new(Letters::Char, [(c, c)]), false)
                }
                _ => (self.set_of_element(element, 0)?, false),
            };
            first = first.union(&own)?;
            if !optional {
                return Some(first);
            }
        }
        None
    }

    /// The set that a block is, if each alternative is one character.
    pub(super) fn set_of(&self, block: &Block, depth: usize) -> Option<Class> {
        let mut all = Class::new(Letters::Char, []);
        for alternative in &block.0 {
            let [element] = &alternative.elements[..] else { return None };
            all = all.union(&self.set_of_element(element, depth)?)?;
        }
        Some(all)
    }

    fn set_of_element(&self, element: &Element, depth: usize) -> Option<Class> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &element.what {
            What::Text(Some(text)) => {
                let mut chars = text.chars();
                let (c, None) = (chars.next()? as u32, chars.next()) else { return None };
                Some(Class::new(Letters::Char, [(c, c)]))
            }
            What::Text(None) => Some(Class::new(Letters::Char, [])),
            What::Set(class) => Some(class.clone()),
            What::Any => Some(Class::any_char()),
            What::Not(members) => {
                let mut all = Class::new(Letters::Char, []);
                for member in members {
                    all = all.union(&self.set_of_element(member, depth + 1)?)?;
                }
                Some(all.complement(Letters::Char))
            }
            What::Block(block) => self.set_of(block, depth + 1),
            What::Name(name) => {
                let &rule = self.tokens.rules.get(name)?;
                self.set_of(&self.unit.lexical[rule].rule.block, depth + 1)
            }
            _ => None,
        }
    }

    fn negated(&mut self, members: &'a [Element], caseless: bool, span: Span) -> Class {
        let mut all = Class::new(Letters::Char, []);
        for member in members {
            match self.set_of_element(member, 0) {
                Some(class) => {
                    let class = if caseless { fold(&class) } else { class };
                    all = all.union(&class).unwrap_or(all);
                }
                None => self.diags.push(
                    Diagnostic::error(span, "`~` cannot negate what is more than one character")
                        .also(member.span, "this is more than one character, or unknown")
                        .help("`~` takes single characters and sets of them: `~('a' | [b-d])`"),
                ),
            }
        }
        all.complement(Letters::Char)
    }
}
