//! The order in which facts about rules are found: callees or callers
//! first, circles until nothing changes.

use crate::facts::{Components, components_of};
use crate::ir::{Grammar, RuleId};
use crate::lexical::TooLarge;

/// Rules by strongly connected components.
pub struct Order {
    components: Components,
    /// Whether a component is a circle.
    circular: Vec<bool>,
}

impl Order {
    pub fn of(grammar: &Grammar) -> Order {
        let (mut first, mut calls) = (vec![0], Vec::new());
        for rule in grammar.rules() {
            grammar.body_calls(grammar.rule(rule).body, &mut |called| calls.push(called));
            first.push(calls.len() as u32);
        }
        let components = components_of(&first, &calls);
        let itself = |r: RuleId| calls[first[r.index()] as usize..first[r.index() + 1] as usize].contains(&r);
        let circular = components.iter().map(|rules| rules.len() > 1 || itself(rules[0])).collect();
        Order { components, circular }
    }

    /// Visits callees before their callers; a circle again as long as
    /// `visit` says that something changed.
    pub fn callees_first(
        &self,
        mut visit: impl FnMut(RuleId) -> Result<bool, TooLarge>,
    ) -> Result<(), TooLarge> {
        for (rules, &circular) in self.components.iter().zip(&self.circular) {
            // The search that found a circle entered callers first.
            repeat(rules.iter().rev(), circular, &mut visit)?;
        }
        Ok(())
    }

    /// Visits callers before their callees.
    pub fn callers_first(
        &self,
        mut visit: impl FnMut(RuleId) -> Result<bool, TooLarge>,
    ) -> Result<(), TooLarge> {
        let components: Vec<&[RuleId]> = self.components.iter().collect();
        for (rules, &circular) in components.into_iter().zip(&self.circular).rev() {
            repeat(rules.iter(), circular, &mut visit)?;
        }
        Ok(())
    }
}

fn repeat<'a>(
    rules: impl Iterator<Item = &'a RuleId> + Clone,
    circular: bool,
    visit: &mut dyn FnMut(RuleId) -> Result<bool, TooLarge>,
) -> Result<(), TooLarge> {
    loop {
        let mut changed = false;
        for &rule in rules.clone() {
            changed |= visit(rule)?;
        }
        if !(changed && circular) {
            return Ok(());
        }
    }
}
