//! From the joined files to our rules.
//!
//! In:  a [`Unit`] and its [`Tokens`].
//! Out: rules in the [`Ast`]; one notice each for code that was passed over,
//!      for tokens that no rule makes, and for what was chosen.
//!
//! What `.wug` has no word for is desugared:
//! - a type that several rules make (`type(X)`) is a made rule of syntax;
//! - `more` is a made rule of syntax, too: a sequence of tokens with nothing
//!   between them (see `more`);
//! - `.` and `~X` in syntax are made rules with one alternative per token;
//! - precedence and associativity of left recursion are left out: they
//!   choose among derivations, and leave the language as it is;
//! - `EOF` in syntax is nothing at the end of the start rule. Elsewhere its
//!   alternatives are left out, since nothing could follow them.

use super::codes::Codes;
use super::more::Runs;
use super::predicates;
use super::start;
use super::tokens::Tokens;
use super::tree::{Alternative, Element, What, is_lexical};
use super::unit::Unit;
use crate::arena::{BodyId, Note, Repeat};
use crate::ast::{Action, Ast, AstRule, AstSymbol, Kind, Named};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};

pub struct Build<'a> {
    pub unit: &'a Unit<'a>,
    pub tokens: Tokens,
    pub ast: &'a mut Ast,
    pub diags: &'a mut Diagnostics,
    pub mode_names: Vec<Named>,
    /// The rule that is written.
    pub place: Span,
    pub current: &'a str,
    pub codes: Codes,
    /// Lexical rules that other lexical rules call.
    pub called_by_tokens: HashSet<usize>,
    /// By variant: nothing of it reaches the parser.
    pub skipped: Vec<bool>,
    /// By variant: it stands between tokens and looks like it.
    separators: Vec<bool>,
    pub runs: Runs,
    /// What stands for each type of token in syntax.
    references: HashMap<String, Reference>,
    /// Made rules for sets of tokens, by their members.
    sets: HashMap<Vec<String>, String>,
    /// What stands for a text in syntax rules.
    literals: HashMap<String, Reference>,
    /// Token rules that are made for texts in syntax rules.
    implicit: Vec<(String, String, Span)>,
    /// Types that nothing makes, where they are first asked for.
    unmade: Vec<(String, Span)>,
    unmade_names: HashSet<String>,
    /// Made rules of syntax, written at the end: name and alternatives.
    pub made: Vec<(String, Vec<Vec<String>>)>,
    /// By syntax rule: nothing follows it wherever it stands.
    ends: HashMap<&'a str, bool>,
}

/// What stands for a token in syntax rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A rule.
    Name(String),
    /// A literal.
    Text(String),
    /// Nothing makes it.
    Unmade,
}

impl<'a> Build<'a> {
    pub fn new(
        unit: &'a Unit<'a>,
        tokens: Tokens,
        ast: &'a mut Ast,
        diags: &'a mut Diagnostics,
    ) -> Build<'a> {
        let mut mode_names = Vec::new();
        for &(name, span) in &unit.modes {
            // Our default mode has a name, too.
            let name = if name == crate::resolve::DEFAULT_MODE { "default_" } else { name };
            let named = (ast.names.add(name), span);
            ast.modes.push(named);
            mode_names.push(named);
        }
        let mut called_by_tokens = HashSet::new();
        for lexical in &unit.lexical {
            names_in(&lexical.rule.block.0, &mut |name| {
                called_by_tokens.extend(tokens.rules.get(name).copied());
            });
        }
        let separators = super::hidden::separators(unit, &tokens);
        let runs = Runs::of(unit, &tokens);
        let skipped = (0..tokens.variants.len())
            .map(|v| {
                let effect = &tokens.variants[v].effect;
                if effect.more { runs.hidden(v) } else { effect.hidden }
            })
            .collect();
        Build {
            unit,
            tokens,
            ast,
            diags,
            mode_names,
            place: Span::NONE,
            current: "",
            codes: Codes::default(),
            called_by_tokens,
            skipped,
            separators,
            runs,
            references: HashMap::new(),
            sets: HashMap::new(),
            literals: HashMap::new(),
            implicit: Vec::new(),
            unmade: Vec::new(),
            unmade_names: HashSet::new(),
            made: Vec::new(),
            ends: HashMap::new(),
        }
    }

    /// Writes everything. `wanted` is the start rule that was asked for.
    pub fn run(mut self, wanted: Option<&str>) {
        self.find_literals();
        let start = start::choose(self.unit, wanted);
        self.ends = start::ends(self.unit, start);
        for &rule in &self.unit.syntax {
            self.place = rule.span;
            self.current = &rule.name;
            let ends = self.ends.get(rule.name.as_str()).copied().unwrap_or(true);
            let body = self.body(|build| build.alternatives(&rule.block.0, ends));
            self.push(&rule.name, rule.span, Kind::Syntax, body, false);
        }
        let start = match start {
            Some(rule) => Some((rule.name.clone(), rule.span)),
            None => self.all_tokens(),
        };
        self.made_rules();
        for (name, text, span) in std::mem::take(&mut self.implicit) {
            self.place = span;
            let caseless = self.unit.caseless;
            let body = self.body(|build| {
                build.characters(&text, caseless, span);
                true
            });
            let kind = Kind::Token { mode: None, action: Action::Stay, skip: false };
            self.push(&name, span, kind, body, false);
        }
        self.lexical_rules();
        if self.ast.start.is_none()
            && let Some((name, span)) = start
        {
            self.ast.start = Some((self.ast.names.add(&name), span));
        }
        self.notices();
    }

    pub fn push(&mut self, name: &str, span: Span, kind: Kind<Option<Named>>, body: BodyId, made: bool) {
        let name = (self.ast.names.add(name), span);
        self.ast.rules.push(AstRule { name, kind, body, depth_limit: None, made, notes: Vec::new() });
    }

    /// A body with what `fill` writes into it; none if it writes nothing.
    pub fn body(&mut self, fill: impl FnOnce(&mut Self) -> bool) -> BodyId {
        self.ast.builder.open_body(self.place);
        if fill(self) { self.ast.builder.close_body() } else { self.ast.builder.close_body_without_last() }
    }

    /// The name of the fragment that is all of a rule with several variants.
    pub fn whole_name(&mut self, rule: usize) -> String {
        let name = &self.unit.lexical[rule].rule.name;
        // The names of rules are letters, digits and `_`, so this one is free.
        format!("{name}-all")
    }

    /// Remarks on a token.
    pub fn notes_of(&self, variant: usize) -> Vec<Note> {
        let token = &self.tokens.variants[variant];
        if token.effect.more {
            return vec![Note::joined()];
        }
        if self.skipped[variant] && !self.separators[variant] {
            return vec![Note::unwanted()];
        }
        Vec::new()
    }

    /// Writes the alternatives that can be derived into the open body;
    /// whether there is one. `ends` says that nothing follows them.
    fn alternatives(&mut self, alternatives: &'a [Alternative], ends: bool) -> bool {
        let some_other = alternatives.iter().any(|a| !predicates::is_bare(a) && self.alive(a, ends));
        let mut first = true;
        for alternative in alternatives {
            if !self.alive(alternative, ends) || some_other && predicates::is_bare(alternative) {
                self.count_codes(alternative);
                continue;
            }
            if !first {
                self.ast.builder.next_alternative(alternative.span);
            }
            first = false;
            self.sequence(&alternative.elements, ends);
        }
        !first
    }

    fn sequence(&mut self, elements: &'a [Element], ends: bool) {
        for (i, element) in elements.iter().enumerate() {
            let span = element.span;
            let ends = ends && elements[i + 1..].iter().all(is_silent);
            match &element.what {
                What::Text(Some(text)) => {
                    let reference = self.literal(text, span);
                    self.refer(&reference, span);
                }
                What::Name(name) if is_lexical(name) => {
                    let reference = self.reference(name);
                    self.refer(&reference, span);
                }
                What::Name(name) => self.ast.call(name, span),
                What::Any | What::Not(_) => {
                    if let Some(name) = self.token_set(element) {
                        self.ast.call(&name, span);
                    }
                }
                What::Block(block) => {
                    self.ast.builder.open_body(span);
                    if self.alternatives(&block.0, ends) {
                        self.ast.close_group(false, span);
                    } else {
                        self.ast.builder.close_body_without_last();
                    }
                }
                What::Repeat { body, min, max, .. } => {
                    let inner = ends && *max == Some(1);
                    if !body.0.iter().any(|a| self.alive(a, inner)) {
                        continue;
                    }
                    let body = self.body(|build| build.alternatives(&body.0, inner));
                    let repeat = self.ast.builder.repeat(Repeat { body, min: *min, max: *max, greedy: true });
                    self.ast.builder.symbol(AstSymbol::Repeat(repeat), span);
                }
                What::Predicate => self.codes.predicate(self.current, span),
                What::Action => self.codes.action(self.current, span),
                What::Eof | What::Text(None) | What::Set(_) => {}
            }
        }
    }

    fn count_codes(&mut self, alternative: &Alternative) {
        for element in &alternative.elements {
            match element.what {
                What::Predicate => self.codes.predicate(self.current, element.span),
                What::Action => self.codes.action(self.current, element.span),
                _ => {}
            }
        }
    }

    fn refer(&mut self, reference: &Reference, span: Span) {
        match reference {
            Reference::Name(name) => self.ast.call(name, span),
            Reference::Text(text) => self.ast.literal(text.as_bytes(), span),
            Reference::Unmade => {}
        }
    }

    /// Whether all that an alternative needs can be made.
    fn alive(&mut self, alternative: &'a Alternative, ends: bool) -> bool {
        // All are looked at, so that all that is unmade is told.
        let mut all = true;
        for (i, element) in alternative.elements.iter().enumerate() {
            let ends = ends && alternative.elements[i + 1..].iter().all(is_silent);
            let alive = match &element.what {
                What::Eof => ends,
                What::Text(None) | What::Set(_) => false,
                What::Text(Some(text)) => self.literal(text, element.span) != Reference::Unmade,
                What::Name(name) if is_lexical(name) => {
                    let reference = self.reference(name);
                    if reference == Reference::Unmade && self.unmade_names.insert(name.clone()) {
                        self.unmade.push((name.clone(), element.span));
                    }
                    reference != Reference::Unmade
                }
                What::Any | What::Not(_) => self.token_set(element).is_some(),
                What::Block(block) => {
                    let mut any = false;
                    for alternative in &block.0 {
                        any |= self.alive(alternative, ends);
                    }
                    any
                }
                What::Repeat { body, min, max, .. } => {
                    let mut any = *min == 0;
                    for alternative in &body.0 {
                        any |= self.alive(alternative, ends && *max == Some(1));
                    }
                    any
                }
                What::Name(_) | What::Predicate | What::Action => true,
            };
            all &= alive;
        }
        all
    }

    /// What stands for a type of token.
    pub fn reference(&mut self, kind: &str) -> Reference {
        if let Some(known) = self.references.get(kind) {
            return known.clone();
        }
        let direct = self.tokens.by_type.get(kind).cloned().unwrap_or_default();
        let mut ways: Vec<Vec<String>> =
            direct.iter().map(|&v| vec![self.tokens.variants[v].name.clone()]).collect();
        ways.extend(self.runs.of_type(kind, &mut self.tokens, &mut self.made));
        let found = match &ways[..] {
            // A rule of another text may stand in.
            [] => match self.ast.names.find(kind) {
                Some(name) if self.ast.rules.iter().any(|r| r.name.0 == name) => {
                    Reference::Name(kind.to_string())
                }
                _ => Reference::Unmade,
            },
            [way] if way.len() == 1 => Reference::Name(way[0].clone()),
            _ => {
                // The name of the type is best, unless a token has it.
                let wanted =
                    if self.tokens.names.contains(kind) { format!("any_{kind}") } else { kind.to_string() };
                let name = self.tokens.fresh(&wanted);
                self.made.push((name.clone(), ways));
                Reference::Name(name)
            }
        };
        self.references.insert(kind.to_string(), found.clone());
        found
    }

    /// Looks for the lexical rules that texts in syntax rules mean.
    fn find_literals(&mut self) {
        let mut alias: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, lexical) in self.unit.lexical.iter().enumerate() {
            if let [alternative] = &lexical.rule.block.0[..]
                && let [Element { what: What::Text(Some(text)), .. }, rest @ ..] = &alternative.elements[..]
                && rest.iter().all(|e| matches!(e.what, What::Action | What::Predicate))
                && !lexical.rule.fragment
            {
                alias.entry(text).or_default().push(at);
            }
        }
        for (text, rules) in alias {
            // Two rules for one text: it means neither.
            let [rule] = rules[..] else {
                if !self.unit.implicit {
                    self.literals.insert(text.to_string(), Reference::Unmade);
                }
                continue;
            };
            let lexical = self.unit.lexical[rule];
            let reference = self.reference(&lexical.rule.name);
            let plain = reference == Reference::Name(lexical.rule.name.clone()) && !lexical.caseless;
            let reference = if plain { Reference::Text(text.to_string()) } else { reference };
            self.literals.insert(text.to_string(), reference);
        }
    }

    /// What stands for a text in a syntax rule.
    fn literal(&mut self, text: &str, span: Span) -> Reference {
        if let Some(known) = self.literals.get(text) {
            return known.clone();
        }
        let found = if text.is_empty() {
            Reference::Text(String::new())
        } else if !self.unit.implicit {
            let name = format!("'{text}'");
            if self.unmade_names.insert(name.clone()) {
                self.unmade.push((name, span));
            }
            Reference::Unmade
        } else {
            // Always a token rule: a text stands before all lexical rules,
            // may be taken in either case, and there may be no other token.
            let name = self.tokens.fresh(&format!("'{text}'"));
            self.implicit.push((name.clone(), text.to_string(), span));
            let plain = !self.unit.caseless || !text.chars().any(char::is_alphabetic);
            if plain { Reference::Text(text.to_string()) } else { Reference::Name(name) }
        };
        self.literals.insert(text.to_string(), found.clone());
        found
    }

    /// The types of all tokens that a parser may see, in order.
    fn all_types(&mut self) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut types = Vec::new();
        for variant in &self.tokens.variants {
            let effect = &variant.effect;
            if !effect.hidden && !effect.more && seen.insert(effect.kind.clone()) {
                types.push(effect.kind.clone());
            }
        }
        types
    }

    /// The made rule for a set of tokens; `None` if it is empty.
    fn token_set(&mut self, element: &Element) -> Option<String> {
        let mut without: Vec<String> = Vec::new();
        if let What::Not(members) = &element.what {
            self.members(members, &mut without);
        }
        without.sort_unstable();
        without.dedup();
        if let Some(known) = self.sets.get(&without) {
            return (!known.is_empty()).then(|| known.clone());
        }
        let mut ways: Vec<Vec<String>> = Vec::new();
        for kind in self.all_types() {
            if let Reference::Name(name) = self.reference(&kind)
                && !without.contains(&kind)
            {
                ways.push(vec![name]);
            }
        }
        // Texts of all syntax rules are tokens of their own.
        self.all_literals();
        let own: Vec<String> = self.implicit.iter().map(|(name, ..)| name.clone()).collect();
        ways.extend(own.into_iter().filter(|name| !without.contains(name)).map(|name| vec![name]));
        let mut name = String::new();
        if !ways.is_empty() {
            let short: String =
                without.iter().take(3).map(|n| n.trim_matches('\'')).collect::<Vec<_>>().join("_");
            let wanted = if without.is_empty() { "any_token".to_string() } else { format!("not_{short}") };
            name = self.tokens.fresh(&wanted);
            self.made.push((name.clone(), ways));
        }
        self.sets.insert(without, name.clone());
        (!name.is_empty()).then_some(name)
    }

    fn members(&mut self, members: &[Element], out: &mut Vec<String>) {
        for member in members {
            match &member.what {
                What::Name(name) => out.push(name.clone()),
                What::Text(Some(text)) => match self.literal(text, member.span) {
                    Reference::Name(name) => out.push(name),
                    Reference::Text(text) => {
                        // The name of the rule that the text means.
                        let rule = self.unit.lexical.iter().find(|l| is_text(l.rule, &text));
                        out.push(rule.map_or_else(|| format!("'{text}'"), |l| l.rule.name.clone()));
                    }
                    Reference::Unmade => {}
                },
                What::Block(block) => {
                    block.0.iter().for_each(|a| self.members(&a.elements, out));
                }
                _ => {}
            }
        }
    }

    /// Sees to it that each text in a syntax rule has its token.
    fn all_literals(&mut self) {
        let mut texts = Vec::new();
        for rule in &self.unit.syntax {
            texts_in(&rule.block.0, &mut |text, span| texts.push((text, span)));
        }
        for (text, span) in texts {
            self.literal(text, span);
        }
    }

    /// For a lexer alone: any sequence of its tokens.
    fn all_tokens(&mut self) -> Option<(String, Span)> {
        let span = self.unit.lexical.first()?.rule.span;
        let any = Element { what: What::Any, span };
        let any = self.token_set(&any)?;
        let name = self.tokens.fresh("tokens");
        self.place = span;
        let body = self.body(|build| {
            build.ast.call(&any, span);
            build.ast.repeat_last(1, None, true, span)
        });
        self.push(&name, span, Kind::Syntax, body, false);
        Some((name, span))
    }

    /// Writes made rules. Only those that are called count, and references
    /// that they need may make more.
    fn made_rules(&mut self) {
        let mut at = 0;
        while at < self.made.len() {
            let (name, ways) = std::mem::take(&mut self.made[at]);
            at += 1;
            let span = Span::NONE;
            self.place = span;
            let body = self.body(|build| {
                for (i, way) in ways.iter().enumerate() {
                    if i > 0 {
                        build.ast.builder.next_alternative(span);
                    }
                    way.iter().for_each(|name| build.ast.call(name, span));
                }
                !ways.is_empty()
            });
            self.push(&name, span, Kind::Syntax, body, true);
        }
    }

    fn notices(&mut self) {
        self.codes.tell(self.diags);
        for (name, span, why) in &self.unit.lacks {
            let message = format!("the grammar `{name}` is not there: {why}");
            let help = format!("put `{name}.g4` beside this file, or name it as well, joined by a comma");
            self.diags.push(Diagnostic::error(*span, message).help(help));
        }
        let Some(&(_, span)) = self.unmade.first() else { return };
        if !self.unit.lacks.is_empty() {
            return;
        }
        if self.unit.lexical.iter().all(|l| l.rule.fragment) && !self.unit.implicit {
            let message = "no file of this grammar has the rules of its tokens";
            let help = "name the lexer as well, joined by a comma: `XParser.g4,XLexer.g4`";
            self.diags.push(Diagnostic::error(span, message).help(help));
            return;
        }
        let names: Vec<&str> = self.unmade.iter().take(10).map(|(name, _)| name.as_str()).collect();
        let more = match self.unmade.len().saturating_sub(10) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("no lexical rule makes these tokens: {}{more}", names.join(", "));
        let help = "alternatives that need them are left out; code may make them: \
                    a .wug file named as well, joined by a comma, can define them as tokens";
        self.diags.push(Diagnostic::warning(span, message).label("first asked for here").help(help));
    }
}

fn is_text(rule: &super::tree::Rule, text: &str) -> bool {
    let [alternative] = &rule.block.0[..] else { return false };
    matches!(alternative.elements.first(), Some(Element { what: What::Text(Some(own)), .. }) if own == text)
}

/// Derives nothing and needs nothing behind it.
fn is_silent(element: &Element) -> bool {
    matches!(element.what, What::Eof | What::Action | What::Predicate)
}

/// Calls `visit` with all names in alternatives.
pub fn names_in<'t>(alternatives: &'t [Alternative], visit: &mut dyn FnMut(&'t str)) {
    for element in alternatives.iter().flat_map(|a| &a.elements) {
        match &element.what {
            What::Name(name) => visit(name),
            What::Block(block) => names_in(&block.0, visit),
            What::Repeat { body, .. } => names_in(&body.0, visit),
            _ => {}
        }
    }
}

fn texts_in<'t>(alternatives: &'t [Alternative], visit: &mut dyn FnMut(&'t str, Span)) {
    for element in alternatives.iter().flat_map(|a| &a.elements) {
        match &element.what {
            What::Text(Some(text)) => visit(text, element.span),
            What::Block(block) => texts_in(&block.0, visit),
            What::Repeat { body, .. } => texts_in(&body.0, visit),
            What::Not(members) => members.iter().for_each(|m| {
                if let What::Text(Some(text)) = &m.what {
                    visit(text, m.span);
                }
            }),
            _ => {}
        }
    }
}
