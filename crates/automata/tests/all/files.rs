//! Automata as files: what is written is read as the same language.

use crate::inputs::{build, grammar, inputs};
use expect_test::{Expect, expect};
use wug_automata::{Automaton, Unwritable};
use wug_grammar::testing::productive_grammar;

#[test]
fn a_written_automaton_is_read_again() {
    let mut same = 0;
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let Some(built) = build(&grammar, 6) else { return Ok(()) };
        let written = match built.automaton.to_json() {
            Ok(written) => written,
            Err(Unwritable::Text(text)) => {
                assert!(std::str::from_utf8(&text).is_err());
                return Ok(());
            }
            Err(Unwritable::Empty) => {
                assert_eq!(inputs(&built.automaton, 9).map(|all| all.len()), Some(1));
                return Ok(());
            }
            Err(Unwritable::Size(count)) => panic!("{count} transitions"),
        };
        let read = Automaton::from_json(written.json.as_bytes()).expect("it was written");
        assert_eq!(read.states().len(), written.states as usize);
        assert_eq!(read.unit_transitions(), written.transitions);
        assert!(read.states().len() <= built.automaton.states().len() + 1);
        let (Some(mut wanted), Some(found)) = (inputs(&built.automaton, 4), inputs(&read, 4)) else {
            return Ok(());
        };
        assert_eq!(wanted.remove(&b""[..]), written.empty_lost);
        assert_eq!(found, wanted, "{}", wug_grammar::print::wug::print(&grammar));
        same += 1;
        Ok(())
    })
    .for_cases(40);
    assert!(same > 10, "{same}");
}

#[test]
fn the_form_is_gramatrons() {
    // What follows `(` inside and outside is the same: one state.
    let built = build(&grammar("s = ('a' | 'b') t | 'c' t ; t = '\\n' '\"' ;"), 9).expect("small");
    expect![[r#"
        {"final_state": "3", "init_state": "0", "numstates": 4, "pda": {"0": [["0_1", "1", "a"], ["0_2", "1", "b"], ["0_3", "1", "c"]], "1": [["1_1", "2", "\\n"]], "2": [["2_1", "3", "\""]]}}
    "#]]
    .assert_eq(&built.automaton.to_json().expect("it is text").json);
}

#[test]
fn libafls_form_is_read() {
    let text =
        br#"{"final_state": 1, "init_state": 0, "pda": [[{"dest": 1, "term": "a"}, {"dest": 0, "term": "b"},
        {"dest": 2, "term": "c"}], [], [{"dest": 2, "term": "d"}]]}"#;
    let read = Automaton::from_json(text).expect("an automaton");
    let found = inputs(&read, 3).expect("few");
    // State 2 never ends, so nothing leads there.
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [&b"a"[..], b"ba", b"bba"]);
}

#[track_caller]
fn misread(text: &str, why: Expect) {
    why.assert_eq(&Automaton::from_json(text.as_bytes()).expect_err("not an automaton").to_string());
}

#[test]
fn files_that_are_no_automata_are_refused() {
    misread("{", expect!["not JSON: EOF while parsing an object at line 1 column 1"]);
    misread("{}", expect!["there is no `init_state`"]);
    misread(r#"{"init_state": [], "final_state": 1}"#, expect!["a state is a text or a number, not []"]);
    let file = |pda: &str| format!(r#"{{"init_state": "0", "final_state": "1", "pda": {pda}}}"#);
    misread(&file("7"), expect!["`pda` is neither an object nor a list"]);
    misread(&file(r#"{"0": 1}"#), expect!["the transitions of a state are a list, not 1"]);
    misread(&file(r#"{"0": [["0_1", "1"]]}"#), expect![[r#"this is no transition: ["0_1","1"]"#]]);
    misread(
        &file(r#"{"0": [["0_1", "1", ""]]}"#),
        expect![[r#"a transition must read something: ["0_1","1",""]"#]],
    );
    misread(
        &file(r#"{"0": [["0_1", "0", "a"]]}"#),
        expect!["no transitions lead from the first state to the final one"],
    );
}
