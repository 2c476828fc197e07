//! Removes what can derive nothing, and then what nothing calls.
//!
//! In:  any grammar.
//! Out: the same language. Every alternative derives at least one string,
//!      also inside groups; every rule is reached from the start or from a
//!      token. Tokens stay, even those that match nothing (they are left
//!      without alternatives): a lexer needs them all.
//!
//! If the start itself derives nothing there is no such grammar, and the
//! result is a diagnostic. Linear in the size of the grammar: an
//! alternative counts what it still waits for, as in Horn formulas.

use super::copy::{Edit, Rewrite, drop_uncalled};
use crate::arena::{AltId, BodyId, SymbolId};
use crate::diagnostic::Diagnostic;
use crate::ir::{Grammar, RuleId, Symbol};

/// The grammar without dead parts.
pub fn prune(grammar: &Grammar) -> Result<Grammar, Diagnostic> {
    let mut productive = Productive::of(grammar);
    let start = grammar.rule(grammar.start);
    if !productive.bodies[start.body.index()] {
        let message = format!("rule `{}` can never finish", start.name);
        return Err(Diagnostic::error(start.span, message)
            .label("no alternative of it derives a text")
            .help("add an alternative that does not come back to this rule"));
    }
    // A rule that derives nothing loses all alternatives here and all its
    // calls with theirs, so that the second step drops it.
    let trimmed = Rewrite::new(grammar, |_: RuleId| true).all(&mut productive);
    Ok(drop_uncalled(&trimmed))
}

/// What derives at least one string.
struct Productive {
    bodies: Vec<bool>,
    alternatives: Vec<bool>,
}

impl Productive {
    fn of(grammar: &Grammar) -> Productive {
        let mut waiting: Vec<Vec<(AltId, BodyId)>> = vec![Vec::new(); grammar.body_count()];
        // For how many symbols each alternative waits.
        let mut missing = vec![0u32; grammar.alternative_count()];
        let mut bodies = vec![false; grammar.body_count()];
        let mut ready: Vec<BodyId> = Vec::new();
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            for alt in grammar.alternatives(body) {
                for &symbol in grammar.symbols(alt) {
                    match needs(grammar, symbol) {
                        Needs::Nothing => continue,
                        Needs::Body(needed) => waiting[needed.index()].push((alt, body)),
                        Needs::TheImpossible => {}
                    }
                    missing[alt.index()] += 1;
                }
                if missing[alt.index()] == 0 && !std::mem::replace(&mut bodies[body.index()], true) {
                    ready.push(body);
                }
            }
        }
        while let Some(body) = ready.pop() {
            for (alt, owner) in std::mem::take(&mut waiting[body.index()]) {
                missing[alt.index()] -= 1;
                if missing[alt.index()] == 0 && !std::mem::replace(&mut bodies[owner.index()], true) {
                    ready.push(owner);
                }
            }
        }
        Productive { bodies, alternatives: missing.iter().map(|&m| m == 0).collect() }
    }
}

enum Needs {
    Nothing,
    Body(BodyId),
    TheImpossible,
}

/// What must derive a string so that `symbol` does.
fn needs(grammar: &Grammar, symbol: Symbol) -> Needs {
    match symbol {
        Symbol::Bytes(_) => Needs::Nothing,
        Symbol::Class(class) if grammar.class(class).is_empty() => Needs::TheImpossible,
        Symbol::Class(_) => Needs::Nothing,
        Symbol::Rule(rule) => Needs::Body(grammar.rule(rule).body),
        Symbol::Group(body) => Needs::Body(body),
        Symbol::Repeat(repeat) if grammar.repeat(repeat).min == 0 => Needs::Nothing,
        Symbol::Repeat(repeat) => Needs::Body(grammar.repeat(repeat).body),
    }
}

impl Edit for Productive {
    fn keeps(&self, alt: AltId) -> bool {
        self.alternatives[alt.index()]
    }

    fn replace(&mut self, out: &mut Rewrite<'_>, id: SymbolId) -> bool {
        let Symbol::Repeat(repeat) = out.from.symbols[id.index()] else { return false };
        let repeat = out.from.repeat(repeat);
        // Writes nothing in its place: it can only be passed over.
        repeat.max == Some(0) || !self.bodies[repeat.body.index()]
    }
}
