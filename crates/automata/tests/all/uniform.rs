//! Counts and draws of derivations against what is known of them.

use crate::inputs::grammar;
use std::collections::HashMap;
use wug_automata::uniform::{Undrawn, Uniform};
use wug_automata::{Form, Weight};
use wug_grammar::testing::{productive_grammar, strings};
use wug_random::Rng;

#[track_caller]
fn counts(text: &str, wanted: &[f64]) {
    let form = Form::of(&grammar(text)).expect("a form");
    let uniform = Uniform::new(&form, 0..=wanted.len() - 1, Weight::Members).expect("there are some");
    let found: Vec<f64> = (0..wanted.len()).map(|size| uniform.derivations(size).to_f64()).collect();
    assert_eq!(found, wanted, "{text}");
}

#[test]
fn derivations_are_counted() {
    counts("s = '(' s ')' s | ;", &[1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 5.0, 0.0, 14.0, 0.0, 42.0, 0.0, 132.0]);
    // Left recursion, a class, and characters of two bytes.
    counts("s = s [ab] | 'x' ;", &[0.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    counts("s = [aé]* ;", &[1.0, 1.0, 2.0, 3.0, 5.0, 8.0]);
    // One text, many derivations; circles are left out.
    counts("s = s s | s | 'x' ;", &[0.0, 1.0, 1.0, 2.0, 5.0, 14.0]);
    counts("s = 'aaaaa'? ('bb' | 'b' 'b'){1,3} ;", &[0.0, 0.0, 2.0, 0.0, 4.0, 0.0, 8.0, 2.0]);
}

#[test]
fn sizes_with_derivations_are_sizes_of_strings() {
    let mut compared = 0;
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let Some(strings) = strings(&grammar, 5) else { return Ok(()) };
        let Ok(form) = Form::of(&grammar) else { return Ok(()) };
        let text = || wug_grammar::print::wug::print(&grammar);
        match Uniform::new(&form, 0..=5, Weight::Members) {
            Err(undrawn) => {
                // Some repetitions come more often than is counted.
                assert!(undrawn != Undrawn::None || strings.is_empty(), "{}", text());
            }
            Ok(uniform) => {
                for size in 0..=5 {
                    let some = strings.iter().filter(|s| s.len() == size).count() as f64;
                    // Each string has a derivation of its own.
                    let found = uniform.derivations(size).to_f64();
                    assert!(
                        found >= some && (found > 0.0) == (some > 0.0),
                        "{size}: {found} {some}\n{}",
                        text()
                    );
                }
                for index in 0..5 {
                    let (mut rng, mut out) = (Rng::new(1, index), Vec::new());
                    uniform.sample(&mut || rng.wide(), &mut out);
                    assert!(strings.contains(&out), "{out:?}\n{}", text());
                }
                compared += 1;
            }
        }
        Ok(())
    })
    .for_cases(1_000);
    assert!(compared > 50, "{compared}");
}

#[test]
fn draws_are_uniform() {
    // 14 trees of size 8, 42 of size 10.
    let form = Form::of(&grammar("s = '(' s ')' s | ;")).expect("a form");
    let uniform = Uniform::new(&form, 7..=10, Weight::Members).expect("there are some");
    let mut drawn: HashMap<Vec<u8>, u32> = HashMap::new();
    for index in 0..56_000 {
        let (mut rng, mut out) = (Rng::new(5, index), Vec::new());
        uniform.sample(&mut || rng.wide(), &mut out);
        *drawn.entry(out).or_default() += 1;
    }
    assert_eq!(drawn.len(), 14 + 42);
    // 1,000 expected of each, standard deviation 32.
    assert!(drawn.values().all(|&count| count.abs_diff(1_000) < 200), "{drawn:?}");
}

#[test]
fn large_sizes_do_not_overflow() {
    let form = Form::of(&grammar("s = [a-z]* | s '.' s ;")).expect("a form");
    let uniform = Uniform::new(&form, 2_000..=2_000, Weight::Members).expect("there are some");
    // At least all texts of letters alone.
    assert!(uniform.derivations(2_000).log2() > 2_000.0 * 26f64.log2());
    let (mut rng, mut out) = (Rng::new(1, 1), Vec::new());
    uniform.sample(&mut || rng.wide(), &mut out);
    assert_eq!(out.len(), 2_000);
}

#[test]
fn a_class_may_count_as_one() {
    let form = Form::of(&grammar("s = [a-zé] s | 'x' ;")).expect("a form");
    let uniform = Uniform::new(&form, 0..=4, Weight::One).expect("there are some");
    let found: Vec<f64> = (0..5).map(|size| uniform.derivations(size).to_f64()).collect();
    assert_eq!(found, [0.0, 1.0, 1.0, 2.0, 3.0]);
    let mut letters = std::collections::HashSet::new();
    for index in 0..1_000 {
        let (mut rng, mut out) = (Rng::new(5, index), Vec::new());
        uniform.sample(&mut || rng.wide(), &mut out);
        letters.extend(String::from_utf8(out).expect("characters").chars());
    }
    assert_eq!(letters.len(), 27);
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let form = Form::of(&grammar("s = 'aa' | 'bbbb' ;")).expect("a form");
    assert_eq!(Uniform::new(&form, 3..=3, Weight::Members).err(), Some(Undrawn::None));
    let form = Form::of(&grammar("s = '(' s ')' s | ;")).expect("a form");
    let Err(Undrawn::TooLarge { fits }) = Uniform::new(&form, 0..=10_000_000, Weight::Members) else {
        panic!("it is large")
    };
    assert!(fits > 10_000 && Uniform::new(&form, 0..=fits.min(100), Weight::Members).is_ok());
}
