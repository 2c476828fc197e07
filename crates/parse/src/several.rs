//! Several stacks at once, as one graph (generalised LR).
//!
//! In:  the plain parser's stack, where there is more than one thing to do.
//! Out: the same stack further on, when one is left; or how it ended.
//!
//! A node is a state after so many letters; an edge is a symbol between two
//! of them. All stacks read the same letter together. Since no production
//! is empty, every edge goes to an earlier level, so a new edge can only
//! begin paths, never complete others: each is walked once, and neither
//! hidden recursion nor circles need more than that. Productions have at
//! most two nonterminals, so paths are cubic in the length of the input.

use crate::action::Do;
use crate::engine::{DET, Element, End, Engine, Input, NONE, Scratch};
use crate::forest::{Label, Mark, Small};

#[derive(Clone, Copy, Debug)]
struct Node {
    state: u32,
    level: u32,
    first: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    label: Label,
    next: u32,
}

/// The stacks as a graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The nodes of the current level, by state.
    tops: Vec<u32>,
    by_state: Small<u32, u32>,
    /// The edges from the current level.
    links: Small<(u32, u32), ()>,
    /// Edges whose paths are still to be walked, with their nodes.
    work: Vec<(u32, u32)>,
    paths: Vec<Path>,
    pub reductions: Vec<u32>,
    /// States that were tried, with what is below them.
    pub tried: Vec<(u32, u32)>,
    pub open: Vec<u32>,
}

/// A way down from a top.
#[derive(Clone, Copy, Debug)]
struct Path {
    at: u32,
    left: u32,
    kids: [Label; 2],
    met: usize,
    split: u32,
}

/// The bit of a handle that stands for a state that was only tried.
pub(crate) const TRIED: u32 = 1 << 30;
/// Limits are looked at after so many steps.
const CHECK: u64 = 1 << 12;

impl Graph {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.edges.len() * size_of::<Edge>() + self.links.len() * 24
    }

    pub fn edges(&self, node: u32) -> impl Iterator<Item = (u32, Label)> {
        let mut next = self.nodes[node as usize].first;
        std::iter::from_fn(move || {
            let edge = self.edges.get(next as usize)?;
            next = edge.next;
            Some((edge.to, edge.label))
        })
    }

    fn node(&mut self, state: u32, level: u32) -> u32 {
        self.nodes.push(Node { state, level, first: NONE });
        self.nodes.len() as u32 - 1
    }

    fn link(&mut self, from: u32, to: u32, label: Label) -> u32 {
        let next = self.nodes[from as usize].first;
        self.edges.push(Edge { to, label, next });
        self.nodes[from as usize].first = self.edges.len() as u32 - 1;
        self.edges.len() as u32 - 1
    }

    fn top(&mut self, state: u32, level: u32) -> u32 {
        let fresh = self.nodes.len() as u32;
        let node = *self.by_state.entry(state, fresh);
        if node == fresh {
            self.node(state, level);
            self.tops.push(node);
        }
        node
    }
}

impl<I: Input> Engine<'_, I> {
    /// Goes on from letter `at` with all that can be done, until one stack
    /// is left: gives the letter where it goes on plainly.
    pub fn several(&mut self, mut at: usize) -> Result<usize, End> {
        self.enter(at as u32);
        loop {
            self.automaton.trim();
            if let Some(limit) = self.over_limit() {
                return Err(End::Limit(limit, at));
            }
            let letter = self.input.letter(at);
            let before = self.scratch.graph.tops.clone();
            self.reduce_all(letter, at)?;
            if at == self.input.len() {
                return Err(self.accepted(letter).unwrap_or(End::Rejected(at, before)));
            }
            let tops = std::mem::take(&mut self.scratch.graph.tops);
            self.scratch.graph.by_state.clear();
            self.scratch.graph.links.clear();
            at += 1;
            for &top in &tops {
                let state = self.scratch.graph.nodes[top as usize].state;
                let what = self.automaton.action(self.form, self.follow, state, letter);
                if let Some(to) = self.automaton.offers(what).0 {
                    let graph = &mut self.scratch.graph;
                    let node = graph.top(to, at as u32);
                    graph.link(node, top, Label::Letter);
                }
            }
            match self.scratch.graph.tops[..] {
                [] => return Err(End::Rejected(at - 1, before)),
                [one] => {
                    self.leave(one);
                    return Ok(at);
                }
                _ => {}
            }
        }
    }

    /// Makes the top of the stack a node.
    fn enter(&mut self, level: u32) {
        let top = self.scratch.stack.len() - 1;
        let label = self.label(top);
        let Scratch { graph, stack, .. } = &mut *self.scratch;
        graph.tops.clear();
        graph.by_state.clear();
        graph.links.clear();
        let Element { state, join, .. } = stack[top];
        if join == NONE {
            let node = graph.top(state, level);
            if top > 0 {
                graph.link(node, DET | (top as u32 - 1), label);
            }
        } else {
            graph.by_state.entry(state, join);
            graph.tops.push(join);
        }
    }

    /// Makes the only stack that is left the plain one.
    fn leave(&mut self, top: u32) {
        let Scratch { graph, stack, forest, joins, .. } = &mut *self.scratch;
        let mut chain = Vec::new();
        let mut at = top;
        while at & DET == 0 {
            let node = graph.nodes[at as usize];
            let mut edges = graph.edges(at);
            let (Some((to, label)), None) = (edges.next(), edges.next()) else { break };
            chain.push((node, label));
            at = to;
        }
        if at & DET == 0 {
            let node = graph.nodes[at as usize];
            joins.push(stack.len() as u32);
            let mark = forest.trace.len() as u32;
            stack.push(Element { state: node.state, mark, level: node.level, join: at });
        } else {
            // What was above it on the stack no stack goes through any more.
            let keep = (at & !DET) as usize;
            stack.truncate(keep + 1);
            while joins.last().is_some_and(|&join| join as usize > keep) {
                joins.pop();
            }
            if forest.trace.len() as u32 != stack[keep].mark {
                forest.push(Mark::Jump(stack[keep].mark));
            }
        }
        for (node, label) in chain.into_iter().rev() {
            match label {
                Label::Letter => {}
                Label::Trace(at) => forest.push(Mark::Trace(at)),
                Label::Node(node) => forest.push(Mark::Node(node)),
            }
            let mark = forest.trace.len() as u32;
            stack.push(Element { state: node.state, mark, level: node.level, join: NONE });
        }
    }

    /// The label of the whole input, if one stack has it.
    fn accepted(&mut self, letter: u32) -> Option<End> {
        for top in self.scratch.graph.tops.clone() {
            let state = self.scratch.graph.nodes[top as usize].state;
            if self.automaton.action(self.form, self.follow, state, letter) == Do::Accept {
                let (_, label) = self.scratch.graph.edges(top).next()?;
                return Some(End::Accepted(label));
            }
        }
        None
    }

    /// Does all reductions before `letter` is read.
    fn reduce_all(&mut self, letter: u32, at: usize) -> Result<(), End> {
        self.scratch.graph.work.clear();
        for i in 0..self.scratch.graph.tops.len() {
            let top = self.scratch.graph.tops[i];
            let mut edge = self.scratch.graph.nodes[top as usize].first;
            while edge != NONE {
                self.scratch.graph.work.push((top, edge));
                edge = self.scratch.graph.edges[edge as usize].next;
            }
        }
        let mut next_check = self.scratch.steps + CHECK;
        while let Some((top, edge)) = self.scratch.graph.work.pop() {
            let state = self.scratch.graph.nodes[top as usize].state;
            let mut reductions = std::mem::take(&mut self.scratch.graph.reductions);
            self.offered(state, letter, &mut reductions);
            for &production in &reductions {
                self.walk(production, edge, at as u32);
            }
            self.scratch.graph.reductions = reductions;
            if self.scratch.steps >= next_check {
                next_check = self.scratch.steps + CHECK;
                if let Some(limit) = self.over_limit() {
                    return Err(End::Limit(limit, at));
                }
            }
        }
        Ok(())
    }

    /// The reductions in a state at a letter.
    pub fn offered(&mut self, state: u32, letter: u32, out: &mut Vec<u32>) {
        out.clear();
        match self.automaton.action(self.form, self.follow, state, letter) {
            Do::Reduce(production) => out.push(production),
            what => out.extend_from_slice(self.automaton.offers(what).1),
        }
    }

    /// The first reduction in a state at a letter.
    pub fn first_offer(&mut self, state: u32, letter: u32) -> Option<u32> {
        match self.automaton.action(self.form, self.follow, state, letter) {
            Do::Reduce(production) => Some(production),
            what => self.automaton.offers(what).1.first().copied(),
        }
    }

    /// Reduces along all paths that begin with `edge`.
    fn walk(&mut self, production: u32, edge: u32, at: u32) {
        let p = *self.form.production(production);
        let mut paths = std::mem::take(&mut self.scratch.graph.paths);
        let first = Path { at: NONE, left: p.len, kids: [Label::Letter; 2], met: 0, split: 0 };
        let Edge { to, label, .. } = self.scratch.graph.edges[edge as usize];
        paths.push(self.step(first, to, label));
        while let Some(path) = paths.pop() {
            self.scratch.steps += 1;
            if path.left > 0 {
                self.each_edge(path.at, |engine, to, label| paths.push(engine.step(path, to, label)));
                continue;
            }
            let (below, start) = (self.state_of(path.at), self.level_of(path.at));
            let way = (production, path.split, path.kids);
            let node = self.scratch.forest.add(p.lhs, start, at, way);
            let state = self.automaton.goto(self.form, below, p.lhs);
            let graph = &mut self.scratch.graph;
            let top = graph.top(state, at);
            if graph.links.is_new((top, path.at)) {
                let edge = graph.link(top, path.at, Label::Node(node));
                graph.work.push((top, edge));
            }
        }
        self.scratch.graph.paths = paths;
    }

    fn step(&self, mut path: Path, to: u32, label: Label) -> Path {
        if label != Label::Letter && path.met < 2 {
            path.kids[path.met] = label;
            if path.met == 0 {
                path.split = self.level_of(to);
            }
            path.met += 1;
        }
        Path { at: to, left: path.left - 1, ..path }
    }

    /// The state that a handle stands for.
    pub fn state_of(&self, handle: u32) -> u32 {
        if handle & DET != 0 {
            self.scratch.stack[(handle & !DET) as usize].state
        } else if handle & TRIED != 0 {
            self.scratch.graph.tried[(handle & !TRIED) as usize].0
        } else {
            self.scratch.graph.nodes[handle as usize].state
        }
    }

    /// Letters read when it was reached.
    pub fn level_of(&self, handle: u32) -> u32 {
        if handle & DET != 0 {
            self.scratch.stack[(handle & !DET) as usize].level
        } else {
            self.scratch.graph.nodes[handle as usize].level
        }
    }

    /// Calls `visit` for all that is right below a handle.
    pub fn each_edge(&self, handle: u32, mut visit: impl FnMut(&Self, u32, Label)) {
        if handle & DET != 0 {
            let at = (handle & !DET) as usize;
            let join = self.scratch.stack[at].join;
            if join != NONE {
                self.scratch.graph.edges(join).for_each(|(to, label)| visit(self, to, label));
            } else if at > 0 {
                visit(self, DET | (at as u32 - 1), self.label(at));
            }
        } else if handle & TRIED != 0 {
            visit(self, self.scratch.graph.tried[(handle & !TRIED) as usize].1, Label::Letter);
        } else {
            self.scratch.graph.edges(handle).for_each(|(to, label)| visit(self, to, label));
        }
    }
}
