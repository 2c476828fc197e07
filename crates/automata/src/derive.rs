//! From a walk to the derivation that it stands for.
//!
//! In:  an automaton that was built from a grammar, and a walk.
//! Out: a [`Derivation`] of the form's grammar with the same bytes.
//!
//! Each item on the stack of a state belongs to a node of the tree that is
//! still open; a step says, by the way that its slot came about, which nodes
//! begin. Where the normal form forgot how the empty text is derived, or ran
//! once through a circle of rules that derive themselves, the shortest way
//! is put back: the derivation is canonical there.

use crate::automaton::{Built, Step};
use crate::form::expand::units;
use crate::form::{Form, ItemKind, NONE, Part, part};
use crate::labels::Leaf;
use wug_grammar::derivation::{Derivation, Forwards, Node};
use wug_grammar::{AltId, BodyId, Symbol};

/// A derivation has at most this many nodes.
const MAX_NODES: usize = 1 << 26;

/// Why a walk has no derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Underived {
    /// It is no walk of an input.
    NoWalk,
    /// The derivation is too large: nothing but empty texts, by the million.
    TooLarge,
}

impl Built {
    /// The derivation of a walk, by [`Form::grammar`].
    pub fn derivation(&self, walk: &[Step]) -> Result<Derivation, Underived> {
        let automaton = &self.automaton;
        let mut derive = Derive { form: &self.form, tree: Vec::new(), frames: Vec::new() };
        let start = Part::Body(self.form.grammar.rule(self.form.grammar.start()).body);
        let root = derive.begin(start);
        if automaton.states[automaton.start as usize].accepting && walk.is_empty() {
            derive.resolve_empty(root, start)?;
            return derive.write(root);
        }
        derive.frames.push(Frame { item: self.form.start, tree: root, hole: root });
        let mut state = automaton.start;
        for &step in walk {
            let (place, member) = automaton.decode(state, step).ok_or(Underived::NoWalk)?;
            let transition = automaton.row(state)[place as usize];
            let (slot, member) = automaton.labels.find(transition.label, member).ok_or(Underived::NoWalk)?;
            // What lies below what was pushed is below the item on top.
            let mut base = self.stack_of[transition.target as usize];
            for _ in self.form.pushed(transition.label) {
                base = self.stacks[base as usize].below;
            }
            let mut stack = self.stack_of[state as usize];
            while self.stacks[stack as usize].below != base {
                derive.close()?;
                stack = self.stacks[stack as usize].below;
            }
            let slot = automaton.labels.labels[transition.label as usize].first + slot as u32;
            derive.step(slot, member)?;
            state = transition.target;
        }
        if !automaton.states[state as usize].accepting {
            return Err(Underived::NoWalk);
        }
        while !derive.frames.is_empty() {
            derive.close()?;
        }
        derive.write(root)
    }
}

/// An item on the stack and the node that it goes on with.
struct Frame {
    item: u32,
    tree: u32,
    /// Where a left-recursive part stands that is not whole yet.
    hole: u32,
}

/// A node of the tree.
struct Tree {
    kind: Kind,
    first: u32,
    last: u32,
    next: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A body; its alternative is known when it ends.
    Body(Option<AltId>),
    Repeat(u32),
    Member(u32),
    /// A left-recursive part: the node that it turns out to be.
    Hole(u32),
}

struct Derive<'f> {
    form: &'f Form,
    tree: Vec<Tree>,
    frames: Vec<Frame>,
}

impl Derive<'_> {
    fn node(&mut self, kind: Kind) -> u32 {
        self.tree.push(Tree { kind, first: NONE, last: NONE, next: NONE });
        self.tree.len() as u32 - 1
    }

    fn append(&mut self, parent: u32, child: u32) {
        match self.tree[parent as usize].last {
            NONE => self.tree[parent as usize].first = child,
            last => self.tree[last as usize].next = child,
        }
        self.tree[parent as usize].last = child;
    }

    /// A node for a part that begins.
    fn begin(&mut self, part: Part) -> u32 {
        let start = self.form.starts[self.form.corners.number(part) as usize];
        match self.form.items.get(start as usize).map(|item| item.kind) {
            Some(ItemKind::Goal(_)) => self.node(Kind::Hole(NONE)),
            _ => self.open(part),
        }
    }

    fn open(&mut self, part: Part) -> u32 {
        self.node(match part {
            Part::Body(_) => Kind::Body(None),
            Part::Repeat(_) => Kind::Repeat(0),
        })
    }

    /// Takes a slot of the item on top.
    fn step(&mut self, mut slot: u32, member: u32) -> Result<(), Underived> {
        let Some(Frame { mut item, mut tree, mut hole }) = self.frames.pop() else {
            return Err(Underived::NoWalk);
        };
        loop {
            let via = self.form.vias[slot as usize];
            let mut from = match self.form.items[item as usize].kind {
                ItemKind::Rest(node) => node,
                ItemKind::Rounds(repeat, _) => {
                    let body = Part::Body(self.form.grammar.repeat(repeat).body);
                    let child = self.round(tree, body);
                    self.land(via.land, tree, hole)?;
                    (item, tree, hole, slot) = (self.start_of(body), child, child, via.inner);
                    continue;
                }
                ItemKind::Goal(goal) => {
                    // The first symbol stands in this part of the circle.
                    let whole = self.form.corners.part(via.corner);
                    let done = self.open(whole);
                    self.land(self.form.lefts[&(goal, via.corner)], done, hole)?;
                    tree = done;
                    let Part::Body(body) = whole else { return Err(Underived::NoWalk) };
                    self.form.tries.roots[body.index()]
                }
                ItemKind::Left(goal, done) => {
                    let corner = self.form.corners.corners[via.corner as usize];
                    let (part, child) = self.lift(done, tree, corner.first)?;
                    debug_assert_eq!(part, corner.first);
                    tree = self.wrap(via.corner, child)?;
                    self.land(self.form.lefts[&(goal, corner.whole)], tree, hole)?;
                    (item, slot) = (via.land, via.inner);
                    continue;
                }
            };
            let to = match via.land {
                NONE => match self.form.labels.slots[slot as usize].leaf {
                    Leaf::Words { first, .. } => self.form.word_nodes[(first + member) as usize],
                    Leaf::Class(_) => return Err(Underived::NoWalk),
                },
                land => land,
            };
            self.skip(&mut from, to, tree)?;
            match self.form.tries.nodes[to as usize].symbol {
                Some(Symbol::Bytes(_)) | None => {}
                Some(Symbol::Class(class)) => {
                    let value = self.form.grammar.class(class).member(member);
                    let leaf = self.node(Kind::Member(value));
                    self.append(tree, leaf);
                }
                Some(symbol) => {
                    let called = part(&self.form.grammar, symbol).ok_or(Underived::NoWalk)?;
                    let child = self.begin(called);
                    self.append(tree, child);
                    self.land(to, tree, hole)?;
                    (item, tree, hole, slot) = (self.start_of(called), child, child, via.inner);
                    continue;
                }
            }
            return self.land(to, tree, hole);
        }
    }

    fn start_of(&self, part: Part) -> u32 {
        self.form.starts[self.form.corners.number(part) as usize]
    }

    /// One more round of a repetition.
    fn round(&mut self, repeat: u32, body: Part) -> u32 {
        if let Kind::Repeat(count) = &mut self.tree[repeat as usize].kind {
            *count += 1;
        }
        let child = self.begin(body);
        self.append(repeat, child);
        child
    }

    /// Goes on with an item later, or ends it if it can only be empty.
    fn land(&mut self, item: u32, tree: u32, hole: u32) -> Result<(), Underived> {
        self.frames.push(Frame { item, tree, hole });
        if self.form.transitions_of(item).is_empty() { self.close() } else { Ok(()) }
    }

    /// Leaves the item on top empty.
    fn close(&mut self) -> Result<(), Underived> {
        let Some(Frame { item, tree, hole }) = self.frames.pop() else { return Err(Underived::NoWalk) };
        match self.form.items[item as usize].kind {
            ItemKind::Rest(node) => self.end(node, tree),
            ItemKind::Rounds(repeat, _) => {
                let repeat = *self.form.grammar.repeat(repeat);
                while let Kind::Repeat(count) = self.tree[tree as usize].kind
                    && count < repeat.min
                {
                    self.tree[tree as usize].kind = Kind::Repeat(count + 1);
                    self.empty(Part::Body(repeat.body), tree)?;
                }
                Ok(())
            }
            ItemKind::Left(goal, done) => {
                let (_, whole) = self.lift(done, tree, goal)?;
                self.tree[hole as usize].kind = Kind::Hole(whole);
                Ok(())
            }
            ItemKind::Goal(goal) => self.resolve_empty(hole, self.form.corners.part(goal)),
        }
    }

    /// Wraps what is done in what is done with it, up to `goal`.
    fn lift(&mut self, done: u32, mut tree: u32, goal: u32) -> Result<(u32, u32), Underived> {
        let form = self.form;
        let landing = |whole: u32, node: u32| match form.corners.part(whole) {
            Part::Body(_) => node,
            Part::Repeat(repeat) => {
                let (first, last, _) = form.rounds[repeat.index()];
                first + last.min(1)
            }
        };
        let ways = units(&form.corners, done, |w, n| form.items[landing(w, n) as usize].nullable);
        let mut path = Vec::new();
        let mut at = goal;
        while at != done {
            let &(_, corner) = ways.iter().find(|&&(part, _)| part == at).ok_or(Underived::NoWalk)?;
            path.push(corner);
            at = form.corners.corners[corner as usize].first;
        }
        for corner in path.into_iter().rev() {
            let whole = self.wrap(corner, tree)?;
            let at = form.corners.corners[corner as usize];
            self.frames.push(Frame { item: landing(at.whole, at.node), tree: whole, hole: whole });
            self.close()?;
            tree = whole;
        }
        Ok((goal, tree))
    }

    /// Makes what stands first at a corner the first of a new whole.
    fn wrap(&mut self, corner: u32, first: u32) -> Result<u32, Underived> {
        let corner = self.form.corners.corners[corner as usize];
        let whole = self.form.corners.part(corner.whole);
        let tree = self.open(whole);
        match whole {
            Part::Body(body) => {
                let mut from = self.form.tries.roots[body.index()];
                self.skip(&mut from, corner.node, tree)?;
            }
            Part::Repeat(_) => self.tree[tree as usize].kind = Kind::Repeat(1),
        }
        // What stands first is no hole: it is whole already. It gets a node
        // of its own, since it may have a neighbour elsewhere.
        let child = self.node(Kind::Hole(first));
        self.append(tree, child);
        Ok(tree)
    }

    /// Derives nothing for the symbols between two nodes, the last apart.
    fn skip(&mut self, from: &mut u32, to: u32, tree: u32) -> Result<(), Underived> {
        let nodes = &self.form.tries.nodes;
        let mut way = Vec::new();
        let mut at = nodes[to as usize].parent;
        while at != *from && at != NONE {
            way.push(at);
            at = nodes[at as usize].parent;
        }
        for node in way.into_iter().rev() {
            let symbol = self.form.tries.nodes[node as usize].symbol;
            if let Some(part) = symbol.and_then(|symbol| part(&self.form.grammar, symbol)) {
                self.empty(part, tree)?;
            }
        }
        *from = to;
        Ok(())
    }

    /// Ends an alternative at a node, the rest being empty.
    fn end(&mut self, mut node: u32, tree: u32) -> Result<(), Underived> {
        let form = self.form;
        while form.tries.nodes[node as usize].end.is_none() {
            let mut children = form.tries.children(node);
            let empty = |&child: &u32| {
                let node = &form.tries.nodes[child as usize];
                let called = node.symbol.and_then(|symbol| part(&form.grammar, symbol));
                node.nullable && called.is_some_and(|part| form.tries.nullable(&form.grammar, part))
            };
            node = children.find(empty).ok_or(Underived::NoWalk)?;
            let symbol = form.tries.nodes[node as usize].symbol;
            if let Some(part) = symbol.and_then(|symbol| part(&form.grammar, symbol)) {
                self.empty(part, tree)?;
            }
        }
        self.tree[tree as usize].kind = Kind::Body(form.tries.nodes[node as usize].end);
        Ok(())
    }

    /// Appends a part that derives nothing.
    fn empty(&mut self, part: Part, parent: u32) -> Result<(), Underived> {
        let child = self.open(part);
        self.append(parent, child);
        self.fill_empty(child, part)
    }

    fn resolve_empty(&mut self, root: u32, part: Part) -> Result<(), Underived> {
        let whole = self.open(part);
        self.fill_empty(whole, part)?;
        self.tree[root as usize].kind = Kind::Hole(whole);
        Ok(())
    }

    /// Fills in the shortest way to derive nothing.
    fn fill_empty(&mut self, tree: u32, part: Part) -> Result<(), Underived> {
        let form = self.form;
        let mut open = vec![(tree, part)];
        while let Some((tree, part)) = open.pop() {
            if self.tree.len() > MAX_NODES {
                return Err(Underived::TooLarge);
            }
            match part {
                Part::Body(body) => {
                    let alt = form.empty_alternative(body).ok_or(Underived::NoWalk)?;
                    self.tree[tree as usize].kind = Kind::Body(Some(alt));
                    for &symbol in form.grammar.symbols(alt) {
                        let part = crate::form::part(&form.grammar, symbol).ok_or(Underived::NoWalk)?;
                        let child = self.open(part);
                        self.append(tree, child);
                        open.push((child, part));
                    }
                }
                Part::Repeat(repeat) => {
                    let repeat = *form.grammar.repeat(repeat);
                    self.tree[tree as usize].kind = Kind::Repeat(repeat.min);
                    for _ in 0..repeat.min {
                        if self.tree.len() > MAX_NODES {
                            return Err(Underived::TooLarge);
                        }
                        let child = self.open(Part::Body(repeat.body));
                        self.append(tree, child);
                        open.push((child, Part::Body(repeat.body)));
                    }
                }
            }
        }
        Ok(())
    }

    /// The tree as a derivation.
    fn write(&self, root: u32) -> Result<Derivation, Underived> {
        let mut derivation = Derivation::default();
        let mut out = Forwards::new(&mut derivation);
        // The next node of each open one, and the mark to close it with.
        let mut open: Vec<(u32, Option<usize>)> = vec![(root, None)];
        while let Some((next, mark)) = open.last_mut() {
            if *next == NONE {
                if let Some(mark) = *mark {
                    out.close(mark);
                }
                open.pop();
                continue;
            }
            let mut at = *next;
            // The first has no neighbours.
            *next = if mark.is_none() { NONE } else { self.tree[at as usize].next };
            while let Kind::Hole(whole) = self.tree[at as usize].kind {
                at = whole;
                if at == NONE {
                    return Err(Underived::NoWalk);
                }
            }
            let node = match self.tree[at as usize].kind {
                Kind::Body(Some(alt)) => Node::Alternative(alt),
                Kind::Repeat(count) => Node::Repeat(count),
                Kind::Member(value) => Node::Member(value),
                Kind::Body(None) | Kind::Hole(_) => return Err(Underived::NoWalk),
            };
            let mark = out.open(node);
            open.push((self.tree[at as usize].first, Some(mark)));
        }
        Ok(derivation)
    }
}

impl Form {
    /// The alternative with which a body derives the empty text soonest.
    fn empty_alternative(&self, body: BodyId) -> Option<AltId> {
        self.empty_alternatives[body.index()]
    }
}
