//! Operations on the derivation tree of an entry.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::{Error, Mutators};
use crate::schedule::Bandit;
use wug_produce::mutate::Op;

/// Operations on one tree, each count as likely as it stands here: small
/// changes against distance.
const STACKS: [u32; 4] = [1, 1, 2, 4];

/// An operation on the tree, perhaps followed by others.
pub struct TreeOp {
    op: Op,
    /// The operation of each arm of the bandit that has one.
    ops: Vec<Option<Op>>,
}

impl TreeOp {
    pub fn new(op: Op) -> TreeOp {
        TreeOp { op, ops: Vec::new() }
    }

    /// Draws a further operation, as the schedule has it.
    fn next(&mut self, making: &mut Making<'_, '_>) -> Option<Op> {
        if self.ops.is_empty() {
            self.ops = ops_of(making.bandit);
        }
        let arm = making.bandit.draw(|arm| self.ops[arm].is_some(), &mut making.materials.rng)?;
        self.ops[arm]
    }
}

fn ops_of(bandit: &Bandit) -> Vec<Option<Op>> {
    let op = |name| Op::ALL.into_iter().find(|op| op.name() == name);
    bandit.arms().iter().map(|arm| op(arm.name)).collect()
}

impl Mutator for TreeOp {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn is_gramatrons(&self) -> bool {
        self.op.is_gramatrons()
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        let whole = matches!(self.op, Op::Rest | Op::Tail);
        entry.tree.is_some() && !(whole && making.materials.mutators == Mutators::Spot)
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Some(tree) = entry.tree else { return Ok(None) };
        let mut op = self.op;
        let stack = STACKS[making.rng().below(STACKS.len() as u32) as usize];
        let Some(structure) = &mut making.materials.structure else { return Ok(None) };
        if !structure.can_patch() {
            let made = structure.mutate(op, tree, &mut making.materials.rng, making.out);
            return Ok(made.then(|| Made::one(true)));
        }
        for done in 1..=stack {
            let Some(structure) = &mut making.materials.structure else { break };
            structure.patch(op, tree, &mut making.materials.rng);
            if done < stack {
                let Some(next) = self.next(making) else { break };
                op = next;
            }
        }
        let Some(structure) = &mut making.materials.structure else { return Ok(None) };
        let operations = structure.patched(tree, making.out);
        Ok(operations.map(|operations| Made { operations, ..Made::one(true) }))
    }
}
