//! Which rules call which, and the recursion among them.

use super::least::{Cost, Least, Shortest};
use super::sites::Sites;
use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId, Symbol};

/// One call of a rule by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The rule called.
    pub to: RuleId,
    /// Nothing need stand before the call.
    pub leftmost: bool,
    /// Something can stand before the call.
    pub before: bool,
    /// Something can stand behind the call.
    pub after: bool,
    /// The alternative around the call derives something.
    pub productive: bool,
}

/// How a rule leads back to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recursion {
    /// One of its alternatives calls it.
    pub direct: bool,
    /// Other rules lead back to it.
    pub indirect: bool,
    /// It can call itself before any byte is derived.
    pub left: bool,
    /// It can stand inside itself with text on both sides: beyond what a
    /// finite automaton can do.
    pub self_embedding: bool,
}

impl Recursion {
    /// Whether it leads back to itself in any way.
    pub fn any(self) -> bool {
        self.direct || self.indirect
    }
}

/// Calls among rules, with their strongly connected components.
#[derive(Clone, Debug)]
pub struct Graph {
    first: Vec<u32>,
    edges: Vec<Edge>,
    /// Rules that lead to each other by calls that can be completed.
    pub components: Components,
    /// Recursion of each rule.
    pub recursion: Vec<Recursion>,
}

impl Graph {
    pub(super) fn of(
        grammar: &Grammar,
        sites: &Sites,
        depth: &Least<Cost>,
        length: &Least<Shortest>,
        nonempty: &[bool],
    ) -> Graph {
        let mut walk = Walk { grammar, sites, depth, length, nonempty, edges: Vec::new() };
        let mut first = vec![0u32];
        for rule in grammar.rules() {
            walk.body(
                grammar.rule(rule).body,
                Around { leftmost: true, before: false, after: false, productive: true },
            );
            first.push(walk.edges.len() as u32);
        }
        let edges = walk.edges;
        let components = components(&first, &edges, |e| e.productive);
        let mut graph = Graph { first, edges, components, recursion: Vec::new() };
        graph.recursion = graph.find_recursion();
        graph
    }

    /// The calls of a rule, in order.
    pub fn calls(&self, rule: RuleId) -> &[Edge] {
        &self.edges[self.first[rule.index()] as usize..self.first[rule.index() + 1] as usize]
    }

    /// Calls of a rule that stay in its component.
    pub fn inner_calls(&self, rule: RuleId) -> impl Iterator<Item = &Edge> {
        let own = self.components.of(rule);
        self.calls(rule).iter().filter(move |e| self.components.of(e.to) == own)
    }

    /// The rules that `start` leads to, itself included.
    pub fn reachable(&self, start: RuleId) -> Vec<bool> {
        let mut reached = vec![false; self.first.len() - 1];
        let mut stack = vec![start];
        reached[start.index()] = true;
        while let Some(rule) = stack.pop() {
            for edge in self.calls(rule) {
                if !std::mem::replace(&mut reached[edge.to.index()], true) {
                    stack.push(edge.to);
                }
            }
        }
        reached
    }

    fn find_recursion(&self) -> Vec<Recursion> {
        let mut found = vec![Recursion::default(); self.first.len() - 1];
        let left = components(&self.first, &self.edges, |e| e.leftmost && e.productive);
        for rules in self.components.iter() {
            // In a strongly connected component a call with text before it
            // and a call with text behind it lie on a common circle.
            let inner = || rules.iter().flat_map(|&r| self.inner_calls(r)).filter(|e| e.productive);
            let self_embedding = inner().any(|e| e.before) && inner().any(|e| e.after);
            for &rule in rules {
                found[rule.index()].direct = self.calls(rule).iter().any(|e| e.to == rule);
                found[rule.index()].indirect = rules.len() > 1;
                found[rule.index()].self_embedding = self_embedding;
            }
        }
        for (i, recursion) in found.iter_mut().enumerate() {
            let rule = RuleId(i as u32);
            let itself = |e: &&Edge| e.to == rule && e.leftmost && e.productive;
            recursion.left = left.with(rule).len() > 1 || self.calls(rule).iter().any(|e| itself(&e));
        }
        found
    }
}

/// What surrounds a symbol within its rule.
#[derive(Clone, Copy)]
struct Around {
    leftmost: bool,
    before: bool,
    after: bool,
    productive: bool,
}

struct Walk<'a> {
    grammar: &'a Grammar,
    sites: &'a Sites,
    depth: &'a Least<Cost>,
    length: &'a Least<Shortest>,
    nonempty: &'a [bool],
    edges: Vec<Edge>,
}

impl Walk<'_> {
    fn body(&mut self, body: BodyId, around: Around) {
        for alt in self.grammar.alternatives(body) {
            self.alternative(alt, around);
        }
    }

    fn alternative(&mut self, alt: AltId, mut around: Around) {
        around.productive &= self.depth.of_alternative(alt).is_some();
        let symbols = self.grammar.symbols(alt);
        // How many symbols from here on can derive text.
        let mut texts = symbols.iter().filter(|s| self.can_be_text(**s)).count();
        for &symbol in symbols {
            let text = self.can_be_text(symbol);
            texts -= usize::from(text);
            let inside = Around { after: around.after || texts > 0, ..around };
            match symbol {
                Symbol::Bytes(_) | Symbol::Class(_) => {}
                Symbol::Rule(to) => {
                    let Around { leftmost, before, after, productive } = inside;
                    self.edges.push(Edge { to, leftmost, before, after, productive });
                }
                Symbol::Group(body) => self.body(body, inside),
                Symbol::Repeat(repeat) => {
                    let repeat = *self.grammar.repeat(repeat);
                    let several = repeat.max.is_none_or(|max| max > 1) && self.nonempty[repeat.body.index()];
                    let possible = repeat.max != Some(0) && self.depth.of_body(repeat.body).is_some();
                    self.body(
                        repeat.body,
                        Around {
                            before: inside.before || several,
                            after: inside.after || several,
                            productive: inside.productive && possible,
                            ..inside
                        },
                    );
                }
            }
            around.before |= text;
            around.leftmost &= self.nullable(symbol);
        }
    }

    fn can_be_text(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Bytes(_) => true,
            Symbol::Class(class) => !self.grammar.class(class).is_empty(),
            Symbol::Rule(rule) => self.nonempty[self.sites.body_of_rule(rule).index()],
            Symbol::Group(body) => self.nonempty[body.index()],
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                repeat.max != Some(0) && self.nonempty[repeat.body.index()]
            }
        }
    }

    fn nullable(&self, symbol: Symbol) -> bool {
        let empty = |body: BodyId| self.length.of_body(body).is_some_and(|s| s.length == 0);
        match symbol {
            Symbol::Bytes(_) | Symbol::Class(_) => false,
            Symbol::Rule(rule) => empty(self.sites.body_of_rule(rule)),
            Symbol::Group(body) => empty(body),
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                repeat.min == 0 || empty(repeat.body)
            }
        }
    }
}

/// Components over the edges that count.
fn components(first: &[u32], edges: &[Edge], counts: impl Fn(&Edge) -> bool) -> Components {
    let mut kept_first = Vec::with_capacity(first.len());
    kept_first.push(0);
    let mut kept = Vec::with_capacity(edges.len());
    for range in first.windows(2) {
        let own = &edges[range[0] as usize..range[1] as usize];
        kept.extend(own.iter().filter(|e| counts(e)).map(|e| e.to));
        kept_first.push(kept.len() as u32);
    }
    components_of(&kept_first, &kept)
}

/// Strongly connected components, callees first.
#[derive(Clone, Debug)]
pub struct Components {
    number: Vec<u32>,
    first: Vec<u32>,
    rules: Vec<RuleId>,
}

impl Components {
    /// The number of a rule's component; callees have smaller ones.
    pub fn of(&self, rule: RuleId) -> u32 {
        self.number[rule.index()]
    }

    /// The rules of a rule's component.
    pub fn with(&self, rule: RuleId) -> &[RuleId] {
        let at = self.of(rule) as usize;
        &self.rules[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// The rules of each component.
    pub fn iter(&self) -> impl Iterator<Item = &[RuleId]> {
        self.first.windows(2).map(|range| &self.rules[range[0] as usize..range[1] as usize])
    }

    /// All rules; what a rule calls stands before it, circles aside.
    pub fn rules(&self) -> &[RuleId] {
        &self.rules
    }
}

/// Tarjan's algorithm, on an explicit stack. The calls of rule i are
/// `calls[first[i]..first[i + 1]]`.
pub(crate) fn components_of(first: &[u32], calls: &[RuleId]) -> Components {
    const NEW: u32 = u32::MAX;
    let n = first.len() - 1;
    let mut order = vec![NEW; n];
    let mut low = vec![0u32; n];
    let mut found = Components { number: vec![NEW; n], first: vec![0], rules: Vec::with_capacity(n) };
    // Rules not yet in a component, and the path with the next call of each.
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, u32)> = Vec::new();
    let mut time = 0;
    for root in 0..n as u32 {
        let mut next = Some(root);
        loop {
            if let Some(rule) = next.filter(|&r| order[r as usize] == NEW) {
                order[rule as usize] = time;
                low[rule as usize] = time;
                time += 1;
                open.push(rule);
                path.push((rule, first[rule as usize]));
            }
            let Some((rule, at)) = path.last_mut() else { break };
            let v = *rule as usize;
            if *at < first[v + 1] {
                let w = calls[*at as usize].index();
                *at += 1;
                if order[w] != NEW && found.number[w] == NEW {
                    low[v] = low[v].min(order[w]);
                }
                next = Some(w as u32);
                continue;
            }
            next = None;
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
            if low[v] == order[v] {
                let from = open.iter().rposition(|&w| w as usize == v).unwrap_or(0);
                let number = found.first.len() as u32 - 1;
                for rule in open.drain(from..) {
                    found.number[rule as usize] = number;
                    found.rules.push(RuleId(rule));
                }
                found.first.push(found.rules.len() as u32);
            }
        }
    }
    found
}
