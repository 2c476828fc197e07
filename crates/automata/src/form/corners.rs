//! What can stand first in what, and where that leads in a circle.
//!
//! In:  the tries of a grammar.
//! Out: [`Corners`]: for each part, the places where it can stand first;
//!      all parts in an order in which first parts come before those that
//!      begin with them, with circles (left recursion) as one step.

use super::tries::{NONE, Part, Tries, part};
use wug_grammar::{BodyId, Grammar, RepeatId};

/// A part stands first in another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    /// The part that stands first.
    pub first: u32,
    /// The part in which it stands.
    pub whole: u32,
    /// The node behind it; [`NONE`] behind the first round of a repetition.
    pub node: u32,
}

#[derive(Debug)]
pub(crate) struct Corners {
    bodies: usize,
    /// Sorted by `first`.
    pub corners: Vec<Corner>,
    from: Vec<u32>,
    /// The circle of each part.
    pub circle_of: Vec<u32>,
    /// The parts of each circle; first parts come first.
    pub circles: Vec<Vec<u32>>,
    /// Whether each circle is one: a part that comes before itself.
    pub recursive: Vec<bool>,
}

impl Corners {
    pub fn of(grammar: &Grammar, tries: &Tries) -> Corners {
        let (bodies, parts) = (tries.roots.len(), tries.roots.len() + tries.repeats.len());
        let mut corners = Vec::new();
        let number = |part: Part| match part {
            Part::Body(body) => body.0,
            Part::Repeat(repeat) => bodies as u32 + repeat.0,
        };
        for (body, &root) in tries.roots.iter().enumerate() {
            if root == NONE {
                continue;
            }
            tries.firsts(grammar, root, |node, symbol| {
                if let Some(part) = part(grammar, symbol) {
                    corners.push(Corner { first: number(part), whole: body as u32, node });
                }
            });
        }
        for repeat in (0..tries.repeats.len() as u32).map(RepeatId) {
            let (whole, body) = (Part::Repeat(repeat), grammar.repeat(repeat).body);
            if tries.roots[body.index()] != NONE && tries.nonempty(grammar, whole) {
                corners.push(Corner { first: body.0, whole: number(whole), node: NONE });
            }
        }
        corners.sort_by_key(|c| (c.first, c.whole, c.node));
        corners.dedup_by_key(|c| (c.first, c.whole, c.node));
        let mut from = vec![0u32; parts + 1];
        corners.iter().for_each(|c| from[c.first as usize + 1] += 1);
        (0..parts).for_each(|i| from[i + 1] += from[i]);
        let mut firsts_of: Vec<Vec<u32>> = vec![Vec::new(); parts];
        corners.iter().for_each(|c| firsts_of[c.whole as usize].push(c.first));
        let circles = components(&firsts_of);
        let mut circle_of = vec![0; parts];
        for (i, circle) in circles.iter().enumerate() {
            circle.iter().for_each(|&p| circle_of[p as usize] = i as u32);
        }
        let itself = |p: u32| firsts_of[p as usize].contains(&p);
        let recursive = circles.iter().map(|c| c.len() > 1 || itself(c[0])).collect();
        Corners { bodies, corners, from, circle_of, circles, recursive }
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.circle_of.len()
    }

    /// A part's number.
    pub fn number(&self, part: Part) -> u32 {
        match part {
            Part::Body(body) => body.0,
            Part::Repeat(repeat) => self.bodies as u32 + repeat.0,
        }
    }

    /// The part with a number.
    pub fn part(&self, number: u32) -> Part {
        match (number as usize).checked_sub(self.bodies) {
            None => Part::Body(BodyId(number)),
            Some(repeat) => Part::Repeat(RepeatId(repeat as u32)),
        }
    }

    /// Where a part stands first, within its own circle.
    pub fn within(&self, first: u32) -> impl Iterator<Item = (u32, Corner)> + '_ {
        let range = self.from[first as usize]..self.from[first as usize + 1];
        range
            .map(|i| (i, self.corners[i as usize]))
            .filter(move |(_, c)| self.circle_of[c.whole as usize] == self.circle_of[first as usize])
    }
}

/// The strongly connected components of a graph, callees first (Tarjan's
/// algorithm, without recursion).
fn components(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    // Order of discovery from 1 on; the least that a node leads back to.
    let (mut order, mut low) = (vec![0u32; edges.len()], vec![0u32; edges.len()]);
    let mut done = vec![false; edges.len()];
    let (mut path, mut frames, mut count) = (Vec::new(), Vec::new(), 0);
    for start in 0..edges.len() as u32 {
        if order[start as usize] != 0 {
            continue;
        }
        frames.push((start, 0));
        while let Some((at, next)) = frames.last_mut() {
            let node = *at as usize;
            if *next == 0 {
                count += 1;
                (order[node], low[node]) = (count, count);
                path.push(*at);
            }
            if let Some(&to) = edges[node].get(*next) {
                *next += 1;
                if order[to as usize] == 0 {
                    frames.push((to, 0));
                } else if !done[to as usize] {
                    low[node] = low[node].min(order[to as usize]);
                }
                continue;
            }
            let at = *at;
            frames.pop();
            if let Some((caller, _)) = frames.last() {
                low[*caller as usize] = low[*caller as usize].min(low[node]);
            }
            if low[node] == order[node] {
                let from = path.iter().rposition(|&p| p == at).unwrap_or(0);
                let circle = path.split_off(from);
                circle.iter().for_each(|&p| done[p as usize] = true);
                found.push(circle);
            }
        }
    }
    found
}
