//! The normal form: every transition of an item reads at least one byte.
//!
//! In:  a grammar without tokens.
//! Out: [`Form`], a pushdown automaton with one state: a stack of
//!      [items](ItemKind), and for each item what can be read when it is on
//!      top, and what then takes its place. Each transition knows the way
//!      through the grammar that it stands for.
//!
//! | file | step |
//! | --- | --- |
//! | `tries` | alternatives that begin alike share their beginning |
//! | `corners` | what stands first in what, and circles of that |
//! | `expand` | transitions of each item |
//! | `heights` | how much stack it takes to finish an item |
//!
//! Greibach's normal form does the same, and is the textbook's way here
//! (through Chomsky's). It was rejected since it multiplies: leaving out
//! empty parts doubles an alternative for each of them, and substituting
//! first symbols doubles a rule for each pair of alternatives that begin
//! alike. Here an item may be left empty where it lies on the stack, so
//! nothing is written twice, and only left recursion is transformed (by
//! left corners, within its circle alone). Rules that are not left recursive
//! need no transformation at all: their transitions are read off.

mod corners;
pub(crate) mod expand;
mod heights;
mod tries;

pub(crate) use corners::Corners;
pub use tries::Sharing;
pub(crate) use tries::{NONE, Part, Tries, part};

use crate::Unfit;
use crate::labels::Labels;
use hashbrown::HashMap;
use std::sync::Arc;
use wug_grammar::facts::Facts;
use wug_grammar::{AltId, BodyId, Grammar, RepeatId, RuleId};

/// What can lie on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// The rest of an alternative, from a node of the tries on.
    Rest(u32),
    /// The rest of a repetition of which so many rounds are done, no more
    /// than can be told apart.
    Rounds(RepeatId, u32),
    /// A left-recursive part that has not begun.
    Goal(u32),
    /// The rest of a left-recursive part (the first) of which another part
    /// that can come first in it (the second) is done.
    Left(u32, u32),
}

/// An item, and its transitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub kind: ItemKind,
    /// The rule that it belongs to, for messages.
    pub rule: RuleId,
    /// Whether it can be left empty.
    pub nullable: bool,
    /// Its first transition.
    pub first: u32,
    /// How many transitions it has.
    pub count: u32,
}

/// What takes the place of an item, the last at the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Push {
    /// All but the last; [`NONE`] if there are none.
    pub before: u32,
    /// The last item.
    pub last: u32,
}

/// The way through the grammar that a slot of a label stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Via {
    /// Where it lands behind the first symbol that derives something: the
    /// item that goes on from there. [`NONE`] for a list of words that end
    /// their alternatives, which have a node each.
    pub land: u32,
    /// The slot within that symbol, if it is a call; else [`NONE`].
    pub inner: u32,
    /// In a goal, the part in which the first symbol stands; behind a left
    /// corner, the corner that was gone through. Else [`NONE`].
    pub corner: u32,
}

/// A pushdown automaton of one state.
#[derive(Debug)]
pub struct Form {
    /// The grammar, without dead parts.
    pub grammar: Grammar,
    pub(crate) tries: Tries,
    pub(crate) corners: Corners,
    pub(crate) items: Vec<Item>,
    /// The item that begins a part.
    pub(crate) starts: Vec<u32>,
    /// Items for rounds of each repetition, from 0 on, and whether the last
    /// stands for all greater counts too.
    pub(crate) rounds: Vec<(u32, u32, bool)>,
    /// Items by goal and part, for left recursion.
    pub(crate) lefts: HashMap<(u32, u32), u32>,
    /// What each transition pushes. Transition and label have one number.
    pub(crate) pushes_of: Vec<u32>,
    pub(crate) pushes: Vec<Push>,
    /// The way of each slot of a label.
    pub(crate) vias: Vec<Via>,
    /// The node behind each word.
    pub(crate) word_nodes: Vec<u32>,
    pub(crate) labels: Arc<Labels>,
    /// The item to begin with.
    pub(crate) start: u32,
    /// The least height of a stack in which each item can be finished, with
    /// nothing below it.
    pub(crate) heights: Vec<u32>,
    /// Whether some rule can stand inside itself with text on both sides.
    pub(crate) self_embedding: bool,
    /// A repetition that was cut short, if there is one.
    pub(crate) cut: Option<RuleId>,
    /// For each body the alternative that derives the empty text soonest.
    pub(crate) empty_alternatives: Vec<Option<AltId>>,
}

impl Form {
    /// The normal form of a lowered grammar.
    pub fn of(grammar: &Grammar) -> Result<Form, Unfit> {
        Form::with(grammar, Sharing::Beginnings)
    }

    /// The same, with alternatives that share their beginnings or do not.
    pub fn with(grammar: &Grammar, sharing: Sharing) -> Result<Form, Unfit> {
        let grammar = wug_grammar::transform::prune(grammar).map_err(|why| Unfit::Endless(Box::new(why)))?;
        let facts = Facts::of(&grammar);
        let tries = Tries::of(&grammar, &facts, sharing);
        let corners = Corners::of(&grammar, &tries);
        let mut form = expand::expand(grammar, tries, corners)?;
        form.empty_alternatives =
            (0..form.grammar.body_count() as u32).map(|b| empty(&form.grammar, &facts, BodyId(b))).collect();
        form.self_embedding = facts.graph.recursion.iter().any(|recursion| recursion.self_embedding);
        form.heights = heights::heights(&form);
        Ok(form)
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// How many transitions all items have, each with all its members.
    pub fn transitions(&self) -> usize {
        self.pushes_of.len()
    }

    /// What is written on transitions.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The name of the rule that an item belongs to.
    pub(crate) fn rule_name(&self, item: u32) -> String {
        self.grammar.name(self.items[item as usize].rule).to_string()
    }

    /// The transitions of an item.
    pub(crate) fn transitions_of(&self, item: u32) -> std::ops::Range<u32> {
        let item = self.items[item as usize];
        item.first..item.first + item.count
    }

    /// The items that a transition pushes, the one for the bottom first.
    pub(crate) fn pushed(&self, transition: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.pushes_of[transition as usize];
        std::iter::from_fn(move || {
            let push = self.pushes.get(Some(next).filter(|&next| next != NONE)? as usize)?;
            next = push.before;
            Some(push.last)
        })
    }
}

fn empty(grammar: &Grammar, facts: &Facts, body: BodyId) -> Option<AltId> {
    let least = facts.length.of_body(body).filter(|least| least.length == 0)?;
    grammar.alternatives(body).find(|&alt| facts.length.of_alternative(alt) == Some(least))
}
