//! `desugar` by example, and the counts of bounded repetitions.

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
    for text in ["s = 'a'{0,1000000} ;", "s = ('a' | 'b'){4294967295} ;", "s = ('a' 'b'){7,4294967295} ;"] {
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
