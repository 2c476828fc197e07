//! What is written on transitions: words and classes, each stored once.
//!
//! A transition of a state stands for all its *members*: every word of a
//! list, every character of a class. They are numbered, so that one number
//! says which member is meant, and they lead to the same state.
//!
//! ```text
//! label 7:  slot 0  words "rand", "mt_rand"   members 0, 1   units 0, 1
//!           slot 1  class [a-z]               members 2..28  unit 2
//! ```
//!
//! A word or a class is one *unit*: what a draw counts, unless members are
//! to count.

use wug_grammar::{Class, ClassId, Grammar};

/// The members that lead from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its first slot.
    pub first: u32,
    /// How many slots it has.
    pub slots: u32,
    /// How many members.
    pub members: u32,
    /// How many units.
    pub units: u32,
    /// Fewest bytes of a member.
    pub least: u32,
}

/// A list of words, or a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The first of its members in its label.
    pub member: u32,
    /// The first of its units in its label.
    pub unit: u32,
    /// What the members are.
    pub leaf: Leaf,
}

/// What the members of a slot are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// Words, one after the other in the list of all words.
    Words {
        /// The first.
        first: u32,
        /// How many.
        count: u32,
    },
    /// The members of a class.
    Class(ClassId),
}

/// Bytes of a word, in the text of all words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its first byte.
    pub start: u32,
    /// How many bytes; at least one.
    pub len: u32,
}

/// All labels.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Labels.
    pub labels: Vec<Label>,
    /// Their slots.
    pub slots: Vec<Slot>,
    /// Words of slots.
    pub words: Vec<Word>,
    /// Bytes of words.
    pub text: Vec<u8>,
    /// Classes of slots.
    pub classes: Vec<Class>,
}

/// A label would have more members than can be numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyMembers;

impl Labels {
    /// None yet, over the classes of a grammar.
    pub(crate) fn over(grammar: &Grammar) -> Labels {
        let class = |i| grammar.class(ClassId(i)).clone();
        Labels { classes: (0..grammar.class_count() as u32).map(class).collect(), ..Labels::default() }
    }

    /// Adds a word.
    pub(crate) fn word(&mut self, bytes: &[u8]) -> u32 {
        self.words.push(Word { start: self.text.len() as u32, len: bytes.len() as u32 });
        self.text.extend_from_slice(bytes);
        self.words.len() as u32 - 1
    }

    /// How many members a leaf has.
    pub fn members(&self, leaf: Leaf) -> u32 {
        match leaf {
            Leaf::Words { count, .. } => count,
            Leaf::Class(class) => self.classes[class.index()].count(),
        }
    }

    /// How many units a leaf has.
    pub fn units(&self, leaf: Leaf) -> u32 {
        match leaf {
            Leaf::Words { count, .. } => count,
            Leaf::Class(_) => 1,
        }
    }

    /// Fewest bytes of a member.
    fn least(&self, leaf: Leaf) -> u32 {
        match leaf {
            Leaf::Words { first, count } => {
                let words = &self.words[first as usize..(first + count) as usize];
                words.iter().map(|word| word.len).min().unwrap_or(0)
            }
            Leaf::Class(class) => self.classes[class.index()].min_len(),
        }
    }

    /// Adds a label with a slot for each leaf.
    pub(crate) fn label(&mut self, leaves: impl Iterator<Item = Leaf>) -> Result<u32, TooManyMembers> {
        let first = self.slots.len() as u32;
        let (mut member, mut unit, mut least) = (0u32, 0u32, u32::MAX);
        for leaf in leaves {
            self.slots.push(Slot { member, unit, leaf });
            member = member.checked_add(self.members(leaf)).ok_or(TooManyMembers)?;
            unit += self.units(leaf);
            least = least.min(self.least(leaf));
        }
        let slots = self.slots.len() as u32 - first;
        self.labels.push(Label { first, slots, members: member, units: unit, least });
        Ok(self.labels.len() as u32 - 1)
    }

    /// The slots of a label.
    pub fn slots(&self, label: u32) -> &[Slot] {
        let label = self.labels[label as usize];
        &self.slots[label.first as usize..(label.first + label.slots) as usize]
    }

    /// The slot of a member, by its place in its label, and the member's
    /// place in it; none if there is no such member.
    pub fn find(&self, label: u32, member: u32) -> Option<(usize, u32)> {
        if member >= self.labels[label as usize].members {
            return None;
        }
        let slots = self.slots(label);
        let at = slots.partition_point(|slot| slot.member <= member).checked_sub(1)?;
        Some((at, member - slots[at].member))
    }

    /// A member of fewest bytes.
    pub(crate) fn shortest(&self, label: u32) -> u32 {
        let least = self.labels[label as usize].least;
        let mut shortest = self.slots(label).iter().filter_map(|slot| match slot.leaf {
            Leaf::Words { first, count } => {
                let is_least = |word: &u32| self.words[(first + word) as usize].len == least;
                (0..count).find(is_least).map(|word| slot.member + word)
            }
            // The first member of a class is the shortest.
            Leaf::Class(class) => (self.classes[class.index()].min_len() == least).then_some(slot.member),
        });
        shortest.next().unwrap_or(0)
    }

    /// Appends the bytes of a member of a leaf.
    #[inline]
    pub fn emit(&self, leaf: Leaf, member: u32, out: &mut Vec<u8>) {
        match leaf {
            Leaf::Words { first, .. } => {
                let word = self.words[(first + member) as usize];
                out.extend_from_slice(&self.text[word.start as usize..(word.start + word.len) as usize]);
            }
            Leaf::Class(class) => self.classes[class.index()].emit(member, out),
        }
    }
}
