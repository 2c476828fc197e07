//! The built-in grammars are grammars, and survive printing.

use wug_grammar::builtin::{self, Builtin};
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation, print, transform};

fn load(builtin: &Builtin) -> Grammar {
    let loaded = builtin.load().unwrap_or_else(|e| panic!("{}: {e}", builtin.name));
    assert!(loaded.warnings.is_empty(), "{}: {:?}", builtin.name, loaded.warnings);
    loaded.grammar
}

#[test]
fn each_loads_and_its_start_is_productive() {
    for builtin in builtin::all() {
        let grammar = load(builtin);
        let pruned = transform::prune(&grammar).unwrap_or_else(|e| panic!("{}: {e:?}", builtin.name));
        assert_eq!(
            pruned.written_alternatives(),
            grammar.written_alternatives(),
            "{} has dead parts",
            builtin.name
        );
    }
}

#[test]
fn each_prints_and_reads_back_the_same() {
    for builtin in builtin::all() {
        let grammar = load(builtin);
        let printed = print::wug::print(&grammar);
        let again =
            load_text("again.wug", &printed, Notation::Wug).unwrap_or_else(|e| panic!("{printed}\n{e}"));
        assert!(grammar.same_as(&again.grammar), "{}:\n{printed}", builtin.name);
    }
}

#[test]
fn they_are_sorted_and_found_by_name() {
    assert!(builtin::all().is_sorted_by_key(|b| b.name));
    for builtin in builtin::all() {
        assert_eq!(builtin::find(builtin.name), Some(builtin));
        assert!(!builtin.about.is_empty() && builtin.about.len() < 60, "{}", builtin.name);
    }
    assert_eq!(builtin::find("klingon"), None);
}

#[test]
fn grammars_say_in_a_comment_what_they_are_written_from() {
    for builtin in builtin::all() {
        assert!(builtin.text.starts_with("// "), "{}", builtin.name);
        assert!(builtin.text.lines().all(|l| l.chars().count() <= 110), "{} has long lines", builtin.name);
    }
}
