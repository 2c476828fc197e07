//! Names as small numbers.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A name in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Each distinct name once, in one block of text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
    table: HashTable<NameId>,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// The number of `name`, which is new if it was not there.
    pub fn add(&mut self, name: &str) -> NameId {
        let hash = self.hasher.hash_one(name);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let entry = self.table.entry(
            hash,
            |&id| slice(text, ends, id) == name,
            |&id| hasher.hash_one(slice(text, ends, id)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = NameId(self.ends.len() as u32);
                free.insert(id);
                self.text.push_str(name);
                self.ends.push(self.text.len() as u32);
                id
            }
        }
    }

    /// The number of `name`, if it has one.
    pub fn find(&self, name: &str) -> Option<NameId> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |&id| self.text(id) == name).copied()
    }

    /// The text of a name.
    pub fn text(&self, id: NameId) -> &str {
        slice(&self.text, &self.ends, id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], id: NameId) -> &'a str {
    let at = id.0 as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &text[start as usize..ends[at] as usize]
}
