//! Resolves exceptions (`a - b` of the EBNF notations).
//!
//! In:  a grammar with a placeholder rule for each exception: its body is
//!      what stands before the minus.
//! Out: a grammar in which each of these rules derives what the exception
//!      means: a class where both sides are sets of characters, else the
//!      states of an automaton. Both sides must be free of recursion, or
//!      the difference would be beyond any grammar of this kind.

use crate::arena::{BodyId, Builder};
use crate::ast::Kind;
use crate::class::{Class, Unit};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Grammar, Rule, RuleId, Symbol};
use crate::lexical::alphabet::Alphabet;
use crate::lexical::dfa::Part;
use crate::lexical::emit::emit;
use crate::lexical::nfa::Nfa;
use crate::lexical::{Dfa, TooLarge, Work};
use crate::source::Span;
use hashbrown::{HashMap, HashSet};

/// A rule that stands for the exception until [`resolve`] has its language.
pub fn placeholder(rule: RuleId, left: BodyId, span: Span) -> Rule {
    let name = format!("except-{}", rule.0);
    Rule { name, span, kind: Kind::Syntax, body: left, depth_limit: None, made: true, notes: Vec::new() }
}

/// Gives each rule what its body derives and the other body does not.
pub fn resolve(
    mut grammar: Grammar,
    exceptions: &[(RuleId, BodyId)],
    diags: &mut Diagnostics,
) -> Option<Grammar> {
    let errors = diags.errors();
    let excluded: HashMap<RuleId, BodyId> = exceptions.iter().copied().collect();
    let mut names: HashSet<String> = grammar.rules.iter().map(|r| r.name.clone()).collect();
    let mut work = Work::default();
    if grammar.has_tokens() {
        mark_fragments(&mut grammar, &excluded);
        let outside = exceptions.iter().find(|(rule, _)| grammar.rule(*rule).kind == Kind::Syntax);
        if let Some(&(rule, _)) = outside {
            let message = "an exception in a grammar with tokens";
            diags.push(
                Diagnostic::error(grammar.rule(rule).span, message)
                    .help("rules read tokens here, not characters: put it into a token"),
            );
            return None;
        }
    }
    for rule in order(&grammar, &excluded, diags) {
        let Some(&right) = excluded.get(&rule) else { continue };
        let found = difference(&grammar, grammar.rule(rule).body, right, &mut work);
        // What is found is added to what is stored, which looks at all classes.
        let found = found.and_then(|f| work.spend(grammar.class_count()).map_or(Err(LARGE), |()| Ok(f)));
        match found {
            Ok(Found::Class(class)) => replace(&mut grammar, rule, |builder| {
                let class = builder.class(class);
                builder.symbol(Symbol::Class(class), Span::NONE);
            }),
            Ok(Found::Automaton(dfa, alphabet)) => states(&mut grammar, rule, &dfa, &alphabet, &mut names),
            Err(why) => diags.push(Diagnostic::error(grammar.rule(rule).span, why.message).help(why.help)),
        }
    }
    (diags.errors() == errors).then_some(grammar)
}

/// Makes the exceptions in tokens, and those inside of these, fragments.
fn mark_fragments(grammar: &mut Grammar, excluded: &HashMap<RuleId, BodyId>) {
    let mut work: Vec<BodyId> = Vec::new();
    for id in grammar.rules() {
        let rule = grammar.rule(id);
        if rule.kind != Kind::Syntax {
            work.push(rule.body);
        }
    }
    while let Some(body) = work.pop() {
        let mut called = Vec::new();
        grammar.body_calls(body, &mut |rule| called.push(rule));
        for rule in called {
            let Some(&right) = excluded.get(&rule) else { continue };
            let found = &mut grammar.rules[rule.index()];
            if found.kind == Kind::Syntax {
                found.kind = Kind::Fragment;
                work.extend([found.body, right]);
            }
        }
    }
}

/// All rules that exceptions need, each behind those that it needs. An
/// exception that needs itself is reported.
fn order(grammar: &Grammar, excluded: &HashMap<RuleId, BodyId>, diags: &mut Diagnostics) -> Vec<RuleId> {
    let mut order = Vec::new();
    // On the path: true; behind us: false.
    let mut entered: HashMap<RuleId, bool> = HashMap::new();
    let mut roots: Vec<RuleId> = excluded.keys().copied().collect();
    roots.sort_unstable();
    let mut work: Vec<(RuleId, bool)> = roots.into_iter().rev().map(|r| (r, false)).collect();
    while let Some((rule, done)) = work.pop() {
        if done {
            entered.insert(rule, false);
            order.push(rule);
            continue;
        }
        if let Some(&on_path) = entered.get(&rule) {
            if on_path && excluded.contains_key(&rule) {
                diags.push(
                    Diagnostic::error(grammar.rule(rule).span, "this exception needs itself")
                        .help("what stands on both sides of the minus must not lead back to it"),
                );
            }
            continue;
        }
        entered.insert(rule, true);
        work.push((rule, true));
        grammar.body_calls(grammar.rule(rule).body, &mut |called| work.push((called, false)));
        if let Some(&right) = excluded.get(&rule) {
            grammar.body_calls(right, &mut |called| work.push((called, false)));
        }
    }
    order
}

enum Found {
    Class(Class),
    Automaton(Dfa, Box<Alphabet>),
}

struct Refused {
    message: &'static str,
    help: &'static str,
}

const RECURSIVE: Refused = Refused {
    message: "the parts of an exception must not be recursive",
    help: "exclude something simpler, such as a set of characters or fixed texts",
};
const LARGE: Refused = Refused {
    message: "this exception is too large to be worked out",
    help: "give fewer or shorter texts on both sides of the minus",
};

fn difference(grammar: &Grammar, left: BodyId, right: BodyId, work: &mut Work) -> Result<Found, Refused> {
    let mut classes = Classes { grammar, fuel: CLASS_FUEL, work };
    let mut class_of = |body| classes.of(body).map_err(|_| LARGE);
    if let (Some(left), Some(right)) = (class_of(left)?, class_of(right)?)
        && let Some(class) = left.difference(&right)
    {
        return Ok(Found::Class(class));
    }
    let mut automaton = |body| match Nfa::of(grammar, body, None, work) {
        Ok(nfa) if nfa.unrolled => Err(RECURSIVE),
        Ok(nfa) => Ok(nfa),
        Err(TooLarge) => Err(LARGE),
    };
    let (left, right) = (automaton(left)?, automaton(right)?);
    let alphabet = Alphabet::of(left.ranges().chain(right.ranges()));
    let mut dfa = |nfa: &Nfa| {
        let dfa = Dfa::union(&[Part { nfa, label: 0 }], &alphabet, &mut |_| {}, work);
        dfa.map(|d| d.minimize()).map_err(|_| LARGE)
    };
    let (left, right) = (dfa(&left)?, dfa(&right)?);
    let found = left.difference(&right, work).map_err(|_| LARGE)?;
    Ok(Found::Automaton(found, Box::new(alphabet)))
}

/// Bodies looked at for the classes of one exception; what needs more is
/// left to the automaton.
const CLASS_FUEL: usize = 1_000;

/// Bodies as sets of characters.
struct Classes<'a> {
    grammar: &'a Grammar,
    fuel: usize,
    work: &'a mut Work,
}

impl Classes<'_> {
    /// The set of characters that a body is, if it is one.
    fn of(&mut self, body: BodyId) -> Result<Option<Class>, TooLarge> {
        let mut found = Members::default();
        Ok(if self.collect(body, &mut found)? { found.class() } else { None })
    }

    /// Adds the members of a body; `false` if it is no set of characters.
    fn collect(&mut self, body: BodyId, found: &mut Members) -> Result<bool, TooLarge> {
        let Some(fuel) = self.fuel.checked_sub(1) else { return Ok(false) };
        self.fuel = fuel;
        for alt in self.grammar.alternatives(body) {
            self.work.spend(1)?;
            let [symbol] = self.grammar.symbols(alt) else { return Ok(false) };
            let whole = match *symbol {
                Symbol::Class(class) => {
                    let class = self.grammar.class(class);
                    self.work.spend(class.ranges().len())?;
                    found.add(class.unit(), class.ranges());
                    true
                }
                Symbol::Bytes(bytes) => {
                    let text = std::str::from_utf8(self.grammar.bytes(bytes)).unwrap_or("");
                    let mut chars = text.chars();
                    let (c, more) = (chars.next(), chars.next());
                    found.add(Unit::Char, &c.map(|c| (c as u32, c as u32)).into_iter().collect::<Vec<_>>());
                    c.is_some() && more.is_none()
                }
                Symbol::Rule(rule) => self.collect(self.grammar.rule(rule).body, found)?,
                Symbol::Group(inner) => self.collect(inner, found)?,
                Symbol::Repeat(_) => false,
            };
            if !whole {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Ranges of members, by unit.
#[derive(Default)]
struct Members {
    bytes: Vec<(u32, u32)>,
    chars: Vec<(u32, u32)>,
}

impl Members {
    fn add(&mut self, unit: Unit, ranges: &[(u32, u32)]) {
        match unit {
            Unit::Byte => self.bytes.extend_from_slice(ranges),
            Unit::Char => self.chars.extend_from_slice(ranges),
        }
    }

    /// All together, if they can be one class.
    fn class(self) -> Option<Class> {
        Class::new(Unit::Byte, self.bytes).union(&Class::new(Unit::Char, self.chars))
    }
}

fn replace(grammar: &mut Grammar, rule: RuleId, fill: impl FnOnce(&mut Builder<Symbol>)) {
    let mut builder = Builder::resume(std::mem::take(&mut grammar.arena));
    builder.open_body(grammar.rules[rule.index()].span);
    fill(&mut builder);
    grammar.rules[rule.index()].body = builder.close_body();
    grammar.arena = builder.finish();
}

fn states(grammar: &mut Grammar, rule: RuleId, dfa: &Dfa, alphabet: &Alphabet, names: &mut HashSet<String>) {
    let mut builder = Builder::resume(std::mem::take(&mut grammar.arena));
    let span = grammar.rules[rule.index()].span;
    let base = grammar.rules[rule.index()].name.clone();
    let kind = grammar.rules[rule.index()].kind;
    let rules = &mut grammar.rules;
    let mut declare = |state: u32| {
        let id = RuleId(rules.len() as u32);
        let mut name = format!("{base}.{state}");
        while !names.insert(name.clone()) {
            name.push('_');
        }
        rules.push(Rule { name, kind, ..placeholder(id, BodyId(0), span) });
        id
    };
    let emitted = emit(dfa, alphabet, &mut builder, span, &mut declare);
    for (state, body) in emitted.bodies {
        grammar.rules[state.index()].body = body;
    }
    grammar.rules[rule.index()].body = emitted.start;
    grammar.arena = builder.finish();
}
