//! Binds names to rules.
//!
//! In:  the rules of all texts, names unbound.
//! Out: a [`Grammar`] in which every call names a rule, syntax calls only
//!      syntax and tokens, and lexical rules only lexical rules; or
//!      diagnostics.

use crate::arena::{BodyId, SymbolId};
use crate::ast::{Ast, AstRule, AstSymbol, Kind, Named};
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::ir::{Grammar, ModeId, Rule, RuleId, Symbol};
use crate::names::NameId;
use crate::source::Span;
use crate::transform::except;

/// The name of the mode in which a lexer begins.
pub const DEFAULT_MODE: &str = "default";

/// Binds the names of `ast`; `None` when it reported an error. `place` is
/// where to point when there is nothing to point at.
pub fn resolve(ast: Ast, start: Option<&str>, place: Span, diags: &mut Diagnostics) -> Option<Grammar> {
    let errors = diags.errors();
    if ast.rules.is_empty() {
        let message = "this grammar has no rules";
        diags.push(
            Diagnostic::error(place, message).help("`greeting = \"hello\" ;` is a whole grammar in .wug"),
        );
        return None;
    }
    let scope = Scope::new(&ast, diags);
    let start = scope.start(&ast, start, place, diags);
    scope.check_calls(&ast, diags);
    let rules: Vec<Rule> = ast.rules.iter().filter_map(|rule| scope.rule(&ast, rule, diags)).collect();
    if diags.errors() > errors {
        return None;
    }
    let mut modes = vec![DEFAULT_MODE.to_string()];
    modes.extend(ast.modes.iter().map(|&(name, _)| ast.names.text(name).to_string()));

    let Ast { builder, names, .. } = ast;
    let mut rules = rules;
    let mut exceptions: Vec<(RuleId, BodyId)> = Vec::new();
    // The symbols that are exceptions, in the order of `exceptions`.
    let mut places: Vec<SymbolId> = Vec::new();
    let mut at = 0;
    let arena = builder.finish().map(|symbol| {
        at += 1;
        match symbol {
            AstSymbol::Bytes(bytes) => Symbol::Bytes(bytes),
            AstSymbol::Class(class) => Symbol::Class(class),
            AstSymbol::Group(body) => Symbol::Group(body),
            AstSymbol::Repeat(repeat) => Symbol::Repeat(repeat),
            // `check_calls` has seen to it that every name is bound.
            AstSymbol::Name(name) => Symbol::Rule(scope.bound[name.0 as usize].unwrap_or(RuleId(0))),
            AstSymbol::Except(left, right) => {
                let rule = RuleId(rules.len() as u32);
                let mut placeholder = except::placeholder(rule, left, Span::NONE);
                while names.find(&placeholder.name).is_some() {
                    placeholder.name.push('_');
                }
                rules.push(placeholder);
                places.push(SymbolId(at - 1));
                exceptions.push((rule, right));
                Symbol::Rule(rule)
            }
        }
    });
    for (&(rule, _), &place) in exceptions.iter().zip(&places) {
        rules[rule.index()].span = arena.span(place);
    }
    let mut grammar = Grammar { rules, arena, start: start?, modes, mentioned: Vec::new() };
    let mut mentioned = Vec::new();
    for &(rule, right) in &exceptions {
        grammar.body_calls(grammar.rule(rule).body, &mut |called| mentioned.push(called));
        grammar.body_calls(right, &mut |called| mentioned.push(called));
    }
    grammar.mentioned = mentioned;
    if exceptions.is_empty() { Some(grammar) } else { except::resolve(grammar, &exceptions, diags) }
}

struct Scope {
    /// The rule of each name.
    bound: Vec<Option<RuleId>>,
    has_tokens: bool,
}

impl Scope {
    fn new(ast: &Ast, diags: &mut Diagnostics) -> Scope {
        let mut bound: Vec<Option<RuleId>> = vec![None; ast.names.len()];
        for (i, rule) in ast.rules.iter().enumerate() {
            let (name, span) = rule.name;
            match bound[name.0 as usize] {
                None => bound[name.0 as usize] = Some(RuleId(i as u32)),
                Some(first) => {
                    let text = ast.names.text(name);
                    diags.push(
                        Diagnostic::error(span, format!("rule `{text}` is defined twice"))
                            .label("again here")
                            .also(ast.rules[first.index()].name.1, "first defined here"),
                    );
                }
            }
        }
        let has_tokens = ast.rules.iter().any(|r| matches!(r.kind, Kind::Token { .. }));
        Scope { bound, has_tokens }
    }

    fn start(&self, ast: &Ast, wanted: Option<&str>, place: Span, diags: &mut Diagnostics) -> Option<RuleId> {
        let named = match (wanted, ast.start) {
            (Some(wanted), _) => Some((ast.names.find(wanted), wanted, place)),
            (None, Some((id, span))) => Some((Some(id), ast.names.text(id), span)),
            (None, None) => None,
        };
        match named {
            Some((id, text, span)) => {
                let rule = id.and_then(|id| self.bound[id.0 as usize]);
                if rule.is_none() {
                    let error = Diagnostic::error(span, format!("the start rule `{text}` does not exist"));
                    diags.push(suggest(error, text, ast, false));
                }
                rule
            }
            None => {
                let first = ast.rules.iter().position(|r| r.kind == Kind::Syntax);
                // A grammar of tokens alone is one that derives the first token.
                let first = first.or_else(|| ast.rules.iter().position(|r| r.kind != Kind::Fragment));
                if first.is_none() {
                    let message = "this grammar has no rule to start from, only fragments of tokens";
                    diags.push(
                        Diagnostic::error(ast.rules[0].name.1, message).help("add a rule that uses them"),
                    );
                }
                first.map(|i| RuleId(i as u32))
            }
        }
    }

    /// Reports names without a rule and calls across the border between
    /// syntax and tokens.
    fn check_calls(&self, ast: &Ast, diags: &mut Diagnostics) {
        for rule in &ast.rules {
            self.check_body(ast, rule, rule.body, diags);
        }
    }

    fn check_body(&self, ast: &Ast, rule: &AstRule, body: BodyId, diags: &mut Diagnostics) {
        let arena = ast.arena();
        let mut total = 0u64;
        for alt in arena.alternatives(body) {
            total += u64::from(arena.alternative(alt).weight);
            for (id, symbol) in arena.numbered(alt) {
                match *symbol {
                    AstSymbol::Bytes(_) => {}
                    AstSymbol::Class(_) if self.has_tokens && rule.kind == Kind::Syntax => diags.push(
                        Diagnostic::error(arena.span(id), "a class of characters outside of a token")
                            .label("rules read tokens here, since the grammar has some")
                            .help("give it a name: `token NAME = … ;`"),
                    ),
                    AstSymbol::Class(_) => {}
                    AstSymbol::Name(name) => self.check_name(ast, rule, name, arena.span(id), diags),
                    AstSymbol::Group(inner) => self.check_body(ast, rule, inner, diags),
                    AstSymbol::Repeat(repeat) => self.check_body(ast, rule, arena.repeat(repeat).body, diags),
                    AstSymbol::Except(left, right) => {
                        self.check_body(ast, rule, left, diags);
                        self.check_body(ast, rule, right, diags);
                    }
                }
            }
        }
        if total > u64::from(u32::MAX) {
            let message = "the weights of these alternatives are too large together";
            diags.push(Diagnostic::error(rule.name.1, message).help("their sum must be below 2^32"));
        }
    }

    fn check_name(&self, ast: &Ast, rule: &AstRule, name: NameId, span: Span, diags: &mut Diagnostics) {
        let Some(called) = self.bound[name.0 as usize] else {
            let text = ast.names.text(name);
            let error = Diagnostic::error(span, format!("unknown rule `{text}`"));
            diags.push(if diags.errors() < MAX_SUGGESTIONS {
                suggest(error, text, ast, true)
            } else {
                error
            });
            return;
        };
        let called = &ast.rules[called.index()];
        if (rule.kind, called.kind) == (Kind::Syntax, Kind::Syntax) {
            return;
        }
        let text = ast.names.text(name);
        let error = match (rule.kind, called.kind) {
            (Kind::Syntax, Kind::Fragment) => Some((
                format!("`{text}` is a fragment, which only tokens can use"),
                "make it a token, or use it in one",
            )),
            (Kind::Syntax, Kind::Token { skip: true, .. }) => Some((
                format!("`{text}` is skipped, so no rule can ask for it"),
                "declare it with `token` in place of `skip`",
            )),
            (Kind::Syntax, _) => None,
            (_, Kind::Syntax) => Some((
                format!("a token cannot use `{text}`, which is a syntax rule"),
                "make it a `fragment`, or a `token`",
            )),
            _ => None,
        };
        if let Some((message, help)) = error {
            diags.push(Diagnostic::error(span, message).also(called.name.1, "defined here").help(help));
        }
    }

    fn rule(&self, ast: &Ast, rule: &AstRule, diags: &mut Diagnostics) -> Option<Rule> {
        let kind = match rule.kind {
            Kind::Syntax => Kind::Syntax,
            Kind::Fragment => Kind::Fragment,
            Kind::Token { mode, action, skip } => {
                let mut resolve = |named: Option<Named>| self.mode(ast, named, diags);
                let mode = resolve(mode).ok()?;
                Kind::Token { mode, action: action.try_map(resolve).ok()?, skip }
            }
        };
        Some(Rule {
            name: ast.names.text(rule.name.0).to_string(),
            span: rule.name.1,
            kind,
            body: rule.body,
            depth_limit: rule.depth_limit,
            made: rule.made,
            notes: rule.notes.clone(),
        })
    }

    fn mode(&self, ast: &Ast, named: Option<Named>, diags: &mut Diagnostics) -> Result<ModeId, ()> {
        let Some((name, span)) = named else { return Ok(ModeId(0)) };
        let text = ast.names.text(name);
        if text == DEFAULT_MODE {
            return Ok(ModeId(0));
        }
        match ast.modes.iter().position(|&(id, _)| id == name) {
            Some(i) => Ok(ModeId(i as u32 + 1)),
            None => {
                let error = Diagnostic::error(span, format!("unknown mode `{text}`"));
                let near = nearest(text, ast.modes.iter().map(|&(id, _)| ast.names.text(id)));
                diags.push(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("declare it: `mode {text} {{ … }}`")),
                });
                Err(())
            }
        }
    }
}

/// Errors that get a suggestion: each one is a search over all names.
const MAX_SUGGESTIONS: usize = 20;

/// Adds what may have been meant; `called` if it may have been text.
fn suggest(error: Diagnostic, wanted: &str, ast: &Ast, called: bool) -> Diagnostic {
    // Enough for a likely slip; a search over a million rules for each of
    // many unknown names would be quadratic.
    let names = ast.rules.iter().take(20_000).map(|r| ast.names.text(r.name.0));
    let near = nearest(wanted, names).map(|near| format!("did you mean `{near}`?"));
    let at = error.labels[0].span.start;
    let hint = ast.hints.iter().find(|(text, _)| (text.start..text.end).contains(&at));
    let hint = hint.filter(|_| called && wanted.len() <= 40).map(|(_, hint)| hint(wanted));
    match (near, hint) {
        (Some(near), Some(hint)) => error.help(format!("{near} Or, {hint}")),
        (Some(help), None) | (None, Some(help)) => error.help(help),
        (None, None) => error,
    }
}
