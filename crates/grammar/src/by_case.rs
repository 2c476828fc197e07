//! Makes tokens of the rules with uppercase names, as the W3C's grammars
//! mean them.
//!
//! In:  the rules of all texts, as read.
//! Out: the same rules. Those with a name in uppercase are tokens if syntax
//!      calls them, else fragments of tokens; and at least one token is
//!      skipped.
//!
//! - A rule that only lexical rules call is a fragment, whatever its name.
//! - A rule with a name for white space or comments (`WS`, `S`, `COMMENT`,
//!   …) is skipped, unless syntax calls it: then the grammar says itself
//!   where white space stands. Where no rule has such a name, blanks and
//!   line breaks are skipped.
//! - What is skipped stands only where two tokens or two words would run
//!   together ([`Note::tight`]): parsers of such languages are often written
//!   without a lexer, and do not take white space everywhere.

use crate::arena::{BodyId, Note};
use crate::ast::{Action, Ast, AstRule, AstSymbol, Kind};
use crate::class::{Class, Unit};
use crate::names::NameId;
use crate::source::Span;

/// Names, in lowercase without `_` and `-`, of what stands between tokens.
const SKIPPED: [&str; 14] = [
    "ws",
    "s",
    "space",
    "spaces",
    "whitespace",
    "blank",
    "blanks",
    "layout",
    "ignore",
    "ignored",
    "skip",
    "comment",
    "comments",
    "linecomment",
];

/// Marks the rules of `ast`.
pub fn mark(ast: &mut Ast) {
    let mut lexical = vec![false; ast.names.len()];
    for rule in &ast.rules {
        lexical[rule.name.0.0 as usize] =
            rule.kind != Kind::Syntax || is_uppercase(ast.names.text(rule.name.0));
    }
    if !lexical.contains(&true) {
        return;
    }
    let calls = Calls::of(ast);
    // Calls of each name: all, and those of syntax rules.
    let mut all = vec![0u32; ast.names.len()];
    let mut outside = vec![0u32; ast.names.len()];
    for (caller, called) in calls.0.iter().enumerate() {
        for name in called {
            all[name.0 as usize] += 1;
            outside[name.0 as usize] += u32::from(!lexical[caller]);
        }
    }
    // Rules that only lexical rules call become lexical, and so on.
    let start = ast.start.map(|(name, _)| name).or(ast.rules.first().map(|rule| rule.name.0));
    let inner = |name: usize, lexical: &[bool], outside: &[u32]| {
        !lexical[name] && all[name] > 0 && outside[name] == 0 && start.is_none_or(|s| s.0 as usize != name)
    };
    let mut work: Vec<usize> = (0..lexical.len()).filter(|&name| inner(name, &lexical, &outside)).collect();
    while let Some(name) = work.pop() {
        if std::mem::replace(&mut lexical[name], true) {
            continue;
        }
        for called in &calls.0[name] {
            outside[called.0 as usize] -= 1;
            if inner(called.0 as usize, &lexical, &outside) {
                work.push(called.0 as usize);
            }
        }
    }
    let mut skips = false;
    let mut calls_white_space = false;
    for at in 0..ast.rules.len() {
        let (name, _) = ast.rules[at].name;
        if ast.rules[at].kind != Kind::Syntax || !lexical[name.0 as usize] {
            skips |= matches!(ast.rules[at].kind, Kind::Token { skip: true, .. });
            continue;
        }
        let called = outside[name.0 as usize] > 0;
        let skip = is_skipped(ast.names.text(name));
        ast.rules[at].kind = match (called, skip) {
            (true, _) => token(false),
            (false, true) => token(true),
            (false, false) => Kind::Fragment,
        };
        if skip && !called {
            ast.rules[at].notes.push(Note::tight());
        }
        skips |= skip && !called;
        calls_white_space |= skip && called;
    }
    if !skips && !calls_white_space {
        add_skip(ast);
    }
}

fn token(skip: bool) -> Kind<Option<crate::ast::Named>> {
    Kind::Token { mode: None, action: Action::Stay, skip }
}

/// Whether a name has letters, all of them capital.
fn is_uppercase(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

fn is_skipped(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    SKIPPED.contains(&plain.as_str())
}

/// Adds a token of white space that is skipped.
fn add_skip(ast: &mut Ast) {
    let mut name = "WS".to_string();
    while ast.names.find(&name).is_some() {
        name.push('_');
    }
    ast.builder.open_body(Span::NONE);
    ast.class(Class::new(Unit::Char, [(9, 10), (13, 13), (32, 32)]), Span::NONE);
    ast.repeat_last(1, None, true, Span::NONE);
    ast.close_rule(&name, Span::NONE);
    if let Some(AstRule { kind, notes, .. }) = ast.rules.last_mut() {
        *kind = token(true);
        notes.push(Note::tight());
    }
}

/// The names that each rule calls, once for each call, by the rule's name.
struct Calls(Vec<Vec<NameId>>);

impl Calls {
    fn of(ast: &Ast) -> Calls {
        let mut calls = Calls(vec![Vec::new(); ast.names.len()]);
        for rule in &ast.rules {
            calls.body(ast, rule.name.0, rule.body);
        }
        calls
    }

    fn body(&mut self, ast: &Ast, caller: NameId, body: BodyId) {
        let arena = ast.arena();
        for alt in arena.alternatives(body) {
            for (_, symbol) in arena.numbered(alt) {
                match *symbol {
                    AstSymbol::Bytes(_) | AstSymbol::Class(_) => {}
                    AstSymbol::Name(name) => self.0[caller.0 as usize].push(name),
                    AstSymbol::Group(inner) => self.body(ast, caller, inner),
                    AstSymbol::Repeat(repeat) => self.body(ast, caller, arena.repeat(repeat).body),
                    AstSymbol::Except(left, right) => {
                        self.body(ast, caller, left);
                        self.body(ast, caller, right);
                    }
                }
            }
        }
    }
}
