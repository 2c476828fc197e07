//! Ways to make an input, as the schedule knows them.

use crate::schedule::Bandit;
use crate::walks::WalkOp;
use wug_produce::mutate::Op;

/// A way to make an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// An operation on the tree.
    Tree(Op),
    /// A large one on the walk.
    Walk(WalkOp),
    /// Bytes of a leaf.
    Leaf,
    /// What the target compares its input with, where it came from.
    Operand,
    /// A generalised input with something before or behind it.
    Extend,
    /// A generalised input with its gaps filled.
    Fill,
    /// Inputs that fit into themselves, and others, put into each other.
    Nest,
    /// Known strings by others.
    Strings,
    /// A name by another, wherever it has to be the same.
    Rename,
    /// Bytes anywhere.
    Havoc,
    /// A token anywhere.
    Token,
    /// A fresh input.
    Generate,
}

const OTHERS: [Way; 13] = [
    Way::Leaf,
    Way::Operand,
    Way::Extend,
    Way::Fill,
    Way::Nest,
    Way::Strings,
    Way::Rename,
    Way::Havoc,
    Way::Token,
    Way::Generate,
    Way::Walk(WalkOp::Random),
    Way::Walk(WalkOp::Splice),
    Way::Walk(WalkOp::Recursion),
];

impl Way {
    /// All ways, in the order of the schedule's arms.
    pub fn all() -> impl Iterator<Item = Way> {
        Op::ALL.into_iter().map(Way::Tree).chain(OTHERS)
    }

    /// The way of an arm.
    pub fn of(arm: usize) -> Way {
        match arm.checked_sub(Op::ALL.len()) {
            Some(at) => OTHERS[at],
            None => Way::Tree(Op::ALL[arm]),
        }
    }

    /// As in the names of entries.
    pub fn name(self) -> &'static str {
        match self {
            Way::Tree(op) => op.name(),
            Way::Walk(op) => op.name(),
            Way::Leaf => "leaf",
            Way::Operand => "operand",
            Way::Extend => "extend",
            Way::Fill => "fill",
            Way::Nest => "nest",
            Way::Strings => "string",
            Way::Rename => "rename",
            Way::Havoc => "havoc",
            Way::Token => "token",
            Way::Generate => "generate",
        }
    }
}

/// The schedule of all ways.
pub(super) fn arms(uniform: bool) -> Bandit {
    Bandit::new(Way::all().map(Way::name), uniform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_and_ways_are_in_one_order() {
        let bandit = arms(false);
        for (arm, way) in Way::all().enumerate() {
            assert_eq!((Way::of(arm), bandit.arms()[arm].name), (way, way.name()));
        }
    }
}
