//! Automata against the enumerator: the same strings, no more and no fewer.

use crate::inputs::{build, grammar, inputs};
use arbitrary::Unstructured;
use wug_automata::{Automaton, Built, Form, Limits, Unfit};
use wug_grammar::Grammar;
use wug_grammar::facts::Facts;
use wug_grammar::testing::{productive_grammar, strings};

fn self_embedding(grammar: &Grammar) -> bool {
    let facts = Facts::of(grammar);
    grammar.rules().any(|r| facts.reachable[r.index()] && facts.graph.recursion[r.index()].self_embedding)
}

/// Every state is reached, and leads to an end.
fn check_states(automaton: &Automaton) {
    let mut reached = vec![false; automaton.states().len()];
    let mut open = vec![automaton.start()];
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut reached[state as usize], true) {
            open.extend(automaton.row(state).iter().map(|t| t.target));
        }
    }
    let mut ends: Vec<bool> = automaton.states().iter().map(|s| s.accepting).collect();
    loop {
        let more: Vec<usize> = (0..ends.len())
            .filter(|&s| !ends[s] && automaton.row(s as u32).iter().any(|t| ends[t.target as usize]))
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|s| ends[s] = true);
    }
    for (state, ends) in ends.iter().enumerate() {
        assert!(ends, "state {state} leads nowhere");
        assert!(automaton.states()[state].least < u32::MAX);
    }
    assert!(reached.iter().all(|&r| r), "some state is never reached");
}

struct Tally {
    exact: u32,
    bounded: u32,
    embedding: u32,
}

fn check(u: &mut Unstructured<'_>, tally: &mut Tally) -> arbitrary::Result<()> {
    let grammar = productive_grammar(u)?;
    let Some(wanted) = strings(&grammar, 4) else { return Ok(()) };
    let Some(built) = build(&grammar, 12) else { return Ok(()) };
    check_states(&built.automaton);
    let Some(found) = inputs(&built.automaton, 4) else { return Ok(()) };
    let text = || wug_grammar::print::wug::print(&grammar);
    let strange: Vec<_> = found.difference(&wanted).collect();
    assert!(strange.is_empty(), "not derived: {strange:?}\n{}", text());
    if built.exact {
        let missing: Vec<_> = wanted.difference(&found).collect();
        assert!(missing.is_empty(), "missing: {missing:?}\n{}", text());
        tally.exact += 1;
    } else {
        tally.bounded += 1;
    }
    if self_embedding(&grammar) {
        tally.embedding += 1;
    } else if let Some(built) = build(&grammar, 300) {
        assert!(built.exact || built.cut.is_some(), "a finite automaton can do this:\n{}", text());
    }
    Ok(())
}

#[test]
fn automata_of_made_up_grammars_derive_the_same_strings() {
    let mut tally = Tally { exact: 0, bounded: 0, embedding: 0 };
    wug_property::check(|u| check(u, &mut tally)).for_cases(1_500);
    eprintln!("{} exact, {} bounded, {} self-embedding", tally.exact, tally.bounded, tally.embedding);
    assert!(tally.exact > 20 && tally.bounded > 5 && tally.embedding > 5);
}

#[track_caller]
fn exact(text: &str) {
    let grammar = grammar(text);
    let built = build(&grammar, 20).expect("it is small");
    assert!(built.exact, "{text}");
    assert_eq!(inputs(&built.automaton, 6), strings(&grammar, 6), "{text}");
}

#[test]
fn left_recursion_of_any_kind_is_exact() {
    exact("s = s 'b' | 'a' ;");
    exact("s = t 'b' | 'a' ; t = s 'c' | 'd' ;");
    exact("s = u 'b' | 'a' ; t = s 'c' | ; u = t 'd' | s ;");
    exact("s = (s 'x' | 'y')? 'z' ;");
    exact("s = s | t 'a' ; t = t | s | ;");
    exact("s = n s | 'a' ; n = | 'b' ;");
}

#[test]
fn repetitions_are_counted() {
    exact("s = 'a'{2,4} 'b'{1,}  ('c' | ){3} ;");
    exact("s = ('a' | 'b'*)* 'c' ;");
    exact("s = ((('a'?)*)?)* ;");
}

#[test]
fn without_a_limit_a_small_automaton_is_exact_and_a_large_one_goes_deep() {
    let exact = Built::new(Form::of(&grammar("s = ('a' | 'b' 'c'?)* ;")).expect("a form"), Limits::default());
    assert!(exact.expect("it is small").exact);
    let nested = grammar("s = '(' s ')' | '[' s ']' | '{' s '}' | 'x' ;");
    let limits = Limits { stack: None, states: 500, transitions: 5_000 };
    let built = Built::new(Form::of(&nested).expect("a form"), limits).expect("likely states");
    check_states(&built.automaton);
    assert!(!built.exact);
    // With a limit on the height, 3^6 states would be more than 500.
    assert!(built.stack_limit >= 5, "{}", built.stack_limit);
    let wanted = strings(&nested, 9).expect("few");
    assert!(inputs(&built.automaton, 9).expect("few").is_subset(&wanted));
}

#[track_caller]
fn unfit(text: &str, limits: Limits, message: &str) {
    let unfit: Unfit = match Form::of(&grammar(text)) {
        Err(unfit) => unfit,
        Ok(form) => Built::new(form, limits).map(|_| ()).expect_err("it is too large"),
    };
    assert_eq!(unfit.to_string(), message);
}

#[test]
fn what_is_too_large_is_told_with_a_way_out() {
    unfit(
        "s = '(' s ')' | '[' s ']' | 'x' ;",
        Limits { stack: Some(20), states: 1_000, transitions: 10_000 },
        "the automaton has too many states with a stack limit of 20, most of them in rule `s`; \
         try --stack-limit 10, or leave it out",
    );
    unfit(
        "s = '(' t ')' '!' ; t = 'x' t 'y' | 'z' 'z' ;",
        Limits::with_stack(1),
        "no input can be derived with a stack limit of 1; it takes 2",
    );
    unfit(
        "s = 'x'{5000} ;",
        Limits::default(),
        "rule `s` repeats something 5000 times; an automaton counts up to 4096",
    );
    // Each rung can begin in two ways that do not begin alike.
    let mut ladder = String::new();
    for rung in 0..24 {
        let (a, b) = (rung * 2, rung * 2 + 1);
        let next = rung + 1;
        ladder += &format!("s{rung} = a{a} 'x' | a{b} 'y' ; a{a} = s{next} 'v' ; a{b} = s{next} 'w' ; ");
    }
    ladder += "s24 = 'z' ;";
    unfit(
        &ladder,
        Limits::default(),
        "the automaton is too large: rule `a6` can begin in too many ways; let alternatives that begin \
         with the same symbols share them in one alternative",
    );
}
