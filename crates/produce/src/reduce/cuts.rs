//! Smaller subtrees in the place of larger ones.
//!
//! A node is tried with, in this order:
//! - the shortest derivation of its body;
//! - if it is a repetition, fewer rounds (`lists`);
//! - if its body comes again below it, and so on, fewer of these levels;
//! - another alternative of its body, with the parts that it has;
//! - in fine passes, each subtree below it that can stand in its place.
//!
//! Nodes come the largest first. When one has given way, the next is the
//! largest that is not larger; those before it wait for the next pass.

use super::ddmin::ddmin;
use super::tree::{NONE, Search};
use super::trial::Stop;
use super::wraps::{self, Wraps};
use crate::lexemes::Spacing;
use std::rc::Rc;
use wug_grammar::derivation::{Forwards, Node, Part, Place};
use wug_grammar::{AltId, BodyId, Derivation, Symbol};

impl Search<'_, '_, '_> {
    /// Goes over all nodes; whether something gave way.
    pub fn cut(&mut self, fine: bool) -> Result<bool, Stop> {
        let before = self.tree.bytes.len();
        let mut order = self.order();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            let (at, length) = (at as usize, self.tree.bytes.len());
            let size = self.tree.size(at);
            match self.tree.derivation.node(at) {
                Node::Repeat(_) => self.list(at)?,
                _ => _ = self.alternative(at, fine)?,
            }
            if self.tree.bytes.len() < length {
                order = self.order();
                next = order.partition_point(|&other| self.tree.size(other as usize) > size);
            } else {
                next += 1;
            }
        }
        Ok(self.tree.bytes.len() < before)
    }

    /// Whether the node gave way: then the tree is another.
    fn alternative(&mut self, at: usize, fine: bool) -> Result<bool, Stop> {
        let Some(body) = self.tree.body(at) else { return Ok(false) };
        Ok(self.shortest(at, body)?
            || self.levels(at)?
            || self.others(at, body)?
            || (fine && self.below(at, body)?))
    }

    /// The shortest derivation in the place of a node.
    fn shortest(&mut self, at: usize, body: BodyId) -> Result<bool, Stop> {
        let shortest = &self.reducer.shortest;
        let most = self.most();
        if shortest.length(body).is_none_or(|length| length >= self.tree.size(at) as u64) {
            return Ok(false);
        }
        match shortest.body(body, &mut Forwards::new(&mut self.part), most) {
            Some(()) => self.attempt_part(at),
            None => Ok(false),
        }
    }

    /// Fewer of the nodes of one body that stand inside each other: a list
    /// by recursion, or brackets in brackets.
    fn levels(&mut self, at: usize) -> Result<bool, Stop> {
        let tree = &self.tree;
        let above = tree.facts[at].same_above;
        if above != NONE && tree.facts[above as usize].same_below == at as u32 {
            // It was a level itself.
            return Ok(false);
        }
        let mut spine = vec![at];
        let mut next = tree.facts[at].same_below;
        while next != NONE {
            spine.push(next as usize);
            next = tree.facts[next as usize].same_below;
        }
        let length = tree.bytes.len();
        if spine.len() > 1 {
            let whole = tree.derivation.clone();
            let parents: Vec<Option<usize>> = spine
                .iter()
                .map(|&node| Some(tree.facts[node].parent as usize).filter(|&parent| parent != node))
                .collect();
            let (mut from, mut to) = (Derivation::default(), Derivation::default());
            ddmin(spine.len() - 1, 0, &mut |kept| {
                from.clone_from(&whole);
                // Each gap between kept levels, the innermost first: nodes
                // before it keep their numbers.
                let mut inner = spine.len() - 1;
                for &level in kept.iter().rev().chain(&[usize::MAX]) {
                    let outer = level.wrapping_add(1);
                    if outer < inner {
                        let (at, put) = (spine[outer], spine[inner]);
                        let part = [Part::subtree(&from, put)];
                        from.rebuild(parents[outer], at..from.end(at), &part, &mut to);
                        self.trial.spend(from.len())?;
                        std::mem::swap(&mut from, &mut to);
                    }
                    inner = level;
                }
                self.attempt(&from, Spacing::Keep)
            })?;
        }
        Ok(self.tree.bytes.len() < length)
    }

    /// Other alternatives with the parts that the node has.
    fn others(&mut self, at: usize, body: BodyId) -> Result<bool, Stop> {
        let grammar = self.reducer.grammar();
        let Node::Alternative(now) = self.tree.derivation.node(at) else { return Ok(false) };
        for alt in grammar.alternatives(body).filter(|&alt| alt != now) {
            let least = self.reducer.shortest.facts.length.of_alternative(alt);
            if least.is_some_and(|least| least.length < self.tree.size(at) as u64)
                && self.refilled(at, alt).is_some()
                && self.attempt_part(at)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes an alternative to `part`, with the children of `at` where they
    /// fit, in order, and the shortest everywhere else.
    fn refilled(&mut self, at: usize, alt: AltId) -> Option<()> {
        let (grammar, most) = (self.reducer.grammar(), self.most());
        let derivation = &self.tree.derivation;
        let mut children: Vec<usize> = derivation.children(at).collect();
        children.reverse();
        let mut out = Forwards::new(&mut self.part);
        let mark = out.open(Node::Alternative(alt));
        for &symbol in grammar.symbols(alt) {
            let wanted = match symbol {
                Symbol::Bytes(_) => None,
                Symbol::Class(class) => Some(Place::Class(class)),
                Symbol::Group(body) => Some(Place::Body(body)),
                Symbol::Repeat(repeat) => Some(Place::Repeat(repeat)),
                Symbol::Rule(rule) if grammar.rule(rule).is_token() => Some(Place::Token(rule)),
                Symbol::Rule(rule) => Some(Place::Body(grammar.rule(rule).body)),
            };
            let fits = |&child: &usize| Some(self.tree.facts[child].place) == wanted;
            match children.iter().rposition(fits) {
                Some(found) => {
                    out.graft(derivation, children[found]..derivation.end(children[found]));
                    children.truncate(found);
                }
                None => self.reducer.shortest.symbol(symbol, &mut out, most)?,
            }
        }
        out.close(mark);
        Some(())
    }

    /// Each subtree below a node that can stand in its place, also inside
    /// one more of its own body; the smallest result first.
    fn below(&mut self, at: usize, body: BodyId) -> Result<bool, Stop> {
        let (grammar, shortest, most) = (self.reducer.grammar(), &self.reducer.shortest, self.most());
        let wraps = self.wraps(body);
        let size = self.tree.size(at) as u64;
        self.trial.spend(self.tree.derivation.end(at) - at)?;
        let mut fitting: Vec<(u64, usize, bool)> = Vec::new();
        for node in at + 1..self.tree.derivation.end(at) {
            let Some(other) = self.tree.body(node) else { continue };
            let Some(cost) = wraps.cost(other) else { continue };
            let length = cost.saturating_add(self.tree.size(node) as u64);
            if length < size {
                fitting.push((length, node, false));
            }
            // The outermost of a body: the others have one around them.
            let above = self.tree.facts[node].same_above;
            if above == NONE || (above as usize) < at {
                let round = self.wraps(other).round_cost().map(|cost| cost.saturating_add(length));
                fitting.extend(round.filter(|&length| length < size).map(|length| (length, node, true)));
            }
        }
        fitting.sort_unstable();
        // Of rules that derive each other one is enough, if nothing is around.
        let facts = &self.tree.facts;
        fitting.dedup_by(|&mut (length, node, _), &mut (other, before, _)| {
            let (fact, same) = (facts[node], facts[before]);
            let alone = length == other && length == u64::from(fact.size);
            alone && (fact.start, fact.size) == (same.start, same.size)
        });
        for (_, node, round) in fitting {
            let Some(other) = self.tree.body(node) else { continue };
            let Some(mut way) = wraps.way(other) else { continue };
            if round {
                way.extend(self.wraps(other).round().unwrap_or_default());
            }
            let from = (&self.tree.derivation, node);
            let mut out = Forwards::new(&mut self.part);
            if wraps::write(grammar, shortest, &way, from, &mut out, most).is_some()
                && self.attempt_part(at)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The ways from a body.
    fn wraps(&mut self, body: BodyId) -> Rc<Wraps> {
        let reducer = self.reducer;
        let made = || Rc::new(Wraps::of(reducer.grammar(), &reducer.shortest, body));
        self.wraps.entry(body).or_insert_with(made).clone()
    }
}
