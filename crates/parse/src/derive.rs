//! One derivation out of a forest.
//!
//! In:  the label of the whole input.
//! Out: a [`Derivation`], and how many of its nodes could be derived in
//!      another way.
//!
//! Where there are several ways the one with the greatest weight is taken,
//! then the one whose alternative comes first, then the one whose first
//! part is longest. On a circle (a rule that derives itself without any
//! text) the way round it is never taken. So the choice is a matter of
//! grammar and input alone.
//!
//! Works from the end of the input to its beginning, with a stack of its
//! own: that is the order in which a trace can be read, and the order in
//! which sizes of subtrees are known when they are needed.

use crate::automaton::Automaton;
use crate::cursor::{Cursor, Read};
use crate::forest::{Forest, Label, Way};
use crate::form::{Form, Key, Op};
use crate::text::Text;
use hashbrown::HashMap;
use std::ops::Range;
use wug_grammar::derivation::{Backwards, MAX_NUMBER, Node};
use wug_grammar::{BodyId, Derivation, Grammar, Symbol, SymbolId};

/// Writes a derivation from its end.
pub(crate) struct Derive<'a> {
    grammar: &'a Grammar,
    form: &'a Form,
    automaton: &'a Automaton,
    forest: &'a Forest,
    text: Text<'a>,
    /// Letters that are not written yet.
    left: usize,
    cursor: Cursor,
    out: Backwards,
    work: Vec<Work>,
    /// Rounds of the repetitions that are open.
    counts: Vec<u32>,
    /// Ways of nodes on circles.
    chosen: HashMap<u32, u32>,
    ambiguities: u64,
    /// Where islands are looked for: whether none is open.
    outside: Option<bool>,
}

/// A production of which the operations before `next` are to be done.
#[derive(Clone, Copy, Debug)]
struct Frame {
    production: u32,
    next: u32,
    /// Nodes when it was begun.
    mark: u32,
    /// The way that has its nonterminals; the trace has them if none does.
    way: u32,
    met: u32,
}

/// No way: see [`Frame::way`].
const TRACE: u32 = u32::MAX;

enum Work {
    Frame(Frame),
    Close(Node, usize),
    CloseList(usize),
    Empty(SymbolId),
    /// So many empty rounds or calls of a body.
    EmptyBody(BodyId, u32),
    Read(Cursor),
    /// An island ends, which began with so many letters left; what was
    /// written before it.
    Island(Key, usize, Box<Backwards>),
}

/// There would be more nodes than the limit on memory allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Takes an island: its nonterminal, its bytes and its derivation.
pub(crate) type Found<'a> = dyn FnMut(Key, Range<usize>, Derivation) + 'a;

/// A derivation, and how many of its nodes can be derived in another way.
pub(crate) type Derived = (Derivation, u64);

impl<'a> Derive<'a> {
    pub fn new(
        grammar: &'a Grammar,
        form: &'a Form,
        automaton: &'a Automaton,
        forest: &'a Forest,
        text: Text<'a>,
    ) -> Derive<'a> {
        let left = match text {
            Text::Bytes(text) => text.len(),
            Text::Tokens(_, tokens) => tokens.len(),
        };
        Derive {
            grammar,
            form,
            automaton,
            forest,
            text,
            left,
            cursor: Cursor { at: 0, left: 0 },
            out: Backwards::default(),
            work: Vec::new(),
            counts: Vec::new(),
            chosen: HashMap::new(),
            ambiguities: 0,
            outside: None,
        }
    }

    /// The derivation of the whole input; without a label, of the empty one.
    pub fn run(mut self, root: Option<Label>, most: usize) -> Result<Derived, TooMany> {
        let most = most.min(MAX_NUMBER as usize);
        if let Text::Tokens(text, tokens) = self.text {
            let end = tokens.last().map_or(0, |t| t.end as usize);
            if end < text.len() {
                self.out.leaf(&text[end..], true);
            }
        }
        match root {
            Some(root) => {
                if self.form.cyclic.iter().any(|&c| c) {
                    self.break_circles();
                }
                self.begin(root);
            }
            None => self.work.push(Work::EmptyBody(self.grammar.rule(self.grammar.start()).body, 1)),
        }
        self.work(most, &mut |_, _, _| {})?;
        Ok((self.out.finish(), self.ambiguities))
    }

    /// Hands all subtrees of rules below a label to `found`, which ends
    /// after `end` letters; those inside of others apart.
    pub fn islands(
        &mut self,
        label: Label,
        end: usize,
        most: usize,
        found: &mut Found<'_>,
    ) -> Result<(), TooMany> {
        if self.outside.is_none() && self.form.cyclic.iter().any(|&c| c) {
            self.break_circles();
        }
        self.outside = Some(true);
        self.left = end;
        self.begin(label);
        self.work(most.min(MAX_NUMBER as usize), found)
    }

    fn work(&mut self, most: usize, found: &mut Found<'_>) -> Result<(), TooMany> {
        while let Some(work) = self.work.pop() {
            if self.out.len() > most {
                return Err(TooMany);
            }
            match work {
                Work::Frame(frame) => self.frame(frame),
                Work::Close(node, mark) => self.out.close(node, mark),
                Work::CloseList(mark) => {
                    let count = self.counts.pop().unwrap_or(0);
                    self.out.close(Node::Repeat(count), mark);
                }
                Work::Empty(symbol) => self.empty(symbol),
                Work::EmptyBody(body, times) => self.empty_body(body, times),
                Work::Read(cursor) => self.cursor = cursor,
                Work::Island(key, end, outer) => {
                    let island = std::mem::replace(&mut self.out, *outer);
                    found(key, self.text.boundary(self.left)..self.text.boundary(end), island.finish());
                    self.outside = Some(true);
                }
            }
        }
        Ok(())
    }

    /// Does the operations of a production, the last one first, and of those
    /// below it as long as nothing else has to be done before.
    fn frame(&mut self, mut frame: Frame) {
        let mut ops = self.form.ops_of(frame.production);
        while frame.next > 0 {
            frame.next -= 1;
            match ops[frame.next as usize] {
                Op::Alternative(alt) => self.out.close(Node::Alternative(alt), frame.mark as usize),
                Op::Literal(bytes) => self.left -= bytes as usize,
                Op::Member => {
                    self.left -= 1;
                    self.out.member(u32::from(self.text.bytes()[self.left]));
                }
                Op::Char(bytes) => self.char(bytes as usize),
                Op::Token => self.token(),
                op @ (Op::Kid | Op::List | Op::Item) => {
                    let way = frame.way;
                    let met = frame.met as usize;
                    frame.met += 1;
                    if frame.next > 0 {
                        self.work.push(Work::Frame(frame));
                    }
                    match op {
                        Op::List => {
                            self.work.push(Work::CloseList(self.out.len()));
                            self.counts.push(0);
                        }
                        Op::Item => self.count(1),
                        _ => {}
                    }
                    let below = match way {
                        TRACE => self.read(),
                        way => self.label(self.forest.way(way).kids[met & 1]),
                    };
                    let Some(below) = below else { return };
                    frame = below;
                    ops = self.form.ops_of(frame.production);
                }
                Op::Empty(symbol) => {
                    if frame.next > 0 {
                        self.work.push(Work::Frame(frame));
                    }
                    return self.empty(symbol);
                }
                Op::Pad(body, rounds) => {
                    self.count(rounds);
                    if frame.next > 0 {
                        self.work.push(Work::Frame(frame));
                    }
                    return self.work.push(Work::EmptyBody(body, rounds));
                }
            }
        }
    }

    /// A member of a class that has characters of several bytes.
    fn char(&mut self, bytes: usize) {
        self.left -= bytes;
        let text = &self.text.bytes()[self.left..self.left + bytes];
        let value = match *text {
            [byte] => u32::from(byte),
            _ => std::str::from_utf8(text).ok().and_then(|t| t.chars().next()).map_or(0, u32::from),
        };
        self.out.member(value);
    }

    fn count(&mut self, rounds: u32) {
        if let Some(count) = self.counts.last_mut() {
            *count += rounds;
        }
    }

    fn token(&mut self) {
        let Text::Tokens(text, tokens) = self.text else { return };
        self.left -= 1;
        let token = tokens[self.left];
        self.out.leaf(&text[token.start as usize..token.end as usize], false);
        let before = self.left.checked_sub(1).map_or(0, |i| tokens[i].end);
        if before < token.start {
            self.out.leaf(&text[before as usize..token.start as usize], true);
        }
    }

    /// Leaves the tree of a label as work.
    fn begin(&mut self, label: Label) {
        if let Some(frame) = self.label(label) {
            self.work.push(Work::Frame(frame));
        }
    }

    fn production(&mut self, production: u32, way: u32) -> Option<Frame> {
        if self.outside == Some(true) {
            let lhs = self.form.production(production).lhs as usize;
            if self.form.written[lhs] {
                let key = self.form.keys[lhs];
                self.work.push(Work::Island(key, self.left, Box::new(std::mem::take(&mut self.out))));
                self.outside = Some(false);
            }
        }
        let next = self.form.ops_of(production).len() as u32;
        Some(Frame { production, next, mark: self.out.len() as u32, way, met: 0 })
    }

    fn label(&mut self, label: Label) -> Option<Frame> {
        match label {
            Label::Letter => None,
            Label::Trace(at) => {
                self.work.push(Work::Read(self.cursor));
                self.cursor = Cursor { at, left: 0 };
                self.read()
            }
            Label::Node(node) => self.node(node),
        }
    }

    /// Begins the tree that ends at the cursor.
    fn read(&mut self) -> Option<Frame> {
        match self.cursor.read(self.forest, self.automaton)? {
            Read::Production(production) => self.production(production, TRACE),
            Read::Label(label) => self.label(label),
        }
    }

    fn node(&mut self, node: u32) -> Option<Frame> {
        let mut ways = self.forest.ways(node);
        let (first, _) = ways.next()?;
        let way = if ways.next().is_none() {
            first
        } else {
            self.ambiguities += 1;
            match self.chosen.get(&node) {
                Some(&way) => way,
                None => self.best(node, |_| true).unwrap_or(first),
            }
        };
        self.production(self.forest.way(way).production, way)
    }

    /// The best way of a node among those that are `open`.
    fn best(&self, node: u32, open: impl Fn(&Way) -> bool) -> Option<u32> {
        use std::cmp::Reverse;
        let ways = self.forest.ways(node).filter(|(_, way)| open(way));
        let rank = |way: &Way| {
            let weight = self.form.production(way.production).weight;
            (Reverse(weight), way.production, Reverse(way.split))
        };
        ways.min_by_key(|(_, way)| rank(way)).map(|(number, _)| number)
    }

    /// Chooses for all nodes on circles, in rounds: what does not go round
    /// first, then what leads to that.
    fn break_circles(&mut self) {
        let on_circle = |n: u32| self.form.cyclic[self.forest.node(n).nonterminal as usize];
        let mut open: Vec<u32> = (0..self.forest.nodes()).filter(|&n| on_circle(n)).collect();
        loop {
            let mut found = Vec::new();
            for &node in &open {
                let here = self.forest.node(node);
                let ends = |label: &Label| match *label {
                    Label::Node(kid) => {
                        let k = self.forest.node(kid);
                        let inside = (k.start, k.end) != (here.start, here.end);
                        inside || !on_circle(kid) || self.chosen.contains_key(&kid)
                    }
                    _ => true,
                };
                found.extend(self.best(node, |way| way.kids.iter().all(ends)).map(|way| (node, way)));
            }
            if found.is_empty() {
                return;
            }
            self.chosen.extend(found);
            open.retain(|node| !self.chosen.contains_key(node));
        }
    }

    fn empty(&mut self, symbol: SymbolId) {
        match self.grammar.symbol(symbol.0) {
            Symbol::Rule(rule) => self.empty_body(self.grammar.rule(rule).body, 1),
            Symbol::Group(body) => self.empty_body(body, 1),
            Symbol::Repeat(repeat) => {
                let repeat = *self.grammar.repeat(repeat);
                self.work.push(Work::Close(Node::Repeat(repeat.min), self.out.len()));
                self.work.push(Work::EmptyBody(repeat.body, repeat.min));
            }
            // Neither is ever empty.
            Symbol::Bytes(_) | Symbol::Class(_) => {}
        }
    }

    fn empty_body(&mut self, body: BodyId, times: u32) {
        let Some(alt) = self.form.facts.empty(body).filter(|_| times > 0) else { return };
        if times > 1 {
            self.work.push(Work::EmptyBody(body, times - 1));
        }
        self.work.push(Work::Close(Node::Alternative(alt), self.out.len()));
        self.work.extend(self.grammar.numbered(alt).map(|(id, _)| Work::Empty(id)));
    }
}
