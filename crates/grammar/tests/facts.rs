//! Facts compared with slow, obvious fixed points on made-up grammars.

use arbitrary::Unstructured;
use expect_test::{Expect, expect};
use std::collections::{BTreeMap, BTreeSet};
use wug_grammar::facts::{Closing, ClosingMode, Facts};
use wug_grammar::load::load_text;
use wug_grammar::testing;
use wug_grammar::{AltId, BodyId, Grammar, Notation, RuleId, Symbol, enumerate};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn each(check: impl FnMut(&Grammar)) {
    let mut check = check;
    let property = |u: &mut Unstructured| {
        check(&testing::grammar(u)?);
        Ok(())
    };
    wug_property::check(property).for_cases(2_000);
}

/// Values of all bodies by repeated evaluation from `bottom` until nothing
/// changes, at most `rounds` times; whether it came to rest.
fn settle<T: Clone + PartialEq>(
    grammar: &Grammar,
    bottom: T,
    rounds: usize,
    eval: impl Fn(BodyId, &[T]) -> T,
) -> (Vec<T>, bool) {
    let mut values = vec![bottom; grammar.body_count()];
    for _ in 0..rounds {
        let next: Vec<T> = (0..grammar.body_count() as u32).map(|b| eval(BodyId(b), &values)).collect();
        if next == values {
            return (values, true);
        }
        values = next;
    }
    (values, false)
}

/// The least value of a body: `leaf`, `call` and `repeat` give those of its
/// symbols, `join` that of two in a row.
fn least(
    grammar: &Grammar,
    body: BodyId,
    values: &[Option<u64>],
    leaf: impl Fn(u64) -> u64,
    call: impl Fn(RuleId, u64) -> u64,
    join: impl Fn(u64, u64) -> u64,
    times: impl Fn(u64, u32) -> u64,
) -> Option<u64> {
    let value = |alt: AltId| {
        grammar.symbols(alt).iter().try_fold(0, |sum, symbol| {
            let own = match *symbol {
                Symbol::Bytes(bytes) => leaf(u64::from(bytes.len)),
                Symbol::Class(class) if grammar.class(class).is_empty() => return None,
                Symbol::Class(class) => leaf(u64::from(grammar.class(class).min_len())),
                Symbol::Rule(rule) => call(rule, values[grammar.rule(rule).body.index()]?),
                Symbol::Group(inner) => values[inner.index()]?,
                Symbol::Repeat(repeat) => {
                    let repeat = grammar.repeat(repeat);
                    if repeat.min == 0 { 0 } else { times(values[repeat.body.index()]?, repeat.min) }
                }
            };
            Some(join(sum, own))
        })
    };
    grammar.alternatives(body).filter_map(value).min()
}

#[test]
fn minimum_depth_is_the_least_fixed_point() {
    each(|grammar| {
        let facts = Facts::of(grammar);
        let call = |rule: RuleId, depth: u64| depth + u64::from(grammar.rule(rule).costs_depth());
        let eval = |body, values: &[_]| least(grammar, body, values, |_| 0, call, u64::max, |v, _| v);
        let (slow, _) = settle(grammar, None, 1_000, eval);
        for rule in grammar.rules() {
            let body = grammar.rule(rule).body;
            assert_eq!(facts.min_depth(grammar, rule).map(u64::from), slow[body.index()]);
            assert_eq!(facts.productive(grammar, rule), slow[body.index()].is_some());
        }
    });
}

#[test]
fn minimum_length_is_the_least_fixed_point() {
    each(|grammar| {
        let facts = Facts::of(grammar);
        let times = |v: u64, n: u32| v.saturating_mul(u64::from(n));
        let eval =
            |body, values: &[_]| least(grammar, body, values, |n| n, |_, v| v, u64::saturating_add, times);
        let (slow, _) = settle(grammar, None, 1_000, eval);
        for rule in grammar.rules() {
            let body = grammar.rule(rule).body;
            assert_eq!(facts.min_length(body), slow[body.index()]);
            assert_eq!(facts.nullable(grammar, rule), slow[body.index()] == Some(0));
        }
    });
}

/// A length that stands for growth without end.
const ENDLESS: u64 = 1 << 40;

#[test]
fn maximum_length_is_where_growth_ends() {
    let mut finite = 0;
    each(|grammar| {
        let facts = Facts::of(grammar);
        let productive = |alt| facts.alternative_productive(alt);
        let eval = |body: BodyId, values: &[u64]| {
            let length = |alt: AltId| {
                grammar.symbols(alt).iter().fold(0u64, |sum, symbol| {
                    sum.saturating_add(match *symbol {
                        Symbol::Bytes(bytes) => u64::from(bytes.len),
                        Symbol::Class(class) => u64::from(grammar.class(class).max_len()),
                        Symbol::Rule(rule) => values[grammar.rule(rule).body.index()],
                        Symbol::Group(inner) => values[inner.index()],
                        Symbol::Repeat(repeat) => {
                            let repeat = grammar.repeat(repeat);
                            let times = repeat.max.map_or(ENDLESS, u64::from);
                            values[repeat.body.index()].saturating_mul(times)
                        }
                    })
                })
            };
            grammar
                .alternatives(body)
                .filter(|&a| productive(a))
                .map(length)
                .max()
                .unwrap_or(0)
                .min(ENDLESS * 4)
        };
        let (slow, settled) = settle(grammar, 0, 4 * grammar.body_count() + 50, eval);
        for rule in grammar.rules() {
            let value = slow[grammar.rule(rule).body.index()];
            match facts.max_length(grammar, rule) {
                Some(length) if value < ENDLESS && length < ENDLESS => {
                    finite += usize::from(length > 3);
                    // What did not settle grows in a rule that depends on no end.
                    assert!(length == value || !settled, "{length} {value}");
                    assert!(length >= value);
                }
                Some(length) => assert!(length >= ENDLESS.min(value)),
                None => assert!(!settled || value >= ENDLESS, "{value} is an end"),
            }
        }
    });
    assert!(finite > 20, "only {finite} rules were finite and not tiny");
}

#[test]
fn finite_languages_have_the_longest_text_they_say() {
    let mut seen = 0;
    each(|grammar| {
        let facts = Facts::of(grammar);
        let Some(length) = facts.max_length(grammar, grammar.start()).filter(|&l| l <= 5) else { return };
        let Some(strings) = enumerate::enumerate(grammar, 7, 2_000) else { return };
        assert_eq!(strings.iter().map(Vec::len).max().unwrap_or(0) as u64, length);
        seen += usize::from(length > 1);
    });
    assert!(seen > 10, "only {seen}");
}

/// A call as the test sees it: caller, called, text before, text behind,
/// nothing before.
type Seen = (RuleId, RuleId, bool, bool, bool);

/// What slow fixed points say of each body.
struct Slow {
    productive: Vec<bool>,
    nullable: Vec<bool>,
    text: Vec<bool>,
}

impl Slow {
    fn of(grammar: &Grammar) -> Slow {
        let some = |body, known: &[bool], holds: &dyn Fn(&Slow, Symbol) -> bool, all: bool, base: &Slow| {
            let now = Slow {
                productive: if base.productive.is_empty() { known.to_vec() } else { base.productive.clone() },
                nullable: known.to_vec(),
                text: known.to_vec(),
            };
            grammar.alternatives(body).any(|alt| {
                let symbols = grammar.symbols(alt);
                let derives = symbols.iter().all(|s| now.derives(grammar, *s));
                let mut held = symbols.iter().map(|s| holds(&now, *s));
                derives && if all { held.all(|h| h) } else { held.any(|h| h) }
            })
        };
        let rounds = grammar.body_count() + 2;
        let none = Slow { productive: vec![], nullable: vec![], text: vec![] };
        let (productive, _) =
            settle(grammar, false, rounds, |b, known| some(b, known, &|_, _| true, true, &none));
        let base = Slow { productive: productive.clone(), ..none };
        let empty = |now: &Slow, s: Symbol| now.can_be_empty(grammar, s);
        let (nullable, _) = settle(grammar, false, rounds, |b, known| some(b, known, &empty, true, &base));
        let has_text = |now: &Slow, s: Symbol| now.has_text(grammar, s);
        let (text, _) = settle(grammar, false, rounds, |b, known| some(b, known, &has_text, false, &base));
        Slow { productive, nullable, text }
    }

    fn derives(&self, grammar: &Grammar, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Bytes(_) => true,
            Symbol::Class(class) => grammar.class(class).count() > 0,
            Symbol::Rule(rule) => self.productive[grammar.rule(rule).body.index()],
            Symbol::Group(body) => self.productive[body.index()],
            Symbol::Repeat(r) => {
                grammar.repeat(r).min == 0 || self.productive[grammar.repeat(r).body.index()]
            }
        }
    }

    fn has_text(&self, grammar: &Grammar, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Bytes(_) => true,
            Symbol::Class(class) => grammar.class(class).count() > 0,
            Symbol::Rule(rule) => self.text[grammar.rule(rule).body.index()],
            Symbol::Group(body) => self.text[body.index()],
            Symbol::Repeat(r) => {
                grammar.repeat(r).max != Some(0) && self.text[grammar.repeat(r).body.index()]
            }
        }
    }

    fn can_be_empty(&self, grammar: &Grammar, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Bytes(_) | Symbol::Class(_) => false,
            Symbol::Rule(rule) => self.nullable[grammar.rule(rule).body.index()],
            Symbol::Group(body) => self.nullable[body.index()],
            Symbol::Repeat(r) => grammar.repeat(r).min == 0 || self.nullable[grammar.repeat(r).body.index()],
        }
    }

    /// The calls within a body that a whole derivation can hold.
    fn calls(&self, grammar: &Grammar, from: RuleId, body: BodyId, around: (bool, bool, bool)) -> Vec<Seen> {
        let mut found = Vec::new();
        for alt in grammar.alternatives(body) {
            let symbols = grammar.symbols(alt);
            if !symbols.iter().all(|s| self.derives(grammar, *s)) {
                continue;
            }
            for (i, symbol) in symbols.iter().enumerate() {
                let before = around.0 || symbols[..i].iter().any(|s| self.has_text(grammar, *s));
                let after = around.1 || symbols[i + 1..].iter().any(|s| self.has_text(grammar, *s));
                let leftmost = around.2 && symbols[..i].iter().all(|s| self.can_be_empty(grammar, *s));
                match *symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => {}
                    Symbol::Rule(to) => found.push((from, to, before, after, leftmost)),
                    Symbol::Group(inner) => {
                        found.extend(self.calls(grammar, from, inner, (before, after, leftmost)));
                    }
                    Symbol::Repeat(r) => {
                        let r = grammar.repeat(r);
                        if r.max != Some(0) && self.productive[r.body.index()] {
                            let again = r.max != Some(1) && self.text[r.body.index()];
                            let around = (before || again, after || again, leftmost);
                            found.extend(self.calls(grammar, from, r.body, around));
                        }
                    }
                }
            }
        }
        found
    }
}

/// All (caller, called, text before, text behind) that some derivation of
/// several steps shows.
fn derivations(calls: &[Seen]) -> BTreeSet<(RuleId, RuleId, bool, bool)> {
    let mut all: BTreeSet<_> = calls.iter().map(|&(a, b, before, after, _)| (a, b, before, after)).collect();
    loop {
        let mut next = all.clone();
        for &(a, b, before, after) in &all {
            for &(_, c, more_before, more_after) in
                all.range((b, RuleId(0), false, false)..).take_while(|e| e.0 == b)
            {
                next.insert((a, c, before | more_before, after | more_after));
            }
        }
        if next == all {
            return all;
        }
        all = next;
    }
}

#[test]
fn recursion_is_what_derivations_show() {
    let mut embedding = 0;
    each(|grammar| {
        let facts = Facts::of(grammar);
        let slow = Slow::of(grammar);
        let calls: Vec<Seen> = grammar
            .rules()
            .flat_map(|rule| slow.calls(grammar, rule, grammar.rule(rule).body, (false, false, true)))
            .collect();
        let all = derivations(&calls);
        let mut left: BTreeMap<RuleId, BTreeSet<RuleId>> =
            grammar.rules().map(|r| (r, BTreeSet::new())).collect();
        for &(from, to, _, _, leftmost) in &calls {
            if leftmost {
                left.entry(from).or_default().insert(to);
            }
        }
        for _ in grammar.rules() {
            let before = left.clone();
            for reached in left.values_mut() {
                for rule in reached.clone() {
                    reached.extend(&before[&rule]);
                }
            }
        }
        for rule in grammar.rules() {
            let found = facts.graph.recursion[rule.index()];
            let back = |b, a| all.contains(&(rule, rule, b, a));
            assert_eq!(found.self_embedding, back(true, true));
            assert_eq!(found.left, left[&rule].contains(&rule));
            if facts.productive(grammar, rule) {
                let any = [(false, false), (false, true), (true, false), (true, true)];
                let productive = any.into_iter().any(|(b, a)| back(b, a));
                assert!(!productive || found.any());
            }
            embedding += usize::from(found.self_embedding);
        }
    });
    assert!(embedding > 20, "only {embedding}");
}

/// Whether the allowed alternatives form a grammar without recursion in
/// which every rule that derives anything still does.
fn closes(grammar: &Grammar, facts: &Facts, closing: &Closing) {
    let eval = |body: BodyId, values: &[Option<u64>]| {
        let height = |alt: AltId| {
            grammar.symbols(alt).iter().try_fold(0, |height, symbol| {
                let own = match *symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => 0,
                    Symbol::Rule(rule) => values[grammar.rule(rule).body.index()]? + 1,
                    Symbol::Group(inner) => values[inner.index()]?,
                    Symbol::Repeat(repeat) => {
                        let repeat = grammar.repeat(repeat);
                        if repeat.min == 0 { 0 } else { values[repeat.body.index()]? }
                    }
                };
                Some(height.max(own))
            })
        };
        // The tallest, so that a circle anywhere never comes to rest.
        let heights: Option<Vec<u64>> =
            grammar.alternatives(body).filter(|&a| closing.allows(a)).map(height).collect();
        heights.and_then(|h| h.into_iter().max())
    };
    let (heights, settled) = settle(grammar, None, 1_000, eval);
    assert!(settled);
    for rule in grammar.rules().filter(|&r| facts.productive(grammar, r)) {
        let body = grammar.rule(rule).body;
        assert!(heights[body.index()].is_some(), "`{}` does not end", grammar.name(rule));
        assert!(closing.completions(body) > 0);
    }
}

#[test]
fn both_closings_end_and_leave_no_rule_empty() {
    each(|grammar| {
        let facts = Facts::of(grammar);
        for mode in [ClosingMode::Min, ClosingMode::Cheap] {
            closes(grammar, &facts, &Closing::of(grammar, &facts, mode));
        }
    });
}

#[track_caller]
fn check_cheap(text: &str, expected: Expect) {
    let grammar = wug(text);
    let facts = Facts::of(&grammar);
    let closing = Closing::of(&grammar, &facts, ClosingMode::Cheap);
    closes(&grammar, &facts, &closing);
    let mut out = String::new();
    for rule in grammar.rules() {
        let kept: Vec<String> = grammar
            .alternatives(grammar.rule(rule).body)
            .enumerate()
            .filter(|(_, alt)| closing.allows(*alt))
            .map(|(i, _)| (i + 1).to_string())
            .collect();
        out.push_str(&format!("{}: {}\n", grammar.name(rule), kept.join(" ")));
    }
    expected.assert_eq(&out);
}

#[test]
fn the_perfidious_grammar_is_cut_as_the_paper_says() {
    // "Developing Grammar Fuzzers", Listing 25 and Figure 10: only the two
    // points of re-entry go.
    check_cheap(
        "start = foo | 'a' ; foo = bar | 'b' ; bar = baz | start ; baz = '(' foo ')' | 'c' ;",
        expect![[r#"
            start: 1 2
            foo: 1 2
            bar: 1
            baz: 2
        "#]],
    );
}

#[test]
fn a_ring_is_not_closed_again_by_mending_it() {
    // Mended only at the empty rule A, `B = A A 'x'` and `A = B` would make
    // a new ring.
    check_cheap(
        "B = A A 'x' | 'y' ; A = B ;",
        expect![[r#"
            B: 2
            A: 1
        "#]],
    );
}

#[track_caller]
fn check_facts(text: &str, expected: Expect) {
    let grammar = wug(text);
    let facts = Facts::of(&grammar);
    let mut out = String::new();
    for rule in grammar.rules() {
        let recursion = facts.graph.recursion[rule.index()];
        let mut words = Vec::new();
        let mut word = |is: bool, text: &'static str| words.extend(is.then_some(text));
        word(recursion.direct, "direct");
        word(recursion.indirect, "indirect");
        word(recursion.left, "left");
        word(recursion.self_embedding, "self-embedding");
        word(facts.nullable(&grammar, rule), "nullable");
        word(!facts.reachable[rule.index()], "unreachable");
        let number = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
        let (depth, body) = (facts.min_depth(&grammar, rule).map(u64::from), grammar.rule(rule).body);
        let lengths = (number(facts.min_length(body)), number(facts.max_length(&grammar, rule)));
        out.push_str(&format!(
            "{}: depth {}, length {}..{} {}\n",
            grammar.name(rule),
            number(depth),
            lengths.0,
            lengths.1,
            words.join(" ")
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn facts_of_expressions() {
    check_facts(
        "expr = expr '+' term | term ; term = '(' expr ')' | num ; num = [0-9]{1,3} ; word = 'é'? ;",
        expect![[r#"
            expr: depth 2, length 1..- direct indirect left self-embedding
            term: depth 1, length 1..- indirect self-embedding
            num: depth 0, length 1..3 
            word: depth 0, length 0..2 nullable unreachable
        "#]],
    );
}

#[test]
fn linear_recursion_is_not_self_embedding() {
    check_facts(
        "right = 'a' right | ; left = left 'a' | ; both = 'a' both | both 'b' | ; unit = unit | 'x' ; dead = dead 'x' ;",
        expect![[r#"
            right: depth 0, length 0..- direct nullable
            left: depth 0, length 0..- direct left nullable unreachable
            both: depth 0, length 0..- direct left self-embedding nullable unreachable
            unit: depth 0, length 1..1 direct left unreachable
            dead: depth -, length -..0 direct unreachable
        "#]],
    );
}
