//! Inputs that can go on: the parser looked beyond their end.

use super::closing::Stop;
use super::covered::Deed;
use super::demand::Wish;
use super::sight::State;
use wug_folder::EntryId;

/// Most nodes: the search forgets nothing before that, and takes in nothing
/// after it.
const MOST: usize = 1 << 20;
/// New deeds that are remembered of a node.
pub const FRESH: usize = 64;

/// An input that can go on.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its bytes.
    pub input: Box<[u8]>,
    /// What it was made from; itself at the root.
    pub parent: u32,
    /// Steps from nothing.
    pub steps: u32,
    /// The parser's state at its end.
    pub state: State,
    /// How new that is.
    pub class: u32,
    /// Frames on the stack.
    pub depth: f32,
    /// Whether nothing can follow, as it seems.
    pub dead: bool,
    /// What was tried behind it and led to nothing new.
    pub tries: u32,
    /// What the parser insisted on behind it.
    pub wishes: Box<[Wish]>,
    /// What it does that no valid input did.
    pub fresh: Box<[Deed]>,
    /// The last valid input on its way.
    pub entry: Option<EntryId>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    all: Vec<Node>,
}

impl Nodes {
    /// Adds one, if there is room.
    pub fn add(&mut self, node: Node) -> Option<u32> {
        (self.all.len() < MOST).then(|| {
            self.all.push(node);
            self.all.len() as u32 - 1
        })
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One of them.
    pub fn at(&self, node: u32) -> &Node {
        &self.all[node as usize]
    }

    /// The same, to change it.
    pub fn at_mut(&mut self, node: u32) -> &mut Node {
        &mut self.all[node as usize]
    }

    /// The states on the way to an input that was made from a node, shortest
    /// first: those of its ancestors that are a beginning of it.
    pub fn stops(&self, node: u32, input: &[u8]) -> Vec<Stop> {
        let mut stops: Vec<Stop> = Vec::new();
        let mut at = node;
        loop {
            let Node { input: before, state, parent, .. } = self.at(at);
            let shorter = stops.last().is_none_or(|stop| before.len() < stop.at);
            if shorter && before.len() < input.len() && input.starts_with(before) {
                stops.push(Stop { at: before.len(), state: *state });
            }
            if *parent == at {
                break;
            }
            at = *parent;
        }
        stops.reverse();
        stops
    }
}
