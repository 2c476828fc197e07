//! Frontier: what is tried next, and what was tried.
//!
//! In:  inputs that can go on, and texts that may follow them.
//! Out: the best of these.

use super::knowledge::Knowledge;
use super::nodes::{Node, Nodes};
use super::offers::Kind;
use super::prober::Glance;
use super::rank::{Item, ItemMerits, Queue, class};
use super::sight::{Sight, State};
use super::words::apart;
use std::collections::{HashMap, HashSet, VecDeque};
use wug_random::{Rng, hash};

/// Inputs that had their turn are remembered up to this number: memory against
/// trying one again.
const TRIED: usize = 1 << 22;
/// Nodes of a state that wait for a way to close it.
const WAITING: usize = 16;

/// What is to be tried.
#[derive(Default)]
pub struct Frontier {
    pub nodes: Nodes,
    pub queue: Queue,
    /// Inputs that had their turn, by hash.
    tried: HashSet<u64>,
    /// How often each state was seen, in each of the ways to tell it.
    states: HashMap<u64, u32>,
    /// Nodes that reached something new, by state: to be closed when it is
    /// known how.
    waiting: HashMap<u64, Vec<u32>>,
    /// Of these, those for which that was learned.
    pub again: VecDeque<u32>,
    /// Nodes that were the first in a state where words may stand.
    pub open: Vec<u32>,
    /// Those of them in which words are compared.
    pub wordy: Vec<u32>,
    /// How many words were compared with a tail of letters, and its length.
    pub word_tail: (usize, usize),
}

impl Frontier {
    /// What is tried next.
    pub fn next(&mut self, known: &Knowledge) -> Option<Item> {
        let nodes = &self.nodes;
        self.queue.next(|item| {
            let node = nodes.at(item.node);
            merits(node, item.keep as usize, &item.text, item.kind, known.pending(node))
        })
    }

    /// Queues a text behind the beginning of a node.
    pub fn add(&mut self, at: u32, keep: usize, text: &[u8], kind: Kind, doubts: u32, known: &Knowledge) {
        let node = self.nodes.at(at);
        let merits = merits(node, keep, text, kind, known.pending(node));
        self.queue.add(at, keep, text, kind, doubts, &merits);
    }

    /// Queues a word behind a node.
    pub fn add_word(&mut self, node: u32, word: &[u8], kind: Kind, doubts: u32, known: &Knowledge) {
        let input = &self.nodes.at(node).input;
        let (keep, text) = (input.len(), apart(input, word));
        self.add(node, keep, &text, kind, doubts + self::doubts(kind), known);
    }

    /// Queues a letter, a digit and white space, whatever is compared.
    pub fn guess(&mut self, node: u32, known: &Knowledge, rng: &mut Rng) {
        let letter = [b'a' + rng.below(26) as u8];
        let digit = [b'0' + rng.below(10) as u8];
        for text in [&letter[..], &digit[..], b" ", b"\n"] {
            let keep = self.nodes.at(node).input.len();
            self.add(node, keep, text, Kind::Guess, doubts(Kind::Guess), known);
        }
    }

    /// Whether an input has not had its turn yet.
    pub fn is_first(&mut self, input: &[u8]) -> bool {
        self.remember(hash(input))
    }

    /// Whether an input was not run as it is yet: neither in its turn, nor
    /// as a guess of how another may end.
    pub fn is_new(&mut self, input: &[u8]) -> bool {
        let hash = hash(input);
        !self.tried.contains(&hash) && self.remember(!hash)
    }

    /// Whether an input was run as a guess of how another may end.
    pub fn was_guessed(&self, input: &[u8]) -> bool {
        self.tried.contains(&!hash(input))
    }

    fn remember(&mut self, hash: u64) -> bool {
        if self.tried.len() >= TRIED {
            self.tried.clear();
        }
        self.tried.insert(hash)
    }

    /// How new a state is; from now on it is less so.
    pub fn class_of(&mut self, state: State) -> u32 {
        let mut count = |state: u64| {
            let seen = self.states.entry(state).or_default();
            *seen += 1;
            *seen - 1
        };
        class(count(state.near), count(state.nearby), count(state.full))
    }

    /// Makes a node of an input that can go on.
    pub fn make_node(
        &mut self,
        parent: u32,
        input: &[u8],
        sight: &Sight,
        glance: &mut Glance,
        known: &mut Knowledge,
    ) -> Option<u32> {
        let class = self.class_of(sight.state);
        let class = if known.is_first(&glance.fresh) { 0 } else { class };
        let from = self.nodes.at(parent);
        let node = Node {
            input: input.into(),
            parent,
            steps: from.steps + 1,
            state: sight.state,
            class,
            depth: sight.depth,
            dead: false,
            tries: 0,
            wishes: std::mem::take(&mut glance.wishes).into(),
            fresh: glance.fresh.as_slice().into(),
            entry: from.entry,
        };
        let node = self.nodes.add(node)?;
        let waiting = self.waiting.entry(sight.state.near).or_default();
        if !glance.fresh.is_empty() && waiting.len() < WAITING {
            waiting.push(node);
        }
        Some(node)
    }

    /// It was learned how to close a state.
    pub fn close_again(&mut self, state: u64) {
        self.again.extend(self.waiting.get(&state).into_iter().flatten());
    }

    /// Draws a node where words may stand.
    pub fn draw_open(&self, rng: &mut Rng) -> Option<u32> {
        let count = self.open.len() as u32;
        (count > 0).then(|| self.open[rng.below(count) as usize])
    }
}

/// How many classes later an offer comes for what it is.
pub fn doubts(kind: Kind) -> u32 {
    u32::from(matches!(kind, Kind::Neighbour | Kind::Guess | Kind::Word))
}

fn merits(node: &Node, keep: usize, text: &[u8], kind: Kind, fresh: usize) -> ItemMerits {
    let added = if matches!(kind, Kind::Token | Kind::Text) { 1 } else { text.len() };
    ItemMerits {
        class: node.class,
        dead: node.dead,
        length: keep + added,
        blank: text.iter().all(u8::is_ascii_whitespace),
        depth: node.depth,
        fresh,
        steps: node.steps,
        tries: if kind == Kind::Text { 0 } else { node.tries },
        compared: kind == Kind::Text,
    }
}
