//! All derivations of an input, packed.
//!
//! Where the parser was never in doubt there is only the row of its
//! reductions (the trace), which is a tree read backwards. Where it was,
//! there are nodes, one for each nonterminal and stretch of the input, with
//! all ways to derive it. Each may refer to the other.

use crate::fx::Fx;
use hashbrown::HashMap;

/// What stands for a symbol of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// A letter.
    Letter,
    /// The tree that ends here in the trace.
    Trace(u32),
    /// A node.
    Node(u32),
}

/// One entry of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

/// An [`Entry`], told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A production; the trees of its nonterminals come before it.
    Reduce(u32),
    /// All reductions of a macro.
    Macro(u32),
    /// A node in place of a tree.
    Node(u32),
    /// The tree that ends there in place of one here.
    Trace(u32),
    /// What comes before is there.
    Jump(u32),
}

const BITS: u32 = 29;
/// The trace, and the nodes, are fewer than this.
pub(crate) const MAX_ENTRIES: usize = 1 << BITS;

impl Entry {
    #[inline]
    pub fn new(mark: Mark) -> Entry {
        let (kind, number) = match mark {
            Mark::Reduce(n) => (0, n),
            Mark::Macro(n) => (1, n),
            Mark::Node(n) => (2, n),
            Mark::Trace(n) => (3, n),
            Mark::Jump(n) => (4, n),
        };
        Entry(kind << BITS | number)
    }

    #[inline]
    pub fn mark(self) -> Mark {
        let number = self.0 & ((1 << BITS) - 1);
        match self.0 >> BITS {
            0 => Mark::Reduce(number),
            1 => Mark::Macro(number),
            2 => Mark::Node(number),
            3 => Mark::Trace(number),
            _ => Mark::Jump(number),
        }
    }
}

/// A nonterminal that derives a stretch of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub nonterminal: u32,
    pub start: u32,
    pub end: u32,
    first: u32,
}

/// One way to derive it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub production: u32,
    /// Where its last nonterminal begins.
    pub split: u32,
    /// Its nonterminals, the last one first.
    pub kids: [Label; 2],
    next: u32,
}

const NONE: u32 = u32::MAX;

/// Trace and nodes.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    pub trace: Vec<Entry>,
    nodes: Vec<Node>,
    ways: Vec<Way>,
    /// Nodes that end at the current level.
    here: Small<(u32, u32), u32>,
    /// Their ways.
    ways_here: Small<(u32, u32, u32), ()>,
    level: u32,
}

impl Forest {
    pub fn clear(&mut self) {
        self.trace.clear();
        self.nodes.clear();
        self.ways.clear();
        self.here.clear();
        self.ways_here.clear();
        self.level = 0;
    }

    pub fn bytes(&self) -> usize {
        self.trace.len() * 4
            + self.nodes.len() * size_of::<Node>()
            + self.ways.len() * size_of::<Way>()
            + (self.here.len() + self.ways_here.len()) * 32
    }

    pub fn push(&mut self, mark: Mark) {
        self.trace.push(Entry::new(mark));
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The ways to derive a node, with their numbers.
    pub fn ways(&self, node: u32) -> impl Iterator<Item = (u32, &Way)> {
        let mut next = self.nodes[node as usize].first;
        std::iter::from_fn(move || {
            let (number, way) = (next, self.ways.get(next as usize)?);
            next = way.next;
            Some((number, way))
        })
    }

    pub fn way(&self, number: u32) -> &Way {
        &self.ways[number as usize]
    }

    /// Adds a way to derive `nonterminal` from `start` to `end`, and gives
    /// its node.
    pub fn add(&mut self, nonterminal: u32, start: u32, end: u32, way: (u32, u32, [Label; 2])) -> u32 {
        if end != self.level {
            self.here.clear();
            self.ways_here.clear();
            self.level = end;
        }
        let fresh = self.nodes.len() as u32;
        let node = *self.here.entry((nonterminal, start), fresh);
        if node == fresh {
            self.nodes.push(Node { nonterminal, start, end, first: NONE });
        }
        let (production, split, kids) = way;
        if self.ways_here.is_new((node, production, split)) {
            let next = self.nodes[node as usize].first;
            self.nodes[node as usize].first = self.ways.len() as u32;
            self.ways.push(Way { production, split, kids, next });
        }
        node
    }
}

/// A map that is mostly tiny.
#[derive(Debug)]
pub(crate) struct Small<K, V> {
    few: Vec<(K, V)>,
    many: HashMap<K, V, Fx>,
}

impl<K, V> Default for Small<K, V> {
    fn default() -> Self {
        Small { few: Vec::new(), many: HashMap::default() }
    }
}

/// Beyond this a map is hashed.
const FEW: usize = 12;

impl<K: Copy + Eq + std::hash::Hash, V: Copy> Small<K, V> {
    pub fn clear(&mut self) {
        self.few.clear();
        if !self.many.is_empty() {
            // A map that was large once would cost its size for ever.
            self.many = HashMap::default();
        }
    }

    pub fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// The value of `key`, which is `fresh` if there is none yet.
    pub fn entry(&mut self, key: K, fresh: V) -> &mut V {
        if let Some(at) = self.few.iter().position(|(k, _)| *k == key) {
            return &mut self.few[at].1;
        }
        if self.few.len() < FEW {
            self.few.push((key, fresh));
            let last = self.few.len() - 1;
            return &mut self.few[last].1;
        }
        self.many.entry(key).or_insert(fresh)
    }
}

impl<K: Copy + Eq + std::hash::Hash> Small<K, ()> {
    /// Adds `key`; whether it was not there.
    pub fn is_new(&mut self, key: K) -> bool {
        let before = self.len();
        self.entry(key, ());
        self.len() > before
    }
}
