//! States that cannot be told apart are one.
//!
//! In:  an automaton.
//! Out: a class for each state, such that states of a class have the same
//!      transitions to classes: by refinement, until nothing changes.
//!
//! For files only: while it is walked over, an automaton shares labels, so
//! states are cheap, and each stands for one stack.

use super::Automaton;
use crate::labels::Leaf;
use hashbrown::HashMap;

impl Automaton {
    /// The class of each state, and how many there are.
    pub(crate) fn classes(&self) -> (Vec<u32>, u32) {
        let labels = self.same_labels();
        let mut class: Vec<u32> = self.states.iter().map(|s| u32::from(s.accepting)).collect();
        let mut count = 1 + u32::from(class.contains(&0) && class.contains(&1));
        loop {
            let mut known: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::new();
            let mut next = Vec::with_capacity(class.len());
            for state in 0..self.states.len() as u32 {
                let row = self.row(state).iter();
                let mut row: Vec<(u32, u32)> =
                    row.map(|t| (labels[t.label as usize], class[t.target as usize])).collect();
                row.sort_unstable();
                row.dedup();
                let new = known.len() as u32;
                next.push(*known.entry((class[state as usize], row)).or_insert(new));
            }
            let grown = known.len() as u32;
            class = next;
            if grown == count {
                return (class, count);
            }
            count = grown;
        }
    }

    /// A number for each label, the same for those with the same members.
    fn same_labels(&self) -> Vec<u32> {
        let labels = &*self.labels;
        let mut leaves: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut known: HashMap<Leaf, u32> = HashMap::new();
        let mut leaf_number = |leaf: Leaf| {
            *known.entry(leaf).or_insert_with(|| {
                let mut key = Vec::new();
                match leaf {
                    Leaf::Class(class) => key.extend_from_slice(&class.0.to_le_bytes()),
                    Leaf::Words { first, count } => {
                        for word in &labels.words[first as usize..(first + count) as usize] {
                            key.extend_from_slice(&word.len.to_le_bytes());
                            let end = (word.start + word.len) as usize;
                            key.extend_from_slice(&labels.text[word.start as usize..end]);
                        }
                        // No class has a key of five bytes.
                        key.push(0);
                    }
                }
                let new = leaves.len() as u32;
                *leaves.entry(key).or_insert(new)
            })
        };
        let mut wholes: HashMap<Vec<u32>, u32> = HashMap::new();
        (0..labels.labels.len() as u32)
            .map(|label| {
                let mut key: Vec<u32> = labels.slots(label).iter().map(|s| leaf_number(s.leaf)).collect();
                key.sort_unstable();
                let new = wholes.len() as u32;
                *wholes.entry(key).or_insert(new)
            })
            .collect()
    }
}
