//! All passes on made-up grammars: the language stays, as the bounded
//! enumerator sees it, and what the pass promises holds.

use super::*;

const LONGEST: usize = 4;

fn any(u: &mut Unstructured<'_>) -> arbitrary::Result<Grammar> {
    if u.ratio(1, 4)? { testing::lexical_grammar(u) } else { testing::grammar(u) }
}

/// Runs a pass on made-up grammars: the language must stay, the form
/// be right and the promise hold.
fn property(pass: impl Fn(&Grammar) -> Option<Grammar>, promise: impl Fn(&Grammar, &Grammar)) {
    wug_property::check(|u| {
        let before = any(u)?;
        let Some(after) = pass(&before) else { return Ok(()) };
        judge(&before, &after);
        promise(&before, &after);
        Ok(())
    })
    .for_cases(50);
}

fn judge(before: &Grammar, after: &Grammar) {
    let show = || format!("{}\n{}", print::wug::print(before), print::wug::print(after));
    assert_eq!(testing::malformed(after), None, "{}", show());
    assert_ne!(testing::same_language(before, after, LONGEST), Some(false), "{}", show());
}

#[test]
fn prune_leaves_only_what_is_of_use() {
    property(
        |g| prune(g).ok(),
        |_, after| {
            let called = called(after);
            for id in after.rules() {
                let rule = after.rule(id);
                assert!(called.contains(&id), "`{}` is not reached", rule.name);
                if !rule.is_lexical() {
                    let alone = after.clone().with_start(id);
                    assert!(finishes(&alone), "`{}` is not productive", rule.name);
                }
            }
            // A second time, there is nothing to do.
            assert!(pruned(after).same_as(after));
        },
    );
}

#[test]
fn prune_refuses_exactly_what_derives_nothing() {
    wug_property::check(|u| {
        let grammar = any(u)?;
        assert_eq!(prune(&grammar).is_ok(), finishes(&grammar), "{}", print::wug::print(&grammar));
        if !finishes(&grammar) {
            assert_eq!(testing::strings(&grammar, LONGEST), Some(Default::default()));
        }
        Ok(())
    })
    .for_cases(3_000);
}

#[test]
fn desugar_leaves_no_groups_and_no_repetitions() {
    property(
        |g| Some(desugar(g)),
        |before, after| {
            for id in after.rules() {
                let rule = after.rule(id);
                assert_eq!(rule.made, id.index() >= before.rules().len() || before.rule(id).made);
                for alt in after.alternatives(rule.body) {
                    for symbol in after.symbols(alt) {
                        assert!(!matches!(symbol, Symbol::Group(_) | Symbol::Repeat(_)));
                    }
                }
            }
        },
    );
}

#[test]
fn inline_leaves_no_calls_that_it_could_replace() {
    property(
        |g| Some(inline(g)),
        |_, after| {
            let called = called(after);
            for id in after.rules() {
                let rule = after.rule(id);
                assert!(called.contains(&id), "`{}` is not reached", rule.name);
                let exempt = id == after.start()
                    || rule.is_lexical()
                    || rule.depth_limit.is_some()
                    || !rule.notes.is_empty()
                    || reaches(after, id, id);
                if !exempt && after.alternatives(rule.body).len() == 1 {
                    assert!(called_with_remarks(after, id), "{}", print::wug::print(after));
                }
            }
        },
    );
}

#[test]
fn unroll_keeps_the_language_at_each_level() {
    for levels in 0..=2 {
        property(
            |g| unroll(g, levels).ok().filter(|after| symbols(after) < 2_000),
            |_, after| {
                let called = called(after);
                assert!(after.rules().all(|id| called.contains(&id)));
            },
        );
    }
}

#[test]
fn embed_puts_simple_alternatives_at_the_bottom() {
    property(
        |g| Some(embed(g, 2)),
        |before, after| {
            let old = before.rules().len();
            assert_eq!((after.rules().len() - old) % 3, 0);
            assert!(after.rules().skip(old).all(|id| after.rule(id).made));
        },
    );
}

#[test]
fn passes_can_be_chained_in_any_order() {
    wug_property::check(|u| {
        let before = any(u)?;
        let mut after = before.clone();
        for _ in 0..u.int_in_range(2..=5)? {
            let next = match u.choose_index(5)? {
                0 => prune(&after).ok(),
                1 => Some(desugar(&after)),
                2 => Some(inline(&after)),
                3 => unroll(&after, 1).ok(),
                _ => Some(embed(&after, 2)),
            };
            match next {
                Some(next) if symbols(&next) < 2_000 => after = next,
                _ => {}
            }
        }
        judge(&before, &after);
        Ok(())
    })
    .for_cases(800);
}

#[test]
fn made_up_grammars_are_worth_testing() {
    const COUNT: u32 = 2_000;
    let (mut productive, mut recursive, mut rich, mut dead, mut uncalled) = (0, 0, 0, 0, 0);
    let mut bytes = Noise(1);
    for _ in 0..COUNT {
        let bytes = bytes.block();
        let grammar = testing::grammar(&mut Unstructured::new(&bytes)).unwrap();
        assert_eq!(testing::malformed(&grammar), None);
        let useful = testing::productive_grammar(&mut Unstructured::new(&bytes)).unwrap();
        assert!(prune(&useful).unwrap().same_as(&useful));
        uncalled += u32::from(called(&grammar).len() < grammar.rules().len());
        let Ok(after) = prune(&grammar) else { continue };
        productive += 1;
        dead += u32::from(after.alternative_count() < grammar.alternative_count());
        recursive += u32::from(after.rules().any(|id| reaches(&after, id, id)));
        rich += u32::from(testing::strings(&grammar, LONGEST).is_none_or(|s| s.len() >= 10));
    }
    let percent = |n: u32| 100 * n / COUNT;
    let shares = [productive, recursive, rich, dead, uncalled].map(percent);
    let wanted = [80, 40, 15, 50, 50];
    assert!(shares.iter().zip(wanted).all(|(&share, wanted)| share >= wanted), "{shares:?}");
}

/// Whether the start derives a string, found the plain way.
fn finishes(grammar: &Grammar) -> bool {
    fn body(grammar: &Grammar, inner: wug_grammar::BodyId, known: &[bool]) -> bool {
        grammar.alternatives(inner).any(|alt| {
            grammar.symbols(alt).iter().all(|&symbol| match symbol {
                Symbol::Bytes(_) => true,
                Symbol::Class(class) => !grammar.class(class).is_empty(),
                Symbol::Rule(rule) => known[rule.index()],
                Symbol::Group(inner) => body(grammar, inner, known),
                Symbol::Repeat(repeat) => {
                    let repeat = grammar.repeat(repeat);
                    repeat.min == 0 || body(grammar, repeat.body, known)
                }
            })
        })
    }
    let mut known = vec![false; grammar.rules().len()];
    for _ in grammar.rules() {
        known = grammar.rules().map(|id| body(grammar, grammar.rule(id).body, &known)).collect();
    }
    known[grammar.start().index()]
}

/// The rules that the start and the tokens reach.
fn called(grammar: &Grammar) -> std::collections::BTreeSet<RuleId> {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![grammar.start()];
    open.extend(grammar.rules().filter(|&r| {
        let kind = grammar.rule(r).kind;
        matches!(kind, wug_grammar::ast::Kind::Token { .. })
    }));
    while let Some(rule) = open.pop() {
        if seen.insert(rule) {
            grammar.body_calls(grammar.rule(rule).body, &mut |callee| open.push(callee));
        }
    }
    seen
}

/// Whether calls from `from` come to `to`.
fn reaches(grammar: &Grammar, from: RuleId, to: RuleId) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![from];
    while let Some(rule) = open.pop() {
        grammar.body_calls(grammar.rule(rule).body, &mut |callee| {
            if seen.insert(callee) {
                open.push(callee);
            }
        });
    }
    seen.contains(&to)
}

/// Whether some call of a rule has a remark on it.
fn called_with_remarks(grammar: &Grammar, rule: RuleId) -> bool {
    let mut found = false;
    for id in grammar.rules() {
        grammar.bodies_within(grammar.rule(id).body, &mut |body| {
            for (id, symbol) in grammar.alternatives(body).flat_map(|alt| grammar.numbered(alt)) {
                found |= *symbol == Symbol::Rule(rule) && grammar.notes(id).next().is_some();
            }
        });
    }
    found
}

/// Xorshift: the shares above must not change from run to run.
struct Noise(u64);

impl Noise {
    fn block(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            bytes.extend(self.0.to_le_bytes());
        }
        bytes
    }
}
