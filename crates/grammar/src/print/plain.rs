//! What the notations without groups and classes have in common.
//!
//! In:  a grammar of texts, classes and calls.
//! Out: the same as texts and calls alone, with names that a notation can
//!      write: a class with few members is a rule with an alternative for
//!      each.

use crate::arena::{BodyId, ClassId};
use crate::class::Unit;
use crate::diagnostic::Diagnostic;
use crate::ir::{Grammar, RuleId, Symbol};
use hashbrown::HashMap;

/// A class with more members is refused.
const MAX_MEMBERS: u32 = 512;

/// A symbol of a plain grammar.
#[derive(Clone, Copy, Debug)]
pub enum Plain<'a> {
    /// Literal bytes.
    Text(&'a [u8]),
    /// A rule, by its place in [`Rules::rules`].
    Call(usize),
}

/// A grammar of texts and calls.
#[derive(Debug)]
pub struct Rules<'a> {
    /// Each with its alternatives; the start is the first.
    pub rules: Vec<PlainRule<'a>>,
}

/// A rule of a plain grammar.
#[derive(Debug)]
pub struct PlainRule<'a> {
    /// A name that the notation can write; unique.
    pub name: String,
    /// Its alternatives, at least one.
    pub alternatives: Vec<Vec<Plain<'a>>>,
}

/// What a notation can write.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// Its name, for messages.
    pub notation: &'static str,
    /// Bytes that are not UTF-8.
    pub any_bytes: bool,
    /// What can stand in a name; other characters become `_`.
    pub allowed: fn(char) -> bool,
    /// Names that only the start rule may have.
    pub reserved: &'static [&'static str],
}

/// All members of all classes that were asked for, as bytes.
#[derive(Debug, Default)]
pub struct Members {
    bytes: Vec<u8>,
}

impl Members {
    /// The members of the small classes of `grammar`.
    pub fn of(grammar: &Grammar) -> Members {
        let mut bytes = Vec::new();
        for id in (0..grammar.class_count() as u32).map(ClassId) {
            let class = grammar.class(id);
            if class.count() <= MAX_MEMBERS {
                (0..class.count()).for_each(|i| class.emit(i, &mut bytes));
            }
        }
        Members { bytes }
    }
}

/// Makes a grammar plain, for a notation with these `abilities`.
pub fn plain<'a>(
    grammar: &'a Grammar,
    members: &'a Members,
    abilities: Abilities,
) -> Result<Rules<'a>, Diagnostic> {
    let mut order: Vec<RuleId> = vec![grammar.start()];
    order.extend(grammar.rules().filter(|&r| r != grammar.start()));
    let mut place = vec![0; grammar.rules().len()];
    for (at, rule) in order.iter().enumerate() {
        place[rule.index()] = at;
    }
    let mut names = Names { abilities, taken: HashMap::new() };
    let mut rules: Vec<PlainRule> = Vec::with_capacity(order.len());
    for (at, &rule) in order.iter().enumerate() {
        let name = names.add(grammar.name(rule), at == 0);
        rules.push(PlainRule { name, alternatives: Vec::new() });
    }
    let starts = member_starts(grammar);
    let mut classes: HashMap<ClassId, usize> = HashMap::new();
    for (at, &rule) in order.iter().enumerate() {
        let refuse = |what: &str| {
            let message = format!(
                "rule `{}` has {what}, which {} cannot write",
                grammar.name(rule),
                abilities.notation
            );
            Diagnostic::error(grammar.rule(rule).span, message).help("`--as wug` keeps it")
        };
        let body: BodyId = grammar.rule(rule).body;
        for alt in grammar.alternatives(body) {
            let mut symbols = Vec::with_capacity(grammar.symbols(alt).len());
            let mut derives = true;
            for symbol in grammar.symbols(alt) {
                symbols.push(match *symbol {
                    Symbol::Bytes(bytes) => {
                        let bytes = grammar.bytes(bytes);
                        if !abilities.any_bytes && std::str::from_utf8(bytes).is_err() {
                            return Err(refuse("bytes that are not UTF-8"));
                        }
                        Plain::Text(bytes)
                    }
                    Symbol::Rule(called) => Plain::Call(place[called.index()]),
                    Symbol::Class(id) => {
                        let class = grammar.class(id);
                        if class.count() > MAX_MEMBERS {
                            return Err(refuse(&format!("a class of {} members", class.count())));
                        }
                        if !abilities.any_bytes
                            && class.unit() == Unit::Byte
                            && class.ranges().last().is_some_and(|&(_, high)| high > 0x7F)
                        {
                            return Err(refuse("a class of bytes that are not UTF-8"));
                        }
                        let texts = || {
                            let mut from = starts[id.index()];
                            (0..class.count()).map(move |i| {
                                let len = class.len_of(class.member(i)) as usize;
                                from += len;
                                Plain::Text(&members.bytes[from - len..from])
                            })
                        };
                        match class.count() {
                            // An alternative that derives nothing is none.
                            0 => {
                                derives = false;
                                continue;
                            }
                            1 => match texts().next() {
                                Some(text) => text,
                                None => continue,
                            },
                            _ => Plain::Call(*classes.entry(id).or_insert_with(|| {
                                let name = names.add(&format!("class-{}", id.0), false);
                                let alternatives = texts().map(|text| vec![text]).collect();
                                rules.push(PlainRule { name, alternatives });
                                rules.len() - 1
                            })),
                        }
                    }
                    Symbol::Group(_) | Symbol::Repeat(_) => return Err(refuse("a group or a repetition")),
                });
            }
            if derives {
                rules[at].alternatives.push(symbols);
            }
        }
        if rules[at].alternatives.is_empty() {
            // A rule that derives nothing: one that never ends.
            rules[at].alternatives.push(vec![Plain::Call(at)]);
        }
    }
    Ok(Rules { rules })
}

/// Where the members of each class begin in [`Members`].
fn member_starts(grammar: &Grammar) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::with_capacity(grammar.class_count());
    for id in (0..grammar.class_count() as u32).map(ClassId) {
        starts.push(at);
        let class = grammar.class(id);
        if class.count() <= MAX_MEMBERS {
            at += (0..class.count()).map(|i| class.len_of(class.member(i)) as usize).sum::<usize>();
        }
    }
    starts
}

struct Names {
    abilities: Abilities,
    /// Each with the number to try next for another one like it.
    taken: HashMap<String, u32>,
}

impl Names {
    fn add(&mut self, name: &str, start: bool) -> String {
        let allowed = self.abilities.allowed;
        let mut safe: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        if safe.is_empty() {
            safe.push('_');
        }
        let reserved = !start && self.abilities.reserved.contains(&safe.as_str());
        if reserved || self.taken.contains_key(&safe) {
            let mut next = self.taken.get(&safe).copied().unwrap_or(2);
            let numbered = loop {
                let numbered = format!("{safe}-{next}");
                next += 1;
                if !self.taken.contains_key(&numbered) {
                    break numbered;
                }
            };
            self.taken.insert(safe, next);
            safe = numbered;
        }
        self.taken.insert(safe.clone(), 2);
        safe
    }
}
