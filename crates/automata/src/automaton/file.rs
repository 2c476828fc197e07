//! Automata as JSON, in Gramatron's form.
//!
//! ```json
//! {"final_state": "2", "init_state": "0", "numstates": 3,
//!  "pda": {"0": [["0_1", "1", "a"]], "1": [["1_1", "2", "b"]]}}
//! ```
//!
//! Each state has a list of transitions: a name, where it leads, and the
//! text that is read; the text `\n`, a backslash and an n, is a line break.
//! LibAFL's form is read too: numbers for states, a list for `pda`, and
//! `{"dest": 1, "term": "a"}` for a transition.
//!
//! A file has one final state, from which nothing leads on. So where an
//! input may end and may also go on, each transition to that state is
//! written twice: once to it, once to the final state. An empty input cannot
//! be written, nor bytes that are not UTF-8. Of a class, the first
//! [`MAX_CLASS`] members are written, each as a transition.

use super::{Automaton, Transition};
use crate::labels::{Labels, Leaf};
use hashbrown::HashMap;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// More members of a class are not written.
pub const MAX_CLASS: u32 = 128;
/// A file has at most this many transitions.
pub const MAX_WRITTEN: u64 = 1 << 24;

/// A written automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub json: String,
    /// How many states it has.
    pub states: u32,
    /// How many transitions.
    pub transitions: u64,
    /// Whether some class has members that were left out.
    pub classes_cut: bool,
    /// Whether the automaton accepts the empty input, which is left out.
    pub empty_lost: bool,
}

/// Why an automaton is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// A text is not UTF-8, or would be read as another.
    Text(Vec<u8>),
    /// It would be too large.
    Size(u64),
    /// Nothing but the empty input is in it.
    Empty,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritable::Text(text) if text == b"\\n" => {
                f.write_str("in this form, the text `\\n` would be read as a line break")
            }
            Unwritable::Text(text) => {
                write!(f, "JSON has no place for bytes that are not UTF-8: `{}`", text.escape_ascii())
            }
            Unwritable::Size(count) => {
                write!(f, "it would have {count} transitions; a lower --stack-limit gives fewer")
            }
            Unwritable::Empty => f.write_str("it has no input but the empty one"),
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread(pub String);

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Automaton {
    /// Writes it, equivalent states as one.
    pub fn to_json(&self) -> Result<Written, Unwritable> {
        let (class, count) = self.classes();
        let mut of_class = vec![u32::MAX; count as usize];
        for (state, &class) in class.iter().enumerate() {
            of_class[class as usize] = of_class[class as usize].min(state as u32);
        }
        // States without a way on are the final one.
        let ends = |class: u32| self.row(of_class[class as usize]).is_empty();
        let mut number = vec![u32::MAX; count as usize];
        let mut order: Vec<u32> = vec![class[self.start as usize]];
        number[order[0] as usize] = 0;
        if ends(order[0]) {
            return Err(Unwritable::Empty);
        }
        let mut writer = Writer { pda: String::new(), transitions: 0, classes_cut: false };
        let mut at = 0;
        let final_class = u32::MAX;
        // The final state is numbered last, so its name is put in later.
        while let Some(&source) = order.get(at) {
            let state = of_class[source as usize];
            let mut targets: Vec<(u32, u32)> = Vec::new();
            for transition in self.row(state) {
                let target = class[transition.target as usize];
                if !ends(target) {
                    if number[target as usize] == u32::MAX {
                        number[target as usize] = order.len() as u32;
                        order.push(target);
                    }
                    targets.push((transition.label, number[target as usize]));
                }
                if self.states[transition.target as usize].accepting {
                    targets.push((transition.label, final_class));
                }
            }
            targets.sort_unstable();
            targets.dedup();
            writer.state(&self.labels, at as u32, &targets)?;
            at += 1;
        }
        let last = order.len() as u32;
        let pda = writer.pda.replace("\u{0}", &last.to_string());
        let states = last + 1;
        let json = format!(
            "{{\"final_state\": \"{last}\", \"init_state\": \"0\", \"numstates\": {states}, \"pda\": {{{pda}}}}}\n"
        );
        let empty_lost = self.states[self.start as usize].accepting;
        Ok(Written {
            json,
            states,
            transitions: writer.transitions,
            classes_cut: writer.classes_cut,
            empty_lost,
        })
    }

    /// Reads one.
    pub fn from_json(text: &[u8]) -> Result<Automaton, Misread> {
        let file: Value = serde_json::from_slice(text).map_err(|e| Misread(format!("not JSON: {e}")))?;
        let mut reader = Reader { names: HashMap::new() };
        let mut rows: Vec<Vec<(u32, String)>> = Vec::new();
        let field = |name: &str| file.get(name).ok_or_else(|| Misread(format!("there is no `{name}`")));
        let (init, last) = (reader.state(field("init_state")?)?, reader.state(field("final_state")?)?);
        match field("pda")? {
            Value::Object(states) => {
                for (name, row) in states {
                    let state = reader.named(name);
                    reader.row(state, row, &mut rows)?;
                }
            }
            Value::Array(states) => {
                for (name, row) in states.iter().enumerate() {
                    let state = reader.named(&name.to_string());
                    reader.row(state, row, &mut rows)?;
                }
            }
            _ => return Err(Misread("`pda` is neither an object nor a list".to_string())),
        }
        rows.resize_with(rows.len().max(reader.names.len()), Vec::new);
        // Nothing leads on from the final state.
        rows[last as usize].clear();
        assemble(rows, init, last)
    }
}

struct Writer {
    pda: String,
    transitions: u64,
    classes_cut: bool,
}

impl Writer {
    fn state(&mut self, labels: &Labels, state: u32, targets: &[(u32, u32)]) -> Result<(), Unwritable> {
        let comma = if self.pda.is_empty() { "" } else { ", " };
        self.pda.push_str(&format!("{comma}\"{state}\": ["));
        let mut number = 0;
        let mut text = Vec::new();
        for &(label, target) in targets {
            for slot in labels.slots(label) {
                let mut members = labels.members(slot.leaf);
                if matches!(slot.leaf, Leaf::Class(_)) && members > MAX_CLASS {
                    self.classes_cut = true;
                    members = MAX_CLASS;
                }
                for member in 0..members {
                    text.clear();
                    labels.emit(slot.leaf, member, &mut text);
                    number += 1;
                    self.transitions += 1;
                    if self.transitions > MAX_WRITTEN {
                        return Err(Unwritable::Size(self.transitions));
                    }
                    let comma = if number == 1 { "" } else { ", " };
                    let target = if target == u32::MAX { "\u{0}".to_string() } else { target.to_string() };
                    let text = term(&text)?;
                    self.pda.push_str(&format!("{comma}[\"{state}_{number}\", \"{target}\", {text}]"));
                }
            }
        }
        self.pda.push(']');
        Ok(())
    }
}

/// A text as JSON.
fn term(text: &[u8]) -> Result<String, Unwritable> {
    let refused = || Unwritable::Text(text.to_vec());
    let string = std::str::from_utf8(text).map_err(|_| refused())?;
    match string {
        "\n" => Ok("\"\\\\n\"".to_string()),
        "\\n" => Err(refused()),
        // Escapes control characters, so no zero byte is in it.
        string => serde_json::to_string(string).map_err(|_| refused()),
    }
}

struct Reader {
    names: HashMap<String, u32>,
}

impl Reader {
    fn named(&mut self, name: &str) -> u32 {
        let new = self.names.len() as u32;
        *self.names.entry_ref(name).or_insert(new)
    }

    fn state(&mut self, value: &Value) -> Result<u32, Misread> {
        match value {
            Value::String(name) => Ok(self.named(name)),
            Value::Number(number) => Ok(self.named(&number.to_string())),
            other => Err(Misread(format!("a state is a text or a number, not {other}"))),
        }
    }

    fn row(&mut self, state: u32, row: &Value, rows: &mut Vec<Vec<(u32, String)>>) -> Result<(), Misread> {
        rows.resize_with(rows.len().max(state as usize + 1), Vec::new);
        let Value::Array(row) = row else {
            return Err(Misread(format!("the transitions of a state are a list, not {row}")));
        };
        for transition in row {
            let (target, text) = match transition {
                Value::Array(parts) => (parts.get(1), parts.get(2)),
                Value::Object(parts) => (parts.get("dest"), parts.get("term")),
                _ => (None, None),
            };
            let (Some(target), Some(Value::String(text))) = (target, text) else {
                return Err(Misread(format!("this is no transition: {transition}")));
            };
            let text = if text == "\\n" { "\n" } else { text };
            if text.is_empty() {
                return Err(Misread(format!("a transition must read something: {transition}")));
            }
            let target = self.state(target)?;
            rows[state as usize].push((target, text.to_string()));
        }
        Ok(())
    }
}

/// An automaton of rows of targets and texts; states that do not lead to the
/// end are left out.
fn assemble(rows: Vec<Vec<(u32, String)>>, init: u32, last: u32) -> Result<Automaton, Misread> {
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
    for (state, row) in rows.iter().enumerate() {
        row.iter().for_each(|(target, _)| sources[*target as usize].push(state as u32));
    }
    let mut ends = vec![false; rows.len()];
    let mut open = vec![last];
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut ends[state as usize], true) {
            open.append(&mut sources[state as usize]);
        }
    }
    if !ends[init as usize] {
        return Err(Misread("no transitions lead from the first state to the final one".to_string()));
    }
    let (mut labels, mut transitions, mut shapes) = (Labels::default(), Vec::new(), Vec::new());
    // Lists of words that several states have are one label.
    let mut known: HashMap<Vec<&str>, u32> = HashMap::new();
    for (state, row) in rows.iter().enumerate() {
        let mut targets: Vec<(u32, Vec<&str>)> = Vec::new();
        let mut place: HashMap<u32, usize> = HashMap::new();
        for (target, text) in row.iter().filter(|(target, _)| ends[*target as usize]) {
            let at = *place.entry(*target).or_insert(targets.len());
            if at == targets.len() {
                targets.push((*target, Vec::new()));
            }
            targets[at].1.push(text);
        }
        shapes.push((targets.len() as u32, state as u32 == last));
        for (target, words) in targets {
            let label = *known.entry_ref(&words[..]).or_insert_with(|| {
                let first = labels.words.len() as u32;
                for word in &words {
                    labels.word(word.as_bytes());
                }
                let leaf = Leaf::Words { first, count: words.len() as u32 };
                labels.label(std::iter::once(leaf)).unwrap_or(0)
            });
            transitions.push(Transition { label, target });
        }
    }
    let built = Automaton::new(&shapes, transitions, Arc::new(labels), init);
    let mut automaton = built.map_err(|_| Misread("a state has too many transitions".to_string()))?;
    automaton.find_least();
    Ok(automaton)
}
