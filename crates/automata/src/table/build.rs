//! How a table is made, and what is sure of it.

use super::{BLOCK, CLASS, Choice, Column, Row, Table};
use crate::automaton::Automaton;
use crate::labels::{Leaf, Word};
use crate::walk::Weight;
use wug_grammar::Class;

/// The members of larger classes are not written out.
const MAX_WRITTEN_OUT: u32 = 256;

impl Table {
    pub fn new(automaton: &Automaton, weight: Weight) -> Table {
        let labels = automaton.labels();
        let mut table = Table {
            rows: Vec::with_capacity(automaton.states.len()),
            shifts: automaton.states.iter().map(|state| state.shift).collect(),
            columns: Vec::new(),
            choices: Vec::new(),
            behind: Vec::new(),
            words: labels.words.clone(),
            text: labels.text.clone(),
            classes: labels.classes.clone(),
            longest: 0,
            reach: 0,
        };
        let written_out: Vec<u32> = (0..labels.classes.len() as u32).map(|c| table.write_out(c)).collect();
        table.text.resize(table.text.len() + BLOCK, 0);
        let mut weights = Vec::new();
        for (at, state) in (0..).zip(&automaton.states) {
            weights.clear();
            let from = table.choices.len();
            for (place, transition) in (0..).zip(automaton.row(at)) {
                for slot in labels.slots(transition.label) {
                    let (first, count) = match slot.leaf {
                        Leaf::Words { first, count } => (first, count),
                        Leaf::Class(class) => {
                            (written_out[class.index()], labels.classes[class.index()].count())
                        }
                    };
                    // None can be drawn, and none marks the end.
                    if count == 0 {
                        continue;
                    }
                    let step = automaton.step(at, place, slot.member);
                    table.choices.push(Choice { first, count, step, target: transition.target });
                    weights.push(f64::from(match weight {
                        Weight::One => labels.units(slot.leaf),
                        Weight::Members => count,
                    }));
                }
            }
            if state.accepting {
                table.choices.push(Choice { first: 0, count: 0, step: u32::MAX, target: at });
                weights.push(1.0);
            }
            table.rows.push(Row::new(from, weights.len()));
            alias(&mut weights, from, &mut table.columns);
        }
        for at in 0..table.columns.len() {
            let (row, other) = (table.leads(at), table.leads(table.columns[at].other as usize));
            (table.columns[at].row, table.columns[at].flip) = (row, row.0 ^ other.0);
        }
        table.behind = table.choices.iter().map(|choice| table.steps(choice.target)).collect();
        let words = table.words.iter().map(|word| word.len);
        let longest = words.chain(table.classes.iter().map(Class::max_len)).max();
        table.longest = longest.unwrap_or(1).max(1) as usize;
        let least = automaton.states.iter().map(|state| u64::from(state.least)).max();
        table.reach = table.longest as u64 + least.unwrap_or(0);
        table.check();
        table
    }

    /// Makes words of the members of a class, if they are few; what a choice
    /// among them has for its first word.
    fn write_out(&mut self, class: u32) -> u32 {
        let members = &self.classes[class as usize];
        if members.count() > MAX_WRITTEN_OUT {
            return CLASS | class;
        }
        let first = self.words.len() as u32;
        for member in 0..members.count() {
            let start = self.text.len() as u32;
            members.emit(member, &mut self.text);
            self.words.push(Word { start, len: self.text.len() as u32 - start });
        }
        first
    }

    /// The row that a column leads to.
    fn leads(&self, column: usize) -> Row {
        match self.choices[column] {
            Choice { count: 0, .. } => Row::END,
            choice => self.rows[choice.target as usize],
        }
    }

    /// What [`Table::run`] and [`Table::find`] rely on.
    fn check(&self) {
        let (columns, words, text) = (self.columns.len(), self.words.len(), self.text.len() - BLOCK);
        let within = |row: Row| (row.0 as u32) as usize + (row.0 >> 32) as usize <= columns;
        assert!(self.choices.len() == columns && self.rows.iter().all(|&row| within(row)));
        assert!(
            self.behind.len() == columns
                && self.behind.iter().all(|steps| (steps.first + steps.count()) as usize <= columns)
        );
        for (column, choice) in self.columns.iter().zip(&self.choices) {
            assert!(within(column.row) && within(column.other_row()) && (column.other as usize) < columns);
            let known = match choice.first & CLASS {
                0 => choice.first as usize + choice.count as usize <= words,
                _ => ((choice.first & !CLASS) as usize) < self.classes.len(),
            };
            assert!(known);
        }
        assert!(self.words.iter().all(|word| word.start as usize + word.len as usize <= text));
    }
}

/// Appends the alias table of some weights, which are used up; columns are
/// numbered from `from` on.
fn alias(weights: &mut [f64], from: usize, columns: &mut Vec<Column>) {
    let count = weights.len();
    let total: f64 = weights.iter().sum();
    // In units in which a column is full at 1.
    weights.iter_mut().for_each(|w| *w *= count as f64 / total.max(1.0));
    let full = |i: usize| Column { threshold: u32::MAX, other: i as u32, row: Row::END, flip: 0 };
    columns.extend((from..from + count).map(full));
    let (mut small, mut large) = (Vec::new(), Vec::new());
    (0..count).for_each(|i| if weights[i] < 1.0 { small.push(i) } else { large.push(i) });
    while let (Some(few), Some(&much)) = (small.pop(), large.last()) {
        columns[from + few].threshold = (weights[few] * 4294967296.0) as u32;
        columns[from + few].other = (from + much) as u32;
        weights[much] -= 1.0 - weights[few];
        if weights[much] < 1.0 {
            large.pop();
            small.push(much);
        }
    }
}
