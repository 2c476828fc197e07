//! All short inputs of an automaton, by trying everything.

use std::collections::{BTreeSet, HashSet};
use wug_automata::{Automaton, Built, Form, Leaf, Limits};
use wug_grammar::{Grammar, Notation, Unit, load::load_text};

pub fn grammar(text: &str) -> Grammar {
    load_text("test.wug", text, Notation::Wug).expect("it loads").grammar
}

pub fn build(grammar: &Grammar, stack: u32) -> Option<Built> {
    let limits = Limits { stack: Some(stack), states: 20_000, transitions: 200_000 };
    Built::new(Form::of(grammar).ok()?, limits).ok()
}

/// All inputs of at most `longest` bytes; none if there are too many.
pub fn inputs(automaton: &Automaton, longest: usize) -> Option<BTreeSet<Vec<u8>>> {
    let labels = automaton.labels();
    let mut seen: HashSet<(u32, Vec<u8>)> = HashSet::new();
    let mut open = vec![(automaton.start(), Vec::new())];
    let mut found = BTreeSet::new();
    while let Some((state, text)) = open.pop() {
        if !seen.insert((state, text.clone())) {
            continue;
        }
        if seen.len() > 40_000 {
            return None;
        }
        if automaton.states()[state as usize].accepting {
            found.insert(text.clone());
        }
        for transition in automaton.row(state) {
            for slot in labels.slots(transition.label) {
                for member in 0..labels.members(slot.leaf) {
                    let mut next = text.clone();
                    labels.emit(slot.leaf, member, &mut next);
                    if next.len() <= longest {
                        open.push((transition.target, next));
                    } else if let Leaf::Class(class) = slot.leaf
                        && labels.classes[class.index()].unit() == Unit::Char
                    {
                        // The members after it are no shorter.
                        break;
                    }
                }
            }
        }
    }
    Some(found)
}
