//! Each pass by example, and all of them on made-up grammars: the language
//! stays, as the bounded enumerator sees it, and what the pass promises
//! holds.

use arbitrary::Unstructured;
use expect_test::{Expect, expect};
use wug_grammar::load::load_text;
use wug_grammar::transform::{desugar, embed, inline, prune, unroll};
use wug_grammar::{Grammar, Notation, RuleId, Symbol, print, testing};

fn grammar(text: &str) -> Grammar {
    load_text("a.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

#[track_caller]
fn check(before: &str, pass: impl Fn(&Grammar) -> Grammar, after: Expect) {
    let before = grammar(before);
    let result = pass(&before);
    assert_eq!(testing::malformed(&result), None);
    assert_ne!(testing::same_language(&before, &result, 3), Some(false));
    after.assert_eq(&print::wug::print(&result));
}

fn pruned(grammar: &Grammar) -> Grammar {
    prune(grammar).unwrap_or_else(|e| panic!("{}", e.message))
}

const JSON: &str = r#"
    start = value ;
    value = object | array | string | number | "true" | "false" | "null" ;
    object = "{}" | "{" members "}" ;
    members = member | member "," members ;
    member = string ":" value ;
    array = "[]" | "[" elements "]" ;
    elements = value | value "," elements ;
    string = '"' [a-z]* '"' ;
    number = [0-9]+ ;
"#;

mod prune_examples {
    use super::*;

    #[test]
    fn what_never_finishes_goes_and_then_what_nothing_calls() {
        check(
            "s = 'a' t | 'b' u | v? 'c' ; t = t 'x' | w ; u = 'y' ; v = v ; w = t ; x = 'z' ;",
            pruned,
            expect![[r#"
                s = "b" u | "c" ;
                u = "y" ;
            "#]],
        );
    }

    #[test]
    fn groups_lose_their_dead_alternatives() {
        check(
            "s = ('a' | s | 'b') ('c' | n) (n 'x' | 'd' | 'e')* (n | 'f'){2} 'g'{0} ; n = n ;",
            pruned,
            expect![[r#"
                s = ("a" | s | "b") "c" ("d" | "e")* "f"{2} ;
            "#]],
        );
    }

    #[test]
    fn remarks_keep_a_group_together() {
        check(
            "s = ('c' | n) @{k: 'v'} ; n = n ;",
            pruned,
            expect![[r#"
            s = ("c") @{k: "v"} ;
        "#]],
        );
    }

    #[test]
    fn tokens_stay_with_what_they_use() {
        check(
            "s = A | C ; token A = D ; skip W = ' ' E ; token B = 'b' ; token C = C ; fragment D = 'd' ; \
             fragment E = 'e' ; fragment F = 'f' ;",
            pruned,
            expect![[r#"
                s = A ;
                token A = D ;
                skip W = " " E ;
                token B = "b" ;
                token C = [^\x00-\u{10FFFF}] ;
                fragment D = "d" ;
                fragment E = "e" ;
            "#]],
        );
    }

    #[test]
    fn a_start_that_never_finishes_is_an_error_with_a_place() {
        let loaded = load_text("a.wug", "s = 'a' t ;\nt = s | t ;", Notation::Wug).unwrap();
        let error = prune(&loaded.grammar).unwrap_err();
        expect![[r#"
            error: rule `s` can never finish
             --> a.wug:1:1
              |
            1 | s = 'a' t ;
              | ^ no alternative of it derives a text
              |
              = help: add an alternative that does not come back to this rule"#]]
        .assert_eq(&error.render(&loaded.sources, false));
    }
}

mod desugar_examples {
    use super::*;

    #[test]
    fn star_becomes_right_recursion() {
        check(
            "s = 'a'* ;",
            desugar,
            expect![[r#"
            s = s_1 ;
            @made s_1 = | "a" s_1 ;
        "#]],
        );
    }

    #[test]
    fn plus_is_one_and_a_star() {
        check(
            "s = 'a'+ ('b' 'c')+ ;",
            desugar,
            expect![[r#"
            s = "a" s_1 s_2 s_3 ;
            @made s_1 = | "a" s_1 ;
            @made s_2 = "b" "c" ;
            @made s_3 = | s_2 s_3 ;
        "#]],
        );
    }

    #[test]
    fn groups_become_rules_and_keep_weights_and_remarks() {
        check(
            "@depth(3) s = ('a' | @3 'b' @{x: 'y'})* ('c' | 'd' | ) @{k: 'v'} | @2 'e'{2} @{l: 'w'} ;",
            desugar,
            expect![[r#"
                @depth(3) s = s_1 s_3 @{k: "v"} | @2 s_4 @{l: "w"} ;
                @made s_1 = | s_2 s_1 ;
                @made s_2 = "a" | @3 "b" @{x: "y"} ;
                @made s_3 = "c" | "d" | ;
                @made s_4 = "e" "e" ;
            "#]],
        );
    }

    #[test]
    fn groups_within_groups_are_unfolded_in_order() {
        check(
            "s = ('a' ('b' | 'c')* 'd')? ;",
            desugar,
            expect![[r#"
            s = s_1 ;
            @made s_1 = | "a" s_2 "d" ;
            @made s_2 = | s_3 s_2 ;
            @made s_3 = "b" | "c" ;
        "#]],
        );
    }

    #[test]
    fn small_bounds_are_written_out_with_each_count_as_likely() {
        check(
            "s = 'a'{1,4} ;",
            desugar,
            expect![[r#"
            s = "a" s_1 ;
            @made s_1 = | @3 "a" s_2 ;
            @made s_2 = | @2 "a" s_3 ;
            @made s_3 = | "a" ;
        "#]],
        );
    }

    #[test]
    fn large_bounds_are_counted_in_binary() {
        check(
            "s = 'a'{9,20} ;",
            desugar,
            expect![[r#"
            s = s_3 "a" s_4 ;
            @made s_1 = "a" "a" ;
            @made s_2 = s_1 s_1 ;
            @made s_3 = s_2 s_2 ;
            @made s_4 = @2 s_7 | s_3 s_6 ;
            @made s_5 = | "a" ;
            @made s_6 = s_5 | s_1 s_5 ;
            @made s_7 = s_6 | s_2 s_6 ;
        "#]],
        );
    }

    #[test]
    fn huge_bounds_stay_small() {
        for text in ["s = 'a'{0,1000000} ;", "s = ('a' | 'b'){4294967295} ;", "s = ('a' 'b'){7,4294967295} ;"]
        {
            let result = desugar(&grammar(text));
            assert!(result.rules().len() < 120, "{} rules for {text}", result.rules().len());
            assert_eq!(testing::malformed(&result), None);
        }
    }

    #[test]
    fn names_that_are_taken_are_passed_over() {
        check(
            "s = 'a'* s_1* ; s_1 = 'x' ; s_3 = 'y' ;",
            desugar,
            expect![[r#"
            s = s_2 s_4 ;
            s_1 = "x" ;
            s_3 = "y" ;
            @made s_2 = | "a" s_2 ;
            @made s_4 = | s_1 s_4 ;
        "#]],
        );
    }

    #[test]
    fn parts_of_tokens_are_fragments() {
        check(
            "s = A* ; token A = [0-9]+ ; fragment B = ('x' | 'y') ;",
            desugar,
            expect![[r#"
            s = s_1 ;
            token A = [0-9] A_1 ;
            fragment B = B_1 ;
            @made s_1 = | A s_1 ;
            @made fragment A_1 = | [0-9] A_1 ;
            @made fragment B_1 = "x" | "y" ;
        "#]],
        );
    }

    #[test]
    fn the_count_of_a_bounded_repetition_is_even() {
        for (low, high) in [(0, 1), (0, 5), (3, 8), (0, 9), (2, 40), (0, 63), (0, 64), (0, 100)] {
            let result = desugar(&grammar(&format!("s = 'a'{{{low},{high}}} ;")));
            let counts = distribution(&result);
            assert_eq!(counts.len(), high + 1);
            for (count, share) in counts.iter().enumerate() {
                let wanted = if count < low { 0.0 } else { 1.0 / (high - low + 1) as f64 };
                assert!((share - wanted).abs() < 1e-9, "{low},{high}: {count} has {share}");
            }
        }
    }

    /// How likely each length is, for a grammar without recursion.
    fn distribution(grammar: &Grammar) -> Vec<f64> {
        let mut known: Vec<Option<Vec<f64>>> = vec![None; grammar.rules().len()];
        while known[0].is_none() {
            for id in grammar.rules() {
                known[id.index()] = rule_distribution(grammar, id, &known);
            }
        }
        known[0].clone().unwrap()
    }

    fn rule_distribution(grammar: &Grammar, id: RuleId, known: &[Option<Vec<f64>>]) -> Option<Vec<f64>> {
        let body = grammar.rule(id).body;
        let total: f64 = grammar.alternatives(body).map(|a| f64::from(grammar.alternative(a).weight)).sum();
        let mut sum: Vec<f64> = Vec::new();
        for alt in grammar.alternatives(body) {
            let mut shares = vec![f64::from(grammar.alternative(alt).weight) / total];
            for symbol in grammar.symbols(alt) {
                let next = match symbol {
                    Symbol::Rule(rule) => known[rule.index()].clone()?,
                    _ => vec![0.0, 1.0],
                };
                let mut product = vec![0.0; shares.len() + next.len() - 1];
                for (i, a) in shares.iter().enumerate() {
                    for (j, b) in next.iter().enumerate() {
                        product[i + j] += a * b;
                    }
                }
                shares = product;
            }
            sum.resize(sum.len().max(shares.len()), 0.0);
            for (i, share) in shares.into_iter().enumerate() {
                sum[i] += share;
            }
        }
        Some(sum)
    }
}

mod inline_examples {
    use super::*;

    #[test]
    fn single_alternatives_go_where_they_are_called() {
        check(
            "s = t u* ('x' t | 'y') ; t = 'a' v 'b' ; u = 'c' | 'd' ; v = ('e' | 'f') ;",
            inline,
            expect![[r#"
                s = "a" ("e" | "f") "b" u* ("x" "a" ("e" | "f") "b" | "y") ;
                u = "c" | "d" ;
            "#]],
        );
    }

    #[test]
    fn recursive_rules_tokens_limits_and_remarks_stay() {
        check(
            "s = r A l n m m @{k: 'v'} | s 'y' ; r = 'a' q ; q = | r ; @depth(2) l = 'l' ; @{k: 'v'} n = 'n' ; \
             m = 'm' ; token A = B ; fragment B = 'b' ;",
            inline,
            expect![[r#"
                s = r A l n m m @{k: "v"} | s "y" ;
                r = "a" q ;
                q = | r ;
                @depth(2) l = "l" ;
                @{k: "v"} n = "n" ;
                m = "m" ;
                token A = B ;
                fragment B = "b" ;
            "#]],
        );
    }

    #[test]
    fn growth_is_bounded() {
        let mut text = "s = r0 r0 ;".to_string();
        for i in 0..60 {
            text.push_str(&format!("r{i} = r{} r{} ;", i + 1, i + 1));
        }
        for last in ["r60 = ;", "r60 = 'a' ;", "r60 = 'a' | ;"] {
            let before = grammar(&format!("{text} {last}"));
            let after = inline(&before);
            assert!(symbols(&after) <= 4 * symbols(&before) + 1_000);
            assert!(after.rules().len() < before.rules().len());
        }
    }

    #[test]
    fn long_chains_take_no_stack() {
        let mut text = "s = r0 ;".to_string();
        for i in 0..50_000 {
            text.push_str(&format!("r{i} = 'a' r{} ;\n", i + 1));
        }
        text.push_str("r50000 = 'b' ;");
        let after = inline(&grammar(&text));
        assert_eq!(after.rules().len(), 1);
        assert_eq!(symbols(&after), 50_001);
    }

    #[test]
    fn groups_do_not_nest_beyond_the_bound() {
        let mut text = "s = r0 ;".to_string();
        for i in 0..1_000 {
            text.push_str(&format!("r{i} = ('a' r{} | 'b') ;\n", i + 1));
        }
        text.push_str("r1000 = 'b' ;");
        let after = inline(&grammar(&text));
        let printed = print::wug::print(&after);
        assert!(load_text("b.wug", &printed, Notation::Wug).is_ok());
        assert_eq!(after.rules().len(), 6);
    }
}

mod unroll_examples {
    use super::*;

    fn by(levels: u32) -> impl Fn(&Grammar) -> Grammar {
        move |grammar| unroll(grammar, levels).unwrap_or_else(|e| panic!("{}", e.message))
    }

    #[test]
    fn figure_11_replaces_each_call_by_each_alternative() {
        check(
            JSON,
            by(1),
            expect![[r#"
            start = object | array | string | number | "true" | "false" | "null" ;
            value = "{}" | "{" members "}" | "[]" | "[" elements "]" | "\"" string_1 "\"" | [0-9] number_1 | "true" | "false" | "null" ;
            object = "{}" | "{" member "}" | "{" member "," members "}" ;
            members = string ":" value | string ":" value "," member | string ":" value "," member "," members ;
            member = "\"" string_1 "\"" ":" object | "\"" string_1 "\"" ":" array | "\"" string_1 "\"" ":" string | "\"" string_1 "\"" ":" number | "\"" string_1 "\"" ":" "true" | "\"" string_1 "\"" ":" "false" | "\"" string_1 "\"" ":" "null" ;
            array = "[]" | "[" value "]" | "[" value "," elements "]" ;
            elements = object | array | string | number | "true" | "false" | "null" | object "," value | object "," value "," elements | array "," value | array "," value "," elements | string "," value | string "," value "," elements | number "," value | number "," value "," elements | "true" "," value | "true" "," value "," elements | "false" "," value | "false" "," value "," elements | "null" "," value | "null" "," value "," elements ;
            string = "\"" "\"" | "\"" [a-z] string_1 "\"" ;
            number = [0-9] | [0-9] [0-9] number_1 ;
            @made string_1 = | [a-z] | [a-z] [a-z] string_1 ;
            @made number_1 = | [0-9] | [0-9] [0-9] number_1 ;
        "#]],
        );
    }

    #[test]
    fn calls_are_combined_and_weights_multiply() {
        check(
            "s = @2 t u | 'x' ; t = 'a' | @3 'b' ; u = 'c' s | @5 ;",
            by(1),
            expect![[r#"
            s = @2 "a" "c" s | @10 "a" | @6 "b" "c" s | @30 "b" | "x" ;
        "#]],
        );
    }

    #[test]
    fn weights_that_grow_too_large_are_reduced() {
        check(
            "s = t t | @1000 t ; t = @1000000 'a' | @500000 'b' ;",
            by(1),
            expect![[r#"
            s = @2000 "a" "a" | @1000 "a" "b" | @1000 "b" "a" | @500 "b" "b" | @2 "a" | "b" ;
        "#]],
        );
    }

    #[test]
    fn tokens_limits_and_remarks_are_leaves() {
        check(
            "s = A t | u | v @{k: 'v'} ; t = 't' ; @depth(1) u = 'u' ; v = 'v' ; token A = ('a' | 'b')+ ;",
            by(3),
            expect![[r#"
                s = A "t" | u | v @{k: "v"} ;
                @depth(1) u = "u" ;
                v = "v" ;
                token A = ("a" | "b")+ ;
            "#]],
        );
    }

    #[test]
    fn too_large_a_result_is_an_error_that_names_the_rule() {
        let text = "s = t t t t t t t\n  t t t t t t t ;\nt = 'a' | 'b' | 'c' ;";
        let loaded = load_text("a.wug", text, Notation::Wug).unwrap();
        let error = unroll(&loaded.grammar, 1).unwrap_err();
        expect![[r#"
            error: rule `s` is too large to unroll
             --> a.wug:1:1
              |
            1 | s = t t t t t t t
              | ^ more than 1000000 alternatives at level 1
              |
              = help: unroll fewer levels"#]]
        .assert_eq(&error.render(&loaded.sources, false));
        for text in ["s = 'a' s | ;", "s = s | 'a' ;"] {
            assert!(unroll(&grammar(text), u32::MAX).is_err());
        }
        for text in ["s = s ;", "s = 'a' ;", "s = ;"] {
            assert!(unroll(&grammar(text), u32::MAX).is_ok());
        }
    }
}

mod embed_examples {
    use super::*;

    #[test]
    fn figure_12_halves_the_share_of_simple_values_at_each_level() {
        check(
            JSON,
            |g| embed(g, 3),
            expect![[r#"
            start = value ;
            value = value_complex | value_2 ;
            object = object_complex | object_2 ;
            members = member | member "," members ;
            member = string ":" value ;
            array = array_complex | array_2 ;
            elements = value | value "," elements ;
            string = "\"" [a-z]* "\"" ;
            number = [0-9]+ ;
            @made value_2 = value_complex | value_3 ;
            @made value_3 = value_complex | value_simple ;
            @made value_complex = object | array | string | number ;
            @made value_simple = "true" | "false" | "null" ;
            @made object_2 = object_complex | object_3 ;
            @made object_3 = object_complex | object_simple ;
            @made object_complex = "{" members "}" ;
            @made object_simple = "{}" ;
            @made array_2 = array_complex | array_3 ;
            @made array_3 = array_complex | array_simple ;
            @made array_complex = "[" elements "]" ;
            @made array_simple = "[]" ;
        "#]],
        );
    }

    #[test]
    fn one_level_parts_them_and_none_changes_nothing() {
        let text = "s = 'a' | @3 'b' | @2 s s | t ; t = 'x'{2,3} ;";
        check(
            text,
            |g| embed(g, 1),
            expect![[r#"
            s = s_complex | s_simple ;
            t = "x"{2,3} ;
            @made s_complex = @2 s s ;
            @made s_simple = "a" | @3 "b" | t ;
        "#]],
        );
        assert!(embed(&grammar(text), 0).same_as(&grammar(text)));
    }

    #[test]
    fn made_rules_and_tokens_are_left_alone() {
        check(
            "s = 'a'* A ; token A = 'a' | 'b'+ ;",
            |g| embed(&desugar(g), 2),
            expect![[r#"
            s = s_1 A ;
            token A = "a" | "b" A_1 ;
            @made s_1 = | "a" s_1 ;
            @made fragment A_1 = | "b" A_1 ;
        "#]],
        );
    }

    #[test]
    fn levels_are_bounded() {
        let result = embed(&grammar("s = 'a' | s 'b' ;"), u32::MAX);
        assert_eq!(result.rules().len(), 34);
    }
}

/// All symbols, nested ones included.
fn symbols(grammar: &Grammar) -> usize {
    let mut count = 0;
    for id in grammar.rules() {
        grammar.bodies_within(grammar.rule(id).body, &mut |body| {
            count += grammar.alternatives(body).map(|alt| grammar.symbols(alt).len()).sum::<usize>();
        });
    }
    count
}

mod made_up {
    use super::*;

    const BUDGET_MS: u64 = 700;
    const LONGEST: usize = 4;

    fn any(u: &mut Unstructured<'_>) -> arbitrary::Result<Grammar> {
        if u.ratio(1, 4)? { testing::lexical_grammar(u) } else { testing::grammar(u) }
    }

    /// Runs a pass on made-up grammars: the language must stay, the form
    /// be right and the promise hold.
    fn property(pass: impl Fn(&Grammar) -> Option<Grammar>, promise: impl Fn(&Grammar, &Grammar)) {
        arbtest::arbtest(|u| {
            let before = any(u)?;
            let Some(after) = pass(&before) else { return Ok(()) };
            judge(&before, &after);
            promise(&before, &after);
            Ok(())
        })
        .budget_ms(BUDGET_MS);
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
                        assert!(prune(&alone).is_ok(), "`{}` is not productive", rule.name);
                    }
                    // A second time, there is nothing to do.
                    assert!(pruned(after).same_as(after));
                }
            },
        );
    }

    #[test]
    fn prune_refuses_exactly_what_derives_nothing() {
        arbtest::arbtest(|u| {
            let grammar = any(u)?;
            assert_eq!(prune(&grammar).is_ok(), finishes(&grammar), "{}", print::wug::print(&grammar));
            if !finishes(&grammar) {
                assert_eq!(testing::strings(&grammar, LONGEST), Some(Default::default()));
            }
            Ok(())
        })
        .budget_ms(BUDGET_MS);
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
        arbtest::arbtest(|u| {
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
        .budget_ms(2 * BUDGET_MS);
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
}
