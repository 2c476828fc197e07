//! The forest for those who want all of it.
//!
//! In:  what the parser left: a trace, and nodes where it was in doubt.
//! Out: [`Packed`]: nodes with all ways to derive them, each once, the
//!      trace written out as nodes of one way.
//!
//! A node is a nonterminal of the parser's own form of the grammar, so that
//! ways have at most two children: what is left of a long alternative, and
//! of a list, is a node without a body.

use crate::automaton::Automaton;
use crate::cursor::{Cursor, Read};
use crate::derive::TooMany;
use crate::forest::{Forest, Label};
use crate::form::{Form, Key, Op, What};
use hashbrown::HashMap;
use std::ops::Range;
use wug_grammar::{AltId, BodyId};

/// All derivations of an input. A node may be on a circle: it then has
/// derivations without end.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// The nodes; the first is the whole input.
    pub nodes: Vec<PackedNode>,
}

/// A part of an input.
#[derive(Clone, Debug)]
pub struct PackedNode {
    /// The body that derives it; none for what is left of an alternative,
    /// and for lists.
    pub body: Option<BodyId>,
    /// Where it stands, in bytes or tokens.
    pub span: Range<usize>,
    /// The ways to derive it.
    pub ways: Vec<PackedWay>,
}

/// One way to derive it.
#[derive(Clone, Debug, Default)]
pub struct PackedWay {
    /// The alternative, if it is one of a body.
    pub alternative: Option<AltId>,
    /// The nodes it consists of, the last one first; bytes and tokens, and
    /// what is empty, are not told.
    pub children: Vec<usize>,
}

impl Packed {
    /// How many derivations there are, ways to derive the empty text apart;
    /// none if there is no end of them. At the greatest number there are as
    /// many or more.
    pub fn derivations(&self) -> Option<u64> {
        let mut counts: Vec<Count> = vec![Count::New; self.nodes.len()];
        let mut work: Vec<usize> = (!self.nodes.is_empty()).then_some(0).into_iter().collect();
        while let Some(&node) = work.last() {
            match counts[node] {
                Count::New => {
                    counts[node] = Count::Open;
                    for &child in self.nodes[node].ways.iter().flat_map(|way| &way.children) {
                        match counts[child] {
                            Count::New => work.push(child),
                            Count::Open => return None,
                            Count::Known(_) => {}
                        }
                    }
                }
                Count::Open => {
                    let of = |child: &usize| match counts[*child] {
                        Count::Known(count) => count,
                        _ => 0,
                    };
                    let ways = self.nodes[node].ways.iter();
                    let each = ways.map(|w| w.children.iter().map(of).fold(1u64, u64::saturating_mul));
                    counts[node] = Count::Known(each.fold(0, u64::saturating_add));
                    work.pop();
                }
                Count::Known(_) => {
                    work.pop();
                }
            }
        }
        match counts.first()? {
            Count::Known(count) => Some(*count),
            _ => None,
        }
    }

    /// The nodes with several ways.
    pub fn ambiguous(&self) -> impl Iterator<Item = &PackedNode> {
        self.nodes.iter().filter(|node| node.ways.len() > 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    New,
    Open,
    Known(u64),
}

/// Writes a forest out.
pub(crate) struct Pack<'a> {
    pub form: &'a Form,
    pub automaton: &'a Automaton,
    pub forest: &'a Forest,
    pub packed: Packed,
    /// The numbers of nodes, and of trees in the trace by where they end.
    nodes: HashMap<u32, usize>,
    traces: HashMap<u32, usize>,
    /// Nodes whose ways are not written yet.
    open: Vec<u32>,
    cursor: Cursor,
    frames: Vec<Frame>,
}

/// A production whose symbols before `next` are to be read.
struct Frame {
    /// Of which node this is a way.
    node: usize,
    production: u32,
    next: u32,
    way: PackedWay,
    kids: Option<[Label; 2]>,
    /// Where the trace is read behind it, if it was read elsewhere.
    after: Option<Cursor>,
}

impl<'a> Pack<'a> {
    pub fn new(form: &'a Form, automaton: &'a Automaton, forest: &'a Forest) -> Pack<'a> {
        Pack {
            form,
            automaton,
            forest,
            packed: Packed::default(),
            nodes: HashMap::new(),
            traces: HashMap::new(),
            open: Vec::new(),
            cursor: Cursor { at: 0, left: 0 },
            frames: Vec::new(),
        }
    }

    /// All below `root`, which ends after `end` letters; at most `most`
    /// nodes.
    pub fn run(mut self, root: Label, end: usize, most: usize) -> Result<Packed, TooMany> {
        let mut left = end;
        self.label(root, left);
        loop {
            self.finish(&mut left, most)?;
            let Some(node) = self.open.pop() else { return Ok(self.packed) };
            let number = self.nodes[&node];
            for (_, way) in self.forest.ways(node) {
                left = self.forest.node(node).end as usize;
                self.begin(number, way.production, Some(way.kids), None);
                self.finish(&mut left, most)?;
            }
        }
    }

    /// Reads all productions that are begun to their ends.
    fn finish(&mut self, left: &mut usize, most: usize) -> Result<(), TooMany> {
        while let Some(mut frame) = self.frames.pop() {
            if self.packed.nodes.len() > most {
                return Err(TooMany);
            }
            if frame.next == 0 {
                self.packed.nodes[frame.node].span.start = *left;
                self.packed.nodes[frame.node].ways.push(frame.way);
                self.cursor = frame.after.unwrap_or(self.cursor);
                continue;
            }
            frame.next -= 1;
            let symbol = self.form.symbols_of(frame.production)[frame.next as usize];
            if !matches!(symbol.what(), What::Non(_)) {
                *left -= 1;
                self.frames.push(frame);
                continue;
            }
            let met = frame.way.children.len();
            let label = frame.kids.map(|kids| kids[met & 1]);
            // The child's own symbols are read before the rest of these.
            let place = self.frames.len();
            self.frames.push(frame);
            let child = match label {
                Some(label) => self.label(label, *left),
                None => self.read(*left),
            };
            self.frames[place].way.children.extend(child);
            if let Some(child) = child
                && self.frames.len() == place + 1
            {
                // It is known, or written later.
                *left = self.packed.nodes[child].span.start;
            }
        }
        Ok(())
    }

    fn node(&mut self, nonterminal: u32, span: Range<usize>) -> usize {
        let body = match self.form.keys[nonterminal as usize] {
            Key::Body(body) => Some(body),
            _ => None,
        };
        self.packed.nodes.push(PackedNode { body, span, ways: Vec::new() });
        self.packed.nodes.len() - 1
    }

    fn begin(&mut self, node: usize, production: u32, kids: Option<[Label; 2]>, after: Option<Cursor>) {
        let alternative = match self.form.ops_of(production).first() {
            Some(Op::Alternative(alt)) => Some(*alt),
            _ => None,
        };
        let way = PackedWay { alternative, children: Vec::new() };
        let next = self.form.production(production).len;
        self.frames.push(Frame { node, production, next, way, kids, after });
    }

    /// The number of what a label stands for, which ends after `end` letters.
    fn label(&mut self, label: Label, end: usize) -> Option<usize> {
        match label {
            Label::Letter => None,
            Label::Node(node) => Some(self.known(node)),
            Label::Trace(at) => {
                if let Some(&number) = self.traces.get(&at) {
                    return Some(number);
                }
                let after = std::mem::replace(&mut self.cursor, Cursor { at, left: 0 });
                let frames = self.frames.len();
                let number = self.read(end)?;
                self.traces.insert(at, number);
                match self.frames.get_mut(frames) {
                    Some(frame) => frame.after = frame.after.or(Some(after)),
                    // A node stands for it, so nothing is to be read.
                    None => self.cursor = after,
                }
                Some(number)
            }
        }
    }

    fn known(&mut self, node: u32) -> usize {
        if let Some(&number) = self.nodes.get(&node) {
            return number;
        }
        let here = *self.forest.node(node);
        let number = self.node(here.nonterminal, here.start as usize..here.end as usize);
        self.nodes.insert(node, number);
        self.open.push(node);
        number
    }

    /// The tree that ends at the cursor.
    fn read(&mut self, end: usize) -> Option<usize> {
        match self.cursor.read(self.forest, self.automaton)? {
            Read::Production(production) => {
                let node = self.node(self.form.production(production).lhs, end..end);
                self.begin(node, production, None, None);
                Some(node)
            }
            Read::Label(label) => self.label(label, end),
        }
    }
}
