//! Made-up grammars for the property tests of this workspace; behind the
//! feature `testing`, and no part of the library proper.
//!
//! In:  the random bytes of a property test.
//! Out: small grammars over `a`, `b` and `c` in which all occurs that a
//!      pass must cope with: empty alternatives and bodies, groups,
//!      repetitions, classes, left recursion, circles, rules that never
//!      finish or that nothing calls, weights, limits, remarks, and names
//!      that look as if a pass had made them.
//!
//! Grammars are built, not read from text: what no notation can say, such
//! as a body without alternatives, must occur too.

use crate::arena::{Builder, MAX_WEIGHT, Note, Repeat};
use crate::ast::{Action, Kind};
use crate::class::{Class, Unit};
use crate::enumerate::{Strings, enumerate};
use crate::ir::{Grammar, ModeId, Rule, RuleId, RuleKind, Symbol};
use crate::source::Span;
use crate::{BodyId, transform};
use arbitrary::{Result, Unstructured};

/// Names of the rules; some are those that passes like to give.
const NAMES: [&str; 6] = ["s", "s_1", "t", "s_complex", "t_2", "u"];
const TEXTS: [&str; 6] = ["a", "b", "c", "a", "ab", "bca"];
/// Bounds of repetitions.
const SMALL: [(u32, Option<u32>); 7] =
    [(0, None), (1, None), (0, Some(1)), (2, Some(3)), (0, Some(0)), (2, None), (1, Some(1))];
/// Bounds beyond those that passes write out.
const LARGE: [(u32, Option<u32>); 6] =
    [(0, Some(11)), (0, Some(15)), (1, Some(100)), (9, Some(99)), (1, Some(u32::MAX)), (1_000, None)];

/// A grammar of one to six rules, all of them syntax.
pub fn grammar(u: &mut Unstructured<'_>) -> Result<Grammar> {
    let rules = u.int_in_range(1..=6)?;
    Maker::new(vec![Kind::Syntax; rules]).make(u)
}

/// As [`grammar`], with some tokens, skipped tokens and fragments.
pub fn lexical_grammar(u: &mut Unstructured<'_>) -> Result<Grammar> {
    let mut kinds = vec![Kind::Syntax; u.int_in_range(1..=3)?];
    let token = |skip| Kind::Token { mode: ModeId(0), action: Action::Stay, skip };
    kinds.push(token(false));
    for _ in 0..u.int_in_range(0..=2)? {
        kinds.push([token(false), token(true), Kind::Fragment][u.choose_index(3)?]);
    }
    Maker::new(kinds).make(u)
}

/// A grammar whose start derives something, without dead parts.
pub fn productive_grammar(u: &mut Unstructured<'_>) -> Result<Grammar> {
    // A few tries, then one that cannot fail: a property test that gives
    // up too often would test nothing.
    for _ in 0..3 {
        if let Ok(grammar) = transform::prune(&grammar(u)?) {
            return Ok(grammar);
        }
    }
    let mut maker = Maker::new(vec![Kind::Syntax]);
    maker.builder.open_body(Span::NONE);
    maker.text("a");
    maker.builder.next_alternative(Span::NONE);
    maker.builder.symbol(Symbol::Rule(RuleId(0)), Span::NONE);
    maker.text("b");
    let body = maker.builder.close_body();
    Ok(maker.finish(vec![rule("s", Kind::Syntax, body)]))
}

/// The grammars of the papers that lie beside the project, by name; none, with a
/// message, if they are not there.
///
/// # Panics
/// If one cannot be loaded, or if they are not there and `WUG_REQUIRE_ALL` is set.
pub fn shared() -> Vec<(String, Grammar)> {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("WUG_SHARED").map_or(beside, Into::into).join("grammars");
    let Ok(entries) = folder.read_dir() else {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "no grammars in {}", folder.display());
        eprintln!("skipped: no grammars in {}", folder.display());
        return Vec::new();
    };
    let load = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a grammar that can be read");
        let loaded =
            crate::load::load_text(&name, &text, crate::Notation::F1).unwrap_or_else(|e| panic!("{e}"));
        (name, loaded.grammar)
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let mut grammars: Vec<_> = paths.map(load).collect();
    grammars.sort_by(|a, b| a.0.cmp(&b.0));
    grammars
}

/// What is wrong with the form of a grammar, if anything is: what every
/// pass must see to, whatever else it does.
pub fn malformed(grammar: &Grammar) -> Option<String> {
    let mut names = std::collections::HashSet::new();
    let mut fault = None;
    for id in grammar.rules() {
        let rule = grammar.rule(id);
        if rule.name.is_empty() || !names.insert(&rule.name) {
            fault = Some(format!("the name `{}` is empty or not unique", rule.name));
        }
        grammar.bodies_within(rule.body, &mut |body| {
            if let Some(found) = malformed_body(grammar, rule, body) {
                fault = Some(format!("in `{}`: {found}", rule.name));
            }
        });
    }
    if grammar.start().index() >= grammar.rules().len() {
        fault = Some("there is no start".to_string());
    }
    fault
}

fn malformed_body(grammar: &Grammar, rule: &Rule, body: BodyId) -> Option<String> {
    let mut total = 0u64;
    for alt in grammar.alternatives(body) {
        let weight = grammar.alternative(alt).weight;
        total += u64::from(weight);
        if !(1..=MAX_WEIGHT).contains(&weight) || total > u64::from(u32::MAX) {
            return Some(format!("weight {weight} of a total of {total}"));
        }
        for (id, symbol) in grammar.numbered(alt) {
            match *symbol {
                Symbol::Bytes(bytes) if grammar.bytes(bytes).is_empty() => {
                    return Some("an empty literal".to_string());
                }
                Symbol::Group(inner)
                    if grammar.alternatives(inner).len() == 1 && grammar.notes(id).next().is_none() =>
                {
                    return Some("a group of one alternative".to_string());
                }
                Symbol::Rule(called) if called.index() >= grammar.rules().len() => {
                    return Some(format!("a call of rule {}, which is none", called.0));
                }
                Symbol::Rule(called) => {
                    let fits = match (rule.kind, grammar.rule(called).kind) {
                        (Kind::Syntax, Kind::Fragment | Kind::Token { skip: true, .. }) => false,
                        (Kind::Syntax, _) => true,
                        (_, kind) => kind != Kind::Syntax,
                    };
                    if !fits {
                        return Some(format!("it cannot call `{}`", grammar.name(called)));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// The strings of up to `longest` bytes, if there are few enough.
pub fn strings(grammar: &Grammar, longest: usize) -> Option<Strings> {
    const CAP: usize = 2_000;
    enumerate(grammar, longest, CAP)
}

/// Whether both derive the same strings of up to `longest` bytes; `None`
/// if there are too many to tell.
pub fn same_language(one: &Grammar, other: &Grammar, longest: usize) -> Option<bool> {
    Some(strings(one, longest)? == strings(other, longest)?)
}

fn rule(name: &str, kind: RuleKind, body: BodyId) -> Rule {
    let name = name.to_string();
    Rule { name, span: Span::NONE, kind, body, depth_limit: None, made: false, notes: Vec::new() }
}

struct Maker {
    builder: Builder<Symbol>,
    kinds: Vec<RuleKind>,
}

impl Maker {
    fn new(kinds: Vec<RuleKind>) -> Maker {
        Maker { builder: Builder::default(), kinds }
    }

    fn make(mut self, u: &mut Unstructured<'_>) -> Result<Grammar> {
        let mut rules = Vec::new();
        for (kind, name) in self.kinds.clone().into_iter().zip(NAMES) {
            // A few bodies have no alternative: they derive nothing.
            let some = [2, 1, 3, 2, 4, 3, 2][u.choose_index(7)?];
            let alternatives = if rarely(u, 16)? { 0 } else { some };
            let body = self.body(u, kind, alternatives, 0)?;
            let mut rule = rule(name, kind, body);
            if rarely(u, 12)? {
                rule.depth_limit = Some(u.int_in_range(0..=3)?);
            }
            if rarely(u, 24)? {
                rule.notes.push(note());
            }
            rule.made = rarely(u, 12)?;
            rules.push(rule);
        }
        Ok(self.finish(rules))
    }

    fn finish(self, rules: Vec<Rule>) -> Grammar {
        let modes = vec![crate::resolve::DEFAULT_MODE.to_string()];
        Grammar { rules, arena: self.builder.finish(), start: RuleId(0), modes, mentioned: Vec::new() }
    }

    fn body(
        &mut self,
        u: &mut Unstructured<'_>,
        kind: RuleKind,
        alternatives: usize,
        depth: u32,
    ) -> Result<BodyId> {
        self.builder.open_body(Span::NONE);
        for i in 0..alternatives {
            if i > 0 {
                self.builder.next_alternative(Span::NONE);
            }
            self.alternative(u, kind, depth)?;
        }
        Ok(if alternatives == 0 { self.builder.close_body_without_last() } else { self.builder.close_body() })
    }

    fn alternative(&mut self, u: &mut Unstructured<'_>, kind: RuleKind, depth: u32) -> Result<()> {
        if rarely(u, 6)? {
            self.builder.weight([2, 3, 10, MAX_WEIGHT][u.choose_index(4)?]);
        }
        let symbols = [1, 2, 1, 3, 0, 2, 1][u.choose_index(7)?];
        for _ in 0..symbols {
            self.symbol(u, kind, depth)?;
            if rarely(u, 24)? {
                self.builder.note_last(note());
            }
        }
        Ok(())
    }

    fn symbol(&mut self, u: &mut Unstructured<'_>, kind: RuleKind, depth: u32) -> Result<()> {
        // Parts get rarer inside of parts, or the grammar might not end.
        let kinds = if depth < 2 { 10 } else { 8 };
        match u.choose_index(kinds)? {
            0..=3 => self.text(TEXTS[u.choose_index(TEXTS.len())?]),
            4 => self.class(u, kind)?,
            5..=7 => self.call(u, kind)?,
            8 => {
                let alternatives = if rarely(u, 12)? { 0 } else { [2, 3, 2, 1][u.choose_index(4)?] };
                let body = self.body(u, kind, alternatives, depth + 1)?;
                self.builder.symbol(Symbol::Group(body), Span::NONE);
                if alternatives == 1 {
                    // Only a remark keeps a group of one alternative.
                    self.builder.note_last(note());
                }
            }
            _ => {
                let alternatives = if rarely(u, 12)? { 0 } else { [1, 2, 1][u.choose_index(3)?] };
                let body = self.body(u, kind, alternatives, depth + 1)?;
                let bounds: &[(u32, Option<u32>)] = if rarely(u, 4)? { &LARGE } else { &SMALL };
                let &(min, max) = u.choose(bounds)?;
                let repeat = self.builder.repeat(Repeat { body, min, max, greedy: true });
                self.builder.symbol(Symbol::Repeat(repeat), Span::NONE);
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        let bytes = self.builder.bytes(text.as_bytes());
        self.builder.symbol(Symbol::Bytes(bytes), Span::NONE);
    }

    fn class(&mut self, u: &mut Unstructured<'_>, kind: RuleKind) -> Result<()> {
        let tokens = self.kinds.iter().any(|&k| k != Kind::Syntax);
        if tokens && kind == Kind::Syntax {
            // Classes stand in tokens only, where there are some.
            self.text("c");
            return Ok(());
        }
        let class = match u.choose_index(10)? {
            0..=3 => Class::new(Unit::Char, [(0x61, 0x62)]),
            4..=6 => Class::new(Unit::Char, [(0x61, 0x63)]),
            7 => Class::new(Unit::Char, [(0x63, 0x63), (0xE9, 0xE9)]),
            8 => Class::new(Unit::Byte, [(0xFE, 0xFF)]),
            _ => Class::new(Unit::Char, []),
        };
        let class = self.builder.class(class);
        self.builder.symbol(Symbol::Class(class), Span::NONE);
        Ok(())
    }

    fn call(&mut self, u: &mut Unstructured<'_>, kind: RuleKind) -> Result<()> {
        let can_call = |called: &RuleKind| match (kind, *called) {
            (Kind::Syntax, Kind::Fragment | Kind::Token { skip: true, .. }) => false,
            (Kind::Syntax, _) => true,
            (_, called) => called != Kind::Syntax,
        };
        let rules: Vec<u32> = (0..self.kinds.len().min(NAMES.len()) as u32)
            .filter(|&r| can_call(&self.kinds[r as usize]))
            .collect();
        let rule = RuleId(*u.choose(&rules)?);
        self.builder.symbol(Symbol::Rule(rule), Span::NONE);
        Ok(())
    }
}

/// True once in `times`; never when the bytes have run out, so that what
/// is left of a grammar is plain.
fn rarely(u: &mut Unstructured<'_>, times: u32) -> Result<bool> {
    Ok(!u.ratio(times - 1, times)?)
}

fn note() -> Note {
    Note { key: "k".to_string(), value: "v".to_string() }
}
